//! Output files that commands write at the end of their work.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use cambio_core::text::EscapingWriter;

use crate::say::{reserve_stdout, say};

/// A file that is written at the end of a long computation. Its name ends with `.new` until it is complete. If the
/// computation fails, the file is removed, unless the process is killed. The file `-` is standard output.
pub(super) struct OutputFile {
    path: PathBuf,
    /// The file until it is complete; `None` for standard output.
    new: Option<(PathBuf, File)>,
}

/// Whether a path is `-`, which stands for standard output.
pub(super) fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

impl OutputFile {
    /// Checks, before the computation starts, that the file does not exist and can be written.
    pub(super) fn reserve(path: &Path) -> Result<OutputFile, String> {
        if is_stdout(path) {
            if reserve_stdout(true) {
                return Err("only one file can be `-`, standard output; name the other file".to_owned());
            }
            return Ok(OutputFile { path: path.to_owned(), new: None });
        }
        if path.symlink_metadata().is_ok() {
            return Err(format!("{} already exists; choose another file", path.display()));
        }
        let mut new = path.as_os_str().to_owned();
        new.push(format!(".{}.new", std::process::id()));
        let new = PathBuf::from(new);
        let file = File::create_new(&new).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        Ok(OutputFile { path: path.to_owned(), new: Some((new, file)) })
    }

    /// Writes a text. Does not overwrite a file that another process has created in the meantime. Prints the path.
    pub(super) fn write<E: Into<Box<dyn Error>>>(
        self,
        write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
    ) -> Result<(), Box<dyn Error>> {
        self.write_to(EscapingWriter::new(BufWriter::new(std::io::stdout().lock())), write)
    }

    /// Like [`OutputFile::write`], for bytes that are not a text.
    #[cfg(feature = "learn")]
    pub(super) fn write_binary(self, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
        self.write_to(std::io::stdout().lock(), |out| out.write_all(bytes))
    }

    fn write_to<E: Into<Box<dyn Error>>>(
        mut self,
        mut stdout: impl Write,
        write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
    ) -> Result<(), Box<dyn Error>> {
        let Some((new, file)) = &mut self.new else {
            return write(&mut stdout).map_err(Into::into).and_then(|()| Ok(stdout.flush()?));
        };
        let shown = self.path.display();
        write(file).map_err(|error| format!("cannot write {shown}: {}", error.into()))?;
        let name = || match std::fs::hard_link(&*new, &self.path) {
            // Some file systems do not support hard links.
            Err(error) if error.kind() != ErrorKind::AlreadyExists && !self.path.exists() => {
                std::fs::rename(&*new, &self.path)
            }
            named => named,
        };
        file.sync_data().and_then(|()| name()).map_err(|error| format!("cannot write {shown}: {error}"))?;
        say!("wrote {shown}");
        Ok(())
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        // The file has its final name already, or is incomplete. A failure to remove the `.new` file is ignored.
        if let Some((new, _)) = &self.new {
            let _ = std::fs::remove_file(new);
        }
    }
}
