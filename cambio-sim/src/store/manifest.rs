//! The manifest of a run: what is played, by which program, and how it ended.

use std::path::Path;

use serde_json::{Value, json};

use crate::plan::{Cell, Lineup, Plan, Shard};

/// The format of run folders.
pub(crate) const FORMAT: &str = "cambio-run/2";

/// How a run may have ended.
const OUTCOMES: [&str; 6] = ["begun", "complete", "complete share", "interrupted", "fault", "unwritable"];

/// What a manifest says of the program that began the run.
const BUILD: [&str; 4] = ["revision", "uncommitted_changes", "compiler", "target"];

/// The program that began a run.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Build([Value; 4]);

impl Build {
    /// This program.
    pub(crate) fn this() -> Build {
        let is_dirty = env!("CAMBIO_DIRTY") == "true";
        Build([
            env!("CAMBIO_REVISION").into(),
            is_dirty.into(),
            env!("CAMBIO_RUSTC").into(),
            env!("CAMBIO_TARGET").into(),
        ])
    }

    /// The program that a manifest names.
    pub(crate) fn of(manifest: &Value) -> Build {
        Build(BUILD.map(|field| manifest[field].clone()))
    }

    /// The revision of its source.
    pub(crate) fn revision(&self) -> &str {
        self.0[0].as_str().unwrap_or("unknown")
    }

    /// Names it in a manifest.
    pub(crate) fn tell(&self, manifest: &mut Value) {
        for (field, value) in BUILD.iter().zip(&self.0) {
            manifest[*field] = value.clone();
        }
    }
}

/// What a manifest says that follows from the plan.
pub(crate) fn facts(plan: &Plan, shard: Option<Shard>) -> Value {
    let cell = |cell: &Cell| {
        let lineups: Vec<&str> = cell.lineups.iter().map(Lineup::label).collect();
        json!({ "rules": cell.rules.spec().to_json(), "seats": cell.seats, "lineups": lineups })
    };
    json!({
        "format": FORMAT,
        "run_id": plan.run_id(),
        "version": env!("CARGO_PKG_VERSION"),
        "name": plan.name,
        "share": shard.map(|shard| json!({ "index": shard.index, "of": shard.of })),
        "planned_matches": plan.matches(),
        "seed": plan.seed.to_string(),
        "deals": plan.deals,
        "rotations": plan.rotations,
        "agents": plan.agents.iter().map(|agent| &agent.label).collect::<Vec<_>>(),
        "tables": plan.cells.iter().map(cell).collect::<Vec<_>>(),
    })
}

/// What a manifest says that is not so: of the plan, of the experiment as it was given, and, of a run that is complete, of
/// how many matches there are.
pub(crate) fn flaws(
    manifest: &Value,
    folder: &Path,
    (plan, shard): (&Plan, Option<Shard>),
    spec: &str,
    matches: Option<u64>,
) -> Vec<String> {
    let mut facts = facts(plan, shard);
    if !manifest["spec"].is_null() {
        facts["spec"] = blake3::hash(spec.as_bytes()).to_string().into();
    }
    if let Some(matches) = matches {
        facts["matches"] = matches.into();
    }
    let file = folder.join("manifest.json");
    let is_wrong = |(field, fact): &(&String, &Value)| manifest[field.as_str()] != **fact;
    let wrong = facts.as_object().into_iter().flatten().filter(is_wrong);
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
