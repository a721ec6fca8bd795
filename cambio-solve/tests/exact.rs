//! Counts, values and best responses, compared with a simple second walk and with dealt decks.

use crate::tree::{Book, Tree, dealt, orders, page};
use crate::{SEATS, compile, mini, motley};
use cambio_core::rules::MINI_GAMES;
use cambio_core::{Phase, Rules, RulesSpec, Seat};
use cambio_solve::{Cfr, CfrMethod, Game, StopCondition, Strategy};

/// A game with ranks 1 and 2, three cards of each, and one turn: small enough to try every pure strategy.
fn tiny() -> Rules {
    let text = "base = 'mini-m0'\nname = 'tiny'\nturn_limit = 1\ndeck = [\
        { label = '1', rank = '1', points = 1, copies = 3 }, { label = '2', rank = '2', points = 2, copies = 3 }]";
    RulesSpec::from_toml(text).unwrap().validate().unwrap()
}

/// The probabilities of a strategy, by each seat's sightings.
fn book(game: &Game, strategy: &Strategy) -> Book {
    let mut book = Book::new();
    for seat in SEATS {
        game.visit(seat, |moment| {
            let window = moment.view.table().phase() == Phase::Window;
            let probabilities = game.probabilities(strategy, seat, moment.set).to_vec();
            let known = book.insert(page(seat, moment.sightings, window), probabilities);
            assert_eq!(known, None, "a set is visited once, and its sightings distinguish it from the others");
        })
        .unwrap();
    }
    book
}

/// Reference: two independent programs compute these counts and values.
#[test]
fn counts_and_values_are_those_that_two_programs_agree_on() {
    for (name, histories, sets, value, nash_conv, to) in [
        ("mini-m0", 2_569, [114, 108], 0.0, 1.08889, 1e-7),
        ("mini-m1", 28_301, [1_912, 1_140], 11.0 / 280.0, 1.08371, 1e-7),
        ("mini-m3", 751_390, [48_485, 53_445], 0.25344, 1.40215, 5e-5),
    ] {
        let game = mini(name);
        assert_eq!((game.histories(), SEATS.map(|seat| game.information_sets(seat))), (histories, sets), "{name}");
        assert!((game.nash_conv(&game.uniform()) - nash_conv).abs() < 5e-6, "{name}");
        let strategy = Cfr::new(&game, CfrMethod::DCFR)
            .run(&StopCondition { iterations: 20_000, exploitability: to }, &mut |_| {});
        // The value of an approximate equilibrium is within twice its exploitability of the true value.
        assert!((game.value(&strategy) - value).abs() < 2.0 * to, "{name}: {}", game.value(&strategy));
    }
}

/// Regression test: no independent counts exist for these games.
#[test]
fn counts_of_the_other_mini_games_are_pinned() {
    let counts = [("mini-k3", 332_213, [21_316, 24_816], 1.36998), ("mini-s", 39_367, [1_728, 1_050], 1.57901)];
    for (name, histories, sets, nash_conv) in counts {
        let game = mini(name);
        assert_eq!((game.histories(), SEATS.map(|seat| game.information_sets(seat))), (histories, sets), "{name}");
        assert!((game.nash_conv(&game.uniform()) - nash_conv).abs() < 5e-6, "{name}");
    }
    assert_eq!(MINI_GAMES.len(), 9);
}

/// The key digests distinguish exactly the information sets that whole histories distinguish.
#[test]
fn a_walk_by_histories_finds_the_same_information_sets() {
    for name in ["mini-m0", "mini-m1", "mini-s"] {
        let game = mini(name);
        let tree = Tree::of(game.rules());
        assert_eq!(tree.nodes.len() as u64, game.histories(), "{name}");
        assert_eq!(SEATS.map(|seat| tree.sets(seat)), SEATS.map(|seat| game.information_sets(seat)), "{name}");
    }
}

/// Lazy chance with averaged faces is the same game as shuffled decks: 90 orders in M0, 2,520 in M1.
#[test]
fn the_value_is_the_mean_over_all_dealt_decks() {
    for (name, decks) in [("mini-m0", 90), ("mini-m1", 2_520)] {
        let game = mini(name);
        let strategy = motley(&game);
        let book = book(&game, &strategy);
        let orders = orders(game.rules());
        assert_eq!(orders.len(), decks);
        let sum: f64 = orders.iter().map(|deck| dealt(game.rules(), deck, &book)).sum();
        let (found, due) = (game.value(&strategy), sum / decks as f64);
        assert!((found - due).abs() < 1e-12, "{name}: {found} and {due}");
    }
}

/// Compares a best response with every pure strategy of its seat, over every order of the deck.
#[test]
fn no_pure_strategy_does_better_than_a_best_response() {
    let game = compile(&tiny());
    let strategy = motley(&game);
    let orders = orders(game.rules());
    for seat in SEATS {
        let sets = game.information_sets(seat);
        let sizes: Vec<usize> = (0..sets).map(|set| game.choices(seat, set).len()).collect();
        let total: usize = sizes.iter().product();
        assert!((2..=5_000).contains(&total), "{total} pure strategies");
        let mut most = f64::NEG_INFINITY;
        for number in 0..total {
            let (mut pure, mut rest) = (strategy.clone(), number);
            for (set, size) in sizes.iter().enumerate() {
                let mut probabilities = vec![0.0; *size];
                probabilities[rest % size] = 1.0;
                rest /= size;
                game.set_probabilities(&mut pure, seat, set, &probabilities);
            }
            let book = book(&game, &pure);
            let sum: f64 = orders.iter().map(|deck| dealt(game.rules(), deck, &book)).sum();
            let worth = sum / orders.len() as f64;
            most = most.max(if seat == Seat::A { worth } else { -worth });
        }
        let response = game.best_response(seat, &strategy);
        assert!((response.value - most).abs() < 1e-12, "seat {seat}: {} and {most}", response.value);
        let played = game.value(&game.with_response(&strategy, seat, &response));
        let played = if seat == Seat::A { played } else { -played };
        assert!((played - most).abs() < 1e-12, "the response has the value that it reports");
    }
}
