//! The state that all request handlers share.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::http::StatusCode;
use cambio_agents::AgentSpec;
use cambio_core::{Rules, RulesSpec};

use crate::answer::ApiError;
use crate::reviews::Reviews;
use crate::searches::{SearchSlots, check_budget};
use crate::sessions::{OpenSession, Sessions};
use crate::settings::Settings;

/// The maximum number of rule files that pages may send, because the process keeps each of them in memory.
const MOST_RULES: usize = 1000;

/// The maximum number of explanations and hints that wait, and of matches to play again.
const WAITING: usize = 16;

/// The state that all request handlers share.
#[derive(Debug)]
pub(crate) struct AppState {
    pub(crate) settings: Settings,
    pub(crate) sessions: Sessions,
    pub(crate) reviews: Reviews,
    /// Explanations and hints.
    pub(crate) questions: SearchSlots,
    /// Matches of runs that are played again.
    pub(crate) replays: SearchSlots,
    rules_made: AtomicUsize,
}

impl AppState {
    pub(crate) fn new(settings: Settings) -> AppState {
        let sessions = Sessions::new(settings.tables, settings.idle);
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let [questions, replays] = [cores; 2].map(|cores| SearchSlots::new(cores, WAITING));
        AppState { sessions, reviews: Reviews::new(), questions, replays, settings, rules_made: AtomicUsize::new(0) }
    }

    /// Whether the settings allow this spec.
    pub(crate) fn is_allowed(&self, spec: &str) -> bool {
        self.settings.allowed.iter().any(|allowed| allowed == spec)
    }

    /// Parses the spec of an agent from a page.
    pub(crate) fn agent(&self, spec: &str) -> Result<AgentSpec, ApiError> {
        // Checked before parsing, because parsing can read files.
        if spec.contains('"') && !self.is_allowed(spec) {
            let what = "is not allowed here; start `cambio serve` with `--with` to allow it";
            return Err(ApiError::bad(format!("agent `{spec}` {what}")));
        }
        let agent = self.settings.roster.parse(spec).map_err(ApiError::bad)?;
        if agent.sees_all() {
            let what = "sees hidden cards and cannot play at a table";
            return Err(ApiError::bad(format!("agent `{agent}` {what}")));
        }
        if !self.is_allowed(spec) {
            check_budget(&agent)?;
        }
        Ok(agent)
    }

    /// Parses the name of a preset or the text of a rule file.
    pub(crate) fn rules(&self, text: &str) -> Result<Rules, ApiError> {
        if !text.contains('=') {
            return Rules::preset(text).map_err(ApiError::bad);
        }
        let spec = RulesSpec::from_toml(text).map_err(ApiError::bad)?;
        if self.rules_made.fetch_add(1, Ordering::Relaxed) >= MOST_RULES {
            let what = format!("the server has already loaded {MOST_RULES} rule files; restart it to load more");
            return Err(ApiError(StatusCode::TOO_MANY_REQUESTS, what));
        }
        spec.validate().map_err(ApiError::bad)
    }

    pub(crate) fn open_session(&self, table: u64) -> Result<Arc<OpenSession>, ApiError> {
        self.sessions
            .get(table)
            .ok_or_else(|| ApiError::missing("this table is not open; it may have been idle too long"))
    }
}
