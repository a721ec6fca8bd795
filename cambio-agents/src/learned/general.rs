//! Networks for every rule system: each input of one system is a sum of general inputs.
//!
//! The inputs of [`Features`](super::features::Features) depend on the deck: a class of cards is an input. A general network
//! has rows for properties instead: the points of a card, its distance from the mean in standard deviations, its power, the
//! number of cards that match it. The row of a class is the sum of the rows of its properties, so it is computed once for a
//! rule system, and the general network plays with the speed of a special one. The rules themselves are inputs that are
//! always active: their rows are added to the bias.

use cambio_core::rules::knob::ORDINALS;
use cambio_core::rules::{KNOBS, Power};
use cambio_core::{Card, Rules};

use super::card::{BOUNDS, DeckClasses};
use super::network::{Accumulator, NetworkWeights, WIDTH, add};
use super::position::TOTAL_POINTS;

/// The buckets for sums of points.
pub(super) const SUMS: usize = 48;
/// The buckets for differences of sums.
pub(super) const DIFFERENCES: usize = 2 * SUMS + 1;
/// The buckets for negative sums.
pub(super) const NEGATIVE: i32 = 6;
/// The buckets for differences of totals, each one point wide.
pub(super) const LEADS: usize = 2 * TOTAL_POINTS + 1;
/// The buckets for totals at the end of the round, each two points wide.
pub(super) const PROJECTIONS: usize = TOTAL_POINTS;

/// Each number of points in this range has a class.
const POINTS: (i32, i32) = (-6, 17);
/// The number of classes of points.
const POINT_CLASSES: usize = (POINTS.1 - POINTS.0 + 1) as usize;
/// The number of distances from the mean, in thirds of a standard deviation.
const SPREADS: usize = 13;
/// The number of sets of actions of a power: look at one's own, look at another seat's, swap, reveal.
const POWERS: usize = 16;
/// The number of classes of the other cards of a rank.
const MATES: usize = 8;
/// The properties of a card whose face is known.
const KNOWN: usize = POINT_CLASSES + SPREADS + POWERS + MATES;
/// The properties of an unknown card by its history: kept or not, and the bucket and the distance of its bound.
const HISTORY: usize = 2 * (BOUNDS + SPREADS + 1);
/// The number of distances in half standard deviations.
const STEPS: usize = 49;
/// The number of shares of the total that ends a match.
const PARTS: usize = 40;

/// A coordinate of the inputs of a block. Its places have properties, from which a general network computes the rows of the
/// inputs: see [`Embedding`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Axis {
    /// A number that means the same under all rules.
    Number(usize),
    /// A class of cards.
    Class,
    ClassOrUnknown,
    /// A category of a card in a layout: see `TableCard::category`.
    Category,
    /// A class of cards, no card, or an unknown card.
    Face,
    Rank,
    /// A bucket of a sum of points.
    Sum,
    /// A bucket of a difference of sums.
    Difference,
    /// The same for a general network, which distinguishes it by standard deviations alone.
    CoarseDifference,
    /// A number of turns.
    Turn(usize),
    /// A total of points in a match.
    Total,
    /// A difference of totals.
    Lead,
    /// A total at the end of the round.
    Projection,
}

impl Axis {
    /// The number of places.
    pub(super) fn size(self, deck: &DeckClasses) -> usize {
        match self {
            Axis::Number(size) | Axis::Turn(size) => size,
            Axis::Class => deck.classes(),
            Axis::ClassOrUnknown => deck.classes() + 1,
            Axis::Category => deck.categories(),
            Axis::Face => deck.classes() + 2,
            Axis::Rank => deck.ranks(),
            Axis::Sum => SUMS,
            Axis::Difference | Axis::CoarseDifference => DIFFERENCES,
            Axis::Total => TOTAL_POINTS,
            Axis::Lead => LEADS,
            Axis::Projection => PROJECTIONS,
        }
    }
}

/// The inputs of one rule system as sums of general inputs.
#[derive(Clone, Debug)]
pub struct Embedding {
    /// For each input of the rule system, the end of its part of `general`.
    ends: Vec<u32>,
    general: Vec<u16>,
    /// The general inputs that are always active under these rules.
    rules: Vec<u16>,
    /// The number of general inputs.
    count: usize,
}

impl NetworkWeights {
    /// The weights for the inputs of one rule system, from the weights of a general network.
    pub(super) fn embedded(&self, embedding: &Embedding) -> NetworkWeights {
        let sum_of = |inputs: &[u16]| {
            let mut sums: Accumulator = [0; WIDTH];
            for &input in inputs {
                for (sum, &weight) in sums.iter_mut().zip(&self.rows[usize::from(input)]) {
                    *sum += i16::from(weight);
                }
            }
            sums
        };
        let row = |input| sum_of(embedding.of(input)).map(|sum| sum.clamp(-127, 127) as i8);
        let mut bias = self.bias;
        add(&mut bias, &sum_of(embedding.always()));
        NetworkWeights { rows: (0..embedding.inputs()).map(row).collect(), bias, ..self.without_rows() }
    }
}

/// The scale of points under one rule system.
struct Scale<'a> {
    rules: &'a Rules,
    deck: &'a DeckClasses,
    mean: f64,
    deviation: f64,
    ordinals: Vec<usize>,
}

impl Embedding {
    /// The embedding of blocks of inputs, each with its axes.
    pub(super) fn new(rules: &Rules, deck: &DeckClasses, blocks: &[(bool, &[Axis])]) -> Embedding {
        let scale = Scale::new(rules, deck);
        let mut embedding = Embedding { ends: Vec::new(), general: Vec::new(), rules: Vec::new(), count: 0 };
        let mut properties = Vec::new();
        for &(is_present, axes) in blocks {
            let sizes: Vec<usize> = axes.iter().map(|axis| axis.size(deck)).collect();
            let inputs = if is_present { sizes.iter().product() } else { 0 };
            for input in 0..inputs {
                // Each combination of the properties along the axes is a general input of the block.
                let (mut sums, mut left, mut inner) = (vec![0], input, inputs);
                for (axis, size) in axes.iter().zip(&sizes) {
                    inner /= size;
                    properties.clear();
                    scale.properties(*axis, left / inner, &mut properties);
                    left %= inner;
                    let all = general_size(*axis);
                    sums = sums
                        .iter()
                        .flat_map(|sum| properties.iter().map(move |property| sum * all + property))
                        .collect();
                }
                embedding.general.extend(sums.iter().map(|sum| (embedding.count + sum) as u16));
                embedding.ends.push(embedding.general.len() as u32);
            }
            embedding.count += axes.iter().map(|&axis| general_size(axis)).product::<usize>();
        }
        scale.of_rules(|input| embedding.rules.push((embedding.count + input) as u16));
        embedding.count += learned_knobs().count() * ORDINALS + DECK_PROPERTIES;
        assert!(u16::try_from(embedding.count).is_ok(), "general inputs are numbered by 16 bits");
        embedding
    }

    /// The number of general inputs; the same under all rules.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The general inputs whose rows add up to the row of an input.
    ///
    /// # Panics
    /// If the input does not exist.
    pub fn of(&self, input: usize) -> &[u16] {
        let start = if input == 0 { 0 } else { self.ends[input - 1] as usize };
        &self.general[start..self.ends[input] as usize]
    }

    /// The general inputs that are always active.
    pub fn always(&self) -> &[u16] {
        &self.rules
    }

    /// The number of inputs of the rule system.
    pub fn inputs(&self) -> usize {
        self.ends.len()
    }
}

/// The number of general inputs along an axis.
fn general_size(axis: Axis) -> usize {
    match axis {
        Axis::Number(size) => size,
        Axis::Class | Axis::Rank => KNOWN,
        Axis::ClassOrUnknown => KNOWN + 1,
        Axis::Category => 2 * KNOWN + 1 + HISTORY,
        Axis::Face => KNOWN + 2,
        Axis::Sum => SUMS + STEPS + STEPS,
        Axis::Difference => DIFFERENCES + STEPS,
        Axis::Turn(turns) => turns + 2 * LEFT.len() + 2,
        Axis::Total | Axis::Projection => PARTS + STEPS,
        Axis::CoarseDifference | Axis::Lead => STEPS,
    }
}

/// The ends of classes of numbers of turns.
const LEFT: [i64; 8] = [1, 2, 3, 4, 6, 9, 14, 20];

/// The class of a number of turns.
fn turns_left(turns: i64) -> usize {
    LEFT.iter().take_while(|&&end| turns >= end).count()
}

/// The knobs that are younger than the bundled general network, which has no inputs for them. Empty it when a new network is trained.
const LATER_KNOBS: [&str; 0] = [];

/// The places in [`KNOBS`] of the knobs that have inputs.
fn learned_knobs() -> impl Iterator<Item = usize> {
    (0..KNOBS.len()).filter(|&knob| !LATER_KNOBS.contains(&KNOBS[knob].name))
}

/// The general inputs for properties of the deck.
const DECK_PROPERTIES: usize = 16 + 20 + 8 + 4 * 8 + MATES + POINT_CLASSES;

impl Scale<'_> {
    fn new<'a>(rules: &'a Rules, deck: &'a DeckClasses) -> Scale<'a> {
        let cards = rules.deck().len().max(1) as f64;
        let mean = f64::from(rules.deck_points()) / cards;
        let variance = f64::from(rules.deck_squares()) / cards - mean * mean;
        Scale { rules, deck, mean, deviation: variance.max(0.25).sqrt(), ordinals: rules.spec().ordinals() }
    }

    /// The bucket of a distance in points: from 0 to `buckets` − 1, with distance 0 in the middle bucket. A bucket is a standard
    /// deviation divided by `parts` wide.
    fn bucket(&self, points: f64, parts: f64, buckets: usize) -> usize {
        let half = (buckets / 2) as f64;
        ((points / self.deviation * parts).round() + half).clamp(0.0, (buckets - 1) as f64) as usize
    }

    fn spread(&self, points: f64) -> usize {
        self.bucket(points - self.mean, 3.0, SPREADS)
    }

    /// The properties of a card: points, distance from the mean, power, and the number of other cards that match it.
    fn known(&self, class: u8) -> [usize; 4] {
        let cards = self.rules.kinds().len();
        let card = (0..cards).filter_map(Card::new).find(|&card| self.deck.class(card) == class);
        let card = card.expect("a class has a card");
        let points = self.rules.points(card);
        let mates = usize::from(self.deck.copies(self.deck.rank(class))).saturating_sub(1);
        [
            (points.clamp(POINTS.0, POINTS.1) - POINTS.0) as usize,
            POINT_CLASSES + self.spread(points.into()),
            POINT_CLASSES + SPREADS + actions(self.rules.power(card)),
            POINT_CLASSES + SPREADS + POWERS + mates.min(MATES - 1),
        ]
    }

    /// The properties of a rank, which are the properties of its class with the fewest points.
    fn rank(&self, rank: usize) -> [usize; 4] {
        let classes = (0..self.deck.classes() as u8).filter(|&class| self.deck.rank(class) == rank);
        self.known(classes.min_by_key(|&class| self.deck.points(class)).expect("a rank has a class"))
    }

    /// The points in the middle of a bucket of sums.
    fn sum(&self, bucket: usize) -> f64 {
        f64::from((bucket as i32 - NEGATIVE) << self.deck.unit_shift())
    }

    /// The total of points that ends a match.
    fn target(&self) -> f64 {
        f64::from(self.deck.target.unwrap_or(1).max(1))
    }

    /// The properties of a total of points: its share of the target, and its distance to the target.
    fn total(&self, points: f64, to: &mut Vec<usize>) {
        let part = (points / self.target() * 32.0).round() + 4.0;
        to.push(part.clamp(0.0, (PARTS - 1) as f64) as usize);
        to.push(PARTS + self.bucket(self.target() - points, 1.0, STEPS));
    }

    /// The general inputs along an axis for one place of the axis under these rules.
    fn properties(&self, axis: Axis, place: usize, to: &mut Vec<usize>) {
        let classes = self.deck.classes();
        match axis {
            Axis::Number(_) => to.push(place),
            Axis::Class => to.extend(self.known(place as u8)),
            Axis::Rank => to.extend(self.rank(place)),
            Axis::ClassOrUnknown | Axis::Face if place < classes => to.extend(self.known(place as u8)),
            Axis::ClassOrUnknown | Axis::Face => to.push(KNOWN + place - classes),
            Axis::Category if place < 2 * classes => {
                to.extend(self.known((place / 2) as u8).map(|property| 2 * property + place % 2));
            }
            Axis::Category if place == 2 * classes => to.push(2 * KNOWN),
            Axis::Category => {
                let (kept, bound) = ((place - 2 * classes - 1) / BOUNDS, (place - 2 * classes - 1) % BOUNDS);
                let start = 2 * KNOWN + 1 + kept * (BOUNDS + SPREADS + 1);
                let distance =
                    if bound == BOUNDS - 1 { SPREADS } else { self.spread(self.deck.bound(bound as u8).into()) };
                to.extend([start + bound, start + BOUNDS + distance]);
            }
            Axis::Sum => {
                let sum = self.sum(place);
                to.extend([place, SUMS + self.bucket(sum, 2.0, 2 * STEPS).saturating_sub(STEPS - 6).min(STEPS - 1)]);
                if let Some(cap) = self.deck.cap {
                    to.push(SUMS + STEPS + self.bucket(f64::from(cap) - sum, 4.0, STEPS));
                }
            }
            Axis::Difference | Axis::CoarseDifference => {
                let points = f64::from((place as i32 - SUMS as i32) << self.deck.unit_shift());
                let step = self.bucket(points, 4.0, STEPS);
                to.extend(if axis == Axis::Difference { [place, DIFFERENCES + step].to_vec() } else { vec![step] });
            }
            Axis::Turn(turns) => {
                let spec = self.rules.spec();
                let place = place as i64;
                to.push(place as usize);
                to.push(turns + turns_left(spec.turn_limit.get() - place));
                to.push(turns + LEFT.len() + 1 + turns_left(2 * (spec.first_call.get() - 1) - place));
            }
            Axis::Total => self.total(place as f64 - (self.target() / 8.0).floor(), to),
            Axis::Projection => self.total(f64::from(2 * place as i32 - NEGATIVE), to),
            Axis::Lead => to.push(self.bucket(place as f64 - TOTAL_POINTS as f64, 1.0, STEPS)),
        }
    }

    /// The general inputs that are always active: the class of each knob, and properties of the deck.
    fn of_rules(&self, mut on: impl FnMut(usize)) {
        for (number, knob) in learned_knobs().enumerate() {
            on(number * ORDINALS + self.ordinals[knob]);
        }
        let mut start = learned_knobs().count() * ORDINALS;
        let mut put = |size: usize, at: f64| {
            on(start + at.round().clamp(0.0, (size - 1) as f64) as usize);
            start += size;
        };
        let deck = self.rules.deck();
        let cards = deck.len() as f64;
        put(16, self.mean + 2.0);
        put(20, 2.0 * self.deviation);
        put(8, (cards - 36.0) / 10.0);
        for action in 0..4 {
            let has = |card: &&Card| actions(self.rules.power(**card)) >> action & 1 == 1;
            put(8, (deck.iter().filter(has).count() as f64 / cards * 20.0).ceil());
        }
        let mates = |card: &Card| f64::from(self.deck.copies(self.deck.rank(self.deck.class(*card)))) - 1.0;
        put(MATES, deck.iter().map(mates).sum::<f64>() / cards);
        put(POINT_CLASSES, f64::from(deck.iter().map(|&card| self.rules.points(card)).min().unwrap_or(0) - POINTS.0));
    }
}

/// The actions of a power as bits: look at one's own cards, look at other seats' cards, swap, reveal.
fn actions(power: Power) -> usize {
    (0..4).filter_map(|number| power.step(number)).fold(0, |bits, step| {
        bits | usize::from(step.looks_at_own())
            | usize::from(step.looks_at_others()) << 1
            | usize::from(step.swaps()) << 2
            | usize::from(step.reveals()) << 3
    })
}
