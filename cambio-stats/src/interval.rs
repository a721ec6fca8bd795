//! Intervals of means: one method for each kind of quantity.

use crate::distributions::{t_p_value, t_quantile};

/// The confidence level of the intervals.
pub const LEVEL: f64 = 0.95;

/// The least weight of the unseen cluster of a bounded result, in clusters (see [`Interval`]).
///
/// The weight was chosen by simulation. Without the cluster, the coverage is as low as 58 % in the study in
/// `examples/coverage.rs`.
const UNSEEN: f64 = 0.25;

/// The kurtosis up to which an interval is an ordinary one. Without the luck of the cards, agents of different strength have
/// about this one in a deal. It was chosen, like the use of [`Shape::alike`], for the pairs of agents that the page
/// *Coverage* of the book lists, and checked on others.
const ORDINARY: f64 = 4.0;

/// The standard deviation below which clusters from which luck may have been subtracted agree. Luck is measured in millionths
/// of a win, so where agents play alike, its sum over a deal differs from 0 by the rounding.
const ROUNDING: f64 = 1e-4;

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
    /// t interval, which becomes the interval of a bounded result the more clusters agree.
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

/// The shape of the results, for intervals of bounded results.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shape {
    /// The skewness of the clusters: the third moment of their deviations from the mean, divided by their standard deviation
    /// cubed.
    pub skewness: f64,
    /// The kurtosis of the clusters: the fourth moment of their deviations from the mean, divided by the squared variance; 3
    /// for a normal distribution.
    pub kurtosis: f64,
    /// The mean number of results in a cluster.
    pub results: f64,
}

impl Shape {
    /// A normal distribution, with one result in each cluster.
    pub const NORMAL: Shape = Shape { skewness: 0.0, kurtosis: 3.0, results: 1.0 };

    /// How much the clusters agree, from 0 to 1, as far as the kurtosis shows it: if few clusters differ from the others, and
    /// by about the same amount, then the kurtosis is the inverse of their share.
    fn alike(&self) -> f64 {
        (1.0 - ORDINARY / self.kurtosis).max(0.0)
    }
}

/// The sums of the first four powers of the clusters' means.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct PowerSums([f64; 4]);

impl PowerSums {
    pub(crate) fn add(&mut self, mean: f64) {
        self.0.iter_mut().zip(1..).for_each(|(sum, power)| *sum += mean.powi(power));
    }

    pub(crate) fn without(&self, other: &PowerSums) -> PowerSums {
        PowerSums(std::array::from_fn(|index| self.0[index] - other.0[index]))
    }

    /// The shape of this many clusters. Call it only if they do not all agree.
    pub(crate) fn shape(&self, clusters: u64, results: f64) -> Shape {
        let clusters = clusters as f64;
        let [mean, square, cube, fourth] = self.0.map(|sum| sum / clusters);
        let variance = square - mean * mean;
        if variance <= 0.0 {
            return Shape { results, ..Shape::NORMAL };
        }
        let third = cube - mean * (3.0 * square - 2.0 * mean * mean);
        let fourth = fourth - mean * (4.0 * cube - mean * (6.0 * square - 3.0 * mean * mean));
        let kurtosis = (fourth / (variance * variance)).clamp(1.0, clusters.max(1.0));
        Shape { skewness: third / (variance * variance.sqrt()), kurtosis, results }
    }
}

/// A mean with its 95 % interval.
///
/// For a [line](Support::Line), the interval is Student's: `mean ± t · error`, with `clusters − 1` degrees of freedom.
///
/// For a bounded result, Student's interval has three defects. It is too short if the clusters are skewed, which they are
/// near the bounds; it exceeds the bounds; and it has no width if all clusters agree. So the interval is Hall's (1992,
/// "On the removal of skewness by transformation", with the cubic transformation of the t statistic) and Student's t in
/// place of the normal quantile. The skewness and the error come from the observed clusters and from one *unseen
/// cluster*, because a sample without rare results has neither their variance nor their skewness. For the lower end, it
/// deviates from the mean toward the lower bound, and for the upper end toward the upper bound, by the distance of the
/// bound divided by √n, where n is the number of results in a cluster, because the mean of n independent results can
/// deviate by about this much. An end beyond a bound is moved to the bound. With many clusters, the interval is Student's.
///
/// The fewer clusters differ from the others, the less a sample shows about them. The kurtosis K of the clusters measures
/// that: z = 1 − 4 / K, but at least 0, is near 1 if few clusters differ. The unseen cluster has the weight z², but at
/// least ¼, and its distance moves with z² from the distance of the bound divided by √n halfway to the whole distance,
/// because results of agents that play alike are not independent. The skewness counts with the factor z, and only at the
/// end toward which the clusters are skewed: at the other end it would shorten the interval, as if the few differing
/// clusters showed that none differs in the opposite direction. The degrees of freedom are D (1 − z) − 1 of `D`
/// clusters, but at least 1.
///
/// A result minus the luck of the cards has no bounds, but [its expected value has](Support::MeanWithin). Its interval is
/// the same without the least weight ¼ and without moving the ends, so it is Student's if z = 0. Clusters that differ by less
/// than 10⁻⁴ agree, because of the rounding of the luck: their standard error is 0.
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
/// let shape = Shape { skewness: 4.0, kurtosis: 20.0, results: 4.0 };
/// let rare = Interval::new(0.02, Some(0.01), 40, Support::Share).with_shape(shape);
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
    /// [normal](Shape::NORMAL); [`Interval::with_shape`] changes that.
    pub fn new(mean: f64, error: Option<f64>, clusters: u64, support: Support) -> Interval {
        let may_be_rounded = matches!(support, Support::Line | Support::MeanWithin(..));
        let agree = |error: f64| may_be_rounded && error * (clusters as f64).sqrt() < ROUNDING;
        let error = error.map(|error| if agree(error) { 0.0 } else { error });
        Interval { mean, error, clusters, support, shape: Shape::NORMAL, ends: None }.with_shape(Shape::NORMAL)
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
        let (error, support, shape) = (Some(0.0), Support::Fixed, Shape::NORMAL);
        Interval { mean, error, clusters, support, shape, ends: Some((mean, mean)) }
    }

    /// The least and the greatest possible mean; `None` if the method does not use them. If the mean itself is beyond them,
    /// because much luck was subtracted, it takes their place.
    fn bounds(&self) -> Option<(f64, f64)> {
        let (least, most) = match self.support {
            Support::Line => return None,
            Support::MeanWithin(..) if self.may_exceed() && self.shape.alike() <= 0.0 => return None,
            Support::MeanWithin(least, most) => (least, most),
            Support::Share => (0.0, 1.0),
            Support::Difference => (-1.0, 1.0),
            Support::Fixed => (self.mean, self.mean),
        };
        Some((least.min(self.mean), most.max(self.mean)))
    }

    /// Whether an end may be beyond the bounds.
    fn may_exceed(&self) -> bool {
        matches!(self.support, Support::MeanWithin(..)) && self.error != Some(0.0)
    }

    /// The degrees of freedom; at least 1.
    pub fn freedom(&self) -> f64 {
        let varies = self.error > Some(0.0) && self.support != Support::Line;
        let alike = if varies { self.shape.alike() } else { 0.0 };
        (self.clusters as f64 * (1.0 - alike) - 1.0).max(1.0)
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
            if self.may_exceed() { end } else { end.clamp(bound.min(self.mean), bound.max(self.mean)) }
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
        let is_possible = self.may_exceed() || (least..=most).contains(&against);
        (is_possible && !found.is_nan()).then_some((found * sign).max(0.0) * sign)
    }

    /// The two-sided p-value of the hypothesis that the mean is `against`: below 0.05 if the interval excludes it.
    pub fn p(&self, against: f64) -> Option<f64> {
        self.statistic(against).map(|statistic| t_p_value(statistic, self.freedom()))
    }

    /// Hall's transformation for the end on the side of a bound.
    fn toward(&self, bound: f64, error: f64) -> HallTransform {
        let Shape { skewness, results, .. } = self.shape;
        let (clusters, alike) = (self.clusters as f64, self.shape.alike());
        let independent = 1.0 / results.sqrt();
        let distance = (bound - self.mean) * (independent + (1.0 - independent) * alike * alike / 2.0);
        // The second and third moments of the clusters, then with the unseen cluster, around the new mean.
        let second = error * error * (clusters - 1.0);
        let third = if skewness * distance > 0.0 { alike * skewness * second * second.sqrt() } else { 0.0 };
        let weight = if self.may_exceed() { alike * alike } else { (alike * alike).max(UNSEEN) };
        let all = clusters + weight;
        let shift = weight * distance / all;
        let (kept, unseen) = (clusters / all, weight / all);
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
