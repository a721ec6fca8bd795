//! Experiment files: what a user writes.
//!
//! An [`Experiment`] holds what a file says; [`Experiment::plan`] makes the [`Plan`](crate::Plan) that is played.

use std::path::Path;

use cambio_agents::SpecError;
use cambio_core::rng::Seed;
use cambio_core::{Rules, RulesError, RulesSpec, did_you_mean, shown};
use cambio_exec::{one_or_many, read_text};
use cambio_stats::Support;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::seeds;

/// An experiment, as a file describes it.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "A Cambio experiment")]
#[expect(clippy::struct_excessive_bools, reason = "a file has the fields that it has")]
pub struct Experiment {
    /// What the experiment is called.
    #[serde(default)]
    pub name: String,
    /// The seed of the cards and races: a whole number, or a text of any length. Needed unless `secret` is true.
    #[serde(default, with = "seeds")]
    #[schemars(with = "seeds::SeedForm")]
    pub seed: Option<Seed>,
    /// The seed of the agents' own streams; 0 where it is not said. They do not depend on `seed`, so that no agent's stream says
    /// anything about the cards. Replicates that are to be pooled need another of both.
    #[serde(default, with = "seeds")]
    #[schemars(with = "Option<seeds::SeedForm>")]
    pub agent_seed: Option<Seed>,
    /// Whether the seeds are drawn from fresh entropy. Its hash is written down when the run begins, it itself when the run is
    /// complete: for competitions with agents that nobody trusts.
    #[serde(default)]
    pub secret: bool,
    /// How many deals each lineup plays; each in all its rotations.
    #[schemars(range(min = 1))]
    pub deals: u64,
    /// Presets by name, or rule files by path, relative to the experiment file; one alone needs no list.
    #[serde(deserialize_with = "one_or_many")]
    #[schemars(schema_with = "rules_form")]
    pub rules: Vec<String>,
    /// The numbers of seats; one alone needs no list.
    #[serde(deserialize_with = "one_or_many")]
    #[schemars(schema_with = "seats_form")]
    pub seats: Vec<usize>,
    /// The agents' specs.
    #[schemars(length(min = 1))]
    pub agents: Vec<String>,
    /// Which agents meet.
    #[serde(default)]
    pub lineups: Lineups,
    /// In which seatings a lineup plays each deal.
    #[serde(default)]
    pub rotations: Rotations,
    /// What a deal is played for: a whole match, or its first round alone.
    #[serde(default)]
    pub unit: Unit,
    /// What differences, ratings and seat effects are measured in.
    #[serde(default)]
    pub payoff: Payoff,
    /// What becomes of a match in which an agent is at fault.
    #[serde(default)]
    pub faults: FaultPolicy,
    /// Whether every match is written to records.jsonl.
    #[serde(default)]
    pub records: bool,
    /// Whether the rows are compressed with zstd; needs the feature `zstd`.
    #[serde(default)]
    pub compress: bool,
    /// Whether agents that see hidden cards may take part; their rows are marked.
    #[serde(default)]
    pub analysis: bool,
    /// Whether ratings take the seat into account.
    #[serde(default)]
    pub seat_effects: bool,
    /// The agent whose rating is 0; without one the ratings' sum is 0.
    #[serde(default)]
    pub anchor: Option<String>,
}

/// In which seatings a lineup plays each deal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rotations {
    /// Each agent sits in each seat once.
    #[default]
    Cyclic,
    /// Each agent sits in each seat, and in the seat after each other agent, equally often (Williams 1949): as many
    /// seatings as seats where that is even, else twice as many. The step from the last seat to the first is not counted.
    Williams,
    /// Every order of the lineup; at most 6 seats.
    All,
    /// Only as the lineup is written. Seats are then not balanced. Meant for mirrors, whose rotations are all the same.
    One,
}

impl Rotations {
    /// The seatings at a table of `seats` seats: for each, which place of the lineup sits in seat a, b and so on.
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
            Rotations::All => {
                let mut orders = vec![Vec::new()];
                for _ in 0..seats {
                    let longer = |order: Vec<usize>| {
                        let left: Vec<usize> = (0..seats).filter(|place| !order.contains(place)).collect();
                        left.into_iter().map(move |place| order.iter().copied().chain([place]).collect())
                    };
                    orders = orders.into_iter().flat_map(longer).collect();
                }
                orders
            }
        }
    }
}

/// What a deal is played for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A whole match, to the end that the rules set.
    #[default]
    Match,
    /// One round, whatever the rules say of the match.
    Rounds,
}

impl Unit {
    /// The rules under which this unit is played.
    ///
    /// ```
    /// use cambio_core::{Rules, knob::MatchEnd};
    /// use cambio_sim::Unit;
    ///
    /// let original = Rules::preset("original").unwrap();
    /// assert_eq!(Unit::Match.of(original).spec().match_end, MatchEnd::Total(50));
    /// assert_eq!(Unit::Rounds.of(original).spec().match_end, MatchEnd::Rounds(1));
    /// assert_eq!(Unit::Rounds.of(original).name(), "original (one round)");
    /// ```
    #[expect(clippy::missing_panics_doc, reason = "every rule system is valid with one round too")]
    pub fn of(self, rules: Rules) -> Rules {
        const SUFFIX: &str = " (one round)";
        // The longest name that a rule system may have.
        const LONGEST_NAME: usize = 64;
        if self == Unit::Match {
            return rules;
        }
        let mut table = rules.spec().to_table();
        if table["match_end"] == "rounds(1)" {
            return rules;
        }
        table["match_end"] = json!("rounds(1)");
        // A long name is cut.
        let ends = rules.name().char_indices().map(|(at, letter)| at + letter.len_utf8());
        let end = ends.take_while(|end| end + SUFFIX.len() <= LONGEST_NAME).last().unwrap_or(0);
        table["name"] = json!(format!("{}{SUFFIX}", &rules.name()[..end]));
        let spec = RulesSpec::from_json(&table).expect("one round is allowed, and the rest was");
        spec.validate().expect("rules of one round are as good as those of a match")
    }
}

/// What an agent gets from a match.
///
/// ```
/// use cambio_sim::Payoff;
///
/// assert_eq!((Payoff::RankPoints.sign(), Payoff::RankPoints.par(4)), (1.0, Some(0.5)));
/// // A share of the win: 1/4 is par at four seats.
/// assert_eq!(Payoff::Win.par(4), Some(0.25));
/// // Fewer points are better, and how many equal players get depends on how they play.
/// assert_eq!((Payoff::Points.sign(), Payoff::Points.par(4)), (-1.0, None));
/// assert_eq!(Payoff::Points.unit(), "points a match");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Payoff {
    /// (seats − midrank) / (seats − 1): 1 for the best, 0 for the worst, ½ for par; the mean pairwise score.
    #[default]
    RankPoints,
    /// The share of the win: 1 / k with k winners.
    Win,
    /// The points of its layouts over the rounds of the match; fewer are better.
    Points,
    /// The mean points of the table minus its own: more is better, 0 is par.
    Margin,
}

impl Payoff {
    /// Every payoff.
    pub const ALL: [Payoff; 4] = [Payoff::RankPoints, Payoff::Win, Payoff::Points, Payoff::Margin];

    /// 1 if more is better, −1 if less is better.
    pub fn sign(self) -> f64 {
        if self == Payoff::Points { -1.0 } else { 1.0 }
    }

    /// The unit of its numbers, in words.
    pub fn unit(self) -> &'static str {
        match self {
            Payoff::RankPoints => "rank points",
            Payoff::Win => "wins a match",
            Payoff::Points => "points a match",
            Payoff::Margin => "points of margin a match",
        }
    }

    /// What equal players get; `None` if that depends on how they play.
    pub fn par(self, seats: usize) -> Option<f64> {
        match self {
            Payoff::RankPoints => Some(0.5),
            Payoff::Win => Some(1.0 / seats as f64),
            Payoff::Points => None,
            Payoff::Margin => Some(0.0),
        }
    }

    /// What values it can have.
    pub fn support(self) -> Support {
        match self {
            Payoff::RankPoints | Payoff::Win => Support::Share,
            Payoff::Points | Payoff::Margin => Support::Line,
        }
    }

    /// What values the difference of two agents' payoffs can have.
    pub fn support_of_difference(self) -> Support {
        match self.support() {
            Support::Share => Support::Difference,
            other => other,
        }
    }

    /// How many of these units are 1.
    pub fn scale(self, seats: usize) -> f64 {
        match self {
            Payoff::RankPoints => f64::from(2 * (seats as u32 - 1)),
            // 1/k for every k up to 8.
            Payoff::Win => 840.0,
            Payoff::Points => 1.0,
            Payoff::Margin => f64::from(seats as u32),
        }
    }
}

/// What becomes of a match in which an agent is at fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FaultPolicy {
    /// The run stops and says how to see the match.
    #[default]
    Stop,
    /// The agent has the last rank, the others share the first.
    Forfeit,
    /// The whole deal block is dropped.
    Void,
}

/// Which agents meet at one table.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Lineups {
    /// A rule by name.
    Rule(LineupRule),
    /// A list of lineups, each with one agent spec for each seat. Other numbers of seats have no lineup from it.
    Listed(Vec<Vec<String>>),
    /// Each of some agents against a fixed field.
    Focal(Focal),
    /// Seats filled from pools in turn.
    Pools(Pools),
    /// Left out: the same as `all`.
    #[default]
    #[serde(skip_deserializing)]
    Unsaid,
}

/// A rule for which agents meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LineupRule {
    /// Every set of as many different agents as there are seats; where there are fewer agents, all of them, repeated
    /// as evenly as possible in every way.
    All,
    /// Each agent against copies of itself.
    Mirror,
    /// Every choice of agents with repetition, mirrors left out: the payoff table of an empirical game.
    Compositions,
}

/// Each of some agents, in every seat, against a fixed field.
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Focal {
    /// The agents to be measured; without them all of `agents` that are not in the field.
    #[serde(default)]
    pub focal: Vec<String>,
    /// Who they sit with: one agent for all other seats, or one for each.
    #[schemars(length(min = 1, max = 7))]
    pub field: Vec<String>,
}

/// Lineups take their first agent from the first pool, the second from the second pool, and so on in turn. Every choice comes
/// once.
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pools {
    /// The pools: lists of agents.
    #[schemars(length(min = 1))]
    pub pools: Vec<Vec<String>>,
}

/// The most characters of what may be a path or a list. It holds a path of Linux.
const SENTENCE: usize = 4096;

/// Why an experiment cannot be planned: one sentence.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", shown(path).up_to(SENTENCE))]
    Unreadable {
        /// The path.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not an experiment.
    #[error("{} is not an experiment file: {}", shown(path).up_to(SENTENCE), shown(what).up_to(1000))]
    Form {
        /// The path.
        path: String,
        /// What is wrong, and where.
        what: String,
    },
    /// A rule file is refused.
    #[error("rules `{}`: {source}", shown(name))]
    Rules {
        /// The preset or path.
        name: String,
        /// Why.
        source: RulesError,
    },
    /// An agent's spec is refused.
    #[error(transparent)]
    Agent(#[from] SpecError),
    /// A list or number is not allowed.
    #[error("field `{field}` is {}; allowed is {allowed}", shown(found).up_to(SENTENCE))]
    Value {
        /// The field.
        field: &'static str,
        /// What it is.
        found: String,
        /// What is allowed.
        allowed: String,
    },
}

impl PlanError {
    pub(crate) fn value(field: &'static str, found: impl Into<String>, allowed: impl Into<String>) -> PlanError {
        PlanError::Value { field, found: found.into(), allowed: allowed.into() }
    }
}

impl Experiment {
    /// An experiment at one table, with the seed 0 and one deal: rules, the number of seats, and the specs of the agents.
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

    /// Reads an experiment file. Also returns its text.
    ///
    /// # Errors
    /// If it cannot be read or is not an experiment; the sentence names the line and what is allowed.
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
        let text = read_text(path).map_err(|source| PlanError::Unreadable { path: shown.clone(), source })?;
        let experiment = toml::from_str(&text).map_err(|error| {
            let line = error.span().map(|span| text[..span.start].matches('\n').count() + 1);
            let place = line.map_or_else(String::new, |line| format!("line {line}: "));
            PlanError::Form { path: shown, what: format!("{place}{}", in_plain_words(error.message())) }
        })?;
        Ok((experiment, text))
    }

    /// The experiment as TOML, without the fields that have their default.
    ///
    /// # Panics
    /// If `deals` is not below 2^63.
    ///
    /// ```
    /// use cambio_sim::{Experiment, Focal, Lineups};
    ///
    /// let lineups = Lineups::Focal(Focal { focal: Vec::new(), field: vec!["greedy".into()] });
    /// let experiment = Experiment { deals: 10, lineups, ..Experiment::at("classic", 2, &["greedy", "sharp"]) };
    /// assert!(experiment.to_toml().starts_with("seed = \"0\"\ndeals = 10\nrules = [\"classic\"]\n"));
    /// assert_eq!(toml::from_str::<Experiment>(&experiment.to_toml()), Ok(experiment));
    /// ```
    pub fn to_toml(&self) -> String {
        let fields = |experiment: &Experiment| match serde_json::to_value(experiment) {
            Ok(serde_json::Value::Object(fields)) => fields,
            other => unreachable!("an experiment is an object, not {other:?}"),
        };
        let (mut written, defaults) = (fields(self), fields(&Experiment::default()));
        written.retain(|name, value| *value != defaults[name]);
        toml::to_string(&written).expect("an experiment is text, lists and numbers below 2^63")
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

/// The schema of what [`one_or_many`] reads.
fn one_or_many_of(item: &serde_json::Value) -> Schema {
    json_schema!({"anyOf": [item, {"type": "array", "items": item, "minItems": 1}]})
}

/// The message of the TOML reader, without the names of Rust types.
fn in_plain_words(message: &str) -> String {
    let lineups = "data did not match any variant of untagged enum Lineups";
    let allowed = "field `lineups` is neither \"all\" nor \"mirror\" nor a list of lists of agents, nor \
                   \"compositions\", { focal, field } or { pools }";
    with_nearest_field(message.trim())
        .replace('\n', " ")
        .replace(lineups, allowed)
        .replace(" as i128", "")
        .replace("expected u64", "expected a whole number from 0 to 18446744073709551615")
        .replace("expected usize", "expected a whole number from 0 on")
}

/// The reader's message about an unknown field, with the field that was meant if one is like it.
fn with_nearest_field(message: &str) -> String {
    let quoted = |text: &str| text.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    match message.split_once(", expected one of ") {
        Some((unknown, known)) if unknown.starts_with("unknown field ") => {
            let (word, names) = (quoted(unknown).join(""), quoted(known));
            let meant = did_you_mean(&word, names.iter().map(String::as_str));
            if meant.is_empty() { message.to_owned() } else { format!("{unknown}; {meant}expected one of {known}") }
        }
        _ => message.to_owned(),
    }
}

/// Reads rules: a preset by its name, or a rule file by its path, relative to `folder`.
///
/// # Errors
/// If there is neither, or the file is not a rule system.
///
/// ```
/// use std::path::Path;
///
/// let rules = cambio_sim::read_rules("classic", Path::new(".")).unwrap();
/// assert_eq!(rules.name(), "classic");
/// assert!(cambio_sim::read_rules("whist", Path::new(".")).is_err());
/// ```
pub fn read_rules(name: &str, folder: &Path) -> Result<Rules, PlanError> {
    let refuse = |source| PlanError::Rules { name: name.to_owned(), source };
    if !Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml")) {
        return Rules::preset(name).map_err(refuse);
    }
    let path = folder.join(name);
    let text = read_text(&path).map_err(|source| PlanError::Unreadable { path: path.display().to_string(), source })?;
    RulesSpec::from_toml(&text).and_then(RulesSpec::validate).map_err(refuse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_sits_in_every_seat_equally_often() {
        for seats in 2..=6 {
            for rotations in [Rotations::Cyclic, Rotations::Williams, Rotations::All] {
                let seatings = rotations.seatings(seats);
                for seat in 0..seats {
                    for place in 0..seats {
                        let times = seatings.iter().filter(|seating| seating[seat] == place).count();
                        assert_eq!(times * seats, seatings.len(), "{rotations:?} at {seats} seats");
                    }
                }
            }
        }
    }

    #[test]
    fn in_a_williams_design_everybody_follows_everybody_else_equally_often() {
        for seats in 2..=8 {
            let mut after = vec![vec![0; seats]; seats];
            let seatings = Rotations::Williams.seatings(seats);
            for pair in seatings.iter().flat_map(|seating| seating.windows(2)) {
                after[pair[0]][pair[1]] += 1;
            }
            let each = if seats % 2 == 0 { 1 } else { 2 };
            for (one, row) in after.iter().enumerate() {
                for (other, &times) in row.iter().enumerate() {
                    assert_eq!(times, if one == other { 0 } else { each }, "{seats} seats");
                }
            }
        }
    }
}
