//! Sources of random outcomes.
//!
//! The engine has no random generator: it requests each outcome when it needs it. Only the order of a dealt stock is
//! fixed in advance. One narrow interface covers three sources: a dealt deck (real games, replays), an unordered pool
//! (states that are sampled for a search), and an enumerator of outcomes (exact solving).

use rand::Rng;

use crate::rng::{Bounded as _, Key, Purpose, Stream};
use crate::rules::knob::Race as RaceKnob;
use crate::rules::seat::MAX_SEATS;
use crate::{Card, Rules, Seat, SeatSet};

/// A source of chance.
pub trait Chance {
    /// Whether latent faces are drawn when a round ends. For a solver that averages over these faces, this is `false`.
    #[inline]
    fn settles(&self) -> bool {
        true
    }

    /// Draws the next card to be seen from an unordered pool: returns an index into `pool`, which is not empty. Called
    /// only for states without a dealt deck.
    fn draw(&mut self, pool: &[Card]) -> usize;

    /// Orders a new stock; its last card is the top. Called only for states with a dealt deck.
    fn shuffle(&mut self, stock: &mut [Card]);

    /// Orders the seats that snap. Called only if two or more seats snap.
    fn race(&mut self, race: &SnapRace<'_>) -> RaceOrder;
}

/// Two or more seats that snap in one window.
#[derive(Clone, Copy, Debug)]
pub struct SnapRace<'a> {
    /// The rules. Their knob `race` determines how the order is drawn.
    pub rules: &'a Rules,
    /// The number of seats.
    pub seats: usize,
    /// Whose turn it is.
    pub turn: Seat,
    /// The seats that snap.
    pub snappers: SeatSet,
}

impl SnapRace<'_> {
    /// The snappers, sorted by `order`. Snappers that `order` does not contain come last, in playing order from `turn`.
    pub(crate) fn by(&self, order: RaceOrder) -> RaceOrder {
        let mut left = self.snappers;
        let mut take = |seat: Seat| {
            let snaps = left.contains(seat);
            left.remove(seat);
            snaps
        };
        RaceOrder::new(order.seats().chain(self.snappers.iter_from(self.turn)).filter(|&seat| take(seat)))
    }

    /// Draws an order of the snappers according to the knob `race`.
    pub fn draw(&self, rng: &mut impl Rng) -> RaceOrder {
        let (mut seats, mut len, mut left) = (Seat::ALL, 0, self.snappers);
        while let Some(seat) = left.first_from(self.turn) {
            left.remove(seat);
            seats[len] = seat;
            len += 1;
        }
        let seats = &mut seats[..len];
        match self.rules.spec().race {
            RaceKnob::TurnOrder => {}
            RaceKnob::Uniform => {
                for last in (1..seats.len()).rev() {
                    seats.swap(last, rng.below(last as u32 + 1) as usize);
                }
            }
            RaceKnob::Weighted => {
                let weight = |seat: Seat| self.rules.spec().race_weights.of(seat);
                for index in 0..seats.len() {
                    let total: u32 = seats[index..].iter().map(|&seat| weight(seat)).sum();
                    let mut ticket = rng.below(total);
                    let mut next = index;
                    while ticket >= weight(seats[next]) {
                        ticket -= weight(seats[next]);
                        next += 1;
                    }
                    seats[index..=next].rotate_right(1);
                }
            }
        }
        RaceOrder::new(seats.iter().copied())
    }
}

/// An order of seats, the fastest first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RaceOrder {
    /// Four bits per seat, the fastest seat in the lowest bits. A single word, because hot loops create orders.
    seats: u32,
    len: u8,
}

impl RaceOrder {
    /// Creates the order in which an iterator returns the seats. Seats after the eighth are ignored.
    pub fn new(seats: impl IntoIterator<Item = Seat>) -> RaceOrder {
        let mut order = RaceOrder { seats: 0, len: 0 };
        for seat in seats.into_iter().take(MAX_SEATS) {
            order.seats |= (seat as u32) << (4 * order.len);
            order.len += 1;
        }
        order
    }

    pub(crate) fn only(seat: Seat) -> RaceOrder {
        RaceOrder { seats: seat as u32, len: 1 }
    }

    /// The seats, the fastest first.
    #[inline]
    pub fn seats(self) -> impl Iterator<Item = Seat> {
        (0..self.len).map(move |index| Seat::ALL[(self.seats >> (4 * index) & 7) as usize])
    }
}

/// Random outcomes from one random generator, for sampled states and random play.
#[derive(Clone, Debug)]
pub struct Dice<R>(pub R);

impl<R: Rng> Chance for Dice<R> {
    #[inline]
    fn draw(&mut self, pool: &[Card]) -> usize {
        self.0.below(pool.len() as u32) as usize
    }

    fn shuffle(&mut self, stock: &mut [Card]) {
        self.0.shuffle(stock);
    }

    fn race(&mut self, race: &SnapRace<'_>) -> RaceOrder {
        race.draw(&mut self.0)
    }
}

/// The source of random outcomes in one round, with separate streams of a [`Key`] for reshuffles and races.
#[derive(Clone, Debug)]
pub struct RoundChance {
    key: Key,
    round: u32,
    reshuffles: Option<Stream>,
    races: Option<Stream>,
    /// The number of races so far.
    raced: usize,
    /// The orders that were set from outside, indexed by race; `None` if the order is drawn.
    laid: Vec<Option<RaceOrder>>,
}

impl RoundChance {
    /// The source of random outcomes for a round. Rounds are counted from 0.
    pub fn new(key: Key, round: u32) -> RoundChance {
        RoundChance { key, round, reshuffles: None, races: None, raced: 0, laid: Vec::new() }
    }

    /// Resets both streams to their start, for another match of the same deal. Orders that were set stay.
    pub(crate) fn rewind(&mut self) {
        self.raced = 0;
        for stream in [&mut self.reshuffles, &mut self.races] {
            if !stream.as_mut().is_none_or(Stream::rewind) {
                *stream = None;
            }
        }
    }

    /// The number of races since the round began.
    pub(crate) fn raced(&self) -> usize {
        self.raced
    }

    /// Sets the order of a race, so that it is not drawn. Races are counted from 0 within the round.
    pub(crate) fn set_race_order(&mut self, number: usize, order: RaceOrder) {
        if self.laid.len() <= number {
            self.laid.resize(number + 1, None);
        }
        self.laid[number] = Some(order);
    }

    /// Whether the order of any race was set from outside.
    pub(crate) fn has_laid_races(&self) -> bool {
        !self.laid.is_empty()
    }

    fn reshuffles(&mut self) -> &mut Stream {
        self.reshuffles.get_or_insert_with(|| self.key.stream(Purpose::Reshuffle, self.round))
    }
}

impl Chance for RoundChance {
    fn draw(&mut self, pool: &[Card]) -> usize {
        self.reshuffles().below(pool.len() as u32) as usize
    }

    fn shuffle(&mut self, stock: &mut [Card]) {
        self.reshuffles().shuffle(stock);
    }

    fn race(&mut self, race: &SnapRace<'_>) -> RaceOrder {
        let (key, round) = (self.key, self.round);
        let laid = self.laid.get(self.raced).copied().flatten();
        self.raced += 1;
        if let Some(order) = laid {
            return race.by(order);
        }
        race.draw(self.races.get_or_insert_with(|| key.stream(Purpose::Race, round)))
    }
}
