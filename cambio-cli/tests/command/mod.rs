//! Runs the command in a folder, and compares the files that it writes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The command with these arguments, without the environment variables of an array job or indexed job.
pub(crate) fn command(folder: &Path, words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cambio"));
    command.current_dir(folder).args(words.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped());
    for name in ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"] {
        command.env_remove(name);
    }
    command
}

pub(crate) fn cambio(folder: &Path, words: &str) -> Output {
    command(folder, words).output().unwrap()
}

pub(crate) fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Runs a command that must succeed, and returns its output.
pub(crate) fn done(folder: &Path, words: &str) -> String {
    let output = cambio(folder, words);
    assert!(output.status.success(), "{words}: {}", said(&output));
    said(&output)
}

/// The files of a run, except the timing.
pub(crate) fn files(run: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(run).unwrap().map(|entry| entry.unwrap());
    let files = files.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()));
    files.filter(|(name, _)| name != "timing.csv").collect()
}

pub(crate) fn assert_same(one: &Path, other: &Path) {
    let (one, other) = (files(one), files(other));
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    for (name, bytes) in &one {
        assert!(*bytes == other[name], "{name} differs");
    }
}
