use super::*;

#[test]
fn budgets_of_each_kind_are_halved() {
    let halves = |budget: Budget| {
        let mut countdown = budget.begin();
        let (mut count, mut halves) = (0, Vec::new());
        while let Some(number) = countdown.next() {
            count += 1;
            halves.extend(countdown.is_halfway(number).then_some(number));
        }
        (count, halves)
    };
    assert_eq!(halves(Budget::new(7, TimeParams::default())), (7, vec![3]));
    let timed = Budget::new(7, TimeParams { time_ms: Some(20) });
    assert_eq!(timed.most_iterations(), 40_000);
    // On a busy machine, the clock may skip the second half of the time budget. Then the test retries.
    let whole = (0..100).map(|_| halves(timed)).find(|(_, half)| !half.is_empty());
    let (count, half) = whole.expect("one of a hundred budgets was not interrupted");
    assert!(count > 1000 && half.len() == 1 && half[0] < count, "{count} {half:?}");
}
