//! The run folders under a root: their reports, and their matches played again.

use std::sync::Arc;

use axum::Router;

use crate::desk::Desk;

pub(crate) fn router() -> Router<Arc<Desk>> {
    Router::new()
}
