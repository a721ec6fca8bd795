use cambio_core::rng::Key;
use cambio_core::testing::RandomAgent;
use cambio_core::{MatchSetup, Recorder, play_match};

use super::*;

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
