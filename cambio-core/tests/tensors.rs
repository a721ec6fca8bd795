//! Tensors of observations: pinned by value, and the same from whatever they are written.

mod play;

use std::fmt::Write as _;

use cambio_core::rng::Key;
use cambio_core::{
    Action, BlockValues, MINI_GAMES, Observer, PRESETS, Phase, RoundResult, Rules, RulesSpec, Seat, Source, State,
    TensorSpace, View,
};
use play::{Game, Manner, amount, games, odd_games, play};
use serde_json::json;

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

impl Observer for Digest {
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
    play(&rules, seats, Key::new(109, 0), manner, &mut digest);
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

#[test]
fn the_layout_is_pinned_by_value() {
    let mut text = String::new();
    for (name, seats) in [("classic", 2), ("original", 8)] {
        writeln!(text, "{name}, {seats} seats").unwrap();
        for block in TensorSpace::new(&Rules::preset(name).unwrap(), seats).blocks() {
            writeln!(text, "{:>5} {} {:?} {:?}", block.offset, block.name, block.shape, block.values).unwrap();
        }
    }
    insta::assert_snapshot!(text);
}

/// Writes each observation in every way and compares.
struct Ways {
    space: TensorSpace,
    phases: Vec<Phase>,
    most_turns: usize,
}

impl Ways {
    fn compare(&mut self, state: &State) {
        let len = self.space.len();
        let (mut exact, mut again) = (vec![0_i16; len], vec![-1_i16; len]);
        let (mut bytes, mut floats) = (vec![99_u8; len], vec![0.5_f32; len]);
        for &seat in seats_of(state) {
            let (view, state_view) = (state.observe(seat), state.view(seat));
            self.space.write(&view, &mut exact);
            self.space.write(&state_view, &mut again);
            assert_eq!(again, exact);
            self.space.write(&state_view, &mut bytes);
            assert!(bytes.iter().zip(&exact).all(|(&byte, &number)| i16::from(byte) == number.min(255)));
            self.space.write(&view, &mut floats);
            assert!(floats.iter().zip(&exact).all(|(float, &number)| float.to_bits() == f32::from(number).to_bits()));
            self.check_blocks(&view, &exact);
        }
        let phase = state.table().phase();
        if !self.phases.contains(&phase) {
            self.phases.push(phase);
        }
        self.most_turns = self.most_turns.max(state.table().turns());
    }

    /// The blocks say what their numbers are, and the sums of some are those of the table.
    fn check_blocks(&self, view: &impl View, tensor: &[i16]) {
        let table = view.table();
        for block in self.space.blocks() {
            let numbers = &tensor[block.offset..][..block.len()];
            let most = if block.values == BlockValues::Flags { 1 } else { i16::MAX };
            assert!(numbers.iter().all(|number| (0..=most).contains(number)), "{}", block.name);
            let sum = match block.name {
                "phase" | "turn" => 1,
                "pile" => table.pile_len(),
                "occupied" => table.occupied().len(),
                "seen_by" => table.occupied().iter_from(Seat::A).map(|spot| table.seen_by(spot).len()).sum(),
                "face" => view.known().len(),
                _ => continue,
            };
            assert_eq!(numbers.iter().map(|&number| usize::try_from(number).unwrap()).sum::<usize>(), sum);
        }
    }
}

impl Observer for Ways {
    fn decides(&mut self, state: &State, _: Seat, _: Action) {
        self.compare(state);
    }

    fn round_ends(&mut self, state: &State, _: &RoundResult) {
        self.compare(state);
    }
}

fn compare(game: &Game) -> Ways {
    let mut ways = Ways { space: TensorSpace::new(&game.rules, game.seats), phases: Vec::new(), most_turns: 0 };
    game.play(&mut ways);
    ways
}

#[test]
fn a_tensor_has_the_same_numbers_in_each_type_from_an_observation_and_from_a_state() {
    let mut phases: Vec<Phase> = games(110, amount(1, 12)).flat_map(|game| compare(&game).phases).collect();
    // Who takes from the pile names a card; the phases are counted without it.
    for phase in &mut phases {
        if matches!(phase, Phase::Held(_)) {
            *phase = Phase::Held(Source::Stock);
        }
    }
    phases.sort_by_key(|phase| format!("{phase:?}"));
    phases.dedup();
    assert_eq!(phases.len(), 10, "{phases:?}");
}

#[test]
fn a_tensor_has_the_same_numbers_in_each_type_whatever_the_knobs() {
    let mut played = odd_games(111, amount(60, 1000)).map(|game| compare(&game).phases.len());
    assert!(played.by_ref().take(20).all(|phases| phases > 2) && played.count() > 5);
}

#[test]
fn a_byte_holds_255_for_a_higher_count() {
    // Nobody snaps and nobody calls: the round goes on to its turn limit of 400.
    let rules = RulesSpec::from_json(&json!({ "base": "classic", "window": "none" })).unwrap().validate().unwrap();
    let ways = compare(&Game { rules, seats: 2, key: Key::new(1, 0), manner: Manner::Mute });
    assert_eq!(ways.most_turns, 400);
}
