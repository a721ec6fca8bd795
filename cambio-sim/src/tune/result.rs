//! The result of a tuning: `tuning.json`.

use std::fmt;

use cambio_core::text::noun;
use cambio_exec::Row as _;
use itertools::Itertools as _;
use serde::{Deserialize, Serialize, Serializer};

use super::{ResponsePoint, Values};
use crate::digest::FEW_DEALS;
use crate::plan::Payoff;
use crate::table::{NONE, Table, Tables, in_full, number, signed, spread};

/// The result of a tuning: the object of `tuning.json`. The response curve is stored in `curve.csv`.
#[derive(Clone, PartialEq, Debug, Serialize)]
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
    #[serde(serialize_with = "field_text")]
    pub field: Vec<String>,
    /// The payoff that was maximized; points are minimized.
    pub payoff: Payoff,
    /// The seed of the deals.
    pub seed: String,
    /// Whether each agent of the field is a field of its own, and a mean is over all of them. In `tuning.json` only if it is
    /// true.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub mixture: bool,
    /// Whether the means of the curve are without the luck of the cards. In `tuning.json` only if it is true.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub adjusted: bool,
    /// Whether the tuning was interrupted, so that the best value is only the best so far. In `tuning.json` only if it is true.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub undecided: bool,
    /// The search method; `None` for the field `self`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<MethodName>,
    /// The best values.
    #[serde(flatten)]
    pub found: TuningOutcome,
}

/// Writes the field `self` as a word, and another field as a list.
fn field_text<S: Serializer>(field: &[String], into: S) -> Result<S::Ok, S::Error> {
    if field == ["self"] { "self".serialize(into) } else { field.serialize(into) }
}

/// Why a mean has no interval although there are several deals.
const ALL_AGREE: &str = "all deals agree, so no error can be estimated";

/// The probability of a candidate to beat one opponent from which on the field is far weaker.
const FAR: f64 = 0.75;

impl TuningResult {
    /// The name of the parameter at each question mark: the names of the last columns of `curve.csv`. A name that another
    /// column has is followed by the number of the question mark.
    pub fn parameters(&self) -> Vec<String> {
        let pieces: Vec<&str> = self.agent.split('?').collect();
        let mut names: Vec<String> = Vec::new();
        for (number, piece) in pieces[..pieces.len() - 1].iter().enumerate() {
            let name = piece.trim_end().trim_end_matches('=').rsplit(['(', ',', '"']).next().unwrap_or_default().trim();
            let is_free = !name.is_empty()
                && ResponsePoint::columns().iter().all(|column| column.name != name)
                && names.iter().all(|other| other != name);
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

    /// One decimal more than in a tournament, because neighbouring values differ little.
    fn digits(&self) -> usize {
        self.payoff.digits() + 1
    }

    /// Whether a point is the best against its field; in self-play, the best response to its field. If several means are equal, it
    /// is the first.
    fn is_best(&self, points: &[ResponsePoint], point: &ResponsePoint) -> bool {
        if let TuningOutcome::AgainstField(found) = &self.found {
            return point.agent == found.best;
        }
        let sign = self.payoff.sign();
        // `max_by` returns the last of equal points, so in reversed order the first.
        let curve = points.iter().filter(|other| other.field == point.field).rev();
        let best = curve.max_by(|one, other| (sign * one.payoff.mean).total_cmp(&(sign * other.payoff.mean)));
        best.is_some_and(|best| std::ptr::eq(best, point))
    }

    /// A mean with its interval, or with a note that the mean is fixed by construction.
    fn mean_text(&self, point: &ResponsePoint) -> String {
        if point.is_mirror {
            return format!("{} by construction", number(point.payoff.mean, self.digits()));
        }
        in_full(point.payoff.mean, point.payoff.ends(), self.digits())
    }

    /// The means for people: the curve, or in self-play the best response to each field. `points` are the rows of `curve.csv`.
    pub fn tables(&self, points: &[ResponsePoint]) -> Tables {
        let (table, notes) = match &self.found {
            TuningOutcome::AgainstField(_) => self.curve(points),
            TuningOutcome::AgainstItself(found) => self.replies(found, points),
        };
        Tables { title: String::new(), parts: vec![(String::new(), table, String::new())], notes }
    }

    fn curve(&self, points: &[ResponsePoint]) -> (Table, String) {
        let row = |point: &ResponsePoint| {
            let mark = match point.among_best {
                _ if self.is_best(points, point) => "*",
                Some(true) => "=",
                _ => " ",
            };
            let band = match point.payoff.simultaneous {
                Some(_) if point.is_mirror => "exact".to_owned(),
                None => NONE.to_owned(),
                ends => spread(point.payoff.mean, ends, self.digits()).trim_start().to_owned(),
            };
            [format!("{mark} {}", point.value), point.deals.to_string(), self.mean_text(point), band]
        };
        let mut notes = if points.iter().any(|point| point.payoff.simultaneous.is_some()) {
            "* best; = not distinguishable from the best; 95 % band: half the width or the ends of\na simultaneous band for all values\n"
        } else if points.iter().any(|point| point.among_best.is_some()) {
            "* best; = not distinguishable from the best on their common deals\n"
        } else {
            "* best\n"
        }
        .to_owned();
        if points.iter().any(|point| point.payoff.error == Some(0.0) && point.payoff.low.is_none()) {
            notes.extend(["± –: ", ALL_AGREE, "\n"]);
        }
        if points.iter().any(|point| point.is_mirror) {
            notes += "by construction: a value that plays only copies of itself gets a fixed share\n";
        }
        (Table::shown(["  value", "deals", "mean", "95 % band"], points.iter().map(row)), notes)
    }

    fn replies(&self, found: &AgainstItself, points: &[ResponsePoint]) -> (Table, String) {
        let AgainstItself { deals, values, .. } = found;
        let row = |(rival, curve): (usize, &[ResponsePoint])| {
            let best = curve.iter().find(|point| self.is_best(points, point)).expect("there is a value");
            let (own, level) = (&curve[rival], curve.iter().filter(|point| point.among_best == Some(true)));
            let mark = if own.among_best == Some(true) { "*" } else { " " };
            let gain = signed(best.payoff.mean - own.payoff.mean, self.digits());
            [format!("{mark} {}", own.value), best.value.clone(), gain, level.map(|point| &point.value).join(" ")]
        };
        let heads = ["  field", "best reply", "gain", "not distinguishable from the best reply"];
        let notes = format!(
            "* not distinguishable from a best reply to itself: may be a symmetric equilibrium\n{deals} {} for each pair of values\n",
            noun(*deals, "deal")
        );
        (Table::shown(heads, points.chunks(values.len()).enumerate().map(row)), notes)
    }

    /// The result in sentences: the best value, and its comparison with the incumbent.
    pub fn verdicts(&self, points: &[ResponsePoint]) -> Vec<String> {
        let unit = self.payoff.unit();
        let luck = if self.adjusted { ", without the luck of the cards" } else { "" };
        let table = format!("on {}, {} seats{luck}", self.rules, self.seats);
        let found = match &self.found {
            TuningOutcome::AgainstField(found) => found,
            TuningOutcome::AgainstItself(found) => {
                return found.verdicts(&format!("{} {table}", self.agent));
            }
        };
        let Some(best) = points.iter().find(|point| point.agent == found.best) else { return Vec::new() };
        let is_level = |point: &&ResponsePoint| point.among_best == Some(true) && point.agent != found.best;
        let level = points.iter().filter(is_level).map(|point| &point.value).join(", ");
        let method = if points.iter().all(|point| point.deals == best.deals) { "Hsu" } else { "paired differences" };
        let level = match &*level {
            _ if best.among_best.is_none() => String::new(),
            "" => format!(", and every other value is significantly worse ({method}, 95 %)"),
            values => format!("; not distinguishable from it ({method}, 95 %): {values}"),
        };
        let (mean, values) = (self.mean_text(best), noun(points.len() as u64, "value"));
        let mixture = if self.mixture { "the mixture of " } else { "" };
        let field = self.field.join(" and ");
        let first = format!(
            "{} has the best mean, {mean} {unit}, of {} {values} {table} against {mixture}{field}{level}.",
            found.best,
            points.len()
        );
        let validation = match &found.validation {
            None => "It was not validated on fresh deals: the mean of the best of many values is too optimistic on the deals that \
                     selected it."
                .to_owned(),
            Some(Validation::Same { incumbent, .. }) => {
                format!("It is the incumbent, {incumbent}, so there is nothing to validate.")
            }
            Some(Validation::Played(Comparison { deals, winner, incumbent, incumbent_mean, difference, low, high })) => {
                let [winner, mean] = [winner, incumbent_mean].map(|mean| number(*mean, self.digits()));
                let (difference, ends) = (signed(*difference, self.digits()), low.zip(*high));
                let is_significant = ends.is_some_and(|(low, high)| low > 0.0 || high < 0.0);
                let (deals, verb) = (format!("{deals} fresh {}", noun(*deals, "deal")), if is_significant { "" } else { "not " });
                let [low, high] = [low, high].map(|end| number(end.unwrap_or_default(), self.digits()));
                let interval = ends.map_or_else(|| format!(" ({ALL_AGREE})"), |_| format!(" (95 % interval {low} to {high})"));
                format!(
                    "On {deals} it averages {winner} {unit}, the incumbent {incumbent} {mean}: difference {difference}{interval}, {verb}a \
                     significant difference."
                )
            }
        };
        vec![first, validation]
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
        let mut means: Vec<f64> = points.iter().map(|point| point.payoff.mean).collect();
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
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum TuningOutcome {
    /// All candidates played against the same field.
    AgainstField(AgainstField),
    /// The candidates played against each other.
    AgainstItself(AgainstItself),
}

/// The best value against a field.
#[derive(Clone, PartialEq, Debug, Serialize)]
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
#[derive(Clone, PartialEq, Debug, Serialize)]
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

impl AgainstItself {
    /// The equilibria in sentences. `agent` is the agent and the table.
    fn verdicts(&self, agent: &str) -> Vec<String> {
        let AgainstItself { symmetric_equilibria: equilibria, nash, values, .. } = self;
        let of = format!("{} {} of {agent}", values.len(), noun(values.len() as u64, "value"));
        let first = match &equilibria[..] {
            [] => format!("None of {of} is a best response to tables full of itself."),
            found => format!(
                "Of {of}, not distinguishable from the best response to tables full of itself, as far as the data show: {}.",
                found.join(", ")
            ),
        };
        let likely = |(share, value): (&f64, &String)| format!("{value} with probability {:.0} %", share * 100.0);
        let nash = nash.as_ref().map(|nash| {
            let shares = nash.iter().zip(values).filter(|(share, _)| **share > 0.005).map(likely);
            format!("Equilibrium of the measured means: {}.", { shares }.join(", "))
        });
        std::iter::once(first).chain(nash).collect()
    }
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
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
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
#[derive(Clone, PartialEq, Debug, Serialize)]
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
