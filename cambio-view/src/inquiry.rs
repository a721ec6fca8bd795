//! What an agent considers at a decision of a match that is over.

use std::fmt;

use cambio_agents::{AgentSpec, Explanation, Player};
use cambio_core::rng::{Key, Seed};
use cambio_core::{
    Action, Briefing, Card, Event, Match, Observer, Playing, Record, RoundResult, Seat, Setup, Standing, State, replay,
};
use serde::Serialize;

use crate::belief::{Beliefs, Believer};
use crate::sitting::{Heard, Invitation, Refusal};

/// A decision that was considered.
#[derive(Serialize, Clone, Debug)]
struct ConsideredView {
    action: String,
    value: f64,
    /// Half of the 95 % interval of the value.
    half: Option<f64>,
    visits: Option<u32>,
}

/// What an agent considered, the best first.
fn view_of(explanation: Option<&Explanation>) -> (Option<&'static str>, Vec<ConsideredView>) {
    let view = |one: &cambio_agents::Considered| ConsideredView {
        action: one.action.to_string(),
        value: one.value,
        half: one.error.map(|error| 1.96 * error),
        visits: one.visits,
    };
    let mut considered: Vec<ConsideredView> =
        explanation.into_iter().flat_map(|told| &told.considered).map(view).collect();
    considered.sort_by(|one, other| other.visits.cmp(&one.visits).then(other.value.total_cmp(&one.value)));
    (explanation.map(|told| told.unit), considered)
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

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} would: {}", self.agent, self.action)?;
        let some: Vec<String> =
            self.considered.iter().take(4).map(|one| format!("{} {:.2}", one.action, one.value)).collect();
        if some.len() > 1 { write!(f, " (it values {})", some.join(", ")) } else { Ok(()) }
    }
}

/// Asks an agent to decide in the person's place, after it has seen the events that the person has seen.
///
/// # Errors
/// If the person is not asked, or the agent cannot go on.
///
/// # Panics
/// Only if the agent does.
pub fn hint(invitation: &Invitation, actions: &[Action], adviser: &AgentSpec) -> Result<Hint, Refusal> {
    let person = invitation.person;
    let mut playing = invitation.start.clone();
    let mut player = adviser.player();
    let agent = player.agent();
    agent.begin(&playing.briefing(person));
    agent.round_begins(&playing.standing());
    for sighting in playing.sightings(person) {
        agent.notice(&sighting);
    }
    for &action in actions {
        if playing.state().actor() != Some(person) && agent.spectates() {
            agent.spectate(playing.state().table());
        }
        let mut heard = Heard::default();
        playing.act_observed(action, &mut heard).map_err(|illegal| Refusal(illegal.to_string()))?;
        heard.before.iter().for_each(|event| agent.notice(&event.seen_from(person)));
        if let Some((_, result)) = heard.ended {
            agent.round_ends(&result);
            agent.round_begins(&playing.standing());
        }
        heard.after.iter().for_each(|event| agent.notice(&event.seen_from(person)));
    }
    let turn = playing.turn().filter(|turn| turn.seat == person);
    let turn = turn.ok_or_else(|| Refusal("it is not your turn to decide".to_owned()))?;
    let action = agent.decide(&turn.view);
    match agent.trouble() {
        None if turn.view.allows(action) => {
            let (unit, considered) = view_of(player.explain(&turn.view, action).as_ref());
            Ok(Hint { agent: adviser.to_string(), action: action.to_string(), unit, considered })
        }
        None => Err(Refusal(format!("{adviser} would decide `{action}`, which is illegal"))),
        Some(reason) => Err(Refusal(format!("{adviser} cannot say: {reason}"))),
    }
}

/// What came of asking an agent in the place of a seat.
#[derive(Serialize, Clone, Debug)]
pub struct Finding {
    agent: String,
    seat: char,
    /// The decision of the agent.
    pub decided: String,
    /// The decision in the match.
    pub played: String,
    unit: Option<&'static str>,
    considered: Vec<ConsideredView>,
    beliefs: Option<Beliefs>,
}

/// An agent in the place of a seat. It is told what the seat perceived, is asked whenever the seat was, and the match goes on as it
/// did.
struct Inquiry {
    player: Player,
    believer: Option<Believer>,
    name: String,
    seat: Seat,
    key: Key,
    round: usize,
    decision: usize,
    /// How far the match is: rounds that began, decisions of this one.
    at: (usize, usize),
    game: Option<Match>,
    finding: Option<Finding>,
    trouble: Option<String>,
}

impl Inquiry {
    fn is_done(&self) -> bool {
        self.finding.is_some() || self.trouble.is_some()
    }
}

impl Observer for Inquiry {
    fn round_begins(&mut self, setup: &Setup, _: &[Card]) {
        if self.is_done() {
            return;
        }
        self.at = (self.at.0 + 1, 0);
        if self.game.is_none() {
            self.game = Match::new(&setup.rules, setup.seats, setup.starter).ok();
            // A match of the same key has the same streams.
            if let Ok(mut playing) = Playing::new(&setup.rules, setup.seats, self.key) {
                let Briefing { stream, .. } = playing.briefing(self.seat);
                let stream = stream.clone();
                let briefing = Briefing { rules: &setup.rules, seats: setup.seats, seat: self.seat, stream: &stream };
                self.player.agent().begin(&briefing);
                self.believer = Some(Believer::new(&briefing));
                self.trouble = self.player.agent().trouble();
            }
        }
        let totals = self.game.as_ref().map_or(&[][..], Match::totals);
        let standing = Standing { round: self.at.0 - 1, setup: *setup, totals };
        self.player.agent().round_begins(&standing);
        if let Some(believer) = &mut self.believer {
            believer.round_begins(&standing);
        }
    }

    fn event(&mut self, event: &Event<Card>) {
        if !self.is_done() {
            let sighting = event.seen_from(self.seat);
            self.player.agent().notice(&sighting);
            if let Some(believer) = &mut self.believer {
                believer.notice(&sighting);
            }
        }
    }

    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        if self.is_done() {
            return;
        }
        self.at.1 += 1;
        if seat != self.seat {
            if self.player.spectates() {
                self.player.agent().spectate(state.table());
            }
            if let Some(believer) = &mut self.believer {
                believer.spectate(state.table());
            }
            return;
        }
        let view = state.observe(seat);
        let decided = self.player.agent().decide(&view);
        self.trouble = self.player.agent().trouble();
        if self.at == (self.round, self.decision) && self.trouble.is_none() {
            let explanation = self.player.explain(&view, decided);
            let (unit, considered) = view_of(explanation.as_ref());
            self.finding = Some(Finding {
                agent: self.name.clone(),
                seat: seat.letter(),
                decided: decided.to_string(),
                played: action.to_string(),
                unit,
                considered,
                beliefs: self.believer.as_mut().map(|believer| believer.believe(&view, state)),
            });
        }
    }

    fn round_ends(&mut self, _: &State, result: &RoundResult) {
        if self.is_done() {
            return;
        }
        if let Some(game) = &mut self.game {
            game.add(result);
        }
        self.player.agent().round_ends(result);
    }
}

/// Asks an agent at a decision of a record; both numbers count from 1.
///
/// # Errors
/// If the record has no such decision or is flawed before it, or the agent cannot play there.
pub fn inquire(record: &Record, (round, decision): (usize, usize), agent: &AgentSpec) -> Result<Finding, Refusal> {
    let missing = || Refusal(format!("the match has no decision {decision} in round {round}"));
    let text = record.rounds.get(round.wrapping_sub(1)).and_then(|round| round.decisions.get(decision.wrapping_sub(1)));
    let seat = text.and_then(|text| Seat::from_letter(text.chars().next()?)).ok_or_else(missing)?;
    let field = |name: &str| record.fields.get(name).and_then(|value| value.as_str()?.parse::<Seed>().ok());
    let deal = record.fields.get("deal").and_then(serde_json::Value::as_u64).unwrap_or(0);
    let key = Key {
        seed: field("seed").unwrap_or(Seed::Number(0)),
        agents: field("agent_seed").unwrap_or(Seed::AGENTS),
        deal,
    };
    let mut inquiry = Inquiry {
        player: agent.player(),
        believer: None,
        name: agent.to_string(),
        seat,
        key,
        round,
        decision,
        at: (0, 0),
        game: None,
        finding: None,
        trouble: None,
    };
    let replayed = replay(record, &mut inquiry);
    if let Some(trouble) = inquiry.trouble {
        return Err(Refusal(format!("{agent} cannot say: {trouble}")));
    }
    match (inquiry.finding, replayed) {
        (Some(finding), _) => Ok(finding),
        (None, Err(flaw)) => Err(Refusal(flaw.to_string())),
        (None, Ok(_)) => Err(missing()),
    }
}

#[cfg(test)]
mod tests {
    use cambio_agents::roster;
    use cambio_core::knob::MatchEnd;
    use cambio_core::{PRESETS, Recorder, Rules, RulesSpec, play_match};

    use super::*;

    #[test]
    fn what_an_agent_considered_has_what_it_played() {
        let roster = roster();
        let mut explained = 0;
        for (number, agent) in
            ["learned", "rollout(n=30)", "ismcts(iterations=60)", "lookahead(worlds=8)"].iter().enumerate()
        {
            let spec = roster.parse(agent).unwrap();
            for (preset, name) in PRESETS.into_iter().enumerate().filter(|(place, _)| [0, 4, 5].contains(place)) {
                let one_round =
                    RulesSpec { match_end: MatchEnd::Rounds(1), ..Rules::preset(name).unwrap().spec().clone() };
                let rules = one_round.validate().unwrap();
                let pairing = cambio_core::Pairing { rules, seats: 2, key: Key::new(number as u64, preset as u64) };
                let mut recorder = Recorder::new(&rules);
                let mut agents = [spec.make(), spec.make()];
                let result = play_match(&pairing, &mut agents, &mut recorder).unwrap();
                let record = recorder.finish(pairing.key, 0, &[agent, agent], &result);
                let decisions = record.rounds[0].decisions.len();
                for decision in (1..=decisions).step_by(1 + decisions / 4) {
                    let found = inquire(&record, (1, decision), &spec).unwrap();
                    assert_eq!(found.decided, found.played, "{agent} on {name}, decision {decision}");
                    let has_it = found.considered.iter().any(|one| one.action == found.decided);
                    assert!(has_it || found.considered.is_empty(), "{agent} on {name}, {decision}: {found:?}");
                    explained += usize::from(found.considered.len() > 1);
                }
            }
        }
        assert!(explained > 10, "{explained}");
    }

    #[test]
    fn a_decision_that_is_not_there_is_refused() {
        let record = Record::read(r#"{"format":"cambio-record/1","rules":"classic","seats":2,"rounds":[]}"#).unwrap();
        let greedy = roster().parse("greedy").unwrap();
        for place in [(0, 0), (1, 1), (usize::MAX, 0)] {
            let refusal = inquire(&record, place, &greedy).unwrap_err().to_string();
            assert_eq!(refusal, format!("the match has no decision {} in round {}", place.1, place.0));
        }
    }
}
