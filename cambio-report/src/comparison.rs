//! The page that compares several runs.

use cambio_sim::{ComparedAgent, ComparedRun, ComparedTable, Comparison, RunDifference};
use serde_json::json;

use crate::figure::{Figure, IntervalPoint, forest};
use crate::numbers::{NONE, count, grouped, listed, plus_minus, signed, spread};
use crate::page::{Block, Page, ReportTable, Section, TableCell, TableRow, code, how, prose};
use crate::run::PROGRAM;

/// Makes the page that compares several runs.
///
/// ```no_run
/// use std::path::Path;
/// use cambio_sim::{Comparison, StoredRun};
///
/// let runs = ["runs/before", "runs/after"].map(|folder| StoredRun::open(Path::new(folder)));
/// let comparison = Comparison::new(runs.into_iter().collect::<Result<_, _>>()?)?;
/// std::fs::write("comparison.html", cambio_report::of_comparison(&comparison).html())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn of_comparison(comparison: &Comparison) -> Page {
    let tables = comparison.tables.iter().enumerate().map(|(index, table)| Compared { comparison, table, index });
    let folders: Vec<String> = comparison.runs.iter().map(|run| run.stored.path.display().to_string()).collect();
    let header = std::iter::once(Block::verdict("verdict", headline(comparison)));
    let runs = Section::new("runs", "Runs", vec![Block::Table(runs(comparison))]);
    let how =
        how(prose("how_comparison", json!({ "program": PROGRAM })), format!("cambio report {}", folders.join(" ")));
    Page {
        title: format!("Comparison of {} runs", comparison.runs.len()),
        header: header.chain(comparison.notes.iter().map(|note| Block::note(note.as_str().into()))).collect(),
        has_contents: false,
        sections: [runs].into_iter().chain(tables.map(Compared::section)).chain([how]).collect(),
    }
}

fn headline(comparison: &Comparison) -> String {
    let differences: Vec<RunDifference> = comparison.differences().map(|(.., difference)| difference).collect();
    let values = json!({
        "tables": comparison.tables.len(),
        "differences": differences.len(),
        "significant": differences.iter().filter(|difference| difference.is_told_apart()).count(),
    });
    prose("comparison", values)
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
    let columns = ["folder", "name", "tables", "agents", "deals", "seed", "luck", "program"];
    let rows = comparison.runs.iter().map(row).collect();
    ReportTable::new("Runs", prose("comparison_runs", json!({})), "run", columns, rows).with_class("words")
}

#[derive(Clone, Copy)]
struct Compared<'a> {
    comparison: &'a Comparison,
    table: &'a ComparedTable,
    index: usize,
}

impl Compared<'_> {
    fn section(self) -> Section {
        let mut blocks = vec![Block::heading("Results"), Block::Table(self.scores())];
        blocks.extend(Block::figures([self.plot()]));
        if let Some(differences) = self.differences() {
            blocks.extend([Block::heading("Differences"), Block::Table(differences)]);
        }
        Section::new(format!("table-{}", self.index + 1), self.table.title.as_str(), blocks)
    }

    /// The name of a table, for screen readers.
    fn name(&self, kind: &str) -> String {
        format!("{kind}, {}", self.table.title)
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
        let is_marked =
            self.table.agents.iter().any(|agent| (0..agent.scores.len()).any(|run| agent.has_other_field(run)));
        let caption = prose("comparison_scores", json!({ "unit": self.unit(), "is_marked": is_marked }));
        let columns = self.comparison.runs.iter().map(|run| run.letter);
        let rows = self.table.agents.iter().map(row).collect();
        ReportTable::new(self.name("Results"), caption, "agent", columns, rows)
    }

    fn plot(&self) -> Figure {
        let runs = |agent: &ComparedAgent| {
            let point = |(run, own): (usize, &ComparedRun)| {
                let (figure, mean) = (self.told(agent, run)?, agent.scores[run].as_ref()?.mean);
                let label = format!("{} {}", own.letter, agent.label);
                Some(IntervalPoint {
                    label,
                    figure,
                    mean: mean.mean,
                    interval: mean.ends(),
                    ..IntervalPoint::default()
                })
            };
            self.comparison.runs.iter().enumerate().filter_map(point).collect::<Vec<_>>()
        };
        let points: Vec<IntervalPoint> = self.table.agents.iter().flat_map(runs).collect();
        let par = self.comparison.payoff.par(self.table.seats);
        let is_mixed = points.iter().any(|own| own.figure.ends_with('†'));
        let caption = json!({ "unit": self.unit(), "has_par": par.is_some(), "is_mixed": is_mixed });
        Figure {
            id: format!("runs-{}", self.index + 1),
            title: format!("Mean {} by run, {}", self.unit(), self.table.title),
            description: listed(points.iter().map(|own| format!("{}: {}", own.label, own.figure))),
            caption: prose("comparison_plot", caption),
            drawing: forest(&points, par, (self.unit(), self.comparison.payoff.digits())),
        }
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
        let columns = ["runs", "difference", "single", "simultaneous", "deals"];
        let caption = prose("comparison_differences", json!({ "unit": self.unit() }));
        (!rows.is_empty()).then(|| ReportTable::new(self.name("Differences"), caption, "agent", columns, rows))
    }
}
