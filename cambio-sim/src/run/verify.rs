//! Checks a run.

use super::batch::replay_batch;
use super::read::derive;
use crate::digest::Page;
use crate::disk::RunError;
use crate::plan::PlayablePlan;
use crate::store::StoredRun;

/// How much of a run is played again to be checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Replay {
    /// So many batches, spread evenly.
    Sample(u64),
    /// All of it.
    All,
}

/// What a check of a run found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Findings {
    /// What is wrong, a sentence each.
    pub wrong: Vec<String>,
    /// What a run that was stopped left behind, a sentence each: resuming cuts it off.
    pub unfinished: Vec<String>,
    /// How many batches were played again and gave the same bytes.
    pub replayed: u64,
    /// How many were chosen to be played again and have agents that may decide differently.
    pub not_reproducible: u64,
}

/// Checks a run: hashes of every batch, what is on disk beyond them, the derived files with these pages, and by playing again.
///
/// # Errors
/// If the folder is no run at all. What is wrong with a run is found, not an error.
pub fn verify(stored: &StoredRun, plan: &PlayablePlan, replay: Replay, pages: &[Page]) -> Result<Findings, RunError> {
    let mut findings = Findings::default();
    let mut loose = Vec::new();
    if stored.is_torn {
        loose.push(format!("{}/ledger.jsonl ends in the middle of a line", stored.path.display()));
    }
    for (path, bytes) in stored.covered() {
        match std::fs::metadata(&path) {
            Ok(found) if found.len() > bytes => {
                loose.push(format!("{} has {} bytes; its ledger covers {bytes}", path.display(), found.len()));
            }
            // What is missing is found while reading.
            Ok(_) | Err(_) => {}
        }
    }
    if stored.claims_complete {
        findings.wrong = loose;
        if !stored.is_complete() {
            let (found, batches) = (stored.entries.len(), stored.batches());
            let what = format!(
                "the manifest says complete, and the ledger has {found} of {} batches",
                batches.end - batches.start
            );
            findings.wrong.push(what);
        }
    } else {
        // A run that was stopped in the middle of writing.
        findings.unfinished = loose.into_iter().map(|left| left + "; resuming cuts off the rest").collect();
    }
    findings.wrong.extend(stored.manifest_flaws());
    match derive(stored, pages) {
        Err(error) => findings.wrong.push(error.to_string()),
        // The files of an unfinished run, or of a shard, are written when it ends.
        Ok(derived) if stored.is_complete() && stored.shard.is_none() => {
            for (name, text) in derived.files() {
                let path = stored.path.join(name);
                match std::fs::read(&path) {
                    Ok(found) if found == text.as_bytes() => {}
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound && !stored.claims_complete => {
                        findings.unfinished.push(format!("{} is not there yet", path.display()));
                    }
                    Ok(_) => findings.wrong.push(format!("{} is not what its rows give", path.display())),
                    Err(error) => findings.wrong.push(format!("cannot read {}: {error}", path.display())),
                }
            }
        }
        Ok(_) => {}
    }
    let entries = stored.entries.len() as u64;
    let chosen = match replay {
        Replay::All => entries,
        Replay::Sample(wanted) => wanted.min(entries),
    };
    for number in 0..chosen {
        let entry = &stored.entries[(u128::from(number) * u128::from(entries) / u128::from(chosen.max(1))) as usize];
        match replay_batch(plan, entry) {
            None => findings.not_reproducible += 1,
            Some(Ok(true)) => findings.replayed += 1,
            Some(Ok(false)) => findings.wrong.push(format!("batch {} played again gives other rows", entry.batch)),
            Some(Err(fault)) => findings
                .wrong
                .push(format!("batch {} cannot be played again: {}: {}", entry.batch, fault.place, fault.what)),
        }
    }
    Ok(findings)
}
