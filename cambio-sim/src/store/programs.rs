//! The programs of bots: files on which a run depends beside its experiment.

use std::collections::BTreeMap;

use cambio_agents::AgentSpec;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Of each file that a bot's command names, its BLAKE3.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Programs(BTreeMap<String, String>);

impl Programs {
    /// The files of these agents as they are now, those that can be read.
    pub(crate) fn of(agents: &[AgentSpec]) -> Programs {
        let hash = |path: String| Some((path.clone(), blake3::hash(&std::fs::read(path).ok()?).to_string()));
        Programs(agents.iter().flat_map(AgentSpec::files).filter_map(hash).collect())
    }

    /// Reads them from a manifest; `None` if it says nothing of them, or nonsense.
    pub(crate) fn from_json(value: &Value) -> Option<Programs> {
        Programs::deserialize(value).ok()
    }

    /// What has become of them, a clause each.
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
