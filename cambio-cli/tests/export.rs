//! `cambio export`: the files that it writes, and the files that it must not change.

use std::fs;
use std::path::PathBuf;

use crate::command::{cambio, done, play, said};
use crate::folder::folder;

const SMALL: &str = "seed = 5\ndeals = 20\nrules = ['faessler']\nseats = [2]\nagents = ['random', 'greedy']\n";

/// A folder with a small run in it.
fn with_a_run(name: &str) -> PathBuf {
    let folder = folder(name);
    play(&folder, "run", SMALL);
    folder
}

#[test]
#[cfg(not(feature = "parquet"))]
fn a_program_without_the_feature_says_how_to_get_it_and_writes_nothing() {
    let folder = with_a_run("without");
    let output = cambio(&folder, "export run --out columns");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said(&output).contains("`cargo install --profile dist --path cambio-cli --features parquet`"),
        "{}",
        said(&output)
    );
    assert!(!folder.join("columns").exists());
}

#[test]
#[cfg(not(feature = "zstd"))]
fn a_compressed_run_is_refused_in_a_sentence_by_a_program_that_cannot_read_it() {
    let folder = with_a_run("compressed");
    let lock = folder.join("run/spec.lock.json");
    let text = fs::read_to_string(&lock).unwrap();
    fs::write(&lock, text.replace("\"compress\":false", "\"compress\":true")).unwrap();
    for words in ["export run --out columns", "report run", "verify run"] {
        let output = cambio(&folder, words);
        assert_eq!(output.status.code(), Some(1), "{words}: {}", said(&output));
        let sentence =
            "cannot read run: its rows are compressed, but this program was built without the feature `zstd`";
        assert!(said(&output).contains(sentence), "{words}: {}", said(&output));
    }
}

#[cfg(feature = "parquet")]
mod parquet_files {
    use std::collections::BTreeSet;
    use std::path::Path;

    use parquet::file::metadata::RowGroupMetaData;
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use parquet::record::Field;

    use super::*;

    /// The maximum number of rows in a row group.
    const GROUP: i64 = 1 << 16;

    /// The text of a value as a CSV cell, and the name of its type. The type of an empty cell is `null`.
    fn cell(value: &Field) -> (String, &'static str) {
        match value {
            Field::Null => (String::new(), "null"),
            Field::Str(text) if text.is_empty() => panic!("an empty cell is null"),
            Field::Str(text) => (text.clone(), "text"),
            Field::UInt(number) => (number.to_string(), "u32"),
            Field::ULong(number) => (number.to_string(), "u64"),
            Field::Long(number) => (number.to_string(), "i64"),
            Field::Double(number) => (format!("{number:?}"), "f64"),
            Field::Bool(truth) => (truth.to_string(), "bool"),
            Field::ListInternal(list) => {
                let cells: Vec<String> = list.elements().iter().map(by_seat).collect();
                (cells.join(" "), "list")
            }
            other => panic!("rows have no value like {other:?}"),
        }
    }

    /// A list element as in the CSV file: a whole number has no decimal point.
    fn by_seat(value: &Field) -> String {
        match value {
            Field::Int(number) => number.to_string(),
            Field::Double(number) => number.to_string(),
            other => panic!("rows have no list element like {other:?}"),
        }
    }

    const U64: [&str; 7] = ["seats", "deal", "rotation", "rounds", "round", "rank", "reshuffles"];
    const I64: [&str; 4] = ["points", "points_at_call_sum", "dealt_points", "drawn_points"];
    const F64: [&str; 4] = ["total", "rank_points", "win_share", "margin"];
    const BOOL: [&str; 3] = ["analysis", "reproducible", "forfeit"];
    const TEXT: [&str; 9] =
        ["rules", "lineup", "seat", "agent", "winners", "callers", "starter", "ended", "fingerprint"];

    /// The expected type of a column.
    fn expected(table: &str, column: &str) -> &'static str {
        match (table, column) {
            ("rounds", "points" | "scores") => "list",
            ("rounds", "turns") => "u64",
            ("players", "rounds") => "u32",
            _ if U64.contains(&column) => "u64",
            _ if I64.contains(&column) => "i64",
            _ if F64.contains(&column) => "f64",
            _ if BOOL.contains(&column) => "bool",
            _ if TEXT.contains(&column) => "text",
            _ => "u32",
        }
    }

    /// Compares all cells of a table. Returns their number, and the columns that contain a null.
    fn compare(csv: &Path, columns: &Path, table: &str) -> (usize, BTreeSet<String>) {
        let file = fs::File::open(columns.join(format!("{table}.parquet"))).unwrap();
        let parquet = SerializedFileReader::new(file).unwrap();
        let mut rows = parquet.get_row_iter(None).unwrap();
        let mut cells = csv::Reader::from_path(csv.join(format!("{table}.csv"))).unwrap();
        let names = cells.headers().unwrap().clone();
        let (mut compared, mut nulls) = (0, BTreeSet::new());
        for line in cells.records() {
            let (line, row) = (line.unwrap(), rows.next().unwrap().unwrap());
            assert_eq!(row.len(), names.len());
            for ((name, found), (column, value)) in names.iter().zip(&line).zip(row.get_column_iter()) {
                let (text, kind) = cell(value);
                assert_eq!((column.as_str(), text.as_str()), (name, found), "{table}: {line:?}");
                if kind == "null" {
                    nulls.insert(column.clone());
                } else {
                    assert_eq!(kind, expected(table, column), "{table}.{column}");
                }
                compared += 1;
            }
        }
        assert!(rows.next().is_none());
        (compared, nulls)
    }

    #[test]
    fn every_cell_is_that_of_the_csv_with_its_type() {
        let folder = folder("cells");
        let small = "seed = 6\ndeals = 40\nrules = ['original', 'faessler', 'classic']\nseats = [2, 3]\n\
                     agents = ['random', 'greedy(call_at=7)', 'heuristic']\n";
        fs::write(folder.join("small.toml"), small).unwrap();
        done(&folder, "run small.toml --quiet --out run");
        done(&folder, "export run --format parquet --out deep/columns");
        let (run, columns) = (folder.join("run"), folder.join("deep/columns"));
        let written: BTreeSet<_> = fs::read_dir(&columns).unwrap().map(|file| file.unwrap().file_name()).collect();
        assert!(written.iter().eq(["matches.parquet", "players.parquet", "rounds.parquet"]));
        assert_eq!(fs::read_dir(folder.join("deep")).unwrap().count(), 1);
        assert!(compare(&run, &columns, "matches").1.is_empty());
        let nulls = |names: &[&str]| names.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
        assert_eq!(compare(&run, &columns, "rounds").1, nulls(&["callers", "first_call_turn"]));
        assert_eq!(compare(&run, &columns, "players").1, nulls(&["points_at_call_sum", "lapses", "call_turn_sum"]));
    }

    #[test]
    fn a_long_run_has_row_groups_of_bounded_length_and_words_a_dictionary() {
        let folder = folder("long");
        let long =
            "seed = 5\ndeals = 1050\nrules = ['classic']\nseats = [8]\nagents = ['random']\nlineups = 'mirror'\n";
        fs::write(folder.join("long.toml"), long).unwrap();
        done(&folder, "run long.toml --quiet --out run");
        done(&folder, "export run --out columns");
        let (compared, _) = compare(&folder.join("run"), &folder.join("columns"), "players");
        let parquet = |table: &str| {
            let file = fs::File::open(folder.join("columns").join(table)).unwrap();
            SerializedFileReader::new(file).unwrap()
        };
        let players = parquet("players.parquet");
        let columns = players.metadata().file_metadata().schema_descr().num_columns();
        assert_eq!(compared, 1050 * 64 * columns);
        let groups: Vec<i64> = players.metadata().row_groups().iter().map(RowGroupMetaData::num_rows).collect();
        assert_eq!(groups, [GROUP, 1050 * 64 - GROUP]);
        for reader in [players, parquet("matches.parquet"), parquet("rounds.parquet")] {
            for column in reader.metadata().row_group(0).columns() {
                let name = column.column_path().string();
                if TEXT.contains(&name.as_str()) {
                    assert_eq!(column.dictionary_page_offset().is_some(), name != "fingerprint", "{name}");
                }
            }
        }
    }

    #[test]
    #[cfg(feature = "zstd")]
    fn a_compressed_run_gives_the_same_cells() {
        let folder = folder("zstd");
        fs::write(folder.join("plain.toml"), SMALL).unwrap();
        fs::write(folder.join("packed.toml"), format!("{SMALL}compress = true\n")).unwrap();
        for name in ["plain", "packed"] {
            done(&folder, &format!("run {name}.toml --quiet --out {name}"));
            done(&folder, &format!("export {name} --out {name}-columns"));
        }
        for table in ["matches", "rounds", "players"] {
            assert!(compare(&folder.join("plain"), &folder.join("packed-columns"), table).0 > 0);
        }
    }

    #[test]
    fn nothing_is_written_over_and_nothing_left_half_written() {
        let folder = with_a_run("whole");
        let refuses = |words: &str, code: i32, sentence: &str| {
            let output = cambio(&folder, words);
            assert_eq!(output.status.code(), Some(code), "{}", said(&output));
            assert!(said(&output).contains(sentence), "{}", said(&output));
        };
        fs::create_dir(folder.join("mine")).unwrap();
        refuses("export run --out mine", 1, "mine already exists; choose another path");
        assert_eq!(fs::read_dir(folder.join("mine")).unwrap().count(), 0);
        // A killed export leaves such a folder behind.
        fs::create_dir(folder.join("columns.new")).unwrap();
        refuses("export run --out columns", 1, "columns.new already exists");
        fs::remove_dir(folder.join("columns.new")).unwrap();

        let rows = folder.join("run/players.csv");
        let whole = fs::read(&rows).unwrap();
        let mut flipped = whole.clone();
        *flipped.last_mut().unwrap() ^= 1;
        fs::write(&rows, flipped).unwrap();
        refuses("export run --out columns", 4, "players.csv is damaged");
        assert!(!folder.join("columns").exists() && !folder.join("columns.new").exists());
        fs::write(&rows, whole).unwrap();
        done(&folder, "export run --out columns");
    }
}

#[test]
fn a_run_for_the_site_has_a_row_for_each_match_and_agents_of_the_page_only() {
    let folder = with_a_run("site");
    done(&folder, "export run --format site --out run.json");
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
    assert!(said(&cambio(&folder, "export run --format site --out run.json")).contains("already exists"));

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
        let output = cambio(&folder, "export other --format site --out other.json");
        assert_eq!(output.status.code(), Some(1));
        assert!(said(&output).contains(&format!("a page cannot replay this run: {sentence}")), "{}", said(&output));
        assert!(!folder.join("other.json").exists());
    }
}
