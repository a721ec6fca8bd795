//! Compares the distribution of sampled worlds with brute force over all decks.
//!
//! The deck is small, so all its orders can be dealt and played. The orders that give a seat the same sightings are
//! the possible worlds, each equally likely. This enumeration does not use the engine's sampling code.

#![expect(clippy::cast_precision_loss, reason = "counts of samples are far below 2^52")]

use std::cell::Cell;
use std::collections::BTreeMap;

use crate::play::{Manner, amount};
use cambio_core::engine::{CardSource, Chance, Dice, RaceOrder, Setup, SnapRace};
use cambio_core::play::RoundResult;
use cambio_core::rng::{Bounded as _, Key, Purpose, Stream};
use cambio_core::{Action, Card, Event, Knowledge, Phase, Rules, RulesSpec, Seat, Sighting, State};
use serde_json::json;

/// The 99.9 % quantile of chi-square (Wilson and Hilferty 1931). At 3 degrees of freedom the error is 2 %; above, less.
fn limit(freedom: usize) -> f64 {
    let k = freedom as f64;
    k * (1.0 - 2.0 / (9.0 * k) + 3.0902 * (2.0 / (9.0 * k)).sqrt()).powi(3)
}

#[test]
fn the_chi_square_limit_agrees_with_tables() {
    for (freedom, tabled) in [(3, 16.27), (10, 29.59), (30, 59.70), (100, 149.45)] {
        assert!((limit(freedom) / tabled - 1.0).abs() < 0.02, "{freedom}: {} {tabled}", limit(freedom));
    }
}

/// Eleven cards of four kinds without powers; each seat gets three cards and sees one.
fn tiny() -> Rules {
    let kind = |label: &str, points: i16, copies: u8| json!({"label": label, "rank": label, "points": points, "copies": copies});
    let table = json!({
        "base": "original", "name": "tiny", "hand": 3, "peek": "slots 1", "touch": false, "chain": false,
        "empty_hand": "continues", "cap": "none", "match_end": "rounds(1)", "turn_limit": 12, "max_slots": 5,
        "deck": [kind("x", 1, 3), kind("y", 2, 3), kind("z", 3, 3), kind("w", 4, 2)],
    });
    RulesSpec::from_json(&table).unwrap().validate().unwrap()
}

/// Chance with fixed orders for the first stocks; later stocks are shuffled. `fits` is false if the cards differ.
struct Fixed<'a> {
    stocks: &'a [Vec<Card>],
    given: Vec<Vec<Card>>,
    fits: bool,
    stream: Stream,
}

impl Chance for Fixed<'_> {
    fn draw(&mut self, _: &[Card]) -> usize {
        unreachable!("a dealt deck has an order")
    }

    fn shuffle(&mut self, stock: &mut [Card]) {
        let sorted = |cards: &[Card]| {
            let mut cards = cards.to_vec();
            cards.sort_unstable();
            cards
        };
        match self.stocks.get(self.given.len()) {
            None => self.stream.shuffle(stock),
            Some(fixed) if sorted(stock) == sorted(fixed) => stock.copy_from_slice(fixed),
            Some(_) => self.fits = false,
        }
        self.given.push(stock.to_vec());
    }

    fn race(&mut self, race: &SnapRace<'_>) -> RaceOrder {
        RaceOrder::new(race.snappers.iter_from(Seat::A))
    }
}

/// Rearranges the cards to the next order in lexicographic order; returns false if there is none.
fn next_order(cards: &mut [Card]) -> bool {
    let Some(place) = (1..cards.len()).rev().find(|&place| cards[place - 1] < cards[place]) else { return false };
    let other = (place..cards.len()).rev().find(|&other| cards[other] > cards[place - 1]).unwrap();
    cards.swap(place - 1, other);
    cards[place..].reverse();
    true
}

fn orders(cards: &[Card]) -> Vec<Vec<Card>> {
    let mut cards = cards.to_vec();
    cards.sort_unstable();
    let mut all = vec![cards.clone()];
    while next_order(&mut cards) {
        all.push(cards.clone());
    }
    all
}

/// Plays the decisions from a deck and returns the new stocks. `None` if a decision is illegal, a stock does not fit,
/// or `goes_on` returns false for an event.
fn played(
    rules: &Rules,
    deck: &[Card],
    stocks: &[Vec<Card>],
    decisions: &[&str],
    mut goes_on: impl FnMut(&Event<Card>) -> bool,
) -> Option<(State, Vec<Vec<Card>>)> {
    let stream = Key::new(302, 0).stream(Purpose::Reshuffle, 0);
    let mut chance = Fixed { stocks, given: Vec::new(), fits: true, stream };
    let going = Cell::new(true);
    let mut sink = |event: &Event<Card>| going.set(going.get() && goes_on(event));
    let mut state = State::deal(&Setup::new(rules, 2), deck, &mut chance, &mut sink).unwrap();
    for text in decisions {
        let (seat, action) = text.split_once(' ').unwrap();
        if !going.get() || state.actor() != Seat::from_letter(seat.chars().next()?) {
            return None;
        }
        state.apply(action.parse().unwrap(), &mut chance, &mut sink).ok()?;
    }
    (chance.fits && going.get()).then_some((state, chance.given))
}

/// The faces in the layouts of a world, its held card, and its stock, sorted.
fn shape(state: &State) -> Vec<Option<Card>> {
    let mut shape: Vec<Option<Card>> =
        state.table().occupied().iter_from(Seat::A).map(|spot| state.face(spot)).collect();
    shape.push(state.held());
    let mut stock: Vec<Card> = state.stock().collect();
    stock.sort_unstable();
    shape.extend(stock.into_iter().map(Some));
    shape
}

/// Chi-square test of samples against exact probabilities. Cells with fewer than five expected samples are merged.
#[track_caller]
fn assert_fits<K: Ord + std::fmt::Debug>(exact: &BTreeMap<K, f64>, found: &BTreeMap<K, u64>) -> usize {
    let strange: Vec<&K> = found.keys().filter(|key| !exact.contains_key(key)).collect();
    assert!(strange.is_empty(), "sampled, but impossible: {strange:?}");
    let (total, samples) = (exact.values().sum::<f64>(), found.values().sum::<u64>() as f64);
    let (mut square, mut cells, mut few) = (0.0, 0, (0.0, 0.0));
    for (key, weight) in exact {
        let (expected, seen) = (weight / total * samples, found.get(key).copied().unwrap_or(0) as f64);
        if expected < 5.0 {
            few = (few.0 + expected, few.1 + seen);
        } else {
            square += (seen - expected).powi(2) / expected;
            cells += 1;
        }
    }
    if few.0 > 0.0 {
        square += (few.1 - few.0).powi(2) / few.0;
        cells += 1;
    }
    assert!(cells > 1, "only one cell");
    let limit = limit(cells - 1);
    assert!(square < limit, "chi-square {square} with {} degrees of freedom, 99.9 % limit {limit}", cells - 1);
    cells
}

type Shapes = BTreeMap<Vec<Option<Card>>, f64>;

/// Tries all orders of the deck and of the new stocks, and keeps those in which a seat has the same sightings.
struct Brute<'a> {
    rules: &'a Rules,
    decisions: &'a [&'a str],
    seat: Seat,
    sightings: &'a [Sighting],
    orders: Vec<Vec<Vec<Card>>>,
    exact: Shapes,
}

impl Brute<'_> {
    /// Tries all orders of the stocks after the given ones. Returns the number of reshuffles before the first
    /// difference, because the order of a stock that was not reached does not matter.
    fn walk(&mut self, deck: &[Card], given: &mut Vec<Vec<Card>>) -> usize {
        let level = given.len();
        if level == self.orders.len() {
            let (mut perceived, mut reached) = (self.sightings.iter(), 0);
            let state = played(self.rules, deck, given, self.decisions, |event| {
                reached += usize::from(matches!(event, Event::Reshuffled { .. }));
                perceived.next() == Some(&event.seen_from(self.seat))
            });
            let Some((state, _)) = state else { return reached };
            *self.exact.entry(shape(&state)).or_default() += 1.0;
            return usize::MAX;
        }
        for number in 0..self.orders[level].len() {
            given.push(self.orders[level][number].clone());
            let reached = self.walk(deck, given);
            given.pop();
            if reached <= level {
                return reached;
            }
        }
        usize::MAX
    }
}

/// Compares the worlds that `seat` samples after these decisions with [`Brute`]. Returns the cells of the test.
fn check(decisions: &[&str], reshuffles: usize, seat: Seat, seed: u64) -> usize {
    let rules = tiny();
    let mut deck = rules.deck().to_vec();
    Key::new(seed, 0).stream(Purpose::Deck, 0).shuffle(&mut deck);
    let mut knowledge = Knowledge::new(&rules, 2, seat);
    let mut sightings: Vec<Sighting> = Vec::new();
    let truth = played(&rules, &deck, &[], decisions, |event| {
        sightings.push(event.seen_from(seat));
        knowledge.notice(&event.seen_from(seat));
        true
    });
    let (truth, stocks) = truth.expect("the decisions are legal in the true deck");
    assert_eq!(stocks.len(), reshuffles);
    let orders_of_stocks = stocks.iter().map(|stock| orders(stock)).collect();
    let sightings = &sightings;
    let mut brute =
        Brute { rules: &rules, decisions, seat, sightings, orders: orders_of_stocks, exact: Shapes::default() };
    for deck in orders(rules.deck()) {
        brute.walk(&deck, &mut Vec::new());
    }
    let exact = brute.exact;
    let mut stream = Key::new(seed, 0).agent(seat);
    let mut found: BTreeMap<Vec<Option<Card>>, u64> = BTreeMap::new();
    let samples = amount(12, 400) * exact.len().max(100) as u64;
    for _ in 0..samples {
        *found.entry(shape(&knowledge.sample(&truth.observe(seat), &mut stream))).or_default() += 1;
    }
    assert_fits(&exact, &found)
}

const PASSED: [&str; 4] = ["a draw", "a drop", "a pass", "b pass"];

#[test]
fn sampled_worlds_are_uniform() {
    let mut cells = 0;
    for seat in [Seat::A, Seat::B] {
        cells += check(&[], 0, seat, 1);
        cells += check(&PASSED, 0, seat, 2);
        cells += check(&["a draw"], 0, seat, 3);
        cells += check(&["a draw", "a keep a2", "a pass", "b pass", "b draw"], 0, seat, 4);
        // A wrong snap shows b2 and costs an unseen card.
        cells += check(&["a draw", "a drop", "a snap a1", "b snap b2", "b draw", "b keep b1"], 0, seat, 9);
    }
    assert!(cells > 1000, "{cells}");
}

#[test]
fn sampled_worlds_are_uniform_after_a_reshuffle() {
    let start: Vec<&str> = [["a", "b"], ["b", "a"], ["a", "b"], ["b", "a"], ["a", "b"]]
        .iter()
        .flat_map(|[turn, other]| {
            let all = [["a draw", "a drop", "a pass", "b pass"], ["b draw", "b drop", "b pass", "a pass"]];
            assert_ne!(turn, other);
            all[usize::from(*turn == "b")]
        })
        .collect();
    let then = |more: &[&'static str]| -> Vec<&str> { start.iter().chain(more).copied().collect() };
    let mut cells = 0;
    for seat in [Seat::A, Seat::B] {
        // The sixth card drawn comes from the new stock.
        cells += check(&then(&["b draw"]), 1, seat, 1);
        cells += check(&then(&["b draw", "b keep b1"]), 1, seat, 2);
        // Penalty cards from the new stock are next to hidden cards of the deal.
        cells += check(&then(&["b draw", "b keep b1", "b snap b2", "a pass"]), 1, seat, 11);
        cells += check(&then(&["b draw", "b keep b1", "b pass", "a pass", "a draw", "a keep a2"]), 1, seat, 4);
        cells += check(
            &then(&["b draw", "b keep b1", "b pass", "a pass", "a draw", "a keep a2", "a snap b1", "b pass"]),
            1,
            seat,
            5,
        );
        // Hidden cards from three epochs: the deal, the first new stock, and a penalty card from the second.
        let twice = [
            ["b draw", "b keep b1", "b pass", "a pass"],
            ["a draw", "a drop", "a pass", "b pass"],
            ["b draw", "b keep b2", "b pass", "a pass"],
            ["a draw", "a drop", "a pass", "b pass"],
            ["b draw", "b drop", "b snap b3", "a pass"],
        ];
        cells += check(&then(&twice.concat()), 2, seat, 3);
    }
    assert!(cells > 300, "{cells}");
}

/// Plays a round of the tiny game with random players.
fn play_out(mut state: State, dice: &mut Dice<Stream>, stream: &mut Stream) -> (i32, i32, usize, Vec<Card>) {
    let mut tops = Vec::new();
    while let Some(seat) = state.actor() {
        let action = match state.table().phase() {
            Phase::Held(CardSource::Stock) if stream.chance(1, 2) => Action::Drop,
            _ => Manner::Patient.choose(&state.observe(seat), stream),
        };
        state.apply(action, dice, &mut ()).unwrap();
        if tops.len() < 2 {
            tops.extend(state.table().top().filter(|card| tops.last() != Some(card)));
        }
    }
    let result = RoundResult::of(&state).unwrap();
    (result.points()[0], result.points()[1], state.table().reshuffles(), tops)
}

#[test]
fn a_latent_deal_plays_out_like_a_shuffled_deck() {
    let rules = tiny();
    let setup = Setup::new(&rules, 2);
    let games = amount(30_000, 1_000_000);
    let mut dealt: BTreeMap<_, u64> = BTreeMap::new();
    let mut latent: BTreeMap<_, u64> = BTreeMap::new();
    for deal in 0..games {
        let key = Key::new(301, deal);
        let mut deck = rules.deck().to_vec();
        key.stream(Purpose::Deck, 0).shuffle(&mut deck);
        let mut dice = Dice(key.stream(Purpose::Race, 0));
        let state = State::deal(&setup, &deck, &mut dice, &mut ()).unwrap();
        *dealt.entry(play_out(state, &mut dice, &mut key.agent(Seat::A))).or_default() += 1;
        let mut dice = Dice(key.stream(Purpose::Race, 1));
        let state = State::deal_latent(&setup, &mut dice, &mut ()).unwrap();
        *latent.entry(play_out(state, &mut dice, &mut key.agent(Seat::B))).or_default() += 1;
    }
    // Two samples of the same size: chi-square is the sum of (n - m)² / (n + m). Rare outcomes are merged.
    let (mut square, mut cells, mut few) = (0.0, 0, (0.0, 0.0));
    let mut outcomes: Vec<_> = dealt.keys().chain(latent.keys()).collect();
    outcomes.sort_unstable();
    outcomes.dedup();
    for outcome in outcomes {
        let count = |sample: &BTreeMap<_, u64>| sample.get(outcome).copied().unwrap_or(0) as f64;
        let (one, other) = (count(&dealt), count(&latent));
        if one + other < 20.0 {
            few = (few.0 + one, few.1 + other);
        } else {
            square += (one - other).powi(2) / (one + other);
            cells += 1;
        }
    }
    square += (few.0 - few.1).powi(2) / (few.0 + few.1).max(1.0);
    assert!(cells > 100, "{cells}");
    assert!(outcomes_reshuffle(&dealt) > games / 10);
    assert!(square < limit(cells), "chi-square {square} with {cells} degrees of freedom, limit {}", limit(cells));
}

fn outcomes_reshuffle(sample: &BTreeMap<(i32, i32, usize, Vec<Card>), u64>) -> u64 {
    sample.iter().filter(|((_, _, reshuffles, _), _)| *reshuffles > 0).map(|(_, count)| count).sum()
}

#[test]
fn worlds_are_uniform_around_placed_cards() {
    use cambio_core::engine::{Dice, Setup};
    use cambio_core::{Card, Event, Knowledge, RulesSpec, Seat, Spot, State};
    let rules = RulesSpec::from_toml(
        "base = 'classic'\nhand = 2\npeek = 'slots 1'\njokers = 0\n\
         deck = [{ label = 'x', rank = 'x', points = 0, copies = 3 }, { label = 'y', rank = 'y', points = 1, copies = 4 },\n\
         { label = 'z', rank = 'z', points = 2, copies = 5 }]",
    );
    let rules = rules.unwrap().validate().unwrap();
    let mut stream = Key::new(301, 0).agent(Seat::A);
    let mut knowledge = Knowledge::new(&rules, 2, Seat::A);
    let mut sink = |event: &Event<Card>| knowledge.notice(&event.seen_from(Seat::A));
    let mut dice = Dice(stream.clone());
    // Seat a knows its first card, an x; the other eleven cards are hidden from seat a.
    let state = State::deal(&Setup::new(&rules, 2), rules.deck(), &mut dice, &mut sink).unwrap();
    let [one, other, free]: [Spot; 3] = ["b1", "a2", "b2"].map(|spot| spot.parse().unwrap());
    let unseen: Vec<Card> = knowledge.unseen(one).map(|(card, fits)| (fits, card).1).collect();
    assert_eq!(unseen.len(), 11);
    let (mut square, mut cells) = (0.0, 0);
    for (first, second) in [(0, 10), (10, 0), (9, 10), (3, 4)] {
        let draws = 20_000;
        let mut counts = [0.0; 3];
        for _ in 0..draws {
            let placed = [(one, first), (other, second)];
            let world = knowledge.sample_around(&state.observe(Seat::A), &mut stream, &placed);
            assert_eq!((world.face(one), world.face(other)), (Some(unseen[first]), Some(unseen[second])));
            counts[world.face(free).unwrap().kind()] += 1.0;
            let mut cards: Vec<Card> = world.stock().collect();
            cards.extend(world.table().occupied().iter_from(Seat::A).map(|spot| world.face(spot).unwrap()));
            cards.sort_unstable();
            assert_eq!(cards, rules.deck(), "every card is in one place");
        }
        for (kind, count) in counts.into_iter().enumerate() {
            let rest = unseen.iter().enumerate().filter(|(place, _)| *place != first && *place != second);
            let left = rest.filter(|(_, card)| card.kind() == kind).count() as f64;
            let expected = f64::from(draws) * left / 9.0;
            square += (count - expected).powi(2) / expected;
        }
        cells += 2;
    }
    assert!(square < limit(cells), "chi-square {square} with {cells} degrees of freedom, limit {}", limit(cells));
}
