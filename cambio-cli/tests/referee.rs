//! Records pass an independent replayer in Python, if it is available.
//!
//! The replayer is `../shared/referee/referee.py` beside the repository, or the path in `CAMBIO_REFEREE`. Without it or
//! Python, the test is skipped with a message. `CAMBIO_FULL=1` plays 1,000 matches of each agent at every table.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::prints;
use crate::folder::folder;

fn referee() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/referee/referee.py");
    let path = std::env::var_os("CAMBIO_REFEREE").map_or(beside, PathBuf::from);
    let has_python = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    (path.is_file() && has_python).then_some(path)
}

#[test]
fn records_pass_the_independent_replayer() {
    let Some(referee) = referee() else {
        println!("skipped: referee.py or python3 is missing");
        return;
    };
    let folder = folder("referee");
    let deals = crate::amount(2, 1000);
    let spec = format!(
        "seed = 11\ndeals = {deals}\nseats = [2, 3, 4, 6, 8]\n\
         rules = ['original', 'original-b', 'original-c', 'original-d', 'faessler', 'classic']\n\
         agents = ['random', 'random(pass=0.9)', 'greedy', 'greedy(call_at=12)']\nlineups = 'mirror'\nrotations = 'one'\n"
    );
    std::fs::write(folder.join("spec.toml"), spec).unwrap();
    prints(&folder, "run spec.toml --out out --records --quiet");
    let file = std::fs::read_to_string(folder.join("out/records.jsonl")).unwrap();
    let records: Vec<&str> = file.lines().collect();
    assert_eq!(records.len(), 6 * 5 * 4 * deals);
    // The legal decisions are included, so that the replayer compares every set of choices.
    for (number, records) in records.chunks(2000).enumerate() {
        let file = format!("{number}.jsonl");
        std::fs::write(folder.join(&file), records.join("\n")).unwrap();
        let legal = prints(&folder, &format!("replay --fill --legal {file}"));
        std::fs::write(folder.join(&file), legal).unwrap();
        let output = Command::new("python3").arg(&referee).arg("--complete").arg(folder.join(&file)).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(printed.ends_with(&format!("{} passed, 0 failed\n", records.len())), "{printed}");
    }
}
