//! Number codes of decisions, events and phases, shared by solver keys, search trees, tensors and fingerprints.
//!
//! Strategy files, records and tensors contain these codes, so a code must never change. A new item gets an unused
//! code. `tests/codes.rs` pins every code by value.

use crate::engine::action::Action;
use crate::engine::event::{EndReason, Event, Sighting, SnapOutcome};
use crate::engine::table::Phase;
use crate::rules::card::Card;
use crate::rules::seat::{MAX_SLOTS, Seat, SeatSet, Spot};

/// Packs a tag and up to four parts of twelve bits.
#[expect(clippy::inline_always, reason = "the parts are often constant, so the shifts fold away")]
#[inline(always)]
fn word<const N: usize>(tag: u8, parts: [u64; N]) -> u64 {
    let mut word = u64::from(tag) << 48;
    for (part, shift) in parts.into_iter().zip([36, 24, 12, 0]) {
        word |= part << shift;
    }
    word
}

/// A part of a code: a number of at most twelve bits.
pub(super) trait Part: Sized {
    fn part(self) -> u64;
    fn of_part(part: u64) -> Option<Self>;
}

macro_rules! parts {
    ($($type:ty: |$item:ident| $part:expr, |$number:ident| $read:expr;)+) => {$(
        impl Part for $type {
            #[inline]
            fn part(self) -> u64 {
                let $item = self;
                $part
            }

            fn of_part($number: u64) -> Option<$type> {
                $read
            }
        }
    )+};
}

// Spots and cards are counted from 1, because 0 means no spot or no card.
parts! {
    Seat: |seat| seat.index() as u64, |part| Seat::new(part as usize);
    SeatSet: |seats| seats.bits().into(), |part| Some(Seat::ALL.into_iter().filter(|seat| part >> seat.index() & 1 == 1).collect());
    Spot: |spot| spot.index() as u64 + 1, |part| {
        let index = (part as usize).checked_sub(1)?;
        Spot::new(Seat::new(index / MAX_SLOTS)?, index % MAX_SLOTS + 1)
    };
    Card: |card| card.kind() as u64 + 1, |part| Card::new((part as usize).checked_sub(1)?);
    Option<Card>: |face| face.map_or(0, Part::part), |part| Some(Card::of_part(part));
    u16: |number| number.into(), |part| Some(part as u16);
    SnapOutcome: |verdict| verdict.code().into(), |part| {
        [SnapOutcome::Right, SnapOutcome::Wrong, SnapOutcome::Late].into_iter().find(|verdict| verdict.part() == part)
    };
    EndReason: |reason| reason.code().into(), |part| {
        EndReason::ALL.into_iter().find(|reason| reason.part() == part)
    };
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
        match (self, self.aimed()) {
            (Action::Swap(one, other), _) => [Some(one), Some(other)],
            (_, Some((_, spot))) => [Some(spot), None],
            _ => [None; 2],
        }
    }

    /// The code of the decision, in 56 bits. Different decisions have different codes; the order of the two spots of a
    /// swap does not matter.
    #[inline]
    pub fn code(self) -> u64 {
        word(self.verb_code(), self.canonical().spots().map(|spot| spot.map_or(0, Part::part)))
    }
}

macro_rules! codes {
    ($($tag:literal => $event:ident { $($field:ident),* };)+) => {
        impl Sighting {
            /// The code of the sighting, in 56 bits. Different sightings have different codes; a sighting with a visible
            /// face and one without it are different.
            // Most callers just created the event, so the match folds away.
            #[inline(always)]
            pub fn code(&self) -> u64 {
                match *self {
                    $(Event::$event { $($field),* } => word($tag, [$($field.part()),*]),)+
                }
            }

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
                let mut parts = [36, 24, 12, 0].into_iter().map(|shift| code >> shift & 0xfff);
                let sighting = match code >> 48 {
                    $($tag => Event::$event { $($field: Part::of_part(parts.next()?)?),* },)+
                    _ => return None,
                };
                // Rejects codes with unused bits set, and faces that are not cards.
                (sighting.code() == code).then_some(sighting)
            }
        }
    };
}

codes! {
    1 => Dealt { starter, extra };
    2 => Peeked { seat, spot, face };
    3 => Flipped { card };
    4 => TurnBegan { seat };
    5 => Drew { seat, face };
    6 => Took { seat, card };
    7 => Dropped { seat, card };
    8 => Kept { seat, spot, replaced };
    9 => Looked { seat, spot, face };
    10 => Swapped { seat, one, other };
    11 => Shown { spot, card };
    12 => Skipped { seat };
    13 => Touched { seat, spot };
    14 => Snapped { seat, spot, card, verdict };
    15 => Aborted { seat };
    16 => Penalised { seat, spot };
    17 => PenaltyWaived { seat };
    18 => Gave { seat, from, to };
    19 => Called { seat };
    20 => BecameSafe { seat };
    21 => Reshuffled { cards };
    22 => Ended { reason };
    23 => TurnedUp { spot, card };
}

impl SnapOutcome {
    /// The code of the verdict, from 1 to 3.
    #[inline]
    pub const fn code(self) -> u8 {
        self as u8
    }
}

impl EndReason {
    /// The code of the reason, from 1 to 4.
    #[inline]
    pub const fn code(self) -> u8 {
        self as u8
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
