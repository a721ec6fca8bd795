//! Records: one match as one line of JSON, with every random outcome.

pub(crate) mod replay;
pub(crate) mod save;

pub use replay::replay;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::engine::chance::RaceOrder;
use crate::play::RoundResult;
use crate::play::observer::Observer;
use crate::rng::mix;
use crate::text::{excerpt, without_mark};
use crate::{Action, Card, Rules, Score, Seat, Spot, Standing, State};

/// The format's name and version.
pub const FORMAT: &str = "cambio-record/1";

/// The JSON Schema (draft 2020-12) of one record.
pub const SCHEMA: &str = include_str!("../record.schema.json");

/// The extra field with the fingerprint of a round. Readers may ignore it.
pub(crate) const FINGERPRINT: &str = "x-fingerprint";

/// The extra field with a round's trace: four hexadecimal digits of the running fingerprint before each decision, and
/// four after the last one. The first four digits cover the deck, every four after them one decision and the chance
/// outcomes that follow it. A replay therefore finds the altered decision even if it is legal.
pub(crate) const TRACE: &str = "x-trace";

/// A record of one match.
///
/// A record that is read from a file keeps unknown fields and their order, and writes them back.
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize)]
pub struct Record {
    /// All fields except the rounds, in the order in which they are written.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
    /// The rounds.
    #[serde(default, deserialize_with = "or_empty")]
    pub rounds: Vec<RoundRecord>,
}

/// One round of a record.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, Serialize)]
pub struct RoundRecord {
    /// The seat with the first turn; `None` if the record does not contain it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starter: Option<String>,
    /// The labels of the shuffled deck in the order of dealing.
    #[serde(default, deserialize_with = "or_empty")]
    pub deck: Vec<String>,
    /// The decisions in order, each with its seat: `a keep a3`.
    #[serde(default, deserialize_with = "or_empty")]
    pub decisions: Vec<String>,
    /// The race order of each window in which two or more seats snapped.
    #[serde(default, deserialize_with = "or_empty")]
    pub races: Vec<Vec<String>>,
    /// The new stock of each reshuffle, top card first.
    #[serde(default, deserialize_with = "or_empty")]
    pub reshuffles: Vec<Vec<String>>,
    /// All other fields: results and unknown fields.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

/// An error in a record and its location.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct InvalidRecord {
    /// The round, counted from 1, if the error is in a round.
    pub round: Option<usize>,
    /// The decision within its round, counted from 1, if the error is at a decision.
    pub decision: Option<usize>,
    /// The message: the expectation and the value found.
    pub what: String,
}

impl std::error::Error for InvalidRecord {}

impl std::fmt::Display for InvalidRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.round, self.decision) {
            (Some(round), Some(decision)) => write!(f, "round {round}, decision {decision}: {}", self.what),
            (Some(round), None) => write!(f, "round {round}: {}", self.what),
            _ => f.write_str(&self.what),
        }
    }
}

impl InvalidRecord {
    pub(crate) fn new(what: impl Into<String>) -> InvalidRecord {
        InvalidRecord { round: None, decision: None, what: what.into() }
    }

    /// A field must have other values.
    pub(crate) fn field(field: &str, allowed: &str, found: Option<&Value>) -> InvalidRecord {
        let found = found.map_or_else(|| "nothing".to_owned(), brief);
        InvalidRecord::new(format!("`{field}` must be {allowed}, found {found}"))
    }

    pub(crate) fn in_round(self, round: usize) -> InvalidRecord {
        InvalidRecord { round: Some(round), ..self }
    }

    pub(crate) fn at(self, decision: usize) -> InvalidRecord {
        InvalidRecord { decision: Some(decision), ..self }
    }
}

impl Record {
    /// Reads one line of JSON.
    ///
    /// # Errors
    /// If the line is not JSON or not an object in this format, or if a list contains a value that is not a text.
    ///
    /// # Examples
    /// ```
    /// use cambio_core::Record;
    ///
    /// let half = r#"{"format":"cambio-record/1","rules":"clas"#;
    /// assert!(Record::read(half).unwrap_err().what.starts_with("not JSON"));
    /// ```
    pub fn read(line: &str) -> Result<Record, InvalidRecord> {
        let record: Record = serde_json::from_str(without_mark(line)).map_err(|error| {
            let kind = if error.is_data() { "not a record" } else { "not JSON" };
            let what = error.to_string().replace(" at line 1 column ", " at column ");
            InvalidRecord::new(format!("{kind}: {}", excerpt(&what).up_to(200)))
        })?;
        match record.fields.get("format") {
            Some(format) if format == FORMAT => Ok(record),
            format => Err(InvalidRecord::field("format", &format!("\"{FORMAT}\""), format)),
        }
    }

    /// The fault with which an agent stopped the match, in words; `None` if there was none.
    pub fn fault(&self) -> Option<&str> {
        self.fields.get("x-fault").and_then(Value::as_str)
    }

    /// The record as one line of JSON.
    ///
    /// # Panics
    /// Does not panic: every record can be written as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("every record can be written as JSON")
    }
}

/// Deserializes a list, which may be null. For `deserialize_with`.
fn or_empty<'de, T: Deserialize<'de>, D: Deserializer<'de>>(source: D) -> Result<Vec<T>, D::Error> {
    Ok(Option::deserialize(source)?.unwrap_or_default())
}

/// The value as text for a message, cut after 60 characters.
pub(crate) fn brief(value: &Value) -> String {
    excerpt(&value.to_string()).up_to(60).to_string()
}

/// The results of a round as the fields of a record.
///
/// # Panics
/// Does not panic: every score is a number.
pub fn results(result: &RoundResult) -> [(&'static str, Value); 4] {
    [
        ("ended", Value::from(result.ended.word())),
        ("callers", result.callers_in_order().map(|seat| Value::from(seat.to_string())).collect()),
        ("points", Value::from(result.points().to_vec())),
        ("scores", scores(result.scores())),
    ]
}

/// Scores as a list of numbers.
///
/// # Panics
/// Does not panic: every score is a number.
pub fn scores(scores: &[Score]) -> Value {
    let number = |score: &Score| serde_json::from_str::<Value>(&score.to_string()).expect("a score is a number");
    scores.iter().map(number).collect()
}

/// A 64-bit fingerprint of play: decks, decisions, chance outcomes and results.
///
/// Two rounds with the same fingerprint are almost certainly identical. Tests pin fingerprints by value: they change
/// only if play changes or this hash function changes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Fingerprint {
        Fingerprint(0x6361_6d62_696f_2f31)
    }
}

impl Fingerprint {
    /// The fingerprint with this value.
    pub const fn from_value(value: u64) -> Fingerprint {
        Fingerprint(value)
    }

    /// The fingerprint as a number.
    pub const fn value(self) -> u64 {
        self.0
    }

    /// Mixes a word into the running value.
    pub(crate) fn add(&mut self, word: u64) {
        self.0 = mix(self.0.rotate_left(23) ^ word);
    }

    fn add_cards(&mut self, tag: u64, cards: &[Card]) {
        self.add(tag << 32 | cards.len() as u64);
        let (eights, rest) = cards.as_chunks::<8>();
        for eight in eights {
            // Subtracts 1 from all eight bytes at once: the raw value of a card is its kind plus 1.
            self.add(u64::from_be_bytes(eight.map(|card| card.raw() as u8)) - 0x0101_0101_0101_0101);
        }
        if !rest.is_empty() {
            self.add(rest.iter().fold(0, |word, card| word << 8 | card.kind() as u64));
        }
    }
}

impl std::fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The number of each verb in fingerprints, in the order of [`Action::verb_code`]. These numbers are older than the
/// codes. They count the verbs in the same order, except that the swap is last.
const FINGERPRINT_VERBS: [u64; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 10, 11, 12, 13, 14];

/// An observer that computes fingerprints: one for each round and one for the match.
#[derive(Clone, Debug, Default)]
pub struct Fingerprinter {
    round: Fingerprint,
    all: Fingerprint,
}

impl Fingerprinter {
    /// The fingerprint of the last round, up to now if the round is not over.
    pub fn of_round(&self) -> Fingerprint {
        self.round
    }

    /// The four digits that the trace gets at this point of the round.
    pub(crate) fn digits(&self) -> String {
        format!("{:04x}", self.round.0 & 0xffff)
    }

    /// The fingerprint of all finished rounds.
    pub fn of_match(&self) -> Fingerprint {
        self.all
    }
}

impl Observer for Fingerprinter {
    fn round_begins(&mut self, &Standing { setup, .. }: &Standing<'_>, deck: &[Card]) {
        self.round = Fingerprint::default();
        self.round.add((setup.seats as u64) << 8 | setup.starter.index() as u64);
        self.round.add_cards(1, deck);
    }

    #[inline]
    fn decides(&mut self, _: &State, seat: Seat, action: Action) {
        let verb = FINGERPRINT_VERBS[usize::from(action.verb_code()) - 1];
        let [one, other] = action.spots().map(|spot| spot.map_or(0, Spot::index) as u64);
        self.round.add(2 << 32 | (seat.index() as u64) << 24 | verb << 16 | one << 8 | other);
    }

    fn race(&mut self, order: &RaceOrder) {
        let seats = order.seats().fold(0, |word, seat| (word << 4) | (seat.index() as u64 + 1));
        self.round.add(3 << 32 | seats);
    }

    fn reshuffle(&mut self, stock: &[Card]) {
        self.round.add_cards(4, stock);
    }

    fn round_ends(&mut self, _: &State, result: &RoundResult) {
        let callers = result.callers_in_order().fold(0, |word, seat| (word << 4) | (seat.index() as u64 + 1));
        let ended = u64::from(result.ended.code() - 1);
        self.round.add(5 << 32 | ended << 40 | callers);
        for (points, score) in result.points().iter().zip(result.scores()) {
            self.round.add(u64::from(*points as u32) << 32 | u64::from(score.units() as u32));
        }
        self.all.add(self.round.0);
    }
}

/// An observer that writes the record of a match.
///
/// # Examples
/// ```
/// use cambio_core::{MatchSetup, Recorder, Rules, Seat, play_match, testing::RandomAgent};
/// use cambio_core::rng::Key;
///
/// let rules = Rules::preset("classic").unwrap();
/// let match_setup = MatchSetup { rules, seats: 2, key: Key::new(42, 7) };
/// let mut recorder = Recorder::new(&rules);
/// let result = play_match(&match_setup, &mut [RandomAgent::default(), RandomAgent::default()], &mut recorder).unwrap();
/// let record = recorder.finish(match_setup.key, 0, &["random", "random"], &result);
/// assert_eq!(cambio_core::replay(&record, &mut ()).unwrap(), record);
/// ```
#[derive(Clone, Debug)]
pub struct Recorder {
    rules: Rules,
    rounds: Vec<RoundRecord>,
    fingerprinter: Fingerprinter,
    trace: String,
}

impl Recorder {
    /// A recorder for a match under these rules.
    pub fn new(rules: &Rules) -> Recorder {
        Recorder { rules: *rules, rounds: Vec::new(), fingerprinter: Fingerprinter::default(), trace: String::new() }
    }

    /// The record of a finished match, with its key, its rotation and the names of the agents by seat.
    pub fn finish(self, key: crate::rng::Key, rotation: usize, agents: &[&str], result: &crate::MatchResult) -> Record {
        let mut record = self.stop(key, rotation, agents, None);
        record.fields.insert("totals".to_owned(), scores(&result.totals));
        record.fields.insert("ranks".to_owned(), Value::from(result.ranks.clone()));
        record
    }

    /// The record of an unfinished match. If there is a `fault`, its illegal decision is the last one in the record.
    pub fn stop(
        mut self,
        key: crate::rng::Key,
        rotation: usize,
        agents: &[&str],
        fault: Option<&crate::play::Fault>,
    ) -> Record {
        if let (Some(fault), Some(round)) = (fault, self.rounds.last_mut()) {
            round.decisions.push(format!("{} {}", fault.seat, fault.action));
        }
        let mut fields = Map::new();
        fields.insert("format".to_owned(), Value::from(FORMAT));
        fields.insert("rules".to_owned(), self.rules.spec().to_json());
        fields.insert("seats".to_owned(), Value::from(agents.len()));
        fields.insert("seed".to_owned(), Value::from(key.seed.to_string()));
        if key.agents != crate::rng::Seed::AGENTS {
            fields.insert("agent_seed".to_owned(), Value::from(key.agents.to_string()));
        }
        fields.insert("deal".to_owned(), Value::from(key.deal));
        fields.insert("rotation".to_owned(), Value::from(rotation));
        fields.insert("agents".to_owned(), Value::from(agents));
        Record { fields, rounds: self.rounds }
    }

    fn round(&mut self) -> &mut RoundRecord {
        self.rounds.last_mut().expect("a round has begun")
    }

    fn labels<'a>(&self, cards: impl Iterator<Item = &'a Card>) -> Vec<String> {
        cards.map(|&card| self.rules.label(card).to_owned()).collect()
    }
}

impl Observer for Recorder {
    fn round_begins(&mut self, standing: &Standing<'_>, deck: &[Card]) {
        self.fingerprinter.round_begins(standing, deck);
        self.trace.clear();
        let starter = Some(standing.setup.starter.to_string());
        self.rounds.push(RoundRecord { starter, deck: self.labels(deck.iter()), ..RoundRecord::default() });
    }

    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        self.trace += &self.fingerprinter.digits();
        self.fingerprinter.decides(state, seat, action);
        self.round().decisions.push(format!("{seat} {action}"));
    }

    fn race(&mut self, order: &RaceOrder) {
        self.fingerprinter.race(order);
        self.round().races.push(order.seats().map(|seat| seat.to_string()).collect());
    }

    fn reshuffle(&mut self, stock: &[Card]) {
        self.fingerprinter.reshuffle(stock);
        let labels = self.labels(stock.iter().rev());
        self.round().reshuffles.push(labels);
    }

    fn round_ends(&mut self, state: &State, result: &RoundResult) {
        let trace = std::mem::take(&mut self.trace) + &self.fingerprinter.digits();
        self.fingerprinter.round_ends(state, result);
        let print = self.fingerprinter.of_round().to_string();
        let round = self.round();
        round.fields.extend(results(result).map(|(name, value)| (name.to_owned(), value)));
        round.fields.insert(TRACE.to_owned(), Value::from(trace));
        round.fields.insert(FINGERPRINT.to_owned(), Value::from(print));
    }
}
