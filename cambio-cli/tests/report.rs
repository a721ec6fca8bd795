//! The report pages of runs and response curves: they are correct, self-contained and accessible.

use std::collections::BTreeMap;
use std::fs;

use crate::command::{number, play, prints, script, table, timing, without_times};
use crate::folder::folder;
use roxmltree::{Document, Node, ParsingOptions};

/// Parses a page, which must be well-formed XML.
pub(crate) fn parsed(page: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(page, options).unwrap()
}

fn all<'a, 'i>(page: &'a Document<'i>, name: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    page.descendants().filter(move |node| node.has_tag_name(name) || node.tag_name().name() == name)
}

/// The text in a node, with non-breaking spaces replaced by spaces.
fn text(node: Node<'_, '_>) -> String {
    let parts = node.descendants().filter(Node::is_text).filter_map(|node| node.text());
    parts.collect::<String>().replace('\u{a0}', " ")
}

pub(crate) fn with_id(page: &Document<'_>, id: &str) -> String {
    let node = page.descendants().find(|node| node.attribute("id") == Some(id));
    text(node.unwrap_or_else(|| panic!("no element has the id {id}")))
}

/// Checks that a page is one file, loads nothing, and describes its figures in words.
pub(crate) fn check_page(page: &str) {
    let document = parsed(page);
    assert!(page.starts_with("<!DOCTYPE html>\n<html"));
    assert_eq!(document.root_element().attribute("lang"), Some("en"));
    assert!(!title_of(&document).is_empty());
    let ids: Vec<&str> = document.descendants().filter_map(|node| node.attribute("id")).collect();
    let mut distinct = ids.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(ids.len(), distinct.len(), "an id is used twice");
    for node in document.descendants().filter(Node::is_element) {
        let name = node.tag_name().name();
        assert!(!["script", "link", "img", "iframe", "object", "embed", "use", "image"].contains(&name), "<{name}>");
        for attribute in node.attributes() {
            let value = attribute.value();
            match attribute.name() {
                "href" => assert!(value.starts_with('#') && ids.contains(&&value[1..]), "{value}"),
                "aria-labelledby" => assert!(value.split(' ').all(|id| ids.contains(&id)), "{value}"),
                name => assert!(
                    !["src", "srcset", "data", "action", "background"].contains(&name) && !name.starts_with("on")
                ),
            }
        }
    }
    let style = text(all(&document, "style").next().unwrap()).to_lowercase();
    assert!(["url(", "@import", "@font-face", "http"].iter().all(|word| !style.contains(word)));
    let policy = "default-src 'none'; style-src 'unsafe-inline'";
    assert!(all(&document, "meta").any(|meta| meta.attribute("content") == Some(policy)));

    for drawing in all(&document, "svg") {
        let first: Vec<_> = drawing.children().filter(Node::is_element).take(2).collect();
        assert_eq!((first[0].tag_name().name(), first[1].tag_name().name()), ("title", "desc"));
        assert!(!text(first[0]).is_empty() && text(first[1]).len() > 3, "a drawing without a description");
        assert_eq!((drawing.attribute("role"), drawing.attribute("viewBox").is_some()), (Some("img"), true));
        let figure = drawing.parent_element().unwrap();
        assert!(
            figure.tag_name().name() == "figure"
                && figure.children().any(|node| node.tag_name().name() == "figcaption")
        );
        // No coordinate is infinite or not a number.
        assert!(
            drawing
                .descendants()
                .flat_map(|node| node.attributes())
                .all(|a| !a.value().contains("NaN") && !a.value().contains("inf"))
        );
    }
    for table in all(&document, "table") {
        assert!(table.children().any(|node| node.tag_name().name() == "caption"));
        assert!(
            table
                .descendants()
                .filter(|node| node.tag_name().name() == "th")
                .all(|head| head.attribute("scope").is_some())
        );
        let wide =
            |row: Node<'_, '_>| row.children().filter(|cell| ["th", "td"].contains(&cell.tag_name().name())).count();
        let widths: Vec<usize> = table.descendants().filter(|node| node.tag_name().name() == "tr").map(wide).collect();
        assert!(widths.len() > 1 && widths.iter().all(|width| *width == widths[0]), "{widths:?}");
    }
    let level = |node: Node<'_, '_>| match node.tag_name().name() {
        "h1" => Some(1),
        "h2" => Some(2),
        "h3" => Some(3),
        _ => None,
    };
    let levels: Vec<i32> = document.descendants().filter_map(level).collect();
    assert!(levels[0] == 1 && levels[1..].iter().all(|level| *level > 1), "{levels:?}");
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels:?}");
}

fn title_of(document: &Document<'_>) -> String {
    let head = all(document, "head").next().unwrap();
    text(head.children().find(|node| node.tag_name().name() == "title").unwrap())
}

#[test]
fn reports_are_self_contained_well_formed_and_described() {
    let folder = folder("alone");
    fs::write(folder.join("house.toml"), "base = 'faessler'\nname = 'a <b> & \"c\"'\nhand = 3\n").unwrap();
    let agents: Vec<String> = (0..14).map(|at| format!("'greedy(call_at={at})'")).collect();
    for (name, spec) in [
        ("nasty", "name = \"<script>alert('1')</script> & ]]>\"\nrules = ['house.toml', 'original']\nseats = [2, 3]\ndeals = 20\n\
                   agents = ['random', 'greedy', 'heuristic']\nseat_effects = true\n".to_owned()),
        ("many", format!("rules = ['classic']\nseats = [2]\ndeals = 12\nagents = [{}]\n", agents.join(", "))),
        ("field", "rules = ['classic']\nseats = [3]\ndeals = 12\nagents = ['random', 'greedy', 'heuristic']\nlineups = { field = ['greedy'] }\n".to_owned()),
        ("mirror", "rules = ['classic']\nseats = [2]\ndeals = 12\nagents = ['random', 'greedy']\nlineups = 'mirror'\n".to_owned()),
        ("whole", "rules = ['classic']\nseats = [3]\ndeals = 12\nagents = ['random', 'greedy']\nlineups = 'compositions'\npayoff = 'margin'\n".to_owned()),
        ("single", "rules = ['classic']\nseats = [2]\ndeals = 1\nagents = ['random', 'greedy']\nrotations = 'one'\npayoff = 'points'\n".to_owned()),
        ("alone", "rules = ['faessler']\nseats = [2]\ndeals = 3\nagents = ['greedy']\npayoff = 'win'\n".to_owned()),
    ] {
        play(&folder, name, format!("seed = 1\n{spec}"));
        let page = fs::read_to_string(folder.join(name).join("report.html")).unwrap();
        check_page(&page);
        if name == "nasty" {
            let document = parsed(&page);
            let title = "<script>alert('1')</script> & ]]>";
            assert_eq!(text(all(&document, "h1").next().unwrap()), title);
            assert_eq!(title_of(&document), title);
            assert!(all(&document, "h2").any(|head| text(head) == "a <b> & \"c\", 2 seats"), "{page}");
            assert!(text(document.root_element()).contains("needs these rule files beside it: house.toml."));
        }
    }
}

#[test]
#[cfg(unix)]
fn faults_of_agents_with_any_name_are_listed() {
    let folder = folder("faults");
    fs::write(folder.join("quits.sh"), script("exit 7")).unwrap();
    let agent = r#"external("sh quits.sh '<i>' &amp; \\co",start_ms=60000)"#;
    let spec = |policy: &str| {
        let listed = serde_json::to_string(agent).unwrap();
        format!(
            "seed = 1\ndeals = 2\nrules = ['classic']\nseats = [2]\nfaults = '{policy}'\nagents = ['greedy', 'random', {listed}]\n"
        )
    };
    for (policy, sentence) in [
        ("forfeit", "Forfeited because of a fault: 8 matches."),
        ("void", "Dropped because of a fault: 4 deal blocks."),
    ] {
        play(&folder, policy, spec(policy));
        let page = fs::read_to_string(folder.join(policy).join("report.html")).unwrap();
        check_page(&page);
        let document = parsed(&page);
        let said = text(document.root_element());
        let faults = table(&folder.join(policy).join("faults.csv"));
        let label = &faults[0]["agent"];
        assert!(label.contains("'<i>' &amp; "), "{label}");
        assert!(said.contains(sentence) && with_id(&document, "faults").contains(label), "{said}");
        let listed = with_id(&document, "faults").matches("exited instead of answering").count();
        assert_eq!(listed, faults.len());
    }
}

const SPEC: &str = "seed = 12\ndeals = 60\nrules = ['classic', 'original']\nseats = [2, 3]\n\
                    agents = ['random', 'greedy', 'greedy(call_at=9)', 'heuristic']\n";

#[test]
fn the_verdict_agrees_with_the_tables() {
    let folder = folder("verdict");
    play(&folder, "out", SPEC);
    let page = fs::read_to_string(folder.join("out/report.html")).unwrap();
    let document = parsed(&page);
    let (summary, pairs) = (table(&folder.join("out/summary.csv")), table(&folder.join("out/pairwise.csv")));
    let mut kinds = BTreeMap::new();
    for (place, (rules, seats)) in
        [("classic", "2"), ("classic", "3"), ("original", "2"), ("original", "3")].into_iter().enumerate()
    {
        let said = with_id(&document, &format!("verdict-{}", place + 1));
        let mut rows: Vec<_> = summary.iter().filter(|row| row["rules"] == rules && row["seats"] == seats).collect();
        rows.sort_by(|one, other| number(other, "rank_points").total_cmp(&number(one, "rank_points")));
        let (leader, mean) = (&rows[0]["agent"], number(rows[0], "rank_points"));
        let (low, high) = (number(rows[0], "rank_points_low"), number(rows[0], "rank_points_high"));
        let interval = if cambio_stats::is_even(mean - low, high - mean, 3) {
            format!("± {:.3}", (mean - low).max(high - mean))
        } else {
            format!("({low:.3} to {high:.3})")
        };
        assert!(
            said.starts_with(leader.as_str()) && said.contains(&format!("{mean:.3} {interval} rank points")),
            "{said}"
        );
        // The simultaneous interval of the difference between the leader and another agent.
        let pair = |other: &str| {
            let row = pairs.iter().find(|row| {
                let both = [row["agent"].as_str(), row["other"].as_str()];
                row["rules"] == rules
                    && row["seats"] == seats
                    && both.contains(&leader.as_str())
                    && both.contains(&other)
            });
            let row = row.unwrap();
            let (low, high) = (number(row, "low_simultaneous"), number(row, "high_simultaneous"));
            let (low, high) = if row["agent"] == *leader { (low, high) } else { (-high, -low) };
            (low, high, number(row, "difference").abs(), number(row, "p_simultaneous"))
        };
        let level: Vec<&str> =
            rows[1..].iter().map(|row| row["agent"].as_str()).filter(|other| pair(other).0 <= 0.0).collect();
        let next = level.first().copied().unwrap_or(&rows[1]["agent"]);
        let (low, high, difference, p) = pair(next);
        let interval = format!("{low:.3} to {high:.3}").replace('-', "−");
        assert!(said.contains(&interval) && said.contains(&format!("{difference:.3}")), "{said}\n{interval}");
        assert!(said.contains("simultaneous 95 % Hall interval over all 6 pairs"), "{said}");
        // The p-value and the interval agree, because both come from one method.
        assert_eq!(p < 0.05, low > 0.0, "{said}");
        let told_p = if p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p:.3}") };
        assert!(said.contains(&told_p) || p > 0.999, "{said}\n{told_p}");
        assert_eq!(said.contains(" leads with "), level.is_empty(), "{said}");
        assert!(level.iter().all(|other| said.contains(other)), "{said}\n{level:?}");
        *kinds.entry(level.is_empty()).or_insert(0) += 1;
    }
    assert_eq!(kinds.len(), 2, "both kinds of verdict must occur: {kinds:?}");
    let clear = kinds[&true];
    assert!(with_id(&document, "verdict").contains(&format!("at {clear} of 4 the leader beats all others")));
}

#[test]
fn the_command_of_a_page_plays_the_same_run_again() {
    let folder = folder("again");
    fs::write(folder.join("house.toml"), "base = 'faessler'\nname = 'house'\nhand = 3\n").unwrap();
    fs::write(folder.join("spec.toml"), SPEC.replace("'original'", "'house.toml'")).unwrap();
    prints(&folder, "run spec.toml --quiet --out out --seed 77 --deals 3 --records");
    let page = fs::read_to_string(folder.join("out/report.html")).unwrap();
    let document = parsed(&page);
    let shown: Vec<String> = all(&document, "pre").map(text).collect();
    assert_eq!(shown[1], fs::read_to_string(folder.join("spec.toml")).unwrap());
    let words = shown[0].strip_prefix("cambio ").unwrap();
    assert!(words.starts_with("run "), "{words}");
    prints(&folder, words);
    for entry in fs::read_dir(folder.join("out")).unwrap() {
        let name = entry.unwrap().file_name();
        let [one, other] = ["out", "again"].map(|run| fs::read(folder.join(run).join(&name)).unwrap());
        let same = if name == "report.html" { without_times(one) == without_times(other) } else { one == other };
        assert!(same || name == "timing.csv", "{}", name.display());
    }
}

#[test]
fn agents_with_other_opponents_have_no_rank() {
    let folder = folder("others");
    let spec = "seed = 3\ndeals = 20\nrules = ['classic']\nseats = [2]\nagents = ['random', 'greedy', 'sharp', 'heuristic']\n\
                lineups = { focal = ['random', 'greedy'], field = ['sharp'] }\n";
    let printed = play(&folder, "out", spec);
    for line in ["\n* greedy  ", "\n† sharp  ", "\nheuristic plays no match: no lineup contains it.\n"] {
        assert!(printed.contains(line), "{line}: {printed}");
    }
    let page = fs::read_to_string(folder.join("out/report.html")).unwrap();
    check_page(&page);
    let document = parsed(&page);
    let verdict = all(&document, "p").map(text).find(|text| text.contains("other opponents")).unwrap();
    assert!(
        verdict.starts_with("greedy leads with") && verdict.ends_with("sharp has other opponents (†) and so no rank.")
    );
}

#[test]
fn measured_times_are_shown_and_never_verified() {
    let folder = folder("times");
    let printed = play(&folder, "out", SPEC);
    let rows = timing(&folder.join("out"));
    let agents = rows.iter().filter_map(|(agent, ..)| agent.as_ref()).count();
    assert!(agents > 0 && rows.iter().all(|(_, blocks, seconds)| *blocks > 0 && *seconds >= 0.0), "{rows:?}");
    let page = || fs::read_to_string(folder.join("out/report.html")).unwrap();
    let verified = || assert!(prints(&folder, "verify out").starts_with("verified: "));
    let shown = page();
    check_page(&shown);
    let document = parsed(&shown);
    let section = all(&document, "section").find(|section| section.attribute("id") == Some("times")).unwrap();
    let inside = |name: &'static str| section.descendants().filter(move |node| node.tag_name().name() == name);
    assert!(inside("th").any(|head| text(head).contains("time per decision")));
    assert_eq!(inside("tr").count() - inside("thead").count(), agents);
    assert!(printed.contains("\n  time per decision: ") && printed.contains(" µs"), "{printed}");
    verified();
    // The times of another machine, of an older version, and none.
    let file = folder.join("out/timing.csv");
    let slower = fs::read_to_string(&file).unwrap().replace(",0.", ",1.");
    for (content, is_shown) in [(slower.as_str(), true), ("threads,matches,seconds\n1,8,0.463\n", false), ("", false)] {
        fs::write(&file, content).unwrap();
        verified();
        let printed = prints(&folder, "report out");
        assert_eq!((page().contains("id=\"times\""), printed.contains("time per decision")), (is_shown, is_shown));
        assert_eq!(without_times(page().into()), without_times(shown.clone().into()));
        verified();
    }
}

#[test]
fn a_response_curve_has_its_points_its_band_and_its_validation() {
    let folder = folder("tuning");
    // The lines of a text may end anywhere between two words.
    let tune = |words: &str, out: &str| {
        let printed = prints(&folder, &format!("{words} --quiet --out {out}"));
        printed.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let marks = |out: &str| {
        let rows = table(&folder.join(out).join("curve.csv"));
        let among = rows.iter().filter(|row| row["among_best"] == "true").count();
        (rows.len(), among, rows.iter().filter(|row| !row["low_simultaneous"].is_empty()).count())
    };
    let sweep =
        "tune --agent greedy(call_at=?) --range 0..15 --deals 200 --validate 150 --incumbent greedy(call_at=14)";
    let said = tune(&format!("{sweep} --threads 1"), "one");
    assert_eq!(said, tune(&format!("{sweep} --threads 3"), "three"));
    let rows = table(&folder.join("one/curve.csv"));
    let (values, among, banded) = marks("one");
    assert_eq!((values, banded), (16, 16));
    // Each value has its mark, and the legend has one of each.
    assert_eq!((said.matches(" = ").count(), said.matches("* ").count()), (among, 2), "{said}");
    let found = fs::read_to_string(folder.join("one/tuning.json")).unwrap();
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    let best = rows.iter().find(|row| found["best"] == row["agent"].as_str()).unwrap();
    let mean: f64 = best["payoff"].parse().unwrap();
    assert!(said.contains(&format!("{} has the best mean, {mean:.4} ", best["agent"])), "{said}");
    let difference = found["validation"]["difference"].as_f64().unwrap();
    let shown = format!("{difference:+.4}").replace('-', "−");
    assert!(said.contains("On 150 fresh deals it averages ") && said.contains(&shown), "{said}\n{shown}");

    let same = tune(&sweep.replace("greedy(call_at=14)", best["agent"].as_str()), "same");
    assert!(same.contains("It is the incumbent, ") && same.contains("there is nothing to validate"), "{same}");
    let race = tune("tune --agent greedy(call_at=?) --range 0..15:5 --method race --validate 0 --deals 400", "race");
    assert!(marks("race").2 == 0 && race.contains("It was not validated on fresh deals"), "{race}");
    tune(
        "tune --agent heuristic(call_at=?,decay=?) --range 0..4:2 --range 0..1:0.5 --deals 30 --validate 30",
        "several",
    );
    assert_eq!((marks("several").0, marks("several").2), (9, 9));
    tune(
        "tune --agent heuristic(call_at=?,decay=?) --range 0..9 --range 0..1:0.1 --method cma --deals 10 --generations 2 --validate 0",
        "cma",
    );
    assert_eq!(marks("cma").0, 1);
}

/// Regression test: formerly the interval of a shutout was ± 0, and all ratings of the table were missing.
#[test]
fn shutouts_have_wide_intervals_and_marked_ratings() {
    let folder = folder("shutout");
    // The bot cannot be started, so it forfeits every match.
    let spec = "seed = 1\ndeals = 40\nrules = ['classic']\nseats = [2]\nfaults = 'forfeit'\n\
                agents = ['greedy', 'heuristic', 'external(\"false\")']\n";
    let printed = play(&folder, "out", spec);
    assert!(!printed.contains("1.000 ± 0.000") && !printed.contains("0.000 ± 0.000"), "{printed}");
    let pairs = table(&folder.join("out/pairwise.csv"));
    let shutout = pairs.iter().find(|row| row["agent"] == "greedy" && row["other"].starts_with("external")).unwrap();
    assert_eq!((number(shutout, "wins"), number(shutout, "score"), number(shutout, "score_high")), (80.0, 1.0, 1.0));
    let low = number(shutout, "score_low");
    assert!(low > 0.85 && low < 0.95, "{low}");
    assert!(shutout["elo"].is_empty() && shutout["elo_high"].is_empty() && number(shutout, "elo_low") > 300.0);
    assert!(number(shutout, "low_simultaneous") > 0.0 && number(shutout, "p_simultaneous") < 0.001);
    let ratings = table(&folder.join("out/ratings.csv"));
    for row in &ratings {
        assert_eq!(row["fit"], "regularised");
        assert!(number(row, "elo_low") < number(row, "elo") && number(row, "elo") < number(row, "elo_high"), "{row:?}");
    }
    assert!(number(&ratings[0], "elo") > number(&ratings[2], "elo") + 400.0);
    let page = fs::read_to_string(folder.join("out/report.html")).unwrap();
    check_page(&page);
    assert!(page.contains("The ratings are regularised: the agents fall into 2 groups"), "{page}");
    // The margin of a forfeited match is unknown, and so is the mean margin of an agent without a finished match.
    let players = table(&folder.join("out/players.csv"));
    assert!(players.iter().all(|row| row["margin"].is_empty() == row["total"].is_empty()));
    assert!(players.iter().any(|row| row["margin"].is_empty()) && players.iter().any(|row| !row["margin"].is_empty()));
    let summary = table(&folder.join("out/summary.csv"));
    assert!(summary[2]["margin"].is_empty() && summary[2]["margin_low"].is_empty());
    assert!(number(&summary[0], "margin_low") < number(&summary[0], "margin"));
}

/// Regression test: formerly each table had ratings, but the run had none.
#[test]
fn pooled_ratings_exist_only_for_several_tables() {
    let folder = folder("pooled");
    let run = |out: &str, rules: &str, agents: &str| {
        let spec =
            format!("seed = 1\ndeals = 40\nrules = [{rules}]\nseats = [2]\nfaults = 'forfeit'\nagents = [{agents}]\n");
        play(&folder, out, spec);
        prints(&folder, &format!("verify {out} --sample 1"));
        fs::read_to_string(folder.join(out).join("report.html")).unwrap()
    };
    let page = run("two", "'classic', 'faessler'", "'random', 'greedy', 'sharp'");
    check_page(&page);
    assert!(page.contains("One rating over all tables") && page.contains("bootstrap intervals over deals"), "{page}");
    let (pooled, ratings) = (table(&folder.join("two/pooled.csv")), table(&folder.join("two/ratings.csv")));
    assert_eq!(pooled.iter().map(|row| &*row["agent"]).collect::<Vec<_>>(), ["random", "greedy", "sharp"]);
    for row in &pooled {
        let number = |name: &str| row[name].parse::<f64>().unwrap();
        assert_eq!((&*row["tables"], &*row["deals"], &*row["games"]), ("2", "40", "320"));
        assert!(row["fit"] == "likelihood" && number("elo_low") < number("elo") && number("elo") < number("elo_high"));
        // The pooled rating is between the ratings of the tables, and more precise than at least one of them.
        let of_tables: Vec<_> = ratings.iter().filter(|rating| rating["agent"] == row["agent"]).collect();
        let mut elos: Vec<f64> = of_tables.iter().map(|rating| rating["elo"].parse().unwrap()).collect();
        elos.sort_by(f64::total_cmp);
        assert!(elos[0] - 5.0 < number("elo") && number("elo") < elos[1] + 5.0, "{row:?} {elos:?}");
        assert!(of_tables.iter().any(|rating| rating["error"].parse::<f64>().unwrap() > number("error")), "{row:?}");
    }
    let page = run("never", "'classic', 'faessler'", "'greedy', 'external(\"false\")'");
    assert!(page.contains("One regularised rating over all tables"), "{page}");
    let greedy = &table(&folder.join("never/pooled.csv"))[0];
    assert_eq!(["agent", "tables", "games", "fit"].map(|name| &*greedy[name]), ["greedy", "2", "160", "regularised"]);
    let page = run("one", "'classic'", "'random', 'greedy'");
    assert!(!page.contains("rating over all tables") && !folder.join("one/pooled.csv").exists());
}

#[test]
fn few_deals_are_warned_of_and_the_seats_have_no_verdict() {
    let folder = folder("few");
    let spec = "seed = 2\nrules = ['classic']\nseats = [3]\nagents = ['random', 'greedy', 'heuristic']\n";
    for (deals, is_few, is_tested) in [(5, true, false), (12, true, true), (30, false, true)] {
        let out = format!("out-{deals}");
        let printed = play(&folder, &out, format!("{spec}deals = {deals}\n"));
        assert_eq!(printed.contains("Intervals from fewer than 30 deals are rough"), is_few, "{printed}");
        assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
        let seats = table(&folder.join(&out).join("seats.csv"));
        assert!(seats.iter().all(|row| row["p"].is_empty() != is_tested && row["f"].is_empty() != is_tested));
        let page = fs::read_to_string(folder.join(&out).join("report.html")).unwrap();
        let shown = if is_tested {
            "Analysis of variance, no seat matters: F = "
        } else {
            "needs 12 complete deals, and there are 5."
        };
        assert!(page.contains(shown), "{page}");
        for row in table(&folder.join(&out).join("summary.csv")) {
            for share in ["rank_points", "win_share"] {
                let of = |end: &str| row[&format!("{share}{end}")].parse::<f64>().unwrap();
                assert!(
                    0.0 <= of("_low")
                        && of("_low") < of("") + 1e-12
                        && of("") < of("_high") + 1e-12
                        && of("_high") <= 1.0
                );
            }
        }
    }
}

/// Regression test: formerly `--detect 2 --deviation 1` gave 3.
#[test]
fn plan_prints_deals_for_one_pair_and_for_all_pairs() {
    let folder = folder("plan");
    let first = |words: &str| prints(&folder, words);
    assert!(first("plan --detect 2 --deviation 1").starts_with("5 deals for one pair alone"));
    assert!(first("plan --detect 0.1 --deviation 0.5").starts_with("199 deals for one pair alone"));
    let spec =
        "seed = 3\ndeals = 40\nrules = ['classic']\nseats = [2]\nagents = ['random', 'greedy', 'heuristic', 'sharp']\n";
    play(&folder, "out", spec);
    let shown = first("plan --detect 0.05 --run out");
    let pairs: Vec<Vec<f64>> = shown
        .lines()
        .filter(|line| line.contains(" – "))
        .map(|line| line.split_whitespace().take(3).map(|word| word.parse().unwrap()).collect())
        .collect();
    assert_eq!(pairs.len(), 6);
    assert!(pairs.iter().all(|pair| pair[1] > 1.3 * pair[0] && pair[2] > 0.0), "{shown}");
}

/// Regression test: formerly the incumbent against itself had 0.5000 ± 0.0000, without an explanation.
#[test]
fn a_value_against_itself_is_explained_as_exact() {
    let folder = folder("mirror-value");
    let words = "tune --agent greedy(call_at=?) --range 4..6 --deals 20 --validate 0 --quiet --out out";
    let shown = prints(&folder, words);
    assert!(!shown.contains("± 0.0000") && shown.contains("0.5000 by construction"), "{shown}");
    assert!(shown.contains("by construction: a value that plays only copies of itself gets a fixed share"), "{shown}");
    let rows = table(&folder.join("out/curve.csv"));
    let mirrored: Vec<&str> =
        rows.iter().filter(|row| row["is_mirror"] == "true").map(|row| row["value"].as_str()).collect();
    assert_eq!(mirrored, ["5"]);
}

/// The cell of a table on a page, by the start of its row's header and the index of its column.
fn cell(page: &Document<'_>, caption: &str, row: &str, column: usize) -> String {
    let table = all(page, "table").find(|table| text(*table).contains(caption)).unwrap();
    let is_row = |node: &Node<'_, '_>| node.tag_name().name() == "tr" && text(*node).starts_with(row);
    let row = table.descendants().find(is_row).unwrap_or_else(|| panic!("no row {row}"));
    text(row.children().filter(|node| node.tag_name().name() == "td").nth(column).unwrap())
}

/// Regression test: formerly the numbers of the table had no intervals, and the share of calls had no number of calls.
#[test]
fn behaviour_has_intervals_clustered_by_deal() {
    let folder = folder("behaviour");
    let spec = "seed = 3\ndeals = 60\nrules = ['classic']\nseats = [2]\nagents = ['random', 'greedy', 'heuristic']\n";
    play(&folder, "out", spec);
    let page = fs::read_to_string(folder.join("out/report.html")).unwrap();
    let document = parsed(&page);
    let caption = "How each agent played";
    let heads = all(&document, "table").find(|table| text(*table).contains(caption)).unwrap();
    let heads: Vec<String> =
        heads.descendants().filter(|node| node.attribute("scope") == Some("col")).map(text).skip(1).collect();
    for (column, head) in heads.iter().enumerate() {
        let agent = head.split('\u{a0}').next_back().unwrap().split(' ').next_back().unwrap();
        let mut deals: BTreeMap<String, [f64; 3]> = BTreeMap::new();
        for row in table(&folder.join("out/players.csv")).iter().filter(|row| row["agent"] == agent) {
            let sums = deals.entry(row["deal"].clone()).or_default();
            for (sum, name) in sums.iter_mut().zip(["rounds", "calls", "calls_succeeded"]) {
                *sum += row[name].parse::<f64>().unwrap();
            }
        }
        let total = |index: usize| deals.values().map(|sums| sums[index]).sum::<f64>();
        assert_eq!(cell(&document, caption, "calls, all", column).replace(',', ""), total(1).to_string());
        // The ratio of two sums, with the cluster sandwich and the quantile of Student's t with 59 degrees of freedom.
        let (rounds, calls) = (total(0), total(1));
        let residuals = deals.values().map(|sums| (sums[1] - calls / rounds * sums[0]).powi(2)).sum::<f64>();
        let half = 2.000_995 * (60.0 / 59.0 * residuals).sqrt() / rounds;
        let shown = cell(&document, caption, "calls0", column);
        let (mean, found) = shown.split_once(" ± ").unwrap();
        assert!((mean.parse::<f64>().unwrap() - calls / rounds).abs() < 0.006, "{shown}");
        assert!((found.parse::<f64>().unwrap() - half).abs() < 0.011, "{shown}, {half}");
    }
    assert!(!page.contains("± 0.00") && !page.contains("(0.00 to 0.00)"), "{page}");
}

/// Regression test: formerly one end of the interval was five times too far with many deals.
#[test]
fn the_share_of_successful_calls_has_an_interval_of_its_size() {
    let folder = folder("success");
    play(&folder, "out", "seed = 3\ndeals = 3000\nrules = ['classic']\nseats = [2]\nagents = ['greedy', 'sharp']\n");
    let page = fs::read_to_string(folder.join("out/report.html")).unwrap();
    let document = parsed(&page);
    for column in 0..2 {
        let [calls, shown] =
            ["calls, all", "calls that succeed"].map(|row| cell(&document, "How each agent played", row, column));
        let numbers = shown.replace(['±', '(', ')', '%'], " ").replace("to", " ");
        let numbers: Vec<f64> = numbers.split_whitespace().map(|number| number.parse().unwrap()).collect();
        let arms = match numbers[..] {
            [_, arm] => [arm; 2],
            [mean, low, high] => [mean - low, high - mean],
            _ => panic!("{shown}"),
        };
        // The calls of a deal depend on each other a little, so a binomial interval has nearly this size.
        let share = numbers[0] / 100.0;
        let half = 196.0 * (share * (1.0 - share) / calls.replace(',', "").parse::<f64>().unwrap()).sqrt();
        assert!(arms.iter().all(|arm| (0.7 * half..1.4 * half).contains(arm)), "{shown}, {half}");
    }
}

/// Regression test: formerly the p-values of pairs were too large, and no test covered all pairs.
#[test]
fn ratings_that_do_not_describe_the_pairs_are_marked() {
    let folder = folder("misfit");
    let spec = "seed = 3\ndeals = 400\nrules = ['classic']\nseats = [2]\n\
                agents = ['random', 'random(pass=0.9)', 'greedy', 'heuristic', 'sharp']\n";
    play(&folder, "out", spec);
    let ratings = table(&folder.join("out/ratings.csv"));
    // Ten pairs and five strengths, of which four are free.
    assert!(ratings.iter().all(|row| row["misfit_f_numerator"] == "6.0" && row["misfit_p"] == ratings[0]["misfit_p"]));
    assert!(ratings[0]["misfit_p"].parse::<f64>().unwrap() < 0.001, "{:?}", ratings[0]);
    let page = fs::read_to_string(folder.join("out/report.html")).unwrap();
    check_page(&page);
    let document = parsed(&page);
    let said = text(document.root_element());
    assert!(said.contains("One rating for each agent does not describe all pairs (goodness of fit, F = "), "{said}");
    let pairs = table(&folder.join("out/pairwise.csv"));
    let size = |row: &BTreeMap<String, String>| {
        let number = |name: &str| row[name].parse::<f64>().unwrap();
        (number("residual") / number("residual_error")).abs()
    };
    let most = pairs.iter().max_by(|one, other| size(one).total_cmp(&size(other))).unwrap();
    let shown = with_id(&document, "misfit-1-desc");
    assert!(shown.contains(&most["agent"]) && shown.contains(&most["other"]) && shown.contains('+'), "{shown}");
}

/// Regression test: formerly equal agents had different ranks, and “best” did not name its field.
#[test]
fn equal_agents_share_a_rank() {
    let folder = folder("ranks");
    let spec = "seed = 3\ndeals = 100\nrules = ['classic']\nseats = [2]\n\
                agents = ['random', 'greedy(call_at=60)', 'greedy', 'greedy(call_at=61)']\n";
    play(&folder, "out", spec);
    let summary = table(&folder.join("out/summary.csv"));
    assert_eq!(summary[1]["rank"], summary[3]["rank"], "{summary:?}");
    for row in &summary {
        let [low, rank, high] = ["rank_low", "rank", "rank_high"].map(|name| row[name].parse::<usize>().unwrap());
        assert!(1 <= low && low <= rank && rank <= high && high <= 4, "{row:?}");
    }
    let page = fs::read_to_string(folder.join("out/report.html")).unwrap();
    check_page(&page);
    let said = text(parsed(&page).root_element());
    assert!(said.contains(&format!("{}= greedy(call_at=60)", summary[1]["rank"])), "{said}");
    assert!(said.contains("“Best” refers to the mean over this field of 4 agents"), "{said}");
    assert!(
        said.contains(" scores above one half against every other agent") || said.contains("No agent scores above")
    );
}
