//! The settings of a server.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use cambio_agents::Roster;

/// The settings of a server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The available agents.
    pub roster: Roster,
    /// The specs with a quoted text that pages may use. Such specs start programs or read files.
    pub allowed: Vec<String>,
    /// The folder whose run folders are shown.
    pub runs: PathBuf,
    /// An address of this machine in a local network, at which the links of guests work.
    pub network: Option<IpAddr>,
    /// The maximum number of open tables.
    pub tables: usize,
    /// A table that has had no open page for this time is closed when another one is opened.
    pub idle: Duration,
    /// A client that has not sent the whole head of its request after this time is disconnected.
    pub patience: Duration,
}

impl Settings {
    /// The default settings: this machine only, 64 tables, idle tables closed after two hours, run folders under `runs`, ten seconds for
    /// the head of a request.
    pub fn new(roster: Roster) -> Settings {
        Settings {
            roster,
            allowed: Vec::new(),
            runs: PathBuf::from("runs"),
            network: None,
            tables: 64,
            idle: Duration::from_secs(2 * 60 * 60),
            patience: Duration::from_secs(10),
        }
    }
}
