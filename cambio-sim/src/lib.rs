//! Tournaments of Cambio agents: planned, played, stored and summed up.
//!
//! An [`Experiment`] says what to play. [`Experiment::plan`] checks it and writes it out as a [`Plan`]. A [`Runner`] plays a
//! plan into a [`RunFolder`] on an [`Executor`], or gives its tables alone. [`StoredRun`] reads a folder back, and [`verify`] checks
//! it. The unit of play is the deal block: one lineup on one deal in all its rotations. Many machines play one run in [`units`].
//!
//! [`sprt`], [`tune`], [`LowerBound`] and [`Advantages`] play only as much as an answer needs, and store nothing.
//!
//! ```
//! use std::path::Path;
//! use cambio_sim::{Experiment, play_block};
//!
//! let experiment = Experiment {
//!     seed: Some(42.into()),
//!     deals: 2,
//!     ..Experiment::at("classic", 2, &["random", "greedy(call_at=7)"])
//! };
//! let plan = experiment.plan(&cambio_agents::roster(), Path::new(".")).unwrap();
//! let block = plan.blocks().next().unwrap();
//! let rows = play_block(&plan, &block).unwrap();
//! assert_eq!(rows.matches.len(), 2);
//! ```

mod advantage;
pub mod digest;
mod disk;
mod exploit;
mod plan;
mod play;
pub mod rows;
mod run;
pub mod sprt;
mod store;
pub mod tune;
pub mod units;

pub use advantage::{Advantages, AskedWorth, Worth};
pub use cambio_exec::{CancelToken, Executor, MOST_THREADS, Stopped, ThreadsError, Worker};
pub use digest::{BaselineRow, Derived, FaultRow, PairRow, PooledRow, RatingRow, SeatRow, SummaryRow};
pub use disk::{PartsError, RunError};
pub use exploit::{LowerBound, Won};
pub use plan::{
    Block, Cell, Experiment, Extent, FaultPolicy, Focal, Lineup, LineupRule, Lineups, LockError, Payoff, Plan,
    PlanError, PlannedAgent, PlayablePlan, Pools, Rotations, Secret, Unit, fresh_seed, read_rules, read_seed,
};
pub use play::{AgentFault, BlockRows, PlayError, RoundError, RoundTally, Tally, play_block};
pub use rows::BehaviourRow;
pub use run::{AgainError, Findings, Progress, Replay, Report, Runner, StoredMatch, derive, verify};
#[cfg(feature = "parquet")]
pub use store::write_parquet;
pub use store::{RunFolder, StoredRun};
