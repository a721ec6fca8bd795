//! The check of a run, for `cambio verify` and for the runs of a benchmark.

use std::io::Write as _;
use std::path::Path;

use cambio_agents::Roster;
#[cfg(feature = "report")]
use cambio_report::{Page, Run, of_run};
use cambio_sim::{PlayedBatches, ReplayScope, RunError, StoredRun, verify_with};

use crate::exit::{CliResult, Exit};
use crate::say::{count, plain, say, stdout};

/// Checks a run, and prints the findings.
pub(super) fn verify_run(folder: &Path, replay: ReplayScope, roster: &Roster) -> CliResult {
    let files = ["manifest.json", "spec.lock.json", "spec.toml", "ledger.jsonl"].map(|name| folder.join(name));
    let stored = match StoredRun::open(folder) {
        // A folder with only some of these files is a damaged run. A folder without any of them is not a run.
        Err(error) if files.iter().any(|file| file.exists()) && !files.iter().all(|file| file.exists()) => {
            writeln!(stdout(), "wrong: {}", plain(&error.to_string()))?;
            return Ok(Exit::Wrong);
        }
        stored => stored?,
    };
    let findings = verify_with(&stored, roster, replay);
    let has_tables = findings.derived.is_some();
    #[cfg(feature = "report")]
    let (findings, is_page_of_other_version) = with_page(findings, &stored);
    #[cfg(not(feature = "report"))]
    let is_page_of_other_version = false;
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
    let is_whole = stored.is_complete() && findings.unfinished.is_empty();
    let (verdict, exit) = match (findings.wrong.is_empty(), is_whole, findings.unreplayed.is_empty()) {
        (false, ..) => ("failed", Exit::Wrong),
        (_, false, _) => ("not complete", Exit::Interrupted),
        (.., false) => ("verified in part", Exit::Unchecked),
        _ => ("verified", Exit::Done),
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
    if !has_tables {
        writeln!(out, "the tables were not checked, because they follow from the rows of all batches")?;
    }
    if cfg!(not(feature = "report")) {
        writeln!(out, "report.html was not checked, because this program was built without the feature `report`")?;
    }
    if is_page_of_other_version {
        writeln!(
            out,
            "report.html was not checked, because another version wrote it; `cambio report` writes it again"
        )?;
    }
    if findings.not_reproducible > 0 {
        let left = count(findings.not_reproducible, "batch");
        writeln!(out, "{left} cannot be checked, because agents are not reproducible")?;
    }
    if exit == Exit::Interrupted {
        writeln!(out, "the run is not complete; `cambio run --resume` continues it")?;
    }
    Ok(exit)
}

/// Which batches differ from the ledger, in words.
fn differing(batches: &[u64]) -> String {
    match batches {
        [] => "none differs".to_owned(),
        [batch] => format!("1 differs: batch {batch}"),
        [first, .., last] => format!("{} differ, the first is batch {first} and the last batch {last}", batches.len()),
    }
}

/// Adds the check of the page of a complete run to the findings. Also returns whether another version wrote the page, so that
/// it was not checked.
#[cfg(feature = "report")]
fn with_page(mut findings: cambio_sim::Findings, stored: &StoredRun) -> (cambio_sim::Findings, bool) {
    let mut is_of_other_version = false;
    let Some(derived) = findings.derived.take_if(|_| stored.is_complete()) else { return (findings, false) };
    let page = stored.path.join("report.html");
    if page.exists() {
        let expected = of_run(Run::stored(stored, &derived));
        findings.check(stored, "report.html", |found| {
            let Ok(found) = str::from_utf8(found) else { return false };
            is_of_other_version = Page::is_of_other_version(found);
            is_of_other_version || expected.is_but_for_times(found)
        });
    } else {
        findings.unfinished.push(format!("{} is missing; `cambio report` writes it", page.display()));
    }
    (findings, is_of_other_version)
}

/// Prints a note on standard error if a run is not complete. Fails if the manifest says that the run is complete,
/// because then lines of its ledger are missing.
pub(super) fn tell_if_partial(stored: &StoredRun) -> Result<(), RunError> {
    if stored.is_complete() {
        return Ok(());
    }
    let PlayedBatches { batches: found, of: wanted } = stored.extent();
    if stored.claims_complete {
        let what = format!("it has {found} of {wanted} batches, and the manifest says that the run is complete");
        return Err(RunError::damaged(&stored.path.join("ledger.jsonl"), what));
    }
    say!(
        "the run is not complete: {found} of {wanted} batches, {}; the results cover only these",
        count(stored.matches(), "match")
    );
    Ok(())
}
