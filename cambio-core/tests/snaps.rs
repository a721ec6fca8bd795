//! Details of snap windows, penalties, gifts and chains that are easy to get wrong.

use crate::table::{Scene, Stage};
use cambio_core::{Event, Knowledge, Phase, Position, Seat, SeatSet, Sighting};

#[test]
fn every_seat_is_asked_whether_or_not_it_holds_a_match() {
    let mut table = Stage::of("classic", 4).starter("c").stock("5h").deal();
    table.play("c draw, c drop");
    assert_eq!(table.pass(), "cdab", "in playing order from the seat whose turn it is");
}

#[test]
fn the_window_of_the_flip_is_asked_from_the_starter_on() {
    let mut table = Stage::of("faessler", 3).starter("b").with("peek = 'none'").deal();
    assert_eq!(table.pass(), "bca");
    assert_eq!(table.asked(), "b");
}

#[test]
fn a_declaration_is_secret_until_all_have_declared() {
    let mut table = Stage::of("original", 3).holds("b", "7 6 5 4").stock("7 8").deal();
    table.play("a draw, a drop");
    table.news();
    table.play("a touch b1, b snap b1");
    assert_eq!(table.news(), "");
    table.play("c pass");
    assert_eq!(table.news(), "a touches b1; b snaps b1: 7 right");
}

#[test]
fn a_touch_turns_nothing_and_costs_nothing() {
    let mut table = Stage::of("original", 2).holds("b", "7 6 5 4").stock("7 8").deal();
    table.play("a draw, a drop");
    table.news();
    table.play("a touch b1, b touch b2");
    assert_eq!(table.news(), "a touches b1; b touches b2; b's turn");
    assert_eq!((table.knows("a", "b1"), table.knows("b", "b2")), ("?", "?"));
    assert_eq!(table.legal(), "b: draw, take, call", "a bluff freezes nothing");
}

#[test]
fn touches_are_announced_from_the_seat_whose_turn_it_is() {
    let mut table = Stage::of("original", 3).starter("b").stock("7").deal();
    table.play("b draw, b drop");
    table.news();
    table.play("b touch a1, c touch a2, a touch a3");
    assert!(table.news().starts_with("b touches a1; c touches a2; a touches a3; "));
}

/// Seat b has a 9 on b5, a penalty card, and has just dropped another 9. The window is open; a declares last.
fn with_a_nine_on_b5(stage: Stage) -> Scene {
    let mut table = stage.holds("a", "1 2 3 4").holds("b", "0 6 5 4").stock("8 9 9 7 7").deal();
    table.play("a draw, a drop, a pass, b snap b1");
    assert_eq!(table.row("b"), "0 6 5 4 9");
    table.play("b draw, b drop");
    table.news();
    table
}

#[test]
fn a_gap_that_waits_for_a_gift_is_not_free_for_a_penalty() {
    let mut table = with_a_nine_on_b5(Stage::of("original", 2).races(&["a b"]));
    table.play("b snap b2, a snap b5");
    assert_eq!(table.news(), "a snaps b5: 9 right; b snaps b2: 6 wrong; b penalty b6");
    assert_eq!(table.row("b"), "0 6 5 4 - 7");
    table.play("a give a1");
    assert_eq!(table.row("b"), "0 6 5 4 1 7");
}

#[test]
fn a_penalty_card_goes_to_the_lowest_free_slot_from_five() {
    let mut table = with_a_nine_on_b5(Stage::of("original", 2));
    // b snaps its 9 and then, wrongly, b1. Slot 5 is free, so the penalty card goes there.
    table.play("b snap b5, a pass, b snap b1");
    assert_eq!(table.news(), "b snaps b5: 9 right; b snaps b1: 0 wrong; b penalty b5; a's turn");
}

#[test]
fn a_gap_in_the_hand_is_not_filled_by_a_penalty() {
    let mut table = Stage::of("original", 2).holds("b", "7 6 5 4").stock("7 8").deal();
    table.play("a draw, a drop, a pass, b snap b1, b snap b2");
    assert_eq!(table.row("b"), "- 6 5 4 8");
}

#[test]
fn a_penalty_reshuffles_the_pile_if_a_slot_is_free() {
    for (slots, news, pile, stock) in [
        (5, "b snaps b1: Ad wrong; 45 reshuffled; b penalty b5", 1, 44),
        (4, "b snaps b1: Ad wrong; b penalty waived", 46, 0),
    ] {
        // No card is scripted, so b1 is Ad, and b draws the last card of the stock.
        let mut table = Stage::of("classic", 2).with(&format!("max_slots = {slots}")).deal();
        (0..45).for_each(|_| table.idle());
        table.play("b draw, b drop");
        table.news();
        table.play("b snap b1, a pass");
        assert_eq!((table.news().as_str(), table.pile_len(), table.stock_len()), (news, pile, stock));
    }
}

#[test]
fn a_declaration_whose_card_is_gone_is_void() {
    let mut table =
        Stage::of("original", 3).holds("b", "7 6 5 4").stock("7 8").races(&["c b"]).holds("c", "1 2 3 4").deal();
    table.play("a draw, a drop");
    table.news();
    table.play("a pass, b snap b1, c snap b1");
    assert_eq!(table.news(), "c snaps b1: 7 right", "b's snap is void: no card is shown, no penalty");
    assert_eq!(table.row("b"), "- 6 5 4");
}

#[test]
fn a_wrong_card_costs_a_penalty_before_and_after_a_winner() {
    for (order, news) in [
        ("a b", "a snaps a2: 1R wrong; a penalty a5; b snaps b1: 9C right; a's turn"),
        ("b a", "b snaps b1: 9C right; a snaps a2: 1R wrong; a penalty a5; a's turn"),
    ] {
        let mut table = Stage::of("faessler", 2)
            .with("peek = 'none'")
            .holds("a", "9S 1R 2R 3R")
            .holds("b", "9C 4R 5R 6R")
            .stock("9R 8R")
            .races(&[order])
            .deal();
        table.news();
        table.play("a snap a2, b snap b1");
        assert_eq!(table.news(), news);
    }
}

#[test]
fn a_chain_ends_with_a_wrong_card_and_its_penalty() {
    let mut table = Stage::of("original", 2).holds("b", "7 7 5 7").stock("7 8").deal();
    table.play("a draw, a drop, a pass, b snap b1, b snap b2");
    table.news();
    table.play("b snap b3");
    assert_eq!(table.news(), "b snaps b3: 5 wrong; b penalty b5; b's turn");
    assert_eq!(table.row("b"), "- - 5 7 8");
}

#[test]
fn only_the_winner_is_asked_in_a_chain() {
    let mut table = Stage::of("original", 3).holds("b", "7 7 5 7").stock("7").deal();
    table.play("a draw, a drop, a pass, b snap b1, c pass");
    assert!(table.offers("b snap b2") && !table.offers("b touch b2"));
    assert_eq!(table.pass(), "b");
    assert_eq!(table.phase(), Phase::Start);
}

#[test]
fn without_a_chain_one_card_is_snapped() {
    let mut table = Stage::of("classic", 2).holds("b", "7h 7d 5h 7c").stock("7s").deal();
    table.play("a draw, a drop, a pass, b snap b1");
    // The power of a's 7 comes next, without a second window after it.
    assert_eq!(table.legal(), "a: skip, look a1, look a2, look a3, look a4");
    table.play("a look a1");
    assert_eq!(table.legal(), "a: call, end");
}

#[test]
fn a_seat_without_a_card_to_give_is_not_asked_for_one() {
    let mut table = Stage::of("faessler", 2)
        .with("peek = 'none'\nhand = 1")
        .holds("a", "9S")
        .holds("b", "8C")
        .stock("9R 8S")
        .deal();
    table.play("a snap a1, b pass, a draw, a drop");
    table.news();
    table.play("a snap b1, b pass");
    // Neither seat has a card left, so a gift is impossible, and the eight's power has no target.
    assert_eq!(table.news(), "a snaps b1: 8C right; b's turn");
}

#[test]
fn a_second_window_opens_after_a_power_that_was_carried_out() {
    let mut table = Stage::of("classic", 3).holds("b", "7h 6s 5h 4h").stock("7s 8h").deal();
    table.play("a draw, a drop");
    assert_eq!(table.pass(), "abc");
    table.play("a look a1");
    assert!(table.has_window());
    table.news();
    table.play("a pass, b snap b1, c pass");
    assert_eq!(table.news(), "b snaps b1: 7h right", "the second window is for the same card");
    assert_eq!(table.phase(), Phase::Close);
}

#[test]
fn a_power_that_an_earlier_turn_used_opens_no_second_window_now() {
    let mut table = Stage::of("classic", 2).stock("7s 8s").deal();
    table.play("a draw, a drop, a pass, b pass, a look a1, a pass, b pass, a end");
    table.play("b draw, b drop, b pass, a pass, b skip");
    assert_eq!((table.phase(), table.asked().as_str()), (Phase::Close, "b"));
}

#[test]
fn a_wrong_snap_in_the_first_window_leaves_the_second_open() {
    let mut table = Stage::of("classic", 2).holds("b", "2h 6s 5h 4h").stock("7s 8h").deal();
    table.play("a draw, a drop, a pass, b snap b1, a look a1");
    assert!(table.has_window());
}

#[test]
fn one_executed_step_opens_a_second_window() {
    let mut table = Stage::of("classic", 2).stock("Qs").deal();
    table.play("a draw, a drop, a pass, b pass, a skip, a swap a1 b1");
    assert!(table.has_window());
}

#[test]
fn a_call_uses_the_freeze_up() {
    let mut table = Stage::of("original", 3).holds("b", "7 6 5 8").stock("7").deal();
    table.play("a draw, a drop, a pass, b snap b1, c pass, b pass");
    assert_eq!(table.legal(), "b: draw, call");
    table.play("b call");
    assert_eq!(table.legal(), "c: draw, take");
}

#[test]
fn a_snap_in_the_second_window_freezes_the_pile_too() {
    let mut table = Stage::of("original", 2).holds("b", "look 6 5 8").stock("look").deal();
    table.play("a draw, a drop, a pass, b pass, a look a1, a pass, b snap b1, b pass");
    assert_eq!(table.legal(), "b: draw, call");
}

#[test]
fn a_caller_gives_one_of_its_locked_cards_for_a_snapped_one() {
    let mut table = Stage::of("faessler", 3)
        .with("peek = 'none'")
        .holds("a", "3R 1R KR 2R")
        .holds("c", "3C 4C 5C 6C")
        .stock("9R 3S")
        .deal();
    table.pass();
    table.play("a call, b draw, b drop, b pass, c pass, a snap c1, a give a3");
    assert_eq!((table.row("a"), table.row("c")), ("3R 1R - 2R".to_owned(), "KR 4C 5C 6C".to_owned()));
}

#[test]
fn a_wrong_snap_costs_a_caller_of_the_jass_game_a_card_too() {
    let mut table = Stage::of("faessler", 2).with("peek = 'none'").holds("a", "1R 1S 1C 1E").stock("9R 2R 8R").deal();
    table.pass();
    table.play("a call, b draw, b drop, b pass, a snap a1");
    assert_eq!(table.row("a"), "1R 1S 1C 1E 8R");
    assert_eq!(table.result().points()[0], 12);
}

#[test]
fn knowledge_refuses_a_card_that_moves_onto_another() {
    let spot = |name: &str| name.parse().unwrap();
    let fits = |layouts: &str, last: Sighting| {
        let position: Position = format!("classic {layouts} pile=7s").parse().unwrap();
        let view = position.observation();
        let flipped = Event::Flipped { card: view.rules().card("7s").unwrap() };
        let sightings = [Event::Dealt { starter: Seat::A, extra: SeatSet::default() }, flipped, last];
        Knowledge::deduced(&view, &sightings).is_ok()
    };
    let penalty = |name| Event::Penalised { seat: Seat::A, spot: spot(name) };
    assert!(fits("a=?,?,?,?,? b=?,?,?,?", penalty("a5")) && !fits("a=?,?,?,? b=?,?,?,?", penalty("a4")));
    let gift = |name| Event::Gave { seat: Seat::B, from: spot("b1"), to: spot(name) };
    assert!(fits("a=?,?,?,?,? b=-,?,?,?", gift("a5")) && !fits("a=?,?,?,? b=-,?,?,?", gift("a4")));
}
