use super::*;

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected.abs()
}

/// Reference: `scipy.stats` 1.16, `t.interval(0.95, 4, mean, sem)` of the five cluster means.
#[test]
fn equal_clusters_give_the_t_interval_of_their_means() {
    let mut moments = Moments::default();
    for sum in [2, 4, 1, 3, 0] {
        moments.add(2, sum);
    }
    let interval = moments.interval(2.0, Support::Line).unwrap();
    assert!(close(interval.mean, 0.5));
    // Means 0.5, 1, 0.25, 0.75, 0: standard error sqrt(0.15625 / 5), quantile 2.7764451051977934.
    assert!(close(interval.half_width().unwrap(), 2.776_445_105_197_793_4 * (0.156_25_f64 / 5.0).sqrt()));
}

#[test]
fn one_cluster_has_a_mean_and_no_interval() {
    let mut moments = Moments::default();
    assert_eq!(moments.interval(1.0, Support::Line), None);
    moments.add(4, 1);
    let interval = moments.interval(1.0, Support::Line).unwrap();
    assert_eq!((interval.mean, interval.half_width()), (0.25, None));
}
