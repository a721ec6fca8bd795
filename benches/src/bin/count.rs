//! Random play for instruction counters, whose counts do not depend on the load of the machine: `valgrind
//! --tool=callgrind target/dist/count classic 2 latent 1000000`. With `tensors` instead of `latent`, the program writes
//! this number of tensors, of positions from random play.

use std::hint::black_box;

use cambio_benches::{Everyone, Faces, Play, tensor_positions};
use cambio_core::Rules;
use cambio_core::encode::TensorSpace;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [preset, seats, faces, decisions] = &words[..] else {
        eprintln!("error: give a preset, a number of seats, `latent`, `dealt`, `events` or `tensors`, and a number");
        std::process::exit(1);
    };
    let rules = Rules::preset(preset).expect("a preset");
    let seats = seats.parse().expect("a number of seats");
    let faces_of = if faces == "latent" { Faces::Latent } else { Faces::Dealt };
    let mut play = Play::new(&rules, seats, faces_of);
    let decisions = decisions.parse().expect("a number of decisions");
    if faces == "tensors" {
        return tensors(&rules, seats, decisions);
    }
    let played = if faces == "events" {
        play.rounds(decisions, &mut Everyone { seats, faces: 0 })
    } else {
        play.rounds(decisions, &mut ())
    };
    println!("{played} decisions");
}

/// Writes the tensors of 64 positions repeatedly.
fn tensors(rules: &Rules, seats: usize, count: u64) {
    let space = TensorSpace::new(rules, seats);
    let positions = tensor_positions(rules, seats);
    let mut numbers = vec![0_u8; space.len()];
    for (state, seat, history) in positions.iter().cycle().take(count as usize) {
        space.write(&state.view(*seat), history, black_box(&mut numbers));
    }
    println!("{count} tensors of {} numbers", numbers.len());
}
