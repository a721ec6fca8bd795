//! Gradient steps: the network in floating point, its gradient, and Adam (Kingma and Ba 2015).
//!
//! Every number is computed in a fixed order with operations that IEEE 754 defines exactly, so the same samples give
//! the same bits on every machine and for every SIMD width.

#![expect(clippy::inline_always, reason = "only inlined code is compiled for the SIMD width of the machine")]

use std::ops::Range;

use cambio_agents::{FloatNetwork, Network, NetworkInputs};
use pulp::{Arch, Simd, WithSimd};

use crate::rng::SeededRng;
use crate::samples::{ChoiceSamples, PolicySamples, Samples};

const WIDTH: usize = FloatNetwork::WIDTH;
const SECOND: usize = FloatNetwork::SECOND;

/// Adam's β₁: the decay of the moving average of the gradients.
const BETA: f32 = 0.9;
/// Adam's β₂: the decay of the moving average of the squared gradients.
const BETA_SQUARED: f32 = 0.999;
/// The number of steps between updates of the averaged weights, with which the final network plays.
const AVERAGE_EVERY: u64 = 16;
/// The smallest share of an update in the average.
const LEAST_SHARE: f32 = 0.005;

/// The share of the nth update in the average, which is mostly of the last quarter of the updates, so the initial weights
/// have no part in it: polynomial decay with η = 3 (Shamir and Zhang 2013, "Stochastic Gradient Descent for Non-smooth
/// Optimization"). After many updates it is a moving average of the last few hundred.
fn average_share(update: u64) -> f32 {
    (4.0 / (update as f32 + 3.0)).max(LEAST_SHARE)
}

/// The offsets of the layers in one array: rows, bias, second layer by its inputs, its bias, last layer, its bias.
#[derive(Clone, Copy, Debug)]
struct ParameterOffsets {
    bias: usize,
    second: usize,
    second_bias: usize,
    last: usize,
    last_bias: usize,
    len: usize,
}

impl ParameterOffsets {
    const fn new(inputs: usize) -> ParameterOffsets {
        let bias = inputs * WIDTH;
        let second = bias + WIDTH;
        let second_bias = second + WIDTH * SECOND;
        let last = second_bias + SECOND;
        ParameterOffsets { bias, second, second_bias, last, last_bias: last + SECOND, len: last + SECOND + 1 }
    }
}

/// A set of inputs in insertion order.
#[derive(Clone, Debug)]
struct InputSet {
    inputs: Vec<u16>,
    has: Vec<bool>,
}

impl InputSet {
    /// An empty set of inputs below `of`.
    fn new(of: usize) -> InputSet {
        InputSet { inputs: Vec::new(), has: vec![false; of] }
    }

    /// Inserts an input, and returns whether it is new.
    #[inline]
    fn insert(&mut self, input: u16) -> bool {
        let is_new = !std::mem::replace(&mut self.has[usize::from(input)], true);
        if is_new {
            self.inputs.push(input);
        }
        is_new
    }

    fn inputs(&self) -> &[u16] {
        &self.inputs
    }

    fn clear(&mut self) {
        for input in self.inputs.drain(..) {
            self.has[usize::from(input)] = false;
        }
    }
}

/// The rows of a general network under the rules of the present samples, as far as they are active: each is a sum of general rows.
#[derive(Clone, Debug)]
struct SystemRows {
    inputs: Option<NetworkInputs>,
    active: InputSet,
    rows: Vec<f32>,
    gradient: Vec<f32>,
    /// The bias with the rows that are always active, and its gradient.
    bias: [f32; WIDTH],
    bias_gradient: [f32; WIDTH],
}

/// Trains a network to predict win shares.
#[derive(Clone, Debug)]
pub(crate) struct Trainer {
    parts: ParameterOffsets,
    weights: Vec<f32>,
    average: Vec<f32>,
    gradient: Vec<f32>,
    /// The weights of the second layer by its units: the transpose of their order in `weights`.
    across: Vec<f32>,
    mean: Vec<f32>,
    squares: Vec<f32>,
    /// The inputs that were active in this batch.
    touched: InputSet,
    system: SystemRows,
    /// The inputs whose weights changed since the last [`Trainer::follow`].
    moved: InputSet,
    steps: u64,
    arch: Arch,
}

/// The loss of a batch.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Loss {
    /// The sum of the cross-entropies, in nats.
    pub(crate) sum: f64,
    pub(crate) samples: u64,
}

impl Trainer {
    /// Creates a network with random weights.
    pub(crate) fn new(inputs: usize, seed: u64) -> Trainer {
        let parts = ParameterOffsets::new(inputs);
        let mut weights = vec![0.0; parts.len];
        let mut chance = SeededRng::new(seed);
        let mut fill = |range: std::ops::Range<usize>, scale: f32| {
            for weight in &mut weights[range] {
                *weight = scale * 2.0 * (chance.share() + chance.share() + chance.share() - 1.5);
            }
        };
        fill(0..parts.bias, 0.12);
        fill(parts.second..parts.second_bias, libm::sqrtf(2.0 / WIDTH as f32));
        fill(parts.last..parts.last_bias, libm::sqrtf(1.0 / SECOND as f32));
        Trainer::with(inputs, weights)
    }

    /// Starts from the weights of a network.
    pub(crate) fn from_floats(inputs: usize, floats: &FloatNetwork) -> Trainer {
        let parts = ParameterOffsets::new(inputs);
        let mut weights = vec![0.0; parts.len];
        weights[..parts.bias].copy_from_slice(&floats.rows);
        weights[parts.bias..parts.second].copy_from_slice(&floats.bias);
        for (unit, row) in floats.second.chunks_exact(WIDTH).enumerate() {
            for (from, &weight) in row.iter().enumerate() {
                weights[parts.second + from * SECOND + unit] = weight;
            }
        }
        weights[parts.second_bias..parts.last].copy_from_slice(&floats.second_bias);
        weights[parts.last..parts.last_bias].copy_from_slice(&floats.last);
        weights[parts.last_bias] = floats.last_bias;
        Trainer::with(inputs, weights)
    }

    fn with(inputs: usize, weights: Vec<f32>) -> Trainer {
        let parts = ParameterOffsets::new(inputs);
        let zeros = || vec![0.0; parts.len];
        Trainer {
            parts,
            average: weights.clone(),
            across: across(&weights[parts.second..][..WIDTH * SECOND]),
            weights,
            gradient: zeros(),
            mean: zeros(),
            squares: zeros(),
            touched: InputSet::new(inputs),
            system: SystemRows {
                inputs: None,
                active: InputSet::new(0),
                rows: Vec::new(),
                gradient: Vec::new(),
                bias: [0.0; WIDTH],
                bias_gradient: [0.0; WIDTH],
            },
            moved: InputSet::new(inputs),
            steps: 0,
            arch: Arch::new(),
        }
    }

    /// The current weights.
    pub(crate) fn current(&self) -> FloatNetwork {
        self.floats(&self.weights)
    }

    /// The averaged weights, which play better. After a random start, rows of inputs that never occurred are set to 0.
    pub(crate) fn averaged(&self, began_at_random: bool) -> FloatNetwork {
        let mut floats = self.floats(&self.average);
        if began_at_random {
            for (row, squares) in floats.rows.chunks_exact_mut(WIDTH).zip(self.squares.chunks_exact(WIDTH)) {
                if squares.iter().all(|&square| square == 0.0) {
                    row.fill(0.0);
                }
            }
        }
        floats
    }

    /// Updates a quantized network to the current weights. The network must have been made from these weights, or
    /// updated by the previous call, because only rows that have changed since then are quantized again.
    pub(crate) fn follow(&mut self, network: &mut Network) {
        let mut floats = FloatNetwork::zero(0);
        self.fill_layers(&self.weights, &mut floats);
        let row = |&input: &u16| (input.into(), &self.weights[usize::from(input) * WIDTH..][..WIDTH]);
        network.update(self.moved.inputs().iter().map(row), &floats);
        self.moved.clear();
    }

    fn floats(&self, weights: &[f32]) -> FloatNetwork {
        let parts = self.parts;
        let mut floats = FloatNetwork::zero(parts.bias / WIDTH);
        floats.rows.copy_from_slice(&weights[..parts.bias]);
        self.fill_layers(weights, &mut floats);
        floats.confine();
        floats
    }

    /// Copies all layers except the rows of the inputs.
    fn fill_layers(&self, weights: &[f32], floats: &mut FloatNetwork) {
        let parts = self.parts;
        floats.bias.copy_from_slice(&weights[parts.bias..parts.second]);
        for (unit, row) in floats.second.chunks_exact_mut(WIDTH).enumerate() {
            for (from, weight) in row.iter_mut().enumerate() {
                *weight = weights[parts.second + from * SECOND + unit];
            }
        }
        floats.second_bias.copy_from_slice(&weights[parts.second_bias..parts.last]);
        floats.last.copy_from_slice(&weights[parts.last..parts.last_bias]);
        floats.last_bias = weights[parts.last_bias];
    }

    /// The whole state that the next step depends on, for a checkpoint.
    pub(crate) fn state(&self) -> (u64, [&[f32]; 4]) {
        (self.steps, [&self.weights, &self.average, &self.mean, &self.squares])
    }

    /// The number of weights of a network with this many inputs.
    pub(crate) fn len(inputs: usize) -> usize {
        ParameterOffsets::new(inputs).len
    }

    /// Restores a state from [`Trainer::state`], whose parts have [`Trainer::len`] numbers each.
    pub(crate) fn restore(inputs: usize, steps: u64, [weights, average, mean, squares]: [Vec<f32>; 4]) -> Trainer {
        Trainer { average, mean, squares, steps, ..Trainer::with(inputs, weights) }
    }

    /// A gradient step on decisions with their returns.
    pub(crate) fn step_values(&mut self, samples: &Samples, batch: Range<usize>, rate: f32) -> Loss {
        self.arch.dispatch(Step { trainer: self, lesson: Values(samples), batch, rate })
    }

    /// A gradient step on the decisions of a policy, with the advantage of each decision.
    pub(crate) fn step_policy(
        &mut self,
        samples: &PolicySamples,
        advantages: &[f32],
        batch: Range<usize>,
        rate: f32,
        surrogate: Surrogate,
    ) -> Loss {
        let lesson = Policy { samples, advantages, surrogate, forward: Vec::new() };
        self.arch.dispatch(Step { trainer: self, lesson, batch, rate })
    }

    /// The predicted win share of each sample.
    pub(crate) fn predict(&self, samples: &Samples) -> Vec<f32> {
        self.arch.dispatch(Prediction { trainer: self, samples })
    }

    /// Computes the activations for each candidate of a decision, and returns the highest logit and the sum of
    /// exp(logit − highest).
    #[inline(always)]
    fn softmax<S: Simd>(
        &mut self,
        simd: S,
        choices: &ChoiceSamples,
        number: usize,
        forward: &mut Vec<Activations>,
    ) -> (f32, f32) {
        let candidates = choices.get(number).len();
        forward.resize(candidates.max(forward.len()), Activations::NONE);
        let mut most = f32::MIN;
        for ((on, _), forward) in choices.get(number).zip(&mut *forward) {
            self.prepare(choices.inputs(number), on);
            self.forward(simd, on, forward);
            most = most.max(forward.logit);
        }
        let sum: f32 = forward[..candidates].iter().map(|forward| libm::expf(forward.logit - most)).sum();
        (most, sum)
    }

    /// Prepares the rows of these inputs for [`Trainer::forward`], if the network is general.
    #[inline(always)]
    fn prepare(&mut self, inputs: Option<&NetworkInputs>, on: &[u16]) {
        let Some((inputs, embedding)) = inputs.and_then(|inputs| Some((inputs, inputs.embedding()?))) else { return };
        if self.system.inputs.as_ref().is_none_or(|before| before.rules() != inputs.rules()) {
            self.leave();
            let system = &mut self.system;
            system.inputs = Some(inputs.clone());
            system.bias.copy_from_slice(&self.weights[self.parts.bias..][..WIDTH]);
            for &general in embedding.always() {
                add(&mut system.bias, &self.weights[usize::from(general) * WIDTH..][..WIDTH]);
            }
            let inputs = embedding.inputs().max(system.active.has.len());
            system.active.has.resize(inputs, false);
            system.rows.resize(inputs * WIDTH, 0.0);
            system.gradient.resize(inputs * WIDTH, 0.0);
        }
        let system = &mut self.system;
        for &input in on {
            if system.active.insert(input) {
                let at = usize::from(input) * WIDTH;
                system.gradient[at..][..WIDTH].fill(0.0);
                let row = &mut system.rows[at..][..WIDTH];
                row.fill(0.0);
                for &general in embedding.of(input.into()) {
                    add(row, &self.weights[usize::from(general) * WIDTH..][..WIDTH]);
                }
            }
        }
    }

    /// Adds the gradients of the rows under the present rules to the gradients of the general rows.
    #[inline(always)]
    fn leave(&mut self) {
        let SystemRows { inputs, active, gradient, bias_gradient, .. } = &mut self.system;
        let Some(inputs) = inputs.take() else { return };
        let embedding = inputs.embedding().expect("the inputs are general");
        let mut give = |general: u16, slopes: &[f32]| {
            self.touched.insert(general);
            add(&mut self.gradient[usize::from(general) * WIDTH..][..WIDTH], slopes);
        };
        for &general in embedding.always() {
            give(general, bias_gradient);
        }
        for &input in active.inputs() {
            for &general in embedding.of(input.into()) {
                give(general, &gradient[usize::from(input) * WIDTH..][..WIDTH]);
            }
        }
        add(&mut self.gradient[self.parts.bias..][..WIDTH], bias_gradient);
        bias_gradient.fill(0.0);
        active.clear();
    }

    /// Computes the output and the activations for these inputs.
    #[inline(always)]
    fn forward<S: Simd>(&self, simd: S, on: &[u16], forward: &mut Activations) {
        let parts = self.parts;
        let weights = &self.weights[..];
        let (rows, bias) = match self.system.inputs {
            None => (&weights[..parts.bias], &weights[parts.bias..][..WIDTH]),
            Some(_) => (&self.system.rows[..], &self.system.bias[..]),
        };
        let mut first = [0.0_f32; WIDTH];
        first.copy_from_slice(bias);
        for &input in on {
            let row = &rows[usize::from(input) * WIDTH..][..WIDTH];
            for (sum, &weight) in first.iter_mut().zip(row) {
                *sum += weight;
            }
        }
        let Activations { active, second, logit } = forward;
        for (activation, &sum) in active.iter_mut().zip(&first) {
            *activation = sum.clamp(0.0, FloatNetwork::HIGHEST);
        }
        second.copy_from_slice(&weights[parts.second_bias..][..SECOND]);
        for (&activation, row) in active.iter().zip(weights[parts.second..][..WIDTH * SECOND].chunks_exact(SECOND)) {
            if activation > 0.0 {
                add_scaled(simd, second, activation, row);
            }
        }
        let last = &weights[parts.last..][..SECOND];
        let mut products = [0.0_f32; SECOND];
        for ((product, &sum), &weight) in products.iter_mut().zip(&*second).zip(last) {
            *product = sum.clamp(0.0, FloatNetwork::HIGHEST) * weight;
        }
        *logit = weights[parts.last_bias] + total(&products);
    }

    /// Adds the gradient for these inputs, from the activations and the slope of the loss with respect to the output.
    #[inline(always)]
    fn backward<S: Simd>(&mut self, simd: S, on: &[u16], forward: &Activations, slope: f32) {
        let parts = self.parts;
        let Activations { active, second, .. } = forward;
        let last = &self.weights[parts.last..][..SECOND];
        let gradient = &mut self.gradient[..];
        gradient[parts.last_bias] += slope;
        let mut back = [0.0_f32; SECOND];
        for ((back, &sum), &weight) in back.iter_mut().zip(second).zip(last) {
            *back = if sum > 0.0 && sum < FloatNetwork::HIGHEST { slope * weight } else { 0.0 };
        }
        for (by, &sum) in gradient[parts.last..][..SECOND].iter_mut().zip(second) {
            *by += slope * sum.clamp(0.0, FloatNetwork::HIGHEST);
        }
        for (by, &back) in gradient[parts.second_bias..][..SECOND].iter_mut().zip(&back) {
            *by += back;
        }
        let slopes = gradient[parts.second..][..WIDTH * SECOND].chunks_exact_mut(SECOND);
        for (&activation, slopes) in active.iter().zip(slopes) {
            if activation > 0.0 {
                add_scaled(simd, slopes, activation, &back);
            }
        }
        let mut through = [0.0_f32; WIDTH];
        for (&back, row) in back.iter().zip(self.across.chunks_exact(WIDTH)) {
            if back != 0.0 {
                add_scaled(simd, &mut through, back, row);
            }
        }
        for (through, &activation) in through.iter_mut().zip(active) {
            *through = if activation > 0.0 && activation < FloatNetwork::HIGHEST { *through } else { 0.0 };
        }
        let system = &mut self.system;
        if system.inputs.is_some() {
            add(&mut system.bias_gradient, &through);
            for &input in on {
                add(&mut system.gradient[usize::from(input) * WIDTH..][..WIDTH], &through);
            }
            return;
        }
        add(&mut gradient[parts.bias..][..WIDTH], &through);
        for &input in on {
            self.touched.insert(input);
            add(&mut gradient[usize::from(input) * WIDTH..][..WIDTH], &through);
        }
    }

    /// An Adam step on some weights, from their gradients times `scale`. It is inlined, because a function of its own would not be
    /// compiled for each SIMD width.
    #[inline(always)]
    fn adam(&mut self, weights: Range<usize>, scale: f32, rate: f32, most: f32) {
        let moments = self.mean[weights.clone()].iter_mut().zip(&mut self.squares[weights.clone()]);
        let slopes = self.weights[weights.clone()].iter_mut().zip(&mut self.gradient[weights]);
        for ((weight, slope), (mean, square)) in slopes.zip(moments) {
            let by = *slope * scale;
            *mean = BETA * *mean + (1.0 - BETA) * by;
            *square = BETA_SQUARED * *square + (1.0 - BETA_SQUARED) * by * by;
            *weight = (*weight - rate * *mean / (square.sqrt() + 1e-8)).clamp(-most, most);
            *slope = 0.0;
        }
    }

    /// An Adam step on the parameters that the batch touched.
    #[inline(always)]
    fn update(&mut self, batch: usize, rate: f32) {
        self.leave();
        self.steps += 1;
        // After this many steps Adam's bias corrections are 1 in single precision.
        let steps = self.steps.min(100_000) as i32;
        let scale = 1.0 / batch.max(1) as f32;
        let rate = rate * libm::sqrtf(1.0 - power(BETA_SQUARED, steps)) / (1.0 - power(BETA, steps));
        for index in 0..self.touched.inputs().len() {
            let at = usize::from(self.touched.inputs()[index]) * WIDTH;
            self.adam(at..at + WIDTH, scale, rate, FloatNetwork::MOST_ROW);
        }
        let parts = self.parts;
        self.adam(parts.bias..parts.second, scale, rate, FloatNetwork::MOST_ROW * 8.0);
        self.adam(parts.second..parts.second_bias, scale, rate, FloatNetwork::MOST_WEIGHT);
        self.adam(parts.second_bias..parts.last, scale, rate, 1000.0);
        self.adam(parts.last..parts.last_bias, scale, rate, FloatNetwork::MOST_WEIGHT);
        self.adam(parts.last_bias..parts.len, scale, rate, 1000.0);
        self.across = across(&self.weights[parts.second..][..WIDTH * SECOND]);
        for &input in self.touched.inputs() {
            self.moved.insert(input);
        }
        self.touched.clear();
        if self.steps < AVERAGE_EVERY || self.steps.is_multiple_of(AVERAGE_EVERY) {
            let share = average_share((self.steps / AVERAGE_EVERY).max(1));
            for (average, &weight) in self.average.iter_mut().zip(&self.weights) {
                *average = (1.0 - share) * *average + share * weight;
            }
        }
    }
}

/// The activations for one set of inputs.
#[derive(Clone, Copy)]
struct Activations {
    /// The activations of the first layer.
    active: [f32; WIDTH],
    /// The sums of the second layer.
    second: [f32; SECOND],
    logit: f32,
}

impl Activations {
    const NONE: Activations = Activations { active: [0.0; WIDTH], second: [0.0; SECOND], logit: 0.0 };
}

/// The objective of a policy: the clipped surrogate of proximal policy optimization (Schulman et al. 2017), plus the
/// entropy of the probabilities.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surrogate {
    /// The change of a probability, as a ratio, from which its slope is 0.
    pub(crate) clip: f32,
    /// The value of one nat of entropy, in win shares.
    pub(crate) entropy: f32,
}

/// Adds `by` times the numbers of `from` to `to`. Numbers that do not fill a whole SIMD vector are skipped.
#[inline(always)]
fn add_scaled<S: Simd>(simd: S, to: &mut [f32], by: f32, from: &[f32]) {
    let by = simd.splat_f32s(by);
    // Product and sum are rounded separately, because fused operations are not the same on every machine.
    for (to, &from) in S::as_mut_simd_f32s(to).0.iter_mut().zip(S::as_simd_f32s(from).0) {
        *to = simd.add_f32s(*to, simd.mul_f32s(by, from));
    }
}

/// Adds the numbers of `from` to `to`.
#[inline(always)]
fn add(to: &mut [f32], from: &[f32]) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to += from;
    }
}

/// Transposes the weights of the second layer, from its inputs first to its units first.
fn across(by_input: &[f32]) -> Vec<f32> {
    (0..WIDTH * SECOND).map(|at| by_input[at % WIDTH * SECOND + at / WIDTH]).collect()
}

/// The sum of the numbers, in an order that does not depend on the SIMD width.
#[inline(always)]
fn total(numbers: &[f32; SECOND]) -> f32 {
    let mut lanes = [0.0_f32; 8];
    for chunk in numbers.chunks_exact(8) {
        for (lane, &number) in lanes.iter_mut().zip(chunk) {
            *lane += number;
        }
    }
    ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))
}

pub(crate) fn sigmoid(logit: f32) -> f32 {
    1.0 / (1.0 + libm::expf(-logit))
}

/// `base` to a power, by squaring: the same on every machine.
fn power(base: f32, exponent: i32) -> f32 {
    let (mut result, mut square, mut left) = (1.0, base, exponent);
    while left > 0 {
        if left & 1 == 1 {
            result *= square;
        }
        square *= square;
        left >>= 1;
    }
    result
}

/// What a trainer learns from.
trait Lesson {
    /// Adds the gradient of one sample, and returns the number that a step adds up.
    fn learn<S: Simd>(&mut self, simd: S, trainer: &mut Trainer, number: usize) -> f32;
}

/// A gradient step on a batch. It is a struct because a closure would not be compiled for each SIMD width.
struct Step<'a, L> {
    trainer: &'a mut Trainer,
    lesson: L,
    batch: Range<usize>,
    rate: f32,
}

impl<L: Lesson> WithSimd for Step<'_, L> {
    type Output = Loss;

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) -> Loss {
        let mut loss = Loss::default();
        for number in self.batch.clone() {
            loss.sum += f64::from(self.lesson.learn(simd, self.trainer, number));
            loss.samples += 1;
        }
        self.trainer.update(self.batch.len(), self.rate);
        loss
    }
}

/// The lesson of [`Trainer::step_values`].
struct Values<'a>(&'a Samples);

impl Lesson for Values<'_> {
    #[inline(always)]
    fn learn<S: Simd>(&mut self, simd: S, trainer: &mut Trainer, number: usize) -> f32 {
        let (on, target) = self.0.get(number);
        let mut forward = Activations::NONE;
        trainer.prepare(self.0.inputs(number), on);
        trainer.forward(simd, on, &mut forward);
        let share = sigmoid(forward.logit);
        trainer.backward(simd, on, &forward, share - target);
        let (right, wrong) = (share.max(1e-7), (1.0 - share).max(1e-7));
        -(target * libm::logf(right) + (1.0 - target) * libm::logf(wrong))
    }
}

/// The lesson of [`Trainer::step_policy`]. Its number is the entropy of the policy's probabilities in nats.
struct Policy<'a> {
    samples: &'a PolicySamples,
    advantages: &'a [f32],
    surrogate: Surrogate,
    forward: Vec<Activations>,
}

impl Lesson for Policy<'_> {
    #[inline(always)]
    fn learn<S: Simd>(&mut self, simd: S, trainer: &mut Trainer, number: usize) -> f32 {
        let (choices, advantage) = (&self.samples.choices, self.advantages[number]);
        let (most, sum) = trainer.softmax(simd, choices, number, &mut self.forward);
        let log_sum = most + libm::logf(sum);
        let (mut entropy, mut ratio) = (0.0, 1.0);
        for ((_, taken), forward) in choices.get(number).zip(&self.forward) {
            let log = forward.logit - log_sum;
            entropy -= libm::expf(log) * log;
            if taken > 0.0 {
                ratio = libm::expf(log) / self.samples.chances[number].max(1e-7);
            }
        }
        let Surrogate { clip, entropy: weight } = self.surrogate;
        // The clipped objective has no slope where the ratio has moved far enough in the direction of the advantage.
        let is_clipped = if advantage > 0.0 { ratio > 1.0 + clip } else { ratio < 1.0 - clip };
        let pull = if is_clipped { 0.0 } else { ratio * advantage };
        for ((on, taken), forward) in choices.get(number).zip(&self.forward) {
            let log = forward.logit - log_sum;
            let probability = libm::expf(log);
            let slope = pull * (probability - taken) + weight * probability * (log + entropy);
            trainer.backward(simd, on, forward, slope);
        }
        entropy
    }
}

/// The body of [`Trainer::predict`].
struct Prediction<'a> {
    trainer: &'a Trainer,
    samples: &'a Samples,
}

impl WithSimd for Prediction<'_> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f32> {
        let mut forward = Activations::NONE;
        let predict = |number| {
            self.trainer.forward(simd, self.samples.get(number).0, &mut forward);
            sigmoid(forward.logit)
        };
        (0..self.samples.len()).map(predict).collect()
    }
}

#[cfg(test)]
mod tests;
