//! The page of a run.

use std::path::Path;

use cambio_exec::write_whole;
use cambio_sim::{
    Derived, Experiment, FaultPolicy, Plan, PlannedAgent, PlayError, PlayedBatches, PooledRow, Report, RunError,
    RunFolder, StoredRun, Timing,
};
use cambio_stats::ratings::Fit;
use serde_json::json;

use crate::cell::{CellReport, zero};
use crate::numbers::{NONE, grouped, plus_minus};
use crate::page::{Block, Page, ReportTable, Section, TableCell, TableRow, code, prose};
use crate::verdict::RankedAgents;

/// The maximum number of faults on a page.
const MOST_FAULTS: usize = 50;

/// The program, with its version.
pub(crate) const PROGRAM: &str = concat!("cambio ", env!("CARGO_PKG_VERSION"));

/// A run and its derived tables.
///
/// ```
/// use std::path::Path;
/// use cambio_report::{Run, of_run};
/// use cambio_sim::{Executor, Experiment, PlayedBatches, Runner};
///
/// let experiment = Experiment { deals: 20, ..Experiment::at("classic", 2, &["random", "greedy"]) };
/// let plan = experiment.plan(&cambio_agents::roster(), Path::new("."))?;
/// let report = Runner::new(&Executor::new(1)?).play(&plan);
/// let all = plan.batch_count();
/// let extent = PlayedBatches { batches: all, of: all };
/// let run = Run { plan: &plan, spec: plan.toml(), extent, derived: &report.derived, timing: &report.timing };
/// assert!(of_run(run).html().contains("cambio run spec.toml --out again"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The experiment file.
    pub spec: &'a str,
    /// The number of played batches, and of all batches.
    pub extent: PlayedBatches,
    /// The derived tables.
    pub derived: &'a Derived,
    /// The times of the agents.
    pub timing: &'a Timing,
}

impl<'a> Run<'a> {
    /// A run on disk.
    pub fn stored(stored: &'a StoredRun, derived: &'a Derived) -> Run<'a> {
        let StoredRun { plan, spec, timing, .. } = stored;
        Run { plan, spec, extent: stored.extent(), derived, timing }
    }

    /// Writes `report.html` into the folder of the run.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(self, folder: &Path) -> Result<(), RunError> {
        Ok(write_whole(&folder.join("report.html"), of_run(self).html().as_bytes())?)
    }
}

/// Writes the page of a run that was played into its folder, unless the folder failed. A failure is the outcome of the report.
#[must_use]
pub fn with_page(mut report: Report, plan: &Plan, folder: &RunFolder) -> Report {
    if !matches!(report.outcome, Err(PlayError::Run(_))) {
        let (spec, extent) = (folder.spec(), folder.extent());
        let page = Run { plan, spec, extent, derived: &report.derived, timing: &report.timing };
        if let Err(error) = page.write(folder.path()) {
            report.outcome = Err(error.into());
        }
    }
    report
}

/// Makes `report.html`, the page of a run.
pub fn of_run(run: Run<'_>) -> Page {
    let Run { plan, extent, derived, .. } = run;
    let tables: Vec<CellReport<'_>> = (0..plan.cells.len())
        .map(|index| CellReport { plan, index, derived, ranked: RankedAgents::new(plan, index, derived), extent })
        .collect();
    let has_several = tables.len() > 1;
    let mut sections = Vec::new();
    if has_several {
        let pooled = (derived.pooled.len() > 1).then(|| pooled(plan, &derived.pooled));
        let tables = [overview(&tables)].into_iter().chain(pooled).map(Block::Table);
        sections.push(Section::new("overview", "Overview", tables.collect()));
    }
    sections.extend(tables.iter().map(|table| table.section(has_several)));
    let times: Vec<Block> = tables.iter().flat_map(|table| table.times(run.timing)).collect();
    if !times.is_empty() {
        sections.push(Section::new("times", "Time", times));
    }
    let (stops, is_whole) = (plan.faults == FaultPolicy::Stop, extent.is_whole());
    let faults = if derived.faults.is_empty() {
        Block::text(prose("no_faults", json!({ "stops": stops, "is_whole": is_whole })))
    } else {
        Block::Table(faults(derived))
    };
    sections.push(Section::new("faults", "Faults", vec![faults]));
    sections.push(Section::new("how", "How to reproduce", how(run)));
    let answer = derived.hypothesis.as_ref().map(|answer| Block::verdict("hypothesis", answer.text(|name| code(name))));
    let header = answer.into_iter().chain([Block::verdict("verdict", headline(&tables, extent))]);
    Page {
        title: if plan.name.is_empty() { "A Cambio experiment".to_owned() } else { plan.name.clone() },
        header: header.chain(notes(run, &tables).into_iter().map(Block::note)).collect(),
        has_contents: has_several,
        sections,
    }
}

/// Whether a table has agents that are not compared.
fn has_others(tables: &[CellReport<'_>]) -> bool {
    tables.iter().any(|table| table.ranked.has_others())
}

/// The summary over all tables.
fn headline(tables: &[CellReport<'_>], extent: PlayedBatches) -> String {
    if let [only] = tables {
        return only.ranked.verdict(extent);
    }
    let mut leaders: Vec<(&str, usize)> = Vec::new();
    let (mut compared, mut decided) = (0, 0);
    for ranked in tables.iter().map(|table| &table.ranked).filter(|ranked| ranked.compares()) {
        compared += 1;
        decided += usize::from(ranked.rivals().is_empty());
        let leader = ranked.agents[0].label;
        match leaders.iter_mut().find(|(agent, _)| *agent == leader) {
            Some((_, times)) => *times += 1,
            None => leaders.push((leader, 1)),
        }
    }
    leaders.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    prose(
        "headline",
        json!({ "leaders": leaders, "tables": compared, "decided": decided, "has_others": has_others(tables), "is_partial": !extent.is_whole() }),
    )
}

/// The caveats at the top of the page.
fn notes(run: Run<'_>, tables: &[CellReport<'_>]) -> Vec<String> {
    let Run { plan, derived, .. } = run;
    let mut notes = Vec::new();
    if !run.extent.is_whole() {
        notes.push(prose("partial", json!({ "batches": run.extent.batches, "of": run.extent.of })));
    }
    let forfeits: u64 = derived.summary.iter().map(|row| row.forfeits).sum();
    if forfeits > 0 {
        notes.push(prose("forfeits", json!({ "matches": forfeits })));
    } else if !derived.faults.is_empty() {
        notes.push(prose("dropped", json!({ "blocks": derived.faults.len() })));
    }
    let marked = |is_marked: fn(&PlannedAgent) -> bool| -> Vec<&str> {
        plan.agents.iter().filter(|agent| is_marked(agent)).map(|agent| agent.label.as_str()).collect()
    };
    for (name, agents) in
        [("seers", marked(|agent| agent.sees_all)), ("not_reproducible", marked(|agent| !agent.reproducible))]
    {
        notes.extend((!agents.is_empty()).then(|| prose(name, json!({ "agents": agents }))));
    }
    let few = tables.iter().filter_map(|table| table.ranked.agents.iter().map(|agent| agent.summary.deals).min()).min();
    if let Some(deals) = few.filter(|few| *few < 30) {
        notes.push(prose("few_deals", json!({ "deals": deals })));
    }
    notes
}

fn overview(tables: &[CellReport<'_>]) -> ReportTable {
    let payoff = tables[0].plan.payoff;
    let row = |table: &CellReport<'_>| {
        let ranked = &table.ranked;
        let leader = ranked.compared().first();
        let next = ranked.compared().get(1).filter(|_| ranked.compares());
        let gap = leader.zip(next).and_then(|(leader, next)| ranked.gap(leader.label, next.label));
        let lead = gap.map_or_else(
            || NONE.to_owned(),
            |gap| {
                let (by, interval) = ranked.told_gap(&gap);
                interval.map_or(by.clone(), |interval| format!("{by} ({interval})"))
            },
        );
        let rivals = ranked.rivals().len();
        let word = match rivals {
            _ if !ranked.compares() => "nothing to compare".to_owned(),
            0 => "clear".to_owned(),
            all if all + 1 == ranked.compared().len() => "open".to_owned(),
            some => format!("open with {some}"),
        };
        let agent = |label: Option<&str>| label.map_or_else(|| NONE.into(), code);
        let cells = [
            word,
            agent(leader.map(|agent| agent.label)),
            leader.map_or_else(|| NONE.to_owned(), |agent| ranked.told(agent.mean)),
            agent(next.map(|agent| agent.label)),
            lead,
            leader.map_or_else(|| NONE.to_owned(), |agent| grouped(agent.summary.deals)),
        ];
        TableRow::new(table.title(), cells)
    };
    let luck = tables[0].plan.without_luck();
    let caption = prose("overview", json!({ "unit": payoff.unit(), "luck": luck, "has_others": has_others(tables) }));
    let columns = ["verdict", "leader", "its mean", "next", "lead", "deals"];
    let rows = tables.iter().map(row).collect();
    ReportTable::new("Overview", caption, "table", columns, rows).with_class("words")
}

fn pooled(plan: &Plan, rows: &[PooledRow]) -> ReportTable {
    let is_regularised = rows[0].fit == Fit::Regularised.method();
    let mut order: Vec<&PooledRow> = rows.iter().collect();
    order.sort_by(|one, other| other.elo.mean.total_cmp(&one.elo.mean));
    let row = |row: &&PooledRow| {
        let elo = plus_minus(row.elo.mean, row.elo.ends(), 0);
        TableRow::new(code(&row.agent), [elo, row.tables.to_string(), grouped(row.games)])
    };
    let caption =
        prose("pooled", json!({ "is_regularised": is_regularised, "luck": plan.with_luck(), "zero": zero(plan) }));
    let rows = order.iter().map(row).collect();
    ReportTable::new("Ratings over all tables", caption, "agent", ["Elo", "tables", "games"], rows)
}

fn faults(derived: &Derived) -> ReportTable {
    let row = |row: &cambio_sim::FaultRow| TableRow {
        head: code(&row.agent),
        cells: vec![
            TableCell { tone: "long", ..row.what.as_str().into() },
            format!("{}, {} seats, deal {}, rotation {}", row.rules, row.seats, row.deal, row.rotation).into(),
            format!("seat {}, round {}, decision {}", row.seat, row.round, row.decision).into(),
            row.policy.as_str().into(),
        ],
    };
    let caption = prose("faults", json!({ "all": derived.faults.len(), "shown": MOST_FAULTS }));
    let rows = derived.faults.iter().take(MOST_FAULTS).map(row).collect();
    ReportTable::new("Faults", caption, "agent", ["what", "where", "when", "policy"], rows).with_class("words")
}

/// The command that reproduces the run. The plan shows which command-line options differ from the experiment file.
fn command(run: Run<'_>) -> String {
    let plan = run.plan;
    let mut words = vec!["cambio run spec.toml --out again".to_owned()];
    if let Ok(experiment) = toml::from_str::<Experiment>(run.spec) {
        if experiment.seed != Some(plan.seed) {
            words.push(format!("--seed {}", plan.seed));
        }
        if experiment.deals != plan.deals {
            words.push(format!("--deals {}", plan.deals));
        }
        if plan.records && !experiment.records {
            words.push("--records".to_owned());
        }
    }
    words.join(" ")
}

fn how(run: Run<'_>) -> Vec<Block> {
    let plan = run.plan;
    let spec = if run.spec.ends_with('\n') { run.spec.to_owned() } else { format!("{}\n", run.spec) };
    let named = toml::from_str::<Experiment>(run.spec).map(|experiment| experiment.rules).unwrap_or_default();
    let files: Vec<&str> =
        named.iter().map(String::as_str).filter(|name| cambio_core::Rules::preset(name).is_err()).collect();
    let verify = json!({ "run": plan.run_id(), "seed": plan.seed.to_string(), "deals": plan.deals });
    let text = |name, values| Block::text(prose(name, values));
    let mut how = vec![text("how_run", json!({ "program": PROGRAM })), Block::Code(command(run)), Block::Code(spec)];
    how.extend((!files.is_empty()).then(|| text("how_rules", json!({ "files": files }))));
    how.extend([text("how_verify", verify), text("how_watch", json!({}))]);
    how
}
