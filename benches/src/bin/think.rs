//! Time per decision of a searching agent, on positions from rounds of heuristic players: `target/dist/think classic 2
//! 'rollout(n=1000)' 64`. It prints milliseconds per searched decision, the share of searched decisions, and iterations
//! per second. The program is also useful under a profiler.

use std::time::Instant;

use cambio_agents::{Arm, Ismcts, Lookahead, LookaheadParams, Rollout, RolloutParams, roster};
use cambio_benches::{Position, positions};
use cambio_core::{Agent, Rules};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [preset, seats, spec, count] = &words[..] else {
        eprintln!(
            "error: give a preset, a number of seats, a spec of rollout, ismcts or lookahead, and a number of positions"
        );
        std::process::exit(1);
    };
    let rules = Rules::preset(preset).expect("a preset");
    let (seats, count) = (seats.parse().expect("a number of seats"), count.parse().expect("a number of positions"));
    let roster = roster();
    let parsed = roster.parse(spec).unwrap_or_else(|error| panic!("{error}"));
    let player = || roster.parse("heuristic").expect("a spec").make();
    if let Some(params) = parsed.params::<RolloutParams>() {
        time(&positions(&rules, seats, count, &player, &Rollout::new(params)), Rollout::arms);
    } else if let Some(params) = parsed.params::<LookaheadParams>() {
        time(&positions(&rules, seats, count, &player, &Lookahead::shipped(params)), Lookahead::arms);
    } else {
        let searcher = Ismcts::new(parsed.params().expect("rollout, ismcts or lookahead"));
        time(&positions(&rules, seats, count, &player, &searcher), Ismcts::arms);
    }
}

fn time<A: Agent + Clone>(positions: &[Position<A>], arms: impl Fn(&A) -> &[Arm]) {
    let mut agents: Vec<A> = positions.iter().map(|position| position.agent.clone()).collect();
    let mut best = f64::INFINITY;
    let (mut decisions, mut iterations) = (0, 0);
    // The best of three passes, because the machine may be busy.
    for _ in 0..3 {
        let begun = Instant::now();
        (decisions, iterations) = (0, 0);
        for (agent, position) in agents.iter_mut().zip(positions) {
            let seat = position.state.actor().expect("a position has a seat to act");
            agent.decide(&position.state.observe(seat)).expect("a search can continue");
            decisions += usize::from(!arms(agent).is_empty());
            iterations += arms(agent).iter().map(|arm| u64::from(arm.visits)).sum::<u64>();
        }
        best = best.min(begun.elapsed().as_secs_f64());
    }
    let (each, share) = (best * 1e3 / decisions as f64, 100.0 * decisions as f64 / positions.len() as f64);
    let rate = iterations as f64 / best / 1e6;
    println!("{each:.3} ms per searched decision, {share:.0} % searched; {rate:.2} million iterations per second");
}
