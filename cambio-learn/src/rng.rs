//! Random numbers for training: `SplitMix`, the same on every machine.

use cambio_core::rng::SplitMix;

/// Random numbers from a seed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeededRng(SplitMix);

impl SeededRng {
    pub(crate) fn new(seed: u64) -> SeededRng {
        SeededRng(SplitMix::new(seed, 0_u32))
    }

    /// The numbers for one match under a recipe's seed, independent of the match's cards.
    pub(crate) fn of_match(seed: u64, number: u64) -> SeededRng {
        let base = SplitMix::new(seed, 0_u32).word();
        SeededRng::new(SplitMix::new(base, number).word())
    }

    /// A uniform number from 0 to 1, excluding 1.
    pub(crate) fn share(&mut self) -> f32 {
        (self.0.word() >> 40) as f32 / (1_u32 << 24) as f32
    }

    /// A uniform integer below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (((self.0.word() >> 32) * end as u64) >> 32) as usize
    }
}
