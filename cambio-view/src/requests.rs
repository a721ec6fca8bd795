//! The requests of pages, and the checks of their content. A server and a program in the browser answer the same requests.

use cambio_core::rng::{Key, Seed, read_seed};
use cambio_core::rules::MAX_SEATS;
use cambio_core::{Action, Deal, Playing, Record, Seat};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::catalogue::{Catalogue, RequestError};
use crate::config::{PERSON_NAME, Player, SessionConfig};
use crate::reaction::MEDIANS;
use crate::replay::Replay;
use crate::session::{SavedSession, Session, SessionError};

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
/// let session = request.seeded(|| "7".to_owned()).open(&catalogue, &|| true)?;
/// assert_eq!(session.config().person(), Seat::A);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Deserialize, Serialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct TableRequest {
    /// The name of a preset, or the text of a rule file. Required without `from`.
    #[serde(default)]
    rules: String,
    /// The agents of the other seats, in seat order; `person` for another person. Required without `from`.
    #[serde(default)]
    opponents: Vec<String>,
    #[serde(default)]
    seat: Option<String>,
    /// The name of the person who opens the table, for the other people.
    #[serde(default)]
    name: String,
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
    /// The time in milliseconds for which a snap window stays open, if several people play.
    #[serde(default)]
    snap_time: Option<u32>,
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

/// The agent that takes the place of a person who leaves, or when a match goes on from an earlier position.
pub const SUBSTITUTE: &str = "learned";

/// The allowed times for snaps if several people play, in milliseconds.
const SNAP_TIMES: std::ops::RangeInclusive<u32> = 1000..=60_000;

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

    /// The seat of the person who opens the table. [`TableRequest::open`] checks that the table has this seat.
    pub fn seat(&self) -> Seat {
        let letter = self.seat.as_deref().and_then(|text| text.chars().next());
        letter.and_then(Seat::from_letter).unwrap_or(Seat::A)
    }

    /// The name of the person who opens the table; it may be empty.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether several people play.
    fn is_shared(&self) -> bool {
        self.opponents.iter().any(|spec| spec == PERSON_NAME)
    }

    /// Whether the agents must decide again up to a position before the table opens.
    pub fn has_position(&self) -> bool {
        self.from.is_some()
    }

    /// Opens the table. The request must have a seed. The agents decide again up to the position of the request; this stops
    /// between two decisions when `goes_on` returns false.
    ///
    /// # Errors
    /// If a field is not valid, pages may not use one of the agents, or the computation is stopped.
    pub fn open(&self, catalogue: &Catalogue, goes_on: &dyn Fn() -> bool) -> Result<Session, RequestError> {
        let (config, start) = self.start(catalogue)?;
        Ok(Session::restore(config, &start, goes_on)?)
    }

    /// Opens the table again as it was when it was saved.
    ///
    /// # Errors
    /// As [`TableRequest::open`], and if the saved decisions are not possible at this table.
    pub fn reopen(&self, catalogue: &Catalogue, saved: &SavedSession) -> Result<Session, RequestError> {
        Ok(Session::restore(self.start(catalogue)?.0, saved, &|| true)?)
    }

    /// The configuration of the session that the request opens. The request must have a seed.
    ///
    /// # Errors
    /// If a field is not valid, or pages may not use one of the agents.
    pub fn config(&self, catalogue: &Catalogue) -> Result<SessionConfig, RequestError> {
        Ok(self.start(catalogue)?.0)
    }

    /// The configuration of the session, and the decisions before the person takes over.
    fn start(&self, catalogue: &Catalogue) -> Result<(SessionConfig, SavedSession), RequestError> {
        match &self.from {
            Some(position) => self.config_from(position, catalogue),
            None => Ok((self.config_of_match(catalogue)?, SavedSession::default())),
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
        let player = |spec: &String| match spec.as_str() {
            PERSON_NAME => Ok(Player::Person(String::new())),
            spec => catalogue.agent(spec).map(Player::Agent),
        };
        let mut players = self.opponents.iter().map(player).collect::<Result<Vec<_>, _>>()?;
        players.insert(person.index(), Player::Person(String::new()));
        rules.covers(seats).map_err(RequestError::invalid)?;
        let deal = Deal::new(&rules, Key::new(seed(self.seed.as_deref().unwrap_or_default())?, 0));
        if self.is_shared() {
            self.check_shared(catalogue)?;
        }
        let (reaction, snap_time) = (self.reaction, self.snap_time.unwrap_or(SessionConfig::SNAP_TIME));
        let times = [("reaction time", reaction, MEDIANS), ("time for snaps", Some(snap_time), SNAP_TIMES)];
        for (what, time, allowed) in times {
            if let Some(time) = time.filter(|time| !allowed.contains(time)) {
                let (from, to) = allowed.into_inner();
                return Err(RequestError::invalid(format!("the {what} must be {from} to {to} ms, found {time} ms")));
            }
        }
        Ok(SessionConfig { deal, players, notes: self.notes, practice: self.practice, reaction, snap_time })
    }

    /// Checks that several people can use the options.
    fn check_shared(&self, catalogue: &Catalogue) -> Result<(), RequestError> {
        let refuse = |what: &str| Err(RequestError::invalid(what));
        if !catalogue.may_share() {
            return refuse("people can play together only on a server; start one with `cambio serve`");
        }
        if self.practice {
            return refuse("`practice` must be off if several people play, because a hint or an undo would be unfair");
        }
        if self.reaction.is_some() {
            return refuse(
                "`reaction` must be missing if several people play: chance decides snap races, because connections differ",
            );
        }
        Ok(())
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
pub struct ActionRequest {
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
pub struct HintRequest {
    /// The spec of the agent that decides in the person's place.
    pub agent: String,
}

/// The configuration and the decisions of a session, for [`hint`](crate::hint).
///
/// # Errors
/// If the session is not for practice.
pub fn position_for_hint(session: &Session) -> Result<(SessionConfig, Vec<Action>), SessionError> {
    if !session.config().practice {
        return Err(SessionError("hints are available only at a practice table".to_owned()));
    }
    Ok((session.config().clone(), session.actions()))
}

/// The request to explain a decision.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct ExplainRequest {
    record: Box<RawValue>,
    /// The round and the decision, counted from 1.
    pub round: usize,
    /// The number of the decision in the round.
    pub decision: usize,
    /// The spec of the agent that explains.
    pub agent: String,
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

impl ExplainRequest {
    /// The record.
    ///
    /// # Errors
    /// As [`Catalogue::record`].
    pub fn record(&self, catalogue: &Catalogue) -> Result<Record, RequestError> {
        catalogue.record(self.record.get())
    }
}

/// A replay and its record, which the page sends back when it requests an explanation or a review.
#[derive(Serialize)]
struct ReplayAnswer<'a> {
    #[serde(rename = "film")]
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
