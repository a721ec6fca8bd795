use super::*;

#[test]
fn budget_is_found_for_linear_and_noisy_times() {
    for (fixed, each, goal) in [(0.0, 1e-6, 1e-3), (2e-4, 3e-6, 5e-3), (9e-4, 1e-7, 1e-3), (1e-6, 5e-6, 0.2)] {
        let mut count = 0;
        let time = |value: i64| {
            count += 1;
            Ok((fixed + value as f64 * each) * if value % 2 == 0 { 1.02 } else { 0.98 })
        };
        let (value, seconds) = budget(1_000_000, goal, time).unwrap();
        assert!((seconds / goal - 1.0).abs() <= TOLERANCE, "{value}: {seconds} instead of {goal}");
        assert!(count <= MAX_MEASUREMENTS, "{count} measurements");
    }
    let error = budget(100, 1e-3, |value| Ok(value as f64 * 1e-6)).unwrap_err().to_string();
    assert!(
        error.starts_with("the time nearest to 1.0 ms per decision is 100 µs, with the value 100; choose"),
        "{error}"
    );
    let error = budget(100, 1e-6, |value| Ok(value as f64 * 1e-5)).unwrap_err().to_string();
    assert!(error.contains(" 1.0 µs per decision is 10 µs, with the value 1; "), "{error}");
}

#[test]
fn question_mark_replaces_a_whole_number() {
    let (roster, executor) = (cambio_agents::roster(), Executor::new(1).unwrap());
    let experiment = Experiment::at("classic", 2, &[""]);
    for (spec, error) in [
        ("rollout(epsilon=?)", "must have its question mark in place of a whole number"),
        ("rollout(n=?,leaf=?)", "parameter `leaf`"),
        ("rollout(m=?)", "agent `rollout`"),
        ("rolout(n=?)", "there is no agent `rolout`"),
        ("rollout(n=?", "is not an agent spec"),
    ] {
        let found = equal_time(spec, 1e-3, &experiment, &roster, &executor).unwrap_err().to_string();
        assert!(found.contains(error), "{spec}: {found}");
    }
}
