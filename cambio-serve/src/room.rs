//! The people at a table: their seats, links, names and open pages.

use std::collections::BTreeMap;

use cambio_agents::AgentSpec;
use cambio_core::rng::{Key, read_seed};
use cambio_core::{Deal, Seat};
use cambio_sim::fresh_seed;
use cambio_view::{Player, SessionConfig, SessionError};
use serde::{Deserialize, Serialize};

/// The maximum length of a name in characters.
const NAME: usize = 24;
/// The maximum number of changes of a saved room, so that later changes cannot overflow.
const EDITIONS: u64 = 1 << 32;
/// The maximum number of pages that a person may have open. The host has no such limit.
const PAGES: usize = 8;

/// A random token of 128 bits.
pub(crate) fn fresh_token() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(format!("{:032x}", u128::from_le_bytes(bytes)))
}

/// Whether a text from a file has the form of a token.
pub(crate) fn is_token(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The people at a table. The host is the person whose requests have the token of the server.
#[derive(Debug)]
pub(crate) struct Room {
    pub(crate) host: Seat,
    /// The number of changes of the match and its players; 0 until the first match begins.
    pub(crate) edition: u64,
    /// The seed of the cards, if the current match is not the first one.
    seed: Option<String>,
    people: BTreeMap<Seat, RoomMember>,
}

/// A room as data. Seats are letters.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedRoom {
    host: char,
    edition: u64,
    seed: Option<String>,
    people: Vec<SavedMember>,
    /// The players of the current match, seat a first.
    players: Vec<SavedPlayer>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedMember {
    seat: char,
    token: Option<String>,
    name: Option<String>,
}

/// A player as data. The request of the table has the specs of the agents.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum SavedPlayer {
    /// The agent of the request, or a substitute in the seat of a person who did not come.
    Agent,
    Person(String),
    /// A substitute plays on for the person with this name.
    Left(String),
}

#[derive(Debug)]
struct RoomMember {
    /// The token of the link to the seat; `None` for the host.
    token: Option<String>,
    /// The name, which may be empty; `None` until the person takes the seat.
    name: Option<String>,
    pages: usize,
}

/// A room as the page of one person shows it.
#[derive(Serialize, Debug)]
pub(crate) struct RoomView {
    has_begun: bool,
    seat: char,
    host: char,
    players: Vec<RoomPlayer>,
}

#[derive(Serialize, Debug)]
struct RoomPlayer {
    /// The spec of an agent; `None` for a person.
    agent: Option<String>,
    /// The name of a person who has taken the seat.
    name: Option<String>,
    /// Whether the person has a page open.
    is_here: bool,
    /// The path of the seat's link, which only the host receives.
    link: Option<String>,
}

/// Checks a name from a page, and removes spaces around it.
pub(crate) fn checked_name(name: &str) -> Result<String, SessionError> {
    let name = name.trim();
    let length = name.chars().count();
    if length > NAME {
        return Err(SessionError(format!("the name must have at most {NAME} characters, found {length}")));
    }
    // Letters of all scripts, digits, marks and spaces. Control characters and direction marks could change the text around them.
    if let Some(other) = name.chars().find(|&letter| !(letter.is_alphanumeric() || " .-'’_".contains(letter))) {
        let found = other.escape_unicode();
        return Err(SessionError(format!(
            "the name must consist of letters, digits, spaces and . - ' _, found `{found}`"
        )));
    }
    Ok(name.to_owned())
}

impl Room {
    /// The room of a new table. A table of one person begins at once. `name` is the host's name.
    pub(crate) fn new(config: &SessionConfig, host: Seat, name: String) -> std::io::Result<Room> {
        let edition = u64::from(!config.is_shared());
        let mut people = BTreeMap::new();
        for seat in config.people().filter(|&seat| seat != host) {
            people.insert(seat, RoomMember { token: Some(fresh_token()?), name: None, pages: 0 });
        }
        people.insert(host, RoomMember { token: None, name: Some(name), pages: 0 });
        Ok(Room { host, edition, seed: None, people })
    }

    /// The room as data. `config` is the configuration of the current match.
    pub(crate) fn save(&self, config: &SessionConfig) -> SavedRoom {
        let member = |(seat, member): (&Seat, &RoomMember)| SavedMember {
            seat: seat.letter(),
            token: member.token.clone(),
            name: member.name.clone(),
        };
        let player = |player: &Player| match player {
            Player::Agent(_) => SavedPlayer::Agent,
            Player::Person(name) => SavedPlayer::Person(name.clone()),
            Player::Substitute { name, .. } => SavedPlayer::Left(name.clone()),
        };
        SavedRoom {
            host: self.host.letter(),
            edition: self.edition,
            seed: self.seed.clone(),
            people: self.people.iter().map(member).collect(),
            players: config.players.iter().map(player).collect(),
        }
    }

    /// Makes a room again, and the configuration of its current match. `first` is the configuration that the request of the table
    /// has. Checks everything, because the data comes from a file.
    pub(crate) fn restore(
        saved: &SavedRoom,
        first: SessionConfig,
        substitute: &AgentSpec,
    ) -> Result<(Room, SessionConfig), SessionError> {
        let wrong = |what: String| SessionError(format!("the saved room is not valid: {what}"));
        if saved.players.len() != first.players.len() {
            let (expected, found) = (first.players.len(), saved.players.len());
            return Err(wrong(format!("expected {expected} players, found {found}")));
        }
        let player = |(first, saved): (Player, &SavedPlayer)| match (first, saved) {
            (Player::Agent(agent), SavedPlayer::Agent) => Ok(Player::Agent(agent)),
            (Player::Person(_), SavedPlayer::Agent) => Ok(Player::Agent(substitute.clone())),
            (Player::Person(_), SavedPlayer::Person(name)) => Ok(Player::Person(checked_name(name)?)),
            (Player::Person(_), SavedPlayer::Left(name)) => {
                Ok(Player::Substitute { name: checked_name(name)?, agent: substitute.clone() })
            }
            _ => Err(wrong("a person is in the seat of an agent".to_owned())),
        };
        let players = first.players.into_iter().zip(&saved.players).map(player).collect::<Result<Vec<_>, _>>()?;
        let deal = match &saved.seed {
            None => first.deal,
            Some(seed) => Deal::new(first.deal.rules(), Key::new(read_seed(seed).map_err(wrong)?, 0)),
        };
        let config = SessionConfig { deal, players, ..first };
        let mut people = BTreeMap::new();
        for SavedMember { seat, token, name } in &saved.people {
            let person = config.people().find(|person| person.letter() == *seat);
            let person = person.ok_or_else(|| wrong(format!("no person is in seat `{}`", seat.escape_default())))?;
            let is_hosts = *seat == saved.host;
            if !token.as_deref().map_or(is_hosts, |token| !is_hosts && is_token(token)) {
                return Err(wrong(format!("the link to seat {seat} must have a token of 32 hexadecimal digits")));
            }
            let name = name.as_deref().map(checked_name).transpose()?;
            people.insert(person, RoomMember { token: token.clone(), name, pages: 0 });
        }
        let host = Seat::from_letter(saved.host).filter(|host| people.contains_key(host));
        let host = host.ok_or_else(|| wrong("the host is not at the table".to_owned()))?;
        if saved.edition > EDITIONS || (saved.edition == 0 && !config.is_shared()) {
            return Err(wrong(format!("the edition is {}", saved.edition)));
        }
        Ok((Room { host, edition: saved.edition, seed: saved.seed.clone(), people }, config))
    }

    /// The tokens of the links, with their seats.
    pub(crate) fn links(&self) -> impl Iterator<Item = (&str, Seat)> {
        self.people.iter().filter_map(|(&seat, person)| Some((person.token.as_deref()?, seat)))
    }

    pub(crate) fn has(&self, seat: Seat) -> bool {
        self.people.contains_key(&seat)
    }

    /// Gives a seat to its person. Returns whether all seats are taken.
    pub(crate) fn sit(&mut self, seat: Seat, name: String) -> Result<bool, SessionError> {
        if self.edition > 0 {
            return Err(SessionError("the match has begun".to_owned()));
        }
        if let Some(person) = self.people.get_mut(&seat) {
            person.name = Some(name);
        }
        Ok(self.people.values().all(|person| person.name.is_some()))
    }

    /// Gives up a seat. Before the match, the link can take it again; later, the link is no longer valid.
    pub(crate) fn leave(&mut self, seat: Seat) {
        if self.edition > 0 {
            self.people.remove(&seat);
            self.edition += 1;
        } else if let Some(person) = self.people.get_mut(&seat) {
            person.name = None;
        }
    }

    /// Begins the next match: returns its configuration. `substitute` takes all seats without a person. After the first match, the
    /// cards are new.
    pub(crate) fn begin(&mut self, last: &SessionConfig, substitute: &AgentSpec) -> SessionConfig {
        self.people.retain(|_, person| person.name.is_some());
        let player = |(seat, player): (Seat, &Player)| match (player, self.people.get(&seat)) {
            (_, Some(person)) => Player::Person(person.name.clone().unwrap_or_default()),
            (Player::Agent(agent), None) => Player::Agent(agent.clone()),
            (Player::Person(_) | Player::Substitute { .. }, None) => Player::Agent(substitute.clone()),
        };
        let players = last.seats().map(player).collect();
        let deal = if self.edition == 0 {
            last.deal.clone()
        } else {
            let seed = self.seed.insert(fresh_seed());
            Deal::new(last.deal.rules(), Key::new(read_seed(seed).expect("a fresh seed is a seed"), 0))
        };
        self.edition += 1;
        SessionConfig { deal, players, ..last.clone() }
    }

    /// Counts a page that a person opens. Fails if the person has too many open pages.
    pub(crate) fn open_page(&mut self, seat: Seat) -> Result<(), SessionError> {
        let is_host = seat == self.host;
        let person = self.people.get_mut(&seat).filter(|person| is_host || person.pages < PAGES);
        let person = person.ok_or_else(|| SessionError(format!("at most {PAGES} pages of a seat can be open")))?;
        person.pages += 1;
        Ok(())
    }

    pub(crate) fn close_page(&mut self, seat: Seat) {
        if let Some(person) = self.people.get_mut(&seat) {
            person.pages -= 1;
        }
    }

    /// The room as the page of this seat shows it. `origin` is the beginning of all links to the table with this number.
    pub(crate) fn view(&self, seat: Seat, config: &SessionConfig, origin: &str, table: u64) -> RoomView {
        let is_host = seat == self.host;
        let player = |(seat, player): (Seat, &Player)| {
            let person = self.people.get(&seat);
            let token = person.filter(|_| is_host).and_then(|person| person.token.as_deref());
            RoomPlayer {
                agent: player.agent().map(ToString::to_string),
                name: person.and_then(|person| person.name.clone()),
                is_here: person.is_some_and(|person| person.pages > 0),
                link: token.map(|token| format!("{origin}{token}/play.html?table={table}")),
            }
        };
        RoomView {
            has_begun: self.edition > 0,
            seat: seat.letter(),
            host: self.host.letter(),
            players: config.seats().map(player).collect(),
        }
    }
}
