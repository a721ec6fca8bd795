//! What a learned player sees: the layouts, the pile, whose turn it is, and how each candidate decision changes them.

use cambio_core::{
    Action, Card, CardHistory, MAX_KINDS, MAX_SEATS, MAX_SLOTS, Phase, Score, Seat, Source, Spot, SpotSet, Table, View,
};

use super::card::{Deck, Seen, UNKNOWN};

/// The cards of one seat, in no order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    cards: [Seen; MAX_SLOTS],
    len: u8,
}

impl Side {
    const EMPTY: Side = Side { cards: [Seen::NONE; MAX_SLOTS], len: 0 };

    #[inline]
    pub(super) fn cards(&self) -> &[Seen] {
        &self.cards[..usize::from(self.len)]
    }

    #[inline]
    fn push(&mut self, card: Seen) {
        if usize::from(self.len) < MAX_SLOTS {
            self.cards[usize::from(self.len)] = card;
            self.len += 1;
        }
    }

    #[inline]
    fn remove(&mut self, place: usize) -> Seen {
        let card = self.cards[place];
        self.len -= 1;
        self.cards[place] = self.cards[usize::from(self.len)];
        card
    }
}

/// A card that may be missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Face {
    None,
    /// There is one, and the player does not know it.
    Unknown,
    Class(u8),
}

impl Face {
    fn of(class: u8) -> Face {
        if class == UNKNOWN { Face::Unknown } else { Face::Class(class) }
    }
}

/// Who has called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Caller {
    /// Bit d: the seat at distance d.
    pub(super) all: u8,
    /// The distance of the first one.
    pub(super) first: Option<u8>,
}

impl Caller {
    /// Nobody.
    pub(super) const NONE: Caller = Caller { all: 0, first: None };
}

/// What a decision leads to, as far as the deciding seat can see: the seat at distance 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct After {
    /// The layouts that differ from before, with the distances of their seats: two at most.
    sides: [(u8, Side); 2],
    changed: u8,
    pub(super) held: Face,
    pub(super) top: Face,
    pub(super) caller: Caller,
}

impl After {
    /// The layouts that differ from before, with the distances of their seats.
    #[inline]
    pub(super) fn changed(&self) -> &[(u8, Side)] {
        &self.sides[..usize::from(self.changed)]
    }

    /// The layout of the seat at this distance, to be changed.
    #[inline]
    fn change(&mut self, scene: &Scene, distance: usize) -> &mut Side {
        let found = self.changed().iter().position(|&(other, _)| usize::from(other) == distance);
        let at = found.unwrap_or_else(|| {
            self.sides[usize::from(self.changed)] = (distance as u8, scene.sides[distance]);
            self.changed += 1;
            usize::from(self.changed) - 1
        });
        &mut self.sides[at].1
    }
}

/// What one decision has in common with all its candidates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scene {
    pub(super) seats: usize,
    /// What a card counts that the seat has not seen, in sixteenths of a point.
    pub(super) mean: i32,
    pub(super) turns: usize,
    /// The distance of the seat that had the first turn.
    pub(super) starter: usize,
    /// The distance of the seat whose turn it is.
    pub(super) turn: usize,
    /// The step of a power: bits for looking at own cards, at others', at another, for swapping and for revealing.
    pub(super) step: u8,
    /// Whether the held card was taken from the pile.
    held_public: bool,
    /// How many cards of each class are on the pile.
    pub(super) pile: [u8; MAX_KINDS],
    /// The layouts, by the distance of their seats.
    pub(super) sides: [Side; MAX_SEATS],
    held: Face,
    top: Face,
    pub(super) caller: Caller,
}

/// How a match stands: the totals of the seats, by their distance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Totals {
    /// In points.
    pub(super) exact: [i32; MAX_SEATS],
    /// In points, from an eighth of the target below zero on; at most [`TOTAL_POINTS`].
    pub(super) points: [u8; MAX_SEATS],
    /// In [`TOTALS`] steps.
    steps: [u8; MAX_SEATS],
}

/// The steps of totals.
pub(super) const TOTALS: usize = 16;
/// How many totals are told apart to the point.
pub(super) const TOTAL_POINTS: usize = 64;

impl Totals {
    pub(super) const NONE: Totals = Totals { exact: [0; MAX_SEATS], points: [0; MAX_SEATS], steps: [0; MAX_SEATS] };

    /// The step of the deciding seat's total.
    #[inline]
    pub(super) fn own_step(&self) -> usize {
        self.steps[0].into()
    }

    /// The step of the lowest total of the others.
    #[inline]
    pub(super) fn best_step(&self, seats: usize) -> usize {
        self.steps[1..seats].iter().copied().min().unwrap_or(self.steps[0]).into()
    }

    pub(super) fn new(deck: &Deck, totals: &[Score], seat: Seat) -> Totals {
        let mut result = Totals::NONE;
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

impl Scene {
    /// Nothing seen yet.
    pub(super) const NONE: Scene = Scene {
        seats: 0,
        mean: 0,
        turns: 0,
        starter: 0,
        turn: 0,
        step: 0,
        held_public: false,
        pile: [0; MAX_KINDS],
        sides: [Side::EMPTY; MAX_SEATS],
        held: Face::None,
        top: Face::None,
        caller: Caller::NONE,
    };

    /// Becomes what a seat sees.
    #[inline]
    pub(super) fn read(&mut self, deck: &Deck, view: &impl View, history: &CardHistory) {
        let (table, seat) = (view.table(), view.seat());
        let seats = table.seats();
        let mut seen = [SpotSet::EMPTY; MAX_SEATS];
        for (distance, seen) in seen[..seats].iter_mut().enumerate() {
            *seen = table.seen(seat.ahead(distance, seats));
        }
        let (mut points, mut known) = (0, 0);
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
                        known += 1;
                        class
                    }
                    None => UNKNOWN,
                };
                side.push(Seen::new(deck, class, witnesses, &history.trace(spot)));
            }
        }
        let held = view.held();
        if let Some(card) = held {
            points += deck.points(deck.class(card));
            known += 1;
        }
        let rules = table.rules();
        let left = rules.deck().len() as i32 - table.pile_len() as i32 - known;
        let mean = 16 * (rules.deck_points() - table.pile_points() - points) / left.max(1);
        self.pile[..deck.classes()].fill(0);
        let kinds = if table.pile_len() == 0 { 0 } else { rules.kinds().len() };
        for card in (0..kinds).filter_map(Card::new) {
            self.pile[usize::from(deck.class(card))] += table.on_pile(card) as u8;
        }
        let face = |card: Option<Card>| card.map_or(Face::None, |card| Face::Class(deck.class(card)));
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
        self.turns = table.turns();
        self.starter = distance(table.starter());
        self.turn = distance(table.turn());
        self.step = step;
        self.held_public = matches!(table.phase(), Phase::Held(Source::Pile(_)));
        self.held = face(held);
        self.top = face(table.top());
        let first = table.callers_in_order().next().map(|caller| distance(caller) as u8);
        self.caller = Caller { all: callers, first };
    }

    /// Where a card lies: the distance of its owner, and its place in the side.
    #[inline]
    pub(super) fn locate(&self, table: &Table, seat: Seat, spot: Spot) -> (usize, usize) {
        let below = table.layout(spot.seat()).iter_from(spot.seat()).take_while(|&other| other != spot).count();
        (spot.seat().distance_from(seat, self.seats), below)
    }

    /// The card that lies here.
    #[inline]
    pub(super) fn card(&self, table: &Table, seat: Seat, spot: Spot) -> (usize, Seen) {
        let (distance, place) = self.locate(table, seat, spot);
        (distance, self.sides[distance].cards[place])
    }

    /// What a decision leads to. A decision whose outcome the seat cannot see, such as a look, leaves things as they are.
    #[inline]
    pub(super) fn after(&self, view: &impl View, action: Action) -> After {
        let (table, seat) = (view.table(), view.seat());
        let mut after =
            After { sides: [(0, Side::EMPTY); 2], changed: 0, held: self.held, top: self.top, caller: self.caller };
        match action {
            Action::Drop => {
                after.top = after.held;
                after.held = Face::None;
            }
            Action::Take => {
                after.held = after.top;
                after.top = Face::None;
            }
            Action::Keep(spot) => {
                let (_, place) = self.locate(table, seat, spot);
                let class = match after.held {
                    Face::Class(class) => class,
                    Face::None | Face::Unknown => UNKNOWN,
                };
                let everybody = ((1_u16 << self.seats) - 1) as u8;
                let kept = Seen::kept(class, if self.held_public { everybody } else { 1 });
                let replaced = std::mem::replace(&mut after.change(self, 0).cards[place], kept);
                after.top = Face::of(replaced.class);
                after.held = Face::None;
            }
            Action::Call => {
                after.caller.all |= 1;
                after.caller.first.get_or_insert(0);
            }
            Action::Swap(one, other) => {
                let ((one, place), (other, at)) = (self.locate(table, seat, one), self.locate(table, seat, other));
                let (card, its) = (self.sides[one].cards[place], self.sides[other].cards[at]);
                after.change(self, one).cards[place] = its;
                after.change(self, other).cards[at] = card;
            }
            Action::Snap(spot) if view.face(spot).is_some() => {
                let (distance, place) = self.locate(table, seat, spot);
                after.top = Face::of(after.change(self, distance).remove(place).class);
            }
            Action::Give(spot) => {
                let (_, place) = self.locate(table, seat, spot);
                let to = table.gap().map_or(1, |gap| gap.seat().distance_from(seat, self.seats));
                let card = after.change(self, 0).remove(place);
                after.change(self, to).push(card);
            }
            _ => {}
        }
        after
    }
}
