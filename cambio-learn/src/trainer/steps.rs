//! The steps of a trainer, compiled for every SIMD width.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::{Activations, Loss, Surrogate, Trainer, sigmoid};
use crate::samples::{ChoiceSamples, PolicySamples, Samples};

/// What a trainer learns from.
pub(super) trait Lesson {
    /// Adds the gradient of one sample, and returns the number that a step adds up.
    fn learn<S: Simd>(&mut self, simd: S, trainer: &mut Trainer, number: usize) -> f32;
}

/// A gradient step on a batch. It is a struct because a closure would not be compiled for each SIMD width.
pub(super) struct Step<'a, L> {
    pub(super) trainer: &'a mut Trainer,
    pub(super) lesson: L,
    pub(super) batch: Range<usize>,
    pub(super) rate: f32,
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
pub(super) struct Values<'a>(pub(super) &'a Samples);

impl Lesson for Values<'_> {
    #[inline(always)]
    fn learn<S: Simd>(&mut self, simd: S, trainer: &mut Trainer, number: usize) -> f32 {
        let (on, target) = self.0.get(number);
        let mut forward = Activations::NONE;
        trainer.forward(simd, on, &mut forward);
        let share = sigmoid(forward.logit);
        trainer.backward(simd, on, &forward, share - target);
        let (right, wrong) = (share.max(1e-7), (1.0 - share).max(1e-7));
        -(target * libm::logf(right) + (1.0 - target) * libm::logf(wrong))
    }
}

/// The lesson of [`Trainer::step_choices`]: the cross-entropy of a softmax over the candidates.
pub(super) struct Choices<'a> {
    pub(super) choices: &'a ChoiceSamples,
    pub(super) forward: Vec<Activations>,
}

impl Lesson for Choices<'_> {
    #[inline(always)]
    fn learn<S: Simd>(&mut self, simd: S, trainer: &mut Trainer, number: usize) -> f32 {
        let (most, sum) = trainer.softmax(simd, self.choices, number, &mut self.forward);
        let mut loss = 0.0;
        for ((on, taken), forward) in self.choices.get(number).zip(&self.forward) {
            let probability = libm::expf(forward.logit - most) / sum;
            trainer.backward(simd, on, forward, probability - taken);
            loss -= taken * libm::logf(probability.max(1e-7));
        }
        loss
    }
}

/// The lesson of [`Trainer::step_policy`]. Its number is the entropy of the policy's probabilities in nats.
pub(super) struct Policy<'a> {
    pub(super) samples: &'a PolicySamples,
    pub(super) advantages: &'a [f32],
    pub(super) surrogate: Surrogate,
    pub(super) forward: Vec<Activations>,
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
pub(super) struct Prediction<'a> {
    pub(super) trainer: &'a Trainer,
    pub(super) samples: &'a Samples,
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
