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
fn a_title_says_that_cards_are_made_up() {
    let mut written = record(&["me", "Kim"]);
    // The last card of the deck stays in the stock.
    written.rounds[0].deck.pop();
    let replay = Replay::of(&written.complete(1).unwrap()).unwrap();
    assert_eq!(replay.title, "me against Kim (some cards are unknown and filled in at random)");
    assert!(replay.has_made_up && replay.writer.is_none(), "every seat saw only real cards");
}

#[test]
fn a_page_contains_no_control_character_of_a_name() {
    let record = record(&["\u{1b}[31mred", "blue\u{202e}"]);
    let replay = Replay::of(&record).unwrap();
    assert_eq!(replay.title, r"\u{1b}[31mred against blue\u{202e}");
    for page in [replay.page(), replay.widget()] {
        assert!(!page.contains(|char: char| char.is_control() && char != '\n'));
    }
}

#[test]
fn the_writer_is_the_only_seat_that_saw_no_made_up_card() {
    let of = |unknown: &[usize]| {
        let mut written = record(&["me", "Kim"]);
        written.rounds[0].decisions.truncate(1);
        written.rounds[0].races.clear();
        written.rounds[0].fields.clear();
        written.fields.retain(|name, _| !["totals", "ranks"].contains(&name.as_str()));
        for &place in unknown {
            "?".clone_into(&mut written.rounds[0].deck[place]);
        }
        Replay::of(&written.complete(1).unwrap()).unwrap().writer
    };
    // The places of a1, b1, a4 and b4; each seat saw its cards 3 and 4.
    assert_eq!([of(&[0, 1]), of(&[6]), of(&[7]), of(&[6, 7])], [None, Some('b'), Some('a'), None]);
}

#[test]
fn a_page_gets_a_record_with_its_unknown_cards_filled_in() {
    let answer =
        |record: &Record| replay_in_json(record, None).map(|text| serde_json::from_str::<Value>(&text).unwrap());
    let whole = record(&["me", "Kim"]);
    let shown = answer(&whole).unwrap();
    assert_eq!((&shown["record"], &shown["film"]["made_up"]), (&whole.to_json().into(), &Value::Null));

    let mut written = whole.clone();
    written.rounds[0].deck.pop();
    let shown = answer(&written).unwrap();
    assert_eq!(shown["film"]["made_up"], true);
    let sent = Record::read(shown["record"].as_str().unwrap()).unwrap();
    assert_eq!(sent, written.complete(1).unwrap());

    // The error is about the decision, not about the deck.
    written.rounds[0].decisions[2] = "b call".to_owned();
    let error = answer(&written).unwrap_err().sentence;
    assert!(error.starts_with("round 1, decision 3: illegal decision `b call`"), "{error}");
    // Without unknown cards, the match is shown up to its error.
    let mut flawed = whole;
    flawed.rounds[0].decisions[2] = "b call".to_owned();
    let shown = answer(&flawed).unwrap();
    assert_eq!(shown["film"]["rounds"][0]["frames"].as_array().unwrap().len(), 3);
    assert!(shown["film"]["flaw"].as_str().unwrap().starts_with("round 1, decision 3: illegal decision"));
}

#[test]
fn labels_that_are_words_are_marked_in_the_lines() {
    let match_setup = MatchSetup { rules: Rules::preset("original").unwrap(), seats: 2, key: Key::new(42, 7) };
    let mut recorder = Recorder::new(&match_setup.rules);
    let mut agents = [RandomAgent::default(), RandomAgent::default()];
    let result = play_match(&match_setup, &mut agents, &mut recorder).unwrap();
    let replay = Replay::of(&recorder.finish(match_setup.key, 0, &["me", "Kim"], &result)).unwrap();
    let frames = replay.rounds.iter().flat_map(|round| &round.frames);
    let drawn: Vec<&str> = frames
        .flat_map(|frame| &frame.lines)
        .filter_map(|line| Some(line.told(None).split_once(" draws ")?.1))
        .collect();
    assert!(drawn.contains(&"[swap]") && !drawn.contains(&"swap"), "{drawn:?}");
}
