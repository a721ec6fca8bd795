use cambio_core::rng::Key;
use cambio_core::testing::RandomAgent;
use cambio_core::{MatchSetup, Recorder, play_match};

use super::*;

#[test]
fn a_page_contains_no_control_character_of_a_name() {
    let match_setup = MatchSetup { rules: Rules::preset("classic").unwrap(), seats: 2, key: Key::new(42, 7) };
    let mut recorder = Recorder::new(&match_setup.rules);
    let mut agents = [RandomAgent::default(), RandomAgent::default()];
    let result = play_match(&match_setup, &mut agents, &mut recorder).unwrap();
    let record = recorder.finish(match_setup.key, 0, &["\u{1b}[31mred", "blue\u{202e}"], &result);
    let replay = Replay::of(&record).unwrap();
    assert_eq!(replay.title, r"\u{1b}[31mred against blue\u{202e}");
    for page in [replay.page(), replay.widget()] {
        assert!(!page.contains(|char: char| char.is_control() && char != '\n'));
    }
}
