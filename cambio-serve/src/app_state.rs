//! The state that all request handlers share.

use std::path::PathBuf;
use std::sync::Arc;

use cambio_view::Catalogue;

use crate::answer::ApiError;
use crate::match_index::MatchIndexes;
use crate::reviews::Reviews;
use crate::searches::SearchSlots;
use crate::sessions::{OpenSession, Sessions};
use crate::settings::Settings;

/// The maximum number of explanations and hints that wait, and of matches to play again.
const WAITING: usize = 16;

/// The state that all request handlers share.
#[derive(Debug)]
pub(crate) struct AppState {
    /// The agents and rules that pages may use.
    pub(crate) catalogue: Catalogue,
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
    pub(crate) fn new(settings: Settings) -> AppState {
        let sessions = Sessions::new(settings.tables, settings.idle);
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let [questions, replays] = [cores; 2].map(|cores| SearchSlots::new(cores, WAITING));
        let catalogue = Catalogue::of_server(settings.roster, settings.allowed);
        AppState {
            catalogue,
            runs: settings.runs,
            sessions,
            reviews: Reviews::new(),
            indexes: MatchIndexes::default(),
            questions,
            replays,
        }
    }

    pub(crate) fn open_session(&self, table: u64) -> Result<Arc<OpenSession>, ApiError> {
        self.sessions
            .get(table)
            .ok_or_else(|| ApiError::missing("this table is not open; it may have been idle too long"))
    }
}
