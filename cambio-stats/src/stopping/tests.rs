use super::*;

#[test]
fn image_and_wave_series_agree() {
    for drift in [-0.1, 0.0, 0.07] {
        let walk = BrownianMotion { drift, variance: 0.1, below: 2.9, above: 2.2 };
        // Just before and after the time at which the code switches to the other series.
        let time = 0.5 * walk.width() * walk.width() / walk.variance;
        let (before, after) = (walk.above_by(time * (1.0 - 1e-9)), walk.above_by(time * (1.0 + 1e-9)));
        assert!((before - after).abs() < 1e-8, "{drift}: {before} {after}");
    }
    let test = StoppedTest {
        steps: Steps::of_normal(0.246, 0.308, (0.4928, 0.5072)),
        bounds: (-2.944, 2.944),
        mean: 0.246,
        clusters: 128,
        first: 30,
        ratio: -2.95,
    };
    assert_eq!(test.estimate(), None);
}
use crate::resampling::{ResampleRng as _, stream};
use crate::sprt::{FIRST_LOOK, Sprt, Verdict, score_of_elo};
use crate::{Moments, Support};

#[test]
fn probabilities_of_stopping_add_up_to_1() {
    for (drift, time) in [(0.0, 30.0), (0.05, 80.0), (-0.2, 10.0), (0.01, 200.0), (0.3, 400.0)] {
        let walk = BrownianMotion { drift, variance: 0.1, below: 2.9, above: 2.2 };
        let all = walk.above_by(time) + walk.mirrored().above_by(time) + walk.between(-2.9, time);
        // The density between the bounds is integrated in 200 steps.
        assert!((all - 1.0).abs() < 1e-6, "{drift} {time}: {all}");
    }
    // Without drift, the probability of each bound is proportional to the distance of the other.
    let walk = BrownianMotion { drift: 0.0, variance: 0.1, below: 1.0, above: 3.0 };
    assert!((walk.above_by(1e6) - 0.25).abs() < 1e-12);
}

#[test]
fn a_mirrored_test_has_the_mirrored_estimate() {
    let steps = Steps::of_normal(0.5321, 0.3, (0.5, 0.52));
    let test = StoppedTest { steps, bounds: (-2.94, 2.94), mean: 0.5321, clusters: 600, first: 30, ratio: 2.95 };
    let mirrored = StoppedTest { mean: 1.0 - test.mean, ratio: -test.ratio, ..test };
    let (found, other) = (test.estimate().unwrap(), mirrored.estimate().unwrap());
    for (one, other) in [(found.median, other.median), (found.low, other.high), (found.high, other.low)] {
        assert!((one + other - 1.0).abs() < 1e-9, "{one} {other}");
    }
}

/// Simulated tests of two games per deal: the estimate is too high as often as too low, and the coverage of the interval is
/// 95 %, for narrow and for wide hypotheses. The coverage of the usual interval of the sample mean is lower.
#[test]
fn stopping_does_not_bias_the_estimate() {
    let runs = crate::amount(100, 4000);
    // The hypotheses in Elo, the true share of wins, and the most clusters. Without `CAMBIO_FULL=1`, every second row runs. Most tests of wide hypotheses stop at the first look.
    let rows = [
        ((0.0, 20.0), 0.50, 4000),
        ((0.0, 20.0), 0.53, 4000),
        ((0.0, 20.0), 0.515, 400),
        // Far from both hypotheses.
        ((0.0, 20.0), 0.3, 4000),
        ((0.0, 20.0), 0.43, 4000),
        ((0.0, 50.0), 0.536, 4000),
        ((0.0, 100.0), 0.5, 4000),
        ((0.0, 100.0), 0.57, 4000),
        ((-100.0, 100.0), 0.5, 4000),
        ((0.0, 200.0), 0.5, 4000),
        ((0.0, 200.0), 0.64, 4000),
        ((0.0, 200.0), 0.76, 4000),
        ((0.0, 400.0), 0.8, 4000),
        // Hypotheses far from one half, whose scores are skewed.
        ((338.0, 398.0), 0.875, 4000),
        ((338.0, 398.0), 0.9, 4000),
        ((150.0, 200.0), 0.72, 4000),
        ((250.0, 300.0), 0.85, 4000),
    ];
    let check = |(elo, share, most): ((f64, f64), f64, u64)| {
        let means = (score_of_elo(elo.0), score_of_elo(elo.1));
        let (mut above, mut held, mut mean_held) = (0, 0, 0);
        for run in 0..runs {
            let mut rng = stream(run, 14);
            let mut test = Sprt::new(means, 3, 0.05, 0.05);
            let (mut scores, mut clusters) = (Moments::default(), 0);
            while test.verdict() == Verdict::Undecided && clusters < most {
                let won = usize::from(rng.uniform() < share) + usize::from(rng.uniform() < share);
                test.add(won);
                scores.add(2, won as i64);
                clusters += 1;
            }
            let score = scores.interval(1.0, Support::Share).unwrap();
            let (mean, ends) = (score.mean, (score.low().unwrap(), score.high().unwrap()));
            let (bounds, ratio, steps) = (test.bounds(), test.ratio(), test.steps().unwrap());
            let stopped = StoppedTest { steps, bounds, mean, clusters, first: FIRST_LOOK, ratio };
            let usual = MedianEstimate { median: mean, low: ends.0, high: ends.1 };
            let found = if clusters <= FIRST_LOOK { usual } else { stopped.estimate().unwrap_or(usual) };
            above += u32::from(found.median > share);
            held += u32::from(found.low <= share && share <= found.high);
            mean_held += u32::from(ends.0 <= share && share <= ends.1);
        }
        let of = |count: u32| f64::from(count) / runs as f64;
        let error = |p: f64| (p * (1.0 - p) / runs as f64).sqrt();
        let biased = (of(above) - 0.5).abs() > 0.05 + 3.5 * error(0.5);
        let uncovered = (of(held) - 0.95).abs() > 0.015 + 3.5 * error(0.05);
        let (above, held, usual) = (of(above), of(held), of(mean_held));
        (biased || uncovered)
            .then(|| format!("{elo:?} {share}: too high in {above}, covered in {held}, usual interval {usual}"))
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let rows = rows.into_iter().step_by(crate::amount(2, 1));
        let checked: Vec<_> = rows.map(|row| scope.spawn(move || check(row))).collect();
        checked.into_iter().filter_map(|row| row.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
}
