//! Files that commands write when they are done.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A file that is written at the end of long work. Until it is whole, its name ends with `.new`. Work that fails leaves no
/// file, unless the process is killed.
pub(super) struct Output {
    path: PathBuf,
    new: PathBuf,
    file: File,
}

impl Output {
    /// Checks before the work that the file does not exist and can be written.
    pub(super) fn reserve(path: &Path) -> Result<Output, String> {
        if path.symlink_metadata().is_ok() {
            return Err(format!("{} exists; only a file that does not exist is written to", path.display()));
        }
        let mut new = path.as_os_str().to_owned();
        new.push(format!(".{}.new", std::process::id()));
        let new = PathBuf::from(new);
        let file = File::create_new(&new).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        Ok(Output { path: path.to_owned(), new, file })
    }

    /// Writes the file. It does not overwrite a file that somebody else has made in the meantime.
    pub(super) fn write<E: std::fmt::Display>(
        mut self,
        write: impl FnOnce(&mut File) -> Result<(), E>,
    ) -> Result<(), String> {
        let unwritten = |what: String| format!("cannot write {}: {what}", self.path.display());
        write(&mut self.file).map_err(|error| unwritten(error.to_string()))?;
        let name = || match std::fs::hard_link(&self.new, &self.path) {
            // Not every file system has links.
            Err(error) if error.kind() != ErrorKind::AlreadyExists && !self.path.exists() => {
                std::fs::rename(&self.new, &self.path)
            }
            named => named,
        };
        self.file.sync_data().and_then(|()| name()).map_err(|error| unwritten(error.to_string()))
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // It has been renamed, or is of no use. A failure to remove it needs no report.
        let _ = std::fs::remove_file(&self.new);
    }
}
