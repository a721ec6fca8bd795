//! What a player remembers of what it saw.
//!
//! A memory stands between the sightings and the player's own picture of the table. The table's truth is untouched:
//! forgetting is a property of a player. Chance comes from the player's own stream.

use cambio_core::rng::{Bounded as _, Stream};
use cambio_core::{Briefing, Card, Event, Seat, Sighting, Spot, SpotSet, Verdict};

use crate::params;

params! {
    /// How a player forgets. The models may be combined; where all are off, memory is perfect.
    ///
    /// - `decay`, geometric: each remembered card is forgotten with this probability at each own turn.
    /// - `capacity`: so many cards are remembered at most; the one not seen for longest goes first.
    /// - `threshold`, activation (ACT-R; Anderson and Lebiere 1998, base-level learning with decay ½): the activation at
    ///   which a card is recalled with probability ½. A card seen t own turns ago adds 1/√t each time it was seen; with
    ///   activation A and threshold T it is recalled at an own turn with probability A²/(A² + T²), the logistic rule with
    ///   noise ½, and else forgotten.
    /// - `confusion`: a remembered card of a layout in which cards were swapped is afterwards, with this probability,
    ///   remembered in the place of its neighbour.
    pub struct MemoryParams {
        /// Memory: the probability of forgetting each known card at each own turn.
        decay: Option<f64> in 0.0..=1.0,
        /// Memory: how many cards are remembered at most.
        capacity: Option<u8> in 0..=128,
        /// Memory: the ACT-R activation at which a card is recalled with probability 1/2.
        threshold: Option<f64> in 0.0..=100.0,
        /// Memory: the probability of mistaking neighbours in a layout in which cards were swapped.
        confusion: Option<f64> in 0.0..=1.0,
    }
}

const SCALE: u32 = 1 << 30;

/// A remembered card.
#[derive(Clone, Copy, Debug)]
struct Trace {
    card: Card,
    /// The sightings that keep it: the own turn of each, the latest first.
    seen: [u16; 4],
    sightings: u8,
    /// When it was last seen, counted in sightings of this player.
    last: u32,
}

/// What a player remembers, by spot.
#[derive(Clone, Debug)]
pub struct Memory {
    params: MemoryParams,
    seat: Seat,
    stream: Stream,
    traces: [Option<Trace>; 128],
    known: SpotSet,
    held: Option<Card>,
    turns: u16,
    clock: u32,
    /// How many cards were forgotten or confused so far.
    lapses: u32,
}

impl Memory {
    /// An empty memory of the player that is briefed; it draws from a fork of the briefing's stream.
    pub fn new(params: MemoryParams, briefing: &Briefing<'_>) -> Memory {
        Memory {
            params,
            seat: briefing.seat,
            stream: briefing.stream.clone().fork(),
            traces: [None; 128],
            known: SpotSet::EMPTY,
            held: None,
            turns: 0,
            clock: 0,
            lapses: 0,
        }
    }

    /// The seat whose memory this is.
    pub fn seat(&self) -> Seat {
        self.seat
    }

    /// The card that is remembered here. After a confusion it may be the wrong one.
    pub fn face(&self, spot: Spot) -> Option<Card> {
        self.traces[spot.index()].map(|trace| trace.card)
    }

    /// The spots of which a card is remembered.
    pub fn known(&self) -> SpotSet {
        self.known
    }

    /// How many cards were forgotten or confused in this match.
    pub fn lapses(&self) -> u32 {
        self.lapses
    }

    /// Takes in what the player perceived.
    pub fn notice(&mut self, sighting: &Sighting) {
        match *sighting {
            Event::Dealt { .. } => {
                self.traces = [None; 128];
                self.known = SpotSet::EMPTY;
                self.held = None;
                self.turns = 0;
            }
            Event::TurnBegan { seat } if seat == self.seat => {
                self.turns += 1;
                self.forget();
            }
            Event::Peeked { spot, face: Some(card), .. }
            | Event::Looked { spot, face: Some(card), .. }
            | Event::Shown { spot, card }
            | Event::TurnedUp { spot, card }
            | Event::Snapped { spot, card, verdict: Verdict::Wrong | Verdict::Late, .. } => self.see(spot, card),
            Event::Snapped { spot, .. } => self.set(spot, None),
            Event::Drew { face, .. } => self.held = face,
            Event::Took { card, .. } => self.held = Some(card),
            Event::Dropped { .. } => self.held = None,
            Event::Kept { spot, .. } => {
                self.set(spot, None);
                if let Some(card) = self.held.take() {
                    self.see(spot, card);
                }
            }
            Event::Swapped { one, other, .. } => {
                let (first, second) = (self.traces[one.index()], self.traces[other.index()]);
                self.set(one, second);
                self.set(other, first);
                self.confuse(one.seat());
                if other.seat() != one.seat() {
                    self.confuse(other.seat());
                }
            }
            Event::Gave { from, to, .. } => {
                let trace = self.traces[from.index()];
                self.set(to, trace);
                self.set(from, None);
            }
            _ => {}
        }
    }

    fn set(&mut self, spot: Spot, trace: Option<Trace>) {
        self.traces[spot.index()] = trace;
        if trace.is_some() {
            self.known.insert(spot);
        } else {
            self.known.remove(spot);
        }
    }

    fn see(&mut self, spot: Spot, card: Card) {
        self.clock += 1;
        let old = self.traces[spot.index()].filter(|trace| trace.card == card);
        let (mut seen, sightings) = old.map_or(([0; 4], 0), |trace| (trace.seen, trace.sightings));
        seen.rotate_right(1);
        seen[0] = self.turns;
        let trace = Trace { card, seen, sightings: (sightings + 1).min(4), last: self.clock };
        self.set(spot, Some(trace));
        if let Some(capacity) = self.params.capacity {
            while self.known.len() > capacity.into() {
                let oldest =
                    self.known.into_iter().min_by_key(|spot| self.traces[spot.index()].map(|trace| trace.last));
                self.lose(oldest.expect("more cards are remembered than may be"));
            }
        }
    }

    fn lose(&mut self, spot: Spot) {
        self.set(spot, None);
        self.lapses += 1;
    }

    fn happens(&mut self, probability: f64) -> bool {
        let scaled = (probability.clamp(0.0, 1.0) * f64::from(SCALE)).round() as u32;
        self.stream.chance(scaled, SCALE)
    }

    fn forget(&mut self) {
        for spot in self.known {
            if let Some(decay) = self.params.decay
                && self.happens(decay)
            {
                self.lose(spot);
                continue;
            }
            let trace = self.traces[spot.index()];
            if let (Some(threshold), Some(trace)) = (self.params.threshold, trace) {
                let age = |turn: u16| f64::from(self.turns - turn).max(1.0);
                let seen = &trace.seen[..usize::from(trace.sightings)];
                let activation: f64 = seen.iter().map(|&turn| 1.0 / age(turn).sqrt()).sum();
                let squared = activation * activation;
                if !self.happens(squared / (squared + threshold * threshold)) {
                    self.lose(spot);
                }
            }
        }
    }

    /// Two remembered neighbours of a layout may change places in memory.
    fn confuse(&mut self, seat: Seat) {
        let Some(confusion) = self.params.confusion else { return };
        let own = self.known.intersection(SpotSet::of_seat(seat));
        for spot in own {
            let Some(next) = Spot::new(seat, spot.number() + 1).filter(|next| own.contains(*next)) else { continue };
            if self.happens(confusion) {
                let (one, other) = (self.traces[spot.index()], self.traces[next.index()]);
                self.set(spot, other);
                self.set(next, one);
                self.lapses += 1;
            }
        }
    }
}
