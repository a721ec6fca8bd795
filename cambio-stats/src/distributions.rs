//! The distributions of tests and intervals.

use statrs::distribution::{ChiSquared, ContinuousCDF as _, Normal, StudentsT};

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
    // From here on the two agree to eight digits, and the inverse takes for ever in the end.
    const NORMAL: f64 = 1e8;
    if freedom > NORMAL {
        return normal_quantile(probability);
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

/// The probability that chi-square with so many degrees of freedom is above a statistic.
///
/// # Panics
/// If there is no degree of freedom.
///
/// # Examples
/// ```
/// assert!((cambio_stats::chi_square_tail(5.991, 2.0) - 0.05).abs() < 1e-4);
/// ```
pub fn chi_square_tail(statistic: f64, freedom: f64) -> f64 {
    ChiSquared::new(freedom).expect("there is a degree of freedom").sf(statistic)
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
