//! Tests of the rules that only the mini games use. The mini games are rule systems for the same engine.

use crate::table::{Scene, Stage};
use cambio_core::engine::{Chance, RaceOrder, Setup, SnapRace};
use cambio_core::play::RoundResult;
use cambio_core::{Event, Phase, Rules, RulesSpec, Seat, State};

/// M1 as a rule file: ranks 1 to 4 twice each, two turns, known-only snaps.
fn m1() -> String {
    RulesSpec::preset("mini-m1").unwrap().to_toml()
}

/// M3 as a rule file: like M1, with three turns and two powers. A 3 looks at one of the player's own cards; a 4 swaps
/// one of them with a card of the other seat.
fn m3() -> String {
    RulesSpec::preset("mini-m3").unwrap().to_toml()
}

#[test]
fn the_mini_games_are_rule_tables() {
    for text in [m1(), m3()] {
        let rules = RulesSpec::from_toml(&text).unwrap().validate().unwrap();
        assert_eq!((rules.deck().len(), rules.slots()), (8, 2));
        let again = RulesSpec::from_json(&rules.spec().to_json()).unwrap();
        assert_eq!(&again, rules.spec());
    }
}

fn stage(text: &str, a: &str, b: &str, stock: &str) -> Stage {
    Stage::by(text, 2).holds("a", a).holds("b", b).stock(stock)
}

#[test]
fn mini_seats_see_one_slot_and_start_with_draw_or_call() {
    let table = stage(&m1(), "1 2", "3 4", "").deal();
    assert_eq!(["a1", "a2"].map(|spot| table.knows("a", spot)), ["1", "?"]);
    assert_eq!(["b1", "b2"].map(|spot| table.knows("b", spot)), ["3", "?"]);
    assert_eq!(table.legal(), "a: draw, call");
    let mut table = table;
    table.play("a draw");
    assert_eq!(table.legal(), "a: drop, keep a1, keep a2");
}

#[test]
fn only_a_seat_that_knows_a_match_is_asked() {
    // a drops a 2 and does not know that its own second card is the other 2, so no seat is asked.
    let mut nobody = stage(&m1(), "1 2", "3 4", "2").deal();
    nobody.play("a draw, a drop");
    assert_eq!((nobody.asked().as_str(), nobody.phase()), ("b", Phase::Start));
    // b knows the other 3, so it may snap only that card and none of a's.
    let mut b_knows = stage(&m1(), "1 2", "3 4", "3").deal();
    b_knows.play("a draw, a drop");
    assert_eq!(b_knows.legal(), "b: pass, snap b1");
    // Both seats know a card that matches the replaced one; a is asked first because it is a's turn.
    let mut both = stage(&m1().replace("copies = 2", "copies = 3"), "1 1", "1 4", "2").deal();
    both.play("a draw, a keep a2");
    assert_eq!(both.legal(), "a: pass, snap a1");
    both.play("a pass");
    assert_eq!(both.legal(), "b: pass, snap b1");
}

#[test]
fn the_slower_snapper_keeps_its_card_unpunished() {
    let mut table = stage(&m1().replace("copies = 2", "copies = 3"), "1 1", "1 4", "2").races(&["b a"]).deal();
    table.play("a draw, a keep a2");
    table.news();
    table.play("a snap a1, b snap b1");
    assert_eq!(table.news(), "b snaps b1: 1 right; a too late; b's turn");
    assert_eq!((table.row("a"), table.row("b")), ("1 2".to_owned(), "- 4".to_owned()));
    assert_eq!(table.knows("b", "a1"), "?");
}

#[test]
fn one_window_opens_and_that_after_the_power() {
    let mut table = stage(&m3(), "1 2", "3 4", "3").deal();
    table.play("a draw, a drop");
    assert_eq!(table.legal(), "a: skip, look a1, look a2", "the power comes first; a known slot may be looked at too");
    let mut declined = table.clone();
    table.play("a look a2");
    assert_eq!((table.knows("a", "a2"), table.legal().as_str()), ("2", "b: pass, snap b1"));
    table.play("b snap b1");
    assert_eq!((table.asked().as_str(), table.phase()), ("b", Phase::Start));
    declined.news();
    declined.play("a skip");
    assert_eq!(declined.news_for("b"), "a skips", "it is public that a power was declined");
    assert_eq!(declined.legal(), "b: pass, snap b1");
}

#[test]
fn a_swap_is_of_an_own_card_with_one_of_the_other() {
    let mut table = stage(&m3(), "1 2", "3 1", "4").deal();
    table.play("a draw, a drop");
    assert_eq!(table.legal(), "a: skip, swap a1 b1, swap a1 b2, swap a2 b1, swap a2 b2");
    table.play("a swap a1 b2");
    assert_eq!((table.row("a"), table.row("b")), ("1 2".to_owned(), "3 1".to_owned()));
    assert_eq!((table.knows("a", "b2"), table.knows("a", "a1")), ("1", "?"), "a's knowledge moves with the card");
}

#[test]
fn caller_cards_cannot_be_swapped_in_mini_games() {
    let mut table = stage(&m3(), "3 1", "2 1", "4 3").deal();
    table.play("a call");
    assert_eq!(table.legal(), "b: draw", "one call only");
    table.play("b draw, b drop");
    assert!(table.result().ended.word() == "call", "the swap has no target: {}", table.legal());
    let mut table = stage(&m3(), "3 1", "2 1", "3").deal();
    table.play("a call, b draw, b drop, b skip");
    assert_eq!(table.outcome().0, "call", "a knows that one of its cards is a 3, but a caller is not asked");
}

#[test]
fn the_last_discard_of_the_round_has_its_window() {
    let mut table = stage(&m1(), "1 1", "2 4", "2").deal();
    table.play("a call, b draw, b drop");
    assert_eq!(table.legal(), "b: pass, snap b1");
    table.play("b snap b1");
    assert_eq!((table.outcome().0, table.result().points()), ("call", &[2, 4][..]));
}

#[test]
fn an_empty_layout_ends_the_round_at_the_start_of_the_next_turn() {
    // b snaps its 2, and later its other card, which b knows because b has drawn and kept that card.
    let text = m3().replace("turn_limit = 3", "turn_limit = 9").replace("copies = 2", "copies = 3");
    let mut table = stage(&text, "4 4", "2 1", "2 1 3 1").deal();
    table.play("a draw, a drop, b snap b1");
    // b replaces a 1 by a 1: the replaced card lands on the pile, and b knows that its new card matches.
    table.play("b draw, b keep b2, b snap b2");
    assert_eq!(table.outcome(), ("empty_hand", vec!["-1".to_owned(), "1".to_owned()]));
    // In a's turn, the power is still used before the round ends.
    let mut table = stage(&text, "4 4", "3 1", "1 1 3 3").deal();
    table.play("a draw, a drop, b draw, b keep b2, b snap b2, a draw, a drop");
    assert_eq!(table.legal(), "a: skip, look a1, look a2");
    table.play("a skip, b snap b1");
    assert_eq!(table.outcome().0, "empty_hand");
}

#[test]
fn the_last_lap_is_played_past_the_turn_limit() {
    let mut uncalled = stage(&m1(), "1 2", "3 4", "4 3").deal();
    uncalled.play("a draw, a drop, b draw, b drop");
    if uncalled.phase() == Phase::Window {
        uncalled.pass();
    }
    assert_eq!(uncalled.outcome(), ("turn_limit", vec!["1".to_owned(), "-1".to_owned()]));
    let mut called = stage(&m1(), "1 2", "3 4", "4 1").deal();
    called.play("a draw, a drop, b call");
    assert_eq!(called.legal(), "a: draw", "the last lap has a third turn, beyond the limit of two");
    called.play("a draw, a drop, a pass");
    assert_eq!((called.outcome().0, called.result().turns), ("call", 3));
}

#[test]
fn rounds_end_when_a_turn_starts_without_stock() {
    let text = m1().replace("turn_limit = 2", "turn_limit = 9");
    let mut table = stage(&text, "1 2", "3 4", "1 2 3 4").deal();
    for _ in 0..4 {
        let seat = table.asked();
        table.play(&format!("{seat} draw, {seat} drop"));
        while table.phase() == Phase::Window {
            table.pass();
        }
    }
    assert_eq!((table.outcome().0, table.result().turns), ("stock_out", 4));
    assert_eq!(table.state().table().reshuffles(), 0);
}

fn payoffs(a: &str, b: &str, calls: bool) -> Vec<String> {
    let mut table: Scene = stage(&m1(), a, b, "").deal();
    for _ in 0..2 {
        let seat = table.asked();
        if calls && seat == "a" {
            table.play("a call");
        } else {
            table.play(&format!("{seat} draw, {seat} drop"));
        }
        while table.phase() == Phase::Window {
            table.pass();
        }
    }
    table.outcome().1
}

#[test]
fn the_fewer_points_win_one_and_a_tie_is_the_callers_loss() {
    assert_eq!(payoffs("1 2", "3 4", true), ["1", "-1"]);
    assert_eq!(payoffs("3 4", "1 2", true), ["-1", "1"]);
    assert_eq!(payoffs("1 2", "1 2", true), ["-1", "1"], "the caller loses a tie");
    assert_eq!(payoffs("1 2", "1 2", false), ["0", "0"], "without a caller a tie is worth nothing");
    assert_eq!(payoffs("3 4", "1 2", false), ["-1", "1"]);
}

/// Chance that counts the faces that it draws. At the end of a round, latent faces are not drawn.
#[derive(Default)]
struct Lazy {
    decided: usize,
}

impl Chance for Lazy {
    fn settles(&self) -> bool {
        false
    }

    fn draw(&mut self, _: &[cambio_core::Card]) -> usize {
        self.decided += 1;
        0
    }

    fn shuffle(&mut self, _: &mut [cambio_core::Card]) {
        unreachable!("the stock of a mini game is never reshuffled")
    }

    fn race(&mut self, race: &SnapRace<'_>) -> RaceOrder {
        RaceOrder::new(race.snappers.iter_from(Seat::A))
    }
}

#[test]
fn latent_faces_are_drawn_when_first_seen() {
    let rules: Rules = Stage::by(&m1(), 2).rules();
    let mut chance = Lazy::default();
    let mut peeks = Vec::new();
    let mut sink = |event: &Event<cambio_core::Card>| {
        if let Event::Peeked { seat, .. } = event {
            peeks.push(*seat);
        }
    };
    let mut state = State::deal_latent(&Setup::new(&rules, 2), &mut chance, &mut sink).unwrap();
    assert_eq!((peeks, chance.decided), (vec![Seat::A, Seat::B], 2), "the two peeks, a's first");
    let act = |state: &mut State, chance: &mut Lazy, text: &str| {
        state.apply(text.parse().unwrap(), chance, &mut ()).unwrap();
    };
    act(&mut state, &mut chance, "draw");
    assert_eq!(chance.decided, 3);
    act(&mut state, &mut chance, "keep a2");
    assert_eq!(chance.decided, 4, "the replaced card is seen");
    while state.table().phase() == Phase::Window {
        act(&mut state, &mut chance, "pass");
    }
    act(&mut state, &mut chance, "call");
    act(&mut state, &mut chance, "draw");
    act(&mut state, &mut chance, "drop");
    while state.table().phase() == Phase::Window {
        act(&mut state, &mut chance, "pass");
    }
    assert!(state.is_over());
    assert_eq!(chance.decided, 5, "b's second card stays latent");
    assert!(state.face("b2".parse().unwrap()).is_none() && RoundResult::of(&state).is_none());
    state.settle(&mut chance);
    assert_eq!(chance.decided, 6);
    assert!(RoundResult::of(&state).is_some());
}
