//! Tests of the rules that only the mini games use. The mini games are rule systems for the same engine.

use crate::table::Stage;
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
