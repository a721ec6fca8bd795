use super::*;
use crate::resampling::{ResampleRng as _, stream};

#[test]
fn anytime_bounds_mislead_at_most_one_time_in_twenty() {
    let runs = crate::amount(400, 4000);
    let (mut fooled, mut by_t) = (0, 0);
    for run in 0..runs {
        let mut rng = stream(run, 13);
        let (mut sum, mut squares) = (0.0, 0.0);
        let (mut is_fooled, mut is_fooled_by_t) = (false, false);
        for clusters in 1..=3000_u64 {
            // The score of a deal with two games between equal agents.
            let score = [0.0, 0.5, 0.5, 1.0][rng.index(4)] - 0.5;
            sum += score;
            squares += score * score;
            if clusters >= 30 {
                let count = clusters as f64;
                let error = ((squares - sum * sum / count) / (count - 1.0) / count).sqrt();
                is_fooled |= (sum / count).abs() > factor(clusters) * error;
                is_fooled_by_t |= (sum / count).abs() > 1.96 * error;
            }
        }
        fooled += u32::from(is_fooled);
        by_t += u32::from(is_fooled_by_t);
    }
    let share = |count: u32| f64::from(count) / runs as f64;
    assert!(share(fooled) < 0.05 + 3.5 * (0.05 * 0.95 / runs as f64).sqrt(), "{}", share(fooled));
    // An interval for a single look fails far more often if it is checked at every cluster.
    assert!(share(by_t) > 0.3, "{}", share(by_t));
}
