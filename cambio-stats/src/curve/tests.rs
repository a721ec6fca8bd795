use super::*;
use crate::resampling::{ResampleRng as _, stream};

#[test]
fn the_best_of_planted_means_is_distinguished() {
    let mut rng = stream(5, 5);
    let means = [0.40, 0.50, 0.51, 0.42];
    let mut scores = vec![Vec::new(); 4];
    for _ in 0..400 {
        let shared = rng.normal();
        for (scores, mean) in scores.iter_mut().zip(means) {
            scores.push(mean + 0.3 * shared + 0.1 * rng.normal());
        }
    }
    let curve = estimates(&scores, 1.0, Support::Line, &mut stream(1, 4 << 16));
    let among: Vec<bool> = curve.iter().map(|point| point.among_best.unwrap()).collect();
    assert_eq!(among, [false, true, true, false]);
    for point in &curve {
        let (low, high) = point.band.unwrap();
        assert!(low < point.interval.low().unwrap() && point.interval.high().unwrap() < high);
    }
}

/// Regression test: formerly the rounding error of the mean was an error of 10⁻¹⁸, and the interval had no visible width.
#[test]
fn equal_scores_have_no_variance() {
    let found = estimates(&[vec![0.1; 10], vec![0.3; 10]], 1.0, Support::Line, &mut stream(1, 4 << 16));
    assert!(found.iter().all(|own| (own.interval.error, own.interval.low(), own.band) == (Some(0.0), None, None)));
}

#[test]
fn dropped_candidates_are_compared_on_common_clusters() {
    let noise = |cluster: u64, number: u64| libm::sin((cluster * 7 + number * 13) as f64);
    let scores = |number: u64, mean: f64, count: u64| (0..count).map(|cluster| mean + noise(cluster, number)).collect();
    let scores: Vec<Vec<f64>> =
        vec![scores(0, -2.0, 40), scores(1, 0.0, 80), scores(2, 0.05, 160), scores(3, 0.0, 160)];
    let mut rng = crate::resampling::stream(1, 0);
    let found = estimates(&scores, 1.0, Support::Line, &mut rng);
    let level: Vec<Option<bool>> = found.iter().map(|candidate| candidate.among_best).collect();
    assert_eq!(level, [Some(false), Some(true), Some(true), Some(true)]);
    assert!(found.iter().all(|candidate| candidate.band.is_none()));
}

/// The limit of t with 9 degrees of freedom is 1.83 for one comparison, and 2.26 for two.
#[test]
fn dropped_candidates_are_corrected_for_their_number() {
    let behind = |t: f64| -> Vec<f64> { (0..10).map(|cluster| [1.0, -1.0][cluster % 2] - t / 3.0).collect() };
    let level = |scores: &[Vec<f64>]| {
        let found = estimates(scores, 1.0, Support::Line, &mut stream(1, 0));
        found.iter().map(|candidate| candidate.among_best.unwrap()).collect::<Vec<_>>()
    };
    let leader = vec![0.0; 20];
    assert_eq!(level(&[leader.clone(), behind(1.7)]), [true, true]);
    assert_eq!(level(&[leader.clone(), behind(2.0)]), [true, false]);
    assert_eq!(level(&[leader, behind(2.0), behind(2.4)]), [true, true, false]);
}

#[test]
fn a_comparison_needs_two_candidates_with_two_clusters() {
    let found = |scores: &[Vec<f64>]| estimates(scores, 1.0, Support::Line, &mut stream(1, 4 << 16))[0].among_best;
    assert_eq!((found(&[vec![0.1, 0.4]]), found(&[vec![0.1], vec![0.5]])), (None, None));
    assert_eq!(found(&[vec![0.1, 0.4], vec![0.5, 0.1]]), Some(true));
}
