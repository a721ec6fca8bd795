//! Statistics of clustered results.
//!
//! Results that share something, such as all games on one deal of cards, are a cluster. Every interval is clustered, every
//! difference paired by cluster. Sums are kept in whole numbers, exact and free of any order; floats begin at the last
//! division.

pub mod curve;
pub mod empirical;
pub mod histogram;
pub mod many;
pub mod moments;
pub mod planning;
pub mod race;
pub mod ratings;
pub mod resampling;
pub mod search;
pub mod sprt;

pub use resampling::Draw;
use statrs::distribution::{ChiSquared, ContinuousCDF as _, Normal, StudentsT};

/// The level of the intervals.
pub const LEVEL: f64 = 0.95;

/// Elo points of a natural unit of strength.
pub const ELO: f64 = 400.0 / std::f64::consts::LN_10;

/// The quantile of Student's t with so many degrees of freedom; that of the normal distribution with infinitely many.
///
/// # Panics
/// If there is no degree of freedom.
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
pub fn t_p_value(statistic: f64, freedom: f64) -> f64 {
    2.0 * StudentsT::new(0.0, 1.0, freedom).expect("there is a degree of freedom").sf(statistic.abs())
}

/// The probability that chi-square with so many degrees of freedom is above a statistic.
///
/// # Panics
/// If there is no degree of freedom.
pub fn chi_square_tail(statistic: f64, freedom: f64) -> f64 {
    ChiSquared::new(freedom).expect("there is a degree of freedom").sf(statistic)
}

/// The standard normal distribution function.
///
/// # Panics
/// Never.
pub fn normal_cdf(at: f64) -> f64 {
    Normal::new(0.0, 1.0).expect("one is a deviation").cdf(at)
}

/// The quantile of the standard normal distribution.
///
/// # Panics
/// Never.
pub fn normal_quantile(probability: f64) -> f64 {
    Normal::new(0.0, 1.0).expect("one is a deviation").inverse_cdf(probability)
}
