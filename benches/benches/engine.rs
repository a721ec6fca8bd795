//! The engine through its public API, on one core: `cargo bench -p cambio-benches`.

use std::hint::black_box;
use std::time::Instant;

use cambio_benches::{Everyone, Faces, Play};
use cambio_core::encode::TensorSpace;
use cambio_core::rng::{Bounded as _, Key, Purpose};
use cambio_core::view::RoundHistory;
use cambio_core::{Knowledge, Rules, Seat, State};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const TABLES: [(&str, usize); 5] = [("classic", 2), ("classic", 4), ("classic", 8), ("original", 2), ("faessler", 2)];

/// Uniformly random play, including the deals; one element is one decision.
fn random_play(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("random play");
    group.throughput(Throughput::Elements(1));
    for (preset, seats) in TABLES {
        let rules = Rules::preset(preset).expect("a preset");
        for (name, faces) in [("latent", Faces::Latent), ("dealt", Faces::Dealt)] {
            let mut play = Play::new(&rules, seats, faces);
            group.bench_function(format!("{preset}/{seats} seats/{name}"), |bencher| {
                bencher.iter_custom(|decisions| {
                    let begun = Instant::now();
                    let played = play.rounds(decisions, &mut ());
                    begun.elapsed().mul_f64(decisions as f64 / played as f64)
                });
            });
        }
        let mut play = Play::new(&rules, seats, Faces::Dealt);
        let mut everyone = Everyone { seats, faces: 0 };
        group.bench_function(format!("{preset}/{seats} seats/dealt, events for every seat"), |bencher| {
            bencher.iter_custom(|decisions| {
                let begun = Instant::now();
                let played = play.rounds(decisions, &mut everyone);
                begun.elapsed().mul_f64(decisions as f64 / played as f64)
            });
        });
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

/// Tensors of the seat to act, from states early to late in random rounds; one element is one tensor.
fn tensors(criterion: &mut Criterion) {
    const STATES: usize = 64;
    for (preset, seats) in TABLES {
        let rules = Rules::preset(preset).expect("a preset");
        let space = TensorSpace::new(&rules, seats);
        let mut play = Play::new(&rules, seats, Faces::Dealt);
        let states: Vec<(State, Seat, RoundHistory)> = (0..STATES)
            .map(|number| {
                let mut history = RoundHistory::new(&rules, seats);
                let state = play.midgame(number % 32, &mut history);
                let seat = state.actor().expect("the round is not over");
                (state, seat, history)
            })
            .collect();
        let mut group = criterion.benchmark_group(format!("{preset}/{seats} seats/tensor"));
        group.throughput(Throughput::Elements(STATES as u64));
        let mut numbers = vec![0_i16; space.len()];
        group.bench_function("i16, from an observation", |bencher| {
            bencher.iter(|| {
                for (state, seat, history) in &states {
                    space.write(&state.observe(*seat), history, black_box(&mut numbers));
                }
            });
        });
        let mut numbers = vec![0_f32; space.len()];
        group.bench_function("f32, from an observation", |bencher| {
            bencher.iter(|| {
                for (state, seat, history) in &states {
                    space.write(&state.observe(*seat), history, black_box(&mut numbers));
                }
            });
        });
        let mut numbers = vec![0_u8; space.len()];
        group.bench_function("u8, from a state", |bencher| {
            bencher.iter(|| {
                for (state, seat, history) in &states {
                    space.write(&state.view(*seat), history, black_box(&mut numbers));
                }
            });
        });
        group.finish();
    }
}

criterion_group!(benches, random_play, pieces, tensors);
criterion_main!(benches);
