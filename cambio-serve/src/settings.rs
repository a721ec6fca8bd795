//! What a server is started with.

use std::path::PathBuf;
use std::time::Duration;

use cambio_agents::Roster;

/// What a server is started with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The agents that may be played against.
    pub roster: Roster,
    /// Specs with a text in quotes that a page may name: they start programs and read files, so whoever starts the server names
    /// them.
    pub allowed: Vec<String>,
    /// The folder whose run folders are shown.
    pub runs: PathBuf,
    /// The most open tables.
    pub tables: usize,
    /// After how long a table that nobody looks at is closed when another is opened.
    pub idle: Duration,
}

impl Settings {
    /// 64 tables, idle ones closed after two hours, run folders under `runs`.
    pub fn new(roster: Roster) -> Settings {
        Settings {
            roster,
            allowed: Vec::new(),
            runs: PathBuf::from("runs"),
            tables: 64,
            idle: Duration::from_secs(2 * 60 * 60),
        }
    }
}
