//! Details of deals, peeks, turns and powers that are easy to get wrong.

use crate::table::{Scene, Stage};
use cambio_core::Phase;

#[test]
fn cards_are_dealt_one_at_a_time_from_the_starter_on() {
    // No card is scripted, so the deck is sorted: Ah Ad Ac As 2h 2d 2c 2s 3h.
    let table = Stage::of("classic", 2).starter("b").deal();
    assert_eq!((table.row("b"), table.row("a")), ("Ah Ac 2h 2c".to_owned(), "Ad As 2d 2s".to_owned()));
}

#[test]
fn first_peeks_are_private_but_their_spots_are_public() {
    for preset in ["original", "classic"] {
        let mut table = Stage::of(preset, 2).starter("b").deal();
        let seen =
            |seat: &str| -> Vec<bool> { (1..=4).map(|n| table.knows(seat, &format!("{seat}{n}")) != "?").collect() };
        assert_eq!((seen("a"), seen("b")), (vec![false, false, true, true], vec![false, false, true, true]));
        assert_eq!(table.knows("a", "b3"), "?");
        let [b3, b4] = [table.face("b3").to_owned(), table.face("b4").to_owned()];
        assert_eq!(
            table.news_for("b"),
            format!("dealt from b; b peeks b3: {b3}; b peeks b4: {b4}; a peeks a3: ?; a peeks a4: ?; b's turn")
        );
        assert_eq!(table.top(), "-", "the pile starts empty");
        table.news();
    }
}

#[test]
fn the_second_peek_is_chosen_after_the_first_was_seen() {
    let mut table = Stage::of("faessler", 2).starter("b").holds("b", "1R 2R 3R 4R").stock("9R").deal();
    assert_eq!(table.legal(), "b: peek b1, peek b2, peek b3, peek b4");
    table.play("b peek b2");
    assert_eq!(table.knows("b", "b2"), "2R");
    assert_eq!(table.legal(), "b: peek b1, peek b3, peek b4");
    table.news();
    table.play("b peek b4");
    assert_eq!(table.news_for("a"), "b peeks b4: ?");
    assert_eq!(table.asked(), "a");
}

#[test]
fn the_flip_has_no_power_but_can_be_taken_with_it() {
    let mut table = Stage::of("faessler", 2).with("peek = 'none'").stock("8R").deal();
    table.pass();
    assert_eq!(table.legal(), "a: draw, take, call");
    table.play("a take, a drop");
    table.pass();
    assert!(table.offers("a look b1"));
}

#[test]
fn nothing_can_be_taken_from_an_empty_pile() {
    assert_eq!(Stage::of("classic", 2).deal().legal(), "a: draw");
    assert_eq!(Stage::of("original", 2).deal().legal(), "a: draw, call");
}

#[test]
fn drawn_cards_are_private_and_replaced_cards_public() {
    let mut table = Stage::of("classic", 2).holds("a", "9h 2h 3h 4h").stock("Qs").deal();
    table.news();
    table.play("a draw");
    assert_eq!((table.news_for("a").as_str(), table.news_for("b").as_str()), ("a draws Qs", "a draws ?"));
    let held = |seat| table.state().observe(crate::table::seat_of(seat)).held().is_some();
    assert_eq!((held("a"), held("b")), (true, false));
    table.news();
    table.play("a keep a1");
    assert_eq!(table.news_for("b"), "a keeps a1 for 9h");
    assert_eq!((table.knows("a", "a1"), table.knows("b", "a1")), ("Qs", "?"));
}

#[test]
fn a_seat_without_cards_still_draws_uses_powers_and_calls() {
    let mut table = Stage::of("faessler", 2)
        .with("peek = 'none'\nhand = 1")
        .holds("a", "9S")
        .holds("b", "1R")
        .stock("9R 8R 2R 3R")
        .deal();
    table.play("a snap a1, b pass, a draw");
    assert_eq!(table.legal(), "a: drop", "a has no card to replace, but must still decide");
    table.play("a drop");
    table.pass();
    table.play("a look b1");
    assert_eq!(table.knows("a", "b1"), "1R");
    table.pass();
    table.idle();
    assert_eq!(table.legal(), "a: draw, take, call");
}

fn drawn_and_dropped(stage: Stage, card: &str) -> Scene {
    let mut table = stage.with("peek = 'none'").stock(card).deal();
    table.play("a draw, a drop");
    table.pass();
    table
}

#[test]
fn each_power_has_the_targets_of_its_system() {
    for (preset, cards, targets) in [
        ("original", &["look"][..], "look a1, look a2"),
        ("original", &["spy"], "look b1, look b2"),
        ("original", &["swap"], "swap a1 b1, swap a1 b2, swap a2 b1, swap a2 b2, swap b1 b2"),
        ("faessler", &["10R", "9C"], "skip, look a1, look a2"),
        ("faessler", &["8S", "7E"], "skip, look b1, look b2"),
        ("faessler", &["KR", "OS", "UE"], "skip, swap a1 b1, swap a1 b2, swap a2 b1, swap a2 b2, swap b1 b2"),
        ("faessler", &["FR"], "skip, look a1, look a2, look b1, look b2"),
        ("classic", &["7h", "8s"], "skip, look a1, look a2"),
        ("classic", &["9d", "10c"], "skip, look b1, look b2"),
        ("classic", &["Jh"], "skip, swap a1 a2, swap a1 b1, swap a1 b2, swap a2 b1, swap a2 b2, swap b1 b2"),
        ("classic", &["Qd", "Kh", "Ks"], "skip, look a1, look a2, look b1, look b2"),
    ] {
        for card in cards {
            let table = drawn_and_dropped(Stage::of(preset, 2).with("hand = 2\nflip = 'none'"), card);
            assert_eq!(table.legal(), format!("a: {targets}"), "{preset}, {card}");
        }
    }
}

#[test]
fn cards_without_a_power_ask_for_nothing() {
    for (preset, cards) in [("original", "0 9 energy"), ("faessler", "1R 6S AE JK"), ("classic", "Ah 6h 2s JK")] {
        for card in cards.split(' ') {
            let table = drawn_and_dropped(Stage::of(preset, 2).with("flip = 'none'"), card);
            assert_ne!(table.phase(), Phase::Power, "{preset}, {card}");
        }
    }
}

#[test]
fn red_kings_give_two_actions_in_turn() {
    let mut table = drawn_and_dropped(Stage::of("original", 2).holds("a", "1 2 3 4"), "KR");
    assert!(table.offers("a look a1") && table.offers("a look b1") && table.offers("a swap a1 b1"));
    assert!(!table.offers("a swap a1 a2") && !table.offers("a skip"));
    table.play("a look a1");
    assert_eq!(table.knows("a", "a1"), "1");
    assert!(table.offers("a look a1"), "both actions may be at the same card");
    table.play("a swap a1 b1");
    assert_eq!((table.face("b1"), table.knows("a", "b1")), ("1", "1"));
    assert!(table.has_window());
}

#[test]
fn a_blue_king_shows_nothing_until_the_last_card_is_named() {
    let mut table =
        Stage::of("original", 3).starter("b").holds("c", "1 2 3 4").holds("a", "5 6 7 8").stock("KB").deal();
    table.play("b draw, b drop");
    table.pass();
    table.news();
    assert_eq!(table.legal(), "b: show c1, show c2, show c3, show c4", "in playing order after the player");
    table.play("b show c2");
    assert_eq!(table.news(), "");
    assert_eq!(table.knows("b", "c2"), "?");
    assert_eq!(table.legal(), "b: show a1, show a2, show a3, show a4");
    table.play("b show a1");
    assert_eq!(table.news(), "c2 shown: 2; a1 shown: 5");
    assert_eq!([table.knows("a", "c2"), table.knows("b", "c2"), table.knows("c", "c2")], ["2"; 3]);
}

#[test]
fn a_blue_king_leaves_out_callers_and_empty_layouts() {
    let mut table = Stage::of("original", 4)
        .with("hand = 1\npeek = 'none'\nempty_hand = 'continues'")
        .holds("a", "9")
        .holds("d", "7")
        .stock("7 KB")
        .deal();
    table.play("a draw, a drop, a pass, b pass, c pass, d snap d1, d pass");
    table.play("b call, c draw, c drop");
    table.pass();
    assert_eq!(table.legal(), "c: show a1", "d has no card, b has called");
    table.news();
    table.play("c show a1");
    assert_eq!(table.news(), "a1 shown: 9");
    // If no card can be shown, the power is skipped.
    let mut alone = Stage::of("original", 2).stock("KB").deal();
    alone.play("a call, b draw, b drop");
    alone.pass();
    assert_eq!(alone.result().ended.word(), "call");
}

#[test]
fn a_power_without_a_legal_target_fizzles() {
    let mut table = Stage::of("original", 2).stock("spy").deal();
    table.play("a call, b draw, b drop");
    table.news();
    table.play("b pass");
    assert!(table.news().starts_with("ended call"), "the look is skipped, and no second window opens");
}

#[test]
fn declining_a_look_declines_the_looks_that_follow_it() {
    let mut table = drawn_and_dropped(Stage::of("classic", 2), "Ks");
    table.play("a skip");
    assert!(!table.legal().contains("look") && table.offers("a swap a1 b1") && table.offers("a skip"));
}

#[test]
fn declining_one_of_two_actions_leaves_the_other_whole() {
    let mut table = drawn_and_dropped(Stage::of("original", 2).with("power_use = 'may'"), "KR");
    table.play("a skip");
    assert!(table.offers("a look a1") && table.offers("a look b1") && table.offers("a swap a1 b1"));
}

#[test]
fn a_kings_second_look_is_optional_and_elsewhere() {
    let mut table = drawn_and_dropped(Stage::of("classic", 2), "Ks");
    table.play("a look b1");
    assert!(!table.offers("a look b1") && table.offers("a look b2") && table.offers("a look a1"));
    table.play("a skip");
    assert!(table.offers("a swap b1 b2") && !table.legal().contains("look"));
}

#[test]
fn a_king_does_not_remember_what_an_earlier_king_looked_at() {
    let mut table = drawn_and_dropped(Stage::of("classic", 2), "Ks Kc");
    table.play("a look b1, a look b2, a skip");
    table.pass();
    table.play("a end, b draw, b drop");
    table.pass();
    table.play("b look a1");
    assert!(table.offers("b look b1") && table.offers("b look b2") && !table.offers("b look a1"));
}

#[test]
fn faessler_swaps_may_move_other_cards_than_the_look() {
    let mut table = drawn_and_dropped(Stage::of("faessler", 3).with("flip = 'none'"), "FR");
    table.play("a look b1");
    assert!(table.offers("a swap c1 c2") && table.offers("a swap a1 c4") && !table.offers("a swap a1 a2"));
    table.play("a swap c4 b2");
    assert_eq!(table.phase(), Phase::Window);
}

#[test]
fn knowledge_moves_with_a_swapped_card() {
    let mut table = Stage::of("classic", 2).holds("a", "9h 2h 3h 4h").holds("b", "5h 5d 8h 8d").stock("Js").deal();
    table.play("a draw, a drop, a pass, b pass");
    table.news();
    table.play("a swap b3 a3");
    assert_eq!(table.news_for("b"), "a swaps a3 b3", "all seats see the spots, lower spot first");
    assert_eq!((table.knows("a", "b3"), table.knows("b", "a3")), ("3h", "8h"));
    assert_eq!((table.knows("a", "a3"), table.knows("b", "b3")), ("?", "?"));
}

#[test]
fn second_looks_are_at_another_card() {
    let table = |power: &str, decisions: &str| {
        let deck = format!(
            "base = 'classic'\njokers = 0\nwindow = 'none'\ndeck = [{{ label = 'P', rank = 'P', points = 1, power = '{power}', \
             copies = 20 }}, {{ label = '1', rank = '1', points = 1, copies = 40 }}]"
        );
        let mut table = Stage::by(&deck, 2).stock("P").deal();
        table.play(decisions);
        table
    };
    let swapped = table("look any then swap then look another", "a draw, a drop, a look a1, a swap a1 b1");
    assert!(swapped.offers("a look a1") && !swapped.offers("a look b1"));
    let revealed = table("look any then reveal then look another", "a draw, a drop, a look a1, a show b2");
    assert!(!revealed.offers("a look a1") && revealed.offers("a look b2"));
}

/// A table of three without windows, in which every draw is a card with this power. Seat a has drawn and dropped one.
fn powered(power: &str, fields: &str) -> Scene {
    let deck = format!(
        "base = 'faessler'\njokers = 0\nwindow = 'none'\nflip = 'none'\npeek = 'none'\nhand = 2\n{fields}\ndeck = [\
         {{ label = 'P', rank = 'P', points = 1, power = '{power}', copies = 20 }}, \
         {{ label = '1', rank = '1', points = 1, copies = 40 }}]"
    );
    let mut table = Stage::by(&deck, 3).stock("P P P").deal();
    table.play("a draw, a drop");
    table
}

#[test]
fn a_swap_of_an_own_card_is_with_one_of_another_seat() {
    // The knobs `swap_two_own` and `swap_same_owner` have no effect on this power.
    for fields in ["swap_two_own = true", "swap_same_owner = false"] {
        let table = powered("swap own", fields);
        assert_eq!(
            table.legal(),
            "a: skip, swap a1 b1, swap a1 b2, swap a1 c1, swap a1 c2, swap a2 b1, swap a2 b2, swap a2 c1, swap a2 c2"
        );
    }
    // A caller's cards cannot be swapped. At a table of two, b's power then has no target.
    let mut called = Stage::of("faessler", 2)
        .with("flip = 'none'\npeek = 'none'\njokers = 0\ndeck = [{ label = 'P', rank = 'P', points = 1, power = 'swap own', copies = 60 }]")
        .deal();
    called.play("a call, b draw, b drop");
    called.pass();
    assert_eq!(called.outcome().0, "call");
}

#[test]
fn swaps_after_looks_obey_their_knob() {
    let swaps = |table: &Scene| table.legal().matches("swap").count();
    let mut table = powered("look any then look another then swap looked", "");
    table.play("a look b1");
    table.play("a look c2");
    assert!(table.offers("a swap b1 c2") && table.offers("a swap b1 b2") && table.offers("a swap a1 c2"));
    assert!(!table.offers("a swap a1 c1"), "neither was looked at");
    // 15 pairs of six cards, minus the six pairs of the four cards that were not looked at.
    assert_eq!(swaps(&table), 9);
    // As in any swap, the knobs exclude two of the player's own cards, and here also two cards of one other seat.
    let mut own = powered("look any then swap looked", "swap_same_owner = false");
    own.play("a look a1");
    assert_eq!(own.legal(), "a: skip, swap a1 b1, swap a1 b2, swap a1 c1, swap a1 c2");
    let mut foreign = powered("look any then swap looked", "swap_same_owner = false");
    foreign.play("a look b2");
    assert_eq!(foreign.legal(), "a: skip, swap a1 b2, swap a2 b2, swap b2 c1, swap b2 c2");
    // After a declined look the swap has no target, so the turn is over.
    let mut declined = powered("look any then swap looked", "");
    declined.play("a skip");
    assert_eq!(declined.asked(), "b");
    // A card still counts as looked at after it has moved.
    let mut moved = powered("look any then swap then swap looked", "");
    moved.play("a look b1, a swap b1 c1");
    assert!(moved.offers("a swap a1 c1") && !moved.offers("a swap a1 b1"));
    // In a step that offers a look or a swap, the swap is illegal until a card was looked at.
    let mut beside = powered("look own or swap looked then look own or swap looked", "");
    assert_eq!(beside.legal(), "a: skip, look a1, look a2");
    beside.play("a look a1");
    assert_eq!(beside.legal(), "a: skip, look a1, look a2, swap a1 b1, swap a1 b2, swap a1 c1, swap a1 c2");
}
