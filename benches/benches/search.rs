//! Search, one core: a decision of `rollout(n=1000)` in the middle of a round, 2, 4 and 8 seats of `classic`.

use std::hint::black_box;

use cambio_agents::Rollout;
use cambio_benches::{Faces, Play};
use cambio_core::rng::Key;
use cambio_core::{Agent as _, Briefing, Event, Rules, Seat};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const ITERATIONS: u32 = 1000;

fn decisions(criterion: &mut Criterion) {
    let rules = Rules::preset("classic").expect("a preset");
    let mut group = criterion.benchmark_group("rollout(n=1000)/classic");
    // One element is one world that is sampled and played out.
    group.throughput(Throughput::Elements(ITERATIONS.into())).sample_size(20);
    for seats in [2, 4, 8] {
        let mut play = Play::new(&rules, seats, Faces::Dealt);
        let stream = Key { seed: 1, deal: 1 }.agent(Seat::A);
        let mut search = Rollout::new(ITERATIONS);
        search.begin(&Briefing { rules: &rules, seats, seat: Seat::A, stream });
        // The first turn of seat a: it draws, which is its one choice, and has a card to keep or drop.
        let mut state = play.deal(&mut |event: &Event<_>| search.notice(&event.seen_from(Seat::A)));
        play.decide(&mut state, &mut |event: &Event<_>| search.notice(&event.seen_from(Seat::A)));
        let view = state.observe(Seat::A);
        assert!(view.choices().len() > 1, "there is something to search");
        group.bench_function(format!("{seats} seats"), |bencher| bencher.iter(|| black_box(search.decide(&view))));
    }
    group.finish();
}

criterion_group!(benches, decisions);
criterion_main!(benches);
