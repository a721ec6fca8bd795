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
use super::general::{Axis, DIFFERENCES, Embedding, LEADS, NEGATIVE, PROJECTIONS, SUMS};
use super::position::{
    Afterstate, Callers, DecisionContext, FaceClass, RelativeTotals, SeatCards, TOTAL_POINTS, TOTALS,
};

/// The number of relative positions of seats: self, next, previous, between.
const SEATINGS: usize = 4;
/// Equal cards in a layout are counted up to this number.
pub(super) const COPIES: usize = 6;
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

/// The buckets for the number of unseen cards of a rank: 0 to 3, and 4 or more.
const UNSEEN: usize = 5;
/// The buckets for the lead in fifths of its standard deviation.
const CERTAINTIES: usize = 41;
/// The decisions that end a round, or not: others, a call, the end of a turn, and a draw.
const MOMENTS: usize = 4;
/// The buckets for the number of a seat's own turns before an event: this turn, the next ones, 4 or more.
const LAPS: usize = 5;
/// The buckets for the number of unseen cards that match a known card.
const MATES: usize = 8;
/// The buckets for the mean of the unseen cards, in quarters of a unit around the mean of the deck.
const MEANS: usize = 13;
/// The turns that are distinguished for a call.
const CALL_TURNS: usize = 20;

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

/// The groups of inputs that older networks may lack, by their names in network files, in the order of [`Group`].
pub(super) const GROUPS: [&str; 5] = ["witnesses", "matches", "pairs", "unseen", "caller"];

/// The bits of all groups.
pub(super) const ALL_GROUPS: u8 = (1 << GROUPS.len()) - 1;
/// The bits of the groups in the bundled network for two seats of `classic`, which is older than the other groups.
pub(super) const EARLY_GROUPS: u8 = 1 << Group::Witnesses as u8;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Group {
    /// The seat's own cards that each other seat has seen.
    Witnesses,
    /// The known cards of each seat that have the rank of the pile's top after the decision.
    Matches,
    /// The ranks of which the seat holds two known cards, or one and the card in its hand.
    Pairs,
    /// The number of cards that the seat has not seen of the rank of the pile's top and of the card in its hand.
    Unseen,
    /// The exact distance of the first caller.
    Caller,
}

/// The networks that have a block of inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Presence {
    Always,
    /// Where a total of points ends the match.
    InMatch,
    With(Group),
    InGeneral,
}

use Axis::{
    Category, Class, ClassOrUnknown, CoarseDifference, Difference, Face, Lead, Number, Projection, Rank, Sum, Total,
    Turn,
};
use Presence::{Always, InGeneral, InMatch, With};

/// Declares the blocks of inputs, in order, with the networks that have them and their axes. The fields are the first input of
/// each block; an absent block is empty.
macro_rules! blocks {
    ($($block:ident: $presence:expr, [$($axis:expr),+];)+) => {
        #[derive(Clone, Debug)]
        struct Blocks {
            $($block: usize,)+
            len: usize,
        }

        impl Blocks {
            const ALL: &[(Presence, &[Axis])] = &[$(($presence, &[$($axis),+]),)+];

            fn new(deck: &DeckClasses, has: impl Fn(Presence) -> bool) -> Blocks {
                let mut len = 0;
                $(
                    let $block = len;
                    len += if has($presence) { [$($axis),+].iter().map(|axis: &Axis| axis.size(deck)).product() } else { 0 };
                )+
                Blocks { $($block,)+ len }
            }
        }
    };
}

blocks! {
    // The part that no candidate changes.
    pile: Always, [Class, Number(5)];
    turns: Always, [Turn(TURNS), Number(SEATINGS)];
    turn: Always, [Number(SEATINGS)];
    step: Always, [Number(5)];
    seats: Always, [Number(7)];
    totals: InMatch, [Number(SEATINGS), Total];
    leads: InMatch, [Number(SEATINGS), Lead];
    // Each layout.
    cards: Always, [Number(SEATINGS), Category, Number(COPIES)];
    open_to: With(Group::Witnesses), [Number(SEATINGS - 1), ClassOrUnknown, Number(2)];
    sum: Always, [Number(SEATINGS), Sum];
    size: Always, [Number(SEATINGS), Number(CARDS)];
    dark: Always, [Number(SEATINGS), Number(UNKNOWNS), Number(CARDS)];
    // The comparison of the layouts.
    least_difference: Always, [Number(CALLERS), Difference];
    difference: Always, [Number(SEATINGS), Difference];
    caller_difference: Always, [Difference];
    own_known: Always, [Number(UNKNOWNS), Sum];
    sizes: Always, [Number(CARDS), Number(CARDS)];
    callers: Always, [Number(SEATINGS), Number(2)];
    rank: Always, [Number(RANKS), Number(CALLERS)];
    lead_differences: InMatch, [Number(2 * TOTALS - 1), CoarseDifference];
    match_difference: InMatch, [Number(SEATINGS), Difference];
    least_match_difference: InMatch, [Number(CALLERS), Difference];
    projected: InMatch, [Number(SEATINGS), Projection];
    // The candidate.
    kind_caller: Always, [Number(DECISION_KINDS), Number(CALLERS)];
    kind_turn: Always, [Number(DECISION_KINDS), Number(SEATINGS)];
    held: Always, [Face];
    top: Always, [Face];
    target: Always, [Number(5), Category];
    ends: Always, [Number(2), Number(UNKNOWNS), Sum];
    total_pairs: InMatch, [Number(4), Number(TOTALS), Number(TOTALS)];
    // The groups that older networks may lack.
    own_matches: With(Group::Matches), [Rank, Number(4)];
    other_matches: With(Group::Matches), [Number(SEATINGS - 1), Rank, Number(2)];
    pairs: With(Group::Pairs), [Rank];
    held_pairs: With(Group::Pairs), [Rank];
    unseen_top: With(Group::Unseen), [Rank, Number(UNSEEN)];
    unseen_held: With(Group::Unseen), [Rank, Number(UNSEEN)];
    caller_distance: With(Group::Caller), [Number(MAX_SEATS)];
    // The inputs of general networks alone.
    certainty: InGeneral, [Number(CALLERS), Number(CERTAINTIES)];
    moment_certainty: InGeneral, [Number(MOMENTS), Number(CERTAINTIES)];
    kind: InGeneral, [Number(DECISION_KINDS)];
    kind_held: InGeneral, [Number(DECISION_KINDS), Face];
    kind_top: InGeneral, [Number(DECISION_KINDS), Face];
    kind_matches: InGeneral, [Number(DECISION_KINDS), Number(4)];
    mates: InGeneral, [Number(SEATINGS), Number(MATES), Number(3)];
    unseen_mean: InGeneral, [Number(MEANS)];
    until_call: InGeneral, [Number(LAPS), Number(CERTAINTIES)];
    until_limit: InGeneral, [Number(LAPS), Number(CERTAINTIES)];
    below_cap: InGeneral, [Number(MOMENTS), Number(CERTAINTIES)];
    called: InGeneral, [Number(4), Number(CERTAINTIES)];
    ends_turn: InGeneral, [Number(2), Number(UNKNOWNS), Number(CALL_TURNS)];
}

/// The inputs of networks for one rule system.
#[derive(Clone, Debug)]
pub(super) struct Features {
    pub(super) deck: DeckClasses,
    /// The groups of the network, one bit each.
    pub(super) groups: u8,
    blocks: Blocks,
    /// The general inputs of each input; only in a general network.
    pub(super) embedding: Option<Embedding>,
}

#[derive(Clone, Copy, Default, Debug)]
pub(super) struct LayoutSummary {
    /// The expected sum of the layout, in sixteenths of a point.
    sum: i32,
    /// The variance of the sum, in sixteenths of a squared point; only for a general network.
    variance: i32,
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
    pub(super) fn new(rules: &Rules, groups: u8, is_general: bool) -> Features {
        let deck = DeckClasses::new(rules, is_general);
        let has = |presence| match presence {
            Always => true,
            InMatch => deck.target.is_some(),
            With(group) => groups >> group as u8 & 1 == 1,
            InGeneral => is_general,
        };
        let blocks = Blocks::new(&deck, has);
        let all: Vec<_> = Blocks::ALL.iter().map(|&(presence, axes)| (has(presence), axes)).collect();
        let embedding = is_general.then(|| Embedding::new(rules, &deck, &all));
        Features { deck, groups, blocks, embedding }
    }

    #[inline]
    fn has(&self, group: Group) -> bool {
        self.groups >> group as u8 & 1 == 1
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
        let mut mates = [0_u8; MATES];
        for (index, card) in side.cards().iter().enumerate() {
            let category = card.category(deck, distance);
            found[index] = category as u16;
            let copies = found[..index].iter().filter(|&&other| usize::from(other) == category).count();
            if copies < COPIES {
                on(at.cards + (seating * categories + category) * COPIES + copies);
            }
            summary.sum += card.expected(deck, distance, context.mean);
            if self.embedding.is_some() {
                summary.variance += card.variance(deck, context.variance);
            }
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
                if self.embedding.is_some() {
                    let number = usize::from(context.unseen(deck, deck.rank(card.class))).min(MATES - 1);
                    if mates[number] < 3 {
                        on(at.mates + (seating * MATES + number) * 3 + usize::from(mates[number]));
                        mates[number] += 1;
                    }
                }
            }
            dark += usize::from(!card.is_open(distance));
        }
        if distance == 0 && self.has(Group::Witnesses) {
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
        if self.embedding.is_some() {
            on(at.unseen_mean + self.deck.mean_step(context.mean, MEANS));
        }
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
        if self.embedding.is_some() {
            let certainty = self.certainty(summaries);
            on(at.certainty + after.caller.seating(context.seats) * CERTAINTIES + certainty);
            on(at.moment_certainty + moment * CERTAINTIES + certainty);
            let called = usize::from(after.caller.all & 1) + 2 * usize::from(after.caller.all & !1 != 0);
            on(at.called + called * CERTAINTIES + certainty);
            let laps = |turn: usize| turn.saturating_sub(context.turns).div_ceil(context.seats).min(LAPS - 1);
            on(at.until_call + laps(context.seats * (deck.first_call - 1)) * CERTAINTIES + certainty);
            on(at.until_limit + laps(deck.turn_limit) * CERTAINTIES + certainty);
            if let Some(cap) = deck.cap {
                on(at.below_cap + moment * CERTAINTIES + self.deviations(16 * cap - own.sum, own.variance));
            }
            on(at.kind + kind);
            let faces = deck.classes() + 2;
            on(at.kind_held + kind * faces + self.face(after.held));
            on(at.kind_top + kind * faces + self.face(after.top));
            if deck.has_snaps
                && let FaceClass::Class(top) = after.top
            {
                let has = |summary: &LayoutSummary| summary.ranks >> deck.rank(top) & 1;
                let others = summaries[1..].iter().fold(0, |bit, other| bit | has(other));
                on(at.kind_matches + kind * 4 + (2 * has(own) + others) as usize);
            }
        }
        if let 1 | 2 = moment {
            let (unknown, known) = (own.unknown.min(UNKNOWNS - 1), self.sum_step(16 * own.known));
            on(at.ends + ((2 - moment) * UNKNOWNS + unknown) * SUMS + known);
            if self.embedding.is_some() {
                let turn = context.turns.min(CALL_TURNS - 1);
                on(at.ends_turn + ((2 - moment) * UNKNOWNS + unknown) * CALL_TURNS + turn);
            }
        }
        if deck.target.is_some() {
            let (own, best) = (totals.own_step(), totals.best_step(context.seats));
            on(at.total_pairs + (moment * TOTALS + own) * TOTALS + best);
        }
        self.ranks(context, after, summaries, &mut on);
        if self.has(Group::Caller)
            && let Some(distance) = after.caller.first
        {
            on(at.caller_distance + usize::from(distance));
        }
    }

    /// Activates the inputs of the held card and the top of the pile.
    #[inline]
    pub(super) fn faces(&self, after: &Afterstate, mut on: impl FnMut(usize)) {
        on(self.blocks.held + self.face(after.held));
        on(self.blocks.top + self.face(after.top));
    }

    #[inline]
    fn face(&self, face: FaceClass) -> usize {
        match face {
            FaceClass::None => self.deck.classes(),
            FaceClass::Unknown => self.deck.classes() + 1,
            FaceClass::Class(class) => class.into(),
        }
    }

    /// How sure the seat to act is of having the fewest points: the expected lead over the seat with the fewest of the others,
    /// in fifths of its standard deviation.
    #[inline]
    fn certainty(&self, summaries: &[LayoutSummary]) -> usize {
        let own = &summaries[0];
        let least = summaries[1..].iter().min_by_key(|other| other.sum).unwrap_or(own);
        self.deviations(least.sum - own.sum, own.variance + least.variance)
    }

    /// The bucket of a lead in fifths of its standard deviation. The lead and the variance are in sixteenths.
    #[inline]
    fn deviations(&self, lead: i32, variance: i32) -> usize {
        // In sixteenths of a point, with a quarter of a squared unit.
        let variance = 16 * variance + (64 << (2 * self.deck.unit_shift()));
        let deviation = variance.max(1).isqrt();
        let fifths = (10 * lead + deviation).div_euclid(2 * deviation);
        (fifths + CERTAINTIES as i32 / 2).clamp(0, CERTAINTIES as i32 - 1) as usize
    }

    /// Activates the inputs of the ranks on the pile and in the hand after a candidate.
    #[inline]
    pub(super) fn ranks(
        &self,
        context: &DecisionContext,
        after: &Afterstate,
        summaries: &[LayoutSummary],
        mut on: impl FnMut(usize),
    ) {
        let (deck, at, own) = (&self.deck, &self.blocks, &summaries[0]);
        if !deck.has_snaps {
            return;
        }
        let (pairs, unseen) = (self.has(Group::Pairs), self.has(Group::Unseen));
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
        if self.has(Group::Matches) {
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
