//! Information set tree search, for players and for the oracle.
//!
//! A tree has the information sets of one decision, the decisions that were tried there, and their utilities.
//! A node is an information set of the seat that decides in it: the public information since the root and the private
//! information of that seat. It stores the utilities of that seat only (max^n needs no more), visits and availability
//! counts (Cowling, Powley and Whitehouse 2012, "Information Set Monte Carlo Tree Search"). Chance has no edges:
//! outcomes that the seat cannot distinguish lead to one node, others to different nodes.

use cambio_core::engine::{Dice, Sink};
use cambio_core::rng::{SplitMix, mix};
use cambio_core::rules::MAX_SEATS;
use cambio_core::{Action, Card, Event, Observation, Phase, Seat, State, Table, View as _};
use rand::Rng as _;

use crate::playout::{PlayoutPolicy, is_plausible};
use crate::policy::{HistorySink, Policy, PublicHistory};
use crate::search::{Arm, SearchSettings, SearchState, best, choose};
use crate::value::Valuer;
use crate::words;

/// An information set.
#[derive(Clone, Copy, Debug)]
struct Node {
    key: u64,
    actor: Seat,
    /// Whether every world that reaches the node offers the same decisions. This is true if the node is the actor's own
    /// information set, but not if its key is the information of another seat.
    is_fixed: bool,
    first: u32,
    edges: u16,
    visits: u32,
}

/// A decision in an information set.
#[derive(Clone, Copy, Debug)]
struct Edge {
    arm: Arm,
    /// The number of worlds that offered the decision.
    available: u32,
    /// The mean utility, cached for UCB.
    mean: f64,
    /// 1/√visits, cached for UCB.
    width: f64,
}

impl Edge {
    fn new(action: Action) -> Edge {
        Edge { arm: Arm::new(action), available: 0, mean: 0.0, width: 0.0 }
    }
}

/// A node on the path of an iteration, and the edge that the iteration took there.
#[derive(Clone, Copy, Debug)]
struct PathStep {
    node: u32,
    edge: u32,
}

/// The search tree of one decision. The next decision reuses the memory, so a large enough tree allocates nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct SearchTree {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// A hash table with open addressing: for each key the node's number plus 1, or 0 for none.
    slots: Vec<u32>,
    path: Vec<PathStep>,
    /// The decisions that the current world offers.
    offered: Vec<Action>,
    /// Their places among the edges of the current node.
    places: Vec<u16>,
}

/// How a tree grows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TreeSettings {
    pub(crate) mode: TreeMode,
    pub(crate) searcher: Seat,
    /// Whether the searcher knows every card, as an oracle does: every world is the true state.
    pub(crate) sees_all: bool,
    /// The exploration constant of UCB, for utilities from 0 to 1.
    pub(crate) exploration: f64,
    /// The visits that a decision needs before its successors get nodes.
    pub(crate) expand: u32,
    /// The prior probability of the blueprint's decision in nodes below the root; 0 for no prior.
    pub(crate) prior: f64,
}

/// Where an iteration continues.
pub(crate) enum Next {
    /// In another node.
    Node,
    /// Outside the tree: the world must be played out.
    Leaf,
}

impl SearchTree {
    /// Begins a new tree with these decisions at its root.
    pub(crate) fn plant(&mut self, searcher: Seat, actions: impl Iterator<Item = Action>, iterations: u32) {
        self.nodes.clear();
        self.edges.clear();
        self.edges.extend(actions.map(Edge::new));
        let edges = self.edges.len() as u16;
        self.nodes.push(Node { key: 0, actor: searcher, is_fixed: true, first: 0, edges, visits: 0 });
        let wanted = (iterations as usize + 1).saturating_mul(2).next_power_of_two().clamp(64, 1 << 22);
        if self.slots.len() < wanted {
            self.slots.resize(wanted, 0);
        }
        self.slots.fill(0);
    }

    pub(crate) fn root(&self) -> impl Iterator<Item = Arm> {
        self.edges[..usize::from(self.nodes[0].edges)].iter().map(|edge| edge.arm)
    }

    /// Begins an iteration at the root.
    pub(crate) fn descend(&mut self) {
        self.path.clear();
        self.path.push(PathStep { node: 0, edge: 0 });
    }

    /// Selects a decision in the current node.
    #[inline]
    pub(crate) fn select(&mut self, world: &State, growth: &TreeSettings) -> Action {
        let here = self.path.len() - 1;
        let node = self.path[here].node as usize;
        let edge = if self.nodes[node].is_fixed {
            if node == 0 || growth.prior == 0.0 {
                self.select_fixed(node, growth.exploration)
            } else {
                self.select_prior(node, growth)
            }
        } else {
            self.select_available(node, world, growth)
        };
        self.path[here].edge = edge as u32;
        self.edges[edge].arm.action
    }

    /// Selects by UCB1. Every decision is available at every visit, so the availability count is the number of visits.
    #[inline]
    fn select_fixed(&mut self, node: usize, exploration: f64) -> usize {
        let Node { first, edges, visits, .. } = self.nodes[node];
        if visits < u32::from(edges) {
            return first as usize + visits as usize;
        }
        let reach = exploration * logarithm(visits).sqrt();
        self.greatest(node, |_, edge| edge.mean + reach * edge.width)
    }

    /// The first edge of a node with the greatest bound.
    #[inline]
    fn greatest(&self, node: usize, bound: impl Fn(usize, &Edge) -> f64) -> usize {
        let Node { first, edges, .. } = self.nodes[node];
        let first = first as usize;
        let (mut best, mut most) = (first, f64::NEG_INFINITY);
        for (index, edge) in self.edges[first..first + usize::from(edges)].iter().enumerate() {
            let bound = bound(index, edge);
            if bound > most {
                (best, most) = (first + index, bound);
            }
        }
        best
    }

    /// Selects by PUCT (Rosin 2011, in the form of Silver et al. 2017). The blueprint's decision is the first edge and
    /// gets most trials until another edge proves better, so exploration does not distort the node's mean.
    #[inline]
    fn select_prior(&mut self, node: usize, growth: &TreeSettings) -> usize {
        let Node { first, edges, visits, .. } = self.nodes[node];
        let first = first as usize;
        if visits == 0 {
            return first;
        }
        let reach = growth.exploration * f64::from(visits).sqrt();
        let rest = (1.0 - growth.prior) / f64::from(edges - 1);
        let blueprint = self.edges[first].mean;
        self.greatest(node, |index, edge| {
            let prior = if index == 0 { growth.prior } else { rest };
            let mean = if edge.arm.visits == 0 { blueprint } else { edge.mean };
            mean + reach * prior / f64::from(edge.arm.visits + 1)
        })
    }

    /// Selects by UCB1 among the decisions that this world offers, with the availability count of each.
    fn select_available(&mut self, node: usize, world: &State, growth: &TreeSettings) -> usize {
        self.offer(world, growth);
        self.place(node);
        let first = self.nodes[node].first as usize;
        let (mut best, mut most) = (usize::MAX, f64::NEG_INFINITY);
        for &place in &self.places {
            let index = first + usize::from(place);
            let edge = &mut self.edges[index];
            edge.available += 1;
            let bound = if edge.arm.visits == 0 {
                f64::INFINITY
            } else {
                edge.mean + growth.exploration * logarithm(edge.available).sqrt() * edge.width
            };
            // Of equal bounds, the oldest edge of the node has precedence.
            if bound > most || (bound >= most && index < best) {
                (best, most) = (index, bound);
            }
        }
        best
    }

    /// Lists the plausible decisions of the seat to act.
    fn offer(&mut self, world: &State, growth: &TreeSettings) {
        let TreeSettings { searcher, sees_all, .. } = *growth;
        self.offered.clear();
        let Some(actor) = world.actor() else { return };
        let view = world.view(actor);
        let sees_all = sees_all && actor == searcher;
        if !sees_all && matches!(world.table().phase(), Phase::Window | Phase::Chain) {
            // Fast path for the most common decisions: the same list without visiting every spot.
            self.offered.push(Action::Pass);
            self.offered.extend(view.known_matches().iter_from(actor).map(Action::Snap));
            return;
        }
        let choices = world.choices();
        let face = |spot| if sees_all { world.face(spot) } else { view.face(spot) };
        choices.iter().filter(|&action| is_plausible(&view, action, face)).for_each(|action| self.offered.push(action));
        if self.offered.is_empty() {
            self.offered.extend(choices.nth(0));
        }
    }

    /// Finds the edges of the offered decisions among the edges of the node, and adds the edges that it does not have yet.
    /// In that case the node's edges move to the end of `edges`.
    fn place(&mut self, node: usize) {
        let Node { first, edges, .. } = self.nodes[node];
        let range = first as usize..first as usize + usize::from(edges);
        let (own, mut next, mut number) = (&self.edges[range.clone()], 0, edges);
        self.places.clear();
        for action in &self.offered {
            let is_it = |edge: &Edge| edge.arm.action == *action;
            // Most worlds offer the decisions in the order of the edges.
            let found = if own.get(next).is_some_and(is_it) { Some(next) } else { own.iter().position(is_it) };
            let place = found.unwrap_or(usize::from(number));
            number += u16::from(found.is_none());
            next = place + 1;
            self.places.push(place as u16);
        }
        if number > edges {
            let moved = self.edges.len();
            self.edges.extend_from_within(range);
            let new = self.offered.iter().zip(&self.places).filter(|&(_, &place)| place >= edges);
            self.edges.extend(new.map(|(&action, _)| Edge::new(action)));
            self.nodes[node].first = moved as u32;
            self.nodes[node].edges = number;
        }
    }

    /// Continues at the information set of the seat to act: in the node of this set, or outside the tree if the set has
    /// no node. A forced decision gets no node: it is returned as the error, and the caller must carry it out.
    #[inline]
    pub(crate) fn follow(
        &mut self,
        world: &State,
        actor: Seat,
        histories: &SeatHistories,
        growth: &TreeSettings,
        preferred: impl FnOnce() -> Option<Action>,
    ) -> Result<Next, Action> {
        let key = histories.key(growth.mode, actor, growth.searcher, world.table());
        if let Some(node) = self.find(key) {
            self.path.push(PathStep { node, edge: 0 });
            return Ok(Next::Node);
        }
        let last = self.path[self.path.len() - 1];
        if self.edges[last.edge as usize].arm.visits + 1 < growth.expand {
            return Ok(Next::Leaf);
        }
        self.offer(world, growth);
        if let [forced] = self.offered[..] {
            return Err(forced);
        }
        if let Some(preferred) = preferred()
            && let Some(index) = self.offered.iter().position(|action| *action == preferred)
        {
            self.offered[..=index].rotate_right(1);
        }
        self.grow(key, actor, growth.mode != TreeMode::Single || actor == growth.searcher);
        Ok(Next::Leaf)
    }

    /// Adds a node with the decisions in `offered`.
    fn grow(&mut self, key: u64, actor: Seat, is_fixed: bool) {
        // The hash table stays half empty, so that every probe ends.
        if self.nodes.len() * 2 >= self.slots.len() {
            return;
        }
        let first = self.edges.len() as u32;
        self.edges.extend(self.offered.iter().copied().map(Edge::new));
        let edges = self.offered.len() as u16;
        self.nodes.push(Node { key, actor, is_fixed, first, edges, visits: 0 });
        let number = self.nodes.len() as u32;
        let mask = self.slots.len() - 1;
        let mut slot = key as usize & mask;
        while self.slots[slot] != 0 {
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = number;
    }

    #[inline]
    fn find(&self, key: u64) -> Option<u32> {
        let mask = self.slots.len() - 1;
        let mut slot = key as usize & mask;
        loop {
            let number = self.slots[slot];
            if number == 0 {
                return None;
            }
            if self.nodes[number as usize - 1].key == key {
                return Some(number - 1);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Ends an iteration: adds to each node on its path the utility of the seat that decided there.
    #[inline]
    pub(crate) fn learn(&mut self, values: &[f64; MAX_SEATS]) {
        for step in &self.path {
            let node = &mut self.nodes[step.node as usize];
            node.visits += 1;
            let edge = &mut self.edges[step.edge as usize];
            edge.arm.add(values[node.actor.index()]);
            let visits = f64::from(edge.arm.visits);
            edge.mean = edge.arm.sum / visits;
            edge.width = 1.0 / visits.sqrt();
        }
    }
}

words! {
    /// The information that distinguishes the nodes of the other seats.
    pub enum TreeMode {
        /// Single observer: the information of the searching seat, as if all seats had only that information.
        Single = "so",
        /// Multiple observers: each seat's own information in the sampled world.
        Multiple = "mo",
        /// None: only the searching seat has nodes, and the other seats follow the blueprint.
        Policy = "policy",
    }
}

/// Hashes of the information of every seat since the root.
#[derive(Clone, Debug)]
pub(crate) struct SeatHistories {
    public: u64,
    private: [u64; MAX_SEATS],
}

impl SeatHistories {
    /// The histories at the root. The private knowledge of the other seats comes from the sampled world: the true cards
    /// would leak hidden information, and without these cards all seats would share the information of one observer.
    pub(crate) fn at_root(world: &State, searcher: Seat, mode: TreeMode) -> SeatHistories {
        let mut private = [0; MAX_SEATS];
        if mode == TreeMode::Multiple {
            let table = world.table();
            for (seat, private) in Seat::ALL.into_iter().zip(&mut private[..table.seats()]) {
                if seat == searcher {
                    continue;
                }
                for spot in table.seen(seat).iter_from(seat) {
                    let kind = world.face(spot).map_or(0, |card| card.kind() as u64 + 1);
                    *private = mix(*private ^ (kind << 8 | spot.index() as u64));
                }
            }
        }
        SeatHistories { public: 0, private }
    }

    /// The key of the information set of `actor`.
    #[inline]
    fn key(&self, mode: TreeMode, actor: Seat, searcher: Seat, table: &Table) -> u64 {
        let observer = if mode == TreeMode::Single { searcher } else { actor };
        let phase = u64::from(table.phase().code());
        let mut key = self.public ^ self.private[observer.index()].rotate_left(17) ^ ((actor as u64) << 8 | phase);
        if table.phase() == Phase::Show {
            // The cards of a reveal become events only when all are chosen, so the chosen cards are added here.
            for spot in table.pointed().iter_from(actor) {
                key = mix(key ^ spot.index() as u64);
            }
        }
        mix(key)
    }
}

impl Sink for SeatHistories {
    /// Adds the public part of an event to the public hash, and a face that only one seat sees to that seat's hash.
    /// Declarations in a window become events only when all seats have declared.
    #[expect(clippy::inline_always, reason = "the kind of event is constant at each call, so the matches disappear")]
    #[inline(always)]
    fn event(&mut self, event: &Event<Card>) {
        self.public = mix(self.public ^ event.public().code());
        if let Some((seat, card)) = event.private() {
            let private = &mut self.private[seat.index()];
            *private = mix(private.wrapping_add(card.kind() as u64 + 1));
        }
    }
}

/// The natural logarithm of a whole number, to within 0.06. It is computed from the number's bits, because a library
/// function may differ in the last digit between machines, but a search must decide the same on all of them.
fn logarithm(number: u32) -> f64 {
    let number = number.max(1);
    let power = number.ilog2();
    let fraction = f64::from(number) / f64::from(1u32 << power) - 1.0;
    std::f64::consts::LN_2 * (f64::from(power) + fraction)
}

/// A tree search. The caller supplies the worlds.
#[derive(Clone, Debug)]
pub(crate) struct Searcher<P: Policy> {
    pub(crate) settings: SearchSettings<P>,
    pub(crate) growth: TreeSettings,
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
        let calls_apart = mode == TreeMode::Policy;
        if !calls_apart {
            settings.playouts.policy = PlayoutPolicy::Uniform;
        }
        let (expand, prior) = if calls_apart { (30, 0.9) } else { (1, 0.0) };
        let growth = TreeSettings { mode, searcher: Seat::A, sees_all: false, exploration: 0.7, expand, prior };
        Searcher { settings, growth, calls_apart, tree: SearchTree::default(), half: Vec::new() }
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
        let truth = self
            .growth
            .sees_all
            .then(|| draw(&mut self.settings, seated, u32::MAX, &mut SplitMix::new(base, u32::MAX)));
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
        self.growth.searcher = view.seat();
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
                    let values = self.iterate(&seated.valuer, &mut world, &mut past, &mut dice);
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
        dice: &mut Dice<SplitMix>,
    ) -> [f64; MAX_SEATS] {
        let growth = self.growth;
        let mut sink = TreeSink { histories: SeatHistories::at_root(world, growth.searcher, growth.mode), past };
        self.tree.descend();
        loop {
            let action = self.tree.select(world, &growth);
            // The decisions of a node are legal in every world that reaches the node.
            world.carry_out(action, dice, &mut sink);
            if let Next::Leaf = self.go_on(world, &mut sink, dice) {
                break;
            }
        }
        self.settings.outcome(valuer, world, growth.searcher, sink.past, dice)
    }

    /// Plays on to the next decision that has a node, or until the iteration leaves the tree.
    #[inline]
    fn go_on(&mut self, world: &mut State, sink: &mut TreeSink<'_, P::History>, dice: &mut Dice<SplitMix>) -> Next {
        let Searcher { settings: SearchSettings { playouts, .. }, growth, tree, .. } = self;
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

#[cfg(test)]
mod tests;
