//! Knobs of a turn and of powers.

use cambio_core::Phase;

use crate::table::{Scene, Stage};

/// A table at the start of b's turn. The top of the pile is `card`, which a dropped without using its power.
fn after_a_dropped(card: &str, fields: &str) -> Scene {
    let mut table = Stage::of("classic", 2).with(fields).holds("a", "2h 3h 4h 5h").stock(card).deal();
    table.play("a draw, a drop");
    table.pass();
    if table.phase() == Phase::Power {
        table.play("a skip");
    }
    table.play("a end");
    table
}

#[test]
pub(crate) fn the_pile_can_be_taken_or_not() {
    assert_eq!(after_a_dropped("2s", "take = true").legal(), "b: draw, take");
    assert_eq!(after_a_dropped("2s", "take = false").legal(), "b: draw");
}

#[test]
pub(crate) fn dropped_taken_cards_act_as_their_knob_says() {
    let taken = |redrop: &str| {
        let mut table = after_a_dropped("8s", &format!("redrop = '{redrop}'"));
        table.play("b take");
        table
    };
    assert!(!taken("forbidden").offers("b drop"));
    let looks = |redrop: &str| {
        let mut table = taken(redrop);
        table.play("b drop");
        table.pass();
        table.offers("b look b1")
    };
    assert_eq!(["no_power", "unspent_power", "power"].map(looks), [false, true, true]);
    // With `unspent_power`, a power is spent after one step of it was carried out, even when the card is dropped again.
    let looks_again = |redrop: &str| {
        let fields = format!("redrop = '{redrop}'\ncall = 'instead_of_turn'");
        let mut table = Stage::of("classic", 2).with(&fields).stock("8s").deal();
        table.play("a draw, a drop, a pass, b pass, a look a1, a pass, b pass, b take, b drop");
        table.pass();
        let first = table.offers("b look b1");
        if first {
            table.play("b look b1");
            table.pass();
        }
        table.play("a take, a drop");
        table.pass();
        (first, table.offers("a look a1"))
    };
    assert_eq!(looks_again("unspent_power"), (false, false));
    assert_eq!(looks_again("power"), (true, true));
}

#[test]
pub(crate) fn a_drawn_card_without_power_may_have_to_be_kept() {
    let offers = |drop_plain: bool, card: &str| {
        let mut table = Stage::of("classic", 2).with(&format!("drop_plain = {drop_plain}")).stock(card).deal();
        table.play("a draw");
        table.offers("a drop")
    };
    assert!(offers(true, "2s"));
    assert!(!offers(false, "2s"));
    assert!(offers(false, "8s"), "a card with a power can always be dropped");
    // A seat without cards may drop any card.
    let mut empty = Stage::of("faessler", 2)
        .with("drop_plain = false\nhand = 1\npeek = 'none'")
        .holds("a", "9S")
        .stock("9R 1R")
        .deal();
    empty.play("a snap a1, b pass, a draw");
    assert_eq!(empty.legal(), "a: drop");
}

#[test]
pub(crate) fn a_paid_peek_costs_a_penalty_card_once_a_turn() {
    let deal = |paid: bool| {
        Stage::of("original", 2).with(&format!("paid_peek = {paid}")).holds("a", "1 2 3 4").stock("7 8").deal()
    };
    assert!(!deal(false).offers("a cheat a1"));
    let mut table = deal(true);
    table.news();
    table.play("a cheat a1");
    assert_eq!(table.news_for("b"), "a looks a1: ?; a penalty a5");
    assert_eq!((table.row("a").as_str(), table.knows("a", "a1"), table.knows("b", "a1")), ("1 2 3 4 7", "1", "?"));
    assert_eq!(table.legal(), "a: draw, call", "the turn continues, without another paid look");
    table.play("a draw, a drop");
    assert!(table.has_window() && !table.offers("a cheat a1"));
    table.pass();
    assert!(table.offers("b cheat b1"), "the next turn has its own paid look");
    // Without a free slot for the penalty card, the look is illegal.
    assert!(!Stage::of("original", 2).with("paid_peek = true\nmax_slots = 4").deal().offers("a cheat a1"));
}

#[test]
pub(crate) fn a_power_must_be_used_or_may_be_declined() {
    let dropped = |card: &str, power_use: &str| {
        let mut table = Stage::of("original", 2).with(&format!("power_use = '{power_use}'")).stock(card).deal();
        table.play("a draw, a drop");
        table.pass();
        table
    };
    for card in ["look", "spy", "swap", "KR", "KB"] {
        assert!(!dropped(card, "must").offers("a skip"), "{card}");
        let mut may = dropped(card, "may");
        assert!(may.offers("a skip"), "{card}");
        may.news();
        while may.phase() != Phase::Start {
            may.play("a skip");
        }
        assert!(may.news().ends_with("a skips; b's turn"), "{card}: no second window without a carried-out step");
    }
}

#[test]
pub(crate) fn the_power_of_a_replaced_card_can_be_used_or_not() {
    let kept = |fields: &str| {
        let mut table = Stage::of("classic", 2).with(fields).holds("a", "8h 2h 3h 4h").stock("5s").deal();
        table.play("a draw, a keep a1");
        assert!(table.has_window(), "the window before the power");
        table.pass();
        table
    };
    assert_eq!(kept("").legal(), "a: call, end");
    let mut used = kept("replaced_power = true");
    assert_eq!(used.legal(), "a: skip, look a1, look a2, look a3, look a4");
    used.play("a look a2");
    assert!(used.has_window(), "the second window, after the power");
    // The power is spent, so the next seat cannot use it with `unspent_power`.
    let mut spent = kept("replaced_power = true\nredrop = 'unspent_power'\nwindow = 'before'");
    spent.play("a look a2, a end, b take, b drop");
    spent.pass();
    assert_eq!(spent.legal(), "b: call, end");
    // With `must`, the power of a replaced card must be used too. Windows can come after it.
    let mut must = Stage::of("original", 2).with("replaced_power = true\nwindow = 'after'").holds("a", "look").deal();
    must.play("a draw, a keep a1");
    assert_eq!(must.legal(), "a: look a1, look a2, look a3, look a4");
    // A snapped card still has no power.
    let mut snapped =
        Stage::of("classic", 2).with("replaced_power = true\nwindow = 'before'").holds("b", "8h").stock("8s").deal();
    snapped.play("a draw, a drop, a pass, b snap b1, a skip");
    assert_eq!(snapped.legal(), "a: call, end");
}

#[test]
pub(crate) fn two_own_cards_can_be_swapped_or_not() {
    for allowed in [true, false] {
        let mut table = Stage::of("classic", 2).with(&format!("swap_two_own = {allowed}")).stock("Js").deal();
        table.play("a draw, a drop");
        table.pass();
        assert_eq!(table.offers("a swap a1 a2"), allowed);
        assert!(table.offers("a swap b1 b2") && table.offers("a swap a1 b1"));
    }
}

#[test]
pub(crate) fn two_cards_of_one_other_seat_can_be_swapped_or_not() {
    for allowed in [true, false] {
        let mut table = Stage::of("classic", 3).with(&format!("swap_same_owner = {allowed}")).stock("Js").deal();
        table.play("a draw, a drop");
        table.pass();
        assert_eq!((table.offers("a swap b1 b2"), table.offers("a swap c1 c4")), (allowed, allowed));
        assert!(table.offers("a swap b1 c1") && table.offers("a swap a1 b1"));
        assert!(table.offers("a swap a1 a2"), "the knob for a seat's own cards is another one");
    }
}
