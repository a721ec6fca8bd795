//! The state that all request handlers share.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::http::StatusCode;
use cambio_agents::AgentSpec;
use cambio_core::{Rules, RulesSpec};

use crate::answer::Problem;
use crate::appraisals::Appraisals;
use crate::rooms::{Room, Rooms};
use crate::settings::Settings;

/// The most rule files that pages may send, because the process keeps each one in memory.
const MOST_RULES: usize = 1000;

/// The state that all request handlers share.
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

    /// Parses the spec of an agent from a page.
    pub(crate) fn agent(&self, spec: &str) -> Result<AgentSpec, Problem> {
        // Checked before parsing, because parsing can read files.
        if spec.contains('"') && !self.settings.allowed.iter().any(|allowed| allowed == spec) {
            let what = "is not allowed here; start `cambio serve` with `--with` to allow it";
            return Err(Problem::bad(format!("agent `{spec}` {what}")));
        }
        let agent = self.settings.roster.parse(spec).map_err(Problem::bad)?;
        if agent.sees_all() {
            let what = "sees hidden cards and cannot play at a table";
            return Err(Problem::bad(format!("agent `{agent}` {what}")));
        }
        Ok(agent)
    }

    /// Parses the name of a preset or the text of a rule file.
    pub(crate) fn rules(&self, text: &str) -> Result<Rules, Problem> {
        if !text.contains('=') {
            return Rules::preset(text).map_err(Problem::bad);
        }
        let spec = RulesSpec::from_toml(text).map_err(Problem::bad)?;
        if self.rules_made.fetch_add(1, Ordering::Relaxed) >= MOST_RULES {
            let what = format!("the server has already loaded {MOST_RULES} rule files; restart it to load more");
            return Err(Problem(StatusCode::TOO_MANY_REQUESTS, what));
        }
        spec.validate().map_err(Problem::bad)
    }

    pub(crate) fn room(&self, table: u64) -> Result<Arc<Room>, Problem> {
        self.rooms.get(table).ok_or_else(|| Problem::missing("this table is not open; it may have been idle too long"))
    }
}
