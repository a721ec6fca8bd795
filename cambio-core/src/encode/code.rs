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
trait Part: Sized {
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

/// The kind of an event, its seat, its spots and the card that the seat saw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventParts {
    /// The kind, such as `turn began`.
    pub kind: &'static str,
    /// The seat that acted or is affected.
    pub seat: Option<Seat>,
    /// The spots, in the order of the event's fields.
    pub spots: [Option<Spot>; 2],
    /// The card.
    pub card: Option<Card>,
}

/// A field of an event with other seats and spots, and with another private face.
macro_rules! mapped {
    ($by:ident $at:ident $seen:ident seat $seat:ident) => {
        $by($seat)
    };
    ($by:ident $at:ident $seen:ident seats $seats:ident) => {
        $seats.each().map(&$by).collect()
    };
    ($by:ident $at:ident $seen:ident spot $spot:ident) => {
        $at($spot)
    };
    ($by:ident $at:ident $seen:ident face $face:ident $seat:ident) => {
        $seen($seat, $face)
    };
    ($by:ident $at:ident $seen:ident $kind:ident $field:ident) => {
        $field
    };
}

/// Adds a field of an event to its [`EventParts`].
macro_rules! add_part {
    ($parts:ident seat $seat:ident $($of:ident)?) => {
        $parts.seat = Some($seat)
    };
    ($parts:ident spot $spot:ident $($of:ident)?) => {
        $parts.spots = if $parts.spots[0].is_none() { [Some($spot), None] } else { [$parts.spots[0], Some($spot)] }
    };
    ($parts:ident card $card:ident $($of:ident)?) => {
        $parts.card = Some($card)
    };
    ($parts:ident face $face:ident $($of:ident)?) => {
        $parts.card = $face
    };
    ($parts:ident $kind:ident $field:ident $($of:ident)?) => {
        let _ = $field;
    };
}

/// Declares each event: its code, its kind, and its fields, each as a seat, seats, a spot, a card, the face that a seat saw, or another
/// value.
macro_rules! events {
    ($($tag:literal $kind:literal $event:ident { $($field:ident: $role:ident $(of $of:ident)?),* };)+) => {
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

            /// The parts that most kinds of events have.
            pub fn parts(&self) -> EventParts {
                let mut parts = EventParts { kind: "", seat: None, spots: [None; 2], card: None };
                match *self {
                    $(Event::$event { $($field),* } => {
                        parts.kind = $kind;
                        $(add_part!(parts $role $field $($of)?);)*
                    })+
                }
                parts
            }
        }

        impl<Face> Event<Face> {
            /// The event with other seats, spots and private faces. `seen` gets the seat that sees the face, as it was before.
            #[inline(always)]
            pub(crate) fn map<To>(
                self,
                by: impl Fn(Seat) -> Seat,
                at: impl Fn(Spot) -> Spot,
                mut seen: impl FnMut(Seat, Face) -> To,
            ) -> Event<To> {
                match self {
                    $(Event::$event { $($field),* } => {
                        Event::$event { $($field: mapped!(by at seen $role $field $($of)?)),* }
                    })+
                }
            }
        }
    };
}

events! {
    1 "dealt" Dealt { starter: seat, extra: seats };
    2 "peeked" Peeked { seat: seat, spot: spot, face: face of seat };
    3 "flipped" Flipped { card: card };
    4 "turn began" TurnBegan { seat: seat };
    5 "drew" Drew { seat: seat, face: face of seat };
    6 "took" Took { seat: seat, card: card };
    7 "dropped" Dropped { seat: seat, card: card };
    8 "kept" Kept { seat: seat, spot: spot, replaced: card };
    9 "looked" Looked { seat: seat, spot: spot, face: face of seat };
    10 "swapped" Swapped { seat: seat, one: spot, other: spot };
    11 "shown" Shown { spot: spot, card: card };
    12 "skipped" Skipped { seat: seat };
    13 "touched" Touched { seat: seat, spot: spot };
    14 "snapped" Snapped { seat: seat, spot: spot, card: card, verdict: value };
    15 "aborted" Aborted { seat: seat };
    16 "penalised" Penalised { seat: seat, spot: spot };
    17 "penalty waived" PenaltyWaived { seat: seat };
    18 "gave" Gave { seat: seat, from: spot, to: spot };
    19 "called" Called { seat: seat };
    20 "became safe" BecameSafe { seat: seat };
    21 "reshuffled" Reshuffled { cards: value };
    22 "ended" Ended { reason: value };
    23 "turned up" TurnedUp { spot: spot, card: card };
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
    pub(crate) const COUNT: usize = 10;

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
