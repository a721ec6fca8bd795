//! Verification of stored runs.

use std::io::ErrorKind;

use cambio_exec::read_bytes;

use super::batch::replay_batch;
use super::read::derive;
use crate::digest::Derived;
use crate::plan::{PlayablePlan, PlayedBatches};
use crate::store::StoredRun;

/// The maximum number of bytes of a page.
const MOST_PAGE: u64 = 1 << 30;

/// How many batches of a run [`verify`] replays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReplayScope {
    /// This number of batches, spread evenly over the run.
    Sample(u64),
    /// All batches.
    All,
}

/// The findings of [`verify`].
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Messages about errors in the run.
    pub wrong: Vec<String>,
    /// Messages about remains of an interruption. Resuming the run removes these remains.
    pub unfinished: Vec<String>,
    /// The number of replayed batches that gave the same bytes.
    pub replayed: u64,
    /// The number of selected batches that were not replayed because an agent is not reproducible.
    pub not_reproducible: u64,
    /// The tables computed from the rows, so that the caller can check other files made from these tables; `None` if
    /// the rows are unreadable.
    pub derived: Option<Derived>,
}

impl Findings {
    /// Checks that a file of a run is the one that its rows give. `is_right` gets the content of the file.
    pub fn check(&mut self, stored: &StoredRun, name: &str, is_right: impl FnOnce(&[u8]) -> bool) {
        self.check_up_to(MOST_PAGE, stored, name, is_right);
    }

    /// Like [`Findings::check`], for a file of at most `most` bytes.
    fn check_up_to(&mut self, most: u64, stored: &StoredRun, name: &str, is_right: impl FnOnce(&[u8]) -> bool) {
        let path = stored.path.join(name);
        let found = match read_bytes(&path, most) {
            Err(error) if error.kind() == ErrorKind::FileTooLarge => Ok(None),
            found => found.map(Some),
        };
        match found {
            Ok(Some(found)) if is_right(&found) => {}
            Err(error) if error.kind() == ErrorKind::NotFound && !stored.claims_complete => {
                self.unfinished.push(format!("{} does not exist yet", path.display()));
            }
            Ok(_) => {
                let hint = if stored.has_former_columns() {
                    format!(
                        "; revision {} began the run, with former names of columns: verify the run with that revision, or write \
                         its tables again with `cambio report`",
                        stored.build().revision()
                    )
                } else {
                    String::new()
                };
                self.wrong.push(format!("{} does not match its rows{hint}", path.display()));
            }
            Err(error) => self.wrong.push(format!("cannot read {}: {error}", path.display())),
        }
    }
}

/// Checks a run: the hashes of all batches, bytes that the ledger does not cover, the derived files, and a replay of some
/// batches. Unreadable files are reported as findings.
///
/// ```
/// use std::path::Path;
/// use cambio_sim::{Executor, Experiment, ReplayScope, RunFolder, Runner, StoredRun, verify};
///
/// let experiment = Experiment { deals: 10, ..Experiment::at("classic", 2, &["random", "greedy"]) };
/// let plan = experiment.plan(&cambio_agents::roster(), Path::new("."))?;
/// # let path = std::env::temp_dir().join(format!("cambio-verify-{}", std::process::id()));
/// Runner::new(&Executor::new(1)?).run(&plan, &mut RunFolder::create(&path, &plan)?)?;
/// let check = || verify(&StoredRun::open(&path).unwrap(), &plan, ReplayScope::All).wrong;
/// assert!(check().is_empty());
///
/// // A single changed digit is detected.
/// let rows = std::fs::read_to_string(path.join("matches.csv"))?;
/// std::fs::write(path.join("matches.csv"), rows.replacen(",2,random", ",3,random", 1))?;
/// assert!(!check().is_empty());
/// # std::fs::remove_dir_all(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn verify(stored: &StoredRun, plan: &PlayablePlan, replay: ReplayScope) -> Findings {
    let mut findings = Findings::default();
    let mut loose = Vec::new();
    if stored.is_torn {
        loose.push(format!("{}/ledger.jsonl ends in the middle of a line", stored.path.display()));
    }
    for (path, bytes) in stored.covered() {
        // Reading reports missing files.
        if let Ok(found) = std::fs::metadata(&path)
            && found.len() > bytes
        {
            loose.push(format!("{} has {} bytes, but the ledger covers {bytes}", path.display(), found.len()));
        }
    }
    if stored.claims_complete {
        findings.wrong = loose;
        if !stored.is_complete() {
            let PlayedBatches { batches, of } = stored.extent();
            let what = format!("the outcome in the manifest is complete, but the ledger has {batches} of {of} batches");
            findings.wrong.push(what);
        }
    } else {
        // The run was interrupted while writing.
        findings.unfinished = loose.into_iter().map(|left| left + "; resuming removes the rest").collect();
    }
    findings.wrong.extend(stored.manifest_flaws());
    match derive(stored) {
        Err(error) => findings.wrong.push(error.to_string()),
        Ok(derived) => {
            // The derived files of an unfinished run may be older than its rows.
            if stored.is_complete() {
                for (name, text) in derived.files() {
                    findings.check_up_to(text.len() as u64, stored, name, |found| found == text.as_bytes());
                }
            }
            findings.derived = Some(derived);
        }
    }
    let entries = stored.entries.len() as u64;
    let chosen = match replay {
        ReplayScope::All => entries,
        ReplayScope::Sample(wanted) => wanted.min(entries),
    };
    for number in 0..chosen {
        let entry = &stored.entries[(u128::from(number) * u128::from(entries) / u128::from(chosen.max(1))) as usize];
        match replay_batch(plan, entry) {
            None => findings.not_reproducible += 1,
            Some(Ok(true)) => findings.replayed += 1,
            Some(Ok(false)) => findings.wrong.push(format!("replaying batch {} gives different rows", entry.batch)),
            Some(Err(fault)) => findings
                .wrong
                .push(format!("batch {} cannot be replayed: {}: {}", entry.batch, fault.place, fault.what)),
        }
    }
    findings
}
