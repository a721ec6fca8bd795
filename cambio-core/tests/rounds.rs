//! Details of calls, the end of a round, scores and the match that are easy to get wrong.

use crate::table::{Scene, Stage};
use cambio_core::engine::CarryOver;
use cambio_core::{Match, Phase, Score, Seat, SeatSet};

fn seats(letters: &str) -> SeatSet {
    letters.chars().map(|letter| crate::table::seat_of(&letter.to_string())).collect()
}

#[test]
fn after_a_call_no_seat_is_asked_to_call_or_end() {
    let mut classic = Stage::of("classic", 3).stock("2s 3s").deal();
    classic.play("a draw, a drop");
    classic.pass();
    classic.play("a call, b draw, b drop");
    assert_eq!(classic.pass(), "bc");
    assert_eq!((classic.asked().as_str(), classic.phase()), ("c", Phase::Start));
}

#[test]
fn after_a_call_each_other_seat_has_one_more_turn() {
    for preset in ["original", "classic"] {
        let mut table = Stage::of(preset, 3).deal();
        table.idle();
        if preset == "original" {
            table.play("b call");
        } else {
            table.play("b draw, b drop");
            table.pass();
            table.play("b call");
        }
        table.news();
        table.idle();
        table.idle();
        let news = table.news();
        let turns: Vec<&str> =
            news.split("; ").filter(|line| line.ends_with("'s turn") || line.starts_with("ended")).collect();
        assert_eq!(turns, ["a's turn", "ended call"], "{preset}: c's turn had begun with the call");
    }
}

#[test]
fn faessler_seats_may_call_in_the_last_lap() {
    let mut table = Stage::of("faessler", 3)
        .with("peek = 'none'\nflip = 'none'")
        .holds("a", "1R 1S 2R 2S")
        .holds("b", "FR FS FC FE")
        .holds("c", "KR KS KC KE")
        .deal();
    table.play("a call");
    assert_eq!(table.legal(), "b: draw, call");
    table.play("b call, c draw");
    table.play("c drop");
    assert_eq!(table.pass(), "cab", "callers may still snap");
    let result = table.result();
    assert_eq!(result.callers_in_order().collect::<Vec<_>>(), [Seat::A, Seat::B]);
    assert_eq!(result.succeeded, seats("b"), "each caller is judged separately");
    assert_eq!(table.outcome().1, ["6", "0", "40"], "a call adds no points");
    let mut game = Match::new(table.rules(), 3, Seat::A).unwrap();
    game.add(&result);
    assert_eq!(game.setup().carry, CarryOver { extra_card: seats("a"), extra_peek: seats("b") });
}

#[test]
fn two_callers_who_tie_for_the_fewest_both_fail() {
    let mut table = Stage::of("faessler", 2)
        .with("peek = 'none'\nflip = 'none'")
        .holds("a", "1R 1S 2R 2S")
        .holds("b", "1C 1E 2C 2E")
        .deal();
    table.play("a call, b call");
    let result = table.result();
    assert_eq!((result.ended.word(), result.succeeded, result.turns), ("call", seats(""), 2));
    let mut game = Match::new(table.rules(), 2, Seat::A).unwrap();
    game.add(&result);
    assert_eq!(game.setup().carry.extra_card, seats("ab"));
}

#[test]
fn a_successful_caller_of_the_jass_game_peeks_at_three_cards() {
    let rules = Stage::of("faessler", 2).rules();
    let carry = CarryOver { extra_card: seats(""), extra_peek: seats("b") };
    let setup = cambio_core::engine::Setup { rules, seats: 2, starter: Seat::A, carry };
    let mut next = Stage::of("faessler", 2).setup(&setup).deal();
    next.play("a peek a1, a peek a2, b peek b1, b peek b2");
    assert_eq!(next.legal(), "b: peek b3, peek b4");
    next.play("b peek b4");
    assert!(next.has_window());
}

#[test]
fn the_fifth_card_lies_on_slot_five_and_may_not_be_peeked_at() {
    let rules = Stage::of("faessler", 3).rules();
    let carry = CarryOver { extra_card: seats("ac"), extra_peek: seats("") };
    let setup = cambio_core::engine::Setup { rules, seats: 3, starter: Seat::B, carry };
    let mut table = Stage::of("faessler", 3).setup(&setup).deal();
    // The deck is sorted: 1R 1S 1C 1E 2R ... Seats b, c and a get four cards each, in turn; then c and a get a fifth.
    assert_eq!((table.face("c5"), table.face("a5"), table.face("b5")), ("4R", "4S", "-"));
    assert_eq!(table.legal(), "b: peek b1, peek b2, peek b3, peek b4");
    table.play("b peek b1, b peek b2");
    assert_eq!(table.legal(), "c: peek c1, peek c2, peek c3, peek c4");
    assert_eq!(table.knows("c", "c5"), "?");
}

#[test]
fn carry_overs_last_for_one_round() {
    let table = Stage::of("faessler", 2).with("peek = 'none'\nflip = 'none'").holds("a", "1R 1S 2R 2S").deal();
    let mut game = Match::new(table.rules(), 2, Seat::A).unwrap();
    let mut called = table.clone();
    called.play("a call");
    called.idle();
    game.add(&called.result());
    assert_ne!(game.setup().carry, CarryOver::default());
    let mut uncalled = table;
    uncalled.play("a draw, a drop");
    uncalled.pass();
    uncalled.play("b call, a draw, a drop");
    uncalled.pass();
    game.add(&uncalled.result());
    assert!(!game.setup().carry.extra_peek.contains(Seat::A) && !game.setup().carry.extra_card.contains(Seat::A));
}

#[test]
fn an_empty_layout_ends_the_round_of_the_original_at_once() {
    let mut table = Stage::of("original", 3)
        .with("hand = 1\npeek = 'none'")
        .holds("a", "1")
        .holds("b", "7")
        .holds("c", "9")
        .stock("8 7")
        .deal();
    table.play("a call, b draw, b drop");
    table.pass();
    // In its last turn, c drops a 7; b snaps its last card, and the round is over.
    table.play("c draw, c drop, c pass, b snap b1");
    assert_eq!(table.outcome(), ("empty_hand", vec!["6".to_owned(), "0".to_owned(), "9".to_owned()]));
    assert_eq!(table.result().callers, seats("a"), "the call failed: a does not have the fewest points");
}

#[test]
fn the_gift_of_a_snap_comes_before_the_look_for_empty_layouts() {
    let stage =
        || Stage::of("original", 2).with("hand = 1\npeek = 'none'").holds("a", "1").holds("b", "7").stock("7").deal();
    // a snaps b's last card, and a's only card fills the gap: now a has no cards.
    let mut given = stage();
    given.play("a draw, a drop, a snap b1, b pass, a give a1");
    assert_eq!(given.outcome(), ("empty_hand", vec!["0".to_owned(), "1".to_owned()]));
    let mut declined = stage();
    declined.play("a draw, a drop, a snap b1, b pass");
    assert_eq!(declined.asked(), "a");
    declined.play("a skip");
    assert_eq!(declined.outcome(), ("empty_hand", vec!["1".to_owned(), "0".to_owned()]));
}

/// A table at b's turn, in which b has no cards left and a and c have one each.
fn safe_b() -> Scene {
    let mut table = Stage::of("classic", 3)
        .with("hand = 1\npeek = 'none'")
        .holds("a", "9h")
        .holds("b", "5h")
        .holds("c", "Kh")
        .stock("5d 4d 4h 10s 3d")
        .deal();
    table.play("a draw, a drop, a pass");
    table.news();
    table.play("b snap b1, c pass");
    assert_eq!(table.news(), "b snaps b1: 5h right; b safe");
    table.play("a end");
    table
}

#[test]
fn a_safe_seat_keeps_taking_turns_but_cannot_keep_or_snap() {
    let mut table = safe_b();
    assert_eq!(table.legal(), "b: draw", "a taken card would have to be kept");
    table.play("b draw");
    assert_eq!(table.legal(), "b: drop");
    table.play("b drop");
    assert_eq!(table.pass(), "ca", "a safe seat is not asked");
    assert_eq!(table.legal(), "b: call, end");
}

#[test]
fn a_safe_seat_scores_nothing_whatever_follows() {
    let mut table = safe_b();
    table.play("b draw, b drop");
    table.pass();
    table.play("b call");
    // c's red king has fewer points than the safe seat's 0; a's 9 has more.
    table.idle();
    table.idle();
    assert_eq!(table.result().points(), [9, 0, -2]);
    assert_eq!(table.outcome().1, ["0", "0", "1"]);
}

#[test]
fn a_seat_whose_last_card_is_replaced_by_a_gift_is_not_safe() {
    let mut table =
        Stage::of("classic", 2).with("hand = 1\npeek = 'none'").holds("a", "9h").holds("b", "5h").stock("5d").deal();
    table.play("a draw, a drop");
    table.news();
    table.play("a snap b1, b pass, a give a1");
    assert_eq!(table.news(), "a snaps b1: 5h right; a gives a1 b1; a safe");
    assert_eq!(table.state().table().safe(), seats("a"));
}

#[test]
fn an_empty_layout_changes_nothing_in_the_jass_game() {
    let mut table = Stage::of("faessler", 2)
        .with("hand = 1\npeek = 'none'")
        .holds("a", "9S")
        .holds("b", "5R")
        .stock("9R 1R 8R")
        .deal();
    table.news();
    table.play("a snap a1, b pass");
    assert_eq!(table.news(), "a snaps a1: 9S right; a's turn");
    // A seat without cards may still snap, and gets penalty cards.
    table.play("a draw, a drop, a snap b1, b pass");
    assert_eq!(table.row("a"), "- 8R");
}

#[test]
fn a_seat_with_no_legal_start_ends_the_round() {
    // Nine cards: two hands of four and one to draw.
    let deck =
        "deck = [{label='1', rank='1', points=1, copies=9}]\nhand = 4\njokers = 0\npeek = 'none'\nturn_limit = 99";
    let mut table = Stage::of("classic", 2).with(deck).deal();
    table.play("a draw, a drop, a pass, b pass, a end");
    assert_eq!((table.stock_len(), table.pile_len()), (0, 1));
    assert_eq!(table.legal(), "b: take", "the pile has no cards below its top to reshuffle");
    table.play("b take, b keep b1, b pass, a snap a1, b end");
    assert_eq!(table.legal(), "a: draw, take");
    let no_take = format!("{deck}\ntake = false");
    let mut table = Stage::of("classic", 2).with(&no_take).deal();
    table.play("a draw, a drop, a pass, b pass");
    table.news();
    table.play("a end");
    assert!(table.news().starts_with("ended stock_out"));
    assert_eq!(table.outcome().0, "stock_out");
    assert_eq!(table.result().turns, 1, "b's turn did not begin");
}

#[test]
fn the_turn_limit_ends_a_round_and_callers_are_still_judged() {
    let mut table = Stage::of("original", 3)
        .with("turn_limit = 2")
        .holds("a", "0 0 0 1")
        .holds("b", "9 9 9 9")
        .holds("c", "8 8 8 8")
        .stock("5")
        .deal();
    table.play("a call");
    table.idle();
    assert_eq!(table.outcome(), ("turn_limit", vec!["-4".to_owned(), "36".to_owned(), "32".to_owned()]));
}

#[test]
fn classic_rounds_without_a_caller_go_to_fewest_points() {
    let mut table = Stage::of("classic", 3)
        .with("turn_limit = 1\nmatch_end = 'rounds(5)'")
        .starter("b")
        .holds("a", "Ah 2h 3h 4h")
        .holds("b", "9h 9d 9s 9c")
        .holds("c", "Ad 2d 3d 4d")
        .stock("5h")
        .deal();
    table.play("b draw, b drop");
    table.pass();
    table.play("b end");
    assert_eq!(table.outcome(), ("turn_limit", vec!["0.5".to_owned(), "0".to_owned(), "0.5".to_owned()]));
    let mut game = Match::new(table.rules(), 3, Seat::B).unwrap();
    game.add(&table.result());
    assert_eq!(game.setup().starter, Seat::C, "the first winner in playing order from this round's starter");
}

#[test]
fn the_winner_nearest_after_the_caller_starts_next() {
    let next_starter = |caller: &str, a: &str, b: &str, c: &str| {
        let mut table = Stage::of("classic", 3)
            .with("match_end = 'rounds(5)'")
            .starter(caller)
            .holds("a", a)
            .holds("b", b)
            .holds("c", c)
            .stock("5h 5d 5c")
            .deal();
        table.play(&format!("{caller} draw, {caller} drop"));
        table.pass();
        table.play(&format!("{caller} call"));
        table.idle();
        table.idle();
        let mut game = Match::new(table.rules(), 3, crate::table::seat_of(caller)).unwrap();
        game.add(&table.result());
        game.setup().starter
    };
    let (low, low_too, high) = ("Ah 2h 3h 4h", "Ad 2d 3d 4d", "9h 9d 9s 9c");
    assert_eq!(next_starter("b", high, low, "Qh Qd Qs Qc"), Seat::B, "the caller won");
    assert_eq!(next_starter("b", low, high, low_too), Seat::C, "c is the first winner after the caller b");
    assert_eq!(next_starter("c", low, low_too, high), Seat::A);
}

#[test]
fn a_match_ends_when_a_total_reaches_fifty_and_the_fewest_win() {
    let round = |a: &str| {
        let mut table = Stage::of("faessler", 3)
            .with("peek = 'none'\nflip = 'none'")
            .holds("a", a)
            .holds("b", "1R 2R 3R 4R")
            .holds("c", "1S 2S 3S 4S")
            .deal();
        table.play("a call, b call, c call");
        table.result()
    };
    let rules = Stage::of("faessler", 3).rules();
    let mut game = Match::new(&rules, 3, Seat::A).unwrap();
    game.add(&round("10R 10S 10C 9R"));
    assert!(!game.is_over());
    game.add(&round("2C 2E 3C 3E"));
    assert_eq!(game.totals()[0], Score::points(49));
    assert!(!game.is_over(), "49 is not 50");
    let mut over = game.clone();
    over.add(&round("1C FR FS FC"));
    assert_eq!(over.totals()[0], Score::points(50));
    assert!(over.is_over());
    assert_eq!(over.ranks().collect::<Vec<_>>(), [3, 1, 1], "equal totals share a rank");
}

#[test]
fn replaced_rounds_are_dealt_as_given() {
    use cambio_core::engine::{Dice, Setup};
    use cambio_core::rng::{Bounded as _, Key, Purpose};
    use cambio_core::{Card, Event, Rules, State};

    let mut stream = Key::new(9, 0).stream(Purpose::Deck, 0);
    for preset in ["original", "faessler", "classic"] {
        let rules = Rules::preset(preset).unwrap();
        let mut deck = rules.deck().to_vec();
        let mut dice = Dice(Key::new(9, 0).stream(Purpose::Race, 0));
        let mut used = State::deal(&Setup::new(&rules, 3), &deck, &mut dice, &mut ()).unwrap();
        for seats in 2..=8 {
            while let Some(action) = used.choices().nth(0) {
                used.apply(action, &mut dice, &mut ()).unwrap();
            }
            stream.shuffle(&mut deck);
            let (mut told, mut retold) = (Vec::new(), Vec::new());
            let setup = Setup::new(&rules, seats);
            let fresh = State::deal(&setup, &deck, &mut dice, &mut |event: &Event<Card>| told.push(*event)).unwrap();
            used.redeal(&setup, &deck, &mut dice, &mut |event: &Event<Card>| retold.push(*event)).unwrap();
            assert_eq!((format!("{fresh:?}"), told), (format!("{used:?}"), retold));
            let error = used.redeal(&setup, &deck[1..], &mut dice, &mut ()).unwrap_err();
            assert!(error.to_string().starts_with("impossible deck: "), "{error}");
            assert_eq!(format!("{fresh:?}"), format!("{used:?}"));
        }
    }
}

#[test]
fn a_successful_caller_chooses_its_extra_peek() {
    use cambio_core::engine::{CarryOver, Dice, Setup};
    use cambio_core::rng::{Key, Purpose};
    use cambio_core::{Phase, RulesSpec, Seat, SeatSet, State};

    let rules = RulesSpec::from_toml("base = 'classic'\ncarry_over = true").unwrap().validate().unwrap();
    let mut dice = Dice(Key::new(9, 1).stream(Purpose::Race, 0));
    let carry = CarryOver { extra_peek: SeatSet::only(Seat::B), ..CarryOver::default() };
    let setup = Setup { carry, ..Setup::new(&rules, 2) };
    let mut state = State::deal(&setup, rules.deck(), &mut dice, &mut ()).unwrap();
    assert_eq!((state.actor(), state.table().phase()), (Some(Seat::B), Phase::Peek));
    assert_eq!(state.choices().to_string(), "peek b1, peek b2");
    state.apply("peek b2".parse().unwrap(), &mut dice, &mut ()).unwrap();
    assert_eq!(state.observe(Seat::B).known().len(), 3);
    assert_eq!((state.actor(), state.table().phase()), (Some(Seat::A), Phase::Start));
}
