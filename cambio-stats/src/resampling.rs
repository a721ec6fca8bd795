//! Random draws from any generator of random bits.

use rand::Rng;

/// Draws for resampling and simulation, implemented for every generator. A test pins their values, so that a new
/// version of a random number library cannot change results.
///
/// # Examples
/// ```
/// use cambio_stats::ResampleRng as _;
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng as _};
///
/// let mut rng = ChaCha8Rng::seed_from_u64(1);
/// assert!(rng.index(6) < 6);
/// assert!((0.0..1.0).contains(&rng.uniform()));
/// ```
pub trait ResampleRng: Rng {
    /// A uniform integer below `bound` (Lemire 2019, "Fast random integer generation in an interval", algorithm 5).
    ///
    /// # Panics
    /// If `bound` is 0, or 2³² or more.
    fn index(&mut self, bound: usize) -> usize {
        let bound = u32::try_from(bound).ok().filter(|bound| *bound > 0).expect("a bound must be from 1 to 2³² − 1");
        let mut product = u64::from(self.next_u32()) * u64::from(bound);
        if (product as u32) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u32) < threshold {
                product = u64::from(self.next_u32()) * u64::from(bound);
            }
        }
        (product >> 32) as usize
    }

    /// A uniform number strictly between 0 and 1.
    fn uniform(&mut self) -> f64 {
        let (high, low) = (self.index(1 << 26) as u64, self.index(1 << 26) as u64);
        ((high << 26 | low) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    /// A standard normal number (Box and Muller 1958).
    fn normal(&mut self) -> f64 {
        (-2.0 * libm::log(self.uniform())).sqrt() * libm::cos(std::f64::consts::TAU * self.uniform())
    }
}

impl<R: Rng + ?Sized> ResampleRng for R {}

/// Streams for tests, by seed and name, as runs derive them.
#[cfg(test)]
pub(crate) fn stream(seed: u64, name: u32) -> rand_chacha::ChaCha8Rng {
    let mut key = [0; 32];
    key[0..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].fill(0xff);
    key[16..20].copy_from_slice(&name.to_le_bytes());
    key[20] = 5;
    key[24..32].copy_from_slice(b"cambio/1");
    rand::SeedableRng::from_seed(key)
}

#[cfg(test)]
mod tests;
