//! The rules of snap windows: which events open and close a window, which seats may snap, and which cards.
//!
//! The engine calls this code with its [`Table`](crate::Table). A player that follows a round only by its sightings
//! uses the same code with a [`SnapRights`] that it updates itself.

use crate::Rules;
use crate::engine::event::Event;
use crate::rules::card::Card;
use crate::rules::knob::{CallerSnaps, Flip, OthersAfterCall, SnapTargets, Window};
use crate::rules::seat::{Seat, SeatSet, SpotSet};

/// Which seats may snap which cards, given the calls and the safe seats.
///
/// A [`Table`](crate::Table) provides the rights of its round. A player without a table starts with [`SnapRights::new`]
/// and passes every event to [`SnapRights::notice`].
///
/// # Examples
/// ```
/// use cambio_core::{Rules, Seat, Sighting, SpotSet, engine::SnapRights};
///
/// let rules = Rules::preset("classic").unwrap();
/// let mut rights = SnapRights::new(&rules, 2);
/// let cards = SpotSet::of_seat(Seat::A).union(SpotSet::of_seat(Seat::B));
/// assert_eq!(rights.targets(Seat::B, cards), cards);
///
/// // The cards of a caller are locked.
/// rights.notice(&Sighting::Called { seat: Seat::A });
/// assert_eq!(rights.targets(Seat::B, cards), SpotSet::of_seat(Seat::B));
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SnapRights {
    rules: Rules,
    seats: u8,
    callers: SeatSet,
    safe: SeatSet,
    /// The seat whose turn it is; `None` before the first turn.
    turn: Option<Seat>,
}

impl SnapRights {
    /// The rights at the start of a round: no seat has called and no seat is safe.
    pub fn new(rules: &Rules, seats: usize) -> SnapRights {
        SnapRights::of(*rules, seats as u8, SeatSet::EMPTY, SeatSet::EMPTY, None)
    }

    #[inline]
    pub(crate) fn of(rules: Rules, seats: u8, callers: SeatSet, safe: SeatSet, turn: Option<Seat>) -> SnapRights {
        SnapRights { rules, seats, callers, safe, turn }
    }

    /// Updates the rights with an event. Only a deal, a turn, a call, or a seat that becomes safe changes them.
    pub fn notice<Face: Copy>(&mut self, event: &Event<Face>) {
        match *event {
            Event::Dealt { .. } => *self = SnapRights::new(&self.rules, self.seats.into()),
            Event::TurnBegan { seat } => self.turn = Some(seat),
            Event::Called { seat } => self.callers.insert(seat),
            Event::BecameSafe { seat } => self.safe.insert(seat),
            _ => {}
        }
    }

    /// The seats that have called.
    pub fn callers(&self) -> SeatSet {
        self.callers
    }

    /// The seats that may snap. A snap window asks all of them.
    #[inline]
    pub fn seats(&self) -> SeatSet {
        let mut all = SeatSet::first(usize::from(self.seats)).without(self.safe);
        if let (false, Some(discarder)) = (self.rules.spec().discarder_snaps, self.turn) {
            all.remove(discarder);
        }
        if self.callers.is_empty() { all } else { self.after_call(all) }
    }

    /// The seats in `seats` that may still snap after a call.
    fn after_call(&self, mut seats: SeatSet) -> SeatSet {
        let spec = self.rules.spec();
        if spec.others_after_call == OthersAfterCall::No {
            seats = seats.without(seats.without(self.callers));
        }
        if spec.caller_snaps == CallerSnaps::None { seats.without(self.callers) } else { seats }
    }

    /// The spots in `occupied` that `seat` may snap, provided that it is one of [`SnapRights::seats`]. Cards that do
    /// not match are included.
    #[inline]
    pub fn targets(&self, seat: Seat, occupied: SpotSet) -> SpotSet {
        let spec = self.rules.spec();
        if self.callers.is_empty() && spec.snap_targets == SnapTargets::Any {
            return occupied;
        }
        let mut locked = if spec.lock_caller { self.callers } else { SeatSet::EMPTY };
        let mut only_own = spec.snap_targets == SnapTargets::Own;
        if self.callers.contains(seat) {
            match spec.caller_snaps {
                CallerSnaps::None | CallerSnaps::Foreign => locked.insert(seat),
                CallerSnaps::Own | CallerSnaps::OwnAndForeign => locked.remove(seat),
            }
            only_own |= spec.caller_snaps == CallerSnaps::Own;
        }
        let open = if only_own { occupied.intersection(SpotSet::of_seat(seat)) } else { occupied };
        open.without(SpotSet::of_seats(locked))
    }
}

/// The effect of an event on snap windows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowSign {
    /// A window opens for this card: at once, or after the card's power if the rules let powers come first.
    Opens(Card),
    /// The seat has snapped in the window that is open.
    Snaps(Seat),
    /// If a window was open, it accepts no more declarations. The winner may still continue with a chain.
    Closes,
    /// The event has no effect on snap windows.
    None,
}

impl Rules {
    /// The effect of an event on snap windows under these rules.
    ///
    /// No event marks the second window after a power (`window = "both"`). The last card of a round gives
    /// [`WindowSign::Opens`] even if `final_window = false` omits the window.
    pub fn window_sign<Face: Copy>(&self, event: &Event<Face>) -> WindowSign {
        match *event {
            Event::Flipped { card } if self.flip_opens_window() => WindowSign::Opens(card),
            Event::Dropped { card, .. } | Event::Kept { replaced: card, .. } if self.has_windows() => {
                WindowSign::Opens(card)
            }
            Event::Snapped { seat, .. } | Event::Aborted { seat } => WindowSign::Snaps(seat),
            Event::TurnBegan { .. } | Event::Called { .. } | Event::Ended { .. } => WindowSign::Closes,
            // A power step was carried out or declined, or a gift was declined.
            Event::Looked { .. } | Event::Swapped { .. } | Event::Shown { .. } | Event::Skipped { .. }
                if !self.powers_come_first() =>
            {
                WindowSign::Closes
            }
            _ => WindowSign::None,
        }
    }

    /// Whether there are snap windows at all.
    #[inline]
    pub(crate) fn has_windows(&self) -> bool {
        self.spec().window != Window::None
    }

    /// Whether the card that starts the pile opens a window.
    #[inline]
    pub(crate) fn flip_opens_window(&self) -> bool {
        self.has_windows() && self.spec().flip == Flip::Window
    }

    /// Whether a snap window opens only after the power of the card.
    #[inline]
    pub(crate) fn powers_come_first(&self) -> bool {
        self.spec().window == Window::After
    }
}
