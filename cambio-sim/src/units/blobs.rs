//! The storage of a distributed run: a shared folder, or a bucket of an object store.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cambio_exec::sync_folder;

/// A storage of named files that many machines share.
///
/// Files are written atomically. Names are words separated by `/`. To support another storage, or to inject errors in tests,
/// implement the first five methods.
pub trait Blobs: Send + Sync + std::fmt::Debug {
    /// The names of all files that begin with `folder` and a `/`, in any order. Empty if the folder does not exist.
    ///
    /// # Errors
    /// If the storage cannot be read.
    fn list(&self, folder: &str) -> io::Result<Vec<String>>;

    /// Opens a file for reading.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the file does not exist; or if the storage cannot be read.
    fn open(&self, name: &str) -> io::Result<Box<dyn Read + Send>>;

    /// Creates a small file. If several machines create the same file concurrently, exactly one succeeds.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`] if the file exists; or if it cannot be written.
    fn create(&self, name: &str, bytes: &[u8]) -> io::Result<()>;

    /// A fresh path on this machine for a temporary file, which can then be committed. Temporary files are not listed.
    ///
    /// # Errors
    /// If the folder of the path cannot be created.
    fn aside(&self) -> io::Result<PathBuf>;

    /// Moves a temporary file to its name atomically, and replaces an existing file.
    ///
    /// # Errors
    /// If the file cannot be written. The temporary file may then still exist.
    fn commit(&self, aside: &Path, name: &str) -> io::Result<()>;

    /// Removes temporary files that have not changed for the duration `untouched`, because killed machines leave such
    /// files behind. Returns the number of removed files. Does nothing if temporary files are outside the storage.
    ///
    /// # Errors
    /// If the storage cannot be read, or a file cannot be removed.
    fn tidy(&self, untouched: Duration) -> io::Result<u64> {
        let _ = untouched;
        Ok(0)
    }

    /// Whether there are files other than temporary files. The default is `false`, for storages that contain only stores.
    ///
    /// # Errors
    /// If the storage cannot be read.
    fn has_files(&self) -> io::Result<bool> {
        Ok(false)
    }
}

/// A name for a temporary file that is unique over all processes and machines.
pub(super) fn fresh_name() -> io::Result<String> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let chance = getrandom::u64().map_err(|error| io::Error::other(error.to_string()))?;
    Ok(format!("{process}-{count}-{chance:016x}"))
}

/// A folder that all machines share, on this machine or on a network file system.
///
/// ```
/// use cambio_sim::units::{Blobs, FolderBlobs};
///
/// # let path = std::env::temp_dir().join(format!("cambio-blobs-{}", std::process::id()));
/// let store = FolderBlobs::at(&path);
/// let aside = store.aside()?;
/// std::fs::write(&aside, "rows")?;
/// assert!(store.list("units")?.is_empty(), "temporary files are not listed");
/// store.commit(&aside, "units/0-4/name")?;
/// assert_eq!(store.list("units")?, ["units/0-4/name"]);
/// # std::fs::remove_dir_all(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct FolderBlobs {
    root: PathBuf,
}

impl FolderBlobs {
    /// The storage in a folder. The first file creates the folder if necessary.
    pub fn at(root: &Path) -> FolderBlobs {
        FolderBlobs { root: root.to_owned() }
    }

    /// The path of a file. Creates its folder.
    fn place(&self, name: &str) -> io::Result<PathBuf> {
        let path = self.root.join(name);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        Ok(path)
    }
}

/// Adds the names of the files below a folder.
fn walk(folder: &Path, name: &str, names: &mut Vec<String>) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let Some(name) = entry.file_name().to_str().map(|own| format!("{name}/{own}")) else { continue };
        if entry.file_type()?.is_dir() {
            walk(&entry.path(), &name, names)?;
        } else {
            names.push(name);
        }
    }
    Ok(())
}

impl Blobs for FolderBlobs {
    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        walk(&self.root.join(folder), folder, &mut names)?;
        Ok(names)
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Read + Send>> {
        let path = self.root.join(name);
        Ok(Box::new(cambio_exec::open_regular(&path)?))
    }

    fn create(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.place(name)?;
        let aside = self.aside()?;
        let write = || {
            fs::write(&aside, bytes)?;
            File::open(&aside)?.sync_all()?;
            // Linking fails if the file exists, whereas renaming would replace it.
            match fs::hard_link(&aside, &path) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists && !path.exists() => fs::rename(&aside, &path),
                linked => linked,
            }
        };
        let written = write();
        // The temporary file has been linked or renamed, or is useless after an error.
        let _ = fs::remove_file(&aside);
        sync_folder(&path);
        written
    }

    fn aside(&self) -> io::Result<PathBuf> {
        self.place(&format!("aside/{}", fresh_name()?))
    }

    fn commit(&self, aside: &Path, name: &str) -> io::Result<()> {
        let path = self.place(name)?;
        File::open(aside)?.sync_all()?;
        fs::rename(aside, &path)?;
        sync_folder(&path);
        Ok(())
    }

    fn tidy(&self, untouched: Duration) -> io::Result<u64> {
        let mut removed = 0;
        for name in self.list("aside")? {
            let path = self.root.join(name);
            // Ignore clock skew and files that were removed in the meantime.
            let age = fs::metadata(&path).and_then(|file| file.modified()).ok().and_then(|then| then.elapsed().ok());
            if age.is_some_and(|age| age >= untouched) {
                fs::remove_file(&path)?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    fn has_files(&self) -> io::Result<bool> {
        match fs::read_dir(&self.root) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            entries => Ok(entries?.flatten().any(|entry| entry.file_name() != "aside")),
        }
    }
}
