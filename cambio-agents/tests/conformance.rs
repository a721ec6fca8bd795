//! The agents of the roster pass the conformance suite that anyone can run on a bot.

use cambio_agents::{Preset, WordEnum as _, roster};
use cambio_core::testing::{CheckScope, check_agent};

fn conforms(spec: &str) {
    let agent = roster().parse(spec).unwrap();
    let found = check_agent(|| agent.make(), &CheckScope::default()).unwrap_or_else(|error| panic!("{spec}: {error}"));
    assert_eq!(found.matches, 6 * 4 * 12);
    assert!(found.decisions > 10_000, "{spec}: only {} decisions", found.decisions);
}

#[test]
fn random_conforms() {
    conforms("random");
}

#[test]
fn random_that_mostly_passes_conforms() {
    conforms("random(pass=0.9)");
}

#[test]
fn greedy_conforms() {
    conforms("greedy");
    conforms("greedy(call_at=12)");
}

#[test]
fn heuristics_of_every_preset_conform() {
    conforms("heuristic");
    for preset in Preset::ALL {
        let agent = roster().parse(preset.word()).unwrap();
        // `never-calls` plays every round to the turn limit.
        let presets =
            if *preset == Preset::NeverCalls { vec!["classic"] } else { vec!["original", "faessler", "classic"] };
        let effort = CheckScope { presets, seats: vec![2, 4], matches: 3, ..CheckScope::default() };
        let found = check_agent(|| agent.make(), &effort).unwrap_or_else(|error| panic!("{preset:?}: {error}"));
        assert!(found.decisions > 100, "{preset:?}: only {} decisions", found.decisions);
    }
}

#[test]
fn forgetful_heuristics_conform() {
    conforms("heuristic(decay=0.2)");
    conforms("heuristic(capacity=2)");
    conforms("heuristic(threshold=0.7)");
    conforms("heuristic(confusion=0.5,decay=0.05)");
}

/// Neither the decision nor the root statistics may depend on hidden cards.
#[test]
fn rollout_search_conforms_on_a_small_budget() {
    let effort = CheckScope {
        presets: vec!["original", "faessler", "classic"],
        seats: vec![2, 3],
        matches: 1,
        ..CheckScope::default()
    };
    let agent = roster().parse("rollout(n=24)").unwrap();
    let found = check_agent(|| agent.make(), &effort).unwrap_or_else(|error| panic!("{error}"));
    assert!(found.decisions > 100, "only {} decisions", found.decisions);
}

#[test]
fn tree_search_conforms_on_a_small_budget() {
    let effort = CheckScope {
        presets: vec!["original", "faessler", "classic"],
        seats: vec![2, 3],
        matches: 1,
        ..CheckScope::default()
    };
    for spec in ["ismcts(iterations=24)", "ismcts(iterations=24,mode=so)", "ismcts(iterations=24,mode=mo)"] {
        let agent = roster().parse(spec).unwrap();
        let found = check_agent(|| agent.make(), &effort).unwrap_or_else(|error| panic!("{spec}: {error}"));
        assert!(found.decisions > 100, "{spec}: only {} decisions", found.decisions);
    }
}
