//! Events at the table, as the referee sees them and as a seat perceives them.

use crate::{Card, Seat, SeatSet, Spot};

/// Something that happened at the table.
///
/// `Face` is the type of a face that only one seat sees: `Card` for the referee, `Option<Card>` for a seat. Everything else is
/// public and the same for all. An agent takes [`Sighting`]s; the event of a referee has another type.
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
pub enum Event<Face> {
    /// A round was dealt.
    Dealt {
        /// The seat with the first turn.
        starter: Seat,
        /// The seats that start with an extra card.
        extra: SeatSet,
    },
    /// A seat saw one of its own cards before the first turn.
    Peeked {
        /// The seat.
        seat: Seat,
        /// Where the card lies.
        spot: Spot,
        /// The card, for its owner.
        face: Face,
    },
    /// The stock's top started the pile.
    Flipped {
        /// The card.
        card: Card,
    },
    /// A turn began.
    TurnBegan {
        /// Whose turn it is.
        seat: Seat,
    },
    /// A seat drew the top of the stock.
    Drew {
        /// The seat.
        seat: Seat,
        /// The card, for the drawer.
        face: Face,
    },
    /// A seat took the top of the pile.
    Took {
        /// The seat.
        seat: Seat,
        /// The card.
        card: Card,
    },
    /// The held card went onto the pile.
    Dropped {
        /// The seat.
        seat: Seat,
        /// The card.
        card: Card,
    },
    /// The held card went into a spot, the card there onto the pile.
    Kept {
        /// The seat.
        seat: Seat,
        /// The spot.
        spot: Spot,
        /// The card that went onto the pile.
        replaced: Card,
    },
    /// A seat looked at a card.
    Looked {
        /// The seat.
        seat: Seat,
        /// Where the card lies.
        spot: Spot,
        /// The card, for the seat that looked.
        face: Face,
    },
    /// Two cards changed places, faces unseen.
    Swapped {
        /// The seat that swapped.
        seat: Seat,
        /// One spot.
        one: Spot,
        /// The other spot.
        other: Spot,
    },
    /// A card was shown to all.
    Shown {
        /// Where the card lies.
        spot: Spot,
        /// The card.
        card: Card,
    },
    /// A seat declined a power step or a gift.
    Skipped {
        /// The seat.
        seat: Seat,
    },
    /// A seat touched a card in a snap window.
    Touched {
        /// The seat.
        seat: Seat,
        /// Where the card lies.
        spot: Spot,
    },
    /// A snapped card was turned up.
    Snapped {
        /// The seat that snapped.
        seat: Seat,
        /// Where the card lay.
        spot: Spot,
        /// The card.
        card: Card,
        /// What became of it.
        verdict: Verdict,
    },
    /// A seat reached for a card too late; nobody sees for which (`late = "abort"`).
    Aborted {
        /// The seat.
        seat: Seat,
    },
    /// A seat got a penalty card, unseen.
    Penalised {
        /// The seat.
        seat: Seat,
        /// Where the card lies now.
        spot: Spot,
    },
    /// A penalty card was due, but there was no card or no slot for it.
    PenaltyWaived {
        /// The seat.
        seat: Seat,
    },
    /// The winner of a foreign snap gave a card for it.
    Gave {
        /// The seat that gave.
        seat: Seat,
        /// Where the card lay.
        from: Spot,
        /// Where it lies now.
        to: Spot,
    },
    /// A seat called.
    Called {
        /// The seat.
        seat: Seat,
    },
    /// A seat without cards became safe.
    BecameSafe {
        /// The seat.
        seat: Seat,
    },
    /// The pile without its top was shuffled into a new stock.
    Reshuffled {
        /// How many cards the new stock has.
        cards: u16,
    },
    /// The round ended.
    Ended {
        /// Why.
        reason: Ending,
    },
    /// At the end of the round a card was turned up.
    TurnedUp {
        /// Where the card lies.
        spot: Spot,
        /// The card.
        card: Card,
    },
}

/// What a seat perceives of an event: a face that only another seat saw is `None`.
pub type Sighting = Event<Option<Card>>;

/// What became of a snapped card.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It matched and went onto the pile.
    Right,
    /// It did not match and went back.
    Wrong,
    /// It matched after a winner and went back.
    Late,
}

/// Why a round ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// The turn came back to the first caller.
    Call,
    /// A layout had no cards.
    EmptyHand,
    /// The turn limit was reached.
    TurnLimit,
    /// Nothing could be drawn.
    StockOut,
}

impl Ending {
    /// The word that records use.
    pub const fn word(self) -> &'static str {
        match self {
            Ending::Call => "call",
            Ending::EmptyHand => "empty_hand",
            Ending::TurnLimit => "turn_limit",
            Ending::StockOut => "stock_out",
        }
    }
}

impl Event<Card> {
    /// What `seat` perceives of the event: it sees the face only if it is the seat that drew, looked or peeked.
    #[expect(clippy::inline_always, reason = "where an event is made its kind is known, and nothing is left to match")]
    #[inline(always)]
    pub fn seen_from(&self, seat: Seat) -> Sighting {
        self.with_faces(|witness, card| (witness == seat).then_some(card))
    }

    /// What everybody perceives: the event without the face that one seat alone sees.
    #[expect(clippy::inline_always, reason = "where an event is made its kind is known, and nothing is left to match")]
    #[inline(always)]
    pub fn public(&self) -> Sighting {
        self.with_faces(|_, _| None)
    }

    /// The face that one seat alone sees, and that seat; `None` where there is no such face.
    #[expect(clippy::inline_always, reason = "where an event is made its kind is known, and nothing is left to match")]
    #[inline(always)]
    pub fn private(&self) -> Option<(Seat, Card)> {
        let mut found = None;
        self.with_faces(|witness, card| {
            found = Some((witness, card));
            None
        });
        found
    }

    /// Maps every privately seen face: `shown` gets the seat that sees it and the card, and returns what to store instead.
    #[expect(clippy::inline_always, reason = "where an event is made its kind is known, and nothing is left to match")]
    #[inline(always)]
    fn with_faces(self, mut shown: impl FnMut(Seat, Card) -> Option<Card>) -> Sighting {
        match self {
            Event::Peeked { seat, spot, face } => Event::Peeked { seat, spot, face: shown(seat, face) },
            Event::Drew { seat, face } => Event::Drew { seat, face: shown(seat, face) },
            Event::Looked { seat, spot, face } => Event::Looked { seat, spot, face: shown(seat, face) },
            Event::Dealt { starter, extra } => Event::Dealt { starter, extra },
            Event::Flipped { card } => Event::Flipped { card },
            Event::TurnBegan { seat } => Event::TurnBegan { seat },
            Event::Took { seat, card } => Event::Took { seat, card },
            Event::Dropped { seat, card } => Event::Dropped { seat, card },
            Event::Kept { seat, spot, replaced } => Event::Kept { seat, spot, replaced },
            Event::Swapped { seat, one, other } => Event::Swapped { seat, one, other },
            Event::Shown { spot, card } => Event::Shown { spot, card },
            Event::Skipped { seat } => Event::Skipped { seat },
            Event::Touched { seat, spot } => Event::Touched { seat, spot },
            Event::Snapped { seat, spot, card, verdict } => Event::Snapped { seat, spot, card, verdict },
            Event::Aborted { seat } => Event::Aborted { seat },
            Event::Penalised { seat, spot } => Event::Penalised { seat, spot },
            Event::PenaltyWaived { seat } => Event::PenaltyWaived { seat },
            Event::Gave { seat, from, to } => Event::Gave { seat, from, to },
            Event::Called { seat } => Event::Called { seat },
            Event::BecameSafe { seat } => Event::BecameSafe { seat },
            Event::Reshuffled { cards } => Event::Reshuffled { cards },
            Event::Ended { reason } => Event::Ended { reason },
            Event::TurnedUp { spot, card } => Event::TurnedUp { spot, card },
        }
    }
}

/// Takes the referee's events as they happen. `()` ignores them, and the compiler removes the calls.
pub trait Sink {
    /// Takes one event.
    fn event(&mut self, event: &Event<Card>);
}

impl Sink for () {
    #[inline]
    fn event(&mut self, _: &Event<Card>) {}
}

impl<F: FnMut(&Event<Card>)> Sink for F {
    #[inline]
    fn event(&mut self, event: &Event<Card>) {
        self(event);
    }
}
