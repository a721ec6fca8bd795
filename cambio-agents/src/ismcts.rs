//! Information set Monte Carlo tree search (Cowling, Powley and Whitehouse 2012), textbook and strong.
//!
//! The textbook forms, single and multiple observer with random playouts, are weak in this game: averaging over exploring
//! and badly playing future selves makes going on look worse than calling. What makes the search strong is that the
//! others follow a policy inside the tree, a node is added only after some visits, the blueprint plays out, worlds come from
//! belief, and the call is estimated apart.

use cambio_core::{Action, Agent, Briefing, Dice, Observation, Sighting, Standing, State};

use crate::bits::Bits;
use crate::playout::{Policy, is_plausible};
use crate::search::{Arm, SearchParams, Seated, Settings, TimeParams, best, choose};
use crate::tree::{Growth, Histories, Mode, Next, Tree};
use crate::value::Utility;
use crate::{params, words};

params! {
    /// The parameters of [`Ismcts`].
    pub struct IsmctsParams {
        /// How many worlds are searched for a decision.
        iterations: u32 = 1000 in 1..=1_000_000,
        /// Or for how long.
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
        /// As of every search.
        ..search: SearchParams,
    }
}

words! {
    /// Who plays a world out.
    pub enum Playout {
        /// Decisions at random, each equally likely.
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
        /// By itself, in an eighth of the iterations.
        Apart = "apart",
    }
}

/// Information set Monte Carlo tree search.
#[derive(Clone, Debug)]
pub struct Ismcts {
    searcher: Searcher,
    seated: Option<Seated>,
    arms: Vec<Arm>,
}

/// A tree search, wherever its worlds come from.
#[derive(Clone, Debug)]
pub(crate) struct Searcher {
    pub(crate) settings: Settings,
    pub(crate) mode: Mode,
    pub(crate) policy: Policy,
    pub(crate) expand: u32,
    pub(crate) prior: f64,
    /// Whether the worlds are the truth.
    pub(crate) sees_all: bool,
    /// Whether calling is tried by itself, and not as one more edge of the tree.
    pub(crate) calls_apart: bool,
    pub(crate) tree: Tree,
    /// The root's arms at half time.
    pub(crate) half: Vec<Arm>,
}

/// One in so many iterations tries the call, where it is tried apart.
const CALL_SHARE: u32 = 8;

impl Searcher {
    pub(crate) fn new(settings: Settings, mode: Mode) -> Searcher {
        let is_policy = mode == Mode::Policy;
        Searcher {
            policy: if is_policy { settings.blueprint() } else { Policy::Uniform },
            settings,
            mode,
            expand: if is_policy { 30 } else { 1 },
            prior: if is_policy { 0.9 } else { 0.0 },
            calls_apart: is_policy,
            sees_all: false,
            tree: Tree::default(),
            half: Vec::new(),
        }
    }

    /// Searches from `view` in worlds that `draw` gives, and leaves the root statistics in `arms`.
    pub(crate) fn search(
        &mut self,
        view: &Observation<'_>,
        seated: &mut Seated,
        arms: &mut Vec<Arm>,
        mut draw: impl FnMut(&Seated, &mut Bits) -> State,
    ) -> Action {
        let choices = view.choices();
        let base = seated.base();
        let apart = self.calls_apart && choices.contains(Action::Call);
        let truth = self.sees_all.then(|| draw(seated, &mut Bits::new(base, u32::MAX)));
        let face = |spot| truth.as_ref().map_or_else(|| view.face(spot), |world| world.face(spot));
        let tried =
            |action: &Action| is_plausible(view, &choices, *action, face) && !(apart && *action == Action::Call);
        arms.clear();
        arms.extend(choices.iter().filter(tried).map(Arm::new));
        if arms.is_empty() {
            arms.extend(choices.nth(0).map(Arm::new));
        }
        if arms.len() == 1 && !apart {
            return arms[0].action;
        }
        self.tree.plant(view.seat(), arms.iter().map(|arm| arm.action), self.settings.most_iterations());
        let mut call = apart.then(|| Arm::new(Action::Call));
        let growth = Growth {
            mode: self.mode,
            searcher: view.seat(),
            sees_all: self.sees_all,
            exploration: self.settings.exploration,
            expand: self.expand,
            prior: self.prior,
        };
        self.half.clear();
        let mut budget = self.settings.budget();
        while let Some(iteration) = budget.next() {
            if budget.is_halfway(iteration) {
                self.half.extend(self.tree.root());
            }
            let mut dice = Dice(Bits::new(base, iteration));
            let mut world = draw(seated, &mut dice.0);
            self.policy.enter(&mut world);
            match &mut call {
                Some(call) if iteration % CALL_SHARE == 0 => {
                    world.carry_out(Action::Call, &mut dice, &mut ());
                    self.policy.finish(&mut world, view.seat(), &mut dice);
                    call.visits += 1;
                    call.sum += seated.valuer.values(&world)[view.seat().index()];
                }
                _ => {
                    self.iterate(&mut world, &growth, &mut dice);
                    self.tree.learn(&seated.valuer.values(&world));
                }
            }
        }
        arms.clear();
        arms.extend(self.tree.root());
        let most = best(arms, self.settings.last).expect("who is asked has a choice");
        let chosen = choose(arms, self.settings.last, &mut seated.stream).map_or(most.action, |arm| arm.action);
        let Some(call) = call else { return chosen };
        arms.push(call);
        if call.mean() >= self.late_mean(&most) { Action::Call } else { chosen }
    }

    /// The mean of the second half, in which the tree plays better than in the first.
    fn late_mean(&self, best: &Arm) -> f64 {
        let before = self.half.iter().find(|arm| arm.action == best.action);
        match before {
            Some(before) if before.visits < best.visits => {
                (best.sum - before.sum) / f64::from(best.visits - before.visits)
            }
            _ => best.mean(),
        }
    }

    /// One iteration: through the tree, one node more at most, and a playout.
    #[inline]
    fn iterate(&mut self, world: &mut State, growth: &Growth, dice: &mut Dice<Bits>) {
        let mut histories = Histories::at_root(world, growth.searcher, growth.mode);
        self.tree.descend();
        loop {
            let action = self.tree.select(world, growth);
            // A node's decisions are legal in every world that comes there.
            world.carry_out(action, dice, &mut histories);
            if let Next::Leaf = self.go_on(world, &mut histories, growth, dice) {
                break;
            }
        }
        self.policy.finish(world, growth.searcher, dice);
    }

    /// Goes on to the next decision that has a node, or out of the tree.
    #[inline]
    fn go_on(&mut self, world: &mut State, histories: &mut Histories, growth: &Growth, dice: &mut Dice<Bits>) -> Next {
        while let Some(actor) = world.actor() {
            let action = if growth.mode == Mode::Policy && actor != growth.searcher {
                self.policy.decide(world, actor, growth.searcher, dice)
            } else {
                let wish = || (growth.prior > 0.0).then(|| self.policy.decide(world, actor, growth.searcher, dice));
                match self.tree.follow(world, actor, histories, growth, wish) {
                    Ok(next) => return next,
                    Err(forced) => forced,
                }
            };
            world.carry_out(action, dice, histories);
        }
        Next::Leaf
    }
}

impl Ismcts {
    /// The search that these parameters describe.
    pub fn new(params: &IsmctsParams) -> Ismcts {
        let is_policy = params.mode == Mode::Policy;
        let utility = params.utility.unwrap_or(if is_policy { Utility::Points } else { Utility::Win });
        let epsilon = params.epsilon.unwrap_or(if is_policy { 0.15 } else { 1.0 });
        let settings = Settings::new(params.iterations, params.time, utility, epsilon, &params.search);
        let mut searcher = Searcher::new(settings, params.mode);
        match params.playout {
            Some(Playout::Uniform) => searcher.policy = Policy::Uniform,
            Some(Playout::Blueprint) => searcher.policy = searcher.settings.blueprint(),
            None => {}
        }
        searcher.expand = params.expand.unwrap_or(searcher.expand);
        searcher.prior = params.prior.unwrap_or(searcher.prior);
        searcher.calls_apart = params.call.map_or(searcher.calls_apart, |call| call == CallTrial::Apart);
        Ismcts { searcher, seated: None, arms: Vec::new() }
    }

    /// What was tried for the last decision: the root statistics, in the order of the choices; a call that was tried
    /// apart comes last.
    pub fn arms(&self) -> &[Arm] {
        &self.arms
    }
}

impl Agent for Ismcts {
    fn begin(&mut self, briefing: &Briefing<'_>) {
        self.seated = Some(Seated::new(briefing, &self.searcher.settings));
        self.arms.clear();
    }

    fn round_begins(&mut self, standing: &Standing<'_>) {
        self.seated.as_mut().expect("a match begins with a briefing").round_begins(standing);
    }

    fn notice(&mut self, sighting: &Sighting) {
        self.seated.as_mut().expect("a match begins with a briefing").belief.notice(sighting);
    }

    fn decide(&mut self, view: &Observation<'_>) -> Action {
        let seated = self.seated.as_mut().expect("a match begins with a briefing");
        seated.belief.prepare();
        self.searcher.search(view, seated, &mut self.arms, |seated, bits| seated.belief.sample(view, bits))
    }
}
