//! Plans as text: `spec.lock.json`.

use cambio_core::RulesSpec;
use serde_json::{Value, json};

use super::blocks::{Cell, Plan};
use super::experiment::Rotations;
use super::lineups::Lineup;

/// The format of `spec.lock.json`.
const LOCK: &str = "cambio-lock/1";

impl Plan {
    /// The text of `spec.lock.json`: everything that the rows depend on, complete and in one canonical form.
    pub fn lock(&self) -> String {
        let cell = |cell: &Cell| {
            let lineups: Vec<&[usize]> = cell.lineups.iter().map(Lineup::agents).collect();
            json!({ "rules": cell.rules.spec().to_table(), "seats": cell.seats, "lineups": lineups })
        };
        let marks = |marks: &[bool]| -> Vec<usize> { (0..marks.len()).filter(|&agent| marks[agent]).collect() };
        let lock = json!({
            "format": LOCK,
            "version": env!("CARGO_PKG_VERSION"),
            "name": self.name,
            "seed": self.seed.to_string(),
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
            "agents": self.labels,
            "seers": marks(&self.seers),
            "reproducible": marks(&self.reproducible),
            "tables": self.cells.iter().map(cell).collect::<Vec<_>>(),
        });
        format!("{lock}\n")
    }

    /// The run id: BLAKE3 of the lock.
    pub fn run_id(&self) -> String {
        blake3::hash(self.lock().as_bytes()).to_hex().to_string()
    }

    /// Reads a plan back from its lock. It can be summed up; to be played on it needs [`Plan::with_agents`].
    ///
    /// # Errors
    /// If it is not a lock; the sentence says what is wrong with it.
    pub fn unlock(text: &str) -> Result<Plan, String> {
        let lock: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
        if lock["format"] != LOCK {
            return Err(format!("its format is {}; allowed is \"{LOCK}\"", lock["format"]));
        }
        let plan = read_lock(&lock).ok_or("a field is missing or has a value that is not allowed")?;
        if plan.lock() != text {
            return Err("it is not in canonical form, or is of another version".to_owned());
        }
        Ok(plan)
    }
}

fn read_lock(lock: &Value) -> Option<Plan> {
    let list = |value: &Value| -> Option<Vec<usize>> {
        value.as_array()?.iter().map(|place| place.as_u64().map(|place| place as usize)).collect()
    };
    let labels: Vec<String> =
        lock["agents"].as_array()?.iter().map(|label| label.as_str().map(str::to_owned)).collect::<Option<_>>()?;
    let rotations: Rotations = serde_json::from_value(lock["rotations"].clone()).ok()?;
    let marks = |name: &str| -> Option<Vec<bool>> {
        let marked = list(&lock[name])?;
        Some((0..labels.len()).map(|agent| marked.contains(&agent)).collect())
    };
    let cell = |table: &Value| {
        let seats = table["seats"].as_u64()? as usize;
        let lineups = table["lineups"].as_array()?.iter().map(list).collect::<Option<Vec<_>>>()?;
        let fits = |lineup: &Vec<usize>| lineup.len() == seats && lineup.iter().all(|&agent| agent < labels.len());
        (2..=8).contains(&seats).then_some(())?;
        lineups.iter().all(fits).then_some(())?;
        Some(Cell {
            rules: RulesSpec::from_json(&table["rules"]).and_then(RulesSpec::validate).ok()?,
            seats,
            lineups: lineups.into_iter().map(|agents| Lineup::new(agents, &labels)).collect(),
            seatings: rotations.seatings(seats),
        })
    };
    Some(Plan {
        name: lock["name"].as_str()?.to_owned(),
        seed: lock["seed"].as_str()?.parse().ok()?,
        deals: lock["deals"].as_u64()?,
        rotations,
        unit: serde_json::from_value(lock["unit"].clone()).ok()?,
        payoff: serde_json::from_value(lock["payoff"].clone()).ok()?,
        faults: serde_json::from_value(lock["faults"].clone()).ok()?,
        records: lock["records"].as_bool()?,
        compress: lock["compress"].as_bool()?,
        analysis: lock["analysis"].as_bool()?,
        seat_effects: lock["seat_effects"].as_bool()?,
        anchor: lock["anchor"].as_u64().map(|agent| agent as usize),
        seers: marks("seers")?,
        reproducible: marks("reproducible")?,
        cells: lock["tables"].as_array()?.iter().map(cell).collect::<Option<_>>()?,
        labels,
        agents: Vec::new(),
    })
}

/// Where two locks differ: the fields' paths with both values, at most five.
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
                for (place, (one, other)) in one.iter().zip(other).enumerate() {
                    walk(&format!("{path}[{place}]"), one, other, found);
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
