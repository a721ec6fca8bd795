//! A policy at a table.

use cambio_core::{Action, Agent, Briefing, Observation, Sighting, Standing};

use super::{Past as _, Policy};

/// A policy that plays: an [`Agent`] that decides as the policy does.
///
/// ```
/// use cambio_agents::{HeuristicParams, Plays, roster};
///
/// // Whatever is a policy can be named in specs.
/// let roster = roster().with("mine", "The heuristic, with perfect memory.", || Plays::new(HeuristicParams::default()));
/// assert!(roster.parse("mine").is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct Plays<P: Policy> {
    policy: P,
    /// What it knows of the round, or why it cannot play.
    past: Result<P::Past, String>,
}

impl<P: Policy> Plays<P> {
    /// An agent that decides as this policy does.
    pub fn new(policy: P) -> Plays<P> {
        Plays { policy, past: Err("no match has begun".to_owned()) }
    }

    /// The policy.
    pub fn policy(&self) -> &P {
        &self.policy
    }
}

impl<P: Policy> Agent for Plays<P> {
    fn begin(&mut self, briefing: &Briefing<'_>) {
        self.past = self.policy.begin(briefing.rules, briefing.seats);
    }

    /// A policy that cannot play these rules is in trouble.
    fn trouble(&mut self) -> Option<String> {
        self.past.as_ref().err().cloned()
    }

    fn round_begins(&mut self, standing: &Standing<'_>) {
        self.policy.round_begins(standing);
    }

    fn notice(&mut self, sighting: &Sighting) {
        if let Ok(past) = &mut self.past {
            past.notice(sighting);
        }
    }

    fn decide(&mut self, view: &Observation<'_>) -> Action {
        match &self.past {
            Ok(past) => self.policy.decide(view, past),
            // The referee does not ask who is in trouble.
            Err(_) => view.choices().nth(0).expect("who is asked has a choice"),
        }
    }
}
