//! Information set Monte Carlo tree search (Cowling, Powley and Whitehouse 2012): textbook forms and a stronger one.
//!
//! The textbook forms, with a single or multiple observer and random playouts, are weak in this game: the tree averages
//! over its own exploratory, bad decisions later in the round, so playing on looks worse than calling. Five changes
//! make the search strong. The other seats follow a policy inside the tree; a decision gets a node only after some
//! visits; playouts use the blueprint; worlds are drawn from a belief; the call is tried outside the tree.

use cambio_core::play::Explanation;
use cambio_core::{Action, Agent, AgentError, Briefing, Notice, Observation};

use crate::playout::PlayoutPolicy;
use crate::policy::{Blueprint, Policy};
use crate::search::{Arm, BeliefKind, Budget, SearchParams, SearchSettings, SearchState, TimeParams, explained};
use crate::tree::{Searcher, TreeMode};
use crate::value::Utility;
use crate::{params, words};

params! {
    /// The parameters of [`Ismcts`].
    pub struct IsmctsParams {
        /// The number of iterations for a decision, each in a new world.
        iterations: u32 = 1000 in 1..=1_000_000,
        /// The time budget.
        ..time: TimeParams,
        /// The nodes of the other seats: in so they depend on the searching seat's information, in mo on each seat's
        /// own (both are weak textbook forms); in policy the other seats have no nodes and follow the blueprint.
        mode: TreeMode = TreeMode::Policy,
        /// The policy used in playouts; default: blueprint in mode policy, otherwise uniform.
        playout: Option<Playout>,
        /// The number of tries of a decision before its successors get nodes; default: 30 in mode policy, otherwise 1.
        expand: Option<u32> in 1..=1_000_000,
        /// The prior probability of the blueprint's decision in nodes below the root; default: 0.9 in mode policy,
        /// otherwise 0, which treats all decisions alike.
        prior: Option<f64> in 0.0..=0.99,
        /// Whether the call is evaluated in the tree or outside it; default: apart in mode policy, otherwise edge.
        call: Option<CallTrial>,
        /// The exploration constant of UCB, for utilities from 0 to 1.
        c: f64 = 0.7 in 0.0..=10.0,
        /// The value of a round, as in rollout; default: points in mode policy, otherwise win.
        utility: Option<Utility>,
        /// Belief: the same parameter as in rollout; default: 0.15 in mode policy, otherwise 1.
        epsilon: Option<f64> in 0.001..=1.0,
        /// The common parameters of all searches.
        ..search: SearchParams,
    }
}

words! {
    /// The policy that plays a world to the end of its round.
    pub enum Playout {
        /// Uniformly random decisions.
        Uniform = "uniform",
        /// The blueprint in every seat.
        Blueprint = "blueprint",
    }
}

words! {
    /// How a search tries the call.
    pub enum CallTrial {
        /// As an edge of the tree.
        Edge = "edge",
        /// Outside the tree, in an eighth of the iterations.
        Apart = "apart",
    }
}

/// A player that searches a tree of information sets.
///
/// ```
/// use cambio_agents::{Ismcts, IsmctsParams, TreeMode, roster};
/// use cambio_core::{Agent, MatchSetup, Rules, play_match, rng::Key};
///
/// let textbook = IsmctsParams { iterations: 20, mode: TreeMode::Single, ..IsmctsParams::default() };
/// let mut agents: [Box<dyn Agent>; 2] =
///     [Box::new(Ismcts::new(&textbook)), roster().parse("greedy").unwrap().make()];
/// let match_setup = MatchSetup { rules: Rules::preset("classic").unwrap(), seats: 2, key: Key::new(1, 0) };
/// assert!(play_match(&match_setup, &mut agents, &mut ()).is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct Ismcts<P: Policy = Blueprint> {
    searcher: Searcher<P>,
    /// The state during a match; `None` before the first match.
    seated: Option<SearchState<P>>,
    arms: Vec<Arm>,
}

impl Ismcts {
    /// A tree search with the blueprint that the parameters name.
    pub fn new(params: &IsmctsParams) -> Ismcts {
        Ismcts::over(params.search.blueprint.policy(), params)
    }
}

impl<P: Policy> Ismcts<P> {
    /// A tree search with any policy in place of the blueprint that the parameters name.
    pub fn over(policy: P, params: &IsmctsParams) -> Ismcts<P> {
        let is_policy = params.mode == TreeMode::Policy;
        let utility = params.utility.unwrap_or(if is_policy { Utility::Points } else { Utility::Win });
        let epsilon = params.epsilon.unwrap_or(if is_policy { 0.15 } else { 1.0 });
        let budget = Budget::new(params.iterations, params.time);
        let settings = SearchSettings::new(policy, budget, utility, epsilon, &params.search);
        let mut searcher = Searcher::new(settings, params.mode);
        match params.playout {
            Some(Playout::Uniform) => searcher.settings.playouts.policy = PlayoutPolicy::Uniform,
            Some(Playout::Blueprint) => searcher.settings.playouts.policy = PlayoutPolicy::None,
            None => {}
        }
        searcher.growth.expand = params.expand.unwrap_or(searcher.growth.expand);
        searcher.growth.prior = params.prior.unwrap_or(searcher.growth.prior);
        searcher.growth.exploration = params.c;
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
        Some(explained("estimated utility", &self.arms))
    }
}
