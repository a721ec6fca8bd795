//! The cost of writing rows: `cargo bench -p cambio-benches --bench rows`. One element is one match.
//!
//! `play` plays matches of heuristic agents and computes their rows, as a run does. `write` writes these rows as CSV.

use std::path::Path;

use cambio_agents::roster;
use cambio_sim::rows::RowWriter;
use cambio_sim::{BlockRows, Experiment, play_block};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

fn rows(criterion: &mut Criterion) {
    let experiment =
        Experiment { seed: Some(1.into()), deals: 200, ..Experiment::at("classic", 2, &["heuristic", "sharp"]) };
    let plan = experiment.plan(&roster(), Path::new(".")).expect("the experiment is valid");
    let play_all = || -> Vec<BlockRows<'_>> {
        plan.blocks().map(|block| play_block(&plan, &block).expect("no agent is at fault")).collect()
    };
    let blocks = play_all();
    let matches: usize = blocks.iter().map(|block| block.matches.len()).sum();
    let mut written: [Vec<u8>; 3] = Default::default();

    let mut group = criterion.benchmark_group("rows");
    group.throughput(Throughput::Elements(matches as u64));
    group.bench_function("play", |bench| bench.iter(play_all));
    group.bench_function("write", |bench| {
        bench.iter(|| {
            let mut files = std::mem::take(&mut written).map(RowWriter::over);
            for block in &blocks {
                block.write(&mut files);
            }
            written = files.map(|file| file.into_bytes().0);
        });
    });
    group.finish();
}

criterion_group!(benches, rows);
criterion_main!(benches);
