//! Rollout search: tries each decision in sampled worlds, and plays the round out with the blueprint.
//!
//! This is the method of SPARTA (Lerer, Hu, Foerster and Brown 2020, "Improving Policies via Search in Cooperative
//! Partially Observable Games") for one searching seat. A playout samples a world from the seat's information set,
//! carries out a decision, and plays on with the blueprint in every seat, which uses only the seat's knowledge *in that
//! world*. All decisions are tried in the same worlds with the same random numbers, and decisions that fall behind are
//! dropped.

use cambio_core::engine::Dice;
use cambio_core::play::Explanation;
use cambio_core::rng::SplitMix;
use cambio_core::{Action, Agent, AgentError, Briefing, Notice, Observation};
use rand::Rng as _;

use crate::params;
use crate::playout::is_plausible;
use crate::policy::{Blueprint, HistorySink, Policy};
use crate::search::{
    ActionRace, ActionRaceSettings, Arm, BeliefKind, Budget, SearchParams, SearchSettings, SearchState, TimeParams,
    explained,
};
use crate::value::Utility;

params! {
    /// The parameters of [`Rollout`].
    pub struct RolloutParams {
        /// The maximum number of playouts for a decision. The search ends earlier when one decision is clearly best.
        n: u32 = 1000 in 1..=1_000_000,
        /// The time budget.
        ..time: TimeParams,
        /// The value of a round for a seat: its win share, its points relative to the other seats, or its chance to win
        /// the match.
        utility: Utility = Utility::Points,
        /// Belief: the probability that another seat deviates from the blueprint; 1 turns inference off.
        epsilon: f64 = 0.15 in 0.001..=1.0,
        /// Drops a decision when it is this many standard errors behind the best.
        errors: f64 = 3.0 in 0.0..=1000.0,
        /// The gain in utility that is too small to search for.
        tie: f64 = 0.002 in 0.0..=1.0,
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
    racing: ActionRaceSettings,
    race: ActionRace,
    arms: Vec<Arm>,
}

impl Rollout {
    /// A rollout search over the blueprint that the parameters name.
    pub fn new(params: &RolloutParams) -> Rollout {
        Rollout::over(params.search.blueprint.policy(), params)
    }
}

impl<P: Policy> Rollout<P> {
    /// A rollout search over any policy in place of the blueprint that the parameters name. [`Policy`] has
    /// another example.
    ///
    /// ```
    /// use cambio_agents::{NetworkPolicy, Rollout, RolloutParams, Utility};
    ///
    /// let params = RolloutParams { n: 300, utility: Utility::Win, ..RolloutParams::default() };
    /// let search = Rollout::over(NetworkPolicy::shipped(), &params);
    /// ```
    pub fn over(policy: P, params: &RolloutParams) -> Rollout<P> {
        let RolloutParams { n, time, utility, epsilon, errors, tie, search } = *params;
        let settings = SearchSettings::new(policy, Budget::new(n, time), utility, epsilon, &search);
        let racing = ActionRaceSettings { errors, tie, trust: None };
        Rollout { settings, seated: None, racing, race: ActionRace::default(), arms: Vec::new() }
    }

    /// The decisions that the last search tried, the blueprint's decision first.
    pub fn arms(&self) -> &[Arm] {
        &self.arms
    }

    fn search(&mut self, view: &Observation<'_>) -> Action {
        let Rollout { settings, seated, racing, race, .. } = self;
        let seated = seated.as_mut().expect("a match begins with a briefing");
        let base = seated.stream.next_u64();
        settings.prepare(seated);
        let mut countdown = settings.budget.begin();
        for number in 0.. {
            let mut bits = SplitMix::new(base, number);
            let mut world = settings.world(seated, view, number, &mut bits);
            settings.playouts.enter(&mut world);
            while let Some(action) = race.next()
                && countdown.next().is_some()
            {
                let (mut world, mut past, mut dice) = (world.clone(), seated.past.clone(), Dice(bits));
                // A legal decision is legal in every world of the information set.
                world.carry_out(action, &mut dice, &mut HistorySink(&mut past));
                let values = settings.outcome(&seated.valuer, &mut world, view.seat(), &mut past, &mut dice);
                race.add(values[view.seat().index()]);
            }
            // The budget may end in the middle of a world.
            if race.next().is_some() {
                break;
            }
            race.end_world(racing);
            if race.is_decided() {
                break;
            }
        }
        race.finish(racing);
        race.choose(settings.last, &mut seated.stream)
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
        let is_tried = |action: &Action| is_plausible(view, *action, |spot| view.face(spot)) && *action != preferred;
        self.race.begin(std::iter::once(preferred).chain(choices.iter().filter(is_tried)).map(|action| (action, 0.0)));
        let action = if self.race.is_decided() { preferred } else { self.search(view) };
        self.arms.extend(self.race.arms());
        Ok(action)
    }

    fn is_spectator(&self) -> bool {
        self.settings.belief == BeliefKind::Policy
    }

    fn explain(&self, _: &Observation<'_>, _: Action) -> Option<Explanation> {
        Some(explained("estimated utility", &self.arms))
    }
}
