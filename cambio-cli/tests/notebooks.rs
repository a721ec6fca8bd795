//! The notebooks run from scratch on small runs, and their stored outputs are complete, small and free of local paths.
//!
//! The test installs the Python packages of the notebooks from the public registry into a separate virtual environment.
//! If that is not possible, the test is skipped with a message.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::said;
use crate::folder::folder;

/// The notebooks that read run folders. The first one always runs.
const NOTEBOOKS: [&str; 7] = [
    "12_every_column.ipynb",
    "01_reading_a_run.ipynb",
    "02_when_to_call.ipynb",
    "03_the_ladder.ipynb",
    "04_what_memory_is_worth.ipynb",
    "05_the_unknown_deck.ipynb",
    "06_learned.ipynb",
];

/// The notebooks that import the package `cambio_game`, whose own tests execute them.
const OF_THE_PACKAGE: [&str; 5] = [
    "07_environment.ipynb",
    "08_learning_in_python.ipynb",
    "09_tournament_from_python.ipynb",
    "10_many_machines.ipynb",
    "11_exact_exploitability.ipynb",
];

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../notebooks")
}

/// The Python of a virtual environment with the packages of the notebooks. If the list of packages has changed, the
/// environment is created again.
fn python() -> Option<PathBuf> {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("notebooks-venv");
    let (python, wanted) = (home.join("bin/python"), self::home().join("requirements.txt"));
    let done = home.join("installed.txt");
    if fs::read(&done).ok() != fs::read(&wanted).ok() {
        let succeeds = |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
        let install =
            ["-m", "pip", "install", "--quiet", "--no-compile", "--retries", "1", "--timeout", "30", "--requirement"];
        let is_made = succeeds(Command::new("python3").args(["-m", "venv"]).arg(&home))
            && succeeds(Command::new(&python).args(install).arg(&wanted));
        if !is_made {
            return None;
        }
        fs::copy(&wanted, &done).unwrap();
    }
    Some(python)
}

/// Runs the first notebook, or all notebooks with `CAMBIO_FULL=1`.
#[test]
fn notebooks_run_from_scratch() {
    let Some(python) = python() else {
        println!("skipped: cannot create a Python environment with the packages of notebooks/requirements.txt");
        return;
    };
    let notebooks = &NOTEBOOKS[..crate::amount(1, NOTEBOOKS.len())];
    let runs = folder("notebooks");
    let made = Command::new("sh")
        .arg(home().join("runs.sh"))
        .arg(&*runs)
        .arg(crate::amount("first", "small"))
        .env("CAMBIO", env!("CARGO_BIN_EXE_cambio"))
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", said(&made));
    let check = Command::new(&python)
        .arg(home().join("execute.py"))
        .arg("--check")
        .args(notebooks.iter().map(|name| home().join(name)))
        .env("CAMBIO_RUNS", &*runs)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let printed = said(&check);
    assert!(check.status.success(), "{printed}");
    for &name in notebooks {
        let line = printed.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}: {printed}"));
        assert!(!line.contains(" 0 pictures"), "{line}");
    }
}

#[test]
fn kept_notebooks_have_all_outputs_and_nothing_of_a_machine() {
    let files = fs::read_dir(home()).unwrap().map(|entry| entry.unwrap().path());
    let notebooks = files.filter(|path| path.extension().is_some_and(|extension| extension == "ipynb"));
    let mut kept: Vec<String> = notebooks.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    kept.sort();
    let mut all: Vec<&str> = NOTEBOOKS.into_iter().chain(OF_THE_PACKAGE).collect();
    all.sort_unstable();
    assert_eq!(kept, all);
    for name in all {
        let text = fs::read_to_string(home().join(name)).unwrap();
        assert!(text.len() < 300_000, "{name} has {} bytes", text.len());
        for path in ["/home/", "/root/", "/work/", "/tmp/", "/Users/", "site-packages"] {
            assert!(!text.contains(path), "{name} names {path}");
        }
        let notebook: serde_json::Value = serde_json::from_str(&text).unwrap();
        let cells = notebook["cells"].as_array().unwrap();
        let code: Vec<_> = cells.iter().filter(|cell| cell["cell_type"] == "code").collect();
        for (cell, number) in code.iter().zip(1..) {
            // The notebook was run once, from top to bottom.
            assert_eq!(cell["execution_count"], number, "{name}: {}", cell["source"]);
            let outputs = cell["outputs"].as_array().unwrap();
            assert!(outputs.iter().all(|output| output["output_type"] != "error"), "{name}: {}", cell["source"]);
        }
        let pictures = code.iter().flat_map(|cell| cell["outputs"].as_array().unwrap());
        let pictures = pictures.filter(|output| output["data"].get("image/png").is_some()).count();
        // This notebook shows that files are equal, and draws nothing.
        assert!(pictures >= 2 || name == "10_many_machines.ipynb", "{name}");
        assert_eq!(cells.last().unwrap()["cell_type"], "markdown", "{name} ends without a conclusion");
    }
}
