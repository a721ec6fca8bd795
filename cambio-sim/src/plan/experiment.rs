//! Experiment files, which users write.
//!
//! An [`Experiment`] has the fields of a file. [`Experiment::plan`] converts it to a [`Plan`](crate::Plan).

use std::path::Path;

use cambio_agents::SpecError;
use cambio_core::rng::Seed;
use cambio_core::text::{excerpt, read_toml};
use cambio_core::{AgentError, Rules, RulesError, RulesSpec};
use cambio_exec::{one_or_many, read_text};
use cambio_stats::Support;
use itertools::Itertools;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error as _, IntoDeserializer as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;

use super::seeds;
use crate::object;

/// An experiment, as a file describes it.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "A Cambio experiment")]
#[expect(clippy::struct_excessive_bools, reason = "mirrors the fields of a file")]
pub struct Experiment {
    /// The name of the experiment.
    #[serde(default)]
    pub name: String,
    /// The seed of the cards and races: a whole number, or a text of any length. Required.
    #[serde(default, with = "seeds")]
    #[schemars(with = "seeds::SeedForm")]
    pub seed: Option<Seed>,
    /// The seed of the agents' own random streams; default 0. The streams do not depend on `seed`, so that they contain
    /// no information about the cards. Replicates whose results are pooled must differ in both seeds.
    #[serde(default, with = "seeds")]
    #[schemars(with = "Option<seeds::SeedForm>")]
    pub agent_seed: Option<Seed>,
    /// The number of deals per lineup. Each deal is played in all rotations.
    #[serde(deserialize_with = "deals")]
    #[schemars(range(min = 1))]
    pub deals: u64,
    /// Presets by name, or rule files by path relative to the experiment file: a list, or a single value.
    #[serde(deserialize_with = "one_or_many")]
    #[schemars(schema_with = "rules_form")]
    pub rules: Vec<String>,
    /// The numbers of seats: a list, or a single value.
    #[serde(deserialize_with = "one_or_many")]
    #[schemars(schema_with = "seats_form")]
    pub seats: Vec<usize>,
    /// The agents: a list of specs. A spec may begin with a name for results, as in `mine = greedy(call_at=5)`. Bots run in the folder
    /// of the experiment file, and relative paths of networks start there.
    #[serde(deserialize_with = "specs")]
    #[schemars(length(min = 1))]
    pub agents: Vec<String>,
    /// The folder for bots and networks, relative to the folder of the experiment file; default: this folder itself.
    #[serde(default)]
    pub agents_folder: String,
    /// The agents that play at one table.
    #[serde(default)]
    pub lineups: Lineups,
    /// The seatings in which a lineup plays each deal.
    #[serde(default, deserialize_with = "word")]
    pub rotations: Rotations,
    /// Whether each deal is played as a whole match or as a single round.
    #[serde(default, deserialize_with = "word")]
    pub unit: Unit,
    /// The payoff for differences and seat effects.
    #[serde(default, deserialize_with = "word")]
    pub payoff: Payoff,
    /// The handling of matches in which an agent is at fault.
    #[serde(default, deserialize_with = "word")]
    pub faults: FaultPolicy,
    /// Whether every match is written to records.jsonl.
    #[serde(default)]
    pub records: bool,
    /// Must be false: rows are not compressed. A lock contains the field.
    #[serde(default)]
    pub compress: bool,
    /// Whether agents that see hidden cards may take part; their rows are marked.
    #[serde(default)]
    pub analysis: bool,
    /// Whether ratings include seat effects.
    #[serde(default)]
    pub seat_effects: bool,
    /// Whether the luck of the cards is measured and subtracted from the results.
    #[serde(default, deserialize_with = "word")]
    pub luck: LuckChoice,
    /// The agent whose rating is fixed at 0. Without an anchor, the sum of the ratings is 0.
    #[serde(default)]
    pub anchor: Option<String>,
    /// The question that the run answers first. It is a part of the lock, so it cannot change after the first deal.
    #[serde(default)]
    pub hypothesis: Option<HypothesisSpec>,
}

/// A hypothesis about two agents at one table: their mean payoffs differ, or with a margin, they differ by less than the margin.
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HypothesisSpec {
    /// The two agents, by their names or specs.
    pub pair: [String; 2],
    /// The table, such as `classic, 2 seats`. Required if the experiment has several tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// 0 for a two-sided test of a difference of the mean payoffs. A number above 0 for a test of equivalence: two one-sided tests
    /// of whether the difference is between −margin and margin, in units of the payoff.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub margin: f64,
    /// The level of the test, above 0 and below 0.5.
    #[serde(default = "default_alpha")]
    pub alpha: f64,
    /// The number of deals that the test reads; default: all. The hypothesis is answered when they are complete, and further deals
    /// do not change the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub deals: Option<u64>,
}

fn default_alpha() -> f64 {
    0.05
}

/// Reads the specs of agents.
fn specs<'de, D: Deserializer<'de>>(source: D) -> Result<Vec<String>, D::Error> {
    Vec::deserialize(source).map_err(|_| D::Error::custom("invalid value: agents, expected a list of specs"))
}

/// Reads the number of deals.
fn deals<'de, D: Deserializer<'de>>(source: D) -> Result<u64, D::Error> {
    u64::deserialize(source)
        .map_err(|_| D::Error::custom("invalid value: deals, expected a whole number of at least 1"))
}

/// Reads one of several words. The error lists them also if the value is not a text.
fn word<'de, T: Deserialize<'de>, D: Deserializer<'de>>(source: D) -> Result<T, D::Error> {
    let text = String::deserialize(source).unwrap_or_default();
    T::deserialize(text.into_deserializer())
}

/// The seatings in which a lineup plays each deal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rotations {
    /// Each agent sits in each seat once.
    #[default]
    Cyclic,
    /// Each agent sits in each seat, and directly after every other agent, equally often (Williams 1949). The last and
    /// the first seat do not count as neighbours. `n` seatings for an even number of seats `n`, otherwise `2n`.
    Williams,
    /// All orders of the lineup; at most 6 seats.
    All,
    /// Only the order in which the lineup is written, so seats are not balanced. For mirrors, whose rotations are all
    /// equal.
    One,
}

impl Rotations {
    /// The seatings for this number of seats: for each, the index in the lineup of the agent in seat a, b and so on.
    ///
    /// Williams 1949, "Experimental designs balanced for the estimation of residual effects of treatments": the columns
    /// 0, 1, n−1, 2, n−2, … and their shifts; with an odd number of seats the reversed square as well.
    pub(crate) fn seatings(self, seats: usize) -> Vec<Vec<usize>> {
        let shifted = |base: &[usize], by: usize| base.iter().map(|place| (place + by) % seats).collect::<Vec<_>>();
        match self {
            Rotations::One => vec![(0..seats).collect()],
            Rotations::Cyclic => (0..seats).map(|by| shifted(&(0..seats).collect::<Vec<_>>(), by)).collect(),
            Rotations::Williams => {
                let zigzag = |step: usize| if step % 2 == 1 { step.div_ceil(2) } else { (seats - step / 2) % seats };
                let base: Vec<usize> = (0..seats).map(zigzag).collect();
                let mut square: Vec<Vec<usize>> = (0..seats).map(|by| shifted(&base, by)).collect();
                if !seats.is_multiple_of(2) {
                    let reversed: Vec<Vec<usize>> =
                        square.iter().map(|row| row.iter().rev().copied().collect()).collect();
                    square.extend(reversed);
                }
                square
            }
            Rotations::All => (0..seats).permutations(seats).collect(),
        }
    }
}

/// How a deal is played: as a whole match or as a single round.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A whole match, as defined by the rules.
    #[default]
    Match,
    /// A single round, regardless of the match length in the rules.
    Rounds,
}

impl Unit {
    /// The rules under which this unit is played.
    ///
    /// ```
    /// use cambio_core::{Rules, rules::knob::MatchEnd};
    /// use cambio_sim::Unit;
    ///
    /// let original = Rules::preset("original").unwrap();
    /// assert_eq!(Unit::Match.of(original).spec().match_end, MatchEnd::Total(50));
    /// assert_eq!(Unit::Rounds.of(original).spec().match_end, MatchEnd::Rounds(1));
    /// assert_eq!(Unit::Rounds.of(original).name(), "original (one round)");
    /// ```
    pub fn of(self, rules: Rules) -> Rules {
        match self {
            Unit::Match => rules,
            Unit::Rounds => rules.of_one_round(),
        }
    }
}

/// The payoff of an agent in a match.
///
/// ```
/// use cambio_sim::Payoff;
///
/// assert_eq!((Payoff::RankPoints.sign(), Payoff::RankPoints.par(4)), (1.0, Some(0.5)));
/// // The win share: par is 1/4 at four seats.
/// assert_eq!(Payoff::Win.par(4), Some(0.25));
/// // Fewer points are better. Points have no par, because the mean depends on the agents.
/// assert_eq!((Payoff::Points.sign(), Payoff::Points.par(4)), (-1.0, None));
/// assert_eq!(Payoff::Points.unit(), "points a match");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum), value(rename_all = "snake_case"))]
pub enum Payoff {
    /// The mean pairwise score, (seats − midrank) / (seats − 1): 1 for the best, 0 for the worst; par is ½.
    #[default]
    RankPoints,
    /// The win share: 1 / k for each of k winners, 0 for the others.
    Win,
    /// The points of the agent's layouts, summed over the rounds of the match; fewer are better.
    Points,
    /// The mean points of all seats minus the agent's points: more is better, par is 0.
    Margin,
}

impl Payoff {
    /// Every payoff.
    pub const ALL: [Payoff; 4] = [Payoff::RankPoints, Payoff::Win, Payoff::Points, Payoff::Margin];

    /// 1 if more is better, −1 if less is better.
    pub fn sign(self) -> f64 {
        if self == Payoff::Points { -1.0 } else { 1.0 }
    }

    /// The name of the unit of the payoff.
    pub fn unit(self) -> &'static str {
        match self {
            Payoff::RankPoints => "rank points",
            Payoff::Win => "wins a match",
            Payoff::Points => "points a match",
            Payoff::Margin => "points of margin a match",
        }
    }

    /// The name of the payoff at the head of a column.
    pub fn name(self) -> &'static str {
        match self {
            Payoff::RankPoints => "rank points",
            Payoff::Win => "win",
            Payoff::Points => "points",
            Payoff::Margin => "margin",
        }
    }

    /// The number of decimals with which tables show a mean of the payoff.
    pub fn digits(self) -> usize {
        if self.support() == Support::Share { 3 } else { 2 }
    }

    /// The payoff of equal players; `None` if it depends on how they play.
    pub fn par(self, seats: usize) -> Option<f64> {
        match self {
            Payoff::RankPoints => Some(0.5),
            Payoff::Win => Some(1.0 / seats as f64),
            Payoff::Points => None,
            Payoff::Margin => Some(0.0),
        }
    }

    /// The range of the payoff.
    pub fn support(self) -> Support {
        match self {
            Payoff::RankPoints | Payoff::Win => Support::Share,
            Payoff::Points | Payoff::Margin => Support::Line,
        }
    }

    /// The range of the difference of two agents' payoffs.
    pub(crate) fn support_of_difference(self) -> Support {
        match self.support() {
            Support::Share => Support::Difference,
            other => other,
        }
    }

    /// The payoff gained by the luck of one win; 0 for payoffs whose relation to wins depends on the table.
    pub(crate) fn luck_coefficient(self, seats: usize) -> f64 {
        match self {
            Payoff::Win => 1.0,
            Payoff::RankPoints => seats as f64 / (2.0 * (seats as f64 - 1.0)),
            Payoff::Points | Payoff::Margin => 0.0,
        }
    }

    /// The number of integer units in a payoff of 1; see `Payoff::units`.
    pub(crate) fn scale(self, seats: usize) -> f64 {
        match self {
            Payoff::RankPoints => f64::from(2 * (seats as u32 - 1)),
            // Divisible by every number of winners up to 8.
            Payoff::Win => 840.0,
            Payoff::Points => 1.0,
            Payoff::Margin => f64::from(seats as u32),
        }
    }
}

/// Whether a run measures the luck of the cards.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum LuckChoice {
    /// On if an agent is slower than the heuristics, so that a smaller variance is cheaper than more deals. Off if the
    /// rules or an agent do not allow it. The choice depends only on the experiment.
    #[default]
    Auto,
    /// On: players.csv has a column `luck`, and the tables contain adjusted results.
    On,
    /// Off.
    Off,
}

impl LuckChoice {
    /// The choice for a measurement that may not be able to use the luck. `with` says what prevents it.
    pub(crate) fn only_if(self, is_usable: bool, with: &str) -> Result<LuckChoice, PlanError> {
        match self {
            LuckChoice::On if !is_usable => {
                Err(PlanError::value("luck", "`on`", format!("`auto` or `off` with {with}")))
            }
            _ => Ok(if is_usable { self } else { LuckChoice::Off }),
        }
    }
}

/// The handling of a match in which an agent is at fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FaultPolicy {
    /// Stop the run and print how to replay the match.
    #[default]
    Stop,
    /// The agent gets the last rank. The other agents always tie for the first rank, also if there are several of them,
    /// because the match is not played to its end.
    Forfeit,
    /// Discard the whole deal block.
    Void,
}

/// The agents that play at one table.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "invalid value: lineups, expected \"all\", \"mirror\", \"compositions\", a list of lists of agents, \
                 { focal, field } or { pools }"
)]
pub enum Lineups {
    /// The name of a rule that generates lineups.
    Rule(LineupRule),
    /// A list of lineups, each with one agent spec per seat. A lineup is used only at tables with its number of seats.
    Listed(Vec<Vec<String>>),
    /// Each focal agent against a fixed field.
    Focal(Focal),
    /// All combinations of agents from pools.
    Pools(Pools),
    /// Not specified: the same as `all`.
    #[default]
    #[serde(skip_deserializing)]
    Unsaid,
}

/// A rule that generates lineups.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LineupRule {
    /// All sets of different agents, one agent per seat. If there are fewer agents than seats: all lineups in which the
    /// numbers of copies of any two agents differ by at most 1.
    All,
    /// Each agent against copies of itself.
    Mirror,
    /// All multisets of agents except mirrors: the payoff table of an empirical game.
    Compositions,
}

/// Each focal agent against a fixed field. If a focal agent is also in the field, its means count only the seats in which it
/// is the focal agent.
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Focal {
    /// The agents to measure; by default all of `agents` that are not in the field.
    #[serde(default)]
    pub focal: Vec<String>,
    /// The opponents: one agent for all other seats, or one agent for each of them.
    #[schemars(length(min = 1, max = 7))]
    pub field: Vec<String>,
    /// Whether each agent of the field is a field of its own, with copies in all other seats.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mixture: bool,
}

/// Lineups with agents from pools: the first agent comes from the first pool, the second from the second pool, and so
/// on; after the last pool comes the first pool again. Each combination is played once.
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pools {
    /// The pools: lists of agents.
    #[schemars(length(min = 1))]
    pub pools: Vec<Vec<String>>,
}

/// The maximum length in characters of a path or list in a message: the maximum path length of Linux.
const MOST_QUOTED: usize = 4096;

/// An experiment that cannot be planned.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The file at this path cannot be read.
    #[error("cannot read {}: {}", excerpt(.0).up_to(MOST_QUOTED), .1)]
    Unreadable(String, std::io::Error),
    /// The file at this path is not an experiment. The message contains the line.
    #[error("{}: {}", excerpt(.0).up_to(MOST_QUOTED), excerpt(.1).up_to(1000))]
    Form(String, String),
    /// The rules, a preset or a path, are invalid.
    #[error("rules `{}`: {}", excerpt(.0), .1)]
    Rules(String, RulesError),
    /// An agent's spec is invalid.
    #[error(transparent)]
    Agent(#[from] SpecError),
    /// An agent cannot play one of its tables.
    #[error("field `agents` must be agents that can play `{}` at {seats} seats, found `{}`: {error}", excerpt(rules), excerpt(agent).up_to(MOST_QUOTED))]
    #[expect(missing_docs, reason = "the message explains the fields")]
    Unplayable { agent: String, rules: String, seats: usize, error: AgentError },
    /// A field has an invalid value.
    #[error("field `{field}` must be {allowed}, found {}", excerpt(found).up_to(MOST_QUOTED))]
    Value {
        /// The field.
        field: &'static str,
        /// The value that was found.
        found: String,
        /// The values that are allowed.
        allowed: String,
    },
}

impl PlanError {
    pub(crate) fn value(field: &'static str, found: impl Into<String>, allowed: impl Into<String>) -> PlanError {
        PlanError::Value { field, found: found.into(), allowed: allowed.into() }
    }
}

impl Experiment {
    /// An experiment at one table, with seed 0 and one deal. `agents` contains the specs of the agents.
    pub fn at(rules: &str, seats: usize, agents: &[impl AsRef<str>]) -> Experiment {
        Experiment {
            seed: Some(0.into()),
            deals: 1,
            rules: vec![rules.to_owned()],
            seats: vec![seats],
            agents: agents.iter().map(|agent| agent.as_ref().to_owned()).collect(),
            ..Experiment::default()
        }
    }

    /// The same experiment for a file in any folder: bots and networks are relative to the current folder.
    ///
    /// # Errors
    /// If there is no current folder.
    pub fn in_current_folder(mut self) -> std::io::Result<Experiment> {
        if self.agents.iter().any(|spec| spec.contains('"')) {
            self.agents_folder = std::env::current_dir()?.display().to_string();
        }
        Ok(self)
    }

    /// Reads an experiment file. Also returns its text.
    ///
    /// # Errors
    /// If the file cannot be read or is not an experiment. The message contains the line and the expected value.
    ///
    /// ```
    /// use std::path::Path;
    /// use cambio_sim::Experiment;
    ///
    /// let path = Path::new("../experiments/quickstart.toml");
    /// let (experiment, text) = Experiment::read(path)?;
    /// assert_eq!(experiment.seats, [2, 4]);
    /// assert!(text.contains("seats = [2, 4]"));
    /// # Ok::<(), cambio_sim::PlanError>(())
    /// ```
    pub fn read(path: &Path) -> Result<(Experiment, String), PlanError> {
        let shown = path.display().to_string();
        let text = read_text(path).map_err(|error| PlanError::Unreadable(shown.clone(), error))?;
        let experiment = read_toml(&text).map_err(|what| PlanError::Form(shown, what))?;
        Ok((experiment, text))
    }

    /// The experiment as TOML, without the fields that have default values.
    ///
    /// # Panics
    /// If `deals` is not below 2^63.
    ///
    /// ```
    /// use cambio_sim::{Experiment, Focal, Lineups};
    ///
    /// let lineups = Lineups::Focal(Focal { focal: Vec::new(), field: vec!["greedy".into()], mixture: false });
    /// let experiment = Experiment { deals: 10, lineups, ..Experiment::at("classic", 2, &["greedy", "sharp"]) };
    /// assert!(experiment.to_toml().starts_with("seed = \"0\"\ndeals = 10\nrules = [\"classic\"]\n"));
    /// assert_eq!(toml::from_str::<Experiment>(&experiment.to_toml()), Ok(experiment));
    /// // Required fields are written even if their values are invalid.
    /// let invalid = Experiment { deals: 0, ..Experiment::at("classic", 2, &["greedy"]) };
    /// assert_eq!(toml::from_str::<Experiment>(&invalid.to_toml()), Ok(invalid));
    /// ```
    pub fn to_toml(&self) -> String {
        let (mut written, defaults) = (object(self), object(Experiment::default()));
        let is_required = |name: &str| ["deals", "rules", "seats", "agents"].contains(&name);
        written.retain(|name, value| is_required(name) || *value != defaults[name]);
        toml::to_string(&written).expect("strings, lists and numbers below 2^63 can be serialized")
    }

    /// The JSON Schema of experiment files, for editors.
    ///
    /// ```
    /// let schema = cambio_sim::Experiment::schema();
    /// assert_eq!(schema["title"], "A Cambio experiment");
    /// ```
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Experiment).to_value()
    }
}

fn rules_form(_: &mut SchemaGenerator) -> Schema {
    one_or_many_of(&json!({"type": "string"}))
}

fn seats_form(_: &mut SchemaGenerator) -> Schema {
    one_or_many_of(&json!({"type": "integer", "minimum": 2, "maximum": 8}))
}

/// The schema for fields that are read by [`one_or_many`].
fn one_or_many_of(item: &serde_json::Value) -> Schema {
    json_schema!({"anyOf": [item, {"type": "array", "items": item, "minItems": 1}]})
}

/// Loads rules: a preset by its name, or a rule file (`*.toml`) by its path relative to `folder`.
///
/// # Errors
/// If the preset does not exist, or the file cannot be read or is not a valid rule system.
///
/// ```
/// use std::path::Path;
///
/// let rules = cambio_sim::read_rules("classic", Path::new(".")).unwrap();
/// assert_eq!(rules.name(), "classic");
/// assert!(cambio_sim::read_rules("whist", Path::new(".")).is_err());
/// ```
pub fn read_rules(name: &str, folder: &Path) -> Result<Rules, PlanError> {
    let refuse = |error| PlanError::Rules(name.to_owned(), error);
    let path = folder.join(name);
    let is_file = Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"));
    if !is_file {
        match Rules::preset(name) {
            // Reading the folder gives the clearer error.
            Err(_) if !name.is_empty() && path.is_dir() => {}
            preset => return preset.map_err(refuse),
        }
    }
    let text = read_text(&path).map_err(|error| PlanError::Unreadable(path.display().to_string(), error))?;
    RulesSpec::from_toml(&text).and_then(RulesSpec::validate).map_err(refuse)
}

#[cfg(test)]
mod tests;
