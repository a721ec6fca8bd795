use super::*;

#[test]
fn budget_is_found_for_linear_and_noisy_times() {
    for (fixed, each, goal) in [(0.0, 1e-6, 1e-3), (2e-4, 3e-6, 5e-3), (9e-4, 1e-7, 1e-3), (1e-6, 5e-6, 0.2)] {
        let mut count = 0;
        let time = |value: i64| {
            count += 1;
            Ok((fixed + value as f64 * each) * if value % 2 == 0 { 1.02 } else { 0.98 })
        };
        let (value, seconds) = budget(&(1..=1_000_000), goal, time).unwrap();
        assert!((seconds / goal - 1.0).abs() <= TOLERANCE, "{value}: {seconds} instead of {goal}");
        assert!(count <= MAX_MEASUREMENTS, "{count} measurements");
    }
    let error = budget(&(1..=100), 1e-3, |value| Ok(value as f64 * 1e-6)).unwrap_err().to_string();
    assert!(error.starts_with("a decision takes 100 µs with the highest value 100, which is shorter"), "{error}");
    let error = budget(&(1..=100), 1e-6, |value| Ok(value as f64 * 1e-5)).unwrap_err().to_string();
    assert!(error.contains("10 µs with the lowest value 1, which is longer than 1.0 µs"), "{error}");
}

#[test]
fn question_mark_replaces_a_whole_number() {
    let roster = cambio_agents::roster();
    let read = |spec: &str| Search::read(spec, &roster);
    let Ok(Search::Budget { spec, range }) = read("lookahead(proposals=200, worlds=?)") else { panic!() };
    assert_eq!((spec.as_str(), range), ("lookahead(worlds=?,proposals=200)", 1..=100_000));
    assert!(matches!(read("greedy"), Ok(Search::Fixed(spec)) if spec == "greedy"));
    for (spec, error) in [
        ("rollout(epsilon=?)", "must have one question mark, in place of a whole number"),
        ("rollout(n=?,leaf=?)", "must have one question mark"),
        ("rollout(m=?)", "agent `rollout`"),
        ("rolout(n=?)", "there is no agent `rolout`"),
        ("rollout(n=?", "is not an agent spec"),
    ] {
        assert!(read(spec).unwrap_err().contains(error), "{spec}: {:?}", read(spec));
    }
}
