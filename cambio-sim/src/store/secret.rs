//! The secret of a run, in its folder.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use cambio_exec::read_text;

use crate::disk::RunError;
use crate::plan::Secret;

/// The file in which it lies. While the run is played only its owner may read it.
pub(super) const SECRET_FILE: &str = "secret";

impl Secret {
    /// Whether a run folder has one.
    pub fn is_in(folder: &Path) -> bool {
        folder.join(SECRET_FILE).exists()
    }

    /// The secret of a run folder.
    ///
    /// # Errors
    /// If its file cannot be read or is none.
    pub fn read(folder: &Path) -> Result<Secret, RunError> {
        let file = folder.join(SECRET_FILE);
        let text = read_text(&file).map_err(RunError::unreadable(&file))?;
        let secret = text.strip_suffix('\n').and_then(|text| text.parse().ok());
        secret.ok_or_else(|| RunError::damaged(&file, "it is not 64 hexadecimal digits"))
    }

    /// Writes it into a folder that has none, for its owner alone.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), RunError> {
        let file = folder.join(SECRET_FILE);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut open = options.open(&file).map_err(RunError::unwritable(&file))?;
        open.write_all(format!("{self}\n").as_bytes()).map_err(RunError::unwritable(&file))?;
        open.sync_all().map_err(RunError::unwritable(&file))
    }
}
