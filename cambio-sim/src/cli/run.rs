//! `cambio run`.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cambio_agents::Roster;
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use super::{CliResult, Exit};
use crate::run::MOST_THREADS;
use crate::{Experiment, Outcome, Plan, Records, Report, RunError, RunFolder, Runner, SummaryRow};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The experiment file
    spec: PathBuf,
    /// The folder for the rows; it must not exist
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// How many threads play; 0 takes as many as there are cores. The rows do not depend on it
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = threads)]
    threads: usize,
    /// Write every match to records.jsonl as well
    #[arg(long)]
    records: bool,
    /// Play so many deals instead of those of the file
    #[arg(long, value_name = "N")]
    deals: Option<u64>,
    /// Play under this seed instead of that of the file
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// Tell no progress
    #[arg(long, short)]
    quiet: bool,
}

fn threads(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|n| *n <= MOST_THREADS)
        .ok_or_else(|| format!("allowed is a number from 0 to {MOST_THREADS}"))
}

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    let (mut experiment, text) = Experiment::read(&args.spec)?;
    experiment.deals = args.deals.unwrap_or(experiment.deals);
    experiment.seed = args.seed.unwrap_or(experiment.seed);
    let plan = experiment.plan(roster, args.spec.parent().unwrap_or(Path::new(".")))?;
    let records = if args.records { Records::Keep } else { Records::Skip };
    let mut folder = RunFolder::create(&args.out, &text, &plan, records)?;
    let stop = Arc::new(AtomicBool::new(false));
    let on_signal = Arc::clone(&stop);
    ctrlc::set_handler(move || on_signal.store(true, Ordering::Relaxed))?;
    let meter = Meter::new(plan.matches(), args.quiet);
    let runner = Runner { threads: args.threads, records, stop: &stop, progress: &|played| meter.add(played) };
    let report = runner.run(&plan, &mut folder)?;
    meter.finish();
    let exit = tell_outcome(args, &plan, &folder, &report)?;
    match write_tables(&plan, &report.summary) {
        // Whoever read the table had enough of it; the rows are on disk.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
        Err(error) => eprintln!("error: cannot print the table: {error}; it is in summary.csv"),
        Ok(()) => {}
    }
    Ok(exit)
}

/// Says on standard error how the run ended, and keeps the match of a fault.
fn tell_outcome(args: &Args, plan: &Plan, folder: &RunFolder, report: &Report) -> Result<Exit, RunError> {
    let (out, matches) = (args.out.display(), report.matches);
    match &report.outcome {
        Outcome::Complete => {
            if !args.quiet {
                eprintln!("{matches} matches in {out}");
            }
            Ok(Exit::Done)
        }
        Outcome::Interrupted => {
            eprintln!("interrupted: {matches} of {} matches are in {out}, whole deal blocks only", plan.matches());
            Ok(Exit::Interrupted)
        }
        Outcome::Fault(fault) => {
            let record = folder.keep_fault(fault)?;
            let program = std::env::current_exe().map_or("cambio".to_owned(), |path| path.display().to_string());
            eprintln!("fault: {}: {}", fault.place, fault.what);
            eprintln!("{matches} matches before it are in {out}; see the match up to the fault with");
            eprintln!("    {program} replay --events {}", record.display());
            Ok(Exit::Fault)
        }
    }
}

/// Tells how far a run is: a bar on a terminal, else a line now and then.
struct Meter {
    bar: Option<ProgressBar>,
    plain: bool,
    total: u64,
    played: AtomicU64,
    begun: Instant,
    next_line: AtomicU64,
}

const SECONDS_A_LINE: u64 = 10;

impl Meter {
    fn new(total: u64, quiet: bool) -> Meter {
        let is_terminal = std::io::stderr().is_terminal();
        let bar = (is_terminal && !quiet).then(|| {
            let style = "{bar:20} {human_pos}/{human_len} matches  {rate}/s  {eta} left";
            let rate = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                // A row that cannot be drawn is not worth a word.
                let _ = write!(out, "{:.0}", state.per_sec());
            };
            let bar = ProgressBar::new(total);
            let style = ProgressStyle::with_template(style).expect("the template is well formed");
            bar.set_style(style.with_key("rate", rate));
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Meter {
            bar,
            plain: !is_terminal && !quiet,
            total,
            played: AtomicU64::new(0),
            begun: Instant::now(),
            next_line: AtomicU64::new(SECONDS_A_LINE),
        }
    }

    fn add(&self, played: u64) {
        if let Some(bar) = &self.bar {
            bar.inc(played);
        }
        let played = self.played.fetch_add(played, Ordering::Relaxed) + played;
        let seconds = self.begun.elapsed().as_secs();
        let due = self.next_line.load(Ordering::Relaxed);
        let is_mine = || {
            let next = seconds + SECONDS_A_LINE;
            self.next_line.compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        };
        if self.plain && seconds >= due && is_mine() {
            let rate = played as f64 / seconds as f64;
            let left = (self.total - played) as f64 / rate;
            eprintln!("{played}/{} matches, {rate:.0} a second, {left:.0} s left", self.total);
        }
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        if self.bar.is_some() || self.plain {
            let (played, seconds) = (self.played.load(Ordering::Relaxed), self.begun.elapsed().as_secs_f64());
            eprintln!("played {played} matches in {seconds:.1} s, {:.0} a second", played as f64 / seconds);
        }
    }
}

/// The widest label that stands in a column; a longer one has a line of its own.
const LABEL: usize = 18;

/// Prints one table for each rule system and number of seats, at most 80 columns wide unless a label is wider.
fn write_tables(plan: &Plan, summary: &[SummaryRow]) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let fits = |label: &str| label.chars().count() <= LABEL;
    for cell in &plan.cells {
        let rows: Vec<&SummaryRow> =
            summary.iter().filter(|row| row.rules == cell.rules.name() && row.seats == cell.seats).collect();
        let Some(first) = rows.first() else { continue };
        writeln!(out, "{}, {} seats, {} deals", cell.rules.name(), cell.seats, first.deals)?;
        writeln!(
            out,
            "  {:LABEL$} {:^13} {:>5} {:>6} {:>5} {:>5} {:>14} {:>5}",
            "agent", "rank points", "win", "points", "calls", "ok", "snaps r/w/l", "turns"
        )?;
        for row in rows {
            if fits(&row.agent) {
                writeln!(out, "  {:LABEL$} {}", row.agent, figures(row))?;
            } else {
                writeln!(out, "  {}\n  {:LABEL$} {}", row.agent, "", figures(row))?;
            }
        }
        writeln!(out)?;
    }
    writeln!(out, "rank points: 1 best, 0 worst, 0.5 par; ± 95 %, clustered by deal. win: share")?;
    writeln!(out, "of the match. The rest per round: points of the layout, calls and how many of")?;
    writeln!(out, "them succeeded, snaps right, wrong and late, turns of all seats.")
}

fn figures(row: &SummaryRow) -> String {
    let half = row.rank_points_high.map_or("–".to_owned(), |high| format!("{:.3}", high - row.rank_points));
    let success = row.call_success.map_or("–".to_owned(), |share| format!("{:.0} %", share * 100.0));
    format!(
        "{:<13} {:>5.3} {:>6.1} {:>5.2} {:>5} {:>14} {:>5.1}",
        format!("{:.3} ± {half}", row.rank_points),
        row.win_share,
        row.points_per_round,
        row.calls_per_round,
        success,
        format!("{:.2}/{:.2}/{:.2}", row.snaps_right_per_round, row.snaps_wrong_per_round, row.snaps_late_per_round),
        row.turns_per_round,
    )
}
