use pulp::Arch;

use super::super::vectors::Vectors;
use super::*;

/// A network whose weights are not changed by the rounding to integers.
fn floats(inputs: usize) -> FloatNetwork {
    let mut state = 1_u32;
    let mut next = |range: i32, one: f32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((state >> 16) as i32 % (2 * range + 1) - range) as f32 / one
    };
    let mut floats = FloatNetwork::zero(inputs);
    floats.rows.iter_mut().for_each(|weight| *weight = next(40, 64.0));
    floats.bias.iter_mut().for_each(|weight| *weight = next(40, 64.0));
    floats.second.iter_mut().for_each(|weight| *weight = next(200, 512.0));
    floats.last.iter_mut().for_each(|weight| *weight = next(400, 512.0));
    floats.last_bias = 0.25;
    floats
}

#[test]
fn whole_numbers_follow_floats() {
    let floats = floats(50);
    let weights = floats.round();
    for start in 0..20 {
        let on: Vec<usize> = (start..start + 25).collect();
        let mut sums = weights.bias;
        for &input in &on {
            Vectors::new().add(&weights, &mut sums, &[input as u16]);
        }
        let relu = |sum: f32| sum.clamp(0.0, FloatNetwork::HIGHEST);
        let first: Vec<f32> = (0..WIDTH)
            .map(|unit| relu(floats.bias[unit] + on.iter().map(|input| floats.rows[input * WIDTH + unit]).sum::<f32>()))
            .collect();
        let second = floats.second.chunks_exact(WIDTH).zip(&floats.second_bias).map(|(row, bias)| {
            relu(bias + row.iter().zip(&first).map(|(weight, activation)| weight * activation).sum::<f32>())
        });
        let logit = floats.last_bias + second.zip(&floats.last).map(|(a, weight)| a * weight).sum::<f32>();
        let whole = Vectors::new().value(&weights, &sums, &[]) as f32 / LOGIT_ONE as f32;
        // Each unit of the second layer is rounded down to a 64th.
        assert!((whole - logit).abs() < 0.5, "{whole} for {logit}");
    }
}

#[test]
fn whole_numbers_come_back_from_floats() {
    let weights = floats(20).round();
    assert!(weights.floats().round() == weights);
}

#[test]
fn vectors_of_every_width_give_the_same() {
    let weights = floats(200).round();
    for start in 0..100 {
        let on: Vec<u16> = (start..start + 7 * (start % 14)).collect();
        let (none, mut plain) = (Vectors(Arch::Scalar), weights.bias);
        none.add(&weights, &mut plain, &on);
        let mut widths = vec![Arch::new()];
        #[cfg(target_arch = "x86_64")]
        widths.extend(pulp::x86::V3::try_new().map(Arch::V3));
        for wide in widths.into_iter().map(Vectors) {
            let mut sums = weights.bias;
            wide.add(&weights, &mut sums, &on);
            assert_eq!(sums, plain);
            assert_eq!(wide.value(&weights, &sums, &on), none.value(&weights, &plain, &on));
        }
    }
}

#[test]
fn nothing_overflows_at_the_ends_of_the_ranges() {
    let mut floats = FloatNetwork::zero(240);
    floats.rows.fill(9.0);
    floats.bias.fill(99.0);
    floats.second.fill(9.0);
    floats.last.fill(9.0);
    floats.confine();
    let weights = floats.round();
    let mut sums = weights.bias;
    let all: Vec<u16> = (0..240).collect();
    Vectors::new().add(&weights, &mut sums, &all);
    let bias = i32::from(weights.bias[0]);
    assert_eq!(i32::from(sums[0]), bias + 240 * i32::from(weights.rows[0][0]));
    assert!(Vectors::new().value(&weights, &sums, &[]) > 0);
}
