//! `cambio solve` and `cambio exploit` on the command line, and the responder on a game with known exploitabilities.

use std::fs;
use std::process::Output;

use crate::command::{cambio, command, done, fails, fails_with, has, refuses, streams};
use crate::folder::folder;
use cambio_core::rules::MINI_GAMES;
use cambio_core::{Rules, Seat};
use cambio_exec::Executor;
use cambio_sim::{ExploitOptions, StudyDriver};
use cambio_solve::{AgentPolicy, Game, InfosetPolicy as _, InfosetView, Limits};
use serde_json::Value;

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn json(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

#[test]
fn a_game_is_solved_saved_and_taken_as_the_equilibrium() {
    let folder = folder("solve");
    let (printed, progress) = streams(&folder, "solve --game mini-m1 --to 1e-4 --save m1.txt");
    assert!(
        printed.contains("histories         28301\ninformation sets  1912 in seat a, 1140 in seat b\n"),
        "{printed}"
    );
    let size = progress.find("mini-m1: about ").expect("the size is printed");
    assert!(size < progress.find("compiled in ").expect("the time is printed"), "{progress}");
    let words = "exploit --game mini-m1 --agent greedy --format json --quiet";
    let output = cambio(&folder, &format!("{words} --equilibrium m1.txt --save greedy.txt"));
    assert_eq!(text(&output.stderr), "wrote greedy.txt\n");
    let found = json(&output);
    assert!((number(&found["exploitability"]) - 0.438_889).abs() < 1e-6, "{found}");
    assert!((number(&found["game_value"]) - 11.0 / 280.0).abs() < 2e-4, "{found}");
    assert!(number(&found["asked"][0]) < 200.0, "only sets that greedy reaches: {found}");
    // The strategy of greedy can be read back, and the equilibrium is hardly exploitable.
    let again = json(&cambio(&folder, "exploit --game mini-m1 --strategy greedy.txt --format json --quiet"));
    assert!((number(&again["nash_conv"]) - number(&found["nash_conv"])).abs() < 1e-12);
    let best = json(&cambio(&folder, "exploit --game mini-m1 --strategy m1.txt --format json --quiet"));
    assert!(number(&best["exploitability"]) <= 1e-4, "{best}");
}

/// The solver's file of `mini-p` has 27 MB. Files that people write may have 16 MB at most.
#[test]
fn the_solvers_file_of_every_mini_game_is_measured() {
    let folder = folder("files");
    for game in crate::amount(&["mini-m0", "mini-s", "mini-p"][..], &MINI_GAMES[..]) {
        let iterations = "--iterations 3 --format json --quiet";
        let solved = json(&cambio(&folder, &format!("solve --game {game} {iterations} --save {game}.txt")));
        let words = format!("--strategy {game}.txt --equilibrium {game}.txt --format json --quiet");
        let found = json(&cambio(&folder, &format!("exploit --game {game} {words}")));
        for name in ["exploitability", "value"] {
            assert!((number(&found[name]) - number(&solved[name])).abs() < 1e-12, "{game}: {solved} and {found}");
        }
    }
    assert!(fs::metadata(folder.join("mini-p.txt")).unwrap().len() > 16 << 20);
    let words = "exploit --game mini-m0 --strategy mini-p.txt --quiet";
    refuses(&folder, words, "mini-p.txt: the strategy is for `mini-p`, whose rules differ from the rules of `mini-m0`");
    refuses(
        &folder,
        &format!("{words} --memory-limit 10MB"),
        "cannot read mini-p.txt: the file is too large: expected at most 10000000 bytes (--memory-limit)",
    );
}

#[test]
fn every_algorithm_solves_and_rule_files_are_games() {
    let folder = folder("algorithms");
    fs::write(folder.join("mine.toml"), "base = 'mini-m0'\nname = 'mine'\nturn_limit = 1\n").unwrap();
    for (algorithm, stop) in [("dcfr", "--to 1e-3"), ("cfr+", "--to 1e-3"), ("mccfr", "--iterations 3000")] {
        let words = format!("solve --game mine.toml --algorithm {algorithm} {stop} --format json --quiet");
        let found = json(&cambio(&folder, &words));
        assert_eq!((&found["game"], &found["algorithm"]), (&Value::from("mine"), &Value::from(algorithm)));
        assert!(number(&found["exploitability"]) < 0.05, "{found}");
    }
}

#[test]
fn errors_of_solving_are_one_sentence() {
    let folder = folder("refused");
    refuses(&folder, "solve --game classic", "error: `classic` is too large to be solved exactly: about 10^");
    refuses(&folder, "exploit --game original --agent greedy", "error: `original` is too large to be solved exactly");
    refuses(&folder, "solve --game mini-m3 --memory-limit 10MB", "error: `mini-m3` is too large to be solved exactly");
    refuses(&folder, "solve --game mini-m3 --memory-limit much", "must be a number of bytes such as 500MB or 8GB");
    refuses(&folder, "solve --game classic --algorithm mccfr", "sampling requires --iterations");
    refuses(
        &folder,
        "solve --game mini-m9",
        "there is no preset `mini-m9`; did you mean `mini-m0`? the presets are original, ",
    );
    refuses(&folder, "solve --game mini-m1 --to 0", "must be a number above 0");
    refuses(&folder, "exploit --game mini-m1", "<--agent <SPEC>|--strategy <FILE>>");
    refuses(&folder, "exploit --agent greedy", "<--game <GAME>|--rules <RULES>>");
    let missing = fails(&folder, 1, "exploit --game mini-m1 --strategy nofile");
    assert!(missing.contains("error: cannot read nofile: ") && !missing.contains("solved"), "{missing}");
    refuses(&folder, "exploit --game mini-m1 --agent nobody", "there is no agent `nobody`");
    fs::write(folder.join("text.txt"), "something else\n").unwrap();
    refuses(
        &folder,
        "exploit --game mini-m1 --strategy text.txt",
        "text.txt: not a strategy file of this version: it must begin with",
    );
    refuses(&folder, "solve --game mini-m0 --save text.txt", "text.txt already exists; choose another file");
    done(&folder, "solve --game mini-m0 --save m0.txt");
    refuses(
        &folder,
        "exploit --game mini-m1 --strategy m0.txt",
        "m0.txt: the strategy is for `mini-m0`, whose rules differ from the rules of `mini-m1`",
    );
    // A command that fails leaves no file behind, and changes no file.
    refuses(&folder, "solve --game classic --save classic.txt", "too large");
    assert!(!folder.join("classic.txt").exists());
    assert_eq!(fs::read_to_string(folder.join("text.txt")).unwrap(), "something else\n");
}

#[test]
fn a_fault_while_solving_exits_with_two() {
    let folder = folder("fault");
    let printed = fails(&folder, 2, r#"exploit --game mini-m0 --quiet --agent 'external("no-such-bot")'"#);
    assert!(
        printed.starts_with("fault: external(\"no-such-bot\"): seat a cannot go on: the bot `no-such"),
        "{printed}"
    );
}

#[test]
fn a_bot_is_measured_in_one_process() {
    if !has("python3") {
        return;
    }
    let folder = folder("process");
    fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/bot.py"), folder.join("bot.py")).unwrap();
    let bot = "sh -c 'echo >> starts.txt; exec python3 bot.py'";
    let output = command(&folder, "exploit --game mini-m1 --quiet --format json --to 0.01 --agent")
        .arg(format!("external(\"{bot}\",start_ms=60000,deadline_ms=60000)"))
        .output()
        .unwrap();
    let found = json(&output);
    assert!(number(&found["asked"][0]) + number(&found["asked"][1]) > 100.0, "{found}");
    assert!((0.2..0.8).contains(&number(&found["exploitability"])), "{found}");
    assert_eq!(fs::read_to_string(folder.join("starts.txt")).unwrap().lines().count(), 1, "one process");
}

/// At the start of a match, an agent forgets the earlier ones, so it may answer all queries.
#[test]
fn an_agent_that_answers_all_queries_decides_like_new_ones() {
    let game = Game::compile(&Rules::preset("mini-m0").unwrap(), &Limits::default(), &mut |_| {}).unwrap();
    for spec in ["random", "greedy", "heuristic", "sharp", "rollout(n=10)", "ismcts(iterations=20)"] {
        let agent = cambio_agents::roster().parse(spec).unwrap();
        let found = game.ask(&mut AgentPolicy::new(|| agent.make(), 3, 2), &mut |_| {}).unwrap();
        let mut new_ones = |moment: &InfosetView<'_>| AgentPolicy::new(|| agent.make(), 3, 2).choose(moment).unwrap();
        assert_eq!(found, game.ask(&mut new_ones, &mut |_| {}).unwrap(), "{spec}");
    }
}

/// The result does not depend on the number of threads.
#[test]
fn lower_bounds_have_an_interval_and_a_responder() {
    let folder = folder("bound");
    let words = "exploit --rules classic --agent random --deals 6 --iterations 60 --candidates 10 --format json";
    let one = json(&cambio(&folder, &format!("{words} --threads 1")));
    let mut two = json(&cambio(&folder, &format!("{words} --threads 2")));
    two["seconds"] = one["seconds"].clone();
    assert_eq!(one, two);
    assert!(number(&one["gain"]) > 0.2 && number(&one["half_width"]) >= 0.0, "{one}");
    assert_eq!(
        one["responder"],
        "own-tree search(iterations=60,candidates=10,repeats=1,noise=0.02,min_errors=2,blueprint=heuristic)"
    );
    refuses(&folder, "exploit --rules classic --game mini-m1 --agent greedy", "cannot be used with");
}

#[test]
fn files_are_written_even_if_the_output_is_closed() {
    let folder = folder("unread");
    let mut child = command(&folder, "solve --game mini-m0 --save m0.txt --quiet").spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success(), "a closed output is not an error");
    let lines = fs::read_to_string(folder.join("m0.txt")).unwrap().lines().count();
    assert!(lines > 222, "a line for each information set: {lines}");
    let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 1, "{left:?}");
    refuses(&folder, "exploit --game mini-m0 --agent greedy --save m0.txt", "m0.txt already exists");
}

#[test]
fn flags_that_would_do_nothing_are_refused() {
    let folder = folder("idle");
    let exactly = "exploit --game mini-m0 --agent greedy";
    for flag in ["--iterations 5", "--blueprint greedy", "--min-errors 1", "--threads 2", "--deals 5"] {
        refuses(&folder, &format!("{exactly} {flag}"), "cannot be used with");
    }
    let below = "exploit --rules classic --agent greedy --deals 1";
    for flag in ["--streams 5", "--to 1e-3", "--equilibrium nofile", "--save file"] {
        refuses(&folder, &format!("{below} {flag}"), "cannot be used with");
    }
    refuses(&folder, &format!("{below} --threads 1025"), "must be a number from 0 to 1024");
    refuses(&folder, "exploit --game classic --agent greedy", "--rules classic computes a lower bound instead");
}

#[test]
fn a_blueprint_that_cannot_go_on_is_a_fault() {
    let folder = folder("blueprint");
    let words = "exploit --rules mini-m0 --agent greedy --deals 2 --iterations 5 --quiet";
    let words_of_bot = format!(r#"{words} --blueprint 'external("no-such-bot")'"#);
    fails_with(&folder, 2, &words_of_bot, "its blueprint cannot go on: the bot `no-such-bot`");
    refuses(&folder, "exploit --rules mini-m0 --agent greedy --blueprint oracle", "sees hidden cards");
}

/// A responder with few iterations follows its blueprint, and a copy of `greedy` gains nothing against `greedy`.
#[test]
fn a_responder_with_few_iterations_plays_its_blueprint() {
    for iterations in [1, 4] {
        let options = ExploitOptions {
            agent: Some("greedy".into()),
            blueprint: "greedy".into(),
            iterations,
            candidates: 5,
            deals: 60,
            seed: Some(3.into()),
            ..ExploitOptions::default()
        };
        let executor = Executor::new(2).unwrap();
        let won = options.run(&cambio_agents::roster(), &mut StudyDriver::new(&executor, &mut |_| ())).unwrap();
        assert_eq!((won.gain.mean, won.by_seat[0] + won.by_seat[1]), (0.0, 0.0), "{iterations} iterations: {won:?}");
    }
}

/// Calibration: the responder's gain is at least nine tenths of the exact exploitability of deterministic agents.
#[test]
fn the_responder_finds_nine_tenths_of_the_exact_gap() {
    let rules = Rules::preset("mini-m1").unwrap();
    let game = Game::compile(&rules, &Limits::default(), &mut |_| {}).unwrap();
    let roster = cambio_agents::roster();
    let blueprint = roster.parse("heuristic").unwrap();
    for (spec, min_errors) in [("greedy", 0.0), ("heuristic", 0.0), ("heuristic", ExploitOptions::default().min_errors)]
    {
        let target = roster.parse(spec).unwrap();
        let options = ExploitOptions { iterations: 600, candidates: 60, min_errors, ..ExploitOptions::default() };
        let strategy = game.ask(&mut AgentPolicy::new(|| target.make(), 0, 1), &mut |_| {}).unwrap().strategy;
        let mut policy = AgentPolicy::new(|| options.responder(&target, &blueprint), 0, 1);
        let response = game.ask_against(&mut policy, &strategy, &mut |_| {}).unwrap().strategy;
        let gain = f64::midpoint(game.value_between(&response, &strategy), -game.value_between(&strategy, &response));
        let exact = game.exploitability(&strategy);
        println!("{spec}: {gain} of {exact}");
        assert!(gain <= exact + 1e-12, "nothing gains more than a best response");
        assert!(gain >= 0.9 * exact, "{spec}: {gain} of {exact}");
        // In seat a, the responder gains no more than the best response of seat a.
        let best = game.best_response(Seat::A, &strategy).value;
        assert!(game.value_between(&response, &strategy) <= best + 1e-12);
    }
}

/// The exploitability of a search in a solved game, averaged over the seeds.
fn exploitability(game: &Game, spec: &str, seeds: std::ops::Range<u64>) -> f64 {
    let agent = cambio_agents::roster().parse(spec).unwrap();
    let count = (seeds.end - seeds.start) as f64;
    let each = |seed| {
        let answers = game.ask(&mut AgentPolicy::new(|| agent.make(), seed, 1), &mut |_| {}).unwrap();
        game.exploitability(&answers.strategy)
    };
    seeds.map(each).sum::<f64>() / count
}

/// Checks the search tree for strategy fusion: a tree with fusion stays at an exploitability of
/// 0.026 with 1,000 iterations (`cambio-solve/tests/fusion.rs`). A single search with 1,000 iterations is noisy, so
/// several searches are averaged.
#[test]
fn the_tree_of_multiple_observers_fuses_no_strategies() {
    let game = Game::compile(&Rules::preset("mini-m1").unwrap(), &Limits::default(), &mut |_| {}).unwrap();
    let few = exploitability(&game, "ismcts(mode=mo,iterations=1000)", 0..crate::amount(2, 5));
    let more = exploitability(&game, "ismcts(mode=mo,iterations=3000)", 0..crate::amount(1, 3));
    println!("1,000 iterations {few:.4}, 3,000 {more:.4}");
    assert!(few <= 0.008 && more <= 0.005, "1,000 iterations {few:.4}, 3,000 {more:.4}");
}
