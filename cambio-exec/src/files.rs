//! Atomic writes of files and folders, and locks that let only one process write a folder.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use crate::text::check_regular;

/// A file or a folder that cannot be read or written.
///
/// ```
/// use std::path::Path;
/// use cambio_exec::FileError;
///
/// let error = std::fs::read("no/such/file").map_err(FileError::unreadable(Path::new("no/such/file"))).unwrap_err();
/// assert!(error.to_string().starts_with("cannot read no/such/file: "));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The path exists already.
    #[error("{0} already exists; choose another path (`cambio run --resume` continues a run)")]
    Exists(String),
    /// The folder or a file cannot be created or written.
    #[error("cannot write {0}: {1}")]
    Unwritable(String, String),
    /// The folder or a file cannot be read.
    #[error("cannot read {0}: {1}")]
    Unreadable(String, String),
    /// Another process has locked the folder.
    #[error("{0} is being written by another process; wait for it, or stop it")]
    Busy(String),
}

impl FileError {
    /// Converts an error of the operating system to [`FileError::Unwritable`]. For `map_err`.
    pub fn unwritable(path: &Path) -> impl Fn(std::io::Error) -> FileError + use<> {
        let path = path.display().to_string();
        move |error| FileError::Unwritable(path.clone(), error.to_string())
    }

    /// Converts an error of the operating system to [`FileError::Unreadable`]. For `map_err`.
    pub fn unreadable(path: &Path) -> impl Fn(std::io::Error) -> FileError + use<> {
        let path = path.display().to_string();
        move |error| FileError::Unreadable(path.clone(), error.to_string())
    }
}

/// Creates a new folder and its missing parents.
///
/// # Errors
/// If the folder already exists or cannot be created.
pub fn create_folder(path: &Path) -> Result<(), FileError> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(FileError::unwritable(parent))?;
    }
    std::fs::create_dir(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => FileError::Exists(path.display().to_string()),
        _ => FileError::unwritable(path)(error),
    })
}

/// The exclusive right to create or remove a folder: a lock on the file `NAME.lock` next to the folder. The file is
/// removed on drop. If a process is killed, the operating system releases its lock, and the next process reuses the
/// file.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    file: File,
    /// Whether a process was killed while it built `NAME.new`.
    is_left_building: bool,
}

/// The content of the lock file while `NAME.new` is being built.
const BUILDING: &str = "NAME.new is being built\n";

impl Claim {
    /// Claims a folder, which need not exist. Creates its missing parents.
    ///
    /// # Errors
    /// If another process has claimed the folder, or the lock file cannot be written.
    pub fn on(folder: &Path) -> Result<Claim, FileError> {
        // All paths to one folder must share one lock.
        let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        let path = beside(&folder, ".lock")?;
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(FileError::unwritable(parent))?;
        }
        loop {
            let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
            let file = opened.map_err(FileError::unwritable(&path))?;
            file.metadata().and_then(|found| check_regular(&found)).map_err(FileError::unwritable(&path))?;
            lock(&folder, &file)?;
            // The previous owner may have removed the file in the meantime. Then this lock is useless: try again.
            if is_at(&path, &file) {
                let mut content = Vec::new();
                (&file).take(64).read_to_end(&mut content).map_err(FileError::unreadable(&path))?;
                return Ok(Claim { path, file, is_left_building: content == BUILDING.as_bytes() });
            }
        }
    }

    /// Writes to the lock file that `NAME.new` is being built, in case this process is killed.
    fn note_building(&self) -> Result<(), FileError> {
        let write = || {
            let mut file = &self.file;
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(BUILDING.as_bytes())
        };
        write().map_err(FileError::unwritable(&self.path))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // The file is still locked, so no other process uses it. If the removal fails, the next process reuses it.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Whether this path still refers to the open file.
#[cfg(unix)]
fn is_at(path: &Path, file: &File) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let number = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    let found = std::fs::symlink_metadata(path).map(number);
    found.is_ok_and(|found| file.metadata().is_ok_and(|open| number(open) == found))
}

/// Whether this path still refers to the open file. An open file cannot be replaced on this platform.
#[cfg(not(unix))]
fn is_at(path: &Path, _: &File) -> bool {
    path.exists()
}

/// Locks an open file, to protect a folder. Does nothing on file systems without locks.
///
/// # Errors
/// [`FileError::Busy`] if another process has locked the file.
pub fn lock(folder: &Path, file: &File) -> Result<(), FileError> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(FileError::Busy(folder.display().to_string())),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// The path with `ending` appended to its last component.
fn beside(path: &Path, ending: &str) -> Result<PathBuf, FileError> {
    let mut name = path.file_name().ok_or_else(|| FileError::Exists(path.display().to_string()))?.to_owned();
    name.push(ending);
    Ok(path.with_file_name(name))
}

/// Builds a folder atomically: creates `NAME.new`, calls `build` to fill it, and renames it to `NAME`. If the build
/// fails, `NAME.new` is removed. A `NAME.new` that a killed process has left is removed first.
///
/// # Errors
/// If either path already exists, or the folder cannot be built.
///
/// ```
/// use cambio_exec::{FileError, build_aside, write_whole};
///
/// let path = std::env::temp_dir().join(format!("cambio-aside-{}", std::process::id()));
/// build_aside(&path, |new| write_whole(&new.join("plan.toml"), b"deals = 10\n"))?;
/// assert_eq!(std::fs::read(path.join("plan.toml"))?, b"deals = 10\n");
/// assert!(matches!(build_aside(&path, |_| Ok(())), Err(FileError::Exists(_))));
/// # std::fs::remove_dir_all(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn build_aside<T, E: From<FileError>>(out: &Path, build: impl FnOnce(&Path) -> Result<T, E>) -> Result<T, E> {
    let new = beside(out, ".new")?;
    let claim = Claim::on(out)?;
    if out.symlink_metadata().is_ok() {
        return Err(FileError::Exists(out.display().to_string()).into());
    }
    if claim.is_left_building && new.symlink_metadata().is_ok() {
        std::fs::remove_dir_all(&new).map_err(FileError::unwritable(&new))?;
    }
    claim.note_building()?;
    // Fails if the user has a folder with that name.
    create_folder(&new)?;
    let made = build(&new).and_then(|made| {
        std::fs::rename(&new, out).map_err(FileError::unwritable(out))?;
        sync_folder(out);
        Ok(made)
    });
    if made.is_err() {
        // If the removal fails too, report only the first error.
        let _ = std::fs::remove_dir_all(&new);
    }
    made
}

/// Writes a file atomically: writes the temporary file `NAME.new`, syncs it, renames it, and syncs its folder. Several
/// writers of one file wait for each other. A `NAME.new` that a killed process has left is used again.
///
/// # Errors
/// If the file cannot be written, or `NAME.new` is not a regular file.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("cambio-whole-{}", std::process::id()));
/// cambio_exec::write_whole(&path, b"deals = 10\n")?;
/// assert_eq!(std::fs::read(&path)?, b"deals = 10\n");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write_aside(path, bytes, &mut OpenOptions::new())
}

/// Writes a secret as [`write_whole`] does. On Unix, only the owner may read the file; elsewhere, the folder decides.
///
/// # Errors
/// The errors of [`write_whole`].
///
/// ```
/// # let path = std::env::temp_dir().join(format!("cambio-secret-{}", std::process::id()));
/// cambio_exec::write_private(&path, b"secret")?;
/// assert_eq!(std::fs::read(&path)?, b"secret");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    write_aside(path, bytes, &mut options)
}

/// Creates a folder for secrets and its missing parents, unless it exists. On Unix, only the owner may use the new folders.
///
/// # Errors
/// If the folder cannot be created.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("cambio-private-folder-{}", std::process::id()));
/// cambio_exec::create_private_folder(&path)?;
/// cambio_exec::create_private_folder(&path)?;
/// # std::fs::remove_dir(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn create_private_folder(path: &Path) -> Result<(), FileError> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path).map_err(FileError::unwritable(path))
}

/// Writes a file atomically. `options` has the permissions of a new file.
fn write_aside(path: &Path, bytes: &[u8], options: &mut OpenOptions) -> Result<(), FileError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let new = PathBuf::from(name);
    let mut file = own_temporary(&new, options).map_err(|error| {
        // Only this error is about the temporary file.
        let at = if error.kind() == std::io::ErrorKind::InvalidInput { new.as_path() } else { path };
        FileError::unwritable(at)(error)
    })?;
    let mut write = || {
        file.set_len(0)?;
        file.write_all(bytes)?;
        file.sync_data()?;
        std::fs::rename(&new, path)
    };
    write().map_err(|error| {
        // If the removal fails too, report only the first error.
        let _ = std::fs::remove_file(&new);
        FileError::unwritable(path)(error)
    })?;
    sync_folder(path);
    Ok(())
}

/// Opens and locks a temporary file, which is created if it does not exist.
fn own_temporary(path: &Path, options: &mut OpenOptions) -> std::io::Result<File> {
    loop {
        // A link could lead to a file of the user, and opening a named pipe could block.
        match std::fs::symlink_metadata(path) {
            Ok(found) => check_regular(&found)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let file = options.write(true).create(true).truncate(false).open(path)?;
        // Some file systems have no locks.
        let _ = file.lock();
        // Another writer may have renamed the file in the meantime.
        if is_at(path, &file) {
            return Ok(file);
        }
    }
}

/// Syncs the folder of a file, so that the file's name survives a power failure. Errors are ignored, because not every
/// system supports this.
fn sync_folder(path: &Path) {
    let folder = path.parent().map(|folder| if folder == Path::new("") { Path::new(".") } else { folder });
    if let Some(Ok(folder)) = folder.map(File::open) {
        let _ = folder.sync_all();
    }
}

#[cfg(test)]
mod tests;
