//! The command line: output, written files, errors and exit codes.

use crate::command::{
    cambio, command, fails, fails_with, has, interrupt, prints, refuses, script, streams, without_times,
};
use crate::folder::folder;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};

fn piped(folder: &Path, words: &str, input: &str) -> Output {
    let mut child = command(folder, words).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

const SPEC: &str = r#"
seed = 5
deals = 6
rules = ["original", "faessler", "classic"]
seats = [2, 3]
agents = ["random", "random(pass=0.9)", "greedy"]
"#;

const TABLES: [&str; 6] = ["matches.csv", "rounds.csv", "players.csv", "summary.csv", "records.jsonl", "report.html"];

/// Runs the experiment with additional arguments, and returns the contents of the written files.
fn run(folder: &Path, spec: &str, out: &str, words: &str) -> Vec<String> {
    fs::write(folder.join("spec.toml"), spec).unwrap();
    prints(folder, &format!("run spec.toml --records --quiet --out {out}{words}"));
    let read = |table| String::from_utf8(without_times(fs::read(folder.join(out).join(table)).unwrap())).unwrap();
    TABLES.iter().map(read).collect()
}

#[test]
fn the_version_names_the_revision_and_the_profile() {
    let output = cambio(&folder("version"), "--version");
    let build =
        text(&output.stdout).strip_prefix(concat!("cambio ", env!("CARGO_PKG_VERSION"), " (revision ")).unwrap();
    let (revision, profile) = build.split_once(", profile ").unwrap();
    assert!(!revision.is_empty());
    assert_eq!(profile, if cfg!(debug_assertions) { "dev)\n" } else { "release)\n" });
}

#[test]
fn rows_do_not_depend_on_threads_or_on_when_they_are_played() {
    let folder = folder("threads");
    let one = run(&folder, SPEC, "one", " --threads 1");
    assert_eq!(one, run(&folder, SPEC, "two", " --threads 2"));
    assert_eq!(one, run(&folder, SPEC, "eight", " --threads 8"));
    assert_eq!(one, run(&folder, SPEC, "again", " --threads 1"));
    assert_ne!(one[0], run(&folder, SPEC, "other", " --seed 6")[0]);
}

/// The rows of a table with this lineup.
fn rows_of<'t>(table: &'t str, lineup: &str) -> Vec<&'t str> {
    table.lines().filter(|row| row.contains(&format!(",{lineup},"))).collect()
}

#[test]
fn fewer_agents_and_more_deals_leave_the_other_rows_as_they_are() {
    let folder = folder("subsets");
    let whole = run(&folder, SPEC, "whole", "");
    let without = SPEC.replace(r#""random", "#, "").replace("seats = [2, 3]", "seats = [2]");
    let fewer = run(&folder, &without, "fewer", "");
    let more = run(&folder, SPEC, "more", " --deals 9");
    let lineup = "random(pass=0.9) | greedy";
    for table in 0..3 {
        let rows = rows_of(&whole[table], lineup);
        assert!(rows.len() >= 3 * 6 * 2, "{}", TABLES[table]);
        assert_eq!(rows, rows_of(&fewer[table], lineup), "{}", TABLES[table]);
        let early: Vec<&str> = rows_of(&more[table], lineup)
            .into_iter()
            .filter(|row| row.split(',').nth(3).unwrap().parse::<u64>().unwrap() < 6)
            .collect();
        assert_eq!(rows, early, "{}", TABLES[table]);
    }
}

#[test]
fn a_run_prints_a_table_and_fits_eighty_columns() {
    let folder = folder("table");
    fs::write(folder.join("spec.toml"), SPEC).unwrap();
    let (table, told) = streams(&folder, "run spec.toml --out out");
    for title in ["original, 2 seats, 6 deals", "faessler, 3 seats, 6 deals", "classic, 2 seats, 6 deals"] {
        assert!(table.contains(title), "{table}");
    }
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    assert!(told.contains("162 matches in out; open out/report.html\n"), "{told}");
    assert_eq!(streams(&folder, "run spec.toml --out quiet --quiet").1, "");
}

#[test]
fn agents_without_spread_are_not_distinguished() {
    let folder = folder("spread");
    let stars = |deals: u64| {
        let spec =
            format!("seed = 1\ndeals = {deals}\nrules = ['classic']\nseats = [2]\nagents = ['heuristic', 'random']");
        fs::write(folder.join("spec.toml"), spec).unwrap();
        let table = prints(&folder, &format!("run spec.toml --quiet --out {deals}"));
        table.lines().take_while(|line| !line.is_empty()).filter(|line| line.starts_with("* ")).count()
    };
    // With 2 deals, one agent wins both, and the interval of the difference is missing. With 60 deals, the agents are
    // distinguishable.
    assert_eq!((stars(2), stars(60)), (2, 1));
}

#[test]
fn records_are_accepted_from_a_file_and_from_standard_input() {
    let folder = folder("records");
    let tables = run(&folder, SPEC, "out", "");
    assert_eq!(prints(&folder, "replay out/records.jsonl"), "162 passed, 0 failed\n");
    let output = piped(&folder, "replay -", &tables[4]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), "162 passed, 0 failed\n"));
    let printed = prints(&folder, "replay --events out/records.jsonl");
    for line in ["round 1: 2 seats, seat a starts", "  turn of a", "  the round ends: a player ", " peeks at a3: "] {
        assert!(printed.contains(line), "{line}");
    }
    let printed = prints(&folder, "replay --position 1.3 out/records.jsonl");
    let positions: Vec<&str> = printed.lines().collect();
    assert_eq!(positions.len(), 162, "a line for each record");
    for position in &positions {
        let read: cambio_core::Position = position.parse().unwrap();
        assert_eq!(read.to_string(), *position);
    }
    let refused = cambio(&folder, "replay --position 1 out/records.jsonl");
    assert!(text(&refused.stderr).contains("expected the numbers of a round and of a decision, from 1, such as 1.12"));
    let none = fails(&folder, 1, "replay --position 1.9999 out/records.jsonl");
    assert!(none.contains("out/records.jsonl has no decision 9999 in round 1"), "{none}");
    let some = cambio(&folder, "replay --position 1.20 out/records.jsonl");
    let found = text(&some.stdout).lines().count();
    let sentence = format!("{} of 162 records have no decision 20 in round 1", 162 - found);
    assert!(some.status.success() && text(&some.stderr).contains(&sentence), "{}", text(&some.stderr));
}

#[test]
fn a_seat_is_advised_and_agents_are_measured_on_positions() {
    let folder = folder("advice");
    let position = "classic a=3s,2h,?,? b=?,?,?/b,?/b turns=5 phase=close pile=9c";
    let advise = |words: &str| {
        let output = cambio(&folder, &format!("advise {words}"));
        (output.status.code().unwrap(), text(&output.stdout).to_owned(), text(&output.stderr).to_owned())
    };
    let (code, printed, _) = advise(&format!("'{position}' --games 300"));
    assert_eq!(code, 0);
    assert!(printed.contains("* call ") && printed.contains("300 worlds, drawn uniformly"), "{printed}");
    let (_, json, _) = advise(&format!("'{position}' --games 300 --format json"));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["advice"]["decisions"].as_array().unwrap().len(), 2);

    std::fs::write(folder.join("house.toml"), "base = \"classic\"\nhand = 2\npeek = \"slots 1 2\"\n").unwrap();
    assert_eq!(advise("'house.toml a=3s,2h b=?/b,?/b' --games 100").0, 0);
    std::fs::write(folder.join("suite.pos"), format!("# Two.\n{position} ; call 0.558, end 0.522\n")).unwrap();
    let (_, printed, _) = advise("--suite suite.pos --agent 'greedy(call_known=5)' --format csv");
    assert!(printed.contains("\nall,1,1.0,0.0,"), "{printed}");
    let (_, printed, _) = advise("--suite suite.pos --agent 'greedy(call_known=4)' --format csv");
    assert!(printed.contains("\nall,1,0.0,0.036"), "{printed}");

    for (words, expected) in [
        ("'classic a=?'", "expected the layouts of two or more seats"),
        ("'classic a=?,?,?,? b=?,?,?,?' --agent nobody", "`agent` must be one of"),
        ("'classic a=?,?,?,? b=?,?,?,?' --games 5", "100"),
        ("--suite none.pos", "cannot read none.pos"),
    ] {
        let (code, _, said) = advise(words);
        assert!(code == 1 && said.contains(expected), "{words}: {said}");
    }
}

#[test]
fn altered_records_fail_with_the_legal_decisions() {
    let folder = folder("altered");
    let tables = run(&folder, SPEC, "out", " --deals 1");
    let record = tables[4].lines().find(|line| line.contains(r#""decisions":["a draw""#)).unwrap();
    let altered = record.replacen("\"a draw\"", "\"a end\"", 1);
    let input = format!("{record}\n\n{altered}\n{}\n", &record[..200]);
    let output = piped(&folder, "replay -", &input);
    let printed = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1));
    assert!(printed.contains("line 3, round 1, decision 1: "), "{printed}");
    assert!(printed.contains("illegal decision `a end`; legal: a draw, a call"), "{printed}");
    assert!(printed.contains("line 4, not JSON: "), "{printed}");
    assert!(printed.ends_with("1 passed, 2 failed\n"), "{printed}");

    let output = piped(&folder, "replay --format json -", &input);
    assert_eq!(output.status.code(), Some(1));
    let printed: Vec<serde_json::Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(printed[0], serde_json::json!({"line": 1, "ok": true, "round": null, "decision": null, "error": null}));
    assert_eq!((&printed[1]["line"], &printed[1]["ok"], &printed[1]["round"]), (&3.into(), &false.into(), &1.into()));
    assert!(printed[1]["decision"].is_u64() && printed[1]["error"].as_str().unwrap().contains("legal: a draw"));
    assert_eq!((&printed[2]["line"], &printed[2]["round"]), (&4.into(), &serde_json::Value::Null));
}

#[test]
fn missing_results_are_filled_in() {
    let folder = folder("fill");
    let tables = run(&folder, SPEC, "out", " --deals 1");
    let without_totals = |line: &str| {
        let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
        record.as_object_mut().unwrap().remove("totals");
        format!("{record}\n")
    };
    let bare: String = tables[4].lines().map(without_totals).collect();
    let output = piped(&folder, "replay --fill -", &bare);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let totals = |records: &str| -> Vec<serde_json::Value> {
        let records = records.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        records.map(|mut record| record["totals"].take()).collect()
    };
    assert_eq!(totals(text(&output.stdout)), totals(&tables[4]));
    assert!(text(&output.stderr).ends_with("27 passed, 0 failed\n"), "{}", text(&output.stderr));
    let output = piped(&folder, "replay --fill --legal -", &bare);
    let record: serde_json::Value = serde_json::from_str(text(&output.stdout).lines().next().unwrap()).unwrap();
    let round = &record["rounds"][0];
    assert_eq!(round["x-legal"].as_array().unwrap().len(), round["decisions"].as_array().unwrap().len());
}

/// Expects an error: exit code 1, one line with this sentence, and nothing on standard output.
fn refuses_in_a_line(folder: &Path, words: &str, sentence: &str) {
    let output = cambio(folder, words);
    let printed = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{words}: {printed}");
    assert!(printed.contains(sentence), "{words}: {printed}");
    assert_eq!(printed.lines().count(), 1, "{words}: {printed}");
    assert!(output.stdout.is_empty(), "{words}");
}

#[test]
fn bad_input_gets_one_sentence_and_nothing_is_overwritten() {
    let folder = folder("refusals");
    let spec = |from: &str, to: &str| {
        assert!(SPEC.contains(from), "{from}");
        fs::write(folder.join("bad.toml"), SPEC.replacen(from, to, 1)).unwrap();
    };
    let mut cases = 0;
    let mut check = |from: &str, to: &str, sentence: &str| {
        spec(from, to);
        refuses_in_a_line(&folder, "run bad.toml --out out", sentence);
        assert!(!folder.join("out").exists(), "{sentence}");
        cases += 1;
    };
    check(
        "\"classic\"",
        "\"clasic\"",
        "rules `clasic`: there is no preset `clasic`; did you mean `classic`? the presets are original, ",
    );
    check("\"classic\"", "\"mine.toml\"", "cannot read mine.toml: ");
    check(
        "\"greedy\"",
        "\"gready\"",
        "there is no agent `gready`; did you mean `greedy`? the agents are random, greedy",
    );
    check("\"greedy\"", "\"greedy(call=3)\"", "agent `greedy` has no parameter `call`; it has call_at, call_known");
    check(
        "\"greedy\"",
        "\"greedy(call_at=x)\"",
        "parameter `call_at` must be a whole number from -20 to 100, found `x`",
    );
    check(
        "\"greedy\"",
        "\"random\"",
        "field `agents` must be a list without duplicates (specs with the same values are the same agent), found `random` twice",
    );
    check("deals = 6", "deals = 0", "field `deals` must be at least 1, found 0");
    check("deals = 6", "deals = -1", "bad.toml: line 3: ");
    check(
        "deals = 6",
        "deels = 6",
        "line 3: unknown field `deels`; did you mean `deals`? expected one of `name`, `seed`, `agent_seed`",
    );
    check("[2, 3]", "[2, 9]", "a table must have 2 to 8 seats, found 9");
    check("[2, 3]", "[]", "field `seats` must be a list with at least one entry, found an empty list");
    check("[2, 3]", "[2, 2]", "found `original` at 2 seats twice");
    check("seed = 5", "", "field `seed` must be a whole number or a text, found nothing");
    check("seed = 5", "seed = 5\nlineups = [[\"greedy\", \"nobody\"]]", "there is no agent `nobody`");
    check(
        "seed = 5",
        "seed = 5\nlineups = [[\"greedy\"]]",
        "field `lineups` must be a list of lineups whose lengths are in `seats`, found a lineup of length 1",
    );
    check("seats = [2, 3]", "seats = [2, 3", "bad.toml: line ");
    check(
        "\"greedy\"",
        "\"greedy\", \"greedy(call_at=5)\"",
        "are the same agent), found `greedy` and `greedy(call_at=5)`",
    );
    check("seed = 5", "seed = 5\nlineups = \"some\"", "field `lineups` must be \"all\", \"mirror\", \"compositions\"");
    let twice = "lineups = [[\"greedy\", \"random\"], [\"greedy\", \"random\"]]";
    check("seed = 5", &format!("seed = 5\n{twice}"), "without duplicates, found [greedy | random] twice");
    check("seed = 5", "seed = -5", "line 2: a seed must be a whole number from 0 to 18446744073709551615, or a text");
    check("deals = 6", "deals = 9000000000000000000", "at most 2^40 matches, found 9000000000000000000, which makes");
    let many: Vec<String> = (0..40).map(|n| format!("\"greedy(call_at={n})\"")).collect();
    let seats = "seats = [2, 3]\nagents = [\"random\", \"random(pass=0.9)\", \"greedy\"]";
    let crowd = format!("seats = [8]\nagents = [{}]", many.join(", "));
    check(seats, &crowd, "found \"all\", which makes 76904685 lineups of 40 agents at 8 seats");
    assert_eq!(cases, 22);
    refuses(&folder, "run good.toml --out out --threads 1000000", "must be a number from 0 to 1024");
    let large = "run good.toml --out out --deals 99999999999999999999";
    refuses(&folder, large, "'--deals <N>': must be a whole number below 2^64");
    refuses(&folder, "sprt greedy random --elo1 x", "'--elo1 <ELO>': must be a number");

    refuses_in_a_line(&folder, "run none.toml --out out", "cannot read none.toml: ");
    fs::write(folder.join("good.toml"), SPEC).unwrap();
    fs::create_dir(folder.join("there")).unwrap();
    fs::write(folder.join("there/matches.csv"), "precious").unwrap();
    refuses_in_a_line(&folder, "run good.toml --out there", "there already exists; choose another --out");
    assert_eq!(fs::read_to_string(folder.join("there/matches.csv")).unwrap(), "precious");
    assert_eq!(fs::read_dir(folder.join("there")).unwrap().count(), 1);
    refuses_in_a_line(&folder, "replay none.jsonl", "cannot read none.jsonl: ");
    fs::write(folder.join("empty"), "").unwrap();
    refuses_in_a_line(&folder, "replay empty", "empty has no records");
    refuses_in_a_line(&folder, "verify empty", "empty is not a run folder: it has no spec.lock.json");
    refuses_in_a_line(&folder, "report empty", "empty is not a run folder: it has no spec.lock.json");
    refuses_in_a_line(&folder, "bench --board empty", "empty is not the folder of a benchmark: it has no bench.json");
    refuses_in_a_line(&folder, "match greedy random --rules there", "there: expected a regular file, found a folder");
    let network = "`there` must be a network file of at most 64 MiB, found a folder";
    refuses_in_a_line(&folder, "match greedy 'learned(\"there\")'", network);
    refuses_in_a_line(&folder, "rules nothing", "there is no preset `nothing`; the presets are original, original-b, ");
    refuses_in_a_line(&folder, "agents --check nobody", "there is no agent `nobody`");
}

#[test]
fn a_manifest_lists_tables_and_progress() {
    let folder = folder("manifest");
    fs::write(folder.join("fast.toml"), "base = 'faessler'\nname = 'fast'\nhand = 3\nmatch_end = 'rounds(2)'\n")
        .unwrap();
    let spec = SPEC.replace("\"classic\"", "\"fast.toml\"");
    let tables = run(&folder, &spec, "out", " --seed 18446744073709551615 --deals 2");
    assert_eq!(tables[0].lines().filter(|row| row.starts_with("fast,2,") && row.contains(",2,")).count(), 12);
    assert!(tables[4].lines().any(|record| record.contains("\"hand\":3")));
    assert_eq!(prints(&folder, "replay out/records.jsonl"), "54 passed, 0 failed\n");
    let manifest = fs::read_to_string(folder.join("out/manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!((&manifest["outcome"], &manifest["matches"]), (&"complete".into(), &54.into()));
    assert_eq!((&manifest["seed"], &manifest["deals"]), (&"18446744073709551615".into(), &2.into()));
    assert_eq!(manifest["tables"][0]["rules"], "original");
    assert_eq!(manifest["tables"][4]["rules"]["hand"], 3);
    assert_eq!(manifest["tables"][4]["lineups"][0], "random | random(pass=0.9)");
    assert_eq!(fs::read_to_string(folder.join("out/spec.toml")).unwrap().len(), SPEC.len() + 2);
}

#[test]
fn bad_rule_files_get_field_value_and_allowed_values() {
    let folder = folder("rule-files");
    let check = |rules: &str, sentence: &str| {
        fs::write(folder.join("mine.toml"), rules).unwrap();
        refuses_in_a_line(&folder, "rules --check mine.toml", sentence);
    };
    check(
        "base = 'classic'\nlate = 'never'",
        "field `late` must be `penalise`, `take_back` or `abort`, found \"never\"",
    );
    check("base = 'classic'\nlatte = 'abort'", "there is no field `latte`; did you mean `late`?");
    check("base = 'classic'\nhand = 40", "field `hand` must be a whole number from 1 to 8, found 40");
    check("name = 'x'\ndeck = 'classic'", "field `jokers` is missing");
    check("base = 'classic'\ndeck = [{ label = 'a', rank = 'a', points = 1, copies = 4 }]\njokers = 0", "seats need 9");
    check("base = 'klassik'", "there is no preset `klassik`");
    check("base = ", "not TOML: ");
}

#[test]
fn printed_rules_can_be_read() {
    let folder = folder("rules");
    for preset in ["original", "original-b", "original-c", "original-d", "faessler", "classic"] {
        fs::write(folder.join("printed.toml"), prints(&folder, &format!("rules {preset}"))).unwrap();
        let checked = prints(&folder, "rules --check printed.toml");
        assert!(checked.starts_with(&format!("printed.toml: `{preset}`, ")), "{checked}");
    }
    assert_eq!(prints(&folder, "rules").lines().count(), 6 + 9, "presets and mini games");
}

#[test]
fn agents_are_listed_with_their_parameters_and_checked() {
    let folder = folder("agents");
    let printed = prints(&folder, "agents");
    assert!(
        printed.contains("greedy\n") && printed.contains("call_at = 5: ") && printed.contains("pass: The probability"),
        "{printed}"
    );
    assert!(printed.contains(
        "disruptor\n    A heuristic. Swaps cards that their owners know.\n    Parameters as for heuristic, but disrupt = 3.\n"
    ));
    assert!(printed.lines().all(|line| line.len() <= 80), "{printed}");
    let checked = prints(&folder, "agents --check greedy --matches 2");
    assert!(checked.starts_with("greedy: conforms in 48 matches, "), "{checked}");
}

/// An experiment in which the bot with this command meets `greedy`, in TOML.
fn against_greedy(command: &str) -> String {
    let agents = format!("agents = ['greedy', 'external(\"{command}\",start_ms=60000)']");
    SPEC.lines().filter(|line| !line.starts_with("agents")).collect::<Vec<_>>().join("\n") + "\n" + &agents
}

#[test]
fn a_bot_in_another_process_plays_an_experiment() {
    if !has("python3") {
        return;
    }
    let folder = folder("external");
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/bot.py"), folder.join("bot.py")).unwrap();
    let spec = against_greedy("python3 bot.py").replace(r#""original", "faessler", "#, "");
    let one = run(&folder, &spec, "one", " --deals 1 --threads 1");
    assert_eq!(one, run(&folder, &spec, "two", " --deals 1 --threads 2"));
    assert!(one[2].contains(r#","external(""python3 bot.py"",start_ms=60000)","#), "{}", one[2]);
    assert!(prints(&folder, "replay one/records.jsonl").ends_with(" passed, 0 failed\n"));
    assert!(prints(&folder, "agents").contains("external(\"command\"): The program and its arguments"));
}

#[test]
#[cfg(unix)]
fn misbehaving_bots_stop_the_run_with_the_reason() {
    let folder = folder("misbehaving");
    for (name, decides, reason) in [
        ("exits", "exit 7", "cannot go on: the bot exited instead of answering `decide` (exit status: 7) (round 1, "),
        ("babbles", "echo hi", "cannot go on: the bot answered `decide` with what is not JSON: `hi` (round 1, "),
        ("cheats", r#"echo '{"decision":"keep h9"}'"#, " decided `keep h9`, which is illegal (round 1, decision "),
    ] {
        fs::write(folder.join(format!("{name}.sh")), script(decides)).unwrap();
        fs::write(folder.join("spec.toml"), against_greedy(&format!("sh {name}.sh"))).unwrap();
        let output = cambio(&folder, &format!("run spec.toml --quiet --out {name}"));
        let printed = text(&output.stderr);
        assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(2), true), "{printed}");
        assert!(printed.starts_with("fault: original, 2 seats, ") && printed.contains(reason), "{printed}");
        assert!(printed.contains(" replay --events "), "{printed}");
        let record = fs::read_to_string(folder.join(name).join("fault.jsonl")).unwrap();
        let record: serde_json::Value = serde_json::from_str(&record).unwrap();
        let decisions = record["rounds"][0]["decisions"].as_array().unwrap();
        assert_eq!(decisions.last().is_some_and(|last| last.as_str().unwrap().ends_with(" keep h9")), name == "cheats");
        let replayed = cambio(&folder, &format!("replay --events {name}/fault.jsonl"));
        assert_eq!(replayed.status.code(), Some(i32::from(name == "cheats")), "{}", text(&replayed.stdout));
        assert!(text(&replayed.stdout).contains("line 1, the match stopped with a fault: seat "), "{replayed:?}");
        assert!(text(&replayed.stdout).ends_with(" failed, 1 stopped with a fault\n"), "{replayed:?}");
        let page = cambio(&folder, &format!("replay --html - {name}/fault.jsonl"));
        assert!(text(&page.stdout).contains(r#""fault":"seat "#), "{name}");
    }
    let sentence = "does not conform: original, 2 seats, deal 0: seat a cannot go on: the bot `no-such";
    fails_with(&folder, 2, r#"agents --check 'external("no-such-bot")'"#, sentence);
}

#[test]
fn usage_errors_exit_with_one_and_help_with_zero() {
    let folder = folder("usage");
    fails(&folder, 1, "run");
    fails(&folder, 1, "frobnicate");
    for help in ["--help", "run --help", "help run", "--version"] {
        prints(&folder, help);
    }
}

#[test]
#[cfg(unix)]
fn an_interrupted_run_leaves_whole_blocks_in_canonical_order() {
    let folder = folder("interrupted");
    fs::write(folder.join("spec.toml"), SPEC).unwrap();
    let child = command(&folder, "run spec.toml --out out --deals 2000000 --records").spawn().unwrap();
    let written = || fs::metadata(folder.join("out/ledger.jsonl")).map_or(0, |data| data.len());
    while written() == 0 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("interrupted: "), "{}", text(&output.stderr));
    let manifest = fs::read_to_string(folder.join("out/manifest.json")).unwrap();
    assert!(manifest.contains("\"outcome\": \"interrupted\""), "{manifest}");
    let matches = fs::read_to_string(folder.join("out/matches.csv")).unwrap();
    let rows = matches.lines().count() - 1;
    assert!(rows > 0 && rows.is_multiple_of(2) && matches.ends_with('\n'));
    let players = fs::read_to_string(folder.join("out/players.csv")).unwrap();
    assert_eq!(players.lines().count() - 1, 2 * rows);
    let summary = fs::read_to_string(folder.join("out/summary.csv")).unwrap();
    assert!(summary.lines().count() > 1);
    let report = fs::read_to_string(folder.join("out/report.html")).unwrap();
    assert!(report.contains("This run is incomplete: ") && report.contains(">So far, "), "{report}");
    let short = run(&folder, SPEC, "short", &format!(" --deals {}", (rows / 2).min(50)));
    assert!(matches.starts_with(&short[0].lines().take(rows.min(101)).collect::<Vec<_>>().join("\n")));
}

#[test]
fn a_person_plays_at_the_prompt_and_the_record_replays() {
    let folder = folder("play");
    let words = "play --seed 5 --record match.jsonl";
    let output = piped(&folder, words, "\nk a1\n\n\ncall\n");
    let printed = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{printed}{}", text(&output.stderr));
    assert!(printed.starts_with("classic at 2 seats, seed 5. You are seat a. Type ? for help\n"), "{printed}");
    assert!(printed.ends_with("--seed 5 deals the same cards again\n"), "{printed}");
    assert_eq!(text(&cambio(&folder, "replay match.jsonl").stdout), "1 passed, 0 failed\n");
    refuses(&folder, words, "match.jsonl already exists; choose another file");
    refuses(&folder, "play --record no-folder/match.jsonl", "cannot write no-folder/match.jsonl: ");
    refuses(&folder, "play --seat c", "--seat must be from a to b, because there are 2 seats");
    refuses(&folder, "play --against oracle", "`oracle` sees hidden cards");
    refuses(&folder, "play --against nobody", "there is no agent `nobody`");
    let mut unread = command(&folder, "play --seed 5").stdin(Stdio::null()).spawn().unwrap();
    drop(unread.stdout.take());
    assert_eq!(unread.wait().unwrap().code(), Some(0), "a closed output is not an error");
    let left = piped(&folder, "play --seed 5 --seat b --rules original --rounds", "quit\n");
    assert_eq!(left.status.code(), Some(0));
    assert!(
        text(&left.stdout).contains("original (one round) at 2 seats, seed 5. You are seat b"),
        "{}",
        text(&left.stdout)
    );
    assert!(text(&left.stdout).ends_with("you left the match; --seed 5 deals the same cards again\n"));
}

#[test]
fn a_result_and_a_file_do_not_share_standard_output() {
    let folder = folder("mixed");
    let output = cambio(&folder, "exploit --game mini-m0 --agent greedy --save - --format json --quiet");
    let (file, result) = (text(&output.stdout), text(&output.stderr));
    assert!(!file.contains('{') && result.starts_with("{\"game\":\"mini-m0\""), "{file}\n{result}");
}

#[test]
fn folders_of_other_commands_are_named() {
    let folder = folder("others");
    for (name, file, sentence) in [
        (
            "training",
            "recipe.toml",
            "training is a training, which has no rows to check; `cambio learn training/recipe.toml",
        ),
        ("test", "study.json", "test is a study, which has no rows to check"),
    ] {
        fs::create_dir(folder.join(name)).unwrap();
        fs::write(folder.join(name).join(file), "").unwrap();
        refuses(&folder, &format!("verify {name}"), sentence);
    }
}
