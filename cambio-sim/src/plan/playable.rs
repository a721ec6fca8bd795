//! Plans that can be played.

use std::ops::Deref;

use cambio_agents::{AgentSpec, Roster};

use super::blocks::{Plan, PlannedAgent};
use super::experiment::PlanError;
use super::lineups::Lineup;

/// A plan with agents that play.
///
/// A [`Plan`] is enough to read and sum up a run; playing needs the agents too. [`Experiment::plan`](crate::Experiment::plan) makes a
/// playable plan, and [`Plan::with_agents`] adds the agents to a plan that was read back.
///
/// ```
/// use std::path::Path;
/// use cambio_sim::{Experiment, Plan, play_block};
///
/// let experiment = Experiment {
///     deals: 2,
///     rules: vec!["classic".into()],
///     seats: vec![2],
///     agents: vec!["random".into(), "greedy".into()],
///     ..Experiment::default()
/// };
/// let roster = cambio_agents::roster();
/// let plan = experiment.plan(&roster, Path::new("."))?;
///
/// let read_back = Plan::unlock(&plan.lock())?;
/// assert_eq!(read_back.run_id(), plan.run_id());
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
}

impl PlayablePlan {
    /// `plan` gets the agents as they are planned.
    pub(super) fn new(specs: Vec<AgentSpec>, plan: impl FnOnce(Vec<PlannedAgent>) -> Plan) -> PlayablePlan {
        PlayablePlan { plan: plan(specs.iter().map(PlannedAgent::from).collect()), specs }
    }

    /// The plan without its agents.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The specs of the agents, by their number in [`Plan::agents`].
    pub fn specs(&self) -> &[AgentSpec] {
        &self.specs
    }

    /// Whether a match of this lineup is the same whenever it is played: its agents are reproducible, and no other program
    /// takes part.
    pub(crate) fn is_repeatable(&self, lineup: &Lineup) -> bool {
        self.is_reproducible(lineup) && lineup.agents().iter().all(|&agent| self.specs[agent].is_self_contained())
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
    /// If the roster does not know an agent of the plan.
    ///
    /// ```
    /// use std::path::Path;
    /// use cambio_sim::{Experiment, Plan};
    ///
    /// let (experiment, _) = Experiment::read(Path::new("../experiments/quickstart.toml"))?;
    /// let plan = experiment.plan(&cambio_agents::roster(), Path::new("."))?;
    /// let playable = Plan::unlock(&plan.lock())?.with_agents(&cambio_agents::roster())?;
    /// assert_eq!(playable.specs().len(), 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_agents(self, roster: &Roster) -> Result<PlayablePlan, PlanError> {
        let specs = self.agents.iter().map(|agent| roster.parse(&agent.label)).collect::<Result<_, _>>()?;
        Ok(PlayablePlan { plan: self, specs })
    }
}
