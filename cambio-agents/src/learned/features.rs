//! The inputs of a network, and the inputs that are active for a candidate.
//!
//! Every input is 0 or 1. There are four groups, so that the candidates of a decision can share sums: the part that no
//! candidate changes, each layout, the comparison of the layouts, and the candidate itself. Seats are identified by
//! relative position: the seat to act, the next seat, the previous seat, and the seats between. All seats between use
//! the same inputs, whose rows add up, so one network serves tables of two to eight seats.

use cambio_core::Rules;
use cambio_core::rules::MAX_SEATS;

use super::candidates::{CandidateKey, DECISION_KINDS, DecisionKind};
use super::card::{DeckClasses, TableCard, UNKNOWN};
use super::position::{
    Afterstate, Callers, DecisionContext, FaceClass, RelativeTotals, SeatCards, TOTAL_POINTS, TOTALS,
};
use crate::words;

/// The number of relative positions of seats: self, next, previous, between.
const SEATINGS: usize = 4;
/// Equal cards in a layout are counted up to this number.
const COPIES: usize = 6;
/// The buckets for sums of points.
const SUMS: usize = 48;
/// The buckets for differences of sums.
const DIFFERENCES: usize = 2 * SUMS + 1;
/// The buckets for negative sums.
const NEGATIVE: i32 = 6;
/// The buckets for the number of cards: 0 to 7, and 8 or more.
const CARDS: usize = 9;
/// The buckets for the number of unknown cards.
const UNKNOWNS: usize = 6;
/// The buckets for the number of turns.
const TURNS: usize = 40;
/// The values for the first caller: none, or its relative position.
const CALLERS: usize = SEATINGS + 1;
/// The buckets for the number of other seats that expect fewer points: 0 to 2, and 3 or more.
const RANKS: usize = 4;
/// The buckets for differences of totals, each one point wide.
const LEADS: usize = 2 * TOTAL_POINTS + 1;
/// The buckets for totals at the end of the round, each two points wide.
const PROJECTIONS: usize = TOTAL_POINTS;

/// The buckets for the number of unseen cards of a rank: 0 to 3, and 4 or more.
const UNSEEN: usize = 5;

/// The relative position of the seat at this distance.
#[inline]
fn seating(distance: usize, seats: usize) -> usize {
    match distance {
        0 => 0,
        1 => 1,
        _ if distance == seats - 1 => 2,
        _ => 3,
    }
}

words! {
    /// A group of inputs that a network may have beyond the basic ones. Its word is the name in recipes and network files.
    #[derive(PartialOrd, Ord)]
    pub enum InputGroup {
        /// The seat's own cards that each other seat has seen.
        Witnesses = "witnesses",
        /// The known cards of each seat that have the rank of the pile's top after the decision.
        Matches = "matches",
        /// The ranks of which the seat holds two known cards, or one and the card in its hand.
        Pairs = "pairs",
        /// The number of cards that the seat has not seen of the rank of the pile's top and of the card in its hand.
        Unseen = "unseen",
        /// The exact distance of the first caller.
        Caller = "caller",
    }
}

/// Declares the blocks of inputs, in order, with their sizes. The fields are the first input of each block; a block of a
/// group that a network does not have is empty.
macro_rules! blocks {
    (|$deck:ident, $groups:ident| { $($sizes:tt)* } $($block:ident: $size:expr,)+) => {
        #[derive(Clone, Debug)]
        struct Blocks {
            $($block: usize,)+
            len: usize,
        }

        impl Blocks {
            fn new($deck: &DeckClasses, $groups: &[InputGroup]) -> Blocks {
                $($sizes)*
                let mut len = 0;
                $(
                    let $block = len;
                    len += $size;
                )+
                Blocks { $($block,)+ len }
            }
        }
    };
}

blocks! {
    |deck, groups| {
        let faces = deck.classes() + 2;
        let ranks = deck.ranks();
        let with = |group, size: usize| if groups.contains(&group) { size } else { 0 };
        let in_match = |size: usize| if deck.target.is_some() { size } else { 0 };
    }
    // The part that no candidate changes.
    pile: deck.classes() * 5,
    turns: TURNS * SEATINGS,
    turn: SEATINGS,
    step: 5,
    seats: 7,
    totals: in_match(SEATINGS * TOTAL_POINTS),
    leads: in_match(SEATINGS * LEADS),
    // Each layout.
    cards: SEATINGS * deck.categories() * COPIES,
    open_to: with(InputGroup::Witnesses, (SEATINGS - 1) * (deck.classes() + 1) * 2),
    sum: SEATINGS * SUMS,
    size: SEATINGS * CARDS,
    dark: SEATINGS * UNKNOWNS * CARDS,
    // The comparison of the layouts.
    least_difference: CALLERS * DIFFERENCES,
    difference: SEATINGS * DIFFERENCES,
    caller_difference: DIFFERENCES,
    own_known: UNKNOWNS * SUMS,
    sizes: CARDS * CARDS,
    callers: SEATINGS * 2,
    rank: RANKS * CALLERS,
    lead_differences: in_match((2 * TOTALS - 1) * DIFFERENCES),
    match_difference: in_match(SEATINGS * DIFFERENCES),
    least_match_difference: in_match(CALLERS * DIFFERENCES),
    projected: in_match(SEATINGS * PROJECTIONS),
    // The candidate.
    kind_caller: DECISION_KINDS * CALLERS,
    kind_turn: DECISION_KINDS * SEATINGS,
    held: faces,
    top: faces,
    target: 5 * deck.categories(),
    ends: 2 * UNKNOWNS * SUMS,
    total_pairs: in_match(4 * TOTALS * TOTALS),
    // The groups that are optional.
    own_matches: with(InputGroup::Matches, ranks * 4),
    other_matches: with(InputGroup::Matches, (SEATINGS - 1) * ranks * 2),
    pairs: with(InputGroup::Pairs, ranks),
    held_pairs: with(InputGroup::Pairs, ranks),
    unseen_top: with(InputGroup::Unseen, ranks * UNSEEN),
    unseen_held: with(InputGroup::Unseen, ranks * UNSEEN),
    caller_distance: with(InputGroup::Caller, MAX_SEATS),
}

/// The inputs of networks for one rule system.
#[derive(Clone, Debug)]
pub(super) struct Features {
    pub(super) deck: DeckClasses,
    pub(super) groups: Vec<InputGroup>,
    /// The groups as bits, by their place in [`InputGroup::ALL`].
    bits: u8,
    blocks: Blocks,
}

#[derive(Clone, Copy, Default, Debug)]
pub(super) struct LayoutSummary {
    /// The expected sum of the layout, in sixteenths of a point.
    sum: i32,
    /// The points of the cards that the seat to act knows.
    known: i32,
    unknown: usize,
    size: usize,
    /// The ranks of the cards that the seat to act knows, one bit each.
    ranks: u64,
    /// The ranks of two or more of them.
    pairs: u64,
    /// The ranks of those that are open: see [`TableCard::is_open`].
    open_ranks: u64,
}

impl Features {
    pub(super) fn new(rules: &Rules, groups: &[InputGroup]) -> Features {
        let deck = DeckClasses::new(rules);
        let mut groups = groups.to_vec();
        groups.sort_unstable();
        groups.dedup();
        let bits = groups.iter().fold(0, |bits, &group| bits | 1 << group as u8);
        Features { blocks: Blocks::new(&deck, &groups), groups, bits, deck }
    }

    #[inline]
    fn has(&self, group: InputGroup) -> bool {
        self.bits >> group as u8 & 1 == 1
    }

    pub(super) fn len(&self) -> usize {
        self.blocks.len
    }

    /// The bucket of a sum given in sixteenths of a point.
    #[inline]
    fn sum_step(&self, sum: i32) -> usize {
        self.deck.step_of(sum, NEGATIVE, SUMS - 1)
    }

    #[inline]
    fn difference_step(&self, difference: i32) -> usize {
        self.deck.step_of(difference, SUMS as i32, DIFFERENCES - 1)
    }

    /// Activates the inputs of one layout, and returns its summary.
    #[inline]
    pub(super) fn side(
        &self,
        context: &DecisionContext,
        distance: usize,
        side: &SeatCards,
        mut on: impl FnMut(usize),
    ) -> LayoutSummary {
        let (deck, at) = (&self.deck, &self.blocks);
        let seating = seating(distance, context.seats);
        let (categories, classes) = (deck.categories(), deck.classes());
        let mut summary = LayoutSummary { size: side.cards().len(), ..LayoutSummary::default() };
        let (mut dark, mut found) = (0, [0_u16; cambio_core::rules::MAX_SLOTS]);
        for (index, card) in side.cards().iter().enumerate() {
            let category = card.category(deck, distance);
            found[index] = category as u16;
            let copies = found[..index].iter().filter(|&&other| usize::from(other) == category).count();
            if copies < COPIES {
                on(at.cards + (seating * categories + category) * COPIES + copies);
            }
            summary.sum += card.expected(deck, distance, context.mean);
            if card.class == UNKNOWN {
                summary.unknown += 1;
            } else {
                summary.known += deck.points(card.class);
                let rank = 1 << deck.rank(card.class);
                summary.pairs |= summary.ranks & rank;
                summary.ranks |= rank;
                if card.is_open(distance) {
                    summary.open_ranks |= rank;
                }
            }
            dark += usize::from(!card.is_open(distance));
        }
        if distance == 0 && self.has(InputGroup::Witnesses) {
            self.open_to(context, side, classes, &mut on);
        }
        let number = summary.size.min(CARDS - 1);
        on(at.sum + seating * SUMS + self.sum_step(summary.sum));
        on(at.size + seating * CARDS + number);
        on(at.dark + (seating * UNKNOWNS + dark.min(UNKNOWNS - 1)) * CARDS + number);
        summary
    }

    /// Activates the inputs for the cards of the seat to act that other seats know, for each of these seats.
    #[inline]
    fn open_to(&self, context: &DecisionContext, side: &SeatCards, classes: usize, on: &mut impl FnMut(usize)) {
        if side.cards().iter().all(|card| card.witnesses & !1 == 0) {
            return;
        }
        for other in 1..context.seats {
            for (index, card) in side.cards().iter().enumerate() {
                if card.witnesses >> other & 1 == 0 {
                    continue;
                }
                let is_like = |before: &TableCard| before.class == card.class && before.witnesses >> other & 1 == 1;
                let copies = side.cards()[..index].iter().filter(|before| is_like(before)).count();
                if copies < 2 {
                    let class = if card.class == UNKNOWN { classes } else { card.class.into() };
                    let seating = seating(other, context.seats) - 1;
                    on(self.blocks.open_to + (seating * (classes + 1) + class) * 2 + copies);
                }
            }
        }
    }

    /// Activates the inputs that no candidate changes.
    #[inline]
    pub(super) fn context(&self, context: &DecisionContext, totals: &RelativeTotals, mut on: impl FnMut(usize)) {
        let (deck, at) = (&self.deck, &self.blocks);
        for (class, &copies) in context.pile[..deck.classes()].iter().enumerate() {
            if copies > 0 {
                on(at.pile + class * 5 + (usize::from(copies) - 1).min(4));
            }
        }
        on(at.turns + context.turns.min(TURNS - 1) * SEATINGS + seating(context.starter, context.seats));
        on(at.turn + seating(context.turn, context.seats));
        for bit in (0..5).filter(|bit| context.step >> bit & 1 == 1) {
            on(at.step + bit);
        }
        on(at.seats + context.seats - 2);
        if deck.target.is_some() {
            let points = &totals.points[..context.seats];
            for (distance, &total) in points.iter().enumerate() {
                let seating = seating(distance, context.seats);
                on(at.totals + seating * TOTAL_POINTS + usize::from(total));
                if distance > 0 {
                    on(at.leads + seating * LEADS + (usize::from(total) + TOTAL_POINTS - usize::from(points[0])));
                }
            }
        }
    }

    /// Activates the inputs of a position, without the inputs of the candidate that leads to it, and returns the summary
    /// of each layout.
    pub(super) fn position(
        &self,
        context: &DecisionContext,
        after: &Afterstate,
        totals: &RelativeTotals,
        mut on: impl FnMut(usize),
    ) -> [LayoutSummary; MAX_SEATS] {
        self.context(context, totals, &mut on);
        let mut summaries = [LayoutSummary::default(); MAX_SEATS];
        for (distance, summary) in summaries[..context.seats].iter_mut().enumerate() {
            let changed = after.changed().iter().find(|&&(other, _)| usize::from(other) == distance);
            let side = changed.map_or(&context.sides[distance], |(_, side)| side);
            *summary = self.side(context, distance, side, &mut on);
        }
        self.comparison(context, after.caller, totals, &summaries[..context.seats], on);
        summaries
    }

    /// Activates the inputs for the comparison of the layouts, from their summaries and the callers.
    #[inline]
    pub(super) fn comparison(
        &self,
        context: &DecisionContext,
        caller: Callers,
        totals: &RelativeTotals,
        summaries: &[LayoutSummary],
        mut on: impl FnMut(usize),
    ) {
        let at = &self.blocks;
        let own = summaries[0];
        let (mut least, mut fewest, mut fewer) = (i32::MAX, CARDS - 1, 0);
        for (distance, other) in summaries.iter().enumerate().skip(1) {
            least = least.min(other.sum);
            fewest = fewest.min(other.size);
            fewer += usize::from(other.sum < own.sum);
            let step = self.difference_step(other.sum - own.sum);
            on(at.difference + seating(distance, context.seats) * DIFFERENCES + step);
        }
        let first = caller.seating(context.seats);
        let ahead = self.difference_step(least - own.sum);
        on(at.least_difference + first * DIFFERENCES + ahead);
        on(at.rank + fewer.min(RANKS - 1) * CALLERS + first);
        if let Some(caller) = caller.first.filter(|&distance| distance > 0) {
            on(at.caller_difference + self.difference_step(summaries[usize::from(caller)].sum - own.sum));
        }
        on(at.own_known + own.unknown.min(UNKNOWNS - 1) * SUMS + self.sum_step(16 * own.known));
        on(at.sizes + own.size.min(CARDS - 1) * CARDS + fewest);
        let (mut callers, mut alone) = (caller.all, true);
        while callers != 0 {
            let distance = callers.trailing_zeros() as usize;
            on(at.callers + 2 * seating(distance, context.seats) + usize::from(!alone));
            alone = false;
            callers &= callers - 1;
        }
        if self.deck.target.is_some() {
            on(at.lead_differences
                + (TOTALS - 1 + totals.own_step() - totals.best_step(context.seats)) * DIFFERENCES
                + ahead);
            self.projection(context, first, totals, summaries, on);
        }
    }

    /// Activates the inputs for the totals that would result if the round ended now.
    #[inline]
    fn projection(
        &self,
        context: &DecisionContext,
        first: usize,
        totals: &RelativeTotals,
        summaries: &[LayoutSummary],
        mut on: impl FnMut(usize),
    ) {
        let at = &self.blocks;
        let projected = |distance: usize| 16 * totals.exact[distance] + summaries[distance].sum;
        let own = projected(0);
        let mut least = i32::MAX;
        for distance in 0..context.seats {
            let (seating, total) = (seating(distance, context.seats), projected(distance));
            let step = ((total + 16 * NEGATIVE) / 32).clamp(0, PROJECTIONS as i32 - 1) as usize;
            on(at.projected + seating * PROJECTIONS + step);
            if distance > 0 {
                least = least.min(total);
                on(at.match_difference + seating * DIFFERENCES + self.difference_step(total - own));
            }
        }
        on(at.least_match_difference + first * DIFFERENCES + self.difference_step(least - own));
    }

    /// Activates the inputs of the candidate itself.
    #[inline]
    pub(super) fn candidate(
        &self,
        context: &DecisionContext,
        after: &Afterstate,
        key: &CandidateKey,
        totals: &RelativeTotals,
        summaries: &[LayoutSummary],
        mut on: impl FnMut(usize),
    ) {
        let (deck, at, own) = (&self.deck, &self.blocks, &summaries[0]);
        let kind = key.kind as usize;
        on(at.kind_caller + kind * CALLERS + after.caller.seating(context.seats));
        on(at.kind_turn + kind * SEATINGS + seating(context.turn, context.seats));
        self.faces(after, &mut on);
        if let Some((_, category)) = key.card {
            let target = match key.kind {
                DecisionKind::LookOwn => Some(0),
                DecisionKind::LookOther => Some(1),
                DecisionKind::Blind => Some(2),
                DecisionKind::SnapOther => Some(3),
                DecisionKind::Show => Some(4),
                _ => None,
            };
            if let Some(target) = target {
                on(at.target + target * deck.categories() + usize::from(category));
            }
        }
        let moment = match key.kind {
            DecisionKind::Call => 1,
            DecisionKind::End => 2,
            DecisionKind::Draw => 3,
            _ => 0,
        };
        if let 1 | 2 = moment {
            let (unknown, known) = (own.unknown.min(UNKNOWNS - 1), self.sum_step(16 * own.known));
            on(at.ends + ((2 - moment) * UNKNOWNS + unknown) * SUMS + known);
        }
        if deck.target.is_some() {
            let (own, best) = (totals.own_step(), totals.best_step(context.seats));
            on(at.total_pairs + (moment * TOTALS + own) * TOTALS + best);
        }
        self.ranks(context, after, summaries, &mut on);
        if self.has(InputGroup::Caller)
            && let Some(distance) = after.caller.first
        {
            on(at.caller_distance + usize::from(distance));
        }
    }

    /// Activates the inputs of the held card and the top of the pile.
    #[inline]
    pub(super) fn faces(&self, after: &Afterstate, mut on: impl FnMut(usize)) {
        let (deck, at) = (&self.deck, &self.blocks);
        let face = |face| match face {
            FaceClass::None => deck.classes(),
            FaceClass::Unknown => deck.classes() + 1,
            FaceClass::Class(class) => class.into(),
        };
        on(at.held + face(after.held));
        on(at.top + face(after.top));
    }

    /// Activates the optional inputs of the ranks on the pile and in the hand after a candidate.
    #[inline]
    pub(super) fn ranks(
        &self,
        context: &DecisionContext,
        after: &Afterstate,
        summaries: &[LayoutSummary],
        mut on: impl FnMut(usize),
    ) {
        let (deck, at, own) = (&self.deck, &self.blocks, &summaries[0]);
        let (pairs, unseen) = (self.has(InputGroup::Pairs), self.has(InputGroup::Unseen));
        if pairs {
            let mut left = own.pairs;
            while left != 0 {
                on(at.pairs + left.trailing_zeros() as usize);
                left &= left - 1;
            }
        }
        if let FaceClass::Class(held) = after.held {
            let rank = deck.rank(held);
            if pairs && own.ranks >> rank & 1 == 1 {
                on(at.held_pairs + rank);
            }
            if unseen {
                on(at.unseen_held + rank * UNSEEN + usize::from(context.unseen(deck, rank)).min(UNSEEN - 1));
            }
        }
        let FaceClass::Class(top) = after.top else { return };
        let rank = deck.rank(top);
        if unseen {
            on(at.unseen_top + rank * UNSEEN + usize::from(context.unseen(deck, rank)).min(UNSEEN - 1));
        }
        if self.has(InputGroup::Matches) {
            if own.ranks >> rank & 1 == 1 {
                let (two, is_open) = (own.pairs >> rank & 1 == 1, own.open_ranks >> rank & 1 == 1);
                on(at.own_matches + 4 * rank + 2 * usize::from(two) + usize::from(is_open));
            }
            for (distance, other) in summaries.iter().enumerate().skip(1) {
                if other.ranks >> rank & 1 == 1 {
                    let seating = seating(distance, context.seats) - 1;
                    let is_open = other.open_ranks >> rank & 1 == 1;
                    on(at.other_matches + (seating * deck.ranks() + rank) * 2 + usize::from(is_open));
                }
            }
        }
    }
}

impl Callers {
    /// One plus the relative position of the first caller; 0 if no seat has called.
    #[inline]
    fn seating(self, seats: usize) -> usize {
        self.first.map_or(0, |distance| 1 + seating(distance.into(), seats))
    }
}
