//! Chance for learning: a counter through a mixing function, the same on every machine.

/// Random numbers from a seed: `SplitMix64` (Steele, Lea and Flood 2014).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    /// The chance of one match of a recipe's seed. It is not that of the match's cards.
    pub(crate) fn of_match(seed: u64, number: u64) -> Chance {
        let base = Chance(seed).word();
        Chance(Chance(base ^ number.wrapping_mul(0xd134_2543_de82_ef95)).word())
    }

    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A number from 0 to 1, without 1.
    pub(crate) fn share(&mut self) -> f32 {
        (self.word() >> 40) as f32 / (1_u32 << 24) as f32
    }

    /// A whole number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (((self.word() >> 32) * end as u64) >> 32) as usize
    }
}
