use cambio_core::rng::Key;
use cambio_core::{Deal, Rules, Seat, replay};
use serde_json::json;

use super::*;
use crate::Replay;

/// Plays a match to its end. `decide` takes a decision of the person; its argument is the number of decisions, this one included.
pub(crate) fn play_to_the_end(config: SessionConfig, mut decide: impl FnMut(&mut Session, usize)) -> Record {
    let mut session = Session::new(config);
    let mut asked = 0;
    while session.latest().end.is_none() {
        if let Some(job) = session.job() {
            session.finish(job(&|| true));
            continue;
        }
        asked += 1;
        decide(&mut session, asked);
    }
    session.record().unwrap()
}

/// The record of a match in which the person passes or takes the first decision. For practice, it asks for two hints and
/// undoes one decision.
fn played(practice: bool) -> Record {
    let deal = Deal::new(&Rules::preset("classic").unwrap(), Key::new(5, 0));
    let opponents = vec![cambio_agents::roster().parse("greedy").unwrap()];
    let config = SessionConfig { practice, ..SessionConfig::alone(deal, Seat::B, opponents) };
    play_to_the_end(config, |session, asked| {
        let (at, choices) = (session.latest().n, session.latest().ask.as_ref().unwrap().choices.clone());
        if practice && asked <= 2 {
            session.count_hint();
        }
        if practice && asked == 4 {
            session.take_back(at).unwrap();
            return;
        }
        let choice = choices.iter().find(|choice| *choice == "pass").unwrap_or(&choices[0]);
        session.act(at, choice, None).unwrap();
    })
}

#[test]
fn records_contain_seat_hints_and_undone_decisions() {
    for (practice, about) in [
        (true, json!({ "seat": "b", "practice": true, "hints": 2, "undone": 1 })),
        (false, json!({ "seat": "b", "practice": false, "hints": 0, "undone": 0 })),
    ] {
        let record = played(practice);
        assert_eq!(record.fields["x-person"], about);
        assert_eq!(replay(&record, &mut ()).unwrap(), record);
        let title = Replay::of(&record).unwrap().title;
        assert_eq!(title, if practice { "greedy against person (practice)" } else { "greedy against person" });
    }
}

/// The agents remember, draw random numbers, and take races by speed. None of this depends on restarts.
#[test]
fn a_match_that_is_resumed_at_every_decision_is_the_same() {
    let played = |is_resumed: bool| {
        let deal = Deal::new(&Rules::preset("original").unwrap(), Key::new(8, 0));
        let opponents = ["heuristic", "random", "greedy"].map(|spec| cambio_agents::roster().parse(spec).unwrap());
        let config = SessionConfig { reaction: Some(400), ..SessionConfig::alone(deal, Seat::B, opponents.into()) };
        let mut session = Session::new(config.clone());
        while session.record().is_err() {
            if let Some(job) = session.job() {
                session.finish(job(&|| true));
                continue;
            }
            if is_resumed {
                session = Session::resume(config.clone(), &session.save()).unwrap();
                let refused = session.act(session.latest().n, "draw", None).unwrap_err();
                assert_eq!(refused.0, "the bots are getting ready; try again in a moment");
                let job = session.job().unwrap();
                session.finish(job(&|| true));
            }
            let step = session.latest();
            let at = step.n;
            if step.end.is_some() {
                session.go_on(at).unwrap();
            }
            let Some(ask) = &session.latest().ask else { continue };
            let (at, choice) = (session.latest().n, ask.choices[0].clone());
            session.act(at, &choice, Some(300)).unwrap();
        }
        session.record().unwrap()
    };
    assert_eq!(played(true), played(false));
}

/// The person makes the decisions of the record from a position on: the match is the same.
#[test]
fn a_match_continues_from_any_position() {
    use crate::Catalogue;
    use crate::requests::{MatchRequest, TableRequest};
    let catalogue = Catalogue::of_browser(cambio_agents::roster());
    let request = json!({ "rules": "original", "agents": ["greedy", "heuristic", "greedy"], "seed": "3" });
    let request: MatchRequest = serde_json::from_value(request).unwrap();
    let (record, _) = request.play(&catalogue, || unreachable!(), &|| true).unwrap();
    assert!(record.rounds.len() > 1);
    let whole: serde_json::Value = serde_json::from_str(&record.to_json()).unwrap();
    let open = |round: usize, decision: usize, seat: &str| {
        let from = json!({ "record": whole, "round": round, "decision": decision });
        let request: TableRequest = serde_json::from_value(json!({ "from": from, "seat": seat })).unwrap();
        request.open(&catalogue, None)
    };
    for (round, decision, seat) in [(1, 0, "a"), (1, 11, "b"), (2, 5, "c"), (1, record.rounds[0].decisions.len(), "b")]
    {
        let mut session = open(round, decision, seat).unwrap();
        assert!(session.config().practice, "such a match is for practice");
        assert!(session.take_back(session.latest().n).is_err(), "no decision is the person's yet");
        let texts: Vec<&String> = record.rounds.iter().flat_map(|round| &round.decisions).collect();
        while session.record().is_err() {
            if let Some(job) = session.job() {
                session.finish(job(&|| true));
                continue;
            }
            let at = session.latest().n;
            if session.latest().end.is_some() {
                session.go_on(at).unwrap();
                continue;
            }
            let text = texts[session.actions().len()];
            session.act(at, text.strip_prefix(&format!("{seat} ")).unwrap(), None).unwrap();
        }
        assert_eq!(session.record().unwrap().rounds, record.rounds, "from decision {decision} of round {round}");
    }
    for (round, decision) in [(0, 0), (1, record.rounds[0].decisions.len() + 1), (record.rounds.len() + 1, 0)] {
        let error = open(round, decision, "a").err().unwrap().sentence;
        assert_eq!(error, format!("the match has no decision {decision} in round {round}"));
    }
    assert_eq!(open(1, 1, "d").err().unwrap().sentence, "the seat must be a to c in a game of 3 players");
}
