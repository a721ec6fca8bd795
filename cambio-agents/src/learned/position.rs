//! What a learned player sees: the layouts, the pile, whose turn it is, and how each candidate decision changes them.

use cambio_core::{
    Action, Card, History, MAX_KINDS, MAX_SEATS, MAX_SLOTS, Phase, Score, Seat, Source, Spot, Table, View,
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

/// What a decision leads to, as far as the deciding seat can see: the seat at distance 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct After {
    /// The layouts, by the distance of their seats.
    pub(super) sides: [Side; MAX_SEATS],
    /// Bit d: the seat at distance d has another layout than before.
    pub(super) changed: u8,
    pub(super) held: Face,
    pub(super) top: Face,
    /// Bit d: the seat at distance d has called.
    pub(super) callers: u8,
    /// The distance of the first caller.
    pub(super) first_caller: Option<u8>,
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
    pub(super) before: After,
}

/// How a match stands: the totals of the seats in steps, by their distance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Totals {
    pub(super) steps: [u8; MAX_SEATS],
}

/// The steps of totals.
pub(super) const TOTALS: usize = 16;

impl Totals {
    pub(super) const NONE: Totals = Totals { steps: [0; MAX_SEATS] };

    pub(super) fn new(deck: &Deck, totals: &[Score], seat: Seat) -> Totals {
        let mut result = Totals::NONE;
        if let Some(target) = deck.target {
            for distance in 0..totals.len() {
                let points = totals[seat.ahead(distance, totals.len()).index()].units().div_euclid(Score::UNITS);
                // A quarter of the steps is below zero.
                let step = (points + target / 4) * (TOTALS as i32 - 4) / (target.max(4) * 5 / 4);
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
        before: After {
            sides: [Side::EMPTY; MAX_SEATS],
            changed: 0,
            held: Face::None,
            top: Face::None,
            callers: 0,
            first_caller: None,
        },
    };

    /// What a seat sees.
    pub(super) fn new(deck: &Deck, view: &impl View, history: &History) -> Scene {
        let (table, seat) = (view.table(), view.seat());
        let seats = table.seats();
        let mut sides = [Side::EMPTY; MAX_SEATS];
        let (mut points, mut known) = (0, 0);
        for (distance, side) in sides[..seats].iter_mut().enumerate() {
            for spot in table.layout(seat.ahead(distance, seats)).iter_from(seat) {
                let mut witnesses = 0;
                for other in 0..seats {
                    witnesses |= u8::from(table.seen(seat.ahead(other, seats)).contains(spot)) << other;
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
                side.push(Seen::new(deck, class, witnesses, history.trace(spot)));
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
        let mut pile = [0; MAX_KINDS];
        for card in (0..rules.kinds().len()).filter_map(Card::new) {
            pile[usize::from(deck.class(card))] += table.on_pile(card) as u8;
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
        Scene {
            seats,
            mean,
            turns: table.turns(),
            starter: distance(table.starter()),
            turn: distance(table.turn()),
            step,
            held_public: matches!(table.phase(), Phase::Held(Source::Pile(_))),
            pile,
            before: After {
                sides,
                changed: 0,
                held: face(held),
                top: face(table.top()),
                callers,
                first_caller: table.callers_in_order().next().map(|caller| distance(caller) as u8),
            },
        }
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
        (distance, self.before.sides[distance].cards[place])
    }

    /// What a decision leads to. A decision whose outcome the seat cannot see, such as a look, leaves things as they are.
    #[inline]
    pub(super) fn after(&self, view: &impl View, action: Action) -> After {
        let (table, seat) = (view.table(), view.seat());
        let mut after = self.before;
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
                let card = &mut after.sides[0].cards[place];
                let replaced = card.class;
                let class = match after.held {
                    Face::Class(class) => class,
                    Face::None | Face::Unknown => UNKNOWN,
                };
                let everybody = ((1_u16 << self.seats) - 1) as u8;
                *card = Seen::kept(class, if self.held_public { everybody } else { 1 });
                after.top = Face::of(replaced);
                after.held = Face::None;
                after.changed = 1;
            }
            Action::Call => {
                after.callers |= 1;
                after.first_caller.get_or_insert(0);
            }
            Action::Swap(one, other) => {
                let ((one, place), (other, at)) = (self.locate(table, seat, one), self.locate(table, seat, other));
                let card = after.sides[one].cards[place];
                after.sides[one].cards[place] = after.sides[other].cards[at];
                after.sides[other].cards[at] = card;
                after.changed = 1 << one | 1 << other;
            }
            Action::Snap(spot) if view.face(spot).is_some() => {
                let (distance, place) = self.locate(table, seat, spot);
                after.top = Face::of(after.sides[distance].remove(place).class);
                after.changed = 1 << distance;
            }
            Action::Give(spot) => {
                let (_, place) = self.locate(table, seat, spot);
                let to = table.gap().map_or(1, |gap| gap.seat().distance_from(seat, self.seats));
                let card = after.sides[0].remove(place);
                after.sides[to].push(card);
                after.changed = 1 | 1 << to;
            }
            _ => {}
        }
        after
    }
}
