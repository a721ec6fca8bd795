//! Compiles and solves a mini game.
use std::time::Instant;

use cambio_core::{Rules, Seat};
use cambio_solve::{Cfr, Game, Limits, Method, Until};

fn main() {
    for name in std::env::args().skip(1) {
        let rules = Rules::preset(&name).unwrap();
        let begun = Instant::now();
        let game = Game::compile(&rules, &Limits::default(), &mut |_| {}).unwrap();
        let built = begun.elapsed();
        println!(
            "{name}: {} histories, {} + {} sets, {} terminals, {} entries, {} kB, uniform {:.5}, {:.3} s",
            game.histories(),
            game.information_sets(Seat::A),
            game.information_sets(Seat::B),
            game.terminals(),
            game.entries(),
            game.bytes() / 1000,
            game.nash_conv(&game.uniform()),
            built.as_secs_f64()
        );
        for method in [Method::DCFR, Method::Plus] {
            for to in [1e-3, 1e-4] {
                let begun = Instant::now();
                let mut cfr = Cfr::new(&game, method);
                let strategy = cfr.run(&Until { iterations: 100_000, exploitability: to }, &mut |_| {});
                println!(
                    "  {method:?} {to}: {} iterations, {:.3} s, value {:.7}",
                    cfr.iterations(),
                    begun.elapsed().as_secs_f64(),
                    game.value(&strategy)
                );
            }
            let begun = Instant::now();
            let mut cfr = Cfr::new(&game, method);
            for _ in 0..64 {
                cfr.iterate();
            }
            let s = begun.elapsed().as_secs_f64();
            let e = game.exploitability(&cfr.average());
            println!(
                "  64 iterations {s:.3} s, {:.1} M histories/s, {e:.2e}",
                game.histories() as f64 * 64.0 / s / 1e6
            );
        }
    }
}
