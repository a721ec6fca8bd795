//! Compares beliefs with brute force, on a mini game whose information sets can all be enumerated.

use std::iter::repeat_n;

use cambio_agents::{Belief, Likelihood};
use cambio_core::rng::{Key, Purpose};
use cambio_core::{Briefing, Card, Observation, Rules, Seat, Spot};
use cambio_solve::{Game, InfosetView, Limits};

const SEATS: [Seat; 2] = [Seat::A, Seat::B];

/// The number of tested information sets per seat.
const SETS: usize = if cfg!(debug_assertions) { 40 } else { 150 };

/// The number of sampled worlds per information set. Then the maximum total variation over all marginals is 0.007.
const WORLDS: usize = 60_000;

/// For each spot, the probability of each kind of card.
type Marginals = Vec<Vec<f64>>;

fn mini_m3() -> Game {
    Game::compile(&Rules::preset("mini-m3").unwrap(), &Limits::default(), &mut |_| {}).unwrap()
}

/// `SETS` information sets of a seat, spread evenly over all of them, in the order in which they are visited.
fn spread(game: &Game, seat: Seat) -> Vec<usize> {
    let mut all = Vec::new();
    game.visit(seat, |moment| all.push(moment.set)).unwrap();
    (0..SETS).map(|number| all[(2 * number + 1) * all.len() / (2 * SETS)]).collect()
}

/// Visits these information sets, each with a belief that has received the seat's sightings up to that point.
fn at_each(
    game: &Game,
    seat: Seat,
    sets: &[usize],
    likelihood: Likelihood,
    mut each: impl FnMut(&InfosetView<'_>, &Belief),
) {
    let mut seen = 0;
    game.visit(seat, |moment| {
        if sets.contains(&moment.set) {
            let stream = Key::new(4, 0).agent(seat);
            let mut belief =
                Belief::new(&Briefing { rules: moment.rules, seats: 2, seat, stream: &stream }, likelihood);
            moment.sightings.iter().for_each(|sighting| belief.notice(sighting));
            belief.prepare();
            each(moment, &belief);
            seen += 1;
        }
    })
    .unwrap();
    assert_eq!(seen, sets.len());
}

/// The occupied spots whose cards the seat has not seen.
fn hidden(view: &Observation<'_>) -> Vec<Spot> {
    view.table().occupied().without(view.known()).iter_from(view.seat()).collect()
}

/// The cards that the seat has not seen: the deck without the cards that it knows, holds, or sees on the pile. Computed from
/// the table, independently of the belief.
fn unseen(view: &Observation<'_>) -> Vec<Card> {
    let table = view.table();
    let mut unseen = view.rules().deck().to_vec();
    let kinds = (0..view.rules().kinds().len()).filter_map(Card::new);
    let pile = kinds.flat_map(|kind| repeat_n(kind, table.on_pile(kind)));
    let faces = table.occupied().intersection(view.known()).iter_from(view.seat()).filter_map(|spot| view.face(spot));
    for card in pile.chain(faces).chain(view.held()) {
        let place = unseen.iter().position(|&other| other == card).expect("a seen card is in the deck");
        unseen.swap_remove(place);
    }
    assert_eq!(
        unseen.len(),
        hidden(view).len() + table.stock_len(),
        "unseen cards are in hidden spots or in the stock"
    );
    unseen
}

/// The marginals over all assignments of unseen cards to the hidden spots.
fn counted(view: &Observation<'_>) -> Marginals {
    let (spots, pool) = (hidden(view), unseen(view));
    let mut marginals = vec![vec![0.0; view.rules().kinds().len()]; spots.len()];
    let mut partial = vec![Vec::<usize>::new()];
    while let Some(chosen) = partial.pop() {
        if chosen.len() == spots.len() {
            for (marginal, &place) in marginals.iter_mut().zip(&chosen) {
                marginal[pool[place].kind()] += 1.0;
            }
            continue;
        }
        let left = (0..pool.len()).filter(|place| !chosen.contains(place));
        partial.extend(left.map(|place| chosen.iter().copied().chain([place]).collect()));
    }
    for marginal in &mut marginals {
        let all: f64 = marginal.iter().sum();
        for share in marginal {
            *share /= all;
        }
    }
    marginals
}

/// The marginals of worlds sampled from the belief.
fn drawn(moment: &InfosetView<'_>, belief: &Belief) -> Marginals {
    let spots = hidden(moment.view);
    let mut stream = Key::new(4, moment.set as u64).stream(Purpose::Race, 0);
    let mut marginals = vec![vec![0.0; moment.rules.kinds().len()]; spots.len()];
    for _ in 0..WORLDS {
        let world = belief.sample(moment.view, &mut stream);
        for (marginal, &spot) in marginals.iter_mut().zip(&spots) {
            marginal[world.face(spot).expect("a hidden spot holds a card").kind()] += 1.0 / WORLDS as f64;
        }
    }
    marginals
}

/// The maximum total variation between two marginals of a spot, and the number of compared marginals.
#[derive(Default)]
struct Apart {
    most: f64,
    marginals: usize,
}

impl Apart {
    fn compare(&mut self, ones: &Marginals, others: &Marginals) {
        assert_eq!(ones.len(), others.len());
        for (one, other) in ones.iter().zip(others) {
            let gaps = one.iter().zip(other).map(|(one, other)| (one - other).abs());
            self.most = self.most.max(gaps.sum::<f64>() / 2.0);
            self.marginals += 1;
        }
    }
}

/// With ε = 1, the belief equals plain counting, which is Bayes' rule if the other seat's decisions say nothing about its cards.
#[test]
fn a_belief_without_evidence_agrees_with_counting() {
    let game = mini_m3();
    let likelihood = Likelihood { epsilon: 1.0, ..Likelihood::default() };
    for seat in SEATS {
        let sets = spread(&game, seat);
        let mut counting = Apart::default();
        at_each(&game, seat, &sets, likelihood, |moment, belief| {
            counting.compare(&drawn(moment, belief), &counted(moment.view));
        });
        println!("seat {seat}: {} marginals, total variation at most {:.4}", counting.marginals, counting.most);
        assert!(counting.marginals >= SETS && counting.most <= 0.01, "seat {seat}: {}", counting.most);
    }
}
