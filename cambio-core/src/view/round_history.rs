//! The public history of a round: the history of each card, when each seat saw it, and the last public events.

#![expect(clippy::inline_always, reason = "callers construct the event, so the match folds away")]

use crate::Rules;
use crate::engine::event::{Event, Sink, SnapOutcome};
use crate::engine::motion::Motion;
use crate::play::matches::Standing;
use crate::play::observer::Observer;
use crate::rules::card::{Card, MAX_KINDS};
use crate::rules::score::Score;
use crate::rules::seat::{MAX_SEATS, MAX_SLOTS, Seat, Spot};
use crate::view::card_history::{CardHistory, NEVER};

/// A public event: its kind, its seat, its spots, and the face that all seats saw.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct PublicEvent {
    code: u8,
    /// The seat that acted or was affected; for a card that a power reveals, the seat whose turn it is.
    pub(crate) seat: Seat,
    /// The spots of the event, in the order of the fields of the [`Event`].
    pub(crate) spots: [Option<Spot>; 2],
    /// The card whose face all seats saw.
    pub(crate) card: Option<Card>,
}

/// The names of public events by [`PublicEvent::code`].
const NAMES: [&str; PublicEvent::COUNT] = [
    "peeked",
    "drew",
    "took",
    "dropped",
    "kept",
    "looked",
    "swapped",
    "shown",
    "skipped",
    "touched",
    "snapped right",
    "snapped wrong",
    "snapped late",
    "aborted",
    "penalised",
    "penalty waived",
    "gave",
    "called",
    "became safe",
];

impl PublicEvent {
    /// The number of codes.
    pub(crate) const COUNT: usize = 19;

    /// The code of the kind of event, below [`PublicEvent::COUNT`]. Codes never change; a new kind gets the next code.
    #[inline]
    pub(crate) const fn code(&self) -> u8 {
        self.code
    }

    /// The public part of an event that concerns one seat; `None` for other events, such as a deal or a reshuffle.
    #[inline(always)]
    fn of<Face: Copy>(event: &Event<Face>, turn: Seat) -> Option<PublicEvent> {
        let (code, seat, spots, card) = match *event {
            Event::Peeked { seat, spot, .. } => (0, seat, [Some(spot), None], None),
            Event::Drew { seat, .. } => (1, seat, [None; 2], None),
            Event::Took { seat, card } => (2, seat, [None; 2], Some(card)),
            Event::Dropped { seat, card } => (3, seat, [None; 2], Some(card)),
            Event::Kept { seat, spot, replaced } => (4, seat, [Some(spot), None], Some(replaced)),
            Event::Looked { seat, spot, .. } => (5, seat, [Some(spot), None], None),
            Event::Swapped { seat, one, other } => (6, seat, [Some(one), Some(other)], None),
            Event::Shown { spot, card } => (7, turn, [Some(spot), None], Some(card)),
            Event::Skipped { seat } => (8, seat, [None; 2], None),
            Event::Touched { seat, spot } => (9, seat, [Some(spot), None], None),
            Event::Snapped { seat, spot, card, verdict } => {
                let code = match verdict {
                    SnapOutcome::Right => 10,
                    SnapOutcome::Wrong => 11,
                    SnapOutcome::Late => 12,
                };
                (code, seat, [Some(spot), None], Some(card))
            }
            Event::Aborted { seat } => (13, seat, [None; 2], None),
            Event::Penalised { seat, spot } => (14, seat, [Some(spot), None], None),
            Event::PenaltyWaived { seat } => (15, seat, [None; 2], None),
            Event::Gave { seat, from, to } => (16, seat, [Some(from), Some(to)], None),
            Event::Called { seat } => (17, seat, [None; 2], None),
            Event::BecameSafe { seat } => (18, seat, [None; 2], None),
            Event::Dealt { .. }
            | Event::Flipped { .. }
            | Event::TurnBegan { .. }
            | Event::Reshuffled { .. }
            | Event::Ended { .. }
            | Event::TurnedUp { .. } => return None,
        };
        Some(PublicEvent { code, seat, spots, card })
    }
}

/// The last public events, newest first.
type RecentEvents<const N: usize> = [Option<PublicEvent>; N];

/// The turn in which each seat last saw each card, or [`NEVER`]. Indexed by owner, seat and slot.
type LastSeenTurns = [[[u16; MAX_SLOTS]; MAX_SEATS]; MAX_SEATS];

#[inline]
fn push<const N: usize>(events: &mut RecentEvents<N>, event: PublicEvent) {
    events.copy_within(..N - 1, 1);
    events[0] = Some(event);
}

/// All public information about a round that observation tensors contain: the [`CardHistory`], when each seat saw each
/// card, the last public events, and the standing of the match.
///
/// Pass every event or sighting of a round to [`RoundHistory::notice`], from the deal on, or use the history as the
/// [`Observer`] of a match. The referee's events, the sightings of any seat and [`Event::public`] give the same
/// history. The next deal clears the history. Clones do not allocate.
///
/// ```
/// use cambio_core::{Playing, Rules, Seat, encode::TensorSpace, rng::Key, view::RoundHistory};
///
/// let rules = Rules::preset("classic").unwrap();
/// let mut playing = Playing::new(&rules, 2, Key::new(42, 0)).unwrap();
/// let mut history = RoundHistory::new(&rules, 2);
/// playing.events().iter().for_each(|event| history.notice(event));
/// for decision in ["draw", "keep a1"] {
///     playing.act_observed(decision.parse().unwrap(), &mut history).unwrap();
/// }
/// // Seat a saw its new card in turn 1, and seat b has not seen it.
/// assert_eq!(history.seen_in("a1".parse().unwrap(), Seat::A), Some(1));
/// assert_eq!(history.seen_in("a1".parse().unwrap(), Seat::B), None);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RoundHistory {
    cards: CardHistory,
    seats: u8,
    turn: u16,
    turn_of: Seat,
    /// The number of cards of each class on the pile.
    pile: [u8; MAX_KINDS],
    /// The last card that went onto the pile.
    top: Option<Card>,
    stamps: LastSeenTurns,
    recent: RecentEvents<{ RoundHistory::RECENT }>,
    last: [RecentEvents<{ RoundHistory::LAST }>; MAX_SEATS],
    rounds: u16,
    totals: [Score; MAX_SEATS],
}

impl RoundHistory {
    /// The number of public events that are kept for the whole table.
    pub(crate) const RECENT: usize = 8;
    /// The number of public events that are kept for each seat.
    pub(crate) const LAST: usize = 4;

    /// The history before a match begins, at a table of `seats` seats.
    pub fn new(rules: &Rules, seats: usize) -> RoundHistory {
        RoundHistory {
            cards: CardHistory::new(rules, seats),
            seats: seats as u8,
            turn: 0,
            turn_of: Seat::A,
            pile: [0; MAX_KINDS],
            top: None,
            stamps: [[[NEVER; MAX_SLOTS]; MAX_SEATS]; MAX_SEATS],
            recent: [None; RoundHistory::RECENT],
            last: [[None; RoundHistory::LAST]; MAX_SEATS],
            rounds: 0,
            totals: [Score::default(); MAX_SEATS],
        }
    }

    /// The names of all kinds of public events, in the order of their one-hot codes in observation tensors.
    ///
    /// ```
    /// assert_eq!(cambio_core::view::RoundHistory::event_names()[..2], ["peeked", "drew"]);
    /// ```
    pub const fn event_names() -> &'static [&'static str] {
        &NAMES
    }

    /// Sets the standing of the match at the start of a round.
    pub fn set_standing(&mut self, standing: &Standing<'_>) {
        self.rounds = u16::try_from(standing.round).unwrap_or(u16::MAX);
        for (total, &given) in self.totals.iter_mut().zip(standing.totals) {
            *total = given;
        }
    }

    /// The history of each card on the table.
    #[inline]
    pub(crate) fn cards(&self) -> &CardHistory {
        &self.cards
    }

    /// The number of turns that have begun.
    #[inline]
    pub fn turns(&self) -> u16 {
        self.turn
    }

    /// The number of rounds of the match that ended before this one began.
    #[inline]
    pub(crate) fn rounds(&self) -> u16 {
        self.rounds
    }

    /// The total of a seat when the round began.
    #[inline]
    pub(crate) fn total(&self, seat: Seat) -> Score {
        self.totals[seat.index()]
    }

    /// The turn in which a seat last saw the card in this spot, 0 before the first turn; `None` if it has not seen it.
    /// Cards that are turned up for scoring do not count as seen, because the table stays as it was when play ended.
    #[inline]
    pub fn seen_in(&self, spot: Spot, seat: Seat) -> Option<u16> {
        Some(self.stamps_of(spot.seat(), seat)[spot.number() - 1]).filter(|&turn| turn != NEVER)
    }

    /// The number of cards of each class on the pile.
    #[inline]
    pub(crate) fn pile(&self) -> &[u8; MAX_KINDS] {
        &self.pile
    }

    /// For each slot of `owner`, the turn in which `seat` last saw the card there; [`NEVER`] if it has not seen it.
    #[inline]
    pub(crate) fn stamps_of(&self, owner: Seat, seat: Seat) -> &[u16; MAX_SLOTS] {
        &self.stamps[owner.index()][seat.index()]
    }

    /// A recent public event since the deal, 0 for the newest. 8 events are kept.
    #[inline]
    pub(crate) fn recent(&self, back: usize) -> Option<&PublicEvent> {
        self.recent.get(back)?.as_ref()
    }

    /// A recent public event of a seat since the deal, 0 for the newest. 4 events are kept.
    #[inline]
    pub(crate) fn last_of(&self, seat: Seat, back: usize) -> Option<&PublicEvent> {
        self.last[seat.index()].get(back)?.as_ref()
    }

    /// The turns in which each seat of the table last saw the card in this spot, seat a first.
    #[inline]
    fn stamps_at(&mut self, spot: Spot) -> impl Iterator<Item = &mut u16> {
        let rows = &mut self.stamps[spot.seat().index()][..self.seats.into()];
        rows.iter_mut().map(move |row| &mut row[spot.number() - 1])
    }

    /// Sets these turns for all seats.
    #[inline]
    fn stamp_all(&mut self, spot: Spot, turn: u16) {
        self.stamps_at(spot).for_each(|stamp| *stamp = turn);
    }

    /// The card was seen in this turn by this seat.
    #[inline]
    fn stamp(&mut self, spot: Spot, seat: Seat) {
        self.stamps[spot.seat().index()][seat.index()][spot.number() - 1] = self.turn;
    }

    #[inline]
    fn swap_stamps(&mut self, one: Spot, other: Spot) {
        for seat in 0..usize::from(self.seats) {
            let place = |spot: Spot| (spot.seat().index(), spot.number() - 1);
            let ((owner, slot), (other_owner, other_slot)) = (place(one), place(other));
            let turn = self.stamps[owner][seat][slot];
            self.stamps[owner][seat][slot] = self.stamps[other_owner][seat][other_slot];
            self.stamps[other_owner][seat][other_slot] = turn;
        }
    }

    /// Updates the history with an event.
    #[inline(always)]
    pub fn notice<Face: Copy>(&mut self, event: &Event<Face>) {
        match *event {
            Event::Dealt { .. } => self.deal(),
            Event::TurnBegan { seat } => {
                self.turn += 1;
                self.turn_of = seat;
            }
            _ => {}
        }
        self.cards.notice(event);
        match event.motion() {
            Motion::Seen { seat, spot, .. } => self.stamp(spot, seat),
            // A card that is turned up for scoring does not count as seen, as in `Table` and unlike in `CardHistory`.
            Motion::Shown { spot, .. } if matches!(event, Event::TurnedUp { .. }) => {
                let turn = self.turn;
                self.stamps_at(spot).filter(|stamp| **stamp != NEVER).for_each(|stamp| *stamp = turn);
            }
            Motion::Shown { spot, .. } => self.stamp_all(spot, self.turn),
            Motion::Kept { spot, replaced } => {
                self.stamp_all(spot, if self.cards.holds_public() { self.turn } else { NEVER });
                self.stamp(spot, spot.seat());
                self.land(replaced);
            }
            Motion::Discarded { spot, card } => {
                self.stamp_all(spot, NEVER);
                self.land(card);
            }
            Motion::Added { spot } => self.stamp_all(spot, NEVER),
            Motion::Flipped { card } | Motion::Dropped { card } => self.land(card),
            Motion::Taken { card } => self.pile[self.cards.rules().class(card)] -= 1,
            Motion::Reshuffled { .. } => {
                self.pile = [0; MAX_KINDS];
                if let Some(top) = self.top {
                    self.land(top);
                }
            }
            Motion::Exchanged { one, other } => self.swap_stamps(one, other),
            Motion::Moved { from, to } => {
                self.swap_stamps(from, to);
                self.stamp_all(from, NEVER);
            }
            _ => {}
        }
        if let Some(event) = PublicEvent::of(event, self.turn_of) {
            push(&mut self.recent, event);
            push(&mut self.last[event.seat.index()], event);
        }
    }

    /// Counts a card that goes onto the pile.
    #[inline]
    fn land(&mut self, card: Card) {
        self.pile[self.cards.rules().class(card)] += 1;
        self.top = Some(card);
    }

    fn deal(&mut self) {
        self.turn = 0;
        self.pile = [0; MAX_KINDS];
        self.top = None;
        let seats = usize::from(self.seats);
        self.recent = [None; RoundHistory::RECENT];
        self.last[..seats].fill([None; RoundHistory::LAST]);
        self.stamps[..seats].iter_mut().for_each(|stamps| stamps[..seats].fill([NEVER; MAX_SLOTS]));
    }
}

/// The referee's events give the same history as any seat's sightings.
impl Sink for RoundHistory {
    #[inline(always)]
    fn event(&mut self, event: &Event<Card>) {
        self.notice(event);
    }
}

impl Observer for RoundHistory {
    fn round_begins(&mut self, standing: &Standing<'_>, _: &[Card]) {
        self.set_standing(standing);
    }

    #[inline]
    fn event(&mut self, event: &Event<Card>) {
        self.notice(event);
    }
}
