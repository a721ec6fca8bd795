//! A policy as an agent.

use cambio_core::{Action, Agent, AgentError, Briefing, Notice, Observation};

use super::{Policy, PublicHistory as _};

/// An [`Agent`] that decides by a policy.
///
/// ```
/// use cambio_agents::{HeuristicParams, PolicyAgent, roster};
///
/// // Adds a policy to a roster, so that specs can name it.
/// let roster = roster().with("mine", "The heuristic, with perfect memory.", || PolicyAgent::new(HeuristicParams::default()));
/// assert!(roster.parse("mine").is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct PolicyAgent<P: Policy> {
    policy: P,
    /// The public history of the round; `None` before the first match.
    past: Option<P::History>,
}

impl<P: Policy> PolicyAgent<P> {
    /// An agent that decides by this policy.
    pub fn new(policy: P) -> PolicyAgent<P> {
        PolicyAgent { policy, past: None }
    }

    /// The policy.
    pub fn policy(&self) -> &P {
        &self.policy
    }
}

impl<P: Policy> Agent for PolicyAgent<P> {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        self.past = None;
        self.past = Some(self.policy.begin(briefing.rules, briefing.seats)?);
        Ok(())
    }

    fn notice(&mut self, notice: Notice<'_>) {
        match (notice, &mut self.past) {
            (Notice::Event(sighting), Some(past)) => past.notice(sighting),
            (Notice::RoundBegins(standing), _) => self.policy.round_begins(standing),
            _ => {}
        }
    }

    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        let past = self.past.as_ref().expect("a match begins with a briefing");
        Ok(self.policy.decide(view, past))
    }
}
