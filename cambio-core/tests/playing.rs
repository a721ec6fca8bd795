//! A stepped match equals the referee's match, and can be cloned, saved and restored at any decision.

use cambio_core::engine::{RaceOrder, SnapOutcome};
use cambio_core::rng::{Bounded as _, Key, Purpose, Stream};
use cambio_core::rules::{MINI_GAMES, PRESETS};
use cambio_core::testing::RandomAgent;
use cambio_core::{
    Action, Deal, Event, MatchSetup, Notice, Players, Playing, Record, Recorder, Rules, Seat, play_match, replay,
};

const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

/// Every preset and mini game at every number of seats that it allows.
fn tables() -> impl Iterator<Item = (Rules, usize)> {
    let rules = PRESETS.iter().chain(&MINI_GAMES).map(|name| Rules::preset(name).unwrap());
    rules.flat_map(|rules| (2..=8).filter(move |&seats| rules.covers(seats).is_ok()).map(move |seats| (rules, seats)))
}

/// A random legal decision that usually passes in snap windows.
fn choose(playing: &Playing, stream: &mut Stream) -> Option<Action> {
    let choices = playing.turn()?.view.choices();
    let any = choices.nth(stream.below(choices.len() as u32) as usize).unwrap();
    let passes = choices.contains(Action::Pass) && stream.below(5) > 0;
    Some(if passes { Action::Pass } else { any })
}

fn play_on(playing: &mut Playing, stream: &mut Stream) -> Record {
    while let Some(action) = choose(playing, stream) {
        playing.act(action).unwrap();
    }
    playing.save(&NAMES[..playing.seats()])
}

#[test]
fn stepping_agents_gives_the_match_of_the_referee() {
    for (deal, (rules, seats)) in (0..).zip(tables()) {
        let key = Key::new(11, deal);
        let agents = || -> Vec<_> { (0..seats).map(|_| RandomAgent::default()).collect() };
        let mut recorder = Recorder::new(&rules);
        let result = play_match(&MatchSetup { rules, seats, key }, &mut agents(), &mut recorder).unwrap();
        let expected = recorder.finish(key, 0, &NAMES[..seats], &result);

        let mut playing = Playing::new(&rules, seats, key).unwrap();
        let mut players = Players::all(agents());
        for &seat in &Seat::ALL[..seats] {
            players.brief(&playing.briefing(seat)).unwrap();
            players.notice(seat, Notice::RoundBegins(&playing.standing()));
            players.perceive(seat, &playing.sightings(seat).collect::<Vec<_>>());
        }
        while let Some(turn) = playing.turn() {
            let action = players.ask(&turn.view).unwrap().unwrap();
            playing.act(action).unwrap();
            for &seat in &Seat::ALL[..seats] {
                players.perceive(seat, &playing.sightings(seat).collect::<Vec<_>>());
            }
        }
        assert_eq!(playing.result(), Some(result), "{} at {seats} seats", rules.name());
        assert_eq!(playing.save(&NAMES[..seats]), expected, "{} at {seats} seats", rules.name());
        assert_eq!(replay(&expected, &mut ()).unwrap(), expected);
    }
}

#[test]
fn save_restore_and_clone_at_any_decision_give_the_same_match() {
    let one_in = crate::play::amount(10, 1);
    let mut places = 0;
    for (deal, (rules, seats)) in (0..).zip(tables()) {
        let key = Key::new(12, deal);
        let mut when = key.stream(Purpose::Agent, 8);
        let mut stream = key.stream(Purpose::Agent, 9);
        let mut playing = Playing::new(&rules, seats, key).unwrap();
        let mut saved = Vec::new();
        loop {
            if when.below(one_in) == 0 && !playing.is_over() && saved.len() < 40 {
                saved.push((playing.save(&NAMES[..seats]).to_json(), playing.clone(), stream.clone()));
            }
            let Some(action) = choose(&playing, &mut stream) else { break };
            playing.act(action).unwrap();
        }
        let expected = playing.save(&NAMES[..seats]);
        places += saved.len();
        for (line, mut clone, stream) in saved {
            let mut restored = Playing::restore(&Record::read(&line).unwrap()).unwrap();
            assert_eq!(restored.decisions(), clone.decisions());
            assert_eq!(restored.events(), clone.events());
            assert_eq!(restored.turn().unwrap().view, clone.turn().unwrap().view);
            assert_eq!(restored.standing().totals, clone.standing().totals);
            assert_eq!(play_on(&mut restored, &mut stream.clone()), expected, "{} at {seats} seats", rules.name());
            assert_eq!(play_on(&mut clone, &mut stream.clone()), expected, "{} at {seats} seats", rules.name());
        }
    }
    assert!(places > 200, "only {places}");
}

#[test]
fn an_illegal_decision_changes_nothing() {
    let rules = Rules::preset("classic").unwrap();
    let mut playing = Playing::new(&rules, 2, Key::new(1, 0)).unwrap();
    playing.act(Action::Draw).unwrap();
    let before = (playing.events().to_vec(), playing.save(&NAMES[..2]));
    let illegal = playing.act(Action::Draw).unwrap_err();
    assert!(illegal.to_string().starts_with("`draw` is illegal for seat "), "{illegal}");
    assert_eq!((playing.events().to_vec(), playing.save(&NAMES[..2])), before);
}

#[test]
fn a_finished_match_refuses_every_decision() {
    for (rules, seats) in tables() {
        let mut stream = Key::new(61, 0).agent(Seat::A);
        let mut playing = Playing::new(&rules, seats, Key::new(61, 0)).unwrap();
        play_on(&mut playing, &mut stream);
        let before = format!("{playing:?}");
        for text in ["draw", "pass", "call", "end", "peek a1", "swap a1 b1"] {
            let error = playing.act(text.parse().unwrap()).unwrap_err();
            assert_eq!((error.actor, error.legal.len()), (None, 0));
            assert!(error.to_string().ends_with("the round is over"), "{error}");
        }
        assert_eq!(format!("{playing:?}"), before);
    }
}

#[test]
fn events_include_the_end_of_a_round() {
    let rules = Rules::preset("original").unwrap();
    let mut playing = Playing::new(&rules, 2, Key::new(5, 3)).unwrap();
    let mut stream = playing.key().stream(Purpose::Agent, 0);
    while playing.rounds() == 0 {
        assert!(playing.last_round().is_none());
        playing.act(choose(&playing, &mut stream).unwrap()).unwrap();
    }
    let events = playing.events();
    let ended = events.iter().position(|event| matches!(event, Event::Ended { .. })).unwrap();
    let dealt = events.iter().position(|event| matches!(event, Event::Dealt { .. })).unwrap();
    assert!(ended < dealt);
    assert_eq!(playing.last_round().unwrap().scores(), playing.totals());
    // A seat does not see a card that another seat draws.
    while playing.rounds() == 1 {
        for (sighting, event) in playing.sightings(Seat::B).zip(playing.events()) {
            match (sighting, *event) {
                (Event::Drew { seat, face }, Event::Drew { face: card, .. }) => {
                    assert_eq!(face, (seat == Seat::B).then_some(card));
                }
                (Event::Snapped { verdict: SnapOutcome::Right, card, .. }, Event::Snapped { card: shown, .. }) => {
                    assert_eq!(card, shown);
                }
                _ => {}
            }
        }
        playing.act(choose(&playing, &mut stream).unwrap()).unwrap();
    }
}

#[test]
fn errors_of_restoring_name_the_place() {
    let rules = Rules::preset("faessler").unwrap();
    let mut playing = Playing::new(&rules, 2, Key::new(3, 1)).unwrap();
    let mut stream = playing.key().stream(Purpose::Agent, 0);
    for _ in 0..20 {
        playing.act(choose(&playing, &mut stream).unwrap()).unwrap();
    }
    let record = playing.save(&NAMES[..2]);
    let refused = |change: &dyn Fn(&mut Record)| {
        let mut changed = record.clone();
        change(&mut changed);
        Playing::restore(&changed).unwrap_err()
    };
    let without_seed = refused(&|record| drop(record.fields.remove("seed")));
    assert_eq!(
        without_seed.to_string(),
        "`seed` must be a whole number below 2^64 or 64 hexadecimal digits, found nothing"
    );
    let nine = refused(&|record| record.fields["seats"] = 9.into());
    assert_eq!(nine.to_string(), "`seats` must be a whole number from 2 to 8, found 9");
    let illegal = refused(&|record| record.rounds[0].decisions[3] = "a fly".to_owned());
    assert!(illegal.to_string().starts_with("round 1, decision 4: illegal decision `a fly`; legal: "), "{illegal}");
    let other_deal = refused(&|record| record.rounds[0].deck.swap(0, 1));
    assert!(other_deal.to_string().contains("do not match seed 3, deal 1"), "{other_deal}");
    let twice = refused(&|record| record.rounds.push(record.rounds[0].clone()));
    assert!(twice.to_string().contains("the previous round has not ended"), "{twice}");
}

/// Plays a match in which all seats snap whenever they can, until the first race. `order` is the order of each race.
fn until_a_race(order: Option<RaceOrder>) -> (Playing, Record) {
    let rules = Rules::preset("classic").unwrap();
    for deal in 0.. {
        let mut playing = Playing::new(&rules, 4, Key::new(77, deal)).unwrap();
        for _ in 0..200 {
            if let Some(order) = order {
                playing.set_race_order(playing.rounds(), playing.races(), order);
            }
            let Some(turn) = playing.turn() else { break };
            let choices = turn.view.choices();
            let mut offered = (0..choices.len()).filter_map(|place| choices.nth(place));
            let snap = offered.find(|action| matches!(action, Action::Snap(_)));
            let action = snap.or(choices.nth(0)).unwrap();
            playing.act(action).unwrap();
            if playing.rounds() == 0 && playing.races() == 1 {
                let record = playing.save(&["a", "b", "c", "d"]);
                return (playing, record);
            }
        }
    }
    unreachable!("every seat snaps, so there is a race")
}

#[test]
fn a_set_race_order_is_kept_and_recorded() {
    let (_, drawn) = until_a_race(None);
    let forward = RaceOrder::new([Seat::A, Seat::B, Seat::C, Seat::D]);
    let backward = RaceOrder::new([Seat::D, Seat::C, Seat::B, Seat::A]);
    assert!(!drawn.fields.contains_key("x-races"));
    for (order, place) in [(forward, 0), (backward, 1)] {
        let (playing, record) = until_a_race(Some(order));
        let mut letters = drawn.rounds[0].races[0].clone();
        letters.sort();
        if place == 1 {
            letters.reverse();
        }
        assert_eq!(record.rounds[0].races[0], letters);
        assert_eq!(record.fields["x-races"], "laid");
        replay(&record, &mut ()).unwrap();
        let restored = Playing::restore(&record).unwrap();
        assert_eq!(restored.events(), playing.events());
        assert_eq!(restored.save(&["a", "b", "c", "d"]), record);
    }
}

#[test]
fn unkeyed_races_need_a_record_that_declares_them() {
    let (_, drawn) = until_a_race(None);
    let mut letters = drawn.rounds[0].races[0].clone();
    letters.reverse();
    let order = RaceOrder::new(letters.iter().map(|letter| Seat::from_letter(letter.chars().next().unwrap()).unwrap()));
    let (_, laid) = until_a_race(Some(order));
    assert_eq!(laid.rounds[0].races[0], letters);
    let mut silent = laid.clone();
    silent.fields.remove("x-races");
    let refused = Playing::restore(&silent).unwrap_err().to_string();
    assert!(refused.contains("races or new stocks do not match seed 77"), "{refused}");
    for races in [vec!["a", "a", "a"], vec!["z"], vec![]] {
        let mut broken = laid.clone();
        broken.rounds[0].races[0] = races.iter().map(ToString::to_string).collect();
        assert!(Playing::restore(&broken).is_err(), "{races:?}");
    }
}

#[test]
fn a_redealt_match_has_no_laid_races() {
    let (mut playing, _) = until_a_race(Some(RaceOrder::new([Seat::D, Seat::C, Seat::B, Seat::A])));
    let key = Key::new(1, 1);
    playing.redeal(key);
    let record = playing.save(&["a", "b", "c", "d"]);
    assert_eq!(record, Playing::new(playing.rules(), 4, key).unwrap().save(&["a", "b", "c", "d"]));
}

#[test]
fn an_impossible_deck_is_refused_with_the_card_that_is_off() {
    let rules = Rules::preset("classic").unwrap();
    let mut deal = Deal::new(&rules, Key::new(11, 0));
    let mut deck = rules.deck().to_vec();
    let two = deck.iter().position(|&card| rules.label(card) == "2h").unwrap();
    deck[two] = rules.card("Ah").unwrap();
    let error = deal.set_deck(0, &deck).unwrap_err();
    assert_eq!(error.to_string(), "impossible deck: expected 1 of `Ah`, found 2");
}
