use super::*;

#[test]
fn shares_are_written_as_decimals_and_read_back() {
    for winners in 1..=8 {
        let share = Score::share(winners);
        let value: Value = serde_json::from_str(&share.to_string()).unwrap();
        assert!(share.is(&value), "{share}");
        assert!(!Score::share(winners % 8 + 1).is(&value) || winners == winners % 8 + 1, "{share}");
    }
    assert_eq!(Score::share(3).to_string(), "0.3333333333333333");
    assert_eq!(Score::points(-2).to_string(), "-2");
    assert!(Score::share(3).is(&serde_json::json!(0.333_333_4)));
    assert!(!Score::share(3).is(&serde_json::json!(0.3333)));
    assert!(!Score::points(1).is(&serde_json::json!(2)));
    assert!(!Score::points(1).is(&serde_json::json!(true)));
}
