//! The derived files against other people's statistics, in Python, from the same rows.
//!
//! The Python packages go into a virtual environment of the tests' own, from the public registry; where that is not
//! possible the test says so and holds.

use std::path::{Path, PathBuf};
use std::process::Command;

const PACKAGES: [&str; 6] = ["numpy", "scipy>=1.13", "statsmodels>=0.14", "choix", "matplotlib", "networkx"];

/// The Python of a virtual environment with the packages; made once and kept.
fn python() -> Option<PathBuf> {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("oracle-venv");
    let python = home.join("bin/python");
    let works =
        |code: &str| Command::new(&python).args(["-c", code]).output().is_ok_and(|output| output.status.success());
    if !works("import scipy, statsmodels, choix") {
        let made = Command::new("python3").args(["-m", "venv"]).arg(&home).output();
        made.ok().filter(|output| output.status.success())?;
        let pip = |packages: &[&str]| {
            let install = ["-m", "pip", "install", "--quiet", "--retries", "1", "--timeout", "30"];
            Command::new(&python).args(install).args(packages).output().is_ok_and(|output| output.status.success())
        };
        if !pip(&PACKAGES) {
            return None;
        }
        // Only some machines have a build of it; the check leaves its part out by itself.
        pip(&["open_spiel"]);
    }
    works("import scipy, statsmodels, choix").then_some(python)
}

#[test]
fn derived_files_agree_with_other_programs() {
    let Some(python) = python() else {
        println!("left out: no Python environment with statsmodels, scipy and choix can be made here");
        return;
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("oracle");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).unwrap();
    }
    std::fs::create_dir_all(&folder).unwrap();
    let agents = "agents = ['random(pass=0.9)', 'greedy', 'greedy(call_at=9)', 'heuristic']\n";
    let specs = [
        ("two", format!("seed = 4\ndeals = 151\nrules = ['original', 'classic']\nseats = [2]\n{agents}")),
        ("seats", format!("seed = 5\ndeals = 120\nrules = ['classic']\nseats = [2, 3]\nseat_effects = true\n{agents}")),
        ("round", format!("seed = 6\ndeals = 90\nrules = ['faessler']\nseats = [4]\nunit = 'rounds'\n{agents}")),
    ];
    let mut check = Command::new(&python);
    check.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/check.py"));
    for (name, spec) in &specs {
        std::fs::write(folder.join(format!("{name}.toml")), spec).unwrap();
        let run = Command::new(env!("CARGO_BIN_EXE_cambio"))
            .current_dir(&folder)
            .args(["run", &format!("{name}.toml"), "--out", name, "--quiet"])
            .output()
            .unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        check.arg(folder.join(name));
    }
    let output = check.output().unwrap();
    let told = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    println!("{told}");
    assert!(output.status.success(), "{told}");
}
