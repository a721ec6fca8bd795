//! Tournaments of Cambio agents.
//!
//! An [`Experiment`] says what to play, a [`Plan`] writes it out, a [`Runner`] plays it block by block and writes
//! tidy rows. The unit of everything is the deal block: one lineup on one deal in all its rotations.
//!
//! ```
//! use std::path::Path;
//! use cambio_sim::{Experiment, play_block};
//!
//! let experiment = Experiment {
//!     seed: 42,
//!     deals: 2,
//!     rules: vec!["classic".into()],
//!     seats: vec![2],
//!     agents: vec!["random".into(), "greedy(call_at=7)".into()],
//!     ..Experiment::default()
//! };
//! let plan = experiment.plan(&cambio_agents::roster(), Path::new(".")).unwrap();
//! let block = plan.blocks().next().unwrap();
//! let rows = play_block(&plan, &block).unwrap();
//! assert_eq!(rows.matches.len(), 2);
//! ```

mod block;
mod cell;
pub mod cli;
#[cfg(feature = "parquet")]
mod columns;
mod derived;
mod experiment;
mod folder;
mod guard;
mod intake;
mod lower;
mod manifest;
mod plan;
mod programs;
mod reading;
mod report;
pub mod rows;
mod run;
pub mod sequential;
mod sheet;
pub mod stats;
mod tables;
mod tally;
pub mod tune;

pub use block::{AgentFault, BlockRows, play_block};
#[cfg(feature = "parquet")]
pub use columns::write_parquet;
pub use derived::{Derived, Source};
pub use experiment::{
    Experiment, FaultPolicy, Focal, LineupRule, Lineups, Payoff, PlanError, Pools, Rotations, Unit, read_rules,
};
pub use folder::{Extent, RunError, RunFolder, Share, StoredRun};
pub use guard::Guarded;
pub use lower::{LowerBound, LowerBoundError, Won};
pub use plan::{Block, Cell, Lineup, Plan};
pub use reading::{Findings, Replay, derive, merge, verify};
pub use run::{Outcome, Progress, Report, Runner, keep_fault};
pub use tables::{BehaviourRow, FaultRow, PairRow, RatingRow, SeatRow, SummaryRow};
pub use tally::{RoundTally, SeatTally, Tally};

/// The code of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
