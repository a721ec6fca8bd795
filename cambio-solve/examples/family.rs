//! Compiles and solves the mini games, one after the other on one core, and prints a table for the book:
//!
//! ```sh
//! cargo run --release -p cambio-solve --example family
//! ```
//!
//! Pass names after `--` to select games. Memory includes the compiled game and its solver; times depend on the
//! machine.

use std::error::Error;
use std::time::Instant;

use cambio_core::rules::MINI_GAMES;
use cambio_core::{Rules, Seat};
use cambio_solve::{Cfr, CfrMethod, Game, Limits, StopCondition};

fn main() -> Result<(), Box<dyn Error>> {
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    let all = MINI_GAMES.map(str::to_owned).to_vec();
    println!(
        "| game | histories | information sets a + b | value for a | uniform `NashConv` | compiled | memory | to 1e-3 \
         | to 1e-4 | histories a second |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for name in if chosen.is_empty() { all } else { chosen } {
        println!("{}", row(&name)?);
    }
    Ok(())
}

fn row(name: &str) -> Result<String, Box<dyn Error>> {
    let rules = Rules::preset(name)?;
    let begun = Instant::now();
    let game = Game::compile(&rules, &Limits::default(), &mut |_| {})?;
    let compiled = begun.elapsed().as_secs_f64();
    let mut cells = vec![
        format!("`{name}`"),
        game.histories().to_string(),
        format!("{} + {}", game.information_sets(Seat::A), game.information_sets(Seat::B)),
        // The value is filled in after the game is solved.
        String::new(),
        format!("{:.5}", game.nash_conv(&game.uniform())),
        seconds(compiled),
        format!("{:.1} MB", (game.bytes() + game.solver_bytes()) as f64 / 1e6),
    ];
    for to in [1e-3, 1e-4] {
        let begun = Instant::now();
        let mut cfr = Cfr::new(&game, CfrMethod::DCFR);
        cfr.run(&StopCondition { iterations: u64::MAX, exploitability: to }, &mut |_| {});
        cells.push(format!("{}, {} iterations", seconds(begun.elapsed().as_secs_f64()), cfr.iterations()));
    }
    let mut cfr = Cfr::new(&game, CfrMethod::DCFR);
    let begun = Instant::now();
    for _ in 0..64 {
        cfr.iterate();
    }
    let rate = 64.0 * game.histories() as f64 / begun.elapsed().as_secs_f64();
    cells.push(format!("{:.0} M", rate / 1e6));
    let strategy = cfr.run(&StopCondition { iterations: u64::MAX, exploitability: 1e-5 }, &mut |_| {});
    // Adding 0 after rounding turns −0 into 0.
    cells[3] = format!("{:.4}", (game.value(&strategy) * 1e4).round() / 1e4 + 0.0);
    Ok(format!("| {} |", cells.join(" | ")))
}

fn seconds(seconds: f64) -> String {
    match seconds {
        _ if seconds < 0.01 => format!("{:.1} ms", seconds * 1e3),
        _ if seconds < 1.0 => format!("{:.0} ms", seconds * 1e3),
        _ => format!("{seconds:.1} s"),
    }
}
