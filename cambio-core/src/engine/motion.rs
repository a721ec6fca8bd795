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
#[expect(missing_docs, reason = "the variant explains its fields")]
pub enum Motion<Face> {
    /// Stock → spots, unseen: a new round. Each seat gets its cards in its first slots, dealt one at a time from the
    /// starter on. Then each seat of `extra` gets the cards of one penalty (knob `penalty`) in its next slots, unless all
    /// its slots are full.
    Dealt { starter: Seat, extra: SeatSet },
    /// A card stays where it lies, and one seat sees it.
    Seen { seat: Seat, spot: Spot, face: Face },
    /// A card stays where it lies, and all seats see it.
    Shown { spot: Spot, card: Card },
    /// Stock → pile.
    Flipped { card: Card },
    /// Stock → hand: one seat sees the card.
    Drawn { seat: Seat, face: Face },
    /// Pile → hand: the top, which all seats know. The pile then shows no top.
    Taken { card: Card },
    /// Hand → pile.
    Dropped { card: Card },
    /// Hand → spot, and the card that lay there → pile. The seats that know the held card now know this spot.
    Kept { spot: Spot, replaced: Card },
    /// Spot → pile: the spot is then empty.
    Discarded { spot: Spot, card: Card },
    /// Spot ↔ spot: two cards change places. Knowledge about a card moves with it.
    Exchanged { one: Spot, other: Spot },
    /// Spot → empty spot; `from` is then empty. Knowledge about the card moves with it.
    Moved { from: Spot, to: Spot },
    /// Stock → empty spot, unseen.
    Added { spot: Spot },
    /// Pile → stock: all `cards` cards except the top become the new stock.
    Reshuffled { cards: u16 },
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
