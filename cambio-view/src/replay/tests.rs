use cambio_core::rng::Key;
use cambio_core::testing::RandomAgent;
use cambio_core::{MatchSetup, Recorder, play_match};

use super::*;
use crate::requests::replay_in_json;

fn record(names: &[&str; 2]) -> Record {
    let match_setup = MatchSetup { rules: Rules::preset("classic").unwrap(), seats: 2, key: Key::new(42, 7) };
    let mut recorder = Recorder::new(&match_setup.rules);
    let mut agents = [RandomAgent::default(), RandomAgent::default()];
    let result = play_match(&match_setup, &mut agents, &mut recorder).unwrap();
    recorder.finish(match_setup.key, 0, names, &result)
}

#[test]
fn a_page_contains_no_control_character_of_a_name() {
    let record = record(&["\u{1b}[31mred", "blue\u{202e}"]);
    let replay = Replay::of(&record).unwrap();
    assert_eq!(replay.title, r"\u{1b}[31mred against blue\u{202e}");
    for page in [replay.page(&[]), replay.widget()] {
        assert!(!page.contains(|char: char| char.is_control() && char != '\n'));
    }
}

#[test]
fn a_page_shows_a_match_up_to_its_error() {
    let answer =
        |record: &Record| replay_in_json(record, None).map(|text| serde_json::from_str::<Value>(&text).unwrap());
    let whole = record(&["me", "Kim"]);
    assert_eq!(answer(&whole).unwrap()["record"], whole.to_json());
    let mut flawed = whole;
    flawed.rounds[0].decisions[2] = "b call".to_owned();
    let shown = answer(&flawed).unwrap();
    assert_eq!(shown["replay"]["rounds"][0]["frames"].as_array().unwrap().len(), 3);
    assert!(shown["replay"]["flaw"].as_str().unwrap().starts_with("round 1, decision 3: illegal decision"));
}

#[test]
fn labels_that_are_words_are_marked_in_the_lines() {
    let match_setup = MatchSetup { rules: Rules::preset("original").unwrap(), seats: 2, key: Key::new(42, 7) };
    let mut recorder = Recorder::new(&match_setup.rules);
    let mut agents = [RandomAgent::default(), RandomAgent::default()];
    let result = play_match(&match_setup, &mut agents, &mut recorder).unwrap();
    let replay = Replay::of(&recorder.finish(match_setup.key, 0, &["me", "Kim"], &result)).unwrap();
    let frames = replay.rounds.iter().flat_map(|round| &round.frames);
    let lines = frames.flat_map(|frame| frame.get().split('"'));
    let drawn: Vec<&str> = lines.filter_map(|line| Some(line.split_once(" draws ")?.1)).collect();
    assert!(drawn.contains(&"[swap]") && !drawn.contains(&"swap"), "{drawn:?}");
}

#[test]
fn the_cards_of_a_seat_at_the_end_are_one_line() {
    let replay = Replay::of(&record(&["me", "Kim"])).unwrap();
    let last: serde_json::Value = serde_json::from_str(replay.rounds[0].frames.last().unwrap().get()).unwrap();
    let lines = last["lines"].as_array().unwrap().iter().filter_map(|line| line.as_str());
    let hands: Vec<&str> = lines.filter(|line| line.as_bytes()[1].is_ascii_digit()).map(|line| &line[..1]).collect();
    assert_eq!(hands, ["a", "b"]);
}
