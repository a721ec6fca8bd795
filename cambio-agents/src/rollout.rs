//! Rollout search: tries each decision in sampled worlds, and lets the blueprint play the round to its end.
//!
//! This is the recipe of SPARTA (Lerer, Hu, Foerster and Brown 2020, "Improving Policies via Search in Cooperative Partially
//! Observable Games") for one searching seat. Each iteration samples a world that the seat cannot tell from the true one,
//! carries out a decision, and lets every seat play the blueprint from what it knows *in that world*. UCB1 (Auer,
//! Cesa-Bianchi and Fischer 2002) picks the decision, with a smaller constant.

use cambio_core::{Action, Agent, Briefing, Dice, Observation, Sighting, Standing};

use crate::bits::{Bits, logarithm};
use crate::explain::Explanation;
use crate::heuristic::blueprint;
use crate::params;
use crate::player::Extensions;
use crate::playout::is_plausible;
use crate::search::{Arm, Budget, SearchParams, Seated, Settings, TimeParams, choose, explained};
use crate::value::Utility;

params! {
    /// The parameters of [`Rollout`].
    pub struct RolloutParams {
        /// The number of worlds that are played out for a decision.
        n: u32 = 1000 in 1..=1_000_000,
        /// A budget of time instead.
        ..time: TimeParams,
        /// What a round is worth: the share of its win, its points against the others', or the chance to win the match.
        utility: Utility = Utility::Points,
        /// Belief: how likely a decision of another seat is to be any other than the blueprint's; 1 believes nothing.
        epsilon: f64 = 0.15 in 0.001..=1.0,
        /// What every search has.
        ..search: SearchParams,
    }
}

/// A player that searches one ply over the blueprint.
///
/// ```
/// use cambio_agents::{Rollout, RolloutParams, roster};
/// use cambio_core::{Agent, Pairing, Rules, play_match, rng::Key};
///
/// let rollout = Rollout::new(&RolloutParams { n: 20, ..RolloutParams::default() });
/// let mut agents: [Box<dyn Agent>; 2] = [Box::new(rollout), roster().parse("greedy").unwrap().make()];
/// let pairing = Pairing { rules: Rules::preset("classic").unwrap(), seats: 2, key: Key::new(1, 0) };
/// assert!(play_match(&pairing, &mut agents, &mut ()).is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct Rollout {
    settings: Settings,
    seated: Option<Seated>,
    arms: Vec<Arm>,
}

impl Rollout {
    /// A rollout search.
    pub fn new(params: &RolloutParams) -> Rollout {
        let RolloutParams { n, time, utility, epsilon, search } = *params;
        let settings = Settings::new(Budget::new(n, time), utility, epsilon, &search);
        Rollout { settings, seated: None, arms: Vec::new() }
    }

    /// The decisions that the last search tried, in the order of the choices.
    pub fn arms(&self) -> &[Arm] {
        &self.arms
    }

    fn search(&mut self, view: &Observation<'_>) -> Action {
        let seated = self.seated.as_mut().expect("a match begins with a briefing");
        let base = seated.base();
        let policy = self.settings.policy();
        seated.belief.prepare();
        let mut countdown = self.settings.budget.begin();
        while let Some(iteration) = countdown.next() {
            let place = select(&self.arms, iteration, self.settings.exploration);
            let mut dice = Dice(Bits::new(base, iteration));
            let mut world = seated.belief.sample(view, &mut dice.0);
            policy.enter(&mut world);
            // A decision that is legal for the seat is legal in every world that it cannot tell from the true one.
            world.carry_out(self.arms[place].action, &mut dice, &mut ());
            policy.finish(&mut world, view.seat(), &mut dice);
            self.arms[place].visits += 1;
            self.arms[place].sum += seated.valuer.values(&world)[view.seat().index()];
        }
        choose(&self.arms, self.settings.last, &mut seated.stream).expect("who is asked has a choice").action
    }
}

impl Agent for Rollout {
    fn begin(&mut self, briefing: &Briefing<'_>) {
        self.seated = Some(Seated::new(briefing, &self.settings));
        self.arms.clear();
    }

    fn round_begins(&mut self, standing: &Standing<'_>) {
        self.seated.as_mut().expect("a match begins with a briefing").round_begins(standing);
    }

    fn notice(&mut self, sighting: &Sighting) {
        self.seated.as_mut().expect("a match begins with a briefing").belief.notice(sighting);
    }

    fn decide(&mut self, view: &Observation<'_>) -> Action {
        let wish = blueprint(&self.settings.blueprint, view);
        let choices = view.choices();
        self.arms.clear();
        let tried =
            choices.iter().filter(|&action| action == wish || is_plausible(view, action, |spot| view.face(spot)));
        self.arms.extend(tried.map(Arm::new));
        if self.arms.len() == 1 { self.arms[0].action } else { self.search(view) }
    }
}

impl Extensions for Rollout {
    fn explain(&self, _: &Observation<'_>, _: Action) -> Option<Explanation> {
        Some(explained("the utility of the search", &self.arms))
    }
}

/// The place of the arm that UCB1 tries next. Arms without a visit come first, in order.
fn select(arms: &[Arm], iteration: u32, exploration: f64) -> usize {
    if let Some(place) = arms.iter().position(|arm| arm.visits == 0) {
        return place;
    }
    let log = logarithm(iteration);
    let (mut best, mut most) = (0, f64::NEG_INFINITY);
    for (place, arm) in arms.iter().enumerate() {
        let bound = arm.mean() + exploration * (log / f64::from(arm.visits)).sqrt();
        if bound > most {
            (best, most) = (place, bound);
        }
    }
    best
}
