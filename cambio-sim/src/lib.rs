//! Tournaments of Cambio agents: planned, played, stored and summed up.
//!
//! An [`Experiment`] says what to play. [`Experiment::plan`] checks it and writes it out as a [`Plan`]. A [`Runner`] plays a
//! plan into a [`RunFolder`] on an [`Executor`], and [`StoredRun`] reads a folder back. [`verify`] checks a run, and [`merge`]
//! puts shards together. The unit of play is the deal block: one lineup on one deal in all its rotations.
//!
//! Many machines play one run through a [`UnitStore`]: [`play_unit`] plays a range of batches and commits it, [`merge_units`] makes
//! the run folder. [`schedule`] says what is played next and foretells how long it takes.
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

mod advantage;
pub mod digest;
mod disk;
mod exploit;
mod plan;
mod play;
pub mod rows;
mod run;
pub mod schedule;
pub mod sprt;
mod store;
pub mod tune;

pub use advantage::{AdvantageError, Advantages, AskedWorth, Worth};
pub use cambio_exec::{CancelToken, Executor, MOST_THREADS, Stopped, ThreadsError, Worker};
pub use digest::{BaselineRow, Derived, FaultRow, Page, PairRow, PooledRow, RatingRow, SeatRow, Source, SummaryRow};
pub use disk::{PartsError, RunError};
pub use exploit::{LowerBound, LowerBoundError, Won};
pub use plan::{
    Block, Cell, Experiment, Extent, FaultPolicy, Focal, Lineup, LineupRule, Lineups, LockError, Payoff, Plan,
    PlanError, PlannedAgent, PlayablePlan, Pools, Rotations, Secret, Shard, Unit, fresh_seed, read_rules, read_seed,
};
pub use play::{AgentFault, BlockRows, MeasureError, RoundTally, Tally, play_block};
pub use rows::BehaviourRow;
pub use run::{
    AgainError, Findings, PlayedUnit, Progress, Replay, Report, RunOutcome, Runner, StoredMatch, UnitError,
    against_baseline, derive, keep_fault, merge, merge_units, play_unit, replay_unit, verify,
};
#[cfg(feature = "parquet")]
pub use store::write_parquet;
pub use store::{Blobs, FolderBlobs, LineupCost, RunFolder, StoredRun, UnitStore, WorkUnit};
