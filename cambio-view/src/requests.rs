//! The requests of pages, and the checks of their content. A server and a program in the browser answer the same requests. Two of them
//! play a match of agents.

use cambio_agents::AgentSpec;
use cambio_core::position::PositionFinder;
use cambio_core::record::Fingerprinter;
use cambio_core::rng::{Key, Seed, read_seed};
use cambio_core::rules::MAX_SEATS;
use cambio_core::{Action, Agent, Deal, Observer, Players, Playing, Position, Record, Referee, Seat, replay};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::catalogue::{Catalogue, RequestError};
use crate::config::{PERSON_NAME, SessionConfig};
use crate::reaction::MEDIANS;
use crate::replay::Replay;
use crate::scene::KindView;
use crate::session::{SavedSession, Session, SessionError, no_decision};

/// Reads a seed.
pub(crate) fn seed(text: &str) -> Result<Seed, RequestError> {
    read_seed(text).map_err(|what| RequestError::invalid(format!("the seed is `{text}`; {what}")))
}

/// The request to open a table.
///
/// ```
/// use cambio_core::Seat;
/// use cambio_view::{Catalogue, TableRequest};
///
/// let catalogue = Catalogue::of_server(cambio_agents::roster(), Vec::new());
/// let request: TableRequest = serde_json::from_str(r#"{ "rules": "classic", "opponents": ["greedy"] }"#)?;
/// let session = request.seeded(|| "7".to_owned()).open(&catalogue, None)?;
/// assert_eq!(session.config().person, Seat::A);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Deserialize, Serialize, Clone, Debug, Default)]
#[serde(deny_unknown_fields)]
pub struct TableRequest {
    /// The name of a preset, or the text of a rule file. Required without `from`.
    #[serde(default)]
    rules: String,
    /// The agents of the other seats, in seat order. Required without `from`.
    #[serde(default)]
    opponents: Vec<String>,
    #[serde(default)]
    seat: Option<String>,
    #[serde(default)]
    one_round: bool,
    #[serde(default)]
    notes: bool,
    #[serde(default)]
    practice: bool,
    #[serde(default)]
    seed: Option<String>,
    /// The median of the agents' reaction times in milliseconds, if speed decides races.
    #[serde(default)]
    reaction: Option<u32>,
    /// A position of an earlier match, in which the person takes over a seat.
    #[serde(default)]
    from: Option<MatchPosition>,
}

/// A position of a recorded match: after decision `decision` of round `round`, both counted from 1; 0 is after the deal.
#[derive(Deserialize, Serialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
struct MatchPosition {
    record: Box<RawValue>,
    round: usize,
    decision: usize,
}

/// The agent that takes the place of a person when a match goes on from an earlier position.
const SUBSTITUTE: &str = "learned";

/// Parses the letter of the person's seat.
fn seat_of_person(text: Option<&str>, seats: usize) -> Result<Seat, RequestError> {
    let mut letters = text.unwrap_or("a").chars();
    let seat =
        letters.next().and_then(Seat::from_letter).filter(|seat| seat.index() < seats && letters.next().is_none());
    let last = Seat::ALL[seats - 1];
    seat.ok_or_else(|| RequestError::invalid(format!("the seat must be a to {last} in a game of {seats} players")))
}

impl TableRequest {
    /// The same request, with a fresh seed if it has none.
    #[must_use]
    pub fn seeded(self, fresh: impl FnOnce() -> String) -> TableRequest {
        TableRequest { seed: self.seed.filter(|seed| !seed.is_empty()).or_else(|| Some(fresh())), ..self }
    }

    /// Opens the table. The request must have a seed. `saved` contains the decisions so far if the table was open before; its agents decide
    /// again in the first job of the session.
    ///
    /// # Errors
    /// If a field is not valid, pages may not use one of the agents, or the saved decisions are not possible at this table.
    pub fn open(&self, catalogue: &Catalogue, saved: Option<&SavedSession>) -> Result<Session, RequestError> {
        let (config, position) = self.start(catalogue)?;
        let Some(saved) = saved.or(position.as_ref()) else { return Ok(Session::new(config)) };
        if catalogue.loads_networks() {
            // The agents request the networks that they need.
            drop(Session::new(config.clone()));
        }
        Ok(Session::resume(config, saved)?)
    }

    /// The configuration of the session, and the decisions before the person takes over.
    fn start(&self, catalogue: &Catalogue) -> Result<(SessionConfig, Option<SavedSession>), RequestError> {
        match &self.from {
            Some(position) => self.config_from(position, catalogue).map(|(config, saved)| (config, Some(saved))),
            None => Ok((self.config_of_match(catalogue)?, None)),
        }
    }

    fn config_of_match(&self, catalogue: &Catalogue) -> Result<SessionConfig, RequestError> {
        if self.rules.is_empty() {
            return Err(RequestError::invalid("`rules` is missing: the name of a preset, or the text of a rule file"));
        }
        let seats = self.opponents.len() + 1;
        if !(2..=MAX_SEATS).contains(&seats) {
            let found = self.opponents.len();
            return Err(RequestError::invalid(format!(
                "there must be 1 to {} opponents, found {found}",
                MAX_SEATS - 1
            )));
        }
        let rules = catalogue.rules(&self.rules)?;
        let rules = if self.one_round { rules.of_one_round() } else { rules };
        let person = seat_of_person(self.seat.as_deref(), seats)?;
        let opponents = self.opponents.iter().map(|spec| catalogue.agent(spec)).collect::<Result<Vec<_>, _>>()?;
        rules.covers(seats).map_err(RequestError::invalid)?;
        let deal = Deal::new(&rules, Key::new(seed(self.seed.as_deref().unwrap_or_default())?, 0));
        if let Some(time) = self.reaction.filter(|time| !MEDIANS.contains(time)) {
            let (from, to) = MEDIANS.into_inner();
            let what = format!("the reaction time must be {from} to {to} ms, found {time} ms");
            return Err(RequestError::invalid(what));
        }
        let (notes, practice, reaction) = (self.notes, self.practice, self.reaction);
        Ok(SessionConfig { deal, person, opponents, notes, practice, reaction })
    }

    /// The configuration of a practice session with the cards and agents of a recorded match, and the decisions before the
    /// position.
    fn config_from(
        &self,
        position: &MatchPosition,
        catalogue: &Catalogue,
    ) -> Result<(SessionConfig, SavedSession), RequestError> {
        let record = catalogue.record(position.record.get())?;
        let playing = Playing::restore(&record)
            .map_err(|error| RequestError::invalid(format!("the match cannot be continued: {error}")))?;
        let saved = SavedSession::at(&record, position.round, position.decision)?;
        let person = seat_of_person(self.seat.as_deref(), playing.seats())?;
        let name = |seat: Seat| record.fields.get("agents").and_then(|names| names.get(seat.index())?.as_str());
        let opponents = Seat::ALL[..playing.seats()].iter().filter(|seat| **seat != person).map(|seat| {
            let spec = name(*seat).filter(|name| *name != PERSON_NAME).unwrap_or(SUBSTITUTE);
            catalogue.agent(spec)
        });
        let config = SessionConfig::alone(playing.deal().clone(), person, opponents.collect::<Result<_, _>>()?);
        Ok((SessionConfig { notes: self.notes, practice: true, ..config }, saved))
    }
}

/// A decision of the person, or the wish to continue or to undo.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(crate) struct ActionRequest {
    /// The number of the step that the person saw.
    pub at: u64,
    /// The decision.
    #[serde(default)]
    pub action: String,
    /// Milliseconds since the page showed the question.
    #[serde(default)]
    pub time: Option<u32>,
}

/// The request for a hint.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(crate) struct HintRequest {
    /// The spec of the agent that decides in the person's place.
    pub agent: String,
}

/// The configuration and the decisions of a session, for [`hint`](crate::hint).
///
/// # Errors
/// If the session is not for practice.
pub(crate) fn position_for_hint(session: &Session) -> Result<(SessionConfig, Vec<Action>), SessionError> {
    if !session.config().practice {
        return Err(SessionError("hints are available only at a practice table".to_owned()));
    }
    Ok((session.config().clone(), session.actions()))
}

/// The request to review a round.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct ReviewRequest {
    record: Box<RawValue>,
    /// The round, counted from 1.
    pub round: usize,
}

impl ReviewRequest {
    /// The number of playouts for each estimated chance to win.
    pub const PLAYOUTS: u32 = 200;

    /// The record, and the number of decisions of the round.
    ///
    /// # Errors
    /// As [`Catalogue::record`], and if the record has no such round.
    pub fn record(&self, catalogue: &Catalogue) -> Result<(Record, usize), RequestError> {
        let record = catalogue.record(self.record.get())?;
        let round = self.round;
        let decisions = record.rounds.get(round.wrapping_sub(1)).map(|round| round.decisions.len());
        let decisions = decisions.ok_or_else(|| SessionError(format!("the match has no round {round}")))?;
        Ok((record, decisions))
    }
}

/// The request to read a position, or to advise the seat to act in it.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(crate) struct PositionRequest {
    /// The text of the position. Required without `from`.
    #[serde(default)]
    position: String,
    /// A position of a recorded match.
    #[serde(default)]
    from: Option<MatchPosition>,
}

impl PositionRequest {
    /// The position.
    ///
    /// # Errors
    /// As [`Catalogue::position`] or [`Catalogue::record`], and if the record has no such position with a seat to act.
    pub(crate) fn read(&self, catalogue: &Catalogue) -> Result<Position, RequestError> {
        let Some(MatchPosition { record, round, decision }) = &self.from else {
            return catalogue.position(&self.position);
        };
        let mut finder = PositionFinder::new(*round, decision + 1);
        let replayed = replay(&catalogue.record(record.get())?, &mut finder);
        finder.found.ok_or_else(|| match replayed {
            Err(flaw) => RequestError::from(SessionError(flaw.to_string())),
            Ok(_) => RequestError::from(no_decision(*round, decision + 1)),
        })
    }
}

/// A position as data for the page that edits it.
#[derive(Serialize)]
struct PositionView {
    /// The text, and its rules and fields.
    position: String,
    rules: String,
    fields: Vec<(String, String)>,
    seat: char,
    /// The kinds of cards, and the number of slots.
    kinds: Vec<KindView>,
    slots: usize,
}

/// A position as JSON.
pub(crate) fn position_in_json(position: &Position) -> String {
    let (text, view) = (position.to_string(), position.observation());
    let (rules, fields) = text.split_at(text.rfind(" a=").expect("a position has a layout of seat a"));
    let field = |field: &str| field.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    let shown = PositionView {
        position: text.clone(),
        rules: rules.to_owned(),
        fields: fields.split_whitespace().filter_map(field).collect(),
        seat: view.seat().letter(),
        kinds: KindView::all(view.rules()),
        slots: view.rules().slots(),
    };
    serde_json::to_string(&shown).expect("plain data serializes")
}

/// A replay and its record, which the page sends back when it requests a review.
#[derive(Serialize)]
struct ReplayAnswer<'a> {
    replay: &'a Replay,
    record: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<(usize, usize)>,
}

/// The replay of a record as JSON, with the record, and with the round and the decision that the page opens, both counted from 1.
///
/// # Errors
/// If the record has an error before the first table that could be shown.
///
/// # Panics
/// Does not panic: a replay is plain data.
pub fn replay_in_json(record: &Record, at: Option<(usize, usize)>) -> Result<String, RequestError> {
    let replay = Replay::of(record).map_err(|error| RequestError::invalid(&error))?;
    let answer = ReplayAnswer { replay: &replay, record: &record.to_json(), at };
    Ok(serde_json::to_string(&answer).expect("a replay is plain data"))
}

/// The request to play a match of agents.
///
/// ```
/// use cambio_view::{Catalogue, MatchRequest, replay_in_json};
///
/// let catalogue = Catalogue::of_browser(cambio_agents::roster());
/// let request: MatchRequest = serde_json::from_str(r#"{ "rules": "classic", "agents": ["greedy", "sharp"], "seed": "7" }"#)?;
/// let record = request.play(&catalogue, || unreachable!("the request has a seed"), &|| true)?;
/// assert_eq!(catalogue.record(&record.to_json())?, record);
/// assert!(replay_in_json(&record, None)?.starts_with(r#"{"replay":{"title":"greedy against sharp""#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct MatchRequest {
    /// The name of a preset, or the text of a rule file.
    rules: String,
    /// The specs of the agents, seat a first.
    agents: Vec<String>,
    #[serde(default)]
    one_round: bool,
    #[serde(default)]
    seed: Option<String>,
    /// The seed of the agents' random streams, if it is not the default.
    #[serde(default)]
    agent_seed: Option<String>,
    /// The number of the deal: 0 if it is missing.
    #[serde(default)]
    deal: u64,
}

/// A match that was played: the referee, and the specs of the agents.
type PlayedMatch<W> = (Referee<Box<dyn Agent>, W>, Vec<AgentSpec>);

impl MatchRequest {
    /// Plays the match, with `fresh` as the seed if the request has none. Stops between two decisions when `goes_on` returns false.
    ///
    /// # Errors
    /// If a field is not valid, an agent fails, or the match is stopped.
    ///
    /// # Panics
    /// If an agent panics.
    pub fn play(
        &self,
        catalogue: &Catalogue,
        fresh: impl FnOnce() -> String,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Record, RequestError> {
        let (referee, agents) = self.observed(catalogue, fresh, goes_on, ())?;
        let names: Vec<String> = agents.iter().map(ToString::to_string).collect();
        Ok(referee.playing().save(&names.iter().map(String::as_str).collect::<Vec<_>>()))
    }

    /// Plays the match with an observer.
    fn observed<W: Observer>(
        &self,
        catalogue: &Catalogue,
        fresh: impl FnOnce() -> String,
        goes_on: &dyn Fn() -> bool,
        observer: W,
    ) -> Result<PlayedMatch<W>, RequestError> {
        let seats = self.agents.len();
        if !(2..=MAX_SEATS).contains(&seats) {
            return Err(RequestError::invalid(format!("there must be 2 to {MAX_SEATS} agents, found {seats}")));
        }
        let rules = catalogue.rules(&self.rules)?;
        let rules = if self.one_round { rules.of_one_round() } else { rules };
        rules.covers(seats).map_err(RequestError::invalid)?;
        let agents = self.agents.iter().map(|spec| catalogue.agent(spec)).collect::<Result<Vec<_>, _>>()?;
        let cards = self.seed.clone().filter(|seed| !seed.is_empty()).unwrap_or_else(fresh);
        let streams = self.agent_seed.as_deref().map_or(Ok(Seed::AGENTS), seed)?;
        let key = Key { seed: seed(&cards)?, agents: streams, deal: self.deal };
        let players = Players::all(agents.iter().map(AgentSpec::make));
        let mut referee = Referee::new(Deal::new(&rules, key), players, observer).map_err(RequestError::invalid)?;
        while !referee.playing().is_over() {
            if !goes_on() {
                return Err(SessionError("the match was stopped".to_owned()).into());
            }
            referee.step().map_err(RequestError::invalid)?;
        }
        Ok((referee, agents))
    }
}

/// The request to play a match of a run again and to compare it with its published row.
///
/// ```
/// use cambio_view::{Catalogue, CheckRequest};
///
/// let catalogue = Catalogue::of_browser(cambio_agents::roster());
/// let key = r#"{ "rules": "classic", "agents": ["greedy", "sharp"], "seed": "42", "deal": 3 }"#;
/// let check = |row: &str| {
///     let request: CheckRequest = serde_json::from_str(&format!(r#"{{ "match": {key}, {row} }}"#)).unwrap();
///     request.check(&catalogue, &|| true).unwrap()
/// };
/// let found = check(r#""winners": "ab", "fingerprint": """#);
/// assert!(!found.agrees);
/// let row = format!(r#""winners": "{}", "fingerprint": "{}""#, found.found_winners, found.found_fingerprint);
/// assert!(check(&row).agrees);
/// ```
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct CheckRequest {
    #[serde(rename = "match")]
    played: MatchRequest,
    /// The letters of the seats of rank 1, as in the column `winners` of `matches.csv`.
    winners: String,
    /// The fingerprint of play, as in the column `fingerprint` of `matches.csv`.
    fingerprint: String,
}

/// The answer to a [`CheckRequest`].
#[derive(Serialize, Clone, PartialEq, Eq, Debug)]
pub struct CheckAnswer {
    /// Whether the match has the published winners and fingerprint.
    pub agrees: bool,
    /// The winners of the match that was played now.
    pub found_winners: String,
    /// The fingerprint of the match that was played now.
    pub found_fingerprint: String,
}

impl CheckRequest {
    /// Plays the match and compares it. Stops between two decisions when `goes_on` returns false.
    ///
    /// # Errors
    /// If a field is not valid, the match has no seed, an agent fails, or the match is stopped.
    ///
    /// # Panics
    /// If an agent panics.
    pub fn check(&self, catalogue: &Catalogue, goes_on: &dyn Fn() -> bool) -> Result<CheckAnswer, RequestError> {
        // An empty seed is refused, because a match with a fresh seed cannot be compared.
        let (referee, _) = self.played.observed(catalogue, String::new, goes_on, Fingerprinter::default())?;
        let result = referee.playing().result().expect("the match is over");
        let first = Seat::ALL.into_iter().zip(&result.ranks).filter(|(_, rank)| **rank == 1);
        let found_winners: String = first.map(|(seat, _)| seat.letter()).collect();
        let found_fingerprint = referee.observer().of_match().to_string();
        let agrees = (&found_winners, &found_fingerprint) == (&self.winners, &self.fingerprint);
        Ok(CheckAnswer { agrees, found_winners, found_fingerprint })
    }
}
