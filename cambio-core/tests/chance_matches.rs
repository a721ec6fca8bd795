//! Matches in which the test decides the chance outcomes.

use cambio_core::play::{ChanceMatch, ChanceOutcome, RoundLog, RoundResult};
use cambio_core::rng::{Bounded as _, Key, Purpose, Stream};
use cambio_core::rules::{MINI_GAMES, PRESETS};
use cambio_core::testing::RandomAgent;
use cambio_core::view::RoundHistory;
use cambio_core::{Agent as _, Observer, Playing, Rules, RulesSpec, Seat, State};

/// Checks the probabilities, then draws an outcome.
fn draw(outcomes: &[(ChanceOutcome, f64)], dice: &mut Stream) -> ChanceOutcome {
    assert!((outcomes.iter().map(|&(_, share)| share).sum::<f64>() - 1.0).abs() < 1e-12, "{outcomes:?}");
    for (place, (one, share)) in outcomes.iter().enumerate() {
        assert!(*share > 0.0 && outcomes[..place].iter().all(|(other, _)| other != one), "{outcomes:?}");
    }
    let mut ticket = f64::from(dice.below(1 << 30)) / f64::from(1 << 30);
    let drawn = outcomes.iter().find(|(_, share)| {
        ticket -= share;
        ticket < 0.0
    });
    drawn.or(outcomes.last()).unwrap().0
}

/// An observer that adds up the scores of all rounds.
#[derive(Default)]
struct Totals(Vec<i32>);

impl Observer for Totals {
    fn round_ends(&mut self, _: &State, result: &RoundResult) {
        self.0.resize(result.seats, 0);
        self.0.iter_mut().zip(result.scores()).for_each(|(total, score)| *total += score.units());
    }
}

#[test]
fn observers_get_a_match_of_chance_as_they_get_any_other() {
    let mut dice = Key::new(9, 0).stream(Purpose::Agent, 0);
    for name in PRESETS.iter().chain(&MINI_GAMES) {
        let rules = Rules::preset(name).unwrap();
        let seats = if MINI_GAMES.contains(name) { 2 } else { 3 };
        let mut observers = (Totals::default(), (RoundLog::default(), RoundHistory::new(&rules, seats)));
        let mut agents: Vec<RandomAgent> = vec![RandomAgent::default(); seats];
        let mut begun = Playing::new(&rules, seats, Key::new(9, 0)).unwrap();
        for (agent, seat) in agents.iter_mut().zip(Seat::ALL) {
            agent.begin(&begun.briefing(seat)).unwrap();
        }
        let mut game = ChanceMatch::new(&rules, seats, &mut observers).unwrap();
        while !game.is_over() {
            if let Some(turn) = game.turn() {
                assert!(game.outcomes().is_empty());
                let action = agents[turn.seat.index()].decide(&turn.view).unwrap();
                game.act(action, &mut observers).unwrap();
            } else {
                assert!(game.act("draw".parse().unwrap(), &mut ()).is_err());
                let outcome = draw(game.outcomes(), &mut dice);
                assert!(game.resolve(outcome, &mut observers));
            }
            let (_, (log, history)) = &observers;
            let Some(state) = game.state().filter(|_| game.turn().is_some()) else { continue };
            let seat = state.actor().unwrap();
            assert!(log.sightings(seat).eq(game.log().sightings(seat)), "{name}");
            assert_eq!(usize::from(history.turns()), state.table().turns(), "{name}");
        }
        assert!(game.outcomes().is_empty() && game.turn().is_none());
        let totals: Vec<i32> = game.standing().totals.iter().map(|total| total.units()).collect();
        if rules.spec().total_reset == cambio_core::rules::knob::Reset::None {
            assert_eq!(observers.0.0, totals, "{name}");
        }
    }
}

#[test]
fn impossible_outcomes_and_decisions_change_nothing() {
    let mut game = ChanceMatch::new(&Rules::preset("mini-m0").unwrap(), 2, &mut ()).unwrap();
    let before = game.outcomes().to_vec();
    assert!(!game.resolve(ChanceOutcome::Order(cambio_core::engine::RaceOrder::new([Seat::A, Seat::B])), &mut ()));
    assert_eq!(game.outcomes(), before);
    assert!(game.resolve(before[0].0, &mut ()));
    assert_ne!(game.outcomes(), before);
    while let Some(&(outcome, _)) = game.outcomes().first() {
        assert!(game.resolve(outcome, &mut ()));
    }
    let (seat, state) = (game.turn().unwrap().seat, game.information_state(Seat::A));
    let refused = game.act("snap a1".parse().unwrap(), &mut ()).unwrap_err();
    assert_eq!((refused.actor, game.information_state(Seat::A)), (Some(seat), state));
}

/// If a seat sees different cards in two matches, its information states differ, but the other seat's states are equal.
#[test]
fn information_states_contain_only_what_their_seat_saw() {
    let rules = Rules::preset("mini-m1").unwrap();
    let start = ChanceMatch::new(&rules, 2, &mut ()).unwrap();
    let after = |outcome: ChanceOutcome| {
        let mut game = start.clone();
        assert!(game.resolve(outcome, &mut ()));
        // Decides seat b's first card.
        assert!(game.resolve(start.outcomes()[2].0, &mut ()));
        game
    };
    let [one, other] = [after(start.outcomes()[0].0), after(start.outcomes()[1].0)];
    assert_eq!(one.turn().unwrap().seat, Seat::A);
    assert_ne!(one.information_state(Seat::A), other.information_state(Seat::A));
    assert_eq!(one.information_state(Seat::B), other.information_state(Seat::B));
    let mut decided = one.clone();
    decided.act("draw".parse().unwrap(), &mut ()).unwrap();
    assert_eq!(decided.information_state(Seat::B), one.information_state(Seat::B), "its card is not drawn yet");
}

/// All three seats snap, so there is a race. The probability of an order is the product of the probabilities of draws.
#[test]
fn orders_of_a_race_have_the_probabilities_of_their_draws() {
    let found = |race: &str, weights: &str| -> Vec<(String, f64)> {
        let text = format!("base = \"classic\"\nrace = \"{race}\"\nrace_weights = {weights}\n");
        let rules = RulesSpec::from_toml(&text).unwrap().validate().unwrap();
        let mut dice = Key::new(1, 0).stream(Purpose::Agent, 0);
        let mut game = ChanceMatch::new(&rules, 3, &mut ()).unwrap();
        while !game.is_over() {
            if let Some(&(ChanceOutcome::Order(_), _)) = game.outcomes().first() {
                let show = |&(outcome, share): &(ChanceOutcome, f64)| match outcome {
                    ChanceOutcome::Order(order) => (order.seats().map(|seat| seat.to_string()).collect(), share),
                    ChanceOutcome::Card(_) => unreachable!("all outcomes are orders"),
                };
                return game.outcomes().iter().map(show).collect();
            }
            if let Some(turn) = game.turn() {
                let choices = turn.view.choices();
                let snap = choices.iter().find(|action| action.to_string().starts_with("snap"));
                let other = choices.iter().find(|action| action.to_string() != "call");
                game.act(snap.or(other).unwrap(), &mut ()).unwrap();
            } else {
                let outcome = draw(game.outcomes(), &mut dice);
                assert!(game.resolve(outcome, &mut ()));
            }
        }
        Vec::new()
    };
    let close = |found: &[(String, f64)], expected: &[(&str, f64)]| {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for ((order, share), (due, probability)) in found.iter().zip(expected) {
            assert!(order == due && (share - probability).abs() < 1e-12, "{found:?}");
        }
    };
    let all = ["abc", "acb", "bac", "bca", "cab", "cba"];
    close(&found("uniform", "[1, 1, 1, 1, 1, 1, 1, 1]"), &all.map(|order| (order, 1.0 / 6.0)));
    // The weights are 1, 2 and 3: the first seat is drawn by its share of 6, the second by its share of the remainder.
    let due = [2.0 / 30.0, 3.0 / 30.0, 2.0 / 24.0, 6.0 / 24.0, 3.0 / 18.0, 6.0 / 18.0];
    close(
        &found("weighted", "[1, 2, 3, 1, 1, 1, 1, 1]"),
        &std::array::from_fn::<_, 6, _>(|place| (all[place], due[place])),
    );
    assert!(found("turn_order", "[1, 1, 1, 1, 1, 1, 1, 1]").is_empty(), "a single order is not a chance node");
}
