//! Random bits and arithmetic for searches: fast, and the same on every machine.

/// The random bits of one iteration, from the seed of the decision and the number of the iteration.
pub(crate) use cambio_core::rng::SplitMix as Bits;
pub(crate) use cambio_core::rng::mix;

/// The natural logarithm of a whole number, to within 0.06. It is computed from the number's bits, because a library
/// function may differ in the last digit between machines, but a search must decide the same on all of them.
pub(crate) fn logarithm(number: u32) -> f64 {
    let number = number.max(1);
    let power = number.ilog2();
    let fraction = f64::from(number) / f64::from(1u32 << power) - 1.0;
    std::f64::consts::LN_2 * (f64::from(power) + fraction)
}
