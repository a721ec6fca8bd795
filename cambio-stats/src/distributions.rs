//! The distributions of tests and intervals.

use statrs::distribution::{ChiSquared, ContinuousCDF as _, FisherSnedecor, Normal, StudentsT};
use statrs::function::gamma::ln_gamma;

/// The quantile of Student's t with so many degrees of freedom; that of the normal distribution with infinitely many.
///
/// # Panics
/// If there is no degree of freedom.
///
/// # Examples
/// ```
/// use cambio_stats::t_quantile;
///
/// // The half-width of a 95 % interval with 4 degrees of freedom, in standard errors.
/// assert!((t_quantile(0.975, 4.0) - 2.776).abs() < 1e-3);
/// ```
pub fn t_quantile(probability: f64, freedom: f64) -> f64 {
    // From here on the expansion is exact (Abramowitz and Stegun 1964, 26.7.5), and the inverse takes for ever in the end.
    const MANY: f64 = 1e5;
    if freedom > MANY {
        let z = normal_quantile(probability);
        let (square, nu) = (z * z, freedom);
        return z
            + z * (square + 1.0) / (4.0 * nu)
            + z * (5.0 * square * square + 16.0 * square + 3.0) / (96.0 * nu * nu);
    }
    StudentsT::new(0.0, 1.0, freedom).expect("there is a degree of freedom").inverse_cdf(probability)
}

/// The two-sided p-value of a t statistic.
///
/// # Panics
/// If there is no degree of freedom.
///
/// # Examples
/// ```
/// assert!((cambio_stats::t_p_value(-2.776, 4.0) - 0.05).abs() < 1e-4);
/// ```
pub fn t_p_value(statistic: f64, freedom: f64) -> f64 {
    2.0 * StudentsT::new(0.0, 1.0, freedom).expect("there is a degree of freedom").sf(statistic.abs())
}

/// The probability that F with so many degrees of freedom, of the numerator and of the denominator, is above a statistic.
///
/// # Panics
/// If there is no degree of freedom.
///
/// # Examples
/// ```
/// assert!((cambio_stats::f_tail(3.98, 2.0, 11.0) - 0.05).abs() < 1e-3);
/// ```
pub fn f_tail(statistic: f64, numerator: f64, denominator: f64) -> f64 {
    FisherSnedecor::new(numerator, denominator).expect("there are degrees of freedom").sf(statistic.max(0.0))
}

/// The probability that chi-square with so many degrees of freedom is at most a number.
pub(crate) fn chi_square_cdf(at: f64, freedom: f64) -> f64 {
    ChiSquared::new(freedom).expect("there is a degree of freedom").cdf(at)
}

/// The probability that a two-sided t test at this level rejects, where the statistic's distribution is Student's with so
/// many degrees of freedom and this noncentrality: the effect over its standard error.
///
/// Integrates the normal distribution over the chi-square of the standard error (Johnson, Kotz and Balakrishnan 1995,
/// "Continuous univariate distributions", volume 2, section 31.1).
///
/// # Panics
/// If there is no degree of freedom, or the level is not between 0 and 1.
///
/// # Examples
/// ```
/// // Five clusters, and an effect of two standard deviations of one.
/// let power = cambio_stats::t_power(2.0 * 5_f64.sqrt(), 4.0, 0.05);
/// assert!((power - 0.909).abs() < 1e-3);
/// ```
pub fn t_power(noncentrality: f64, freedom: f64, alpha: f64) -> f64 {
    const STEPS: usize = 400;
    let critical = t_quantile(1.0 - alpha / 2.0, freedom);
    let rejects =
        |error: f64| normal_cdf(noncentrality - critical * error) + normal_cdf(-noncentrality - critical * error);
    // The estimated over the true standard error: its square is chi-square over its freedom, its own deviation about
    // 1 / √(2 · freedom).
    if freedom > 1e7 {
        return rejects(1.0);
    }
    let half = freedom / 2.0;
    // The logarithm of the density's constant 2 (ν/2)^(ν/2) / Γ(ν/2).
    let constant = 2_f64.ln() + half * half.ln() - ln_gamma(half);
    let spread = 9.0 / (2.0 * freedom).sqrt();
    let (low, high) = ((1.0 - spread).max(0.0), 1.0 + spread);
    // Simpson's rule. With one degree of freedom the density of the error is not 0 at 0, but it is finite.
    let density = |error: f64| {
        let error = error.max(1e-150);
        (constant + (freedom - 1.0) * error.ln() - half * error * error).exp() * rejects(error)
    };
    let step = (high - low) / STEPS as f64;
    let weight = |place: usize| match place {
        0 | STEPS => 1.0,
        odd if odd % 2 == 1 => 4.0,
        _ => 2.0,
    };
    let sum: f64 = (0..=STEPS).map(|place| weight(place) * density(low + place as f64 * step)).sum();
    (sum * step / 3.0).min(1.0)
}

/// The standard normal distribution function.
///
/// # Panics
/// Never.
///
/// # Examples
/// ```
/// assert!((cambio_stats::normal_cdf(1.96) - 0.975).abs() < 1e-4);
/// ```
pub fn normal_cdf(at: f64) -> f64 {
    Normal::new(0.0, 1.0).expect("one is a deviation").cdf(at)
}

/// The quantile of the standard normal distribution.
///
/// # Panics
/// Never.
///
/// # Examples
/// ```
/// assert!((cambio_stats::normal_quantile(0.975) - 1.96).abs() < 1e-4);
/// ```
pub fn normal_quantile(probability: f64) -> f64 {
    Normal::new(0.0, 1.0).expect("one is a deviation").inverse_cdf(probability)
}
