use super::*;

#[test]
fn images_and_waves_say_the_same_and_far_means_are_estimated() {
    for drift in [-0.1, 0.0, 0.07] {
        let walk = BrownianMotion { drift, variance: 0.1, below: 2.9, above: 2.2 };
        // Just before and after the time at which the code switches to the other series.
        let time = 0.5 * walk.width() * walk.width() / walk.variance;
        let (before, after) = (walk.above_by(time * (1.0 - 1e-9)), walk.above_by(time * (1.0 + 1e-9)));
        assert!((before - after).abs() < 1e-8, "{drift}: {before} {after}");
    }
    let test = StoppedTest {
        means: (0.4928, 0.5072),
        bounds: (-2.944, 2.944),
        mean: 0.246,
        deviation: 0.308,
        clusters: 128,
        ratio: -2.95,
    };
    let found = test.estimate().unwrap();
    assert!((found.median - 0.246).abs() < 0.02 && found.low < 0.22 && found.high > 0.27, "{found:?}");
}
use crate::resampling::{ResampleRng as _, stream};
use crate::sprt::{Hypotheses, Sprt, Verdict};

#[test]
fn all_there_is_adds_up_to_1() {
    for (drift, time) in [(0.0, 30.0), (0.05, 80.0), (-0.2, 10.0), (0.3, 400.0)] {
        let walk = BrownianMotion { drift, variance: 0.1, below: 2.9, above: 2.2 };
        let all = walk.above_by(time) + walk.mirrored().above_by(time) + walk.between(-2.9, time);
        // The density between the bounds is integrated in 200 steps.
        assert!((all - 1.0).abs() < 1e-6, "{drift} {time}: {all}");
    }
    // Without drift, the probability of each bound is proportional to the distance of the other.
    let walk = BrownianMotion { drift: 0.0, variance: 0.1, below: 1.0, above: 3.0 };
    assert!((walk.above_by(1e6) - 0.25).abs() < 1e-12);
}

/// Simulated tests: the estimate is too high as often as too low, and the coverage of the interval is 95 %. The sample
/// mean is biased.
#[test]
fn stopping_does_not_bias_the_estimate() {
    let runs = crate::amount(400, 4000);
    // The last mean is far from both hypotheses.
    for (share, most) in [(0.50, 4000), (0.53, 4000), (0.515, 400), (0.3, 4000)] {
        let (mut above, mut held, mut mean_held) = (0, 0, 0);
        for run in 0..runs {
            let mut rng = stream(run, 14);
            let mut test = Sprt::new(Hypotheses::Mean(0.5, 0.53), 3, 0.05, 0.05);
            let (mut sum, mut squares) = (0.0, 0.0);
            let mut clusters = 0;
            while test.verdict() == Verdict::Undecided && clusters < most {
                let won = usize::from(rng.uniform() < share) + usize::from(rng.uniform() < share);
                test.add(won);
                clusters += 1;
                sum += won as f64 / 2.0;
                squares += (won as f64 / 2.0).powi(2);
            }
            let mean = sum / clusters as f64;
            let deviation = (squares / clusters as f64 - mean * mean).sqrt();
            let stopped = StoppedTest {
                means: (0.5, 0.53),
                bounds: test.bounds(),
                mean,
                deviation,
                clusters,
                ratio: test.ratio(),
            };
            let found = stopped.estimate().unwrap();
            above += u32::from(found.median > share);
            held += u32::from(found.low <= share && share <= found.high);
            let half = 1.96 * deviation / (clusters as f64).sqrt();
            mean_held += u32::from((mean - share).abs() <= half);
        }
        let of = |count: u32| f64::from(count) / runs as f64;
        let error = |p: f64| (p * (1.0 - p) / runs as f64).sqrt();
        // The tolerance covers the overshoot of about half a deal, which the estimate ignores.
        assert!((of(above) - 0.5).abs() < 0.05 + 3.5 * error(0.5), "{share}: {}", of(above));
        assert!((of(held) - 0.95).abs() < 0.01 + 3.5 * error(0.05), "{share}: {}, alone {}", of(held), of(mean_held));
    }
}
