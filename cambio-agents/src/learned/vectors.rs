//! Computes networks with the widest vector instructions of the machine, which are chosen at run time.

use pulp::{Arch, Simd, WithSimd};
#[cfg(target_arch = "x86_64")]
use pulp::{
    NullaryFnOnce,
    x86::{V3, V4},
};

use super::network::{Accumulator, NetworkWeights, SECOND, SecondLayer, WIDTH, WeightRow, activations};

/// Computes networks. The results do not depend on the machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vectors(pub(super) Arch);

impl Vectors {
    /// The widest vector instructions of this machine.
    pub(super) fn new() -> Vectors {
        Vectors(Arch::new())
    }

    /// Adds the rows of the active inputs `on`.
    #[inline]
    pub(super) fn add(self, weights: &NetworkWeights, sums: &mut Accumulator, on: &[u16]) {
        self.0.dispatch(Add { weights, sums, on });
    }

    /// The output for these sums plus the rows of the inputs `on`: a logit times [`super::network::LOGIT_ONE`].
    #[inline]
    pub(super) fn value(self, weights: &NetworkWeights, sums: &Accumulator, on: &[u16]) -> i32 {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Arch::V4(lanes) => lanes.vectorize(WideValue { lanes, weights, sums, on }),
            #[cfg(target_arch = "x86_64")]
            Arch::V3(lanes) => lanes.vectorize(WideValue { lanes, weights, sums, on }),
            _ => weights.output(&second(&weights.second, &activations(&with_rows(weights, sums, on)))),
        }
    }
}

/// The body of [`Vectors::add`]. A closure would not be compiled for the vector instructions.
struct Add<'a> {
    weights: &'a NetworkWeights,
    sums: &'a mut Accumulator,
    on: &'a [u16],
}

impl WithSimd for Add<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        *self.sums = with_rows(self.weights, self.sums, self.on);
    }
}

/// The body of [`Vectors::value`].
#[cfg(target_arch = "x86_64")]
struct WideValue<'a, L> {
    lanes: L,
    weights: &'a NetworkWeights,
    sums: &'a Accumulator,
    on: &'a [u16],
}

#[cfg(target_arch = "x86_64")]
impl<L: Lanes> NullaryFnOnce for WideValue<'_, L> {
    type Output = i32;

    #[inline(always)]
    fn call(self) -> i32 {
        let first = activations(&with_rows(self.weights, self.sums, self.on));
        self.weights.output(&self.lanes.second(&self.weights.second, &first))
    }
}

/// The sums plus the rows of the active inputs `on`.
#[inline(always)]
fn with_rows(weights: &NetworkWeights, sums: &Accumulator, on: &[u16]) -> Accumulator {
    // With a copy, the compiler knows that the sums do not overlap the rows.
    let mut sums = *sums;
    // Four rows at a time, so that the sums are read and written a quarter as often.
    let (fours, rest) = on.as_chunks::<4>();
    for four in fours {
        let [a, b, c, d] = four.map(|input| &weights.rows[usize::from(input)]);
        for at in 0..WIDTH {
            let weight = |row: &WeightRow| i16::from(row[at]);
            sums[at] = sums[at].wrapping_add((weight(a) + weight(b)) + (weight(c) + weight(d)));
        }
    }
    for &input in rest {
        for (sum, &weight) in sums.iter_mut().zip(&weights.rows[usize::from(input)]) {
            *sum = sum.wrapping_add(weight.into());
        }
    }
    sums
}

/// The sums of the second layer.
fn second(second: &SecondLayer, first: &Accumulator) -> [i32; SECOND] {
    let mut sums = [0; SECOND];
    let (pairs, _) = first.as_chunks::<2>();
    for (&[one, other], weights) in pairs.iter().zip(&second.0) {
        let (weights, _) = weights.as_chunks::<2>();
        for (sum, &[weight, its]) in sums.iter_mut().zip(weights) {
            *sum += i32::from(one) * i32::from(weight) + i32::from(other) * i32::from(its);
        }
    }
    sums
}

/// Sums the second layer with the instruction that adds pairs of products, which compilers do not generate.
#[cfg(target_arch = "x86_64")]
trait Lanes {
    fn second(self, second: &SecondLayer, first: &Accumulator) -> [i32; SECOND];
}

#[cfg(target_arch = "x86_64")]
impl Lanes for V3 {
    #[inline(always)]
    fn second(self, second: &SecondLayer, first: &Accumulator) -> [i32; SECOND] {
        let pairs: [i32; WIDTH / 2] = pulp::cast(*first);
        let mut sums = [self.avx._mm256_setzero_si256(); SECOND / 8];
        for (&pair, weights) in pairs.iter().zip(&second.0) {
            let pair = self.avx._mm256_set1_epi32(pair);
            let (weights, _) = weights.as_chunks::<16>();
            for (sum, weights) in sums.iter_mut().zip(weights) {
                let products = self.avx2._mm256_madd_epi16(pair, pulp::cast(*weights));
                *sum = self.avx2._mm256_add_epi32(*sum, products);
            }
        }
        pulp::cast(sums)
    }
}

#[cfg(target_arch = "x86_64")]
impl Lanes for V4 {
    #[inline(always)]
    fn second(self, second: &SecondLayer, first: &Accumulator) -> [i32; SECOND] {
        let pairs: [i32; WIDTH / 2] = pulp::cast(*first);
        // Two sums for each unit, so that an addition does not wait for the previous one. They are two variables
        // because the compiler would keep an indexed array in memory.
        let (mut even, mut odd) =
            ([self.avx512f._mm512_setzero_si512(); SECOND / 16], [self.avx512f._mm512_setzero_si512(); SECOND / 16]);
        let add = |sums: &mut [_; SECOND / 16], pair: i32, weights: &[i16; 2 * SECOND]| {
            let pair = self.avx512f._mm512_set1_epi32(pair);
            let (weights, _) = weights.as_chunks::<32>();
            for (sum, weights) in sums.iter_mut().zip(weights) {
                let products = self.avx512bw._mm512_madd_epi16(pair, pulp::cast(*weights));
                *sum = self.avx512f._mm512_add_epi32(*sum, products);
            }
        };
        let (twos, _) = pairs.as_chunks::<2>();
        let (weights, _) = second.0.as_chunks::<2>();
        for ([pair, other], [weights, its]) in twos.iter().zip(weights) {
            add(&mut even, *pair, weights);
            add(&mut odd, *other, its);
        }
        pulp::cast([self.avx512f._mm512_add_epi32(even[0], odd[0]), self.avx512f._mm512_add_epi32(even[1], odd[1])])
    }
}
