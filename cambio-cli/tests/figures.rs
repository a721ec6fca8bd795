//! What the figures of a run say about themselves: the luck of the cards, the payoff, and missing intervals.

use std::fs;
use std::path::Path;

use crate::command::{done, number, play, prints, table};
use crate::folder::folder;
use crate::report::{check_page, parsed};

const WITH_LUCK: &str = "with the luck of the cards";

fn page(run: &Path) -> String {
    let page = fs::read_to_string(run.join("report.html")).unwrap();
    check_page(&page);
    page
}

#[test]
fn figures_with_luck_are_labelled() {
    let folder = folder("labelled");
    let spec = |luck: &str, seats: usize| {
        format!(
            "seed = 2\ndeals = 14\nluck = '{luck}'\nrules = ['classic']\nseats = [{seats}]\nlineups = 'compositions'\n\
             agents = ['greedy', 'heuristic', 'sharp']\n"
        )
    };
    for seats in [2, 3] {
        let printed = play(&folder, &format!("on-{seats}"), spec("on", seats));
        assert!(printed.contains("All other figures\nare with the luck of the cards; raw: rank points"), "{printed}");
        let page = page(&folder.join(format!("on-{seats}")));
        let document = parsed(&page);
        let figure = document.descendants().find(|node| node.attribute("id") == Some("ratings-1")).unwrap();
        let caption: String = figure.descendants().filter_map(|node| node.text()).collect();
        assert!(caption.contains(WITH_LUCK), "{caption}");
        for caption in [
            "Results by seat",
            "Plackett–Luce ratings",
            "empirical game",
            "How each agent played",
            "Analysis of variance",
        ] {
            let at = page.find(caption).unwrap_or_else(|| panic!("{caption}"));
            let start: String = page[at..].chars().take(150).collect();
            assert!(start.contains(WITH_LUCK), "{start}");
        }
        let scores = if seats == 2 { "The luck of the cards is subtracted." } else { "The scores are with the luck" };
        assert!(page.contains(scores) && page.contains("% intervals, without the luck of the cards."));
    }
    for row in table(&folder.join("on-2/pairwise.csv")) {
        for end in ["", "_low", "_high"] {
            let score = number(&row, &format!("score_adjusted{end}"));
            let elo = -400.0 * libm::log10(1.0 / score - 1.0);
            assert!((number(&row, &format!("elo_adjusted{end}")) - elo).abs() < 1e-9, "{row:?}");
        }
    }
    assert!(table(&folder.join("on-3/pairwise.csv")).iter().all(|row| row["elo_adjusted"].is_empty()));
    play(&folder, "off", spec("off", 2));
    assert!(!page(&folder.join("off")).contains(WITH_LUCK));
}

#[test]
fn one_deal_has_no_interval() {
    let folder = folder("one-deal");
    let spec = "seed = 3\ndeals = 1\nrules = ['classic']\nseats = [2]\nlineups = 'compositions'\n";
    let printed = play(&folder, "one", format!("{spec}agents = ['greedy', 'sharp', 'random']\n"));
    assert!(printed.contains("± –"), "{printed}");
    for row in table(&folder.join("one/ratings.csv")) {
        assert!(!row["nash"].is_empty());
        for (column, cell) in row.iter().filter(|(column, _)| column.contains("_low") || column.contains("_high")) {
            assert_eq!(cell, "", "{column}: {row:?}");
        }
    }
    let page = page(&folder.join("one"));
    assert!(!page.contains("(all alike)"), "{page}");
    let planned = prints(&folder, "plan --detect 0.01 --run one");
    assert!(planned.contains("         –          –         –  classic, 2 seats: greedy – sharp\n"), "{planned}");
}

#[test]
fn tables_show_the_interval_of_the_payoff() {
    let folder = folder("payoff");
    for (payoff, head, column, digits) in [
        ("points", "points/match", "points", 2),
        ("margin", "margin/match", "margin", 2),
        ("win", "win", "win_share", 3),
        ("rank_points", "rank points", "rank_points", 3),
    ] {
        let spec = format!("seed = 3\ndeals = 40\npayoff = '{payoff}'\nrules = ['classic']\nseats = [3]\n");
        let printed = play(&folder, payoff, format!("{spec}agents = ['greedy', 'sharp', 'random']\n"));
        let summary = table(&folder.join(payoff).join("summary.csv"));
        let sharp = summary.iter().find(|row| row["agent"] == "sharp").unwrap();
        let [mean, low, high] = ["", "_low", "_high"].map(|end| number(sharp, &format!("{column}{end}")));
        let line = printed.lines().find(|line| line.contains("sharp ")).unwrap();
        assert!(printed.lines().nth(1).unwrap().contains(head), "{printed}");
        assert!(line.contains(&format!(" {mean:.digits$} ")), "{line}");
        if payoff == "points" {
            let interval = format!("{mean:.2} ± {:.2}", (high - low) / 2.0);
            assert!(line.contains(&interval), "{line}");
            let markdown = prints(&folder, "report points --dry --format md");
            assert!(markdown.contains("| points/match | win | points |") && markdown.contains(&interval), "{markdown}");
            let page = page(&folder.join("points"));
            assert!(page.contains("points a match</th>") && page.contains(&interval.replace(' ', "\u{a0}")), "{page}");
        }
    }
}

#[test]
fn shares_above_one_are_explained() {
    let folder = folder("beyond");
    let spec = "deals = 6\nrules = ['classic']\nseats = [2]\nagents = ['sharp', 'random']\n";
    let explained = "A share below 0 or above 1";
    for (luck, is_explained) in [("on", true), ("off", false)] {
        let printed = play(&folder, luck, format!("seed = 2\nluck = '{luck}'\n{spec}"));
        let beyond = table(&folder.join(luck).join("summary.csv")).iter().any(|row| {
            let ends = ["rank_points_adjusted_low", "rank_points_adjusted_high"];
            ends.iter().any(|end| row[*end].parse().is_ok_and(|end: f64| !(0.0..=1.0).contains(&end)))
        });
        assert_eq!(beyond, is_explained, "{printed}");
        assert_eq!(printed.contains(explained), is_explained, "{printed}");
        assert_eq!(page(&folder.join(luck)).contains(explained), is_explained);
    }
    let compared = done(&folder, "report on off");
    assert!(compared.contains(explained), "{compared}");
}

#[test]
fn plans_name_their_lineups() {
    let folder = folder("plan-lineups");
    let agents = "agents = ['random', 'greedy', 'heuristic', 'sharp']";
    play(&folder, "four", format!("seed = 4\ndeals = 40\nluck = 'on'\nrules = ['classic']\nseats = [2]\n{agents}\n"));
    let planned = prints(&folder, "plan --detect 0.02 --run four");
    assert!(planned.contains("for classic, 2 seats: 6 lineups of 4 agents; 12 matches a deal\n"), "{planned}");
    assert!(planned.contains("rank points, without the luck of the cards\n"), "{planned}");
}

#[test]
fn agents_that_draw_are_asked_with_several_streams() {
    let folder = folder("streams");
    let asked =
        |agent: &str, more: &str| prints(&folder, &format!("exploit --game mini-m1 --agent '{agent}' --quiet{more}"));
    let drawn = asked("sharp(decay=0.5)", "");
    assert!(drawn.contains("exploitability        0.266085\n"), "{drawn}");
    assert!(drawn.contains("random streams        20 at each information set\n"), "{drawn}");
    let once = asked("sharp(decay=0.5)", " --streams 1");
    assert!(once.contains("0.290278\n") && once.contains("random streams        1 at each"), "{once}");
    for agent in ["greedy", "sharp", "heuristic(capacity=2)"] {
        let asked = asked(agent, "");
        assert!(asked.contains("random streams        1, because the agent draws no random numbers\n"), "{asked}");
    }
    assert!(asked("random", "").contains("random streams        none, because the probabilities are known\n"));
    let more = asked("bluffer", " --format json");
    assert!(more.contains("\"streams\":20"), "{more}");
}

#[test]
fn every_figure_of_a_table_is_labelled_in_the_dictionary() {
    let folder = folder("dictionary");
    let columns: Vec<serde_json::Value> =
        serde_json::from_str(&prints(&folder, "schema --rows --format json")).unwrap();
    let meaning = |file: &str, name: &str| {
        let found = columns.iter().find(|column| column["file"] == file && column["name"] == name).unwrap();
        found["meaning"].as_str().unwrap().to_lowercase()
    };
    for (file, name) in [
        ("ratings.csv", "elo"),
        ("ratings.csv", "misfit_p"),
        ("ratings.csv", "nash_low"),
        ("pooled.csv", "strength"),
        ("pairwise.csv", "elo"),
        ("pairwise.csv", "superiority"),
        ("pairwise.csv", "wins"),
        ("seats.csv", "effect"),
        ("summary.csv", "points_per_round"),
        ("behaviour.csv", "call_turn_mean"),
    ] {
        assert!(meaning(file, name).ends_with(&format!("{WITH_LUCK}.")), "{file} {name}");
    }
    for (file, name) in [("pairwise.csv", "elo_adjusted"), ("summary.csv", "luck"), ("ratings.csv", "games")] {
        assert!(!meaning(file, name).contains(&format!("{WITH_LUCK}.")), "{file} {name}");
    }
}
