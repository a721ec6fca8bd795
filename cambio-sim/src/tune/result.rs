//! The result of a tuning: `tuning.json`.

use cambio_core::text::noun;
use cambio_exec::Row as _;
use itertools::Itertools as _;
use serde::{Deserialize, Serialize};

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
    /// The field: one agent for all other seats, or one agent for each of them.
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
        let mut warnings = Vec::new();
        for ((value, range), name) in self.best_value.split(' ').zip(&self.ranges).zip(self.parameters()) {
            let is_at = |end| range.parse().is_ok_and(|values: Values| value.parse() == Ok(values.at(end)));
            let end = match (is_at(0.0), is_at(1.0)) {
                (true, false) => ("lowest", "lower"),
                (false, true) => ("highest", "higher"),
                _ => continue,
            };
            warnings.push(format!(
                "the best value {value} of `{name}` is the {} of the range {range}; if {} values are valid, extend the range",
                end.0, end.1
            ));
        }
        warnings.extend(self.few_deals(points));
        warnings.extend(self.weak_field(points));
        warnings
    }

    /// One decimal more than in a tournament, because neighbouring values differ little.
    fn digits(&self) -> usize {
        self.payoff.digits() + 1
    }

    /// A mean with its interval, or with a note that the mean is fixed by construction.
    fn mean_text(&self, point: &ResponsePoint) -> String {
        if point.is_mirror {
            return format!("{} by construction", number(point.payoff.mean, self.digits()));
        }
        in_full(point.payoff.mean, point.payoff.ends(), self.digits())
    }

    /// The curve for people. `points` are the rows of `curve.csv`.
    pub fn tables(&self, points: &[ResponsePoint]) -> Tables {
        let row = |point: &ResponsePoint| {
            let mark = match point.among_best {
                _ if point.agent == self.best => "*",
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
        let curve = Table::shown(["  value", "deals", "mean", "95 % band"], points.iter().map(row));
        Tables { title: String::new(), parts: vec![(String::new(), curve, String::new())], notes }
    }

    /// The result in sentences: the best value, and its comparison with the incumbent.
    pub fn verdicts(&self, points: &[ResponsePoint]) -> Vec<String> {
        let unit = self.payoff.unit();
        let luck = if self.adjusted { ", without the luck of the cards" } else { "" };
        let table = format!("on {}, {} seats{luck}", self.rules, self.seats);
        let Some(best) = points.iter().find(|point| point.agent == self.best) else { return Vec::new() };
        let is_level = |point: &&ResponsePoint| point.among_best == Some(true) && point.agent != self.best;
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
            self.best,
            points.len()
        );
        let validation = match &self.validation {
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
        let deals = points.iter().find(|point| point.agent == self.best)?.deals;
        (deals < FEW_DEALS)
            .then(|| format!("the best value has {deals} deals; intervals from fewer than {FEW_DEALS} deals are rough"))
    }

    fn weak_field(&self, points: &[ResponsePoint]) -> Option<String> {
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
