//! The result of a tuning: `tuning.json`.

use std::fmt;

use cambio_core::rng::Seed;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, from_value, json};

use super::{ResponsePoint, Values};
use crate::digest::FEW_DEALS;
use crate::object;
use crate::plan::Payoff;

/// The result of a tuning: the object of `tuning.json`. The response curve is stored in `curve.csv`.
///
/// ```
/// use cambio_sim::tune::{TuningOutcome, TuningResult};
///
/// let text = r#"{"version":"0.1.0","agent":"greedy(call_at=?)","ranges":["0..15"],"rules":"classic","seats":2,
///     "field":["greedy"],"payoff":"rank_points","seed":"1","method":"sweep","command":"cambio tune …","blocks":16000,
///     "best":"greedy(call_at=6)","best_value":"6","estimate":0.509,"validation":null}"#;
/// let result: TuningResult = serde_json::from_str(text)?;
/// let TuningOutcome::AgainstField(found) = &result.found else { panic!("its field is not `self`") };
/// assert_eq!((found.best.as_str(), found.validation.as_ref()), ("greedy(call_at=6)", None));
/// assert_eq!(serde_json::to_string(&result)?, text.replace("\n    ", ""));
///
/// let error = serde_json::from_str::<TuningResult>(&text.replace(r#""blocks":16000,"#, "")).unwrap_err();
/// assert_eq!(error.to_string(), "a result against a field: missing field `blocks`");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize)]
#[serde(try_from = "Object", into = "Object")]
pub struct TuningResult {
    /// The version of the program.
    pub version: String,
    /// The agent, with a question mark for each tuned value.
    pub agent: String,
    /// The range of each question mark, as entered.
    pub ranges: Vec<String>,
    /// The name of a preset, or the path of a rule file.
    pub rules: String,
    /// The number of seats.
    pub seats: usize,
    /// The payoff that was maximized; points are minimized.
    pub payoff: Payoff,
    /// The seed of the deals.
    pub seed: Seed,
    /// Whether each agent of the field is a field of its own, and a mean is over all of them. In `tuning.json` only if it is
    /// true.
    pub mixture: bool,
    /// Whether the means of the curve are without the luck of the cards. In `tuning.json` only if it is true.
    pub adjusted: bool,
    /// Whether the tuning was interrupted, so that the best value is only the best so far. In `tuning.json` only if it is true.
    pub undecided: bool,
    /// The command that repeats the tuning.
    pub command: String,
    /// The best values.
    pub found: TuningOutcome,
}

/// The probability of a candidate to beat one opponent from which on the field is far weaker.
const FAR: f64 = 0.75;

impl TuningResult {
    /// The name of the parameter at each question mark: the names of the last columns of `curve.csv`. A name that another
    /// column has is followed by the number of the question mark.
    pub fn parameters(&self) -> Vec<String> {
        let taken = object(ResponsePoint::default());
        let pieces: Vec<&str> = self.agent.split('?').collect();
        let mut names: Vec<String> = Vec::new();
        for (number, piece) in pieces[..pieces.len() - 1].iter().enumerate() {
            let name = piece.trim_end().trim_end_matches('=').rsplit(['(', ',', '"']).next().unwrap_or_default().trim();
            let is_free = !name.is_empty() && !taken.contains_key(name) && names.iter().all(|other| other != name);
            names.push(if is_free { name.to_owned() } else { format!("{name}_{}", number + 1) });
        }
        names
    }

    /// Reasons for doubt about the best value, as sentences: the value is at an end of its range, it has few deals, or the
    /// field is far weaker than the candidates. `points` are the rows of `curve.csv`.
    pub fn warnings(&self, points: &[ResponsePoint]) -> Vec<String> {
        if let TuningOutcome::AgainstItself(found) = &self.found
            && found.symmetric_equilibria.len() == found.values.len()
        {
            let what =
                "no value is distinguishable from a best reply to itself, so the tuning shows nothing; play more deals";
            return vec![what.to_owned()];
        }
        let (chosen, what): (&[String], _) = match &self.found {
            TuningOutcome::AgainstField(found) => (std::slice::from_ref(&found.best_value), "best value"),
            TuningOutcome::AgainstItself(found) => (&found.symmetric_equilibria, "symmetric equilibrium"),
        };
        let ranges: Vec<Values> = self.ranges.iter().filter_map(|range| range.parse().ok()).collect();
        let mut warnings = Vec::new();
        for values in chosen {
            for ((value, range), name) in values.split(' ').zip(&ranges).zip(self.parameters()) {
                let is_at = |end: f64| value.parse() == Ok(range.at(end));
                let end = match (is_at(0.0), is_at(1.0)) {
                    (true, false) => ("lowest", "lower"),
                    (false, true) => ("highest", "higher"),
                    _ => continue,
                };
                warnings.push(format!(
                    "the {what} {value} of `{name}` is the {} of the range {range}; if {} values are valid, extend the range",
                    end.0, end.1
                ));
            }
        }
        warnings.extend(self.few_deals(points));
        warnings.extend(self.weak_field(points));
        warnings
    }

    fn few_deals(&self, points: &[ResponsePoint]) -> Option<String> {
        let deals = match &self.found {
            TuningOutcome::AgainstField(found) => points.iter().find(|point| point.agent == found.best)?.deals,
            TuningOutcome::AgainstItself(found) => found.deals,
        };
        (deals < FEW_DEALS)
            .then(|| format!("the best value has {deals} deals; intervals from fewer than {FEW_DEALS} deals are rough"))
    }

    fn weak_field(&self, points: &[ResponsePoint]) -> Option<String> {
        let TuningOutcome::AgainstField(found) = &self.found else { return None };
        let limit = match self.payoff {
            Payoff::RankPoints => FAR,
            // The win share of a candidate that has the same odds against each of its opponents.
            Payoff::Win => FAR / (FAR + (1.0 - FAR) * (self.seats as f64 - 1.0)),
            Payoff::Points | Payoff::Margin => return None,
        };
        let mut means: Vec<f64> = points.iter().map(|point| point.payoff).collect();
        means.sort_by(f64::total_cmp);
        let median = *means.get(means.len() / 2)?;
        (median >= limit).then(|| {
            format!(
                "the field {} is far weaker than the candidates, whose median is {median:.2} {}; the best value against it \
                 may be bad against strong agents: choose a stronger field",
                found.field.join(", "),
                self.payoff.unit()
            )
        })
    }
}

/// The best values, depending on the opponents of the candidates.
#[derive(Clone, PartialEq, Debug)]
pub enum TuningOutcome {
    /// All candidates played against the same field.
    AgainstField(AgainstField),
    /// The candidates played against each other. In `tuning.json` the field is `self`.
    AgainstItself(AgainstItself),
}

/// The best value against a field.
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize)]
pub struct AgainstField {
    /// The field: one agent for all other seats, or one agent for each of them.
    #[serde(skip_serializing)]
    pub field: Vec<String>,
    /// The search method.
    pub method: MethodName,
    /// The number of deal blocks that the search played.
    pub blocks: u64,
    /// The best agent.
    pub best: String,
    /// The value of the best agent; several values are separated by spaces.
    pub best_value: String,
    /// The best agent's mean payoff in the search, biased upwards because the agent was selected on the same deals.
    pub estimate: f64,
    /// The comparison with the incumbent on fresh deals; `None` if there were no fresh deals.
    pub validation: Option<Validation>,
}

/// The result of self-play, in which each value plays against copies of each value.
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize)]
pub struct AgainstItself {
    /// The number of deals for each pair of values.
    pub deals: u64,
    /// The values that are not distinguishable from a best response to themselves.
    pub symmetric_equilibria: Vec<String>,
    /// The share of each value in a Nash equilibrium; `None` unless the game has two seats and the payoff rank points.
    pub nash: Option<Vec<f64>>,
    /// All values, in the order of `nash`.
    pub values: Vec<String>,
}

/// A search method.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum MethodName {
    /// All values play the same deals, which gives the whole response curve
    #[default]
    Sweep,
    /// Sequential halving: repeatedly drops the worse half of the values
    Race,
    /// CMA-ES, for several parameters at once
    Cma,
}

impl fmt::Display for MethodName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MethodName::Sweep => "sweep",
            MethodName::Race => "race",
            MethodName::Cma => "cma",
        })
    }
}

/// The comparison of a search's winner with the incumbent on fresh deals.
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize)]
#[serde(try_from = "Object", into = "Object")]
pub enum Validation {
    /// The winner is the incumbent, so nothing was played.
    Same {
        /// The incumbent.
        incumbent: String,
    },
    /// The winner and the incumbent played against the same field on the same deals.
    Played(Comparison),
}

/// The results of the winner and the incumbent on the same deals.
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize)]
pub struct Comparison {
    /// The number of deals.
    pub deals: u64,
    /// The mean payoff of the winner.
    pub winner: f64,
    /// The incumbent.
    pub incumbent: String,
    /// The mean payoff of the incumbent.
    pub incumbent_mean: f64,
    /// The winner's mean minus the incumbent's.
    pub difference: f64,
    /// Lower end of the 95 % interval of the difference; `None` if there is no interval.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
}

/// A JSON object, with its fields in order.
type Object = Map<String, Value>;

fn field<T: DeserializeOwned>(object: &Object, name: &str) -> Result<T, String> {
    let value = object.get(name).ok_or_else(|| format!("missing field `{name}`"))?;
    from_value(value.clone()).map_err(|error| format!("`{name}`: {error}"))
}

impl From<TuningResult> for Object {
    fn from(result: TuningResult) -> Object {
        let TuningResult { mixture, adjusted, undecided, .. } = result;
        let TuningResult { version, agent, ranges, rules, seats, payoff, seed, command, found, .. } = result;
        let (field, mut found) = match found {
            TuningOutcome::AgainstField(found) => (json!(found.field), object(found)),
            TuningOutcome::AgainstItself(found) => (json!("self"), object(found)),
        };
        let mut written = object(json!({
            "version": version, "agent": agent, "ranges": ranges, "rules": rules, "seats": seats, "field": field,
            "payoff": payoff, "seed": seed.to_string(),
        }));
        for (name, is) in [("mixture", mixture), ("adjusted", adjusted), ("undecided", undecided)] {
            if is {
                written.insert(name.to_owned(), true.into());
            }
        }
        written.extend(found.shift_remove_entry("method"));
        written.insert("command".to_owned(), command.into());
        written.extend(found);
        written
    }
}

impl TryFrom<Object> for TuningResult {
    type Error = String;

    fn try_from(written: Object) -> Result<TuningResult, String> {
        fn read<T: DeserializeOwned>(written: &Object, kind: &str) -> Result<T, String> {
            from_value(written.clone().into()).map_err(|error| format!("a result against {kind}: {error}"))
        }
        let version = field(&written, "version")?;
        let is = |name: &str| written.get(name) == Some(&json!(true));
        let found = match &written.get("field") {
            Some(Value::Array(_)) => TuningOutcome::AgainstField(read(&written, "a field")?),
            Some(Value::String(word)) if word == "self" => TuningOutcome::AgainstItself(read(&written, "itself")?),
            _ => return Err("`field` must be a list of agents or `self`".to_owned()),
        };
        Ok(TuningResult {
            version,
            agent: field(&written, "agent")?,
            ranges: field(&written, "ranges")?,
            rules: field(&written, "rules")?,
            seats: field(&written, "seats")?,
            payoff: field(&written, "payoff")?,
            seed: field::<String>(&written, "seed")?.parse().map_err(|error| format!("`seed`: {error}"))?,
            mixture: is("mixture"),
            adjusted: is("adjusted"),
            undecided: is("undecided"),
            command: field(&written, "command")?,
            found,
        })
    }
}

impl From<Validation> for Object {
    fn from(validation: Validation) -> Object {
        match validation {
            Validation::Same { incumbent } => object(json!({ "deals": 0, "incumbent": incumbent })),
            Validation::Played(played) => object(played),
        }
    }
}

impl TryFrom<Object> for Validation {
    type Error = String;

    fn try_from(written: Object) -> Result<Validation, String> {
        if written.get("deals") == Some(&json!(0)) {
            return Ok(Validation::Same { incumbent: field(&written, "incumbent")? });
        }
        from_value(written.into()).map(Validation::Played).map_err(|error| format!("`validation`: {error}"))
    }
}

#[cfg(test)]
mod tests;
