//! What a decision of a searching agent costs, over positions from rounds of heuristics:
//! `target/release/examples/think classic 2 'rollout(n=1000)' 64`. Prints milliseconds a decision and iterations a
//! second; under a profiler it shows where they go.

use std::time::Instant;

use cambio_agents::{Ismcts, Rollout, roster};
use cambio_benches::{Position, positions};
use cambio_core::{Agent, Rules};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [preset, seats, spec, count] = &words[..] else {
        eprintln!("error: give a preset, a number of seats, a spec of rollout or ismcts, and a number of positions");
        std::process::exit(1);
    };
    let rules = Rules::preset(preset).expect("a preset");
    let (seats, count) = (seats.parse().expect("a number of seats"), count.parse().expect("a number of positions"));
    let roster = roster();
    let parsed = roster.parse(spec).unwrap_or_else(|error| panic!("{error}"));
    let player = || roster.parse("heuristic").expect("a spec").make();
    if let Some(params) = parsed.params() {
        let searcher = Rollout::new(params);
        time(&positions(&rules, seats, count, &player, &searcher), |agent| agent.arms().iter().map(|a| a.visits).sum());
    } else {
        let searcher = Ismcts::new(parsed.params().expect("rollout or ismcts"));
        time(&positions(&rules, seats, count, &player, &searcher), |agent| agent.arms().iter().map(|a| a.visits).sum());
    }
}

fn time<A: Agent + Clone>(positions: &[Position<A>], iterations: impl Fn(&A) -> u32) {
    let mut agents: Vec<A> = positions.iter().map(|position| position.agent.clone()).collect();
    let mut best = f64::INFINITY;
    let mut searched = 0;
    // The best of three: the machine may be busy.
    for _ in 0..3 {
        let begun = Instant::now();
        searched = 0;
        for (agent, position) in agents.iter_mut().zip(positions) {
            let seat = position.state.actor().expect("a position asks somebody");
            agent.decide(&position.state.observe(seat));
            searched += u64::from(iterations(agent));
        }
        best = best.min(begun.elapsed().as_secs_f64());
    }
    let each = best * 1e3 / positions.len() as f64;
    println!("{each:.3} ms a decision, {:.2} million iterations a second", searched as f64 / best / 1e6);
}
