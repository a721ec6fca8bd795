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
#[cfg(feature = "parquet")]
mod columns;
mod derived;
pub mod digest;
mod experiment;
mod exploit;
mod folder;
mod guard;
mod intake;
mod manifest;
mod plan;
mod programs;
mod reading;
pub mod rows;
mod run;
mod sheet;
pub mod sprt;
mod tables;
mod tally;
pub mod tune;

pub use block::{AgentFault, BlockRows, play_block};
#[cfg(feature = "parquet")]
pub use columns::write_parquet;
pub use derived::{Derived, Page, Source};
pub use experiment::{
    Experiment, FaultPolicy, Focal, LineupRule, Lineups, Payoff, PlanError, Pools, Rotations, Unit, read_rules,
};
pub use exploit::{LowerBound, LowerBoundError, Won};
pub use folder::{Extent, RunError, RunFolder, Share, StoredRun, write_whole};
pub use guard::Guarded;
pub use plan::{Block, Cell, Lineup, Plan};
pub use reading::{Findings, Replay, derive, merge, verify};
pub use run::{MOST_THREADS, Outcome, Progress, Report, Runner, keep_fault};
pub use tables::{BehaviourRow, FaultRow, PairRow, RatingRow, SeatRow, SummaryRow};
pub use tally::{RoundTally, SeatTally, Tally};
