//! The decisions of the other seats, and the view that each seat had: the evidence about their cards.

use std::collections::VecDeque;

use cambio_core::engine::{CardSource, Motion, OnTable};
use cambio_core::rules::SPOTS;
use cambio_core::{Action, Card, Event, Phase, Rules, Seat, Sighting, Spot, SpotSet, Table, View};

use crate::policy::PublicHistory;

/// The maximum number of decisions that are kept: the latest ones of the other seats.
pub(super) const MAX_DECISIONS: usize = 64;

/// The number of each card of a round, which the card keeps when it moves.
type CardNumbers = OnTable<u16>;

/// Tracks the cards of one round.
#[derive(Clone, Debug)]
pub(super) struct TrackedCards {
    numbers: CardNumbers,
    /// The faces that the searching seat knows, by card number.
    faces: Vec<Option<Card>>,
}

impl TrackedCards {
    /// The cards after a deal, each with the number of its spot.
    fn new() -> TrackedCards {
        let mut numbers = CardNumbers::new(0);
        let spots = Seat::ALL.into_iter().flat_map(|seat| SpotSet::of_seat(seat).iter_of(seat));
        spots.for_each(|spot| numbers.set(spot, spot.index() as u16));
        TrackedCards { numbers, faces: vec![None; SPOTS] }
    }

    /// The number of the card in this spot.
    pub(super) fn at(&self, spot: Spot) -> u16 {
        self.numbers.at(Some(spot))
    }

    /// The known faces, by card number.
    pub(super) fn faces(&self) -> &[Option<Card>] {
        &self.faces
    }

    fn notice(&mut self, sighting: &Sighting) {
        let motion = sighting.motion();
        if let Some((place, card)) = motion.seen_face() {
            self.faces[usize::from(self.numbers.at(place))] = Some(card);
        }
        let new = self.faces.len() as u16;
        match motion {
            Motion::Dealt { .. } => return *self = TrackedCards::new(),
            Motion::Drawn { face, .. } => self.faces.push(face),
            Motion::Taken { card } => self.faces.push(Some(card)),
            Motion::Added { .. } => self.faces.push(None),
            _ => {}
        }
        self.numbers.follow(&motion, new);
    }
}

/// A decision of another seat, and the table before the decision.
#[derive(Clone, Debug)]
pub(super) struct RecordedDecision<Q> {
    table: Table,
    /// The public history of the round before the decision.
    pub(super) past: Q,
    numbers: CardNumbers,
    pub(super) seat: Seat,
    pub(super) action: Action,
}

impl<Q> RecordedDecision<Q> {
    /// The numbers of the cards that the seat knew.
    pub(super) fn known(&self) -> impl Iterator<Item = u16> + '_ {
        let held = self.held_from_stock().then_some(None);
        self.table.seen(self.seat).iter_from(self.seat).map(Some).chain(held).map(|place| self.numbers.at(place))
    }

    pub(super) fn rules(&self) -> &Rules {
        self.table.rules()
    }

    fn held_from_stock(&self) -> bool {
        self.table.turn() == self.seat && self.table.phase() == Phase::Held(CardSource::Stock)
    }

    /// The seat's view if these are the faces of the cards, by card number.
    pub(super) fn in_world<'m>(&'m self, faces: &'m [Option<Card>]) -> HypotheticalView<'m, Q> {
        HypotheticalView { decision: self, faces }
    }
}

/// A hypothetical view: the view that another seat had if these are the faces of the cards.
#[derive(Debug)]
pub(super) struct HypotheticalView<'m, Q> {
    decision: &'m RecordedDecision<Q>,
    faces: &'m [Option<Card>],
}

impl<Q> View for HypotheticalView<'_, Q> {
    fn table(&self) -> &Table {
        &self.decision.table
    }

    fn seat(&self) -> Seat {
        self.decision.seat
    }

    fn face(&self, spot: Spot) -> Option<Card> {
        let has_seen = self.decision.table.seen(self.decision.seat).contains(spot);
        if has_seen { self.faces[usize::from(self.decision.numbers.at(Some(spot)))] } else { None }
    }

    fn held(&self) -> Option<Card> {
        match self.decision.table.phase() {
            Phase::Held(CardSource::Pile(card)) => Some(card),
            _ if self.decision.held_from_stock() => self.faces[usize::from(self.decision.numbers.at(None))],
            _ => None,
        }
    }
}

/// Collects the decisions of the other seats in a round.
#[derive(Clone, Debug)]
pub(super) struct DecisionLog<Q> {
    pub(super) cards: TrackedCards,
    /// The public history of the round.
    pub(super) past: Q,
    /// The pending decisions: several in a snap window, otherwise at most one.
    asked: Vec<RecordedDecision<Q>>,
    decided: VecDeque<RecordedDecision<Q>>,
}

impl<Q: PublicHistory> DecisionLog<Q> {
    pub(super) fn new(past: Q) -> DecisionLog<Q> {
        DecisionLog { cards: TrackedCards::new(), past, asked: Vec::new(), decided: VecDeque::new() }
    }

    /// The decisions so far, the oldest first; at most [`MAX_DECISIONS`].
    pub(super) fn decided(&self) -> &VecDeque<RecordedDecision<Q>> {
        &self.decided
    }

    /// Adds the table as it is before another seat decides.
    pub(super) fn spectate(&mut self, table: &Table) {
        let Some(seat) = table.asked() else { return };
        if table.phase() != Phase::Window {
            self.settle();
        }
        // A seat that causes no event in a window has passed.
        self.asked.push(RecordedDecision {
            table: *table,
            past: self.past.clone(),
            numbers: self.cards.numbers,
            seat,
            action: Action::Pass,
        });
    }

    /// Adds a sighting of the searching seat.
    pub(super) fn notice(&mut self, sighting: &Sighting) {
        self.hear(sighting);
        if let Event::Dealt { .. } = sighting {
            self.decided.clear();
            self.asked.clear();
        }
        self.cards.notice(sighting);
        self.past.notice(sighting);
    }

    fn hear(&mut self, sighting: &Sighting) {
        match *sighting {
            // A reshuffle comes before the event that needs the new stock.
            Event::Reshuffled { .. } => {}
            _ if self.is_window() => match *sighting {
                Event::Snapped { seat, spot, .. } => {
                    if let Some(decision) = self.asked.iter_mut().find(|decision| decision.seat == seat) {
                        decision.action = Action::Snap(spot);
                    }
                }
                // No evidence: an aborted snap does not show the card, and a touch is not about a known card.
                Event::Aborted { seat } | Event::Touched { seat, .. } => {
                    self.asked.retain(|decision| decision.seat != seat);
                }
                Event::Penalised { .. } | Event::PenaltyWaived { .. } | Event::BecameSafe { .. } => {}
                _ => self.settle(),
            },
            _ => {
                self.asked.retain_mut(|decision| {
                    let decided = decision.table.implied(sighting);
                    decision.action = decided.unwrap_or(decision.action);
                    decided.is_some()
                });
                self.settle();
            }
        }
    }

    fn is_window(&self) -> bool {
        self.asked.first().is_some_and(|decision| decision.table.phase() == Phase::Window)
    }

    /// Moves the pending decisions to the list of decisions, and keeps the latest [`MAX_DECISIONS`].
    fn settle(&mut self) {
        self.decided.extend(self.asked.drain(..));
        let over = self.decided.len().saturating_sub(MAX_DECISIONS);
        self.decided.drain(..over);
    }
}
