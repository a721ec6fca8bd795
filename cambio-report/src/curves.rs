//! A page of curves: response curves of tuning, or learning curves.

use serde::Serialize;

use crate::parts::ReportTable;
use crate::plot::{Curve, Figure};

/// The content of the page.
#[derive(Serialize)]
pub(crate) struct CurvePage {
    pub(crate) title: String,
    pub(crate) verdicts: Vec<String>,
    /// The heading over the curves.
    pub(crate) heading: &'static str,
    /// Explains how to read the curves.
    pub(crate) reading: &'static str,
    pub(crate) curves: Vec<Figure<Curve>>,
    /// The table of the points, and its name.
    pub(crate) points: Option<ReportTable>,
    pub(crate) points_name: &'static str,
    /// The table of payoffs between the values, in self-play mode.
    pub(crate) replies: Option<ReportTable>,
    pub(crate) how: String,
    /// The command that reproduces the results.
    pub(crate) command: String,
}
