//! The steps of a trainer, compiled for every SIMD width.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::{Activations, Loss, Surrogate, Trainer, sigmoid};
use crate::samples::{ChoiceSamples, PolicySamples, Samples};

/// The body of [`Trainer::step_values`], which is compiled once for each SIMD width. A closure would not be.
pub(super) struct ValueStep<'a> {
    pub(super) trainer: &'a mut Trainer,
    pub(super) samples: &'a Samples,
    pub(super) batch: Range<usize>,
    pub(super) rate: f32,
}

#[expect(clippy::inline_always, reason = "only inlined code is compiled for the SIMD width of the machine")]
impl WithSimd for ValueStep<'_> {
    type Output = Loss;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Loss {
        let mut loss = Loss::default();
        for number in self.batch.clone() {
            let (on, target) = self.samples.get(number);
            loss.sum += f64::from(self.trainer.learn(simd, on, target));
            loss.samples += 1;
        }
        self.trainer.update(self.batch.len(), self.rate);
        loss
    }
}

/// The body of [`Trainer::step_choices`].
pub(super) struct ChoiceStep<'a> {
    pub(super) trainer: &'a mut Trainer,
    pub(super) choices: &'a ChoiceSamples,
    pub(super) batch: Range<usize>,
    pub(super) rate: f32,
}

#[expect(clippy::inline_always, reason = "only inlined code is compiled for the SIMD width of the machine")]
impl WithSimd for ChoiceStep<'_> {
    type Output = Loss;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Loss {
        let (mut loss, mut forward) = (Loss::default(), Vec::new());
        for number in self.batch.clone() {
            loss.sum += f64::from(self.trainer.imitate(simd, self.choices, number, &mut forward));
            loss.samples += 1;
        }
        self.trainer.update(self.batch.len(), self.rate);
        loss
    }
}

/// The body of [`Trainer::step_policy`].
pub(super) struct PolicyStep<'a> {
    pub(super) trainer: &'a mut Trainer,
    pub(super) samples: &'a PolicySamples,
    pub(super) advantages: &'a [f32],
    pub(super) batch: Range<usize>,
    pub(super) rate: f32,
    pub(super) surrogate: Surrogate,
}

#[expect(clippy::inline_always, reason = "only inlined code is compiled for the SIMD width of the machine")]
impl WithSimd for PolicyStep<'_> {
    type Output = Loss;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Loss {
        let (mut loss, mut forward) = (Loss::default(), Vec::new());
        for number in self.batch.clone() {
            let advantage = self.advantages[number];
            let entropy = self.trainer.improve(simd, self.samples, number, advantage, self.surrogate, &mut forward);
            loss.sum += f64::from(entropy);
            loss.samples += 1;
        }
        self.trainer.update(self.batch.len(), self.rate);
        loss
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
