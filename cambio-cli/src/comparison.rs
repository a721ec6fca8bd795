//! Prints a comparison of several runs.

use std::io::Write;

use cambio_sim::table::{NONE, Table, ends, in_full, signed};
use cambio_sim::{ComparedAgent, ComparedTable, Comparison};

use crate::say::{count, say, stdout};
use crate::tables::{Format, for_programs, unless_closed};

/// Prints the comparison, and its limits on standard error.
pub(super) fn print(comparison: &Comparison, format: Format) -> Result<(), Box<dyn std::error::Error>> {
    for note in &comparison.notes {
        say!("note: {note}");
    }
    let mut out = stdout();
    match format {
        Format::Csv | Format::Json => {
            let text = for_programs(&comparison.rows(), format)?;
            return Ok(out.write_all(text.as_bytes())?);
        }
        Format::Table | Format::Md => {}
    }
    let is_markdown = format == Format::Md;
    let shown = |heads: &[&str], rows: Vec<Vec<String>>| {
        let mut table = Table::shown(heads.iter().copied(), &[]);
        rows.into_iter().for_each(|row| table.push(row));
        if is_markdown { table.markdown() } else { table.text() }
    };
    let letters: Vec<String> = comparison.runs.iter().map(|run| run.letter.to_string()).collect();
    let heads: Vec<&str> = std::iter::once("agent").chain(letters.iter().map(String::as_str)).collect();
    let printed = comparison.tables.iter().try_for_each(|table| {
        let scores: Vec<Vec<String>> = table.agents.iter().map(|agent| scores(comparison, agent)).collect();
        if is_markdown {
            writeln!(out, "{}\n", table.title)?;
        } else {
            for run in &comparison.runs {
                let (plan, path) = (&run.stored.plan, run.stored.path.display());
                writeln!(out, "{}: {path}, {}, seed {}", run.letter, count(plan.deals, "deal"), plan.seed)?;
            }
            writeln!(out, "{}, {}", table.title, comparison.payoff.unit())?;
        }
        writeln!(out, "{}", shown(&heads, scores))?;
        let differences: Vec<Vec<String>> = differences(comparison, table).collect();
        if differences.is_empty() {
            return Ok(());
        }
        let heads = ["agent", "runs", "difference", "95 %, single", "95 %, simultaneous", "deals"];
        writeln!(out, "{}", shown(&heads, differences))
    });
    unless_closed(printed, "comparison")
}

/// The agent and its mean in each run, with a mark for other opponents than in the first run.
fn scores(comparison: &Comparison, agent: &ComparedAgent) -> Vec<String> {
    let score = |run: usize| {
        agent.scores[run].as_ref().map_or(NONE.to_owned(), |score| {
            let mark = if agent.has_other_field(run) { " †" } else { "" };
            in_full(score.mean.mean, score.mean.ends(), 3) + mark
        })
    };
    std::iter::once(agent.label.clone()).chain((0..comparison.runs.len()).map(score)).collect()
}

fn differences(comparison: &Comparison, table: &ComparedTable) -> impl Iterator<Item = Vec<String>> {
    let own = comparison.differences().filter(move |(other, ..)| std::ptr::eq(*other, table));
    own.map(|(_, agent, run, difference)| {
        let letter = |run: usize| comparison.runs[run].letter;
        let deals = match difference.shared_deals {
            0 => "independent".to_owned(),
            deals => format!("paired by {}", count(deals, "deal")),
        };
        vec![
            agent.label.clone(),
            format!("{} − {}", letter(run), letter(difference.from)),
            signed(difference.difference.mean, 4),
            ends(difference.difference.ends(), 4),
            ends(difference.difference.simultaneous, 4),
            deals,
        ]
    })
}
