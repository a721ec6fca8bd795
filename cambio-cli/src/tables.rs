//! Prints the tables of a run for people, or its summary for programs.

use std::io::{self, ErrorKind, IsTerminal as _, Write};

use cambio_core::text::duration;
use cambio_sim::digest::{BEYOND, CellDigest};
use cambio_sim::{Derived, FEW_DEALS, PairRow, Payoff, Plan, PlannedAgent, RatingRow, SummaryRow, Timing};
use cambio_stats::ratings::Fit;
use cambio_stats::{Support, is_even};

use crate::say::{Stdout, stdout};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
pub(super) enum Format {
    /// Aligned text for people
    #[default]
    Table,
    /// The contents of summary.csv
    Csv,
    /// The rows of all derived files as one JSON object
    Json,
    /// Markdown
    Md,
}

/// Writes a note if intervals are from fewer than [`FEW_DEALS`] deals.
pub(super) fn note_few(mut deals: impl Iterator<Item = u64>, out: &mut impl Write) -> io::Result<()> {
    if deals.any(|deals| deals < FEW_DEALS) {
        writeln!(out, "Intervals from fewer than {FEW_DEALS} deals are rough, however many matches are played.")?;
    }
    Ok(())
}

/// Why a mean has no interval although there are several deals.
pub(super) const ALL_AGREE: &str = "all deals agree, so no error can be estimated";

/// The width of the column of labels. A longer label has its own line.
const LABEL: usize = 18;

pub(super) fn print(
    plan: &Plan,
    derived: &Derived,
    timing: &Timing,
    format: Format,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut out = stdout();
    if let (Some(answer), Format::Table | Format::Md) = (&derived.hypothesis, format) {
        writeln!(out, "{}\n", answer.text(if format == Format::Md { code } else { str::to_owned }))?;
    }
    let printed = match format {
        Format::Table => people(plan, derived, timing, &mut out),
        Format::Csv => derived.files().iter().take(1).try_for_each(|(_, text)| out.write_all(text.as_bytes())),
        Format::Json => writeln!(out, "{}", serde_json::to_string_pretty(derived)?),
        Format::Md => out.write_all(markdown(plan, derived).as_bytes()),
    };
    unless_closed(printed, "table")
}

/// The result of printing `what`. A closed output is not an error.
pub(super) fn unless_closed(printed: io::Result<()>, what: &str) -> Result<(), Box<dyn std::error::Error>> {
    match printed {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(format!("cannot print the {what}: {error}").into()),
        _ => Ok(()),
    }
}

/// Prints the comparisons of all agents with the baseline.
#[cfg(feature = "report")]
pub(super) fn print_baseline(
    plan: &Plan,
    rows: &[cambio_sim::BaselineRow],
    format: Format,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut out = stdout();
    let Some(first) = rows.first() else { return Err("no agent has played against the baseline".into()) };
    let texts = |row: &cambio_sim::BaselineRow| {
        let ends = row.low.zip(row.high);
        let word = match ends.map(|(low, high)| [low, high].map(|end| plan.payoff.sign() * end)) {
            Some(ends) if ends.iter().all(|end| *end > 0.0) => "better",
            Some(ends) if ends.iter().all(|end| *end < 0.0) => "worse",
            _ => "undecided",
        };
        (ends_text(ends), p_text(row.p), word)
    };
    match format {
        Format::Json | Format::Csv => for_programs(rows, format, &mut out)?,
        Format::Md => {
            let heads = ["rules", "seats", "agent", "deals", "difference", "95 %, simultaneous", "p", "verdict"];
            let line = |row: &cambio_sim::BaselineRow| {
                let (interval, p, word) = texts(row);
                let (seats, deals) = (row.seats.to_string(), row.deals.to_string());
                let difference = format!("{:+.4}", row.difference);
                [row.rules.clone(), seats, code(&row.agent), deals, difference, interval, p, word.to_owned()]
            };
            write!(out, "{}", markdown_table(&heads, rows.iter().map(line)))?;
        }
        Format::Table => {
            writeln!(out, "against {}, in {}, paired by deal", first.baseline, plan.payoff.unit())?;
            for table in rows.chunk_by(|one, next| (&one.rules, one.seats) == (&next.rules, next.seats)) {
                let (rules, seats) = (&table[0].rules, table[0].seats);
                writeln!(out, "{rules}, {seats} seats, {}", crate::say::count(table[0].deals, "deal"))?;
                for row in table {
                    let (interval, p, word) = texts(row);
                    writeln!(out, "  {:+.4}  {interval:<20} p {p:<7} {word:<15} {}", row.difference, row.agent)?;
                }
            }
            note_few(rows.iter().map(|row| row.deals), &mut out)?;
            writeln!(
                out,
                "95 % {} intervals and p-values, simultaneous for all agents of a table (Dunnett).{}",
                first.method,
                if plan.cells.len() > 1 { SEPARATE } else { "" }
            )?;
        }
    }
    Ok(())
}

/// Prints the tests of whether pairs of agents differ by less than a margin.
#[cfg(feature = "report")]
pub(super) fn print_equivalences(
    plan: &Plan,
    rows: &[cambio_sim::EquivalenceRow],
    format: Format,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut out = stdout();
    let Some(first) = rows.first() else { return Err("no two agents have matches at one table".into()) };
    let texts = |row: &cambio_sim::EquivalenceRow| {
        let word = match row.p_holm {
            Some(p) if p < 0.05 => format!("as good, within {}", row.equivalence_margin),
            Some(_) => "not shown".to_owned(),
            None if row.deals < 2 => "a test needs 2 deals".to_owned(),
            None => "no variance to test with".to_owned(),
        };
        (ends_text(row.low.zip(row.high)), p_text(row.p), p_text(row.p_holm), word)
    };
    match format {
        Format::Json | Format::Csv => for_programs(rows, format, &mut out)?,
        Format::Md => {
            let heads =
                ["rules", "seats", "agent", "other", "deals", "difference", "90 %", "p", "p, all pairs", "verdict"];
            let line = |row: &cambio_sim::EquivalenceRow| {
                let (interval, alone, all, word) = texts(row);
                let [agent, other] = [&row.agent, &row.other].map(|agent| code(agent));
                let (seats, deals) = (row.seats.to_string(), row.deals.to_string());
                let difference = format!("{:+.4}", row.difference);
                [row.rules.clone(), seats, agent, other, deals, difference, interval, alone, all, word]
            };
            write!(out, "{}", markdown_table(&heads, rows.iter().map(line)))?;
        }
        Format::Table => {
            writeln!(
                out,
                "as good within {} {}? Differences are paired by deal",
                first.equivalence_margin,
                plan.payoff.unit()
            )?;
            for table in rows.chunk_by(|one, next| (&one.rules, one.seats) == (&next.rules, next.seats)) {
                let (rules, seats) = (&table[0].rules, table[0].seats);
                writeln!(out, "{rules}, {seats} seats, {}", crate::say::count(table[0].deals, "deal"))?;
                for row in table {
                    let (interval, _, p, word) = texts(row);
                    writeln!(out, "  {:+.4}  {interval:<20} p {p:<7} {word}", row.difference)?;
                    writeln!(out, "           {} – {}", row.agent, row.other)?;
                }
            }
            note_few(rows.iter().map(|row| row.deals), &mut out)?;
            writeln!(out, "Two one-sided tests at 5 %: single 90 % {} intervals, p-values corrected", first.method)?;
            writeln!(out, "for all pairs of a table that are listed (Holm). “Not shown” does not mean different.")?;
            if plan.cells.len() > 1 {
                writeln!(out, "{}", SEPARATE.trim_start())?;
            }
        }
    }
    Ok(())
}

/// The note below several tables.
const SEPARATE: &str = " Tables are not corrected together.";

/// The ends of the interval of a difference.
#[cfg(feature = "report")]
pub(super) fn ends_text(ends: Option<(f64, f64)>) -> String {
    ends.map_or_else(|| "–".to_owned(), |(low, high)| format!("{low:+.4} to {high:+.4}"))
}

#[cfg(feature = "report")]
fn p_text(p: Option<f64>) -> String {
    p.map_or_else(|| "–".to_owned(), |p| if p < 5e-5 { "<0.0001".to_owned() } else { format!("{p:.4}") })
}

/// Prints rows as JSON or CSV.
#[cfg(feature = "report")]
pub(super) fn for_programs<R: serde::Serialize>(
    rows: &[R],
    format: Format,
    out: &mut impl Write,
) -> Result<(), Box<dyn std::error::Error>> {
    if format == Format::Json {
        writeln!(out, "{}", serde_json::to_string_pretty(rows)?)?;
        return Ok(());
    }
    let mut csv = csv::Writer::from_writer(out);
    rows.iter().try_for_each(|row| csv.serialize(row))?;
    Ok(csv.flush()?)
}

fn markdown(plan: &Plan, derived: &Derived) -> String {
    let mut payoffs = vec![Payoff::RankPoints, Payoff::Win];
    if !payoffs.contains(&plan.payoff) {
        payoffs.insert(0, plan.payoff);
    }
    let summary = derived.summary.iter().zip(&derived.ratings).map(|(row, rating)| {
        let mean = |payoff: &Payoff| {
            let found = derived.sums(plan, row).and_then(|(cell, agent)| cell.leading().payoff(agent, *payoff));
            found.map_or("–".to_owned(), |found| in_full(found.mean, found.low(), found.high(), payoff.digits()))
        };
        let about = [row.rules.clone(), row.seats.to_string(), code(&row.agent), row.deals.to_string()];
        about.into_iter().chain(payoffs.iter().map(mean)).chain([elo(rating)]).collect::<Vec<String>>()
    });
    let pooled = derived.pooled.iter().map(|row| {
        let elo = format!("{}{}", mark(row.fit), in_full(row.elo, row.elo_low, row.elo_high, 0));
        [code(&row.agent), row.tables.to_string(), row.games.to_string(), elo]
    });
    let elo = format!("Elo{}", plan.with_luck());
    let means = payoffs.iter().map(|payoff| payoff.name());
    let heads: Vec<&str> = ["rules", "seats", "agent", "deals"].into_iter().chain(means).chain([&*elo]).collect();
    let mut text = markdown_table(&heads, summary);
    if !derived.pooled.is_empty() {
        text.push('\n');
        let elo = format!("Elo over all tables{}", plan.with_luck());
        text += &markdown_table(&["agent", "tables", "games", &elo], pooled);
    }
    if derived.has_beyond(plan) {
        text = format!("{text}\n{BEYOND}\n");
    }
    text
}

pub(super) fn markdown_table<R: AsRef<[String]>>(heads: &[&str], rows: impl IntoIterator<Item = R>) -> String {
    let line = |row: R| {
        // A bar would end the cell.
        let cells: Vec<String> = row.as_ref().iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let head = format!("| {} |\n|{}\n", heads.join(" | "), "---|".repeat(heads.len()));
    std::iter::once(head).chain(rows.into_iter().map(line)).collect()
}

/// The name of an agent as Markdown.
fn code(agent: &str) -> String {
    format!("`{agent}`")
}

/// Half the width of an interval, if the interval is about symmetric around its mean. A small one is not rounded to 0,
/// because `± 0.000` looks like certainty.
fn half(mean: f64, (low, high): (f64, f64), digits: usize) -> Option<String> {
    let (below, above) = (mean - low, high - mean);
    let (half, unit) = (below.max(above), 10_f64.powi(-(digits as i32)));
    is_even(below, above, digits).then(|| {
        if half <= 0.0 {
            "exact".to_owned()
        } else if half < unit / 2.0 {
            format!("± <{unit:.digits$}").replace("<0.", "<.")
        } else {
            format!("± {half:.digits$}")
        }
    })
}

pub(super) fn in_full(mean: f64, low: Option<f64>, high: Option<f64>, digits: usize) -> String {
    let Some((low, high)) = low.zip(high) else { return format!("{mean:.digits$} ± –") };
    let half = half(mean, (low, high), digits);
    half.map_or_else(
        || format!("{mean:.digits$} ({low:.digits$} to {high:.digits$})"),
        |half| format!("{mean:.digits$} {half}"),
    )
}

/// A share with its interval, at most 13 columns wide. The ends of an asymmetric interval have two decimals.
fn in_short(mean: f64, low: Option<f64>, high: Option<f64>) -> String {
    let Some((low, high)) = low.zip(high) else { return format!("{mean:.3} ± –") };
    let end =
        |end: f64| if end < 0.995 { format!("{end:.2}").trim_start_matches('0').to_owned() } else { "1".to_owned() };
    let half = half(mean, (low, high), 3);
    half.map_or_else(|| format!("{mean:.3} {}–{}", end(low), end(high)), |half| format!("{mean:.3} {half}"))
}

/// The mark for ratings that needed a prior.
fn mark(fit: &str) -> &'static str {
    if fit == Fit::Regularised.method() { "~" } else { "" }
}

fn elo(rating: &RatingRow) -> String {
    let mark = rating.fit.map_or("", mark);
    let text = |elo: f64| format!("{mark}{}", in_full(elo, rating.elo_low, rating.elo_high, 0));
    rating.elo.map_or("–".to_owned(), text)
}

/// One table for each rule system and number of seats, at most 80 columns wide unless a label is wider.
fn people(plan: &Plan, derived: &Derived, timing: &Timing, out: &mut Stdout) -> std::io::Result<()> {
    let fits = |label: &str| label.chars().count() <= LABEL;
    let bold = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty());
    for (index, cell) in plan.cells.iter().enumerate() {
        let rows: Vec<&SummaryRow> = derived.summary.iter().filter(|row| cell.is_of(&row.rules, row.seats)).collect();
        let pairs: Vec<&PairRow> = derived.pairwise.iter().filter(|row| cell.is_of(&row.rules, row.seats)).collect();
        let Some(first) = rows.first() else { continue };
        let (last, name) = (if plan.measures_luck() { "raw" } else { "turns" }, plan.payoff.name());
        // The column `points` is per round.
        let head = if plan.payoff.support() == Support::Share { name.to_owned() } else { format!("{name}/match") };
        writeln!(out, "{cell}, {}", crate::say::count(first.deals, "deal"))?;
        writeln!(
            out,
            "  {:LABEL$} {head:^13} {:>5} {:>6} {:>5} {:>5} {:>14} {last:>5}",
            "agent", "win", "points", "calls", "ok", "snaps r/w/l"
        )?;
        let best = rows.iter().find(|row| row.rank == 1 && rows.len() > 1).map(|row| &*row.agent);
        for row in &rows {
            let is_best = best.is_some_and(|best| is_among_best(&row.agent, best, &pairs));
            let (mark, on, off) = if is_best { ("* ", "\u{1b}[1m", "\u{1b}[0m") } else { ("  ", "", "") };
            // The only control characters that are not escaped.
            out.get_mut().write_all(if bold { on.as_bytes() } else { b"" })?;
            let figures = figures(plan, &derived.digest.cells[index], row);
            if fits(&row.agent) {
                write!(out, "{mark}{:LABEL$} {figures}", row.agent)?;
            } else {
                write!(out, "{mark}{}\n  {:LABEL$} {figures}", row.agent, "")?;
            }
            out.get_mut().write_all(if bold { off.as_bytes() } else { b"" })?;
            writeln!(out)?;
        }
        if let Some(times) = times(plan, timing, index) {
            writeln!(out, "{times}")?;
        }
        writeln!(out)?;
    }
    match plan.payoff {
        Payoff::RankPoints => write!(out, "* best agent")?,
        other => write!(out, "* best agent by {}", other.unit())?,
    }
    writeln!(
        out,
        ", and agents not distinguishable from it\n  (among the agents of its table; 95 %, simultaneous for all pairs)"
    )?;
    note_few(derived.summary.iter().map(|row| row.deals), out)?;
    if plan.cells.len() > 1 {
        writeln!(out, "{}", SEPARATE.trim_start())?;
    }
    let meaning = if plan.payoff == Payoff::RankPoints { "rank points: 1 best, 0 worst, 0.5 average; " } else { "" };
    writeln!(out, "{meaning}single 95 % intervals by deal.")?;
    if plan.measures_luck() {
        writeln!(out, "The luck of the cards is subtracted from these and from win. All other figures")?;
        writeln!(out, "are with the luck of the cards; raw: {} with the luck.", plan.payoff.name())?;
    }
    if derived.has_beyond(plan) {
        writeln!(out, "{}", textwrap::fill(BEYOND, 80))?;
    }
    writeln!(out, "win: share of wins. Per round: points of the layout; calls, and the share that")?;
    let turns = if plan.measures_luck() { "" } else { "; turns of all seats" };
    writeln!(out, "succeeds (ok); snaps that are right, wrong and late{turns}.")
}

/// The times of the agents of a cell as a paragraph; `None` if no agent was timed.
fn times(plan: &Plan, timing: &Timing, cell: usize) -> Option<String> {
    let time = |(index, agent): (usize, &PlannedAgent)| {
        let seconds = timing.agent(cell, index)?.per_decision()?;
        // No line break inside an entry.
        Some(format!("{} {}", agent.label, duration(seconds)).replace(' ', "\u{a0}"))
    };
    let times: Vec<String> = plan.agents.iter().enumerate().filter_map(time).collect();
    let text = format!("time per decision: {}", times.join(", "));
    let options = textwrap::Options::new(80).initial_indent("  ").subsequent_indent("    ").break_words(false);
    (!times.is_empty()).then(|| textwrap::fill(&text, options).replace('\u{a0}', " "))
}

/// Whether an agent is the best or not distinguishable from it.
fn is_among_best(agent: &str, best: &str, pairs: &[&PairRow]) -> bool {
    if agent == best {
        return true;
    }
    let is_pair = |pair: &PairRow, one: &str, other: &str| pair.agent == one && pair.other == other;
    pairs.iter().any(|pair| pair.leading().side().is_eq() && (is_pair(pair, agent, best) || is_pair(pair, best, agent)))
}

fn figures(plan: &Plan, cell: &CellDigest, row: &SummaryRow) -> String {
    let rounded =
        |value: Option<f64>, digits: usize| value.map_or("–".to_owned(), |value| format!("{value:.digits$}"));
    let success = row.calls_succeeded_share.map_or("–".to_owned(), |share| format!("{:.0} %", share * 100.0));
    let snaps = [row.snaps_right_per_round, row.snaps_wrong_per_round, row.snaps_late_per_round];
    let (agent, digits) = (plan.agent(&row.agent).expect("rows have agents of the plan"), plan.payoff.digits());
    let payoff =
        cell.leading().payoff(agent, plan.payoff).map_or("–".to_owned(), |mean| match plan.payoff.support() {
            Support::Share => in_short(mean.mean, mean.low(), mean.high()),
            _ => in_full(mean.mean, mean.low(), mean.high(), digits),
        });
    let raw =
        cell.raw.payoff(agent, plan.payoff).filter(|_| row.luck.is_some()).map(|raw| rounded(Some(raw.mean), digits));
    format!(
        "{payoff:<13} {:>5} {:>6} {:>5} {success:>5} {:>14} {:>5}",
        rounded(cell.leading().payoff(agent, Payoff::Win).map(|win| win.mean), 3),
        rounded(row.points_per_round, 1),
        rounded(row.calls_per_round, 2),
        snaps.map(|snaps| rounded(snaps, 2)).join("/"),
        raw.unwrap_or_else(|| rounded(row.turns_per_round, 1)),
    )
}
