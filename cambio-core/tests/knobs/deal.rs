//! Knobs of the deck, the deal and the start of a round.

use cambio_core::rng::Key;
use cambio_core::{Match, Record, Rules, Seat, replay};

use crate::table::{Scene, Stage};

#[test]
pub(crate) fn the_deck_has_as_many_jokers_as_the_knob_says() {
    for jokers in 0..=4 {
        let rules = Stage::of("classic", 2).with(&format!("jokers = {jokers}")).rules();
        let joker = rules.card("JK");
        assert_eq!(rules.deck().iter().filter(|&&card| Some(card) == joker).count(), jokers);
        assert_eq!(rules.deck().len(), 52 + jokers);
    }
}

#[test]
pub(crate) fn two_decks_have_every_card_twice() {
    let one = Rules::preset("faessler").unwrap();
    let two = Stage::of("faessler", 2).with("decks = 2").rules();
    assert_eq!((one.deck().len(), two.deck().len()), (62, 124));
    for &card in one.deck() {
        let count = |rules: &Rules| rules.deck().iter().filter(|&&other| other == card).count();
        assert_eq!(count(&two), 2 * count(&one));
    }
    // Both copies of a card can be dealt; one deck has only one.
    let table = Stage::of("faessler", 2).with("decks = 2").holds("a", "FR FR 1S 1S").deal();
    assert_eq!(table.row("a"), "FR FR 1S 1S");
}

#[test]
pub(crate) fn the_direction_is_recorded_and_changes_nothing() {
    let played = |direction: &str| {
        let fields = serde_json::json!({
            "format": "cambio-record/1",
            "rules": {"base": "original", "direction": direction},
            "seats": 3,
            "rounds": [{
                "deck": Rules::preset("original").unwrap().spec().deck.kinds().iter()
                    .flat_map(|kind| vec![kind.label.clone(); kind.copies.into()]).collect::<Vec<_>>(),
                "decisions": ["a draw", "a drop", "a pass", "b snap b1", "c pass", "b draw", "b keep b2"],
            }],
        });
        let record = Record::read(&fields.to_string()).unwrap();
        let filled = replay(&record, &mut ()).unwrap();
        assert_eq!(filled.fields["rules"]["direction"], direction);
        filled.rounds
    };
    assert_eq!(played("clockwise"), played("counter_clockwise"));
    let spec = Stage::of("original", 2).with("direction = 'counter_clockwise'").rules().spec().clone();
    assert_eq!(spec.to_json()["direction"], "counter_clockwise");
}

#[test]
pub(crate) fn each_seat_is_dealt_a_hand_and_extra_cards_lie_beyond_it() {
    for (hand, penalty) in [(2, "a3"), (4, "a5"), (6, "a7")] {
        let mut table = Stage::of("classic", 2).with(&format!("hand = {hand}\npeek = 'none'")).stock("JK 5h 6h").deal();
        assert_eq!(table.row("a").split(' ').count(), hand);
        table.play("a draw, a drop");
        table.news();
        table.play("a snap a1, b pass");
        assert!(table.news().ends_with(&format!("a penalty {penalty}")));
    }
}

#[test]
pub(crate) fn a_layout_has_no_more_slots_than_the_knob_says() {
    for (slots, news) in [(4, "a penalty waived"), (5, "a penalty a5")] {
        let mut table = Stage::of("classic", 2).with(&format!("max_slots = {slots}")).stock("JK 5h 6h").deal();
        table.play("a draw, a drop");
        table.news();
        table.play("a snap a1, b pass");
        assert!(table.news().ends_with(news), "{slots}");
    }
}

#[test]
pub(crate) fn the_first_peek_is_at_fixed_slots_or_chosen_ones_or_none() {
    let known =
        |table: &Scene| -> Vec<usize> { (1..=4).filter(|n| table.knows("a", &format!("a{n}")) != "?").collect() };
    let deal = |peek: &str| Stage::of("classic", 2).with(&format!("peek = '{peek}'")).deal();
    assert_eq!(known(&deal("slots 3 4")), [3, 4]);
    assert_eq!(known(&deal("slots 1")), [1]);
    assert_eq!(known(&deal("none")), [0; 0]);
    let mut chosen = deal("choose 3");
    chosen.play("a peek a4, a peek a1, a peek a2, b peek b1, b peek b2, b peek b3");
    assert_eq!(known(&chosen), [1, 2, 4]);
    assert_eq!(chosen.asked(), "a");
    assert_eq!(chosen.phase(), cambio_core::Phase::Start);
}

#[test]
pub(crate) fn the_flip_starts_the_pile_with_or_without_a_window() {
    let deal = |flip: &str| Stage::of("original", 2).with(&format!("flip = '{flip}'")).stock("7").deal();
    let none = deal("none");
    assert_eq!((none.top(), none.legal().as_str()), ("-", "a: draw, call"));
    let silent = deal("silent");
    assert_eq!((silent.top(), silent.legal().as_str()), ("7", "a: draw, take, call"));
    let window = deal("window");
    assert_eq!((window.top(), window.has_window()), ("7", true));
}

#[test]
pub(crate) fn the_first_dealer_is_seat_a_or_drawn() {
    let dealers = |value: &str| -> Vec<Seat> {
        let rules = Stage::of("original", 3).with(&format!("first_dealer = '{value}'")).rules();
        (0..40).map(|deal| Match::first_starter(&rules, 3, Key::new(5, deal))).collect()
    };
    assert!(dealers("a").iter().all(|&seat| seat == Seat::A));
    let drawn = dealers("drawn");
    assert!([Seat::A, Seat::B, Seat::C].iter().all(|seat| drawn.contains(seat)), "{drawn:?}");
    assert_eq!(drawn, dealers("drawn"), "the seed decides");
}

#[test]
pub(crate) fn the_starter_is_the_dealer_or_the_seat_after_or_the_winner() {
    let starters = |value: &str| {
        let stage = Stage::of("original", 3)
            .with(&format!("starter = '{value}'"))
            .holds("a", "9 9 9 9")
            .holds("b", "8 8 8 8")
            .holds("c", "0 0 0 0")
            .stock("5 6");
        let rules = stage.rules();
        let first = Match::first_starter(&rules, 3, Key::new(0, 0));
        let mut game = Match::new(&rules, 3, first).unwrap();
        let mut table = stage.setup(&game.setup()).deal();
        let caller = table.asked();
        table.play(&format!("{caller} call"));
        table.idle();
        table.idle();
        game.add(&table.result());
        (first, game.setup().starter)
    };
    assert_eq!(starters("dealer"), (Seat::A, Seat::B));
    assert_eq!(starters("after_dealer"), (Seat::B, Seat::C));
    assert_eq!(starters("winner"), (Seat::A, Seat::C));
}
