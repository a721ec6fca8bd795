//! The engine and copies of one player with no arena around them, to measure what the arena costs:
//! `cargo run --release --example bare -- random classic 2 400000`, then `cambio run` on as many matches
//! (of which it plays one rotation of two, where an agent meets itself).

use std::time::Instant;

use cambio_core::rng::Key;
use cambio_core::{Agent, Pairing, Rules, play_match};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [agent, preset, seats, matches] = &words[..] else {
        eprintln!("error: give an agent, a preset, a number of seats and a number of matches");
        std::process::exit(1);
    };
    let rules = Rules::preset(preset).expect("a preset");
    let (seats, matches): (usize, u64) = (seats.parse().expect("seats"), matches.parse().expect("matches"));
    let spec = cambio_agents::roster().parse(agent).expect("an agent");
    let begun = Instant::now();
    let mut rounds = 0;
    for number in 0..matches {
        let mut agents: Vec<Box<dyn Agent>> = (0..seats).map(|_| spec.make()).collect();
        let key = Key::new(1, number / seats as u64);
        rounds += play_match(&Pairing { rules, seats, key }, &mut agents, &mut ()).expect("no fault").rounds;
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!("{rounds} rounds in {seconds:.2} s, {:.0} a second", rounds as f64 / seconds);
}
