//! The tree of one decision: information sets, what was tried there, and what it was worth to who decided.
//!
//! A node is an information set of the seat that decides in it: what is public since the root, and what that seat alone
//! saw. It holds only that seat's own utilities (max^n needs no more), visits and availability counts (Cowling, Powley
//! and Whitehouse 2012, "Information Set Monte Carlo Tree Search"). Chance has no edges: two outcomes that the seat
//! cannot tell apart lead to one node, two that it can to two.

use cambio_core::{Action, Card, Event, MAX_SEATS, Phase, Seat, Sink, State, Table, View as _};

use crate::bits::{logarithm, mix};
use crate::playout::is_plausible;
use crate::search::Arm;
use crate::words;

words! {
    /// Whose information the nodes of other seats hold.
    pub enum Mode {
        /// Single observer: every node is keyed by what the searching seat sees, as if all decided by that.
        Single = "so",
        /// Multiple observer: every seat decides by what it sees itself in the sampled world.
        Multiple = "mo",
        /// Only the searching seat has nodes; the others follow the blueprint.
        Policy = "policy",
    }
}

/// What every seat has seen since the root, hashed.
#[derive(Clone, Debug)]
pub(crate) struct Histories {
    public: u64,
    private: [u64; MAX_SEATS],
}

impl Histories {
    /// At the root the history is common. What the other seats alone know differs from world to world, and is taken
    /// from the sampled one: the true cards would leak, and none at all would let every seat decide as one observer.
    pub(crate) fn at_root(world: &State, searcher: Seat, mode: Mode) -> Histories {
        let mut private = [0; MAX_SEATS];
        if mode == Mode::Multiple {
            let table = world.table();
            for (seat, private) in Seat::ALL.into_iter().zip(&mut private[..table.seats()]) {
                if seat == searcher {
                    continue;
                }
                for spot in table.seen(seat) {
                    let kind = world.face(spot).map_or(0, |card| card.kind() as u64 + 1);
                    *private = mix(*private ^ (kind << 8 | spot.index() as u64));
                }
            }
        }
        Histories { public: 0, private }
    }

    /// The key of the information set of `actor`.
    #[inline]
    fn key(&self, mode: Mode, actor: Seat, searcher: Seat, table: &Table) -> u64 {
        let observer = if mode == Mode::Single { searcher } else { actor };
        let phase = u64::from(table.phase().code());
        let mut key = self.public ^ self.private[observer.index()].rotate_left(17) ^ ((actor as u64) << 8 | phase);
        if table.phase() == Phase::Show {
            // The cards that a reveal has named are no events before all are.
            for spot in table.pointed() {
                key = mix(key ^ spot.index() as u64);
            }
        }
        mix(key)
    }
}

impl Sink for Histories {
    /// Everything that the table sees goes into the public hash, in order; the faces that one seat alone sees into its
    /// own. Declarations in a window are events only once all are made.
    #[inline]
    fn event(&mut self, event: &Event<Card>) {
        self.public = mix(self.public ^ event.public().code());
        if let Some((seat, card)) = event.private() {
            let private = &mut self.private[seat.index()];
            *private = mix(private.wrapping_add(card.kind() as u64 + 1));
        }
    }
}

/// An information set.
#[derive(Clone, Copy, Debug)]
struct Node {
    key: u64,
    actor: Seat,
    /// Whether every world that comes here offers the same decisions, which is so where the node is the actor's own
    /// information set. A node of another seat that is keyed by what the searcher sees is not.
    is_fixed: bool,
    first: u32,
    edges: u16,
    visits: u32,
}

/// A decision in an information set.
#[derive(Clone, Copy, Debug)]
struct Edge {
    arm: Arm,
    /// How often the decision could have been made.
    available: u32,
    /// The mean of what it was worth, and 1/√visits: what UCB asks for.
    mean: f64,
    width: f64,
}

impl Edge {
    fn new(action: Action) -> Edge {
        Edge { arm: Arm::new(action), available: 0, mean: 0.0, width: 0.0 }
    }
}

/// The node to which an iteration came, and what it tried there.
#[derive(Clone, Copy, Debug)]
struct Step {
    node: u32,
    edge: u32,
}

/// The nodes and edges of one decision. Used again for the next, so that a warm tree allocates nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// Open addressing by key: the node's number plus 1, 0 for none.
    slots: Vec<u32>,
    path: Vec<Step>,
    /// The decisions of a node in the making.
    offered: Vec<Action>,
}

/// How a tree grows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    pub(crate) mode: Mode,
    pub(crate) searcher: Seat,
    /// Whether the searcher knows every card: for an oracle alone.
    pub(crate) sees_all: bool,
    pub(crate) exploration: f64,
    /// How often a decision is tried before what follows it gets a node.
    pub(crate) expand: u32,
    /// How much of its trials a node below the root gives to the blueprint's decision at first; 0 tries all alike.
    pub(crate) prior: f64,
}

/// Where an iteration went on to.
pub(crate) enum Next {
    /// Into another node.
    Node,
    /// Out of the tree: to be played out.
    Leaf,
}

impl Tree {
    /// Begins a tree with these decisions at its root.
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

    /// What was tried at the root.
    pub(crate) fn root(&self) -> impl Iterator<Item = Arm> {
        self.edges[..usize::from(self.nodes[0].edges)].iter().map(|edge| edge.arm)
    }

    /// Begins an iteration at the root.
    pub(crate) fn descend(&mut self) {
        self.path.clear();
        self.path.push(Step { node: 0, edge: 0 });
    }

    /// Chooses a decision in the node where the iteration is.
    #[inline]
    pub(crate) fn select(&mut self, world: &State, growth: &Growth) -> Action {
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

    /// Where every decision is available at every visit, availability is the number of visits.
    #[inline]
    fn select_fixed(&mut self, node: usize, exploration: f64) -> usize {
        let Node { first, edges, visits, .. } = self.nodes[node];
        let first = first as usize;
        if visits < u32::from(edges) {
            return first + visits as usize;
        }
        let reach = exploration * logarithm(visits).sqrt();
        let (mut best, mut most) = (first, f64::NEG_INFINITY);
        for (place, edge) in self.edges[first..first + usize::from(edges)].iter().enumerate() {
            let bound = edge.mean + reach * edge.width;
            if bound > most {
                (best, most) = (first + place, bound);
            }
        }
        best
    }

    /// PUCT (Rosin 2011, as used by Silver et al. 2017): the blueprint's decision, which comes first, is tried before the
    /// others have shown to be better, so that the mean of a node does not suffer from what it explores.
    #[inline]
    fn select_prior(&mut self, node: usize, growth: &Growth) -> usize {
        let Node { first, edges, visits, .. } = self.nodes[node];
        let first = first as usize;
        if visits == 0 {
            return first;
        }
        let reach = growth.exploration * f64::from(visits).sqrt();
        let rest = (1.0 - growth.prior) / f64::from(edges - 1);
        let blueprint = self.edges[first];
        let (mut best, mut most) = (first, f64::NEG_INFINITY);
        for (place, edge) in self.edges[first..first + usize::from(edges)].iter().enumerate() {
            let prior = if place == 0 { growth.prior } else { rest };
            let mean = if edge.arm.visits == 0 { blueprint.mean } else { edge.mean };
            let bound = mean + reach * prior / f64::from(edge.arm.visits + 1);
            if bound > most {
                (best, most) = (first + place, bound);
            }
        }
        best
    }

    /// UCB over the decisions that this world offers, each by how often it was available.
    fn select_available(&mut self, node: usize, world: &State, growth: &Growth) -> usize {
        self.offer(world, growth);
        let offered = std::mem::take(&mut self.offered);
        self.merge(node, &offered);
        let Node { first, edges, .. } = self.nodes[node];
        let range = first as usize..first as usize + usize::from(edges);
        let (mut best, mut most) = (None, f64::NEG_INFINITY);
        for place in range {
            let edge = &mut self.edges[place];
            if !offered.contains(&edge.arm.action) {
                continue;
            }
            edge.available += 1;
            let bound = if edge.arm.visits == 0 {
                f64::INFINITY
            } else {
                edge.mean + growth.exploration * logarithm(edge.available).sqrt() * edge.width
            };
            if bound > most {
                (best, most) = (Some(place), bound);
            }
        }
        self.offered = offered;
        best.expect("who is asked has a choice")
    }

    /// Notes the plausible decisions of the seat that is asked.
    fn offer(&mut self, world: &State, growth: &Growth) {
        let Growth { searcher, sees_all, .. } = *growth;
        self.offered.clear();
        let Some(actor) = world.actor() else { return };
        let (view, choices) = (world.view(actor), world.choices());
        let face = |spot| if sees_all && actor == searcher { world.face(spot) } else { view.face(spot) };
        self.offered.extend(choices.iter().filter(|&action| is_plausible(&view, &choices, action, face)));
        if self.offered.is_empty() {
            self.offered.extend(choices.nth(0));
        }
    }

    /// Adds decisions that the node does not have yet; its edges then move to the end.
    fn merge(&mut self, node: usize, offered: &[Action]) {
        let Node { first, edges, .. } = self.nodes[node];
        let range = first as usize..first as usize + usize::from(edges);
        let is_new = |action: &Action| !self.edges[range.clone()].iter().any(|edge| edge.arm.action == *action);
        let new = offered.iter().filter(|action| is_new(action)).count();
        if new == 0 {
            return;
        }
        let moved = self.edges.len();
        self.edges.extend_from_within(range.clone());
        for &action in offered {
            if !self.edges[moved..].iter().any(|edge| edge.arm.action == action) {
                self.edges.push(Edge::new(action));
            }
        }
        self.nodes[node].first = moved as u32;
        self.nodes[node].edges = (self.edges.len() - moved) as u16;
    }

    /// Goes on to the information set of the seat that is asked now: into its node, past it if its decision is forced,
    /// which gets no node, or out of the tree. A forced decision is given back, to be carried out.
    #[inline]
    pub(crate) fn follow(
        &mut self,
        world: &State,
        actor: Seat,
        histories: &Histories,
        growth: &Growth,
        wish: impl FnOnce() -> Option<Action>,
    ) -> Result<Next, Action> {
        let key = histories.key(growth.mode, actor, growth.searcher, world.table());
        if let Some(node) = self.find(key) {
            self.path.push(Step { node, edge: 0 });
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
        if let Some(wish) = wish()
            && let Some(place) = self.offered.iter().position(|action| *action == wish)
        {
            self.offered[..=place].rotate_right(1);
        }
        self.grow(key, actor, growth.mode != Mode::Single || actor == growth.searcher);
        Ok(Next::Leaf)
    }

    /// Adds a node with the decisions that were just noted.
    fn grow(&mut self, key: u64, actor: Seat, is_fixed: bool) {
        // Half full at most, so that searching ends.
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

    /// Ends an iteration: what it was worth to each seat goes to the seats that decided on its path.
    #[inline]
    pub(crate) fn learn(&mut self, values: &[f64; MAX_SEATS]) {
        for step in &self.path {
            let node = &mut self.nodes[step.node as usize];
            node.visits += 1;
            let edge = &mut self.edges[step.edge as usize];
            edge.arm.visits += 1;
            edge.arm.sum += values[node.actor.index()];
            let visits = f64::from(edge.arm.visits);
            edge.mean = edge.arm.sum / visits;
            edge.width = 1.0 / visits.sqrt();
        }
    }
}

#[cfg(test)]
mod tests;
