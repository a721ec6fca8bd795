//! The requests of pages, and the checks of their content. A server and a program in the browser answer the same requests. Two of them
//! play a match of agents.

use cambio_agents::AgentSpec;
use cambio_core::position::PositionFinder;
use cambio_core::record::{Fingerprint, Fingerprinter};
use cambio_core::rng::{Key, Seed, read_seed};
use cambio_core::rules::MAX_SEATS;
use cambio_core::text::ParseError;
use cambio_core::{Action, Deal, Phase, Players, Playing, Position, Record, Referee, Rules, RulesSpec, Seat, replay};
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

/// Parses the name of a preset, the text of a rule file, or rules in JSON as a position has them.
fn rules_of(text: &str) -> Result<Rules, RequestError> {
    let rules = match serde_json::from_str(text) {
        Ok(json) => RulesSpec::from_json(&json).and_then(RulesSpec::validate),
        Err(_) if text.contains('=') => RulesSpec::from_toml(text).and_then(RulesSpec::validate),
        Err(_) => Rules::preset(text),
    };
    rules.map_err(RequestError::invalid)
}

/// Parses the rules of a match and the agents in it, besides this number of people.
fn rules_and_agents(
    rules: &str,
    is_one_round: bool,
    specs: &[String],
    people: usize,
    catalogue: &Catalogue,
) -> Result<(Rules, Vec<AgentSpec>), RequestError> {
    let (least, most, found) = (2 - people, MAX_SEATS - people, specs.len());
    if !(least..=most).contains(&found) {
        let who = if people == 0 { "agents" } else { "opponents" };
        return Err(RequestError::invalid(format!("there must be {least} to {most} {who}, found {found}")));
    }
    let rules = rules_of(rules)?;
    let rules = if is_one_round { rules.of_one_round() } else { rules };
    rules.covers(found + people).map_err(RequestError::invalid)?;
    let agents = specs.iter().map(|spec| catalogue.agent(spec)).collect::<Result<Vec<_>, _>>()?;
    Ok((rules, agents))
}

/// Reads a record: the first line of the text that is not empty. Errors of its rules are found when it is replayed.
pub(crate) fn record_of(text: &str) -> Result<Record, RequestError> {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    Record::read(line.trim()).map_err(RequestError::invalid)
}

/// The request to open a table.
#[derive(Deserialize, Serialize, Clone, Debug, Default)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableRequest {
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
    pub(crate) fn seeded(self, fresh: impl FnOnce() -> String) -> TableRequest {
        TableRequest { seed: self.seed.filter(|seed| !seed.is_empty()).or_else(|| Some(fresh())), ..self }
    }

    /// Opens the table. The request must have a seed. `saved` contains the decisions so far if the table was open before; its agents decide
    /// again in the first job of the session.
    ///
    /// # Errors
    /// If a field is not valid, pages may not use one of the agents, or the saved decisions are not possible at this table.
    pub(crate) fn open(&self, catalogue: &Catalogue, saved: Option<&SavedSession>) -> Result<Session, RequestError> {
        let (config, position) = match &self.from {
            Some(position) => self.config_from(position, catalogue).map(|(config, saved)| (config, Some(saved)))?,
            None => (self.config_of_match(catalogue)?, None),
        };
        let Some(saved) = saved.or(position.as_ref()) else { return Ok(Session::new(config)) };
        if catalogue.loads_networks() {
            // The agents request the networks that they need.
            drop(Session::new(config.clone()));
        }
        Ok(Session::resume(config, saved)?)
    }

    fn config_of_match(&self, catalogue: &Catalogue) -> Result<SessionConfig, RequestError> {
        if self.rules.is_empty() {
            return Err(RequestError::invalid("`rules` is missing: the name of a preset, or the text of a rule file"));
        }
        let (rules, opponents) = rules_and_agents(&self.rules, self.one_round, &self.opponents, 1, catalogue)?;
        let person = seat_of_person(self.seat.as_deref(), opponents.len() + 1)?;
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
        let record = record_of(position.record.get())?;
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
pub(crate) struct ReviewRequest {
    record: Box<RawValue>,
    /// The round, counted from 1.
    pub(crate) round: usize,
}

impl ReviewRequest {
    /// The record, and the number of decisions of the round.
    ///
    /// # Errors
    /// If the record is not a record, or has no such round.
    pub(crate) fn record(&self) -> Result<(Record, usize), RequestError> {
        let record = record_of(self.record.get())?;
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
    /// The first turn of a match for at most this many seats, under these rules.
    #[serde(default)]
    seats: usize,
    #[serde(default)]
    rules: String,
}

impl PositionRequest {
    /// The position.
    ///
    /// # Errors
    /// If the text is not a position or the record not a record, if the record has no such position with a seat to act, or if the
    /// rules are not valid for the number of seats.
    pub(crate) fn read(&self) -> Result<Position, RequestError> {
        if !self.rules.is_empty() {
            let rules = rules_of(&self.rules)?;
            let seats = self.seats.min(rules.max_seats());
            let mut playing = Playing::new(&rules, seats, Key::new(0, 0)).map_err(RequestError::invalid)?;
            // Looks before the first turn, and passes.
            while playing.state().table().phase() != Phase::Start {
                let choices = playing.state().choices();
                let pass = choices.iter().find(|&action| action == Action::Pass);
                let action = pass.or_else(|| choices.iter().next()).expect("the first turn comes");
                playing.act(action).expect("a choice is legal");
            }
            let turn = playing.turn().expect("a turn begins");
            return Ok(Position::new(&turn.view, playing.totals(), playing.rounds()));
        }
        let Some(MatchPosition { record, round, decision }) = &self.from else {
            return self.position.trim().parse().map_err(|error: ParseError| RequestError::invalid(error));
        };
        let mut finder = PositionFinder::new(*round, decision + 1);
        let replayed = replay(&record_of(record.get())?, &mut finder);
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
    /// The kinds of cards, the number of slots, and the maximum number of seats.
    kinds: Vec<KindView>,
    slots: usize,
    max_seats: usize,
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
        max_seats: view.rules().max_seats(),
    };
    serde_json::to_string(&shown).expect("plain data serializes")
}

/// A replay and its record, which the page sends back when it requests a review.
#[derive(Serialize)]
struct ReplayAnswer<'a> {
    replay: &'a Replay,
    record: &'a str,
    /// The fingerprint of a match that was played for the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint: Option<String>,
}

/// The replay of a record as JSON, with the record, and with the fingerprint of a match that was played for the page.
///
/// # Errors
/// If the record has an error before the first table that could be shown.
///
/// # Panics
/// Does not panic: a replay is plain data.
pub fn replay_in_json(record: &Record, fingerprint: Option<Fingerprint>) -> Result<String, RequestError> {
    let replay = Replay::of(record).map_err(|error| RequestError::invalid(&error))?;
    let fingerprint = fingerprint.map(|fingerprint| fingerprint.to_string());
    let answer = ReplayAnswer { replay: &replay, record: &record.to_json(), fingerprint };
    Ok(serde_json::to_string(&answer).expect("a replay is plain data"))
}

/// The request to play a match of agents.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(crate) struct MatchRequest {
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

impl MatchRequest {
    /// Plays the match, with `fresh` as the seed if the request has none. Stops between two decisions when `goes_on` returns false. Returns
    /// the record and the fingerprint of play, as in the column `fingerprint` of `matches.csv`.
    ///
    /// # Errors
    /// If a field is not valid, an agent fails, or the match is stopped.
    ///
    /// # Panics
    /// If an agent panics.
    pub(crate) fn play(
        &self,
        catalogue: &Catalogue,
        fresh: impl FnOnce() -> String,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<(Record, Fingerprint), RequestError> {
        let (rules, agents) = rules_and_agents(&self.rules, self.one_round, &self.agents, 0, catalogue)?;
        let cards = self.seed.clone().filter(|seed| !seed.is_empty()).unwrap_or_else(fresh);
        let streams = self.agent_seed.as_deref().map_or(Ok(Seed::AGENTS), seed)?;
        let key = Key { seed: seed(&cards)?, agents: streams, deal: self.deal };
        let players = Players::all(agents.iter().map(AgentSpec::make));
        let observer = Fingerprinter::default();
        let mut referee = Referee::new(Deal::new(&rules, key), players, observer).map_err(RequestError::invalid)?;
        while !referee.playing().is_over() {
            if !goes_on() {
                return Err(SessionError("the match was stopped".to_owned()).into());
            }
            referee.step().map_err(RequestError::invalid)?;
        }
        let names: Vec<String> = agents.iter().map(ToString::to_string).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Ok((referee.playing().save(&names), referee.observer().of_match()))
    }
}
