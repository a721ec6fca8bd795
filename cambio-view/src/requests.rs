//! The requests of pages, and the checks of their content. A server and a program in the browser answer the same requests.

use std::sync::atomic::{AtomicUsize, Ordering};

use cambio_agents::{AgentSpec, IsmctsParams, LookaheadParams, RolloutParams, Roster};
use cambio_core::rng::{Key, Seed, read_seed};
use cambio_core::rules::{MAX_SEATS, PRESETS};
use cambio_core::{Action, Deal, Playing, Record, Rules, RulesSpec, Seat};
use serde::{Deserialize, Serialize};

use crate::reaction::MEDIANS;
use crate::replay::Replay;
use crate::scene::{CardValue, KindView};
use crate::session::{PERSON_NAME, SavedSession, Session, SessionConfig, SessionError};
use crate::words::rules_in_short;

/// The maximum budgets of a decision. Each of them takes at most some ten seconds.
const MOST_MILLISECONDS: u32 = 10_000;
const MOST_ITERATIONS: u32 = 100_000;
const MOST_WORLDS: u32 = 10_000;

/// The maximum number of rule files that pages may send, because the process keeps each of them in memory.
const MOST_RULES: usize = 1000;

/// Why a request is rejected: a status code of HTTP and a sentence.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{sentence}")]
pub struct RequestError {
    /// The status code.
    pub status: u16,
    /// The reason.
    pub sentence: String,
}

impl RequestError {
    /// The request is not valid.
    #[expect(clippy::needless_pass_by_value, reason = "callers pass owned errors")]
    pub fn invalid(what: impl ToString) -> RequestError {
        RequestError { status: 400, sentence: what.to_string() }
    }
}

impl From<SessionError> for RequestError {
    fn from(error: SessionError) -> RequestError {
        RequestError { status: 409, sentence: error.0 }
    }
}

/// The program that answers the requests.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Host {
    /// A server that may use these specs with a quoted text, which start programs or read files.
    Server { allowed: Vec<String> },
    /// A page in a browser, which has no programs, no files and no clock.
    Browser,
}

/// The agents and rules that pages may use.
///
/// ```
/// use cambio_view::Catalogue;
///
/// let catalogue = Catalogue::of_browser(cambio_agents::roster());
/// assert!(catalogue.agent("rollout(n=200)").is_ok());
/// let error = catalogue.agent("rollout(time_ms=50)").unwrap_err();
/// assert!(error.sentence.contains("a time budget, which does not work in a browser"), "{error}");
/// ```
#[derive(Debug)]
pub struct Catalogue {
    roster: Roster,
    host: Host,
    rules_made: AtomicUsize,
}

/// What a page offers for a new table.
#[derive(Serialize, Debug)]
pub struct TableOptions {
    presets: Vec<PresetOption>,
    agents: Vec<AgentOption>,
    tables: Vec<TableOption>,
}

/// An open table, which the start page lists.
#[derive(Serialize, Debug)]
pub struct TableOption {
    table: u64,
    rules: &'static str,
    names: Vec<String>,
    seat: char,
    round: usize,
    over: bool,
}

impl TableOption {
    /// The entry of a table with this number.
    pub fn new(table: u64, session: &Session) -> TableOption {
        let (config, step) = (session.config(), session.latest());
        TableOption {
            table,
            rules: config.deal.rules().name(),
            names: config.names(PERSON_NAME),
            seat: config.person.letter(),
            round: step.scene.round,
            over: step.end.as_ref().is_some_and(|end| end.ranks.is_some()),
        }
    }
}

#[derive(Serialize, Debug)]
struct PresetOption {
    name: &'static str,
    in_short: [String; 3],
    seats: usize,
    kinds: Vec<KindView>,
    worth: Vec<CardValue>,
}

#[derive(Serialize, Debug)]
struct AgentOption {
    spec: String,
    about: String,
    params: String,
}

impl Catalogue {
    /// The catalogue of a server. `allowed` contains the specs with a quoted text that pages may use.
    pub fn of_server(roster: Roster, allowed: Vec<String>) -> Catalogue {
        Catalogue { roster, host: Host::Server { allowed }, rules_made: AtomicUsize::new(0) }
    }

    /// The catalogue of a page in a browser.
    pub fn of_browser(roster: Roster) -> Catalogue {
        Catalogue { roster, host: Host::Browser, rules_made: AtomicUsize::new(0) }
    }

    /// The agents.
    pub fn roster(&self) -> &Roster {
        &self.roster
    }

    fn allowed(&self) -> &[String] {
        match &self.host {
            Host::Server { allowed } => allowed,
            Host::Browser => &[],
        }
    }

    /// Whether this spec is allowed explicitly, so that its text and its budget are not checked.
    pub fn is_allowed(&self, spec: &str) -> bool {
        self.allowed().iter().any(|allowed| allowed == spec)
    }

    /// Parses the spec of an agent from a page.
    ///
    /// # Errors
    /// If the spec is not valid, or pages may not use this agent.
    pub fn agent(&self, spec: &str) -> Result<AgentSpec, RequestError> {
        // Checked before parsing, because parsing can read files.
        if spec.contains('"') && !self.is_allowed(spec) {
            let what = match self.host {
                Host::Server { .. } => "is not allowed here; start `cambio serve` with `--with` to allow it",
                Host::Browser => {
                    "starts a program or reads a file, which a page cannot do; use it with `cambio serve --with`"
                }
            };
            return Err(RequestError::invalid(format!("agent `{spec}` {what}")));
        }
        let agent = self.roster.parse(spec).map_err(RequestError::invalid)?;
        if agent.sees_all() {
            let what = "sees hidden cards and cannot play at a table";
            return Err(RequestError::invalid(format!("agent `{agent}` {what}")));
        }
        if !self.is_allowed(spec) {
            self.check_budget(&agent)?;
        }
        Ok(agent)
    }

    /// Checks the budget of an agent's decision.
    ///
    /// # Errors
    /// If a decision may take longer than pages may ask for, or needs a clock that the program does not have.
    pub fn check_budget(&self, agent: &AgentSpec) -> Result<(), RequestError> {
        if self.host == Host::Browser && !agent.is_reproducible() {
            let what = "has a time budget, which does not work in a browser; give a number of iterations instead";
            return Err(RequestError::invalid(format!("agent `{agent}` {what}")));
        }
        let mut budgets = Vec::new();
        if let Some(RolloutParams { n, time, .. }) = agent.params() {
            budgets.extend([("n", *n, MOST_ITERATIONS), ("time_ms", time.time_ms.unwrap_or(0), MOST_MILLISECONDS)]);
        }
        if let Some(IsmctsParams { iterations, time, .. }) = agent.params() {
            budgets.push(("iterations", *iterations, MOST_ITERATIONS));
            budgets.push(("time_ms", time.time_ms.unwrap_or(0), MOST_MILLISECONDS));
        }
        if let Some(LookaheadParams { worlds, proposals, .. }) = agent.params() {
            budgets.extend([("worlds", *worlds, MOST_WORLDS), ("proposals", *proposals, MOST_ITERATIONS)]);
        }
        let Some((param, found, most)) = budgets.into_iter().find(|(_, found, most)| found > most) else {
            return Ok(());
        };
        let remedy = match self.host {
            Host::Server { .. } => "; start `cambio serve` with `--with` to allow this agent",
            Host::Browser => "; `cambio serve --with` can allow more",
        };
        let what = format!("parameter `{param}` must be at most {most} here, found {found}{remedy}");
        Err(RequestError::invalid(format!("agent `{agent}`: {what}")))
    }

    /// Parses the name of a preset or the text of a rule file.
    ///
    /// # Errors
    /// If the preset does not exist, the rules are not valid, or too many rule files were read.
    pub fn rules(&self, text: &str) -> Result<Rules, RequestError> {
        if !text.contains('=') {
            return Rules::preset(text).map_err(RequestError::invalid);
        }
        let spec = RulesSpec::from_toml(text).map_err(RequestError::invalid)?;
        if self.rules_made.fetch_add(1, Ordering::Relaxed) >= MOST_RULES {
            let sentence = format!("the server has already loaded {MOST_RULES} rule files; restart it to load more");
            return Err(RequestError { status: 429, sentence });
        }
        spec.validate().map_err(RequestError::invalid)
    }

    /// What a page offers for a new table; `tables` are the open tables.
    ///
    /// # Panics
    /// Does not panic: the presets are rules.
    pub fn options(&self, tables: Vec<TableOption>) -> TableOptions {
        let preset = |name: &'static str| {
            let rules = Rules::preset(name).expect("the shipped presets are rules");
            let seats = (2..=MAX_SEATS).rev().find(|&seats| rules.covers(seats).is_ok()).unwrap_or(2);
            let (kinds, worth) = (KindView::all(&rules), CardValue::all(&rules));
            PresetOption { name, in_short: rules_in_short(&rules), seats, kinds, worth }
        };
        let mut agents = Vec::new();
        for entry in self.roster.entries().iter().filter(|entry| !entry.sees_all()) {
            let params: Vec<&str> = entry.params().iter().map(|param| param.name).collect();
            // Skips agents whose spec needs a quoted text.
            if self.roster.parse(entry.name()).is_ok() {
                let (spec, about) = (entry.name().to_owned(), entry.about().to_owned());
                agents.push(AgentOption { spec, about, params: params.join(", ") });
            }
        }
        for spec in self.allowed() {
            let about = "Allowed with --with.".to_owned();
            agents.push(AgentOption { spec: spec.clone(), about, params: String::new() });
        }
        TableOptions { presets: PRESETS.map(preset).into(), agents, tables }
    }
}

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
/// assert_eq!(session.config().person, Seat::A);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Deserialize, Serialize, Clone, Debug)]
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
    record: serde_json::Value,
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

    /// The configuration of the session, and the decisions before the person takes over.
    fn start(&self, catalogue: &Catalogue) -> Result<(SessionConfig, SavedSession), RequestError> {
        match &self.from {
            Some(position) => self.config_from(position, catalogue),
            None => Ok((self.config(catalogue)?, SavedSession::default())),
        }
    }

    fn config(&self, catalogue: &Catalogue) -> Result<SessionConfig, RequestError> {
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
        let reaction = self.reaction;
        if let Some(median) = reaction.filter(|median| !MEDIANS.contains(median)) {
            let (from, to) = (MEDIANS.start(), MEDIANS.end());
            let what = format!("the reaction time must be {from} to {to} ms, found {median} ms");
            return Err(RequestError::invalid(what));
        }
        Ok(SessionConfig { deal, person, opponents, notes: self.notes, practice: self.practice, reaction })
    }

    /// The configuration of a practice session with the cards and agents of a recorded match, and the decisions before the
    /// position.
    fn config_from(
        &self,
        position: &MatchPosition,
        catalogue: &Catalogue,
    ) -> Result<(SessionConfig, SavedSession), RequestError> {
        let record = Record::read(&position.record.to_string()).map_err(RequestError::invalid)?;
        let playing = Playing::restore(&record)
            .map_err(|error| RequestError::invalid(format!("the match cannot be continued: {error}")))?;
        let saved = SavedSession::at(&record, position.round, position.decision)?;
        let person = seat_of_person(self.seat.as_deref(), playing.seats())?;
        let name = |seat: Seat| record.fields.get("agents").and_then(|names| names.get(seat.index())?.as_str());
        let opponents = Seat::ALL[..playing.seats()].iter().filter(|seat| **seat != person).map(|seat| {
            let spec = name(*seat).filter(|name| *name != PERSON_NAME).unwrap_or(SUBSTITUTE);
            catalogue.agent(spec)
        });
        let config = SessionConfig {
            deal: playing.deal().clone(),
            person,
            opponents: opponents.collect::<Result<_, _>>()?,
            notes: self.notes,
            practice: true,
            reaction: None,
        };
        Ok((config, saved))
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
    record: serde_json::Value,
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
    record: serde_json::Value,
    /// The round, counted from 1.
    pub round: usize,
}

impl ReviewRequest {
    /// The number of playouts for each estimated chance to win.
    pub const PLAYOUTS: u32 = 200;

    /// The record, and the number of decisions of the round.
    ///
    /// # Errors
    /// If the record is not valid, or has no such round.
    pub fn record(&self) -> Result<(Record, usize), RequestError> {
        let record = Record::read(&self.record.to_string()).map_err(RequestError::invalid)?;
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
    /// If the record is not valid.
    pub fn record(&self) -> Result<Record, RequestError> {
        Record::read(&self.record.to_string()).map_err(RequestError::invalid)
    }
}

/// Reads the first record of a text with one record per line.
///
/// # Errors
/// If the line is not a record.
pub fn first_record(text: &str) -> Result<Record, RequestError> {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    Record::read(line.trim()).map_err(RequestError::invalid)
}

/// A replay and its record, which the page sends back when it requests an explanation or a review.
#[derive(Serialize)]
struct ReplayAnswer<'a> {
    #[serde(rename = "film")]
    replay: &'a Replay,
    record: &'a str,
}

/// The replay of a record as JSON, with the record.
///
/// # Errors
/// If the record has an error before the first table that could be shown.
///
/// # Panics
/// Does not panic: a replay is plain data.
pub fn replay_in_json(record: &Record) -> Result<String, RequestError> {
    let replay = Replay::of(record).map_err(RequestError::invalid)?;
    let answer = ReplayAnswer { replay: &replay, record: &record.to_json() };
    Ok(serde_json::to_string(&answer).expect("a replay is plain data"))
}
