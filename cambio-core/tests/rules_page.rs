//! Compares the tables of RULES.md with the code.

use cambio_core::RulesSpec;
use cambio_core::rules::KNOBS;
use serde_json::Value;

const PAGE: &str = include_str!("../../RULES.md");

/// The header of the table of knobs.
const HEADING: [&str; 6] = ["knob", "meaning", "allowed", "original", "faessler", "classic"];

fn cells(line: &str) -> Option<Vec<&str>> {
    let inner = line.strip_prefix('|')?.strip_suffix('|')?;
    Some(inner.split('|').map(str::trim).collect())
}

/// The rows of the table of knobs.
fn rows() -> Vec<Vec<&'static str>> {
    let mut lines = PAGE.lines().skip_while(|line| cells(line).is_none_or(|cells| cells != HEADING)).skip(1);
    let rule = lines.next().and_then(cells).expect("RULES.md has a table of knobs");
    assert!(rule.iter().all(|cell| cell.chars().all(|c| c == '-')));
    lines.map_while(cells).collect()
}

fn written(value: &Value) -> String {
    format!("`{}`", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

#[test]
fn the_page_has_one_row_for_each_knob_in_order() {
    let names: Vec<String> = rows().iter().map(|row| row[0].to_owned()).collect();
    let knobs: Vec<String> = KNOBS.iter().map(|knob| format!("`{}`", knob.name)).collect();
    assert_eq!(names, knobs);
    assert!(rows().iter().all(|row| row.len() == HEADING.len() && !row[1].is_empty()));
}

#[test]
fn the_page_has_the_allowed_values_of_each_knob() {
    for (row, knob) in rows().iter().zip(KNOBS) {
        assert_eq!(row[2], (knob.allowed)(), "`{}`", knob.name);
    }
}

#[test]
fn the_page_has_the_values_of_each_preset() {
    for (column, preset) in HEADING.iter().enumerate().skip(3) {
        for (row, (name, value)) in rows().iter().zip(RulesSpec::preset(preset).unwrap().knobs()) {
            assert_eq!(row[column], written(&value), "`{name}` of {preset}");
        }
    }
}

#[test]
fn rules_page_names_existing_knobs_and_sources() {
    let decided: Vec<Vec<&str>> = PAGE
        .lines()
        .skip_while(|line| cells(line).is_none_or(|cells| cells[0] != "question"))
        .skip(2)
        .map_while(cells)
        .collect();
    let mut knobs = Vec::new();
    for row in &decided {
        assert_eq!(row.len(), 3, "{row:?}");
        assert!(row[0].ends_with('?') && row[1].ends_with('.'), "{row:?}");
        for word in row[2].split(", ").filter(|&word| word != "–") {
            let name = word.trim_matches('`');
            assert!(name == "deck" || KNOBS.iter().any(|knob| knob.name == name), "{row:?}");
            knobs.push(name);
        }
    }
    for knob in
        ["snap_known_only", "chain", "caller_snaps", "others_after_call", "empty_hand_fines", "drop_plain", "late"]
    {
        assert!(knobs.contains(&knob), "no decision names `{knob}`");
    }
}

#[test]
fn the_page_gives_each_card_the_points_and_copies_of_its_deck() {
    for preset in ["original", "faessler", "classic"] {
        let spec = RulesSpec::preset(preset).unwrap();
        let heading = format!("### {preset}: ");
        let section = PAGE.lines().skip_while(|line| !line.starts_with(&heading)).skip(1);
        let rows: Vec<Vec<&str>> = section
            .take_while(|line| !line.starts_with('#'))
            .filter_map(cells)
            .skip_while(|row| row[0] != "cards")
            .skip(2)
            .collect();
        assert!(!rows.is_empty(), "no table under `{heading}`");
        let mut listed = Vec::new();
        for row in rows {
            for label in row[0].split(' ').map(|label| label.trim_matches('`')) {
                let mut kinds = spec.deck.kinds().iter();
                let kind = kinds.find(|kind| kind.label == label).unwrap_or_else(|| panic!("no `{label}` in {preset}"));
                let points = if row[1] == "its number" { kind.rank.as_str() } else { row[1] };
                assert_eq!(
                    (points, row[2]),
                    (kind.points.to_string().as_str(), kind.copies.to_string().as_str()),
                    "{label}"
                );
                let power = if kind.power.is_none() { "–".to_owned() } else { format!("`{}`", kind.power) };
                assert_eq!(row[3], power, "{label}");
                listed.push(label);
            }
        }
        let mut due: Vec<&str> = spec.deck.kinds().iter().map(|kind| kind.label.as_str()).collect();
        listed.sort_unstable();
        due.sort_unstable();
        assert_eq!(listed, due, "{preset}");
    }
}
