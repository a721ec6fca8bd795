//! Agents that differ in one numeric parameter, and the axis for its values.

use std::collections::BTreeMap;

use cambio_agents::roster;
use cambio_stats::Interval;
use serde_json::json;

use crate::figure::{BestComparison, CurveSample, Figure, curve};
use crate::numbers::listed;
use crate::page::prose;

/// A curve needs at least this number of values.
const LEAST_VALUES: usize = 3;

/// Values in ascending order, each with the number of its agent.
type Members = Vec<(f64, usize)>;

/// Agents that differ only in the value of one numeric parameter.
#[derive(PartialEq, Debug)]
pub(super) struct Family {
    /// The spec of the agents, with a question mark for the value.
    pub(super) spec: String,
    pub(super) parameter: String,
    pub(super) members: Members,
}

/// The mean of the agent with one value of a parameter.
pub(super) struct ParameterMean {
    pub(super) value: f64,
    pub(super) mean: Interval,
    /// The value and the mean in words.
    pub(super) text: String,
    pub(super) standing: BestComparison,
}

impl Family {
    /// A plot of the means by the value of the parameter; `caption` is the name of its text.
    pub(super) fn figure(
        &self,
        id: String,
        means: &[ParameterMean],
        (unit, table): (&str, &str),
        caption: &str,
    ) -> Figure {
        let (at, is_logarithmic) = axis(&means.iter().map(|own| own.value).collect::<Vec<_>>());
        let sample = |(own, at): (&ParameterMean, f64)| CurveSample {
            label: own.value.to_string(),
            at: Some(at),
            mean: own.mean.mean,
            interval: own.mean.ends(),
            band: None,
            share: None,
            standing: own.standing,
        };
        let samples: Vec<CurveSample> = means.iter().zip(at).map(sample).collect();
        Figure {
            id,
            title: format!("Mean {unit} of {} by {}, {table}", self.spec, self.parameter),
            description: listed(means.iter().map(|own| own.text.clone())),
            caption: prose(caption, json!({ "unit": unit, "agents": self.spec })),
            drawing: curve(&samples, &axis_name(&self.parameter, is_logarithmic), unit),
        }
    }
}

/// The families of agents with these specs. Defaults count as values, as far as the agents are in the roster.
pub(super) fn families(specs: &[&str]) -> Vec<Family> {
    let known = roster();
    // The other parameters, the name of the parameter, and the members.
    let mut found: BTreeMap<(Vec<String>, String), Members> = BTreeMap::new();
    for (agent, spec) in specs.iter().enumerate() {
        let full = known.parse(spec).map_or_else(|_| (*spec).to_owned(), |spec| spec.full());
        let parts: Vec<String> = full.trim_end_matches(')').split(',').map(str::to_owned).collect();
        for (place, part) in parts.iter().enumerate() {
            let Some((name, value)) = part.split_once('=') else { continue };
            let Some(value) = value.parse().ok().filter(|value: &f64| value.is_finite()) else { continue };
            let mut others = parts.clone();
            others[place] = format!("{name}=");
            let name = name.rsplit('(').next().unwrap_or(name);
            found.entry((others, name.to_owned())).or_default().push((value, agent));
        }
    }
    let family = |((_, parameter), mut members): ((Vec<String>, String), Members)| {
        members.sort_by(|one, other| one.0.total_cmp(&other.0));
        let values = 1 + members.windows(2).filter(|pair| pair[0].0 < pair[1].0).count();
        let spec = members.iter().find_map(|(_, agent)| with_question_mark(specs[*agent], &parameter))?;
        (values >= LEAST_VALUES).then_some(Family { spec, parameter, members })
    };
    found.into_iter().filter_map(family).collect()
}

/// The spec with a question mark as the value of the parameter, if the spec gives it.
fn with_question_mark(spec: &str, parameter: &str) -> Option<String> {
    let start = ['(', ',']
        .iter()
        .find_map(|before| Some(spec.find(&format!("{before}{parameter}="))? + parameter.len() + 2))?;
    let end = start + spec[start..].find([',', ')'])?;
    Some(format!("{}?{}", &spec[..start], &spec[end..]))
}

/// The positions of ascending values on an axis, and whether the axis is logarithmic. It is if the values span a factor of
/// 10 and their ratios are more even than their differences.
pub(super) fn axis(values: &[f64]) -> (Vec<f64>, bool) {
    let logs: Vec<f64> = values.iter().map(|value| libm::log10(*value)).collect();
    let unevenness = |values: &[f64]| {
        let steps: Vec<f64> = values.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step > 0.0).collect();
        let ends =
            steps.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), step| (least.min(*step), most.max(*step)));
        ends.1 / ends.0
    };
    let spans = values.first().zip(values.last()).is_some_and(|(first, last)| *first > 0.0 && last / first >= 10.0);
    if spans && unevenness(&logs) < unevenness(values) { (logs, true) } else { (values.to_vec(), false) }
}

/// The name of an axis.
pub(super) fn axis_name(parameter: &str, is_logarithmic: bool) -> String {
    format!("{parameter}{}", if is_logarithmic { ", logarithmic axis" } else { "" })
}

#[cfg(test)]
mod tests;
