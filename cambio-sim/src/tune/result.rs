//! The result of a tuning: `tuning.json`.

use std::fmt;

use cambio_exec::one_or_many;
use serde::{Deserialize, Serialize, Serializer};

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
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize)]
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
    /// The field: one agent for all other seats, or one agent for each of them; or `self` for the candidates themselves.
    #[serde(deserialize_with = "one_or_many", serialize_with = "field_text")]
    pub field: Vec<String>,
    /// The payoff that was maximized; points are minimized.
    pub payoff: Payoff,
    /// The seed of the deals.
    pub seed: String,
    /// Whether each agent of the field is a field of its own, and a mean is over all of them. In `tuning.json` only if it is
    /// true.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mixture: bool,
    /// Whether the means of the curve are without the luck of the cards. In `tuning.json` only if it is true.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adjusted: bool,
    /// Whether the tuning was interrupted, so that the best value is only the best so far. In `tuning.json` only if it is true.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undecided: bool,
    /// The search method; `None` for the field `self`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<MethodName>,
    /// The command that repeats the tuning.
    pub command: String,
    /// The best values.
    #[serde(flatten)]
    pub found: TuningOutcome,
}

/// Writes the field `self` as a word, and another field as a list.
fn field_text<S: Serializer>(field: &[String], into: S) -> Result<S::Ok, S::Error> {
    if field == ["self"] { "self".serialize(into) } else { field.serialize(into) }
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
        matches!(self.found, TuningOutcome::AgainstField(_)).then_some(())?;
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
                self.field.join(", "),
                self.payoff.unit()
            )
        })
    }
}

/// The best values, depending on the opponents of the candidates.
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub enum TuningOutcome {
    /// All candidates played against the same field.
    AgainstField(AgainstField),
    /// The candidates played against each other.
    AgainstItself(AgainstItself),
}

/// The best value against a field.
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize)]
pub struct AgainstField {
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
#[serde(untagged, deny_unknown_fields)]
pub enum Validation {
    /// The winner and the incumbent played against the same field on the same deals.
    Played(Comparison),
    /// The winner is the incumbent, so nothing was played.
    Same {
        /// The number of deals: 0.
        deals: u64,
        /// The incumbent.
        incumbent: String,
    },
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

#[cfg(test)]
mod tests;
