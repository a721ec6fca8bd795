//! `cambio watch`.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use cambio_agents::Roster;
use cambio_core::Record;
use cambio_exec::{next_line, open_regular};
use cambio_sim::{StoredMatch, StoredRun};
use cambio_view::Replay;

use crate::exit::{CliResult, Exit};
use crate::replay::{LINE, read};
use crate::run::stop_on_signal;
use crate::say::count;
use crate::screen;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A file with one record per line, or a run folder
    #[arg(value_name = "FILE|RUN")]
    path: PathBuf,
    /// The number of the match: its line in the file, or its row in the run's matches.csv
    #[arg(long = "match", value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    number: u64,
    /// The round to start at
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    round: u64,
    /// The decision in the round to start at; 0 is the deal, before the first decision
    #[arg(long, value_name = "N", default_value_t = 0)]
    decision: u64,
}

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    let record =
        if args.path.is_dir() { of_run(&args.path, args.number, roster)? } else { of_file(&args.path, args.number)? };
    let path = args.path.display();
    let replay = Replay::of(&record).map_err(|flaw| format!("{path}, match {}: {flaw}", args.number))?;
    if !screen::is_there() {
        let rest = if args.path.is_dir() { "/records.jsonl` prints a run with --records" } else { "` prints events" };
        return Err(format!("watching requires a terminal; `cambio replay --events {path}{rest}").into());
    }
    let interrupt = stop_on_signal(Exit::Done)?;
    let place = (args.round.min(1 << 32) as usize - 1, args.decision.min(1 << 32) as usize);
    screen::watch(replay, place, || interrupt.is_cancelled())?;
    Ok(Exit::Done)
}

fn of_file(path: &Path, number: u64) -> Result<Record, Box<dyn std::error::Error>> {
    let unreadable = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
    let mut input = BufReader::new(open_regular(path).map_err(unreadable)?);
    let mut lines = 0;
    while let Some(line) = next_line(&mut input, LINE).map_err(unreadable)? {
        lines += 1;
        if lines == number {
            return Ok(read(&line, None).map_err(|flaw| format!("{}, line {number}: {flaw}", path.display()))?);
        }
    }
    Err(format!("{} has no record in line {number}; it has {}", path.display(), count(lines, "line")).into())
}

/// Plays a match of a run again, and returns its record.
fn of_run(folder: &Path, number: u64, roster: &Roster) -> Result<Record, Box<dyn std::error::Error>> {
    let run = StoredRun::open(folder)?;
    let (mut left, mut which) = (number as usize - 1, None);
    for stored in run.blocks()? {
        let (_, rows) = stored?;
        if let Some(row) = rows.matches.get(left) {
            which = Some(StoredMatch::from(row.key));
            break;
        }
        left -= rows.matches.len();
    }
    let missing = || format!("{} has no match {number}; it has {}", folder.display(), count(run.matches(), "match"));
    let which = which.ok_or_else(missing)?;
    Ok(which.play(run, roster)?)
}
