//! The section of the page about the times of agents: strength against time per decision.

use cambio_core::text::duration;
use cambio_sim::Timing;
use serde::Serialize;

use crate::cell_report::CellReport;
use crate::numbers::{NONE, grouped, listed};
use crate::parts::{ReportTable, TableRow};
use crate::plot::{Figure, HEIGHTS, RIGHT, Scale, Tick, covered};
use crate::verdict::RankedAgent;

/// The start of the section in the page.
const SECTION: &str = "<section id=\"times\">";

/// The page without the section about times, which is the only part that depends on the machine.
///
/// ```
/// let page = "<p>a</p>\n<section id=\"times\">\n<p>2 ms</p>\n</section>\n<p>b</p>\n";
/// assert_eq!(cambio_report::without_times(page), "<p>a</p>\n<p>b</p>\n");
/// ```
pub fn without_times(page: &str) -> String {
    let cut = page.split_once(SECTION).and_then(|(before, rest)| Some((before, rest.split_once("</section>\n")?.1)));
    cut.map_or_else(|| page.to_owned(), |(before, after)| before.to_owned() + after)
}

/// The template's view of the times at one table.
#[derive(Serialize)]
pub(super) struct TimeSection {
    title: String,
    table: ReportTable,
    figure: Option<Figure<Scatter>>,
}

/// A scatter plot with a logarithmic time axis.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Scatter {
    foot: f64,
    points: Vec<ScatterPoint>,
    rows: Vec<Tick>,
    columns: Vec<Tick>,
    reference: Option<f64>,
    unit: String,
    payoff: String,
}

#[derive(Clone, Debug, Serialize)]
struct ScatterPoint {
    label: String,
    x: f64,
    y: f64,
    bar: Option<(f64, f64)>,
    is_best: bool,
}

/// The shortest time in the plot, because shorter times are less than the error of the measurement.
const SHORTEST: f64 = 1e-8;

impl CellReport<'_> {
    /// The times of the agents; `None` if no agent was timed.
    pub(super) fn times(&self, timing: &Timing) -> Option<TimeSection> {
        let agents = &self.ranked.agents;
        let time = |agent: &RankedAgent<'_>| {
            let spent = timing.agent(self.index, agent.index)?;
            Some((spent.per_decision()?, spent.decisions))
        };
        let timed: Vec<_> = agents
            .iter()
            .enumerate()
            .filter_map(|(place, agent)| Some((self.ranked.rank(place), agent, time(agent)?.0)))
            .collect();
        if timed.is_empty() {
            return None;
        }
        let row = |(head, agent): (String, &RankedAgent<'_>)| {
            let (each, decisions) =
                time(agent).map_or((NONE.to_owned(), 0), |(each, decisions)| (duration(each), decisions));
            TableRow::new(head, [self.ranked.told(&agent.mean), each, grouped(decisions)])
        };
        let unit = self.ranked.payoff.unit();
        Some(TimeSection {
            title: self.title(),
            table: ReportTable {
                caption: "The mean CPU time of a decision, including the agent’s work between its decisions, measured on a sample of \
                          the deals. If an agent is not from this library or runs in another process, the times are wall times. \
                          Times depend on the machine and on its other work."
                    .into(),
                corner: "agent",
                columns: [unit, "time per decision", "timed decisions"].map(String::from).into(),
                rows: self.heads().into_iter().zip(agents).map(row).collect(),
            },
            figure: (timed.len() > 1).then(|| self.scatter(&timed)),
        })
    }

    fn scatter(&self, timed: &[(String, &RankedAgent<'_>, f64)]) -> Figure<Scatter> {
        let ranked = &self.ranked;
        let ((left, top), foot) = (HEIGHTS, 232.0);
        let log = |seconds: f64| libm::log10(seconds.max(SHORTEST));
        let across = Scale::around(timed.iter().map(|(_, _, seconds)| log(*seconds)), left + 8.0, RIGHT - 8.0);
        let par = ranked.payoff.par(self.seats());
        let values = timed.iter().flat_map(|(_, agent, _)| covered(agent.mean.mean, [agent.mean.ends(), None]));
        let up = Scale::around(values.chain(par), foot, top);
        let up = up.at_least(10_f64.powi(-(ranked.payoff.digits() as i32)));
        let point = |(label, agent, seconds): &(String, &RankedAgent<'_>, f64)| ScatterPoint {
            label: label.clone(),
            x: across.at(log(*seconds)),
            y: up.at(agent.mean.mean),
            bar: agent.mean.ends().map(|ends| up.span(ends)),
            is_best: agent.is_among_best,
        };
        let steps: &[f64] = if across.high - across.low > 1.5 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let round = (-9..6).flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)));
        let columns = round.filter(|seconds| (across.low..=across.high).contains(&libm::log10(*seconds)));
        let described = |(label, agent, seconds): &(String, &RankedAgent<'_>, f64)| {
            format!("{label} {}: {} at {}", agent.label, ranked.told(&agent.mean), duration(*seconds))
        };
        let unit = ranked.payoff.unit();
        Figure {
            id: format!("times-{}", self.index + 1),
            title: format!("Mean {unit} against time per decision, {}", self.title()),
            description: listed(timed.iter().map(described)),
            caption: format!(
                "Mean {unit} with single 95 % intervals against the time per decision, on a logarithmic axis. The numbers are the ranks \
                 in the table; the marks are as in the plot of the means."
            ),
            drawing: Scatter {
                foot,
                points: timed.iter().map(point).collect(),
                rows: up.ticks(5.0),
                columns: columns
                    .map(|seconds| Tick { at: across.at(libm::log10(seconds)), label: axis_label(seconds) })
                    .collect(),
                reference: par.map(|par| up.at(par)),
                unit: "time per decision".to_owned(),
                payoff: unit.to_owned(),
            },
        }
    }
}

/// A round time without decimals: `100 ns`, `2 µs`, `50 ms`.
fn axis_label(seconds: f64) -> String {
    let (value, unit) = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")]
        .into_iter()
        .map(|(size, unit)| (seconds / size, unit))
        .find(|(value, _)| *value > 0.999)
        .unwrap_or((seconds / 1e-9, "ns"));
    format!("{value:.0} {unit}")
}
