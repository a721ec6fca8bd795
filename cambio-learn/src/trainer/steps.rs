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

#[expect(clippy::inline_always, reason = "only inlined code is compiled for the SIMD width of the machine")]
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

#[expect(clippy::inline_always, reason = "only inlined code is compiled for the SIMD width of the machine")]
impl Lesson for Values<'_> {
    #[inline(always)]
    fn learn<S: Simd>(&mut self, simd: S, trainer: &mut Trainer, number: usize) -> f32 {
        let (on, target) = self.0.get(number);
        trainer.learn(simd, on, target)
    }
}

/// The lesson of [`Trainer::step_choices`].
pub(super) struct Choices<'a> {
    pub(super) choices: &'a ChoiceSamples,
    pub(super) forward: Vec<Activations>,
}

#[expect(clippy::inline_always, reason = "only inlined code is compiled for the SIMD width of the machine")]
impl Lesson for Choices<'_> {
    #[inline(always)]
    fn learn<S: Simd>(&mut self, simd: S, trainer: &mut Trainer, number: usize) -> f32 {
        trainer.imitate(simd, self.choices, number, &mut self.forward)
    }
}

/// The lesson of [`Trainer::step_policy`].
pub(super) struct Policy<'a> {
    pub(super) samples: &'a PolicySamples,
    pub(super) advantages: &'a [f32],
    pub(super) surrogate: Surrogate,
    pub(super) forward: Vec<Activations>,
}

#[expect(clippy::inline_always, reason = "only inlined code is compiled for the SIMD width of the machine")]
impl Lesson for Policy<'_> {
    #[inline(always)]
    fn learn<S: Simd>(&mut self, simd: S, trainer: &mut Trainer, number: usize) -> f32 {
        trainer.improve(simd, self.samples, number, self.advantages[number], self.surrogate, &mut self.forward)
    }
}

/// The body of [`Trainer::predict`].
pub(super) struct Prediction<'a> {
    pub(super) trainer: &'a Trainer,
    pub(super) samples: &'a Samples,
}

#[expect(clippy::inline_always, reason = "only inlined code is compiled for the SIMD width of the machine")]
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
