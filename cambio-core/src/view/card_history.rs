//! The public history of each card on the table: its origin, and what its owners' decisions suggest about its points.

#![expect(clippy::inline_always, reason = "callers construct the event, so the match folds away")]

use crate::engine::event::{Event, Sink};
use crate::engine::motion::Motion;
use crate::engine::observation::View;
use crate::rules::card::Card;
use crate::rules::seat::{MAX_SEATS, SPOTS, Seat, SeatSet, Spot, SpotSet};
use crate::{Action, Rules};

/// How a card came to the table. Tensors encode the origin one-hot, in the order of the variants.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Origin {
    /// The card was dealt.
    Dealt,
    /// A seat drew or took the card and kept it.
    Kept,
    /// The card is a penalty card.
    Penalty,
}

/// The public history of a card on the table. The history moves with the card.
///
/// When a seat that knows this card puts another card onto the pile, this card probably has fewer points:
/// [`CardTrace::bounds`] has the strongest upper bound of each kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CardTrace {
    /// How the card came to the table.
    pub origin: Origin,
    /// The turn in which the card came, counted as in [`Table::turns`](crate::Table::turns); 0 before the first turn.
    pub turn: u16,
    /// The number of times that the card moved from one seat to another; larger numbers are stored as 255.
    pub moves: u8,
    /// The bounds; `NONE` means no hint.
    bounds: [i16; 4],
}

/// The kinds of bounds of a [`CardTrace`], in the order of [`CardTrace::bounds`].
#[derive(Clone, Copy)]
enum BoundSource {
    Replaced,
    Outlived,
    Passed,
    Spent,
}

impl CardTrace {
    /// Stands for no bound: more points than any card has.
    pub(crate) const NONE: i16 = i16::MAX;

    /// The upper bounds of the card's points by the decisions of its owners; `None` means no hint. In order:
    ///
    /// - The points of the card that the owner replaced with this card, if the owner knew the replaced card.
    /// - The fewest points of a known card that an owner, who also knew this card, replaced with a drawn or taken card.
    /// - The fewest points of a card without a power that an owner, who knew this card, drew and dropped.
    /// - The fewest points of a card with a power that an owner, who knew this card, drew and dropped.
    #[inline]
    pub fn bounds(&self) -> [Option<i16>; 4] {
        self.bounds.map(|points| Some(points).filter(|&points| points != CardTrace::NONE))
    }
}

/// The [`CardTrace`] of each spot as a struct of arrays, with the layout and widths that tensors use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CardTraces {
    /// One-hot by [`Origin`]; all 0 for an empty spot.
    pub(crate) origins: [[u8; 3]; SPOTS],
    /// The turn in which the card came; [`NEVER`] for an empty spot.
    pub(crate) turns: [[u16; 1]; SPOTS],
    /// The number of times that the card moved from one seat to another.
    pub(crate) moves: [[u8; 1]; SPOTS],
    /// The bounds; [`CardTrace::NONE`] without a hint.
    pub(crate) bounds: [[i16; 4]; SPOTS],
}

/// Stands for no turn. Later than every turn (a round has at most 10,000), so ages since this turn saturate at 0.
pub(crate) const NEVER: u16 = u16::MAX;

impl CardTraces {
    /// The traces of a table without cards.
    const NONE: CardTraces = CardTraces {
        origins: [[0; 3]; SPOTS],
        turns: [[NEVER]; SPOTS],
        moves: [[0]; SPOTS],
        bounds: [[CardTrace::NONE; 4]; SPOTS],
    };

    /// Starts the trace of a card in an empty spot.
    #[inline]
    fn begin(&mut self, spot: Spot, origin: Origin, turn: u16) {
        self.origins[spot.index()][origin as usize] = 1;
        self.turns[spot.index()] = [turn];
    }

    #[inline]
    fn clear(&mut self, spot: Spot) {
        let spot = spot.index();
        self.origins[spot] = [0; 3];
        self.turns[spot] = [NEVER];
        self.moves[spot] = [0];
        self.bounds[spot] = [CardTrace::NONE; 4];
    }

    #[inline]
    fn swap(&mut self, one: Spot, other: Spot) {
        let (one, other) = (one.index(), other.index());
        self.origins.swap(one, other);
        self.turns.swap(one, other);
        self.moves.swap(one, other);
        self.bounds.swap(one, other);
    }

    #[inline]
    fn trace(&self, spot: Spot) -> CardTrace {
        let spot = spot.index();
        let origin = match self.origins[spot] {
            [_, 1, _] => Origin::Kept,
            [_, _, 1] => Origin::Penalty,
            _ => Origin::Dealt,
        };
        CardTrace { origin, turn: self.turns[spot][0], moves: self.moves[spot][0], bounds: self.bounds[spot] }
    }
}

/// The public history of the cards in a round. It is the same for every seat.
///
/// Pass every event or sighting of a round to [`CardHistory::notice`], from the deal on. Only public information is
/// used, so the referee's events, the sightings of any seat and [`Event::public`] give the same history. Clones do not
/// allocate.
///
/// ```
/// use cambio_core::rng::{Key, Purpose};
/// use cambio_core::{Rules, Seat, State, engine::{Dice, Setup}, view::{CardHistory, Origin}};
///
/// let rules = Rules::preset("classic").unwrap();
/// let mut dice = Dice(Key::new(42, 0).stream(Purpose::Deck, 0));
/// let mut history = CardHistory::new(&rules, 2);
/// let mut state = State::deal(&Setup::new(&rules, 2), rules.deck(), &mut dice, &mut history).unwrap();
/// for decision in ["draw", "keep a1"] {
///     state.apply(decision.parse().unwrap(), &mut dice, &mut history).unwrap();
/// }
/// let trace = history.trace("a1".parse().unwrap());
/// assert_eq!((trace.origin, trace.turn), (Origin::Kept, 1));
/// // Seat b has not seen b1 and b2 and cannot distinguish them. Its view of a1 and a2 differs: a1 was kept.
/// let alike = |one: &str, other: &str| {
///     history.are_alike_decisions(&state.view(Seat::B), one.parse().unwrap(), other.parse().unwrap())
/// };
/// assert!(alike("snap b1", "snap b2") && !alike("snap a1", "snap a2"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CardHistory {
    rules: Rules,
    seats: u8,
    turn: u16,
    /// Whether all seats know the held card.
    holds_public: bool,
    occupied: SpotSet,
    seen: [SpotSet; MAX_SEATS],
    traces: CardTraces,
}

impl CardHistory {
    /// The history before a round is dealt, at a table of `seats` seats.
    pub fn new(rules: &Rules, seats: usize) -> CardHistory {
        CardHistory {
            rules: *rules,
            seats: seats as u8,
            turn: 0,
            holds_public: false,
            occupied: SpotSet::EMPTY,
            seen: [SpotSet::EMPTY; MAX_SEATS],
            traces: CardTraces::NONE,
        }
    }

    #[inline]
    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The history of the card in this spot. The result is meaningless for an empty spot.
    #[inline]
    pub fn trace(&self, spot: Spot) -> CardTrace {
        self.traces.trace(spot)
    }

    #[inline]
    pub(crate) fn traces(&self) -> &CardTraces {
        &self.traces
    }

    /// Whether all seats know the held card.
    #[inline]
    pub(crate) fn holds_public(&self) -> bool {
        self.holds_public
    }

    /// The spots whose cards a seat has seen.
    #[inline]
    pub fn seen(&self, seat: Seat) -> SpotSet {
        self.seen[seat.index()]
    }

    /// Whether two cards of one owner are equivalent for a seat: they differ only in their slots.
    ///
    /// The seat knows both faces and they are equal, or it knows neither. The same seats have seen both cards, and both
    /// cards have the same history. No rule depends on slots, so exchanging such cards only relabels them.
    fn are_alike(&self, view: &impl View, one: Spot, other: Spot) -> bool {
        let table = view.table();
        let pointed = table.pointed();
        one.seat() == other.seat()
            && view.face(one) == view.face(other)
            && table.seen_by(one) == table.seen_by(other)
            && pointed.contains(one) == pointed.contains(other)
            && self.trace(one) == self.trace(other)
    }

    /// Whether two decisions of a seat differ only in cards that are equivalent for it: cards of one owner that differ only in their
    /// slots.
    pub fn are_alike_decisions(&self, view: &impl View, one: Action, other: Action) -> bool {
        let alike = |pair: (Option<Spot>, Option<Spot>)| match pair {
            (Some(one), Some(other)) => one == other || self.are_alike(view, one, other),
            (one, other) => one == other,
        };
        one.verb_code() == other.verb_code()
            && one.canonical().spots().into_iter().zip(other.canonical().spots()).all(alike)
    }

    /// Updates the history with an event.
    #[inline(always)]
    pub fn notice<Face: Copy>(&mut self, event: &Event<Face>) {
        match *event {
            Event::TurnBegan { .. } => self.turn += 1,
            Event::Dropped { seat, card } if !self.holds_public => self.dropped(seat, card),
            Event::Kept { seat, spot, replaced } if self.knows(seat, spot) => {
                let points = self.points(replaced);
                let others = self.known_own(seat).without(SpotSet::only(spot));
                self.hint(others, BoundSource::Outlived, points);
            }
            _ => {}
        }
        self.follow(event);
    }

    /// Updates the traces and the sets of seen spots when cards move or are seen.
    #[inline(always)]
    fn follow<Face: Copy>(&mut self, event: &Event<Face>) {
        match event.motion() {
            Motion::Dealt { extra, .. } => self.deal(extra),
            Motion::Seen { seat, spot, .. } => self.seen[seat.index()].insert(spot),
            Motion::Shown { spot, .. } => self.show_all(spot),
            Motion::Drawn { .. } => self.holds_public = false,
            Motion::Taken { .. } => self.holds_public = true,
            Motion::Kept { spot, replaced } => {
                // A seat keeps cards only in its own spots.
                let knew = self.knows(spot.seat(), spot);
                self.clear(spot);
                self.occupied.insert(spot);
                self.traces.begin(spot, Origin::Kept, self.turn);
                if knew {
                    self.traces.bounds[spot.index()][BoundSource::Replaced as usize] = self.points(replaced);
                }
                if self.holds_public {
                    self.show_all(spot);
                } else {
                    self.seen[spot.seat().index()].insert(spot);
                }
            }
            Motion::Discarded { spot, .. } => self.clear(spot),
            Motion::Exchanged { one, other } => {
                self.exchange(one, other);
                if one.seat() != other.seat() {
                    self.count_move(one);
                    self.count_move(other);
                }
            }
            Motion::Moved { from, to } => {
                self.occupied.insert(to);
                self.exchange(from, to);
                self.count_move(to);
                self.clear(from);
            }
            Motion::Added { spot } => {
                self.clear(spot);
                self.occupied.insert(spot);
                self.traces.begin(spot, Origin::Penalty, self.turn);
            }
            Motion::Flipped { .. } | Motion::Dropped { .. } | Motion::Reshuffled { .. } | Motion::Nothing => {}
        }
    }

    fn deal(&mut self, extra: SeatSet) {
        *self = CardHistory::new(&self.rules, self.seats.into());
        self.occupied = self.rules.dealt_spots(self.seats.into(), extra);
        for spot in self.occupied.each() {
            self.traces.begin(spot, Origin::Dealt, 0);
        }
    }

    fn dropped(&mut self, seat: Seat, card: Card) {
        let points = self.points(card);
        if self.rules.power(card).is_none() {
            self.hint(self.known_own(seat), BoundSource::Passed, points);
        } else {
            self.hint(self.known_own(seat), BoundSource::Spent, points);
        }
    }

    /// Lowers a bound of these cards to at most `points`.
    fn hint(&mut self, spots: SpotSet, hint: BoundSource, points: i16) {
        for spot in spots.each() {
            let bound = &mut self.traces.bounds[spot.index()][hint as usize];
            *bound = points.min(*bound);
        }
    }

    fn points(&self, card: Card) -> i16 {
        self.rules.points(card) as i16
    }

    fn knows(&self, seat: Seat, spot: Spot) -> bool {
        self.seen[seat.index()].contains(spot)
    }

    /// The spots of a seat whose cards the seat itself has seen.
    fn known_own(&self, seat: Seat) -> SpotSet {
        self.occupied.intersection(SpotSet::of_seat(seat)).intersection(self.seen[seat.index()])
    }

    fn everyone(&mut self) -> &mut [SpotSet] {
        &mut self.seen[..usize::from(self.seats)]
    }

    fn show_all(&mut self, spot: Spot) {
        self.everyone().iter_mut().for_each(|seen| seen.insert(spot));
    }

    fn clear(&mut self, spot: Spot) {
        self.occupied.remove(spot);
        self.everyone().iter_mut().for_each(|seen| seen.remove(spot));
        self.traces.clear(spot);
    }

    fn exchange(&mut self, one: Spot, other: Spot) {
        self.traces.swap(one, other);
        self.everyone().iter_mut().for_each(|seen| seen.swap(one, other));
    }

    fn count_move(&mut self, spot: Spot) {
        let [moves] = &mut self.traces.moves[spot.index()];
        *moves = moves.saturating_add(1);
    }
}

/// The referee's events give the same history as any seat's sightings.
impl Sink for CardHistory {
    #[inline(always)]
    fn event(&mut self, event: &Event<Card>) {
        self.notice(event);
    }
}
