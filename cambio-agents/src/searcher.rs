//! Information set tree search, for players and for the oracle.

use cambio_core::engine::{Dice, Sink};
use cambio_core::rng::SplitMix;
use cambio_core::rules::MAX_SEATS;
use cambio_core::{Action, Card, Event, Observation, State};
use rand::Rng as _;

use crate::playout::{PlayoutPolicy, is_plausible};
use crate::policy::{HistorySink, Policy, PublicHistory};
use crate::search::{Arm, SearchSettings, SearchState, best, choose};
use crate::tree::{Next, SearchTree, SeatHistories, TreeMode, TreeSettings};
use crate::value::Valuer;

/// A tree search. The caller supplies the worlds.
#[derive(Clone, Debug)]
pub(crate) struct Searcher<P: Policy> {
    pub(crate) settings: SearchSettings<P>,
    pub(crate) mode: TreeMode,
    pub(crate) expand: u32,
    pub(crate) prior: f64,
    /// The exploration constant of UCB, for utilities from 0 to 1.
    pub(crate) exploration: f64,
    /// Whether every world is the true state, as for an oracle.
    pub(crate) sees_all: bool,
    /// Whether the call is tried outside the tree.
    pub(crate) calls_apart: bool,
    tree: SearchTree,
    /// The arms of the root after half of the budget.
    half: Vec<Arm>,
}

/// If the call is tried outside the tree, one in this many iterations tries it.
const CALL_EVERY: u32 = 8;

impl<P: Policy> Searcher<P> {
    pub(crate) fn new(mut settings: SearchSettings<P>, mode: TreeMode) -> Searcher<P> {
        let is_policy = mode == TreeMode::Policy;
        if !is_policy {
            settings.playouts.policy = PlayoutPolicy::Uniform;
        }
        Searcher {
            settings,
            mode,
            expand: if is_policy { 30 } else { 1 },
            prior: if is_policy { 0.9 } else { 0.0 },
            exploration: 0.7,
            calls_apart: is_policy,
            sees_all: false,
            tree: SearchTree::default(),
            half: Vec::new(),
        }
    }

    /// Searches from `view` in worlds that `draw` returns, and writes the tried decisions into `arms`.
    pub(crate) fn search(
        &mut self,
        view: &Observation<'_>,
        seated: &mut SearchState<P>,
        arms: &mut Vec<Arm>,
        mut draw: impl FnMut(&mut SearchSettings<P>, &mut SearchState<P>, u32, &mut SplitMix) -> State,
    ) -> Action {
        let choices = view.choices();
        let base = seated.stream.next_u64();
        let apart = self.calls_apart && choices.contains(Action::Call);
        let truth =
            self.sees_all.then(|| draw(&mut self.settings, seated, u32::MAX, &mut SplitMix::new(base, u32::MAX)));
        let face = |spot| truth.as_ref().map_or_else(|| view.face(spot), |world| world.face(spot));
        let tried = |action: &Action| is_plausible(view, *action, face) && !(apart && *action == Action::Call);
        arms.clear();
        arms.extend(choices.iter().filter(tried).map(Arm::new));
        if arms.is_empty() {
            arms.extend(choices.nth(0).map(Arm::new));
        }
        if arms.len() == 1 && !apart {
            return arms[0].action;
        }
        self.tree.plant(view.seat(), arms.iter().map(|arm| arm.action), self.settings.budget.most_iterations());
        let mut call = apart.then(|| Arm::new(Action::Call));
        let growth = TreeSettings {
            mode: self.mode,
            searcher: view.seat(),
            sees_all: self.sees_all,
            exploration: self.exploration,
            expand: self.expand,
            prior: self.prior,
        };
        self.half.clear();
        let mut countdown = self.settings.budget.begin();
        while let Some(iteration) = countdown.next() {
            if countdown.is_halfway(iteration) {
                self.half.extend(self.tree.root());
            }
            let mut dice = Dice(SplitMix::new(base, iteration));
            let mut world = draw(&mut self.settings, seated, iteration, &mut dice.0);
            let mut past = seated.past.clone();
            self.settings.playouts.enter(&mut world);
            match &mut call {
                Some(call) if iteration % CALL_EVERY == 0 => {
                    world.carry_out(Action::Call, &mut dice, &mut HistorySink(&mut past));
                    let values = self.settings.outcome(&seated.valuer, &mut world, view.seat(), &mut past, &mut dice);
                    call.add(values[view.seat().index()]);
                }
                _ => {
                    let values = self.iterate(&seated.valuer, &mut world, &mut past, &growth, &mut dice);
                    self.tree.learn(&values);
                }
            }
        }
        arms.clear();
        arms.extend(self.tree.root());
        let most = best(arms, self.settings.last).expect("the seat to act has a choice");
        let chosen = choose(arms, self.settings.last, &mut seated.stream).map_or(most.action, |arm| arm.action);
        let Some(call) = call else { return chosen };
        arms.push(call);
        if call.mean() >= self.late_mean(&most) { Action::Call } else { chosen }
    }

    /// The mean of an arm over the second half of the budget, in which the tree plays better than in the first.
    fn late_mean(&self, best: &Arm) -> f64 {
        let before = self.half.iter().find(|arm| arm.action == best.action);
        match before {
            Some(before) if before.visits < best.visits => {
                (best.sum - before.sum) / f64::from(best.visits - before.visits)
            }
            _ => best.mean(),
        }
    }

    /// One iteration: descends the tree, adds at most one node, and plays out.
    #[inline]
    fn iterate(
        &mut self,
        valuer: &Valuer,
        world: &mut State,
        past: &mut P::History,
        growth: &TreeSettings,
        dice: &mut Dice<SplitMix>,
    ) -> [f64; MAX_SEATS] {
        let mut sink = TreeSink { histories: SeatHistories::at_root(world, growth.searcher, growth.mode), past };
        self.tree.descend();
        loop {
            let action = self.tree.select(world, growth);
            // The decisions of a node are legal in every world that reaches the node.
            world.carry_out(action, dice, &mut sink);
            if let Next::Leaf = self.go_on(world, &mut sink, growth, dice) {
                break;
            }
        }
        self.settings.outcome(valuer, world, growth.searcher, sink.past, dice)
    }

    /// Plays on to the next decision that has a node, or until the iteration leaves the tree.
    #[inline]
    fn go_on(
        &mut self,
        world: &mut State,
        sink: &mut TreeSink<'_, P::History>,
        growth: &TreeSettings,
        dice: &mut Dice<SplitMix>,
    ) -> Next {
        let Searcher { settings: SearchSettings { playouts, .. }, tree, .. } = self;
        while let Some(actor) = world.actor() {
            let action = if growth.mode == TreeMode::Policy && actor != growth.searcher {
                playouts.decide(world, actor, growth.searcher, sink.past, dice)
            } else {
                let past = &*sink.past;
                let first = || (growth.prior > 0.0).then(|| playouts.decide(world, actor, growth.searcher, past, dice));
                match tree.follow(world, actor, &sink.histories, growth, first) {
                    Ok(next) => return next,
                    Err(forced) => forced,
                }
            };
            world.carry_out(action, dice, sink);
        }
        Next::Leaf
    }
}

/// Receives the events of a world during the descent of the tree.
struct TreeSink<'a, Q> {
    histories: SeatHistories,
    past: &'a mut Q,
}

impl<Q: PublicHistory> Sink for TreeSink<'_, Q> {
    #[expect(clippy::inline_always, reason = "the kind of event is constant at each call, so the matches disappear")]
    #[inline(always)]
    fn event(&mut self, event: &Event<Card>) {
        self.histories.event(event);
        self.past.notice(event);
    }
}
