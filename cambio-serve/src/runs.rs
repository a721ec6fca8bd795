//! The run folders under a root: their reports and replays of their matches.

use std::collections::BTreeMap;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::IntoResponse as _;
use axum::routing::get;
use cambio_sim::{StoredMatch, StoredRun};
use cambio_view::{quoted, replay_in_json};
use serde::{Deserialize, Serialize};

use crate::answer::{ApiError, ApiResult, aside, json, json_text};
use crate::app_state::{AppState, Shared};
use crate::match_index::{MatchFilter, seats_of};
use crate::match_records::may_play;
use crate::request_guard::STORED_POLICY;

/// The maximum number of folders in the list, and their maximum depth below the root.
const FOLDERS: usize = 200;
const DEPTH: usize = 2;

pub(crate) fn router() -> Router<Arc<AppState>> {
    Router::new().route("/api/runs", get(list)).route("/api/runs/film", get(replay)).route("/runs/report", get(report))
}

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

/// The run folders under a root, by relative path.
fn folders(root: &Path) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    let mut open = vec![(root.to_owned(), String::new(), 0)];
    while let Some((path, name, depth)) = open.pop() {
        if path.join("spec.lock.json").is_file() {
            found.insert(if name.is_empty() { ".".to_owned() } else { name }, path);
        } else if depth < DEPTH {
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            // Symbolic links are skipped, because they may lead out of the root.
            for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
                let Ok(own) = entry.file_name().into_string() else { continue };
                let below = if name.is_empty() { own } else { format!("{name}/{own}") };
                open.push((entry.path(), below, depth + 1));
            }
        }
        if found.len() >= FOLDERS {
            break;
        }
    }
    found
}

/// The folder of this name. Only listed names are accepted, so a path cannot leave the root.
pub(crate) fn folder(state: &AppState, name: &str) -> Result<PathBuf, ApiError> {
    let found = folders(&state.runs).remove(name);
    let path = found.ok_or_else(|| ApiError(StatusCode::NOT_FOUND, format!("there is no run folder `{name}`")))?;
    refuse_links(&path).map_err(ApiError::bad)?;
    Ok(path)
}

/// Fails if an entry of a run folder is a symbolic link, because the link may lead out of the root.
fn refuse_links(path: &Path) -> Result<(), String> {
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

async fn list(State(state): Shared) -> ApiResult {
    let listed = aside("this is a bug in cambio", move || {
        let root = state.runs.display().to_string();
        let open = |path: &Path| {
            refuse_links(path)?;
            StoredRun::open(path).map_err(|error| error.to_string())
        };
        let read = |(name, path): (String, PathBuf)| match open(&path) {
            Ok(run) => RunSummary {
                title: if run.plan.name.is_empty() { name.clone() } else { run.plan.name.clone() },
                agents: run.plan.agents.iter().map(|agent| agent.label.clone()).collect(),
                rules: run.plan.cells.iter().map(|cell| format!("{} at {}", cell.rules.name(), cell.seats)).collect(),
                matches: run.matches(),
                of: run.plan.matches(),
                report: path.join("report.html").is_file(),
                problem: None,
                name,
            },
            Err(problem) => RunSummary { title: name.clone(), problem: Some(problem), name, ..RunSummary::default() },
        };
        let listed: Vec<RunSummary> = folders(&state.runs).into_iter().map(read).collect();
        Ok(serde_json::json!({ "root": root, "runs": listed }))
    });
    Ok(json(&listed.await?))
}

#[derive(Deserialize)]
struct RunName {
    run: String,
}

async fn report(State(state): Shared, Query(name): Query<RunName>) -> ApiResult {
    let text = aside("this is a bug in cambio", move || {
        let path = folder(&state, &name.run)?;
        let page = cambio_exec::read_text(&path.join("report.html"))
            .map_err(|_| ApiError::missing("this run has no report yet"))?;
        let Ok(run) = StoredRun::open(&path) else { return Ok(page) };
        Ok(page.replacen("<main>", &format!("<main>\n{}", match_links(&name.run, &run)), 1))
    });
    let head = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8".parse().expect("a type")),
        (header::CONTENT_SECURITY_POLICY, STORED_POLICY),
    ];
    Ok((head, text.await?).into_response())
}

/// The lists of matches that a report links to: the property, and the words of the link.
const LISTS: [(&str, &str); 7] = [
    ("all", "all"),
    ("failed", "failed call"),
    ("wrong", "wrong snap"),
    ("foreign", "snap of another seat's card"),
    ("guess", "guessed snap"),
    ("swing", "largest swing first"),
    ("long", "most turns first"),
];

/// Links from the report of a run to the lists of its matches. The file does not contain them, because a page from disk has no server.
fn match_links(name: &str, run: &StoredRun) -> String {
    let row = |head: &str, agent: &str| {
        let links = LISTS.map(|(kind, words)| {
            let query = serde_urlencoded::to_string([("run", name), ("kind", kind), ("agent", agent)]);
            let query = query.expect("texts can be encoded");
            format!("<td><a href=\"../runs.html?{}\">{words}</a></td>", quoted(&query))
        });
        format!("<tr><th scope=\"row\">{}</th>{}</tr>\n", quoted(head), links.concat())
    };
    let agents: String = run.plan.agents.iter().map(|agent| row(&agent.label, &agent.label)).collect();
    format!(
        "<details class=\"more\" id=\"matches\">\n<summary><h3>Watch the matches</h3></summary>\n\
         <div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Lists of matches\">\n<table class=\"words\">\n\
         <caption>Lists of the matches of each agent. Each match opens in the viewer.</caption>\n<tbody>\n{}{agents}</tbody>\n\
         </table>\n</div>\n</details>",
        row("any agent", "")
    )
}

/// The property by which a match was found, and the agent that has it; empty for any agent.
#[derive(Deserialize)]
struct MatchProperty {
    kind: Option<MatchFilter>,
    #[serde(default)]
    agent: String,
}

async fn replay(
    State(state): Shared,
    Query(name): Query<RunName>,
    Query(which): Query<StoredMatch>,
    Query(MatchProperty { kind, agent }): Query<MatchProperty>,
) -> ApiResult {
    let own = Arc::clone(&state);
    let made = state.replays.run(move |_| {
        let run = StoredRun::open(&folder(&own, &name.run)?).map_err(ApiError::bad)?;
        may_play(&own.catalogue, &run)?;
        let record = which.play(run, own.catalogue.roster()).map_err(ApiError::bad)?;
        let names = record.fields["agents"].as_array().into_iter().flatten();
        let seats = seats_of(names.map(|name| name.as_str().unwrap_or_default()), &agent);
        replay_in_json(&record, kind.and_then(|kind| kind.first_decision(&record, seats))).map_err(ApiError::from)
    });
    Ok(json_text(made.await??))
}
