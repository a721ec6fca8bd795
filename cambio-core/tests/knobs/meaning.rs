//! Knobs that contradict each other.

use cambio_core::RulesSpec;
use serde_json::json;

#[test]
fn rules_that_turn_the_game_round_are_refused() {
    for (file, sentence) in [
        (
            "base = 'classic'\ncall_failure = 10\nscore = 'points'",
            "field `best` must be \"fewest\" with `score = \"points\"`, found \"most\"",
        ),
        (
            "base = 'original'\nbest = 'most'",
            "field `best` must be \"fewest\" with `score = \"points\"`, found \"most\"",
        ),
        (
            "base = 'original'\nscore = 'share'",
            "field `best` must be \"most\" with `score = \"share\"`, found \"fewest\"",
        ),
        (
            "base = 'mini-m1'\nbest = 'fewest'",
            "field `best` must be \"most\" with `score = \"win_loss\"`, found \"fewest\"",
        ),
        (
            "base = 'original'\ncall_success = 5\ncall_failure = -5",
            "field `call_success` must be better than `call_failure = -5`, because the fewest points win, found 5",
        ),
        (
            "base = 'faessler'\ncall_success = 'times(2)'",
            "field `call_success` must be better than `call_failure = 0`, because the fewest points win, found \"times(2)\"",
        ),
    ] {
        assert_eq!(RulesSpec::from_toml(file).unwrap_err().to_string(), sentence, "{file}");
    }
    // A whole rule file is checked too, but the rules of a record can be read.
    let printed = RulesSpec::preset("classic").unwrap().to_toml().replace("score = \"share\"", "score = \"points\"");
    assert!(RulesSpec::from_toml(&printed).unwrap_err().to_string().starts_with("field `best` must be"));
    let mut table = RulesSpec::preset("classic").unwrap().to_table();
    table["score"] = json!("points");
    assert!(RulesSpec::from_json(&table).and_then(RulesSpec::validate).is_ok());
}
