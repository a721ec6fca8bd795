//! Comparisons of several runs.

use std::fs;

use crate::command::{done, play, prints, refuses, rows, table};
use crate::folder::folder;

#[test]
fn comparisons_need_the_same_rules_seats_and_opponents() {
    let folder = folder("comparison");
    let agents = "agents = ['random', 'greedy', 'heuristic']\n";
    play(&folder, "one", format!("seed = 1\ndeals = 60\nrules = ['classic']\nseats = [2, 3]\n{agents}"));
    play(&folder, "two", format!("seed = 2\ndeals = 60\nrules = ['classic']\nseats = [2]\nluck = 'on'\n{agents}"));
    play(&folder, "twin", format!("seed = 1\ndeals = 40\nrules = ['classic']\nseats = [2]\n{agents}"));
    play(&folder, "field", "seed = 3\ndeals = 60\nrules = ['classic']\nseats = [2]\nagents = ['random', 'greedy']\n");
    for (name, hand) in [("house", 5), ("other", 6)] {
        let rules = format!("base = 'classic'\nname = 'mine'\nhand = {hand}\n");
        fs::write(folder.join(format!("rules-{name}.toml")), rules).unwrap();
        let spec = format!("seed = 5\ndeals = 40\nrules = ['rules-{name}.toml']\nseats = [2]\n{agents}");
        play(&folder, name, &spec);
    }
    let runs = "one two twin field house other";
    let printed = prints(&folder, &format!("report --format csv {runs}"));
    let rows = rows(&printed);
    // Three agents in three runs, and two in the fourth. Each other table is in one run only.
    assert_eq!(rows.len(), 11, "{printed}");
    let mut agents: Vec<&str> = rows.iter().map(|row| &*row["agent"]).collect();
    agents.dedup();
    assert_eq!(agents, ["greedy", "heuristic", "random"], "the best first");
    for row in &rows {
        let from = match row["run"].as_str() {
            "two" | "twin" => "one",
            _ => "",
        };
        assert_eq!(row["from"], from, "{row:?}");
        assert_eq!(row["adjusted"], (row["run"] == "two").to_string());
        let paired = [("two", "0"), ("twin", "40")].into_iter().find(|(run, _)| *run == row["run"]);
        assert_eq!(row["shared_deals"], paired.map_or("", |(_, deals)| deals), "{row:?}");
        let summary = table(&folder.join(&row["run"]).join("summary.csv"));
        let own = summary.iter().find(|own| own["agent"] == row["agent"] && own["seats"] == "2").unwrap();
        let column = if row["run"] == "two" { "rank_points_adjusted" } else { "rank_points" };
        for (name, column) in [("mean", column.to_owned()), ("low", format!("{column}_low"))] {
            assert_eq!(row[name], own[&column], "{row:?}");
        }
    }
    assert_eq!(rows.iter().filter(|row| !row["difference"].is_empty()).count(), 6, "{printed}");
    let shown = done(&folder, &format!("report {runs}"));
    let marked: Vec<&str> = shown.lines().filter(|line| line.contains(" † ") || line.ends_with(" †")).collect();
    assert_eq!(marked.len(), 2, "{shown}");
    for note in [
        "2 of 3 agents of several runs have other opponents or other seats in some runs, marked with †.",
        "Not compared, because only one run has the table: classic, 3 seats (A); mine, 2 seats (E); mine, 2 seats, rules of F (F).",
        "The rules mine of F differ from the rules of the same name of E; their results are not comparable.",
    ] {
        assert!(shown.contains(note), "{note}\n{shown}");
    }
    let shown = prints(&folder, "report --dry one two field");
    assert!(shown.contains("B − A") && shown.contains("independent") && shown.contains(" †"), "{shown}");
    assert!(prints(&folder, "report --dry --format md one two").contains("| agent | A | B |"));
    refuses(&folder, "report one two --site site", "--site needs exactly 1 folder, found 2");
}
