//! Statistics of clustered results.
//!
//! Results that share randomness, such as all games on one deal of cards, form a cluster. Every interval is clustered,
//! and every difference is paired by cluster. Sums of results are exact integers, so means and errors do not depend on the
//! order of results; floating-point numbers begin at the last division. Only the sums for the shape of an interval are of
//! floating-point numbers.
//!
//! [`Moments`] and [`Joint`] sum results by cluster and return means, differences and covariances with their intervals;
//! [`simultaneous`] has joint intervals, [`anova`] tests several means at once, [`equivalence`] shows that a mean is
//! close to 0. [`ratings`] fits strengths to
//! rankings, [`empirical`] solves games with measured payoffs. [`sprt`] and [`race`] decide with as few clusters as
//! possible, [`planning`] computes sample sizes, [`anytime`] has intervals for interim looks, [`stopping`]
//! estimates a mean after a sequential test.
//! [`search`] optimises many parameters, [`curve`] has response curves with bands.
//! Covariances are of type [`Matrix`]. Random numbers come from the caller's generator ([`ResampleRng`]).
//!
//! Every function returns the same bits on every CPU: `libm` computes logarithms and similar functions.
//!
//! ```
//! use cambio_stats::{Joint, Support};
//!
//! // Two methods, each measured twice on each of four data sets. The second is worse on all of them.
//! let mut joint = Joint::new(2);
//! for [first, second] in [[14, 11], [9, 7], [21, 17], [11, 10]] {
//!     joint.add(&[2, 2], &[first, second]);
//! }
//! let (difference, _) = joint.difference(0, 1, 1.0, Support::Line).unwrap();
//! assert_eq!(difference.mean, 1.25);
//! // The much larger differences between data sets do not matter, because the difference is paired.
//! assert!(difference.low().unwrap() > 0.2 && difference.high().unwrap() < 2.3);
//! ```

pub mod anova;
pub mod anytime;
mod control;
pub mod curve;
mod distributions;
pub mod empirical;
pub mod equivalence;
pub mod hotelling;
mod independent;
mod interval;
mod joint;
mod matrix;
mod moments;
pub mod planning;
pub mod race;
pub mod ratings;
mod resampling;
pub mod search;
pub mod simultaneous;
pub mod sprt;
pub mod stopping;

pub use control::ControlVariate;
pub use distributions::{f_tail, normal_cdf, normal_quantile, t_p_value, t_power, t_quantile};
pub use independent::independent_difference;
pub use interval::{Interval, LEVEL, Shape, Support};
pub use joint::Joint;
pub use matrix::Matrix;
pub use moments::Moments;
pub use resampling::ResampleRng;

/// The number of Elo points for one unit of strength in natural log odds.
pub const ELO: f64 = 400.0 / std::f64::consts::LN_10;

/// Whether an interval is symmetric when its half-widths are rounded to `digits` decimals. The last digit may differ by
/// one if the half-widths are at least three units of that digit.
pub fn is_even(below: f64, above: f64, digits: usize) -> bool {
    let unit = 10_f64.powi(-(digits as i32));
    let shown = |half: f64| (half / unit).round();
    let (least, most) = (shown(below.min(above)), shown(below.max(above)));
    most - least < 0.5 || (least >= 3.0 && most - least < 1.5)
}

/// The size of a random test: `small`, or `full` with `CAMBIO_FULL=1`.
#[cfg(test)]
fn amount<T>(small: T, full: T) -> T {
    if std::env::var_os("CAMBIO_FULL").is_some_and(|value| value == "1") { full } else { small }
}
