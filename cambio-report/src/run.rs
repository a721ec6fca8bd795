//! The page of a run.

use std::path::Path;

use cambio_exec::write_whole;
use cambio_sim::{
    Derived, Experiment, FaultPolicy, Plan, PlannedAgent, PlayedBatches, PooledRow, RunError, StoredRun, Timing,
};
use cambio_stats::ratings::Fit;
use serde::Serialize;

use crate::cell_report::{CellReport, Section, zero};
use crate::numbers::{NONE, count, grouped, plus_minus};
use crate::parts::{ReportTable, TableCell, TableRow, code, list};
use crate::template::page;
use crate::times::TimeSection;
use crate::verdict::RankedAgents;

const MOST_FAULTS: usize = 50;

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
/// assert!(of_run(run).contains("cambio run spec.toml --out again"));
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
        Ok(write_whole(&folder.join("report.html"), of_run(self).as_bytes())?)
    }
}

#[derive(Serialize)]
struct RunPage {
    title: String,
    headline: String,
    notes: Vec<String>,
    overview: Option<ReportTable>,
    pooled: Option<ReportTable>,
    sections: Vec<Section>,
    times: Vec<TimeSection>,
    faults: Option<ReportTable>,
    no_faults: String,
    how: Vec<String>,
    command: String,
    spec: String,
}

/// Makes `report.html`, the page of a run.
pub fn of_run(run: Run<'_>) -> String {
    let Run { plan, extent, derived, .. } = run;
    let tables: Vec<CellReport<'_>> = (0..plan.cells.len())
        .map(|index| {
            let cell = &derived.digest.cells[index];
            CellReport { plan, index, cell, derived, ranked: RankedAgents::new(plan, index, cell, derived), extent }
        })
        .collect();
    let spec = if run.spec.ends_with('\n') { run.spec.to_owned() } else { format!("{}\n", run.spec) };
    let shown = RunPage {
        title: if plan.name.is_empty() { "A Cambio experiment".to_owned() } else { plan.name.clone() },
        headline: {
            let answer =
                derived.hypothesis.as_ref().map(|answer| answer.text(|name| code(name)) + " ").unwrap_or_default();
            answer + &headline(&tables, extent)
        },
        notes: notes(run, &tables),
        overview: (tables.len() > 1).then(|| overview(&tables)),
        pooled: (derived.pooled.len() > 1).then(|| pooled(plan, &derived.pooled)),
        sections: tables.iter().map(CellReport::section).collect(),
        times: tables.iter().filter_map(|table| table.times(run.timing)).collect(),
        faults: (!derived.faults.is_empty()).then(|| faults(derived)),
        no_faults: match plan.faults {
            FaultPolicy::Stop if extent.is_whole() => "None: a fault would have stopped the run.".into(),
            FaultPolicy::Stop => {
                format!("A fault stops this run. The match up to the fault is then in {}.", code("fault.jsonl"))
            }
            FaultPolicy::Forfeit | FaultPolicy::Void => "None.".into(),
        },
        how: how(run),
        command: command(run),
        spec,
    };
    page("run.html", shown)
}

/// The summary over all tables.
fn headline(tables: &[CellReport<'_>], extent: PlayedBatches) -> String {
    if let [only] = tables {
        return only.ranked.verdict(extent);
    }
    let mut leaders: Vec<(&str, usize)> = Vec::new();
    let (mut compared, mut clear) = (0, 0);
    for ranked in tables.iter().map(|table| &table.ranked).filter(|ranked| ranked.compares()) {
        compared += 1;
        clear += usize::from(ranked.rivals().is_empty());
        let leader = ranked.agents[0].label;
        match leaders.iter_mut().find(|(agent, _)| *agent == leader) {
            Some((_, times)) => *times += 1,
            None => leaders.push((leader, 1)),
        }
    }
    leaders.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    if leaders.is_empty() {
        return "No table compares different agents.".into();
    }
    let shown = leaders.len().min(3);
    let led = |(index, (agent, times)): (usize, &(&str, usize))| {
        let joint = match index {
            0 => "",
            last if last + 1 == leaders.len() => " and ",
            _ => ", ",
        };
        let tables = match (index, *times) {
            (0, times) if times == compared && compared == 2 => " has the best mean at both tables".to_owned(),
            (0, times) if times == compared => format!(" has the best mean at all {times} tables"),
            (0, times) => format!(" has the best mean at {times} of {compared} tables"),
            (_, times) => format!(" at {times}"),
        };
        format!("{joint}{}{tables}", code(agent))
    };
    let all: String = leaders.iter().take(shown).enumerate().map(led).collect();
    let others = match leaders.len() - shown {
        0 => String::new(),
        more => format!(" and {more} others at the rest"),
    };
    let so_far = if extent.is_whole() { "" } else { "So far, " };
    let clear = match clear {
        0 => "at no table is the leader distinguishable from all others".to_owned(),
        all if all == compared => "at every table the leader beats all others".to_owned(),
        some => format!("at {some} of {compared} the leader beats all others"),
    };
    format!("{so_far}{all}{others}; {clear}, corrected for all pairs of the table.")
}

/// The caveats at the top of the page.
fn notes(run: Run<'_>, tables: &[CellReport<'_>]) -> Vec<String> {
    let Run { plan, derived, .. } = run;
    let mut notes = Vec::new();
    if !run.extent.is_whole() {
        let (batches, of) = (grouped(run.extent.batches), grouped(run.extent.of));
        notes.push(format!(
            "This run is incomplete: {batches} of {of} batches were played, and all numbers are based on these. {} plays the remaining \
             batches.",
            code("cambio run --resume")
        ));
    }
    let forfeits: u64 = derived.summary.iter().map(|row| row.forfeits).sum();
    if forfeits > 0 {
        notes.push(format!("Forfeited because of a fault: {}. The agent at fault loses.", count(forfeits, "match")));
    } else if !derived.faults.is_empty() {
        let dropped = count(derived.faults.len() as u64, "deal block");
        notes.push(format!("Dropped because of a fault: {dropped}."));
    }
    let marked = |is_marked: fn(&PlannedAgent) -> bool| -> Vec<&str> {
        plan.agents.iter().filter(|agent| is_marked(agent)).map(|agent| agent.label.as_str()).collect()
    };
    let seers = marked(|agent| agent.sees_all);
    if !seers.is_empty() {
        let see = if seers.len() == 1 { "sees" } else { "see" };
        notes.push(format!("{} {see} hidden cards: this is analysis, not a contest.", list(&seers, " and ")));
    }
    let loose = marked(|agent| !agent.reproducible);
    if !loose.is_empty() {
        let may = "may decide differently when replayed, so their rows are not reproducible.";
        notes.push(format!("{} {may}", list(&loose, " and ")));
    }
    let few = tables.iter().filter_map(|table| table.ranked.agents.iter().map(|agent| agent.mean.clusters).min()).min();
    if let Some(few) = few.filter(|few| *few < 30) {
        notes.push(format!("A table has only {}, which is too few for reliable intervals.", count(few, "deal")));
    }
    notes
}

fn overview(tables: &[CellReport<'_>]) -> ReportTable {
    let payoff = tables[0].plan.payoff;
    let row = |table: &CellReport<'_>| {
        let ranked = &table.ranked;
        let leader = ranked.agents.first();
        let next = ranked.agents.get(1).filter(|_| ranked.compares());
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
            all if all + 1 == ranked.agents.len() => "open".to_owned(),
            some => format!("open with {some}"),
        };
        let agent = |label: Option<&str>| label.map_or_else(|| NONE.into(), code);
        let cells = [
            word,
            agent(leader.map(|agent| agent.label)),
            leader.map_or_else(|| NONE.to_owned(), |agent| ranked.told(&agent.mean)),
            agent(next.map(|agent| agent.label)),
            lead,
            leader.map_or_else(|| NONE.to_owned(), |agent| grouped(agent.mean.clusters)),
        ];
        TableRow::new(table.title(), cells)
    };
    ReportTable {
        caption: format!(
            "The leader of each table, in {}{}: the best mean over the field of the table. The lead is over the next agent, with its 95 % \
             interval, simultaneous over all pairs of the table. Clear: the leader beats all others. Open with N: N agents are not \
             distinguishable from the leader, which does not show that they are as good. The tables are not corrected together.",
            payoff.unit(),
            tables[0].plan.without_luck()
        ),
        corner: "table",
        columns: ["verdict", "leader", "its mean", "next", "lead", "deals"].map(String::from).into(),
        rows: tables.iter().map(row).collect(),
    }
}

fn pooled(plan: &Plan, rows: &[PooledRow]) -> ReportTable {
    let is_regularised = rows[0].fit == Fit::Regularised.method();
    let mut order: Vec<&PooledRow> = rows.iter().collect();
    order.sort_by(|one, other| other.elo.mean.total_cmp(&one.elo.mean));
    let row = |row: &&PooledRow| {
        let elo = plus_minus(row.elo.mean, row.elo.ends(), 0);
        TableRow::new(code(&row.agent), [elo, row.tables.to_string(), grouped(row.games)])
    };
    let kind = if is_regularised { "One regularised rating" } else { "One rating" };
    let interval = if is_regularised {
        " The games do not connect all agents, so as a prior each agent has one win and one loss against an agent of mean strength. \
         Intervals are single 95 % intervals, from the standard errors of the fit, clustered by deal."
    } else {
        " Intervals are single 95 % bootstrap intervals over deals, which have the same cards at every table."
    };
    ReportTable {
        caption: format!(
            "{kind} over all tables, in Elo points{}; {}. The model assumes that an agent is equally strong at every table; tables with \
             more games have more weight.{interval}",
            plan.with_luck(),
            zero(plan)
        ),
        corner: "agent",
        columns: ["Elo", "tables", "games"].map(String::from).into(),
        rows: order.iter().map(row).collect(),
    }
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
    let all = derived.faults.len();
    let first =
        if all > MOST_FAULTS { format!(", first {MOST_FAULTS} shown; all are in faults.csv") } else { String::new() };
    ReportTable {
        caption: format!("{}{first}. faults.jsonl has the match up to each fault.", count(all as u64, "fault")),
        corner: "agent",
        columns: ["what", "where", "when", "policy"].map(String::from).into(),
        rows: derived.faults.iter().take(MOST_FAULTS).map(row).collect(),
    }
}

/// The command that reproduces the run. The plan shows which command-line options differ from the experiment file.
fn command(run: Run<'_>) -> String {
    let plan = run.plan;
    let mut words = vec!["cambio run spec.toml --out again".to_owned()];
    if let Ok(experiment) = toml::from_str::<Experiment>(run.spec) {
        if !plan.secret && experiment.seed != Some(plan.seed) {
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

fn how(run: Run<'_>) -> Vec<String> {
    let plan = run.plan;
    let mut how = vec![format!(
        "With the same version, {}, this command gives the same bytes for any number of threads. The experiment below is {} in this folder.",
        code(concat!("cambio ", env!("CARGO_PKG_VERSION"))),
        code("spec.toml")
    )];
    let known = cambio_agents::roster();
    let own: Vec<&str> =
        plan.agents.iter().map(|agent| agent.spec.as_str()).filter(|spec| known.parse(spec).is_err()).collect();
    if !own.is_empty() {
        how.push(format!("The program must have the agents {}.", list(&own, " and ")));
    }
    let named = toml::from_str::<Experiment>(run.spec).map(|experiment| experiment.rules).unwrap_or_default();
    let files: Vec<&str> =
        named.iter().map(String::as_str).filter(|name| cambio_core::Rules::preset(name).is_err()).collect();
    if !files.is_empty() {
        how.push(format!(
            "The experiment needs these rule files beside it: {}. Their full content is in {}.",
            list(&files, " and "),
            code("spec.lock.json")
        ));
    }
    how.push(format!(
        "Run {}, seed {}, {}. {} replays it and compares the results; {} contains the revision, compiler and target; {} contains the \
         BLAKE3 hashes of all rows.",
        code(plan.run_id()),
        plan.seed,
        count(plan.deals, "deal"),
        code("cambio verify DIR --all"),
        code("manifest.json"),
        code("ledger.jsonl")
    ));
    how.push(format!(
        "To watch matches: {} shows the runs in a folder, and there this page links to the matches.",
        code("cambio serve --runs FOLDER")
    ));
    how
}
