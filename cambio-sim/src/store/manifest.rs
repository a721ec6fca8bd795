//! The manifest of a run: what is played, by which program, and how it ended.

use std::path::Path;

use cambio_core::rng::Seed;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::programs::Programs;
use crate::plan::{Cell, Lineup, Plan, Rotations, Shard};

/// The format of run folders.
pub(crate) const FORMAT: &str = "cambio-run/2";

/// How a run may have ended.
const OUTCOMES: [&str; 6] = ["begun", "complete", "complete share", "interrupted", "fault", "unwritable"];

/// The fields of a manifest, in their order. It is read field by field, so that `verify` can say what is wrong with a manifest
/// that somebody changed.
#[derive(Serialize)]
pub(super) struct Manifest<'r> {
    #[serde(flatten)]
    pub(super) facts: Facts<'r>,
    #[serde(flatten)]
    pub(super) build: &'r Build,
    pub(super) outcome: &'r str,
    /// The secret from which the chance came, told when all is played.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) secret: Option<String>,
    pub(super) matches: u64,
    /// The BLAKE3 of `spec.toml`.
    pub(super) spec: String,
    pub(super) programs: &'r Programs,
}

impl Manifest<'_> {
    /// The text of `manifest.json`. Fields of `before` that this program does not know are kept.
    pub(super) fn to_text(&self, before: &Map<String, Value>) -> String {
        let mut manifest = to_object(self);
        for (field, value) in before {
            manifest.entry(field).or_insert_with(|| value.clone());
        }
        format!("{:#}\n", Value::Object(manifest))
    }
}

fn to_object(fields: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(fields) {
        Ok(Value::Object(object)) => object,
        other => unreachable!("a manifest is an object with text for keys, not {other:?}"),
    }
}

/// The program that began a run.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Build {
    /// The revision of its source.
    revision: Option<String>,
    uncommitted_changes: Option<bool>,
    compiler: Option<String>,
    target: Option<String>,
}

impl Build {
    /// This program.
    pub(crate) fn this() -> Build {
        Build {
            revision: Some(env!("CAMBIO_REVISION").to_owned()),
            uncommitted_changes: Some(env!("CAMBIO_DIRTY") == "true"),
            compiler: Some(env!("CAMBIO_RUSTC").to_owned()),
            target: Some(env!("CAMBIO_TARGET").to_owned()),
        }
    }

    /// The program that a manifest names.
    pub(crate) fn of(manifest: &Value) -> Build {
        Build::deserialize(manifest).unwrap_or_default()
    }

    /// The revision of its source.
    pub(crate) fn revision(&self) -> &str {
        self.revision.as_deref().unwrap_or("unknown")
    }
}

/// The fields of a manifest that follow from the plan.
#[derive(Serialize)]
pub(super) struct Facts<'p> {
    format: &'static str,
    run_id: String,
    version: &'static str,
    name: &'p str,
    share: Option<Shard>,
    planned_matches: u64,
    /// As text, because not every reader of JSON has whole numbers of 64 bits.
    seed: String,
    /// Only where it is not that of every run.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_seed: Option<String>,
    deals: u64,
    rotations: Rotations,
    agents: Vec<&'p str>,
    tables: Vec<CellFacts<'p>>,
}

/// What a manifest says of a cell.
#[derive(Serialize)]
struct CellFacts<'p> {
    rules: Value,
    seats: usize,
    lineups: Vec<&'p str>,
}

impl<'p> Facts<'p> {
    pub(super) fn of(plan: &'p Plan, shard: Option<Shard>) -> Facts<'p> {
        let cell = |cell: &'p Cell| CellFacts {
            rules: cell.rules.spec().to_json(),
            seats: cell.seats,
            lineups: cell.lineups.iter().map(Lineup::label).collect(),
        };
        Facts {
            format: FORMAT,
            run_id: plan.run_id(),
            version: env!("CARGO_PKG_VERSION"),
            name: &plan.name,
            share: shard,
            planned_matches: plan.matches(),
            seed: plan.seed.to_string(),
            agent_seed: (plan.agent_seed != Seed::AGENTS).then(|| plan.agent_seed.to_string()),
            deals: plan.deals,
            rotations: plan.rotations,
            agents: plan.agents.iter().map(|agent| agent.label.as_str()).collect(),
            tables: plan.cells.iter().map(cell).collect(),
        }
    }
}

/// The errors of a manifest: about the plan, about the experiment as it was given, and about the number of matches of a
/// complete run.
pub(crate) fn flaws(
    manifest: &Value,
    folder: &Path,
    (plan, shard): (&Plan, Option<Shard>),
    spec: &str,
    matches: Option<u64>,
) -> Vec<String> {
    let mut facts = to_object(&Facts::of(plan, shard));
    if !manifest["spec"].is_null() {
        facts.insert("spec".to_owned(), blake3::hash(spec.as_bytes()).to_string().into());
    }
    if let Some(matches) = matches {
        facts.insert("matches".to_owned(), matches.into());
    }
    let file = folder.join("manifest.json");
    let is_wrong = |(field, fact): &(&String, &Value)| manifest[field.as_str()] != **fact;
    let wrong = facts.iter().filter(is_wrong);
    let mut flaws: Vec<String> = wrong
        .map(|(field, _)| match field.as_str() {
            "spec" => format!("{} is not the file that was given", folder.join("spec.toml").display()),
            field => format!("{}: `{field}` is not what the lock and the ledger give", file.display()),
        })
        .collect();
    let outcome = &manifest["outcome"];
    if !OUTCOMES.iter().any(|word| outcome == word) {
        flaws.push(format!("{}: `outcome` is {outcome}; allowed is one of {}", file.display(), OUTCOMES.join(", ")));
    }
    flaws
}
