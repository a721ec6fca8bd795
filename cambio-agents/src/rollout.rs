//! Rollout search over a blueprint: one ply, played out to the end of the round by a policy that sees what it may.
//!
//! The recipe of SPARTA (Lerer, Hu, Foerster and Brown 2020, "Improving Policies via Search in Cooperative Partially
//! Observable Games"), for one searching seat: sample a world that the seat cannot tell from the true one, carry out a
//! decision, let every seat play the blueprint from what it knows *in that world*, and average. Decisions are
//! tried by UCB1 (Auer, Cesa-Bianchi and Fischer 2002) with a smaller constant.

use cambio_core::{Action, Agent, Briefing, Dice, Observation, Sighting, Standing};

use crate::bits::{Bits, logarithm};
use crate::heuristic::blueprint;
use crate::params;
use crate::playout::is_plausible;
use crate::search::{Arm, SearchParams, Seated, Settings, TimeParams, choose};
use crate::value::Utility;

params! {
    /// The parameters of [`Rollout`].
    pub struct RolloutParams {
        /// How many worlds are played out for a decision.
        n: u32 = 1000 in 1..=1_000_000,
        /// Or for how long.
        ..time: TimeParams,
        /// What a round is worth: the share of its win, its points against the others', or the chance to win the match.
        utility: Utility = Utility::Points,
        /// Belief: how likely a decision of another seat is to be any other than the blueprint's; 1 believes nothing.
        epsilon: f64 = 0.15 in 0.001..=1.0,
        /// As of every search.
        ..search: SearchParams,
    }
}

/// Searches one ply over a heuristic blueprint.
#[derive(Clone, Debug)]
pub struct Rollout {
    settings: Settings,
    seated: Option<Seated>,
    arms: Vec<Arm>,
}

impl Rollout {
    /// The search that these parameters describe.
    pub fn new(params: &RolloutParams) -> Rollout {
        let RolloutParams { n, time, utility, epsilon, search } = params;
        Rollout { settings: Settings::new(*n, *time, *utility, *epsilon, search), seated: None, arms: Vec::new() }
    }

    /// What was tried for the last decision: the root statistics, in the order of the choices.
    pub fn arms(&self) -> &[Arm] {
        &self.arms
    }

    fn search(&mut self, view: &Observation<'_>) -> Action {
        let seated = self.seated.as_mut().expect("a match begins with a briefing");
        let base = seated.base();
        let policy = self.settings.blueprint();
        seated.belief.prepare();
        let mut budget = self.settings.budget();
        while let Some(iteration) = budget.next() {
            let place = select(&self.arms, iteration, self.settings.exploration);
            let mut dice = Dice(Bits::new(base, iteration));
            let mut world = seated.belief.sample(view, &mut dice.0);
            policy.enter(&mut world);
            // What is legal for the seat is legal in every world that it allows.
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
        let wish = blueprint(&self.settings.params, view);
        let choices = view.choices();
        self.arms.clear();
        let tried = choices
            .iter()
            .filter(|&action| action == wish || is_plausible(view, &choices, action, |spot| view.face(spot)));
        self.arms.extend(tried.map(Arm::new));
        if self.arms.len() == 1 { self.arms[0].action } else { self.search(view) }
    }
}

/// The arm that UCB1 tries next: first those not yet tried, in order.
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
