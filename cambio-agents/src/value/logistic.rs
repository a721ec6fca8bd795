//! A logistic model of match wins: a seat's chance is proportional to exp(β x); x is 0 for the leader, else negative.

use cambio_core::rules::MAX_SEATS;

/// One observation: each seat's x (0 for the leader, negative for a seat that is behind), and its win share.
pub(super) type Sample = ([f64; MAX_SEATS], [f64; MAX_SEATS]);

/// The maximum likelihood estimate of β, by Newton's method: the log-likelihood is concave.
pub(super) fn slope(samples: &[Sample], seats: usize) -> f64 {
    const STEPS: usize = 30;
    let mut slope = 0.0;
    for _ in 0..STEPS {
        // A weak prior keeps β near 0 if there are few samples.
        let (mut gradient, mut curvature) = (-slope, 1.0);
        for (behind, shares) in samples {
            let weights = behind.map(|behind| exponential(slope * behind));
            let all: f64 = weights[..seats].iter().sum();
            let chance = |seat: usize| weights[seat] / all;
            let mean: f64 = (0..seats).map(|seat| chance(seat) * behind[seat]).sum();
            let square: f64 = (0..seats).map(|seat| chance(seat) * behind[seat] * behind[seat]).sum();
            gradient += (0..seats).map(|seat| shares[seat] * behind[seat]).sum::<f64>() - mean;
            curvature += square - mean * mean;
        }
        slope += gradient / curvature;
    }
    slope
}

/// eˣ by its Taylor series after repeated halving of the argument: the result is the same on every machine.
pub(super) fn exponential(power: f64) -> f64 {
    const HALVINGS: i32 = 10;
    let small = power.clamp(-200.0, 200.0) / f64::from(1 << HALVINGS);
    let mut result = 1.0 + small * (1.0 + small / 2.0 * (1.0 + small / 3.0 * (1.0 + small / 4.0)));
    for _ in 0..HALVINGS {
        result *= result;
    }
    result
}
