//! Records the revision of the sources and the compiler version, for the manifests of runs.

use std::process::Command;

fn said(program: &str, words: &[&str]) -> String {
    let output = Command::new(program).args(words).output().ok().filter(|output| output.status.success());
    output.map_or_else(|| "unknown".to_owned(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    println!("cargo:rustc-env=CAMBIO_RUSTC={}", said(&rustc, &["--version"]));
    println!("cargo:rustc-env=CAMBIO_TARGET={}", std::env::var("TARGET").unwrap_or_else(|_| "unknown".to_owned()));
    println!("cargo:rustc-env=CAMBIO_REVISION={}", said("git", &["rev-parse", "HEAD"]));
    let changed = said("git", &["status", "--porcelain", "--untracked-files=no"]);
    println!("cargo:rustc-env=CAMBIO_DIRTY={}", if changed.is_empty() { "false" } else { "true" });
    // Without any `rerun-if-changed` line, the script would rerun whenever a file of this package changes.
    for path in said("git", &["rev-parse", "--git-path", "HEAD"]).lines().filter(|path| *path != "unknown") {
        println!("cargo:rerun-if-changed={path}");
    }
    println!("cargo:rerun-if-changed=src");
    println!("cargo:rerun-if-changed=../cambio-core/src");
    println!("cargo:rerun-if-changed=../cambio-agents/src");
    println!("cargo:rerun-if-changed=../cambio-stats/src");
}
