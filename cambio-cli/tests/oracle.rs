//! Compares the derived files with independent statistics packages in Python, from the same rows.
//!
//! The tests install the Python packages from the public registry into a separate virtual environment. If that is not
//! possible, they are skipped with a message.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use crate::command::{play, prints};
use crate::folder::folder;

const PACKAGES: [&str; 3] = ["numpy", "scipy>=1.13", "statsmodels>=0.14"];

/// The Python of a virtual environment with the packages. The environment is created once and kept.
static PYTHON: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("oracle-venv");
    let python = home.join("bin/python");
    if !runs(&python, &finds("scipy statsmodels")) {
        let made = Command::new("python3").args(["-m", "venv"]).arg(&home).output();
        made.ok().filter(|output| output.status.success())?;
        install(&python, &PACKAGES).then_some(())?;
    }
    Some(python)
});

/// Code that fails if a module is missing. It does not import the modules, which takes seconds.
fn finds(modules: &str) -> String {
    format!("from importlib.util import find_spec\nassert all(map(find_spec, '{modules}'.split()))")
}

fn runs(python: &Path, code: &str) -> bool {
    Command::new(python).args(["-c", code]).output().is_ok_and(|output| output.status.success())
}

fn install(python: &Path, packages: &[&str]) -> bool {
    let install = ["-m", "pip", "install", "--quiet", "--retries", "1", "--timeout", "30"];
    Command::new(python).args(install).args(packages).output().is_ok_and(|output| output.status.success())
}

/// Runs a check script, which exits with 1 if a comparison fails.
fn passes(check: &mut Command) {
    let output = check.output().unwrap();
    let printed = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    println!("{printed}");
    assert!(output.status.success(), "{printed}");
}

#[test]
fn derived_files_agree_with_other_programs() {
    let Some(python) = PYTHON.as_deref() else {
        println!("skipped: cannot create a Python environment with statsmodels and scipy");
        return;
    };
    let folder = folder("oracle");
    let agents = "agents = ['random(pass=0.9)', 'greedy', 'greedy(call_at=9)', 'heuristic(decay=0.1)']\n";
    // The first two experiments always run; all experiments run with `CAMBIO_FULL=1`.
    let specs = [
        (
            "table",
            "seed = 7\ndeals = 40\nluck = 'on'\nrules = ['classic']\nseats = [3]\nlineups = 'compositions'\n\
             agents = ['greedy', 'heuristic', 'sharp']\n"
                .to_owned(),
        ),
        // One agent never wins, so the strengths need a prior.
        (
            "shutout",
            "seed = 1\ndeals = 20\nrules = ['classic', 'faessler']\nseats = [2]\nfaults = 'forfeit'\n\
             agents = ['greedy', 'heuristic', 'external(\"false\")']\n"
                .to_owned(),
        ),
        (
            "pair",
            "seed = 9\ndeals = 32\nluck = 'on'\nrules = ['classic']\nseats = [2]\n\
             agents = ['greedy', 'heuristic', 'sharp']\n"
                .to_owned(),
        ),
        ("round", format!("seed = 6\ndeals = 90\nrules = ['faessler']\nseats = [4]\nunit = 'rounds'\n{agents}")),
        ("two", format!("seed = 4\ndeals = 151\nrules = ['original', 'classic']\nseats = [2]\n{agents}")),
        ("seats", format!("seed = 5\ndeals = 120\nrules = ['classic']\nseats = [2, 3]\nseat_effects = true\n{agents}")),
    ];
    let mut check = Command::new(python);
    check.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/check.py"));
    for (name, spec) in &specs[..crate::amount(2, 6)] {
        play(&folder, name, spec);
        check.arg(folder.join(name));
    }
    // The first run measures the luck, and has the deals of this test. At three seats, a deal has two lineups of the two agents.
    let test = folder.join("table/sprt.json");
    let command =
        "sprt greedy heuristic --seats 3 --seed 7 --deals 40 --luck on --elo0 -30 --elo1 30 --format json --quiet";
    std::fs::write(&test, prints(&folder, command)).unwrap();
    check.arg(test);
    passes(&mut check);
}

#[test]
fn comparisons_of_runs_agree_with_other_programs() {
    let Some(python) = PYTHON.as_deref() else {
        println!("skipped: cannot create a Python environment with statsmodels and scipy");
        return;
    };
    let folder = folder("oracle-comparison");
    // Other streams of the agents make other matches of the same deals.
    for (name, spec) in [
        ("one", "seed = 4\ndeals = 60\n"),
        ("again", "seed = 4\nagent_seed = 9\ndeals = 60\n"),
        ("other", "seed = 5\ndeals = 80\nluck = 'on'\n"),
        ("part", "seed = 5\nagent_seed = 9\ndeals = 50\nluck = 'on'\n"),
    ] {
        let agents = "agents = ['random(pass=0.9)', 'greedy', 'random']";
        play(&folder, name, format!("{spec}rules = ['classic', 'faessler']\nseats = [2]\n{agents}\n"));
    }
    let mut check = Command::new(python);
    check.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/check.py"));
    for (file, runs) in [("first.csv", "one again other"), ("second.csv", "other part")] {
        let printed = prints(&folder, &format!("report --dry --format csv {runs}"));
        std::fs::write(folder.join(file), printed).unwrap();
        check.arg(folder.join(file));
    }
    passes(&mut check);
}
