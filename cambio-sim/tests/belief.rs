//! Compares beliefs with brute force and with the solver, on a mini game whose information sets can all be enumerated.

use std::iter::repeat_n;

use cambio_agents::{Belief, Likelihood};
use cambio_core::rng::{Key, Purpose};
use cambio_core::{Action, Briefing, Card, Observation, Rules, Seat, Spot};
use cambio_solve::{Game, InfosetView, Limits, Posterior, Strategy};

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

/// `SETS` information sets of a seat, spread evenly over all information sets that fulfil the predicate.
fn spread(game: &Game, seat: Seat, is_wanted: impl Fn(&InfosetView<'_>) -> bool) -> Vec<usize> {
    let mut all = Vec::new();
    game.visit(seat, |moment| all.extend(is_wanted(moment).then_some(moment.set))).unwrap();
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

/// The marginals of a posterior.
fn of_posterior(posterior: &Posterior, kinds: usize) -> Marginals {
    let row = |&spot: &Spot| {
        let mut row = vec![0.0; kinds];
        for (card, probability) in posterior.marginal(spot).expect("a posterior has a marginal for each of its spots") {
            row[card.kind()] = probability;
        }
        row
    };
    posterior.spots.iter().map(row).collect()
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

/// A strategy that uses only public information: uniform over all choices except snaps. Its decisions contain no information
/// about its cards, so that the posterior equals plain counting.
fn tells_nothing(game: &Game) -> Strategy {
    let mut strategy = game.uniform();
    for seat in SEATS {
        for set in 0..game.information_sets(seat) {
            let choices = game.choices(seat, set);
            let is_taken = |action: &Action| !matches!(action, Action::Snap(_));
            let share = 1.0 / choices.iter().filter(|action| is_taken(action)).count() as f64;
            let shares: Vec<f64> = choices.iter().map(|action| if is_taken(action) { share } else { 0.0 }).collect();
            game.set_probabilities(&mut strategy, seat, set, &shares);
        }
    }
    strategy
}

/// With ε = 1, the belief equals plain counting, which is the solver's posterior against an uninformative strategy.
#[test]
fn a_belief_without_evidence_agrees_with_the_solver() {
    let game = mini_m3();
    let kinds = game.rules().kinds().len();
    let silent = tells_nothing(&game);
    let likelihood = Likelihood { epsilon: 1.0, ..Likelihood::default() };
    for seat in SEATS {
        let sets = spread(&game, seat, |_| true);
        let posteriors = game.posteriors(&silent, seat, &sets).unwrap();
        let (mut counting, mut solver, mut exact) = (Apart::default(), Apart::default(), Apart::default());
        let mut ruled_out = 0;
        at_each(&game, seat, &sets, likelihood, |moment, belief| {
            let (counted, drawn) = (counted(moment.view), drawn(moment, belief));
            counting.compare(&drawn, &counted);
            let place = sets.iter().position(|&set| set == moment.set).expect("one of the spread sets");
            let posterior = &posteriors[place];
            assert_eq!((posterior.seat, posterior.set), (seat, moment.set));
            if posterior.worlds.is_empty() {
                // The other seat has snapped, which the uninformative strategy never does.
                ruled_out += 1;
                return;
            }
            assert_eq!(posterior.spots, hidden(moment.view));
            let posterior = of_posterior(posterior, kinds);
            solver.compare(&drawn, &posterior);
            exact.compare(&counted, &posterior);
        });
        println!(
            "seat {seat}: {} marginals, total variation to counting at most {:.4}; {} to the solver at most {:.4} \
             ({ruled_out} sets ruled out); counting to the solver at most {:.1e}",
            counting.marginals, counting.most, solver.marginals, solver.most, exact.most
        );
        assert!(counting.marginals >= SETS && counting.most <= 0.01, "seat {seat}: {}", counting.most);
        assert!(solver.marginals >= SETS / 2 && solver.most <= 0.01, "seat {seat}: {}", solver.most);
        assert!(exact.most < 1e-12, "seat {seat}: {}", exact.most);
    }
}
