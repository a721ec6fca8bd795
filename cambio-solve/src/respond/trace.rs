//! The sightings of one seat in a round, from which the deck order and past decisions are reconstructed.

use cambio_core::engine::{Chance, Motion, OnTable, RaceOrder, SnapRace};
use cambio_core::rng::{Bounded as _, Stream};
use cambio_core::{Action, Card, Event, Phase, Rules, Seat, SeatSet, Sighting, Spot, State};

use crate::walk::SEATS;

/// A seat's sightings, and the position in the deck of each card on the table.
#[derive(Clone)]
pub(super) struct RoundTrace {
    pub(super) sightings: Vec<Sighting>,
    /// The faces of the cards that have left the stock, in deck order; `None` if unknown.
    faces: Vec<Option<Card>>,
    /// The index in `faces` of each card on the table. A card taken from the pile has no index.
    indices: OnTable<Option<u16>>,
    /// Whether the deck order can no longer be reconstructed.
    pub(super) lost: bool,
}

impl Default for RoundTrace {
    fn default() -> RoundTrace {
        RoundTrace { sightings: Vec::new(), faces: Vec::new(), indices: OnTable::new(None), lost: false }
    }
}

impl RoundTrace {
    fn deal(&mut self, rules: &Rules, starter: Seat, extra: SeatSet) {
        *self = RoundTrace { lost: !extra.is_empty(), ..RoundTrace::default() };
        for slot in 1..=rules.spec().hand.count() {
            for spot in starter.round(SEATS).filter_map(|seat| Spot::new(seat, slot)) {
                let index = self.leave_stock(None);
                self.indices.set(spot, index);
            }
        }
    }

    /// Adds the next card of the deck, and returns its index.
    fn leave_stock(&mut self, face: Option<Card>) -> Option<u16> {
        self.faces.push(face);
        Some(self.faces.len() as u16 - 1)
    }

    pub(super) fn notice(&mut self, sighting: Sighting, rules: &Rules) {
        let motion = sighting.motion();
        if let Some((place, card)) = motion.seen_face()
            && let Some(index) = self.indices.at(place)
        {
            self.faces[usize::from(index)] = Some(card);
        }
        let new = match motion {
            Motion::Flipped { card } => self.leave_stock(Some(card)),
            Motion::Drawn { face, .. } => self.leave_stock(face),
            Motion::Added { .. } => self.leave_stock(None),
            _ => None,
        };
        self.indices.follow(&motion, new);
        match motion {
            Motion::Dealt { starter, extra } => self.deal(rules, starter, extra),
            Motion::Reshuffled { .. } => self.lost = true,
            _ => {}
        }
        self.sightings.push(sighting);
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
    fn race(&self, at: usize, race: &SnapRace<'_>) -> Option<RaceOrder> {
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

    fn race(&mut self, race: &SnapRace<'_>) -> RaceOrder {
        self.trace.race(self.at, race).unwrap_or_else(|| race.draw(self.stream))
    }
}
