//! The oracle beats the heuristic if its observer watches the match, and cannot play without the observer.

use cambio_agents::roster;
use cambio_core::play::MatchError;
use cambio_core::rng::Key;
use cambio_core::{MatchSetup, Rules, play_match};

#[test]
fn an_oracle_needs_its_observer() {
    let rules = Rules::preset("classic").unwrap();
    let roster = roster();
    let mut agents = ["oracle", "heuristic"].map(|spec| roster.parse(spec).unwrap().make());
    let match_setup = MatchSetup { rules, seats: 2, key: Key::new(1, 0) };
    let error = play_match(&match_setup, &mut agents, &mut ()).unwrap_err();
    assert!(matches!(error, MatchError::Failed(_)), "{error}");
    assert!(
        error.to_string().contains("an oracle sees every card, and this match does not show them to it"),
        "{error}"
    );
}

#[test]
fn an_oracle_with_its_observer_beats_everyone() {
    let deals: u64 = crate::play::amount(30, 400);
    let roster = roster();
    for preset in ["classic", "original", "faessler"] {
        let rules = Rules::preset(preset).unwrap();
        let deals = if preset == "classic" { deals } else { deals / 5 };
        let mut won = 0.0;
        for deal in 0..deals {
            for seat in 0..2 {
                let oracle = roster.parse("oracle(iterations=300)").unwrap().make();
                let mut observer = oracle.observer().expect("an oracle has an observer");
                let mut agents = vec![roster.parse("heuristic").unwrap().make()];
                agents.insert(seat, oracle);
                let match_setup = MatchSetup { rules, seats: 2, key: Key::new(78, deal) };
                let result = play_match(&match_setup, &mut agents, &mut observer).unwrap();
                won += if result.ranks == [1, 1] { 0.5 } else { f64::from(u8::from(result.ranks[seat] == 1)) };
            }
        }
        let share = won / (2 * deals) as f64;
        println!("{preset}: {share:.3}");
        // The deals are fixed, so the win share is a constant. It is far above the win share of any fair player.
        assert!(share > 0.8, "{preset}: {share}");
    }
}

#[test]
fn only_an_analyst_sees_all() {
    let roster = roster();
    let seeing: Vec<&str> =
        roster.entries().iter().filter(|entry| entry.sees_all).map(|entry| entry.name.as_str()).collect();
    assert_eq!(seeing, ["oracle"]);
    assert!(!roster.parse("rollout(time_ms=5)").unwrap().is_reproducible());
    assert!(roster.parse("rollout(n=5)").unwrap().is_reproducible());
}
