//! Agents in other processes: the Python bot plays, and each error of a bot is a fault with a specific reason, within
//! the deadline and without leftover processes.
#![cfg(unix)]

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use cambio_agents::roster;
use cambio_core::play::MatchError;
use cambio_core::rng::Key;
use cambio_core::testing::{CheckScope, NonconformanceKind, RandomAgent, check_agent};
use cambio_core::{Agent, MatchSetup, Recorder, Rules, play_match};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// Whether Python 3 is installed. If not, prints that the test is skipped.
fn has_python() -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        println!("skipped: python3 is not installed");
    }
    found
}

/// The spec of the example bot.
fn example() -> String {
    format!("external(\"python3 '{}'\",start_ms=60000,deadline_ms=60000)", root().join("examples/bot.py").display())
}

fn record(rules: &str, seats: usize, deal: u64, agents: &mut [Box<dyn Agent>]) -> String {
    let rules = Rules::preset(rules).unwrap();
    let key = Key::new(42, deal);
    let mut recorder = Recorder::new(&rules);
    let result = play_match(&MatchSetup { rules, seats, key }, agents, &mut recorder).unwrap();
    recorder.finish(key, 0, &vec!["bot"; seats], &result).to_json()
}

#[test]
fn python_bot_plays_every_preset_in_one_process() {
    if !has_python() {
        return;
    }
    let roster = roster();
    let (bot, greedy) = (roster.parse(&example()).unwrap(), roster.parse("greedy").unwrap());
    let mut agents = [bot.make(), greedy.make(), bot.make()];
    for rules in ["original", "faessler", "classic"] {
        for deal in 0..3 {
            let played = cambio_core::Record::read(&record(rules, 3, deal, &mut agents)).unwrap();
            assert_eq!(cambio_core::replay(&played, &mut ()).unwrap(), played);
        }
    }
}

#[test]
fn the_python_bot_plays_the_same_under_the_same_seed() {
    if !has_python() {
        return;
    }
    let bot = roster().parse(&example()).unwrap();
    let mut veterans = [bot.make(), bot.make()];
    let first: Vec<String> = (0..4).map(|deal| record("original", 2, deal, &mut veterans)).collect();
    for (deal, first) in first.iter().enumerate() {
        assert_eq!(*first, record("original", 2, deal as u64, &mut [bot.make(), bot.make()]));
    }
    assert_ne!(first[0], first[1]);
}

#[test]
fn the_python_bot_conforms() {
    if !has_python() {
        return;
    }
    let bot = roster().parse(&example()).unwrap();
    let effort =
        CheckScope { presets: vec!["original", "classic"], seats: vec![3], matches: 1, ..CheckScope::default() };
    let found = check_agent(|| bot.make(), &effort).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(found.matches, 2);
    assert!(found.decisions > 100, "only {} decisions", found.decisions);
}

#[test]
fn the_match_in_the_protocol_page_was_played() {
    if !has_python() {
        return;
    }
    let page = std::fs::read_to_string(root().join("PROTOCOL.md")).unwrap();
    let (_, told) = page.split_once("## A match").unwrap();
    let lines = |mark: &str| -> Vec<String> {
        let whole = told.lines().filter_map(|line| line.strip_prefix(mark)).filter(|line| !line.contains('…'));
        whole.map(str::to_owned).collect()
    };
    let (said, answered) = (lines("> "), lines("< "));
    assert!(said.len() > 10 && answered.len() > 2);

    let logs = ["said", "answered"].map(|log| PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(log));
    let bot = root().join("examples/bot.py");
    let pipes = format!("tee '{}' | python3 '{}' | tee '{}'", logs[0].display(), bot.display(), logs[1].display());
    let rules = Rules::preset("classic").unwrap();
    let match_setup = MatchSetup { rules, seats: 2, key: Key::new(3, 0) };
    let mut agents: [Box<dyn Agent>; 2] = [roster().parse("greedy").unwrap().make(), shell(&pipes)];
    play_match(&match_setup, &mut agents, &mut ()).unwrap();
    drop(agents);
    for (log, lines) in logs.iter().zip([said, answered]) {
        let log = std::fs::read_to_string(log).unwrap();
        let mut played = log.lines();
        for line in lines {
            assert!(played.any(|other| other == line), "{line}");
        }
    }
}

/// A shell command that answers `hello`.
const HELLO: &str = r#"read line; echo '{"protocol":1,"name":"sh","version":"0"}'; "#;

type Bot = Box<dyn Agent>;

/// The time limits for the start and for a decision of a bot that is fast enough.
const PATIENT: (u32, u32) = (20_000, 20_000);

/// A bot with this command and these time limits.
fn bot(command: &str, (start_ms, deadline_ms): (u32, u32)) -> Bot {
    let command = command.replace('\\', r"\\").replace('"', r#"\""#);
    roster().parse(&format!("external(\"{command}\", start_ms={start_ms}, deadline_ms={deadline_ms})")).unwrap().make()
}

/// A bot that is a shell script.
fn shell(script: &str) -> Bot {
    shell_within(script, PATIENT)
}

fn shell_within(script: &str, limits: (u32, u32)) -> Bot {
    let script = script.replace('\'', r"'\''");
    bot(&format!("sh -c '{script}'"), limits)
}

/// A shell script with this time limit for a decision.
fn hurried(script: &str, deadline_ms: u32) -> Bot {
    shell_within(script, (PATIENT.0, deadline_ms))
}

/// A shell script with this time limit for the start.
fn hurried_start(script: &str, start_ms: u32) -> Bot {
    shell_within(script, (start_ms, PATIENT.1))
}

/// Plays the bot in seat b against a random player; returns the error of the match, and checks that it stopped in time.
fn stops(bot: Bot) -> String {
    let rules = Rules::preset("classic").unwrap();
    let match_setup = MatchSetup { rules, seats: 2, key: Key::new(42, 0) };
    let mut agents: [Box<dyn Agent>; 2] = [Box::<RandomAgent>::default(), bot];
    let begun = Instant::now();
    let error = play_match(&match_setup, &mut agents, &mut ()).unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(15), "{error}: after {:?}", begun.elapsed());
    error.to_string()
}

/// Expects a fault of the bot whose reason begins with `reason`.
fn faults(bot: Bot, reason: &str) {
    let told = stops(bot);
    let found = told.strip_prefix("seat b cannot go on: the bot ").unwrap_or_else(|| panic!("{told}"));
    assert!(found.starts_with(reason), "{told}");
    assert!(told.ends_with(')') && told.contains(" (round 1, decision ") || told.contains("before round 1"), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
}

#[test]
fn a_bot_that_cannot_be_started_is_at_fault() {
    faults(bot("no-such-bot --fast", PATIENT), "`no-such-bot` cannot be started: ");
    faults(bot("/", PATIENT), "`/` cannot be started: ");
}

#[test]
fn a_bot_that_exits_at_once_is_at_fault() {
    faults(shell("exit 3"), "exited instead of answering `hello` (exit status: 3) (before round 1)");
    faults(shell("read line"), "exited instead of answering `hello` (exit status: 0)");
}

#[test]
fn a_bot_that_exits_in_the_middle_is_at_fault() {
    let until_asked = format!("{HELLO} while read line; do case $line in *decide*) exit 4;; esac; done");
    faults(shell(&until_asked), "exited instead of answering `decide` (exit status: 4) (round 1, decision ");
    faults(shell(&format!("{HELLO} read line; kill -9 $$")), "closed its output or was killed ");
    faults(shell(&format!("{HELLO} exec >&-; sleep 1000")), "closed its output or was killed ");
    let half = format!("{HELLO} read line; printf '{{\"deci'; exit 0");
    let told = stops(shell(&half));
    assert!(told.contains("exited instead of answering `decide`") || told.contains("wrote before it was"), "{told}");
}

#[test]
fn a_silent_bot_is_at_fault_after_its_deadline() {
    faults(
        hurried_start("sleep 1000", 300),
        "gave no answer to `hello` within 300 ms; it must flush its output after each line (before round 1)",
    );
    let slow = format!("{HELLO} while read line; do case $line in *decide*) sleep 2; echo; esac; done");
    for script in [format!("{HELLO} sleep 1000"), slow] {
        faults(
            hurried(&script, 300),
            "gave no answer to `decide` within 300 ms; it must flush its output after each line (round 1, decision ",
        );
    }
    let half = r#"printf '{"name":'; sleep 1000"#;
    faults(
        hurried_start(half, 300),
        "gave no answer to `hello` within 300 ms; it must flush its output after each line (before round 1)",
    );
}

/// A bot that answers every `decide` with the output of this shell command.
fn answering(command: &str) -> Bot {
    shell(&format!("{HELLO} while read line; do case $line in *decide*) {command};; esac; done"))
}

#[test]
fn an_invalid_answer_is_quoted_in_the_fault() {
    faults(shell("echo hi; cat"), "answered `hello` with what is not JSON: `hi` (before round 1)");
    faults(
        shell(r#"echo '{"protocol":2,"name":"x","version":"0"}'; cat"#),
        "answered `hello` with the field `protocol` `2`; allowed is 1",
    );
    faults(shell(r#"echo '{"protocol":1,"name":7}'; cat"#), "answered `hello` with the field `name` `7`; allowed is a");
    faults(answering("echo garbage"), "answered `decide` with what is not JSON: `garbage` (round 1, decision ");
    faults(answering(r"printf '\377\376\n'"), "answered `decide` with what is not UTF-8: ");
    faults(answering(r#"echo '["draw"]'"#), "answered `decide` with JSON that is no object: `[\"draw\"]`");
    faults(answering(r#"echo '{"move":"draw"}'"#), "answered `decide` without a text in the field `decision`: ");
    faults(answering(r#"echo '{"decision":5}'"#), "answered `decide` without a text in the field `decision`: ");
    faults(answering(r#"echo '{"decision":"fly a1"}'"#), "answered `decide` with `fly a1`, which is no decision ");
    faults(answering("echo"), "answered `decide` with what is not JSON: `` ");
}

#[test]
fn a_flood_is_cut_off() {
    let reason = "wrote a line of more than 65536 bytes to answer";
    faults(shell("tr '\\0' x < /dev/zero"), &format!("{reason} `hello`"));
    faults(answering("tr '\\0' x < /dev/zero"), &format!("{reason} `decide`"));
    faults(shell("yes"), "answered `hello` with what is not JSON: `y`");
    faults(answering("yes '{\"decision\":\"fly\"}'"), "answered `decide` with `fly`, which is no decision");
}

#[test]
fn an_early_answer_is_a_fault() {
    let hello = r#"{"protocol":1,"name":"sh","version":"0"}"#;
    let early = format!("read line; printf '{hello}\\n{{\"decision\":\"pass\"}}\\n'; cat > /dev/null");
    faults(shell(&early), "wrote before it was asked: `{\"decision\":\"pass\"}` (round 1, decision ");
    let twice = answering(r#"printf '{"decision":"pass"}\n{"decision":"pass"}\n'"#);
    faults(twice, "wrote before it was asked: `{\"decision\":\"pass\"}` (round 1, decision ");
}

#[test]
fn a_bot_that_never_reads_does_not_block() {
    let deaf = format!("{HELLO} sleep 1000");
    let mut bot = hurried(&deaf, 300);
    let rules = Rules::preset("classic").unwrap();
    let begun = Instant::now();
    for deal in 0..200 {
        let key = Key::new(1, deal);
        let seat = cambio_core::Seat::A;
        let begun_match = bot.begin(&cambio_core::Briefing { rules: &rules, seats: 2, seat, stream: &key.agent(seat) });
        if let Err(error) = begun_match {
            assert_eq!(error.to_string(), "the bot does not read its input");
            assert!(begun.elapsed() < Duration::from_secs(15));
            return;
        }
    }
    panic!("200 matches were sent to a bot that does not read");
}

#[test]
fn the_conformance_check_reports_why_a_bot_failed() {
    let effort = CheckScope { presets: vec!["classic"], seats: vec![2], matches: 1, ..CheckScope::default() };
    let failing = check_agent(|| answering("exit 9"), &effort).unwrap_err();
    assert!(matches!(&failing.kind, NonconformanceKind::Failed(failure) if failure.round == 1), "{failing}");
    assert!(failing.to_string().contains("exited instead of answering `decide` (exit status: 9)"), "{failing}");
}

#[test]
fn an_answer_may_begin_with_a_byte_order_mark() {
    let mark = "printf '\\357\\273\\277'; ";
    let answers = format!(
        "{{mark}}{HELLO} while read line; do case $line in *decide*) {mark} echo '{{\"decision\":\"draw\"}}';; esac; done"
    );
    let told = stops(shell(&answers.replace("{mark}", mark)));
    // The second decision of the bot cannot be `draw`.
    assert!(told.contains("seat b decided `draw`, which is illegal"), "{told}");
}

#[test]
fn a_bot_after_a_fault_starts_anew_with_the_next_match() {
    let mut agents: [Box<dyn Agent>; 2] = [Box::<RandomAgent>::default(), Box::new(answering("exit 9"))];
    let rules = Rules::preset("classic").unwrap();
    for deal in 0..2 {
        let match_setup = MatchSetup { rules, seats: 2, key: Key::new(42, deal) };
        let error = play_match(&match_setup, &mut agents, &mut ()).unwrap_err();
        assert!(matches!(&error, MatchError::Failed(failure) if failure.round == 1), "{error}");
    }
}

/// This file of each running process in `/proc`.
fn processes(file: &str) -> impl Iterator<Item = String> {
    let folders = std::fs::read_dir("/proc").unwrap().flatten();
    folders.filter_map(move |folder| {
        Some(String::from_utf8_lossy(&std::fs::read(folder.path().join(file)).ok()?).into_owned())
    })
}

/// Whether any process, except zombies, has this word among its arguments.
fn lives(word: &str) -> bool {
    let mut arguments = processes("cmdline").map(|arguments| arguments.replace('\0', " "));
    // A zombie has no arguments.
    arguments.any(|line| line.contains(word) && !line.contains("sh -c"))
}

/// The number of zombies among the children of this process.
fn zombies() -> usize {
    let zombie = format!(") Z {} ", std::process::id());
    processes("stat").filter(|stat| stat.contains(&zombie)).count()
}

/// Waits up to 5 seconds for a condition, because the end of a killed process becomes visible with a delay.
fn soon(what: impl Fn() -> bool) -> bool {
    let end = Instant::now() + Duration::from_secs(5);
    while Instant::now() < end {
        if what() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    what()
}

#[test]
fn no_process_of_the_group_survives() {
    // Each process sleeps for a different time, which identifies it.
    let number = std::process::id();
    let grandchild = |kind: u32| format!("sleep {}", 1_000_000 + u64::from(number) * 10 + u64::from(kind));

    let sleeper = grandchild(1);
    let mut bot = hurried(&format!("{sleeper} & {HELLO} wait"), 300);
    let rules = Rules::preset("classic").unwrap();
    let seat = cambio_core::Seat::A;
    let stream = Key::new(1, 0).agent(seat);
    bot.begin(&cambio_core::Briefing { rules: &rules, seats: 2, seat, stream: &stream }).unwrap();
    assert!(soon(|| lives(&sleeper)), "the grandchild has started");
    drop(bot);
    assert!(soon(|| !lives(&sleeper)), "it ended with its agent");

    let sleeper = grandchild(2);
    faults(hurried(&format!("{sleeper} & {HELLO} wait"), 300), "gave no answer to `decide` within 300 ms");
    assert!(soon(|| !lives(&sleeper)), "it ended with the deadline");

    // The leader has exited, and its child keeps the pipes open.
    let sleeper = grandchild(3);
    faults(hurried(&format!("{sleeper} & {HELLO} exit 0"), 300), "gave no answer to `decide` within 300 ms");
    assert!(soon(|| !lives(&sleeper)), "it ended after its parent");

    let sleeper = grandchild(4);
    faults(shell(&format!("{sleeper} > /dev/null & exit 5")), "exited instead of answering `hello` (exit status: 5)");
    assert!(soon(|| !lives(&sleeper)), "it ended with its parent");

    assert!(soon(|| zombies() == 0), "no zombies are left");
}

#[test]
fn a_bot_may_finish_its_work_when_its_input_ends() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let diary = folder.join("finished");
    let _ = std::fs::remove_file(&diary);
    let mut bot = shell(&format!("{HELLO} cat > /dev/null; echo done > '{}'", diary.display()));
    let rules = Rules::preset("classic").unwrap();
    let seat = cambio_core::Seat::A;
    let stream = Key::new(1, 0).agent(seat);
    bot.begin(&cambio_core::Briefing { rules: &rules, seats: 2, seat, stream: &stream }).unwrap();
    drop(bot);
    assert_eq!(std::fs::read_to_string(&diary).unwrap(), "done\n");
}
