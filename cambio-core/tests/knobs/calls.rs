//! Knobs of calls and of the end of a round.

use cambio_core::Phase;

use crate::table::{Scene, Stage};

#[test]
pub(crate) fn a_callers_cards_can_be_looked_at_or_not() {
    for look_at_caller in [true, false] {
        let mut table =
            Stage::of("original", 3).with(&format!("look_at_caller = {look_at_caller}")).stock("spy").deal();
        table.play("a call, b draw, b drop");
        table.pass();
        assert_eq!(table.offers("b look a1"), look_at_caller);
        assert!(table.offers("b look c1") && !table.offers("b look b1"));
    }
}

#[test]
pub(crate) fn a_caller_snaps_nothing_or_foreign_cards_or_its_own_or_both() {
    let window = |caller_snaps: &str| {
        let mut table = Stage::of("original", 2).with(&format!("caller_snaps = '{caller_snaps}'")).stock("7").deal();
        table.play("a call, b draw, b drop");
        assert!(!table.offers("b snap a1"));
        table.play("b pass");
        table
    };
    assert!(window("none").asked().is_empty(), "the caller is not asked, so the round is over");
    let foreign = window("foreign");
    assert!(foreign.offers("a snap b1") && !foreign.offers("a snap a1") && !foreign.offers("a touch a1"));
    let own = window("own");
    assert!(!own.offers("a snap b1") && own.offers("a snap a1") && own.offers("a touch a1") && own.offers("a pass"));
    for word in ["own_and_foreign", "any"] {
        let both = window(word);
        assert!(both.offers("a snap b1") && both.offers("a snap a1"), "{word}");
    }
    // Before a call the knob has no effect.
    let mut before = Stage::of("original", 2).with("caller_snaps = 'own'").stock("7").deal();
    before.play("a draw, a drop");
    assert!(before.offers("a snap b1") && before.offers("a snap a1"));
}

#[test]
pub(crate) fn after_a_call_all_snap_or_callers_alone() {
    let asked = |fields: &str| {
        let mut table =
            Stage::of("faessler", 3).with("flip = 'none'\npeek = 'none'").with(fields).stock("1R 2R").deal();
        table.play("a draw, a drop");
        let before = table.pass();
        table.play("b call, c draw, c drop");
        (before, if table.has_window() { table.pass() } else { String::new() })
    };
    let all = |after: &str| ("abc".to_owned(), after.to_owned());
    assert_eq!(asked("others_after_call = 'yes'"), all("cab"));
    assert_eq!(asked("others_after_call = 'no'"), all("b"));
    assert_eq!(asked("others_after_call = 'no'\ncaller_snaps = 'none'"), all(""), "no seat may snap");
    // If several seats have called, all of them may snap.
    let mut several =
        Stage::of("faessler", 3).with("flip = 'none'\npeek = 'none'\nothers_after_call = 'no'").stock("1R").deal();
    several.play("a call, b call, c draw, c drop");
    assert_eq!(several.pass(), "ab");
}

#[test]
pub(crate) fn the_call_is_instead_of_a_turn_or_after_it() {
    let phases = |call: &str| {
        let mut table = Stage::of("original", 2).with(&format!("call = '{call}'")).stock("7").deal();
        let at_start = table.offers("a call");
        table.play("a draw, a drop");
        table.pass();
        (at_start, table.offers("a call"), table.phase())
    };
    assert_eq!(phases("instead_of_turn"), (true, false, Phase::Start));
    assert_eq!(phases("after_turn"), (false, true, Phase::Close));
}

#[test]
pub(crate) fn a_seat_may_call_from_a_turn_on() {
    // The turns of the round in which a seat may call.
    let calls = |preset: &str, seats: usize, first: usize| -> Vec<usize> {
        let fields = format!("first_call = {first}\nturn_limit = 8");
        let mut table = Stage::of(preset, seats).with(&fields).deal();
        let mut turns = Vec::new();
        while !table.asked().is_empty() {
            if table.offers(&format!("{} call", table.asked())) {
                turns.push(table.state().table().turns());
            }
            table.advance();
        }
        turns
    };
    for preset in ["original", "classic"] {
        assert_eq!(calls(preset, 2, 1), [1, 2, 3, 4, 5, 6, 7, 8], "{preset}");
        assert_eq!(calls(preset, 2, 3), [5, 6, 7, 8], "{preset}");
        assert_eq!(calls(preset, 3, 2), [4, 5, 6, 7, 8], "{preset}");
        assert_eq!(calls(preset, 3, 4), [0; 0], "{preset}: no seat has a turn 4");
    }
    // A seat that cannot draw, take or call yet has no decision, so the round ends.
    let stuck = |first: usize| {
        let fields = format!(
            "first_call = {first}\ntake = false\nwindow = 'none'\njokers = 0\ndeck = [{{ label = '1', rank = '1', points = 1, copies = 9 }}]"
        );
        let mut table = Stage::of("original", 2).with(&fields).deal();
        table.play("a draw, a drop");
        (table.legal(), table.state().table().turns())
    };
    assert_eq!(stuck(1), ("b: call".to_owned(), 2));
    assert_eq!(stuck(2), (String::new(), 1));
    // If the turn limit ends the round before any call is legal, the last turn is known in advance.
    let fields = "final_window = false\nlimit_in_lap = 'waits'\nturn_limit = 2\nfirst_call =";
    for (first, has_window) in [(1, true), (2, false)] {
        let mut table = Stage::of("classic", 2).with(&format!("{fields} {first}")).stock("2h 2d").deal();
        table.idle();
        table.play("b draw, b drop");
        assert_eq!(table.has_window(), has_window);
    }
}

#[test]
pub(crate) fn one_seat_may_call_or_several() {
    for (callers, may) in [("one", false), ("several", true)] {
        let mut table = Stage::of("original", 3).with(&format!("callers = '{callers}'")).stock("7").deal();
        table.play("a call");
        assert_eq!(table.offers("b call"), may);
        // The lap ends at the first caller's turn, even if other seats call after it.
        if may {
            table.play("b call");
        } else {
            table.idle();
        }
        table.idle();
        assert_eq!(table.outcome().0, "call");
    }
}

#[test]
pub(crate) fn a_cap_advises_or_forbids_or_judges() {
    // a knows a 9 and a 0, but not its other two cards; at best they are two red kings at -2 each.
    let deal = |cap: &str, a: &str| {
        Stage::of("original", 2).with(&format!("cap = '{cap}'")).holds("a", a).holds("b", "9 9 9 8").stock("7").deal()
    };
    for cap in ["none", "advisory(4)", "score(4)", "feasible(5)"] {
        assert!(deal(cap, "1 2 9 0").offers("a call"), "{cap}");
    }
    assert!(!deal("feasible(4)", "1 2 9 0").offers("a call"));
    // Legality depends on a's knowledge, not on the hidden cards.
    assert!(!deal("feasible(4)", "KR KR 9 0").offers("a call"));
    let mut looked = deal("feasible(5)", "KR KR 9 0");
    assert!(looked.offers("a call"));
    looked.idle();
    // Cards that a has seen elsewhere cannot be among the unknown cards. This deck has two red kings: one is on the
    // pile, and a knows the other. At best the unknown cards are two ones.
    for (cap, may) in [("feasible(9)", true), ("feasible(8)", false)] {
        let fields = format!("deck = 'original-d'\nflip = 'silent'\ncap = '{cap}'");
        let table = Stage::of("original", 2).with(&fields).holds("a", "9 9 9 KR").stock("KR").deal();
        assert_eq!(table.offers("a call"), may, "{cap}");
    }
    // 12 points are the fewest, so the call succeeds, but not with a cap of 11 points.
    let scores = |cap: &str| {
        let mut table = deal(cap, "1 2 9 0");
        table.play("a call");
        table.idle();
        table.outcome().1
    };
    assert_eq!(scores("none"), ["7", "35"]);
    assert_eq!(scores("advisory(11)"), ["7", "35"]);
    assert_eq!(scores("score(12)"), ["7", "35"]);
    assert_eq!(scores("score(11)"), ["17", "35"]);
}

/// A table after seat b has snapped its last card in a's turn.
fn emptied(empty_hand: &str) -> Scene {
    let mut table = Stage::of("original", 2)
        .with(&format!("empty_hand = '{empty_hand}'\nhand = 1\npeek = 'none'\nchain = false\nfreeze = false"))
        .holds("a", "9")
        .holds("b", "look")
        .stock("look 8 9")
        .deal();
    table.play("a draw, a drop");
    table.news();
    table.play("a pass, b snap b1");
    table
}

#[test]
pub(crate) fn empty_layouts_act_as_their_knob_says() {
    let mut now = emptied("ends_round");
    assert_eq!(now.news(), "b snaps b1: look right; ended empty_hand; a1 turned up: 9");
    // The power of the turn is still used, then the round ends.
    let mut at_turn = emptied("ends_round_at_turn");
    assert_eq!(at_turn.legal(), "a: look a1");
    at_turn.news();
    at_turn.play("a look a1");
    assert_eq!(at_turn.news(), "a looks a1: 9; ended empty_hand; a1 turned up: 9");
    let mut safe = emptied("safe");
    assert_eq!(safe.news(), "b snaps b1: look right; b safe");
    safe.play("a look a1, b draw, b drop");
    assert_eq!(safe.pass(), "a", "a safe seat is not asked");
    let mut continues = emptied("continues");
    continues.play("a look a1, b draw, b drop");
    assert_eq!(continues.pass(), "ba");
    assert_eq!(continues.phase(), Phase::Start);
}

#[test]
pub(crate) fn snaps_after_an_empty_layout_are_fined_or_not() {
    // a drops a 7. b snaps its last card, and c is late with a 7 or wrong with a 5.
    let news = |fields: &str, race: &str, c: &str| {
        let mut table = Stage::of("original", 3)
            .with(&format!("{fields}\nhand = 1\npeek = 'none'\nchain = false\nfreeze = false"))
            .holds("a", "9")
            .holds("b", "7")
            .holds("c", c)
            .stock("7 8")
            .races(&[race])
            .deal();
        table.play("a draw, a drop");
        table.news();
        table.play("a pass, b snap b1, c snap c1");
        table.news()
    };
    let shown = |rest: &str| format!("{rest}ended empty_hand; a1 turned up: 9; c1 turned up: ");
    let (after, none) = ("empty_hand_fines = 'after'", "empty_hand_fines = 'none'");
    let fined = format!("b snaps b1: 7 right; {}", shown("c snaps c1: 7 late; c penalty c2; "));
    assert_eq!(news(after, "b c", "7"), format!("{fined}7; c2 turned up: 8"));
    assert_eq!(news(none, "b c", "7"), format!("b snaps b1: 7 right; {}7", shown("")));
    assert_eq!(news(none, "b c", "5"), format!("b snaps b1: 7 right; {}5", shown("")));
    // A wrong snap before the winner's snap is fined, because the round was not over yet.
    let wrong = format!("c snaps c1: 5 wrong; c penalty c2; b snaps b1: 7 right; {}", shown(""));
    assert_eq!(news(none, "c b", "5"), format!("{wrong}5; c2 turned up: 8"));
    // If an empty layout does not end the round at once, all declarations are resolved.
    let goes_on = news(&format!("{none}\nempty_hand = 'continues'"), "b c", "7");
    assert!(goes_on.starts_with("b snaps b1: 7 right; c snaps c1: 7 late; c penalty c2"), "{goes_on}");
    // If b's last card is snapped by a, a's gift may fill b's layout, so the round is not over yet.
    let mut foreign = Stage::of("original", 3)
        .with(&format!("{none}\nhand = 1\npeek = 'none'\nchain = false"))
        .holds("a", "9")
        .holds("b", "7")
        .holds("c", "5")
        .stock("7 8")
        .races(&["a c"])
        .deal();
    foreign.play("a draw, a drop");
    foreign.news();
    foreign.play("a snap b1, b pass, c snap c1");
    assert_eq!(foreign.news(), "a snaps b1: 7 right; c snaps c1: 5 wrong; c penalty c2");
    assert_eq!(foreign.legal(), "a: skip, give a1");
}

#[test]
pub(crate) fn an_empty_stock_is_reshuffled_or_ends_the_round() {
    let drained = |stock_empty: &str| {
        let deck = "deck = [{label='1', rank='1', points=1, copies=11}]\njokers = 0";
        let mut table = Stage::of("classic", 2).with(deck).with(&format!("stock_empty = '{stock_empty}'")).deal();
        table.idle();
        table.idle();
        table.idle();
        table
    };
    let reshuffled = drained("reshuffle");
    assert_eq!((reshuffled.stock_len(), reshuffled.legal().as_str()), (0, "b: draw, take"));
    let mut reshuffled = reshuffled;
    reshuffled.play("b draw");
    assert_eq!((reshuffled.stock_len(), reshuffled.pile_len()), (1, 1));
    assert_eq!(drained("end_round").outcome().0, "stock_out");
}

#[test]
pub(crate) fn the_turn_limit_ends_the_round() {
    for limit in [1, 3] {
        let mut table = Stage::of("classic", 2).with(&format!("turn_limit = {limit}")).deal();
        for _ in 0..limit {
            table.idle();
        }
        assert_eq!((table.outcome().0, table.result().turns), ("turn_limit", limit));
    }
}

#[test]
pub(crate) fn the_turn_limit_cuts_the_last_lap_or_waits_for_it() {
    let called = |limit_in_lap: &str| {
        let fields = format!("turn_limit = 2\nlimit_in_lap = '{limit_in_lap}'");
        let mut table = Stage::of("original", 3).with(&fields).stock("7 8 9").deal();
        table.play("a call");
        table.idle();
        table
    };
    assert_eq!(called("ends").outcome().0, "turn_limit");
    let mut waits = called("waits");
    assert_eq!(waits.asked(), "c");
    waits.idle();
    assert_eq!((waits.outcome().0, waits.result().turns), ("call", 3));
}

#[test]
fn the_turn_limit_waits_for_a_late_call() {
    for (limit_in_lap, has_window) in [("waits", true), ("ends", false)] {
        let fields = format!("final_window = false\nturn_limit = 1\nlimit_in_lap = '{limit_in_lap}'");
        let mut table = Stage::of("classic", 2).with(&fields).stock("2s").deal();
        table.play("a draw, a drop");
        assert_eq!(table.has_window(), has_window, "{limit_in_lap}");
    }
}

#[test]
pub(crate) fn the_cards_of_a_caller_are_locked_or_open() {
    let table = |fields: &str, card: &str| {
        let mut table = Stage::of("original", 3).with(fields).holds("a", "7 8 9 1").stock(card).deal();
        table.play("a call, b draw, b drop");
        table
    };
    for open in [false, true] {
        let fields = format!("lock_caller = {}", !open);
        let mut swap = table(&fields, "swap");
        assert_eq!((swap.offers("b snap a1"), swap.offers("b touch a1")), (open, open));
        assert!(swap.offers("b snap b1") && swap.offers("b snap c1"));
        assert_eq!(swap.pass(), "bc", "`caller_snaps` decides whether the caller is asked");
        assert_eq!((swap.offers("b swap a1 b1"), swap.offers("b swap a1 c1")), (open, open));
        assert!(swap.offers("b swap b1 c1") && swap.offers("b swap c1 c2"));
        let mut reveal = table(&fields, "KB");
        reveal.pass();
        reveal.play("b show c1");
        assert_eq!(reveal.offers("b show a1"), open);
        let mut look = table(&fields, "spy");
        look.pass();
        assert!(!look.offers("b look a1"), "looks have a knob of their own");
    }
    // A card of the caller is snapped, and the caller gets a gift.
    let mut snapped = table("lock_caller = false", "7");
    snapped.play("b snap a1, c pass, b give b2");
    assert_eq!(snapped.row("a").split(' ').count(), 4);
    // `caller_snaps` limits the caller as before.
    let own = |caller_snaps: &str| {
        let mut table = table(&format!("lock_caller = false\ncaller_snaps = '{caller_snaps}'"), "7");
        table.play("b pass, c pass");
        (table.offers("a snap a1"), table.offers("a snap b1"))
    };
    assert_eq!([own("foreign"), own("own"), own("any")], [(false, true), (true, false), (true, true)]);
}

#[test]
pub(crate) fn an_empty_layout_counts_as_a_call_or_not() {
    let stage = |fields: &str| {
        let usual = ["empty_hand = 'continues'", "empty_call = true"];
        let usual = usual.into_iter().filter(|line| !fields.contains(line.split(' ').next().unwrap()));
        Stage::of("original", 3)
            .with(&usual.collect::<Vec<_>>().join("\n"))
            .with("hand = 1\npeek = 'none'\nchain = false\ntouch = false")
            .with(fields)
            .holds("a", "7")
            .holds("b", "8")
            .holds("c", "9")
    };
    // In its own turn, a seat without cards calls at the end of the turn, and each other seat has one more turn.
    let mut own = stage("").stock("7 1 2").deal();
    own.play("a draw, a drop, a snap a1, b pass, c pass");
    own.news();
    assert_eq!((own.asked(), own.state().table().callers().len()), ("b".to_owned(), 1));
    own.play("b draw, b drop");
    own.pass();
    own.play("c draw, c drop");
    own.pass();
    assert_eq!(own.outcome(), ("call", vec!["-5".to_owned(), "8".to_owned(), "9".to_owned()]));
    // In the turn of another seat, it calls instead of its next turn, which ends a freeze.
    let mut later = stage("").stock("9 1 2").deal();
    later.play("a draw, a drop");
    later.news();
    later.play("a pass, b pass, c snap c1");
    assert_eq!(later.news(), "c snaps c1: 9 right; b's turn");
    later.play("b draw, b drop");
    later.pass();
    assert!(later.news().ends_with("c's turn; c calls; a's turn"));
    later.play("a draw, a drop");
    later.pass();
    assert!(later.offers("b draw") && !later.offers("b call"));
    // If the empty layout ends the round, the seat has called too, whatever its first turn with a call.
    let mut ended = stage("empty_hand = 'ends_round'\nfirst_call = 9").stock("8").deal();
    ended.play("a draw, a drop, a pass, b snap b1, c pass");
    assert_eq!(ended.outcome(), ("empty_hand", vec!["7".to_owned(), "-5".to_owned(), "9".to_owned()]));
    let mut second = stage("").stock("8 1").deal();
    second.play("a call, b draw, b drop, b snap b1, c pass");
    assert_eq!(second.state().table().callers().len(), 1, "`callers` is one");
    let mut several = stage("callers = 'several'").stock("8 1").deal();
    several.play("a call, b draw, b drop, b snap b1, c pass");
    assert_eq!(several.state().table().callers().len(), 2);
    // Without the knob, the seat has called nothing.
    let mut without = stage("empty_call = false").stock("7 1 2").deal();
    without.play("a draw, a drop, a snap a1, b pass, c pass");
    assert!(without.state().table().callers().is_empty());
}
