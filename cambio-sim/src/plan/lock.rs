//! Serialization of plans: `spec.lock.json`.

use cambio_core::RulesSpec;
use cambio_core::rng::Seed;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::baseline::Baseline;
use super::blocks::{Cell, MOST_MATCHES, Plan, PlannedAgent, matches_in};
use super::experiment::{FaultPolicy, Payoff, Rotations, Unit};
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

/// The fields of `spec.lock.json`, in their order. The run id is the hash of the text, so any change here changes every
/// run id.
#[derive(Deserialize, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "mirrors the fields of the experiment")]
struct Lock {
    format: String,
    version: String,
    name: String,
    /// A string, because some JSON readers do not support 64-bit integers.
    seed: String,
    /// Omitted if the seed is the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent_seed: Option<String>,
    /// Omitted if false. If true, `seed` is the commitment of the secret.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    secret: bool,
    deals: u64,
    rotations: Rotations,
    unit: Unit,
    payoff: Payoff,
    faults: FaultPolicy,
    records: bool,
    compress: bool,
    analysis: bool,
    seat_effects: bool,
    anchor: Option<usize>,
    agents: Vec<String>,
    /// The numbers of the agents that see hidden cards.
    seers: Vec<usize>,
    /// The numbers of the agents that are reproducible.
    reproducible: Vec<usize>,
    tables: Vec<LockedCell>,
}

/// A cell in a lock.
#[derive(Deserialize, Serialize)]
struct LockedCell {
    rules: Value,
    seats: usize,
    lineups: Vec<Vec<usize>>,
    /// The hash of the baseline for the luck of the cards. Omitted if the luck is not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    baseline: Option<String>,
}

impl Lock {
    fn of(plan: &Plan) -> Lock {
        let cell = |cell: &Cell| LockedCell {
            rules: cell.rules.spec().to_table(),
            seats: cell.seats,
            lineups: cell.lineups.iter().map(|lineup| lineup.agents().to_vec()).collect(),
            baseline: cell.baseline.as_ref().map(|baseline| baseline.hash().to_owned()),
        };
        let indices = |has: fn(&PlannedAgent) -> bool| {
            plan.agents.iter().enumerate().filter(|(_, agent)| has(agent)).map(|(index, _)| index).collect()
        };
        Lock {
            format: FORMAT.to_owned(),
            version: plan.version.clone(),
            name: plan.name.clone(),
            seed: plan.seed.to_string(),
            agent_seed: plan.said_agent_seed(),
            secret: plan.secret,
            deals: plan.deals,
            rotations: plan.rotations,
            unit: plan.unit,
            payoff: plan.payoff,
            faults: plan.faults,
            records: plan.records,
            compress: plan.compress,
            analysis: plan.analysis,
            seat_effects: plan.seat_effects,
            anchor: plan.anchor,
            agents: plan.agents.iter().map(|agent| agent.label.clone()).collect(),
            seers: indices(|agent| agent.sees_all),
            reproducible: indices(|agent| agent.reproducible),
            tables: plan.cells.iter().map(cell).collect(),
        }
    }

    fn into_plan(self) -> Option<Plan> {
        let agent = |(index, label): (usize, &String)| PlannedAgent {
            label: label.clone(),
            sees_all: self.seers.contains(&index),
            reproducible: self.reproducible.contains(&index),
        };
        let agents: Vec<PlannedAgent> = self.agents.iter().enumerate().map(agent).collect();
        let cell = |cell: LockedCell| {
            let LockedCell { rules, seats, lineups, baseline } = cell;
            let fits = |lineup: &Vec<usize>| lineup.len() == seats && lineup.iter().all(|&agent| agent < agents.len());
            ((2..=8).contains(&seats) && lineups.iter().all(fits)).then_some(())?;
            let rules = RulesSpec::from_json(&rules).and_then(RulesSpec::validate).ok()?;
            Some(Cell {
                rules,
                seats,
                baseline: baseline.map(|hash| Baseline::with_hash(hash, &rules, seats)),
                lineups: lineups.into_iter().map(|lineup| Lineup::new(lineup, &self.agents)).collect(),
                seatings: self.rotations.seatings(seats),
            })
        };
        let cells: Vec<Cell> = self.tables.into_iter().map(cell).collect::<Option<_>>()?;
        (matches_in(&cells, self.deals) <= MOST_MATCHES).then_some(())?;
        Some(Plan {
            cells,
            version: self.version,
            name: self.name,
            seed: self.seed.parse().ok()?,
            agent_seed: self.agent_seed.map_or(Ok(Seed::AGENTS), |seed| seed.parse()).ok()?,
            secret: self.secret,
            deals: self.deals,
            rotations: self.rotations,
            unit: self.unit,
            payoff: self.payoff,
            faults: self.faults,
            records: self.records,
            compress: self.compress,
            analysis: self.analysis,
            seat_effects: self.seat_effects,
            anchor: self.anchor,
            agents,
        })
    }
}

impl Plan {
    /// The content of `spec.lock.json`: everything that the rows depend on, in a canonical form.
    #[expect(clippy::missing_panics_doc, reason = "strings, numbers and lists can be serialized")]
    pub fn lock(&self) -> String {
        serde_json::to_string(&Lock::of(self)).expect("strings, numbers and lists can be serialized") + "\n"
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
        let plan = serde_json::from_value(lock).ok().and_then(Lock::into_plan);
        let plan = plan.ok_or_else(|| flaw("a field is missing or invalid"))?;
        if plan.lock() != text {
            return Err(flaw("it has been modified, or has fields that this version of cambio does not know"));
        }
        Ok(plan)
    }
}

/// The differences between two locks: up to five fields, each with its path and both values.
pub(crate) fn lock_differences(one: &str, other: &str) -> Vec<String> {
    fn walk(path: &str, one: &Value, other: &Value, found: &mut Vec<String>) {
        if one == other || found.len() >= 5 {
            return;
        }
        match (one, other) {
            (Value::Object(one), Value::Object(other)) => {
                let join = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
                for key in one.keys().chain(other.keys().filter(|key| !one.contains_key(*key))) {
                    let missing = Value::Null;
                    let (one, other) = (one.get(key).unwrap_or(&missing), other.get(key).unwrap_or(&missing));
                    walk(&join(key), one, other, found);
                }
            }
            (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
                for (index, (one, other)) in one.iter().zip(other).enumerate() {
                    walk(&format!("{path}[{index}]"), one, other, found);
                }
            }
            _ => {
                let short = |value: &Value| {
                    let table = |table: &Value| format!("{}, {} seats", table["rules"]["name"], table["seats"]);
                    if let ("tables", Value::Array(tables)) = (path, value) {
                        return tables.iter().map(table).collect::<Vec<_>>().join("; ");
                    }
                    let text = value.to_string();
                    if text.chars().count() > 60 {
                        format!("{}…", text.chars().take(60).collect::<String>())
                    } else {
                        text
                    }
                };
                found.push(format!("`{path}` was {} and is now {}", short(one), short(other)));
            }
        }
    }
    let (Ok(one), Ok(other)) = (serde_json::from_str(one), serde_json::from_str(other)) else {
        return vec!["the lock cannot be read".to_owned()];
    };
    let mut found = Vec::new();
    walk("", &one, &other, &mut found);
    found
}

#[cfg(test)]
mod tests;
