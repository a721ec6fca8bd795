//! Knobs of scoring and of the match.

use cambio_core::engine::CarryOver;
use cambio_core::play::RoundResult;
use cambio_core::{Match, RulesSpec, Score, Seat, SeatSet};

use crate::table::{Scene, Stage};

/// Seat a, with the cards `a`, calls; seat b, with the cards `b`, plays its last turn.
fn called(fields: &str, a: &str, b: &str) -> Scene {
    let mut table = Stage::of("original", 2).with(fields).holds("a", a).holds("b", b).stock("9").deal();
    table.play("a call");
    table.idle();
    table
}

fn scores(fields: &str, a: &str, b: &str) -> Vec<String> {
    called(fields, a, b).outcome().1
}

/// Adds the same result for each of `rounds` rounds. Returns whether the match is over, its totals and its ranks.
fn repeated(fields: &str, result: &RoundResult, rounds: usize) -> (bool, Vec<Score>, Vec<usize>) {
    let rules = Stage::of("original", 2).with(fields).rules();
    let mut game = Match::new(&rules, 2, Seat::A).unwrap();
    for _ in 0..rounds {
        assert!(!game.is_over());
        game.add(result);
    }
    (game.is_over(), game.totals().to_vec(), game.ranks().collect())
}

const LOW: &str = "0 0 1 2";
const HIGH: &str = "3 3 3 3";

#[test]
pub(crate) fn the_round_limit_ends_the_match() {
    let result = called("", LOW, HIGH).result();
    assert!(repeated("round_limit = 2", &result, 2).0);
    assert!(!repeated("round_limit = 3", &result, 2).0);
}

#[test]
pub(crate) fn a_round_scores_points_or_shares_or_wins_and_losses() {
    assert_eq!(scores("score = 'points'", LOW, HIGH), ["-2", "12"]);
    let shares = |score: &str, a: &str, b: &str| scores(&format!("score = '{score}'\nbest = 'most'"), a, b);
    assert_eq!(shares("share", LOW, HIGH), ["1", "0"]);
    assert_eq!(shares("share", HIGH, LOW), ["0", "1"]);
    assert_eq!(shares("win_loss", LOW, HIGH), ["1", "-1"]);
    assert_eq!(shares("win_loss", HIGH, LOW), ["-1", "1"]);
    assert_eq!(shares("win_loss", "1 1 1 1", "0 0 2 2"), ["-1", "1"], "a tie with the caller");
    let uncalled = |score: &str, a: &str| {
        let fields = format!("score = '{score}'\nbest = 'most'\nturn_limit = 1");
        let mut table = Stage::of("original", 2).with(&fields).holds("a", a).holds("b", "0 0 2 2").stock("9").deal();
        table.idle();
        table.outcome().1
    };
    assert_eq!(uncalled("win_loss", "1 1 1 1"), ["0", "0"], "a tie without a caller");
    assert_eq!(uncalled("win_loss", HIGH), ["-1", "1"]);
    assert_eq!(uncalled("share", "1 1 1 1"), ["0.5", "0.5"]);
}

#[test]
pub(crate) fn a_successful_call_adds_or_sets_or_multiplies() {
    assert_eq!(scores("call_success = -5", LOW, HIGH), ["-2", "12"]);
    assert_eq!(scores("call_success = 0", LOW, HIGH), ["3", "12"]);
    assert_eq!(scores("call_success = -9", HIGH, LOW), ["17", "3"], "a failed call has a knob of its own");
    assert_eq!(scores("call_success = 'add(-5)'", LOW, HIGH), ["-2", "12"]);
    assert_eq!(scores("call_success = 'set(0)'", LOW, HIGH), ["0", "12"]);
    assert_eq!(scores("call_success = 'times(4)'", LOW, HIGH), ["12", "12"]);
}

#[test]
pub(crate) fn a_failed_call_adds_or_sets_or_multiplies() {
    assert_eq!(scores("call_failure = 5", HIGH, LOW), ["17", "3"]);
    assert_eq!(scores("call_failure = 30", HIGH, LOW), ["42", "3"]);
    assert_eq!(scores("call_failure = 30", LOW, HIGH), ["-2", "12"], "a successful call has a knob of its own");
    assert_eq!(scores("call_failure = 'set(40)'", HIGH, LOW), ["40", "3"]);
    assert_eq!(scores("call_failure = 'times(2)'", HIGH, LOW), ["24", "3"]);
    assert_eq!(scores("call_failure = 'times(2)'", LOW, HIGH), ["-2", "12"], "a successful call has a knob of its own");
    // The round limit is bounded so that totals cannot overflow.
    let most = |call: &str, reset: &str| {
        let file = format!("base = 'original'\nround_limit = 1\ncall_failure = {call}\ntotal_reset = '{reset}'");
        let mut spec = RulesSpec::from_toml(&file).unwrap();
        spec.round_limit = cambio_core::rules::knob::WholeNumber::new(10_000).unwrap();
        spec.validate().unwrap_err().to_string()
    };
    assert_eq!(
        most("'times(10)'", "none"),
        "field `round_limit` must be at most 1638 because a round can add 1560 points to a total, found 10000"
    );
    assert!(most("'times(10)'", "1 -> -10000").contains("at most 1632 because"));
}

#[test]
pub(crate) fn the_lowest_seat_without_a_call_adds_or_sets_or_multiplies() {
    assert_eq!(scores("lowest_bonus = 'set(0)'", HIGH, LOW), ["17", "0"]);
    assert_eq!(scores("lowest_bonus = -2", HIGH, LOW), ["17", "1"]);
    assert_eq!(scores("lowest_bonus = 'set(0)'", LOW, HIGH), ["-2", "12"], "a caller has knobs of its own");
    // All seats with the fewest points have the bonus, but not a caller that ties with them.
    assert_eq!(scores("lowest_bonus = 'set(0)'", "1 1 1 1", "0 0 2 2"), ["9", "0"]);
    assert_eq!(scores("lowest_bonus = 'set(0)'\ncaller_tie = 'succeeds'", "1 1 1 1", "0 0 2 2"), ["-1", "0"]);
    // A caller with the fewest points fails because of the cap; no other seat has the fewest points.
    assert_eq!(scores("lowest_bonus = 'set(0)'\ncap = 'score(1)'", LOW, HIGH), ["8", "12"]);
    let uncalled = |a: &str| {
        let fields = "lowest_bonus = 'set(0)'\nturn_limit = 1";
        let mut table = Stage::of("original", 2).with(fields).holds("a", a).holds("b", "0 0 2 2").stock("9").deal();
        table.idle();
        table.outcome().1
    };
    assert_eq!(uncalled("1 1 1 1"), ["0", "0"]);
    assert_eq!(uncalled(HIGH), ["12", "0"]);
    let most = RulesSpec::from_toml("base = 'original'\nround_limit = 10000\nlowest_bonus = 'times(10)'").unwrap();
    let error = most.validate().unwrap_err().to_string();
    assert!(error.contains("a round can add 1560 points"), "{error}");
}

#[test]
pub(crate) fn a_total_is_reset_at_exactly_its_value() {
    // Each round adds -2 to a's total and 12 to b's.
    let result = called("", LOW, HIGH).result();
    let totals = |reset: &str, rounds: usize| {
        let (is_over, totals, ranks) = repeated(&format!("total_reset = '{reset}'"), &result, rounds);
        (is_over, totals.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "), ranks)
    };
    assert_eq!(totals("none", 4), (false, "-8 48".to_owned(), vec![1, 2]));
    assert_eq!(totals("48 -> 24", 4), (false, "-8 24".to_owned(), vec![1, 2]));
    assert_eq!(totals("48 -> 24", 5), (false, "-10 36".to_owned(), vec![1, 2]), "rounds add to the reset total");
    assert_eq!(totals("47 -> 24", 4).1, "-8 48", "exactly, not beyond");
    assert_eq!(totals("-8 -> 20", 4).1, "20 48", "for any seat and any sign");
    // A total is reset before the check for the end of the match.
    assert_eq!(totals("60 -> 0", 5), (false, "-10 0".to_owned(), vec![1, 2]));
    assert_eq!(totals("36 -> 50", 3), (true, "-6 50".to_owned(), vec![1, 2]));
}

#[test]
pub(crate) fn a_tie_fails_or_succeeds() {
    let tie = |caller_tie: &str| {
        let table = called(&format!("caller_tie = '{caller_tie}'"), "1 1 1 1", "0 0 2 2");
        (table.outcome().1, table.result().winners)
    };
    assert_eq!(tie("fails"), (vec!["9".to_owned(), "4".to_owned()], SeatSet::only(Seat::B)));
    assert_eq!(tie("succeeds"), (vec!["-1".to_owned(), "4".to_owned()], SeatSet::only(Seat::A)));
}

#[test]
pub(crate) fn a_call_is_felt_in_the_next_round_or_not() {
    let carry = |carry_over: bool, a: &str, b: &str| {
        let table = called(&format!("carry_over = {carry_over}\npeek = 'none'"), a, b);
        let mut game = Match::new(table.rules(), 2, Seat::A).unwrap();
        game.add(&table.result());
        let next = Stage::of("original", 2).with("peek = 'none'").setup(&game.setup()).deal();
        (game.setup().carry, next.row("a").split(' ').count())
    };
    let (none, only_a) = (SeatSet::EMPTY, SeatSet::only(Seat::A));
    assert_eq!(carry(true, LOW, HIGH), (CarryOver { extra_card: none, extra_peek: only_a }, 4));
    assert_eq!(carry(true, HIGH, LOW), (CarryOver { extra_card: only_a, extra_peek: none }, 5));
    assert_eq!(carry(false, LOW, HIGH), (CarryOver::default(), 4));
    assert_eq!(carry(false, HIGH, LOW), (CarryOver::default(), 4));
}

#[test]
pub(crate) fn a_match_ends_on_a_total_or_after_rounds() {
    // Each round adds twelve points to b's total.
    let result = called("", LOW, HIGH).result();
    assert!(!repeated("match_end = 'total(50)'", &result, 4).0);
    assert!(repeated("match_end = 'total(50)'", &result, 5).0);
    assert!(repeated("match_end = 'total(48)'", &result, 4).0);
    assert!(!repeated("match_end = 'rounds(7)'", &result, 6).0, "72 points do not end the match");
    assert!(repeated("match_end = 'rounds(7)'", &result, 7).0);
}

#[test]
pub(crate) fn the_fewest_or_the_most_win_a_match() {
    let result = called("", LOW, HIGH).result();
    let (_, totals, ranks) = repeated("best = 'fewest'", &result, 2);
    assert_eq!((totals, ranks), (vec![Score::points(-4), Score::points(24)], vec![1, 2]));
    assert_eq!(repeated("best = 'most'\nscore = 'share'", &result, 2).2, [2, 1], "the result still has the points");
}
