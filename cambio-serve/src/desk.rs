//! What all handlers share.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::http::StatusCode;
use cambio_agents::AgentSpec;
use cambio_core::{Rules, RulesSpec};

use crate::answer::Problem;
use crate::appraisals::Appraisals;
use crate::rooms::{Room, Rooms};
use crate::settings::Settings;

/// How many rule systems of their own pages may bring: the process keeps every one.
const MOST_RULES: usize = 1000;

/// What all handlers share.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) settings: Settings,
    pub(crate) rooms: Rooms,
    pub(crate) appraisals: Appraisals,
    rules_made: AtomicUsize,
}

impl Desk {
    pub(crate) fn new(settings: Settings) -> Desk {
        let rooms = Rooms::new(settings.tables, settings.idle);
        Desk { rooms, appraisals: Appraisals::new(), settings, rules_made: AtomicUsize::new(0) }
    }

    /// Reads the spec of an agent that a page may name.
    pub(crate) fn agent(&self, spec: &str) -> Result<AgentSpec, Problem> {
        // Files are read when a spec is: who may name it is asked first.
        if spec.contains('"') && !self.settings.allowed.iter().any(|allowed| allowed == spec) {
            let what = "is not among the agents that `cambio serve` was started with (`--with`)";
            return Err(Problem::bad(format!("agent `{spec}` {what}")));
        }
        let agent = self.settings.roster.parse(spec).map_err(Problem::bad)?;
        if agent.sees_all() {
            let what = "sees hidden cards; allowed are agents that play by what they saw";
            return Err(Problem::bad(format!("agent `{agent}` {what}")));
        }
        Ok(agent)
    }

    /// Reads the name of a preset, or the text of a rule file.
    pub(crate) fn rules(&self, text: &str) -> Result<Rules, Problem> {
        if !text.contains('=') {
            return Rules::preset(text).map_err(Problem::bad);
        }
        let spec = RulesSpec::from_toml(text).map_err(Problem::bad)?;
        if self.rules_made.fetch_add(1, Ordering::Relaxed) >= MOST_RULES {
            let what = format!("{MOST_RULES} rule files were brought; start the server anew");
            return Err(Problem(StatusCode::TOO_MANY_REQUESTS, what));
        }
        spec.validate().map_err(Problem::bad)
    }

    pub(crate) fn room(&self, table: u64) -> Result<Arc<Room>, Problem> {
        self.rooms.get(table).ok_or_else(|| Problem::missing("this table is not open; it may have been idle too long"))
    }
}
