//! Prints a comparison of several runs.

use std::io::Write;

use cambio_sim::{ComparedAgent, ComparedTable, Comparison};

use crate::say::{count, say};
use crate::tables::{Format, bar_free, for_programs, in_full};

/// Prints the comparison, and its limits on standard error. A closed output is not an error.
pub(super) fn print(comparison: &Comparison, format: Format) -> Result<(), Box<dyn std::error::Error>> {
    for note in &comparison.notes {
        say!("note: {note}");
    }
    let mut out = std::io::stdout().lock();
    match format {
        Format::Csv | Format::Json => return for_programs(&comparison.rows(), format, &mut out),
        Format::Table | Format::Md => {}
    }
    let is_markdown = format == Format::Md;
    let printed = comparison.tables.iter().try_for_each(|table| {
        let mut lines = vec![heads(comparison)];
        lines.extend(table.agents.iter().map(|agent| scores(comparison, agent)));
        let differences: Vec<Vec<String>> = differences(comparison, table).collect();
        if is_markdown {
            writeln!(out, "{}\n\n{}", table.title, markdown(&lines))?;
        } else {
            for run in &comparison.runs {
                let (plan, path) = (&run.stored.plan, run.stored.path.display());
                writeln!(out, "{}: {path}, {}, seed {}", run.letter, count(plan.deals, "deal"), plan.seed)?;
            }
            writeln!(out, "{}, {}\n{}", table.title, comparison.payoff.unit(), aligned(&lines))?;
        }
        if differences.is_empty() {
            return Ok(());
        }
        let heads = ["agent", "runs", "difference", "95 %, single", "95 %, simultaneous", "deals"];
        let lines: Vec<Vec<String>> = std::iter::once(heads.map(str::to_owned).to_vec()).chain(differences).collect();
        writeln!(out, "{}", if is_markdown { markdown(&lines) } else { aligned(&lines) })
    });
    match printed {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(format!("cannot print the comparison: {error}").into())
        }
        _ => Ok(()),
    }
}

fn heads(comparison: &Comparison) -> Vec<String> {
    std::iter::once("agent".to_owned()).chain(comparison.runs.iter().map(|run| run.letter.to_string())).collect()
}

/// The agent and its mean in each run, with a mark for other opponents than in the first run.
fn scores(comparison: &Comparison, agent: &ComparedAgent) -> Vec<String> {
    let score = |run: usize| {
        agent.scores[run].as_ref().map_or("–".to_owned(), |score| {
            let mark = if agent.has_other_field(run) { " †" } else { "" };
            in_full(score.mean.mean, score.mean.low(), score.mean.high(), 3) + mark
        })
    };
    std::iter::once(agent.label.clone()).chain((0..comparison.runs.len()).map(score)).collect()
}

fn differences(comparison: &Comparison, table: &ComparedTable) -> impl Iterator<Item = Vec<String>> {
    let own = comparison.differences().filter(move |(other, ..)| std::ptr::eq(*other, table));
    own.map(|(_, agent, run, difference)| {
        let letter = |run: usize| comparison.runs[run].letter;
        let interval = |ends: Option<(f64, f64)>| {
            ends.map_or_else(|| "–".to_owned(), |(low, high)| format!("{low:+.4} to {high:+.4}"))
        };
        let deals = match difference.shared_deals {
            0 => "independent".to_owned(),
            deals => format!("paired by {}", count(deals, "deal")),
        };
        vec![
            agent.label.clone(),
            format!("{} − {}", letter(run), letter(difference.from)),
            format!("{:+.4}", difference.difference),
            interval(difference.alone),
            interval(difference.together),
            deals,
        ]
    })
}

/// Lines in columns.
fn aligned(lines: &[Vec<String>]) -> String {
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
    let line = |line: &Vec<String>| {
        let cells: Vec<String> = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        format!("  {}\n", cells.join("  ").trim_end())
    };
    lines.iter().map(line).collect()
}

/// Lines as a Markdown table. The first line is the head.
fn markdown(lines: &[Vec<String>]) -> String {
    let line = |line: &Vec<String>| {
        let cells: Vec<String> = line.iter().map(|cell| bar_free(cell)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule = format!("|{}\n", "---|".repeat(lines[0].len()));
    line(&lines[0]) + &rule + &lines[1..].iter().map(line).collect::<String>()
}
