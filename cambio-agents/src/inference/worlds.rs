//! Draws worlds in proportion to the likelihood of the other seats' decisions.

use std::collections::BTreeMap;

use cambio_core::{Card, Knowledge, Observation, Spot, State};

use super::SamplingSettings;
use super::decisions::{DecisionLog, RecordedDecision};
use crate::bits::Bits;
use crate::policy::{Policy, PublicHistory};

/// The assumed play of the other seats: each decision follows a policy, except with probability ε.
pub(super) struct DecisionModel<'p, P> {
    pub(super) policy: &'p mut P,
    pub(super) epsilon: f64,
}

/// A decision of another seat that depends on cards that the searching seat does not know, with a cache of its
/// likelihoods.
struct DecisionEvidence<'m, Q> {
    moment: &'m RecordedDecision<Q>,
    /// The numbers of the unknown cards.
    open: Vec<u16>,
    /// By the classes of the unknown cards, seven bits each: the likelihood is the same for all cards of a class.
    likelihoods: BTreeMap<u128, f64>,
}

/// The maximum number of unknown cards: this many classes fit into a key.
const MOST_OPEN: usize = 18;

impl<Q> DecisionEvidence<'_, Q> {
    fn likelihood<P: Policy<History = Q>>(&mut self, others: &mut DecisionModel<'_, P>, faces: &[Option<Card>]) -> f64 {
        let moment = self.moment;
        let rules = moment.rules();
        let class = |number: &u16| faces[usize::from(*number)].map_or(127, |card| rules.class(card) as u128);
        let key = self.open.iter().fold(0, |key, number| key << 7 | class(number));
        let ask = || others.policy.likelihood(&moment.in_world(faces), &moment.past, moment.action, others.epsilon);
        *self.likelihoods.entry(key).or_insert_with(ask)
    }
}

/// Worlds drawn from an information set.
#[derive(Clone, Debug)]
pub(crate) struct WorldSample {
    /// The different worlds.
    pub(crate) worlds: Vec<State>,
    /// The draws: the index of each in `worlds`. Draws of the same world are adjacent.
    pub(crate) draws: Vec<usize>,
    /// The effective number of worlds by their weights, (Σw)² / Σw² (Kong 1992): copies of one world are not independent.
    pub(crate) effective: f64,
}

/// Draws worlds: see [`Inference::draw`](super::Inference::draw). If `least` is above 0, more worlds are proposed, up to
/// `most`, until the effective number of worlds is at least `least`.
pub(super) fn draw<P: Policy>(
    view: &Observation<'_>,
    knowledge: &Knowledge,
    moments: &DecisionLog<P::History>,
    others: &mut DecisionModel<'_, P>,
    draw: &SamplingSettings,
    (least, most): (f64, usize),
    base: u64,
) -> WorldSample {
    let unknown: Vec<Spot> = view.table().occupied().without(view.known()).iter_from(view.seat()).collect();
    let SamplingSettings { worlds, last, .. } = *draw;
    let mut evidence = evidence(moments, &unknown, last);
    let sample = |number: u32| knowledge.sample(view, &mut Bits::new(base, number));
    if evidence.is_empty() {
        let proposed = (0..worlds as u32).map(sample).collect();
        return WorldSample { worlds: proposed, draws: (0..worlds).collect(), effective: worlds as f64 };
    }
    let mut faces = moments.cards.faces().to_vec();
    let (mut proposed, mut shares) = (Vec::new(), Vec::new());
    let mut proposals = draw.proposals.max(worlds);
    let effective = loop {
        for number in proposed.len()..proposals {
            let world = sample(number as u32);
            for &spot in &unknown {
                faces[usize::from(moments.cards.at(spot))] = world.face(spot);
            }
            let of_each = evidence.iter_mut().map(|evidence| evidence.likelihood(others, &faces));
            shares.push(of_each.product::<f64>());
            proposed.push(world);
        }
        let (sum, squares) = shares.iter().fold((0.0, 0.0), |(sum, squares), &w| (sum + w, squares + w * w));
        let effective = if squares > 0.0 { sum * sum / squares } else { 0.0 };
        if effective >= least || proposals >= most {
            break effective;
        }
        proposals = (2 * proposals).min(most);
    };
    // Keeps only the worlds that were drawn.
    let (mut kept, mut draws, mut previous) = (Vec::new(), Vec::with_capacity(worlds), None);
    for index in resample(&shares, worlds) {
        if previous != Some(index) {
            kept.push(proposed[index].clone());
            previous = Some(index);
        }
        draws.push(kept.len() - 1);
    }
    WorldSample { worlds: kept, draws, effective }
}

/// The latest decisions of other seats that depend on cards in these spots, at most `last`.
fn evidence<'m, Q: PublicHistory>(
    moments: &'m DecisionLog<Q>,
    unknown: &[Spot],
    last: usize,
) -> Vec<DecisionEvidence<'m, Q>> {
    let mut is_open = vec![false; moments.cards.faces().len()];
    for &spot in unknown {
        is_open[usize::from(moments.cards.at(spot))] = true;
    }
    let of = |moment: &'m RecordedDecision<Q>| {
        let open: Vec<u16> = moment.known().filter(|&number| is_open[usize::from(number)]).collect();
        let fits = !open.is_empty() && open.len() <= MOST_OPEN;
        fits.then(|| DecisionEvidence { moment, open, likelihoods: BTreeMap::new() })
    };
    moments.decided().iter().rev().filter_map(of).take(last).collect()
}

/// Draws `number` indices by systematic resampling (Carpenter, Clifford and Fearnhead 1999): the count of each index
/// differs from its exact share of the draws by less than one.
fn resample(shares: &[f64], number: usize) -> impl Iterator<Item = usize> {
    let step = shares.iter().sum::<f64>() / number as f64;
    let (mut index, mut upto) = (0, shares.first().copied().unwrap_or(0.0));
    (0..number).map(move |drawn| {
        let ticket = step * (drawn as f64 + 0.5);
        while upto < ticket && index + 1 < shares.len() {
            index += 1;
            upto += shares[index];
        }
        index
    })
}

#[cfg(test)]
mod tests;
