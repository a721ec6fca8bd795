use super::*;
use crate::distributions::beta;
use crate::resampling::{ResampleRng as _, stream};
use crate::{Moments, Support};

#[test]
fn frequencies_under_a_hypothesis_have_its_mean() {
    let grid = [(0.0, 0.1), (0.25, 0.2), (0.5, 0.3), (0.75, 0.25), (1.0, 0.15)];
    let found = with_mean(&grid, 0.48).unwrap();
    assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    let mean: f64 = grid.iter().zip(&found).map(|((x, _), q)| x * q).sum();
    assert!((mean - 0.48).abs() < 1e-12);
}

#[test]
fn hypotheses_far_from_the_results_are_not_accepted() {
    let impossible = |first, second| log_likelihood_ratio(&[1, 2, 3], (first, second));
    assert!(impossible(0.5, 1.0).is_infinite() && impossible(0.5, 1.0) < 0.0);
    assert!(impossible(0.0, 0.5).is_infinite() && impossible(0.0, 0.5) > 0.0);
}

#[test]
fn a_clear_winner_is_accepted_and_a_clear_loser_rejected() {
    let means = (score_of_elo(0.0), score_of_elo(20.0));
    let verdict = |cells: &[usize]| {
        let mut test = Sprt::new(means, 5, 0.05, 0.05);
        (0..2000).find_map(|block| {
            test.add(cells[block % cells.len()]);
            Some(test.verdict()).filter(|verdict| *verdict != Verdict::Undecided)
        })
    };
    assert_eq!(verdict(&[2, 4, 3, 1, 4]), Some(Verdict::Second));
    assert_eq!(verdict(&[2, 0, 1, 3, 0]), Some(Verdict::First));
}

/// Reference: the values in fastchess's own tests of pentanomial ratios, and for the last two a solution of
/// fishtest's equations by another root finder.
#[test]
fn ratios_agree_with_fastchess_and_fishtest() {
    let means = |first, second| (score_of_elo(first), score_of_elo(second));
    for (counts, means, expected, by) in [
        ([223, 9863, 21279, 10037, 246], means(0.5, 2.5), -3.07, 0.01),
        ([871, 26175, 55983, 26678, 821], means(0.0, 2.0), -4.98, 0.01),
        ([10, 20, 50, 30, 15], means(0.0, 10.0), 0.784_601_267_708_662_3, 1e-9),
        ([0, 3, 50, 9, 1], means(0.0, 10.0), 1.569_803_226_861_084_9, 1e-9),
    ] {
        let found = log_likelihood_ratio(&counts, means);
        assert!((found - expected).abs() <= by * expected.abs().max(1.0), "{counts:?}: {found}, not {expected}");
    }
}

/// The smallest count that `runs` trials with this success probability exceed with a probability below 0.0005.
fn limit(runs: u64, probability: f64) -> u64 {
    let at_most = |count: u64| beta((runs - count) as f64, count as f64 + 1.0, 1.0 - probability, probability);
    (0..runs).find(|&count| at_most(count) > 0.9995).unwrap()
}

#[test]
fn wrong_verdicts_on_means_off_a_grid_are_as_rare_as_promised() {
    let runs = crate::amount(400, 20_000);
    for elo in [(0.0, 10.0), (0.0, 40.0), (-10.0, 30.0), (0.0, 200.0)] {
        let means = (score_of_elo(elo.0), score_of_elo(elo.1));
        let bounds = Sprt::new(means, 2, 0.05, 0.05);
        for second in [false, true] {
            let truth = if second { means.1 } else { means.0 };
            let mut wrong = 0;
            for run in 0..runs {
                let mut rng = stream(run, 78);
                let (mut clusters, mut sum, mut squares) = (0_u32, 0.0, 0.0);
                let verdict = loop {
                    // A win minus the luck that changed its probability.
                    let luck = 0.7 * (rng.uniform() - 0.5) * truth.min(1.0 - truth);
                    let x = if rng.uniform() < truth + luck { 1.0 } else { 0.0 } - luck;
                    clusters += 1;
                    (sum, squares) = (sum + x, squares + x * x);
                    // A look at every tenth cluster makes the test fast.
                    if clusters % 10 != 0 {
                        continue;
                    }
                    let (count, mean) = (f64::from(clusters), sum / f64::from(clusters));
                    let error = ((squares / count - mean * mean) / (count - 1.0)).max(0.0).sqrt();
                    let mean = Interval::new(mean, Some(error), clusters.into(), Support::MeanWithin(0.0, 1.0));
                    match bounds.verdict_at(clusters.into(), log_likelihood_ratio_of_mean(&mean, means)) {
                        Verdict::Undecided => {}
                        verdict => break verdict,
                    }
                };
                wrong += u64::from((verdict == Verdict::Second) != second);
            }
            assert!(wrong <= limit(runs, 0.05), "{wrong} of {runs} wrong, {elo:?}, second {second}");
        }
    }
}

/// Regression test: formerly the ratio of normal variables accepted the first hypothesis in 35 % of these tests. In 7 % of the
/// deals, one agent decides otherwise, mostly to its loss; the numbers are those of `heuristic` and
/// `heuristic(confusion=0.15)` without the luck of the cards.
#[test]
fn agents_that_play_nearly_alike_are_rarely_confused() {
    let runs = crate::amount(300, 4000);
    let unit = 1_000_000.0;
    // The score of a deal beyond one half, and its share of the deals.
    let deals = [(0.5, 0.0235), (0.2, 0.03), (-0.25, 0.0185)];
    let truth: f64 = 0.5 + deals.iter().map(|(beyond, share)| beyond * share).sum::<f64>();
    for (second, other) in [(true, truth - 0.0144), (false, truth + 0.0144)] {
        let means = if second { (other, truth) } else { (truth, other) };
        let bounds = Sprt::new(means, 2, 0.05, 0.05);
        let mut wrong = 0;
        for run in 0..runs {
            let mut rng = stream(run, 79);
            let mut scores = Moments::default();
            let verdict = loop {
                let mut left = rng.uniform();
                let beyond = deals.iter().find(|(_, share)| {
                    left -= share;
                    left < 0.0
                });
                scores.add(2, ((1.0 + 2.0 * beyond.map_or(0.0, |deal| deal.0)) * unit) as i64);
                let mean = scores.interval(unit, Support::MeanWithin(0.0, 1.0)).unwrap();
                match bounds.verdict_at(scores.clusters, log_likelihood_ratio_of_mean(&mean, means)) {
                    Verdict::Undecided => {}
                    verdict => break verdict,
                }
            };
            wrong += u64::from((verdict == Verdict::Second) != second);
        }
        assert!(wrong <= limit(runs, 0.05), "{wrong} of {runs} wrong, second {second}");
    }
}

#[test]
fn wrong_verdicts_are_as_rare_as_promised() {
    let runs = crate::amount(400, 5000);
    for (elo_0, elo_1) in [(0.0, 40.0), (-10.0, 30.0)] {
        let grid: Vec<(f64, f64)> =
            [0.06, 0.14, 0.5, 0.2, 0.1].iter().zip(0..).map(|(p, x)| (f64::from(x) / 4.0, *p)).collect();
        let means = (score_of_elo(elo_0), score_of_elo(elo_1));
        for second in [false, true] {
            let frequencies = with_mean(&grid, if second { means.1 } else { means.0 }).unwrap();
            let mut wrong = 0;
            for run in 0..runs {
                let mut rng = stream(run, 77);
                let mut test = Sprt::new(means, 5, 0.05, 0.05);
                let verdict = loop {
                    let mut left = rng.uniform();
                    let cell = frequencies.iter().position(|p| {
                        left -= p;
                        left < 0.0
                    });
                    test.add(cell.unwrap_or(4));
                    if test.verdict() != Verdict::Undecided {
                        break test.verdict();
                    }
                };
                wrong += u64::from((verdict == Verdict::Second) != second);
            }
            assert!(wrong <= limit(runs, 0.05), "{wrong} of {runs} wrong, {means:?}, second {second}");
        }
    }
}
