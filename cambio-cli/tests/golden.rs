//! Files that earlier versions wrote: this program reads, verifies, replays and reports them.
//!
//! The folder `golden` has one entry for each version of each format. Nothing writes these files, and a test compares their
//! hashes. If a format gets a new version, keep the old entries, add one that a program built from a commit wrote, and add its
//! hash to `GOLDEN`; a failed test prints it. The experiment of a run is the file `spec.toml` in its folder. Commit only the
//! rows, records, models, the ledger, the lock, the manifest and the summary. An entry may be removed when the page *Versions
//! of formats* of the book no longer promises it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{cambio, done, said, table};
use crate::folder::{TestFolder, folder};

/// The entries of the folder, with the hash of their names and bytes.
const GOLDEN: [(&str, &str); 4] = [
    ("network-3.net", "528c87c9fa93d09c"),
    ("record-1.jsonl", "e3a4e936ecaef9ed"),
    ("run-2", "2b2860e48c038939"),
    ("strategy-1.txt", "80d5911d8b23d551"),
];

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// The files under a path, sorted, with their names relative to it.
fn files(path: &Path) -> BTreeMap<String, Vec<u8>> {
    if path.is_file() {
        return BTreeMap::from([(String::new(), fs::read(path).unwrap())]);
    }
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap());
    let below = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().unwrap();
        files(&entry.path()).into_iter().map(move |(rest, bytes)| (format!("{name}/{rest}"), bytes))
    };
    entries.flat_map(below).collect()
}

/// A folder for a test, with copies of the golden files.
#[track_caller]
fn copied(name: &str) -> TestFolder {
    let place = folder(name);
    for (path, bytes) in files(&golden()) {
        let path = place.join(path.trim_end_matches('/'));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    place
}

#[test]
fn golden_files_have_not_changed() {
    let mut entries: Vec<String> =
        fs::read_dir(golden()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    entries.sort();
    let hash = |name: String| {
        let mut hasher = blake3::Hasher::new();
        for (path, bytes) in files(&golden().join(&name)) {
            hasher.update(format!("{path} {}\n", bytes.len()).as_bytes()).update(&bytes);
        }
        (name, hasher.finalize().to_hex()[..16].to_owned())
    };
    let found: Vec<(String, String)> = entries.into_iter().map(hash).collect();
    assert_eq!(found, GOLDEN.map(|(name, hash)| (name.to_owned(), hash.to_owned())));
}

#[test]
fn a_run_of_format_2_is_reported_verified_and_replayed() {
    let place = copied("run");
    let summary = table(&place.join("run-2/summary.csv"));
    let report = done(&place, "report run-2");
    assert!(report.contains("classic, 2 seats, 2 deals"), "{report}");
    let found = done(&place, "verify run-2 --all");
    assert!(found.contains("verified: 1 of 1 batches, 8 matches; 1 batch replayed"), "{found}");
    assert!(!found.contains("not checked"), "{found}");
    let found = done(&place, "replay run-2/records.jsonl");
    assert!(found.contains("8 passed, 0 failed"), "{found}");
    // Later versions may add columns, and compute figures with other last digits.
    let again = table(&place.join("run-2/summary.csv"));
    assert_eq!((summary.len(), again.len()), (3, 3));
    for (was, is) in summary.iter().zip(&again) {
        for (column, cell) in was {
            let number = |cell: &str| cell.parse::<f64>().ok();
            let is_same = match (number(cell), is.get(column).and_then(|cell| number(cell))) {
                (Some(was), Some(is)) => (was - is).abs() <= 1e-14 * was.abs(),
                _ => is.get(column) == Some(cell),
            };
            assert!(is_same, "{column}: {cell}, {:?}", is.get(column));
        }
    }
}

#[test]
fn a_record_of_format_1_is_replayed() {
    let place = copied("record");
    let found = done(&place, "replay record-1.jsonl");
    assert!(found.contains("1 passed, 0 failed"), "{found}");
    done(&place, "replay --html match.html record-1.jsonl");
    assert!(fs::read_to_string(place.join("match.html")).unwrap().contains("greedy"));
}

#[test]
fn a_network_of_format_3_plays_as_it_did() {
    let place = copied("network");
    let experiment =
        "seed = 1\ndeals = 2\nrules = 'classic'\nseats = 2\nagents = ['learned(\"network-3.net\")', 'random']\n";
    fs::write(place.join("network.toml"), experiment).unwrap();
    done(&place, "run network.toml --out run --quiet");
    let fingerprints: Vec<String> =
        table(&place.join("run/matches.csv")).into_iter().map(|mut row| row.remove("fingerprint").unwrap()).collect();
    assert_eq!(fingerprints, ["5cd25319ad128fd4", "0a4e9b5d71f7f02b", "c6b5d2660c9ceadb", "a7143092235b7215"]);
}

#[test]
fn a_strategy_of_format_1_has_its_exploitability() {
    let found = done(&copied("strategy"), "exploit --game mini-m0 --strategy strategy-1.txt");
    assert!(found.contains("exploitability        0.000029"), "{found}");
}

/// Each reader refuses files of earlier and later formats with a sentence that names both formats.
#[test]
fn files_of_other_formats_are_refused_in_one_sentence() {
    let place = copied("others");
    fs::create_dir(place.join("bench")).unwrap();
    let request = r#"{"benchmark":"cambio-bench/2","agent":"greedy","class":"1ms","quick":true}"#;
    fs::write(place.join("bench/bench.json"), request).unwrap();
    let use_other = |found: &str, own: &str| {
        format!("has the format \"{found}\", but this version of cambio supports {own}; use the version that wrote it")
    };
    for (file, own, command, what) in [
        ("run-2/manifest.json", "cambio-run/2", "verify run-2", None),
        ("run-2/spec.lock.json", "cambio-lock/1", "report run-2", None),
        ("bench/bench.json", "cambio-bench/2", "verify bench", None),
        (
            "record-1.jsonl",
            "cambio-record/1",
            "replay record-1.jsonl",
            Some("`format` must be \"OWN\", found \"OTHER\""),
        ),
        (
            "strategy-1.txt",
            "cambio-strategy/1",
            "exploit --game mini-m0 --strategy strategy-1.txt",
            Some("not a strategy file of this version: it must begin with the line `OWN`, found `OTHER`"),
        ),
        (
            "network-3.net",
            "cambio network 3",
            "match 'learned(\"network-3.net\")' random",
            Some("this is not a network of format 3: it must begin with \"OWN\", found \"OTHER\""),
        ),
    ] {
        let (path, stem) = (place.join(file), &own[..own.len() - 1]);
        let kept = fs::read(&path).unwrap();
        let at = kept.windows(own.len()).position(|window| window == own.as_bytes()).unwrap() + stem.len();
        for version in ['0', '9'] {
            let (mut bytes, other) = (kept.clone(), format!("{stem}{version}"));
            bytes[at] = version as u8;
            fs::write(&path, bytes).unwrap();
            let output = cambio(&place, command);
            let expected = match what {
                None => use_other(&other, own),
                Some(what) => what.replace("OWN", own).replace("OTHER", &other),
            };
            let said = said(&output);
            assert!(said.contains(&expected) && !said.contains("panicked"), "{command}: {said}");
            assert_eq!(output.status.code(), Some(1), "{command}: {said}");
        }
        fs::write(&path, kept).unwrap();
    }
}
