//! The network: sparse inputs, two hidden layers and one output, all in integers.
//!
//! The design follows the efficiently updatable networks of chess and shogi programs (NNUE, Nasu 2018): the first layer
//! is a sum of rows, one for each active input, and inputs that several positions share are summed once. All arithmetic
//! is on integers, so a decision is the same on every machine.

/// The width of the first hidden layer.
pub(super) const WIDTH: usize = 128;
/// The width of the second hidden layer.
pub(super) const SECOND: usize = 32;

/// The integer for 1.0 in inputs, rows and activations.
const ONE: i32 = 64;
/// The integer for 1.0 in the weights of the second and the last layer.
const WEIGHT_ONE: i32 = 512;
/// The maximum activation, about 16.0.
const HIGHEST: i16 = 1023;
/// The maximum absolute weight of the second and the last layer.
const MOST_WEIGHT: f32 = 4.0;
/// The same weight as an integer.
const MOST_INTEGER: i32 = MOST_WEIGHT as i32 * WEIGHT_ONE;
/// The maximum absolute bias of the first layer.
const MOST_FIRST_BIAS: i32 = 127 * 8;
/// The maximum absolute bias of the other layers. The sum of the largest products and the largest bias fits in an `i32`.
const MOST_BIAS: i32 = 1 << 27;
const _: () = {
    let most = WIDTH as i64 * HIGHEST as i64 * MOST_INTEGER as i64;
    assert!(SECOND <= WIDTH && most + (MOST_BIAS as i64) <= i32::MAX as i64);
};

/// The integer for 1.0 in the output, a logit.
pub(super) const LOGIT_ONE: i32 = ONE * WEIGHT_ONE;

/// The sums of the first layer.
pub(super) type Accumulator = [i16; WIDTH];

/// The weights of one input, as bytes, so that a row takes two cache lines.
pub(super) type WeightRow = [i8; WIDTH];

/// The weights of a network.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct NetworkWeights {
    /// One row for each input.
    pub(super) rows: Vec<WeightRow>,
    pub(super) bias: Accumulator,
    pub(super) second: SecondLayer,
    pub(super) second_bias: [i32; SECOND],
    pub(super) last: [i16; SECOND],
    pub(super) last_bias: i32,
}

impl NetworkWeights {
    /// The weights of all layers but the rows.
    pub(super) fn without_rows(&self) -> NetworkWeights {
        let NetworkWeights { ref second, bias, second_bias, last, last_bias, .. } = *self;
        NetworkWeights { rows: Vec::new(), bias, second: second.clone(), second_bias, last, last_bias }
    }

    /// Whether all weights are in the ranges of [`FloatNetwork::round`], so that no sum of a layer overflows.
    pub(super) fn are_confined(&self) -> bool {
        let most = |weights: &[i16], most: i32| weights.iter().all(|&weight| i32::from(weight).abs() <= most);
        most(&self.bias, MOST_FIRST_BIAS)
            && self.second.0.iter().all(|row| most(row, MOST_INTEGER))
            && most(&self.last, MOST_INTEGER)
            && self.second_bias.iter().chain([&self.last_bias]).all(|bias| bias.unsigned_abs() <= MOST_BIAS as u32)
    }

    /// The same weights as floating-point numbers.
    pub(super) fn floats(&self) -> FloatNetwork {
        let float = |weight: i32, one: i32| weight as f32 / one as f32;
        let small =
            |weights: &[i16], one| weights.iter().map(|&weight| float(weight.into(), one)).collect::<Vec<f32>>();
        FloatNetwork {
            rows: self.rows.iter().flatten().map(|&weight| float(weight.into(), ONE)).collect(),
            bias: small(&self.bias, ONE),
            second: (0..SECOND).flat_map(|unit| small(&self.second.row(unit), WEIGHT_ONE)).collect(),
            second_bias: self.second_bias.iter().map(|&bias| float(bias, LOGIT_ONE)).collect(),
            last: small(&self.last, WEIGHT_ONE),
            last_bias: float(self.last_bias, LOGIT_ONE),
        }
    }
}

/// The weights of the second layer. For each pair of inputs, the weights of all units are adjacent, so that the units
/// are summed in parallel.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct SecondLayer(pub(super) [[i16; 2 * SECOND]; WIDTH / 2]);

impl SecondLayer {
    pub(super) const ZERO: SecondLayer = SecondLayer([[0; 2 * SECOND]; WIDTH / 2]);

    /// The weights of one unit, by its inputs.
    pub(super) fn row(&self, unit: usize) -> Accumulator {
        std::array::from_fn(|input| self.0[input / 2][2 * unit + input % 2])
    }

    pub(super) fn set_row(&mut self, unit: usize, row: &Accumulator) {
        for (input, &weight) in row.iter().enumerate() {
            self.0[input / 2][2 * unit + input % 2] = weight;
        }
    }
}

/// Clamps the sums of a layer to the range of activations.
#[inline(always)]
pub(super) fn activations(sums: &Accumulator) -> Accumulator {
    sums.map(|sum| sum.clamp(0, HIGHEST))
}

impl NetworkWeights {
    /// The output for these sums of the second layer.
    #[inline(always)]
    pub(super) fn output(&self, second: &[i32; SECOND]) -> i32 {
        let mut output = self.last_bias;
        for ((&sum, &bias), &weight) in second.iter().zip(&self.second_bias).zip(&self.last) {
            let activation = ((sum + bias) >> WEIGHT_ONE.ilog2()).clamp(0, HIGHEST.into());
            output += activation * i32::from(weight);
        }
        output
    }
}

/// Adds `others` to `sums`. The weights are so small that no sum overflows, so the order does not matter.
#[inline]
pub(super) fn add(sums: &mut Accumulator, others: &Accumulator) {
    for (sum, &other) in sums.iter_mut().zip(others) {
        *sum = sum.wrapping_add(other);
    }
}

#[inline]
pub(super) fn subtract(sums: &mut Accumulator, others: &Accumulator) {
    for (sum, &other) in sums.iter_mut().zip(others) {
        *sum = sum.wrapping_sub(other);
    }
}

/// A network in floating-point numbers, for training.
///
/// The layers are `relu(bias + Σ rows of the active inputs)`, `relu(second_bias + second · …)` and `last_bias + last ·
/// …`; the output is a logit. [`FloatNetwork::confine`] keeps the weights in the range of the integers.
#[derive(Clone, PartialEq, Debug)]
pub struct FloatNetwork {
    /// One row of [`FloatNetwork::WIDTH`] weights for each input, one after the other.
    pub rows: Vec<f32>,
    /// The bias of the first layer.
    pub bias: Vec<f32>,
    /// One row of [`FloatNetwork::WIDTH`] weights for each of the [`FloatNetwork::SECOND`] units of the second layer.
    pub second: Vec<f32>,
    /// The bias of the second layer.
    pub second_bias: Vec<f32>,
    /// The weights of the output.
    pub last: Vec<f32>,
    /// The bias of the output.
    pub last_bias: f32,
}

impl FloatNetwork {
    /// The width of the first layer.
    pub const WIDTH: usize = WIDTH;
    /// The width of the second layer.
    pub const SECOND: usize = SECOND;
    /// The maximum absolute weight of a row.
    pub const MOST_ROW: f32 = 127.0 / ONE as f32;
    /// The maximum absolute weight of the other layers.
    pub const MOST_WEIGHT: f32 = MOST_WEIGHT - 0.01;
    /// The step of activations in the network that plays: the second layer is rounded down to a multiple of it.
    pub const STEP: f32 = 1.0 / ONE as f32;
    /// The maximum activation; higher values are clamped to it.
    pub const HIGHEST: f32 = HIGHEST as f32 / ONE as f32;

    /// A network whose weights are all 0.
    pub fn zero(inputs: usize) -> FloatNetwork {
        FloatNetwork {
            rows: vec![0.0; inputs * WIDTH],
            bias: vec![0.0; WIDTH],
            second: vec![0.0; SECOND * WIDTH],
            second_bias: vec![0.0; SECOND],
            last: vec![0.0; SECOND],
            last_bias: 0.0,
        }
    }

    /// Clamps every weight to the range of the integers.
    pub fn confine(&mut self) {
        let confine = |weights: &mut [f32], most: f32| {
            for weight in weights {
                *weight = weight.clamp(-most, most);
            }
        };
        confine(&mut self.rows, Self::MOST_ROW);
        confine(&mut self.bias, Self::MOST_ROW * 8.0);
        confine(&mut self.second, Self::MOST_WEIGHT);
        confine(&mut self.last, Self::MOST_WEIGHT);
    }

    /// Rounds all weights to integers.
    pub(super) fn round(&self) -> NetworkWeights {
        NetworkWeights {
            rows: self.rows.chunks_exact(WIDTH).map(FloatNetwork::round_row).collect(),
            ..self.round_layers()
        }
    }

    /// Rounds a row to integers.
    pub(super) fn round_row(row: &[f32]) -> WeightRow {
        small(row, ONE, i8::MAX.into()).map(|weight| weight as i8)
    }

    /// Rounds all weights except the rows to integers.
    pub(super) fn round_layers(&self) -> NetworkWeights {
        let bias = |weight: f32, one: i32| whole(weight, one, MOST_BIAS);
        let mut weights = NetworkWeights {
            rows: Vec::new(),
            bias: small(&self.bias, ONE, MOST_FIRST_BIAS),
            second: SecondLayer::ZERO,
            second_bias: [0; SECOND],
            last: [0; SECOND],
            last_bias: bias(self.last_bias, LOGIT_ONE),
        };
        for (unit, row) in self.second.chunks_exact(WIDTH).enumerate() {
            weights.second.set_row(unit, &small(row, WEIGHT_ONE, MOST_INTEGER));
        }
        for (to, &from) in weights.second_bias.iter_mut().zip(&self.second_bias) {
            *to = bias(from, LOGIT_ONE);
        }
        for (to, &from) in weights.last.iter_mut().zip(&self.last) {
            *to = whole(from, WEIGHT_ONE, MOST_INTEGER) as i16;
        }
        weights
    }
}

/// Rounds a weight to an integer from `-most` to `most`. `one` is the integer for 1.0.
fn whole(weight: f32, one: i32, most: i32) -> i32 {
    let scaled = (weight * one as f32).round_ties_even();
    (scaled as i32).clamp(-most, most)
}

/// Rounds [`WIDTH`] weights to integers.
fn small(weights: &[f32], one: i32, most: i32) -> Accumulator {
    let mut sums = [0; WIDTH];
    for (to, &from) in sums.iter_mut().zip(weights) {
        *to = whole(from, one, most) as i16;
    }
    sums
}

#[cfg(test)]
mod tests;
