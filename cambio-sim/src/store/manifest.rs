//! The manifest of a run: the plan, the program and the outcome.

use std::collections::BTreeMap;
use std::path::Path;

use cambio_agents::{AgentSpec, Roster};
use cambio_exec::{open_regular, write_whole};
use itertools::Itertools;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::disk::RunError;
use crate::object;
use crate::plan::{Cell, Lineup, Plan, PlayablePlan, lock_differences};

pub(crate) const FORMAT: &str = "cambio-run/2";

/// The possible outcomes of a run.
const OUTCOMES: [&str; 4] = ["begun", "complete", "interrupted", "fault"];

/// The contents of a manifest besides the facts that the plan determines.
pub(super) struct Manifest<'r> {
    pub(super) build: &'r Build,
    pub(super) outcome: &'r str,
    pub(super) matches: u64,
    /// The BLAKE3 hash of `spec.toml`.
    pub(super) spec: String,
    pub(super) programs: &'r Programs,
}

impl Manifest<'_> {
    /// The text of `manifest.json`. The last field, `blake3`, is the hash of all bytes before the comma in front of it.
    pub(super) fn to_text(&self, plan: &Plan) -> String {
        let mut fields = facts(plan);
        fields.extend(object(json!(self.build)));
        fields.insert("outcome".to_owned(), self.outcome.into());
        fields.extend(object(json!({ "matches": self.matches, "spec": self.spec, "programs": self.programs })));
        fields.extend(self.programs.folder.iter().map(|folder| ("folder".to_owned(), folder.as_str().into())));
        let fields = format!("{:#}", Value::Object(fields));
        let body = fields.strip_suffix("\n}").expect("a manifest has fields");
        format!("{body},\n  \"blake3\": \"{}\"\n}}\n", blake3::hash(body.as_bytes()))
    }

    pub(super) fn write(&self, folder: &Path, plan: &Plan) -> Result<(), RunError> {
        Ok(write_whole(&folder.join("manifest.json"), self.to_text(plan).as_bytes())?)
    }
}

/// The fields of a manifest that are determined by the plan. Seeds are strings, because some JSON readers do not support 64-bit
/// integers; the default seed of the agents is omitted.
fn facts(plan: &Plan) -> Map<String, Value> {
    let cell = |cell: &Cell| {
        let lineups: Vec<&str> = cell.lineups.iter().map(Lineup::label).collect();
        json!({ "rules": cell.rules.spec().to_json(), "seats": cell.seats, "lineups": lineups })
    };
    let agents: Vec<&str> = plan.agents.iter().map(|agent| agent.label.as_str()).collect();
    // The field `share` is reserved for parts of a run.
    let mut facts = object(json!({
        "format": FORMAT, "run_id": plan.run_id(), "version": plan.version, "name": plan.name, "share": null,
        "planned_matches": plan.matches(), "seed": plan.seed.to_string(), "agent_seed": plan.said_agent_seed(),
        "deals": plan.deals, "rotations": plan.rotations, "agents": agents,
        "tables": plan.cells.iter().map(cell).collect::<Vec<_>>(),
    }));
    facts.retain(|name, value| name != "agent_seed" || !value.is_null());
    facts
}

/// The BLAKE3 hashes of the files that are named in the bots' commands, by their paths as written.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(transparent)]
pub(crate) struct Programs {
    pub(super) hashes: BTreeMap<String, String>,
    /// The folder in which relative paths start; `None` if there are none.
    #[serde(skip)]
    pub(crate) folder: Option<String>,
}

impl Programs {
    /// The hashes of the current files of these agents. Unreadable files and devices are omitted.
    pub(crate) fn of(agents: &[AgentSpec]) -> Programs {
        let hash = |folder: &Path, path: String| {
            let mut hasher = blake3::Hasher::new();
            hasher.update_reader(open_regular(&folder.join(&path)).ok()?).ok()?;
            Some((path, hasher.finalize().to_string()))
        };
        let files = agents.iter().flat_map(|agent| agent.files().into_iter().map(|path| (agent.folder(), path)));
        let hashes: BTreeMap<_, _> = files.filter_map(|(folder, path)| hash(folder, path)).collect();
        let folder = agents.first().filter(|_| hashes.keys().any(|path| Path::new(path).is_relative()));
        let folder = folder.and_then(|agent| std::fs::canonicalize(Path::new(".").join(agent.folder())).ok());
        let folder = folder.map(|folder| folder.display().to_string());
        Programs { hashes, folder }
    }

    /// Reads the hashes and the folder from a manifest; `None` if the hashes are missing or malformed.
    pub(crate) fn from_json(manifest: &Value) -> Option<Programs> {
        let folder = manifest["folder"].as_str().map(str::to_owned);
        Some(Programs { folder, ..Programs::deserialize(&manifest["programs"]).ok()? })
    }

    /// The roster for the bots and networks of a run: relative paths start in the folder of the run's experiment. If it does not
    /// exist, as on another machine, they start in the working directory.
    pub(crate) fn place(&self, roster: &Roster) -> Roster {
        let folder = self.folder.as_deref().map(Path::new).filter(|folder| folder.is_dir());
        folder.map_or_else(|| roster.clone(), |folder| roster.in_folder(folder))
    }

    /// A message for each changed file.
    pub(crate) fn changes(&self, now: &Programs) -> Vec<String> {
        let became = |path: &String| match (self.hashes.get(path), now.hashes.get(path)) {
            (one, other) if one == other => None,
            (Some(_), None) => Some(format!("the bot's file `{path}` no longer exists")),
            (None, _) => Some(format!("the bot's file `{path}` is new")),
            _ => Some(format!("the bot's file `{path}` has changed")),
        };
        self.hashes.keys().merge(now.hashes.keys()).dedup().filter_map(became).collect()
    }
}

/// Fails if the plan or the bots of a run have changed.
pub(crate) fn refuse_other(
    path: &str,
    (plan, programs): (&Plan, &Programs),
    now: &PlayablePlan,
) -> Result<(), RunError> {
    let mut fields = lock_differences(&plan.lock(), &now.lock());
    fields.extend(programs.changes(&Programs::of(now.specs())));
    if fields.is_empty() {
        return Ok(());
    }
    let fields = fields.join(", ");
    Err(RunError::Other(format!(
        "{path} is a run of another experiment: {fields}; only the same experiment can be resumed"
    )))
}

/// The program that began a run.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Build {
    /// The git revision of the sources.
    revision: Option<String>,
    uncommitted_changes: Option<bool>,
    compiler: Option<String>,
    target: Option<String>,
}

impl Build {
    pub(crate) fn this() -> Build {
        Build {
            revision: Some(env!("CAMBIO_REVISION").to_owned()),
            uncommitted_changes: Some(env!("CAMBIO_DIRTY") == "true"),
            compiler: Some(env!("CAMBIO_RUSTC").to_owned()),
            target: Some(env!("CAMBIO_TARGET").to_owned()),
        }
    }

    pub(crate) fn of(manifest: &Value) -> Build {
        Build::deserialize(manifest).unwrap_or_default()
    }

    pub(crate) fn revision(&self) -> &str {
        self.revision.as_deref().unwrap_or("unknown")
    }
}

/// What the rows of a batch depend on besides its number.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Origin {
    run_id: String,
    /// The git revision of the program.
    revision: String,
    /// The hashes of the files of bots and networks.
    programs: Programs,
}

impl Origin {
    /// The origin of batches that this program plays with these files.
    pub(crate) fn of(plan: &Plan, programs: Programs) -> Origin {
        Origin { run_id: plan.run_id(), revision: Build::this().revision().to_owned(), programs }
    }

    /// The first difference to the origin of a batch, as a clause.
    pub(crate) fn difference(&self, batch: &Origin) -> Option<String> {
        if self.run_id != batch.run_id {
            return Some(format!("is of another plan: its run id is {}, expected {}", batch.run_id, self.run_id));
        }
        if self.revision != batch.revision {
            let (found, expected) = (&batch.revision, &self.revision);
            return Some(format!("is of another program: its revision is {found}, expected {expected}"));
        }
        let changes = self.programs.changes(&batch.programs);
        (!changes.is_empty()).then(|| format!("is of other agents: {}", changes.join(", ")))
    }
}

/// Whether a manifest has the hash at its end.
pub(super) fn is_unchanged(text: &str) -> bool {
    let hash = |body: &str| format!("  \"blake3\": \"{}\"\n}}\n", blake3::hash(body.as_bytes()));
    text.rsplit_once(",\n").is_some_and(|(body, end)| end == hash(body))
}

/// Checks that a manifest has exactly the bytes that this program writes for this plan. Returns a message if not.
pub(super) fn check(text: &str, manifest: &Value, plan: &Plan) -> Result<(), String> {
    for (field, fact) in facts(plan) {
        if manifest[&field] != fact {
            return Err(format!("`{field}` does not match the lock and the ledger"));
        }
    }
    let outcome = &manifest["outcome"];
    let outcome = OUTCOMES.into_iter().find(|word| outcome == word).ok_or_else(|| {
        let found: String = outcome.to_string().chars().take(60).collect();
        format!("`outcome` must be one of {}, found {found}", OUTCOMES.join(", "))
    })?;
    let programs = Programs::from_json(manifest);
    let written = Manifest {
        build: &Build::of(manifest),
        outcome,
        matches: manifest["matches"].as_u64().unwrap_or_default(),
        spec: manifest["spec"].as_str().unwrap_or_default().to_owned(),
        programs: &programs.unwrap_or_default(),
    };
    let written = written.to_text(plan);
    if text == written {
        return Ok(());
    }
    let same = text.split('\n').zip(written.split('\n')).take_while(|(found, wanted)| found == wanted).count();
    Err(format!("line {} has been modified", same + 1))
}
