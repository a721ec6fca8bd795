//! The configuration of a session: the deal, the players and the options.

use cambio_agents::AgentSpec;
use cambio_core::{Deal, Seat};
use serde_json::{Value, json};

/// The name of a person in a record.
pub(crate) const PERSON_NAME: &str = "person";

/// A player of a session.
#[derive(Clone, Debug)]
pub enum Player {
    /// A person, with a name for the other people; it may be empty.
    Person(String),
    /// An agent.
    Agent(AgentSpec),
    /// An agent that plays on for a person who has left.
    Substitute {
        /// The name of the person who has left.
        name: String,
        /// The agent.
        agent: AgentSpec,
    },
}

impl Player {
    /// The name of the person who sits in this seat now.
    pub fn person(&self) -> Option<&str> {
        match self {
            Player::Person(name) => Some(name),
            Player::Agent(_) | Player::Substitute { .. } => None,
        }
    }

    /// The agent in this seat.
    pub fn agent(&self) -> Option<&AgentSpec> {
        match self {
            Player::Person(_) => None,
            Player::Agent(agent) | Player::Substitute { agent, .. } => Some(agent),
        }
    }
}

/// The configuration of a session.
///
/// ```
/// use cambio_core::{Deal, Rules, Seat, rng::Key};
/// use cambio_view::{Player, SessionConfig};
///
/// let deal = Deal::new(&Rules::preset("classic").unwrap(), Key::new(42, 0));
/// let alone = SessionConfig::alone(deal, Seat::B, vec![cambio_agents::roster().parse("greedy").unwrap()]);
/// assert_eq!((alone.person(), alone.names("you")), (Seat::B, vec!["greedy".to_owned(), "you".to_owned()]));
/// assert!(!alone.is_shared());
///
/// let players = ["Ann", "Bob"].map(|name| Player::Person(name.to_owned())).into();
/// assert!(SessionConfig { players, ..alone }.is_shared());
/// ```
#[derive(Clone, Debug)]
pub struct SessionConfig {
    /// The deal. Its rules must allow the number of players.
    pub deal: Deal,
    /// The players, seat a first. At least one of them is a person.
    pub players: Vec<Player>,
    /// Whether faces that a person has seen stay visible.
    pub notes: bool,
    /// Whether hints and undo are allowed. A [shared](SessionConfig::is_shared) session is never for practice.
    pub practice: bool,
    /// The median of the agents' reaction times in milliseconds if speed decides races; with `None`, chance decides. In a
    /// shared session, chance always decides.
    pub reaction: Option<u32>,
    /// In a shared session, the time in milliseconds for which a snap window stays open.
    pub snap_time: u32,
}

impl SessionConfig {
    /// The time for snaps in a shared session, if none is given.
    pub const SNAP_TIME: u32 = 4000;

    /// One person in this seat against agents, which take the other seats in order: with notes and without practice, and
    /// chance decides races.
    pub fn alone(deal: Deal, person: Seat, opponents: Vec<AgentSpec>) -> SessionConfig {
        let mut players: Vec<Player> = opponents.into_iter().map(Player::Agent).collect();
        players.insert(person.index(), Player::Person(String::new()));
        SessionConfig {
            deal,
            players,
            notes: true,
            practice: false,
            reaction: None,
            snap_time: SessionConfig::SNAP_TIME,
        }
    }

    /// The players with their seats.
    pub fn seats(&self) -> impl Iterator<Item = (Seat, &Player)> {
        Seat::ALL.into_iter().zip(&self.players)
    }

    /// The seats of the people.
    pub fn people(&self) -> impl Iterator<Item = Seat> {
        self.seats().filter(|(_, player)| player.person().is_some()).map(|(seat, _)| seat)
    }

    /// The seat of the person, or of the first of several people.
    ///
    /// # Panics
    /// If no player is a person.
    pub fn person(&self) -> Seat {
        self.people().next().expect("a session has a person")
    }

    /// Whether several people play. This does not change when one of them leaves.
    pub fn is_shared(&self) -> bool {
        self.players.iter().filter(|player| !matches!(player, Player::Agent(_))).count() > 1
    }

    /// The names of the players, seat a first; `person` is the name of each person.
    pub fn names(&self, person: &str) -> Vec<String> {
        let name = |player: &Player| player.agent().map_or_else(|| person.to_owned(), ToString::to_string);
        self.players.iter().map(name).collect()
    }

    /// The names that a record has for the agents. The agent that plays on for a person is not an agent of the match.
    pub(crate) fn recorded_names(&self) -> Vec<String> {
        let name = |player: &Player| match player {
            Player::Agent(agent) => agent.to_string(),
            Player::Person(_) | Player::Substitute { .. } => PERSON_NAME.to_owned(),
        };
        self.players.iter().map(name).collect()
    }

    /// The names of the people, seat a first; `None` for agents.
    pub(crate) fn names_of_people(&self) -> Vec<Option<String>> {
        self.players.iter().map(|player| player.person().map(str::to_owned)).collect()
    }

    /// What a record contains about the people: the seat of one person, or all people with their seats and names.
    pub(crate) fn people_in_record(&self, hints: u32, undone: u32) -> Value {
        let practice = self.practice;
        if !self.is_shared() {
            return json!({ "seat": self.person().to_string(), "practice": practice, "hints": hints, "undone": undone });
        }
        let people = self.seats().filter_map(|(seat, player)| match player {
            Player::Person(name) => Some(json!({ "seat": seat.to_string(), "name": name })),
            Player::Substitute { name, .. } => Some(json!({ "seat": seat.to_string(), "name": name, "left": true })),
            Player::Agent(_) => None,
        });
        let people: Vec<Value> = people.collect();
        json!({ "people": people, "practice": practice, "hints": hints, "undone": undone })
    }
}
