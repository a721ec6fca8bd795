//! A position as a network sees it: the layouts, the pile, the turn, and the changes that each candidate makes to them.

use cambio_core::engine::CardSource;
use cambio_core::rules::{MAX_KINDS, MAX_SEATS, MAX_SLOTS};
use cambio_core::view::CardHistory;
use cambio_core::{Action, Card, Phase, Score, Seat, Spot, SpotSet, Table, View};

use super::card::{DeckClasses, TableCard, UNKNOWN};

/// The cards of one seat, in no particular order.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeatCards {
    cards: [TableCard; MAX_SLOTS],
    len: u8,
}

impl SeatCards {
    const EMPTY: SeatCards = SeatCards { cards: [TableCard::NONE; MAX_SLOTS], len: 0 };

    #[inline]
    pub(super) fn cards(&self) -> &[TableCard] {
        &self.cards[..usize::from(self.len)]
    }

    #[inline]
    fn push(&mut self, card: TableCard) {
        if usize::from(self.len) < MAX_SLOTS {
            self.cards[usize::from(self.len)] = card;
            self.len += 1;
        }
    }

    #[inline]
    fn remove(&mut self, index: usize) -> TableCard {
        let card = self.cards[index];
        self.len -= 1;
        self.cards[index] = self.cards[usize::from(self.len)];
        card
    }
}

/// The class of a card, which may be missing or unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FaceClass {
    None,
    /// A card that the player does not know.
    Unknown,
    Class(u8),
}

impl FaceClass {
    fn of(class: u8) -> FaceClass {
        if class == UNKNOWN { FaceClass::Unknown } else { FaceClass::Class(class) }
    }
}

/// The seats that have called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Callers {
    /// Bit d is the seat at distance d.
    pub(super) all: u8,
    /// The distance of the first caller.
    pub(super) first: Option<u8>,
}

impl Callers {
    /// No seat has called.
    pub(super) const NONE: Callers = Callers { all: 0, first: None };
}

/// The afterstate of a decision, as far as the seat to act can see it. The seat to act has distance 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Afterstate {
    /// The changed layouts, with the distances of their seats: at most two.
    sides: [(u8, SeatCards); 2],
    changed: u8,
    pub(super) held: FaceClass,
    pub(super) top: FaceClass,
    pub(super) caller: Callers,
}

impl Afterstate {
    /// The changed layouts, with the distances of their seats.
    #[inline]
    pub(super) fn changed(&self) -> &[(u8, SeatCards)] {
        &self.sides[..usize::from(self.changed)]
    }

    /// The layout of the seat at this distance, as a copy that may be changed.
    #[inline]
    fn change(&mut self, context: &DecisionContext, distance: usize) -> &mut SeatCards {
        let found = self.changed().iter().position(|&(other, _)| usize::from(other) == distance);
        let at = found.unwrap_or_else(|| {
            self.sides[usize::from(self.changed)] = (distance as u8, context.sides[distance]);
            self.changed += 1;
            usize::from(self.changed) - 1
        });
        &mut self.sides[at].1
    }
}

/// The position before a decision, which all candidates share.
#[derive(Clone, Copy, Debug)]
pub(super) struct DecisionContext {
    pub(super) seats: usize,
    /// The mean points of the cards that the seat has not seen, in sixteenths.
    pub(super) mean: i32,
    /// The variance of their points, in sixteenths of a squared point.
    pub(super) variance: i32,
    pub(super) turns: usize,
    /// The distance of the seat that had the first turn.
    pub(super) starter: usize,
    /// The distance of the seat whose turn it is.
    pub(super) turn: usize,
    /// The step of a power, as bits: look at one's own cards, at other seats' cards, at another card, swap, reveal.
    pub(super) step: u8,
    /// Whether the held card was taken from the pile.
    held_public: bool,
    /// The number of cards of each class on the pile.
    pub(super) pile: [u8; MAX_KINDS],
    /// The number of cards of each rank that the seat sees: on the pile, in its hand and among the cards it knows.
    seen: [u8; MAX_KINDS],
    /// The layouts, by the distance of their seats.
    pub(super) sides: [SeatCards; MAX_SEATS],
    held: FaceClass,
    top: FaceClass,
    pub(super) caller: Callers,
}

/// The totals of the seats, by their distance.
#[derive(Clone, Copy, Debug)]
pub(super) struct RelativeTotals {
    /// In points.
    pub(super) exact: [i32; MAX_SEATS],
    /// In points, counted from minus an eighth of the target; less than [`TOTAL_POINTS`].
    pub(super) points: [u8; MAX_SEATS],
    /// As buckets; less than [`TOTALS`].
    steps: [u8; MAX_SEATS],
}

/// The number of coarse buckets for totals.
pub(super) const TOTALS: usize = 16;
/// The number of fine buckets for totals, each one point wide.
pub(super) const TOTAL_POINTS: usize = 64;

impl RelativeTotals {
    pub(super) const NONE: RelativeTotals =
        RelativeTotals { exact: [0; MAX_SEATS], points: [0; MAX_SEATS], steps: [0; MAX_SEATS] };

    /// The bucket of the total of the seat to act.
    #[inline]
    pub(super) fn own_step(&self) -> usize {
        self.steps[0].into()
    }

    /// The bucket of the lowest total of the other seats.
    #[inline]
    pub(super) fn best_step(&self, seats: usize) -> usize {
        self.steps[1..seats].iter().copied().min().unwrap_or(self.steps[0]).into()
    }

    pub(super) fn new(deck: &DeckClasses, totals: &[Score], seat: Seat) -> RelativeTotals {
        let mut result = RelativeTotals::NONE;
        if let Some(target) = deck.target {
            for distance in 0..totals.len() {
                let points = totals[seat.ahead(distance, totals.len()).index()].units().div_euclid(Score::UNITS);
                let above = points + target / 8;
                let step = above * TOTALS as i32 / (target + target / 8).max(1);
                result.exact[distance] = points;
                result.points[distance] = above.clamp(0, TOTAL_POINTS as i32 - 1) as u8;
                result.steps[distance] = step.clamp(0, TOTALS as i32 - 1) as u8;
            }
        }
        result
    }
}

impl DecisionContext {
    pub(super) const NONE: DecisionContext = DecisionContext {
        seats: 0,
        mean: 0,
        variance: 0,
        turns: 0,
        starter: 0,
        turn: 0,
        step: 0,
        held_public: false,
        pile: [0; MAX_KINDS],
        seen: [0; MAX_KINDS],
        sides: [SeatCards::EMPTY; MAX_SEATS],
        held: FaceClass::None,
        top: FaceClass::None,
        caller: Callers::NONE,
    };

    /// Fills the context from the view of a seat.
    #[inline]
    pub(super) fn read(&mut self, deck: &DeckClasses, view: &impl View, history: &CardHistory) {
        let (table, seat) = (view.table(), view.seat());
        let seats = table.seats();
        let mut seen = [SpotSet::EMPTY; MAX_SEATS];
        for (distance, seen) in seen[..seats].iter_mut().enumerate() {
            *seen = table.seen(seat.ahead(distance, seats));
        }
        let (mut points, mut squares, mut known) = (0, 0, 0);
        self.seen[..deck.ranks()].fill(0);
        for (distance, side) in self.sides[..seats].iter_mut().enumerate() {
            side.len = 0;
            for spot in table.layout(seat.ahead(distance, seats)).iter_from(seat) {
                let mut witnesses = 0;
                for (other, seen) in seen[..seats].iter().enumerate() {
                    witnesses |= u8::from(seen.contains(spot)) << other;
                }
                let class = match view.face(spot) {
                    Some(card) => {
                        let class = deck.class(card);
                        points += deck.points(class);
                        squares += deck.points(class) * deck.points(class);
                        known += 1;
                        self.seen[deck.rank(class)] += 1;
                        class
                    }
                    None => UNKNOWN,
                };
                side.push(TableCard::new(deck, class, witnesses, &history.trace(spot)));
            }
        }
        let held = view.held();
        if let Some(card) = held {
            let class = deck.class(card);
            points += deck.points(class);
            squares += deck.points(class) * deck.points(class);
            known += 1;
            self.seen[deck.rank(class)] += 1;
        }
        let rules = table.rules();
        let left = rules.deck().len() as i32 - table.pile_len() as i32 - known;
        let mean = 16 * (rules.deck_points() - table.pile_points() - points) / left.max(1);
        self.pile[..deck.classes()].fill(0);
        let kinds = if table.pile_len() == 0 { 0 } else { rules.kinds().len() };
        for card in (0..kinds).filter_map(Card::new) {
            let (class, number) = (deck.class(card), table.on_pile(card) as u8);
            self.pile[usize::from(class)] += number;
            self.seen[deck.rank(class)] += number;
            squares += i32::from(number) * deck.points(class) * deck.points(class);
        }
        let face = |card: Option<Card>| card.map_or(FaceClass::None, |card| FaceClass::Class(deck.class(card)));
        let distance = |other: Seat| other.distance_from(seat, seats);
        let callers = table.callers().iter_from(seat).fold(0, |bits, caller| bits | 1 << distance(caller));
        let step = table.step().map_or(0, |step| {
            u8::from(step.looks_at_own())
                | u8::from(step.looks_at_others()) << 1
                | u8::from(step.looks_at_another()) << 2
                | u8::from(step.swaps()) << 3
                | u8::from(step.reveals()) << 4
        });
        self.seats = seats;
        self.mean = mean;
        self.variance = (16 * (rules.deck_squares() - squares) / left.max(1) - mean * mean / 16).max(0);
        self.turns = table.turns();
        self.starter = distance(table.starter());
        self.turn = distance(table.turn());
        self.step = step;
        self.held_public = matches!(table.phase(), Phase::Held(CardSource::Pile(_)));
        self.held = face(held);
        self.top = face(table.top());
        let first = table.callers_in_order().next().map(|caller| distance(caller) as u8);
        self.caller = Callers { all: callers, first };
    }

    /// The number of cards of a rank that the seat does not see.
    #[inline]
    pub(super) fn unseen(&self, deck: &DeckClasses, rank: usize) -> u8 {
        deck.copies(rank).saturating_sub(self.seen[rank])
    }

    /// The location of a card: the distance of its owner, and its index among the owner's cards.
    #[inline]
    pub(super) fn locate(&self, table: &Table, seat: Seat, spot: Spot) -> (usize, usize) {
        let below = table.layout(spot.seat()).iter_from(spot.seat()).take_while(|&other| other != spot).count();
        (spot.seat().distance_from(seat, self.seats), below)
    }

    /// The card in this spot, and the distance of its owner.
    #[inline]
    pub(super) fn card(&self, table: &Table, seat: Seat, spot: Spot) -> (usize, TableCard) {
        let (distance, index) = self.locate(table, seat, spot);
        (distance, self.sides[distance].cards[index])
    }

    /// The position before the decision, as the afterstate of a decision that changes nothing.
    #[inline]
    pub(super) fn before(&self) -> Afterstate {
        Afterstate {
            sides: [(0, SeatCards::EMPTY); 2],
            changed: 0,
            held: self.held,
            top: self.top,
            caller: self.caller,
        }
    }

    /// The afterstate of a decision. A decision whose outcome the seat cannot foresee, such as a look, changes nothing.
    #[inline]
    pub(super) fn after(&self, view: &impl View, action: Action) -> Afterstate {
        let (table, seat) = (view.table(), view.seat());
        let mut after = self.before();
        match action {
            Action::Drop => {
                after.top = after.held;
                after.held = FaceClass::None;
            }
            Action::Take => {
                after.held = after.top;
                after.top = FaceClass::None;
            }
            Action::Keep(spot) => {
                let (_, index) = self.locate(table, seat, spot);
                let class = match after.held {
                    FaceClass::Class(class) => class,
                    FaceClass::None | FaceClass::Unknown => UNKNOWN,
                };
                let all_seats = ((1_u16 << self.seats) - 1) as u8;
                let kept = TableCard::kept(class, if self.held_public { all_seats } else { 1 });
                let replaced = std::mem::replace(&mut after.change(self, 0).cards[index], kept);
                after.top = FaceClass::of(replaced.class);
                after.held = FaceClass::None;
            }
            Action::Call => {
                after.caller.all |= 1;
                after.caller.first.get_or_insert(0);
            }
            Action::Swap(one, other) => {
                let ((one, index), (other, at)) = (self.locate(table, seat, one), self.locate(table, seat, other));
                let (card, its) = (self.sides[one].cards[index], self.sides[other].cards[at]);
                after.change(self, one).cards[index] = its;
                after.change(self, other).cards[at] = card;
            }
            Action::Snap(spot) if view.face(spot).is_some() => {
                let (distance, index) = self.locate(table, seat, spot);
                after.top = FaceClass::of(after.change(self, distance).remove(index).class);
            }
            Action::Give(spot) => {
                let (_, index) = self.locate(table, seat, spot);
                let to = table.gap().map_or(1, |gap| gap.seat().distance_from(seat, self.seats));
                let card = after.change(self, 0).remove(index);
                after.change(self, to).push(card);
            }
            _ => {}
        }
        after
    }
}
