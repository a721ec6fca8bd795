//! The run folders under a root: their reports and replays of their matches.

use std::collections::BTreeMap;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cambio_sim::StoredRun;
use cambio_view::{Catalogue, RequestError, replay_in_json};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The maximum number of folders in the list, and their maximum depth below the root.
const MAX_FOLDERS: usize = 200;
const MAX_DEPTH: usize = 2;

type Result<T> = std::result::Result<T, RequestError>;

/// A run folder in the list.
#[derive(Serialize, Default)]
struct RunSummary {
    name: String,
    title: String,
    agents: Vec<String>,
    rules: Vec<String>,
    matches: u64,
    of: u64,
    report: bool,
    /// Why the folder cannot be read, if it cannot.
    problem: Option<String>,
}

#[derive(Deserialize)]
struct RunName {
    run: String,
}

/// A match of a run: its number in the order of the rows, counted from 1.
#[derive(Deserialize)]
struct MatchNumber {
    run: String,
    r#match: u64,
}

/// The run folders under a root, by relative path.
fn folders(root: &Path) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    let mut open = vec![(root.to_owned(), String::new(), 0)];
    while let Some((path, name, depth)) = open.pop() {
        if path.join("spec.lock.json").is_file() {
            found.insert(if name.is_empty() { ".".to_owned() } else { name }, path);
        } else if depth < MAX_DEPTH {
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            // Symbolic links are skipped, because they may lead out of the root.
            for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
                let Ok(own) = entry.file_name().into_string() else { continue };
                let below = if name.is_empty() { own } else { format!("{name}/{own}") };
                open.push((entry.path(), below, depth + 1));
            }
        }
        if found.len() >= MAX_FOLDERS {
            break;
        }
    }
    found
}

/// Fails if an entry of a run folder is a symbolic link, because the link may lead out of the root.
fn refuse_links(path: &Path) -> std::result::Result<(), String> {
    let entries = path.read_dir().map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let is_link = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink());
    match entries.flatten().find(is_link) {
        None => Ok(()),
        Some(entry) => Err(format!(
            "{} is a symbolic link, which this server does not follow; replace it by a copy of its file",
            entry.path().display()
        )),
    }
}

fn summary((name, path): (String, PathBuf)) -> RunSummary {
    let opened = refuse_links(&path).and_then(|()| StoredRun::open(&path).map_err(|error| error.to_string()));
    match opened {
        Ok(run) => RunSummary {
            title: if run.plan.name.is_empty() { name.clone() } else { run.plan.name.clone() },
            agents: run.plan.agents.iter().map(|agent| agent.label.clone()).collect(),
            rules: run.plan.cells.iter().map(|cell| format!("{}, {} seats", cell.rules.name(), cell.seats)).collect(),
            matches: run.matches(),
            of: run.plan.matches(),
            report: path.join("report.html").is_file(),
            problem: None,
            name,
        },
        Err(problem) => RunSummary { title: name.clone(), problem: Some(problem), name, ..RunSummary::default() },
    }
}

fn parsed<T: DeserializeOwned>(query: &str) -> Result<T> {
    serde_urlencoded::from_str(query).map_err(|error| RequestError::invalid(format!("the query is not valid: {error}")))
}

/// The block and the rotation of the match of a run with this number, counted from 1.
fn place(run: &StoredRun, number: u64) -> Option<(u64, usize)> {
    let (mut left, mut before) = (number.checked_sub(1)?, 0);
    for cell in &run.plan.cells {
        let (rotations, blocks) = (cell.seatings.len() as u64, cell.lineups.len() as u64 * run.plan.deals);
        if left < rotations * blocks {
            return Some((before + left / rotations, (left % rotations) as usize));
        }
        (left, before) = (left - rotations * blocks, before + blocks);
    }
    None
}

/// The run folders of a server.
#[derive(Debug)]
pub(crate) struct Runs {
    pub(crate) root: PathBuf,
    pub(crate) catalogue: Arc<Catalogue>,
}

impl Runs {
    /// Answers a request of a page: the list, or the replay of a match.
    pub(crate) fn answer(&self, what: &str, query: &str) -> Result<String> {
        match what {
            "" => {
                let listed: Vec<RunSummary> = folders(&self.root).into_iter().map(summary).collect();
                Ok(serde_json::json!({ "root": self.root.display().to_string(), "runs": listed }).to_string())
            }
            "replay" => {
                let MatchNumber { run, r#match: number } = parsed(query)?;
                let stored = StoredRun::open(&self.folder(&run)?).map_err(RequestError::invalid)?;
                self.check_agents(&stored)?;
                let matches = stored.plan.matches();
                let (block, rotation) = place(&stored, number).ok_or_else(|| {
                    RequestError::missing(format!("the run has matches 1 to {matches}, found {number}"))
                })?;
                let record = stored.replay(block, rotation, self.catalogue.roster()).map_err(RequestError::invalid)?;
                replay_in_json(&record, None)
            }
            _ => Err(RequestError::missing("there is no such page")),
        }
    }

    /// The report of a run.
    pub(crate) fn report(&self, query: &str) -> Result<String> {
        let RunName { run } = parsed(query)?;
        let path = self.folder(&run)?.join("report.html");
        cambio_exec::read_text(&path).map_err(|_| RequestError::missing("this run has no report yet"))
    }

    /// The folder of this name. Only listed names are accepted, so a path cannot leave the root.
    fn folder(&self, name: &str) -> Result<PathBuf> {
        let found = folders(&self.root).remove(name);
        let path = found.ok_or_else(|| RequestError::missing(format!("there is no run folder `{name}`")))?;
        refuse_links(&path).map_err(RequestError::invalid)?;
        Ok(path)
    }

    /// Fails if an agent of the run starts a program, reads a file or may search for long, unless the settings allow this agent.
    fn check_agents(&self, run: &StoredRun) -> Result<()> {
        run.plan.agents.iter().try_for_each(|agent| self.catalogue.stored_agent(&agent.spec).map(drop))
    }
}
