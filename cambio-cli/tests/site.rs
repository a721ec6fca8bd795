//! `cambio report --site`: the file that it writes.

use std::fs;

use crate::command::{cambio, done, play, refuses, said};
use crate::folder::{TestFolder, folder};

const SMALL: &str = "seed = 5\ndeals = 20\nrules = ['faessler']\nseats = [2]\nagents = ['random', 'greedy']\n";

/// A folder with a small run in it.
fn with_a_run(name: &str) -> TestFolder {
    let folder = folder(name);
    play(&folder, "run", SMALL);
    folder
}

#[test]
fn compressed_rows_are_refused_in_one_sentence() {
    let folder = with_a_run("compressed");
    let lock = folder.join("run/spec.lock.json");
    let text = fs::read_to_string(&lock).unwrap();
    fs::write(&lock, text.replace("\"compress\":false", "\"compress\":true")).unwrap();
    for words in ["report run", "verify run"] {
        let output = cambio(&folder, words);
        assert_eq!(output.status.code(), Some(1), "{words}: {}", said(&output));
        let sentence =
            "cannot read run: its rows are compressed with zstd, which this version of cambio does not support";
        assert!(said(&output).contains(sentence), "{words}: {}", said(&output));
    }
    fs::write(folder.join("small.toml"), format!("{SMALL}compress = true\n")).unwrap();
    let output = cambio(&folder, "run small.toml --out small");
    let sentence = "field `compress` must be false (compress the files of the run with another program), found true";
    assert!(output.status.code() == Some(1) && said(&output).contains(sentence), "{}", said(&output));
}

#[test]
fn site_runs_list_each_match_and_known_agents_only() {
    let folder = with_a_run("site");
    done(&folder, "report run --site run.json");
    let text = fs::read_to_string(folder.join("run.json")).unwrap();
    let run: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&run["seed"], &run["deals"]), (&"5".into(), &20.into()));
    assert_eq!(run["agents"], serde_json::json!(["random", "greedy"]));
    let table = serde_json::json!({
        "name": "faessler", "rules": "faessler", "one_round": false, "lineups": [[0, 1]], "seatings": [[0, 1], [1, 0]],
    });
    assert_eq!(run["tables"], serde_json::json!([table]));
    let rows: Vec<&str> = run["rows"].as_array().unwrap().iter().map(|row| row.as_str().unwrap()).collect();
    let matches = fs::read_to_string(folder.join("run/matches.csv")).unwrap();
    let columns = matches.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    assert_eq!(rows, columns.map(|column| format!("{} {}", column[8], column[9])).collect::<Vec<_>>());
    assert!(said(&cambio(&folder, "report run --site run.json")).contains("already exists"));

    for (agent, sentence) in [
        ("oracle", "agent `oracle` sees hidden cards"),
        ("rollout(time_ms=1)", "agent `rollout(time_ms=1)` has a time budget, which does not work in a browser"),
    ] {
        let spec = format!(
            "seed = 1\ndeals = 1\nrules = ['classic']\nseats = [2]\nanalysis = true\nagents = ['greedy', '{agent}']\n"
        );
        fs::write(folder.join("other.toml"), spec).unwrap();
        let _ = fs::remove_dir_all(folder.join("other"));
        done(&folder, "run other.toml --quiet --out other");
        refuses(&folder, "report other --site other.json", &format!("a page cannot replay this run: {sentence}"));
        assert!(!folder.join("other.json").exists());
    }
}
