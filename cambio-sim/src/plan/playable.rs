//! Plans together with their agents.

use std::collections::BTreeSet;
use std::ops::Deref;

use cambio_agents::{AgentSpec, Roster};

use super::blocks::Plan;
use super::experiment::{FaultPolicy, PlanError};
use super::lineups::Lineup;

/// A plan with its agents.
///
/// A [`Plan`] is enough to read and summarise a run; playing also needs the agents.
/// [`Experiment::plan`](crate::Experiment::plan) returns a playable plan, and [`Plan::with_agents`] adds the agents to
/// a plan that was read from its lock.
///
/// ```
/// use std::path::Path;
/// use cambio_sim::{Experiment, Plan, play_block};
///
/// let experiment = Experiment { deals: 2, ..Experiment::at("classic", 2, &["random", "greedy"]) };
/// let roster = cambio_agents::roster();
/// let plan = experiment.plan(&roster, Path::new("."))?;
///
/// let read_back = Plan::unlock(&plan.lock())?;
/// assert_eq!(read_back.run_id(), plan.run_id());
/// assert!(Plan::unlock("{}").is_err());
/// let again = read_back.with_agents(&roster)?;
/// let rows = |plan| play_block(plan, &plan.block(1)).map(|rows| rows.matches.len());
/// assert_eq!((rows(&plan), rows(&again)), (Ok(2), Ok(2)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PlayablePlan {
    plan: Plan,
    /// The specs, by the agent's number in [`Plan::agents`].
    specs: Vec<AgentSpec>,
    toml: String,
    /// Whether no agent waits for another process or thread, so that the time of agents is CPU time.
    uses_cpu_time: bool,
}

impl PlayablePlan {
    pub(super) fn new(plan: Plan, specs: Vec<AgentSpec>, toml: String) -> PlayablePlan {
        let known = cambio_agents::roster();
        let is_own =
            |spec: &AgentSpec| !spec.is_external() && known.in_folder(spec.folder()).parse(&spec.to_string()).is_ok();
        let uses_cpu_time = specs.iter().all(is_own);
        PlayablePlan { plan, specs, toml, uses_cpu_time }
    }

    /// The experiment as TOML, which is stored in a run folder as `spec.toml`: the output of
    /// [`Experiment::to_toml`](crate::Experiment::to_toml), unless replaced by [`PlayablePlan::with_toml`]. Empty if
    /// the plan was read from its lock.
    pub fn toml(&self) -> &str {
        &self.toml
    }

    /// Replaces the TOML of the experiment, for example with the file that a user wrote.
    #[must_use]
    pub fn with_toml(self, toml: impl Into<String>) -> PlayablePlan {
        PlayablePlan { toml: toml.into(), ..self }
    }

    /// The same plan, with a record of every match.
    pub(crate) fn with_records(mut self) -> PlayablePlan {
        self.plan.records = true;
        self
    }

    /// Whether the time of agents is CPU time: all agents are agents of this library without another process. Other agents may
    /// wait for a process or a thread, so their time is wall time.
    pub(crate) fn uses_cpu_time(&self) -> bool {
        self.uses_cpu_time
    }

    /// The plan without its agents.
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The specs of the agents, by their number in [`Plan::agents`].
    pub(crate) fn specs(&self) -> &[AgentSpec] {
        &self.specs
    }

    /// Checks that each agent can begin a match at each of its tables, unless faults do not stop the run.
    ///
    /// # Errors
    /// If an agent cannot. A machine that lacks a resource, and an interrupt, are not errors here.
    pub(crate) fn check_agents(&self) -> Result<(), PlanError> {
        if self.faults != FaultPolicy::Stop {
            return Ok(());
        }
        let mut started = BTreeSet::new();
        for cell in &self.cells {
            for &agent in cell.lineups.iter().flat_map(Lineup::agents).collect::<BTreeSet<_>>() {
                let spec = &self.specs[agent];
                // Whether a bot can be started does not depend on the table.
                let is_new = !spec.is_external() || started.insert(agent);
                if let Some(Err(error)) = is_new.then(|| spec.try_begin(&cell.rules, cell.seats))
                    && error.is_fault()
                {
                    let (agent, rules, seats) = (spec.to_string(), cell.rules.name().to_owned(), cell.seats);
                    return Err(PlanError::Unplayable { agent, rules, seats, error });
                }
            }
        }
        Ok(())
    }

    /// Whether every repetition of a match of this lineup is identical: all its agents are reproducible, and none is an
    /// external program.
    pub(crate) fn is_repeatable(&self, lineup: &Lineup) -> bool {
        self.is_reproducible(lineup) && self.is_self_contained(lineup)
    }

    /// Whether all agents of a lineup depend on this program alone.
    pub(crate) fn is_self_contained(&self, lineup: &Lineup) -> bool {
        lineup.agents().iter().all(|&agent| self.specs[agent].is_self_contained())
    }
}

impl Deref for PlayablePlan {
    type Target = Plan;

    fn deref(&self) -> &Plan {
        &self.plan
    }
}

impl Plan {
    /// Adds the agents, so that the plan can be played.
    ///
    /// # Errors
    /// If the roster lacks an agent of the plan, or the program lacks an outcome model.
    pub fn with_agents(self, roster: &Roster) -> Result<PlayablePlan, PlanError> {
        if let Some(baseline) =
            self.cells.iter().filter_map(|cell| cell.baseline.as_ref()).find(|b| b.model().is_none())
        {
            let found = format!("a baseline with the hash {}", baseline.hash());
            let allowed = "one that this program has, or that the run folder contains as `baseline-*.model`";
            return Err(PlanError::value("baseline", found, allowed));
        }
        let specs = self.agents.iter().map(|agent| roster.parse(&agent.spec)).collect::<Result<_, _>>()?;
        Ok(PlayablePlan::new(self, specs, String::new()))
    }
}
