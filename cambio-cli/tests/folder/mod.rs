//! The folders in which tests write.

use std::fs;
use std::panic::Location;
use std::path::{Path, PathBuf};

/// An empty folder for one test. Its name must be unique among the tests of a file.
#[track_caller]
pub(crate) fn folder(name: &str) -> PathBuf {
    let file = Path::new(Location::caller().file()).file_stem().expect("a file of tests");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file).join(name);
    if path.exists() {
        fs::remove_dir_all(&path).unwrap();
    }
    fs::create_dir_all(&path).unwrap();
    path
}
