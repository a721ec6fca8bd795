//! `cambio watch`.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use cambio_agents::Roster;
use cambio_core::Record;
use cambio_sim::{StoredMatch, StoredRun};
use cambio_view::Film;

use crate::exit::{CliResult, Exit};
use crate::replay::{LINE, read};
use crate::run::stop_on_signal;
use crate::say::next_line;
use crate::screen;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A file with one record a line, or a run folder
    #[arg(value_name = "FILE|RUN")]
    path: PathBuf,
    /// The record in that line of the file, or the match in that row of the run's matches.csv
    #[arg(long = "match", value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    number: u64,
    /// The round to begin with
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    round: u64,
    /// The decision of that round to begin with; 0 is the deal
    #[arg(long, value_name = "N", default_value_t = 0)]
    decision: u64,
}

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    let record =
        if args.path.is_dir() { of_run(&args.path, args.number, roster)? } else { of_file(&args.path, args.number)? };
    let path = args.path.display();
    let film = Film::of(&record).map_err(|flaw| format!("{path}, match {}: {flaw}", args.number))?;
    if !screen::is_there() {
        return Err(format!("watching needs a terminal; `cambio replay --events {path}` prints what happened").into());
    }
    let interrupt = stop_on_signal(Exit::Done)?;
    let place = (args.round.min(1 << 32) as usize - 1, args.decision.min(1 << 32) as usize);
    screen::watch(film, place, || interrupt.is_cancelled())?;
    Ok(Exit::Done)
}

fn of_file(path: &Path, number: u64) -> Result<Record, Box<dyn std::error::Error>> {
    let unreadable = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
    let mut input = BufReader::new(File::open(path).map_err(unreadable)?);
    let mut lines = 0;
    while let Some(line) = next_line(&mut input, LINE).map_err(unreadable)? {
        lines += 1;
        if lines == number {
            return Ok(read(&line).map_err(|flaw| format!("{}, line {number}: {flaw}", path.display()))?);
        }
    }
    let lines = if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") };
    Err(format!("{} has no record in line {number}; it has {lines}", path.display()).into())
}

/// A match of a run, played again from its key.
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
    let missing = || format!("{} has {} matches; there is no match {number}", folder.display(), run.matches());
    let which = which.ok_or_else(missing)?;
    Ok(which.play(run, roster)?)
}
