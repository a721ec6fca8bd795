//! A player's memory of the cards that it saw.
//!
//! A memory turns the sightings of a player into the cards that the player believes to be on the table. Forgetting
//! affects only the player, not the table. All randomness comes from the player's own stream.

use cambio_core::engine::Motion;
use cambio_core::rng::{Bounded as _, Stream};
use cambio_core::rules::SPOTS;
use cambio_core::{Briefing, Card, Event, Seat, SeatSet, Sighting, Spot, SpotSet};

use crate::card_model::CardModel;
use crate::params;

params! {
    /// How a player forgets: four models, which may be combined. If all are off, memory is perfect.
    ///
    /// - `decay` (geometric): at each of its turns the player forgets each card with this probability.
    /// - `capacity`: the player remembers at most this many cards. When it sees another one, it forgets the least recently
    ///   seen card.
    /// - `threshold` (activation; ACT-R, Anderson and Lebiere 1998, base-level learning with decay ½): a sighting t
    ///   turns of the player ago adds 1/√t to a card's activation A. At each turn the player recalls the card with
    ///   probability A²/(A² + T²), where T is the threshold (the logistic rule with noise ½), or forgets it.
    /// - `confusion`: after a swap in a layout, the player confuses each pair of neighbours in the layout with this
    ///   probability.
    pub struct MemoryParams {
        /// Memory: the probability of forgetting each known card at each turn of the player.
        decay: Option<f64> in 0.0..=1.0,
        /// Memory: the maximum number of remembered cards.
        capacity: Option<u8> in 0..=128,
        /// Memory: the ACT-R activation at which a card is recalled with probability 1/2.
        threshold: Option<f64> in 0.0..=100.0,
        /// Memory: the probability of confusing two neighbouring cards in a layout after a swap in that layout.
        confusion: Option<f64> in 0.0..=1.0,
    }
}

impl MemoryParams {
    /// Whether a memory with these parameters draws random numbers.
    pub(crate) fn draws(&self) -> bool {
        [self.decay, self.threshold, self.confusion].iter().any(Option::is_some)
    }
}

const SCALE: u32 = 1 << 30;

/// One remembered card.
#[derive(Clone, Copy, Debug)]
struct RememberedCard {
    card: Card,
    /// The player's turns in which the card was seen, the latest first.
    seen: [u16; 4],
    sightings: u8,
    /// The memory's clock at the last sighting.
    last: u32,
}

/// The cards that a player remembers, by spot.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    params: MemoryParams,
    seat: Seat,
    stream: Stream,
    traces: [Option<RememberedCard>; SPOTS],
    known: SpotSet,
    held: Option<Card>,
    turns: u16,
    clock: u32,
    lapses: u32,
}

impl Memory {
    /// An empty memory. Its random stream is a fork of the briefing's stream.
    pub(crate) fn new(params: MemoryParams, briefing: &Briefing<'_>) -> Memory {
        Memory {
            params,
            seat: briefing.seat,
            stream: briefing.stream.clone().fork(),
            traces: [None; SPOTS],
            known: SpotSet::EMPTY,
            held: None,
            turns: 0,
            clock: 0,
            lapses: 0,
        }
    }

    /// The seat to which the memory belongs.
    pub(crate) fn seat(&self) -> Seat {
        self.seat
    }

    /// How many cards the player has forgotten or confused in this match.
    pub(crate) fn lapses(&self) -> u32 {
        self.lapses
    }

    /// Updates the memory with a sighting of the player.
    pub(crate) fn notice(&mut self, sighting: &Sighting) {
        if let Event::TurnBegan { seat } = *sighting
            && seat == self.seat
        {
            self.turns += 1;
            self.forget();
        }
        match sighting.motion() {
            Motion::Dealt { .. } => {
                self.traces = [None; SPOTS];
                self.known = SpotSet::EMPTY;
                self.held = None;
                self.turns = 0;
            }
            Motion::Seen { spot, face: Some(card), .. } | Motion::Shown { spot, card } => self.see(spot, card),
            Motion::Drawn { face, .. } => self.held = face,
            Motion::Taken { card } => self.held = Some(card),
            Motion::Dropped { .. } => self.held = None,
            Motion::Kept { spot, .. } => {
                self.set(spot, None);
                if let Some(card) = self.held.take() {
                    self.see(spot, card);
                }
            }
            Motion::Discarded { spot, .. } => self.set(spot, None),
            Motion::Exchanged { one, other } => {
                let (first, second) = (self.traces[one.index()], self.traces[other.index()]);
                self.set(one, second);
                self.set(other, first);
                for seat in [one.seat(), other.seat()].into_iter().collect::<SeatSet>().iter_from(self.seat) {
                    self.confuse(seat);
                }
            }
            Motion::Moved { from, to } => {
                let trace = self.traces[from.index()];
                self.set(to, trace);
                self.set(from, None);
            }
            Motion::Seen { face: None, .. }
            | Motion::Flipped { .. }
            | Motion::Added { .. }
            | Motion::Reshuffled { .. }
            | Motion::Nothing => {}
        }
    }

    fn set(&mut self, spot: Spot, trace: Option<RememberedCard>) {
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
        let trace = RememberedCard { card, seen, sightings: (sightings + 1).min(4), last: self.clock };
        self.set(spot, Some(trace));
        if let Some(capacity) = self.params.capacity {
            while self.known.len() > capacity.into() {
                let oldest = self
                    .known
                    .iter_from(self.seat)
                    .min_by_key(|spot| self.traces[spot.index()].map(|trace| trace.last));
                self.lose(oldest.expect("more cards are remembered than the capacity"));
            }
        }
    }

    fn lose(&mut self, spot: Spot) {
        self.set(spot, None);
        self.lapses += 1;
    }

    fn bernoulli(&mut self, probability: f64) -> bool {
        let scaled = (probability.clamp(0.0, 1.0) * f64::from(SCALE)).round() as u32;
        self.stream.chance(scaled, SCALE)
    }

    fn forget(&mut self) {
        for spot in self.known.iter_from(self.seat) {
            if let Some(decay) = self.params.decay
                && self.bernoulli(decay)
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
                if !self.bernoulli(squared / (squared + threshold * threshold)) {
                    self.lose(spot);
                }
            }
        }
    }

    /// Swaps remembered neighbours of a layout, each pair with the probability `confusion`.
    fn confuse(&mut self, seat: Seat) {
        let Some(confusion) = self.params.confusion else { return };
        let own = self.known.intersection(SpotSet::of_seat(seat));
        for spot in own.iter_from(seat) {
            let Some(next) = Spot::new(seat, spot.number() + 1).filter(|next| own.contains(*next)) else { continue };
            if self.bernoulli(confusion) {
                let (one, other) = (self.traces[spot.index()], self.traces[next.index()]);
                self.set(spot, other);
                self.set(next, one);
                self.lapses += 1;
            }
        }
    }
}

impl CardModel for Memory {
    /// The card that the player remembers in this spot. After a confusion, this may be a wrong card.
    fn face(&self, spot: Spot) -> Option<Card> {
        self.traces[spot.index()].map(|trace| trace.card)
    }

    /// The spots whose cards the player remembers.
    fn known(&self) -> SpotSet {
        self.known
    }
}

#[cfg(test)]
mod tests {
    use cambio_core::Rules;
    use cambio_core::rng::Key;

    use super::*;

    #[test]
    fn the_least_recently_seen_card_is_forgotten() {
        let rules = Rules::preset("classic").unwrap();
        let stream = Key::new(1, 0).agent(Seat::A);
        let briefing = Briefing { rules: &rules, seats: 2, seat: Seat::A, stream: &stream };
        let one_card = MemoryParams { capacity: Some(1), ..MemoryParams::default() };
        let mut memory = Memory::new(one_card, &briefing);
        let (first, second) = ("a1".parse().unwrap(), "a2".parse().unwrap());
        for spot in [first, second] {
            memory.notice(&Event::Peeked { seat: Seat::A, spot, face: Card::new(5) });
        }
        assert_eq!((memory.face(first), memory.face(second)), (None, Card::new(5)));
        assert_eq!(memory.lapses(), 1);
    }
}
