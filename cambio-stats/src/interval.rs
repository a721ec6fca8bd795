//! Intervals of means: one method for each kind of quantity.

use crate::distributions::{t_p_value, t_quantile};

/// The confidence level of the intervals.
pub const LEVEL: f64 = 0.95;

/// The weight of the unseen cluster, in clusters (see [`Interval`]).
///
/// The weight was chosen by simulation. With ¼, the coverage is at least 93 % from 30 deals on for all agents and tables
/// of the study in `examples/coverage.rs`; without the cluster it is as low as 58 %.
const UNSEEN: f64 = 0.25;

/// The range of a result. It selects the method for the interval of the mean.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Support {
    /// Any number: Student's t interval. Clusters that all agree have no interval.
    #[default]
    Line,
    /// From 0 to 1, such as a win share: Hall's interval.
    Share,
    /// From −1 to 1, such as a difference of two shares: Hall's interval.
    Difference,
    /// Any number, but the expected value is between these two, such as a win share without the luck of the cards: Student's
    /// t interval, or the interval of a bounded result if all clusters agree.
    MeanWithin(f64, f64),
    /// One number, which is known in advance: an interval without a width. See [`Interval::exact`].
    Fixed,
}

impl Support {
    /// The name of the method.
    pub fn method(self) -> &'static str {
        if matches!(self, Support::Share | Support::Difference) { "Hall" } else { "t" }
    }

    /// The range of the expected value of a result minus the luck of the cards, whose expected value is 0.
    #[must_use]
    pub fn without_luck(self) -> Support {
        match self {
            Support::Share => Support::MeanWithin(0.0, 1.0),
            Support::Difference => Support::MeanWithin(-1.0, 1.0),
            other => other,
        }
    }
}

/// The shape of the results, for Hall's interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shape {
    /// The skewness of the clusters' deviations from the mean: their third moment divided by their standard deviation
    /// cubed.
    pub skewness: f64,
    /// The mean number of results in a cluster.
    pub results: f64,
}

/// A mean with its 95 % interval.
///
/// For a [line](Support::Line), the interval is Student's: `mean ± t · error`, with `clusters − 1` degrees of freedom.
///
/// For a bounded result, Student's interval has three defects. It is too short if the clusters are skewed, which they are
/// near the bounds; it exceeds the bounds; and it has no width if all clusters agree. So the interval is Hall's (1992,
/// "On the removal of skewness by transformation", with the cubic transformation of the t statistic) and Student's t in
/// place of the normal quantile. The skewness and the error come from the observed clusters and from one *unseen
/// cluster*, because a sample without rare results has neither their variance nor their skewness. The unseen cluster has
/// the weight ¼. For the lower end, it deviates from the mean toward the lower bound, and for the upper end toward the
/// upper bound, by the distance of the bound divided by √n, where n is the number of results in a cluster, because the
/// mean of n independent results can deviate by about this much. An end beyond a bound is moved to the bound. With many
/// clusters, the interval is Student's.
///
/// If all `D` clusters agree, the standard error is 0. Then the interval uses an upper bound u = t² / (t² + D) on the
/// share of clusters that differ (Wilson 1927, "Probable inference, the law of succession, and statistical inference").
/// Each of them may differ by as much as possible, so an end is `mean + u · (bound − mean)`. Without bounds there is no
/// interval: clusters that agree do not show how much others can differ.
///
/// # Examples
/// ```
/// use cambio_stats::{Interval, Shape, Support};
///
/// let interval = Interval::new(0.52, Some(0.01), 100, Support::Line);
/// assert!((interval.low().unwrap() - 0.50016).abs() < 1e-5);
/// // Without an error there are no ends.
/// assert_eq!(Interval::new(0.52, None, 1, Support::Line).high(), None);
/// // Forty clusters with wins only.
/// let shutout = Interval::new(1.0, Some(0.0), 40, Support::Share);
/// assert!((shutout.low().unwrap() - 0.907).abs() < 1e-3 && shutout.high() == Some(1.0));
/// // Rare wins: the mean may be much higher, but not much lower.
/// let rare = Interval::new(0.02, Some(0.01), 40, Support::Share).with_shape(Shape { skewness: 4.0, results: 4.0 });
/// assert!(rare.high().unwrap() - rare.mean > 1.5 * (rare.mean - rare.low().unwrap()));
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
    shape: Shape,
    ends: Option<(f64, f64)>,
}

impl Interval {
    /// The interval of a mean with this standard error over this many clusters. Bounded results are assumed to be
    /// symmetric, with one result in each cluster; [`Interval::with_shape`] changes that.
    pub fn new(mean: f64, error: Option<f64>, clusters: u64, support: Support) -> Interval {
        let shape = Shape { skewness: 0.0, results: 1.0 };
        Interval { mean, error, clusters, support, shape, ends: None }.with_shape(shape)
    }

    /// The same interval for bounded results of this shape. Student's interval does not depend on the shape.
    #[must_use]
    pub fn with_shape(mut self, shape: Shape) -> Interval {
        self.shape = shape;
        if self.error.is_some() {
            self.ends = self.ends_at(t_quantile(0.5 + LEVEL / 2.0, self.freedom()));
        }
        self
    }

    /// A mean without sampling error, such as the mean share of equal agents that divide a fixed total.
    pub fn exact(mean: f64, clusters: u64) -> Interval {
        let shape = Shape { skewness: 0.0, results: 1.0 };
        Interval { mean, error: Some(0.0), clusters, support: Support::Fixed, shape, ends: Some((mean, mean)) }
    }

    /// The least and the greatest possible mean; `None` if the method does not use them. If the mean itself is beyond them,
    /// because much luck was subtracted, it takes their place.
    fn bounds(&self) -> Option<(f64, f64)> {
        let (least, most) = match self.support {
            Support::Line => return None,
            Support::MeanWithin(..) if self.error != Some(0.0) => return None,
            Support::MeanWithin(least, most) => (least, most),
            Support::Share => (0.0, 1.0),
            Support::Difference => (-1.0, 1.0),
            Support::Fixed => (self.mean, self.mean),
        };
        Some((least.min(self.mean), most.max(self.mean)))
    }

    /// The degrees of freedom.
    pub fn freedom(&self) -> f64 {
        self.clusters as f64 - 1.0
    }

    /// Both ends; `None` with fewer than two clusters, or if all clusters agree on a result without bounds.
    pub fn ends(&self) -> Option<(f64, f64)> {
        self.ends
    }

    /// The lower end; `None` in the same cases as both ends.
    pub fn low(&self) -> Option<f64> {
        self.ends.map(|ends| ends.0)
    }

    /// The upper end; `None` in the same cases as the lower one.
    pub fn high(&self) -> Option<f64> {
        self.ends.map(|ends| ends.1)
    }

    /// The distance of the farther end from the mean; `None` without ends.
    pub fn half_width(&self) -> Option<f64> {
        self.ends.map(|(low, high)| (self.mean - low).max(high - self.mean))
    }

    /// The ends of the interval with another factor in place of the t quantile; `None` in the same cases as
    /// [`Interval::low`].
    pub fn ends_at(&self, factor: f64) -> Option<(f64, f64)> {
        let error = self.error?;
        let Some((least, most)) = self.bounds() else {
            return (error > 0.0).then_some((self.mean - factor * error, self.mean + factor * error));
        };
        let end = |factor: f64, bound: f64| {
            let end = if error > 0.0 {
                self.mean - self.toward(bound, error).value(factor)
            } else {
                self.mean + factor * factor / (factor * factor + self.clusters as f64) * (bound - self.mean)
            };
            end.clamp(bound.min(self.mean), bound.max(self.mean))
        };
        Some((end(factor, least), end(-factor, most)))
    }

    /// The signed factor for which [`Interval::ends_at`] has an end at this value: a t statistic. `None` with fewer
    /// than two clusters, if all clusters agree on a result without bounds or on a fixed one, and if the value is beyond the
    /// bounds.
    pub fn statistic(&self, against: f64) -> Option<f64> {
        let error = self.error?;
        let Some((least, most)) = self.bounds().filter(|_| self.support != Support::Fixed) else {
            return (error > 0.0).then(|| (self.mean - against) / error);
        };
        let gap = self.mean - against;
        if gap == 0.0 {
            return Some(0.0);
        }
        let bound = if gap < 0.0 { most } else { least };
        let found = if error > 0.0 {
            self.toward(bound, error).statistic(gap)
        } else {
            // The factor at which u · (bound − mean) is the distance.
            let differ = gap / (self.mean - bound);
            (self.clusters as f64 * differ / (1.0 - differ)).sqrt().copysign(gap)
        };
        let sign = gap.signum();
        ((least..=most).contains(&against) && !found.is_nan()).then_some((found * sign).max(0.0) * sign)
    }

    /// The two-sided p-value of the hypothesis that the mean is `against`: below 0.05 if the interval excludes it.
    pub fn p(&self, against: f64) -> Option<f64> {
        self.statistic(against).map(|statistic| t_p_value(statistic, self.freedom()))
    }

    /// Hall's transformation for the end on the side of a bound.
    fn toward(&self, bound: f64, error: f64) -> HallTransform {
        let clusters = self.clusters as f64;
        // The second and third moments of the clusters, then with the unseen cluster, around the new mean.
        let second = error * error * (clusters - 1.0);
        let third = self.shape.skewness * second * second.sqrt();
        let distance = (bound - self.mean) / self.shape.results.sqrt();
        let all = clusters + UNSEEN;
        let shift = UNSEEN * distance / all;
        let (kept, unseen) = (clusters / all, UNSEEN / all);
        let rest = distance - shift;
        let wider = kept * (second + shift * shift) + unseen * rest * rest;
        let skewed = kept * (third - 3.0 * shift * second - shift * shift * shift) + unseen * rest * rest * rest;
        HallTransform {
            error: (wider / (clusters - 1.0)).sqrt(),
            slope: skewed / (wider * wider.sqrt() * 3.0 * all.sqrt()),
        }
    }
}

/// Hall's cubic transformation of a t statistic T, g(T) = T + a T² + a² T³ / 3 + a / 2 with a = skewness / (3 √n). It is
/// increasing, and its inverse is explicit.
struct HallTransform {
    error: f64,
    slope: f64,
}

impl HallTransform {
    /// The distance from the mean at which the transformed statistic has this value.
    fn value(&self, factor: f64) -> f64 {
        let a = self.slope;
        let excess = factor - a / 2.0;
        let root = libm::cbrt(1.0 + 3.0 * a * excess);
        // Equal to (root − 1) / a, without loss of precision if the slope is small.
        let t = 3.0 * excess / (root * root + root + 1.0);
        self.error * t
    }

    /// The transformed statistic of a distance.
    fn statistic(&self, distance: f64) -> f64 {
        let (a, t) = (self.slope, distance / self.error);
        t + a * t * t + a * a * t * t * t / 3.0 + a / 2.0
    }
}

#[cfg(test)]
mod tests;
