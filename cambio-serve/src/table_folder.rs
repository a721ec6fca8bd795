//! The folder in which a server keeps its token, its tables and its finished reviews.

use std::collections::BTreeMap;
use std::io::{Error, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cambio_core::text::excerpt;
use cambio_exec::{Claim, FileError, create_private_folder, read_text, write_private};

use crate::app_state::AppState;
use crate::room::{fresh_token, is_token};
use crate::sessions::{OpenSession, SavedTable, Sessions};

/// The name of the file with the token.
const TOKEN: &str = "token";
/// The least time between two writes of a table.
const WRITE_EVERY: Duration = Duration::from_secs(1);
/// The maximum number of digits in the number of a table, so that it cannot overflow.
const DIGITS: usize = 15;

/// The folder in which a server keeps its token, its tables and its finished reviews: one file for each table and for each of the most
/// recent reviews. The files contain hidden cards, so on Unix only their owner can read them.
///
/// One process at a time can use the folder. A file that cannot be restored stays as it is.
///
/// ```
/// use cambio_serve::{Server, Settings, TableFolder};
///
/// let path = std::env::temp_dir().join(format!("cambio-tables-{}", std::process::id()));
/// let start = || {
///     let folder = TableFolder::open(&path, |warning| eprintln!("{warning}")).unwrap();
///     Server::bind(0, Settings::new(cambio_agents::roster()), Some(folder)).unwrap()
/// };
/// let token = |server: &Server| server.address().split('/').nth(3).unwrap().to_owned();
/// let first = start();
/// let kept = token(&first);
/// drop(first);
/// assert_eq!(token(&start()), kept);
/// # std::fs::remove_dir_all(&path).unwrap();
/// ```
#[derive(Debug)]
pub struct TableFolder {
    path: PathBuf,
    warn: fn(&str),
    token: String,
    /// The files of earlier servers, until they are restored.
    found: BTreeMap<u64, PathBuf>,
    /// The files of open tables.
    files: BTreeMap<u64, TableFile>,
    _claim: Claim,
}

/// The file of a table.
#[derive(Debug)]
struct TableFile {
    path: PathBuf,
    /// The number of changes of the table that the file contains; `None` if it must be written.
    changes: Option<u64>,
    /// The hash of its text.
    hash: Option<blake3::Hash>,
    /// When the file was written, or when this was tried.
    tried: Option<Instant>,
    /// Whether the last write failed.
    is_failing: bool,
}

impl TableFolder {
    /// Opens a folder, and creates it if it does not exist. `warn` receives each warning as one sentence: for example, a table that
    /// cannot be restored.
    ///
    /// # Errors
    /// If the folder cannot be created or read, or another process uses it ([`FileError::Busy`]).
    pub fn open(path: &Path, warn: fn(&str)) -> Result<TableFolder, FileError> {
        create_private_folder(path)?;
        let claim = Claim::on(path)?;
        let token = kept_token(&path.join(TOKEN), warn)?;
        let mut found = BTreeMap::new();
        for entry in std::fs::read_dir(path).map_err(FileError::unreadable(path))? {
            let file = entry.map_err(FileError::unreadable(path))?.path();
            found.extend(number_of(&file).map(|number| (number, file)));
        }
        Ok(TableFolder { path: path.to_owned(), warn, token, found, files: BTreeMap::new(), _claim: claim })
    }

    /// The token of the first server with this folder.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Opens all tables of the folder again, and keeps the server's finished reviews in it.
    pub(crate) fn restore(&mut self, state: &AppState) {
        state.reviews.keep_in(self.path.clone(), self.warn);
        for (number, path) in std::mem::take(&mut self.found) {
            // Data that no server has written could reach a bug, which must not prevent the start.
            let restored = catch_unwind(AssertUnwindSafe(|| restore_table(state, number, &path)));
            match restored.unwrap_or_else(|_| Err("this is a bug in cambio".to_owned())) {
                Ok(hash) => {
                    self.files.insert(number, TableFile { hash: Some(hash), ..TableFile::new(path) });
                }
                Err(problem) => {
                    let (path, problem) = (path.display(), excerpt(&problem).up_to(500));
                    (self.warn)(&format!("cannot restore the table in {path}: {problem}; the file stays as it is"));
                }
            }
        }
    }

    /// Writes the tables that have changed, each at most once a second, and removes the files of closed tables.
    pub(crate) fn save(&mut self, sessions: &Sessions) {
        self.write(sessions, WRITE_EVERY);
    }

    /// Writes all tables that have changed. Call this before the server ends.
    pub(crate) fn save_at_end(mut self, sessions: &Sessions) {
        self.write(sessions, Duration::ZERO);
    }

    fn write(&mut self, sessions: &Sessions, every: Duration) {
        let open: BTreeMap<_, _> = sessions.all().into_iter().collect();
        let warn = self.warn;
        self.files.retain(|number, TableFile { path, .. }| {
            let is_open = open.contains_key(number);
            let removed = if is_open { Ok(()) } else { std::fs::remove_file(&*path) };
            if let Err(error) = removed.or_else(accept_missing) {
                warn(&format!(
                    "cannot remove {}: {error}; the next server opens this closed table again",
                    path.display()
                ));
            }
            is_open
        });
        for (number, opened) in open {
            let path = || self.path.join(format!("table-{number}.json"));
            let file = self.files.entry(number).or_insert_with(|| TableFile::new(path()));
            let is_recent = file.tried.is_some_and(|tried| tried.elapsed() < every);
            if is_recent || file.changes == opened.changes() {
                continue;
            }
            let result = file.write(&opened);
            if let (Err(error), false) = (&result, file.is_failing) {
                warn(&format!(
                    "cannot keep table {number}: {error}; the server tries again, and loses the table if it stops before"
                ));
            }
            file.is_failing = result.is_err();
        }
    }
}

impl TableFile {
    fn new(path: PathBuf) -> TableFile {
        TableFile { path, changes: None, hash: None, tried: None, is_failing: false }
    }

    /// Writes the table if its data has changed.
    fn write(&mut self, opened: &OpenSession) -> Result<(), FileError> {
        // Read before the data, so that a later change is not missed.
        let changes = opened.changes();
        if let Some(saved) = opened.save() {
            let text = serde_json::to_string(&saved).expect("plain data serializes");
            let hash = blake3::hash(text.as_bytes());
            if self.hash != Some(hash) {
                self.tried = Some(Instant::now());
                write_private(&self.path, text.as_bytes())?;
                self.hash = Some(hash);
            }
        }
        self.changes = changes;
        Ok(())
    }
}

/// The token in a file, which is created if it does not exist.
fn kept_token(path: &Path, warn: fn(&str)) -> Result<String, FileError> {
    let problem = match read_text(path) {
        Ok(kept) if is_token(kept.trim()) => return Ok(kept.trim().to_owned()),
        Ok(_) => "expected 32 hexadecimal digits".to_owned(),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let token = fresh_token().map_err(FileError::unwritable(path))?;
            write_private(path, format!("{token}\n").as_bytes())?;
            return Ok(token);
        }
        Err(error) => error.to_string(),
    };
    let path = path.display();
    warn(&format!(
        "cannot read the token in {path}: {problem}; the address of this server is new, and open pages must be opened again. Remove \
         the file to keep the new address"
    ));
    fresh_token().map_err(FileError::unwritable(Path::new(TOKEN)))
}

/// The number in the name of a table's file.
fn number_of(path: &Path) -> Option<u64> {
    let digits = path.file_name()?.to_str()?.strip_prefix("table-")?.strip_suffix(".json")?;
    let is_canonical =
        digits.len() <= DIGITS && !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_canonical)
}

/// Opens a table again, and returns the hash of its file.
fn restore_table(state: &AppState, number: u64, path: &Path) -> Result<blake3::Hash, String> {
    state.sessions.reserve(number);
    let text = read_text(path).map_err(|error| error.to_string())?;
    let saved: SavedTable<'_> = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    state.sessions.restore(number, saved, &state.catalogue, &state.substitute).map_err(|error| error.to_string())?;
    Ok(blake3::hash(text.as_bytes()))
}

fn accept_missing(error: Error) -> std::io::Result<()> {
    if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) }
}
