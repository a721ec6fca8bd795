use cambio_core::Event;
use cambio_core::engine::{Dice, Setup};
use cambio_core::rng::{Key, Purpose};

use super::*;

#[test]
fn kept_cards_are_believed_to_be_low() {
    let rules = Rules::preset("classic").unwrap();
    let key = Key::new(1, 0);
    let stream = key.agent(Seat::B);
    let mut tracker = BeliefTracker::new(&Briefing { rules: &rules, seats: 2, seat: Seat::B, stream: &stream });
    let mut dice = Dice(key.stream(Purpose::Deck, 0));
    let mut state = State::deal(&Setup::new(&rules, 2), rules.deck(), &mut dice, &mut |event: &Event<Card>| {
        tracker.notice(&event.seen_from(Seat::B));
    })
    .unwrap();
    for decision in ["draw", "keep a1"] {
        tracker.spectate(state.table());
        let mut sink = |event: &Event<Card>| tracker.notice(&event.seen_from(Seat::B));
        state.apply(decision.parse().unwrap(), &mut dice, &mut sink).unwrap();
    }
    let beliefs = tracker.believe(&state.observe(Seat::B), &state);
    // The classes are 2 to 10, aces, jacks, queens, jokers, and the kings of each colour if their points differ.
    assert!(beliefs.classes.len() >= 13 && beliefs.unseen.len() == 6, "{beliefs:?}");
    let points: Vec<i32> = beliefs
        .classes
        .iter()
        .map(|class| {
            let kinds = (0..rules.kinds().len()).filter_map(Card::new);
            let mut of = kinds.filter(|card| {
                let rank = &rules.kind(*card).rank;
                class == rank || *class == format!("{rank} ({})", rules.points(*card))
            });
            rules.points(of.next().unwrap())
        })
        .collect();
    for unseen in &beliefs.unseen {
        let spot: Spot = unseen.spot.parse().unwrap();
        let card = state.face(spot).unwrap();
        assert_eq!(points[unseen.truth], rules.points(card), "{unseen:?}");
        let mean =
            |shares: &[f64]| shares.iter().zip(&points).map(|(share, points)| share * f64::from(*points)).sum::<f64>();
        let inferred = unseen.inferred.as_ref().unwrap();
        for shares in [&unseen.even, inferred] {
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{unseen:?}");
        }
        // Without decisions, all 51 cards that the seat has not seen are equally likely.
        assert!(unseen.even.iter().all(|share| (share * 51.0 - (share * 51.0).round()).abs() < 1e-9), "{unseen:?}");
        assert!(mean(&unseen.even) > 5.0, "only the remaining cards are known: {unseen:?}");
        if unseen.spot == "a1" {
            assert!(mean(inferred) < 4.0, "a kept card is likely to be low: {unseen:?}");
        }
    }
    assert!(beliefs.unseen.iter().any(|unseen| unseen.spot == "a1"));

    // The seat's own points: its known cards, and the means of those that it does not know.
    let view = state.observe(Seat::B);
    let known: i32 = view
        .known()
        .iter_from(Seat::B)
        .filter(|spot| spot.seat() == Seat::B)
        .map(|spot| rules.points(state.face(spot).unwrap()))
        .sum();
    let expected = |seat: char| -> f64 {
        let of_seat = beliefs.unseen.iter().filter(|unseen| unseen.spot.starts_with(seat));
        of_seat
            .map(|unseen| {
                unseen
                    .inferred
                    .as_ref()
                    .unwrap()
                    .iter()
                    .zip(&points)
                    .map(|(share, points)| share * f64::from(*points))
                    .sum::<f64>()
            })
            .sum()
    };
    assert!((beliefs.points[0] - expected('a')).abs() < 1e-9, "{beliefs:?}");
    assert!((beliefs.points[1] - expected('b') - f64::from(known)).abs() < 1e-9, "{beliefs:?}");
    assert!(
        (0.0..=1.0).contains(&beliefs.lowest) && (beliefs.lowest > 0.5) == (beliefs.points[1] < beliefs.points[0]),
        "{beliefs:?}"
    );
}
