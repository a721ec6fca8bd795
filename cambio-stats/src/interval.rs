//! Intervals of means.

use crate::distributions::t_quantile;

/// The level of the intervals.
pub const LEVEL: f64 = 0.95;

/// A mean with its 95 % interval.
///
/// # Examples
/// ```
/// use cambio_stats::Interval;
///
/// let interval = Interval::new(0.52, Some(0.01), 100);
/// assert!((interval.low().unwrap() - 0.50016).abs() < 1e-5);
/// // Without an error there are no ends.
/// assert_eq!(Interval::new(0.52, None, 1).high(), None);
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// Its standard error; `None` with fewer than two clusters.
    pub error: Option<f64>,
    /// Half the interval's width; `None` with fewer than two clusters.
    pub half_width: Option<f64>,
    /// How many clusters there are.
    pub clusters: u64,
}

impl Interval {
    /// The interval of an estimate with so many clusters: Student's t with one degree of freedom fewer.
    pub fn new(mean: f64, error: Option<f64>, clusters: u64) -> Interval {
        let half = |error: f64| error * t_quantile(0.5 + LEVEL / 2.0, clusters as f64 - 1.0);
        Interval { mean, error, half_width: error.map(half), clusters }
    }

    /// The lower end.
    pub fn low(&self) -> Option<f64> {
        self.half_width.map(|half| self.mean - half)
    }

    /// The upper end.
    pub fn high(&self) -> Option<f64> {
        self.half_width.map(|half| self.mean + half)
    }

    /// The estimate over its standard error; `None` without one, or if it is 0.
    pub fn statistic(&self) -> Option<f64> {
        self.error.filter(|error| *error > 0.0).map(|error| self.mean / error)
    }
}
