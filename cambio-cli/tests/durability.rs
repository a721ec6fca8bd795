//! Run folders survive kills and full disks, damage is found, and a resumed run equals one run.

use crate::command::{
    FIRST, all_blocks, assert_same, bot, cambio, command, done, fails, fails_with, files, has, interrupt, refuses,
    said, script, timing,
};
use crate::folder::{TestFolder, folder};
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use cambio_agents::{NoParams, RosterEntry, roster};
use cambio_sim::{Executor, Experiment, RunFolder, Runner};

const SPEC: &str = "seed = 8\ndeals = 400\nrules = ['classic', 'faessler']\nseats = [2, 3]\n\
                    agents = ['random', 'random(pass=0.9)', 'greedy']\n";

/// A folder with an experiment and its complete run.
fn played(name: &str, deals: u32) -> TestFolder {
    let folder = folder(name);
    fs::write(folder.join("spec.toml"), SPEC.replace("400", &deals.to_string())).unwrap();
    done(&folder, "run spec.toml --out whole --records --quiet");
    folder
}

#[test]
#[cfg(unix)]
fn killed_runs_resume_to_the_same_bytes() {
    let full = crate::amount(false, true);
    let (kills, deals) = if full { (100, 4000) } else { (4, 800) };
    let folder = played("kill", deals);
    // The delay before the kill is at most 70 % of the time that the whole run takes on one thread.
    let (blocks, seconds) = all_blocks(&folder.join("whole"));
    let (mut state, mut hit, mut finished, mut resumed) = (1_u64, 0, 0, 0);
    while hit < kills {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let share = (state >> 33) as f64 / (1_u64 << 31) as f64;
        let mut child = command(&folder, "run spec.toml --out killed --records --quiet --resume").spawn().unwrap();
        std::thread::sleep(Duration::from_secs_f64(share * share * seconds * 0.7));
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        let ledger = fs::read_to_string(folder.join("killed/ledger.jsonl")).unwrap_or_default();
        resumed += usize::from(!ledger.is_empty());
        if output.status.success() {
            // The run ended before the kill.
            assert_same(&folder.join("whole"), &folder.join("killed"));
            fs::remove_dir_all(folder.join("killed")).unwrap();
            finished += 1;
        } else {
            assert!(output.stderr.is_empty(), "{}", said(&output));
            hit += 1;
        }
    }
    done(&folder, "run spec.toml --out killed --records --quiet --resume --threads 1");
    assert_same(&folder.join("whole"), &folder.join("killed"));
    // The times of all parts are there once.
    let counted =
        |run: &str| timing(&folder.join(run)).into_iter().map(|(agent, blocks, _)| (agent, blocks)).collect::<Vec<_>>();
    assert_eq!(counted("killed"), counted("whole"));
    assert_eq!(all_blocks(&folder.join("killed")).0, blocks);
    let output = cambio(&folder, "verify killed --sample 2");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    println!("{hit} kills, {resumed} with rows on disk, {} runs finished", finished + 1);
}

#[test]
#[cfg(unix)]
fn a_bot_that_has_changed_does_not_go_on_with_a_run() {
    let folder = folder("bots");
    let agents = format!("agents = ['greedy', '{}']", bot("bot.sh"));
    let spec = format!("seed = 1\ndeals = 40\nrules = ['classic']\nseats = [2]\n{agents}\n");
    fs::write(folder.join("spec.toml"), spec).unwrap();
    fs::write(folder.join("bot.sh"), script(FIRST)).unwrap();
    done(&folder, "run spec.toml --out whole --quiet");
    let manifest = fs::read_to_string(folder.join("whole/manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let hash = blake3::hash(&fs::read(folder.join("bot.sh")).unwrap()).to_string();
    assert_eq!(manifest["programs"], serde_json::json!({ "bot.sh": hash }));

    fs::write(folder.join("bot.sh"), script(FIRST) + "# changed\n").unwrap();
    refuses(&folder, "run spec.toml --out whole --quiet --resume", "the bot's file `bot.sh` has changed");
}

#[test]
fn a_folder_is_written_by_one_process_at_a_time() {
    let folder = played("lock", 20);
    let (experiment, text) = Experiment::read(&folder.join("spec.toml")).unwrap();
    let plan = Experiment { records: true, ..experiment }.plan(&cambio_agents::roster(), &folder).unwrap();
    let held = RunFolder::create(&folder.join("busy"), &plan.with_toml(text)).unwrap();
    let resume = "run spec.toml --out busy --records --quiet --resume";
    refuses(&folder, resume, "busy is being written by another process");
    drop(held);
    done(&folder, resume);
    assert_same(&folder.join("whole"), &folder.join("busy"));
}

/// The sorted names of the entries in a folder.
fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn of_processes_that_start_at_once_one_plays_and_nothing_breaks() {
    let rounds = crate::amount(4, 200);
    let folder = played("starts", 4);
    for processes in [2, 4] {
        let mut busy = 0;
        for round in 0..rounds {
            let words = "run spec.toml --out at-once --records --quiet --resume --threads 1";
            let started: Vec<_> = (0..processes).map(|_| command(&folder, words).spawn().unwrap()).collect();
            let outputs: Vec<Output> = started.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
            let mut done = 0;
            for output in &outputs {
                let printed = said(output);
                match output.status.code() {
                    // A process that starts after another process has finished finds a complete run.
                    Some(0) => done += 1,
                    Some(1) if printed.contains("at-once is being written by another process") => busy += 1,
                    _ => panic!("round {round}: {printed}"),
                }
            }
            assert!(done > 0, "round {round}: no process has played");
            assert_same(&folder.join("whole"), &folder.join("at-once"));
            assert_eq!(names(&folder), ["at-once", "spec.toml", "whole"], "round {round}");
            fs::remove_dir_all(folder.join("at-once")).unwrap();
        }
        println!("{rounds} starts of {processes} processes; {busy} found the folder locked");
    }
}

#[test]
#[cfg(unix)]
fn a_stale_lock_file_does_not_block() {
    let folder = played("remains", 40);
    // A killed process leaves a lock file behind.
    fs::write(folder.join("killed.lock"), "").unwrap();
    let output = cambio(&folder, "run spec.toml --out killed --records --quiet --resume");
    assert!(output.status.success() && !folder.join("killed.lock").exists(), "{}", said(&output));
    assert_same(&folder.join("whole"), &folder.join("killed"));
    assert_eq!(names(&folder), ["killed", "spec.toml", "whole"]);
}

/// The manifest with a valid hash, as the program would write it.
fn sealed(manifest: &str) -> String {
    let (body, _) = manifest.split_once(",\n  \"blake3\": ").unwrap();
    format!("{body},\n  \"blake3\": \"{}\"\n}}\n", blake3::hash(body.as_bytes()))
}

/// A change to the text of a file.
type Damage<'d> = &'d dyn Fn(&str) -> String;

#[test]
fn changed_manifests_and_experiments_are_found() {
    let folder = played("written", 20);
    let swapped = |from: &'static str, to: &'static str| move |text: &str| text.replacen(from, to, 1);
    let again = swapped("  \"share\"", "  \"matches\": 7,\n  \"share\"");
    let damages: [(&str, Damage<'_>, &str); 8] = [
        ("spec.toml", &swapped("seed = 8", "seed = 9"), "spec.toml is damaged: it has been modified"),
        ("spec.toml", &|text| text.to_owned() + "\n", "spec.toml is damaged: it has been modified"),
        ("manifest.json", &swapped("\"compiler\": \"rustc ", "\"compiler\": \"Rustc "), "has been modified"),
        ("manifest.json", &again, "has been modified"),
        // The next three manifests have a new, valid hash.
        ("manifest.json", &|text| sealed(&again(text)), "has been modified"),
        ("manifest.json", &|text| sealed(&text.replace("\"programs\"", "\"programm\"")), "has been modified"),
        ("manifest.json", &|text| sealed(&text.replacen('{', "{\n  \"machine\": 1,", 1)), "has been modified"),
        ("manifest.json", &|text| text.replacen(": ", ":", 1), "line 2 has been modified"),
    ];
    for (file, damage, sentence) in damages {
        let path = folder.join("whole").join(file);
        let good = fs::read_to_string(&path).unwrap();
        let bad = damage(&good);
        assert_ne!(bad, good, "{sentence}");
        fs::write(&path, bad).unwrap();
        for words in [
            "run spec.toml --out whole --records --quiet --resume",
            "report whole",
            "report whole --dry",
            "verify whole",
            "report whole --site exported",
            "plan --detect 0.01 --run whole",
        ] {
            fails_with(&folder, 4, words, sentence);
        }
        fs::write(&path, good).unwrap();
    }
    done(&folder, "verify whole");
}

#[test]
fn the_manifest_is_checked_against_the_rows() {
    let folder = played("said", 20);
    let whole = folder.join("whole");
    let change = |file: &str, from: &str, to: &str| {
        let text = fs::read_to_string(whole.join(file)).unwrap();
        assert!(text.contains(from), "{file}: {text}");
        fs::write(whole.join(file), text.replace(from, to)).unwrap();
        text
    };
    for (file, from, to, sentence) in [
        ("manifest.json", "\"seed\": \"8\"", "\"seed\": \"9\"", "`seed` does not match the lock and the ledger"),
        ("manifest.json", "\"deals\": 20", "\"deals\": 21", "`deals` does not match"),
        ("manifest.json", "    \"greedy\"", "    \"oracle\"", "`agents` does not match"),
        ("manifest.json", "\"share\": null", "\"share\": [0, 2]", "`share` does not match"),
        (
            "manifest.json",
            "\"outcome\": \"complete\"",
            "\"outcome\": \"foo\"",
            "`outcome` must be one of begun, complete, interrupted, fault, found \"foo\"",
        ),
        ("spec.lock.json", "\"seed\":\"8\"", "\"seed\":\"9\"", "whole/spec.lock.json is damaged: it has been modified"),
    ] {
        let before = change(file, from, to);
        fails_with(&folder, 4, "verify whole", sentence);
        fs::write(whole.join(file), before).unwrap();
    }
    let before = change("manifest.json", "cambio-run/2", "cambio-run/3");
    refuses(&folder, "verify whole", "has the format \"cambio-run/3\", but this version");
    fs::write(whole.join("manifest.json"), before).unwrap();
    done(&folder, "verify whole");
    let lost = fs::read(whole.join("manifest.json")).unwrap();
    fs::remove_file(whole.join("manifest.json")).unwrap();
    assert_eq!(cambio(&folder, "verify whole").status.code(), Some(4));
    fs::write(whole.join("manifest.json"), lost).unwrap();
    // A truncated ledger is an error, not a smaller run.
    let (ledger, summary) = (whole.join("ledger.jsonl"), fs::read(whole.join("summary.csv")).unwrap());
    let text = fs::read_to_string(&ledger).unwrap();
    fs::write(&ledger, text.split_inclusive('\n').take(1).collect::<String>()).unwrap();
    fails_with(&folder, 4, "report whole", "and the manifest says that the run is complete");
    assert!(fs::read(whole.join("summary.csv")).unwrap() == summary);
    // For an interrupted run, missing batches only cause a warning.
    change("manifest.json", "\"outcome\": \"complete\"", "\"outcome\": \"interrupted\"");
    let stopped = sealed(&fs::read_to_string(whole.join("manifest.json")).unwrap());
    fs::write(whole.join("manifest.json"), stopped).unwrap();
    let output = cambio(&folder, "report whole --dry");
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("the run is not complete: 1 of "), "{}", said(&output));
}

#[test]
fn a_resumed_run_keeps_its_first_revision() {
    let folder = played("revisions", 20);
    let path = folder.join("whole/manifest.json");
    let text = fs::read_to_string(&path).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    let revision = manifest["revision"].as_str().unwrap();
    let other = sealed(&text.replace(revision, "0123abcd"));
    fs::write(&path, &other).unwrap();
    let printed = done(&folder, "run spec.toml --out whole --records --quiet --resume");
    assert!(printed.contains("started by revision 0123abcd of the program"), "{printed}");
    assert!(fs::read_to_string(&path).unwrap() == other);
}

#[test]
fn another_experiment_is_not_resumed_and_the_fields_are_named() {
    let folder = played("changed", 20);
    let before = files(&folder.join("whole"));
    for (from, to, sentence) in [
        ("deals = 20", "deals = 21", "whole is a run of another experiment: `deals` was 20 and is now 21; only"),
        ("seed = 8", "seed = 9", "`seed` was \"8\" and is now \"9\""),
        ("'greedy'", "'greedy(call_at=6)'", "\"greedy(call_at=6)\"]; only"),
        ("'faessler'", "'original'", "\"original\", 3 seats; only"),
    ] {
        let spec = fs::read_to_string(folder.join("spec.toml")).unwrap().replace(from, to);
        fs::write(folder.join("changed.toml"), spec).unwrap();
        refuses(&folder, "run changed.toml --out whole --records --resume", sentence);
    }
    assert!(before == files(&folder.join("whole")));
    // Resuming a complete run changes nothing.
    done(&folder, "run spec.toml --out whole --records --resume --quiet");
    assert!(before == files(&folder.join("whole")));
}

#[test]
fn damage_is_found_and_named_and_derived_files_are_made_again() {
    let folder = played("damage", 16);
    let whole = folder.join("whole");
    let restored = |name: &str, damage: &dyn Fn(Vec<u8>) -> Vec<u8>, sentence: &str, resumes: bool| {
        let path = whole.join(name);
        let good = fs::read(&path).unwrap();
        fs::write(&path, damage(good.clone())).unwrap();
        fails_with(&folder, 4, "verify whole", sentence);
        let output = cambio(&folder, "run spec.toml --out whole --records --resume --quiet");
        assert_eq!(output.status.success(), resumes, "{name}: {}", said(&output));
        if !resumes {
            assert_eq!(output.status.code(), Some(4), "{name}: {}", said(&output));
            fs::write(&path, good).unwrap();
        }
    };
    let before = files(&whole);
    let flip = |mut bytes: Vec<u8>| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        bytes
    };
    for name in ["matches.csv", "rounds.csv", "players.csv", "records.jsonl"] {
        restored(name, &flip, &format!("{name} is damaged: bytes "), false);
        let cut = |bytes: Vec<u8>| bytes[..bytes.len() - 10].to_vec();
        restored(name, &cut, &format!("{name} is damaged: it ends at byte "), false);
        // An interruption leaves no rows behind the last batch.
        let more = |bytes: Vec<u8>| [bytes, b"classic,2,".to_vec()].concat();
        restored(name, &more, &format!("{name} has "), false);
        assert!(before == files(&whole));
    }
    restored("summary.csv", &flip, "summary.csv does not match its rows", true);
    restored("spec.lock.json", &flip, "spec.lock.json is damaged: ", false);
    restored("ledger.jsonl", &flip, "ledger.jsonl is damaged: line ", false);
    let cut = |bytes: Vec<u8>| bytes[..bytes.len() - 10].to_vec();
    restored("ledger.jsonl", &cut, "ledger.jsonl ends in the middle of a line", true);
    assert!(before == files(&whole));
    // Whole lines of the ledger are missing: the run is not complete, and resuming gives the same bytes.
    let short = |bytes: Vec<u8>| {
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        lines[..lines.len() - 3].concat()
    };
    restored("ledger.jsonl", &short, "the outcome in the manifest is complete, but the ledger has ", true);
    assert!(before == files(&whole));

    for name in
        ["summary.csv", "ratings.csv", "pairwise.csv", "seats.csv", "behaviour.csv", "faults.csv", "report.html"]
    {
        fs::remove_file(whole.join(name)).unwrap();
    }
    done(&folder, "report whole");
    assert!(before == files(&whole));
}

#[test]
fn forged_rows_are_found_by_replaying() {
    let folder = played("forged", 20);
    // A forgery with valid hashes: the rows of a run with another seed, with the lock file of this run.
    let spec = fs::read_to_string(folder.join("spec.toml")).unwrap().replace("seed = 8", "seed = 9");
    fs::write(folder.join("other.toml"), spec).unwrap();
    done(&folder, "run other.toml --out other --records --quiet");
    for name in ["spec.toml", "spec.lock.json", "manifest.json"] {
        fs::copy(folder.join("whole").join(name), folder.join("other").join(name)).unwrap();
    }
    fails_with(&folder, 4, "verify other --all", "wrong: replaying batch 0 gives different rows");
    done(&folder, "verify whole --all");
}

/// A limit on the file size simulates a full disk. The script ignores the signal that usually comes with the limit.
#[test]
#[cfg(unix)]
fn a_full_disk_loses_no_committed_batch() {
    let folder = played("full", 400);
    let limited = |blocks: u32| {
        let program = env!("CARGO_BIN_EXE_cambio");
        let script = format!(
            "trap '' XFSZ; ulimit -f {blocks}; exec '{program}' run spec.toml --out full --records --quiet --resume"
        );
        Command::new("sh").current_dir(&folder).args(["-c", &script]).output().unwrap()
    };
    for blocks in [200, 900, 2000] {
        let output = limited(blocks);
        let printed = said(&output);
        assert_eq!(output.status.code(), Some(3), "{printed}");
        assert!(
            printed.contains("error: cannot write full/") && printed.contains("; once it can be written again"),
            "{printed}"
        );
        // The ledger does not cover the batch that did not fit, and nothing else is wrong.
        let checked = cambio(&folder, "verify full");
        assert_eq!(checked.status.code(), Some(3), "{}", said(&checked));
    }
    done(&folder, "run spec.toml --out full --records --quiet --resume");
    assert_same(&folder.join("whole"), &folder.join("full"));
}

#[test]
#[cfg(target_os = "linux")]
fn a_folder_that_cannot_be_written_is_named() {
    let folder = folder("readonly");
    fs::write(folder.join("spec.toml"), SPEC).unwrap();
    let output = cambio(&folder, "run spec.toml --out /proc/cambio/run");
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).starts_with("error: cannot write /proc/cambio: "), "{}", said(&output));
}

/// Slow agents and many threads: workers wait for one another when the signal comes.
#[test]
#[cfg(unix)]
fn interrupted_runs_of_slow_agents_resume_to_the_whole() {
    let folder = folder("interrupt");
    let spec = "seed = 4\ndeals = 60\nrules = ['classic']\nseats = [2]\nagents = ['greedy', 'rollout(n=20)']\n";
    fs::write(folder.join("spec.toml"), spec).unwrap();
    done(&folder, "run spec.toml --out whole --quiet");
    for (threads, wait) in [(1, 100), (3, 200), (8, 300), (8, 500)] {
        let words = format!("run spec.toml --out stopped --quiet --resume --threads {threads}");
        let child = command(&folder, &words).spawn().unwrap();
        // A busy machine starts programs slowly; the program handles signals right after it creates the folder.
        while !folder.join("stopped").exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(wait));
        interrupt(&child);
        let begun = std::time::Instant::now();
        let output = child.wait_with_output().unwrap();
        assert!(matches!(output.status.code(), Some(0 | 3)), "{}", said(&output));
        assert!(begun.elapsed() < Duration::from_secs(20), "{threads} threads: {:?}", begun.elapsed());
    }
    done(&folder, "run spec.toml --out stopped --quiet --resume");
    assert_same(&folder.join("whole"), &folder.join("stopped"));
}

#[test]
#[cfg(unix)]
fn an_interrupt_ends_a_command_and_the_processes_of_its_bots() {
    let folder = folder("orphans");
    // The bot writes its process id, ignores signals, and does not exit when its input ends.
    let slow = script(&format!("sleep 0.02; {FIRST}"));
    let stays = format!("trap '' INT TERM; echo $$ >> pids; {slow}while :; do sleep 1; done\n");
    fs::write(folder.join("stays.sh"), stays).unwrap();
    let spec = format!("'{}'", bot("stays.sh"));
    for (words, bots, exit, printed) in [
        (format!("sprt greedy {spec} --quiet --threads 2"), 2, 3, "interrupted"),
        (format!("play --against {spec} --rounds --seed 1"), 1, 0, "you left the match"),
    ] {
        fs::write(folder.join("pids"), "").unwrap();
        let mut child = command(&folder, &words).stdin(Stdio::piped()).spawn().unwrap();
        // Standard input stays open, as on a terminal.
        let input = child.stdin.take();
        while fs::read_to_string(folder.join("pids")).unwrap_or_default().lines().count() < bots {
            std::thread::sleep(Duration::from_millis(20));
        }
        interrupt(&child);
        let output = child.wait_with_output().unwrap();
        drop(input);
        assert_eq!(output.status.code(), Some(exit), "{words}: {}", said(&output));
        let all = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(all.contains(printed), "{words}: {all}");
        for pid in fs::read_to_string(folder.join("pids")).unwrap().lines() {
            let lives = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid.parse().unwrap()), None);
            assert!(lives.is_err(), "{words}: bot {pid} is still there");
        }
    }
}

#[test]
#[cfg(unix)]
fn an_interrupted_study_continues_in_its_folder() {
    let folder = folder("studies");
    for words in [
        "sprt greedy greedy(call_at=6) --elo0 0 --elo1 0.01 --deals 10000",
        "tune --agent greedy(call_at=?) --range 0..7 --deals 1500 --validate 50",
        "tune --agent greedy(call_at=?) --range 0..7 --method race --deals 4000 --validate 50",
        "advantage greedy --over sharp --deals 600 --playouts 50",
    ] {
        let words = format!("{words} --quiet --threads 1");
        let child = command(&folder, &format!("{words} --out out")).spawn().unwrap();
        let scores = folder.join("out/deals.jsonl");
        while fs::metadata(&scores).map_or(0, |found| found.len()) == 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
        // The folder is claimed.
        let other = cambio(&folder, &format!("{words} --out out"));
        assert!(said(&other).contains("out is being written by another process"), "{words}: {}", said(&other));
        interrupt(&child);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{words}: {}", said(&output));
        assert!(said(&output).contains("the result is undecided"), "{words}: {}", said(&output));
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(printed.contains("undecided"), "{words}: {printed}");
        // Other options are another study.
        let other = cambio(&folder, &format!("{words} --seed 1 --out out"));
        assert!(said(&other).contains("another study"), "{words}: {}", said(&other));
        // Regression test: a study with more than 16 MiB of scores could not be continued.
        let kept = fs::read_to_string(&scores).unwrap();
        fs::write(&scores, kept.replacen('[', &format!("[{}", " ".repeat(1 << 24)), 1)).unwrap();

        let continued = cambio(&folder, &format!("{words} --out out"));
        let whole = cambio(&folder, &format!("{words} --out whole"));
        assert!(continued.status.success() && continued.stdout == whole.stdout, "{words}: {}", said(&continued));
        for entry in fs::read_dir(folder.join("whole")).unwrap() {
            let name = entry.unwrap().file_name();
            let read = |out: &str| fs::read(folder.join(out).join(&name)).unwrap();
            assert!(read("out") == read("whole"), "{words}: {name:?}");
        }
        assert!(!scores.exists() && said(&cambio(&folder, &format!("{words} --out out"))).contains("already exists"));
        fs::remove_dir_all(folder.join("out")).unwrap();
        fs::remove_dir_all(folder.join("whole")).unwrap();
    }
}

/// Stops and continues a process until it ends. Its system calls are interrupted, and its clocks go on while it is stopped.
#[cfg(unix)]
fn stormed(mut child: std::process::Child) -> (Output, u32) {
    use nix::sys::signal::{Signal, kill};
    let pid = nix::unistd::Pid::from_raw(child.id() as i32);
    let mut stops = 0;
    while child.try_wait().unwrap().is_none() {
        for (signal, pause) in [(Signal::SIGSTOP, 3), (Signal::SIGCONT, 7), (Signal::SIGWINCH, 1), (Signal::SIGURG, 1)]
        {
            // The process may have ended in the meantime, but it keeps its number until it is waited for.
            kill(pid, signal).unwrap();
            std::thread::sleep(Duration::from_millis(pause));
        }
        stops += 1;
    }
    (child.wait_with_output().unwrap(), stops)
}

#[test]
#[cfg(unix)]
fn a_storm_of_signals_changes_no_byte() {
    let folder = played("storm", crate::amount(400, 20_000));
    let output = |words: &str| {
        let (output, stops) = stormed(command(&folder, words).spawn().unwrap());
        assert!(output.status.success(), "{words}: {}", said(&output));
        stops
    };
    let mut stops = output("run spec.toml --out stormed --records --quiet --threads 2");
    assert_same(&folder.join("whole"), &folder.join("stormed"));
    stops += output("verify stormed --all");
    assert!(stops > 20, "only {stops} stops");
}

/// Signals that end a process and that it does not handle.
#[test]
#[cfg(unix)]
fn a_run_that_any_signal_ends_is_finished_to_the_same_bytes() {
    use nix::sys::signal::{Signal, kill};
    let folder = played("signals", crate::amount(800, 8000));
    let (_, seconds) = all_blocks(&folder.join("whole"));
    let signals = [Signal::SIGALRM, Signal::SIGUSR1, Signal::SIGUSR2, Signal::SIGHUP, Signal::SIGQUIT, Signal::SIGPIPE];
    let mut ended = 0;
    for (number, signal) in (1..=crate::amount(1, 10)).flat_map(|_| signals).enumerate() {
        let mut child = command(&folder, "run spec.toml --out ended --records --quiet --resume").spawn().unwrap();
        std::thread::sleep(Duration::from_secs_f64(seconds * 0.03 * (number % 7) as f64));
        if child.try_wait().unwrap().is_none() {
            kill(nix::unistd::Pid::from_raw(child.id() as i32), signal).unwrap();
            ended += 1;
        }
        let output = child.wait_with_output().unwrap();
        assert!(!said(&output).contains("panicked"), "{signal}: {}", said(&output));
    }
    assert!(ended > 0);
    done(&folder, "run spec.toml --out ended --records --quiet --resume");
    assert_same(&folder.join("whole"), &folder.join("ended"));
}

/// The permissions of a file do not bind the superuser, so the command runs without privileges.
#[test]
#[cfg(target_os = "linux")]
fn a_folder_that_may_only_be_read_is_read_and_not_changed() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = played("only-read", 40);
    let all = |folder: &Path, mode: u32| {
        // Folders before their files are closed, and after them when they are opened again.
        let mut found = vec![folder.to_owned()];
        let mut next = 0;
        while let Some(path) = found.get(next).cloned() {
            if path.is_dir() {
                found.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
            next += 1;
        }
        for path in found {
            let mode = if path.is_dir() { mode } else { mode & 0o666 };
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    let before = (names(&folder.join("whole")), files(&folder.join("whole")));
    all(&folder.join("whole"), 0o555);
    let is_bound = fs::write(folder.join("whole/probe"), "").is_err();
    if !is_bound && !has("setpriv") {
        return;
    }
    let run = |words: &str| {
        let mut command = command(&folder, words);
        if !is_bound {
            let program = command.get_program().to_owned();
            let words: Vec<_> = command.get_args().map(std::ffi::OsStr::to_owned).collect();
            command = Command::new("setpriv");
            command.current_dir(&folder).args(["--bounding-set=-all", "--inh-caps=-all"]).arg(program).args(words);
        }
        command.output().unwrap()
    };
    if !is_bound {
        fs::remove_file(folder.join("whole/probe")).ok();
    }
    for words in ["verify whole --all", "replay whole/records.jsonl", "plan --detect 0.01 --run whole"] {
        let output = run(words);
        assert!(matches!(output.status.code(), Some(0 | 2 | 3)), "{words}: {}", said(&output));
    }
    for words in [
        "report whole",
        "run spec.toml --out whole/new --quiet",
        "run spec.toml --out whole --records --resume --quiet --deals 80",
    ] {
        let output = run(words);
        assert!(matches!(output.status.code(), Some(1 | 3)), "{words}: {}", said(&output));
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(error.starts_with("error: ") && error.lines().count() <= 2, "{words}: {error}");
    }
    all(&folder.join("whole"), 0o755);
    assert!(before == (names(&folder.join("whole")), files(&folder.join("whole"))));
}

/// Kills a command as soon as it has made the folder `out`, or a little later or earlier; `is_whole` checks a folder that exists.
#[cfg(unix)]
fn killed_at_birth(folder: &Path, words: &str, is_whole: impl Fn() -> bool) {
    let (out, new) = (folder.join("out"), folder.join("out.new"));
    for attempt in 0..8 {
        let mut child = command(folder, words).spawn().unwrap();
        // The first kills come while the folder is built aside, the others after it has appeared.
        while !out.exists() && (attempt > 2 || !new.exists()) && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_micros(500 * (attempt % 4)));
        child.kill().unwrap();
        child.wait_with_output().unwrap();
        assert!(!out.exists() || is_whole(), "{words}, kill {attempt}: {:?}", names(&out));
        let _ = fs::remove_dir_all(&out);
    }
}

#[test]
#[cfg(unix)]
fn a_killed_command_leaves_no_folder_or_a_whole_one() {
    let folder = folder("birth");
    fs::write(folder.join("recipe.toml"), "rules = 'mini-m1'\nseats = 2\nmatches = 60\ngeneration = 20\n").unwrap();
    let spec = "seed = 1\ndeals = 4\nrules = 'classic'\nseats = 2\nagents = ['greedy', 'random']\nluck = 'on'\n";
    fs::write(folder.join("spec.toml"), spec).unwrap();
    let resumes = |words: &str| cambio(&folder, words).status.success();
    killed_at_birth(&folder, "learn recipe.toml --out out --quiet", || resumes("learn --out out --resume --quiet"));
    killed_at_birth(&folder, "run spec.toml --out out --records --quiet", || {
        resumes("run spec.toml --out out --records --quiet --resume") && resumes("verify out")
    });
    let exploit = "learn --exploit random --rules classic --matches 40 --deals 2 --out out --quiet";
    let begun = |name: &str| folder.join("out").join(name).join("checkpoint").exists();
    killed_at_birth(&folder, exploit, || begun("from-shipped") && begun("from-nothing"));
    killed_at_birth(&folder, "bench random --out out --quick --plan", || folder.join("out/bench.json").exists());
    // A study that has ended is not continued.
    let ends = |words: &str| {
        ["result.json", "tuning.json"].iter().any(|name| folder.join("out").join(name).exists()) || resumes(words)
    };
    for words in [
        "sprt greedy random --out out --quiet",
        "tune --agent greedy(call_at=?) --range 3..4 --deals 2 --validate 2 --out out --quiet",
    ] {
        killed_at_birth(&folder, words, || ends(words));
    }
    // What the kills have left does not hinder the next command.
    done(&folder, "learn recipe.toml --out out --quiet");
    assert_eq!(names(&folder), ["out", "recipe.toml", "spec.toml"]);
}

#[test]
fn verify_says_how_many_batches_differ() {
    let folder = played("differ", 400);
    let whole = folder.join("whole");
    let ledger = fs::read_to_string(whole.join("ledger.jsonl")).unwrap();
    let of = ledger.lines().count();
    let sizes = |name: &str| -> Vec<usize> {
        let bytes =
            |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["files"][name]["bytes"].as_u64();
        ledger.lines().map(|line| bytes(line).unwrap() as usize).collect()
    };
    let good = fs::read(whole.join("players.csv")).unwrap();
    let header = good.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let begin = |batch: usize| header + sizes("players.csv")[..batch].iter().sum::<usize>();
    let flipped = |batches: &[usize]| {
        let mut bytes = good.clone();
        for &batch in batches {
            bytes[begin(batch) + 20] ^= 1;
        }
        bytes
    };
    let more = |at: usize| [&good[..at], b"a line\n", &good[at..]].concat();
    let last = of - 1;
    for (bytes, sentence) in [
        (Some(flipped(&[3])), "1 differs: batch 3".to_owned()),
        (Some(flipped(&[1, 3, 5])), "3 differ, the first is batch 1 and the last batch 5".to_owned()),
        (Some(good[..good.len() - 9].to_vec()), format!("1 differs: batch {last}")),
        (Some(more(begin(4))), format!("{} differ, the first is batch 4 and the last batch {last}", of - 4)),
        (Some(more(good.len())), "none differs".to_owned()),
        (None, String::new()),
    ] {
        match &bytes {
            Some(bytes) => fs::write(whole.join("players.csv"), bytes).unwrap(),
            None => fs::remove_file(whole.join("players.csv")).unwrap(),
        }
        let found = fails(&folder, 4, "verify whole --sample 1");
        let compared = if bytes.is_some() { of } else { 0 };
        let verdict = format!("failed: {compared} of {of} batches compared, {sentence}");
        assert!(found.contains(&verdict), "{verdict}\n{found}");
        assert!(found.matches("wrong: ").count() <= 6 && found.contains("players.csv"), "{found}");
    }
    fs::write(whole.join("players.csv"), &good).unwrap();
    let summary = fs::read_to_string(whole.join("summary.csv")).unwrap();
    fs::write(whole.join("summary.csv"), summary.replacen('0', "1", 1)).unwrap();
    let found = fails(&folder, 4, "verify whole");
    assert!(found.contains("summary.csv does not match its rows") && found.contains("none differs; 4 "), "{found}");
}

#[test]
fn a_run_without_its_agent_is_checked_by_its_records() {
    let folder = folder("keeper");
    let keeper =
        RosterEntry::new("keeper", "Greedy by another name.", |_: &NoParams| roster().parse("greedy").unwrap().make());
    let play = |out: &str, seed: u64| {
        let experiment = Experiment {
            seed: Some(seed.into()),
            deals: 30,
            records: true,
            ..Experiment::at("classic", 2, &["keeper", "random"])
        };
        let plan = experiment.plan(&roster().with_entry(keeper.clone()), &folder).unwrap();
        let mut folder = RunFolder::create(&folder.join(out), &plan).unwrap();
        Runner::new(&Executor::new(1).unwrap()).run(&plan, &mut folder).unwrap().outcome.unwrap();
    };
    play("out", 1);
    done(&folder, "report out");
    let found = fails(&folder, 5, "verify out --all");
    assert!(found.contains("not replayed: there is no agent `keeper`; "), "{found}");
    assert!(
        found.contains("verified in part: ") && found.contains("\n60 records replayed without the agents\n"),
        "{found}"
    );
    // Without matches to replay, the agent is not needed.
    assert!(done(&folder, "verify out --sample 0").starts_with("verified: "));
    // Records of another seed, with hashes that match.
    play("other", 2);
    done(&folder, "report other");
    for name in ["spec.toml", "spec.lock.json", "manifest.json"] {
        fs::copy(folder.join("out").join(name), folder.join("other").join(name)).unwrap();
    }
    let found = fails(&folder, 4, "verify other");
    assert!(found.contains("the record of keeper | random, deal 0, rotation 0 does not give its rows"), "{found}");
}

#[test]
#[cfg(unix)]
fn verify_blames_the_bot_and_not_the_folder() {
    let folder = folder("blame");
    // The bot takes the first legal decision, unless another file says that it writes before it is asked, or fails.
    let honest = script(&format!("if [ -e fails ]; then exit 7; fi; {FIRST}"));
    let honest = honest.replace("\nwhile", "\nif [ -e early ]; then echo early; fi\nwhile");
    fs::write(folder.join("bot.sh"), &honest).unwrap();
    let agent = bot("bot.sh");
    for faults in ["stop", "forfeit"] {
        let spec = format!(
            "seed = 1\ndeals = 2\nrules = 'classic'\nseats = 2\nagents = ['greedy', '{agent}']\nfaults = '{faults}'\n"
        );
        fs::write(folder.join("spec.toml"), spec).unwrap();
        done(&folder, &format!("run spec.toml --out {faults} --quiet"));
        done(&folder, &format!("verify {faults}"));
        for mode in ["early", "fails"] {
            fs::write(folder.join(mode), "").unwrap();
            let found = fails(&folder, 5, &format!("verify {faults}"));
            assert!(found.contains("not replayed: ") && !found.contains("wrong: "), "{faults}, {mode}: {found}");
            fs::remove_file(folder.join(mode)).unwrap();
        }
        // A changed bot that decides otherwise is named.
        fs::write(folder.join("bot.sh"), honest.replace("legal\\\":[\\\"}", "legal\\\":[\\\"*\\\",\\\"}")).unwrap();
        let found = fails(&folder, 5, &format!("verify {faults}"));
        assert!(found.contains("since the run began, the bot's file `bot.sh` has changed"), "{faults}: {found}");
        fs::write(folder.join("bot.sh"), &honest).unwrap();
    }
}
