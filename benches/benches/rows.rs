//! What it costs to write rows: `cargo bench -p cambio-benches --bench rows`. One element is one match.
//!
//! `play` plays matches of the heuristic and makes their rows, as a run does. `ours` writes these rows with the library's row
//! writer. `csv` writes the same cells with the crates csv, itoa and zmij. What the library's own writer saves of a run is the
//! difference of the last two over the time of a match.

use std::path::Path;

use cambio_agents::roster;
use cambio_sim::rows::{BySeat, MatchRow, PlayerRow, RoundRow, Row as _, RowKey, Sheet};
use cambio_sim::{BlockRows, Experiment, play_block};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Writes cells with csv, itoa and zmij.
struct Cells {
    csv: csv::Writer<Vec<u8>>,
    whole: itoa::Buffer,
    float: zmij::Buffer,
    list: String,
}

impl Cells {
    fn text(&mut self, text: &str) {
        self.csv.write_field(text).expect("memory takes it");
    }

    fn whole(&mut self, number: impl itoa::Integer) {
        self.csv.write_field(self.whole.format(number)).expect("memory takes it");
    }

    fn maybe(&mut self, number: Option<impl itoa::Integer>) {
        match number {
            Some(number) => self.whole(number),
            None => self.text(""),
        }
    }

    fn float(&mut self, number: f64) {
        self.csv.write_field(self.float.format_finite(number)).expect("memory takes it");
    }

    fn seats(&mut self, seats: impl Iterator<Item = cambio_core::Seat>) {
        self.list.clear();
        self.list.extend(seats.map(|seat| seat.letter()));
        self.csv.write_field(&self.list).expect("memory takes it");
    }

    fn points(&mut self, points: &BySeat<i32>) {
        self.list.clear();
        for &number in points.as_slice() {
            if !self.list.is_empty() {
                self.list.push(' ');
            }
            self.list.push_str(self.whole.format(number));
        }
        self.csv.write_field(&self.list).expect("memory takes it");
    }

    fn key(&mut self, rules: &str, seats: usize, lineup: &str, deal: u64, rotation: usize) {
        self.text(rules);
        self.whole(seats);
        self.text(lineup);
        self.whole(deal);
        self.whole(rotation);
    }

    fn end(&mut self) {
        self.csv.write_record(None::<&[u8]>).expect("memory takes it");
    }

    fn of_match(&mut self, row: &MatchRow<'_>) {
        self.key(row.rules, row.seats, row.lineup, row.deal, row.rotation);
        self.whole(row.rounds);
        self.whole(row.turns);
        self.whole(row.decisions);
        self.seats(row.winners.iter());
        // A fingerprint is text of sixteen letters in either way.
        self.text("0123456789abcdef");
        self.text(if row.analysis { "true" } else { "false" });
        self.text(if row.reproducible { "true" } else { "false" });
        self.end();
    }

    fn of_round(&mut self, row: &RoundRow<'_>) {
        self.key(row.rules, row.seats, row.lineup, row.deal, row.rotation);
        self.whole(row.round);
        self.seats(std::iter::once(row.starter));
        self.text(row.ended);
        self.seats(row.callers.first().into_iter());
        self.seats(row.winners.iter());
        self.whole(row.turns);
        self.whole(row.decisions);
        self.whole(row.reshuffles);
        self.points(&row.points);
        // Scores of single rounds are shares: as short as points.
        self.points(&row.points);
        self.maybe(row.call_turn);
        self.end();
    }

    fn of_player(&mut self, row: &PlayerRow<'_>) {
        self.key(row.rules, row.seats, row.lineup, row.deal, row.rotation);
        self.seats(std::iter::once(row.seat));
        self.text(row.agent);
        match row.total {
            Some(total) => self.float(total),
            None => self.text(""),
        }
        self.whole(row.rank);
        self.float(row.rank_points);
        self.float(row.win);
        self.whole(row.rounds);
        self.whole(row.points);
        for number in [row.rounds_won, row.calls, row.calls_succeeded] {
            self.whole(number);
        }
        self.maybe(row.points_at_calls);
        for number in [
            row.snaps_right_own,
            row.snaps_right_foreign,
            row.snaps_wrong,
            row.snaps_late,
            row.touches,
            row.penalties,
            row.gifts,
            row.looks,
            row.swaps,
        ] {
            self.whole(number);
        }
        self.maybe(row.lapses);
        self.whole(row.turns);
        self.float(row.margin);
        self.maybe(row.call_turns);
        for number in [row.cards, row.cards_known, row.dealt] {
            self.whole(number);
        }
        self.whole(row.dealt_points);
        self.whole(row.drawn);
        self.whole(row.drawn_points);
        self.text(if row.analysis { "true" } else { "false" });
        self.text(if row.forfeit { "true" } else { "false" });
        self.end();
    }
}

fn ours(blocks: &[BlockRows<'_>], buffers: [Vec<u8>; 3]) -> [Vec<u8>; 3] {
    let [mut matches, mut rounds, mut players] = buffers.map(Sheet::over);
    let mut key = RowKey::default();
    let first = &blocks[0].matches[0];
    key.set_table(first.rules, first.seats, first.lineup);
    for block in blocks {
        block.matches.iter().for_each(|row| matches.put(key.of_match(row.deal, row.rotation), row));
        block.rounds.iter().for_each(|row| rounds.put(key.of_match(row.deal, row.rotation), row));
        block.players.iter().for_each(|row| players.put(key.of_match(row.deal, row.rotation), row));
    }
    [matches, rounds, players].map(|sheet| sheet.into_bytes().0)
}

fn with_csv(blocks: &[BlockRows<'_>], buffers: [Vec<u8>; 3]) -> [Vec<u8>; 3] {
    let mut files = buffers.map(|mut buffer| {
        buffer.clear();
        let csv = csv::WriterBuilder::new().flexible(true).from_writer(buffer);
        Cells { csv, whole: itoa::Buffer::new(), float: zmij::Buffer::new(), list: String::new() }
    });
    for block in blocks {
        block.matches.iter().for_each(|row| files[0].of_match(row));
        block.rounds.iter().for_each(|row| files[1].of_round(row));
        block.players.iter().for_each(|row| files[2].of_player(row));
    }
    files.map(|file| file.csv.into_inner().expect("memory takes it"))
}

fn rows(criterion: &mut Criterion) {
    let experiment = Experiment {
        seed: 1,
        deals: 200,
        rules: vec!["classic".into()],
        seats: vec![2],
        agents: vec!["heuristic".into(), "sharp".into()],
        ..Experiment::default()
    };
    let plan = experiment.plan(&roster(), Path::new(".")).expect("the experiment is a good one");
    let play = || -> Vec<BlockRows<'_>> {
        plan.blocks().map(|block| play_block(&plan, &block).expect("nobody is at fault")).collect()
    };
    let blocks = play();
    let matches: usize = blocks.iter().map(|block| block.matches.len()).sum();
    let mut written = ours(&blocks, Default::default());
    let mut other = with_csv(&blocks, Default::default());
    let lengths = |files: &[Vec<u8>; 3]| files.each_ref().map(Vec::len);
    assert_eq!(lengths(&written), lengths(&other), "both write as much");
    assert_eq!(
        PlayerRow::COLUMNS.len(),
        other[2].split(|&byte| byte == b'\n').next().map_or(0, |line| line.split(|&byte| byte == b',').count())
    );

    let mut group = criterion.benchmark_group("rows");
    group.throughput(Throughput::Elements(matches as u64));
    group.bench_function("play", |bench| bench.iter(play));
    group.bench_function("ours", |bench| bench.iter(|| written = ours(&blocks, std::mem::take(&mut written))));
    group.bench_function("csv", |bench| bench.iter(|| other = with_csv(&blocks, std::mem::take(&mut other))));
    group.finish();
}

criterion_group!(benches, rows);
criterion_main!(benches);
