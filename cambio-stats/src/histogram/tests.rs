use super::*;

#[test]
fn histograms_count_in_any_order() {
    let values = [3, -2, 7, 3, 3, 0, 7, -2, 3, 12];
    let (mut counted, mut backwards) = (Histogram::default(), Histogram::default());
    for &value in &values {
        counted.add(value);
    }
    for &value in values.iter().rev() {
        backwards.add(value);
    }
    assert_eq!(counted, backwards);
    let found: Vec<(i64, u64)> = counted.iter().filter(|(_, count)| *count > 0).collect();
    assert_eq!(found, [(-2, 2), (0, 1), (3, 4), (7, 2), (12, 1)]);
    assert_eq!(counted.total(), 10);
    // The values are -2 -2 0 3 3 3 3 7 7 12.
    for (share, value) in [(0.0, -2), (0.2, -2), (0.25, 0), (0.5, 3), (0.7, 3), (0.75, 7), (0.9, 7), (1.0, 12)] {
        assert_eq!(counted.quantile(share), Some(value), "{share}");
    }
    assert_eq!(Histogram::default().quantile(0.5), None);
}
