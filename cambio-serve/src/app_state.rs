//! The state that all request handlers share.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use cambio_agents::AgentSpec;
use cambio_core::Seat;
use cambio_view::{Catalogue, SUBSTITUTE};

use axum::extract::State;
use axum::http::StatusCode;

use crate::answer::ApiError;
use crate::match_index::MatchIndexes;
use crate::request_guard::Access;
use crate::reviews::Reviews;
use crate::searches::SearchSlots;
use crate::sessions::{OpenSession, Sessions};
use crate::settings::Settings;

/// The maximum number of explanations and hints that wait, and of matches to play again.
const WAITING: usize = 16;

/// The state, as an argument of a request handler.
pub(crate) type Shared = State<Arc<AppState>>;

/// The state that all request handlers share.
#[derive(Debug)]
pub(crate) struct AppState {
    /// The agents and rules that pages may use.
    pub(crate) catalogue: Catalogue,
    /// The agent that takes the seats of people who do not come or leave.
    pub(crate) substitute: AgentSpec,
    /// The origin of links to seats in the local network, if the server listens there.
    pub(crate) network: OnceLock<String>,
    /// The origin of links on this machine.
    pub(crate) loopback: String,
    /// The folder whose run folders are shown.
    pub(crate) runs: PathBuf,
    pub(crate) sessions: Sessions,
    pub(crate) reviews: Reviews,
    /// Explanations and hints.
    pub(crate) questions: SearchSlots,
    pub(crate) indexes: MatchIndexes,
    /// Matches of runs that are searched or played again.
    pub(crate) replays: SearchSlots,
}

impl AppState {
    pub(crate) fn new(settings: Settings, port: u16) -> AppState {
        let sessions = Sessions::new(settings.tables, settings.idle);
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let [questions, replays] = [cores; 2].map(|cores| SearchSlots::new(cores, WAITING));
        let substitute = cambio_agents::roster().parse(SUBSTITUTE).expect("the library has this agent");
        AppState {
            catalogue: Catalogue::of_server(settings.roster, settings.allowed),
            substitute,
            network: OnceLock::new(),
            loopback: format!("http://127.0.0.1:{port}/"),
            runs: settings.runs,
            sessions,
            reviews: Reviews::new(),
            indexes: MatchIndexes::default(),
            questions,
            replays,
        }
    }

    /// The table of a request, and the seat for which the request acts.
    pub(crate) fn seat(&self, access: Access, table: u64) -> Result<(Arc<OpenSession>, Seat), ApiError> {
        match access {
            Access::Owner => {
                let opened = self.open_session(table)?;
                let host = opened.room().host;
                Ok((opened, host))
            }
            Access::Guest { table: own, seat } if own == table => Ok((self.open_session(table)?, seat)),
            Access::Guest { .. } => {
                let what = "this link is for a seat at another table".to_owned();
                Err(ApiError(StatusCode::FORBIDDEN, what))
            }
        }
    }

    pub(crate) fn open_session(&self, table: u64) -> Result<Arc<OpenSession>, ApiError> {
        self.sessions
            .get(table)
            .ok_or_else(|| ApiError::missing("this table is not open; it may have been idle too long"))
    }
}
