//! Serialization of plans: `spec.lock.json`.

use cambio_core::RulesSpec;
use cambio_core::rng::Seed;
use cambio_core::text::excerpt;
use itertools::Itertools;
use serde::Deserialize;
use serde_json::{Value, json};

use super::baseline::Baseline;
use super::blocks::{Cell, Hypothesis, MOST_MATCHES, Plan, PlannedAgent, matches_in};
use super::experiment::Rotations;
use super::lineups::Lineup;

/// The format identifier of `spec.lock.json`.
pub(crate) const FORMAT: &str = "cambio-lock/1";

/// An error while reading the lock of a plan.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// The text has another format.
    #[error("`format` must be \"{FORMAT}\", found {0}")]
    Format(Value),
    /// The text does not describe a plan.
    #[error("{0}")]
    Text(String),
}

/// Removes the listed fields of an object that are null.
fn omit_nulls(mut object: Value, fields: &[&str]) -> Value {
    let nulls = |name: &String, value: &mut Value| !value.is_null() || !fields.contains(&name.as_str());
    object.as_object_mut().expect("it is an object").retain(nulls);
    object
}

/// A field of an object, if it has the type.
fn field<'v, T: Deserialize<'v>>(object: &'v Value, name: &str) -> Option<T> {
    T::deserialize(&object[name]).ok()
}

/// The plan with these fields, if they are valid.
fn planned(lock: &Value) -> Option<Plan> {
    let labels: Vec<String> = field(lock, "agents")?;
    let specs: Vec<String> = field::<Option<_>>(lock, "specs")?.unwrap_or_else(|| labels.clone());
    let (seers, reproducible): (Vec<usize>, Vec<usize>) = (field(lock, "seers")?, field(lock, "reproducible")?);
    let (deals, rotations): (u64, Rotations) = (field(lock, "deals")?, field(lock, "rotations")?);
    let cell = |cell: &Value| {
        let (seats, lineups): (usize, Vec<Vec<usize>>) = (field(cell, "seats")?, field(cell, "lineups")?);
        let fits = |lineup: &Vec<usize>| lineup.len() == seats && lineup.iter().all(|&agent| agent < labels.len());
        ((2..=8).contains(&seats) && lineups.iter().all(fits)).then_some(())?;
        let focal: Vec<usize> = field::<Option<_>>(cell, "focal")?.unwrap_or_default();
        let rules = RulesSpec::from_json(&cell["rules"]).and_then(RulesSpec::validate).ok()?;
        Some(Cell {
            rules,
            seats,
            baseline: field::<Option<String>>(cell, "baseline")?.map(|hash| Baseline::with_hash(hash, &rules, seats)),
            lineups: lineups.into_iter().map(|lineup| Lineup::new(lineup, &labels)).collect(),
            focal,
            seatings: rotations.seatings(seats),
        })
    };
    let cells: Vec<Cell> = lock["tables"].as_array()?.iter().map(cell).collect::<Option<_>>()?;
    (matches_in(&cells, deals) <= MOST_MATCHES && specs.len() == labels.len()).then_some(())?;
    let hypothesis: Option<Hypothesis> = field(lock, "hypothesis")?;
    let is_usable = |hypothesis: &Hypothesis| {
        hypothesis.table < cells.len() && hypothesis.pair.iter().all(|agent| *agent < labels.len())
    };
    hypothesis.iter().all(is_usable).then_some(())?;
    let agent = |(index, (label, spec)): (usize, (&String, String))| PlannedAgent {
        label: label.clone(),
        spec,
        sees_all: seers.contains(&index),
        reproducible: reproducible.contains(&index),
    };
    Some(Plan {
        cells,
        version: field(lock, "version")?,
        name: field(lock, "name")?,
        seed: field::<&str>(lock, "seed")?.parse().ok()?,
        agent_seed: field::<Option<&str>>(lock, "agent_seed")?.map_or(Ok(Seed::AGENTS), str::parse).ok()?,
        deals,
        rotations,
        unit: field(lock, "unit")?,
        payoff: field(lock, "payoff")?,
        faults: field(lock, "faults")?,
        records: field(lock, "records")?,
        compress: field(lock, "compress")?,
        analysis: field(lock, "analysis")?,
        seat_effects: field(lock, "seat_effects")?,
        anchor: field(lock, "anchor")?,
        hypothesis,
        agents: labels.iter().zip_eq(specs).enumerate().map(agent).collect(),
    })
}

impl Plan {
    /// The content of `spec.lock.json`: everything that the rows depend on, in a canonical form. The run id is the hash
    /// of the text, so any change here changes every run id.
    pub fn lock(&self) -> String {
        let numbers = |has: fn(&PlannedAgent) -> bool| -> Vec<usize> {
            self.agents.iter().enumerate().filter(|(_, agent)| has(agent)).map(|(index, _)| index).collect()
        };
        let specs: Vec<&str> = self.agents.iter().map(|agent| agent.spec.as_str()).collect();
        let table = |cell: &Cell| {
            let fields = json!({
                "rules": cell.rules.spec().to_table(),
                "seats": cell.seats,
                "lineups": cell.lineups.iter().map(Lineup::agents).collect::<Vec<_>>(),
                // Omitted if no focal agent is in the field.
                "focal": (!cell.focal.is_empty()).then_some(&cell.focal),
                // Omitted if the luck is not measured.
                "baseline": cell.baseline.as_ref().map(Baseline::hash),
            });
            omit_nulls(fields, &["baseline", "focal"])
        };
        let fields = json!({
            "format": FORMAT,
            "version": self.version,
            "name": self.name,
            // A string, because some JSON readers do not support 64-bit integers.
            "seed": self.seed.to_string(),
            // Omitted if the seed is the default.
            "agent_seed": self.said_agent_seed(),
            "deals": self.deals,
            "rotations": self.rotations,
            "unit": self.unit,
            "payoff": self.payoff,
            "faults": self.faults,
            "records": self.records,
            "compress": self.compress,
            "analysis": self.analysis,
            "seat_effects": self.seat_effects,
            "anchor": self.anchor,
            "agents": self.agents.iter().map(|agent| &agent.label).collect::<Vec<_>>(),
            // Omitted if no agent has a name.
            "specs": self.agents.iter().any(|agent| agent.spec != agent.label).then_some(specs),
            // The numbers of the agents that see hidden cards, and of those that are reproducible.
            "seers": numbers(|agent| agent.sees_all),
            "reproducible": numbers(|agent| agent.reproducible),
            "tables": self.cells.iter().map(table).collect::<Vec<_>>(),
            // Omitted if the experiment has none.
            "hypothesis": self.hypothesis,
        });
        format!("{}\n", omit_nulls(fields, &["agent_seed", "hypothesis", "specs"]))
    }

    /// The run id: BLAKE3 of the lock.
    pub fn run_id(&self) -> String {
        blake3::hash(self.lock().as_bytes()).to_hex().to_string()
    }

    /// Whether another plan differs at most in the version of the program that made it.
    pub fn is_same_run(&self, other: &Plan) -> bool {
        Plan { version: other.version.clone(), ..self.clone() }.lock() == other.lock()
    }

    /// Reads a plan from its lock. [`PlayablePlan`](super::PlayablePlan) has an example.
    ///
    /// # Errors
    /// If the text is not a lock.
    pub fn unlock(text: &str) -> Result<Plan, LockError> {
        let lock: Value = serde_json::from_str(text).map_err(|error| LockError::Text(format!("not JSON: {error}")))?;
        if lock["format"] != FORMAT {
            return Err(LockError::Format(lock["format"].clone()));
        }
        let flaw = |what: &str| LockError::Text(what.to_owned());
        let plan = planned(&lock).ok_or_else(|| flaw("a field is missing or invalid"))?;
        if plan.lock() != text {
            return Err(flaw("it has been modified, or has fields that this version of cambio does not know"));
        }
        Ok(plan)
    }
}

/// The differences between two locks: the fields with both values, or of the tables with their names.
pub(crate) fn lock_differences(one: &str, other: &str) -> Vec<String> {
    type Fields = serde_json::Map<String, Value>;
    let (Ok(one), Ok(other)) = (serde_json::from_str::<Fields>(one), serde_json::from_str::<Fields>(other)) else {
        return vec!["the lock cannot be read".to_owned()];
    };
    let shown = |value: Option<&Value>| match value {
        Some(Value::Array(tables)) if tables.iter().all(Value::is_object) => {
            tables.iter().map(|table| format!("{}, {} seats", table["rules"]["name"], table["seats"])).join("; ")
        }
        value => excerpt(&value.unwrap_or(&Value::Null).to_string()).up_to(200).to_string(),
    };
    let differs = |name: &&String| one.get(*name) != other.get(*name);
    let difference = |name: &String| match [&one, &other].map(|fields| shown(fields.get(name))) {
        [was, now] if was == now => format!("`{name}` has changed"),
        [was, now] => format!("`{name}` was {was} and is now {now}"),
    };
    one.keys().chain(other.keys()).unique().filter(differs).map(difference).collect()
}

#[cfg(test)]
mod tests;
