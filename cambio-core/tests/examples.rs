//! The examples of the rule texts, each played as a round.

use crate::table::Stage;
use cambio_core::{Match, Phase, Rules, Seat, SeatSet};

/// Example 1 (000:47, 000:118–124): the fastest seat snaps its own 7 and then the 7 of another seat.
#[test]
fn the_fastest_seat_may_snap_several_sevens() {
    let mut table = Stage::of("original", 3)
        .holds("a", "1 2 3 4")
        .holds("b", "7 7 5 9")
        .holds("c", "7 6 5 9")
        .stock("7 8 0")
        .races(&["b c"])
        .deal();
    table.play("a draw, a drop");
    table.news();
    // All three seats declare; b snaps its 7 faster than c snaps b's other 7.
    table.play("a pass, b snap b1, c snap b2");
    assert_eq!(table.news(), "b snaps b1: 7 right; c snaps b2: 7 late; c penalty c5");
    assert_eq!(table.legal().split(',').next(), Some("b: pass"));
    assert_eq!(table.phase(), Phase::Chain);
    table.play("b snap c1, b give b4");
    assert_eq!(table.news(), "b snaps c1: 7 right; b gives b4 c1");
    assert_eq!((table.row("b"), table.row("c")), ("- 7 5".to_owned(), "9 6 5 9 8".to_owned()));
    // b may continue with its other 7, which all have seen because of c's late snap.
    table.play("b snap b2, b pass");
    assert_eq!(table.row("b"), "- - 5");
    assert_eq!(table.asked(), "b");
    assert_eq!(table.phase(), Phase::Start);
}

/// Example 1 (000:124): a matching card that comes too late is shown, goes back and costs a penalty card.
#[test]
fn a_late_match_costs_a_penalty_card() {
    let mut table =
        Stage::of("original", 2).holds("a", "1 2 3 4").holds("b", "7 6 5 7").stock("7 8").races(&["a b"]).deal();
    table.play("a draw, a drop");
    table.news();
    table.play("a snap b1, b snap b4");
    assert_eq!(table.news(), "a snaps b1: 7 right; b snaps b4: 7 late; b penalty b5");
    assert_eq!(table.row("b"), "- 6 5 7 8");
    assert_eq!(table.knows("a", "b4"), "7", "the late card was shown to all");
    assert_eq!((table.knows("b", "b5"), table.knows("a", "b5")), ("?", "?"), "a penalty card is drawn unseen");
    // The gift comes after the penalty.
    table.play("a give a4");
    assert_eq!(table.row("b"), "4 6 5 7 8");
}

/// Example 2 (000:49, 000:120): the kings share a rune.
#[test]
fn a_red_king_matches_a_blue_king() {
    let mut table = Stage::of("original", 2).holds("a", "KB 2 3 4").holds("b", "5 6 7 KR").stock("9").deal();
    table.play("a draw, a keep a1");
    table.news();
    table.play("a pass, b snap b4");
    assert_eq!(table.news(), "b snaps b4: KR right");
    assert_eq!(table.top(), "KR");
}

/// Example 2 (000:49): runes match, not points.
#[test]
fn swap_on_energy_does_not_match_though_both_are_ten() {
    let mut table = Stage::of("original", 2).holds("a", "1 2 3 4").holds("b", "swap 6 7 8").stock("energy 9").deal();
    let (swap, energy) = (table.rules().card("swap").unwrap(), table.rules().card("energy").unwrap());
    assert_eq!((table.rules().points(swap), table.rules().points(energy)), (10, 10));
    table.play("a draw, a drop");
    table.news();
    table.play("a pass, b snap b1");
    assert_eq!(table.news(), "b snaps b1: swap wrong; b penalty b5; b's turn");
    assert_eq!((table.row("b").as_str(), table.top()), ("swap 6 7 8 9", "energy"));
    assert_eq!(table.knows("a", "b1"), "swap");
}

/// Example 3 (000:114): a successful snap freezes the pile for the next seat.
#[test]
fn after_a_snap_the_next_seat_must_draw() {
    let mut table = Stage::of("original", 3).holds("a", "1 2 3 4").holds("b", "7 6 5 8").stock("7 9 0").deal();
    table.play("a draw, a drop, a pass, b snap b1, c pass, b pass");
    assert_eq!(table.legal(), "b: draw, call");
    table.play("b draw, b drop");
    table.pass();
    assert_eq!(table.legal(), "c: draw, take, call");
}

/// Example 3 (000:114): a wrong snap freezes nothing.
#[test]
fn a_wrong_snap_does_not_freeze_the_pile() {
    let mut table = Stage::of("original", 2).holds("a", "1 2 3 4").holds("b", "6 6 5 8").stock("7 9").deal();
    table.play("a draw, a drop, a pass, b snap b1");
    assert_eq!(table.legal(), "b: draw, take, call");
}

fn called_with(caller: &str, other: &str) -> Vec<String> {
    let mut table = Stage::of("original", 2).holds("a", caller).holds("b", other).stock("9").deal();
    table.play("a call");
    table.idle();
    assert_eq!(table.result().callers, SeatSet::only(Seat::A));
    table.outcome().1
}

/// Example 4 (000:141): a caller with the fewest points scores five points less.
#[test]
fn a_caller_with_three_and_the_fewest_scores_minus_two() {
    assert_eq!(called_with("1 2 0 0", "4 5 6 7"), ["-2", "22"]);
}

/// Example 4 (000:141): any other caller scores five points more; a tie fails too.
#[test]
fn a_caller_with_seven_and_not_the_fewest_scores_twelve() {
    assert_eq!(called_with("1 2 3 1", "0 0 3 3"), ["12", "6"]);
    assert_eq!(called_with("1 2 3 1", "0 0 3 4"), ["12", "7"]);
}

/// Example 5 (000:59): a power card that is kept loses its power.
#[test]
fn a_power_card_that_was_kept_has_no_power_when_it_is_replaced() {
    let mut table = Stage::of("original", 2).holds("a", "1 2 3 4").stock("look 8 9").deal();
    table.play("a draw, a keep a1");
    table.pass();
    table.idle();
    table.play("a draw, a keep a1");
    assert_eq!(table.top(), "look");
    table.pass();
    assert_eq!((table.phase(), table.asked().as_str()), (Phase::Start, "b"), "no look is asked for");
}

/// Example 5 (000:59, 000:43): a power card that is taken from the pile may be dropped, without its power.
#[test]
fn a_power_card_that_is_taken_and_dropped_has_no_power() {
    let mut table = Stage::of("original", 2).holds("a", "look 2 3 4").stock("9").deal();
    table.play("a draw, a keep a1");
    table.pass();
    table.play("b take, b drop");
    assert_eq!(table.top(), "look");
    table.pass();
    assert_eq!((table.phase(), table.asked().as_str()), (Phase::Start, "a"));
}

/// Example 5, second half (000:59): the power of a card that is dropped right after it was drawn must be used.
#[test]
fn a_power_card_that_is_drawn_and_dropped_must_be_used() {
    let mut table = Stage::of("original", 2).holds("a", "1 2 3 4").stock("look").deal();
    table.play("a draw, a drop");
    table.pass();
    assert_eq!(table.legal(), "a: look a1, look a2, look a3, look a4");
    table.news();
    table.play("a look a1");
    assert_eq!(table.news_for("b"), "a looks a1: ?");
    assert_eq!(table.news_for("a"), "a looks a1: 1");
    assert_eq!((table.knows("a", "a1"), table.knows("b", "a1")), ("1", "?"));
}

/// Example 6 (004:98): a seat with a nine and a six snaps the nine on a flipped nine.
#[test]
fn a_nine_burnt_on_the_flipped_nine_leaves_three_cards() {
    let mut table = Stage::of("faessler", 2).holds("a", "9S 6R 1R 2R").holds("b", "4R 5R 3S 7R").stock("9R 8R").deal();
    table.play("a peek a1, a peek a2, b peek b1, b peek b2");
    assert_eq!(table.top(), "9R");
    assert!(table.has_window());
    let before = table.points("a");
    table.news();
    table.play("a snap a1, b pass");
    assert_eq!(table.news(), "a snaps a1: 9S right; a's turn");
    assert_eq!(table.row("a"), "- 6R 1R 2R", "the gap stays");
    assert_eq!(before - table.points("a"), 9);
    // The first turn follows. The flipped nine does not give its power, which looks at one of the player's own cards.
    assert_eq!(table.legal(), "a: draw, take, call");
}

/// Example 7 (004:102): the gift fills the gap of the snapped card.
#[test]
fn the_gift_lies_where_the_foreign_card_lay() {
    let mut table = Stage::of("faessler", 2).holds("a", "1R 3S 5R KR").holds("b", "3R 6R 2S 8S").stock("9R 9S").deal();
    table.play("a peek a2, a peek a4, b peek b1, b peek b2");
    table.pass();
    table.play("a draw, a keep a2");
    assert_eq!(table.top(), "3S");
    table.news();
    table.play("a snap b1, b pass");
    assert_eq!(table.legal(), "a: skip, give a1, give a2, give a3, give a4");
    table.play("a give a4");
    assert_eq!(table.news(), "a snaps b1: 3R right; a gives a4 b1; b's turn");
    assert_eq!((table.row("a"), table.row("b")), ("1R 9S 5R".to_owned(), "KR 6R 2S 8S".to_owned()));
    // The giver still knows the card; its new owner has not seen it.
    assert_eq!((table.knows("a", "b1"), table.knows("b", "b1")), ("KR", "?"));
}

/// Example 8 (004:138): a replaced Schilten 8 has no power; when it is taken and dropped, its power applies.
#[test]
fn a_taken_eight_gives_a_look_when_dropped() {
    let mut table = Stage::of("faessler", 2).holds("a", "8C 1R 2R 3R").holds("b", "4R 5R 6R 1S").stock("9R FR").deal();
    table.play("a peek a2, a peek a3, b peek b1, b peek b2");
    table.pass();
    table.play("a draw, a keep a1");
    assert_eq!((table.top(), table.face("a1")), ("8C", "FR"));
    table.pass();
    assert_eq!((table.phase(), table.asked().as_str()), (Phase::Start, "b"), "a gets no look for its 8");
    table.play("b take, b drop");
    table.pass();
    assert_eq!(table.legal(), "b: skip, look a1, look a2, look a3, look a4");
    table.play("b look a1");
    assert_eq!(table.knows("b", "a1"), "FR");
}

/// Example 9 (004:125–131): a caller with a joker against a joker and a Fässler.
#[test]
fn a_tying_caller_loses_and_starts_with_five_cards() {
    let mut table =
        Stage::of("faessler", 2).holds("a", "JK 5R 6R 2R").holds("b", "JK FS 1R 3R").stock("5S 6S 1S 2S 3S 4S").deal();
    table.play("a peek a1, a peek a2, b peek b1, b peek b2");
    // Cards are snapped one by one until the layouts are as in the text.
    table.play("a snap a2, b pass");
    table.play("a draw, a drop, a snap a3, b pass");
    table.play("b draw, b drop, b snap b3, a pass");
    table.play("a draw, a drop, a snap a4, b pass");
    table.play("b draw, b drop, b snap b4, a pass");
    assert_eq!((table.row("a"), table.row("b")), ("JK".to_owned(), "JK FS".to_owned()));
    table.play("a call");
    table.idle();
    assert_eq!(table.outcome(), ("call", vec!["-1".to_owned(), "-1".to_owned()]));
    assert!(table.result().succeeded.is_empty(), "a tie fails");
    let mut game = Match::new(table.rules(), 2, Seat::A).unwrap();
    game.add(&table.result());
    let mut next = Stage::of("faessler", 2).setup(&game.setup()).holds("a", "1R 2R 3R 4R KR").deal();
    assert!(next.news().starts_with("dealt from b, one more to {A}"));
    assert_eq!(next.row("a"), "1R 2R 3R 4R KR");
    assert_eq!(next.row("b").split(' ').count(), 4);
}

/// Example 10 (004:139): the pile without its top card becomes the new stock.
#[test]
fn when_the_stock_runs_out_the_top_of_the_pile_stays() {
    let mut table = Stage::of("faessler", 2).deal();
    table.play("a peek a1, a peek a2, b peek b1, b peek b2");
    table.pass();
    while table.stock_len() > 0 {
        table.idle();
    }
    let (top, pile) = (table.top().to_owned(), table.pile_len());
    assert_eq!(pile, 62 - 8);
    table.news();
    let seat = table.asked();
    table.play(&format!("{seat} draw"));
    assert_eq!(table.top(), top, "the top stays where it is");
    assert_eq!((table.pile_len(), table.stock_len()), (1, pile - 2), "the rest without the drawn card is the stock");
    let on_pile = |label: &str| table.state().table().on_pile(table.rules().card(label).unwrap());
    let kinds = table.rules().kinds().iter().map(|kind| on_pile(&kind.label));
    assert_eq!((on_pile(&top), kinds.sum::<usize>()), (1, 1), "the other cards are publicly in the stock");
    let news = table.news();
    assert!(news.starts_with(&format!("{} reshuffled; {seat} draws ", pile - 1)), "{news}");
}

/// Example 11 (003:13): in the international game, a taken card must replace one of the seat's own cards.
#[test]
fn a_taken_card_must_be_kept() {
    let mut table = Stage::of("classic", 2).stock("2s").deal();
    table.idle();
    table.play("b take");
    assert_eq!(table.legal(), "b: keep b1, keep b2, keep b3, keep b4");
    table.play("b keep b2");
    assert_eq!((table.face("b2"), table.knows("a", "b2")), ("2s", "2s"), "all have seen a taken card");
}

/// Example 12 (003:17): the other seat wins a tie with the caller.
#[test]
fn a_tie_with_the_caller_wins_for_the_other() {
    let mut table = Stage::of("classic", 2).holds("a", "Ah 2h 3h 4h").holds("b", "Ad 2d 3d 4d").stock("5h 5d").deal();
    table.play("a draw, a drop");
    table.pass();
    table.play("a call");
    table.idle();
    assert_eq!(table.outcome(), ("call", vec!["0".to_owned(), "1".to_owned()]));
}

/// Example 12 (003:17): several other seats with the fewest points share the win.
#[test]
fn several_others_with_the_fewest_share_the_win() {
    let mut table = Stage::of("classic", 3)
        .holds("a", "10h 2h 3h 4h")
        .holds("b", "Ad 2d 3d 4d")
        .holds("c", "Ac 2c 3c 4c")
        .stock("5h 5d 5s")
        .deal();
    table.play("a draw, a drop");
    table.pass();
    table.play("a call");
    table.idle();
    table.idle();
    assert_eq!(table.outcome(), ("call", vec!["0".to_owned(), "0.5".to_owned(), "0.5".to_owned()]));
}

/// Example 13 (003:26–32), and the points of the other two systems (004:5–68, 000:63–106).
#[test]
fn cards_have_the_points_of_the_rule_texts() {
    let points = |preset: &str, labels: &str| -> Vec<i32> {
        let rules = Rules::preset(preset).unwrap();
        labels.split(' ').map(|label| rules.points(rules.card(label).unwrap())).collect()
    };
    assert_eq!(points("classic", "6h 6s Kh Kd Kc Ks Ah As JK"), [-3, 6, -2, -2, 10, 10, 0, 0, -1]);
    assert_eq!(points("classic", "2c 10d Jh Qs"), [2, 10, 10, 10]);
    assert_eq!(points("faessler", "1R 9S 10C FE UR OS KC AE JK"), [1, 9, 10, 0, 10, 10, 10, 11, -1]);
    assert_eq!(points("original", "0 9 look spy swap energy KR KB"), [0, 9, 10, 10, 10, 10, -2, 13]);
}

/// The sizes and mean points of the decks, as in the section "Cards" of RULES.md.
#[test]
fn the_decks_have_the_sizes_and_means_that_are_given() {
    for preset in ["original-b", "original-c", "original-d"] {
        assert_eq!(Rules::preset(preset).unwrap().deck().len(), 76, "{preset}");
    }
    // Mean points in thousandths, probabilities in hundredths of a percent.
    for (preset, cards, mean, same_rank) in
        [("original", 76, 6_632, 625), ("faessler", 62, 6_161, 481), ("classic", 54, 5_574, 552)]
    {
        let rules = Rules::preset(preset).unwrap();
        let deck = rules.deck();
        assert_eq!(deck.len(), cards, "{preset}");
        let sum: i32 = deck.iter().map(|&card| rules.points(card)).sum();
        assert_eq!((sum as usize * 1000 + cards / 2) / cards, mean, "{preset}");
        let pairs = (0..cards).flat_map(|one| (0..one).map(move |other| (one, other)));
        let equal = pairs.filter(|&(one, other)| rules.same_rank(deck[one], deck[other])).count();
        let all = cards * (cards - 1) / 2;
        assert_eq!((equal * 10_000 + all / 2) / all, same_rank, "{preset}");
    }
}

/// Example 14 (003:10): a wrong snap of another seat's card.
#[test]
fn wrong_foreign_flips_return_and_cost_a_card() {
    let mut table = Stage::of("classic", 2).holds("a", "Ah 2h 3h 4h").holds("b", "Ad 2d 3d 4d").stock("5h 9s").deal();
    table.play("a draw, a drop");
    table.news();
    table.play("a snap b1, b pass");
    assert_eq!(table.news(), "a snaps b1: Ad wrong; a penalty a5");
    assert_eq!((table.row("a"), table.row("b")), ("Ah 2h 3h 4h 9s".to_owned(), "Ad 2d 3d 4d".to_owned()));
    assert_eq!((table.knows("a", "b1"), table.knows("b", "b1")), ("Ad", "Ad"), "all saw the card");
    assert_eq!((table.knows("a", "a5"), table.knows("b", "a5")), ("?", "?"), "no seat saw the penalty card");
}
