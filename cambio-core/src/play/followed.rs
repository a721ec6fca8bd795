//! A round as one seat follows it, from its sightings alone.

use std::collections::VecDeque;

use crate::engine::chance::{Chance, RaceOrder, SnapRace};
use crate::engine::motion::Motion;
use crate::engine::observation::OwnedObservation;
use crate::engine::state::{DealError, Declared, Order, Setup, State};
use crate::play::RoundResult;
use crate::play::agent::Notice;
use crate::rules::knob::Cap;
use crate::rules::seat::SpotSet;
use crate::{Action, Card, Event, Phase, Rules, RulesSpec, Seat, Sighting, Table};

/// A round that one seat follows from its sightings: for programs that play over a network, such as bots.
///
/// [`hear`](FollowedRound::hear) adds a sighting. [`advance`](FollowedRound::advance) continues to the seat's next decision, and
/// [`observation`](FollowedRound::observation) is then what the seat observes in the real round. After the last decision,
/// `advance` continues to the end of the round.
///
/// The engine plays the round again. Each card that the seat has not seen is any card until a sighting shows it, and the decisions
/// of the other seats follow from their events.
///
/// There is one exception: with `call = "instead_of_turn"` and `cap = "feasible(…)"`, a round can end because a seat has no card to
/// draw and may not call. If another seat cannot know this, the end of the round is a [`ContradictionError`].
///
/// ```
/// use cambio_core::{Deal, Phase, Playing, Rules, Seat, play::{FollowedRound, RoundLog}, rng::Key};
///
/// let mut log = RoundLog::default();
/// let deal = Deal::new(&Rules::preset("classic").unwrap(), Key::new(42, 0));
/// let mut playing = Playing::observed(deal, 2, &mut log).unwrap();
/// let mut followed = FollowedRound::new(&playing.standing().setup, Seat::B).unwrap();
/// playing.act_observed("draw".parse().unwrap(), &mut log).unwrap();
/// playing.act_observed("keep a1".parse().unwrap(), &mut log).unwrap();
/// playing.act_observed("pass".parse().unwrap(), &mut log).unwrap();
///
/// log.sightings(Seat::B).for_each(|sighting| followed.hear(sighting));
/// followed.advance(Phase::Window.word(), &mut |_| ()).unwrap();
/// assert_eq!(followed.observation().observation(), playing.turn().unwrap().view);
/// ```
#[derive(Clone, Debug)]
pub struct FollowedRound {
    seat: Seat,
    rules: Rules,
    state: State,
    /// The sightings that the state does not contain yet.
    heard: VecDeque<Sighting>,
    answer: Option<Action>,
}

/// The error for sightings that are not from a round under these rules, or not in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the events are not from a round under these rules, or an event is missing")]
pub struct ContradictionError;

impl FollowedRound {
    /// The round with this setup, as a seat follows it.
    ///
    /// # Errors
    /// If the rules do not allow the number of seats, or the starter is not at the table.
    pub fn new(setup: &Setup, seat: Seat) -> Result<FollowedRound, DealError> {
        setup.check()?;
        let spec = setup.rules.spec();
        // Whether the other seats may snap or call can depend on cards that this seat does not know.
        let cap = if matches!(spec.cap, Cap::Feasible(_)) { Cap::None } else { spec.cap };
        let rules = RulesSpec { cap, snap_known_only: false, ..spec.clone() }.validate()?;
        let state = State::empty(&Setup { rules, ..*setup }, Order::Dealt);
        Ok(FollowedRound { seat, rules: setup.rules, state, heard: VecDeque::new(), answer: None })
    }

    /// Adds the next sighting of the seat.
    pub fn hear(&mut self, sighting: Sighting) {
        self.heard.push_back(sighting);
    }

    /// Adds the decision of the seat that is due.
    pub fn decide(&mut self, action: Action) {
        self.answer = Some(action);
    }

    /// Continues to the seat's decision in the phase with this word, or with `over` to the end of the round. Calls `notice` with
    /// the notices of an agent in the seat, as a [`Referee`](crate::Referee) does.
    ///
    /// # Errors
    /// If the sightings contradict the rules. The round cannot be continued.
    pub fn advance(&mut self, phase: &str, notice: &mut dyn FnMut(Notice<'_>)) -> Result<(), ContradictionError> {
        loop {
            let Table { phase: due, asked, .. } = self.state.table;
            let is_due = due.word() == phase && asked.is_none_or(|asked| asked == self.seat);
            if is_due && self.heard.is_empty() && self.answer.is_none() {
                return Ok(());
            }
            self.step(notice).ok_or(ContradictionError)?;
            if self.state.table.asked.is_some_and(|asked| asked != self.seat) {
                notice(Notice::Table(&self.table()));
            }
        }
    }

    /// What the seat observes at its decision.
    pub fn observation(&self) -> OwnedObservation {
        OwnedObservation { table: self.table(), private: self.state.observe(self.seat).private }
    }

    /// The result of the round; `None` if it is not over.
    pub fn result(&self) -> Option<RoundResult> {
        RoundResult::of(&self.state)
    }

    fn table(&self) -> Table {
        Table { rules: self.rules, ..self.state.table }
    }

    /// Deals, carries out the decision that is due, or turns the cards up.
    fn step(&mut self, notice: &mut dyn FnMut(Notice<'_>)) -> Option<()> {
        self.foresee();
        let answer = self.answer.take();
        let FollowedRound { state, heard, .. } = self;
        let mut events = Vec::new();
        let mut chance = HeardChance(heard);
        let mut shown = heard.iter().filter_map(|sighting| match *sighting {
            Event::Shown { spot, .. } => Some(spot),
            _ => None,
        });
        let next = heard.iter().find(|next| !matches!(next, Event::Reshuffled { .. } | Event::Aborted { .. }));
        let action = match (state.table.phase, next) {
            (Phase::Over, Some(Event::Dealt { .. })) => {
                let flipped = heard.iter().find_map(|sighting| match *sighting {
                    Event::Flipped { card } => Some(card),
                    _ => None,
                });
                let deck = state.table.rules.deck();
                state.begin(&vec![flipped.unwrap_or(deck[0]); deck.len()], &mut chance, &mut events);
                return self.perceive(&events, notice);
            }
            (Phase::Over, next) => {
                let Event::TurnedUp { spot, card } = **next.as_ref()? else { return None };
                return self.perceive(&[Event::TurnedUp { spot, card }], notice);
            }
            (Phase::Chain, Some(&Event::Snapped { seat, spot, .. })) if Some(seat) == state.table.asked => {
                Action::Snap(spot)
            }
            (Phase::Window | Phase::Chain, _) => Action::Pass,
            (Phase::Show, Some(Event::Shown { .. })) if answer.is_none() => {
                Action::Show(shown.find(|spot| Some(spot.seat()) == state.table.next_shown())?)
            }
            (Phase::Show, _) if answer.is_some() => answer?,
            (_, next) => state.table.implied(next?)?,
        };
        state.apply(action, &mut chance, &mut events).ok()?;
        self.perceive(&events, notice)
    }

    /// Puts the cards that the next events show in their places, and the declarations of a snap window.
    fn foresee(&mut self) {
        let State { table, hidden } = &mut self.state;
        let mut declares = table.phase == Phase::Window;
        let mut shown = SpotSet::EMPTY;
        for sighting in &self.heard {
            match *sighting {
                Event::Touched { seat, spot } if declares => {
                    hidden.touchers.insert(seat);
                    hidden.declared[seat.index()] = Some(Declared::Touch(spot));
                }
                // A second snap of the same seat is in a chain.
                Event::Snapped { seat, spot, .. } if declares && !hidden.snappers.contains(seat) => {
                    hidden.snappers.insert(seat);
                    hidden.declared[seat.index()] = Some(Declared::Snap(spot));
                }
                Event::Snapped { .. }
                | Event::Aborted { .. }
                | Event::Penalised { .. }
                | Event::PenaltyWaived { .. }
                | Event::Reshuffled { .. } => {}
                _ => declares = false,
            }
            match sighting.motion() {
                Motion::Shown { spot, card }
                | Motion::Discarded { spot, card }
                | Motion::Kept { spot, replaced: card }
                    if !shown.contains(spot) =>
                {
                    shown.insert(spot);
                    hidden.faces[spot.index()] = Some(card);
                }
                Motion::Dropped { card } => hidden.held = Some(card),
                Motion::Flipped { card } => {
                    hidden.stock[..usize::from(hidden.pool_len)].last_mut().into_iter().for_each(|top| *top = card);
                }
                _ => {}
            }
            // After these events, other cards may lie in the places.
            match sighting.motion() {
                Motion::Kept { .. }
                | Motion::Dropped { .. }
                | Motion::Flipped { .. }
                | Motion::Drawn { .. }
                | Motion::Taken { .. }
                | Motion::Exchanged { .. }
                | Motion::Moved { .. } => return,
                _ => {}
            }
        }
    }

    /// Compares the events of a step with the next sightings, and passes the sightings on.
    fn perceive(&mut self, events: &[Event<Card>], notice: &mut dyn FnMut(Notice<'_>)) -> Option<()> {
        let mut events = events.iter();
        while let Some(&sighting) = self.heard.front() {
            // The seat that was too late has no other event, so that the engine does not know its snap.
            if !matches!(sighting, Event::Aborted { .. }) {
                let Some(event) = events.next() else { break };
                (sighting.map(|seat| seat, |spot| spot, |_, _| None) == event.public()).then_some(())?;
            }
            match sighting.motion() {
                Motion::Seen { spot, face: Some(card), .. } => self.state.hidden.faces[spot.index()] = Some(card),
                Motion::Drawn { face: Some(card), .. } => self.state.hidden.held = Some(card),
                _ => {}
            }
            self.heard.pop_front();
            notice(Notice::Event(&sighting));
        }
        events.next().is_none().then_some(())
    }
}

/// The outcomes of chance in the sightings of a seat.
struct HeardChance<'h>(&'h VecDeque<Sighting>);

impl Chance for HeardChance<'_> {
    /// The sightings show the cards at the end of a round.
    fn settles(&self) -> bool {
        false
    }

    fn draw(&mut self, _: &[Card]) -> usize {
        0
    }

    /// The order of a stock does not matter until a card of it is seen.
    fn shuffle(&mut self, _: &mut [Card]) {}

    fn race(&mut self, race: &SnapRace<'_>) -> RaceOrder {
        race.by(RaceOrder::new(self.0.iter().filter_map(|sighting| match *sighting {
            Event::Snapped { seat, .. } => Some(seat),
            _ => None,
        })))
    }
}
