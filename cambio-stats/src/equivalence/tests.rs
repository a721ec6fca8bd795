use super::*;
use crate::resampling::{ResampleRng as _, stream};
use crate::{Moments, Support, t_quantile};

/// The level of each of the two tests.
const ALPHA: f64 = 0.05;

#[test]
fn equivalence_agrees_with_the_90_percent_interval() {
    let mut rng = stream(6, 1);
    for support in [Support::Line, Support::Difference] {
        for _ in 0..2000 {
            let interval = Interval::new(0.1 * rng.normal(), Some(0.1 * rng.uniform()), 40, support);
            let (low, high) = interval.ends_at(t_quantile(1.0 - ALPHA, interval.freedom())).unwrap();
            let is_inside = low > -0.1 && high < 0.1;
            assert_eq!(p_value(&interval, 0.1).unwrap() < ALPHA, is_inside, "{interval:?}");
        }
    }
    assert_eq!(p_value(&Interval::new(0.0, None, 1, Support::Line), 0.1), None);
}

/// The mean of whole results from −2 to 2, in halves, is at the margin or beyond it.
#[test]
fn equivalence_is_claimed_once_in_twenty_at_the_margin() {
    let runs = crate::amount(1000, 20_000);
    let mut rng = stream(6, 2);
    for (mean, clusters) in [(0.1, 100), (-0.1, 100), (0.1, 1000), (0.15, 400), (0.0, 1000)] {
        let mut claimed = 0;
        for _ in 0..runs {
            let mut moments = Moments::default();
            for _ in 0..clusters {
                let draw = || if rng.uniform() < f64::midpoint(1.0, mean) { 1 } else { -1 };
                let results: Vec<i64> = std::iter::repeat_with(draw).take(2).collect();
                moments.add(2, results.iter().sum());
            }
            let interval = moments.interval(1.0, Support::Difference).unwrap();
            claimed += u32::from(p_value(&interval, 0.1).unwrap() < ALPHA);
        }
        let share = f64::from(claimed) / f64::from(runs);
        println!("mean {mean}, {clusters} clusters: {share:.4}");
        let most = ALPHA + 3.5 * (ALPHA * (1.0 - ALPHA) / f64::from(runs)).sqrt();
        match mean {
            0.0 => assert!(share > 0.8, "{share}"),
            _ => assert!(share < most + 0.005, "mean {mean}, {clusters} clusters: {share}"),
        }
    }
}
