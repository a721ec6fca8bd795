//! Run folders that others have prepared: files that never end or never begin, and ledgers with false numbers.

use std::path::{Path, PathBuf};

use cambio_agents::roster;
use cambio_sim::{Experiment, PlayablePlan, ReplayScope, RunFolder, StoredRun, derive, verify};

fn plan() -> PlayablePlan {
    let experiment = Experiment { deals: 20, records: true, ..Experiment::at("classic", 2, &["random", "greedy"]) };
    experiment.plan(&roster(), Path::new(".")).unwrap()
}

fn played(path: &Path) -> PathBuf {
    crate::play(path, &plan());
    path.to_owned()
}

/// Replaces a number of rows in the second line of a ledger.
fn claim_rows(ledger: &str, file: &str, rows: u64) -> String {
    let mut lines: Vec<String> = ledger.split('\n').map(str::to_owned).collect();
    let (before, rest) = lines[1].split_once(&format!("\"{file}\":{{\"rows\":")).unwrap();
    let (_, after) = rest.split_once(',').unwrap();
    lines[1] = format!("{before}\"{file}\":{{\"rows\":{rows},{after}");
    lines.join("\n")
}

#[test]
fn the_numbers_of_rows_in_a_ledger_are_checked() {
    let root = tempfile::tempdir().unwrap();
    let path = played(&root.path().join("run"));
    let ledger = path.join("ledger.jsonl");
    let honest = std::fs::read_to_string(&ledger).unwrap();
    let findings = |path: &Path| match StoredRun::open(path) {
        Ok(stored) => verify(&stored, &roster(), ReplayScope::Sample(1)).wrong.join("; "),
        Err(error) => error.to_string(),
    };
    assert_eq!(findings(&path), "");
    for file in ["matches.csv", "rounds.csv", "players.csv", "records.jsonl"] {
        for rows in [0, 15, 17, u64::MAX] {
            std::fs::write(&ledger, claim_rows(&honest, file, rows)).unwrap();
            let what = findings(&path);
            let is_counted = what.contains("(batch 1) have ") && what.contains(&format!("lists {rows}"));
            assert!(is_counted || what.contains("line 2 is not batch 1 of this run"), "{file}, {rows}: {what}");
            assert!(StoredRun::open(&path).and_then(|stored| derive(&stored)).is_err(), "{file}, {rows}");
        }
    }
    std::fs::write(&ledger, honest).unwrap();
    assert_eq!(findings(&path), "");
}

/// Runs work on a thread, and fails if it takes longer than a minute.
#[cfg(target_os = "linux")]
fn in_a_minute(what: &str, work: impl FnOnce() -> String + Send + 'static) -> String {
    let (sender, done) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(work()));
    done.recv_timeout(std::time::Duration::from_secs(60)).unwrap_or_else(|_| panic!("{what}: no answer"))
}

#[cfg(target_os = "linux")]
#[test]
fn files_that_never_begin_or_never_end_are_refused() {
    let root = tempfile::tempdir().unwrap();
    let path = played(&root.path().join("run"));
    let files =
        ["spec.lock.json", "manifest.json", "ledger.jsonl", "spec.toml", "matches.csv", "records.jsonl", "summary.csv"];
    for name in files {
        let (file, kept) = (path.join(name), path.join(format!("{name}.kept")));
        std::fs::rename(&file, &kept).unwrap();
        for kind in ["pipe", "endless", "large"] {
            match kind {
                "pipe" => assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success()),
                "endless" => std::os::unix::fs::symlink("/dev/zero", &file).unwrap(),
                // A sparse file of 1 TiB, which takes no space on the disk.
                _ => std::fs::File::create(&file).unwrap().set_len(1 << 40).unwrap(),
            }
            let at = format!("{name}, {kind}");
            let run = path.clone();
            let found = in_a_minute(&format!("{at}, verify"), move || match StoredRun::open(&run) {
                Ok(stored) => verify(&stored, &roster(), ReplayScope::Sample(1)).wrong.join("; "),
                Err(error) => error.to_string(),
            });
            assert!(found.contains(name) && !found.contains('\0'), "{at}: {found}");
            // A summary is written again.
            if name != "summary.csv" {
                let run = path.clone();
                let resumed = in_a_minute(&format!("{at}, resume"), move || {
                    let resumed = RunFolder::reopen(&run, &plan());
                    resumed.map_or_else(|error| error.to_string(), |_| "resumed".to_owned())
                });
                // Rows that the ledger does not cover are cut off.
                assert!(resumed.contains(name) || (kind == "large" && resumed == "resumed"), "{at}: {resumed}");
            }
            std::fs::remove_file(&file).unwrap();
        }
        std::fs::rename(&kept, &file).unwrap();
    }
}
