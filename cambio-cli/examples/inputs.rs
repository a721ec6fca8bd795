//! Measures how close to perfect play a network can come with its inputs, on solved games:
//! `cargo run --release -p cambio-cli --example inputs -- --games mini-p`.
//!
//! A network makes the same decision at information sets with equal inputs. For each game this example finds, by CFR+
//! with shared regrets, such a strategy with low exploitability against an opponent that distinguishes all information
//! sets. It prints a table, and reports progress after 1, 2, 4, 8, … iterations.

use std::error::Error;

use cambio_agents::{NetworkEvaluation, NetworkInputs};
use cambio_core::view::CardHistory;
use cambio_core::{Rules, Score, Seat};
use cambio_solve::{Abstraction, Game, InfosetView, Limits, Perceived, SolverProgress, StopCondition};
use clap::Parser;

/// Finds the lowest exploitability of a player that knows only the inputs of a network.
#[derive(Parser)]
struct Args {
    /// The games
    #[arg(long, value_name = "GAME", num_args = 1.., default_values = ["mini-m1", "mini-m3"])]
    games: Vec<String>,
    /// The number of iterations
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u64).range(1..))]
    iterations: u64,
}

/// What a network can distinguish: the inputs of each candidate, and the candidate for each choice.
fn perceive(
    inputs: &NetworkInputs,
    moment: &InfosetView<'_>,
    evaluation: &mut NetworkEvaluation,
) -> Perceived<Vec<Vec<u16>>> {
    let (view, standing) = (moment.view, inputs.standing(&[Score::default(); 2], moment.seat));
    let mut history = CardHistory::new(moment.rules, 2);
    moment.sightings.iter().for_each(|sighting| history.notice(sighting));
    inputs.look(view, &history, &standing, evaluation);
    let count = evaluation.actions().len();
    let on = |place| {
        let mut on = Vec::new();
        // With one candidate there is no choice.
        if count > 1 {
            inputs.on(view, evaluation, place, |input| on.push(input as u16));
        }
        on
    };
    let key = (0..count).map(on).collect();
    let place = |action| match count {
        1 => Some(0),
        _ => evaluation.index_of(inputs, view, action).map(|place| place as u16),
    };
    Perceived { key, candidates: view.choices().iter().map(place).collect() }
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    println!("| game | information sets | told apart | iterations | exploitability |\n|---|---:|---:|---:|---:|");
    for name in &args.games {
        let rules = Rules::preset(name)?;
        let game = Game::compile(&rules, &Limits::default(), &mut |_| {})?;
        let sets = Seat::ALL[..2].iter().map(|&seat| game.information_sets(seat)).sum::<usize>();
        let (inputs, mut evaluation) = (NetworkInputs::new(&rules), NetworkEvaluation::default());
        let abstraction = Abstraction::of(&game, |moment| perceive(&inputs, moment, &mut evaluation))?;
        let until = StopCondition { iterations: args.iterations, exploitability: f64::MIN_POSITIVE };
        let (mut made, mut found) = (0, f64::NAN);
        abstraction.solve(&until, &mut |progress| {
            if let SolverProgress::Iterated { iterations, exploitability: Some(exploitability) } = progress {
                eprintln!("{name}: {exploitability:.5} after {iterations} iterations");
                (made, found) = (iterations, exploitability);
            }
        });
        println!("| `{name}` | {sets} | {} | {made} | {found:.4} |", abstraction.classes());
    }
    Ok(())
}
