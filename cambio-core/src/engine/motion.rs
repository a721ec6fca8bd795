//! How an event moves cards and shows faces.
//!
//! The engine, [`Knowledge`](crate::Knowledge), the memory and belief of agents, and the best response of the solver
//! all track cards with [`Event::motion`], so that the effect of an event on cards is defined once.

use crate::engine::event::{Event, SnapOutcome};
use crate::rules::card::Card;
use crate::rules::seat::{Seat, SeatSet, Spot};

/// Where a card moves, and which seats see its face.
///
/// The places are the stock, the pile, the held card and the spots. A card that goes onto the pile becomes the top, and
/// all seats see the card. `Face` is as in [`Event`]: the type of a face that only one seat sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Motion<Face> {
    /// Stock → spots, unseen: a new round. Each seat gets its cards in its first slots, dealt one at a time from the
    /// starter on. Then each seat of `extra` gets the cards of one penalty (knob `penalty`) in its next slots, unless all
    /// its slots are full.
    Dealt {
        /// The seat that gets the first card.
        starter: Seat,
        /// The seats that get an extra card.
        extra: SeatSet,
    },
    /// A card stays where it lies, and one seat sees it.
    Seen {
        /// The seat.
        seat: Seat,
        /// Where the card lies.
        spot: Spot,
        /// The card, which only that seat sees.
        face: Face,
    },
    /// A card stays where it lies, and all seats see it.
    Shown {
        /// Where the card lies.
        spot: Spot,
        /// The card.
        card: Card,
    },
    /// Stock → pile.
    Flipped {
        /// The card.
        card: Card,
    },
    /// Stock → hand: one seat sees the card.
    Drawn {
        /// The seat.
        seat: Seat,
        /// The card, which only that seat sees.
        face: Face,
    },
    /// Pile → hand: the top, which all seats know. The pile then shows no top.
    Taken {
        /// The card.
        card: Card,
    },
    /// Hand → pile.
    Dropped {
        /// The card.
        card: Card,
    },
    /// Hand → spot, and the card that lay there → pile. The seats that know the held card now know this spot.
    Kept {
        /// The spot.
        spot: Spot,
        /// The card that goes onto the pile.
        replaced: Card,
    },
    /// Spot → pile: the spot is then empty.
    Discarded {
        /// The spot.
        spot: Spot,
        /// The card.
        card: Card,
    },
    /// Spot ↔ spot: two cards change places. Knowledge about a card moves with it.
    Exchanged {
        /// One spot.
        one: Spot,
        /// The other spot.
        other: Spot,
    },
    /// Spot → empty spot. Knowledge about the card moves with it.
    Moved {
        /// Where the card lay; the spot is then empty.
        from: Spot,
        /// Where the card lies now.
        to: Spot,
    },
    /// Stock → empty spot, unseen.
    Added {
        /// The spot.
        spot: Spot,
    },
    /// Pile → stock: all cards except the top become the new stock.
    Reshuffled {
        /// The number of cards in the new stock.
        cards: u16,
    },
    /// No card moves and no face is seen.
    Nothing,
}

impl<Face: Copy> Event<Face> {
    /// How the event moves cards and shows faces.
    ///
    /// # Examples
    /// ```
    /// use cambio_core::{Card, Event, Seat, Spot, engine::{Motion, SnapOutcome}};
    ///
    /// let (seat, spot) = (Seat::A, Spot::new(Seat::B, 2).unwrap());
    /// let card = Card::new(3).unwrap();
    /// let snap: Event<Card> = Event::Snapped { seat, spot, card, verdict: SnapOutcome::Right };
    /// assert_eq!(snap.motion(), Motion::Discarded { spot, card });
    /// // A card that does not match goes back to its spot, and all seats have seen the card.
    /// let snap: Event<Card> = Event::Snapped { seat, spot, card, verdict: SnapOutcome::Wrong };
    /// assert_eq!(snap.motion(), Motion::Shown { spot, card });
    /// ```
    #[expect(clippy::inline_always, reason = "callers construct the event, so the match folds away")]
    #[inline(always)]
    pub fn motion(&self) -> Motion<Face> {
        match *self {
            Event::Dealt { starter, extra } => Motion::Dealt { starter, extra },
            Event::Peeked { seat, spot, face } | Event::Looked { seat, spot, face } => {
                Motion::Seen { seat, spot, face }
            }
            Event::Shown { spot, card } | Event::TurnedUp { spot, card } => Motion::Shown { spot, card },
            Event::Flipped { card } => Motion::Flipped { card },
            Event::Drew { seat, face } => Motion::Drawn { seat, face },
            Event::Took { card, .. } => Motion::Taken { card },
            Event::Dropped { card, .. } => Motion::Dropped { card },
            Event::Kept { spot, replaced, .. } => Motion::Kept { spot, replaced },
            Event::Snapped { spot, card, verdict, .. } => match verdict {
                SnapOutcome::Right => Motion::Discarded { spot, card },
                SnapOutcome::Wrong | SnapOutcome::Late => Motion::Shown { spot, card },
            },
            Event::Swapped { one, other, .. } => Motion::Exchanged { one, other },
            Event::Gave { from, to, .. } => Motion::Moved { from, to },
            Event::Penalised { spot, .. } => Motion::Added { spot },
            Event::Reshuffled { cards } => Motion::Reshuffled { cards },
            Event::TurnBegan { .. }
            | Event::Skipped { .. }
            | Event::Touched { .. }
            | Event::Aborted { .. }
            | Event::PenaltyWaived { .. }
            | Event::Called { .. }
            | Event::BecameSafe { .. }
            | Event::Ended { .. } => Motion::Nothing,
        }
    }
}
