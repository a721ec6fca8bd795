//! Intervals of means: one method for each kind of quantity.

use crate::distributions::{t_p_value, t_quantile};

/// The confidence level of the intervals.
pub const LEVEL: f64 = 0.95;

/// The range of a result. It selects the method for the interval of the mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Support {
    /// Any number: Student's t interval.
    #[default]
    Line,
    /// From 0 to 1, such as a win share: the score interval.
    Share,
    /// From −1 to 1, such as a difference of two shares: the score interval of (1 + difference) / 2.
    Difference,
}

impl Support {
    /// The name of the method.
    pub fn method(self) -> &'static str {
        match self {
            Support::Line => "t",
            Support::Share | Support::Difference => "score",
        }
    }

    /// Converts a value to a share; [`Support::value`] is the inverse.
    fn share(self, value: f64) -> f64 {
        if self == Support::Difference { f64::midpoint(1.0, value) } else { value }
    }

    fn value(self, share: f64) -> f64 {
        if self == Support::Difference { 2.0 * share - 1.0 } else { share }
    }
}

/// A mean with its 95 % interval.
///
/// For a [line](Support::Line), the interval is Student's: `mean ± t · error`, with `clusters − 1` degrees of freedom.
///
/// For a [share](Support::Share), Student's interval exceeds [0, 1] near the ends and has no width if all clusters
/// agree. So the interval is the score interval (Wilson 1927, "Probable inference, the law of succession, and
/// statistical inference") with the effective sample size `n = mean (1 − mean) / error²` (Korn and Graybill 1998,
/// "Confidence intervals for proportions with small expected number of positive counts estimated from survey data";
/// Dean and Pagano 2015, "Evaluating confidence interval methods for binomial proportions in clustered surveys", who
/// recommend it) and Student's t in place of the normal quantile: all p with `|mean − p| ≤ t √(p (1 − p) / n)`.
///
/// If all `D` clusters agree, the standard error is 0. Then the interval uses an upper bound u = t² / (t² + D) on the
/// share of clusters that differ, from the same score interval. Each of them may differ by as much as possible, so the
/// interval is `mean − u · mean` to `mean + u · (1 − mean)`; at 0 and 1, the score interval of `D` single results.
///
/// # Examples
/// ```
/// use cambio_stats::{Interval, Support};
///
/// let interval = Interval::new(0.52, Some(0.01), 100, Support::Line);
/// assert!((interval.low().unwrap() - 0.50016).abs() < 1e-5);
/// // Without an error there are no ends.
/// assert_eq!(Interval::new(0.52, None, 1, Support::Line).high(), None);
/// // Forty clusters with wins only.
/// let shutout = Interval::new(1.0, Some(0.0), 40, Support::Share);
/// assert!((shutout.low().unwrap() - 0.907).abs() < 1e-3 && shutout.high() == Some(1.0));
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// The standard error of the mean; `None` with fewer than two clusters.
    pub error: Option<f64>,
    /// The number of clusters.
    pub clusters: u64,
    /// The range of the results.
    pub support: Support,
    ends: Option<(f64, f64)>,
}

impl Interval {
    /// The interval of a mean with this standard error over this many clusters.
    pub fn new(mean: f64, error: Option<f64>, clusters: u64, support: Support) -> Interval {
        let mut interval = Interval { mean, error, clusters, support, ends: None };
        if error.is_some() {
            interval.ends = interval.ends_at(t_quantile(0.5 + LEVEL / 2.0, interval.freedom()));
        }
        interval
    }

    /// A mean without sampling error, such as the mean share of equal agents that divide a fixed total.
    pub fn exact(mean: f64, clusters: u64) -> Interval {
        Interval { mean, error: Some(0.0), clusters, support: Support::Line, ends: Some((mean, mean)) }
    }

    /// The degrees of freedom.
    pub fn freedom(&self) -> f64 {
        self.clusters as f64 - 1.0
    }

    /// The lower end; `None` with fewer than two clusters.
    pub fn low(&self) -> Option<f64> {
        self.ends.map(|ends| ends.0)
    }

    /// The upper end; `None` with fewer than two clusters.
    pub fn high(&self) -> Option<f64> {
        self.ends.map(|ends| ends.1)
    }

    /// The distance of the farther end from the mean; `None` with fewer than two clusters.
    pub fn half_width(&self) -> Option<f64> {
        self.ends.map(|(low, high)| (self.mean - low).max(high - self.mean))
    }

    /// The ends of the interval with another factor in place of the t quantile; `None` with fewer than two clusters.
    pub fn ends_at(&self, factor: f64) -> Option<(f64, f64)> {
        let error = self.error?;
        if self.support == Support::Line {
            return Some((self.mean - factor * error, self.mean + factor * error));
        }
        let squared = factor * factor;
        let (low, high) = match self.effective() {
            Effective::Agreed(share) => {
                let differ = squared / (squared + self.clusters as f64);
                (share * (1.0 - differ), share + differ * (1.0 - share))
            }
            Effective::Size(share, size) => {
                let middle = share + squared / (2.0 * size);
                let half = factor * (share * (1.0 - share) / size + squared / (4.0 * size * size)).sqrt();
                let total = 1.0 + squared / size;
                (((middle - half) / total).max(0.0), ((middle + half) / total).min(1.0))
            }
        };
        Some((self.support.value(low), self.support.value(high)))
    }

    /// The signed factor for which [`Interval::ends_at`] has an end at this value: a t statistic. `None` with fewer
    /// than two clusters, or for a line with an error of 0.
    pub fn statistic(&self, against: f64) -> Option<f64> {
        let error = self.error?;
        if self.support == Support::Line {
            return (error > 0.0).then(|| (self.mean - against) / error);
        }
        let null = self.support.share(against);
        let found = match self.effective() {
            Effective::Agreed(share) => {
                let (distance, room) = if null > share { (null - share, 1.0 - share) } else { (share - null, share) };
                // The value of `differ` for which an end is at `against`.
                let differ = if distance > 0.0 { distance / room } else { 0.0 };
                (self.clusters as f64 * differ / (1.0 - differ)).sqrt().copysign(share - null)
            }
            Effective::Size(share, size) => (share - null) / (null * (1.0 - null) / size).sqrt(),
        };
        Some(found).filter(|statistic| !statistic.is_nan())
    }

    /// The two-sided p-value of the hypothesis that the mean is `against`: below 0.05 if the interval excludes it.
    pub fn p(&self, against: f64) -> Option<f64> {
        self.statistic(against).map(|statistic| t_p_value(statistic, self.freedom()))
    }

    fn effective(&self) -> Effective {
        let share = self.support.share(self.mean).clamp(0.0, 1.0);
        let error = self.error.unwrap_or(0.0) / if self.support == Support::Difference { 2.0 } else { 1.0 };
        let size = share * (1.0 - share) / (error * error);
        if size.is_finite() && size > 0.0 { Effective::Size(share, size) } else { Effective::Agreed(share) }
    }
}

/// A share, and the number of independent results that would have the same standard error.
enum Effective {
    /// All clusters agree, so there is no error.
    Agreed(f64),
    Size(f64, f64),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resampling::{ResampleRng as _, stream};

    /// Reference: `statsmodels.stats.proportion.proportion_confint(45, 60, method="wilson")` with the normal quantile:
    /// 0.6277 to 0.8422. With many clusters, the t quantile is equal to it.
    #[test]
    fn the_interval_of_a_share_is_wilsons_at_the_effective_size() {
        let error = (0.75_f64 * 0.25 / 60.0).sqrt();
        let share = Interval::new(0.75, Some(error), 1_000_000, Support::Share);
        assert!((share.low().unwrap() - 0.627_70).abs() < 1e-4 && (share.high().unwrap() - 0.842_23).abs() < 1e-4);
        // The difference of two shares that add up to 1 has the equivalent interval.
        let difference = Interval::new(0.5, Some(2.0 * error), 1_000_000, Support::Difference);
        assert!((difference.low().unwrap() - (2.0 * share.low().unwrap() - 1.0)).abs() < 1e-12);
        assert!((difference.p(0.0).unwrap() - share.p(0.5).unwrap()).abs() < 1e-15);
    }

    /// Regression test: formerly 80 of 80 had the interval 1 ± 0, and 0.95 of 5 deals 0.95 ± 0.113.
    #[test]
    fn shares_stay_within_0_and_1_and_shutouts_have_a_width() {
        for clusters in [2, 5, 12, 40, 1000] {
            for mean in [0.0, 0.01, 0.5, 0.95, 1.0] {
                for error in [0.0, 0.001, 0.04, 0.2] {
                    let interval = Interval::new(mean, Some(error), clusters, Support::Share);
                    let (low, high) = (interval.low().unwrap(), interval.high().unwrap());
                    assert!(0.0 <= low && low <= mean && mean <= high && high <= 1.0, "{interval:?}");
                    assert!(high - low > 1e-3, "{interval:?}");
                }
            }
        }
        let shutout = Interval::new(1.0, Some(0.0), 40, Support::Difference);
        assert!(shutout.low().unwrap() > 0.8 && shutout.high() == Some(1.0) && shutout.p(0.0).unwrap() < 1e-6);
        assert_eq!(Interval::exact(0.5, 40).half_width(), Some(0.0));
    }

    #[test]
    fn the_p_value_is_5_percent_at_the_ends() {
        let mut rng = stream(1, 9);
        for support in [Support::Line, Support::Share, Support::Difference] {
            for _ in 0..50 {
                let (mean, clusters) = (0.02 + 0.96 * rng.uniform(), 2 + rng.index(60) as u64);
                let error = if rng.index(5) == 0 && support != Support::Line { 0.0 } else { 0.2 * rng.uniform() };
                let interval = Interval::new(mean, Some(error), clusters, support);
                for end in [interval.low().unwrap(), interval.high().unwrap()] {
                    assert!((interval.p(end).unwrap() - 0.05).abs() < 1e-6, "{interval:?}");
                }
            }
        }
    }
}
