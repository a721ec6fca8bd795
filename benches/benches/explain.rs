//! The cost of an explanation after each decision, on one core: the same agent on the same positions of `classic`, with
//! and without explanations.
//!
//! The variants take turns, so that a slower machine slows all of them. The output is the median of the ratios of
//! adjacent timings, which is robust against a burst of other work.

use std::hint::black_box;
use std::time::Duration;

use cambio_agents::{Learned, Lookahead, LookaheadParams, Rollout, RolloutParams, roster};
use cambio_benches::{Position, positions};
use cambio_core::{Agent, Rules};
use criterion::measurement::{Measurement, WallTime};

const POSITIONS: usize = 24;

/// The number of timings per variant; fewer if cargo only tests that the benchmark runs.
fn rounds() -> usize {
    if std::env::args().any(|argument| argument == "--bench") { 300 } else { 12 }
}

/// Decides in every position, and asks for an explanation if `asks` is true. Returns the time.
fn time<A: Agent>(positions: &mut [Position<A>], asks: bool) -> Duration {
    let begun = WallTime.start();
    for Position { agent, state } in positions {
        let view = state.observe(state.actor().expect("a seat decides in every position"));
        let decided = black_box(agent.decide(&view).expect("the agent can continue"));
        if asks {
            black_box(agent.explain(&view, decided));
        }
    }
    WallTime.end(begun)
}

/// The median and its nonparametric 95 % interval (Conover 1999, 3.2).
fn median(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    let (middle, half) = (values.len() / 2, (0.98 * (values.len() as f64).sqrt()) as usize + 1);
    [middle, middle - half, middle + half].map(|place| values[place])
}

fn compare<A: Agent + Clone>(name: &str, agent: &A) {
    let rules = Rules::preset("classic").expect("a preset");
    let heuristic = || roster().parse("heuristic").expect("a spec").make();
    // The second variant equals the first; their ratio shows the noise.
    let mut all = [(); 3].map(|()| positions(&rules, 2, POSITIONS, &heuristic, agent));
    let mut times = [const { Vec::new() }; 3];
    for round in 0..=rounds() {
        for turn in 0..3 {
            let place = (turn + round) % 3;
            let taken = time(&mut all[place], place == 2);
            // The first round is a warm-up, so its times are dropped.
            if round > 0 {
                times[place].push(taken.as_secs_f64());
            }
        }
    }
    let micros = median(times[0].clone())[0] / POSITIONS as f64 * 1e6;
    println!("{name}: {micros:.1} µs per decision");
    for (place, what) in [(1, "the same once more"), (2, "explains each decision")] {
        let ratios: Vec<f64> = times[place].iter().zip(&times[0]).map(|(own, plain)| own / plain).collect();
        let [ratio, low, high] = median(ratios).map(|ratio| 100.0 * (ratio - 1.0));
        println!("  {what}: {ratio:+.2} % ({low:+.2} to {high:+.2})");
    }
}

fn main() {
    compare("learned", &Learned::shipped());
    compare("rollout(n=100)", &Rollout::new(&RolloutParams { n: 100, ..RolloutParams::default() }));
    compare("lookahead(worlds=48)", &Lookahead::shipped(&LookaheadParams { worlds: 48, ..LookaheadParams::default() }));
}
