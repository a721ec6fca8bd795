//! What tuning found, as `tuning.json` holds it.

use std::fmt;

use cambio_core::rng::Seed;
use serde::{Deserialize, Serialize};

use crate::plan::Payoff;

/// What tuning found: the object of `tuning.json`. The curve is beside it, in `curve.csv`.
///
/// ```
/// use cambio_sim::tune::{Found, TuningResult};
///
/// let text = r#"{"version":"0.1.0","agent":"greedy(call_at=?)","ranges":["0..15"],"rules":"classic","seats":2,
///     "field":["greedy"],"payoff":"rank_points","seed":"1","method":"sweep","command":"cambio tune …","blocks":16000,
///     "best":"greedy(call_at=6)","best_value":"6","estimate":0.509,"validation":null}"#;
/// let result: TuningResult = serde_json::from_str(text)?;
/// let Found::AgainstField(found) = &result.found else { panic!("its field is not `self`") };
/// assert_eq!((found.best.as_str(), found.validation.as_ref()), ("greedy(call_at=6)", None));
/// assert_eq!(serde_json::to_string(&result)?, text.replace("\n    ", ""));
///
/// let error = serde_json::from_str::<TuningResult>(&text.replace(r#""blocks":16000,"#, "")).unwrap_err();
/// assert_eq!(error.to_string(), "`blocks` is missing; a result against a field has it");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct TuningResult {
    /// The version of the program.
    pub version: String,
    /// The agent, with a question mark for each value that was tuned.
    pub agent: String,
    /// The range of each question mark, as it was given.
    pub ranges: Vec<String>,
    /// A preset, or a rule file.
    pub rules: String,
    /// The number of seats.
    pub seats: usize,
    /// The payoff that was maximized; points are minimized.
    pub payoff: Payoff,
    /// The seed of the deals.
    pub seed: Seed,
    /// The command that repeats the tuning.
    pub command: String,
    /// What was found.
    pub found: Found,
}

/// What was found, by whom the candidates met.
#[derive(Clone, PartialEq, Debug)]
pub enum Found {
    /// All candidates met the same field, and one of them is the best.
    AgainstField(AgainstField),
    /// The candidates were each other's field. In `tuning.json` the field is `self`.
    AgainstItself(AgainstItself),
}

/// The best value against a field.
#[derive(Clone, PartialEq, Debug)]
pub struct AgainstField {
    /// The field: one agent for all other seats, or one for each.
    pub field: Vec<String>,
    /// How the best was searched for.
    pub method: MethodName,
    /// The number of deal blocks that the search played.
    pub blocks: u64,
    /// The best agent.
    pub best: String,
    /// Its value; several are separated by spaces.
    pub best_value: String,
    /// Its mean payoff in the search. The best of many is flattered by the deals that it was chosen on.
    pub estimate: f64,
    /// The best against the incumbent on fresh deals; `None` if there were none.
    pub validation: Option<Validation>,
}

/// Every value against tables full of every value.
#[derive(Clone, PartialEq, Debug)]
pub struct AgainstItself {
    /// The number of deals of each value against each.
    pub deals: u64,
    /// The values that are not distinguishable from the best reply to tables of themselves.
    pub symmetric_equilibria: Vec<String>,
    /// The share of each value in an equilibrium of the measured game of two; `None` for other seats and payoffs.
    pub nash: Option<Vec<f64>>,
    /// All values, in the order of the shares.
    pub values: Vec<String>,
}

/// The name of a search method.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MethodName {
    /// All values play the same deals.
    Sweep,
    /// The race of Kim and Nelson (2001).
    Race,
    /// Sequential halving.
    Halving,
    /// CMA-ES.
    Cma,
}

impl fmt::Display for MethodName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MethodName::Sweep => "sweep",
            MethodName::Race => "race",
            MethodName::Halving => "halving",
            MethodName::Cma => "cma",
        })
    }
}

/// How the winner of a search did on deals that the search did not use.
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize)]
#[serde(try_from = "WrittenValidation", into = "WrittenValidation")]
pub enum Validation {
    /// The winner is the incumbent: nothing was played.
    Same {
        /// The incumbent.
        incumbent: String,
    },
    /// The winner and the incumbent met the same field on the same deals.
    Played(Comparison),
}

/// The winner and the incumbent on the same deals.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparison {
    /// The number of deals.
    pub deals: u64,
    /// The mean payoff of the winner.
    pub winner: f64,
    /// The incumbent.
    pub incumbent: String,
    /// Its mean payoff.
    pub incumbent_mean: f64,
    /// The winner's mean minus the incumbent's.
    pub difference: f64,
    /// Lower end of the 95 % interval of the difference; `None` if there is no interval.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
}

/// A result as it is written: its fields in order, those of the other kind left out.
#[derive(Deserialize, Serialize)]
#[expect(clippy::option_option, reason = "a field may be absent, null, or there")]
struct Written {
    version: String,
    agent: String,
    ranges: Vec<String>,
    rules: String,
    seats: usize,
    field: WrittenField,
    payoff: Payoff,
    seed: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<MethodName>,
    command: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    best: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    best_value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<f64>,
    // The inner one is written, as null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    validation: Option<Option<Validation>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deals: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    symmetric_equilibria: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nash: Option<Option<Vec<f64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Vec<String>>,
}

#[derive(Deserialize, Serialize)]
#[serde(untagged, expecting = "`field` is neither a list of agents nor `self`")]
enum WrittenField {
    Agents(Vec<String>),
    Itself(Itself),
}

#[derive(Deserialize, Serialize)]
enum Itself {
    #[serde(rename = "self")]
    Itself,
}

impl From<TuningResult> for Written {
    fn from(result: TuningResult) -> Written {
        let TuningResult { version, agent, ranges, rules, seats, payoff, seed, command, found } = result;
        let written = Written {
            version,
            agent,
            ranges,
            rules,
            seats,
            field: WrittenField::Itself(Itself::Itself),
            payoff,
            seed: seed.to_string(),
            method: None,
            command,
            blocks: None,
            best: None,
            best_value: None,
            estimate: None,
            validation: None,
            deals: None,
            symmetric_equilibria: None,
            nash: None,
            values: None,
        };
        match found {
            Found::AgainstField(found) => Written {
                field: WrittenField::Agents(found.field),
                method: Some(found.method),
                blocks: Some(found.blocks),
                best: Some(found.best),
                best_value: Some(found.best_value),
                estimate: Some(found.estimate),
                validation: Some(found.validation),
                ..written
            },
            Found::AgainstItself(found) => Written {
                deals: Some(found.deals),
                symmetric_equilibria: Some(found.symmetric_equilibria),
                nash: Some(found.nash),
                values: Some(found.values),
                ..written
            },
        }
    }
}

impl TryFrom<Written> for TuningResult {
    type Error = String;

    fn try_from(written: Written) -> Result<TuningResult, String> {
        fn needed<T>(part: Option<T>, name: &str, kind: &str) -> Result<T, String> {
            part.ok_or_else(|| format!("`{name}` is missing; a result {kind} has it"))
        }
        let found = match written.field {
            WrittenField::Agents(field) => {
                let kind = "against a field";
                Found::AgainstField(AgainstField {
                    field,
                    method: needed(written.method, "method", kind)?,
                    blocks: needed(written.blocks, "blocks", kind)?,
                    best: needed(written.best, "best", kind)?,
                    best_value: needed(written.best_value, "best_value", kind)?,
                    estimate: needed(written.estimate, "estimate", kind)?,
                    validation: written.validation.flatten(),
                })
            }
            WrittenField::Itself(Itself::Itself) => {
                let kind = "against itself";
                Found::AgainstItself(AgainstItself {
                    deals: needed(written.deals, "deals", kind)?,
                    symmetric_equilibria: needed(written.symmetric_equilibria, "symmetric_equilibria", kind)?,
                    nash: written.nash.flatten(),
                    values: needed(written.values, "values", kind)?,
                })
            }
        };
        Ok(TuningResult {
            version: written.version,
            agent: written.agent,
            ranges: written.ranges,
            rules: written.rules,
            seats: written.seats,
            payoff: written.payoff,
            seed: written.seed.parse().map_err(|error| format!("`seed`: {error}"))?,
            command: written.command,
            found,
        })
    }
}

/// A validation as it is written.
#[derive(Deserialize, Serialize)]
#[expect(clippy::option_option, reason = "a field may be absent, null, or there")]
struct WrittenValidation {
    deals: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    winner: Option<f64>,
    incumbent: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    incumbent_mean: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<f64>,
    // The inner one is written, as null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    low: Option<Option<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    high: Option<Option<f64>>,
}

impl From<Validation> for WrittenValidation {
    fn from(validation: Validation) -> WrittenValidation {
        match validation {
            Validation::Same { incumbent } => WrittenValidation {
                deals: 0,
                winner: None,
                incumbent,
                incumbent_mean: None,
                difference: None,
                low: None,
                high: None,
            },
            Validation::Played(played) => WrittenValidation {
                deals: played.deals,
                winner: Some(played.winner),
                incumbent: played.incumbent,
                incumbent_mean: Some(played.incumbent_mean),
                difference: Some(played.difference),
                low: Some(played.low),
                high: Some(played.high),
            },
        }
    }
}

impl TryFrom<WrittenValidation> for Validation {
    type Error = &'static str;

    fn try_from(written: WrittenValidation) -> Result<Validation, &'static str> {
        let WrittenValidation { deals, winner, incumbent, incumbent_mean, difference, low, high } = written;
        if deals == 0 {
            return Ok(Validation::Same { incumbent });
        }
        let means = winner.zip(incumbent_mean).zip(difference);
        let ((winner, incumbent_mean), difference) = means
            .ok_or("`validation` has deals and lacks one of `winner`, `incumbent_mean`, `difference`; it needs all")?;
        let (low, high) = (low.flatten(), high.flatten());
        Ok(Validation::Played(Comparison { deals, winner, incumbent, incumbent_mean, difference, low, high }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ITSELF: &str = r#"{"version":"0.1.0","agent":"greedy(call_at=?)","ranges":["3..4"],"rules":"faessler","seats":3,"field":"self","payoff":"win","seed":"7","command":"cambio tune","deals":30,"symmetric_equilibria":[],"nash":null,"values":["3","4"]}"#;
    const FIELD: &str = r#"{"version":"0.1.0","agent":"greedy(call_at=?)","ranges":["3..4"],"rules":"classic","seats":2,"field":["greedy"],"payoff":"points","seed":"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff","method":"cma","command":"cambio tune","blocks":60,"best":"greedy(call_at=3)","best_value":"3","estimate":-0.1,"validation":{"deals":30,"winner":0.5,"incumbent":"greedy","incumbent_mean":0.5,"difference":0.0,"low":null,"high":null}}"#;

    #[test]
    fn both_kinds_are_written_as_they_were_read_with_their_nulls_and_without_what_they_lack() {
        let same = FIELD.replace(
            r#""deals":30,"winner":0.5,"incumbent":"greedy","incumbent_mean":0.5,"difference":0.0,"low":null,"high":null"#,
            r#""deals":0,"incumbent":"greedy""#,
        );
        let nash = ITSELF.replace(r#""nash":null"#, r#""nash":[0.25,0.75]"#);
        for text in [ITSELF, FIELD, &same, &nash] {
            let result: TuningResult = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&result).unwrap(), text);
        }
        assert!(same.contains(r#"{"deals":0,"incumbent":"greedy"}"#) && nash.contains("0.75"));
    }

    #[test]
    fn what_is_no_result_is_refused_with_a_sentence_that_names_what_is_wrong() {
        for (text, old, new, sentence) in [
            (ITSELF, r#""deals":30,"#, "", "`deals` is missing; a result against itself has it"),
            (FIELD, r#""method":"cma","#, "", "`method` is missing; a result against a field has it"),
            (FIELD, r#""winner":0.5,"#, "", "`validation` has deals and lacks one of `winner`"),
            (FIELD, r#"["greedy"]"#, r#""others""#, "`field` is neither a list of agents nor `self`"),
            (FIELD, r#""0011"#, r#""zz11"#, "`seed`: "),
            (FIELD, r#""cma""#, r#""luck""#, "unknown variant `luck`, expected one of `sweep`, `race`"),
            (FIELD, r#""agent":"greedy(call_at=?)","#, "", "missing field `agent`"),
        ] {
            assert!(text.contains(old), "{old}");
            let error = serde_json::from_str::<TuningResult>(&text.replace(old, new)).unwrap_err().to_string();
            assert!(error.contains(sentence), "{error}");
        }
    }
}
