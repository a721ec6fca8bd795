//! Information set Monte Carlo tree search (Cowling, Powley and Whitehouse 2012), in its textbook forms and a strong one.
//!
//! The textbook forms, with a single or multiple observer and random playouts, are weak in this game: a tree averages over
//! future selves that explore and play badly, so going on looks worse than calling. Five changes make the search strong. The
//! others follow a policy inside the tree; a decision gets a node only after some visits; the blueprint plays out; worlds
//! come from belief; the call is tried outside the tree.

use cambio_core::{Action, Agent, AgentError, Briefing, Explanation, Notice, Observation};

use crate::playout::{Twist, ValueOf, value_of};
use crate::policy::{Blueprint, Policy, Value};
use crate::search::{Arm, BeliefKind, Budget, SearchParams, Seated, Settings, TimeParams, explained};
use crate::searcher::Searcher;
use crate::tree::Mode;
use crate::value::Utility;
use crate::{params, words};

params! {
    /// The parameters of [`Ismcts`].
    pub struct IsmctsParams {
        /// The number of worlds that are searched for a decision.
        iterations: u32 = 1000 in 1..=1_000_000,
        /// A budget of time instead.
        ..time: TimeParams,
        /// Whose information the nodes of the others hold: the searcher's, their own, or none, for they follow the
        /// blueprint. The first two are the textbook's, and weak.
        mode: Mode = Mode::Policy,
        /// Who plays a world out; if not said the blueprint in mode policy, else uniformly random.
        playout: Option<Playout>,
        /// How often a decision is tried before what follows it gets a node; if not said 30 in mode policy, else 1.
        expand: Option<u32> in 1..=1_000_000,
        /// How much of its trials a node below the root gives to the blueprint's decision at first; if not said 0.9 in
        /// mode policy, else 0, which tries all alike.
        prior: Option<f64> in 0.0..=0.99,
        /// Whether calling is an edge of the tree or tried apart; if not said apart in mode policy, else an edge.
        call: Option<CallTrial>,
        /// As for rollout; if not said points in mode policy, else win.
        utility: Option<Utility>,
        /// As for rollout; if not said 0.15 in mode policy, else 1.
        epsilon: Option<f64> in 0.001..=1.0,
        /// What every search has.
        ..search: SearchParams,
    }
}

words! {
    /// The policy that plays a world to the end of its round.
    pub enum Playout {
        /// Random decisions, each equally likely.
        Uniform = "uniform",
        /// The blueprint in every seat.
        Blueprint = "blueprint",
    }
}

words! {
    /// How a search tries the call.
    pub enum CallTrial {
        /// As one more edge of the tree.
        Edge = "edge",
        /// Outside the tree, in an eighth of the iterations.
        Apart = "apart",
    }
}

/// A player that searches a tree of information sets.
///
/// ```
/// use cambio_agents::{Ismcts, IsmctsParams, Mode, roster};
/// use cambio_core::{Agent, Pairing, Rules, play_match, rng::Key};
///
/// let textbook = IsmctsParams { iterations: 20, mode: Mode::Single, ..IsmctsParams::default() };
/// let mut agents: [Box<dyn Agent>; 2] =
///     [Box::new(Ismcts::new(&textbook)), roster().parse("greedy").unwrap().make()];
/// let pairing = Pairing { rules: Rules::preset("classic").unwrap(), seats: 2, key: Key::new(1, 0) };
/// assert!(play_match(&pairing, &mut agents, &mut ()).is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct Ismcts<P: Policy = Blueprint> {
    searcher: Searcher<P>,
    /// Its memory of the match; `None` before the first.
    seated: Option<Seated<P>>,
    arms: Vec<Arm>,
}

impl Ismcts {
    /// A tree search with the blueprint that the parameters name.
    pub fn new(params: &IsmctsParams) -> Ismcts {
        let (blueprint, values) = params.search.blueprint();
        Ismcts::seek(blueprint, values, params)
    }
}

impl<P: Policy> Ismcts<P> {
    /// A tree search with a policy of your own, in place of the blueprint that the parameters name.
    pub fn over(policy: P, params: &IsmctsParams) -> Ismcts<P> {
        Ismcts::seek(policy, None, params)
    }

    /// The same with a policy that values positions, so that [`SearchParams::leaf`] can stop playouts early. At a leaf the others share
    /// equally what the searching seat does not expect.
    pub fn with_values(policy: P, params: &IsmctsParams) -> Ismcts<P>
    where
        P: Value,
    {
        Ismcts::seek(policy, Some(value_of), params)
    }

    fn seek(policy: P, values: Option<ValueOf<P>>, params: &IsmctsParams) -> Ismcts<P> {
        let is_policy = params.mode == Mode::Policy;
        let utility = params.utility.unwrap_or(if is_policy { Utility::Points } else { Utility::Win });
        let epsilon = params.epsilon.unwrap_or(if is_policy { 0.15 } else { 1.0 });
        let budget = Budget::new(params.iterations, params.time);
        let settings = Settings::new(policy, values, budget, utility, epsilon, &params.search);
        let mut searcher = Searcher::new(settings, params.mode);
        match params.playout {
            Some(Playout::Uniform) => searcher.settings.playouts.twist = Twist::Uniform,
            Some(Playout::Blueprint) => searcher.settings.playouts.twist = params.search.twist(),
            None => {}
        }
        searcher.expand = params.expand.unwrap_or(searcher.expand);
        searcher.prior = params.prior.unwrap_or(searcher.prior);
        searcher.calls_apart = params.call.map_or(searcher.calls_apart, |call| call == CallTrial::Apart);
        Ismcts { searcher, seated: None, arms: Vec::new() }
    }

    /// The decisions that the last search tried at its root, in the order of the choices. A call that was tried outside the
    /// tree comes last.
    pub fn arms(&self) -> &[Arm] {
        &self.arms
    }
}

impl<P: Policy> Agent for Ismcts<P> {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        self.arms.clear();
        self.seated = None;
        self.seated = Some(self.searcher.settings.seat(briefing)?);
        Ok(())
    }

    fn notice(&mut self, notice: Notice<'_>) {
        self.searcher.settings.notice(self.seated.as_mut(), notice);
    }

    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        let seated = self.seated.as_mut().expect("a match begins with a briefing");
        self.searcher.settings.prepare(seated);
        Ok(self.searcher.search(view, seated, &mut self.arms, |settings, seated, iteration, bits| {
            settings.world(seated, view, iteration, bits)
        }))
    }

    fn is_spectator(&self) -> bool {
        self.searcher.settings.belief == BeliefKind::Policy
    }

    fn explain(&self, _: &Observation<'_>, _: Action) -> Option<Explanation> {
        Some(explained("the utility of the search", &self.arms))
    }
}
