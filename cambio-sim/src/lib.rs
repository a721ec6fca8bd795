//! Tournaments of Cambio agents: planning, play, storage and statistics.
//!
//! An [`Experiment`] describes a tournament. [`Experiment::plan`] validates it and expands it to a [`Plan`]. A [`Runner`] plays a
//! plan on an [`Executor`] and stores it in a [`RunFolder`], or only returns its tables. [`StoredRun`] reads a folder, and
//! [`verify`] checks it. The unit of play is the deal block: one lineup on one deal in all its rotations. With [`PlanPlayer`],
//! other machines play batches of a run.
//!
//! [`sprt`], [`tune`], [`AdvantageOptions`] and [`ExploitOptions`] are studies: a [`StudyDriver`] plays only as many deals as their
//! result needs, and can keep the scores in a folder.
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

mod advantage_experiment;
mod advice;
mod comparison;
mod dictionary;
pub mod digest;
mod disk;
mod equal_time;
mod exploit;
mod plan;
mod play;
pub mod rows;
mod run;
pub mod sprt;
mod store;
mod study;
mod suite;
pub mod table;
pub mod tune;

pub use advantage_experiment::{AdvantageOptions, AdvantageResult, DecisionKindAdvantage, decision_kind};
pub use advice::{AdviceOptions, AdviceRow, ShownAdvice};
pub use cambio_exec::{
    CancelToken, Column, Estimate, Executor, ExecutorError, MOST_THREADS, Row, ThreadsError, Worker,
};
pub use comparison::{Comparison, ComparisonRow};
pub use dictionary::{DocumentedTable, documented_tables};
pub use digest::{
    Derived, FEW_DEALS, FaultRow, HypothesisAnswer, HypothesisVerdict, PairRow, PooledRow, RatingRow, SeatRow,
    SummaryRow,
};
pub use disk::RunError;
pub use equal_time::equal_time;
pub use exploit::{ExploitOptions, ResponderGain};
pub use plan::{
    Block, Cell, Experiment, FaultPolicy, Focal, Hypothesis, HypothesisSpec, Lineup, LineupRule, Lineups, LockError,
    LuckChoice, Payoff, Plan, PlanError, PlannedAgent, PlayablePlan, PlayedBatches, Pools, Rotations, Unit, fresh_seed,
    read_rules, read_seed,
};
pub use play::{AgentFault, BlockRows, PlayError, TimeSpent, Timing, play_block};
pub use rows::{BehaviourRow, LuckShare};
pub use run::{CheckOutcome, Findings, PlanPlayer, PlayProgress, ReplayScope, Report, Runner, derive, verify};
pub use store::{RunFolder, StoredRun};
pub use study::{RemotePlayer, SettingOptions, StudyDriver, StudyError, StudyStep, TableOptions, read_options};
pub use suite::{SuiteRow, measure_suite, suite_table};

/// The version of the program, its git revision, and its Cargo profile.
pub const BUILD: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("CAMBIO_BUILD"), ")");

/// The fields of a struct or a JSON object, in order.
pub(crate) fn object(fields: impl serde::Serialize) -> serde_json::Map<String, serde_json::Value> {
    match serde_json::to_value(fields) {
        Ok(serde_json::Value::Object(fields)) => fields,
        other => unreachable!("these fields are an object, not {other:?}"),
    }
}
