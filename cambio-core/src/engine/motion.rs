//! How an event moves cards and shows faces.
//!
//! The engine, [`Knowledge`](crate::Knowledge), the memory and belief of agents, and the best response of the solver
//! all track cards with [`Event::motion`], so that the effect of an event on cards is defined once.

use crate::engine::event::{Event, SnapOutcome};
use crate::rules::card::Card;
use crate::rules::seat::{SPOTS, Seat, SeatSet, Spot};

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

impl Motion<Option<Card>> {
    /// The card that the seat sees at its place before the motion: the spot, or `None` for the held card, and the face.
    /// The face of a card that is drawn, taken or flipped is not included, because the card was at neither place.
    pub fn seen_face(&self) -> Option<(Option<Spot>, Card)> {
        match *self {
            Motion::Seen { spot, face: Some(card), .. }
            | Motion::Shown { spot, card }
            | Motion::Kept { spot, replaced: card }
            | Motion::Discarded { spot, card } => Some((Some(spot), card)),
            Motion::Dropped { card } => Some((None, card)),
            _ => None,
        }
    }
}

/// A value for each card on the table, which moves with its card: one for each spot, and one for the held card.
///
/// ```
/// use cambio_core::{Event, Seat, engine::OnTable};
///
/// let (one, other) = ("a1".parse().unwrap(), "b2".parse().unwrap());
/// let mut letters = OnTable::new(' ');
/// letters.set(one, 'x');
/// let swap = Event::<()>::Swapped { seat: Seat::A, one, other };
/// letters.follow(&swap.motion(), ' ');
/// assert_eq!((letters.at(Some(one)), letters.at(Some(other))), (' ', 'x'));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OnTable<T> {
    pub(crate) spots: [T; SPOTS],
    held: T,
    none: T,
}

impl<T: Copy> OnTable<T> {
    /// A table without cards. `none` is the value of a place without a card.
    pub const fn new(none: T) -> OnTable<T> {
        OnTable { spots: [none; SPOTS], held: none, none }
    }

    /// The value of the card in this spot, or of the held card if the spot is `None`.
    pub const fn at(&self, place: Option<Spot>) -> T {
        match place {
            Some(spot) => self.spots[spot.index()],
            None => self.held,
        }
    }

    /// Sets the value of the card in this spot, for example of a card that was dealt.
    pub const fn set(&mut self, spot: Spot, value: T) {
        self.spots[spot.index()] = value;
    }

    /// Moves the values as the cards move. A card that comes from the stock or the pile gets the value `new`. A deal
    /// clears the table; [`OnTable::set`] then gives the dealt cards their values.
    pub const fn follow<Face: Copy>(&mut self, motion: &Motion<Face>, new: T) {
        match *motion {
            Motion::Dealt { .. } => *self = OnTable::new(self.none),
            Motion::Drawn { .. } | Motion::Taken { .. } => self.held = new,
            Motion::Dropped { .. } => self.held = self.none,
            Motion::Kept { spot, .. } => {
                self.set(spot, self.held);
                self.held = self.none;
            }
            Motion::Discarded { spot, .. } => self.set(spot, self.none),
            Motion::Exchanged { one, other } => self.spots.swap(one.index(), other.index()),
            Motion::Moved { from, to } => {
                self.set(to, self.at(Some(from)));
                self.set(from, self.none);
            }
            Motion::Added { spot } => self.set(spot, new),
            Motion::Seen { .. }
            | Motion::Shown { .. }
            | Motion::Flipped { .. }
            | Motion::Reshuffled { .. }
            | Motion::Nothing => {}
        }
    }
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
