//! Child processes, open pipes and slow bots do not block other bots, and they end with the run.
#![cfg(target_os = "linux")]

use crate::command::{FIRST, bot, command, has, interrupt, said, script};
use crate::folder::folder;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// A unique number of seconds, so that a test can find its own `sleep` in the list of processes.
fn nap(number: u32) -> u32 {
    1_000_000 + std::process::id() * 10 + number
}

/// The number of running processes with this text in their arguments.
fn living(word: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    // A zombie has no arguments.
    let arguments = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    arguments.filter(|bytes| String::from_utf8_lossy(bytes).replace('\0', " ").contains(word)).count()
}

/// Runs the command with a limit on file descriptors.
fn limited(folder: &Path, descriptors: u32, words: &str) -> Output {
    let program = env!("CARGO_BIN_EXE_cambio");
    let script = format!("ulimit -n {descriptors}; exec '{program}' {words}");
    Command::new("sh").current_dir(folder).args(["-c", &script]).output().unwrap()
}

#[test]
fn children_of_a_bot_leak_no_descriptors() {
    if !has("setsid") {
        return;
    }
    let full = crate::amount(false, true);
    let matches = if full { 5000 } else { 30 };
    let folder = folder("leaks");
    let sleeper = "sleep 5";
    // The sleeper leaves the bot's process group, so it outlives the bot and keeps its pipes open.
    fs::write(folder.join("leaky.sh"), format!("setsid {sleeper} &\n{}", script("exit 7"))).unwrap();
    fs::write(folder.join("honest.sh"), script(FIRST)).unwrap();
    let spec = format!(
        "seed = 1\ndeals = {}\nrules = ['classic']\nseats = [2]\nfaults = 'forfeit'\nagents = ['{}', '{}']\n",
        matches / 2,
        // The bot exits, but its child keeps the pipe open, so only the deadline detects the exit.
        bot("leaky.sh").replace("deadline_ms=60000", "deadline_ms=20"),
        bot("honest.sh")
    );
    fs::write(folder.join("spec.toml"), spec).unwrap();
    let output = limited(&folder, 64, "run spec.toml --out run --quiet --threads 1");
    assert!(output.status.success(), "{}", said(&output));
    assert!(
        said(&output).contains(&format!("{matches} matches forfeited, because an agent was at fault")),
        "{}",
        said(&output)
    );
    let faults = fs::read_to_string(folder.join("run/faults.jsonl")).unwrap();
    assert_eq!(faults.lines().count(), matches);
    for line in faults.lines() {
        let fault: serde_json::Value = serde_json::from_str(line).unwrap();
        let agent = fault["x-fault-of"]["agent"].as_str().unwrap();
        assert!(agent.contains("leaky.sh"), "{agent}: {}", fault["x-fault"]);
        assert!(fault["x-fault"].as_str().unwrap().contains("within 20 ms"), "{}", fault["x-fault"]);
    }
}

#[test]
fn a_lack_of_descriptors_is_no_fault_of_a_bot() {
    let folder = folder("scarce");
    fs::write(folder.join("honest.sh"), script(FIRST)).unwrap();
    let agent = format!("'{}'", bot("honest.sh"));
    let lineup = [&*agent; 8].join(", ");
    let spec = format!(
        "seed = 1\ndeals = 2\nrules = ['classic']\nseats = [8]\nunit = 'rounds'\nfaults = 'forfeit'\n\
         rotations = 'one'\nagents = [{agent}]\nlineups = [[{lineup}]]\n"
    );
    fs::write(folder.join("spec.toml"), spec).unwrap();
    let output = limited(&folder, 20, "run spec.toml --out run --quiet --threads 1");
    let printed = said(&output);
    assert_eq!(output.status.code(), Some(3), "{printed}");
    assert!(
        printed.contains("cannot be started: Too many open files") && printed.contains("no fault of the bot"),
        "{printed}"
    );
    assert!(printed.contains("--resume continues the run"), "{printed}");
    assert_eq!(fs::read_to_string(folder.join("run/faults.jsonl")).unwrap(), "");
    let output = limited(&folder, 256, "run spec.toml --out run --quiet --threads 1 --resume");
    assert!(output.status.success() && !said(&output).contains("at fault"), "{}", said(&output));
}

#[test]
fn a_message_after_a_bots_last_words_begins_a_line() {
    let folder = folder("last-words");
    fs::write(folder.join("bot.sh"), "printf 'last words' >&2\nexit 1\n").unwrap();
    let output =
        command(&folder, "match").args(["external(\"sh bot.sh\")", "greedy", "--deals", "1"]).output().unwrap();
    let printed = said(&output);
    assert!(printed.lines().any(|line| line == "last words"), "{printed}");
}

#[test]
fn an_interrupt_does_not_wait_for_a_bot_that_thinks() {
    let folder = folder("thinks");
    let sleeper = format!("sleep {}", nap(2));
    let thinks = script("echo asked >> asked; sleep 1000");
    fs::write(folder.join("thinks.sh"), format!("trap '' INT TERM; {sleeper} &\n{thinks}")).unwrap();
    let agents = format!("agents = ['greedy', '{}']", bot("thinks.sh"));
    let spec = format!("seed = 1\ndeals = 40\nrules = ['classic']\nseats = [2]\nfaults = 'forfeit'\n{agents}\n");
    fs::write(folder.join("spec.toml"), spec).unwrap();
    let sprt = format!("sprt greedy '{}'", bot("thinks.sh"));
    for (words, exit) in [("run spec.toml --out run", 3), (&sprt, 3)] {
        let _ = fs::remove_file(folder.join("asked"));
        let child = command(&folder, &format!("{words} --quiet --threads 2")).spawn().unwrap();
        while fs::read_to_string(folder.join("asked")).unwrap_or_default().lines().count() < 2 {
            std::thread::sleep(Duration::from_millis(20));
        }
        interrupt(&child);
        let begun = Instant::now();
        let output = child.wait_with_output().unwrap();
        let took = begun.elapsed();
        assert_eq!(output.status.code(), Some(exit), "{words}: {}", said(&output));
        assert!(took < Duration::from_secs(2), "{words}: {took:?}");
        assert!(said(&output).contains("interrupted"), "{}", said(&output));
        assert_eq!(living(&sleeper), 0, "{words}");
    }
}
