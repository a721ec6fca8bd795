//! The programs of bots: files on which a run depends besides its experiment.

use std::collections::BTreeMap;
use std::path::Path;

use cambio_agents::AgentSpec;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use cambio_exec::open_regular;

/// The BLAKE3 of each file that a bot's command names.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Programs(BTreeMap<String, String>);

impl Programs {
    /// The files of these agents as they are now. Files that cannot be read are left out, and what is no file, such as a device.
    pub(crate) fn of(agents: &[AgentSpec]) -> Programs {
        let hash = |path: String| {
            let mut hasher = blake3::Hasher::new();
            hasher.update_reader(open_regular(Path::new(&path)).ok()?).ok()?;
            Some((path, hasher.finalize().to_string()))
        };
        Programs(agents.iter().flat_map(AgentSpec::files).filter_map(hash).collect())
    }

    /// Reads the hashes from a manifest; `None` if they are missing or malformed.
    pub(crate) fn from_json(value: &Value) -> Option<Programs> {
        Programs::deserialize(value).ok()
    }

    /// The files that changed, as clauses.
    pub(crate) fn changes(&self, now: &Programs) -> Vec<String> {
        let became = |path: &String| match (self.0.get(path), now.0.get(path)) {
            (one, other) if one == other => None,
            (Some(_), None) => Some(format!("the bot's file `{path}` was there and is not now")),
            (None, _) => Some(format!("the bot's file `{path}` was not there and is now")),
            _ => Some(format!("the bot's file `{path}` is not the same")),
        };
        let mut paths: Vec<&String> = self.0.keys().chain(now.0.keys()).collect();
        paths.sort();
        paths.dedup();
        paths.into_iter().filter_map(became).collect()
    }
}
