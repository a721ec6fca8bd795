//! Adds values and luck to records, for the data set of the book.
//!
//! ```sh
//! cargo run --release -p cambio-cli --example dataset -- runs/dataset/records.jsonl > rounds.jsonl
//! ```
//!
//! Reads one record per line and prints it with three more fields. They are rounded to four digits after the decimal point.
//!
//! | field | of | meaning |
//! |---|---|---|
//! | `x-luck` | a match | the luck of each seat, as a share of the win: the result minus the luck has the mean of the result |
//! | `x-values` | a round | for each decision, the deciding seat's share of the win that the bundled network expects after it, from what the seat may see; `null` if the network considers only one decision, or not this one |
//! | `x-best-values` | a round | the same after the decision that the network prefers |

use std::error::Error;
use std::io::{BufReader, BufWriter, Write as _, stdout};
use std::path::PathBuf;

use cambio_agents::{Luck, NetworkPolicy, Policy as _};
use cambio_core::play::RoundResult;
use cambio_core::view::CardHistory;
use cambio_core::{Action, Card, Event, Observer, Record, RulesSpec, Seat, Standing, State, replay};
use cambio_exec::{Executor, next_line, open_regular};
use clap::Parser;
use serde_json::{Value, json};

/// Adds values and luck to records
#[derive(Parser)]
struct Args {
    /// A file with one record per line
    records: PathBuf,
}

/// The maximum length of a record in bytes.
const LINE: u64 = 1 << 26;
/// The number of records that are in memory at a time.
const BATCH: usize = 4096;

/// The values of each decision: after it, and after the one that the network prefers.
type Values = Vec<[Value; 2]>;

/// Evaluates the decisions of a match, and measures its luck.
struct Watch {
    luck: Luck,
    policy: NetworkPolicy,
    past: CardHistory,
    rounds: Vec<Values>,
}

fn rounded(number: f64) -> Value {
    json!((number * 1e4).round() / 1e4)
}

impl Observer for Watch {
    fn round_begins(&mut self, standing: &Standing<'_>, deck: &[Card]) {
        self.luck.round_begins(standing, deck);
        self.policy.round_begins(standing);
        self.past = CardHistory::new(&standing.setup.rules, standing.totals.len());
        self.rounds.push(Values::new());
    }

    fn event(&mut self, event: &Event<Card>) {
        self.luck.event(event);
        self.past.notice(event);
    }

    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        let mut values = [Value::Null, Value::Null];
        let view = state.view(seat);
        self.policy.evaluate(&view, &self.past);
        if self.policy.evaluation().actions().len() > 1 {
            let evaluation = self.policy.evaluation();
            // The network does not compute a value if it considers only one decision.
            let value = |index| evaluation.logits().nth(index).map(|logit| 1.0 / (1.0 + libm::exp(-logit)));
            let taken = evaluation.index_of(self.policy.network().inputs(), &view, action).and_then(value);
            values = [taken, value(evaluation.best())].map(|value| value.map_or(Value::Null, rounded));
        }
        self.rounds.last_mut().expect("a round has begun").push(values);
    }

    fn round_ends(&mut self, state: &State, result: &RoundResult) {
        self.luck.round_ends(state, result);
    }
}

/// The record with values and luck.
fn annotate(line: &[u8]) -> Result<String, Box<dyn Error>> {
    let mut record = Record::read(std::str::from_utf8(line)?)?;
    let rules = RulesSpec::from_json(record.fields.get("rules").unwrap_or(&Value::Null))?.validate()?;
    let seats = record.fields.get("seats").and_then(Value::as_u64).ok_or("`seats` is missing")? as usize;
    rules.covers(seats)?;
    let mut policy = NetworkPolicy::shipped();
    let past = policy.begin(&rules, seats)?;
    let mut watch = Watch { luck: Luck::new(&rules, seats), policy, past, rounds: Vec::new() };
    replay(&record, &mut watch)?;
    let luck: Vec<Value> = watch.luck.shares().iter().copied().map(rounded).collect();
    record.fields.insert("x-luck".to_owned(), luck.into());
    for (round, values) in record.rounds.iter_mut().zip(watch.rounds) {
        let (taken, best): (Vec<Value>, Vec<Value>) = values.into_iter().map(|[taken, best]| (taken, best)).unzip();
        round.fields.insert("x-values".to_owned(), taken.into());
        round.fields.insert("x-best-values".to_owned(), best.into());
    }
    Ok(record.to_json())
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = Args::parse().records;
    let mut input =
        BufReader::new(open_regular(&path).map_err(|error| format!("{} cannot be read: {error}", path.display()))?);
    let mut out = BufWriter::new(stdout());
    let executor = Executor::new(0)?;
    let mut done = 0;
    loop {
        let mut lines = Vec::with_capacity(BATCH);
        while lines.len() < BATCH
            && let Some(line) = next_line(&mut input, LINE)?
        {
            lines.push(line);
        }
        if lines.is_empty() {
            return Ok(out.flush()?);
        }
        let annotated = |number: u64| annotate(&lines[number as usize]).map_err(|error| error.to_string());
        let written = executor.run_ordered(0..lines.len() as u64, annotated, |number, record| {
            let record = record.map_err(|what| format!("{}, line {}: {what}", path.display(), done + number + 1))?;
            writeln!(out, "{record}").map_err(|error| error.to_string())
        });
        written.map_err(|error| error.to_string())?;
        done += lines.len() as u64;
    }
}
