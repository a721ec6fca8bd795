//! Where the units of a run lie that many machines play: a folder that they share, or a bucket of an object store.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A place that holds whole files by name, for many machines at once.
///
/// A file is there as a whole or not at all. Names are words with `/` between them. Whoever wants another kind of store, or one
/// that fails now and then for a test, implements the first five methods.
pub trait Blobs: Send + Sync + std::fmt::Debug {
    /// The names of all files that begin with `folder` and a `/`, in any order. A folder that is not there has none.
    ///
    /// # Errors
    /// If the store cannot be asked.
    fn list(&self, folder: &str) -> io::Result<Vec<String>>;

    /// Opens a file for reading.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is none of this name, or if the store cannot be asked.
    fn open(&self, name: &str) -> io::Result<Box<dyn Read + Send>>;

    /// Writes a small file if there is none of this name yet. Of several that try at once, one succeeds.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`] if there is one, or if it cannot be written.
    fn create(&self, name: &str, bytes: &[u8]) -> io::Result<()>;

    /// A new path on this machine under which a file may be written before it is committed. What lies there counts for nothing.
    ///
    /// # Errors
    /// If no such place can be made.
    fn aside(&self) -> io::Result<PathBuf>;

    /// Moves a file that was written aside to its name, and takes the place of one that is there. Nobody sees a part of it.
    ///
    /// # Errors
    /// If it cannot be written. The file that was written aside may still be there then.
    fn commit(&self, aside: &Path, name: &str) -> io::Result<()>;

    /// Removes what was written aside and not touched for so long, which killed machines leave behind, and returns how many files
    /// that were. A store whose files aside lie elsewhere has none.
    ///
    /// # Errors
    /// If the store cannot be asked, or a file not be removed.
    fn tidy(&self, untouched: Duration) -> io::Result<u64> {
        let _ = untouched;
        Ok(0)
    }
}

/// A new name for a file that is written aside: no other process and no other machine has it.
pub(super) fn fresh_name() -> io::Result<String> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let chance = getrandom::u64().map_err(|error| io::Error::other(error.to_string()))?;
    Ok(format!("{process}-{count}-{chance:016x}"))
}

/// A folder that all machines see: of this machine, or of a network file system.
///
/// ```
/// use cambio_sim::units::{Blobs, FolderBlobs};
///
/// # let path = std::env::temp_dir().join(format!("cambio-blobs-{}", std::process::id()));
/// let store = FolderBlobs::at(&path)?;
/// let aside = store.aside()?;
/// std::fs::write(&aside, "rows")?;
/// assert!(store.list("units")?.is_empty(), "what is aside counts for nothing");
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
    /// The store in a folder, which is made if it is not there.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn at(root: &Path) -> io::Result<FolderBlobs> {
        fs::create_dir_all(root)?;
        Ok(FolderBlobs { root: root.to_owned() })
    }

    /// The path of a file, with its folder made.
    fn place(&self, name: &str) -> io::Result<PathBuf> {
        let path = self.root.join(name);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        Ok(path)
    }
}

/// Syncs a folder, so that a name in it survives a loss of power. Not every system can.
fn sync_folder(path: &Path) {
    if let Some(Ok(folder)) = path.parent().map(File::open) {
        let _ = folder.sync_all();
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
            // A link fails where there is a file of this name; renaming would take its place.
            match fs::hard_link(&aside, &path) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists && !path.exists() => fs::rename(&aside, &path),
                linked => linked,
            }
        };
        let written = write();
        // It has another name now, or is of no use.
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
            // A clock that runs behind, or a file that is gone by now, is no reason to fail.
            let age = fs::metadata(&path).and_then(|file| file.modified()).ok().and_then(|then| then.elapsed().ok());
            if age.is_some_and(|age| age >= untouched) {
                fs::remove_file(&path)?;
                removed += 1;
            }
        }
        Ok(removed)
    }
}
