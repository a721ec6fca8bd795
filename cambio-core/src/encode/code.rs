//! Number codes of decisions, events and phases, shared by solver keys, search trees, tensors and fingerprints.
//!
//! Strategy files, records and tensors contain these codes, so a code must never change. A new item gets an unused
//! code. `tests/codes.rs` pins every code by value.

use crate::engine::action::Action;
use crate::engine::event::{EndReason, Event, Sighting, SnapOutcome};
use crate::engine::table::Phase;
use crate::rules::card::Card;
use crate::rules::seat::{MAX_SLOTS, Seat, SeatSet, Spot};

/// Packs a tag and four parts of twelve bits.
const fn word(tag: u8, parts: [u64; 4]) -> u64 {
    let [a, b, c, d] = parts;
    (tag as u64) << 48 | a << 36 | b << 24 | c << 12 | d
}

#[inline]
fn seat(seat: Seat) -> u64 {
    seat.index() as u64
}

#[inline]
fn seats(seats: SeatSet) -> u64 {
    seats.bits().into()
}

/// The index of the spot plus one, because 0 means no spot.
#[inline]
fn spot(spot: Spot) -> u64 {
    spot.index() as u64 + 1
}

/// The index of the kind plus one, because 0 means no card.
#[inline]
fn card(card: Card) -> u64 {
    card.kind() as u64 + 1
}

#[inline]
fn face(face: Option<Card>) -> u64 {
    face.map_or(0, card)
}

impl Action {
    /// The code of the verb, from 1 to 16. It does not depend on the spots.
    #[inline]
    pub const fn verb_code(self) -> u8 {
        match self {
            Action::Draw => 1,
            Action::Take => 2,
            Action::Call => 3,
            Action::End => 4,
            Action::Drop => 5,
            Action::Skip => 6,
            Action::Pass => 7,
            Action::Peek(_) => 8,
            Action::Keep(_) => 9,
            Action::Look(_) => 10,
            Action::Swap(..) => 11,
            Action::Show(_) => 12,
            Action::Snap(_) => 13,
            Action::Touch(_) => 14,
            Action::Give(_) => 15,
            Action::Cheat(_) => 16,
        }
    }

    /// The spots of the decision, in the order of its text form.
    #[inline]
    pub const fn spots(self) -> [Option<Spot>; 2] {
        match self {
            Action::Draw | Action::Take | Action::Call | Action::End | Action::Drop | Action::Skip | Action::Pass => {
                [None; 2]
            }
            Action::Peek(spot)
            | Action::Keep(spot)
            | Action::Look(spot)
            | Action::Show(spot)
            | Action::Snap(spot)
            | Action::Touch(spot)
            | Action::Give(spot)
            | Action::Cheat(spot) => [Some(spot), None],
            Action::Swap(one, other) => [Some(one), Some(other)],
        }
    }

    /// The code of the decision, in 56 bits. Different decisions have different codes; the order of the two spots of a
    /// swap does not matter.
    #[inline]
    pub fn code(self) -> u64 {
        let [one, other] = self.canonical().spots().map(|at| at.map_or(0, spot));
        word(self.verb_code(), [one, other, 0, 0])
    }
}

impl Sighting {
    /// The code of the sighting, in 56 bits. Different sightings have different codes; a sighting with a visible face
    /// and one without it are different.
    ///
    /// ```
    /// use cambio_core::{Card, Event, Seat};
    ///
    /// let event = Event::Drew { seat: Seat::A, face: Card::new(3).unwrap() };
    /// assert_ne!(event.seen_from(Seat::A).code(), event.seen_from(Seat::B).code());
    /// assert_eq!(event.seen_from(Seat::B).code(), event.public().code());
    /// ```
    #[expect(clippy::inline_always, reason = "most callers just created the event, so the compiler removes the match")]
    #[inline(always)]
    pub fn code(&self) -> u64 {
        match *self {
            Event::Dealt { starter, extra } => word(1, [seat(starter), seats(extra), 0, 0]),
            Event::Peeked { seat: who, spot: at, face: seen } => word(2, [seat(who), spot(at), face(seen), 0]),
            Event::Flipped { card: seen } => word(3, [card(seen), 0, 0, 0]),
            Event::TurnBegan { seat: who } => word(4, [seat(who), 0, 0, 0]),
            Event::Drew { seat: who, face: seen } => word(5, [seat(who), face(seen), 0, 0]),
            Event::Took { seat: who, card: seen } => word(6, [seat(who), card(seen), 0, 0]),
            Event::Dropped { seat: who, card: seen } => word(7, [seat(who), card(seen), 0, 0]),
            Event::Kept { seat: who, spot: at, replaced } => word(8, [seat(who), spot(at), card(replaced), 0]),
            Event::Looked { seat: who, spot: at, face: seen } => word(9, [seat(who), spot(at), face(seen), 0]),
            Event::Swapped { seat: who, one, other } => word(10, [seat(who), spot(one), spot(other), 0]),
            Event::Shown { spot: at, card: seen } => word(11, [spot(at), card(seen), 0, 0]),
            Event::Skipped { seat: who } => word(12, [seat(who), 0, 0, 0]),
            Event::Touched { seat: who, spot: at } => word(13, [seat(who), spot(at), 0, 0]),
            Event::Snapped { seat: who, spot: at, card: seen, verdict } => {
                word(14, [seat(who), spot(at), card(seen), verdict.code().into()])
            }
            Event::Aborted { seat: who } => word(15, [seat(who), 0, 0, 0]),
            Event::Penalised { seat: who, spot: at } => word(16, [seat(who), spot(at), 0, 0]),
            Event::PenaltyWaived { seat: who } => word(17, [seat(who), 0, 0, 0]),
            Event::Gave { seat: who, from, to } => word(18, [seat(who), spot(from), spot(to), 0]),
            Event::Called { seat: who } => word(19, [seat(who), 0, 0, 0]),
            Event::BecameSafe { seat: who } => word(20, [seat(who), 0, 0, 0]),
            Event::Reshuffled { cards } => word(21, [cards.into(), 0, 0, 0]),
            Event::Ended { reason } => word(22, [reason.code().into(), 0, 0, 0]),
            Event::TurnedUp { spot: at, card: seen } => word(23, [spot(at), card(seen), 0, 0]),
        }
    }
}

/// Unpacks a tag and four parts of twelve bits.
fn parts(code: u64) -> (u64, [u64; 4]) {
    (code >> 48, [code >> 36, code >> 24, code >> 12, code].map(|part| part & 0xfff))
}

fn seat_of(part: u64) -> Option<Seat> {
    Seat::new(part as usize)
}

fn spot_of(part: u64) -> Option<Spot> {
    let index = (part as usize).checked_sub(1)?;
    Spot::new(Seat::new(index / MAX_SLOTS)?, index % MAX_SLOTS + 1)
}

fn card_of(part: u64) -> Option<Card> {
    Card::new((part as usize).checked_sub(1)?)
}

impl Sighting {
    /// The sighting with this [`code`](Sighting::code); `None` if the code is not valid.
    ///
    /// ```
    /// use cambio_core::{Card, Event, Seat, Sighting};
    ///
    /// let sighting: Sighting = Event::Drew { seat: Seat::B, face: Card::new(3) };
    /// assert_eq!(Sighting::from_code(sighting.code()), Some(sighting));
    /// assert_eq!(Sighting::from_code(0), None);
    /// ```
    pub fn from_code(code: u64) -> Option<Sighting> {
        let (tag, [a, b, c, d]) = parts(code);
        let sighting = match tag {
            1 => Event::Dealt {
                starter: seat_of(a)?,
                extra: Seat::ALL.into_iter().filter(|seat| b >> seat.index() & 1 == 1).collect(),
            },
            2 => Event::Peeked { seat: seat_of(a)?, spot: spot_of(b)?, face: card_of(c) },
            3 => Event::Flipped { card: card_of(a)? },
            4 => Event::TurnBegan { seat: seat_of(a)? },
            5 => Event::Drew { seat: seat_of(a)?, face: card_of(b) },
            6 => Event::Took { seat: seat_of(a)?, card: card_of(b)? },
            7 => Event::Dropped { seat: seat_of(a)?, card: card_of(b)? },
            8 => Event::Kept { seat: seat_of(a)?, spot: spot_of(b)?, replaced: card_of(c)? },
            9 => Event::Looked { seat: seat_of(a)?, spot: spot_of(b)?, face: card_of(c) },
            10 => Event::Swapped { seat: seat_of(a)?, one: spot_of(b)?, other: spot_of(c)? },
            11 => Event::Shown { spot: spot_of(a)?, card: card_of(b)? },
            12 => Event::Skipped { seat: seat_of(a)? },
            13 => Event::Touched { seat: seat_of(a)?, spot: spot_of(b)? },
            14 => {
                let verdicts = [SnapOutcome::Right, SnapOutcome::Wrong, SnapOutcome::Late];
                let verdict = verdicts.into_iter().find(|verdict| u64::from(verdict.code()) == d)?;
                Event::Snapped { seat: seat_of(a)?, spot: spot_of(b)?, card: card_of(c)?, verdict }
            }
            15 => Event::Aborted { seat: seat_of(a)? },
            16 => Event::Penalised { seat: seat_of(a)?, spot: spot_of(b)? },
            17 => Event::PenaltyWaived { seat: seat_of(a)? },
            18 => Event::Gave { seat: seat_of(a)?, from: spot_of(b)?, to: spot_of(c)? },
            19 => Event::Called { seat: seat_of(a)? },
            20 => Event::BecameSafe { seat: seat_of(a)? },
            21 => Event::Reshuffled { cards: a as u16 },
            22 => {
                let endings = [EndReason::Call, EndReason::EmptyHand, EndReason::TurnLimit, EndReason::StockOut];
                Event::Ended { reason: endings.into_iter().find(|ending| u64::from(ending.code()) == a)? }
            }
            23 => Event::TurnedUp { spot: spot_of(a)?, card: card_of(b)? },
            _ => return None,
        };
        // Rejects codes with unused bits set, and faces that are not cards.
        (sighting.code() == code).then_some(sighting)
    }
}

impl SnapOutcome {
    /// The code of the verdict, from 1 to 3.
    #[inline]
    pub const fn code(self) -> u8 {
        match self {
            SnapOutcome::Right => 1,
            SnapOutcome::Wrong => 2,
            SnapOutcome::Late => 3,
        }
    }
}

impl EndReason {
    /// The code of the reason, from 1 to 4.
    #[inline]
    pub const fn code(self) -> u8 {
        match self {
            EndReason::Call => 1,
            EndReason::EmptyHand => 2,
            EndReason::TurnLimit => 3,
            EndReason::StockOut => 4,
        }
    }
}

impl Phase {
    /// The number of phases.
    pub const COUNT: usize = 10;

    /// The code of the phase, from 0. It does not depend on the source of a held card.
    #[inline]
    pub const fn code(self) -> u8 {
        match self {
            Phase::Peek => 0,
            Phase::Start => 1,
            Phase::Held(_) => 2,
            Phase::Window => 3,
            Phase::Gift => 4,
            Phase::Chain => 5,
            Phase::Power => 6,
            Phase::Show => 7,
            Phase::Close => 8,
            Phase::Over => 9,
        }
    }
}
