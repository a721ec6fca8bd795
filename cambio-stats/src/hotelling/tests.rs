use super::*;
use crate::resampling::{ResampleRng as _, stream};

/// Regression test: the chi-square limit, which was used before, rejects 22 % here instead of 5 %.
#[test]
fn one_in_twenty_true_hypotheses_is_rejected() {
    let runs = crate::amount(2000, 10_000);
    let mut rng = stream(3, 12);
    for (q, clusters) in [(3, 12_usize), (7, 12), (3, 60)] {
        let mut rejected = 0;
        for _ in 0..runs {
            let drawn = Matrix::from_fn(clusters, q, |_, _| rng.normal());
            let means: Vec<f64> = (0..q).map(|column| drawn.column(column).sum() / clusters as f64).collect();
            let centred = Matrix::from_fn(clusters, q, |row, column| drawn[(row, column)] - means[column]);
            let count = clusters as f64;
            let covariance = centred.transpose() * &centred / (count * (count - 1.0));
            rejected += u32::from(test(&means, &covariance, clusters as u64).unwrap().p < 0.05);
        }
        let share = f64::from(rejected) / f64::from(runs);
        let error = (0.05 * 0.95 / f64::from(runs)).sqrt();
        assert!((share - 0.05).abs() < 3.5 * error, "{q} means, {clusters} clusters: {share}");
    }
}
