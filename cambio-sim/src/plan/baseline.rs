//! The baselines with which a run measures the luck of the cards.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cambio_agents::{AgentSpec, Luck, OutcomeModel};
use cambio_core::Rules;
use cambio_exec::{FileError, read_bytes, write_whole};

/// The maximum number of bytes of a model's file.
const MOST_MODEL: u64 = 1 << 28;

/// An outcome model, identified by the hash of its file.
#[derive(Clone, Debug)]
pub(crate) struct Baseline {
    hash: String,
    /// The bytes of the file and the model; `None` if this program does not have the file.
    file: Option<(Arc<[u8]>, Arc<OutcomeModel>)>,
}

impl Baseline {
    /// The bundled baseline for these rules and this number of seats.
    pub(crate) fn shipped(rules: &Rules, seats: usize) -> Baseline {
        Baseline::of(OutcomeModel::shipped_file(rules, seats)).expect("the bundled models are valid")
    }

    /// The baseline in these bytes of a file; `None` if they are not an outcome model.
    fn of(bytes: &[u8]) -> Option<Baseline> {
        static READ: Mutex<BTreeMap<String, Baseline>> = Mutex::new(BTreeMap::new());
        let hash = blake3::hash(bytes).to_string();
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(baseline) = read.get(&hash) {
            return Some(baseline.clone());
        }
        let (model, _) = OutcomeModel::from_bytes(bytes).ok()?;
        let baseline = Baseline { hash: hash.clone(), file: Some((bytes.into(), Arc::new(model))) };
        read.insert(hash, baseline.clone());
        Some(baseline)
    }

    /// The baseline with this hash, as far as this program has its file.
    pub(super) fn with_hash(hash: String, rules: &Rules, seats: usize) -> Baseline {
        let shipped = Baseline::shipped(rules, seats);
        if shipped.hash == hash { shipped } else { Baseline { hash, file: None } }
    }

    /// BLAKE3 of the file, in hexadecimal digits.
    pub(crate) fn hash(&self) -> &str {
        &self.hash
    }

    /// The model; `None` if this program does not have it.
    pub(crate) fn model(&self) -> Option<&Arc<OutcomeModel>> {
        self.file.as_ref().map(|(_, model)| model)
    }

    /// Where a run folder stores the file.
    fn path(&self, folder: &Path) -> PathBuf {
        folder.join(format!("baseline-{}.model", self.hash.get(..16).unwrap_or(&self.hash)))
    }

    /// Writes the file into a run folder, so that later programs with other baselines can play the run again.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), FileError> {
        match &self.file {
            Some((bytes, _)) => write_whole(&self.path(folder), bytes),
            None => Ok(()),
        }
    }

    /// Reads the file from a run folder, unless the model is already known. The file is ignored if it is missing or has
    /// another hash.
    pub(crate) fn find(&mut self, folder: &Path) {
        if self.file.is_none()
            && let Ok(bytes) = read_bytes(&self.path(folder), MOST_MODEL)
            && let Some(found) = Baseline::of(&bytes).filter(|found| found.hash == self.hash)
        {
            *self = found;
        }
    }
}

/// Why the luck cannot be measured in a match of these agents under these rules.
pub(super) fn obstacle(rules: &Rules, agents: &[AgentSpec]) -> Option<String> {
    if !Luck::supports(rules) {
        return Some(format!(
            "`off` with the rules `{}`, because `cap = \"feasible\"` or `late = \"abort\"` tells the seats about unseen cards",
            rules.name()
        ));
    }
    let seer = agents.iter().find(|agent| agent.sees_all())?;
    Some(format!("`off` with `{seer}`, which sees hidden cards"))
}
