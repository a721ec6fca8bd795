//! Time per step of a batch of matches without Python: `cargo run --release -p cambio-benches --bin batch -- classic 2 1024`.
//!
//! The program does the same work as the batch environment of the Python package, with random decisions that were
//! drawn beforehand. It prints nanoseconds per step for the steps alone, with masks, and with masks and tensors: the
//! best of nine passes. For instruction counters and profilers, `step`, `mask` or `tensor` as fourth argument and a
//! number of passes as fifth argument run only that part.

use std::hint::black_box;
use std::time::Instant;

use cambio_core::encode::{ActionSpace, TensorSpace};
use cambio_core::rng::{Bounded as _, Key, Purpose};
use cambio_core::view::RoundHistory;
use cambio_core::{Playing, Rules, View as _};

/// The number of decisions in each pass.
const STEPS: usize = 400_000;

/// The data that is read after each step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reads {
    Nothing,
    Mask,
    Tensor,
}

struct Batch {
    slots: Vec<(Playing, RoundHistory)>,
    space: ActionSpace,
    tensors: TensorSpace,
    masks: Vec<u8>,
    numbers: Vec<u8>,
}

impl Batch {
    fn new(rules: &Rules, seats: usize, matches: usize) -> Batch {
        let (space, tensors) = (ActionSpace::new(rules, seats), TensorSpace::new(rules, seats));
        let slots = (0..matches as u64).map(|deal| {
            let playing = Playing::new(rules, seats, Key::new(1, deal)).expect("the rules allow this number of seats");
            (playing, RoundHistory::new(rules, seats))
        });
        Batch {
            slots: slots.collect(),
            masks: vec![0; matches * space.action_count()],
            numbers: vec![0; matches * tensors.len()],
            space,
            tensors,
        }
    }

    fn reset(&mut self) {
        for (number, (playing, history)) in self.slots.iter_mut().enumerate() {
            redeal(playing, history, number as u64);
        }
    }

    /// The index of a random legal decision for each match.
    fn draw(&self, call: u64) -> Vec<i64> {
        let mut stream = Key::new(2, call).stream(Purpose::Agent, 0);
        let index = |(playing, _): &(Playing, RoundHistory)| {
            let (state, seat) = (playing.state(), playing.state().actor().expect("the match is not over"));
            let legal = state.choices();
            let action = legal.nth(stream.below(legal.len() as u32) as usize).expect("the number is below the choices");
            self.space.to_index(action, seat).expect("an index") as i64
        };
        self.slots.iter().map(index).collect()
    }

    fn step(&mut self, actions: &[i64], reads: Reads) {
        let matches = self.slots.len() as u64;
        let rows = self.masks.chunks_exact_mut(self.space.action_count());
        let rows = rows.zip(self.numbers.chunks_exact_mut(self.tensors.len()));
        for (((playing, history), &index), (mask, numbers)) in self.slots.iter_mut().zip(actions).zip(rows) {
            let seat = playing.state().actor().expect("the match is not over");
            let action = self.space.from_index(index as usize, seat).expect("an index of the space");
            playing.act_observed(action, history).expect("a legal decision");
            if playing.is_over() {
                redeal(playing, history, playing.key().deal.wrapping_add(matches));
            }
            let seat = playing.state().actor().expect("the match is not over");
            let view = playing.state().view(seat);
            if reads >= Reads::Mask {
                mask.fill(0);
                self.space.each(&view.choices(), seat, |index| mask[index] = 1);
            }
            if reads == Reads::Tensor {
                self.tensors.write(&view, history, numbers);
            }
        }
        black_box((&self.masks, &self.numbers));
    }
}

fn redeal(playing: &mut Playing, history: &mut RoundHistory, deal: u64) {
    playing.redeal(Key::new(1, deal));
    history.set_standing(&playing.standing());
    playing.events().iter().for_each(|event| history.notice(event));
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [preset, seats, matches, rest @ ..] = &words[..] else {
        eprintln!("error: give a preset, a number of seats and a number of matches");
        std::process::exit(1);
    };
    let rules = Rules::preset(preset).expect("a preset");
    let seats = seats.parse().expect("a number of seats");
    let matches: usize = matches.parse().expect("a number of matches");
    let (only, passes) = match rest {
        [word, passes] => (Some(word.as_str()), passes.parse().expect("a number of passes")),
        _ => (None, 9),
    };
    let mut batch = Batch::new(&rules, seats, matches);
    batch.reset();
    let calls = (STEPS / matches).max(1);
    let mut actions = Vec::with_capacity(calls);
    for call in 0..calls {
        actions.push(batch.draw(call as u64));
        batch.step(&actions[call], Reads::Nothing);
    }
    let ways = [("step", Reads::Nothing), ("mask", Reads::Mask), ("tensor", Reads::Tensor)];
    let mut best = [f64::INFINITY; 3];
    for _ in 0..passes {
        for ((word, reads), best) in ways.into_iter().zip(&mut best) {
            if only.is_none_or(|only| only == word) {
                batch.reset();
                let begun = Instant::now();
                for chosen in &actions {
                    batch.step(chosen, reads);
                }
                *best = best.min(begun.elapsed().as_secs_f64());
            }
        }
    }
    for ((word, _), best) in ways.into_iter().zip(best).filter(|(_, best)| best.is_finite()) {
        println!("{word:>6} {:7.1} ns", best * 1e9 / (calls * matches) as f64);
    }
}
