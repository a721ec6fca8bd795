//! Explanations: the candidates that an agent considers at a decision, in a session or in a record.

use cambio_agents::AgentSpec;
use cambio_core::play::{ConsideredAction, Explanation, MatchError, RoundResult};
use cambio_core::rng::{Key, Seed};
use cambio_core::{
    Action, Agent, Briefing, Card, Event, Observer, Players, Record, Referee, Seat, Standing, State, replay,
};
use serde::Serialize;

use crate::card_probabilities::{BeliefTracker, CardProbabilities};
use crate::config::SessionConfig;
use crate::session::{STOPPED, SessionError, no_decision};

/// A candidate decision with its value.
#[derive(Serialize, Clone, Debug)]
struct ConsideredView {
    action: String,
    value: f64,
    /// Half the width of the 95 % interval of the value.
    half: Option<f64>,
    visits: Option<u32>,
}

/// The unit of the values, and the candidates: the most visited first, or without visits the most valuable first.
fn view_of(explanation: Option<&Explanation>) -> (Option<&'static str>, Vec<ConsideredView>) {
    let view = |one: &ConsideredAction| ConsideredView {
        action: one.action.to_string(),
        value: one.value,
        half: one.error.map(|error| 1.96 * error),
        visits: one.visits,
    };
    let mut considered: Vec<ConsideredView> =
        explanation.into_iter().flat_map(|explanation| &explanation.considered).map(view).collect();
    considered.sort_by(|one, other| other.visits.cmp(&one.visits).then(other.value.total_cmp(&one.value)));
    (explanation.map(|explanation| explanation.unit), considered)
}

/// The decision of an agent in a person's place, and the candidates that it considered.
#[derive(Serialize, Clone, Debug)]
pub struct Hint {
    agent: String,
    /// The decision.
    pub action: String,
    unit: Option<&'static str>,
    considered: Vec<ConsideredView>,
}

/// Asks an agent to decide in the person's place. The hint contains the decision and, if the agent can explain itself,
/// the candidates that it compared. The agent receives only the events that the person has seen. The agent also decides
/// at each earlier decision of the person, so that its random stream has the same position as in a match.
///
/// The computation stops between two decisions when `goes_on` returns false.
///
/// # Errors
/// If it is not the person's turn to decide, the agent fails, or the computation is stopped.
///
/// # Panics
/// If the agent panics.
pub fn hint(
    config: &SessionConfig,
    actions: &[Action],
    adviser: &AgentSpec,
    goes_on: &dyn Fn() -> bool,
) -> Result<Hint, SessionError> {
    let failed = |error: MatchError| {
        SessionError(match error {
            MatchError::Fault(fault) => format!("{adviser} suggests `{}`, which is illegal", fault.action),
            MatchError::Failed(failure) => format!("{adviser} failed: {}", failure.error),
            other => other.to_string(),
        })
    };
    let (person, seats) = (config.person, config.opponents.len() + 1);
    let players = Players::only(adviser.make(), person, seats);
    let mut referee = Referee::new(config.deal.clone(), players, ()).map_err(failed)?;
    for &action in actions {
        if !goes_on() {
            return Err(SessionError(STOPPED.to_owned()));
        }
        referee.ask().map_err(failed)?;
        referee.act(action).map_err(|illegal| SessionError(illegal.to_string()))?;
    }
    let action = referee.ask().map_err(failed)?;
    let action = action.ok_or_else(|| SessionError("it is not your turn to decide".to_owned()))?;
    let turn = referee.turn().expect("an agent was asked");
    let explanation = referee.players().agent(person).and_then(|agent| agent.explain(&turn.view, action));
    let (unit, considered) = view_of(explanation.as_ref());
    Ok(Hint { agent: adviser.to_string(), action: action.to_string(), unit, considered })
}

/// The decision of an agent in the place of a seat, with its candidates and beliefs.
#[derive(Serialize, Clone, Debug)]
pub struct InquiryResult {
    agent: String,
    seat: char,
    /// The decision of the agent.
    pub decided: String,
    /// The decision in the match.
    pub played: String,
    unit: Option<&'static str>,
    considered: Vec<ConsideredView>,
    beliefs: CardProbabilities,
}

/// An agent in the place of a seat: it receives the seat's sightings and decides whenever the seat decided, but the
/// recorded decisions are carried out.
struct Inquiry<'a> {
    agent: &'a AgentSpec,
    goes_on: &'a dyn Fn() -> bool,
    seat: Seat,
    key: Key,
    round: usize,
    decision: usize,
    /// The current position: the number of rounds that have begun, and of decisions in this round.
    at: (usize, usize),
    /// The agent and the tracker of the seat's beliefs, from the first round on.
    seated: Option<(Players<Box<dyn Agent>>, BeliefTracker)>,
    /// The result, once there is one.
    found: Option<Result<InquiryResult, String>>,
}

impl Inquiry<'_> {
    fn begin(&mut self, standing: &Standing<'_>) -> Result<(), String> {
        let (rules, seats, seat) = (&standing.setup.rules, standing.setup.seats, self.seat);
        if seat.index() >= seats {
            // The record has an invalid seat, which the replay reports.
            return Ok(());
        }
        let briefing = Briefing { rules, seats, seat, stream: &self.key.agent(seat) };
        let mut players = Players::only(self.agent.make(), seat, seats);
        players.brief(&briefing).map_err(|failure| failure.error.to_string())?;
        self.seated = Some((players, BeliefTracker::new(&briefing)));
        Ok(())
    }

    /// Asks the agent, and stores its answer at the requested decision.
    fn ask(&mut self, state: &State, action: Action) -> Result<(), String> {
        let Some((players, tracker)) = &mut self.seated else { return Ok(()) };
        if !(self.goes_on)() {
            return Err(STOPPED.to_owned());
        }
        let view = state.observe(self.seat);
        let asked = players.ask(&view).expect("the agent sits there");
        let decided = asked.map_err(|failure| failure.error.to_string())?;
        if self.at == (self.round, self.decision) {
            let explanation = players.agent(self.seat).and_then(|agent| agent.explain(&view, decided));
            let (unit, considered) = view_of(explanation.as_ref());
            self.found = Some(Ok(InquiryResult {
                agent: self.agent.to_string(),
                seat: self.seat.letter(),
                decided: decided.to_string(),
                played: action.to_string(),
                unit,
                considered,
                beliefs: tracker.believe(&view, state),
            }));
        }
        Ok(())
    }
}

impl Observer for Inquiry<'_> {
    fn round_begins(&mut self, standing: &Standing<'_>, deck: &[Card]) {
        if self.found.is_some() {
            return;
        }
        self.at = (self.at.0 + 1, 0);
        if self.seated.is_none()
            && let Err(error) = self.begin(standing)
        {
            self.found = Some(Err(error));
        }
        if let Some((players, tracker)) = &mut self.seated {
            players.round_begins(standing, deck);
            tracker.round_begins(standing);
        }
    }

    fn event(&mut self, event: &Event<Card>) {
        if let Some((players, tracker)) = self.seated.as_mut().filter(|_| self.found.is_none()) {
            players.event(event);
            tracker.notice(&event.seen_from(self.seat));
        }
    }

    fn asks(&mut self, state: &State, seat: Seat) {
        if let Some((players, tracker)) = self.seated.as_mut().filter(|_| self.found.is_none()) {
            players.asks(state, seat);
            if seat != self.seat {
                tracker.spectate(state.table());
            }
        }
    }

    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        if self.found.is_some() {
            return;
        }
        self.at.1 += 1;
        if seat == self.seat
            && let Err(error) = self.ask(state, action)
        {
            self.found = Some(Err(error));
        }
    }

    fn round_ends(&mut self, state: &State, result: &RoundResult) {
        if let Some((players, _)) = self.seated.as_mut().filter(|_| self.found.is_none()) {
            players.round_ends(state, result);
        }
    }
}

/// Asks an agent at a decision of a record, given by the numbers of the round and the decision, both counted from 1. The
/// computation stops between two decisions when `goes_on` returns false.
///
/// # Errors
/// If the record has no such decision or has an error before that decision, or if the agent fails or the computation is
/// stopped.
pub fn inquire(
    record: &Record,
    (round, decision): (usize, usize),
    agent: &AgentSpec,
    goes_on: &dyn Fn() -> bool,
) -> Result<InquiryResult, SessionError> {
    let missing = || no_decision(round, decision);
    let text = record.rounds.get(round.wrapping_sub(1)).and_then(|round| round.decisions.get(decision.wrapping_sub(1)));
    let seat = text.and_then(|text| Seat::from_letter(text.chars().next()?)).ok_or_else(missing)?;
    let field = |name: &str| record.fields.get(name).and_then(|value| value.as_str()?.parse::<Seed>().ok());
    let deal = record.fields.get("deal").and_then(serde_json::Value::as_u64).unwrap_or(0);
    let key = Key {
        seed: field("seed").unwrap_or(Seed::Number(0)),
        agents: field("agent_seed").unwrap_or(Seed::AGENTS),
        deal,
    };
    let mut inquiry = Inquiry { agent, goes_on, seat, key, round, decision, at: (0, 0), seated: None, found: None };
    let replayed = replay(record, &mut inquiry);
    match (inquiry.found, replayed) {
        (Some(found), _) => found.map_err(|error| SessionError(format!("{agent} failed: {error}"))),
        (None, Err(flaw)) => Err(SessionError(flaw.to_string())),
        (None, Ok(_)) => Err(missing()),
    }
}

#[cfg(test)]
mod tests;
