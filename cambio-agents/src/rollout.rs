//! Rollout search: tries each decision in sampled worlds, and plays the round out with the blueprint.
//!
//! This is the method of SPARTA (Lerer, Hu, Foerster and Brown 2020, "Improving Policies via Search in Cooperative
//! Partially Observable Games") for one searching seat. Each iteration samples a world from the seat's information set,
//! carries out a decision, and plays on with the blueprint in every seat, which uses only the seat's knowledge *in that
//! world*. UCB1 (Auer, Cesa-Bianchi and Fischer 2002) selects the decision, with a smaller exploration constant.

use cambio_core::engine::Dice;
use cambio_core::play::Explanation;
use cambio_core::{Action, Agent, AgentError, Briefing, Notice, Observation};

use crate::bits::{Bits, logarithm};
use crate::params;
use crate::playout::{ValueOf, is_plausible, value_of};
use crate::policy::{Blueprint, HistorySink, Policy, ValuePolicy};
use crate::search::{
    Arm, BeliefKind, Budget, SearchParams, SearchSettings, SearchState, TimeParams, choose, explained,
};
use crate::value::Utility;

params! {
    /// The parameters of [`Rollout`].
    pub struct RolloutParams {
        /// The number of playouts for a decision, each in a new world.
        n: u32 = 1000 in 1..=1_000_000,
        /// The time budget.
        ..time: TimeParams,
        /// The value of a round for a seat: its win share, its points relative to the other seats, or its chance to win
        /// the match.
        utility: Utility = Utility::Points,
        /// Belief: the probability that another seat deviates from the blueprint; 1 turns inference off.
        epsilon: f64 = 0.15 in 0.001..=1.0,
        /// The common parameters of all searches.
        ..search: SearchParams,
    }
}

/// A player that searches one ply and plays out worlds with the blueprint.
///
/// ```
/// use cambio_agents::{Rollout, RolloutParams, roster};
/// use cambio_core::{Agent, MatchSetup, Rules, play_match, rng::Key};
///
/// let rollout = Rollout::new(&RolloutParams { n: 20, ..RolloutParams::default() });
/// let mut agents: [Box<dyn Agent>; 2] = [Box::new(rollout), roster().parse("greedy").unwrap().make()];
/// let match_setup = MatchSetup { rules: Rules::preset("classic").unwrap(), seats: 2, key: Key::new(1, 0) };
/// assert!(play_match(&match_setup, &mut agents, &mut ()).is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct Rollout<P: Policy = Blueprint> {
    settings: SearchSettings<P>,
    /// The state during a match; `None` before the first match.
    seated: Option<SearchState<P>>,
    arms: Vec<Arm>,
}

impl Rollout {
    /// A rollout search over the blueprint that the parameters name.
    pub fn new(params: &RolloutParams) -> Rollout {
        let (blueprint, values) = params.search.blueprint();
        Rollout::seek(blueprint, values, params)
    }
}

impl<P: Policy> Rollout<P> {
    /// A rollout search over a policy of your own, in place of the blueprint that the parameters name. [`Policy`] has an
    /// example.
    pub fn over(policy: P, params: &RolloutParams) -> Rollout<P> {
        Rollout::seek(policy, None, params)
    }

    /// Like [`Rollout::over`], with a policy that values positions, as [`SearchParams::leaf`] requires.
    ///
    /// ```
    /// use cambio_agents::{NetworkPolicy, Rollout, RolloutParams, SearchParams, Utility};
    ///
    /// let search = SearchParams { leaf: Some(1), ..SearchParams::default() };
    /// let params = RolloutParams { n: 300, utility: Utility::Win, search, ..RolloutParams::default() };
    /// let search = Rollout::with_values(NetworkPolicy::shipped(), &params);
    /// ```
    pub fn with_values(policy: P, params: &RolloutParams) -> Rollout<P>
    where
        P: ValuePolicy,
    {
        Rollout::seek(policy, Some(value_of), params)
    }

    fn seek(policy: P, values: Option<ValueOf<P>>, params: &RolloutParams) -> Rollout<P> {
        let RolloutParams { n, time, utility, epsilon, search } = *params;
        let settings = SearchSettings::new(policy, values, Budget::new(n, time), utility, epsilon, &search);
        Rollout { settings, seated: None, arms: Vec::new() }
    }

    /// The decisions that the last search tried, in the order of the choices.
    pub fn arms(&self) -> &[Arm] {
        &self.arms
    }

    fn search(&mut self, view: &Observation<'_>) -> Action {
        let Rollout { settings, seated, arms } = self;
        let seated = seated.as_mut().expect("a match begins with a briefing");
        let base = seated.base();
        settings.prepare(seated);
        let mut countdown = settings.budget.begin();
        while let Some(iteration) = countdown.next() {
            let index = select(arms, iteration, settings.exploration);
            let mut dice = Dice(Bits::new(base, iteration));
            let mut world = settings.world(seated, view, iteration, &mut dice.0);
            let mut past = seated.past.clone();
            settings.playouts.enter(&mut world);
            // A legal decision is legal in every world of the information set.
            world.carry_out(arms[index].action, &mut dice, &mut HistorySink(&mut past));
            let values = settings.outcome(&seated.valuer, &mut world, view.seat(), &mut past, &mut dice);
            arms[index].add(values[view.seat().index()]);
        }
        choose(arms, settings.last, &mut seated.stream).expect("the seat to act has a choice").action
    }
}

impl<P: Policy> Agent for Rollout<P> {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        self.arms.clear();
        self.seated = None;
        self.seated = Some(self.settings.seat(briefing)?);
        Ok(())
    }

    fn notice(&mut self, notice: Notice<'_>) {
        self.settings.notice(self.seated.as_mut(), notice);
    }

    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        let seated = self.seated.as_ref().expect("a match begins with a briefing");
        let choices = view.choices();
        let preferred = self.settings.playouts.blueprint.decide(view, &seated.past);
        self.arms.clear();
        let tried =
            choices.iter().filter(|&action| action == preferred || is_plausible(view, action, |spot| view.face(spot)));
        self.arms.extend(tried.map(Arm::new));
        Ok(if self.arms.len() == 1 { self.arms[0].action } else { self.search(view) })
    }

    fn is_spectator(&self) -> bool {
        self.settings.belief == BeliefKind::Policy
    }

    fn explain(&self, _: &Observation<'_>, _: Action) -> Option<Explanation> {
        Some(explained("estimated utility", &self.arms))
    }
}

/// The index of the arm that UCB1 selects. Arms without visits come first, in order.
fn select(arms: &[Arm], iteration: u32, exploration: f64) -> usize {
    if let Some(index) = arms.iter().position(|arm| arm.visits == 0) {
        return index;
    }
    let log = logarithm(iteration);
    let (mut best, mut most) = (0, f64::NEG_INFINITY);
    for (index, arm) in arms.iter().enumerate() {
        let bound = arm.mean() + exploration * (log / f64::from(arm.visits)).sqrt();
        if bound > most {
            (best, most) = (index, bound);
        }
    }
    best
}
