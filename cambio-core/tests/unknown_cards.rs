//! Records with unknown cards. What the player who wrote the record saw does not depend on the cards that are filled in.

use cambio_core::record::{InvalidRecord, UNKNOWN};
use cambio_core::rng::{Bounded as _, Key, SplitMix};
use cambio_core::testing::{RandomAgent, written_by};
use cambio_core::{
    Action, Card, Event, MatchSetup, Observer, Playing, Record, Recorder, Rules, Seat, SeatSet, Sighting, State,
    play_match, replay,
};

use crate::play::amount;

/// A round that was stopped after some random decisions.
struct Round {
    whole: Record,
    /// The record as the player in seat a writes it down.
    written: Record,
    unknown: usize,
}

fn round(rules: &Rules, seats: usize, deal: u64) -> Round {
    let mut playing = Playing::new(rules, seats, Key::new(31, deal)).unwrap();
    let mut dice = SplitMix::new(32, deal);
    for _ in 0..10 + dice.below(60) {
        let Some(turn) = playing.turn() else { break };
        let choices = turn.view.choices();
        let any = choices.nth(dice.below(choices.len() as u32) as usize).unwrap();
        let passes = choices.contains(Action::Pass) && dice.below(5) > 0;
        let mut next = playing.clone();
        next.act(if passes { Action::Pass } else { any }).unwrap();
        // The end of a round turns all cards up.
        if next.last_round().is_some() {
            break;
        }
        playing = next;
    }
    let whole = playing.save(&vec!["agent"; seats]);
    // After a reshuffle, the places in the deck do not say which cards are on the table.
    let is_first_stock = playing.state().table().reshuffles() == 0;
    let written = if is_first_stock { written_by(&playing, Seat::A) } else { whole.clone() };
    let unknown = written.rounds[0].deck.iter().filter(|label| *label == UNKNOWN).count();
    Round { whole, written, unknown }
}

/// What a seat perceives before each decision, and at the end.
struct Perceived {
    seat: Seat,
    sightings: Vec<Vec<Sighting>>,
}

impl Observer for Perceived {
    fn event(&mut self, event: &Event<Card>) {
        self.sightings.last_mut().unwrap().push(event.seen_from(self.seat));
    }

    fn decides(&mut self, _: &State, _: Seat, _: Action) {
        self.sightings.push(Vec::new());
    }
}

fn perceived(record: &Record, seat: Seat) -> Result<Vec<Vec<Sighting>>, InvalidRecord> {
    let mut perceived = Perceived { seat, sightings: vec![Vec::new()] };
    replay(record, &mut perceived).map(|_| perceived.sightings)
}

#[test]
fn the_writer_perceives_the_same_whatever_cards_are_filled_in() {
    let (mut filled, mut changed) = (0, 0);
    for (preset, seats) in [("classic", 2), ("classic", 4), ("original-b", 3), ("faessler", 2)] {
        let rules = Rules::preset(preset).unwrap();
        for deal in 0..amount(20, 500) {
            let round = round(&rules, seats, deal);
            if round.unknown > 0 {
                let expected = perceived(&round.whole, Seat::A).unwrap();
                for seed in 0..3 {
                    let complete = round.written.complete(seed).unwrap();
                    assert_eq!(
                        perceived(&complete, Seat::A).unwrap(),
                        expected,
                        "{preset}, {seats} seats, deal {deal}"
                    );
                    let (mut deck, mut due) = (complete.rounds[0].deck.clone(), round.whole.rounds[0].deck.clone());
                    changed += usize::from(deck != due);
                    deck.sort();
                    due.sort();
                    assert_eq!(deck, due);
                    assert_eq!(complete.rounds[0].fields["x-filled"].as_array().unwrap().len(), round.unknown);
                    filled += 1;
                }
            }
        }
    }
    assert!(filled > 150 && changed > filled * 9 / 10, "{filled} records, {changed} with other cards");
}

#[test]
fn a_seat_saw_a_made_up_card_exactly_if_its_sightings_depend_on_the_cards_that_are_filled_in() {
    let (mut same, mut differ, mut doubtful) = (0, 0, 0);
    for (preset, seats) in [("classic", 2), ("classic", 4), ("original-b", 3), ("faessler", 2)] {
        let rules = Rules::preset(preset).unwrap();
        for deal in 0..amount(20, 500) {
            let round = round(&rules, seats, deal);
            let fillings: Vec<Record> = (0..6).map(|seed| round.written.complete(seed).unwrap()).collect();
            let [made_up] = &fillings[0].made_up()[..] else {
                assert_eq!(round.unknown, 0);
                continue;
            };
            assert!(
                fillings.iter().all(|complete| complete.made_up()[0] == *made_up),
                "it depends on the places alone"
            );
            assert_eq!(made_up.seen_before.len(), round.whole.rounds[0].decisions.len());
            for seat in Seat::A.round(seats) {
                let sightings: Vec<_> = fillings.iter().map(|complete| perceived(complete, seat).unwrap()).collect();
                for (decision, seen_by) in made_up.seen_before.iter().chain([&made_up.seen_by]).enumerate() {
                    let is_same = sightings.iter().all(|other| other[..=decision] == sightings[0][..=decision]);
                    match (seen_by.contains(seat), is_same) {
                        (false, is_same) => {
                            assert!(is_same, "{preset}, {seats} seats, deal {deal}, {seat} at decision {decision}");
                            same += 1;
                        }
                        (true, false) => differ += 1,
                        // All fillings may have the same card.
                        (true, true) => doubtful += 1,
                    }
                }
                assert!(seat != Seat::A || !made_up.seen_by.contains(seat));
            }
        }
    }
    assert!(same > 1000 && differ > 1000 && doubtful * 100 < differ, "{same}, {differ}, {doubtful}");
}

#[test]
fn a_complete_record_stays_the_same() {
    let round = round(&Rules::preset("classic").unwrap(), 3, 1);
    assert_eq!(round.whole.complete(7).unwrap(), round.whole);
}

#[test]
fn unknown_cards_of_a_new_stock_are_those_of_the_pile() {
    let rules = Rules::preset("classic").unwrap();
    for deal in 0..3 {
        // Every seat drops every card, until the pile has become the stock and a few cards were drawn from it.
        let mut playing = Playing::new(&rules, 4, Key::new(33, deal)).unwrap();
        while playing.state().table().reshuffles() == 0 || playing.state().table().stock_len() > 30 {
            let choices = playing.turn().expect("no seat calls").view.choices();
            let wanted = [Action::Draw, Action::Drop, Action::Skip, Action::Pass, Action::End];
            let action = wanted.into_iter().find(|&action| choices.contains(action));
            playing.act(action.unwrap_or_else(|| choices.nth(0).unwrap())).unwrap();
        }
        let whole = playing.save(&["agent"; 4]);
        let mut written = whole.clone();
        let stock = &mut written.rounds[0].reshuffles[0];
        let drawn = stock.len() - playing.state().table().stock_len();
        assert!(drawn > 0);
        // A list may end early, and a card at its end may be unknown.
        UNKNOWN.clone_into(&mut stock[drawn]);
        stock.truncate(drawn + 1);
        assert!(
            replay(&written, &mut ()).unwrap_err().what.contains("reshuffle 1 must be the pile without its top card")
        );
        let complete = written.complete(1).unwrap();
        assert_ne!(complete.rounds[0].reshuffles, whole.rounds[0].reshuffles);
        let places: Vec<usize> = (drawn..whole.rounds[0].reshuffles[0].len()).collect();
        assert_eq!(complete.rounds[0].fields["x-filled-stocks"], serde_json::json!([places]));
        let [made_up] = &complete.made_up()[..] else { panic!("one round") };
        assert!(!made_up.in_play, "no made-up card was drawn");
        written.rounds[0].reshuffles[0].truncate(drawn - 1);
        let [made_up] = &written.complete(1).unwrap().made_up()[..] else { panic!("one round") };
        assert!(made_up.in_play && !made_up.seen_by.is_empty(), "the last drawn card is made up");
        assert_eq!(perceived(&complete, Seat::A).unwrap(), perceived(&whole, Seat::A).unwrap());
    }
}

#[test]
fn made_up_totals_count_as_seen_by_all_seats() {
    let mut found = 0;
    for deal in 0..10 {
        let match_setup = MatchSetup { rules: Rules::preset("faessler").unwrap(), seats: 2, key: Key::new(34, deal) };
        let mut recorder = Recorder::new(&match_setup.rules);
        let mut agents = [RandomAgent::default(), RandomAgent::default()];
        let result = play_match(&match_setup, &mut agents, &mut recorder).unwrap();
        let whole = recorder.finish(match_setup.key, 0, &["a", "b"], &result);
        for place in 0..8 {
            let mut written = whole.clone();
            UNKNOWN.clone_into(&mut written.rounds[0].deck[place]);
            let [first, second, ..] = &written.complete(1).unwrap().made_up()[..] else { continue };
            // A card that lay unseen on the table until it was turned up.
            if first.seen_by.is_empty() {
                assert!(first.in_play && second.in_play);
                assert!(second.seen_before.iter().all(|seen_by| *seen_by == SeatSet::first(2)));
                found += 1;
            }
        }
    }
    assert!(found > 10, "{found}");
}

#[test]
fn impossible_decks_are_refused() {
    let round = round(&Rules::preset("classic").unwrap(), 2, 4);
    let with = |change: &dyn Fn(&mut Vec<String>)| {
        let mut record = round.written.clone();
        change(&mut record.rounds[0].deck);
        record.complete(1).unwrap_err().to_string()
    };
    let known = round.written.rounds[0].deck.iter().find(|label| *label != UNKNOWN).unwrap().clone();
    assert_eq!(
        with(&|deck| *deck.iter_mut().find(|label| *label == UNKNOWN).unwrap() = known.clone()),
        format!("round 1: impossible deck: expected the cards of `classic`, found more cards `{known}`")
    );
    assert_eq!(
        with(&|deck| "Zz".clone_into(&mut deck[0])),
        "round 1: impossible deck: expected the cards of `classic`, found a card `Zz`"
    );
    assert_eq!(with(&|deck| deck.push(known.clone())), "round 1: impossible deck: `classic` has 54 cards, found 55");
    let error = replay(&round.written, &mut ()).unwrap_err().to_string();
    assert_eq!(error, "round 1: the deck has unknown cards (`?`); `--complete` or `Record::complete` replaces them");
    // A decision that no filling allows.
    let mut record = round.written.clone();
    record.rounds[0].decisions[0] = "b draw".to_owned();
    assert!(record.complete(1).unwrap_err().to_string().starts_with("round 1, decision 1: illegal decision `b draw`"));
}
