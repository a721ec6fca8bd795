use super::*;
use crate::resampling::{ResampleRng as _, stream};
use crate::simultaneous::{Contrasts, SimultaneousIntervals};
use crate::{Joint, Matrix, Support};

/// Regression test: formerly a plan was for the interval of one pair alone, and the actual power was 66 %.
#[test]
fn plans_for_all_pairs_have_the_stated_power() {
    let runs = crate::amount(120, 1000);
    let alpha = SimultaneousIntervals::new(&Matrix::identity(4, 4), Contrasts::Pairs, &mut stream(1, 5)).unwrap();
    let alpha = alpha.alpha_at(0.95);
    // Four agents with deviation 1, so that a difference has √2; the first is better by 0.8.
    let found = |clusters: u64| {
        let mut found = 0;
        for run in 0..runs {
            let mut rng = stream(run, 6);
            let mut joint = Joint::new(4);
            for _ in 0..clusters {
                let mut score = |mean: f64| ((mean + rng.normal()) * 1e6).round() as i64;
                joint.add(&[1; 4], &[score(0.8), score(0.0), score(0.0), score(0.0)]);
            }
            let covariance = Matrix::from_fn(4, 4, |i, j| joint.covariance(i, j).unwrap() / 1e12);
            let together = SimultaneousIntervals::new(&covariance, Contrasts::Pairs, &mut rng).unwrap();
            let (difference, _) = joint.difference(0, 1, 1e6, Support::Line).unwrap();
            found += u32::from(together.ends(&difference).unwrap().0 > 0.0);
        }
        f64::from(found) / runs as f64
    };
    let (alone, together) =
        (clusters_needed(0.8, 2_f64.sqrt(), 0.05, 0.8), clusters_needed(0.8, 2_f64.sqrt(), alpha, 0.8));
    let error = (0.8 * 0.2 / runs as f64).sqrt();
    let (by_alone, by_together) = (found(alone), found(together));
    assert!((by_together - 0.8).abs() < 3.5 * error, "{together}: {by_together}");
    assert!(by_alone < by_together, "{alone}: {by_alone}");
}

/// Reference: `statsmodels.stats.power.TTestPower().solve_power`, rounded up: 786.8 at an effect of 0.1 deviations,
/// 33.4 at 0.5, 9.94 at 1, 5.70 at 1.5, 4.22 at 2, 3.53 at 2.5, 3.14 at 3.
#[test]
fn plans_agree_with_the_power_of_the_t_test() {
    for (effect, clusters) in [(0.1, 787), (0.5, 34), (1.0, 10), (1.5, 6), (2.0, 5), (2.5, 4), (3.0, 4)] {
        assert_eq!(clusters_needed(effect, 1.0, 0.05, 0.8), clusters, "{effect}");
    }
    // (1.959964 + 0.841621)² · 4000² = 125,582,061; the other plans are at the limits.
    assert!(clusters_needed(1e-4, 0.4, 0.05, 0.8).abs_diff(125_582_063) < 1000);
    assert!(clusters_needed(1e-300, 1.0, 0.05, 0.8) == u64::MAX && clusters_needed(0.01, 0.4, 0.9, 0.01) == 2);
}
