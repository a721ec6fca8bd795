use super::*;
use crate::moments::Moments;

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected.abs()
}

#[test]
fn where_all_clusters_agree_the_variance_is_exactly_0() {
    let (mut moments, mut joint) = (Moments::default(), Joint::new(2));
    for _ in 0..1000 {
        moments.add(3, 7);
        joint.add(&[3, 3], &[7, 5]);
    }
    let interval = moments.interval(14.0 / 3.0, Support::Line).unwrap();
    assert_eq!((interval.mean, interval.error), (0.5, Some(0.0)));
    let (difference, _) = joint.difference(0, 1, 1.0, Support::Line).unwrap();
    assert_eq!(difference.error, Some(0.0));
}

#[test]
fn large_units_give_the_same_interval_as_small_ones() {
    let (mut small, mut large) = (Joint::new(2), Joint::new(2));
    for (one, other) in [(31_i64, 12_i64), (4, 40), (17, 22), (25, 11), (2, 29)] {
        small.add(&[1, 1], &[one, other]);
        large.add(&[1, 1], &[one * 1_000_000_000, other * 1_000_000_000]);
    }
    let (small, large) =
        (small.difference(0, 1, 1.0, Support::Line).unwrap().0, large.difference(0, 1, 1e9, Support::Line).unwrap().0);
    assert!(close(large.mean, small.mean) && close(large.error.unwrap(), small.error.unwrap()), "{large:?}");
}

#[test]
fn a_paired_difference_is_that_of_the_clusters() {
    let clusters = [(3_i64, 1_i64), (4, 4), (0, 2), (5, 1), (2, 2), (4, 1)];
    let mut joint = Joint::new(2);
    for (a, b) in clusters {
        joint.add(&[2, 2], &[a, b]);
    }
    let differences: Vec<f64> = clusters.iter().map(|(a, b)| (a - b) as f64 / 2.0).collect();
    let mean = differences.iter().sum::<f64>() / 6.0;
    let variance = differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / 5.0 / 6.0;
    let (interval, efficiency) = joint.difference(0, 1, 1.0, Support::Line).unwrap();
    assert!(close(interval.mean, mean) && close(interval.error.unwrap(), variance.sqrt()));
    assert!(efficiency.unwrap() < 1.0);
}
