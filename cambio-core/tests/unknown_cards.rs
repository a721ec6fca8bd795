//! Records with unknown cards. What the player who wrote the record saw does not depend on the cards that are filled in.

use cambio_core::record::{InvalidRecord, UNKNOWN};
use cambio_core::rng::{Bounded as _, Key, SplitMix};
use cambio_core::{Action, Card, Event, Observer, Playing, Record, Rules, Seat, Sighting, replay};

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
    let (state, view) = (playing.state(), playing.state().observe(Seat::A));
    let spots = state.table().occupied().iter_from(Seat::A).filter(|&spot| view.face(spot).is_none());
    let unseen: Vec<Card> = spots.filter_map(|spot| state.face(spot)).chain(state.stock()).collect();
    let held = if view.held().is_none() { state.held() } else { None };
    let mut written = whole.clone();
    let mut unknown = 0;
    // The place of a card with two copies does not follow from its label.
    for card in unseen.into_iter().chain(held).filter(|&card| rules.copies_of(card) == 1) {
        let place = whole.rounds[0].deck.iter().position(|label| label == rules.label(card)).unwrap();
        UNKNOWN.clone_into(&mut written.rounds[0].deck[place]);
        unknown += 1;
    }
    Round { whole, written, unknown }
}

/// What seat a perceives.
#[derive(Default)]
struct Perceived(Vec<Sighting>);

impl Observer for Perceived {
    fn event(&mut self, event: &Event<Card>) {
        self.0.push(event.seen_from(Seat::A));
    }
}

fn perceived(record: &Record) -> Result<Vec<Sighting>, InvalidRecord> {
    let mut perceived = Perceived::default();
    replay(record, &mut perceived).map(|_| perceived.0)
}

#[test]
fn the_writer_perceives_the_same_whatever_cards_are_filled_in() {
    let (mut filled, mut changed) = (0, 0);
    for (preset, seats) in [("classic", 2), ("classic", 4), ("original-b", 3), ("faessler", 2)] {
        let rules = Rules::preset(preset).unwrap();
        for deal in 0..amount(20, 500) {
            let round = round(&rules, seats, deal);
            // After a reshuffle, the places in the deck do not say which cards are on the table.
            if round.whole.rounds[0].reshuffles.is_empty() && round.unknown > 0 {
                let expected = perceived(&round.whole).unwrap();
                for seed in 0..3 {
                    let complete = round.written.complete(seed).unwrap();
                    assert_eq!(perceived(&complete).unwrap(), expected, "{preset}, {seats} seats, deal {deal}");
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
        assert_eq!(perceived(&complete).unwrap(), perceived(&whole).unwrap());
    }
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
