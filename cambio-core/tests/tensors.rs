//! Tests of tensors: their numbers are pinned by value, and do not depend on the kind of view.

use std::fmt::Write as _;

use crate::play::{Game, Manner, amount, games, odd_games, older_odd_games};
use cambio_core::encode::{TensorBlockValues, TensorSpace};
use cambio_core::engine::CardSource;
use cambio_core::play::RoundResult;
use cambio_core::rng::{Key, Stream};
use cambio_core::rules::{MINI_GAMES, PRESETS};
use cambio_core::view::RoundHistory;
use cambio_core::{
    Action, Card, Event, Knowledge, Observer, Phase, Position, Rules, RulesSpec, Score, Seat, Sighting, State, View,
};
use serde_json::json;

fn seats_of(state: &State) -> &'static [Seat] {
    &Seat::ALL[..state.table().seats()]
}

/// An FNV-1a hash of the tensors of every seat at every decision and at the end of each round.
struct Digest {
    space: TensorSpace,
    history: RoundHistory,
    tensor: Vec<i16>,
    hash: u64,
}

impl Digest {
    fn add(&mut self, state: &State) {
        for &seat in seats_of(state) {
            self.space.write(&state.observe(seat), &self.history, &mut self.tensor);
            for byte in self.tensor.iter().flat_map(|number| number.to_le_bytes()) {
                self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
}

impl Observer for Digest {
    fn event(&mut self, event: &Event<Card>) {
        self.history.notice(event);
    }

    fn decides(&mut self, state: &State, _: Seat, _: Action) {
        self.add(state);
    }

    fn round_ends(&mut self, state: &State, _: &RoundResult) {
        self.add(state);
    }
}

/// The length of a tensor and the hash of all tensors of a match.
fn digest(game: &Game) -> (usize, u64) {
    let space = TensorSpace::new(&game.rules, game.seats);
    let len = space.len();
    let history = RoundHistory::new(&game.rules, game.seats);
    let mut digest = Digest { tensor: vec![0; len], space, history, hash: 0xcbf2_9ce4_8422_2325 };
    game.play(&mut digest);
    (len, digest.hash)
}

/// One line with the hash of a match of a preset or mini game.
fn line(name: &str, seats: usize) -> String {
    let manner = if seats == 3 { Manner::Uniform } else { Manner::Moderate };
    let game = Game { rules: Rules::preset(name).unwrap(), seats, key: Key::new(109, 0), manner };
    let (len, hash) = digest(&game);
    format!("{name}, {seats} seats: {len} numbers, {hash:016x}\n")
}

#[test]
fn tensors_are_pinned_by_value() {
    let mut text = String::new();
    for name in PRESETS {
        (2..=8).for_each(|seats| text += &line(name, seats));
    }
    for name in MINI_GAMES {
        text += &line(name, 2);
    }
    insta::assert_snapshot!(text);
}

#[test]
fn tensors_of_random_rules_are_pinned_by_value() {
    let mut text = String::new();
    for game in older_odd_games(116, 200) {
        let (len, hash) = digest(&game);
        writeln!(text, "{} seats: {len} numbers, {hash:016x}", game.seats).unwrap();
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

/// Writes the tensor of each seat in all number types and from all kinds of views, and compares the results.
struct Ways {
    space: TensorSpace,
    history: RoundHistory,
    phases: Vec<Phase>,
    most_turns: usize,
    decisions: usize,
}

impl Ways {
    fn compare(&mut self, state: &State) {
        let len = self.space.len();
        let (mut exact, mut again) = (vec![0_i16; len], vec![-1_i16; len]);
        let (mut bytes, mut floats) = (vec![99_u8; len], vec![0.5_f32; len]);
        for &seat in seats_of(state) {
            let (view, state_view) = (state.observe(seat), state.view(seat));
            self.space.write(&view, &self.history, &mut exact);
            self.space.write(&state_view, &self.history, &mut again);
            assert_eq!(again, exact);
            self.space.write(&state_view, &self.history, &mut bytes);
            assert!(bytes.iter().zip(&exact).all(|(&byte, &number)| i16::from(byte) == number.min(255)));
            self.space.write(&view, &self.history, &mut floats);
            assert!(floats.iter().zip(&exact).all(|(float, &number)| float.to_bits() == f32::from(number).to_bits()));
            self.check_blocks(&view, &exact);
        }
    }

    fn note(&mut self, state: &State) {
        let phase = state.table().phase();
        if !self.phases.contains(&phase) {
            self.phases.push(phase);
        }
        self.most_turns = self.most_turns.max(state.table().turns());
    }

    /// Checks the range of each block, and the sums of some blocks against the table.
    fn check_blocks(&self, view: &impl View, tensor: &[i16]) {
        let table = view.table();
        for block in self.space.blocks() {
            let numbers = &tensor[block.offset..][..block.len()];
            let most = if block.values == TensorBlockValues::Flags { 1 } else { i16::MAX };
            assert!(numbers.iter().all(|number| (0..=most).contains(number)), "{}", block.name);
            let sum = match block.name {
                "phase" | "turn" => 1,
                "pile" => table.pile_len(),
                "occupied" | "origin" => table.occupied().len(),
                "seen_by" => table.occupied().iter_from(Seat::A).map(|spot| table.seen_by(spot).len()).sum(),
                "face" => view.known().len(),
                "unseen" => {
                    let seen = table.pile_len() + view.known().len() + usize::from(view.held().is_some());
                    table.rules().deck().len() - seen
                }
                _ => continue,
            };
            assert_eq!(numbers.iter().map(|&number| usize::try_from(number).unwrap()).sum::<usize>(), sum);
        }
    }
}

impl Observer for Ways {
    fn event(&mut self, event: &Event<Card>) {
        self.history.notice(event);
    }

    fn decides(&mut self, state: &State, _: Seat, _: Action) {
        self.note(state);
        self.decisions += 1;
        if self.decisions.is_multiple_of(amount(4, 1)) {
            self.compare(state);
        }
    }

    fn round_ends(&mut self, state: &State, _: &RoundResult) {
        self.note(state);
        self.compare(state);
    }
}

fn compare(game: &Game) -> Ways {
    let (space, history) = (TensorSpace::new(&game.rules, game.seats), RoundHistory::new(&game.rules, game.seats));
    let mut ways = Ways { space, history, phases: Vec::new(), most_turns: 0, decisions: 0 };
    game.play(&mut ways);
    ways
}

#[test]
fn tensors_of_observations_and_states_are_equal() {
    let mut phases: Vec<Phase> = games(110, amount(1, 12)).flat_map(|game| compare(&game).phases).collect();
    // `Held` contains the card that was taken from the pile, if any. The phases are counted without this card.
    for phase in &mut phases {
        if matches!(phase, Phase::Held(_)) {
            *phase = Phase::Held(CardSource::Stock);
        }
    }
    phases.sort_by_key(|phase| format!("{phase:?}"));
    phases.dedup();
    assert_eq!(phases.len(), 10, "{phases:?}");
}

#[test]
fn tensors_are_equal_in_each_type_for_random_rules() {
    let mut played = odd_games(111, amount(40, 1000)).map(|game| compare(&game).phases.len());
    assert!(played.by_ref().take(20).all(|phases| phases > 2) && played.count() > 5);
}

#[test]
fn a_byte_holds_255_for_a_higher_count() {
    // Without snaps and calls, the round continues to its turn limit of 400.
    let rules = RulesSpec::from_json(&json!({ "base": "classic", "window": "none" })).unwrap().validate().unwrap();
    let ways = compare(&Game { rules, seats: 2, key: Key::new(1, 0), manner: Manner::Mute });
    assert_eq!(ways.most_turns, 400);
}

/// Compares the tensor of each seat with the tensors of worlds that are indistinguishable for the seat. The history of
/// a seat is built from its sightings alone.
struct Spy {
    space: TensorSpace,
    minds: Vec<(Knowledge, RoundHistory)>,
    referee: RoundHistory,
    stream: Stream,
    decisions: u64,
    worlds: u64,
    happened: Vec<&'static str>,
}

impl Spy {
    /// Checks that the history and the table agree on the seats that have seen each card.
    fn check_sightings(&self, state: &State) {
        for spot in state.table().occupied().iter_from(Seat::A) {
            for &seat in seats_of(state) {
                let turn = self.referee.seen_in(spot, seat);
                assert_eq!(turn.is_some(), state.table().seen_by(spot).contains(seat), "{seat} at {spot}");
                assert!(turn.is_none_or(|turn| usize::from(turn) <= state.table().turns()));
            }
        }
    }

    fn check(&mut self, state: &State) {
        let len = self.space.len();
        let (mut truth, mut guess) = (vec![0_u8; len], vec![0_u8; len]);
        for (mind, history) in &self.minds {
            assert_eq!(*history, self.referee, "every seat has the same history");
            let view = state.observe(mind.seat());
            self.space.write(&view, &self.referee, &mut truth);
            let world = mind.sample(&view, &mut self.stream);
            self.space.write(&world.view(mind.seat()), history, &mut guess);
            assert_eq!(guess, truth, "seat {}", mind.seat());
            self.worlds += 1;
            let last = self.space.block("last").unwrap();
            let flags = truth[last.offset..][..last.len()].iter().zip(RoundHistory::event_names().iter().cycle());
            for (_, name) in flags.filter(|(flag, _)| **flag == 1) {
                if !self.happened.contains(name) {
                    self.happened.push(name);
                }
            }
            let totals = vec![Score::default(); view.table().seats()];
            let text = Position::exact(&view, &totals, 0).to_string();
            assert_eq!(Position::exact(&world.observe(mind.seat()), &totals, 0).to_string(), text);
            assert_eq!(Position::read_exact(&text).unwrap().observation(), view, "{text}");
        }
    }
}

impl Observer for Spy {
    fn event(&mut self, event: &Event<Card>) {
        self.referee.notice(event);
        for (mind, history) in &mut self.minds {
            let sighting = event.seen_from(mind.seat());
            assert_eq!(Sighting::from_code(sighting.code()), Some(sighting));
            mind.notice(&sighting);
            history.notice(&sighting);
        }
    }

    fn decides(&mut self, state: &State, _: Seat, _: Action) {
        self.decisions += 1;
        if self.decisions.is_multiple_of(amount(3, 1)) {
            self.check(state);
        }
        self.check_sightings(state);
    }

    fn round_ends(&mut self, state: &State, _: &RoundResult) {
        self.check_sightings(state);
    }
}

fn spy(game: &Game) -> Spy {
    let Game { rules, seats, key, .. } = game;
    let mind = |&seat: &Seat| (Knowledge::new(rules, *seats, seat), RoundHistory::new(rules, *seats));
    let mut spy = Spy {
        space: TensorSpace::new(rules, *seats),
        minds: Seat::ALL[..*seats].iter().map(mind).collect(),
        referee: RoundHistory::new(rules, *seats),
        stream: key.agent(Seat::H),
        decisions: 0,
        worlds: 0,
        happened: Vec::new(),
    };
    game.play(&mut spy);
    spy
}

#[test]
fn tensors_ignore_hidden_cards() {
    let spies: Vec<Spy> = games(114, amount(1, 12)).map(|game| spy(&game)).collect();
    assert!(spies.iter().map(|spy| spy.worlds).sum::<u64>() > 10_000);
    let mut happened: Vec<&str> = spies.iter().flat_map(|spy| spy.happened.clone()).collect();
    happened.sort_unstable();
    happened.dedup();
    assert!(happened.len() >= RoundHistory::event_names().len() - 3, "{happened:?}");
}

#[test]
fn tensors_ignore_hidden_cards_for_random_rules() {
    let worlds: u64 = odd_games(115, amount(30, 1500)).map(|game| spy(&game).worlds).sum();
    assert!(worlds > amount(2_000, 10_000), "{worlds}");
}
