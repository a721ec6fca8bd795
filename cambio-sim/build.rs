//! Records the revision of the sources and the compiler version, for the manifests of runs.

use std::process::Command;

fn said(program: &str, words: &[&str]) -> String {
    let output = Command::new(program).args(words).output().ok().filter(|output| output.status.success());
    output.map_or_else(|| "unknown".to_owned(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The name of the profile. Cargo sets `PROFILE` to `debug` or `release` only, but the output folder contains the name:
/// `target/dist/build/cambio-sim-…/out`.
fn profile() -> String {
    let out = std::path::PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    let folder = out.ancestors().nth(3).and_then(std::path::Path::file_name).and_then(std::ffi::OsStr::to_str);
    match folder {
        Some("debug") => "dev".to_owned(),
        Some(folder) => folder.to_owned(),
        None => "unknown".to_owned(),
    }
}

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    println!("cargo:rustc-env=CAMBIO_RUSTC={}", said(&rustc, &["--version"]));
    println!("cargo:rustc-env=CAMBIO_TARGET={}", std::env::var("TARGET").unwrap_or_else(|_| "unknown".to_owned()));
    let revision = said("git", &["rev-parse", "HEAD"]);
    let is_changed = !said("git", &["status", "--porcelain", "--untracked-files=no"]).is_empty();
    println!("cargo:rustc-env=CAMBIO_REVISION={revision}");
    println!("cargo:rustc-env=CAMBIO_DIRTY={is_changed}");
    let changes = if is_changed && revision != "unknown" { " with changes" } else { "" };
    println!("cargo:rustc-env=CAMBIO_BUILD=revision {revision:.10}{changes}, profile {}", profile());
    // Without any `rerun-if-changed` line, the script would rerun whenever a file of this package changes.
    for path in said("git", &["rev-parse", "--git-path", "HEAD"]).lines().filter(|path| *path != "unknown") {
        println!("cargo:rerun-if-changed={path}");
    }
    println!("cargo:rerun-if-changed=src");
    println!("cargo:rerun-if-changed=../cambio-core/src");
    println!("cargo:rerun-if-changed=../cambio-agents/src");
    println!("cargo:rerun-if-changed=../cambio-stats/src");
}
