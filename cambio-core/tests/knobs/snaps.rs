//! Knobs of snap windows.

use std::collections::BTreeMap;

use cambio_core::engine::{CarryOver, Setup, SnapRace};
use cambio_core::rng::{Key, Purpose};
use cambio_core::{Phase, Rules, Seat, SeatSet};

use crate::table::Stage;

#[test]
pub(crate) fn a_snap_matches_by_rank_or_by_points() {
    let verdicts = |matching: &str| {
        // Seat a snaps on a 10: its own 10, its own J, b's 10 or b's J. All these cards have ten points.
        ["a1", "a2", "b1", "b2"].map(|spot| {
            let mut table = Stage::of("classic", 2)
                .with(&format!("match = '{matching}'\nwindow = 'before'"))
                .holds("a", "10h Jh 2h 3h")
                .holds("b", "10d Jd 2d 3d")
                .stock("10s")
                .deal();
            table.play("a draw, a drop");
            table.news();
            table.play(&format!("a snap {spot}, b pass"));
            table.news().contains("right")
        })
    };
    assert_eq!(verdicts("rank"), [true, false, true, false]);
    assert_eq!(verdicts("points"), [true, true, true, true]);
    assert_eq!(verdicts("rank_own_points_foreign"), [true, false, true, true]);
    // By points, cards of the same rank but different points do not match: 6h has -3 points.
    let mut table = Stage::of("classic", 2).with("match = 'points'").holds("a", "6h 2h 3h 4h").stock("6s").deal();
    table.play("a draw, a drop");
    table.news();
    table.play("a snap a1, b pass");
    assert!(table.news().contains("wrong"));
}

#[test]
pub(crate) fn only_own_cards_or_all_can_be_snapped() {
    for (targets, foreign) in [("any", true), ("own", false)] {
        let mut table = Stage::of("original", 2).with(&format!("snap_targets = '{targets}'")).stock("7").deal();
        table.play("a draw, a drop");
        assert!(table.offers("a snap a1"));
        assert_eq!((table.offers("a snap b1"), table.offers("a touch b1")), (foreign, foreign));
    }
}

#[test]
pub(crate) fn only_seats_that_know_a_match_are_asked() {
    let dropped = |known_only: bool, a: &str, b: &str| {
        let mut table = Stage::of("classic", 2)
            .with(&format!("snap_known_only = {known_only}"))
            .holds("a", a)
            .holds("b", b)
            .stock("5h")
            .deal();
        table.play("a draw, a drop");
        table
    };
    // Each seat knows the cards in its slots 3 and 4: b knows its 5, but a does not know its 5.
    let (a, b) = ("5c 2h 3h 4h", "2d 3d 5d 4d");
    assert!(dropped(false, a, b).offers("a snap a1"));
    let table = dropped(true, a, b);
    assert_eq!(table.legal(), "b: pass, snap b3");
    // Both seats know a match. Seat a is asked first, because it is a's turn.
    let mut both = dropped(true, "2h 3h 5c 4h", b);
    assert_eq!(both.legal(), "a: pass, snap a3");
    both.play("a pass");
    assert_eq!(both.legal(), "b: pass, snap b3");
    // No seat knows a match, so no window opens.
    assert_eq!(dropped(true, "5c 2h 3h 4h", "5d 2d 3d 4d").phase(), Phase::Close);
}

#[test]
pub(crate) fn a_bluff_is_possible_or_not() {
    for touch in [true, false] {
        let mut table = Stage::of("classic", 2).with(&format!("touch = {touch}")).stock("2s").deal();
        table.play("a draw, a drop");
        assert_eq!(table.offers("a touch b1"), touch);
        assert!(table.offers("a snap b1"));
    }
}

#[test]
pub(crate) fn a_gift_may_or_must_be_given() {
    for (gift, may_skip) in [("may", true), ("must", false)] {
        let mut table =
            Stage::of("classic", 2).with(&format!("gift = '{gift}'")).holds("b", "5d 2d 3d 4d").stock("5h").deal();
        table.play("a draw, a drop, a snap b1, b pass");
        assert_eq!(table.offers("a skip"), may_skip);
        assert!(table.offers("a give a1"));
    }
}

#[test]
pub(crate) fn a_late_match_is_penalised_or_taken_back_or_aborted() {
    for (late, news, row, seen) in [
        ("penalise", "b snaps b1: 5d late; b penalty b5", "5d 2d 3d 4d 9h", "5d"),
        ("take_back", "b snaps b1: 5d late", "5d 2d 3d 4d", "5d"),
        ("abort", "b too late", "5d 2d 3d 4d", "?"),
    ] {
        let mut table = Stage::of("classic", 2)
            .with(&format!("late = '{late}'"))
            .holds("a", "5c 2h 3h 4h")
            .holds("b", "5d 2d 3d 4d")
            .stock("5h 9h")
            .races(&["a b"])
            .deal();
        table.play("a draw, a drop");
        table.news();
        table.play("a snap a1, b snap b1");
        assert_eq!(table.news(), format!("a snaps a1: 5c right; {news}"));
        assert_eq!((table.row("b").as_str(), table.knows("a", "b1")), (row, seen));
    }
    // A wrong card that is snapped after the winner's card is still turned up and fined.
    let mut table = Stage::of("classic", 2)
        .with("late = 'abort'")
        .holds("a", "5c 2h 3h 4h")
        .holds("b", "6d 2d 3d 4d")
        .stock("5h 9h")
        .races(&["a b"])
        .deal();
    table.play("a draw, a drop");
    table.news();
    table.play("a snap a1, b snap b1");
    assert_eq!(table.news(), "a snaps a1: 5c right; b snaps b1: 6d wrong; b penalty b5");
}

#[test]
pub(crate) fn a_penalty_has_as_many_cards_as_the_knob_says() {
    let news = |fields: &str, decisions: &str| {
        let mut table = Stage::of("original", 2).with(fields).holds("b", "7 2 3 4").stock("8 9 9 9 9").deal();
        table.play("a draw, a drop");
        table.news();
        table.play(decisions);
        assert_eq!(table.row("b").split(' ').count() + table.stock_len(), 4 + 67, "the cards come from the stock");
        table.news()
    };
    let wrong = "b snaps b1: 7 wrong";
    for (cards, fine) in [(0, ""), (1, "; b penalty b5"), (2, "; b penalty b5; b penalty b6")] {
        assert_eq!(news(&format!("penalty = {cards}"), "a pass, b snap b1"), format!("{wrong}{fine}; b's turn"));
    }
    // Cards that do not fit into the layout are waived.
    let fine = "b penalty b5; b penalty waived; b penalty waived";
    assert_eq!(news("penalty = 3\nmax_slots = 5", "a pass, b snap b1"), format!("{wrong}; {fine}; b's turn"));
    // A late card, a paid peek and a failed call have the same penalty.
    let mut late =
        Stage::of("original", 2).with("penalty = 2").holds("a", "7").holds("b", "7").stock("7").races(&["a b"]).deal();
    late.play("a draw, a drop");
    late.news();
    late.play("a snap a1, b snap b1");
    assert_eq!(late.news(), "a snaps a1: 7 right; b snaps b1: 7 late; b penalty b5; b penalty b6");
    let mut paid = Stage::of("original", 2).with("penalty = 2\npaid_peek = true").deal();
    paid.news();
    paid.play("a cheat a1");
    assert_eq!(paid.news_for("b"), "a looks a1: ?; a penalty a5; a penalty a6");
    for (fields, row) in [
        ("penalty = 0", "1R 2R 3R 4R"),
        ("penalty = 2", "1R 2R 3R 4R 5R 6R"),
        ("penalty = 2\nmax_slots = 5", "1R 2R 3R 4R 5R"),
    ] {
        let stage = Stage::of("faessler", 2).with("flip = 'none'\npeek = 'none'").with(fields).holds("b", row);
        let carry = CarryOver { extra_card: SeatSet::only(Seat::B), ..CarryOver::default() };
        let table = stage.clone().setup(&Setup { carry, ..Setup::new(&stage.rules(), 2) }).deal();
        assert_eq!(table.row("b"), row);
        assert_eq!(table.row("a").split(' ').count(), 4);
    }
}

#[test]
pub(crate) fn the_winner_goes_on_or_not() {
    for (chain, phase) in [(true, Phase::Chain), (false, Phase::Start)] {
        let mut table =
            Stage::of("original", 2).with(&format!("chain = {chain}")).holds("b", "7 7 5 4").stock("7").deal();
        table.play("a draw, a drop, a pass, b snap b1");
        assert_eq!((table.phase(), table.asked().as_str()), (phase, "b"));
        assert_eq!(table.offers("b snap b2"), chain);
    }
}

#[test]
pub(crate) fn a_snap_freezes_the_pile_or_not() {
    for freeze in [true, false] {
        let mut table =
            Stage::of("original", 2).with(&format!("freeze = {freeze}")).holds("b", "7 6 5 4").stock("7").deal();
        table.play("a draw, a drop, a pass, b snap b1, b pass");
        assert_eq!(table.offers("b take"), !freeze);
    }
    // The freeze applies to the next seat, even if the current seat ends its turn with a call.
    let mut table = Stage::of("classic", 2).with("freeze = true").holds("b", "5d 6h 3h 4h").stock("5h").deal();
    table.play("a draw, a drop, a pass, b snap b1, a call");
    assert_eq!(table.legal(), "b: draw");
}

#[test]
pub(crate) fn the_window_opens_before_or_after_the_power_or_both_or_never() {
    let phases = |window: &str, card: &str| {
        let mut table = Stage::of("classic", 2).with(&format!("window = '{window}'")).stock(card).deal();
        table.play("a draw, a drop");
        let mut phases = String::new();
        loop {
            phases.push(match table.phase() {
                Phase::Window => 'w',
                Phase::Power => 'p',
                _ => return phases,
            });
            if table.has_window() {
                table.pass();
            } else {
                table.play("a look a1");
            }
        }
    };
    for (window, power, plain) in [("before", "wp", "w"), ("after", "pw", "w"), ("both", "wpw", "w"), ("none", "p", "")]
    {
        assert_eq!((phases(window, "8s").as_str(), phases(window, "2s").as_str()), (power, plain), "{window}");
    }
    // With `after`, the window also opens after a power that was declined or had no target.
    let mut declined = Stage::of("classic", 2).with("window = 'after'").stock("8s").deal();
    declined.play("a draw, a drop, a skip");
    assert!(declined.has_window());
    let mut fizzled = Stage::of("original", 2).with("window = 'after'").stock("spy").deal();
    fizzled.play("a call, b draw, b drop");
    assert!(fizzled.has_window());
}

#[test]
pub(crate) fn the_last_discard_has_a_window_or_not() {
    for final_window in [true, false] {
        let mut table = Stage::of("original", 3).with(&format!("final_window = {final_window}")).stock("7 8").deal();
        table.play("a call, b draw, b drop");
        assert!(table.has_window(), "b's turn is not the last one");
        table.pass();
        table.play("c draw, c drop");
        assert_eq!(table.has_window(), final_window);
        if !final_window {
            assert_eq!(table.result().ended.word(), "call");
        }
    }
}

/// How often each seat is first in 4000 races of a, b and c in b's turn.
fn firsts(fields: &str) -> BTreeMap<Seat, u32> {
    let rules: Rules = Stage::of("classic", 4).with(fields).rules();
    let snappers: SeatSet = [Seat::A, Seat::B, Seat::C].into_iter().collect();
    let mut stream = Key::new(3, 0).stream(Purpose::Race, 0);
    let mut firsts = BTreeMap::new();
    for _ in 0..4000 {
        let order = SnapRace { rules: &rules, seats: 4, turn: Seat::B, snappers }.draw(&mut stream);
        let seats: Vec<Seat> = order.seats().collect();
        assert_eq!(seats.iter().copied().collect::<SeatSet>(), snappers);
        assert_eq!(seats.len(), 3);
        *firsts.entry(seats[0]).or_default() += 1;
    }
    firsts
}

#[test]
pub(crate) fn the_order_of_a_race_is_drawn_as_the_knob_says() {
    // The limits are five standard deviations: 149 if a third of 4000 races is expected.
    for count in firsts("race = 'uniform'\nrace_weights = [1, 2, 5]").into_values() {
        assert!(count.abs_diff(1333) < 149, "{count}");
    }
    assert_eq!(firsts("race = 'turn_order'"), BTreeMap::from([(Seat::B, 4000)]));
    let weighted = firsts("race = 'weighted'\nrace_weights = [1, 2, 5]");
    for (seat, due) in [(Seat::A, 500), (Seat::B, 1000), (Seat::C, 2500)] {
        assert!(weighted[&seat].abs_diff(due) < 155, "{weighted:?}");
    }
}

#[test]
pub(crate) fn a_heavier_seat_is_first_more_often() {
    let (even, heavy) =
        (firsts("race = 'weighted'\nrace_weights = []"), firsts("race = 'weighted'\nrace_weights = [8]"));
    assert!(even[&Seat::A].abs_diff(1333) < 149, "seats that are not listed have weight 1: {even:?}");
    assert!(heavy[&Seat::A].abs_diff(3200) < 127, "{heavy:?}");
}

#[test]
pub(crate) fn the_discarder_may_snap_or_not() {
    for discarder_snaps in [true, false] {
        let fields = format!("discarder_snaps = {discarder_snaps}");
        let mut table = Stage::of("classic", 3).with(&fields).stock("8s 2s").deal();
        table.play("a draw, a drop");
        // The window before the power and the window after it.
        assert_eq!(table.pass(), if discarder_snaps { "abc" } else { "bc" });
        table.play("a look a1");
        assert_eq!(table.pass(), if discarder_snaps { "abc" } else { "bc" });
        // A keep discards the replaced card. The next seat may snap again in a turn that is not its own.
        table.play("a end, b draw, b keep b1");
        assert_eq!(table.pass(), if discarder_snaps { "bca" } else { "ca" });
        // No seat has discarded the card that starts the pile.
        let mut flip = Stage::of("faessler", 3).with(&fields).with("peek = 'none'").stock("1R").deal();
        assert_eq!(flip.pass(), "abc");
    }
    // After a call of the other seat, no seat may snap.
    let mut called = Stage::of("original", 2).with("discarder_snaps = false").stock("7").deal();
    called.play("a call, b draw, b drop");
    assert_eq!(called.outcome().0, "call");
}
