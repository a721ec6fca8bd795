//! Abstractions: one that distinguishes all information sets solves the game, and a coarser one is more exploitable.

use crate::mini;
use cambio_core::Seat;
use cambio_solve::{Abstraction, InfosetView, Perceived, SolveError, StopCondition};

/// Every choice is its own candidate.
fn each<K>(moment: &InfosetView<'_>, key: K) -> Perceived<K> {
    Perceived { key, candidates: (0..moment.view.choices().len() as u16).map(Some).collect() }
}

const UNTIL: StopCondition = StopCondition { iterations: 300, exploitability: 1e-6 };

#[test]
fn an_exact_abstraction_solves_the_game() {
    let game = mini("mini-m1");
    let all = Abstraction::of(&game, |moment| each(moment, (moment.seat, moment.set))).unwrap();
    assert_eq!(all.classes(), game.information_sets(Seat::A) + game.information_sets(Seat::B));
    let strategy = all.solve(&UNTIL, &mut |_| {});
    let found = game.exploitability(&strategy);
    assert!(found < 1e-4, "{found}");
    assert!((game.value(&strategy) - 11.0 / 280.0).abs() < 2e-4);
}

#[test]
fn coarser_abstractions_are_more_exploitable() {
    let game = mini("mini-m1");
    let by = |perceive: &dyn Fn(&InfosetView<'_>) -> Option<i32>| {
        let key = |moment: &InfosetView<'_>| (moment.sightings.len(), moment.view.choices().len(), perceive(moment));
        let coarse = Abstraction::of(&game, |moment| each(moment, key(moment))).unwrap();
        game.exploitability(&coarse.solve(&UNTIL, &mut |_| {}))
    };
    let blind = by(&|_| None);
    let holding = by(&|moment| moment.view.held().map(|card| moment.rules.points(card)));
    assert!(blind < game.exploitability(&game.uniform()) - 0.05, "{blind}");
    assert!(holding < blind - 0.01, "{holding} after {blind}");
    assert!(holding > 0.01, "{holding}: an agent that sees no layout cannot be perfect");
}

#[test]
fn choices_of_one_candidate_are_equally_likely() {
    let game = mini("mini-m1");
    let told = Abstraction::of(&game, |moment| {
        let len = moment.view.choices().len();
        // With three or more choices, the first is never taken, and the others have the same candidate.
        let candidates = (0..len).map(|choice| if len > 2 && choice == 0 { None } else { Some(0) }).collect();
        Perceived { key: len, candidates }
    })
    .unwrap();
    let strategy = told.solve(&StopCondition { iterations: 3, exploitability: 0.0 }, &mut |_| {});
    let mut seen = 0;
    for set in 0..game.information_sets(Seat::A) {
        let found = game.probabilities(&strategy, Seat::A, set);
        let (rest, each) = if found.len() > 2 { (1, 1.0 / (found.len() - 1) as f64) } else { (0, 0.5) };
        assert!(
            found[..rest].iter().all(|&share| share == 0.0)
                && found[rest..].iter().all(|&share| (share - each).abs() < 1e-12)
        );
        seen += rest;
    }
    assert!(seen > 0);
}

#[test]
fn invalid_abstractions_are_refused() {
    let game = mini("mini-m0");
    let refused = |perceive: &dyn Fn(&InfosetView<'_>) -> Perceived<u8>| {
        let error = Abstraction::of(&game, |moment| perceive(moment)).unwrap_err();
        assert!(matches!(error, SolveError::Unlike { .. }), "{error}");
    };
    refused(&|moment| Perceived { key: 0, candidates: vec![None; moment.view.choices().len()] });
    refused(&|moment| each(moment, 0));
    refused(&|moment| Perceived { key: moment.view.choices().len() as u8, candidates: vec![Some(0)] });
}
