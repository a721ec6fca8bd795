//! The table: everything public about a round.

use crate::engine::action::Pairs;
use crate::engine::event::{EndReason, Event, Sighting};
use crate::engine::snap::SnapRights;
use crate::rules::PowerStep;
use crate::rules::card::{Card, MAX_KINDS, Power};
use crate::rules::knob::{CallWhen, Callers, Cap, EmptyHand, LimitInLap, Redrop, StockEmpty};
use crate::rules::seat::{MAX_SEATS, Seat, SeatSet, Spot, SpotSet};
use crate::{Action, Rules};

/// The kind of decision that is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// A seat chooses which of its own cards to look at before the first turn.
    Peek,
    /// A turn starts: draw, take or call.
    Start,
    /// The seat holds a card: keep or drop.
    Held(CardSource),
    /// A snap window: every seat that may snap declares in secret.
    Window,
    /// The winner of a snap of another seat's card gives a card.
    Gift,
    /// The winner of a snap may snap one more card.
    Chain,
    /// A step of a power.
    Power,
    /// The seat names a card of another seat for a reveal.
    Show,
    /// The end of a turn: call or end.
    Close,
    /// No decision: the round is over.
    Over,
}

impl Phase {
    /// The phases without a held card.
    pub(crate) const WITHOUT_CARD: [Phase; 9] = [
        Phase::Peek,
        Phase::Start,
        Phase::Window,
        Phase::Gift,
        Phase::Chain,
        Phase::Power,
        Phase::Show,
        Phase::Close,
        Phase::Over,
    ];

    /// The word for this phase in messages and scenes.
    pub const fn word(self) -> &'static str {
        const WORDS: [&str; Phase::COUNT] =
            ["peek", "start", "held", "window", "gift", "chain", "power", "show", "close", "over"];
        WORDS[self.code() as usize]
    }
}

/// Where a held card comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CardSource {
    /// The stock: only the seat that drew the card knows it.
    Stock,
    /// The pile: all seats know the card.
    Pile(Card),
}

/// What opened a snap window. This also determines how play continues after the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Opening {
    Flip,
    Landing,
    AfterPower,
}

impl Opening {
    pub(crate) const ALL: [Opening; 3] = [Opening::Flip, Opening::Landing, Opening::AfterPower];

    /// The word for this opening in positions.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Opening::Flip => "flip",
            Opening::Landing => "landing",
            Opening::AfterPower => "power",
        }
    }
}

/// The carry-over from the previous round (knob `carry_over`).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct CarryOver {
    /// Seats that start with extra cards: one, or the number of the knob `penalty`.
    pub extra_card: SeatSet,
    /// Seats that may peek at one more card before the first turn.
    pub extra_peek: SeatSet,
}

/// Everything public about a round, and nothing else: the occupied spots, which seats have seen which cards, the pile,
/// the size of the stock, the turn and the phase.
///
/// ```
/// use cambio_core::{Phase, Playing, Rules, Seat, rng::Key};
///
/// let mut playing = Playing::new(&Rules::preset("classic").unwrap(), 3, Key::new(42, 0)).unwrap();
/// playing.act("draw".parse().unwrap()).unwrap();
/// let table = playing.state().table();
/// assert!(matches!(table.phase(), Phase::Held { .. }));
/// assert_eq!((table.asked(), table.turns(), table.seats()), (Some(Seat::A), 1, 3));
/// assert_eq!(table.layout(Seat::B).len(), 4);
/// // In `classic` each seat has seen two of its own cards before the first turn.
/// assert_eq!(table.seen(Seat::B).len(), 2);
/// assert_eq!((table.stock_len(), table.pile_len(), table.reshuffles()), (41, 0, 0));
/// ```
#[expect(clippy::struct_excessive_bools, reason = "each flag is an independent fact")]
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Table {
    pub(crate) rules: Rules,
    pub(crate) occupied: SpotSet,
    /// The spots of the cards that the current power has looked at.
    pub(crate) pointed: SpotSet,
    /// The spots that the current reveal has named.
    pub(crate) named: SpotSet,
    /// The spots whose cards each seat has seen.
    pub(crate) seen: [SpotSet; MAX_SEATS],
    pub(crate) pile: [u8; MAX_KINDS],
    pub(crate) pile_points: i32,
    pub(crate) pile_len: u16,
    pub(crate) stock_len: u16,
    pub(crate) reshuffles: u16,
    pub(crate) turns: u16,
    pub(crate) seats: u8,
    pub(crate) starter: Seat,
    pub(crate) turn: Seat,
    pub(crate) asked: Option<Seat>,
    pub(crate) phase: Phase,
    pub(crate) opening: Opening,
    pub(crate) top: Option<Card>,
    /// Whether a power step of the top card was carried out when the card was dropped.
    pub(crate) top_spent: bool,
    /// The card that opened the window.
    pub(crate) opener: Option<Card>,
    pub(crate) power: Power,
    pub(crate) step: u8,
    pub(crate) cheated: bool,
    pub(crate) declined_look: bool,
    pub(crate) carried_out: bool,
    pub(crate) won: bool,
    pub(crate) frozen: bool,
    pub(crate) gap: Option<Spot>,
    pub(crate) callers: SeatSet,
    pub(crate) first_caller: Option<Seat>,
    pub(crate) safe: SeatSet,
    pub(crate) carry: CarryOver,
    pub(crate) ended: Option<EndReason>,
}

impl Table {
    /// The rules in force.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The number of seats.
    pub fn seats(&self) -> usize {
        usize::from(self.seats)
    }

    /// The seat that had the first turn.
    pub fn starter(&self) -> Seat {
        self.starter
    }

    /// Whose turn it is.
    pub fn turn(&self) -> Seat {
        self.turn
    }

    /// The number of turns that have begun.
    pub fn turns(&self) -> usize {
        usize::from(self.turns)
    }

    /// The seat to act, if any.
    pub fn asked(&self) -> Option<Seat> {
        self.asked
    }

    /// The kind of decision that is due.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The power step that is due, if any.
    pub fn step(&self) -> Option<PowerStep> {
        if matches!(self.phase, Phase::Power | Phase::Show) { self.power.step(self.step.into()) } else { None }
    }

    /// The spots with a card.
    pub fn occupied(&self) -> SpotSet {
        self.occupied
    }

    /// All spots of the seats at the table, with or without a card.
    pub(crate) fn places(&self) -> SpotSet {
        let row = |seat: Seat| SpotSet::row(seat, self.rules.slots());
        SeatSet::first(self.seats()).each().map(row).fold(SpotSet::EMPTY, SpotSet::union)
    }

    /// The spots of `seat` with a card.
    pub fn layout(&self, seat: Seat) -> SpotSet {
        self.occupied.intersection(SpotSet::of_seat(seat))
    }

    /// The seats that have legitimately seen the card in this spot; none for an empty spot.
    pub fn seen_by(&self, spot: Spot) -> SeatSet {
        let saw = |seat: &Seat| self.seen[seat.index()].contains(spot);
        Seat::ALL.into_iter().filter(saw).collect()
    }

    /// The spots whose cards `seat` has legitimately seen.
    #[inline]
    pub fn seen(&self, seat: Seat) -> SpotSet {
        self.seen[seat.index()]
    }

    /// The face-up card on the pile: `None` if the pile is empty, or while a seat holds the top after taking it.
    pub fn top(&self) -> Option<Card> {
        self.top
    }

    /// The card that opened the current snap window.
    pub fn opener(&self) -> Option<Card> {
        if self.phase == Phase::Window { self.opener } else { None }
    }

    /// The number of cards on the pile.
    pub fn pile_len(&self) -> usize {
        usize::from(self.pile_len)
    }

    /// The number of cards of the kind of `card` on the pile.
    pub fn on_pile(&self, card: Card) -> usize {
        usize::from(self.pile[card.kind()])
    }

    /// The sum of the points of the cards on the pile.
    pub fn pile_points(&self) -> i32 {
        self.pile_points
    }

    /// The number of cards in the stock.
    pub fn stock_len(&self) -> usize {
        usize::from(self.stock_len)
    }

    /// The number of times that the pile has become a new stock.
    pub fn reshuffles(&self) -> usize {
        usize::from(self.reshuffles)
    }

    /// Whether the pile is frozen: the next seat cannot take its top (knob `freeze`).
    pub fn is_frozen(&self) -> bool {
        self.frozen
    }

    /// The seats that have called.
    pub fn callers(&self) -> SeatSet {
        self.callers
    }

    /// The callers in the order of their calls.
    pub fn callers_in_order(&self) -> impl Iterator<Item = Seat> {
        let callers = self.callers;
        self.first_caller.into_iter().flat_map(move |first| callers.iter_from(first))
    }

    /// The safe seats: they have no cards, and their points stay 0 (knob `empty_hand = "safe"`).
    pub fn safe(&self) -> SeatSet {
        self.safe
    }

    /// The empty spot that a gift will fill.
    pub fn gap(&self) -> Option<Spot> {
        self.gap
    }

    /// The spots of the cards that the current power has looked at, or that the current reveal has named.
    pub fn pointed(&self) -> SpotSet {
        match self.phase {
            Phase::Power => self.pointed,
            Phase::Show => self.named,
            _ => SpotSet::EMPTY,
        }
    }

    /// Why the round ended, if it has.
    pub fn ended(&self) -> Option<EndReason> {
        self.ended
    }

    /// The decision of the seat to act that the next event implies; `None` if the event does not determine it. The secret
    /// declarations in a snap window are not determined.
    pub fn implied(&self, next: &Sighting) -> Option<Action> {
        let decision = match *next {
            Event::Peeked { seat, spot, .. } => Some((seat, Action::Peek(spot))),
            Event::Drew { seat, .. } => Some((seat, Action::Draw)),
            Event::Took { seat, .. } => Some((seat, Action::Take)),
            Event::Dropped { seat, .. } => Some((seat, Action::Drop)),
            Event::Kept { seat, spot, .. } => Some((seat, Action::Keep(spot))),
            Event::Looked { seat, spot, .. } if self.phase == Phase::Start => Some((seat, Action::Cheat(spot))),
            Event::Looked { seat, spot, .. } => Some((seat, Action::Look(spot))),
            Event::Swapped { seat, one, other } => Some((seat, Action::Swap(one, other))),
            Event::Shown { spot, .. } => Some((self.asked?, Action::Show(spot))),
            Event::Skipped { seat } => Some((seat, Action::Skip)),
            Event::Snapped { seat, spot, .. } => Some((seat, Action::Snap(spot))),
            Event::Gave { seat, from, .. } => Some((seat, Action::Give(from))),
            // After a chain, a seat without cards may have to call (knob `empty_call`).
            Event::Called { seat } if self.phase != Phase::Chain => Some((seat, Action::Call)),
            _ => None,
        };
        match (decision, self.phase) {
            (Some((seat, action)), _) if Some(seat) == self.asked => Some(action),
            // A pass in a chain and the end of a turn have no event of their own.
            (_, Phase::Chain) => Some(Action::Pass),
            (_, Phase::Close) => Some(Action::End),
            _ => None,
        }
    }

    /// Which seats may snap which cards, given the calls and the safe seats.
    #[inline]
    pub fn snap_rights(&self) -> SnapRights {
        let turn = (self.turns > 0).then_some(self.turn);
        SnapRights::of(self.rules, self.seats, self.callers, self.safe, turn)
    }

    /// The seats that a snap window asks.
    #[inline]
    pub(crate) fn may_snap(&self) -> SeatSet {
        self.snap_rights().seats()
    }

    /// The spots that `seat` may snap, provided that it is one of [`SnapRights::seats`].
    #[inline]
    pub fn snap_targets(&self, seat: Seat) -> SpotSet {
        self.snap_rights().targets(seat, self.occupied)
    }

    pub(crate) fn can_draw(&self) -> bool {
        self.stock_len > 0 || (self.rules.spec().stock_empty == StockEmpty::Reshuffle && self.pile_len >= 2)
    }

    pub(crate) fn can_take(&self) -> bool {
        let spec = self.rules.spec();
        spec.take
            && self.top.is_some()
            && !self.frozen
            && (spec.redrop != Redrop::Forbidden || self.can_keep(self.turn))
    }

    pub(crate) fn can_keep(&self, seat: Seat) -> bool {
        !self.layout(seat).is_empty()
    }

    /// Whether the rules allow this seat to call in its current turn. Does not check a feasible cap.
    pub(crate) fn can_call(&self, seat: Seat) -> bool {
        let spec = self.rules.spec();
        let turns_without_call = (spec.first_call.count() - 1) * self.seats();
        self.can_be_caller(seat) && self.turns() > turns_without_call
    }

    /// Whether the earlier calls allow a call of this seat.
    fn can_be_caller(&self, seat: Seat) -> bool {
        match self.rules.spec().callers {
            Callers::One => self.callers.is_empty(),
            Callers::Several => !self.callers.contains(seat),
        }
    }

    /// Whether an empty layout makes this seat call (knob `empty_call`).
    pub(crate) fn must_call(&self, seat: Seat) -> bool {
        self.rules.spec().empty_call && self.layout(seat).is_empty() && self.can_be_caller(seat)
    }

    /// The seats whose cards may not be swapped or revealed (knob `lock_caller`).
    fn locked(&self) -> SeatSet {
        if self.rules.spec().lock_caller { self.callers } else { SeatSet::EMPTY }
    }

    /// The spot that a penalty card for `seat` would go to.
    pub(crate) fn penalty_spot(&self, seat: Seat) -> Option<Spot> {
        if self.safe.contains(seat) {
            return None;
        }
        let rules = self.rules;
        let extra = SpotSet::row(seat, rules.slots()).without(SpotSet::row(seat, rules.spec().hand.count()));
        let mut free = extra.without(self.occupied);
        if let Some(gap) = self.gap {
            free.remove(gap);
        }
        free.first_from(seat)
    }

    /// The spots of the dealt hand of `seat` whose cards the seat has not seen.
    pub(crate) fn unpeeked(&self, seat: Seat) -> SpotSet {
        SpotSet::row(seat, self.rules.spec().hand.count()).without(self.seen(seat))
    }

    /// The spots that a power step may look at.
    pub(crate) fn look_targets(&self, step: PowerStep) -> SpotSet {
        if self.declined_look {
            return SpotSet::EMPTY;
        }
        let own = SpotSet::of_seat(self.turn);
        let mut spots = match (step.looks_at_own(), step.looks_at_others()) {
            (true, true) => self.occupied,
            (true, false) => self.occupied.intersection(own),
            (false, true) => self.occupied.without(own),
            (false, false) => return SpotSet::EMPTY,
        };
        if step.looks_at_another() {
            spots = spots.without(self.pointed);
        }
        if !self.rules.spec().look_at_caller && !self.callers.is_empty() {
            spots = spots.without(SpotSet::of_seats(self.callers));
        }
        spots
    }

    /// The pairs of spots that a power step may swap.
    pub(crate) fn swap_targets(&self, step: PowerStep) -> Pairs {
        if !step.swaps() {
            return Pairs::NONE;
        }
        let spots = self.occupied.without(SpotSet::of_seats(self.locked()));
        if step.swaps_own() {
            let own = spots.intersection(SpotSet::of_seat(self.turn));
            return Table::swaps_with(
                own,
                Pairs { spots, apart: SeatSet::only(self.turn), passive: spots.without(own) },
            );
        }
        let spec = self.rules.spec();
        let mut apart = SeatSet::EMPTY;
        if !spec.swap_same_owner {
            apart = SeatSet::first(self.seats());
            apart.remove(self.turn);
        }
        if !spec.swap_two_own {
            apart.insert(self.turn);
        }
        if step.swaps_looked() {
            let looked = spots.intersection(self.pointed);
            return Table::swaps_with(looked, Pairs { spots, apart, passive: spots.without(looked) });
        }
        Pairs { spots, apart, passive: SpotSet::EMPTY }
    }

    /// Returns `pairs`, or none if `cards` is empty, because each pair needs one of the cards.
    fn swaps_with(cards: SpotSet, pairs: Pairs) -> Pairs {
        if cards.is_empty() { Pairs::NONE } else { pairs }
    }

    /// The next seat, in playing order, from which the current reveal must still name a card.
    pub(crate) fn next_shown(&self) -> Option<Seat> {
        self.turn.round(self.seats()).skip(1).find(|&seat| {
            let layout = self.layout(seat);
            !self.locked().contains(seat) && !layout.is_empty() && layout.intersection(self.named).is_empty()
        })
    }

    /// Whether the public information shows that the current turn is the last of the round.
    pub(crate) fn is_last_turn(&self) -> bool {
        let spec = self.rules.spec();
        // A call after this turn can still add the final lap.
        let may_call = (spec.call == CallWhen::AfterTurn && self.can_call(self.turn))
            || (spec.empty_call && self.can_be_caller(self.turn));
        let may_go_on = spec.limit_in_lap == LimitInLap::Waits && may_call;
        self.first_caller == Some(self.turn.next(self.seats()))
            || (self.is_limit_reached(spec.turn_limit.count()) && !may_go_on)
            || (spec.stock_empty == StockEmpty::EndRound && self.stock_len == 0)
    }

    /// Whether the round ends after the current turn because it has this many turns.
    pub(crate) fn is_limit_reached(&self, turn_limit: usize) -> bool {
        self.turns() >= turn_limit
            && (self.first_caller.is_none() || self.rules.spec().limit_in_lap == LimitInLap::Ends)
    }

    /// The first seat from the starter on whose layout is empty and that is not safe yet.
    pub(crate) fn emptied(&self) -> Option<Seat> {
        self.starter.round(self.seats()).find(|&seat| self.layout(seat).is_empty() && !self.safe.contains(seat))
    }

    pub(crate) fn ends_when_empty(&self) -> bool {
        self.rules.spec().empty_hand == EmptyHand::EndsRound
    }

    /// The limit of `cap = "feasible(…)"`: a call is illegal if the caller's points cannot be that low.
    pub(crate) fn feasible_cap(&self) -> Option<i16> {
        match self.rules.spec().cap {
            Cap::Feasible(points) => Some(points),
            _ => None,
        }
    }
}
