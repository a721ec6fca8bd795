use super::*;
use crate::resampling::{ResampleRng as _, stream};
use crate::{LEVEL, Moments, Support};

#[test]
fn a_difference_of_independent_shares_is_covered() {
    let runs = crate::amount(2000, 20_000);
    // A share near its floor, and a share of one half with fewer clusters.
    for (first, second) in [((3, 30), (50, 30)), ((3, 100), (50, 40)), ((50, 60), (45, 60))] {
        let mut held = 0;
        let mut rng = stream(8, first.1);
        for _ in 0..runs {
            let [one, other] = [first, second].map(|(percent, clusters)| {
                let mut moments = Moments::default();
                for _ in 0..clusters {
                    moments.add(4, (0..4).filter(|_| rng.index(100) < percent).count() as i64);
                }
                moments.interval(1.0, Support::Share).unwrap()
            });
            let truth = (first.0 as f64 - second.0 as f64) / 100.0;
            let (low, high) = independent_difference(&one, &other, LEVEL).unwrap();
            held += u32::from(low <= truth && truth <= high);
        }
        let share = f64::from(held) / f64::from(runs);
        let error = (0.05 * 0.95 / f64::from(runs)).sqrt();
        assert!((0.945 - 3.0 * error..0.975).contains(&share), "{first:?}, {second:?}: {share}");
    }
}
