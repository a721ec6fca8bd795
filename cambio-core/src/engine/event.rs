//! Events at the table, as the referee sees them and as a seat perceives them.

#![expect(clippy::inline_always, reason = "callers construct the event, so the match folds away")]

use crate::{Card, Seat, SeatSet, Spot};

/// Something that happened at the table.
///
/// `Face` is the type of a face that only one seat sees: `Card` for the referee, `Option<Card>` for a seat. All other
/// fields are public. A `spot` is where the card lies, or lay before it moved. Agents receive [`Sighting`]s, whose type
/// differs from the type of the referee's events.
///
/// ```
/// use cambio_core::{Card, Event, Seat};
///
/// let card = Card::new(3).unwrap();
/// let drew = Event::Drew { seat: Seat::A, face: card };
/// assert_eq!(drew.private(), Some((Seat::A, card)));
/// assert_eq!(drew.seen_from(Seat::A), Event::Drew { seat: Seat::A, face: Some(card) });
/// assert_eq!(drew.seen_from(Seat::B), drew.public());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the variant explains its fields")]
pub enum Event<Face> {
    /// A round was dealt. Seat `starter` has the first turn; the seats of `extra` start with extra cards (knob `penalty`).
    Dealt { starter: Seat, extra: SeatSet },
    /// A seat saw one of its own cards before the first turn.
    Peeked { seat: Seat, spot: Spot, face: Face },
    /// The top of the stock became the first card of the pile.
    Flipped { card: Card },
    /// A turn began.
    TurnBegan { seat: Seat },
    /// A seat drew the top of the stock.
    Drew { seat: Seat, face: Face },
    /// A seat took the top of the pile.
    Took { seat: Seat, card: Card },
    /// The held card went onto the pile.
    Dropped { seat: Seat, card: Card },
    /// The held card went into a spot, and the card there went onto the pile.
    Kept { seat: Seat, spot: Spot, replaced: Card },
    /// A seat looked at a card.
    Looked { seat: Seat, spot: Spot, face: Face },
    /// Two cards changed places. No seat saw the faces.
    Swapped { seat: Seat, one: Spot, other: Spot },
    /// A power showed a card to all seats.
    Shown { spot: Spot, card: Card },
    /// A seat declined a power step or a gift.
    Skipped { seat: Seat },
    /// A seat touched a card in a snap window.
    Touched { seat: Seat, spot: Spot },
    /// A snapped card was turned up.
    Snapped { seat: Seat, spot: Spot, card: Card, verdict: SnapOutcome },
    /// A seat snapped too late, and its card is not revealed (`late = "abort"`).
    Aborted { seat: Seat },
    /// A seat got a penalty card in `spot`, which no seat saw.
    Penalised { seat: Seat, spot: Spot },
    /// A penalty card was due, but there was no card or no slot for it.
    PenaltyWaived { seat: Seat },
    /// A seat that had snapped another seat's card gave one of its own cards to fill the gap.
    Gave { seat: Seat, from: Spot, to: Spot },
    /// A seat called.
    Called { seat: Seat },
    /// A seat without cards became safe.
    BecameSafe { seat: Seat },
    /// The pile without its top was shuffled into a new stock of `cards` cards.
    Reshuffled { cards: u16 },
    /// The round ended.
    Ended { reason: EndReason },
    /// A card was turned up at the end of the round.
    TurnedUp { spot: Spot, card: Card },
}

/// An event as a seat perceives it: a face that only another seat saw is `None`.
pub type Sighting = Event<Option<Card>>;

/// The outcome of a snap. The numbers are codes, as in [`Sighting::code`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SnapOutcome {
    /// The card matched and went onto the pile.
    Right = 1,
    /// The card did not match and went back to its spot.
    Wrong = 2,
    /// The card matched, but another seat snapped faster. The card went back to its spot.
    Late = 3,
}

impl SnapOutcome {
    /// The word for this outcome in texts and messages.
    pub const fn word(self) -> &'static str {
        match self {
            SnapOutcome::Right => "right",
            SnapOutcome::Wrong => "wrong",
            SnapOutcome::Late => "late",
        }
    }
}

/// Why a round ended. The numbers are codes, as in [`Sighting::code`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EndReason {
    /// The turn came back to the first caller.
    Call = 1,
    /// A seat had no cards left.
    EmptyHand = 2,
    /// The turn limit was reached.
    TurnLimit = 3,
    /// The stock was empty (knob `stock_empty`), or the seat to act had no legal decision.
    StockOut = 4,
}

impl EndReason {
    pub(crate) const ALL: [EndReason; 4] =
        [EndReason::Call, EndReason::EmptyHand, EndReason::TurnLimit, EndReason::StockOut];

    /// The word for this reason in records.
    pub const fn word(self) -> &'static str {
        match self {
            EndReason::Call => "call",
            EndReason::EmptyHand => "empty_hand",
            EndReason::TurnLimit => "turn_limit",
            EndReason::StockOut => "stock_out",
        }
    }
}

impl Event<Card> {
    /// The event as `seat` perceives it: with the private face only if `seat` drew, looked or peeked.
    #[inline(always)]
    pub fn seen_from(&self, seat: Seat) -> Sighting {
        self.with_faces(|witness, card| (witness == seat).then_some(card))
    }

    /// The public part of the event, without the face that only one seat sees.
    #[inline(always)]
    pub fn public(&self) -> Sighting {
        self.with_faces(|_, _| None)
    }

    /// The face that only one seat sees, with that seat; `None` if the event has no such face.
    #[inline(always)]
    pub fn private(&self) -> Option<(Seat, Card)> {
        let mut found = None;
        self.with_faces(|witness, card| {
            found = Some((witness, card));
            None
        });
        found
    }

    /// Replaces the private face, if any: `shown(seat, card)` returns the new face, where only `seat` sees the card.
    #[inline(always)]
    fn with_faces(self, shown: impl FnMut(Seat, Card) -> Option<Card>) -> Sighting {
        self.map(|seat| seat, |spot| spot, shown)
    }
}

/// Receives the referee's events as they happen. A vector keeps them; `()` ignores them, and the compiler removes the calls.
pub trait Sink {
    /// Receives one event.
    fn event(&mut self, event: &Event<Card>);
}

impl Sink for () {
    #[inline]
    fn event(&mut self, _: &Event<Card>) {}
}

impl Sink for Vec<Event<Card>> {
    #[inline]
    fn event(&mut self, event: &Event<Card>) {
        self.push(*event);
    }
}

impl<F: FnMut(&Event<Card>)> Sink for F {
    #[inline]
    fn event(&mut self, event: &Event<Card>) {
        self(event);
    }
}
