//! Statistics: pure functions of the rows in canonical order.
//!
//! The unit is the deal: all matches of one deal share its cards. Every interval is clustered by deal, every difference
//! paired by deal. Sums are kept in whole numbers, exact and free of any order; floats begin at the last division.

pub mod digest;
pub mod empirical;
pub mod histogram;
pub mod many;
pub mod moments;
pub mod planning;
pub mod ratings;
pub mod sprt;

use cambio_core::rng::{Bounded as _, Key, Purpose, Stream};
use statrs::distribution::{ContinuousCDF as _, Normal, StudentsT};

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

/// Random numbers for statistics: a stream of its own, which no game uses.
#[derive(Clone, Debug)]
pub struct Resampling(Stream);

impl Resampling {
    /// The stream with this name under this seed.
    pub fn new(seed: u64, name: u32) -> Resampling {
        // No plan has a deal with this number, and the dealer of a round is no purpose of statistics.
        Resampling(Key { seed, deal: u64::MAX }.stream(Purpose::Dealer, name))
    }

    /// A whole number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound as u32) as usize
    }

    /// A number from 0 up to 1, never either.
    pub fn uniform(&mut self) -> f64 {
        let (high, low) = (u64::from(self.0.below(1 << 26)), u64::from(self.0.below(1 << 26)));
        ((high << 26 | low) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    /// A standard normal number (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}
