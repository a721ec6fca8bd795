//! Arbitrary bytes as experiment files, as files of a run folder and as batches never cause a panic. The fuzz
//! targets call the same functions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use cambio_agents::roster;
use cambio_sim::{
    Executor, Experiment, PlanPlayer, PlayablePlan, ReplayScope, RunFolder, Runner, StoredRun, derive, verify,
};

/// The files of a run folder that are read as text, and the files with rows.
const TEXTS: [&str; 6] = ["ledger.jsonl", "spec.lock.json", "manifest.json", "spec.toml", "timing.csv", "summary.csv"];
const ROWS: [&str; 4] = ["matches.csv", "rounds.csv", "players.csv", "records.jsonl"];

/// An empty folder that only this thread uses.
fn place(name: &str) -> PathBuf {
    let thread = format!("{:?}", std::thread::current().id()).replace(|char: char| !char.is_ascii_digit(), "");
    // The fuzzer runs several processes at once; the tests have their own folder.
    let root = option_env!("CARGO_TARGET_TMPDIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let path = root.join(format!("cambio-bytes-{}", std::process::id())).join(format!("{name}-{thread}"));
    // An earlier process with the same number may have left the folder.
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("the folder for temporary files can be written");
    path
}

fn plan() -> &'static PlayablePlan {
    static PLAN: OnceLock<PlayablePlan> = OnceLock::new();
    PLAN.get_or_init(|| {
        let experiment = Experiment { deals: 4, records: true, ..Experiment::at("classic", 2, &["random", "greedy"]) };
        experiment.plan(&roster(), Path::new(".")).expect("a valid experiment")
    })
}

/// The files of a small run, which has one batch.
fn files() -> &'static BTreeMap<String, Vec<u8>> {
    static FILES: OnceLock<BTreeMap<String, Vec<u8>>> = OnceLock::new();
    FILES.get_or_init(|| {
        let path = place("played").join("run");
        let mut folder = RunFolder::create(&path, plan()).expect("a new folder");
        let runner = Executor::new(1).expect("one thread");
        let played = Runner::new(&runner).run(plan(), &mut folder).expect("agents without faults");
        played.outcome.expect("a run that is not stopped");
        let entries = std::fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("a file"));
        let read = |entry: std::fs::DirEntry| {
            let name = entry.file_name().into_string().expect("a name in ASCII");
            (name, std::fs::read(entry.path()).expect("a file"))
        };
        entries.map(read).collect()
    })
}

/// Reads bytes as one file of a run folder; the first byte selects the file. The ledger lists the hash and the size of changed
/// rows. Computes the tables of the run and verifies it. Returns whether the folder can be read.
///
/// # Panics
/// If reading, computing or verifying panics.
pub(crate) fn run_folder(bytes: &[u8]) -> bool {
    static PLACE: OnceLock<Mutex<PathBuf>> = OnceLock::new();
    let [which, bytes @ ..] = bytes else { return false };
    let folder = PLACE.get_or_init(|| {
        let path = place("folder");
        for (name, bytes) in files() {
            std::fs::write(path.join(name), bytes).expect("a new file");
        }
        Mutex::new(path)
    });
    let path = folder.lock().unwrap_or_else(PoisonError::into_inner);
    let which = usize::from(*which) % (TEXTS.len() + ROWS.len());
    let mut changed = Vec::new();
    if which < TEXTS.len() {
        changed.push((TEXTS[which], bytes.to_vec()));
    } else {
        let name = ROWS[which - TEXTS.len()];
        let mut ledger: serde_json::Value = serde_json::from_slice(&files()["ledger.jsonl"]).expect("one line of JSON");
        let entry = &mut ledger["files"][name];
        let covered = entry["bytes"].as_u64().expect("a number") as usize;
        let file = &files()[name];
        entry["rows"] = bytes.split(|&byte| byte == b'\n').skip(1).count().into();
        entry["bytes"] = bytes.len().into();
        entry["blake3"] = blake3::hash(bytes).to_string().into();
        changed.push((name, [&file[..file.len() - covered], bytes].concat()));
        changed.push(("ledger.jsonl", format!("{ledger}\n").into_bytes()));
    }
    for (name, bytes) in &changed {
        std::fs::write(path.join(name), bytes).expect("the file can be written");
    }
    let is_read = match StoredRun::open(&path) {
        Ok(stored) => {
            let is_derived = derive(&stored).is_ok();
            // Another plan may have agents that take long.
            if which != 1 {
                assert!(!verify(&stored, &roster(), ReplayScope::Sample(1)).wrong.iter().any(String::is_empty));
            }
            is_derived
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    };
    for (name, _) in &changed {
        std::fs::write(path.join(name), &files()[*name]).expect("a file of the folder");
    }
    is_read
}

/// The only batch of a run as bytes.
fn batch() -> &'static [u8] {
    static BATCH: OnceLock<Vec<u8>> = OnceLock::new();
    BATCH.get_or_init(|| PlanPlayer::new(plan().clone()).play(0).expect("agents without faults"))
}

/// Commits bytes as a batch. Returns whether they are one.
///
/// # Panics
/// If reading or committing panics.
pub(crate) fn batches(bytes: &[u8]) -> bool {
    let place = place("batches");
    let mut folder = RunFolder::create(&place.join("run"), plan()).expect("a new folder");
    let committed = folder.commit(bytes).and_then(|()| folder.finish(None));
    drop(folder);
    std::fs::remove_dir_all(&place).expect("the folder can be removed");
    committed.inspect_err(|error| assert!(!error.to_string().is_empty())).is_ok()
}

/// Reads bytes as an experiment file and plans the experiment. Returns whether it is valid.
///
/// # Panics
/// If an experiment changes when it is written and read, or an error is not a short sentence.
pub(crate) fn experiment(bytes: &[u8]) -> bool {
    static PLACE: OnceLock<Mutex<PathBuf>> = OnceLock::new();
    let folder = PLACE.get_or_init(|| Mutex::new(place("experiment")));
    let folder = folder.lock().unwrap_or_else(PoisonError::into_inner);
    let path = folder.join("experiment.toml");
    std::fs::write(&path, bytes).expect("the file can be written");
    let planned = Experiment::read(&path).and_then(|(experiment, _)| {
        if i64::try_from(experiment.deals).is_ok() {
            assert_eq!(toml::from_str::<Experiment>(&experiment.to_toml()).as_ref(), Ok(&experiment));
        }
        experiment.plan(&roster(), &folder)
    });
    let check = |error: &cambio_sim::PlanError| {
        let said = error.to_string();
        let is_plain = !said.contains(|char: char| char.is_control() && char != '\n');
        assert!(!said.is_empty() && said.len() < 6000 && is_plain, "{said:?}");
    };
    planned.inspect_err(check).is_ok()
}

#[cfg(test)]
mod tests {
    use cambio_core::Seat;
    use cambio_core::rng::{Key, Stream};

    use super::*;
    use crate::mutate::mutate;

    fn amount<T>(small: T, full: T) -> T {
        if std::env::var_os("CAMBIO_FULL").is_some_and(|value| value == "1") { full } else { small }
    }

    fn stream(number: u64) -> Stream {
        Key::new(number, 0).agent(Seat::A)
    }

    #[test]
    fn changed_files_of_run_folders_never_panic() {
        let (mut stream, mut read) = (stream(641), 0);
        for (which, name) in TEXTS.iter().chain(&ROWS).enumerate() {
            let file = &files()[*name];
            // Only the rows of a batch are changed, not the header.
            let is_csv = which >= TEXTS.len() && *name != "records.jsonl";
            let start = if is_csv { file.iter().position(|&byte| byte == b'\n').unwrap() + 1 } else { 0 };
            let whole = [&[which as u8], &file[start..]].concat();
            assert!(run_folder(&whole), "{name}");
            for _ in 0..amount(6, 3_000) {
                let changed = mutate(&file[start..], file, &mut stream);
                read += usize::from(run_folder(&[&[which as u8], &changed[..]].concat()));
            }
        }
        assert!(read > 5, "{read}");
    }

    #[test]
    fn changed_batches_never_panic() {
        let mut stream = stream(642);
        assert!(batches(batch()));
        for _ in 0..amount(50, 15_000) {
            let changed = mutate(batch(), batch(), &mut stream);
            // The hash at the end covers everything.
            assert_eq!(batches(&changed), changed == batch());
        }
    }

    #[test]
    fn changed_experiments_never_panic() {
        let seeds = [
            "seed = 42\ndeals = 2\nrules = ['classic']\nseats = [2, 4]\nagents = ['greedy', 'heuristic(decay=0.05)', \
             'random(pass=0.9)']\nlineups = { field = ['greedy'] }\nrotations = 'cyclic'\nunit = 'match'\n\
             payoff = 'rank_points'\nfaults = 'forfeit'\nname = 'x'\nanchor = 'greedy'\nrecords = true\n",
            "seed = 'a'\ndeals = 10\nrules = [{ base = 'classic', hand = 5 }]\nseats = [3]\nunit = 'rounds'\n\
             agents = ['random', 'greedy', 'sharp']\nlineups = 'compositions'\nseat_effects = true\nanalysis = false\n",
        ];
        let (mut stream, mut planned) = (stream(643), 0);
        for seed in seeds {
            for _ in 0..amount(500, 50_000) {
                planned += usize::from(experiment(&mutate(seed.as_bytes(), seeds[0].as_bytes(), &mut stream)));
            }
        }
        assert!(planned > 20, "{planned}");
    }
}
