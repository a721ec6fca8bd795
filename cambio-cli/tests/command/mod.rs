//! Runs the command in a folder, and compares the files that it writes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The command with these words, which are quoted as for a shell, without the environment variables of an array job or indexed job.
pub(crate) fn command(folder: &Path, words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cambio"));
    let words = shlex::split(words).unwrap_or_else(|| panic!("a quote is missing in {words}"));
    command.current_dir(folder).args(words).stdout(Stdio::piped()).stderr(Stdio::piped());
    for name in ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"] {
        command.env_remove(name);
    }
    command
}

/// Whether a program is installed. If not, prints that the test is skipped.
pub(crate) fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        println!("skipped: {program} is missing");
    }
    found
}

/// Interrupts a process, as Ctrl-C does.
#[cfg(unix)]
pub(crate) fn interrupt(child: &std::process::Child) {
    let child = nix::unistd::Pid::from_raw(child.id() as i32);
    nix::sys::signal::kill(child, nix::sys::signal::Signal::SIGINT).unwrap();
}

pub(crate) fn cambio(folder: &Path, words: &str) -> Output {
    command(folder, words).output().unwrap()
}

pub(crate) fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Runs a command that must succeed, and returns its standard output and its standard error.
pub(crate) fn streams(folder: &Path, words: &str) -> (String, String) {
    let output = cambio(folder, words);
    assert!(output.status.success(), "{words}: {}", said(&output));
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Runs a command that must succeed, and returns its output.
pub(crate) fn done(folder: &Path, words: &str) -> String {
    let (out, error) = streams(folder, words);
    out + &error
}

/// Runs a command that must succeed, and returns its standard output.
pub(crate) fn prints(folder: &Path, words: &str) -> String {
    streams(folder, words).0
}

/// Plays the experiment `spec` into the folder `out`, and returns the printed tables.
pub(crate) fn play(folder: &Path, out: &str, spec: impl AsRef<[u8]>) -> String {
    fs::write(folder.join("spec.toml"), spec).unwrap();
    prints(folder, &format!("run spec.toml --quiet --out {out}"))
}

/// Runs a command that must fail with this exit code, and returns its output.
pub(crate) fn fails(folder: &Path, exit: i32, words: &str) -> String {
    let output = cambio(folder, words);
    assert_eq!(output.status.code(), Some(exit), "{words}: {}", said(&output));
    said(&output)
}

/// Runs a command that must fail with this exit code and this sentence.
pub(crate) fn fails_with(folder: &Path, exit: i32, words: &str, sentence: &str) {
    let said = fails(folder, exit, words);
    assert!(said.contains(sentence), "{words}: {said}, not {sentence}");
}

/// Runs a command that must be refused with this sentence, without a result on standard output.
pub(crate) fn refuses(folder: &Path, words: &str, sentence: &str) {
    let output = cambio(folder, words);
    let said = said(&output);
    assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(1), true), "{words}: {said}");
    assert!(said.contains(sentence), "{words}: {said}, not {sentence}");
}

/// A bot as a shell script, which runs these commands at each of its decisions.
pub(crate) fn script(at_decisions: &str) -> String {
    format!(
        "read -r hello; echo '{{\"protocol\":1,\"name\":\"sh\",\"version\":\"0\"}}'\n\
         while read -r line; do case $line in *'\"type\":\"decide\"'*) {at_decisions};; esac; done\n"
    )
}

/// The commands with which a [`script`] takes the first legal decision.
pub(crate) const FIRST: &str = r#"rest=${line#*\"legal\":[\"}; echo "{\"decision\":\"${rest%%\"*}\"}""#;

/// The spec of a bot whose program is this shell script.
pub(crate) fn bot(file: &str) -> String {
    format!("external(\"sh {file}\",start_ms=60000,deadline_ms=60000)")
}

/// The rows of CSV as maps from column to cell.
pub(crate) fn rows(csv: &str) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_reader(csv.as_bytes()).deserialize().map(|row| row.unwrap()).collect()
}

/// The rows of a CSV file.
pub(crate) fn table(path: &Path) -> Vec<BTreeMap<String, String>> {
    rows(&fs::read_to_string(path).unwrap())
}

/// The number in a cell.
pub(crate) fn number(row: &BTreeMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column}: {row:?}"))
}

/// The files of a run, without the times.
pub(crate) fn files(run: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(run).unwrap().map(|entry| entry.unwrap());
    let files = files.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()));
    let files = files.filter(|(name, _)| name != "timing.csv");
    files
        .map(|(name, bytes)| if name == "report.html" { (name, without_times(bytes)) } else { (name, bytes) })
        .collect()
}

/// A page without the section about times, which depends on the machine.
pub(crate) fn without_times(page: Vec<u8>) -> Vec<u8> {
    let page = match String::from_utf8(page) {
        Ok(page) => page,
        Err(error) => return error.into_bytes(),
    };
    let cut = page.split_once("<section id=\"times\">");
    let rest = cut.and_then(|(before, times)| Some(before.to_owned() + times.split_once("</section>\n")?.1));
    rest.unwrap_or(page).into_bytes()
}

/// The rows of `timing.csv`: the agent, the number of blocks, and the seconds.
pub(crate) fn timing(run: &Path) -> Vec<(Option<String>, u64, f64)> {
    let mut rows = csv::Reader::from_path(run.join("timing.csv")).unwrap();
    assert_eq!(rows.headers().unwrap().len(), 8);
    let row = |row: csv::StringRecord| {
        let agent = Some(row[3].to_owned()).filter(|agent| !agent.is_empty());
        (agent, row[4].parse().unwrap(), row[7].parse().unwrap())
    };
    rows.records().map(|read| row(read.unwrap())).collect()
}

/// The number of blocks, and the seconds of one thread for all of them.
pub(crate) fn all_blocks(run: &Path) -> (u64, f64) {
    let whole = timing(run).into_iter().filter(|(agent, ..)| agent.is_none());
    whole.fold((0, 0.0), |(blocks, seconds), row| (blocks + row.1, seconds + row.2))
}

pub(crate) fn assert_same(one: &Path, other: &Path) {
    let (one, other) = (files(one), files(other));
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    for (name, bytes) in &one {
        assert!(*bytes == other[name], "{name} differs");
    }
}
