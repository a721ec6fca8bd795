//! Estimates of the mean after a sequential test, without the bias of stopping.
//!
//! A test stops when the sample mean is extreme, so the sample mean is biased. Outcomes are therefore ordered (Siegmund
//! 1978, "Estimation following sequential tests"): an early hit of the upper bound is highest, an early hit of the
//! lower bound lowest, and outcomes without a hit lie between. The interval contains a mean if outcomes at least as
//! high, and at least as low, as the observed one each have a probability of 2.5 % or more. For the estimate, both
//! probabilities are 50 %.
//!
//! Until the first look, the log likelihood ratio is modelled as a normal variable, and from then on as Brownian motion
//! between its bounds, whose exit distribution is a series (Darling and Siegert 1953, "The first passage problem for a
//! continuous Markov process"). A test looks after each cluster only, so it overshoots its bounds; the bounds of the motion
//! are therefore moved outwards by the mean overshoot (Siegmund 1979, "Corrected diffusion approximations in certain random
//! walk problems").

use std::f64::consts::PI;

use libm::{cos, exp, expm1, log, sin};

use crate::distributions::integral;
use crate::normal_cdf;

/// The least correlation of a cluster's mean with the change of the log likelihood ratio by the cluster. With less, the time of
/// stopping says little about the mean.
const CORRELATED: f64 = 0.9;

/// The mean overshoot of a random walk with normal steps over a distant bound, in standard deviations of a step:
/// −ζ(½) / √(2π).
const OVERSHOOT: f64 = 0.582_597_157_939_010_6;

/// A sequential test that has stopped.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StoppedTest {
    /// The bounds of the log likelihood ratio, one below 0 and one above.
    pub bounds: (f64, f64),
    /// The mean of the clusters.
    pub mean: f64,
    /// How one more cluster changes the log likelihood ratio.
    pub steps: Steps,
    /// The number of clusters, more than at the first look.
    pub clusters: u64,
    /// The number of clusters at the first look.
    pub first: u64,
    /// The log likelihood ratio at the end.
    pub ratio: f64,
}

/// How one more cluster changes the log likelihood ratio.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Steps {
    /// The slope of the change as a function of the cluster's mean, by least squares.
    pub slope: f64,
    /// The standard deviation of the change.
    pub deviation: f64,
    /// The correlation of the change and the cluster's mean.
    pub correlation: f64,
}

impl Steps {
    /// The steps of a test of these two means by the ratio of normal variables, from the mean of the clusters and the standard
    /// deviation of a cluster's mean.
    pub fn of_normal(mean: f64, deviation: f64, means: (f64, f64)) -> Steps {
        let likelihood = |centre: f64| (mean - centre, deviation.powi(2) + (mean - centre).powi(2));
        let ((gap_0, variance_0), (gap_1, variance_1)) = (likelihood(means.0), likelihood(means.1));
        let slope = gap_0 / variance_0 - gap_1 / variance_1;
        // The change by a cluster's squared deviation from the mean.
        let curvature = (1.0 / variance_0 - 1.0 / variance_1) / 2.0;
        let all = libm::hypot(slope * deviation, 2.0_f64.sqrt() * curvature * deviation.powi(2));
        Steps { slope, deviation: all, correlation: slope * deviation / all }
    }
}

/// An estimate with its 95 % interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MedianEstimate {
    /// The median-unbiased estimate: it is as likely too high as too low.
    pub median: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl StoppedTest {
    /// The estimate of the mean, between 0 and 1; `None` if the usual interval is valid: if all clusters are equal, if the
    /// test could not stop before, or if the time of stopping says little about the mean, as far from both hypotheses.
    ///
    /// # Examples
    /// ```
    /// use cambio_stats::stopping::{Steps, StoppedTest};
    ///
    /// // Is the mean ½ or 0.52? After 600 clusters with mean 0.5321 and standard deviation 0.3, the second was accepted.
    /// let (steps, bounds) = (Steps::of_normal(0.5321, 0.3, (0.5, 0.52)), (-2.94, 2.94));
    /// let test = StoppedTest { steps, bounds, mean: 0.5321, clusters: 600, first: 30, ratio: 2.95 };
    /// let found = test.estimate().unwrap();
    /// assert!(found.low < found.median && found.median < 0.5321 && found.low > 0.5);
    /// ```
    pub fn estimate(&self) -> Option<MedianEstimate> {
        let Steps { correlation, .. } = self.steps;
        // If all clusters are equal, the correlation is NaN.
        if self.clusters <= self.first || correlation.is_nan() || correlation < CORRELATED {
            return None;
        }
        let at = |level: f64| {
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..40 {
                let middle = f64::midpoint(low, high);
                *if self.as_high(middle) < level { &mut low } else { &mut high } = middle;
            }
            f64::midpoint(low, high)
        };
        Some(MedianEstimate { median: at(0.5), low: at(0.025), high: at(0.975) })
    }

    /// The probability of an outcome at least as high as the observed one, if the true mean is `mean`.
    fn as_high(&self, mean: f64) -> f64 {
        let Steps { slope, deviation, .. } = self.steps;
        let drift = self.ratio / self.clusters as f64 + slope * (mean - self.mean);
        let overshoot = OVERSHOOT * deviation;
        let first = self.first as f64;
        let (centre, spread, time) = (drift * first, deviation * first.sqrt(), self.clusters as f64 - first);
        let walk = |from: f64| BrownianMotion {
            drift,
            variance: deviation * deviation,
            below: from - self.bounds.0 + overshoot,
            above: self.bounds.1 - from + overshoot,
        };
        let average = |chance: &dyn Fn(f64) -> f64| {
            let (low, high) = (self.bounds.0.max(centre - 6.0 * spread), self.bounds.1.min(centre + 6.0 * spread));
            let density = |from: f64| {
                let at = (from - centre) / spread;
                exp(-at * at / 2.0) / ((2.0 * PI).sqrt() * spread) * chance(from)
            };
            if low < high { integral(low, high, 40, density) } else { 0.0 }
        };
        let above_at_first = normal_cdf((centre - self.bounds.1) / spread);
        if self.ratio >= self.bounds.1 {
            above_at_first + average(&|from| walk(from).above_by(time))
        } else if self.ratio <= self.bounds.0 {
            let below_at_first = normal_cdf((self.bounds.0 - centre) / spread);
            1.0 - below_at_first - average(&|from| walk(from).mirrored().above_by(time))
        } else {
            above_at_first + average(&|from| walk(from).above_by(time) + walk(from).between(self.ratio - from, time))
        }
        .clamp(0.0, 1.0)
    }
}

/// Brownian motion from 0 between two bounds.
#[derive(Clone, Copy, Debug)]
struct BrownianMotion {
    drift: f64,
    variance: f64,
    /// The distance of the lower bound below 0.
    below: f64,
    above: f64,
}

impl BrownianMotion {
    fn mirrored(self) -> BrownianMotion {
        BrownianMotion { drift: -self.drift, below: self.above, above: self.below, ..self }
    }

    fn width(&self) -> f64 {
        self.below + self.above
    }

    /// The decay rate of the n-th term of the Fourier series.
    fn rate(&self, n: f64) -> f64 {
        let wave = n * PI / self.width();
        self.drift * self.drift / (2.0 * self.variance) + wave * wave * self.variance / 2.0
    }

    /// Whether to use the image series: at small times, the terms of the Fourier series cancel each other.
    fn is_early(&self, time: f64) -> bool {
        self.variance * time < 0.5 * self.width() * self.width()
    }

    /// [`BrownianMotion::above_by`] as an image series, by reflection at the bounds: each term is an inverse Gaussian
    /// distribution function.
    fn above_by_images(&self, time: f64) -> f64 {
        let (spread, drift) = ((self.variance * time).sqrt(), self.drift.abs());
        let image = |k: i32| {
            let at = self.above + 2.0 * f64::from(k) * self.width();
            let far = at.abs();
            let term = |sign: f64| {
                let shift = self.drift * self.above / self.variance - sign * drift * far / self.variance;
                exp(shift + ln_normal_cdf((sign * drift * time - far) / spread))
            };
            at.signum() * (term(1.0) + term(-1.0))
        };
        (-6..=6).map(image).sum()
    }

    /// [`BrownianMotion::between`] by the image series: each term is a difference of normal distribution functions.
    fn between_by_images(&self, height: f64, time: f64) -> f64 {
        let spread = (self.variance * time).sqrt();
        let normal = |centre: f64| {
            let at = |end: f64| (end - centre - self.drift * time) / spread;
            let (low, high) = (at(height), at(self.above));
            // A difference of small tails has a small relative error.
            let share =
                if low > 0.0 { normal_cdf(-low) - normal_cdf(-high) } else { normal_cdf(high) - normal_cdf(low) };
            // The factor may overflow where the difference is 0.
            if share > 0.0 { exp(self.drift * centre / self.variance + log(share)) } else { 0.0 }
        };
        let image = |k: i32| {
            let centre = 2.0 * f64::from(k) * self.width();
            normal(centre) - normal(2.0 * self.above - centre)
        };
        (-6..=6).map(image).sum()
    }

    /// The indices of the terms of the Fourier series that are not negligible at a time.
    fn parts(&self, time: f64) -> impl Iterator<Item = f64> {
        // e^−40 is negligible.
        let slowest = PI * PI * self.variance * time / (2.0 * self.width() * self.width());
        let count = (40.0 / slowest).sqrt().ceil().min(1e5) as u32 + 1;
        (1..=count).map(f64::from)
    }

    /// The probability that the upper bound is reached first, and by this time.
    fn above_by(&self, time: f64) -> f64 {
        if self.is_early(time) {
            return self.above_by_images(time);
        }
        let (width, push) = (self.width(), 2.0 * self.drift / self.variance);
        let ever = if (push * width).abs() < 1e-9 {
            self.below / width
        } else if push > 0.0 {
            expm1(-push * self.below) / expm1(-push * width)
        } else {
            exp(push * self.above) * expm1(push * self.below) / expm1(push * width)
        };
        let part = |n: f64| {
            let rate = self.rate(n);
            n * sin(n * PI * self.above / width) * exp(push / 2.0 * self.above - rate * time) / rate
        };
        let later = PI * self.variance / (width * width) * self.parts(time).map(part).sum::<f64>();
        ever - later
    }

    /// The probability of being above a height at this time without having reached a bound.
    fn between(&self, height: f64, time: f64) -> f64 {
        if self.is_early(time) {
            return self.between_by_images(height, time);
        }
        let (width, tilt) = (self.width(), self.drift / self.variance);
        let part = |n: f64| {
            let wave = n * PI / width;
            // The antiderivative of e^(tilt · at) · sin(wave · (at + below)).
            let until = |at: f64| {
                let phase = wave * (at + self.below);
                exp(tilt * at - self.rate(n) * time) * (tilt * sin(phase) - wave * cos(phase))
                    / (tilt * tilt + wave * wave)
            };
            sin(wave * self.below) * (until(self.above) - until(height))
        };
        2.0 / width * self.parts(time).map(part).sum::<f64>()
    }
}

/// The logarithm of the standard normal distribution function, also where the function underflows.
fn ln_normal_cdf(at: f64) -> f64 {
    if at > -30.0 { log(crate::normal_cdf(at)) } else { -at * at / 2.0 - log(-at * (2.0 * PI).sqrt()) }
}

#[cfg(test)]
mod tests;
