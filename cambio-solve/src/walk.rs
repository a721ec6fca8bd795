//! The game tree, walked through the engine's own choices, decisions and sightings, with lazy chance.
//!
//! There is no second set of rules here. A node is a [`State`] with latent faces; its successors are what
//! [`State::apply`] makes of each legal decision under each outcome of chance. An outcome is asked for where somebody
//! sees it and not before, so faces that nobody has seen are no branches.

use cambio_core::knob::Race as RaceKnob;
use cambio_core::{Action, Card, Chance, Choices, Event, Race, RaceOrder, Rules, Seat, Setup, State};

use crate::SolveError;
use crate::key::Key;

/// Games are solved for two seats.
pub(crate) const SEATS: usize = 2;

/// What a walk does at the nodes.
pub(crate) trait Visitor {
    /// What is carried from a node to those below it.
    type Path: Copy;

    /// Whether the events of a node's history are kept for it.
    const TRAIL: bool;

    /// Whether chance nodes are visited too, and everything in order: the first choice and outcome first.
    const TREE: bool = false;

    /// So many chance nodes are passed on the way to the next node.
    fn chance(&mut self, nodes: u64) {
        let _ = nodes;
    }

    /// A chance node, in a walk of the whole tree.
    fn fork(&mut self, outcomes: &[Outcome]) -> Result<(), SolveError> {
        let _ = outcomes;
        Ok(())
    }

    /// The end of a round.
    fn terminal(&mut self, node: &Node<Self::Path>, trail: &[Event<Card>]) -> Result<(), SolveError>;

    /// A seat has two or more choices. Pushes one path for each choice in order; `None` is not walked.
    fn decision(
        &mut self,
        node: &Node<Self::Path>,
        at: Decision,
        trail: &[Event<Card>],
        paths: &mut Vec<Option<Self::Path>>,
    ) -> Result<(), SolveError>;
}

/// Who decides among what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decision {
    pub(crate) seat: Seat,
    pub(crate) choices: Choices,
}

/// A node of the tree: a history.
#[derive(Clone, Debug)]
pub(crate) struct Node<P> {
    pub(crate) state: State,
    /// What each seat has perceived and decided so far.
    pub(crate) keys: [Key; SEATS],
    /// The product of the probabilities of chance on the way.
    pub(crate) chance: f64,
    pub(crate) path: P,
    /// What happened since the node above, where a trail is kept.
    news: Vec<Event<Card>>,
    /// How long the trail is without the news.
    above: usize,
    /// The chance nodes on the way from the node above that no node before this one has passed; kept for a whole tree.
    forks: Vec<Vec<Outcome>>,
}

/// Chance that plays a script and notes where it could go on otherwise.
#[derive(Default)]
pub(crate) struct Script {
    levels: Vec<Level>,
    /// How many levels are written.
    len: usize,
    /// How many have been played in this run.
    played: usize,
}

/// A chance node on the way.
#[derive(Default)]
struct Level {
    chosen: usize,
    options: Vec<Outcome>,
}

/// What may come out at a chance node, as likely as it has ways among those of all outcomes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// The index in the pool, or the number of the order.
    place: usize,
    pub(crate) lot: Lot,
    pub(crate) ways: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Lot {
    /// A card of this kind is seen.
    Face(Card),
    /// This seat is the first of a race.
    First(Seat),
}

impl Level {
    /// The ways of the outcome chosen, and of all.
    fn ways(&self) -> (u32, u32) {
        (self.options[self.chosen].ways, self.options.iter().map(|outcome| outcome.ways).sum())
    }

    fn probability(&self) -> f64 {
        let (ways, all) = self.ways();
        f64::from(ways) / f64::from(all)
    }
}

impl Script {
    /// Goes on to the next sequence of outcomes; none is left if it says no.
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

    fn play(&mut self, options: impl FnOnce(&mut Vec<Outcome>)) -> usize {
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
        level.options[level.chosen].place
    }

    pub(crate) fn probability(&self) -> f64 {
        self.levels[..self.len].iter().map(Level::probability).product()
    }
}

impl Script {
    /// The same as a fraction.
    pub(crate) fn odds(&self) -> (i128, i128) {
        let levels = self.levels[..self.len].iter().map(Level::ways);
        levels.fold((1, 1), |odds, (ways, all)| (odds.0 * i128::from(ways), odds.1 * i128::from(all)))
    }
}

impl Chance for Script {
    const SETTLES: bool = false;

    /// One outcome for each kind in the pool: copies are exchangeable.
    fn draw(&mut self, pool: &[Card]) -> usize {
        self.play(|options| distinct(pool, options))
    }

    fn shuffle(&mut self, _: &mut [Card]) {
        unreachable!("a state with latent faces has no stock to order")
    }

    fn race(&mut self, race: &Race<'_>) -> RaceOrder {
        let [one, other] = racers(race);
        let first = match race.rules.spec().race {
            RaceKnob::TurnOrder => one,
            RaceKnob::Uniform => [one, other][self.play(|options| even([(one, 1), (other, 1)], options))],
            RaceKnob::Weighted => {
                let weigh = |seat| (seat, race.rules.spec().race_weights.of(seat));
                [one, other][self.play(|options| even([weigh(one), weigh(other)], options))]
            }
        };
        RaceOrder::new([first, if first == one { other } else { one }])
    }
}

/// The two seats of a race, from the one whose turn it is.
fn racers(race: &Race<'_>) -> [Seat; SEATS] {
    let mut seats = race.turn.round(race.seats).filter(|&seat| race.snappers.contains(seat));
    std::array::from_fn(|_| seats.next().expect("two seats snap where there is a race"))
}

fn even(ways: [(Seat, u32); SEATS], options: &mut Vec<Outcome>) {
    let outcome = |(place, (seat, ways))| Outcome { place, lot: Lot::First(seat), ways };
    options.extend(ways.into_iter().enumerate().map(outcome));
}

/// The kinds of a pool in order, each with one of its places.
fn distinct(pool: &[Card], options: &mut Vec<Outcome>) {
    for (place, card) in pool.iter().enumerate() {
        match options.binary_search_by_key(&Lot::Face(*card), |outcome| outcome.lot) {
            Ok(known) => options[known].ways += 1,
            Err(at) => options.insert(at, Outcome { place, lot: Lot::Face(*card), ways: 1 }),
        }
    }
}

/// Walks the whole tree of a round that seat a starts, as far as the visitor lets it: depth first, a node before those
/// below it, the last choice and outcome first unless the visitor wants a [`TREE`](Visitor::TREE) in order.
///
/// The nodes that wait are kept on the heap, so the depth of a game is no danger to the stack.
pub(crate) fn walk<V: Visitor>(rules: &Rules, root: V::Path, visitor: &mut V) -> Result<(), SolveError> {
    let mut walk = Walk { visitor, waiting: Vec::new(), script: Script::default(), trail: Vec::new() };
    walk.begin(&Setup::new(rules, SEATS), root)?;
    let mut paths = Vec::new();
    while let Some(node) = walk.waiting.pop() {
        walk.trail.truncate(node.above);
        walk.trail.extend_from_slice(&node.news);
        for outcomes in &node.forks {
            walk.visitor.fork(outcomes)?;
        }
        let below = walk.waiting.len();
        let Some(seat) = node.state.actor() else {
            walk.visitor.terminal(&node, &walk.trail)?;
            continue;
        };
        let choices = node.state.choices();
        if choices.len() == 1 {
            // A forced decision is no node, and tells its seat nothing.
            walk.carry_out(&node, choices.nth(0).expect("there is one choice"), node.keys, node.path);
            walk.order(below);
            continue;
        }
        paths.clear();
        walk.visitor.decision(&node, Decision { seat, choices }, &walk.trail, &mut paths)?;
        for (action, path) in choices.iter().zip(&paths) {
            if let Some(path) = *path {
                let mut keys = node.keys;
                keys[seat.index()].decide(action);
                walk.carry_out(&node, action, keys, path);
            }
        }
        walk.order(below);
    }
    Ok(())
}

struct Walk<'v, V: Visitor> {
    visitor: &'v mut V,
    waiting: Vec<Node<V::Path>>,
    script: Script,
    trail: Vec<Event<Card>>,
}

impl<V: Visitor> Walk<'_, V> {
    fn begin(&mut self, setup: &Setup, path: V::Path) -> Result<(), SolveError> {
        loop {
            let before = self.script.len;
            let (mut keys, mut news) = ([Key::START; SEATS], Vec::new());
            let mut sink = |event: &Event<Card>| hear::<V>(*event, &mut keys, &mut news);
            let state = State::deal_latent(setup, &mut self.script, &mut sink)
                .map_err(|error| SolveError::Unfit(error.to_string()))?;
            self.push(before, Node { state, keys, chance: 1.0, path, news, above: 0, forks: Vec::new() });
            if !self.script.advance() {
                self.order(0);
                return Ok(());
            }
        }
    }

    /// Pushes what a decision leads to, under each outcome of chance.
    fn carry_out(&mut self, node: &Node<V::Path>, action: Action, keys: [Key; SEATS], path: V::Path) {
        loop {
            let before = self.script.len;
            let mut state = node.state.clone();
            let (mut keys, mut news) = (keys, Vec::new());
            let mut sink = |event: &Event<Card>| hear::<V>(*event, &mut keys, &mut news);
            state.apply(action, &mut self.script, &mut sink).expect("the choices of a node are legal");
            let (chance, above) = (node.chance, self.trail.len());
            self.push(before, Node { state, keys, chance, path, news, above, forks: Vec::new() });
            if !self.script.advance() {
                return;
            }
        }
    }

    fn push(&mut self, before: usize, mut node: Node<V::Path>) {
        // The levels that were there before this run are chance nodes that were passed already.
        self.visitor.chance((self.script.len - before) as u64);
        node.chance *= self.script.probability();
        if V::TREE {
            let new = &self.script.levels[before..self.script.len];
            node.forks = new.iter().map(|level| level.options.clone()).collect();
        }
        self.waiting.push(node);
    }

    /// Lets the first of the nodes that were pushed from here on be the next, where the visitor wants that.
    fn order(&mut self, from: usize) {
        if V::TREE {
            self.waiting[from..].reverse();
        }
    }
}

#[inline]
fn hear<V: Visitor>(event: Event<Card>, keys: &mut [Key; SEATS], news: &mut Vec<Event<Card>>) {
    for (key, seat) in keys.iter_mut().zip(Seat::ALL) {
        key.perceive(event.seen_from(seat));
    }
    if V::TRAIL {
        news.push(event);
    }
}

/// The expectation of a figure over the faces of a finished round that nobody has seen: they are exchangeable, so each
/// assignment of the pool's cards to them is equally likely. The script says how likely each is.
pub(crate) fn settled(state: &State, mut figure: impl FnMut(&State, &Script)) {
    let mut script = Script::default();
    loop {
        let mut world = state.clone();
        world.settle(&mut script);
        figure(&world, &script);
        if !script.advance() {
            return;
        }
    }
}
