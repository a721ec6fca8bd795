//! Plans that can be played.

use std::ops::Deref;

use cambio_agents::{AgentSpec, Roster};
use cambio_core::rng::Key;

use super::blocks::Plan;
use super::experiment::PlanError;
use super::lineups::Lineup;
use super::seeds::Secret;

/// A plan with agents that play.
///
/// A [`Plan`] is enough to read and sum up a run; playing needs the agents too. [`Experiment::plan`](crate::Experiment::plan) makes a
/// playable plan, and [`Plan::with_agents`] adds the agents to a plan that was read back.
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
/// assert_eq!(again.specs().len(), 2);
/// let rows = |plan| play_block(plan, &plan.block(1)).map(|rows| rows.matches.len());
/// assert_eq!((rows(&plan), rows(&again)), (Ok(2), Ok(2)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PlayablePlan {
    plan: Plan,
    /// The specs, by the agent's number in [`Plan::agents`].
    specs: Vec<AgentSpec>,
    /// Where the chance comes from, if it is a secret that is known.
    secret: Option<Secret>,
    toml: String,
}

impl PlayablePlan {
    pub(super) fn new(plan: Plan, specs: Vec<AgentSpec>, secret: Option<Secret>, toml: String) -> PlayablePlan {
        PlayablePlan { plan, specs, secret, toml }
    }

    /// The experiment as TOML, which a run folder keeps as `spec.toml`: [`Experiment::to_toml`](crate::Experiment::to_toml),
    /// unless [`PlayablePlan::with_toml`] replaced it. It is empty if the plan was read from a lock alone.
    pub fn toml(&self) -> &str {
        &self.toml
    }

    /// Replaces the text of the experiment, by the file that a user wrote.
    #[must_use]
    pub fn with_toml(self, toml: impl Into<String>) -> PlayablePlan {
        PlayablePlan { toml: toml.into(), ..self }
    }

    /// The secret from which cards and streams come, if they come from one.
    pub fn secret(&self) -> Option<&Secret> {
        self.secret.as_ref()
    }

    /// The key of a deal.
    pub(crate) fn key(&self, deal: u64) -> Key {
        match &self.secret {
            Some(secret) => Key { seed: secret.cards(), agents: secret.agents(), deal },
            None => self.plan.public_key(deal),
        }
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
    /// If the roster does not know an agent of the plan, or the chance comes from a secret: see [`Plan::revealed`].
    pub fn with_agents(self, roster: &Roster) -> Result<PlayablePlan, PlanError> {
        if self.secret {
            return Err(PlanError::value(
                "secret",
                "true, and the secret is not given",
                "the one that was committed to",
            ));
        }
        self.playable(None, roster)
    }

    /// As [`Plan::with_agents`], for a plan whose chance comes from this secret.
    ///
    /// # Errors
    /// If the roster does not know one of the agents, or it is not the secret that the plan commits to.
    pub fn revealed(self, secret: Secret, roster: &Roster) -> Result<PlayablePlan, PlanError> {
        if !self.secret || secret.commitment() != self.seed {
            let found = format!("one with the commitment {}", secret.commitment());
            let allowed = format!("the one with the commitment {}", self.seed);
            return Err(PlanError::value("secret", found, allowed));
        }
        self.playable(Some(secret), roster)
    }

    fn playable(self, secret: Option<Secret>, roster: &Roster) -> Result<PlayablePlan, PlanError> {
        let specs = self.agents.iter().map(|agent| roster.parse(&agent.label)).collect::<Result<_, _>>()?;
        Ok(PlayablePlan::new(self, specs, secret, String::new()))
    }
}
