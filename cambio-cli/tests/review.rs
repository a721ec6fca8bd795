//! `cambio replay --html --analysis`.

use std::fs;

use crate::command::{play, prints};
use crate::folder::folder;

#[test]
fn a_replay_contains_its_analysis() {
    let folder = folder("review");
    let spec = "seed = 5\ndeals = 1\nrules = ['classic']\nseats = [2]\nagents = ['random', 'greedy']\nrecords = true\n";
    play(&folder, "run", spec);
    let records = fs::read_to_string(folder.join("run/records.jsonl")).unwrap();
    fs::write(folder.join("first.jsonl"), records.lines().next().unwrap()).unwrap();
    prints(&folder, "replay --html plain.html first.jsonl");
    prints(&folder, "replay --html analysed.html --analysis first.jsonl");
    let [plain, analysed] = ["plain.html", "analysed.html"].map(|name| fs::read_to_string(folder.join(name)).unwrap());
    assert!(plain.contains("id=\"reviews\">[]<") && !plain.contains("\"blunder\":"));
    assert!(analysed.contains("\"blunder\":") && analysed.contains("\"over\":true"));
}
