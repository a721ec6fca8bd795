//! The tests of the solver, in one binary, so that it is linked once.

mod arrays;
mod bytes;
mod exact;
mod fusion;
#[path = "../../cambio-core/tests/play/mutate.rs"]
mod mutate;
mod oracle;
mod solvers;
mod tree;

use cambio_core::rng::{Bounded as _, Key, Purpose};
use cambio_core::{Rules, Seat};
use cambio_solve::{Game, Limits, Strategy};

const SEATS: [Seat; 2] = [Seat::A, Seat::B];

fn compile(rules: &Rules) -> Game {
    Game::compile(rules, &Limits::default(), &mut |_| {}).unwrap()
}

fn mini(name: &str) -> Game {
    compile(&Rules::preset(name).unwrap())
}

/// A strategy that is different at every information set.
fn motley(game: &Game) -> Strategy {
    let mut stream = Key::new(7, 0).stream(Purpose::Deck, 0);
    let mut strategy = game.uniform();
    for seat in SEATS {
        for set in 0..game.information_sets(seat) {
            let weights: Vec<f64> = game.choices(seat, set).iter().map(|_| f64::from(1 + stream.below(9))).collect();
            let sum: f64 = weights.iter().sum();
            let probabilities: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
            game.set_probabilities(&mut strategy, seat, set, &probabilities);
        }
    }
    strategy
}

/// The size of a random test: `small`, or `full` with `CAMBIO_FULL=1`.
fn amount<T>(small: T, full: T) -> T {
    if std::env::var_os("CAMBIO_FULL").is_some_and(|value| value == "1") { full } else { small }
}
