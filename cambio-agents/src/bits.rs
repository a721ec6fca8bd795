//! Chance and arithmetic for searches: fast, and the same on every machine.

use rand::TryRng;

/// Random bits for one iteration, from a counter: `SplitMix64` (Steele, Lea and Flood 2014).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bits(u64);

impl Bits {
    /// The bits of one iteration. `base` belongs to the decision.
    pub(crate) fn new(base: u64, iteration: u32) -> Bits {
        Bits(base ^ u64::from(iteration).wrapping_mul(0xd134_2543_de82_ef95))
    }
}

impl TryRng for Bits {
    type Error = std::convert::Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        self.try_next_u64().map(|word| (word >> 32) as u32)
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        Ok(mix(self.0))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        for chunk in bytes.chunks_mut(8) {
            let word = self.try_next_u64()?.to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        Ok(())
    }
}

/// Maps words one to one and lets every bit affect every other: the finalizer of `SplitMix64`.
#[inline]
pub(crate) const fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// The natural logarithm of a whole number, to within 0.06. It comes from the number's bits alone, because a library's
/// logarithm may differ in the last digit between machines, and the decisions of a search must not.
pub(crate) fn logarithm(number: u32) -> f64 {
    let number = number.max(1);
    let power = number.ilog2();
    let fraction = f64::from(number) / f64::from(1u32 << power) - 1.0;
    std::f64::consts::LN_2 * (f64::from(power) + fraction)
}
