use cambio_agents::roster;
use cambio_core::rules::PRESETS;
use cambio_core::rules::knob::MatchEnd;
use cambio_core::{Recorder, Rules, RulesSpec, play_match};

use super::*;

#[test]
fn a_decision_of_a_seat_that_is_not_at_the_table_is_an_error() {
    let rules = Rules::preset("classic").unwrap();
    let mut recorder = Recorder::new(&rules);
    let setup = cambio_core::MatchSetup { rules, seats: 2, key: Key::new(1, 0) };
    let greedy = roster().parse("greedy").unwrap();
    let result = play_match(&setup, &mut [greedy.make(), greedy.make()], &mut recorder).unwrap();
    let mut record = recorder.finish(setup.key, 0, &["greedy", "greedy"], &result);
    record.rounds[0].decisions[1] = "c draw".to_owned();
    let error = inquire(&record, (1, 2), &greedy, &|| true).unwrap_err().to_string();
    assert!(error.starts_with("round 1, decision 2"), "{error}");
}

#[test]
fn considered_decisions_include_the_played_one() {
    let roster = roster();
    let mut explained = 0;
    for (number, agent) in
        ["learned", "rollout(n=30)", "ismcts(iterations=60)", "lookahead(worlds=8)"].iter().enumerate()
    {
        let spec = roster.parse(agent).unwrap();
        for (preset, name) in PRESETS.into_iter().enumerate().filter(|(index, _)| [0, 4, 5].contains(index)) {
            let one_round = RulesSpec { match_end: MatchEnd::Rounds(1), ..Rules::preset(name).unwrap().spec().clone() };
            let rules = one_round.validate().unwrap();
            let match_setup = cambio_core::MatchSetup { rules, seats: 2, key: Key::new(number as u64, preset as u64) };
            let mut recorder = Recorder::new(&rules);
            let mut agents = [spec.make(), spec.make()];
            let result = play_match(&match_setup, &mut agents, &mut recorder).unwrap();
            let record = recorder.finish(match_setup.key, 0, &[agent, agent], &result);
            let decisions = record.rounds[0].decisions.len();
            for decision in (1..=decisions).step_by(1 + decisions / 4) {
                let found = inquire(&record, (1, decision), &spec, &|| true).unwrap();
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
fn a_computation_stops_between_two_decisions() {
    let deal = cambio_core::Deal::new(&Rules::preset("classic").unwrap(), Key::new(1, 0));
    let greedy = roster().parse("greedy").unwrap();
    let (notes, practice) = (true, true);
    let opponents = vec![greedy.clone()];
    let config = SessionConfig { notes, practice, ..SessionConfig::alone(deal, Seat::A, opponents) };
    let draw = ["draw".parse().unwrap()];
    assert!(hint(&config, &draw, &greedy, &|| true).is_ok());
    assert_eq!(hint(&config, &draw, &greedy, &|| false).unwrap_err().0, STOPPED);
}

#[test]
fn a_decision_that_is_not_there_is_refused() {
    let record = Record::read(r#"{"format":"cambio-record/1","rules":"classic","seats":2,"rounds":[]}"#).unwrap();
    let greedy = roster().parse("greedy").unwrap();
    for index in [(0, 0), (1, 1), (usize::MAX, 0)] {
        let refusal = inquire(&record, index, &greedy, &|| true).unwrap_err().to_string();
        assert_eq!(refusal, format!("the match has no decision {} in round {}", index.1, index.0));
    }
}
