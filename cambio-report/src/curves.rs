//! A page of curves: how something responds to what was tried, or goes with time.

use serde::Serialize;

use crate::parts::{Prose, Table};
use crate::plot::{Curve, Figure};

/// What such a page shows.
#[derive(Serialize)]
pub(crate) struct CurvePage {
    pub(crate) title: String,
    pub(crate) verdicts: Vec<Prose>,
    /// The heading over the curves.
    pub(crate) heading: &'static str,
    /// How to read them.
    pub(crate) reading: Prose,
    pub(crate) curves: Vec<Figure<Curve>>,
    /// The points of the curves, and what their table is called.
    pub(crate) points: Option<Table>,
    pub(crate) points_name: &'static str,
    /// Who replies to whom best, if the candidates are each other's field.
    pub(crate) replies: Option<Table>,
    pub(crate) how: Prose,
    /// What makes it again.
    pub(crate) command: String,
}
