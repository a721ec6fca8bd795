//! Whatever the input, the command answers with one sentence: no panic, no unbounded reading, no control characters.
//!
//! `CAMBIO_FULL=1` tries every malformed or extreme value for every flag.
#![cfg(target_os = "linux")]

use crate::command::{done, said};
use crate::folder::folder;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The memory limit of a command in KiB. It is far more than a command needs.
const MEMORY: u32 = 6_000_000;
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the command with bounded memory, and kills it after `PATIENCE`.
fn bounded<S: AsRef<OsStr>>(folder: &Path, words: &[S], outputs: &str) -> Output {
    let script = format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\" {outputs}");
    let mut child = Command::new("sh")
        .current_dir(folder)
        .args(["-c", &script, env!("CARGO_BIN_EXE_cambio")])
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let mut outputs = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let read = |output: &mut dyn std::io::Read| {
        let mut bytes = Vec::new();
        output.read_to_end(&mut bytes).unwrap();
        bytes
    };
    std::thread::scope(|scope| {
        let printed = scope.spawn(move || (read(&mut outputs.0), read(&mut outputs.1)));
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if begun.elapsed() > PATIENCE {
                child.kill().unwrap();
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let (stdout, stderr) = printed.join().unwrap();
        Output { status, stdout, stderr }
    })
}

fn tried<S: AsRef<OsStr>>(folder: &Path, words: &[S]) -> Output {
    bounded(folder, words, "")
}

/// Checks that the command exited with one of its exit codes, and printed no control characters.
fn assert_orderly(output: &Output, words: &dyn std::fmt::Debug) {
    let printed = said(output);
    let told_in_short: String = printed.chars().take(2000).collect();
    let code = output.status.code();
    assert!(matches!(code, Some(0..=4)), "{words:?} ends with {:?}: {told_in_short}", output.status);
    assert!(!printed.contains("panicked"), "{words:?}: {told_in_short}");
    let obeyed = printed.chars().find(|char| char.is_control() && !matches!(char, '\n' | '\t'));
    assert_eq!(obeyed, None, "{words:?}: {told_in_short:?}");
}

/// The error of a command that must fail.
fn refusal(folder: &Path, words: &str) -> String {
    let words: Vec<&str> = words.split(' ').collect();
    let output = tried(folder, &words);
    assert_orderly(&output, &words);
    assert_eq!(output.status.code(), Some(1), "{words:?}: {}", said(&output));
    said(&output)
}

const SPEC: &str =
    "seed = 1\ndeals = 2\nrules = ['classic']\nseats = [2]\nunit = 'rounds'\nagents = ['random', 'greedy']\n";

#[test]
fn experiments_that_no_machine_can_keep_are_refused_at_once() {
    let folder = folder("experiments");
    let agents = |number: u32| {
        let specs: Vec<String> = (1..=number).map(|n| format!("'random(pass=0.{n:05})'")).collect();
        format!("agents = [{}]\nlineups = 'mirror'", specs.join(", "))
    };
    let few = "agents = ['random', 'greedy']";
    for (from, to, sentence) in [
        (few, agents(30_000), "field `agents` must be a list of at most 10010, found a list of 30000"),
        (few, agents(5_000), "field `agents` must be a list of at most 3162 here, because a run keeps"),
        (
            few,
            format!("agents = ['external(\"{}\")']", "x ".repeat(100_000)),
            "it must have at most 4096 bytes, found 200000",
        ),
        (few, format!("{few}\nname = '{}'", "n".repeat(5_000_000)), "must be one line of at most 200 bytes"),
        (
            few,
            format!("{few}\nname = \"a\\u001b[31mred\""),
            "field `name` must be one line of at most 200 bytes, found \"a\\u{1b}[31mred\"",
        ),
        ("[2]", format!("[{}]", "2, ".repeat(300_000)), "found `classic` at 2 seats twice"),
        ("[2]", "[18446744073709551615]".to_owned(), "a table must have 2 to 8 seats, found 18446744073709551615"),
        ("deals = 2", "deals = 18446744073709551615".to_owned(), "must be small enough for at most 2^40 matches"),
        ("seed = 1", "seed = 1e308".to_owned(), "spec.toml: line 1: a seed must be a whole number from 0"),
    ] {
        fs::write(folder.join("spec.toml"), SPEC.replace(from, &to)).unwrap();
        let begun = Instant::now();
        let printed = refusal(&folder, "run spec.toml --out out -q");
        assert!(printed.contains(sentence) && printed.len() < 2000, "{printed}");
        assert!(begun.elapsed() < PATIENCE / 2, "{sentence}: {:?}", begun.elapsed());
        assert!(!folder.join("out").exists(), "{sentence}");
    }
}

#[test]
fn endless_files_are_refused_wherever_files_are_read() {
    let folder = folder("devices");
    fs::write(folder.join("spec.toml"), SPEC).unwrap();
    fs::create_dir(folder.join("folder")).unwrap();
    fs::File::create(folder.join("large")).unwrap().set_len(10 << 30).unwrap();
    assert!(Command::new("mkfifo").arg(folder.join("pipe")).status().unwrap().success());
    for (name, what) in [
        ("/dev/zero", "expected a regular file, found a device, a pipe or a socket"),
        ("pipe", "expected a regular file, found a device, a pipe or a socket"),
        ("folder", "expected a regular file, found a folder"),
        ("large", "the file is too large: expected at most "),
    ] {
        let rules = folder.join("rules.toml");
        let _ = fs::remove_file(&rules);
        std::os::unix::fs::symlink(name, &rules).unwrap();
        for words in [
            format!("rules --check {name}"),
            format!("run {name} --out out"),
            "play --rules rules.toml".to_owned(),
            "sprt random greedy --rules rules.toml -q".to_owned(),
            "exploit --rules rules.toml --agent random".to_owned(),
            format!("exploit --game mini-m0 --quiet --strategy {name}"),
        ] {
            let printed = refusal(&folder, &words);
            assert!(printed.starts_with("error: cannot read ") && printed.contains(what), "{words}: {printed}");
            assert_eq!(printed.lines().count(), 1, "{words}: {printed}");
        }
        assert!(!folder.join("out").exists());
    }
    // Records are read line by line, and the length of a line is limited.
    let printed = refusal(&folder, "replay /dev/zero");
    assert!(printed.contains("cannot read /dev/zero: a line has more than 67108864 bytes"), "{printed}");
    let printed = refusal(&folder, "replay folder");
    assert!(printed.starts_with("error: cannot read folder: "), "{printed}");
    // The length of a player's answer is limited, too.
    let output = bounded(&folder, &["play"], "< /dev/zero");
    assert_orderly(&output, &"play");
    assert!(said(&output).contains("a line has more than 4096 bytes"), "{}", said(&output));
    // A bot's command may name a device, which must not be hashed.
    let bot = "agents = ['random', 'external(\"head -c 10 /dev/zero\")']";
    fs::write(folder.join("bot.toml"), SPEC.replace("agents = ['random', 'greedy']", bot)).unwrap();
    let output = tried(&folder, &["run", "bot.toml", "--out", "bot", "-q"]);
    assert_orderly(&output, &"a bot that names a device");
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
}

#[test]
fn quoted_input_is_escaped_and_shortened() {
    let folder = folder("quotes");
    let long = "x".repeat(crate::amount(1_000_000, 10_000_000));
    for foreign in ["\u{1b}[31mred\u{1b}]0;title\u{7}\u{9b}2J\r", &long] {
        let quoted = serde_json::Value::from(foreign).to_string().replace('\u{9b}', "\\u009b");
        let record =
            |fields: String| format!("{{\"format\":\"cambio-record/1\",\"rules\":\"classic\",\"seats\":2,{fields}}}\n");
        let files = [
            ("rules --check", format!("base = 'classic'\nlate = {quoted}\n")),
            ("run --out out", SPEC.replace("'greedy'", &quoted)),
            ("run --out out", SPEC.replace("'classic'", &quoted)),
            ("run --out out", SPEC.replace("'rounds'", &quoted)),
            ("run --out out", format!("{SPEC}{quoted} = 1\n")),
            (
                "run --out out",
                SPEC.replace("'greedy'", &format!("'greedy({})'", foreign.replace(['\u{1b}', '\u{7}', '\r'], "?"))),
            ),
            ("replay", record(format!("\"rounds\":[{{\"deck\":[{quoted}]}}]"))),
            ("replay", record(format!("\"rounds\":[{{\"starter\":{quoted}}}]"))),
            ("replay", record(format!("\"rounds\":{quoted}"))),
            ("replay", record(format!("\"agents\":{quoted},\"rounds\":[]"))),
            ("replay", format!("{{\"format\":{quoted}}}\n")),
            ("replay", format!("{foreign}\n")),
        ];
        for (words, text) in files {
            fs::write(folder.join("file"), &text).unwrap();
            let words: Vec<&str> = words.split(' ').chain(["file"]).collect();
            let output = tried(&folder, &words);
            let shown: String = text.chars().take(120).collect();
            assert_orderly(&output, &(&words, &shown));
            assert_eq!(output.status.code(), Some(1), "{words:?}, {shown}: {}", said(&output));
            assert!(output.stdout.len() + output.stderr.len() < 3000, "{words:?}, {shown}");
        }
    }
    // Now the same on the command line, where an argument cannot be as long as a file.
    let long = "y".repeat(100_000);
    for foreign in ["\u{1b}[31mred\u{1b}]0;title\u{7}\u{9b}2J\r", &long] {
        for words in [
            &["rules", foreign][..],
            &["rules", "--check", foreign],
            &["agents", "--check", foreign],
            &["agents", "--check", "greedy", "--seats", foreign],
            &["run", foreign, "--out", "out"],
            &["run", "spec.toml", "--out", "out", "--deals", foreign],
            &["replay", foreign],
            &["verify", foreign],
            &["report", foreign],
            &["sprt", foreign, "greedy"],
            &["tune", "--agent", foreign, "--range", "0..1"],
            &["tune", "--agent", "greedy(call_at=?)", "--range", foreign],
            &["solve", "--game", foreign],
            &["exploit", "--game", foreign, "--agent", "greedy"],
            &["play", "--against", foreign],
            &["plan", "--detect", foreign, "--deviation", "1"],
            &[foreign],
        ] {
            let output = tried(&folder, words);
            let shown: Vec<String> = words.iter().map(|word| word.chars().take(40).collect()).collect();
            assert_orderly(&output, &shown);
            assert_eq!(output.status.code(), Some(1), "{shown:?}: {}", said(&output));
            assert!(output.stdout.len() + output.stderr.len() < 30_000, "{shown:?}");
        }
    }
}

#[test]
fn closed_and_full_outputs_end_in_order() {
    let folder = folder("full");
    fs::write(folder.join("spec.toml"), SPEC).unwrap();
    for (words, outputs, code) in [
        (&["rules", "nonsense"][..], "2> /dev/full", 1),
        (&["rules", "nonsense"], "2>&-", 1),
        (&["nonsense"], "2> /dev/full", 1),
        (&["--help"], "> /dev/full", 1),
        (&["--version"], "> /dev/full", 1),
        (&["help", "run"], "> /dev/full", 1),
        (&["rules", "classic"], "> /dev/full", 1),
        (&["rules", "classic"], "> /dev/full 2>&1", 1),
        (&["agents"], "> /dev/full", 1),
        (&["schema"], "> /dev/full", 1),
        (&["run", "spec.toml", "--out", "run"], "> /dev/full 2> /dev/full", 1),
        (&["report", "run"], "> /dev/full", 1),
        (&["replay", "spec.toml"], "> /dev/full", 1),
        (&["play"], "> /dev/full", 1),
    ] {
        let output = bounded(&folder, words, outputs);
        assert_orderly(&output, &(words, outputs));
        assert_eq!(output.status.code(), Some(code), "{words:?} {outputs}: {}", said(&output));
    }
}

#[test]
fn files_of_other_systems_and_names_that_are_no_text_are_read() {
    let folder = folder("systems");
    let crlf = SPEC.replace('\n', "\r\n");
    fs::write(folder.join("crlf.toml"), &crlf).unwrap();
    fs::write(folder.join("bom.toml"), format!("\u{feff}{crlf}")).unwrap();
    let strange = OsStr::from_bytes(b"gr\xfc\xdfe\x1b[31m\n.toml");
    fs::write(folder.join(strange), SPEC).unwrap();
    let mut rows = Vec::new();
    for (number, name) in [OsStr::new("crlf.toml"), OsStr::new("bom.toml"), strange].into_iter().enumerate() {
        let out = OsStr::from_bytes(&[b'o', 0xff, 0x1b, b'0' + number as u8]).to_owned();
        let output = tried(&folder, &[OsStr::new("run"), name, OsStr::new("--out"), &out]);
        assert_orderly(&output, &name);
        assert!(output.status.success(), "{name:?}: {}", said(&output));
        rows.push(fs::read(folder.join(&out).join("matches.csv")).unwrap());
        for words in [&["verify"][..], &["report"], &["report", "--site", "e"]] {
            let words: Vec<&OsStr> = words.iter().map(OsStr::new).chain([out.as_os_str()]).collect();
            assert_orderly(&tried(&folder, &words), &words);
        }
    }
    assert!(rows[0] == rows[1] && rows[1] == rows[2]);
    // Other encodings and an empty file are rejected.
    fs::write(folder.join("latin.toml"), b"name = 'gr\xfc\xdfe'\n").unwrap();
    fs::write(folder.join("wide.toml"), b"\xff\xfen\0a\0").unwrap();
    fs::write(folder.join("empty.toml"), b"").unwrap();
    let invalid = |byte: u32| format!("expected UTF-8, found an invalid sequence at byte {byte}");
    for (name, what) in [("latin", invalid(11)), ("wide", invalid(1)), ("empty", String::new())] {
        for words in [format!("run {name}.toml --out none"), format!("rules --check {name}.toml")] {
            assert!(refusal(&folder, &words).contains(&what), "{words}");
        }
    }
    assert!(!folder.join("none").exists());
}

/// The flags that take a value, from the help of a subcommand.
fn flags(folder: &Path, command: &str) -> Vec<String> {
    let help = tried(folder, &[command, "--help"]);
    assert!(help.status.success(), "{command}: {}", said(&help));
    let help = said(&help);
    let words = help.lines().filter_map(|line| {
        line.trim_start().strip_prefix("--").or(line.trim_start().split_once(", --").map(|(_, flag)| flag))
    });
    words
        .filter(|flag| flag.contains('<'))
        .filter_map(|flag| flag.split_whitespace().next().map(|flag| format!("--{flag}")))
        .collect()
}

#[test]
fn no_value_of_a_flag_causes_a_panic() {
    let is_full = crate::amount(false, true);
    let folder = folder("flags");
    fs::write(folder.join("spec.toml"), SPEC).unwrap();
    done(&folder, "run spec.toml --out run -q");
    let lines = [
        "run spec.toml --out out --quiet",
        "report run --dry",
        "report run --site site.json",
        "verify run",
        "sprt random random --deals 20 --rounds --quiet",
        "plan --detect 0.5 --deviation 0.1",
        "tune --agent greedy(call_at=?) --range 0..1 --deals 4 --validate 2 --rounds --quiet",
        "replay spec.toml",
        "rules",
        "agents --check random --matches 1 --rules classic --seats 2",
        "solve --game mini-m0 --iterations 1 --quiet",
        "exploit --game mini-m0 --agent random --to 1 --quiet",
        "exploit --rules mini-m0 --agent random --deals 1 --iterations 2 --quiet",
    ];
    let odd = [
        "18446744073709551616",
        "-1",
        "1e308",
        "",
        "9223372036854775807",
        "NaN",
        "18446744073709551615",
        "0",
        "4294967296",
        "-0.0",
        "inf",
        "1e-320",
        "-9223372036854775808",
        "1.5",
        "/dev/full",
        "..",
        "/",
        "0x10",
        "１２",
        "'; --",
        "%s%n",
        "a\nb",
        "()",
        "(?)",
    ];
    let mut tries = 0;
    for (place, line) in lines.into_iter().enumerate() {
        let words: Vec<&str> = line.split(' ').collect();
        for flag in flags(&folder, words[0]) {
            for (number, value) in odd.into_iter().enumerate() {
                // A large value of these flags is a valid request for a very long run, so the test does not try one.
                let is_work = matches!(
                    &*flag,
                    "--iterations"
                        | "--repeats"
                        | "--streams"
                        | "--candidates"
                        | "--matches"
                        | "--deals"
                        | "--validate"
                        | "--to"
                        | "--sample"
                );
                let is_long = value
                    .parse::<f64>()
                    .is_ok_and(|number| number.is_finite() && !(-1.0..=10.0).contains(&number) || number.abs() < 1e-3);
                if is_work && is_long && value.parse::<i128>().is_ok_and(|n| n <= i128::from(u64::MAX))
                    || flag == "--to" && is_long
                {
                    continue;
                }
                if !is_full && (number + place + tries) % 8 != 0 {
                    tries += 1;
                    continue;
                }
                // If the command line already has the flag, the new value replaces the old one.
                let mut words: Vec<&str> = words.clone();
                if let Some(at) = words.iter().position(|word| *word == flag) {
                    words.drain(at..at + 2);
                }
                words.extend([&*flag, value]);
                let output = tried(&folder, &words);
                assert_orderly(&output, &words);
                assert!(output.stdout.len() + output.stderr.len() < 1_000_000, "{words:?}");
                let _ = fs::remove_dir_all(folder.join("out"));
                tries += 1;
            }
        }
    }
    assert!(tries > 500, "{tries}");
    // The existing files are unchanged.
    done(&folder, "verify run --all");
}

#[test]
fn read_only_folders_and_existing_files_are_untouched() {
    let folder = folder("places");
    fs::write(folder.join("spec.toml"), SPEC).unwrap();
    done(&folder, "run spec.toml --out run -q --records");
    fs::create_dir(folder.join("taken")).unwrap();
    fs::write(folder.join("taken/mine"), "mine").unwrap();
    fs::write(folder.join("file"), "mine").unwrap();
    // The user's own experiment file is not a part of a run, whatever its name.
    for (out, text) in [("own", "deals = 3\n"), ("same", SPEC)] {
        fs::create_dir(folder.join(out)).unwrap();
        fs::write(folder.join(out).join("spec.toml"), text).unwrap();
    }
    let printed = refusal(&folder, "run spec.toml --resume -q --out own");
    assert_eq!(printed, "error: own already exists; choose another path (`cambio run --resume` continues a run)\n");
    let printed = refusal(&folder.join("same"), "run spec.toml --resume -q --out .");
    assert_eq!(printed, "error: . already exists; choose another path (`cambio run --resume` continues a run)\n");
    for (out, text) in [("own", "deals = 3\n"), ("same", SPEC)] {
        assert_eq!(fs::read_to_string(folder.join(out).join("spec.toml")).unwrap(), text);
        fs::remove_dir_all(folder.join(out)).unwrap();
    }
    for out in ["taken", "file", "/dev/full", "/dev/null", "/proc/none/here", "file/below", "/", ".", ".."] {
        for words in [
            "run spec.toml -q --out",
            "run spec.toml -q --resume --out",
            "report run --site",
            "tune --agent greedy(call_at=?) --range 0..1 --deals 2 --validate 0 -q --out",
            "sprt random random --deals 10 -q --out",
            "solve --game mini-m0 --iterations 1 -q --save",
            "play --record",
        ] {
            let words: Vec<&str> = words.split(' ').chain([out]).collect();
            let output = tried(&folder, &words);
            assert_orderly(&output, &words);
            assert!(!output.status.success(), "{words:?}: {}", said(&output));
            assert_eq!(fs::read_to_string(folder.join("taken/mine")).unwrap(), "mine", "{words:?}");
            assert_eq!(fs::read_to_string(folder.join("file")).unwrap(), "mine", "{words:?}");
            let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            assert_eq!(left.len(), 4, "{words:?} leaves {left:?}");
        }
    }
}

/// A bot that takes the first legal decision, writes a mark in front of its answers, and writes this text on standard error.
fn bot(says: &str) -> String {
    format!(
        "printf '{says}' >&2; pwd >> \"$STARTED\"; read -r hello\n\
         printf '\\357\\273\\277{{\"protocol\":1,\"name\":\"sh\",\"version\":\"0\"}}\\n'\n\
         while read -r line; do case $line in *'\"type\":\"decide\"'*) rest=${{line#*\\\"legal\\\":[\\\"}}\n\
         printf '\\357\\273\\277'; echo \"{{\\\"decision\\\":\\\"${{rest%%\\\"*}}\\\"}}\";; esac; done\n"
    )
}

const BOT: &str = "external(\"sh bot.sh\",start_ms=60000,deadline_ms=60000)";

/// The folder `theirs` with a bot and an experiment, and its run `theirs/run`.
fn theirs(folder: &Path) -> std::path::PathBuf {
    let theirs = folder.join("theirs");
    fs::create_dir(&theirs).unwrap();
    fs::write(theirs.join("bot.sh"), bot("\\033[31mred\\302\\205\\342\\200\\256\\177\\n")).unwrap();
    fs::write(theirs.join("spec.toml"), SPEC.replace("'random'", &format!("'{BOT}'"))).unwrap();
    started(folder, &["run", "theirs/spec.toml", "--out", "theirs/run", "--records", "-q"]);
    theirs
}

/// Runs a command, and returns its output and the folder in which all bots ran, if there were any.
fn started(folder: &Path, words: &[&str]) -> (Output, Option<String>) {
    let list = folder.join("started");
    let _ = fs::remove_file(&list);
    let mut command = Command::new(env!("CARGO_BIN_EXE_cambio"));
    let output = command.current_dir(folder).args(words).env("STARTED", &list).output().unwrap();
    let started = fs::read_to_string(&list).unwrap_or_default();
    let first = started.lines().next().map(str::to_owned);
    assert!(started.lines().all(|line| Some(line) == first.as_deref()), "{words:?}: {started}");
    (output, first)
}

/// The characters that no command may print: control characters, direction marks, line separators, byte order marks.
fn obeyed(text: &str) -> Option<char> {
    let is_mark = |char| matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
    text.chars().find(|&char| is_mark(char) || char.is_control() && char != '\n')
}

#[test]
fn no_command_prints_control_characters_from_outside() {
    const NAME: &str = "w\u{202e}\u{2028}\u{2066}\u{61c}\u{feff}";
    let folder = folder("marks");
    let file = format!("rules{NAME}.toml");
    let rules = format!("base = 'classic'\nname = '{NAME}'\n");
    fs::write(folder.join(&file), &rules).unwrap();
    let name = format!("name = '{NAME}'\n");
    let spec = SPEC.replace("'classic'", &format!("'{file}'")).replace("'random'", &format!("'{BOT}'")) + &name;
    fs::write(folder.join("spec.toml"), spec).unwrap();
    fs::write(folder.join("bot.sh"), bot("\\033[31mred\\302\\205\\342\\200\\256\\177\\377\\n")).unwrap();
    let run = ["run", "spec.toml", "--out", NAME, "--records", "-q"];
    let (output, started_in) = started(&folder, &run);
    assert!(
        started_in.is_some() && said(&output).contains("\\u001b[31mred\\u0085\\u202e\\u007f\u{fffd}"),
        "{output:?}"
    );
    let record = fs::read_to_string(folder.join(NAME).join("records.jsonl")).unwrap();
    let record = record.lines().next().unwrap().replace("sh bot.sh", "\u{9b}2J\u{7f}\u{202e}");
    fs::write(folder.join("record"), record).unwrap();
    let records = format!("{NAME}/records.jsonl");
    for words in [
        &run[..],
        &["run", "spec.toml", "--out", "other", "--quiet", "--format", "md"],
        &["match", "greedy", "random", "--rules", &file, "--deals", "2", "-q"],
        &["sprt", "greedy", "random", "--rules", &file, "--deals", "2", "-q"],
        &["report", NAME],
        &["report", NAME, "--dry", "--format", "csv"],
        &["report", NAME, "--dry", "--format", "json"],
        &["report", NAME, "--dry", "--format", "md"],
        &["report", NAME, NAME],
        &["verify", NAME],
        &["report", NAME, "--site", "-"],
        &["plan", "--detect", "0.1", "--run", NAME],
        &["replay", &records],
        &["replay", &records, "--format", "json"],
        &["replay", "record", "--fill"],
        &["replay", "record", "--events"],
        &["replay", "record", "--html", "-"],
        &["rules", "--check", &file],
        &["rules", NAME],
        &["agents", "--check", NAME],
    ] {
        let (output, _) = started(&folder, words);
        let printed = said(&output);
        assert_eq!(obeyed(&printed), None, "{words:?}: {printed:?}");
        assert!(matches!(output.status.code(), Some(0..=4)) && !printed.is_empty(), "{words:?}: {printed}");
    }
}

#[test]
fn an_output_file_named_with_a_dash_is_standard_output() {
    let folder = folder("dash");
    fs::write(folder.join("spec.toml"), SPEC).unwrap();
    done(&folder, "run spec.toml --out run --records -q");
    let output = |words: &str| tried(&folder, &words.split(' ').collect::<Vec<_>>());
    for (words, other, apart) in [
        ("replay run/records.jsonl --html -", "page.html", "4 passed, 0 failed"),
        ("report run --site -", "run.json", ""),
        ("learn --export classic --out -", "a.net", ""),
        ("solve --game mini-m0 --save - -q", "m0.strategy", "exploitability"),
        ("exploit --game mini-m0 --agent greedy --save - -q", "m0.strategy", "exploitability"),
    ] {
        let _ = fs::remove_file(folder.join(other));
        let named = words.split(' ').map(|word| if word == "-" { other } else { word }).collect::<Vec<_>>().join(" ");
        let (dash, file) = (output(words), output(&named));
        assert!(dash.status.success() && file.status.success(), "{words}: {}{}", said(&dash), said(&file));
        assert!(dash.stdout == fs::read(folder.join(other)).unwrap(), "{words}");
        assert!(String::from_utf8_lossy(&dash.stderr).contains(apart), "{words}: {}", said(&dash));
        assert!(
            String::from_utf8_lossy(&file.stderr).contains(&format!("wrote {other}\n")),
            "{words}: {}",
            said(&file)
        );
    }
    assert!(!folder.join("-").exists());
}

#[test]
fn files_may_begin_with_a_byte_order_mark() {
    let folder = folder("mark");
    let marked = |name: &str, text: &[u8]| fs::write(folder.join(name), [b"\xef\xbb\xbf", text].concat()).unwrap();
    marked("spec.toml", SPEC.replace("'classic'", "'rules.toml'").as_bytes());
    marked("rules.toml", b"base = 'classic'\n");
    done(&folder, "run spec.toml --out run --records -q");
    done(&folder, "verify run");
    let records = fs::read(folder.join("run/records.jsonl")).unwrap();
    marked("records.jsonl", &records);
    assert_eq!(done(&folder, "replay records.jsonl"), "4 passed, 0 failed\n");
    done(&folder, "solve --game mini-m0 --save plain -q");
    marked("strategy", &fs::read(folder.join("plain")).unwrap());
    done(&folder, "exploit --game mini-m0 --strategy strategy -q");
}

#[test]
fn bots_run_in_the_folder_of_the_experiment() {
    let folder = folder("places");
    let theirs = theirs(&folder);
    // Another bot in the working directory is never started.
    fs::write(folder.join("bot.sh"), "exit 1\n").unwrap();
    fs::create_dir(folder.join("else")).unwrap();
    let place = theirs.display().to_string();
    for (from, words) in [
        ("", "run theirs/spec.toml --out theirs/again -q"),
        ("else", "run ../theirs/spec.toml --out ../theirs/run --resume --deals 2 --records -q"),
        ("else", "verify ../theirs/run"),
        ("theirs", "verify run"),
        ("theirs", "match greedy 'EXTERNAL' --rounds --deals 2 --out here -q"),
        ("else", "verify ../theirs/here"),
        ("else", "run ../theirs/here/spec.toml --out ../theirs/repeated -q"),
    ] {
        let words = shlex::split(&words.replace("EXTERNAL", BOT)).unwrap();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (output, started_in) = started(&folder.join(from), &words);
        assert!(output.status.success(), "{from} {words:?}: {}", said(&output));
        assert!(started_in.map_or(words.contains(&"--resume"), |found| found == place), "{from} {words:?}");
    }
    // The folder is not in the lock.
    started(&theirs, &["run", "spec.toml", "--out", "other", "--records", "-q"]);
    let lock = |run: &str| fs::read_to_string(theirs.join(run).join("spec.lock.json")).unwrap();
    assert_eq!(lock("run"), lock("other"));
    let changed = fs::read_to_string(theirs.join("spec.toml")).unwrap() + "agents_folder = '../theirs/../else'\n";
    fs::write(theirs.join("changed.toml"), changed).unwrap();
    fs::write(folder.join("else/bot.sh"), bot("")).unwrap();
    let (_, place) = started(&folder, &["run", "theirs/changed.toml", "--out", "changed", "-q"]);
    assert_eq!(place.unwrap(), folder.join("else").display().to_string());
}

/// The list of SECURITY.md is the list of the commands that start the bots of a file.
#[test]
fn security_lists_every_command_that_starts_bots() {
    let folder = folder("security");
    theirs(&folder);
    let mut starts = vec!["bench --board".to_owned(), "bench --resume".to_owned()];
    for words in [
        &["run", "theirs/spec.toml", "--out", "run", "-q"][..],
        &["verify", "theirs/run"],
        &["report", "theirs/run"],
        &["report", "theirs/run", "theirs/run"],
        &["report", "theirs/run", "--site", "site.json"],
        &["plan", "--detect", "0.1", "--run", "theirs/run"],
        &["replay", "theirs/run/records.jsonl"],
        &["replay", "theirs/run/records.jsonl", "--html", "page.html", "--analysis"],
    ] {
        if started(&folder, words).1.is_some() {
            starts.push(words[0].to_owned());
        }
    }
    starts.sort();
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../SECURITY.md")).unwrap();
    let list = page.split_once("**Commands in files.**").unwrap().1.split_once("In Python").unwrap().0;
    let mut listed: Vec<&str> = list.split('`').filter_map(|quoted| quoted.strip_prefix("cambio ")).collect();
    listed.sort_unstable();
    listed.dedup();
    assert_eq!(listed, starts);
    assert!(page.contains("`snap_known_only`"));
}
