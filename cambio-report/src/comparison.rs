//! The page that compares several runs.

use std::collections::BTreeSet;

use cambio_sim::{ComparedAgent, ComparedRun, ComparedTable, Comparison, RunDifference, RunScore};
use serde::Serialize;

use crate::numbers::{NONE, count, grouped, listed, plus_minus, signed, spread};
use crate::parameter::{axis, axis_name, families};
use crate::parts::{ReportTable, TableCell, TableRow, code};
use crate::plot::{BestComparison, Curve, CurveSample, Figure, RunMark, RunMarks};
use crate::template::page;

#[derive(Serialize)]
struct ComparisonPage {
    title: String,
    headline: String,
    notes: Vec<String>,
    runs: ReportTable,
    sections: Vec<ComparisonSection>,
    how: String,
    command: String,
}

#[derive(Serialize)]
struct ComparisonSection {
    id: String,
    title: String,
    scores: ReportTable,
    plot: Figure<RunMarks>,
    curves: Vec<Figure<Curve>>,
    differences: Option<ReportTable>,
}

/// An agent's result in a run with this number.
type RunResult<'a> = (&'a ComparedAgent, usize, &'a RunScore);

/// Makes the page that compares several runs.
///
/// ```no_run
/// use std::path::Path;
/// use cambio_sim::{Comparison, StoredRun};
///
/// let runs = ["runs/before", "runs/after"].map(|folder| StoredRun::open(Path::new(folder)));
/// let comparison = Comparison::new(runs.into_iter().collect::<Result<_, _>>()?)?;
/// std::fs::write("comparison.html", cambio_report::of_comparison(&comparison))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn of_comparison(comparison: &Comparison) -> String {
    let sections = comparison.tables.iter().enumerate().map(|(index, table)| Compared { comparison, table, index });
    let sections: Vec<ComparisonSection> = sections.map(|section| section.shown()).collect();
    let folders: Vec<String> = comparison.runs.iter().map(|run| run.stored.path.display().to_string()).collect();
    let shown = ComparisonPage {
        title: format!("Comparison of {} runs", comparison.runs.len()),
        headline: headline(comparison, &sections),
        notes: comparison.notes.iter().map(|note| note.as_str().into()).collect(),
        runs: runs(comparison),
        sections,
        how: format!(
            "With the same version, {}, this command gives the same bytes. {} prints all numbers.",
            code(concat!("cambio ", env!("CARGO_PKG_VERSION"))),
            code("--format csv")
        ),
        command: format!("cambio report {}", folders.join(" ")),
    };
    page("comparison.html", shown)
}

fn headline(comparison: &Comparison, sections: &[ComparisonSection]) -> String {
    let differences: Vec<RunDifference> = comparison.differences().map(|(.., difference)| difference).collect();
    let apart = differences.iter().filter(|difference| difference.is_told_apart()).count();
    if comparison.tables.is_empty() {
        return "No two of these runs have a table in common, so there is nothing to compare.".into();
    }
    if differences.is_empty() {
        let plots = match sections.iter().map(|section| section.curves.len()).sum() {
            0 => "",
            _ => " Agents that differ in one parameter and have the same opponents are compared in plots.",
        };
        return format!("No agent has the same opponents in two of these runs, so no difference is comparable.{plots}");
    }
    let of = count(differences.len() as u64, "comparable difference");
    let word = if apart == 1 { "is" } else { "are" };
    format!("{apart} of {of} between runs {word} significant, corrected for all differences of the table.")
}

fn runs(comparison: &Comparison) -> ReportTable {
    let row = |run: &ComparedRun| {
        let plan = &run.stored.plan;
        let tables: Vec<String> = plan.cells.iter().map(ToString::to_string).collect();
        let played = match run.stored.extent() {
            extent if extent.is_whole() => grouped(plan.deals),
            extent => format!("{}, {} of {} batches", grouped(plan.deals), grouped(extent.batches), grouped(extent.of)),
        };
        let name = if plan.name.is_empty() { NONE } else { &plan.name };
        let tone = if tables.len() > 2 { "long" } else { "" };
        let tables = TableCell { tone, ..tables.join("; ").into() };
        let cells: [TableCell; 8] = [
            code(run.stored.path.display().to_string()).into(),
            name.into(),
            tables,
            plan.agents.len().to_string().into(),
            played.into(),
            plan.seed.to_string().into(),
            if plan.measures_luck() { "subtracted" } else { "included" }.into(),
            run.program.as_str().into(),
        ];
        TableRow::new(run.letter.to_string(), cells)
    };
    ReportTable {
        caption: "The runs. The luck of the cards is subtracted where a run measures it.".into(),
        corner: "run",
        columns: ["folder", "name", "tables", "agents", "deals", "seed", "luck", "program"].map(String::from).into(),
        rows: comparison.runs.iter().map(row).collect(),
    }
}

struct Compared<'a> {
    comparison: &'a Comparison,
    table: &'a ComparedTable,
    index: usize,
}

impl Compared<'_> {
    fn shown(&self) -> ComparisonSection {
        ComparisonSection {
            id: format!("table-{}", self.index + 1),
            title: self.table.title.clone(),
            scores: self.scores(),
            plot: self.plot(),
            curves: self.curves(),
            differences: self.differences(),
        }
    }

    fn unit(&self) -> &'static str {
        self.comparison.payoff.unit()
    }

    /// The text of a result, with a mark if it is not comparable with the first result of the agent.
    fn told(&self, agent: &ComparedAgent, run: usize) -> Option<String> {
        let mean = agent.scores[run].as_ref()?.mean;
        let mark = if agent.has_other_field(run) { " †" } else { "" };
        Some(plus_minus(mean.mean, mean.ends(), self.comparison.payoff.digits()) + mark)
    }

    fn scores(&self) -> ReportTable {
        let row = |agent: &ComparedAgent| {
            let score = |run| self.told(agent, run).unwrap_or_else(|| NONE.to_owned());
            TableRow::new(code(&agent.label), (0..agent.scores.len()).map(score))
        };
        let marked =
            self.table.agents.iter().any(|agent| (0..agent.scores.len()).any(|run| agent.has_other_field(run)));
        ReportTable {
            caption: format!(
                "Mean {} of each agent in each run, with single 95 % intervals, clustered by deal.{}",
                self.unit(),
                if marked {
                    " †: the agent has other opponents or other seats than in the first run of its row, so the two means are not \
                     comparable."
                } else {
                    ""
                }
            ),
            corner: "agent",
            columns: self.comparison.runs.iter().map(|run| run.letter.to_string()).collect(),
            rows: self.table.agents.iter().map(row).collect(),
        }
    }

    fn plot(&self) -> Figure<RunMarks> {
        let marks = |agent: &ComparedAgent| {
            let scores = agent.scores.iter().zip(&self.comparison.runs).enumerate();
            let mark = |(run, (score, own)): (usize, (&Option<RunScore>, &ComparedRun))| {
                let mean = score.as_ref()?.mean;
                let is_comparable = !agent.has_other_field(run);
                Some(RunMark { letter: own.letter, mean: mean.mean, interval: mean.ends(), is_comparable })
            };
            (agent.label.clone(), scores.filter_map(mark).collect())
        };
        let agents: Vec<(String, Vec<RunMark>)> = self.table.agents.iter().map(marks).collect();
        let described = |agent: &ComparedAgent| {
            let own = self.comparison.runs.iter().enumerate();
            let told: Vec<String> =
                own.filter_map(|(run, own)| Some(format!("{} {}", own.letter, self.told(agent, run)?))).collect();
            format!("{}: {}", agent.label, told.join(", "))
        };
        let par = self.comparison.payoff.par(self.table.seats);
        let dashed = if par.is_some() { " The dashed line is par." } else { "" };
        let is_mixed = agents.iter().any(|(_, marks)| marks.iter().any(|mark| !mark.is_comparable));
        let other = if is_mixed { " †: other opponents." } else { "" };
        Figure {
            id: format!("runs-{}", self.index + 1),
            title: format!("Mean {} by run, {}", self.unit(), self.table.title),
            description: listed(self.table.agents.iter().map(described)),
            caption: format!(
                "Mean {} of each agent, with single 95 % intervals. The letters are the runs.{dashed}{other}",
                self.unit()
            ),
            drawing: RunMarks::new(&agents, par, self.unit()),
        }
    }

    /// For each numeric parameter in which agents of several runs with the same opponents differ, the means by its value.
    fn curves(&self) -> Vec<Figure<Curve>> {
        let results = self.table.agents.iter().flat_map(|agent| {
            let scores = agent.scores.iter().enumerate();
            scores.filter_map(move |(run, score)| score.as_ref().map(|score| (agent, run, score)))
        });
        let results: Vec<RunResult<'_>> = results.collect();
        let mut curves = Vec::new();
        let fields: BTreeSet<usize> = results.iter().map(|(.., score)| score.field).collect();
        for field in fields {
            let own: Vec<_> = results.iter().filter(|(.., score)| score.field == field).collect();
            let specs: Vec<&str> = own.iter().map(|(agent, ..)| agent.label.as_str()).collect();
            for family in families(&specs) {
                let members: Vec<_> = family.members.iter().map(|(value, at)| (*value, own[*at])).collect();
                if members.iter().all(|(_, (_, run, _))| *run == members[0].1.1) {
                    // The report of the run has this curve.
                    continue;
                }
                let (at, is_logarithmic) = axis(&members.iter().map(|(value, _)| *value).collect::<Vec<_>>());
                let sample = |((value, (_, _, score)), at): (&(f64, &RunResult<'_>), f64)| CurveSample {
                    label: value.to_string(),
                    at: Some(at),
                    mean: score.mean.mean,
                    interval: score.mean.ends(),
                    band: None,
                    share: None,
                    standing: BestComparison::Level,
                };
                let samples: Vec<CurveSample> = members.iter().zip(at).map(sample).collect();
                let described = |(value, (agent, run, _)): &(f64, &RunResult<'_>)| {
                    format!(
                        "{value} ({}): {}",
                        self.comparison.runs[*run].letter,
                        self.told(agent, *run).unwrap_or_default()
                    )
                };
                curves.push(Figure {
                    id: format!("parameter-{}-{}", self.index + 1, curves.len() + 1),
                    title: format!(
                        "Mean {} of {} by {}, {}",
                        self.unit(),
                        family.spec,
                        family.parameter,
                        self.table.title
                    ),
                    description: listed(members.iter().map(described)),
                    caption: format!(
                        "Mean {} of {}, over the runs in which these agents have the same opponents, with single 95 % intervals.",
                        self.unit(),
                        code(&family.spec)
                    ),
                    drawing: Curve::new(&samples, &axis_name(&family.parameter, is_logarithmic), self.unit()),
                });
            }
        }
        curves
    }

    fn differences(&self) -> Option<ReportTable> {
        let digits = self.comparison.payoff.digits();
        let letter = |run: usize| self.comparison.runs[run].letter;
        let own = self.comparison.differences().filter(|(table, ..)| std::ptr::eq(*table, self.table));
        let row = |(_, agent, run, difference): (&ComparedTable, &ComparedAgent, usize, RunDifference)| {
            let interval = |ends| spread(difference.difference.mean, ends, digits).trim_start().to_owned();
            let mark = if difference.is_told_apart() { "▲ " } else { "" };
            let deals = match difference.shared_deals {
                0 => "independent".to_owned(),
                deals => format!("paired by {}", count(deals, "deal")),
            };
            let cells = [
                format!("{} − {}", letter(run), letter(difference.from)),
                format!("{mark}{}", signed(difference.difference.mean, digits)),
                interval(difference.difference.ends()),
                interval(difference.difference.simultaneous),
                deals,
            ];
            TableRow::new(code(&agent.label), cells)
        };
        let rows: Vec<TableRow> = own.map(row).collect();
        (!rows.is_empty()).then(|| ReportTable {
            caption: format!(
                "Differences of mean {} between runs in which an agent has the same opponents, from the first such run. The intervals are \
                 95 % intervals: single, and simultaneous over all differences of this table (Bonferroni). ▲ marks differences whose \
                 simultaneous interval excludes 0.",
                self.unit()
            ),
            corner: "agent",
            columns: ["runs", "difference", "single", "simultaneous", "deals"].map(String::from).into(),
            rows,
        })
    }
}
