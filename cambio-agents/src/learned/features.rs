//! What a network is told: which of its inputs a decision switches on.
//!
//! Every input is 0 or 1. Most belong to one layout, so that two decisions which leave a layout alone share its part of the
//! sum. Seats are told apart by how they sit: the deciding seat, the next one, the one before it, and those between. The
//! inputs of several seats between add up, so one network serves tables of two to eight.

use cambio_core::Rules;

use super::candidates::{Key, SORTS, Sort};
use super::card::{Deck, Seen, UNKNOWN};
use super::position::{After, Face, Scene, Side, TOTALS, Totals};

/// How a seat sits: oneself, next, before, between.
const SEATINGS: usize = 4;
/// Of this many equal cards a layout tells the number.
const COPIES: usize = 6;
/// Sums of points come in so many steps.
const SUMS: usize = 48;
/// Differences of sums.
const DIFFERENCES: usize = 2 * SUMS + 1;
/// The steps below zero of a sum.
const NEGATIVE: i32 = 6;
/// Numbers of cards that are told apart: 0 to 8 and more.
const CARDS: usize = 9;
/// Numbers of unknown cards that are told apart.
const UNKNOWNS: usize = 6;
/// Numbers of turns that are told apart.
const TURNS: usize = 40;
/// Who called first: nobody, or how it sits.
const CALLERS: usize = SEATINGS + 1;

/// How the seat at this distance sits.
#[inline]
fn seating(distance: usize, seats: usize) -> usize {
    match distance {
        0 => 0,
        1 => 1,
        _ if distance == seats - 1 => 2,
        _ => 3,
    }
}

/// Where the inputs of a network begin, block by block.
#[derive(Clone, Debug)]
struct Blocks {
    // Of one layout.
    cards: usize,
    open_to: usize,
    sum: usize,
    size: usize,
    dark: usize,
    // Of the whole.
    least_difference: usize,
    difference: usize,
    caller_difference: usize,
    own_known: usize,
    sizes: usize,
    pile: usize,
    turns: usize,
    callers: usize,
    turn: usize,
    sort_caller: usize,
    sort_turn: usize,
    held: usize,
    top: usize,
    target: usize,
    step: usize,
    seats: usize,
    ends: usize,
    totals: usize,
    total_pairs: usize,
    total_differences: usize,
    len: usize,
}

impl Blocks {
    fn new(deck: &Deck) -> Blocks {
        let mut len = 0;
        let mut block = |size: usize| {
            len += size;
            len - size
        };
        let faces = deck.classes() + 2;
        let in_match = |size: usize| if deck.target.is_some() { size } else { 0 };
        let mut blocks = Blocks {
            cards: block(SEATINGS * deck.categories() * COPIES),
            open_to: block((SEATINGS - 1) * (deck.classes() + 1) * 2),
            sum: block(SEATINGS * SUMS),
            size: block(SEATINGS * CARDS),
            dark: block(SEATINGS * UNKNOWNS * CARDS),
            least_difference: block(CALLERS * DIFFERENCES),
            difference: block(SEATINGS * DIFFERENCES),
            caller_difference: block(DIFFERENCES),
            own_known: block(UNKNOWNS * SUMS),
            sizes: block(CARDS * CARDS),
            pile: block(deck.classes() * 5),
            turns: block(TURNS * SEATINGS),
            callers: block(SEATINGS * 2),
            turn: block(SEATINGS),
            sort_caller: block(SORTS * CALLERS),
            sort_turn: block(SORTS * SEATINGS),
            held: block(faces),
            top: block(faces),
            target: block(5 * deck.categories()),
            step: block(5),
            seats: block(7 * CALLERS),
            ends: block(2 * UNKNOWNS * SUMS),
            totals: block(in_match(SEATINGS * TOTALS)),
            total_pairs: block(in_match(4 * TOTALS * TOTALS)),
            total_differences: block(in_match((2 * TOTALS - 1) * (SUMS + 1))),
            len: 0,
        };
        blocks.len = len;
        blocks
    }
}

/// The inputs of networks for one rule system.
#[derive(Clone, Debug)]
pub(super) struct Features {
    pub(super) deck: Deck,
    blocks: Blocks,
}

/// What a layout comes to.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Summary {
    /// What its owner is expected to have, in sixteenths of a point.
    sum: i32,
    /// The points of the cards that the deciding seat knows.
    known: i32,
    unknown: usize,
    size: usize,
}

impl Features {
    pub(super) fn new(rules: &Rules) -> Features {
        let deck = Deck::new(rules);
        Features { blocks: Blocks::new(&deck), deck }
    }

    /// How many inputs there are.
    pub(super) fn len(&self) -> usize {
        self.blocks.len
    }

    /// The step of a sum that is given in sixteenths of a point.
    #[inline]
    fn sum_step(&self, sum: i32) -> usize {
        let unit = 16 * self.deck.unit;
        ((sum + NEGATIVE * unit + unit / 2).max(0) / unit).min(SUMS as i32 - 1) as usize
    }

    #[inline]
    fn difference_step(&self, difference: i32) -> usize {
        let unit = 16 * self.deck.unit;
        ((difference + SUMS as i32 * unit + unit / 2).max(0) / unit).min(DIFFERENCES as i32 - 1) as usize
    }

    /// The inputs of one layout.
    #[inline]
    pub(super) fn side(&self, scene: &Scene, distance: usize, side: &Side, mut on: impl FnMut(usize)) -> Summary {
        let (deck, at) = (&self.deck, &self.blocks);
        let seating = seating(distance, scene.seats);
        let (categories, classes) = (deck.categories(), deck.classes());
        let mut summary = Summary { size: side.cards().len(), ..Summary::default() };
        let (mut dark, mut told) = (0, [0_u16; cambio_core::MAX_SLOTS]);
        for (place, card) in side.cards().iter().enumerate() {
            let category = card.category(deck, distance);
            told[place] = category as u16;
            let copies = told[..place].iter().filter(|&&other| usize::from(other) == category).count();
            if copies < COPIES {
                on(at.cards + (seating * categories + category) * COPIES + copies);
            }
            summary.sum += card.expected(deck, distance, scene.mean);
            if card.class == UNKNOWN {
                summary.unknown += 1;
            } else {
                summary.known += deck.points(card.class);
            }
            dark += usize::from(!card.is_open(distance));
        }
        if distance == 0 {
            self.open_to(scene, side, classes, &mut on);
        }
        let number = summary.size.min(CARDS - 1);
        on(at.sum + seating * SUMS + self.sum_step(summary.sum));
        on(at.size + seating * CARDS + number);
        on(at.dark + (seating * UNKNOWNS + dark.min(UNKNOWNS - 1)) * CARDS + number);
        summary
    }

    /// Which other seats know which own cards.
    #[inline]
    fn open_to(&self, scene: &Scene, side: &Side, classes: usize, on: &mut impl FnMut(usize)) {
        if side.cards().iter().all(|card| card.witnesses & !1 == 0) {
            return;
        }
        for other in 1..scene.seats {
            for (place, card) in side.cards().iter().enumerate() {
                if card.witnesses >> other & 1 == 0 {
                    continue;
                }
                let is_like = |before: &Seen| before.class == card.class && before.witnesses >> other & 1 == 1;
                let copies = side.cards()[..place].iter().filter(|before| is_like(before)).count();
                if copies < 2 {
                    let class = if card.class == UNKNOWN { classes } else { card.class.into() };
                    let seating = seating(other, scene.seats) - 1;
                    on(self.blocks.open_to + (seating * (classes + 1) + class) * 2 + copies);
                }
            }
        }
    }

    /// The inputs of the whole, given what the layouts come to.
    #[inline]
    pub(super) fn whole(
        &self,
        scene: &Scene,
        after: &After,
        key: &Key,
        totals: &Totals,
        summaries: &[Summary],
        mut on: impl FnMut(usize),
    ) {
        let (deck, at) = (&self.deck, &self.blocks);
        let sort = key.sort as usize;
        let own = summaries[0];
        let (mut least, mut fewest) = (i32::MAX, CARDS - 1);
        for (distance, other) in summaries.iter().enumerate().skip(1) {
            least = least.min(other.sum);
            fewest = fewest.min(other.size);
            let step = self.difference_step(other.sum - own.sum);
            on(at.difference + seating(distance, scene.seats) * DIFFERENCES + step);
        }
        let first = after.first_caller.map_or(0, |distance| 1 + seating(distance.into(), scene.seats));
        let ahead = self.difference_step(least - own.sum);
        on(at.least_difference + first * DIFFERENCES + ahead);
        if let Some(caller) = after.first_caller.filter(|&distance| distance > 0) {
            on(at.caller_difference + self.difference_step(summaries[usize::from(caller)].sum - own.sum));
        }
        let (unknown, known) = (own.unknown.min(UNKNOWNS - 1), self.sum_step(16 * own.known));
        on(at.own_known + unknown * SUMS + known);
        if let Sort::Call | Sort::End = key.sort {
            let is_call = usize::from(key.sort == Sort::Call);
            on(at.ends + (is_call * UNKNOWNS + unknown) * SUMS + known);
        }
        on(at.sizes + own.size.min(CARDS - 1) * CARDS + fewest);
        for (class, &copies) in scene.pile[..deck.classes()].iter().enumerate() {
            if copies > 0 {
                on(at.pile + class * 5 + (usize::from(copies) - 1).min(4));
            }
        }
        on(at.turns + scene.turns.min(TURNS - 1) * SEATINGS + seating(scene.starter, scene.seats));
        let (mut callers, mut alone) = (after.callers, true);
        while callers != 0 {
            let distance = callers.trailing_zeros() as usize;
            on(at.callers + 2 * seating(distance, scene.seats) + usize::from(!alone));
            alone = false;
            callers &= callers - 1;
        }
        let turn = seating(scene.turn, scene.seats);
        on(at.turn + turn);
        on(at.sort_caller + sort * CALLERS + first);
        on(at.sort_turn + sort * SEATINGS + turn);
        let face = |face| match face {
            Face::None => deck.classes(),
            Face::Unknown => deck.classes() + 1,
            Face::Class(class) => class.into(),
        };
        on(at.held + face(after.held));
        on(at.top + face(after.top));
        if let Some((_, category)) = key.card {
            let kind = match key.sort {
                Sort::LookOwn => Some(0),
                Sort::LookOther => Some(1),
                Sort::Blind => Some(2),
                Sort::SnapOther => Some(3),
                Sort::Show => Some(4),
                _ => None,
            };
            if let Some(kind) = kind {
                on(at.target + kind * deck.categories() + usize::from(category));
            }
        }
        for bit in (0..5).filter(|bit| scene.step >> bit & 1 == 1) {
            on(at.step + bit);
        }
        on(at.seats + (scene.seats - 2) * CALLERS + first);
        if deck.target.is_some() {
            self.standing(scene, key, totals, ahead, on);
        }
    }

    /// The inputs of how the match stands.
    #[inline]
    fn standing(&self, scene: &Scene, key: &Key, totals: &Totals, ahead: usize, mut on: impl FnMut(usize)) {
        let at = &self.blocks;
        let steps = &totals.steps[..scene.seats];
        for (distance, &step) in steps.iter().enumerate() {
            on(at.totals + seating(distance, scene.seats) * TOTALS + usize::from(step));
        }
        let own = usize::from(steps[0]);
        let best = steps[1..].iter().copied().min().map_or(own, usize::from);
        let sort = match key.sort {
            Sort::Call => 1,
            Sort::End => 2,
            Sort::Draw => 3,
            _ => 0,
        };
        on(at.total_pairs + (sort * TOTALS + own) * TOTALS + best);
        on(at.total_differences + (own + TOTALS - 1 - best) * (SUMS + 1) + ahead / 2);
    }
}
