//! The agents of the roster pass the conformance suite that anyone can run on a bot.

use cambio_agents::roster;
use cambio_core::testing::{Effort, check_agent};

fn conforms(spec: &str) {
    let agent = roster().parse(spec).unwrap();
    let found = check_agent(|| agent.make(), &Effort::default()).unwrap_or_else(|error| panic!("{spec}: {error}"));
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
