//! Arbitrary bytes as strategy files never cause a panic. The fuzz target calls the same function.

use std::sync::OnceLock;

use cambio_core::Rules;
use cambio_solve::{Game, Limits, Strategy};

fn game() -> &'static Game {
    static GAME: OnceLock<Game> = OnceLock::new();
    let compile = || Game::compile(&Rules::preset("mini-m0").expect("a preset"), &Limits::default(), &mut |_| {});
    GAME.get_or_init(|| compile().expect("a small game"))
}

/// Reads bytes as a strategy file of the smallest game. Returns whether it is a strategy.
///
/// # Panics
/// If a written strategy cannot be read, or its value is not a number.
pub(crate) fn strategy(bytes: &[u8]) -> bool {
    match Strategy::read(game(), &String::from_utf8_lossy(bytes)) {
        Ok(strategy) => {
            assert_eq!(Strategy::read(game(), &strategy.write(game())).as_ref(), Ok(&strategy));
            let (value, exploitability) = (game().value(&strategy), game().exploitability(&strategy));
            assert!(value.is_finite() && exploitability > -1e-6, "{value} {exploitability}");
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use cambio_core::Seat;
    use cambio_core::rng::{Bounded as _, Key};

    use super::*;
    use crate::mutate::mutate;

    #[test]
    fn changed_strategy_files_never_panic() {
        let seed = game().uniform().write(game());
        let (mut stream, mut read) = (Key::new(621, 0).agent(Seat::A), 0);
        assert!(strategy(seed.as_bytes()));
        for _ in 0..crate::amount(2_000, 200_000) {
            let mut bytes = mutate(seed.as_bytes(), seed.as_bytes(), &mut stream);
            if stream.chance(1, 4) {
                // Only an end of a line changes, so that some files are strategies.
                let line = stream.below(seed.lines().count() as u32) as usize;
                let with = ["0", "1", "-0", "1e-400", "inf", "NaN", "2"][stream.below(7) as usize];
                let changed = seed.lines().enumerate().map(|(at, text)| match text.rsplit_once('=') {
                    Some((head, _)) if at == line => format!("{head}={with}\n"),
                    _ => format!("{text}\n"),
                });
                bytes = changed.collect::<String>().into_bytes();
            }
            read += usize::from(strategy(&bytes));
        }
        assert!(read > 20, "{read}");
    }
}
