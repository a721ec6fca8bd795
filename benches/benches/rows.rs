//! What it costs to write rows: `cargo bench -p cambio-benches --bench rows`. One element is one match.
//!
//! `play` plays matches of the heuristic and makes their rows, as a run does. `ours` writes these rows with the library's row
//! writer. `csv` writes the same cells with the crates csv, itoa and zmij. What the library's own writer saves of a run is the
//! difference of the last two over the time of a match.

use std::path::Path;

use cambio_agents::roster;
use cambio_sim::rows::{Column, Kind, MatchRow, PlayerRow, RoundRow, Row as _, RowKey, RowWriter};
use cambio_sim::{BlockRows, Experiment, play_block};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// A cell as a program holds it before it is written.
enum Value {
    Text(String),
    Whole(i64),
    Float(f64),
    List(Vec<i64>),
}

impl Value {
    fn read(kind: Kind, cell: &str) -> Value {
        match kind {
            _ if cell.is_empty() => Value::Text(String::new()),
            Kind::U32 | Kind::U64 | Kind::I64 => Value::Whole(cell.parse().expect("a whole number")),
            Kind::F64 => Value::Float(cell.parse().expect("a number")),
            Kind::I32BySeat => Value::List(cell.split(' ').map(|number| number.parse().expect("a number")).collect()),
            // Scores of single rounds are shares, which are seldom whole.
            Kind::Word | Kind::Print | Kind::Bool | Kind::F64BySeat => Value::Text(cell.to_owned()),
        }
    }
}

/// The rows of a file as values.
fn values(columns: &[Column], file: &[u8]) -> Vec<Vec<Value>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(file);
    let rows = reader.records().map(|row| row.expect("a row"));
    rows.map(|row| columns.iter().zip(&row).map(|(column, cell)| Value::read(column.kind, cell)).collect()).collect()
}

fn write(rows: &[Vec<Value>], buffer: Vec<u8>) -> Vec<u8> {
    let mut csv = csv::Writer::from_writer(buffer);
    let (mut whole, mut float, mut list) = (itoa::Buffer::new(), zmij::Buffer::new(), String::new());
    for row in rows {
        for value in row {
            let cell = match value {
                Value::Text(text) => text,
                Value::Whole(number) => whole.format(*number),
                Value::Float(number) => float.format_finite(*number),
                Value::List(numbers) => {
                    list.clear();
                    for number in numbers {
                        if !list.is_empty() {
                            list.push(' ');
                        }
                        list.push_str(whole.format(*number));
                    }
                    &list
                }
            };
            csv.write_field(cell).expect("memory takes it");
        }
        csv.write_record(None::<&[u8]>).expect("memory takes it");
    }
    csv.into_inner().expect("memory takes it")
}

fn ours(blocks: &[BlockRows<'_>], buffers: [Vec<u8>; 3]) -> [Vec<u8>; 3] {
    let [mut matches, mut rounds, mut players] = buffers.map(RowWriter::over);
    let mut key = RowKey::default();
    let first = &blocks[0].matches[0];
    key.set_lineup(first.rules, first.seats, first.lineup);
    for block in blocks {
        block.matches.iter().for_each(|row| matches.put(key.of_match(row.deal, row.rotation), row));
        block.rounds.iter().for_each(|row| rounds.put(key.of_match(row.deal, row.rotation), row));
        block.players.iter().for_each(|row| players.put(key.of_match(row.deal, row.rotation), row));
    }
    [matches, rounds, players].map(|writer| writer.into_bytes().0)
}

fn rows(criterion: &mut Criterion) {
    let experiment = Experiment {
        seed: Some(1.into()),
        deals: 200,
        rules: vec!["classic".into()],
        seats: vec![2],
        agents: vec!["heuristic".into(), "sharp".into()],
        ..Experiment::default()
    };
    let plan = experiment.plan(&roster(), Path::new(".")).expect("the experiment is a good one");
    let play_all = || -> Vec<BlockRows<'_>> {
        plan.blocks().map(|block| play_block(&plan, &block).expect("nobody is at fault")).collect()
    };
    let blocks = play_all();
    let matches: usize = blocks.iter().map(|block| block.matches.len()).sum();
    let mut written = ours(&blocks, Default::default());
    let columns = [MatchRow::COLUMNS, RoundRow::COLUMNS, PlayerRow::COLUMNS];
    let files = [0, 1, 2].map(|file: usize| values(columns[file], &written[file]));
    let mut other = files.each_ref().map(|rows| write(rows, Vec::new()));
    assert_eq!(written, other, "both write the same bytes");

    let mut group = criterion.benchmark_group("rows");
    group.throughput(Throughput::Elements(matches as u64));
    group.bench_function("play", |bench| bench.iter(play_all));
    group.bench_function("ours", |bench| bench.iter(|| written = ours(&blocks, std::mem::take(&mut written))));
    group.bench_function("csv", |bench| {
        bench.iter(|| {
            let mut buffers = std::mem::take(&mut other);
            buffers.iter_mut().for_each(Vec::clear);
            let [matches, rounds, players] = buffers;
            other = [write(&files[0], matches), write(&files[1], rounds), write(&files[2], players)];
        });
    });
    group.finish();
}

criterion_group!(benches, rows);
criterion_main!(benches);
