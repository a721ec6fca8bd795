//! Strategies as arrays of probabilities: the same exploitability as before, round trips, and invalid arrays.

use std::collections::BTreeSet;

use crate::SEATS;
use cambio_core::play::{ChanceMatch, RoundLog};
use cambio_core::rng::{Bounded as _, Key, Purpose, Stream};
use cambio_core::rules::MINI_GAMES;
use cambio_core::{Action, Rules, Seat, Sighting};
use cambio_solve::{Cfr, CfrMethod, Game, InfosetView, Limits, ProbabilityError, StopCondition, Strategy};

/// The mini games that every test run compiles; the others need `CAMBIO_FULL=1`.
const SMALL: [&str; 5] = ["mini-m0", "mini-m1", "mini-m3", "mini-k3", "mini-s"];

fn games() -> impl Iterator<Item = Game> {
    let names = crate::amount(&SMALL[..], &MINI_GAMES[..]);
    names.iter().map(|name| {
        Game::compile(&Rules::preset(name).unwrap(), &Limits::default(), &mut |_| {}).expect("the game is small")
    })
}

fn arrays(strategy: &Strategy) -> [Vec<f64>; 2] {
    SEATS.map(|seat| strategy.choice_probabilities(seat).to_vec())
}

/// Random probabilities for each choice, of which about a third are 0.
fn random(game: &Game, stream: &mut Stream) -> [Vec<f64>; 2] {
    SEATS.map(|seat| {
        let mut all = Vec::new();
        for set in 0..game.information_sets(seat) {
            let mut weights: Vec<f64> =
                game.choices(seat, set).iter().map(|_| f64::from(stream.below(6).saturating_sub(1))).collect();
            if weights.iter().all(|&weight| weight == 0.0) {
                weights[0] = 1.0;
            }
            let sum: f64 = weights.iter().sum();
            all.extend(weights.iter().map(|weight| weight / sum));
        }
        all
    })
}

/// The exploitability by the gains of both best responses, each of which is played out as a strategy.
fn exploitability_by_play(game: &Game, strategy: &Strategy) -> f64 {
    let responses = SEATS.map(|seat| game.best_response(seat, strategy));
    let [as_a, as_b] = [0, 1].map(|seat| game.with_response(strategy, SEATS[seat], &responses[seat]));
    f64::midpoint(game.value_between(&as_a, strategy), -game.value_between(strategy, &as_b))
}

#[test]
fn arrays_have_the_exploitability_of_their_strategy() {
    for game in games() {
        let until = StopCondition { iterations: 10_000, exploitability: 1e-3 };
        let solved = Cfr::new(&game, CfrMethod::DCFR).run(&until, &mut |_| {});
        let mut all = vec![arrays(&game.uniform()), arrays(&solved)];
        let mut stream = Key::new(36, 0).stream(Purpose::Deck, 0);
        all.extend((0..crate::amount(3, 20)).map(|_| random(&game, &mut stream)));
        for (number, [a, b]) in all.iter().enumerate() {
            let mut one_by_one = game.uniform();
            for (seat, array) in SEATS.into_iter().zip([a, b]) {
                for set in 0..game.information_sets(seat) {
                    game.set_probabilities(&mut one_by_one, seat, set, &array[game.choice_range(seat, set)]);
                }
            }
            let strategy = game.strategy([a, b]).unwrap();
            let (found, due) = (game.exploitability(&strategy), exploitability_by_play(&game, &one_by_one));
            assert!((found - due).abs() < 1e-9, "{} {number}: {found} and {due}", game.rules().name());
            assert_eq!(found.to_bits(), game.exploitability(&one_by_one).to_bits());
            assert_eq!(arrays(&strategy), [a.clone(), b.clone()], "exact arrays stay as they are");
        }
        assert!(game.exploitability(&game.strategy([&all[1][0], &all[1][1]]).unwrap()) <= 1e-3);
    }
}

#[test]
fn a_strategy_file_of_every_mini_game_is_read_as_it_was_written() {
    let mut stream = Key::new(36, 1).stream(Purpose::Deck, 0);
    for game in games() {
        let mut cfr = Cfr::new(&game, CfrMethod::DCFR);
        (0..3).for_each(|_| cfr.iterate());
        let [a, b] = random(&game, &mut stream);
        for strategy in [cfr.average(), game.strategy([&a, &b]).unwrap()] {
            let text = strategy.write(&game);
            assert_eq!(Strategy::read(&game, &text).unwrap(), strategy, "{}", game.rules().name());
        }
    }
}

#[test]
fn probabilities_in_single_precision_are_normalised() {
    let game = games().nth(1).unwrap();
    let [a, b] = random(&game, &mut Key::new(36, 2).stream(Purpose::Deck, 0));
    let rounded = [&a, &b].map(|array| array.iter().map(|&one| f64::from(one as f32)).collect::<Vec<f64>>());
    let strategy = game.strategy([&rounded[0], &rounded[1]]).unwrap();
    for seat in SEATS {
        for set in 0..game.information_sets(seat) {
            let sum: f64 = game.probabilities(&strategy, seat, set).iter().sum();
            assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        }
    }
    let due = game.exploitability(&game.strategy([&a, &b]).unwrap());
    assert!((game.exploitability(&strategy) - due).abs() < 1e-5);
}

#[test]
fn an_array_that_is_no_strategy_is_refused_in_one_sentence() {
    let game = games().nth(1).unwrap();
    let [a, b] = arrays(&game.uniform());
    let with = |position: usize, probability: f64| {
        let mut changed = b.clone();
        changed[position] = probability;
        game.strategy([&a, &changed]).unwrap_err()
    };
    let last = game.choice_range(Seat::B, 1139).start;
    let error = with(last, -0.5);
    assert_eq!(error, ProbabilityError::Range { seat: Seat::B, set: 1139, found: -0.5 });
    assert_eq!(
        error.to_string(),
        "the probabilities at information set 1139 of seat b must be from 0 to 1, found -0.5"
    );
    assert!(with(0, f64::NAN).to_string().ends_with("set 0 of seat b must be from 0 to 1, found NaN"));
    assert!(with(0, 1.0).to_string().contains("set 0 of seat b must add up to 1, found 1.66"), "{}", with(0, 1.0));
    let error = game.strategy([&a[1..], &b]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "seat a must have 4332 probabilities, one for each choice at each information set, found 4331"
    );
}

fn codes(decisions: &[Action]) -> Vec<u64> {
    decisions.iter().map(|action| action.code()).collect()
}

/// The log of a match has the same sightings and decisions at each decision as the information set.
#[test]
fn information_sets_have_the_sightings_of_their_seat() {
    for game in games().take(2) {
        let mut known = BTreeSet::new();
        for seat in SEATS {
            let moment_of = |moment: &InfosetView<'_>| {
                let sightings: Vec<u64> = moment.sightings.iter().map(Sighting::code).collect();
                assert!(known.insert((seat, sightings, codes(moment.decisions))), "information sets differ");
            };
            game.visit(seat, moment_of).unwrap();
        }
        let mut stream = Key::new(36, 3).stream(Purpose::Deck, 0);
        for _ in 0..200 {
            let mut log = RoundLog::default();
            let mut playing = ChanceMatch::new(game.rules(), 2, &mut log).unwrap();
            while !playing.is_over() {
                let outcomes = playing.outcomes();
                if !outcomes.is_empty() {
                    let outcome = outcomes[stream.below(outcomes.len() as u32) as usize].0;
                    assert!(playing.resolve(outcome, &mut log));
                    continue;
                }
                let (seat, choices) = (playing.actor().unwrap(), playing.state().unwrap().choices());
                if choices.len() > 1 {
                    let sightings: Vec<u64> = log.sightings(seat).map(|sighting| sighting.code()).collect();
                    let decisions: Vec<Action> = log.decisions(seat).collect();
                    assert!(known.contains(&(seat, sightings, codes(&decisions))), "{seat} after {decisions:?}");
                }
                let action = choices.nth(stream.below(choices.len() as u32) as usize).unwrap();
                playing.act(action, &mut log).unwrap();
            }
        }
    }
}
