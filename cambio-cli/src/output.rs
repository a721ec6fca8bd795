//! Output files that commands write at the end of their work.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A file that is written at the end of a long computation. Its name ends with `.new` until it is complete. If the
/// computation fails, the file is removed, unless the process is killed.
pub(super) struct OutputFile {
    path: PathBuf,
    new: PathBuf,
    file: File,
}

impl OutputFile {
    /// Checks, before the computation starts, that the file does not exist and can be written.
    pub(super) fn reserve(path: &Path) -> Result<OutputFile, String> {
        if path.symlink_metadata().is_ok() {
            return Err(format!("{} already exists; choose another file", path.display()));
        }
        let mut new = path.as_os_str().to_owned();
        new.push(format!(".{}.new", std::process::id()));
        let new = PathBuf::from(new);
        let file = File::create_new(&new).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        Ok(OutputFile { path: path.to_owned(), new, file })
    }

    /// Writes the file. Does not overwrite a file that another process has created in the meantime.
    pub(super) fn write<E: std::fmt::Display>(
        mut self,
        write: impl FnOnce(&mut File) -> Result<(), E>,
    ) -> Result<(), String> {
        let unwritten = |what: String| format!("cannot write {}: {what}", self.path.display());
        write(&mut self.file).map_err(|error| unwritten(error.to_string()))?;
        let name = || match std::fs::hard_link(&self.new, &self.path) {
            // Some file systems do not support hard links.
            Err(error) if error.kind() != ErrorKind::AlreadyExists && !self.path.exists() => {
                std::fs::rename(&self.new, &self.path)
            }
            named => named,
        };
        self.file.sync_data().and_then(|()| name()).map_err(|error| unwritten(error.to_string()))
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        // The file has its final name already, or is incomplete. A failure to remove the `.new` file is ignored.
        let _ = std::fs::remove_file(&self.new);
    }
}
