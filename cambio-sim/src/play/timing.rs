//! The time that agents and blocks take. It is only displayed: neither rows nor tables depend on it.
//!
//! The clock is read around each call of an agent. A reading of the wall clock takes 0.04 µs, a reading of the thread's CPU time
//! 0.9 µs, and a simple decision 0.05 µs. Therefore the clock is the wall clock, the time of its readings is subtracted, and only
//! some deals are timed ([`Plan::is_timed`]). If the thread loses its CPU during a call, the call is long. After a long call the
//! CPU time is read too, and the time without a CPU is subtracted. Agents that may wait for another process or thread are not
//! corrected ([`PlayablePlan::uses_cpu_time`](crate::plan::PlayablePlan::uses_cpu_time)).

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use cambio_core::play::Explanation;
use cambio_core::{Action, Agent, AgentError, Briefing, Notice, Observation, Observer};
use cambio_exec::{table, thread_cpu_time};
use serde::{Deserialize, Serialize};

use crate::plan::Plan;
use crate::table::Table;

/// The time of some blocks, or of one agent in the timed blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
pub struct TimeSpent {
    /// The number of blocks.
    pub blocks: u64,
    /// The number of matches in these blocks.
    pub matches: u64,
    /// The number of decisions: of the agent, or of all agents.
    pub decisions: u64,
    /// The time: the CPU time of the agent in its decisions and in the notices between them, or the wall time of one thread for
    /// everything. If an agent is not from this library or runs in another process, the agents' times are wall times.
    pub time: Duration,
}

impl TimeSpent {
    /// The mean time of a decision in seconds; `None` without decisions.
    pub fn per_decision(&self) -> Option<f64> {
        (self.decisions > 0).then(|| self.time.as_secs_f64() / self.decisions as f64)
    }
}

/// The times of a run, by cell and agent: the content of `timing.csv`.
///
/// ```
/// use std::path::Path;
/// use cambio_sim::{Executor, Experiment, Runner};
///
/// let experiment = Experiment { deals: 10, ..Experiment::at("classic", 2, &["random", "greedy"]) };
/// let plan = experiment.plan(&cambio_agents::roster(), Path::new("."))?;
/// let timing = Runner::new(&Executor::new(1)?).play(&plan).timing;
/// let greedy = timing.agent(0, 1).unwrap();
/// assert_eq!((greedy.blocks, greedy.matches), (10, 20));
/// assert!(greedy.per_decision().unwrap() < 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
pub struct Timing {
    /// By the numbers of the cell and the agent in the plan. Without an agent: the time of all blocks of the cell.
    times: BTreeMap<(usize, Option<usize>), TimeSpent>,
}

table! {
    /// A row of `timing.csv`: the time of one agent in one cell, or of all agents. The file depends on the machine.
    #[derive(Deserialize)]
    pub(crate) TimingRow {
        /// The row is about batches before this one. It is valid only if the ledger has all of them.
        batches: u64 => "batches",
        /// The rule system.
        rules: String,
        /// The number of seats.
        seats: usize => "seats",
        /// The agent; empty in the row about all blocks of the cell.
        agent: Option<String>,
        /// The number of timed blocks, or of all blocks.
        blocks: u64 => "blocks",
        /// The number of matches in these blocks.
        matches: u64 => "matches",
        /// The number of decisions of the agent, or of all agents, in these blocks.
        decisions: u64 => "decisions",
        /// The time of the agent's decisions and of its work between them; without an agent, the wall time of one thread for
        /// everything.
        seconds: f64 => "seconds",
    }
}

/// The file with the times in a run folder. It depends on the machine.
pub(crate) const TIMING_FILE: &str = "timing.csv";

impl Timing {
    /// The time of an agent in the timed blocks of a cell, by their numbers in the plan.
    pub fn agent(&self, cell: usize, agent: usize) -> Option<&TimeSpent> {
        self.times.get(&(cell, Some(agent)))
    }

    pub(crate) fn add(&mut self, cell: usize, agent: Option<usize>, spent: &TimeSpent) {
        let sum = self.times.entry((cell, agent)).or_default();
        *sum = added(*sum, spent);
    }

    pub(crate) fn extend(&mut self, other: &Timing) {
        for (&(cell, agent), spent) in &other.times {
            self.add(cell, agent, spent);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.times.clear();
    }

    /// `timing.csv` with rows about batches before `batches`.
    pub(crate) fn to_csv(&self, plan: &Plan, batches: u64) -> String {
        let row = |(&(cell, agent), &TimeSpent { blocks, matches, decisions, time }): (
            &(usize, Option<usize>),
            &TimeSpent,
        )| {
            let (rules, seats) = (plan.cells[cell].rules.name().to_owned(), plan.cells[cell].seats);
            let agent = agent.map(|agent| plan.agents[agent].label.clone());
            TimingRow { batches, rules, seats, agent, blocks, matches, decisions, seconds: time.as_secs_f64() }
        };
        Table::of(&self.times.iter().map(row).collect::<Vec<_>>()).csv()
    }

    /// Adds the rows of a `timing.csv` that are about the first `batches` batches. Ignores rows of an earlier format, and rows
    /// that were being written when the program was killed.
    pub(crate) fn read(&mut self, text: &str, plan: &Plan, batches: u64) {
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        for row in csv::Reader::from_reader(whole.as_bytes()).into_deserialize().flatten() {
            let TimingRow { batches: end, rules, seats, agent, blocks, matches, decisions, seconds } = row;
            let cell = plan.cell(&rules, seats);
            let place = agent.as_ref().map_or(Some(None), |label| plan.agent(label).map(Some));
            let time = Duration::try_from_secs_f64(seconds).ok();
            if let (Some(cell), Some(agent), Some(time), true) = (cell, place, time, end <= batches) {
                self.add(cell, agent, &TimeSpent { blocks, matches, decisions, time });
            }
        }
    }
}

fn added(one: TimeSpent, other: &TimeSpent) -> TimeSpent {
    TimeSpent {
        blocks: one.blocks + other.blocks,
        matches: one.matches + other.matches,
        decisions: one.decisions + other.decisions,
        time: one.time + other.time,
    }
}

/// The time between two readings of the clock, one immediately after the other.
fn reading() -> Duration {
    static READING: OnceLock<Duration> = OnceLock::new();
    *READING.get_or_init(|| {
        let mut measured = [(); 1001].map(|()| Instant::now().elapsed());
        measured.sort_unstable();
        measured[measured.len() / 2]
    })
}

/// Calls that take longer are corrected by the time without a CPU.
const LONG: Duration = Duration::from_micros(100);

thread_local! {
    /// The wall time and the CPU time of this thread when its last match began, or at the last call of [`away`].
    static CLOCK: Cell<(Instant, Option<Duration>)> = Cell::new(clock());
}

fn clock() -> (Instant, Option<Duration>) {
    (Instant::now(), thread_cpu_time())
}

/// The time without a CPU since the match began or the last call; 0 if the CPU time is not available.
fn away() -> Duration {
    let now = clock();
    let before = CLOCK.replace(now);
    let cpu = before.1.zip(now.1).map(|(before, now)| now.saturating_sub(before));
    cpu.map_or(Duration::ZERO, |cpu| (now.0 - before.0).saturating_sub(cpu))
}

/// An agent in its seat, with a stopwatch in timed blocks.
pub(super) struct SeatedAgent {
    agent: Box<dyn Agent>,
    /// Boxed, so that an agent in a block without times is small.
    stopwatch: Option<Box<Stopwatch>>,
}

/// The time of an agent in one match.
#[derive(Default)]
struct Stopwatch {
    /// Whether the time without a CPU is subtracted.
    is_corrected: bool,
    readings: u32,
    decisions: u64,
    time: Duration,
}

impl SeatedAgent {
    pub(super) fn new(agent: Box<dyn Agent>) -> SeatedAgent {
        SeatedAgent { agent, stopwatch: None }
    }

    /// Times the agent in the match that begins on this thread.
    pub(super) fn start(&mut self, is_corrected: bool) {
        CLOCK.set(clock());
        self.stopwatch = Some(Box::new(Stopwatch { is_corrected, ..Stopwatch::default() }));
    }

    /// Ends the timing. The decisions and the time of the agent; `None` if it was not timed.
    pub(super) fn stop(&mut self) -> Option<TimeSpent> {
        let Stopwatch { readings, decisions, time, .. } = *self.stopwatch.take()?;
        let time = time.saturating_sub(reading() * readings);
        Some(TimeSpent { decisions, time, ..TimeSpent::default() })
    }

    #[inline]
    fn measure<T>(&mut self, decisions: u64, call: impl FnOnce(&mut dyn Agent) -> T) -> T {
        match &mut self.stopwatch {
            None => call(&mut *self.agent),
            Some(stopwatch) => stopwatch.measure(decisions, || call(&mut *self.agent)),
        }
    }
}

impl Stopwatch {
    /// Most blocks are not timed, so this code is apart.
    #[cold]
    #[inline(never)]
    fn measure<T>(&mut self, decisions: u64, call: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let answer = call();
        let mut took = begun.elapsed();
        if self.is_corrected && took > LONG {
            took = took.saturating_sub(away());
        }
        self.time += took;
        self.readings += 1;
        self.decisions += decisions;
        answer
    }
}

impl Agent for SeatedAgent {
    /// The start of a match is not timed, because it may include the start of a bot's process or the loading of a network.
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        self.agent.begin(briefing)
    }

    #[inline]
    fn notice(&mut self, notice: Notice<'_>) {
        self.measure(0, |agent| agent.notice(notice));
    }

    #[inline]
    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        self.measure(1, |agent| agent.decide(view))
    }

    fn probabilities(&mut self, view: &Observation<'_>) -> Result<Option<Vec<f64>>, AgentError> {
        self.agent.probabilities(view)
    }

    fn draws(&self) -> bool {
        self.agent.draws()
    }

    fn is_spectator(&self) -> bool {
        self.agent.is_spectator()
    }

    fn explain(&self, view: &Observation<'_>, decided: Action) -> Option<Explanation> {
        self.agent.explain(view, decided)
    }

    fn lapses(&self) -> Option<u32> {
        self.agent.lapses()
    }

    fn observer(&self) -> Option<Box<dyn Observer + Send>> {
        self.agent.observer()
    }
}

#[cfg(test)]
mod tests;
