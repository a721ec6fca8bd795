//! The sightings of one seat in a round, from which the deck order and past decisions are reconstructed.

use cambio_core::engine::{Chance, Motion, Race, RaceOrder};
use cambio_core::rng::{Bounded as _, Stream};
use cambio_core::{Action, Card, Event, Phase, Rules, Seat, SeatSet, Sighting, Spot, State};

use crate::walk::SEATS;

/// A seat's sightings, and the position in the deck of each card on the table.
#[derive(Clone, Default)]
pub(super) struct RoundTrace {
    pub(super) sightings: Vec<Sighting>,
    /// The faces of the cards that have left the stock, in deck order; `None` if unknown.
    faces: Vec<Option<Card>>,
    /// The index in `faces` of the card in each spot. A card taken from the pile has no index.
    places: Vec<(Spot, usize)>,
    held: Option<usize>,
    /// Whether the deck order can no longer be reconstructed.
    pub(super) lost: bool,
}

impl RoundTrace {
    fn deal(&mut self, rules: &Rules, starter: Seat, extra: SeatSet) {
        *self = RoundTrace { lost: !extra.is_empty(), ..RoundTrace::default() };
        for slot in 1..=rules.spec().hand.count() {
            for seat in starter.round(SEATS) {
                self.places.extend(Spot::new(seat, slot).map(|spot| (spot, self.faces.len())));
                self.faces.push(None);
            }
        }
    }

    fn lift(&mut self, spot: Spot) -> Option<usize> {
        let at = self.places.iter().position(|(other, _)| *other == spot)?;
        Some(self.places.swap_remove(at).1)
    }

    fn learn(&mut self, spot: Spot, card: Card) {
        if let Some(&(_, number)) = self.places.iter().find(|(other, _)| *other == spot) {
            self.faces[number] = Some(card);
        }
    }

    pub(super) fn notice(&mut self, sighting: Sighting, rules: &Rules) {
        match sighting.motion() {
            Motion::Dealt { starter, extra } => self.deal(rules, starter, extra),
            Motion::Seen { spot, face: Some(card), .. } | Motion::Shown { spot, card } => self.learn(spot, card),
            Motion::Flipped { card } => self.faces.push(Some(card)),
            Motion::Drawn { face, .. } => {
                self.held = Some(self.faces.len());
                self.faces.push(face);
            }
            Motion::Taken { .. } => self.held = None,
            Motion::Dropped { card } => {
                if let Some(number) = self.held.take() {
                    self.faces[number] = Some(card);
                }
            }
            Motion::Kept { spot, replaced } => {
                self.discard(spot, replaced);
                self.places.extend(self.held.take().map(|number| (spot, number)));
            }
            Motion::Discarded { spot, card } => self.discard(spot, card),
            Motion::Exchanged { one, other } => {
                let (first, second) = (self.lift(one), self.lift(other));
                self.places.extend(first.map(|number| (other, number)));
                self.places.extend(second.map(|number| (one, number)));
            }
            Motion::Moved { from, to } => {
                let number = self.lift(from);
                self.places.extend(number.map(|number| (to, number)));
            }
            Motion::Added { spot } => {
                self.places.push((spot, self.faces.len()));
                self.faces.push(None);
            }
            Motion::Reshuffled { .. } => self.lost = true,
            Motion::Seen { face: None, .. } | Motion::Nothing => {}
        }
        self.sightings.push(sighting);
    }

    fn discard(&mut self, spot: Spot, card: Card) {
        self.learn(spot, card);
        self.lift(spot);
    }

    /// A random deck, uniform among the decks that agree with the sightings.
    pub(super) fn deck(&self, rules: &Rules, stream: &mut Stream) -> Vec<Card> {
        let mut unseen = rules.deck().to_vec();
        for face in self.faces.iter().flatten() {
            if let Some(at) = unseen.iter().position(|card| card == face) {
                unseen.swap_remove(at);
            }
        }
        stream.shuffle(&mut unseen);
        let mut rest = unseen.into_iter();
        let mut deck: Vec<Card> = self.faces.iter().filter_map(|face| face.or_else(|| rest.next())).collect();
        deck.extend(rest);
        deck
    }

    /// The decision of `seat` that explains the sightings from `at` on; `None` if there are not enough sightings.
    pub(super) fn decision(&self, state: &State, seat: Seat, at: usize) -> Option<Action> {
        match state.table().phase() {
            Phase::Window | Phase::Chain => self.declared(state, seat, at),
            _ => state.table().implied(self.sightings.get(at)?),
        }
    }

    /// The declaration of a seat in a window. A void snap causes no event, so it is treated as a pass.
    fn declared(&self, state: &State, seat: Seat, at: usize) -> Option<Action> {
        for sighting in &self.sightings[at.min(self.sightings.len())..] {
            match *sighting {
                Event::Snapped { seat: who, spot, .. } if who == seat => return Some(Action::Snap(spot)),
                Event::Touched { seat: who, spot } if who == seat => return Some(Action::Touch(spot)),
                Event::Aborted { seat: who } if who == seat => {
                    return state.choices().iter().find(|choice| matches!(choice, Action::Snap(_)));
                }
                Event::Snapped { .. }
                | Event::Touched { .. }
                | Event::Aborted { .. }
                | Event::Penalised { .. }
                | Event::PenaltyWaived { .. } => {}
                _ => return Some(Action::Pass),
            }
        }
        None
    }

    /// The observed order of the next race.
    fn race(&self, at: usize, race: &Race<'_>) -> Option<RaceOrder> {
        let first = self.sightings[at.min(self.sightings.len())..].iter().find_map(|sighting| match *sighting {
            Event::Snapped { seat, .. } | Event::Aborted { seat } => Some(seat),
            _ => None,
        })?;
        let rest = race.snappers.iter_from(first).filter(move |&seat| seat != first);
        race.snappers.contains(first).then(|| RaceOrder::new(std::iter::once(first).chain(rest)))
    }
}

/// Chance for a replayed deal: observed race orders first, then a random stream.
pub(super) struct ReplayedChance<'t> {
    pub(super) trace: &'t RoundTrace,
    pub(super) at: usize,
    pub(super) stream: &'t mut Stream,
}

impl Chance for ReplayedChance<'_> {
    fn draw(&mut self, _: &[Card]) -> usize {
        unreachable!("the deck is dealt")
    }

    fn shuffle(&mut self, stock: &mut [Card]) {
        self.stream.shuffle(stock);
    }

    fn race(&mut self, race: &Race<'_>) -> RaceOrder {
        self.trace.race(self.at, race).unwrap_or_else(|| race.draw(self.stream))
    }
}
