//! `cambio verify`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use cambio_agents::Roster;
use cambio_sim::{CheckOutcome, PlayedBatches, ReplayScope, StoredRun, verify};

use crate::exit::{CliResult, Exit};
use crate::say::{count, plain, stdout};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The folder of a run or a benchmark
    folder: PathBuf,
    /// Replay N batches, spread evenly over the run
    #[arg(long, value_name = "N", default_value_t = 4)]
    sample: u64,
    /// Replay every batch
    #[arg(long, conflicts_with = "sample")]
    all: bool,
}

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    let replay = if args.all { ReplayScope::All } else { ReplayScope::Sample(args.sample) };
    #[cfg(feature = "learn")]
    if cambio_report::Bench::is_in(&args.folder) {
        return crate::bench::verify(&args.folder, replay, roster);
    }
    let is_other = |file: &str| !StoredRun::is_in(&args.folder) && args.folder.join(file).exists();
    let shown = args.folder.display();
    if is_other("recipe.toml") {
        let again = format!("`cambio learn {shown}/recipe.toml --out OTHER` repeats it");
        return Err(format!("{shown} is a training, which has no rows to check; {again}").into());
    }
    if is_other("study.json") {
        let again = "its command, with another --out, repeats it";
        return Err(format!("{shown} is a study, which has no rows to check; {again}").into());
    }
    verify_run(&args.folder, replay, roster)
}

/// Checks a run, and prints the findings.
fn verify_run(folder: &Path, replay: ReplayScope, roster: &Roster) -> CliResult {
    let files = ["manifest.json", "spec.lock.json", "spec.toml", "ledger.jsonl"].map(|name| folder.join(name));
    let stored = match StoredRun::open(folder) {
        // A folder with only some of these files is a damaged run. A folder without any of them is not a run.
        Err(error) if files.iter().any(|file| file.exists()) && !files.iter().all(|file| file.exists()) => {
            writeln!(stdout(), "wrong: {}", plain(&error.to_string()))?;
            return Ok(Exit::Wrong);
        }
        stored => stored?,
    };
    let findings = verify(&stored, roster, replay);
    let mut out = stdout();
    for wrong in &findings.wrong {
        writeln!(out, "wrong: {}", plain(wrong))?;
    }
    for left in &findings.unfinished {
        writeln!(out, "unfinished: {}", plain(left))?;
    }
    for left in &findings.unreplayed {
        writeln!(out, "not replayed: {}", plain(left))?;
    }
    let PlayedBatches { batches, of } = stored.extent();
    let outcome = findings.outcome(&stored);
    let verdict = match outcome {
        CheckOutcome::Wrong => "failed",
        CheckOutcome::Missing => "not complete",
        CheckOutcome::Unchecked => "verified in part",
        CheckOutcome::Verified => "verified",
    };
    let rows = if findings.wrong.is_empty() {
        format!("{batches} of {of} batches, {}", count(stored.matches(), "match"))
    } else {
        format!("{} of {batches} batches compared, {}", findings.compared, differing(&findings.differing))
    };
    writeln!(out, "{verdict}: {rows}; {} replayed", count(findings.replayed, "batch"))?;
    if findings.records > 0 {
        writeln!(out, "{} replayed without the agents", count(findings.records, "record"))?;
    }
    if !findings.has_tables {
        writeln!(out, "the tables were not checked, because they follow from the rows of all batches")?;
    }
    if findings.not_reproducible > 0 {
        let left = count(findings.not_reproducible, "batch");
        writeln!(out, "{left} cannot be checked, because agents are not reproducible")?;
    }
    if outcome == CheckOutcome::Missing {
        writeln!(out, "the run is not complete; `cambio run --resume` continues it")?;
    }
    Ok(outcome.into())
}

/// Which batches differ from the ledger, in words.
fn differing(batches: &[u64]) -> String {
    match batches {
        [] => "none differs".to_owned(),
        [batch] => format!("1 differs: batch {batch}"),
        [first, .., last] => format!("{} differ, the first is batch {first} and the last batch {last}", batches.len()),
    }
}
