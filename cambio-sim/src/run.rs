//! Plays a plan and writes its rows: many blocks at a time, in canonical order, whatever the number of threads.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use serde::Serialize;

use crate::block::{AgentFault, BlockRows, Records, play_block};
use crate::experiment::{Block, Cell, Plan, Rotations};
use crate::rows::SummaryRow;
use crate::summary::Summary;

/// The most threads that play.
pub(crate) const MOST_THREADS: usize = 1024;

/// How many matches are played before their rows are written.
const BATCH: usize = 2048;

/// Where rows go: a folder with one CSV file a table.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    matches: csv::Writer<BufWriter<File>>,
    rounds: csv::Writer<BufWriter<File>>,
    players: csv::Writer<BufWriter<File>>,
    records: Option<BufWriter<File>>,
}

/// Why rows cannot be written: one sentence.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// There is something at the path.
    #[error("{0} exists; a run writes only to a folder that does not exist")]
    Exists(String),
    /// The folder or a file cannot be made or written.
    #[error("cannot write {path}: {what}")]
    Unwritable {
        /// The path.
        path: String,
        /// Why.
        what: String,
    },
    /// The worker threads cannot be started.
    #[error("cannot start {threads} threads: {what}")]
    Threads {
        /// How many.
        threads: usize,
        /// Why.
        what: String,
    },
}

fn unwritable(path: &Path) -> impl Fn(String) -> RunError {
    let path = path.display().to_string();
    move |what| RunError::Unwritable { path: path.clone(), what }
}

impl RunFolder {
    /// Makes the folder, with `manifest.json`: what is played, in full, and that it is not yet complete. `spec` is the
    /// experiment file as it was read, kept beside the rows.
    ///
    /// # Errors
    /// If there is something at the path already, or it cannot be written.
    pub fn create(path: &Path, spec: &str, plan: &Plan, records: Records) -> Result<RunFolder, RunError> {
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|error| unwritable(parent)(error.to_string()))?;
        }
        match std::fs::create_dir(path) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                return Err(RunError::Exists(path.display().to_string()));
            }
            Err(error) => return Err(unwritable(path)(error.to_string())),
        }
        let create = |name: &str| {
            let file = path.join(name);
            File::create_new(&file).map(BufWriter::new).map_err(|error| unwritable(&file)(error.to_string()))
        };
        create("spec.toml")?.write_all(spec.as_bytes()).map_err(|error| unwritable(path)(error.to_string()))?;
        write_manifest(path, plan, "begun", 0)?;
        let csv = |name| create(name).map(csv::Writer::from_writer);
        Ok(RunFolder {
            path: path.to_owned(),
            matches: csv("matches.csv")?,
            rounds: csv("rounds.csv")?,
            players: csv("players.csv")?,
            records: if records == Records::Keep { Some(create("records.jsonl")?) } else { None },
        })
    }

    fn write(&mut self, rows: &BlockRows) -> Result<(), RunError> {
        fn all<R: Serialize>(csv: &mut csv::Writer<BufWriter<File>>, rows: &[R]) -> Result<(), String> {
            rows.iter().try_for_each(|row| csv.serialize(row)).map_err(|error| error.to_string())
        }
        let fail = unwritable(&self.path);
        all(&mut self.matches, &rows.matches).map_err(&fail)?;
        all(&mut self.rounds, &rows.rounds).map_err(&fail)?;
        let players: Vec<_> = rows.players.iter().map(|(_, row)| row).collect();
        all(&mut self.players, &players).map_err(&fail)?;
        if let Some(records) = &mut self.records {
            for record in &rows.records {
                writeln!(records, "{}", record.to_json()).map_err(|error| fail(error.to_string()))?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), RunError> {
        let fail = unwritable(&self.path);
        for csv in [&mut self.matches, &mut self.rounds, &mut self.players] {
            csv.flush().map_err(|error| fail(error.to_string()))?;
        }
        if let Some(records) = &mut self.records {
            records.flush().map_err(|error| fail(error.to_string()))?;
        }
        Ok(())
    }

    fn finish(&mut self, plan: &Plan, report: &Report) -> Result<(), RunError> {
        self.flush()?;
        let summary = &report.summary;
        let path = self.path.join("summary.csv");
        let fail = unwritable(&path);
        let file = File::create_new(&path).map_err(|error| fail(error.to_string()))?;
        let mut csv = csv::Writer::from_writer(BufWriter::new(file));
        summary.iter().try_for_each(|row| csv.serialize(row)).map_err(|error| fail(error.to_string()))?;
        csv.flush().map_err(|error| fail(error.to_string()))?;
        write_manifest(&self.path, plan, report.outcome.word(), report.matches)
    }

    /// Keeps the record of a match that a fault stopped, and says where.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep_fault(&self, fault: &AgentFault) -> Result<PathBuf, RunError> {
        let path = self.path.join("fault.jsonl");
        std::fs::write(&path, fault.record.to_json() + "\n").map_err(|error| unwritable(&path)(error.to_string()))?;
        Ok(path)
    }
}

/// Writes down what is played, in full, and how far it came.
fn write_manifest(folder: &Path, plan: &Plan, outcome: &str, matches: u64) -> Result<(), RunError> {
    let cell = |cell: &Cell| {
        let lineups: Vec<String> = cell.lineups.iter().map(|lineup| plan.lineup_label(lineup)).collect();
        serde_json::json!({ "rules": cell.rules.spec().to_json(), "seats": cell.seats, "lineups": lineups })
    };
    let manifest = serde_json::json!({
        "format": "cambio-run/1",
        "version": env!("CARGO_PKG_VERSION"),
        "name": plan.name,
        "outcome": outcome,
        "matches": matches,
        "planned_matches": plan.matches(),
        "seed": plan.seed.to_string(),
        "deals": plan.deals,
        "rotations": if plan.rotations == Rotations::One { "one" } else { "cyclic" },
        "agents": plan.labels,
        "tables": plan.cells.iter().map(cell).collect::<Vec<_>>(),
    });
    let path = folder.join("manifest.json");
    std::fs::write(&path, format!("{manifest:#}\n")).map_err(|error| unwritable(&path)(error.to_string()))
}

/// How a run ended.
#[derive(Debug)]
pub enum Outcome {
    /// Everything was played.
    Complete,
    /// It was stopped; whole blocks in canonical order are on disk.
    Interrupted,
    /// An agent was at fault; the blocks before it are on disk.
    Fault(Box<AgentFault>),
}

impl Outcome {
    /// The word of the manifest.
    fn word(&self) -> &'static str {
        match self {
            Outcome::Complete => "complete",
            Outcome::Interrupted => "interrupted",
            Outcome::Fault(_) => "fault",
        }
    }
}

/// What a run gave.
#[derive(Debug)]
pub struct Report {
    /// How it ended.
    pub outcome: Outcome,
    /// How many matches have their rows on disk.
    pub matches: u64,
    /// The rows of `summary.csv`.
    pub summary: Vec<SummaryRow>,
}

/// How a plan is played.
pub struct Runner<'a> {
    /// How many threads play; 0 takes as many as there are cores.
    pub threads: usize,
    /// Whether full records are written.
    pub records: Records,
    /// Set from outside to stop.
    pub stop: &'a AtomicBool,
    /// Told how many matches were played, from any thread.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

impl Runner<'_> {
    /// Plays a plan into a folder.
    ///
    /// # Errors
    /// If rows cannot be written or threads not started. Faults of agents are an [`Outcome`].
    ///
    /// # Determinism
    /// The files are the same for any number of threads.
    pub fn run(&self, plan: &Plan, folder: &mut RunFolder) -> Result<Report, RunError> {
        let threads = self.threads.min(MOST_THREADS);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| RunError::Threads { threads, what: error.to_string() })?;
        let mut summary = Summary::new(plan);
        let mut outcome = Outcome::Complete;
        let mut matches = 0;
        let mut blocks = plan.blocks().peekable();
        'run: while blocks.peek().is_some() {
            let mut batch = Vec::new();
            let mut size = 0;
            while let Some(block) = blocks.next_if(|_| size < BATCH) {
                size += plan.rotations(block.seats);
                batch.push(block);
            }
            for (block, played) in batch.iter().zip(pool.install(|| self.play(plan, &batch))) {
                let rows = match played {
                    None => {
                        outcome = Outcome::Interrupted;
                        break 'run;
                    }
                    Some(Err(fault)) => {
                        outcome = Outcome::Fault(fault);
                        break 'run;
                    }
                    Some(Ok(rows)) => rows,
                };
                folder.write(&rows)?;
                matches += rows.matches.len() as u64;
                for (agent, row) in &rows.players {
                    summary.add(block.cell, *agent, row, rows.matches[row.rotation].turns);
                }
            }
        }
        let report = Report { outcome, matches, summary: summary.rows(plan) };
        folder.finish(plan, &report)?;
        Ok(report)
    }

    /// Plays the blocks of a batch; `None` for those that were not begun before the stop.
    fn play(&self, plan: &Plan, batch: &[Block<'_>]) -> Vec<Option<Result<BlockRows, Box<AgentFault>>>> {
        let attempt = |block: &Block<'_>| {
            if self.stop.load(Ordering::Relaxed) {
                return None;
            }
            let rows = play_block(plan, block, self.records);
            (self.progress)(plan.rotations(block.seats) as u64);
            Some(rows)
        };
        batch.par_iter().map(attempt).collect()
    }
}
