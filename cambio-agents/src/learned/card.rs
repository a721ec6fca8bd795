//! Cards, as far as a network distinguishes them.

use cambio_core::rules::MAX_KINDS;
use cambio_core::rules::knob::{Best, Cap, MatchEnd, Matching, Score as ScoreKnob, Window};
use cambio_core::view::{CardTrace, Origin};
use cambio_core::{Card, Rules};

/// The number of buckets for the upper bound on a card's points that follows from its history.
pub(super) const BOUNDS: usize = 12;

/// The maximum number of ranks that a network distinguishes. Further ranks count as the last of them.
const MAX_RANKS: usize = u64::BITS as usize;

/// Lookup tables computed from the rules: cards by class, and the scale of points.
///
/// Cards with the same rank, points and power form one class. The difference between them matters only under rules that
/// compare suits, and networks have no inputs for suits. Where cards match by their points, a rank is a number of points.
#[derive(Clone, Debug)]
pub(super) struct DeckClasses {
    class_of: [u8; MAX_KINDS],
    points: Vec<i32>,
    /// The rank of each class, as a number below [`DeckClasses::ranks`].
    rank_of: Vec<u8>,
    /// The number of cards of each rank in the deck; for a general network 0 where [`DeckClasses::has_snaps`] is false.
    copies: Vec<u8>,
    /// Whether ranks matter: false for a general network where no discard opens a snap window.
    pub(super) has_snaps: bool,
    /// The binary logarithm of the width of a bucket of sums and bounds, in points.
    unit_shift: u32,
    /// The fewest points of a card.
    lowest: i32,
    /// The total of points that ends a match, if there is one.
    pub(super) target: Option<i32>,
    /// The first turn of a seat in which it may call.
    pub(super) first_call: usize,
    /// The number of turns after which a round ends.
    pub(super) turn_limit: usize,
    /// The largest sum with which a call succeeds, if there is one.
    pub(super) cap: Option<i32>,
    /// For a general network: the mean and the variance, in sixteenths, of the cards of the deck within each bound.
    within: Option<[(i32, i32); BOUNDS]>,
}

impl DeckClasses {
    pub(super) fn new(rules: &Rules, is_general: bool) -> DeckClasses {
        let spec = rules.spec();
        let by_points = spec.matching == Matching::Points;
        let (mut keys, mut ranks) = (Vec::new(), Vec::new());
        let mut deck = DeckClasses {
            class_of: [0; MAX_KINDS],
            points: Vec::new(),
            rank_of: Vec::new(),
            copies: Vec::new(),
            has_snaps: !is_general || spec.window != Window::None,
            unit_shift: 0,
            lowest: 0,
            target: None,
            first_call: spec.first_call.count(),
            turn_limit: spec.turn_limit.count(),
            cap: match spec.cap {
                Cap::Feasible(cap) | Cap::Score(cap) => Some(cap.into()),
                Cap::None | Cap::Advisory(_) => None,
            },
            within: None,
        };
        for (kind, card) in (0..rules.kinds().len()).filter_map(|kind| Some((kind, Card::new(kind)?))) {
            let key = (&rules.kind(card).rank, rules.points(card), rules.power(card));
            let class = keys.iter().position(|known| *known == key).unwrap_or_else(|| {
                keys.push(key);
                deck.points.push(rules.points(card));
                let matching = if by_points { (None, key.1) } else { (Some(key.0), 0) };
                let rank = ranks.iter().position(|known| *known == matching).unwrap_or_else(|| {
                    ranks.push(matching);
                    ranks.len() - 1
                });
                deck.rank_of.push(rank.min(MAX_RANKS - 1) as u8);
                keys.len() - 1
            });
            deck.class_of[kind] = class as u8;
        }
        deck.copies = vec![0; ranks.len().min(MAX_RANKS)];
        for &card in rules.deck() {
            let rank = deck.rank(deck.class(card));
            deck.copies[rank] += u8::from(deck.has_snaps);
        }
        deck.lowest = deck.points.iter().copied().min().unwrap_or(0);
        let spread = deck.points.iter().copied().max().unwrap_or(0) - deck.lowest;
        deck.unit_shift = (1 + spread / 20).unsigned_abs().next_power_of_two().ilog2();
        deck.target = match spec.match_end {
            MatchEnd::Total(most) if spec.score == ScoreKnob::Points && spec.best == Best::Fewest => Some(most.into()),
            _ => None,
        };
        if is_general {
            deck.within = Some(std::array::from_fn(|bound| {
                let most = if bound < BOUNDS - 1 { deck.bound(bound as u8) } else { i32::MAX };
                let points =
                    || rules.deck().iter().map(|&card| rules.points(card)).filter(move |&points| points <= most);
                let count = points().count().max(1) as i32;
                let mean = 16 * points().sum::<i32>() / count;
                let squares = 16 * points().map(|points| points * points).sum::<i32>() / count;
                (mean, squares - mean * mean / 16)
            }));
        }
        deck
    }

    /// Whether the classes are for a general network.
    pub(super) fn is_general(&self) -> bool {
        self.within.is_some()
    }

    /// The bucket of a mean of unseen cards, of which the mean of the deck has the middle one. The mean is in sixteenths.
    #[inline]
    pub(super) fn mean_step(&self, mean: i32, buckets: usize) -> usize {
        let all = self.within.map_or(0, |within| within[BOUNDS - 1].0);
        let quarters = (mean - all + (2 << self.unit_shift)) >> (2 + self.unit_shift);
        (quarters + buckets as i32 / 2).clamp(0, buckets as i32 - 1) as usize
    }

    pub(super) fn classes(&self) -> usize {
        self.points.len()
    }

    pub(super) fn class(&self, card: Card) -> u8 {
        self.class_of[card.kind()]
    }

    pub(super) fn points(&self, class: u8) -> i32 {
        self.points[usize::from(class)]
    }

    /// The number of different ranks.
    pub(super) fn ranks(&self) -> usize {
        self.copies.len()
    }

    /// The rank of a class, as a number below [`DeckClasses::ranks`].
    #[inline]
    pub(super) fn rank(&self, class: u8) -> usize {
        self.rank_of[usize::from(class)].into()
    }

    /// The number of cards of a rank in the deck.
    pub(super) fn copies(&self, rank: usize) -> u8 {
        self.copies[rank]
    }

    /// The number of categories of [`TableCard::category`].
    pub(super) fn categories(&self) -> usize {
        2 * self.classes() + 1 + 2 * BOUNDS
    }

    /// The bucket of a bound in points. The last bucket, [`NO_BOUND`], is never returned.
    fn step(&self, points: i32) -> u8 {
        ((points - self.lowest).max(0) >> self.unit_shift).min(BOUNDS as i32 - 2) as u8
    }

    /// The bucket of points given in sixteenths, from 0 to `most`. The first `below` buckets are for points below zero.
    #[inline]
    pub(super) fn step_of(&self, sixteenths: i32, below: i32, most: usize) -> usize {
        let shift = self.unit_shift + 4;
        let rounded = sixteenths + (below << shift) + (1 << (shift - 1));
        ((rounded.max(0) >> shift) as usize).min(most)
    }

    /// The binary logarithm of the width of a bucket of sums, in points.
    pub(super) fn unit_shift(&self) -> u32 {
        self.unit_shift
    }

    /// The largest number of points in the bucket `step`.
    pub(super) fn bound(&self, step: u8) -> i32 {
        (i32::from(step) << self.unit_shift) + self.lowest
    }
}

/// The class of a card that the player does not know.
pub(super) const UNKNOWN: u8 = u8::MAX;

/// The bucket of a card without a bound.
const NO_BOUND: u8 = BOUNDS as u8 - 1;

/// The assumed value of a power for a player that drops a card to use it, in points.
const POWER: i32 = 4;

/// A card on the table, as the seat to act sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TableCard {
    /// The class of the card, or [`UNKNOWN`].
    pub(super) class: u8,
    /// The seats that have seen the card: bit d is the seat at distance d in playing order from the seat to act.
    pub(super) witnesses: u8,
    /// The bucket of the upper bound on the card's points that follows from its owner's decisions.
    bound: u8,
    /// Whether the owner put the card into its spot by keeping it.
    kept: bool,
}

impl TableCard {
    /// No card.
    pub(super) const NONE: TableCard = TableCard { class: UNKNOWN, witnesses: 0, bound: NO_BOUND, kept: false };

    #[inline]
    pub(super) fn new(deck: &DeckClasses, class: u8, witnesses: u8, trace: &CardTrace) -> TableCard {
        let [replaced, outlived, passed, spent] = trace.bounds().map(|bound| bound.map(i32::from));
        let hints = [
            outlived,
            replaced.map(|points| points - 1),
            passed.map(|points| points + 1),
            spent.map(|points| points + POWER),
        ];
        let bound = hints.into_iter().flatten().min().map_or(NO_BOUND, |points| deck.step(points));
        TableCard { class, witnesses, bound, kept: trace.origin == Origin::Kept }
    }

    /// A card that the seat to act keeps now.
    #[inline]
    pub(super) fn kept(class: u8, witnesses: u8) -> TableCard {
        TableCard { class, witnesses, bound: NO_BOUND, kept: true }
    }

    /// For a card of the seat to act: whether another seat knows it. For another seat's card: whether its owner knows
    /// it. `distance` is the distance of the owner.
    #[inline]
    pub(super) fn is_open(self, distance: usize) -> bool {
        if distance == 0 { self.witnesses & !1 != 0 } else { self.witnesses >> distance & 1 == 1 }
    }

    /// The card's category: its class and whether it is open, or, if the player does not know it, its history.
    #[inline]
    pub(super) fn category(self, deck: &DeckClasses, distance: usize) -> usize {
        let is_open = self.is_open(distance);
        if self.class != UNKNOWN {
            2 * usize::from(self.class) + usize::from(is_open)
        } else if is_open {
            2 * deck.classes() + 1 + usize::from(self.kept) * BOUNDS + usize::from(self.bound)
        } else {
            2 * deck.classes()
        }
    }

    /// The expected points of the card, in sixteenths of a point. `mean` is the mean of the unseen cards.
    #[inline]
    pub(super) fn expected(self, deck: &DeckClasses, distance: usize, mean: i32) -> i32 {
        if self.class != UNKNOWN {
            16 * deck.points(self.class)
        } else if self.bound == NO_BOUND {
            if self.is_open(distance) && distance > 0 { mean - 16 } else { mean }
        } else {
            // Otherwise half of the bound.
            let own = deck.within.map_or(8 * deck.bound(self.bound), |within| within[usize::from(self.bound)].0);
            mean.min(own)
        }
    }

    /// The variance of the card's points, in sixteenths of a squared point. `variance` is the variance of the unseen cards.
    #[inline]
    pub(super) fn variance(self, deck: &DeckClasses, variance: i32) -> i32 {
        if self.class != UNKNOWN {
            0
        } else if self.bound == NO_BOUND {
            variance
        } else {
            deck.within.map_or(variance, |within| variance.min(within[usize::from(self.bound)].1.max(1)))
        }
    }
}
