//! The bot's side of the protocol: plays an agent of this library for another program.

use std::io::{BufRead, Write};

use cambio_core::play::FollowedRound;
use cambio_core::rng::Key;
use cambio_core::text::excerpt;
use cambio_core::{Agent, Briefing, Match, MatchResult, Notice, Rules, RulesSpec, Seat};
use serde_json::{Value, json};

use super::message::{self, PROTOCOL};
use crate::guarded::Guarded;

/// The error that stops [`serve`].
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A message is not valid, or the agent failed. The number of the line is counted from 1.
    #[error("line {0} of the input: {1}")]
    Message(usize, String),
    /// The input or the output failed.
    #[error("the input or output failed: {0}")]
    Pipe(#[from] std::io::Error),
}

/// Plays an agent as a bot with this name: reads the messages of the protocol, and answers each question with one line, until the input ends.
///
/// # Errors
/// If a message is not valid, the agent fails, or the input or output fails.
///
/// # Determinism
/// The agent decides as in this program if it draws no random numbers. Otherwise its stream has another key: the `seed` of `begin`.
///
/// ```
/// let agent = cambio_agents::roster().parse("greedy").unwrap();
/// let mut output = Vec::new();
/// cambio_agents::serve(agent.make(), "greedy", &b"{\"type\":\"hello\",\"protocol\":1}\n"[..], &mut output).unwrap();
/// assert!(output.starts_with(br#"{"protocol":1,"name":"greedy","version":""#));
/// let error = cambio_agents::serve(agent.make(), "greedy", &b"draw\n"[..], &mut output).unwrap_err();
/// assert_eq!(error.to_string(), "line 1 of the input: must be a JSON object with a text `type`, found `draw`");
/// ```
pub fn serve(agent: Box<dyn Agent>, name: &str, input: impl BufRead, mut output: impl Write) -> Result<(), ServeError> {
    let mut bot = Bot { agent: Guarded::new(agent), name, seated: None };
    for (number, line) in input.lines().enumerate() {
        if let Some(answer) = bot.hear(&line?).map_err(|what| ServeError::Message(number + 1, what))? {
            writeln!(output, "{answer}")?;
            output.flush()?;
        }
    }
    Ok(())
}

struct Bot<'a> {
    agent: Guarded<Box<dyn Agent>>,
    name: &'a str,
    seated: Option<SeatedMatch>,
}

/// A match of the bot.
struct SeatedMatch {
    rules: Rules,
    seat: Seat,
    seats: usize,
    /// The match so far, since its first round.
    game: Option<Match>,
    round: Option<FollowedRound>,
}

/// Checks the fields of a message that follow from the messages before it.
fn expect(expected: &Value, found: &Value) -> Result<(), String> {
    let wrong = expected.as_object().into_iter().flatten().find(|(name, value)| found[name] != **value);
    match wrong {
        Some((name, value)) => Err(format!(
            "the field `{name}` must be {value} after the earlier messages, found {}",
            excerpt(&found[name].to_string())
        )),
        None => Ok(()),
    }
}

impl Bot<'_> {
    /// Reads a message, and returns the answer if the message is a question.
    fn hear(&mut self, line: &str) -> Result<Option<Value>, String> {
        let told: Value = serde_json::from_str(line).unwrap_or_default();
        let Some(kind) = told["type"].as_str() else {
            return Err(format!("must be a JSON object with a text `type`, found `{}`", excerpt(line)));
        };
        let Bot { agent, name, seated } = self;
        match (kind, seated) {
            ("hello", _) => {
                expect(&message::hello(), &told)?;
                let answer = json!({"protocol": PROTOCOL, "name": name, "version": env!("CARGO_PKG_VERSION")});
                return Ok(Some(answer));
            }
            ("begin", seated) => {
                let rules =
                    RulesSpec::from_json(&told["rules"]).and_then(RulesSpec::validate).map_err(|e| e.to_string())?;
                let field =
                    |name: &str, allowed: &str| format!("the field `{name}` must be {allowed}, found {}", told[name]);
                let seats = told["seats"].as_u64().ok_or_else(|| field("seats", "a number"))? as usize;
                rules.covers(seats).map_err(|error| error.to_string())?;
                let seat = told["seat"].as_str().and_then(message::seat).filter(|seat| seat.index() < seats);
                let seat = seat.ok_or_else(|| field("seat", "the letter of a seat"))?;
                let seed = told["seed"].as_u64().ok_or_else(|| field("seed", "a whole number"))?;
                let stream = Key::new(0, 0).with_agents(seed).agent(seat);
                let briefing = Briefing { rules: &rules, seats, seat, stream: &stream };
                agent.begin(&briefing).map_err(|error| error.to_string())?;
                *seated = Some(SeatedMatch { rules, seat, seats, game: None, round: None });
            }
            ("round" | "event" | "decide" | "round_end" | "end", None) => {
                return Err(format!("`{kind}` must come after `begin`"));
            }
            (_, Some(seated)) => return seated.hear(kind, &told, agent),
            _ => {}
        }
        Ok(None)
    }
}

impl SeatedMatch {
    fn hear(&mut self, kind: &str, told: &Value, agent: &mut dyn Agent) -> Result<Option<Value>, String> {
        let SeatedMatch { rules, seat, seats, game, round } = self;
        if kind == "round" {
            let starter = told["starter"].as_str().and_then(message::seat).unwrap_or(Seat::A);
            let begun = Match::new(rules, *seats, starter).map_err(|error| error.to_string())?;
            let standing = game.get_or_insert(begun).standing();
            expect(&message::round(&standing), told)?;
            agent.notice(Notice::RoundBegins(&standing));
            *round = Some(FollowedRound::new(&standing.setup, *seat).map_err(|error| error.to_string())?);
            return Ok(None);
        }
        let late = || format!("`{kind}` must come after `round`");
        let (game, round) = (game.as_mut().ok_or_else(late)?, round.as_mut().ok_or_else(late)?);
        let is_spectator = agent.is_spectator();
        let mut notice = |notice: Notice<'_>| {
            if is_spectator || !matches!(notice, Notice::Table(_)) {
                agent.notice(notice);
            }
        };
        match kind {
            "event" => {
                round.hear(message::read_event(rules, told).ok_or("the event is not known, or a field is not valid")?);
            }
            "decide" => {
                round
                    .advance(told["phase"].as_str().unwrap_or_default(), &mut notice)
                    .map_err(|error| error.to_string())?;
                let view = round.observation();
                expect(&message::decide(game.rounds() + 1, &view.observation()), told)?;
                let action = agent.decide(&view.observation()).map_err(|error| error.to_string())?;
                round.decide(action);
                return Ok(Some(json!({"decision": action.to_string()})));
            }
            "round_end" => {
                round.advance("over", &mut notice).map_err(|error| error.to_string())?;
                let result = round.result().ok_or_else(|| "the round is not over".to_owned())?;
                expect(&message::round_end(&result), told)?;
                agent.notice(Notice::RoundEnds(&result));
                game.add(&result);
            }
            "end" => {
                expect(&message::end(game.totals()), told)?;
                let (totals, ranks) = (game.totals().to_vec(), game.ranks().collect());
                agent.notice(Notice::MatchEnds(&MatchResult { rounds: game.rounds(), totals, ranks }));
            }
            _ => {}
        }
        Ok(None)
    }
}
