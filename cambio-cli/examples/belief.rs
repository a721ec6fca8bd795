//! Measures how well sampled worlds predict the cards that their owner has seen and the watching seat has not:
//! `cargo run --release -p cambio-cli --example belief -- --matches 1000`.
//!
//! `learned` plays itself at two seats. At one in eight of the watching seat's decisions with a choice, worlds are
//! sampled: uniformly, or weighted by the likelihood of the other seat's decisions under the network. Each sampling
//! method predicts the class of every such card by its frequency in the worlds (with the estimator of Krichevsky and
//! Trofimov 1981, which adds half a world per class). The table has the mean cross-entropy, -ln(probability of the
//! truth), and its perplexity, the effective number of classes.

use std::error::Error;

use cambio_agents::{Inference, NetworkPolicy, Policy, SamplingSettings};
use cambio_core::encode::TensorSpace;
use cambio_core::rng::Key;
use cambio_core::{Briefing, Observation, Playing, Rules, Seat, Spot, State};
use clap::Parser;
use indicatif::ProgressBar;

/// Measures how well sampled worlds predict hidden cards.
#[derive(Parser)]
struct Args {
    /// The preset of the rules
    #[arg(long, default_value = "classic")]
    rules: String,
    /// The number of matches
    #[arg(long, default_value_t = 300)]
    matches: u64,
    /// The seed of the deals
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The sampling methods, with their names.
fn draws() -> [(&'static str, SamplingSettings); 4] {
    let weighed = |proposals| SamplingSettings { worlds: 1000, proposals, ..SamplingSettings::default() };
    [
        ("1,000 even worlds", SamplingSettings { last: 0, ..weighed(1000) }),
        ("240 of 1,500, the default of `lookahead`", SamplingSettings::default()),
        ("1,000 of 10,000", weighed(10_000)),
        ("1,000 of 100,000", weighed(100_000)),
    ]
}

/// Worlds are sampled at one in this number of decisions.
const ONE_IN: u64 = 8;

/// The cards of the other seat that the other seat has seen and this seat has not.
fn hidden(view: &Observation<'_>) -> Vec<Spot> {
    let (table, other) = (view.table(), view.seat().next(2));
    table.layout(other).without(view.known()).intersection(table.seen(other)).iter_from(other).collect()
}

/// The cross-entropy of the predicted class of each card, summed over the cards.
fn cross_entropy(space: &TensorSpace, state: &State, cards: &[Spot], worlds: &[State]) -> f64 {
    let class = |world: &State, spot| world.table().rules().class(world.face(spot).expect("a card lies there"));
    let loss = |&spot: &Spot| {
        let truth = class(state, spot);
        let hits = worlds.iter().filter(|world| class(world, spot) == truth).count() as f64;
        -libm::log((hits + 0.5) / (worlds.len() as f64 + 0.5 * space.classes() as f64))
    };
    cards.iter().map(loss).sum()
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let rules = Rules::preset(&args.rules)?;
    let space = TensorSpace::new(&rules, 2);
    let draws = draws();
    let (mut count, mut sums) = (0, [0.0; 4]);
    let bar = ProgressBar::new(args.matches);
    for deal in 0..args.matches {
        bar.inc(1);
        let key = Key::new(args.seed, deal);
        let mut playing = Playing::new(&rules, 2, key)?;
        let watching = Seat::ALL[(deal % 2) as usize];
        let mut policy = NetworkPolicy::shipped();
        let past = policy.begin(&rules, 2)?;
        let stream = key.agent(watching);
        let mut inference =
            Inference::new(&Briefing { rules: &rules, seats: 2, seat: watching, stream: &stream }, past);
        playing.sightings(watching).for_each(|sighting| inference.notice(&sighting));
        policy.round_begins(&playing.standing());
        let mut decisions = deal;
        while let Some(turn) = playing.turn() {
            let (seat, choices) = (turn.seat, turn.view.choices().len());
            let state = playing.state();
            if seat != watching {
                inference.spectate(state.table());
            } else if choices > 1 {
                decisions += 1;
                let view = state.observe(watching);
                let cards = hidden(&view);
                if decisions.is_multiple_of(ONE_IN) && !cards.is_empty() {
                    count += cards.len();
                    for ((_, draw), sum) in draws.iter().zip(&mut sums) {
                        let worlds = inference.draw(&view, &mut policy, draw, deal << 16 | decisions);
                        *sum += cross_entropy(&space, state, &cards, &worlds);
                    }
                }
            }
            let action = policy.decide(&playing.state().view(seat), inference.past());
            let rounds = playing.rounds();
            playing.act(action)?;
            playing.sightings(watching).for_each(|sighting| inference.notice(&sighting));
            if playing.rounds() != rounds && !playing.is_over() {
                policy.round_begins(&playing.standing());
            }
        }
    }
    bar.finish_and_clear();
    println!("| `{}`, {count} cards | nats | as one of |\n|---|---:|---:|", args.rules);
    for ((name, _), sum) in draws.iter().zip(sums) {
        let nats = sum / count as f64;
        println!("| {name} | {nats:.3} | {:.1} |", libm::exp(nats));
    }
    Ok(())
}
