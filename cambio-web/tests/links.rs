//! Records in links: a changed link is read or refused, and a small link cannot fill the memory.
//!
//! The test needs Node; `.ci/run web` has it. `CAMBIO_FULL=1` changes more links.

use std::path::Path;
use std::process::Command;

#[test]
fn a_damaged_link_is_refused_and_cannot_fill_the_memory() {
    if Command::new("node").arg("--version").output().is_err() {
        eprintln!("skipped: Node is not installed");
        return;
    }
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    // Node treats the scripts as modules only in a folder that says so.
    let place = std::env::temp_dir().join(format!("cambio-links-{}", std::process::id()));
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(place.join("package.json"), r#"{"type":"module"}"#).unwrap();
    for script in [
        "cambio-serve/assets/links.js",
        "cambio-serve/assets/common.js",
        "cambio-serve/assets/transport.js",
        "cambio-view/viewer/cards.js",
    ] {
        let script = home.join("..").join(script);
        std::fs::copy(&script, place.join(script.file_name().unwrap())).unwrap();
    }
    let is_full = std::env::var_os("CAMBIO_FULL").is_some_and(|value| value == "1");
    let changes = if is_full { "100000" } else { "1000" };
    let mut node = Command::new("node");
    let output = node.arg(home.join("tests/links.mjs")).arg(place.join("links.js")).args(["1", changes]).output();
    std::fs::remove_dir_all(&place).unwrap();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
