use cambio_core::rng::Key;
use cambio_core::{Action, Playing, RulesSpec};

use super::*;

/// The points and the score sentences of such a round.
fn called(lines: &str, succeeds: bool) -> ([i32; 2], Vec<String>) {
    let (points, result, rules) = called_result(lines, succeeds);
    (points, scores_in_words(&rules, &result))
}

/// Seat a calls as early as possible. Returns the points, the result and the rules of the first round in which the call
/// succeeds or fails as requested.
fn called_result(lines: &str, succeeds: bool) -> ([i32; 2], RoundResult, Rules) {
    let rules = RulesSpec::from_toml(lines).unwrap().validate().unwrap();
    for deal in 0.. {
        let mut playing = Playing::new(&rules, 2, Key::new(3, deal)).unwrap();
        while playing.rounds() == 0 {
            let choices = playing.turn().unwrap().view.choices();
            let wanted = [Action::Call, Action::Pass, Action::Draw, Action::Drop, Action::Skip];
            let action = wanted.into_iter().find(|&action| choices.contains(action)).or(choices.nth(0)).unwrap();
            playing.act(action).unwrap();
        }
        let result = playing.last_round().unwrap();
        // Skips ties, which have another sentence.
        if result.succeeded.contains(Seat::A) == succeeds && result.points()[0] != result.points()[1] {
            return ([result.points()[0], result.points()[1]], *result, rules);
        }
    }
    unreachable!("some deal has this outcome")
}

#[test]
fn a_score_is_explained_by_the_rules_it_follows_from() {
    let ([a, b], told) = called("base = 'original'", true);
    assert_eq!(told, [format!("a called and was lowest: {a} − 5 = {}", a - 5), format!("b {b} points")]);
    let ([a, _], told) = called("base = 'original'", false);
    assert_eq!(told[0], format!("a called, but was not lowest: {a} + 5 = {}", a + 5));
    let ([a, _], told) = called("base = 'original'\ncall_success = 'set(0)'", true);
    assert_eq!(told[0], format!("a called and was lowest: {a} points become 0"));
    let ([a, _], told) = called("base = 'original'\ncap = 'score(-99)'\ncall_failure = 'times(2)'", false);
    assert_eq!(told[0], format!("a called with more than -99 points: {a} × 2 = {}", 2 * a));
    let ([a, b], told) = called("base = 'classic'", true);
    let expected =
        [format!("a called and was lowest: {a} points, wins: score 1"), format!("b {b} points, no win: score 0")];
    assert_eq!(told, expected);
    let ([_, b], told) = called("base = 'original'\nlowest_bonus = 'set(0)'", false);
    assert_eq!(told[1], format!("b was lowest: {b} points become 0"));
}

#[test]
fn a_row_of_a_result_has_the_counted_points_and_a_remark() {
    let rows = |lines: &str, succeeds: bool| {
        let (points, result, rules) = called_result(lines, succeeds);
        (points, [Seat::A, Seat::B].map(|seat| counted_points(&rules, &result, seat)))
    };
    let ([a, b], rows_of_points) = rows("base = 'original'", true);
    let remark = format!("called and was lowest: {a} − 5 = {}", a - 5);
    assert_eq!(rows_of_points, [(a - 5, remark), (b, String::new())]);
    let ([a, b], rows_of_wins) = rows("base = 'classic'", false);
    assert_eq!(rows_of_wins, [(a, "called, but was not lowest".to_owned()), (b, String::new())]);
}

#[test]
fn house_rules_are_in_the_three_lines() {
    let fields = "penalty = 2\nfirst_call = 3\nreplaced_power = true\nlowest_bonus = 'set(0)'";
    let spec = RulesSpec::from_toml(&format!("base = 'original'\n{fields}")).unwrap();
    let [aim, turn, snap] = rules_in_short(&spec.validate().unwrap());
    assert!(aim.contains("you may call, but not before your turn 3. "), "{aim}");
    assert!(aim.contains("; if you are lowest without a call, 0 instead"), "{aim}");
    assert!(turn.contains(" The power of a replaced card may be used too."), "{turn}");
    assert!(snap.contains(" A wrong card costs 2 penalty cards, and so does"), "{snap}");
}

#[test]
fn every_preset_has_its_three_lines() {
    for preset in cambio_core::rules::PRESETS {
        let lines = rules_in_short(&Rules::preset(preset).unwrap());
        assert!(lines.iter().all(|line| line.ends_with('.') && line.len() < 440), "{lines:#?}");
    }
    let [aim, ..] = rules_in_short(&Rules::preset("original").unwrap());
    assert!(
        aim.contains(
            "; if you call and are lowest alone, 5 less; if you call and are not lowest alone, 5 more. When a total reaches 50,"
        ),
        "{aim}"
    );
    let [aim, ..] = rules_in_short(&Rules::preset("faessler").unwrap());
    assert!(aim.contains("you peek at one more card in the next round"), "{aim}");
    let [_, _, snap] = rules_in_short(&Rules::preset("mini-m0").unwrap());
    assert!(snap.ends_with('.'), "{snap}");
}
