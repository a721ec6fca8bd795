use cambio_agents::roster;
use cambio_core::rng::Key;
use cambio_core::{MatchSetup, Recorder, Rules, play_match};

use super::*;

fn record(preset: &str, seed: u64) -> Record {
    let match_setup = MatchSetup { rules: Rules::preset(preset).unwrap(), seats: 2, key: Key::new(seed, 0) };
    let mut recorder = Recorder::new(&match_setup.rules);
    let mut agents = ["greedy", "heuristic"].map(|spec| roster().parse(spec).unwrap().make());
    let result = play_match(&match_setup, &mut agents, &mut recorder).unwrap();
    recorder.finish(match_setup.key, 0, &["greedy", "heuristic"], &result)
}

#[test]
fn every_decision_of_the_round_is_appraised_and_only_of_that() {
    let record = record("original", 3);
    assert!(record.rounds.len() > 1);
    for round in [1, record.rounds.len()] {
        let mut told = 0;
        let mut tell = |progress: &ReviewProgress| {
            told += 1;
            assert_eq!((progress.decisions.len(), progress.over), (told, false));
            true
        };
        let progress = review(&record, round, 8, &mut tell).unwrap();
        let decisions = &record.rounds[round - 1].decisions;
        assert_eq!((told, progress.of), (decisions.len(), decisions.len()));
        assert_eq!(progress.chances.len(), decisions.len() + 1);
        for (decided, text) in progress.decisions.iter().zip(decisions) {
            assert!(text.starts_with(&format!("{} {}", decided.by, decided.action)), "{text}: {decided:?}");
        }
        let parts = progress.parts.as_ref().expect("the round is complete");
        for seat in 0..2 {
            let luck = parts.before[seat].mean + parts.deal[seat].mean + parts.draws[seat].mean + parts.rest[seat].mean;
            let sum: f64 = luck + parts.decisions.iter().map(|by| by[seat].mean).sum::<f64>();
            assert!((sum - progress.chances.last().unwrap()[seat].mean).abs() < 1e-9, "{parts:?}");
        }
        assert_eq!(parts.steps.len(), decisions.len());
        assert!(!progress.one_round && progress.over && progress.trouble.is_none(), "{progress:?}");
        assert_eq!(review(&record, round, 8, &mut |_| true), Some(progress), "the same record gives the same numbers");
    }
    // After the last round only the winners of the match have a chance above 0.
    let last = review(&record, record.rounds.len(), 8, &mut |_| true).unwrap().chances.pop().unwrap();
    let ranks: Vec<u64> = serde_json::from_value(record.fields["ranks"].clone()).unwrap();
    assert!(last.iter().zip(&ranks).all(|(chance, &rank)| (chance.mean > 0.0) == (rank == 1)), "{last:?} {ranks:?}");
}

#[test]
fn an_appraisal_stops_when_it_is_told_to_and_at_a_flaw() {
    let mut record = record("classic", 1);
    let mut told = 0;
    let mut tell = |_: &ReviewProgress| {
        told += 1;
        told < 3
    };
    assert_eq!(review(&record, 1, 8, &mut tell), None);
    assert_eq!(told, 3);
    record.rounds[0].decisions[2] = "b call".to_owned();
    let progress = review(&record, 1, 8, &mut |_| true).unwrap();
    assert_eq!((progress.decisions.len(), progress.over), (2, true));
    assert_eq!(progress.parts, None, "the result is not known");
    assert!(progress.trouble.is_some_and(|trouble| trouble.contains("decision 3")));
}
