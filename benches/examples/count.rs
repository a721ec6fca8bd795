//! Random play for instruction counters, which tell the same on a noisy machine:
//! `valgrind --tool=callgrind target/release/examples/count classic 2 latent 1000000`.

use cambio_benches::{Everyone, Faces, Play};
use cambio_core::Rules;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [preset, seats, faces, decisions] = &words[..] else {
        eprintln!("error: give a preset, a number of seats, `latent`, `dealt` or `events`, and a number of decisions");
        std::process::exit(1);
    };
    let rules = Rules::preset(preset).expect("a preset");
    let seats = seats.parse().expect("a number of seats");
    let faces_of = if faces == "latent" { Faces::Latent } else { Faces::Dealt };
    let mut play = Play::new(&rules, seats, faces_of);
    let decisions = decisions.parse().expect("a number of decisions");
    let played = if faces == "events" {
        play.rounds(decisions, &mut Everyone { seats, faces: 0 })
    } else {
        play.rounds(decisions, &mut ())
    };
    println!("{played} decisions");
}
