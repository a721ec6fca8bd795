//! The engine through its public API, on one core: `cargo bench -p cambio-benches`.

use std::hint::black_box;
use std::time::Instant;

use cambio_benches::{Everyone, Faces, Play, tensor_positions};
use cambio_core::encode::TensorSpace;
use cambio_core::engine::Sink;
use cambio_core::rng::{Bounded as _, Key, Purpose};
use cambio_core::view::RoundHistory;
use cambio_core::{Knowledge, Rules, Seat, State};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};

const TABLES: [(&str, usize); 5] = [("classic", 2), ("classic", 4), ("classic", 8), ("original", 2), ("faessler", 2)];

/// Measures the time of one decision of random rounds.
fn timed(group: &mut BenchmarkGroup<'_, WallTime>, name: String, play: &mut Play, sink: &mut impl Sink) {
    group.bench_function(name, |bencher| {
        bencher.iter_custom(|decisions| {
            let begun = Instant::now();
            let played = play.rounds(decisions, sink);
            begun.elapsed().mul_f64(decisions as f64 / played as f64)
        });
    });
}

/// Uniformly random play, including the deals; one element is one decision.
fn random_play(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("random play");
    group.throughput(Throughput::Elements(1));
    for (preset, seats) in TABLES {
        let rules = Rules::preset(preset).expect("a preset");
        for (name, faces) in [("latent", Faces::Latent), ("dealt", Faces::Dealt)] {
            let mut play = Play::new(&rules, seats, faces);
            timed(&mut group, format!("{preset}/{seats} seats/{name}"), &mut play, &mut ());
        }
        let mut play = Play::new(&rules, seats, Faces::Dealt);
        let mut everyone = Everyone { seats, faces: 0 };
        let name = format!("{preset}/{seats} seats/dealt, events for every seat");
        timed(&mut group, name, &mut play, &mut everyone);
        black_box(everyone.faces);
    }
    group.finish();
}

/// The operations of a search between decisions: deal, clone, observe, sample.
fn pieces(criterion: &mut Criterion) {
    for (preset, seats) in TABLES {
        let rules = Rules::preset(preset).expect("a preset");
        let mut group = criterion.benchmark_group(format!("{preset}/{seats} seats"));
        let mut play = Play::new(&rules, seats, Faces::Dealt);
        group.bench_function("deal and shuffle", |bencher| bencher.iter(|| black_box(play.deal(&mut ()))));
        let mut knowledge = Knowledge::new(&rules, seats, Seat::A);
        let state = play.midgame(12, &mut |event: &cambio_core::Event<_>| knowledge.notice(&event.seen_from(Seat::A)));
        group.bench_function("clone", |bencher| bencher.iter(|| black_box(black_box(&state).clone())));
        group.bench_function("observe", |bencher| bencher.iter(|| black_box(black_box(&state).observe(Seat::A))));
        let view = state.observe(Seat::A);
        let mut stream = Key::new(1, 1).stream(Purpose::Agent, 0);
        group.bench_function("sample a world", |bencher| {
            bencher.iter(|| black_box(knowledge.sample(black_box(&view), &mut stream)));
        });
        group.finish();
    }
    let mut stream = Key::new(1, 2).stream(Purpose::Agent, 0);
    let mut deck: Vec<u8> = (0..54).collect();
    criterion.bench_function("shuffle 54 cards", |bencher| bencher.iter(|| stream.shuffle(black_box(&mut deck))));
}

/// Measures the time of a loop over all states.
fn each(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    states: &[(State, Seat, RoundHistory)],
    mut write: impl FnMut(&State, Seat, &RoundHistory),
) {
    group.bench_function(name, |bencher| {
        bencher.iter(|| states.iter().for_each(|(state, seat, history)| write(state, *seat, history)));
    });
}

/// Tensors of the seat to act, from states early to late in random rounds; one element is one tensor.
fn tensors(criterion: &mut Criterion) {
    for (preset, seats) in TABLES {
        let rules = Rules::preset(preset).expect("a preset");
        let space = TensorSpace::new(&rules, seats);
        let states = tensor_positions(&rules, seats);
        let mut group = criterion.benchmark_group(format!("{preset}/{seats} seats/tensor"));
        group.throughput(Throughput::Elements(states.len() as u64));
        let mut numbers = vec![0_i16; space.len()];
        each(&mut group, "i16, from an observation", &states, |state, seat, history| {
            space.write(&state.observe(seat), history, black_box(&mut numbers));
        });
        let mut numbers = vec![0_f32; space.len()];
        each(&mut group, "f32, from an observation", &states, |state, seat, history| {
            space.write(&state.observe(seat), history, black_box(&mut numbers));
        });
        let mut numbers = vec![0_u8; space.len()];
        each(&mut group, "u8, from a state", &states, |state, seat, history| {
            space.write(&state.view(seat), history, black_box(&mut numbers));
        });
        group.finish();
    }
}

criterion_group!(benches, random_play, pieces, tensors);
criterion_main!(benches);
