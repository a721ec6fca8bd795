//! `cambio report --review` and `cambio replay --html --analysis`.

use std::fs;

use crate::command::{play, prints, refuses};
use crate::folder::folder;

#[test]
fn costly_decisions_have_links_to_their_replays() {
    let folder = folder("review");
    let spec = "seed = 5\ndeals = 6\nrules = ['classic']\nseats = [2]\nagents = ['random', 'greedy']\nrecords = true\n";
    play(&folder, "run", spec);
    let text = prints(&folder, "report run --matches 2 --review one");
    assert!(text.starts_with("2 matches of 12, sample 0; analysed: "), "{text}");
    assert!(text.contains("\nrandom, a snap window: "), "{text}");
    assert_eq!(prints(&folder, "report run --matches 2 --review other"), text);
    refuses(&folder, "report run --review one", "one already exists; choose another --review");
    let page = fs::read_to_string(folder.join("one/index.html")).unwrap();
    assert_eq!(page, fs::read_to_string(folder.join("other/index.html")).unwrap());

    // Each link leads to a decision of this agent in a page with the analysis.
    let records = fs::read_to_string(folder.join("run/records.jsonl")).unwrap();
    let rows: Vec<&str> = page.split("<tr><th scope=\"row\">").skip(1).collect();
    assert!(rows.len() >= 3, "{page}");
    for row in rows {
        let action = row.split('<').next().unwrap();
        let link = row.split("href=\"").nth(1).unwrap().split('"').next().unwrap();
        let (file, place) = link.split_once("#round=1&amp;decision=").unwrap();
        let number: usize = file.strip_prefix("match-").unwrap().strip_suffix(".html").unwrap().parse().unwrap();
        let record: serde_json::Value = serde_json::from_str(records.lines().nth(number - 1).unwrap()).unwrap();
        let decision = record["rounds"][0]["decisions"][place.parse::<usize>().unwrap() - 1].as_str().unwrap();
        assert!(decision[2..].starts_with(action), "{row}: {decision}");
        assert!(fs::read_to_string(folder.join("one").join(file)).unwrap().contains("\"blunder\":"), "{file}");
    }

    fs::write(folder.join("first.jsonl"), records.lines().next().unwrap()).unwrap();
    prints(&folder, "replay --html plain.html first.jsonl");
    prints(&folder, "replay --html analysed.html --analysis first.jsonl");
    let [plain, analysed] = ["plain.html", "analysed.html"].map(|name| fs::read_to_string(folder.join(name)).unwrap());
    assert!(plain.contains("id=\"reviews\">[]<") && !plain.contains("\"blunder\":"));
    assert!(analysed.contains("\"blunder\":") && analysed.contains("\"over\":true"));
}
