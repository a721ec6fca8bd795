//! The agents of the roster pass the conformance suite that anyone can run on a bot.

use cambio_agents::{Preset, WordEnum as _, roster};
use cambio_core::testing::{CheckScope, check_agent};

#[test]
fn agents_conform_at_every_table() {
    for spec in [
        "random",
        "random(pass=0.9)",
        "greedy",
        "greedy(call_at=12)",
        "heuristic",
        "heuristic(decay=0.2)",
        "heuristic(capacity=2)",
        "heuristic(threshold=0.7)",
        "heuristic(confusion=0.5,decay=0.05)",
    ] {
        let agent = roster().parse(spec).unwrap();
        let found =
            check_agent(|| agent.make(), &CheckScope::default()).unwrap_or_else(|error| panic!("{spec}: {error}"));
        assert_eq!(found.matches, 6 * 4 * 12);
        assert!(found.decisions > 10_000, "{spec}: only {} decisions", found.decisions);
    }
}

#[test]
fn heuristics_of_every_preset_conform() {
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

/// Neither the decision nor the root statistics may depend on hidden cards.
#[test]
fn searches_conform_on_a_small_budget() {
    let effort = CheckScope {
        presets: vec!["original", "faessler", "classic"],
        seats: vec![2, 3],
        matches: 1,
        ..CheckScope::default()
    };
    for spec in
        ["rollout(n=24)", "ismcts(iterations=24)", "ismcts(iterations=24,mode=so)", "ismcts(iterations=24,mode=mo)"]
    {
        let agent = roster().parse(spec).unwrap();
        let found = check_agent(|| agent.make(), &effort).unwrap_or_else(|error| panic!("{spec}: {error}"));
        assert!(found.decisions > 100, "{spec}: only {} decisions", found.decisions);
    }
}
