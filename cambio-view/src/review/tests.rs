use cambio_agents::roster;
use cambio_core::rng::Key;
use cambio_core::testing::written_by;
use cambio_core::{MatchSetup, Playing, Recorder, Rules, play_match};

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

/// The first half of a round, as the player in seat a writes it down.
fn written(preset: &str, seed: u64) -> Record {
    let decisions = &record(preset, seed).rounds[0].decisions;
    let mut playing = Playing::new(&Rules::preset(preset).unwrap(), 2, Key::new(seed, 0)).unwrap();
    for decision in &decisions[..decisions.len() / 2] {
        let (_, action) = decision.split_once(' ').unwrap();
        playing.act(action.parse().unwrap()).unwrap();
    }
    written_by(&playing, Seat::A)
}

#[test]
fn a_review_is_the_same_for_all_made_up_cards() {
    let (mut judged, mut unjudged, mut costly) = (0, 0, 0);
    for (preset, seed) in [("classic", 1), ("classic", 2), ("classic", 6), ("faessler", 3), ("faessler", 4)] {
        let written = written(preset, seed);
        let reviews = (1..=3).map(|filling| review(&written.complete(filling).unwrap(), 1, 8, &mut |_| true).unwrap());
        let reviews: Vec<ReviewProgress> = reviews.collect();
        let bytes = |review: &ReviewProgress| serde_json::to_string(review).unwrap();
        assert!(reviews.iter().all(|other| bytes(other) == bytes(&reviews[0])), "{preset}, seed {seed}");
        let ReviewProgress { decisions, chances, parts, is_made_up, trouble, .. } = &reviews[0];
        assert!(*is_made_up && chances.is_empty() && parts.is_none() && trouble.is_none(), "{preset}, seed {seed}");
        for decided in decisions {
            // The writer has seen no made-up card.
            assert!(decided.by != 'a' || !decided.is_made_up);
            assert!(decided.open.is_none() && (decided.known.is_none() || !decided.is_made_up));
            judged += usize::from(decided.known.is_some());
            unjudged += usize::from(decided.is_made_up);
            costly += usize::from(decided.known.as_ref().is_some_and(|known| known.cost.mean > 0.0));
        }
    }
    assert!(judged > 20 && unjudged > 20 && costly > 2, "{judged}, {unjudged}, {costly}");
}

#[test]
fn a_made_up_order_of_the_stock_changes_nothing() {
    let whole = record("classic", 5);
    let mut written = whole.clone();
    let drawn = Playing::restore(&whole).unwrap().state().table().stock_len();
    let deck = &mut written.rounds[0].deck;
    deck.truncate(deck.len() - drawn);
    let complete = written.complete(1).unwrap();
    assert_ne!(complete.rounds[0].deck, whole.rounds[0].deck);
    assert_eq!(review(&complete, 1, 8, &mut |_| true), review(&whole, 1, 8, &mut |_| true));
}
