//! The state that all request handlers share.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::http::StatusCode;
use cambio_agents::AgentSpec;
use cambio_core::{Rules, RulesSpec};

use crate::answer::ApiError;
use crate::reviews::Reviews;
use crate::sessions::{OpenSession, Sessions};
use crate::settings::Settings;

/// The maximum number of rule files that pages may send, because the process keeps each of them in memory.
const MOST_RULES: usize = 1000;

/// The state that all request handlers share.
#[derive(Debug)]
pub(crate) struct AppState {
    pub(crate) settings: Settings,
    pub(crate) sessions: Sessions,
    pub(crate) reviews: Reviews,
    rules_made: AtomicUsize,
}

impl AppState {
    pub(crate) fn new(settings: Settings) -> AppState {
        let sessions = Sessions::new(settings.tables, settings.idle);
        AppState { sessions, reviews: Reviews::new(), settings, rules_made: AtomicUsize::new(0) }
    }

    /// Parses the spec of an agent from a page.
    pub(crate) fn agent(&self, spec: &str) -> Result<AgentSpec, ApiError> {
        // Checked before parsing, because parsing can read files.
        if spec.contains('"') && !self.settings.allowed.iter().any(|allowed| allowed == spec) {
            let what = "is not allowed here; start `cambio serve` with `--with` to allow it";
            return Err(ApiError::bad(format!("agent `{spec}` {what}")));
        }
        let agent = self.settings.roster.parse(spec).map_err(ApiError::bad)?;
        if agent.sees_all() {
            let what = "sees hidden cards and cannot play at a table";
            return Err(ApiError::bad(format!("agent `{agent}` {what}")));
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
