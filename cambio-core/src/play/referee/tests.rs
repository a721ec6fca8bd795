use super::*;
use crate::record::Fingerprinter;
use crate::rng::{Bounded as _, Purpose};
use crate::rules::PRESETS;
use crate::testing::RandomAgent;

#[test]
fn matches_do_not_depend_on_earlier_use_of_their_deal() {
    for name in PRESETS {
        let rules = Rules::preset(name).unwrap();
        let key = Key::new(3, 5);
        for seats in [4, 2, 3, 2] {
            let agents = || (0..seats).map(|_| RandomAgent::default());
            let mut alone = Fingerprinter::default();
            let match_setup = MatchSetup { rules, seats, key };
            let expected = play_match(&match_setup, &mut agents().collect::<Vec<_>>(), &mut alone).unwrap();
            let mut again =
                Referee::new(Deal::new(&rules, Key::new(3, 4)), Players::all(agents()), Fingerprinter::default())
                    .unwrap();
            again.run().unwrap();
            for _ in 0..2 {
                *again.observer_mut() = Fingerprinter::default();
                again.restart(key).unwrap();
                again.run().unwrap();
                assert_eq!(again.playing().result().unwrap(), expected);
                assert_eq!(again.observer().of_match(), alone.of_match(), "{name} at {seats} seats");
            }
        }
        let mut deal = Deal::new(&rules, key);
        let mut deck = rules.deck().to_vec();
        key.stream(Purpose::Deck, 2).shuffle(&mut deck);
        assert_eq!(deal.deck(2), deck);
    }
}

/// Agents receive the same notices, and observers the same events, whichever methods step the match.
#[test]
fn matches_do_not_depend_on_how_they_are_stepped() {
    let rules = Rules::preset("faessler").unwrap();
    let start = |players: Players<RandomAgent>| {
        Referee::new(Deal::new(&rules, Key::new(8, 1)), players, Fingerprinter::default()).unwrap()
    };
    let all = || Players::all((0..3).map(|_| RandomAgent::default()));
    let mut whole = start(all());
    whole.run().unwrap();

    let mut taken_out = start(all());
    while let Some(seat) = taken_out.turn().map(|turn| turn.seat) {
        let mut agent = taken_out.players_mut().agents_mut()[seat.index()].take().unwrap();
        assert_eq!(taken_out.step().unwrap(), StepResult::Waiting(seat));
        let action = agent.decide(&taken_out.turn().unwrap().view).unwrap();
        taken_out.players_mut().agents_mut()[seat.index()] = Some(agent);
        taken_out.act(action).unwrap();
    }

    let mut advised = start(all());
    let mut partly = start(Players::only(RandomAgent::default(), Seat::B, 3));
    while let Some(action) = advised.ask().unwrap() {
        advised.act(action).unwrap();
        match partly.ask().unwrap() {
            Some(own) => assert_eq!(own, action.canonical()),
            None => assert_ne!(partly.turn().unwrap().seat, Seat::B),
        }
        partly.act(action).unwrap();
    }
    for other in [&taken_out, &advised, &partly] {
        assert_eq!(other.playing().actions(), whole.playing().actions());
        assert_eq!(other.observer().of_match(), whole.observer().of_match());
    }
}
