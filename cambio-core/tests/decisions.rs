//! Many random decisions of every preset at every number of seats, with the engine's debug assertions.
//!
//! With `CAMBIO_FULL=1`, the test makes 10⁹ decisions, which takes minutes in a release build. A release build must
//! enable the assertions explicitly:
//!
//! ```text
//! export CAMBIO_FULL=1 CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true
//! cargo test --release -p cambio-core --test main decisions -- --nocapture
//! ```

use crate::play::{all_cards, amount, deck_of};
use cambio_core::encode::ActionSpace;
use cambio_core::engine::RoundChance;
use cambio_core::play::RoundResult;
use cambio_core::rng::{Bounded as _, Key, Purpose, Stream};
use cambio_core::rules::PRESETS;
use cambio_core::{Action, Choices, Event, Match, Phase, Rules, Seat, State};

/// Once in this many decisions, the whole state is checked and a possibly illegal decision is tried.
const LOOK: u64 = 64;

/// Counts of the play at one table.
#[derive(Clone, Copy, Default, Debug)]
struct Played {
    decisions: u64,
    refused: u64,
    rounds: u64,
    matches: u64,
    reshuffles: u64,
    snaps: u64,
}

/// A random decision. In three of four deals, snaps and calls are rare, so that rounds are long.
fn choose(choices: &Choices, phase: Phase, is_hasty: bool, stream: &mut Stream) -> Action {
    let any = choices.nth(stream.below(choices.len() as u32) as usize).expect("a number below the choices");
    let is_rash = match phase {
        Phase::Window | Phase::Chain => any != Action::Pass,
        _ => any == Action::Call,
    };
    if is_hasty || !is_rash || stream.chance(1, 8) {
        return any;
    }
    if any == Action::Call {
        return choices.iter().find(|action| *action != Action::Call).unwrap_or(any);
    }
    if choices.contains(Action::Pass) { Action::Pass } else { any }
}

/// Makes `due` decisions at one table, match after match.
fn played(rules: &Rules, seats: usize, due: u64) -> Played {
    let mut done = Played::default();
    let space = ActionSpace::new(rules, seats);
    let deck_due = deck_of(rules);
    for deal in 0.. {
        let key = Key::new(907, deal);
        let mut stream = key.agent(Seat::A);
        let mut game = Match::new(rules, seats, Seat::A).expect("every preset allows eight seats");
        while !game.is_over() {
            let round = game.rounds() as u32;
            let mut deck = rules.deck().to_vec();
            key.stream(Purpose::Deck, round).shuffle(&mut deck);
            let mut chance = RoundChance::new(key, round);
            let mut sink = |event: &Event<_>| match event {
                Event::Reshuffled { .. } => done.reshuffles += 1,
                Event::Snapped { .. } => done.snaps += 1,
                _ => {}
            };
            let mut state = State::deal(&game.setup(), &deck, &mut chance, &mut sink).expect("the rules' own deck");
            while let Some(asked) = state.actor() {
                if done.decisions == due {
                    return done;
                }
                let choices = state.choices();
                assert!(!choices.is_empty(), "{asked} has no choice");
                if done.decisions % LOOK == 0 {
                    assert_eq!(all_cards(&state), deck_due);
                    let index = stream.below(space.action_count() as u32) as usize;
                    let action = space.from_index(index, asked).expect("an index below the count");
                    if !choices.contains(action) {
                        assert!(state.apply(action, &mut chance, &mut sink).is_err(), "{action} is not offered");
                        done.refused += 1;
                    }
                }
                let action = choose(&choices, state.table().phase(), deal % 4 == 0, &mut stream);
                state.apply(action, &mut chance, &mut sink).expect("a listed decision is legal");
                done.decisions += 1;
            }
            assert_eq!(all_cards(&state), deck_due);
            game.add(&RoundResult::of(&state).expect("a round that is over has a result"));
            done.rounds += 1;
        }
        done.matches += 1;
    }
    done
}

#[test]
fn no_assertion_fails_in_very_many_random_decisions() {
    if !cfg!(debug_assertions) {
        println!("the engine's debug assertions are off; the top of this file describes how to enable them");
    }
    let tables = PRESETS.iter().flat_map(|preset| (2..=8).map(move |seats| (preset, seats)));
    let due = amount(2_100_000_u64, 1_000_000_000).div_ceil(tables.clone().count() as u64);
    let mut sum = Played::default();
    for (preset, seats) in tables {
        let done = played(&Rules::preset(preset).unwrap(), seats, due);
        println!("{preset}, {seats} seats: {done:?}");
        assert!(done.decisions == due && done.rounds > 20 && done.snaps > 20 && done.refused > 100, "{done:?}");
        for (sum, part) in [
            (&mut sum.decisions, done.decisions),
            (&mut sum.refused, done.refused),
            (&mut sum.rounds, done.rounds),
            (&mut sum.matches, done.matches),
            (&mut sum.reshuffles, done.reshuffles),
            (&mut sum.snaps, done.snaps),
        ] {
            *sum += part;
        }
    }
    println!("{sum:?}");
    assert!(sum.matches > 100 && sum.reshuffles > 100, "{sum:?}");
}
