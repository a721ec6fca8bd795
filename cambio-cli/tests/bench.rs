//! `cambio bench`: parts, interruptions, many machines, verification and the leaderboard.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use cambio_agents::Network;
use cambio_core::Rules;
use serde_json::Value;

use crate::command::{cambio, done, fails, fails_with, refuses, rows, said};
use crate::folder::folder;

fn result(folder: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join("result.json")).unwrap()).unwrap()
}

/// The mean win share of an agent by opponent, computed from the rows: without luck that is subtracted.
fn shares(run: &Path, agent: &str) -> BTreeMap<String, f64> {
    let mut sums: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    let mut rows = csv::Reader::from_path(run.join("players.csv")).unwrap();
    let header = rows.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|other| other == name).unwrap();
    let (own, lineup, share) = (column("agent"), column("lineup"), column("win_share"));
    for row in rows.records().map(|row| row.unwrap()).filter(|row| &row[own] == agent) {
        let (sum, count) = sums.entry(row[lineup].split(" | ").nth(1).unwrap().to_owned()).or_default();
        *sum += row[share].parse::<f64>().unwrap();
        *count += 1.0;
    }
    sums.into_iter().map(|(opponent, (sum, count))| (opponent, sum / count)).collect()
}

/// Asserts that a win share and each share against one opponent has an interval with a width, between 0 and 1.
fn has_plausible_intervals(table: &Value) -> bool {
    let is_plausible = |share: &Value| {
        let [low, mean, high] = ["low", "win_share", "high"].map(|name| share[name].as_f64().unwrap());
        0.0 <= low && low <= mean && mean <= high && high <= 1.0 && low < high
    };
    is_plausible(table) && table["against"].as_object().unwrap().values().all(is_plausible)
}

#[test]
fn a_benchmark_is_played_in_parts_resumed_verified_and_ranked() {
    let place = folder("bench");
    let bench = |words: &str| done(&place, &format!("bench {words}"));
    bench("random --out r --quick --quiet --parts transfer");
    let partial = result(&place.join("r"));
    assert_eq!((&partial["complete"], partial["parts"].as_object().unwrap().len()), (&Value::from(false), 1));

    // The result agrees with the rows.
    let transfer = partial["parts"]["transfer"].as_object().unwrap();
    assert_eq!(transfer.len(), 12);
    for (table, found) in transfer {
        let shares = shares(&place.join("r").join(table), "random");
        assert_eq!(shares.len(), 2);
        assert!(has_plausible_intervals(found), "{table}: {found}");
        for (opponent, share) in &shares {
            assert!((found["against"][opponent]["win_share"].as_f64().unwrap() - share).abs() < 1e-12, "{table}");
        }
        let mean = shares.values().sum::<f64>() / 2.0;
        assert!((found["win_share"].as_f64().unwrap() - mean).abs() < 1e-12, "{table}");
    }

    // Regression test: formerly the interval of a few wins began below 0.
    bench("random --out m --quick --quiet --parts match");
    let rare = &result(&place.join("m"))["parts"]["match"]["match-faessler"];
    assert!(has_plausible_intervals(rare) && rare["against"]["learned"]["low"] == 0.0, "{rare}");

    // An incomplete benchmark is not on the leaderboard.
    refuses(&place, "bench --board r", "r is not complete; `cambio bench --resume` continues it");
    fails(&place, 3, "verify r");

    // A folder is for one request.
    for (words, what) in [
        (
            "bench random --out r --quick",
            "r already exists; choose another --out, or continue its benchmark with --resume",
        ),
        ("bench greedy --out r --quick --resume", "r belongs to another benchmark: `random` --class 1ms --quick"),
        ("bench random --out r --resume", "r belongs to another benchmark: `random` --class 1ms --quick"),
        ("bench oracle --out o", "sees hidden cards; choose an agent that does not"),
        ("bench random --out o --class 2ms", "--class must be one of 100ms, 10ms, 1ms, found `2ms`"),
    ] {
        refuses(&place, words, what);
    }
    assert!(!place.join("o").exists());

    // As after an interruption in the middle of the part: the larger games are solved already.
    let larger = ["mini-dpk", "mini-k3", "mini-k4", "mini-m3", "mini-p", "mini-pk"];
    let solved = crate::amount(&larger[..], &[]);
    fs::create_dir(place.join("r/exact")).unwrap();
    for game in solved {
        let file = place.join(format!("r/exact/{game}.json"));
        fs::write(file, format!("{{\"game\":\"{game}\",\"exploitability\":0.5,\"error\":null}}\n")).unwrap();
    }
    bench("random --out r --quick --quiet --resume --parts exact");
    let exact = result(&place.join("r"))["exact"].clone();
    assert_eq!(exact.as_object().unwrap().len(), 9);
    assert!(solved.iter().all(|game| exact[*game] == 0.5), "{exact}");
    // Half of the gains of both seats, which `cambio-solve/tests/exact.rs` compares with other programs.
    for (game, gains) in [("mini-m0", 1.08889), ("mini-m1", 1.08371), ("mini-s", 1.57901)] {
        assert!((2.0 * exact[game].as_f64().unwrap() - gains).abs() < 1e-5, "{exact}");
    }
}

#[test]
fn runs_of_many_machines_are_joined_and_changed_ones_found() {
    let place = folder("bench-plan");
    let planned = done(&place, "bench greedy --out g --quick --plan");
    let words = "python -m cambio_game.ray run g/experiments/duel.toml --out g/duel\n";
    assert!(planned.contains(words), "{planned}");
    done(&place, "run g/experiments/transfer-house.toml --out g/transfer-house --quiet");
    let shown = done(&place, "bench greedy --out g --quick --resume --parts transfer");
    assert!(!shown.contains("transfer-house (run 12 of 12)\nplayed"), "{shown}");
    done(&place, "bench greedy --out h --quick --quiet --parts transfer");
    assert_eq!(result(&place.join("g")), result(&place.join("h")));

    let file = place.join("g/transfer-house/matches.csv");
    let rows = fs::read_to_string(&file).unwrap();
    fs::write(&file, rows.replacen(",0,0,", ",0,1,", 1)).unwrap();
    fails_with(&place, 4, "verify g", "transfer-house: wrong: ");
    fs::write(&file, rows).unwrap();

    // A run of other deals in the place of a run of the suite.
    fs::rename(place.join("g/transfer-house"), place.join("g/kept")).unwrap();
    done(&place, "run g/experiments/transfer-house.toml --deals 9 --out g/transfer-house --quiet");
    let other = "transfer-house: wrong: g/transfer-house is damaged: it is another run than the one of cambio-bench/2";
    fails_with(&place, 4, "verify g", other);
    let refused = cambio(&place, "bench --board g");
    assert!(said(&refused).contains("it is another run than the one of cambio-bench/2"), "{}", said(&refused));

    // A run under other rules, played from a changed rule file in the folder.
    fs::remove_dir_all(place.join("g/transfer-house")).unwrap();
    fs::write(place.join("g/experiments/rules/house.toml"), "base = \"classic\"\nname = \"house\"\n").unwrap();
    done(&place, "run g/experiments/transfer-house.toml --out g/transfer-house --quiet");
    fails_with(&place, 4, "verify g", other);
}

#[test]
fn a_changed_responder_fails_the_check() {
    let place = folder("bench-responder");
    // As after an interruption before the second responder. The first one was trained for a short time.
    done(&place, "bench greedy --out g --quick --plan");
    done(&place, "learn --exploit greedy --from shipped --matches 400 --out g/robust/shipped --quiet");
    done(&place, "bench greedy --out g --quick --quiet --parts robust --resume");
    let robust = result(&place.join("g"))["robust"].clone();
    let [low, wins, high] = ["low", "responder_wins", "high"].map(|name| robust[name].as_f64().unwrap());
    assert!(low < wins && wins < high, "{robust}");
    let lines = |of: &str| -> Vec<String> {
        let text = said(&cambio(&place, "verify g --all"));
        text.lines().filter(|line| line.contains(of)).map(str::to_owned).collect()
    };
    let verified = "verified, except its training and curve.csv, which this command repeats:";
    let both = ["shipped", "nothing"].map(|name| format!("responder from {name}: {verified}"));
    assert_eq!(lines("responder"), both);

    // The training takes long.
    if crate::amount(false, true) {
        done(&place, "learn g/robust/nothing/recipe.toml --out again --quiet");
        for file in ["network.net", "curve.csv", "judged.csv", "bound.csv"] {
            let [first, again] = ["g/robust/nothing", "again"].map(|run| fs::read(place.join(run).join(file)).unwrap());
            assert_eq!(first, again, "{file}");
        }
    }

    // Without the best level, a weaker responder would be chosen; another result would choose another level.
    let judged = place.join("g/robust/nothing/judged.csv");
    let rows = fs::read_to_string(&judged).unwrap();
    let without_a_level: String = rows.split_inclusive('\n').filter(|row| !row.contains(",3,greedy,")).collect();
    let other = rows.replacen(",3,greedy,2,0", ",3,greedy,2,1", 1);
    assert!(without_a_level != rows && other != rows, "{rows}");
    let levels = |what: &str| format!("responder from nothing: wrong: g/robust/nothing/judged.csv: {what}");
    let [recipe, network] = ["recipe.toml", "network.net"].map(|name| place.join("g/robust/shipped").join(name));
    let (text, bytes) = (fs::read_to_string(&recipe).unwrap(), fs::read(&network).unwrap());

    fs::write(&judged, without_a_level).unwrap();
    fs::write(&recipe, text.replace("greedy = 1.0", "random = 1.0")).unwrap();
    let wrong = [
        "responder from shipped: wrong: its recipe is not the recipe of the benchmark",
        &levels("its levels do not follow from the recipe"),
    ];
    assert_eq!(lines("responder"), wrong);

    fs::write(&judged, other).unwrap();
    fs::write(&recipe, text).unwrap();
    fs::write(&network, [&bytes[..], b"!"].concat()).unwrap();
    let found = fails(&place, 4, "verify g --all");
    for wrong in [
        "responder from shipped: wrong: g/robust/shipped/network.net: ",
        &levels("the network of level 3 gets another result"),
    ] {
        assert!(found.contains(wrong), "{found}");
    }
}

#[test]
fn a_benchmark_measures_one_version_of_the_agent() {
    let place = folder("bench-versions");
    let shipped = |rules: &str| Network::shipped_file(&Rules::preset(rules).unwrap(), 2).unwrap();
    let bench = |words: &str| format!("bench 'learned(\"own.net\")' --quick --quiet --out {words}");
    fs::write(place.join("own.net"), shipped("classic")).unwrap();
    done(&place, &bench("o --parts table"));
    let other = Network::from_bytes(shipped("classic")).unwrap().0.to_bytes(&Value::from("trained for longer"));
    fs::write(place.join("own.net"), other).unwrap();
    let what = "since o/table was played, the bot's file `own.net` has changed; choose another --out for the new agent";
    refuses(&place, &bench("o --resume --parts transfer"), what);
    // The complete parts can be summed up again.
    done(&place, &bench("o --resume --parts table"));

    // As after a run on another machine.
    done(&place, &bench("p --parts match"));
    for run in ["match-original", "match-faessler"] {
        fs::rename(place.join("p").join(run), place.join("o").join(run)).unwrap();
    }
    let mixed = said(&cambio(&place, "verify o"));
    assert!(mixed.contains("the files of its agent are not those in o/table"), "{mixed}");
}

#[test]
fn agents_without_a_network_forfeit_in_the_benchmark() {
    let place = folder("bench-forfeits");
    fs::write(place.join("own.net"), Network::shipped_file(&Rules::preset("classic").unwrap(), 2).unwrap()).unwrap();
    let shown = said(&cambio(&place, "bench 'learned(\"own.net\")' --out l --quick --parts transfer exact"));
    assert!(shown.contains("(1ms, quick; forfeits: 25.0 % of transfer)\n"), "{shown}");
    let found = result(&place.join("l"));
    let forfeits = |table: &Value| table["forfeits"].as_u64().unwrap();
    let forfeits = found["parts"]["transfer"].as_object().unwrap().values().map(forfeits).collect::<Vec<_>>();
    assert_eq!(forfeits.iter().filter(|&&number| number == 40).count(), 3, "{forfeits:?}");
    assert_eq!(forfeits.iter().sum::<u64>(), 3 * 40);
    let plausible = found["parts"]["transfer"].as_object().unwrap().values().all(has_plausible_intervals);
    assert!(plausible, "formerly lost matches had an interval without a width: {found}");
    assert!(found["exact"].as_object().unwrap().values().all(Value::is_null), "{found}");
    let reasons = found["exact_errors"].as_object().unwrap();
    assert_eq!(reasons.len(), 9, "{found}");
    assert!(reasons["mini-p"].as_str().unwrap().contains("its network is for the cards of `classic`"), "{found}");
}

/// The agent cannot play the mini games and most tables, so its benchmark takes a moment.
#[test]
fn the_board_refuses_a_result_that_is_written_by_hand() {
    let place = folder("bench-forged");
    fs::write(place.join("own.net"), Network::shipped_file(&Rules::preset("faessler").unwrap(), 2).unwrap()).unwrap();
    let bench = |words: &str| done(&place, &format!("bench 'learned(\"own.net\")' --out f --quick --quiet {words}"));
    let board = |exact: &str| {
        let csv = done(&place, "bench --board f --format csv");
        assert_eq!(rows(&csv)[0]["exact"], exact, "{csv}");
    };
    bench("");
    let shown = done(&place, "bench --board f --format json");
    assert_eq!(shown, fs::read_to_string(place.join("f/result.json")).unwrap());

    fs::write(place.join("f/exact/mini-m0.json"), r#"{"game":"mini-m0","exploitability":0.0,"error":null}"#).unwrap();
    fails_with(&place, 4, "bench --board f", "it is not the result of the runs in this version");
    bench("--resume --parts exact");
    board("0.000 in 1");
    let wrong = format!("wrong: another exploitability than in {}", Path::new("f/exact/mini-m0.json").display());
    fails_with(&place, 4, "verify f --all", &wrong);

    let stored = result(&place.join("f"))["robust_error"].to_string();
    let text = fs::read_to_string(place.join("f/result.json")).unwrap().replace(&stored, "\"no time\"");
    fs::write(place.join("f/result.json"), text).unwrap();
    fails_with(&place, 4, "bench --board f", "it is not the result of the runs in this version");
}

#[test]
fn a_bot_that_cannot_be_started_is_refused() {
    let place = folder("bench-bot");
    for bot in ["external(\"false\")", "external(\"no-such-program\")"] {
        let sentence = "cannot begin a match of classic, or of any other preset: the bot";
        refuses(&place, &format!("bench '{bot}' --out b --quick"), sentence);
        assert!(!place.join("b").exists());
    }
}
