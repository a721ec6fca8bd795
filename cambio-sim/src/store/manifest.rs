//! The manifest of a run: what is played, by which program, and how it ended.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::programs::Programs;
use crate::plan::{Cell, Lineup, Plan, Rotations, Secret, Shard};

/// The format of run folders.
pub(crate) const FORMAT: &str = "cambio-run/2";

/// How a run may have ended.
const OUTCOMES: [&str; 6] = ["begun", "complete", "complete share", "interrupted", "fault", "unwritable"];

/// The fields of a manifest, in their order.
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
    /// The text of `manifest.json`: the fields, and as the last one `blake3`, the hash of the bytes before its comma.
    pub(super) fn to_text(&self) -> String {
        let fields = format!("{:#}", Value::Object(to_object(self)));
        let body = fields.strip_suffix("\n}").expect("a manifest has fields");
        format!("{body},\n  \"blake3\": \"{}\"\n}}\n", blake3::hash(body.as_bytes()))
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
            agent_seed: plan.said_agent_seed(),
            deals: plan.deals,
            rotations: plan.rotations,
            agents: plan.agents.iter().map(|agent| agent.label.as_str()).collect(),
            tables: plan.cells.iter().map(cell).collect(),
        }
    }
}

/// Checks that a manifest is, byte for byte, what this program would have written for this plan.
///
/// # Errors
/// What is wrong, for the sentence that it is damaged.
pub(super) fn check(text: &str, manifest: &Value, plan: &Plan, shard: Option<Shard>) -> Result<(), String> {
    if let Some(told) = manifest["secret"].as_str() {
        let secret = told.parse::<Secret>().ok().filter(|secret| plan.secret && secret.commitment() == plan.seed);
        secret.ok_or_else(|| format!("`secret` is not the one with the commitment {}", plan.seed))?;
    }
    let facts = Facts::of(plan, shard);
    for (field, fact) in to_object(&facts) {
        if manifest[&field] != fact {
            return Err(format!("`{field}` is not what the lock and the ledger give"));
        }
    }
    let outcome = &manifest["outcome"];
    let outcome = OUTCOMES.into_iter().find(|word| outcome == word).ok_or_else(|| {
        let found: String = outcome.to_string().chars().take(60).collect();
        format!("`outcome` is {found}; allowed is one of {}", OUTCOMES.join(", "))
    })?;
    let programs = Programs::from_json(&manifest["programs"]);
    let written = Manifest {
        facts,
        build: &Build::of(manifest),
        outcome,
        secret: manifest["secret"].as_str().map(str::to_owned),
        matches: manifest["matches"].as_u64().unwrap_or_default(),
        spec: manifest["spec"].as_str().unwrap_or_default().to_owned(),
        programs: &programs.unwrap_or_default(),
    };
    let written = written.to_text();
    if text == written {
        return Ok(());
    }
    let same = text.split('\n').zip(written.split('\n')).take_while(|(found, wanted)| found == wanted).count();
    Err(format!("line {} is not what was written", same + 1))
}
