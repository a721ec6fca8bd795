//! Plans that can be played.

use std::ops::Deref;

use cambio_agents::{AgentSpec, Roster};

use super::blocks::{Plan, PlannedAgent};
use super::experiment::PlanError;
use super::lineups::Lineup;

/// A plan with agents that play.
///
/// A [`Plan`] is enough to read and sum up what was played; only this one can be played. An experiment gives it at once, a
/// plan that was read back needs [`Plan::with_agents`].
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
    /// By the agent's place in [`Plan::agents`].
    specs: Vec<AgentSpec>,
}

impl PlayablePlan {
    /// `plan` gets the agents as they are planned.
    pub(super) fn new(specs: Vec<AgentSpec>, plan: impl FnOnce(Vec<PlannedAgent>) -> Plan) -> PlayablePlan {
        PlayablePlan { plan: plan(specs.iter().map(PlannedAgent::from).collect()), specs }
    }

    /// What is played, without who can play it.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The agents that play, by their place in [`Plan::agents`].
    pub fn specs(&self) -> &[AgentSpec] {
        &self.specs
    }

    /// Whether a match of a lineup is the same whenever it is played: its agents keep to what they are told, and no other
    /// program has a part in it, which might not.
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
    /// The plan with agents that play.
    ///
    /// # Errors
    /// If the roster does not know one of them.
    pub fn with_agents(self, roster: &Roster) -> Result<PlayablePlan, PlanError> {
        let specs = self.agents.iter().map(|agent| roster.parse(&agent.label)).collect::<Result<_, _>>()?;
        Ok(PlayablePlan { plan: self, specs })
    }
}
