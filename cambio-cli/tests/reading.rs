//! The notebook that reads a run computes, in Python, the same figures as in `summary.csv`.

use std::path::Path;
use std::process::Command;

use crate::command::{has, play};
use crate::folder::folder;

/// The 97.5 % quantile of Student's t with 60 degrees of freedom, from a published table.
const QUANTILE: f64 = 2.000_297_822_014_26;

#[test]
fn the_notebook_agrees_with_the_summary() {
    if !has("python3") {
        return;
    }
    let folder = folder("reading");
    let spec = "seed = 4\ndeals = 61\nrules = ['original', 'classic']\nseats = [2, 3]\n\
                agents = ['random(pass=0.9)', 'greedy', 'greedy(call_at=9)', 'heuristic']\n";
    play(&folder, "out", spec);

    let notebook = Path::new(env!("CARGO_MANIFEST_DIR")).join("../notebooks/reading_a_run.py");
    let read = Command::new("python3").arg(notebook).arg(folder.join("out")).output().unwrap();
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    let computed: Vec<csv::StringRecord> =
        csv::Reader::from_reader(&read.stdout[..]).records().collect::<Result<_, _>>().unwrap();
    let mut summary = csv::Reader::from_path(folder.join("out/summary.csv")).unwrap();
    let columns = summary.headers().unwrap().clone();
    let mut compared = 0;
    for row in summary.records() {
        let row = row.unwrap();
        let cell = |name: &str| &row[columns.iter().position(|column| column == name).unwrap()];
        let number = |name: &str| cell(name).parse::<f64>().unwrap();
        let key = [cell("rules"), cell("seats"), cell("agent"), cell("matches"), cell("deals")];
        let found = computed.iter().find(|found| found.iter().take(5).eq(key)).unwrap_or_else(|| panic!("{key:?}"));
        let (mean, error): (f64, f64) = (found[5].parse().unwrap(), found[6].parse().unwrap());
        assert!((mean - number("rank_points")).abs() < 1e-12, "{key:?}");
        // Hall's interval is nearly Student's with this many deals.
        let (low, high) = (number("rank_points_low"), number("rank_points_high"));
        assert!(((high - low) / (2.0 * QUANTILE * error) - 1.0).abs() < 0.15, "{key:?}");
        compared += 1;
    }
    assert_eq!(compared, 16);
}
