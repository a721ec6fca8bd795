//! Checks a run.

use super::batch::replay_batch;
use super::read::derive;
use crate::digest::Derived;
use crate::plan::{Extent, PlayablePlan};
use crate::store::StoredRun;

/// How much of a run [`verify`] plays again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Replay {
    /// This number of batches, spread evenly over the run.
    Sample(u64),
    /// All of it.
    All,
}

/// The findings of [`verify`].
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// What is wrong, as sentences.
    pub wrong: Vec<String>,
    /// What an interrupted run left behind, as sentences. Resuming cuts it off.
    pub unfinished: Vec<String>,
    /// The number of batches that were played again and gave the same bytes.
    pub replayed: u64,
    /// The number of batches that were chosen but have agents that are not reproducible.
    pub not_reproducible: u64,
    /// The tables that the rows give, for files that the caller has made of them; `None` if the rows cannot be read.
    pub derived: Option<Derived>,
}

impl Findings {
    /// Compares a file of a run with its expected text.
    pub fn compare(&mut self, stored: &StoredRun, name: &str, text: &str) {
        let path = stored.path.join(name);
        match std::fs::read(&path) {
            Ok(found) if found == text.as_bytes() => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !stored.claims_complete => {
                self.unfinished.push(format!("{} is not there yet", path.display()));
            }
            Ok(_) => self.wrong.push(format!("{} is not what its rows give", path.display())),
            Err(error) => self.wrong.push(format!("cannot read {}: {error}", path.display())),
        }
    }
}

/// Checks a run: the hashes of every batch, anything on disk beyond them, the derived files, and some batches by
/// playing them again.
/// A file that cannot be read is a finding too.
///
/// ```
/// use std::path::Path;
/// use cambio_sim::{Executor, Experiment, Replay, RunFolder, Runner, StoredRun, verify};
///
/// let experiment = Experiment { deals: 10, ..Experiment::at("classic", 2, &["random", "greedy"]) };
/// let plan = experiment.plan(&cambio_agents::roster(), Path::new("."))?;
/// # let path = std::env::temp_dir().join(format!("cambio-verify-{}", std::process::id()));
/// Runner::new(&Executor::new(1)?).run(&plan, &mut RunFolder::create(&path, &plan)?)?;
/// let check = || verify(&StoredRun::open(&path).unwrap(), &plan, Replay::All).wrong;
/// assert!(check().is_empty());
///
/// // One altered digit is found.
/// let rows = std::fs::read_to_string(path.join("matches.csv"))?;
/// std::fs::write(path.join("matches.csv"), rows.replacen(",2,random", ",3,random", 1))?;
/// assert!(!check().is_empty());
/// # std::fs::remove_dir_all(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn verify(stored: &StoredRun, plan: &PlayablePlan, replay: Replay) -> Findings {
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
            // Missing files are found while reading.
            Ok(_) | Err(_) => {}
        }
    }
    if stored.claims_complete {
        findings.wrong = loose;
        if !stored.is_complete() {
            let Extent { batches, of } = stored.extent();
            findings.wrong.push(format!("the manifest says complete, and the ledger has {batches} of {of} batches"));
        }
    } else {
        // The run was stopped in the middle of writing.
        findings.unfinished = loose.into_iter().map(|left| left + "; resuming cuts off the rest").collect();
    }
    findings.wrong.extend(stored.manifest_flaws());
    match derive(stored) {
        Err(error) => findings.wrong.push(error.to_string()),
        Ok(derived) => {
            // An unfinished run may have derived files of fewer rows.
            if stored.is_complete() {
                derived.files().iter().for_each(|(name, text)| findings.compare(stored, name, text));
            }
            findings.derived = Some(derived);
        }
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
    findings
}
