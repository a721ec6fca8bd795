//! Mistakes of a hasty user. Each is answered by a warning, an error that says how to go on, or a right number.

use std::fs;
use std::path::Path;

use crate::command::{bot, cambio, done, fails, said, script, streams};
use crate::folder::folder;

fn json(folder: &Path, words: &str) -> serde_json::Value {
    serde_json::from_str(&streams(folder, words).0).unwrap()
}

#[test]
fn tuning_plays_against_the_bare_agent_and_names_it_before_play() {
    let folder = folder("bare");
    let tune = "tune --range 2..8:3 --deals 20 --quiet --agent";
    for (agent, first) in [
        ("heuristic(call_at=?,call_chance=0)", "against heuristic; the incumbent is heuristic"),
        ("greedy(call_at=?) --field sharp", "against sharp; the incumbent is greedy"),
        ("greedy(call_at=?) --validate 0", "against greedy"),
    ] {
        let words = format!("{tune} {agent}");
        let printed = streams(&folder, &words).0;
        let template = agent.split(' ').next().unwrap();
        assert_eq!(printed.lines().next(), Some(&*format!("{template} on classic, 2 seats, {first}")), "{printed}");
    }
    // A mistake in the incumbent is found before the search.
    let refused = fails(&folder, 1, &format!("{tune} greedy(call_at=?) --incumbent greddy"));
    assert!(refused.starts_with("error: there is no agent `greddy`; did you mean `greedy`?"), "{refused}");
    let text = "tune --range 0..1 --deals 20 --quiet --agent 'external(\"bot?\")'";
    assert!(fails(&folder, 1, text).contains("--field must be given, and incumbent or validate 0, because "));
}

#[test]
fn a_best_value_at_an_end_of_its_range_gets_a_warning() {
    let folder = folder("ends");
    let tune = "tune --agent greedy(call_at=?) --deals 60 --validate 0 --quiet --range";
    for (range, expected) in [
        ("2..4", Some("the best value 4 of `call_at` is the highest of the range 2..4; if higher values are valid, ")),
        (
            "20,30,60",
            Some("the best value 20 of `call_at` is the lowest of the range 20,30,60; if lower values are valid, "),
        ),
        ("0,6,30", None),
        ("6..6", None),
    ] {
        let (_, warned) = streams(&folder, &format!("{tune} {range}"));
        match expected {
            Some(sentence) => assert!(warned.starts_with(&format!("warning: {sentence}")), "{range}: {warned}"),
            None => assert_eq!(warned, "", "{range}"),
        }
    }
}

#[test]
fn budgets_are_swept_in_lists_and_logarithmic_steps() {
    let folder = folder("ranges");
    let sweep = "tune --deals 2 --validate 0 --quiet";
    done(&folder, &format!("{sweep} --agent rollout(n=?) --field greedy --range '1..10 log' --out log"));
    done(&folder, &format!("{sweep} --agent heuristic(call_at=?,decay=?) --range 3,9 --range 0..0.1:0.1 --out two"));
    for (out, columns, rows) in
        [("log", &["n"][..], &["1", "3", "10"][..]), ("two", &["call_at", "decay"], &["3 0", "3 0.1", "9 0", "9 0.1"])]
    {
        let mut curve = csv::Reader::from_path(folder.join(out).join("curve.csv")).unwrap();
        let header = curve.headers().unwrap().clone();
        assert_eq!(header.iter().skip(header.len() - columns.len()).collect::<Vec<_>>(), columns);
        let found = curve.records().map(|row| {
            let row = row.unwrap();
            columns
                .iter()
                .map(|name| row[header.iter().position(|other| other == *name).unwrap()].to_owned())
                .collect::<Vec<_>>()
                .join(" ")
        });
        assert_eq!(found.collect::<Vec<_>>(), rows);
    }
    for (range, sentence) in [
        ("3,2", "--range must list different values in ascending order, found `3,2`"),
        ("0..9log", "--range must start above 0 to have logarithmic steps, found `0..9log`"),
        ("3,x", "--range must be FROM..TO, FROM..TO:STEP, a list or FROM..TO log, such as 0..15, 0..1:0.1, "),
    ] {
        let refused = fails(&folder, 1, &format!("tune --agent greedy(call_at=?) --quiet --range {range}"));
        assert!(refused.contains(sentence), "{refused}");
    }
}

#[test]
fn a_far_weaker_field_gets_a_warning() {
    let folder = folder("weak");
    let tune = "tune --agent greedy(call_at=?) --range 0,6,30 --deals 40 --validate 0 --quiet --field";
    let sentence = "warning: the field random(pass=0.9) is far weaker than the candidates, whose median is 0.";
    let (_, warned) = streams(&folder, &format!("{tune} random(pass=0.9)"));
    assert!(warned.contains(sentence) && warned.ends_with("choose a stronger field\n"), "{warned}");
    assert!(
        streams(&folder, &format!("{tune} random(pass=0.9) --payoff win --seats 4")).1.contains("warning: the field")
    );
    assert!(!streams(&folder, &format!("{tune} sharp")).1.contains("weaker"));
}

#[test]
fn commands_share_no_deals() {
    let folder = folder("seeds");
    let sprt = "sprt sharp greedy --rounds --deals 30 --quiet";
    let advantage = "advantage greedy --over sharp --deals 4 --playouts 4 --quiet";
    let exploit = "exploit --rules mini-m0 --agent greedy --deals 2 --iterations 2 --quiet";
    let tune = "tune --agent greedy(call_at=?) --range 2,8 --deals 4 --validate 0 --rounds --quiet --out tuned";
    streams(&folder, tune);
    let tuning = fs::read_to_string(folder.join("tuned/tuning.json")).unwrap();
    let mut seeds = vec![serde_json::from_str::<serde_json::Value>(&tuning).unwrap()["seed"].clone()];
    seeds.extend(
        [sprt, advantage, exploit].map(|words| json(&folder, &format!("{words} --format json"))["seed"].clone()),
    );
    streams(&folder, "match greedy sharp --deals 2 --quiet --out matched");
    let manifest = fs::read_to_string(folder.join("matched/manifest.json")).unwrap();
    seeds.push(serde_json::from_str::<serde_json::Value>(&manifest).unwrap()["seed"].clone());
    for (index, seed) in seeds.iter().enumerate() {
        assert!(seed.as_str().is_some_and(|seed| seed.len() == 64) && !seeds[..index].contains(seed), "{seeds:?}");
    }
}

#[test]
fn a_lower_bound_that_may_be_chance_shows_nothing() {
    let folder = folder("bound");
    let exploit = "exploit --rules mini-m1 --iterations 5 --quiet --agent";
    let printed = done(&folder, &format!("{exploit} greedy --blueprint random --deals 30"));
    assert!(printed.contains("exploitability   nothing shown: the 95 % lower limit of the gain, -0."), "{printed}");
    let printed = done(&folder, &format!("{exploit} random --blueprint greedy --deals 30"));
    let limit = printed.split("at least ").nth(1).unwrap().split(' ').next().unwrap().parse::<f64>().unwrap();
    let gain = printed.split("gain             ").nth(1).unwrap().split(' ').next().unwrap().parse::<f64>().unwrap();
    assert!(0.0 < limit && limit < gain, "{printed}");
    assert!(
        done(&folder, &format!("{exploit} random --deals 1"))
            .contains("nothing shown: an interval needs at least 2 deals")
    );
}

#[test]
fn a_sequential_test_reads_thirty_deals_before_it_decides() {
    let folder = folder("few");
    // Two agents that never call and otherwise decide alike: every deal has the score ½.
    let alike = "sprt greedy(call_at=-20) greedy(call_at=-19) --quiet";
    let printed = done(&folder, alike);
    assert!(printed.contains("\n  102 deals, 204 matches; ") && !printed.contains("  score "), "{printed}");
    assert!(
        printed.contains("every deal has the score 0.5000: the agents decide alike, or the results of "),
        "{printed}"
    );
    let lost = done(&folder, "sprt random sharp --rules original --deals 3 --quiet");
    assert!(lost.contains("every deal has the score 0.0000, so the spread between deals cannot be"), "{lost}");
    let found = json(&folder, &format!("{alike} --elo1 100 --format json"));
    assert_eq!((&found["deals"], &found["verdict"]), (&30.into(), &"first".into()), "{found}");
    let end = |name: &str| found[name].as_f64().unwrap();
    assert!(end("estimate_low") < 0.47 && end("estimate_high") > 0.53, "{found}");
    // A clear winner needs as many.
    assert_eq!(json(&folder, "sprt sharp random --elo1 400 --quiet --format json")["deals"], 30);
    let few = done(&folder, "sprt sharp random --deals 20 --quiet");
    assert!(
        few.starts_with("undecided between 0 and 10 Elo after 20 deals; a decision needs at least 30 deals\n"),
        "{few}"
    );
}

#[test]
fn run_prints_its_seating_and_how_to_continue() {
    let folder = folder("seats");
    let (_, told) = streams(&folder, "match greedy random --seats 4 --deals 1 --out played");
    assert!(
        told.contains("2 agents at 4 seats: agents play in several seats, such as greedy | greedy | random | random; "),
        "{told}"
    );
    assert!(!streams(&folder, "match greedy random --seats 2 --deals 1").1.contains("several seats"));
}

#[test]
#[cfg(unix)]
fn a_check_plays_on_a_rule_file_and_keeps_a_counterexample() {
    let folder = folder("check");
    fs::write(folder.join("small.toml"), "base = 'classic'\nname = 'small'\nhand = 5\n").unwrap();
    let checked = done(&folder, "agents --check greedy --rules small.toml --matches 1");
    assert!(checked.starts_with("greedy: conforms in 4 matches, "), "{checked}");
    // `keep h9` is never legal.
    fs::write(folder.join("cheats.sh"), script(r#"echo '{"decision":"keep h9"}'"#)).unwrap();
    let check = format!("agents --rules small.toml --seats 2 --check '{}'", bot("cheats.sh"));
    for file in ["counterexample.jsonl", "counterexample-2.jsonl"] {
        let said_of_bot = fails(&folder, 2, &check);
        assert!(said_of_bot.contains("small, 2 seats, deal 0: "), "{said_of_bot}");
        let shown = said_of_bot.lines().last().unwrap();
        assert!(shown.starts_with("    ") && shown.ends_with(&format!(" replay --events {file}")), "{shown}");
        let replayed = cambio(&folder, &format!("replay --events {file}"));
        assert!(said(&replayed).contains("keep h9"), "{}", said(&replayed));
    }
}

#[test]
fn an_agent_that_cannot_play_is_refused_before_play() {
    let folder = folder("unplayable");
    fs::write(folder.join("odd.toml"), "base = 'classic'\nname = 'odd'\n[points]\n'2' = 9\n").unwrap();
    let classic = cambio_core::Rules::preset("classic").unwrap();
    fs::write(folder.join("own.net"), cambio_agents::Network::shipped_file(&classic, 2).unwrap()).unwrap();
    fs::write(folder.join("quits.sh"), "exit 7\n").unwrap();
    let bot = format!("'{}'", bot("quits.sh"));
    let spec = |agents: &str, more: &str| {
        let text = format!(
            "seed = 1\ndeals = 400\nrules = ['classic', 'odd.toml']\nseats = [2, 3]\nagents = [{agents}]\n{more}"
        );
        fs::write(folder.join("spec.toml"), text).unwrap();
    };
    let network = "field `agents` must be agents that can play `odd` at 2 seats, found `learned(\"own.net\")`: its network is for";
    let quits = "that can play `classic` at 2 seats, found `external(\"sh quits.sh\",deadline_ms=60000,start_ms=60000)`: the bot exited instead";
    for words in ["run spec.toml --out out", "run spec.toml --out out --resume"] {
        spec("'greedy', 'learned(\"own.net\")', 'random'", "");
        assert!(fails(&folder, 2, words).contains(network), "{words}");
        spec(&format!("'greedy', {bot}"), "");
        assert!(fails(&folder, 2, words).contains(quits), "{words}");
    }
    // An agent is not asked about tables at which it does not sit.
    spec(
        "'greedy', 'learned(\"own.net\")', 'random'",
        "lineups = [['greedy', 'random'], ['greedy', 'random', 'random']]\n",
    );
    done(&folder, "run spec.toml --out apart --quiet");
    for words in [
        "match greedy 'learned(\"own.net\")' --rules odd.toml",
        "match greedy 'learned(\"own.net\")' --rules odd.toml --out out",
        "sprt greedy 'learned(\"own.net\")' --rules odd.toml",
        "tune --agent greedy(call_at=?) --range 3..4 --field 'learned(\"own.net\")' --rules odd.toml --deals 8 --out out",
    ] {
        let refused = fails(&folder, 2, &format!("{words} --quiet"));
        assert!(
            refused.contains("that can play `odd` at 2 seats, found `learned(\"own.net\")`: "),
            "{words}: {refused}"
        );
    }
    for words in [format!("match greedy {bot}"), format!("sprt greedy {bot}")] {
        assert!(fails(&folder, 2, &format!("{words} --quiet")).contains(quits), "{words}");
    }
    assert!(!folder.join("out").exists());
}
