//! The overhead of a run over the engine alone: `cargo bench -p cambio-benches --bench arena`. An element is a round.
//!
//! `alone` is only the engine: the same agents, deals and rotations, without counts and files. `run` does the same as
//! `cambio run`: rows, sums, hashes, synced files, ledger and report. If an agent plays itself, `run` plays one
//! rotation and writes its rows for both; with two agents it plays both rotations. The speedup of `alone` on two
//! threads is an upper bound for `run`. Under `cargo test`, or with `-- --test`, everything runs once on few deals.

use std::path::Path;

use cambio_agents::roster;
use cambio_core::rng::Key;
use cambio_core::{Deal, Players, Referee, Rules};
use cambio_sim::{Executor, Experiment, Lineups, PlayablePlan, RunFolder, Runner};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const SEATS: usize = 2;

fn alone(lineup: [&str; SEATS], deals: std::ops::Range<u64>) {
    let rules = Rules::preset("classic").expect("a preset");
    let players: Players<_> = lineup.map(|agent| roster().parse(agent).expect("an agent").make()).into();
    let mut referee = Referee::new(Deal::new(&rules, Key::new(1, deals.start)), players, ()).expect("a match");
    for deal in deals {
        for _ in 0..SEATS {
            referee.restart(Key::new(1, deal)).expect("all can play");
            referee.run().expect("all decide legally");
            referee.players_mut().agents_mut().rotate_left(1);
        }
    }
}

fn alone_on(threads: u64, lineup: [&str; SEATS], deals: u64) {
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || alone(lineup, thread * deals / threads..(thread + 1) * deals / threads));
        }
    });
}

fn run(plan: &PlayablePlan, folder: &Path, threads: usize) {
    let mut folder = RunFolder::create(folder, plan).expect("the folder can be written");
    let executor = Executor::new(threads).expect("threads");
    let report = Runner::new(&executor).run(plan, &mut folder).expect("the plan can be played");
    assert_eq!(report.matches, plan.matches());
}

fn arena(criterion: &mut Criterion) {
    let has_flag = |flag: &str| std::env::args().any(|word| word == flag);
    let is_tried = has_flag("--test") || !has_flag("--bench");
    let path = std::env::temp_dir().join(format!("cambio-bench-{}", std::process::id()));
    for (lineup, deals) in [
        (["random", "random"], 500_000),
        (["random", "random(pass=0.1)"], 500_000),
        (["heuristic", "heuristic"], 200_000),
        (["heuristic", "sharp"], 200_000),
    ] {
        let deals = if is_tried { 200 } else { deals };
        let mut agents = lineup.to_vec();
        agents.dedup();
        let experiment = Experiment {
            seed: Some(1.into()),
            deals,
            lineups: Lineups::Listed(vec![lineup.map(str::to_owned).to_vec()]),
            ..Experiment::at("classic", SEATS, &agents)
        };
        let plan = experiment.plan(&roster(), Path::new(".")).expect("a plan");
        let mut group = criterion.benchmark_group(format!("{}, classic", lineup.join(" and ")));
        group.sample_size(10).throughput(Throughput::Elements(plan.matches()));
        for threads in [1, 2] {
            group.bench_function(BenchmarkId::new("alone", threads), |bencher| {
                bencher.iter(|| alone_on(threads, lineup, deals));
            });
            group.bench_function(BenchmarkId::new("run", threads), |bencher| {
                // Removes the folder of the previous iteration.
                let clear = || drop(std::fs::remove_dir_all(&path));
                bencher.iter_batched(clear, |()| run(&plan, &path, threads as usize), BatchSize::PerIteration);
            });
        }
        group.finish();
    }
    let _ = std::fs::remove_dir_all(&path);
}

criterion_group!(benches, arena);
criterion_main!(benches);
