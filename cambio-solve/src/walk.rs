//! The game tree, walked through the engine's own choices, decisions and sightings, with lazy chance.
//!
//! The walk does not reimplement the rules. A node is a [`State`] with latent faces; its children are the results of
//! [`State::apply`] for each legal decision under each chance outcome. The engine requests an outcome only when a seat
//! sees the face, so unseen faces do not branch.

use cambio_core::engine::{Chance, RaceOrder, Setup, SnapRace};
use cambio_core::rules::knob::Race as RaceKnob;
use cambio_core::{Action, Card, Choices, Event, Rules, Seat, State};

use crate::SolveError;
use crate::key::{HistoryKey, perceive_all};

/// Games are solved for two seats.
pub(crate) const SEATS: usize = 2;

/// The callbacks of a walk.
#[expect(unused_variables, reason = "the default methods do nothing")]
pub(crate) trait Visitor {
    /// The data that is passed from a node to its children.
    type Path: Copy;

    /// Whether the walk keeps the events and decisions of a node's history.
    const TRAIL: bool;

    /// Called before the next node, with the number of chance nodes that the walk has passed for the first time.
    fn chance(&mut self, nodes: u64) {}

    /// Called at the end of a round.
    fn terminal(&mut self, node: &HistoryNode<Self::Path>) -> Result<(), SolveError> {
        Ok(())
    }

    /// Called at a decision with several choices. Pushes one path for each choice, in order; `None` skips the choice.
    fn decision(
        &mut self,
        node: &HistoryNode<Self::Path>,
        at: DecisionNode,
        trail: &Trail,
        paths: &mut Vec<Option<Self::Path>>,
    ) -> Result<(), SolveError>;
}

/// All events and decisions of a history, in order.
#[derive(Default)]
pub(crate) struct Trail {
    pub(crate) events: Vec<Event<Card>>,
    /// The decisions of both seats, including forced ones.
    pub(crate) decisions: Vec<(Seat, Action)>,
}

impl Trail {
    /// The numbers of events and decisions.
    fn len(&self) -> (usize, usize) {
        (self.events.len(), self.decisions.len())
    }

    /// Replaces everything after the first events and decisions.
    fn extend_from(
        &mut self,
        (events, decisions): (usize, usize),
        new: &[Event<Card>],
        decided: Option<(Seat, Action)>,
    ) {
        self.events.truncate(events);
        self.events.extend_from_slice(new);
        self.decisions.truncate(decisions);
        self.decisions.extend(decided);
    }
}

/// The seat to act and its choices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DecisionNode {
    pub(crate) seat: Seat,
    pub(crate) choices: Choices,
}

/// A node of the tree: a history.
#[derive(Clone, Debug)]
pub(crate) struct HistoryNode<P> {
    pub(crate) state: State,
    /// The key of each seat's sightings and decisions so far.
    pub(crate) keys: [HistoryKey; SEATS],
    /// The product of the chance probabilities on the path from the root.
    pub(crate) chance: f64,
    pub(crate) path: P,
    /// The events since the parent node, if the walk keeps a trail.
    events: Vec<Event<Card>>,
    /// The decision that led from the parent node to this node, if the walk keeps a trail.
    decided: Option<(Seat, Action)>,
    /// The length of the trail without `events` and `decided`.
    above: (usize, usize),
}

/// Chance that replays a script of outcomes, and records the alternatives.
#[derive(Default)]
pub(crate) struct ChanceEnumerator {
    levels: Vec<Level>,
    /// The number of levels in use.
    len: usize,
    /// The number of levels replayed in this run.
    played: usize,
}

/// A chance node of a script: the number of the chosen outcome, and all outcomes, each with its number of equally likely ways.
/// An outcome is the index of a card in the pool, or of a seat in the race.
#[derive(Default)]
struct Level {
    chosen: usize,
    options: Vec<(usize, u32)>,
}

impl Level {
    /// The probability of the chosen outcome.
    fn probability(&self) -> f64 {
        let all: u32 = self.options.iter().map(|(_, ways)| ways).sum();
        f64::from(self.options[self.chosen].1) / f64::from(all)
    }
}

impl ChanceEnumerator {
    /// Advances to the next sequence of outcomes; `false` if there is none.
    fn advance(&mut self) -> bool {
        self.played = 0;
        while self.len > 0 {
            let last = &mut self.levels[self.len - 1];
            last.chosen += 1;
            if last.chosen < last.options.len() {
                return true;
            }
            self.len -= 1;
        }
        false
    }

    fn play(&mut self, options: impl FnOnce(&mut Vec<(usize, u32)>)) -> usize {
        if self.played == self.len {
            if self.levels.len() == self.len {
                self.levels.push(Level::default());
            }
            let level = &mut self.levels[self.len];
            level.chosen = 0;
            level.options.clear();
            options(&mut level.options);
            self.len += 1;
        }
        let level = &self.levels[self.played];
        self.played += 1;
        level.options[level.chosen].0
    }

    fn probability(&self) -> f64 {
        self.levels[..self.len].iter().map(Level::probability).product()
    }
}

impl Chance for ChanceEnumerator {
    fn settles(&self) -> bool {
        false
    }

    /// There is one outcome for each kind in the pool, because copies of a card are exchangeable.
    fn draw(&mut self, pool: &[Card]) -> usize {
        self.play(|options| distinct(pool, options))
    }

    fn shuffle(&mut self, _: &mut [Card]) {
        unreachable!("a state with latent faces has no stock to order")
    }

    fn race(&mut self, race: &SnapRace<'_>) -> RaceOrder {
        let [one, other] = racers(race);
        let spec = race.rules.spec();
        let weight = |seat| if spec.race == RaceKnob::Weighted { spec.race_weights.of(seat) } else { 1 };
        let is_first = spec.race == RaceKnob::TurnOrder
            || self.play(|options| options.extend([(0, weight(one)), (1, weight(other))])) == 0;
        RaceOrder::new(if is_first { [one, other] } else { [other, one] })
    }
}

/// The two seats of a race, in turn order from the seat whose turn it is.
fn racers(race: &SnapRace<'_>) -> [Seat; SEATS] {
    let mut seats = race.snappers.iter_from(race.turn);
    std::array::from_fn(|_| seats.next().expect("two seats snap where there is a race"))
}

/// Lists the kinds of a pool in order, each with the index of one of its cards.
fn distinct(pool: &[Card], options: &mut Vec<(usize, u32)>) {
    for (index, card) in pool.iter().enumerate() {
        match options.binary_search_by_key(card, |&(known, _)| pool[known]) {
            Ok(known) => options[known].1 += 1,
            Err(at) => options.insert(at, (index, 1)),
        }
    }
}

/// Walks the tree of a round that seat a starts, without the branches that the visitor skips: depth first, in
/// pre-order, the last choice and outcome first.
///
/// Pending nodes are on the heap, so a deep game cannot overflow the stack.
pub(crate) fn walk<V: Visitor>(rules: &Rules, root: V::Path, visitor: &mut V) -> Result<(), SolveError> {
    let mut walk =
        TreeWalk { visitor, waiting: Vec::new(), script: ChanceEnumerator::default(), trail: Trail::default() };
    walk.begin(&Setup::new(rules, SEATS), root)?;
    let mut paths = Vec::new();
    while let Some(node) = walk.waiting.pop() {
        walk.trail.extend_from(node.above, &node.events, node.decided);
        let Some(seat) = node.state.actor() else {
            walk.visitor.terminal(&node)?;
            continue;
        };
        let choices = node.state.choices();
        if choices.len() == 1 {
            // A forced decision is not a node, because it gives its seat no information.
            walk.carry_out(&node, choices.nth(0).expect("there is one choice"), node.keys, node.path);
            continue;
        }
        paths.clear();
        walk.visitor.decision(&node, DecisionNode { seat, choices }, &walk.trail, &mut paths)?;
        for (action, path) in choices.iter().zip(&paths) {
            if let Some(path) = *path {
                let mut keys = node.keys;
                keys[seat.index()].decide(action);
                walk.carry_out(&node, action, keys, path);
            }
        }
    }
    Ok(())
}

struct TreeWalk<'v, V: Visitor> {
    visitor: &'v mut V,
    waiting: Vec<HistoryNode<V::Path>>,
    script: ChanceEnumerator,
    trail: Trail,
}

impl<V: Visitor> TreeWalk<'_, V> {
    fn begin(&mut self, setup: &Setup, path: V::Path) -> Result<(), SolveError> {
        loop {
            let before = self.script.len;
            let (mut keys, mut events) = ([HistoryKey::START; SEATS], Vec::new());
            let mut sink = |event: &Event<Card>| hear::<V>(*event, &mut keys, &mut events);
            let state = State::deal_latent(setup, &mut self.script, &mut sink)
                .map_err(|error| SolveError::Unfit(error.to_string()))?;
            self.push(before, HistoryNode { state, keys, chance: 1.0, path, events, decided: None, above: (0, 0) });
            if !self.script.advance() {
                return Ok(());
            }
        }
    }

    /// Pushes the results of a decision, one for each chance outcome.
    fn carry_out(&mut self, node: &HistoryNode<V::Path>, action: Action, keys: [HistoryKey; SEATS], path: V::Path) {
        loop {
            let before = self.script.len;
            let mut state = node.state.clone();
            let (mut keys, mut events) = (keys, Vec::new());
            let mut sink = |event: &Event<Card>| hear::<V>(*event, &mut keys, &mut events);
            state.apply(action, &mut self.script, &mut sink).expect("the choices of a node are legal");
            let (chance, above) = (node.chance, self.trail.len());
            let decided = node.state.actor().filter(|_| V::TRAIL).map(|seat| (seat, action));
            self.push(before, HistoryNode { state, keys, chance, path, events, decided, above });
            if !self.script.advance() {
                return;
            }
        }
    }

    fn push(&mut self, before: usize, mut node: HistoryNode<V::Path>) {
        // Levels from before this run are chance nodes that were counted already.
        self.visitor.chance((self.script.len - before) as u64);
        node.chance *= self.script.probability();
        self.waiting.push(node);
    }
}

#[inline]
fn hear<V: Visitor>(event: Event<Card>, keys: &mut [HistoryKey; SEATS], events: &mut Vec<Event<Card>>) {
    perceive_all(keys, &event);
    if V::TRAIL {
        events.push(event);
    }
}

/// Calls `visit` for each assignment of cards to the unseen faces of a finished round, with its probability. Unseen faces are
/// exchangeable, so they are drawn from the pool of unseen cards.
pub(crate) fn settled(state: &State, mut visit: impl FnMut(&State, f64)) {
    let mut script = ChanceEnumerator::default();
    loop {
        let mut world = state.clone();
        world.settle(&mut script);
        visit(&world, script.probability());
        if !script.advance() {
            return;
        }
    }
}
