//! The folders in which tests write.

use std::fs;
use std::ops::Deref;
use std::panic::Location;
use std::path::{Path, PathBuf};

/// The folder of one test. It is removed at the end, unless the test fails.
pub(crate) struct TestFolder(PathBuf);

impl Deref for TestFolder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl AsRef<Path> for TestFolder {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

/// An empty folder for one test. Its name must be unique among the tests of a file.
#[track_caller]
pub(crate) fn folder(name: &str) -> TestFolder {
    let file = Path::new(Location::caller().file()).file_stem().expect("a file of tests");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file).join(name);
    if path.exists() {
        fs::remove_dir_all(&path).unwrap();
    }
    fs::create_dir_all(&path).unwrap();
    TestFolder(path)
}
