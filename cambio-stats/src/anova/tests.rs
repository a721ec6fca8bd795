use super::*;
use crate::resampling::{ResampleRng as _, stream};

/// Regression test: one seat wins most matches of each deal, as in a table of equal agents. Hotelling's test, which was
/// used before, rejects 14 % at four seats with 12 deals and 11 % at eight seats with 60, instead of 5 %.
#[test]
fn true_hypotheses_are_rejected_one_time_in_twenty() {
    let runs = crate::amount(4000, 40_000);
    let mut rng = stream(3, 12);
    for (seats, clusters) in [(2, 30_usize), (4, 12), (4, 60), (8, 12), (8, 60)] {
        let mut rejected = 0;
        for _ in 0..runs {
            let mut drawn = Matrix::zeros(clusters, seats);
            for deal in 0..clusters {
                let best = rng.index(seats);
                for _ in 0..seats {
                    let winner = if rng.index(10) < 7 { best } else { rng.index(seats) };
                    drawn[(deal, winner)] += 1.0 / seats as f64;
                }
            }
            let means: Vec<f64> = (0..seats).map(|seat| drawn.column(seat).sum() / clusters as f64).collect();
            let centred = Matrix::from_fn(clusters, seats, |row, column| drawn[(row, column)] - means[column]);
            let count = clusters as f64;
            let covariance = centred.transpose() * &centred / (count * (count - 1.0));
            rejected += u32::from(test(&means, &covariance, clusters as u64).is_some_and(|test| test.p < 0.05));
        }
        let share = f64::from(rejected) / f64::from(runs);
        let error = (0.05 * 0.95 / f64::from(runs)).sqrt();
        assert!(share > 0.02 && share < 0.055 + 3.0 * error, "{seats} seats, {clusters} deals: {share}");
    }
}
