//! A second, simple walk of the same engine, as a reference for the solver: nodes in a list, information sets by name
//! instead of by digest, chance branch by branch. It is slow and shares no code with the crate.

use std::collections::BTreeMap;

use cambio_core::engine::{Chance, Dice, RaceOrder, Setup, SnapRace};
use cambio_core::play::RoundResult;
use cambio_core::rng::{Key, Purpose};
use cambio_core::{Action, Card, Event, Rules, Score, Seat, State};

/// The tree of a game: its root is the last node.
#[derive(Default)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
    /// The information sets of both seats by their whole history, as a chain: the previous name and the next entry.
    names: BTreeMap<(u32, String), u32>,
}

pub(crate) enum Node {
    /// The payoff of seat a.
    End(f64),
    Chance(Vec<(f64, usize)>),
    /// A seat, its information set, and its choices with their child nodes.
    Ask(Seat, u32, Vec<(Action, usize)>),
}

/// Chance that follows a list of outcomes, and records the options of the first chance node after the list.
struct Guided<'l> {
    list: &'l [usize],
    next: usize,
    open: Option<Vec<(usize, f64)>>,
}

impl Guided<'_> {
    fn choose(&mut self, options: Vec<(usize, f64)>) -> usize {
        self.next += 1;
        match self.list.get(self.next - 1) {
            Some(&chosen) => options[chosen].0,
            None => self.open.get_or_insert(options)[0].0,
        }
    }
}

impl Chance for Guided<'_> {
    fn settles(&self) -> bool {
        false
    }

    fn draw(&mut self, pool: &[Card]) -> usize {
        let mut kinds: BTreeMap<Card, (usize, f64)> = BTreeMap::new();
        for (place, &card) in pool.iter().enumerate() {
            kinds.entry(card).or_insert((place, 0.0)).1 += 1.0 / pool.len() as f64;
        }
        self.choose(kinds.into_values().collect())
    }

    fn shuffle(&mut self, _: &mut [Card]) {
        unreachable!("the stock of a mini game is never reshuffled")
    }

    fn race(&mut self, race: &SnapRace<'_>) -> RaceOrder {
        let seats: Vec<Seat> = race.snappers.iter_from(Seat::A).collect();
        let first = self.choose(vec![(0, 0.5), (1, 0.5)]);
        RaceOrder::new([seats[first], seats[1 - first]])
    }
}

pub(crate) fn payoff(state: &State) -> f64 {
    let result = RoundResult::of(state).expect("the round is over and settled");
    f64::from(result.scores()[0].units()) / f64::from(Score::UNITS)
}

impl Tree {
    pub(crate) fn of(rules: &Rules) -> Tree {
        let mut tree = Tree::default();
        let deal = |chance: &mut Guided<'_>, sink: &mut dyn FnMut(Event<Card>)| {
            State::deal_latent(&Setup::new(rules, 2), chance, &mut |event: &Event<Card>| sink(*event)).unwrap()
        };
        tree.branch(&deal, [0, 1], &mut Vec::new());
        tree
    }

    fn push(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// The name of a history with one more entry.
    fn name(&mut self, before: u32, what: String) -> u32 {
        let next = self.names.len() as u32 + 2;
        *self.names.entry((before, what)).or_insert(next)
    }

    fn branch(
        &mut self,
        run: &impl Fn(&mut Guided<'_>, &mut dyn FnMut(Event<Card>)) -> State,
        names: [u32; 2],
        list: &mut Vec<usize>,
    ) -> usize {
        let mut heard = Vec::new();
        let mut chance = Guided { list, next: 0, open: None };
        let state = run(&mut chance, &mut |event| heard.push(event));
        if let Some(options) = chance.open {
            let mut outcomes = Vec::new();
            for (number, (_, probability)) in options.into_iter().enumerate() {
                list.push(number);
                outcomes.push((probability, self.branch(run, names, list)));
                list.pop();
            }
            return self.push(Node::Chance(outcomes));
        }
        let mut names = names;
        for event in heard {
            for (name, seat) in names.iter_mut().zip(Seat::ALL) {
                *name = self.name(*name, format!("{:?}", event.seen_from(seat)));
            }
        }
        self.grow(&state, names)
    }

    fn grow(&mut self, state: &State, names: [u32; 2]) -> usize {
        let Some(seat) = state.actor() else {
            return self.push(Node::End(settle(state, &mut Vec::new())));
        };
        let forced = state.choices().len() == 1;
        let mut choices = Vec::new();
        for action in state.choices().iter() {
            let mut names = names;
            if !forced {
                names[seat.index()] = self.name(names[seat.index()], action.to_string());
            }
            let run = |chance: &mut Guided<'_>, sink: &mut dyn FnMut(Event<Card>)| {
                let mut next = state.clone();
                next.apply(action, chance, &mut |event: &Event<Card>| sink(*event)).unwrap();
                next
            };
            choices.push((action, self.branch(&run, names, &mut Vec::new())));
        }
        if forced { choices[0].1 } else { self.push(Node::Ask(seat, names[seat.index()], choices)) }
    }

    pub(crate) fn sets(&self, of: Seat) -> usize {
        let mut sets: Vec<u32> = Vec::new();
        for node in &self.nodes {
            if let Node::Ask(seat, set, _) = node
                && *seat == of
            {
                sets.push(*set);
            }
        }
        sets.sort_unstable();
        sets.dedup();
        sets.len()
    }
}

/// The payoff of a finished round, averaged over all unseen faces.
fn settle(state: &State, list: &mut Vec<usize>) -> f64 {
    let mut world = state.clone();
    let mut chance = Guided { list, next: 0, open: None };
    world.settle(&mut chance);
    let Some(options) = chance.open else { return payoff(&world) };
    let mut worth = 0.0;
    for (number, (_, probability)) in options.into_iter().enumerate() {
        list.push(number);
        worth += probability * settle(state, list);
        list.pop();
    }
    worth
}

/// Every distinguishable order of a deck.
pub(crate) fn orders(rules: &Rules) -> Vec<Vec<Card>> {
    fn go(left: &mut BTreeMap<Card, usize>, order: &mut Vec<Card>, len: usize, orders: &mut Vec<Vec<Card>>) {
        if order.len() == len {
            orders.push(order.clone());
            return;
        }
        let cards: Vec<Card> = left.keys().copied().collect();
        for card in cards {
            let copies = left[&card];
            if copies > 0 {
                left.insert(card, copies - 1);
                order.push(card);
                go(left, order, len, orders);
                order.pop();
                left.insert(card, copies);
            }
        }
    }
    let mut left = BTreeMap::new();
    for &card in rules.deck() {
        *left.entry(card).or_insert(0) += 1;
    }
    let mut orders = Vec::new();
    go(&mut left, &mut Vec::new(), rules.deck().len(), &mut orders);
    orders
}

/// The probabilities of each information set, by seat and by the seat's sightings. A seat's own declaration in a window
/// is visible in its next sightings, wherever it makes a difference in these games.
pub(crate) type Book = BTreeMap<(Seat, Vec<String>, bool), Vec<f64>>;

/// A seat's history as a key of a [`Book`]; the last part is whether the decision is in a window.
pub(crate) fn page(seat: Seat, sightings: &[cambio_core::Sighting], state: bool) -> (Seat, Vec<String>, bool) {
    (seat, sightings.iter().map(|sighting| format!("{sighting:?}")).collect(), state)
}

/// The payoff of seat a in a dealt deck, without latent faces, if both seats play by the book.
pub(crate) fn dealt(rules: &Rules, deck: &[Card], book: &Book) -> f64 {
    let mut trail = Vec::new();
    let mut dice = Dice(Key::new(0, 0).stream(Purpose::Race, 0));
    let state =
        State::deal(&Setup::new(rules, 2), deck, &mut dice, &mut |event: &Event<Card>| trail.push(*event)).unwrap();
    play(&state, &trail, book)
}

/// Chance for a dealt deck: the snapper with this index wins every race.
struct First(usize, bool);

impl Chance for First {
    fn draw(&mut self, _: &[Card]) -> usize {
        unreachable!("the deck is dealt")
    }

    fn shuffle(&mut self, _: &mut [Card]) {
        unreachable!("the stock of a mini game is never reshuffled")
    }

    fn race(&mut self, race: &SnapRace<'_>) -> RaceOrder {
        self.1 = true;
        let seats: Vec<Seat> = race.snappers.iter_from(Seat::A).collect();
        RaceOrder::new([seats[self.0], seats[1 - self.0]])
    }
}

fn play(state: &State, trail: &[Event<Card>], book: &Book) -> f64 {
    let Some(seat) = state.actor() else { return payoff(state) };
    let choices = state.choices();
    let probabilities = if choices.len() == 1 {
        vec![1.0]
    } else {
        let sightings: Vec<_> = trail.iter().map(|event| event.seen_from(seat)).collect();
        book[&page(seat, &sightings, state.table().phase() == cambio_core::Phase::Window)].clone()
    };
    let mut worth = 0.0;
    for (action, probability) in choices.iter().zip(probabilities) {
        if probability == 0.0 {
            continue;
        }
        let mut raced = false;
        for first in 0..2 {
            let (mut next, mut trail, mut chance) = (state.clone(), trail.to_vec(), First(first, false));
            next.apply(action, &mut chance, &mut |event: &Event<Card>| trail.push(*event)).unwrap();
            raced |= chance.1;
            let coin = if raced { 0.5 } else { 1.0 };
            worth += coin * probability * play(&next, &trail, book);
            if !raced {
                break;
            }
        }
    }
    worth
}
