//! Tensors of observations: pinned by value.

mod play;

use cambio_core::rng::Key;
use cambio_core::{Action, MINI_GAMES, PRESETS, RoundResult, Rules, Scribe, Seat, State, TensorSpace};
use play::{Manner, play};

fn seats_of(state: &State) -> &'static [Seat] {
    &Seat::ALL[..state.table().seats()]
}

/// Digests the tensors of every seat at every decision and at the end of each round (FNV-1a).
struct Digest {
    space: TensorSpace,
    tensor: Vec<i16>,
    hash: u64,
}

impl Digest {
    fn add(&mut self, state: &State) {
        for &seat in seats_of(state) {
            self.space.write(&state.observe(seat), &mut self.tensor);
            for byte in self.tensor.iter().flat_map(|number| number.to_le_bytes()) {
                self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
}

impl Scribe for Digest {
    fn decides(&mut self, state: &State, _: Seat, _: Action) {
        self.add(state);
    }

    fn round_ends(&mut self, state: &State, _: &RoundResult) {
        self.add(state);
    }
}

/// A line with the length of a tensor and the digest of those of a match.
fn digest(name: &str, seats: usize) -> String {
    let rules = Rules::preset(name).unwrap();
    let space = TensorSpace::new(&rules, seats);
    let len = space.len();
    let mut digest = Digest { tensor: vec![0; len], space, hash: 0xcbf2_9ce4_8422_2325 };
    let manner = if seats == 3 { Manner::Uniform } else { Manner::Moderate };
    play(&rules, seats, Key { seed: 109, deal: 0 }, manner, &mut digest);
    format!("{name}, {seats} seats: {len} numbers, {:016x}\n", digest.hash)
}

#[test]
fn tensors_are_pinned_by_value() {
    let mut text = String::new();
    for name in PRESETS {
        (2..=8).for_each(|seats| text += &digest(name, seats));
    }
    for name in MINI_GAMES {
        text += &digest(name, 2);
    }
    insta::assert_snapshot!(text);
}
