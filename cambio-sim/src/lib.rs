//! Tournaments of Cambio agents.
//!
//! An [`Experiment`] says what to play, a [`Plan`] writes it out, a [`Runner`] plays it block by block and writes
//! tidy rows. The unit of everything is the deal block: one lineup on one deal in all its rotations.
//!
//! ```
//! use std::path::Path;
//! use cambio_sim::{Experiment, Records, play_block};
//!
//! let experiment = Experiment {
//!     name: "doc".into(),
//!     seed: 42,
//!     deals: 2,
//!     rules: vec!["classic".into()],
//!     seats: vec![2],
//!     agents: vec!["random".into(), "greedy(call_at=7)".into()],
//!     lineups: Default::default(),
//!     rotations: Default::default(),
//! };
//! let plan = experiment.plan(&cambio_agents::roster(), Path::new(".")).unwrap();
//! let block = plan.blocks().next().unwrap();
//! let rows = play_block(&plan, &block, Records::Skip).unwrap();
//! assert_eq!(rows.matches.len(), 2);
//! ```

mod block;
pub mod cli;
mod experiment;
mod guard;
mod lower;
mod rows;
mod run;
mod summary;
mod tally;

pub use block::{AgentFault, BlockRows, Records, play_block};
pub use experiment::{Block, Cell, Experiment, Lineup, LineupRule, Lineups, Plan, PlanError, Rotations, read_rules};
pub use guard::Guarded;
pub use lower::{LowerBound, LowerBoundError, Won};
pub use rows::{MatchRow, PlayerRow, RoundRow, SummaryRow};
pub use run::{Outcome, Report, RunError, RunFolder, Runner};
pub use summary::{Clusters, Interval, Summary};
pub use tally::{RoundTally, SeatTally, Tally};

/// The code of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
