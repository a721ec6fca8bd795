//! A model of the outcome of a match: each seat's expected share of the win, from all cards that any seat has seen.
//!
//! The model is the baseline of [`Luck`](crate::Luck). No agent may use it, because it depends on the cards of all
//! seats.

#![expect(clippy::inline_always, reason = "only inlined code is compiled for the SIMD width of the machine")]

mod knowledge;

use std::path::Path;
use std::sync::Arc;

use arrayvec::ArrayVec;
use cambio_core::Rules;
use cambio_core::rules::MAX_SEATS;
use pulp::{Arch, Simd, WithSimd};
use serde_json::Value;

use crate::learned::{NetworkError, Shipped, open, seal};
pub use knowledge::{JointKnowledge, OutcomeFeatures};

/// The width of the first hidden layer.
const FIRST: usize = 64;
/// The width of the second hidden layer.
const SECOND: usize = 8;
/// The first line of a file. The number changes when the meaning of features or weights changes.
const FORMAT: &str = "cambio outcome 1\n";

/// A small network that estimates each seat's share of the win from [`JointKnowledge`].
///
/// Two hidden layers turn the features of a seat into one number, and a softmax over the seats turns these numbers into
/// shares, so one model serves tables of two to eight seats. Sums have a fixed order, so the shares have the same bits
/// on every machine.
///
/// ```
/// use cambio_agents::{JointKnowledge, OutcomeModel};
/// use cambio_core::Rules;
///
/// let rules = Rules::preset("classic")?;
/// let shares = OutcomeModel::shipped(&rules, 2).shares(&JointKnowledge::new(&rules, 2));
/// assert!((shares[0] + shares[1] - 1.0).abs() < 1e-12);
/// # Ok::<(), cambio_core::RulesError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct OutcomeModel {
    weights: Vec<f32>,
}

impl OutcomeModel {
    /// The widths of the layers: the features, two hidden layers, and the logit.
    pub const LAYERS: [usize; 4] = [OutcomeFeatures::LEN, FIRST, SECOND, 1];
    /// The number of weights.
    pub const WEIGHTS: usize = FIRST * (OutcomeFeatures::LEN + 1) + SECOND * (FIRST + 1) + SECOND;

    /// The model with these weights: for each hidden layer the bias, then a row of weights to its units for each input;
    /// at the end the weights of the logit, which has no bias.
    ///
    /// # Panics
    /// If the number of weights is not [`OutcomeModel::WEIGHTS`].
    pub fn new(weights: Vec<f32>) -> OutcomeModel {
        assert_eq!(weights.len(), OutcomeModel::WEIGHTS, "the number of weights");
        OutcomeModel { weights }
    }

    /// The weights, in the order of [`OutcomeModel::new`].
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// Each seat's expected share of the win, seat a first: 1 for a win, divided equally in a tie.
    pub fn shares(&self, knowledge: &JointKnowledge) -> [f64; MAX_SEATS] {
        Evaluation::default().shares(self, &knowledge.features())
    }

    /// The weights of the first layer: the bias, and a row for each feature.
    fn first(&self) -> &[[f32; FIRST]] {
        self.weights[..FIRST * (OutcomeFeatures::LEN + 1)].as_chunks().0
    }

    /// The logit for these sums of the first layer. Sums have a fixed order, whatever the width of the vectors.
    #[inline(always)]
    fn logit(&self, first: &[f32; FIRST]) -> f32 {
        let (second, last) = self.weights[FIRST * (OutcomeFeatures::LEN + 1)..].split_at(SECOND * (FIRST + 1));
        let (bias, rows) = second.split_at(SECOND);
        let rows: &[[f32; SECOND]] = rows.as_chunks().0;
        let units = first.map(|sum| if sum > 0.0 { sum } else { 0.0 });
        // Four sums that do not wait for each other.
        let mut sums = [[0.0_f32; SECOND]; 4];
        for (rows, units) in rows.as_chunks::<4>().0.iter().zip(units.as_chunks::<4>().0) {
            for ((sums, row), unit) in sums.iter_mut().zip(rows).zip(units) {
                for (sum, weight) in sums.iter_mut().zip(row) {
                    *sum += weight * unit;
                }
            }
        }
        let [one, two, three, four] = sums;
        let unit = |at: usize| (bias[at] + ((one[at] + two[at]) + (three[at] + four[at]))).max(0.0) * last[at];
        (0..SECOND).map(unit).sum()
    }

    /// The bundled model for these cards and this number of seats. Rules with other cards have the model of `classic`.
    ///
    /// # Panics
    /// Does not panic: the bundled models are valid.
    pub fn shipped(rules: &Rules, seats: usize) -> Arc<OutcomeModel> {
        let read = |bytes: &[u8]| OutcomeModel::from_bytes(bytes).map(|(model, _)| Arc::new(model));
        Arc::clone(shipped(rules, seats).content(read))
    }

    /// The file of [`OutcomeModel::shipped`], for [`OutcomeModel::from_bytes`].
    pub fn shipped_file(rules: &Rules, seats: usize) -> &'static [u8] {
        shipped(rules, seats).bytes
    }

    /// Serializes the model. `made` describes how it was made.
    pub fn to_bytes(&self, made: &Value) -> Vec<u8> {
        let weights: Vec<u8> = self.weights.iter().flat_map(|weight| weight.to_le_bytes()).collect();
        seal(FORMAT, &serde_json::json!({ "made": made }), &weights)
    }

    /// Reads a model, and the description of how it was made.
    ///
    /// # Errors
    /// If the bytes are not a model, or have changed since they were written.
    pub fn from_bytes(bytes: &[u8]) -> Result<(OutcomeModel, Value), NetworkError> {
        let (facts, body) = open(FORMAT, "an outcome model", bytes)?;
        let (weights, rest) = body.as_chunks();
        let weights: Vec<f32> = weights.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
        if weights.len() != OutcomeModel::WEIGHTS
            || !rest.is_empty()
            || !weights.iter().all(|weight| weight.is_finite())
        {
            return Err(NetworkError::Damaged { what: "it must have the weights of this program's model" });
        }
        Ok((OutcomeModel { weights }, facts["made"].clone()))
    }

    /// Reads a model file.
    ///
    /// # Errors
    /// If the file cannot be read or is not a model. The error is a clause with the path.
    pub fn read(path: &Path) -> Result<OutcomeModel, String> {
        let bytes = std::fs::read(path).map_err(|error| format!("`{}` cannot be read: {error}", path.display()))?;
        let (model, _) = OutcomeModel::from_bytes(&bytes).map_err(|error| format!("`{}`: {error}", path.display()))?;
        Ok(model)
    }
}

/// The evaluation of similar positions, one after another. Only the features that differ from the previous position are
/// added to the sums of the first layer.
#[derive(Default)]
pub(crate) struct Evaluation {
    seats: ArrayVec<(OutcomeFeatures, [f32; FIRST]), MAX_SEATS>,
    arch: Arch,
}

impl Evaluation {
    /// Each seat's expected share of the win.
    pub(crate) fn shares(&mut self, model: &OutcomeModel, features: &[OutcomeFeatures]) -> [f64; MAX_SEATS] {
        let (first, seats) = (model.first(), features.len());
        if self.seats.is_empty() {
            self.seats.extend(features.iter().map(|_| (OutcomeFeatures([0.0; OutcomeFeatures::LEN]), first[0])));
        }
        let mut shares = [0.0; MAX_SEATS];
        let mut most = f64::NEG_INFINITY;
        for ((share, now), (before, sums)) in shares.iter_mut().zip(features).zip(&mut self.seats) {
            *share = f64::from(self.arch.dispatch(Update { model, now, before, sums }));
            most = most.max(*share);
        }
        let mut all = 0.0;
        for share in &mut shares[..seats] {
            *share = libm::exp(*share - most);
            all += *share;
        }
        shares[..seats].iter_mut().for_each(|share| *share /= all);
        shares
    }
}

/// Updates the sums of a seat from the features `before` to `now`, and returns its logit.
struct Update<'a> {
    model: &'a OutcomeModel,
    now: &'a OutcomeFeatures,
    before: &'a mut OutcomeFeatures,
    sums: &'a mut [f32; FIRST],
}

impl WithSimd for Update<'_> {
    type Output = f32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f32 {
        const { assert!(OutcomeFeatures::LEN.is_multiple_of(4)) };
        // With a copy, the compiler knows that the sums do not overlap the rows.
        let mut sums = *self.sums;
        let rows = self.model.first()[1..].as_chunks::<4>().0;
        let features = self.now.0.as_chunks::<4>().0.iter().zip(self.before.0.as_chunks_mut::<4>().0);
        for (rows, (now, before)) in rows.iter().zip(features) {
            // Most features are the same.
            if now.map(f32::to_bits) == before.map(f32::to_bits) {
                continue;
            }
            for (row, (now, before)) in rows.iter().zip(now.iter().zip(before)) {
                if now.to_bits() != before.to_bits() {
                    let change = now - *before;
                    *before = *now;
                    for (sum, weight) in sums.iter_mut().zip(row) {
                        *sum += weight * change;
                    }
                }
            }
        }
        *self.sums = sums;
        self.model.logit(&sums)
    }
}

/// `cambio learn --outcome` made each model from the recipe with the same name in experiments/learn.
static SHIPPED: [Shipped<Arc<OutcomeModel>>; 6] = [
    Shipped::new("classic", 2..=2, include_bytes!("../nets/outcome-classic.model")),
    Shipped::new("classic", 3..=8, include_bytes!("../nets/outcome-classic-many.model")),
    Shipped::new("original", 2..=2, include_bytes!("../nets/outcome-original.model")),
    Shipped::new("original", 3..=8, include_bytes!("../nets/outcome-original-many.model")),
    Shipped::new("faessler", 2..=2, include_bytes!("../nets/outcome-faessler.model")),
    Shipped::new("faessler", 3..=8, include_bytes!("../nets/outcome-faessler-many.model")),
];

/// The bundled model for this table. Rules with other cards have the model of `classic`.
fn shipped(rules: &Rules, seats: usize) -> &'static Shipped<Arc<OutcomeModel>> {
    let other = &SHIPPED[usize::from(seats > 2)];
    SHIPPED.iter().find(|shipped| shipped.fits(rules, seats)).unwrap_or(other)
}
