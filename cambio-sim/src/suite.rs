//! Suites of test positions: how often an agent decides best, and what its decisions cost.

use std::collections::BTreeMap;

use cambio_agents::{AgentSpec, Guarded};
use cambio_core::rng::{Key, Seed};
use cambio_core::view::CardHistory;
use cambio_core::{Action, Agent as _, Position};
use cambio_exec::{Estimate, table};

use crate::advantage_experiment::decision_kind;
use crate::table::{Table, Tables, number, plus_minus};

/// A position with the chance to win after each of its decisions.
struct TestPosition {
    position: Position,
    /// The decisions with the chance to win after each, the best first.
    values: Vec<(Action, f64)>,
}

/// Reads the positions of a file.
fn read_all(text: &str) -> Result<Vec<TestPosition>, String> {
    let lines = (1..).zip(text.lines().map(str::trim)).filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let positions = lines.map(|(number, line)| read(line).map_err(|error| format!("line {number}: {error}")));
    let positions: Vec<TestPosition> = positions.collect::<Result<_, _>>()?;
    if positions.is_empty() { Err("the file has no position".to_owned()) } else { Ok(positions) }
}

fn read(line: &str) -> Result<TestPosition, String> {
    let (position, values) = line.split_once(" ; ").ok_or("expected ` ; ` between the position and the values")?;
    let position: Position = position.parse().map_err(|error| format!("{error}"))?;
    let view = position.observation();
    let value = |text: &str| {
        let (action, value) = text.trim().rsplit_once(' ')?;
        let action: Action = action.parse().ok()?;
        let value: f64 = value.parse().ok().filter(|value| (0.0..=1.0).contains(value))?;
        view.choices().contains(action).then_some((action, value))
    };
    let wrong =
        |text: &str| format!("expected a legal decision with its chance, such as `call 0.55`, found `{}`", text.trim());
    let values = values.split(',').map(|text| value(text).ok_or_else(|| wrong(text)));
    let mut values: Vec<(Action, f64)> = values.collect::<Result<_, _>>()?;
    values.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    Ok(TestPosition { position, values })
}

table! {
    /// The decisions of an agent of one kind in a suite of test positions.
    pub SuiteRow {
        /// The kind of decision, or `all`.
        kind: &'static str,
        /// The number of positions.
        positions: u64 => "positions",
        /// The share of the positions in which the agent takes the best decision.
        best: f64 => "share",
        /// Mean of the chance after the best decision minus the chance after the agent's decision. A decision without a value counts
        /// like the worst decision with one.
        loss: Estimate => "wins" [Ends],
    }
}

/// Asks an agent in all positions of a file. The first row is for all of them, the others for each kind of decision.
///
/// In the file, a position has a line: the text of the position, a semicolon, and the decisions with their chances to win, with commas
/// between them. Lines that begin with `#` are comments.
///
/// # Errors
/// If a line is not a position with values, or the agent fails or takes an illegal decision. The error names the line or the position.
///
/// ```
/// let suite = "# One position.\nclassic a=3s,2h,?,? b=?,?,?/b,?/b turns=5 phase=close pile=9c ; call 0.558, end 0.522\n";
/// let greedy = cambio_agents::roster().parse("greedy(call_known=5)")?;
/// let rows = cambio_sim::measure_suite(suite, &greedy)?;
/// assert_eq!((rows[0].positions, rows[0].best), (1, 1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn measure_suite(suite: &str, agent: &AgentSpec) -> Result<Vec<SuiteRow>, String> {
    let mut losses: BTreeMap<(bool, &'static str), Vec<f64>> = BTreeMap::new();
    for (number, test) in (0..).zip(&read_all(suite)?) {
        let loss = loss_of(number, test, agent).map_err(|error| format!("{agent} in `{}`: {error}", test.position))?;
        let kind = decision_kind(test.position.observation().table().phase());
        for key in [(false, "all"), (true, kind)] {
            losses.entry(key).or_default().push(loss);
        }
    }
    let row = |((_, kind), losses): ((bool, &'static str), Vec<f64>)| {
        let count = losses.len() as f64;
        let mean = losses.iter().sum::<f64>() / count;
        let spread = losses.iter().map(|loss| (loss - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
        let half = 1.96 * (spread / count).sqrt();
        SuiteRow {
            kind,
            positions: losses.len() as u64,
            best: losses.iter().filter(|&&loss| loss == 0.0).count() as f64 / count,
            loss: Estimate { mean, ..Estimate::default() }
                .with_ends((count > 1.0).then_some((mean - half, mean + half))),
        }
    };
    Ok(losses.into_iter().map(row).collect())
}

/// What the agent's decision costs in a position.
fn loss_of(number: u64, test: &TestPosition, agent: &AgentSpec) -> Result<f64, String> {
    let view = test.position.observation();
    let mut history = CardHistory::new(view.rules(), view.table().seats());
    test.position.sightings().iter().for_each(|sighting| history.notice(sighting));
    let mut player = Guarded::new(agent.make());
    let stream = Key::new(Seed::Number(0), number).agent(view.seat());
    test.position.seat(&mut player, &stream).map_err(|error| error.to_string())?;
    let decided = player.decide(&view).map_err(|error| error.to_string())?;
    if !view.choices().contains(decided) {
        return Err(format!("`{decided}` is illegal"));
    }
    let (best, worst) = (test.values[0].1, test.values[test.values.len() - 1].1);
    let is_it = |(action, _): &&(Action, f64)| history.are_alike_decisions(&view, *action, decided);
    Ok(best - test.values.iter().find(is_it).map_or(worst, |(_, value)| *value))
}

/// The rows for people.
pub fn suite_table(rows: &[SuiteRow], agent: &str) -> Tables {
    let line = |row: &SuiteRow| {
        let loss = row.loss.scaled(100.0);
        let best = format!("{} %", number(100.0 * row.best, 1));
        [row.kind.to_owned(), row.positions.to_string(), best, plus_minus(loss.mean, loss.ends(), 2)]
    };
    let table = Table::shown(["decision", "positions", "best", "loss, wins in 100"], rows.iter().map(line));
    Tables { title: format!("{agent}\n\n"), parts: vec![(String::new(), table, String::new())], notes: String::new() }
}
