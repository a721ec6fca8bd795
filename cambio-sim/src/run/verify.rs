//! Verification of stored runs.

use std::collections::BTreeSet;
use std::io::ErrorKind;

use cambio_agents::Roster;
use cambio_exec::read_bytes;

use super::batch::replay_batch;
use super::read::{BatchReader, replay_records};
use crate::digest::Derived;
use crate::disk::RunError;
use crate::plan::{FaultPolicy, PlayablePlan, PlayedBatches};
use crate::store::{BatchEntry, StoredRun};

/// The maximum number of differing batches with a message each.
const MOST_NAMED: usize = 5;

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
    /// Why selected batches were not replayed: an agent is missing or not the agent of the run, or its process failed.
    pub unreplayed: Vec<String>,
    /// The number of batches whose rows were compared with the ledger.
    pub compared: u64,
    /// The batches whose rows differ from the ledger or from the records.
    pub differing: Vec<u64>,
    /// The number of records that were replayed without agents, because agents cannot repeat their batches.
    pub records: u64,
    /// The number of replayed batches that gave the same bytes.
    pub replayed: u64,
    /// The number of selected batches that were not replayed because an agent is not reproducible.
    pub not_reproducible: u64,
    /// Whether the tables were checked: not if rows are unreadable.
    pub has_tables: bool,
}

/// What a check found, the best outcome first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CheckOutcome {
    /// The part is as stored, or cannot be repeated.
    Verified,
    /// The part is as stored, but some of its matches were not replayed.
    Unchecked,
    /// The part has not been played, or not to its end.
    Missing,
    /// The part is wrong.
    Wrong,
}

impl Findings {
    /// What the findings about this run mean.
    pub fn outcome(&self, stored: &StoredRun) -> CheckOutcome {
        if !self.wrong.is_empty() {
            CheckOutcome::Wrong
        } else if !stored.is_complete() || !self.unfinished.is_empty() {
            CheckOutcome::Missing
        } else if !self.unreplayed.is_empty() {
            CheckOutcome::Unchecked
        } else {
            CheckOutcome::Verified
        }
    }

    /// Checks that a file of a run has the text that its rows give.
    fn check(&mut self, stored: &StoredRun, name: &str, text: &str) {
        let path = stored.path.join(name);
        let found = match read_bytes(&path, text.len() as u64) {
            Err(error) if error.kind() == ErrorKind::FileTooLarge => Ok(None),
            found => found.map(Some),
        };
        match found {
            Ok(Some(found)) if found == text.as_bytes() => {}
            Err(error) if error.kind() == ErrorKind::NotFound && !stored.claims_complete => {
                self.unfinished.push(format!("{} does not exist yet", path.display()));
            }
            Ok(_) => self.wrong.push(format!("{} does not match its rows", path.display())),
            Err(error) => self.wrong.push(format!("cannot read {}: {error}", path.display())),
        }
    }

    /// Compares the rows of all batches with the ledger, and the chosen ones that agents cannot repeat with their records.
    /// Returns the tables, or `None` if a batch differs.
    fn compare(
        &mut self,
        stored: &StoredRun,
        playable: Option<&PlayablePlan>,
        chosen: &BTreeSet<u64>,
    ) -> Result<Option<Derived>, RunError> {
        let plan = &stored.plan;
        let is_repeatable = |playable: &PlayablePlan, batch| {
            plan.batch(batch).all(|number| playable.is_repeatable(plan.block(number).lineup))
        };
        let needs_records = |batch| {
            plan.records && chosen.contains(&batch) && playable.is_none_or(|playable| !is_repeatable(playable, batch))
        };
        let mut reading = BatchReader::new(plan);
        for (entry, read) in stored.entries.iter().zip(stored.read_batches()?) {
            self.compared += 1;
            let checked = read.and_then(|(_, files)| {
                if needs_records(entry.batch) {
                    self.records += replay_records((plan, &stored.path), entry, &files)?;
                }
                Ok(files)
            });
            match checked {
                Ok(files) if self.differing.is_empty() => reading.add(&stored.path, entry.clone(), files)?,
                Ok(_) => {}
                Err(error) => {
                    self.differing.push(entry.batch);
                    self.wrong.extend((self.differing.len() <= MOST_NAMED).then(|| error.to_string()));
                }
            }
        }
        if !self.differing.is_empty() {
            return Ok(None);
        }
        let mut digest = reading.end()?;
        digest.end_deal();
        Ok(Some(Derived::new(plan, digest)))
    }

    /// Plays the chosen batches again.
    fn replay(&mut self, stored: &StoredRun, plan: &PlayablePlan, chosen: &BTreeSet<u64>) {
        let changes = stored.changed_files(plan.specs()).join(", ");
        let has_faults = |entry: &BatchEntry| {
            plan.faults != FaultPolicy::Stop && entry.segments.last().is_some_and(|faults| faults.rows > 0)
        };
        for entry in chosen.iter().map(|&batch| &stored.entries[batch as usize]) {
            let Some(again) = replay_batch(plan, entry.batch) else {
                self.not_reproducible += 1;
                continue;
            };
            if again.as_ref().is_ok_and(|again| again == entry) {
                self.replayed += 1;
                continue;
            }
            // The process of a bot may fail by the clock or for lack of a program, so its failures prove nothing.
            let has_bots = plan.batch(entry.batch).any(|number| !plan.is_self_contained(plan.block(number).lineup));
            let (mut what, mut proves_nothing) = match again {
                Ok(again) => {
                    let what = format!("replaying batch {} gives different rows", entry.batch);
                    (what, has_bots && (has_faults(entry) || has_faults(&again)))
                }
                Err(fault) => {
                    let what = format!("batch {} cannot be replayed: {}: {}", entry.batch, fault.place, fault.what);
                    (what, fault.halt.is_some() || has_bots && !fault.is_illegal)
                }
            };
            if has_bots && !changes.is_empty() {
                what = format!("{what}; since the run began, {changes}");
                proves_nothing = true;
            }
            if proves_nothing { &mut self.unreplayed } else { &mut self.wrong }.push(what);
        }
    }
}

/// Checks a run: the hashes of all batches, bytes that the ledger does not cover, the derived files, and a replay of some
/// batches with the agents of the roster. Unreadable files are reported as findings. If the roster lacks an agent of the run, the rest is
/// checked, and [`Findings::unreplayed`] contains the reason. Without batches to replay, the agents are not needed.
///
/// ```
/// use std::path::Path;
/// use cambio_sim::{Executor, Experiment, ReplayScope, RunFolder, Runner, StoredRun, verify};
///
/// let experiment = Experiment { deals: 10, ..Experiment::at("classic", 2, &["random", "greedy"]) };
/// let roster = cambio_agents::roster();
/// let plan = experiment.plan(&roster, Path::new("."))?;
/// # let path = std::env::temp_dir().join(format!("cambio-verify-{}", std::process::id()));
/// Runner::new(&Executor::new(1)?).run(&plan, &mut RunFolder::create(&path, &plan)?)?;
/// let check = || verify(&StoredRun::open(&path).unwrap(), &roster, ReplayScope::All).wrong;
/// assert!(check().is_empty());
///
/// // A single changed digit is detected.
/// let rows = std::fs::read_to_string(path.join("matches.csv"))?;
/// std::fs::write(path.join("matches.csv"), rows.replacen(",2,random", ",3,random", 1))?;
/// assert!(!check().is_empty());
/// # std::fs::remove_dir_all(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn verify(stored: &StoredRun, roster: &Roster, replay: ReplayScope) -> Findings {
    let plan = (replay != ReplayScope::Sample(0)).then(|| stored.playable(roster)).transpose();
    let (plan, unreplayed) = plan.map_or_else(|error| (None, vec![error.to_string()]), |plan| (plan, Vec::new()));
    let mut findings = Findings { unreplayed, ..Findings::default() };
    let loose = stored.uncovered();
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
    findings.wrong.extend(stored.manifest_flaw());
    let entries = stored.entries.len() as u64;
    let chosen = match replay {
        ReplayScope::All => entries,
        ReplayScope::Sample(wanted) => wanted.min(entries),
    };
    let chosen = (0..chosen).map(|number| (u128::from(number) * u128::from(entries) / u128::from(chosen)) as u64);
    let chosen: BTreeSet<u64> = chosen.collect();
    match findings.compare(stored, plan.as_ref(), &chosen) {
        Err(error) => findings.wrong.push(error.to_string()),
        Ok(derived) => {
            // The derived files of an unfinished run may be older than its rows.
            for (name, text) in derived.iter().filter(|_| stored.is_complete()).flat_map(Derived::files) {
                findings.check(stored, name, &text);
            }
            findings.has_tables = derived.is_some();
        }
    }
    if let Some(plan) = &plan {
        findings.replay(stored, plan, &chosen);
    }
    findings
}
