//! Compares the results of agents in several runs.

use cambio_core::Rules;
use cambio_core::text::noun;
use cambio_exec::Estimate;
use cambio_stats::{Interval, LEVEL, Support, independent_difference, t_quantile};
use itertools::Itertools;

use crate::digest::{BEYOND, CellDigest, Digest, estimate, few_deals_note, is_beyond};
use crate::disk::RunError;
use crate::plan::{Cell, Payoff, Plan};
use crate::rows::cell_table;
use crate::run::sums;
use crate::store::StoredRun;
use crate::table::{NONE, Table, Tables, ends, in_full, signed};

/// The results of agents in several runs, at the tables that at least two of them have.
///
/// ```no_run
/// use std::path::Path;
/// use cambio_sim::{Comparison, StoredRun};
///
/// let runs = ["runs/before", "runs/after"].map(|folder| StoredRun::open(Path::new(folder)));
/// let comparison = Comparison::new(runs.into_iter().collect::<Result<_, _>>()?)?;
/// for row in comparison.rows() {
///     println!("{} {}: {:.3}", row.run, row.agent, row.mean.mean);
/// }
/// # Ok::<(), cambio_sim::RunError>(())
/// ```
#[derive(Debug)]
pub struct Comparison {
    runs: Vec<ComparedRun>,
    /// The payoff of the first run, in which all runs are compared.
    payoff: Payoff,
    /// All tables, in the order in which the runs have them.
    tables: Vec<ComparedTable>,
    /// By table, then agent, the best first by the average of its means in all runs, then run.
    scores: Vec<RunScore>,
}

#[derive(Debug)]
struct ComparedRun {
    /// The letter by which tables and notes refer to the run.
    letter: char,
    stored: StoredRun,
    digest: Digest,
}

/// One rule system at one number of seats.
#[derive(Debug)]
struct ComparedTable {
    title: String,
    rules: Rules,
    seats: usize,
    /// For each run, the number of its cell; `None` if the run does not have this table.
    cells: Vec<Option<usize>>,
}

impl ComparedTable {
    fn has(&self, run: usize) -> bool {
        self.cells[run].is_some()
    }

    fn runs(&self) -> usize {
        self.cells.iter().flatten().count()
    }
}

/// The result of an agent at one table in one run.
#[derive(Clone, Debug)]
struct RunScore {
    table: usize,
    run: usize,
    /// The mean payoff, without the luck of the cards if the run measures it.
    mean: Interval,
    /// Whether the field is not the field of the agent's first result.
    is_other_field: bool,
    /// The first comparable run; `None` if the run itself is the first.
    from: Option<usize>,
    row: ComparisonRow,
}

cell_table! {
    /// One agent at one table in one run: a row of the comparison as CSV.
    ComparisonRow {
        /// The agent.
        agent: String,
        /// The folder of the run.
        run: String,
        /// The payoff.
        payoff: String,
        /// The number of deals, which are the clusters.
        deals: u64 => "deals",
        /// The mean payoff. The interval is single.
        mean: Estimate => "payoff" [Ends] as "*",
        /// Whether the luck of the cards is subtracted.
        adjusted: bool,
        /// The number of the field: only rows with the same rules, seats and field are comparable. Their agents meet the same opponents in
        /// the same seats.
        field: usize,
        /// The folder of the first comparable run; empty if this run is the first.
        from: Option<String>,
        /// The mean in this run minus the mean in the first comparable run. The simultaneous interval is over all differences of
        /// the table.
        difference: Option<Estimate> => "payoff" [Ends, Simultaneous],
        /// The number of deals that both runs have. If it is not 0, the difference is paired by deal; otherwise the runs are independent.
        shared_deals: Option<u64> => "deals",
    }
}

impl Comparison {
    /// The most runs, because each has a letter.
    pub const MOST_RUNS: usize = 26;

    /// Reads the rows of these runs, and compares their results.
    ///
    /// # Errors
    /// If a file cannot be read or does not match its ledger.
    ///
    /// # Panics
    /// If the number of runs is 0, or more than [`Comparison::MOST_RUNS`].
    pub fn new(stored: Vec<StoredRun>) -> Result<Comparison, RunError> {
        assert!((1..=Comparison::MOST_RUNS).contains(&stored.len()), "a comparison has from 1 to 26 runs");
        let payoff = stored[0].plan.payoff;
        // Deals are paired only with the deals of another run with the same seed.
        let has_twin = |own: &StoredRun| stored.iter().filter(|other| other.plan.seed == own.plan.seed).count() > 1;
        let twins: Vec<bool> = stored.iter().map(has_twin).collect();
        let mut runs = Vec::new();
        for ((letter, stored), has_twin) in ('A'..='Z').zip(stored).zip(twins) {
            let digest = sums(&stored, has_twin.then_some(payoff))?;
            runs.push(ComparedRun { letter, stored, digest });
        }
        let mut comparison = Comparison { tables: tables(&runs), runs, payoff, scores: Vec::new() };
        comparison.scores = (0..comparison.tables.len()).flat_map(|table| comparison.scores_at(table)).collect();
        Ok(comparison)
    }

    /// The run's cell of a table.
    fn cell(&self, table: usize, run: usize) -> Option<(&Plan, &Cell, &CellDigest)> {
        let index = self.tables[table].cells[run]?;
        let ComparedRun { stored, digest, .. } = &self.runs[run];
        Some((&stored.plan, &stored.plan.cells[index], &digest.cells[index]))
    }

    /// The results at a table.
    fn scores_at(&self, table: usize) -> Vec<RunScore> {
        let (mut scores, mut fields): (Vec<RunScore>, Vec<_>) = (Vec::new(), Vec::new());
        for run in 0..self.runs.len() {
            let Some((plan, cell, digest)) = self.cell(table, run) else { continue };
            for (agent, planned) in plan.agents.iter().enumerate() {
                let Some(mean) = digest.leading().payoff(agent, self.payoff) else { continue };
                let own = field(plan, cell, agent);
                let field = fields.iter().position(|other| *other == own).unwrap_or_else(|| {
                    fields.push(own);
                    fields.len() - 1
                });
                let mut earlier = scores.iter().filter(|score| score.row.agent == planned.label);
                let is_other_field = earlier.clone().next().is_some_and(|first| first.row.field != field + 1);
                let from = earlier.find(|score| score.row.field == field + 1).map(|score| score.run);
                let row = ComparisonRow {
                    rules: cell.rules.name().to_owned(),
                    seats: cell.seats,
                    agent: planned.label.clone(),
                    run: self.runs[run].stored.path.display().to_string(),
                    payoff: self.payoff.name().replace(' ', "_"),
                    deals: mean.clusters,
                    mean: estimate(&mean),
                    adjusted: plan.measures_luck(),
                    field: field + 1,
                    ..ComparisonRow::default()
                };
                scores.push(RunScore { table, run, mean, is_other_field, from, row });
            }
        }
        let count = scores.iter().filter(|score| score.from.is_some()).count();
        let level = 1.0 - (1.0 - LEVEL) / count as f64;
        let differences: Vec<_> = scores.iter().map(|score| self.difference(score, &scores, level)).collect();
        for (score, (from, difference, deals)) in
            scores.iter_mut().zip(differences).filter_map(|(score, found)| Some((score, found?)))
        {
            score.row.from = Some(from);
            (score.row.difference, score.row.shared_deals) = (Some(difference), Some(deals));
        }
        let average = |label: &String| {
            let own = scores.iter().filter(|score| score.row.agent == *label).map(|score| score.mean.mean);
            self.payoff.sign() * own.clone().sum::<f64>() / own.count() as f64
        };
        let labels = scores.iter().map(|score| score.row.agent.clone()).unique();
        let labels: Vec<String> = labels.sorted_by(|one, other| average(other).total_cmp(&average(one))).collect();
        scores.sort_by_key(|score| labels.iter().position(|label| *label == score.row.agent));
        scores
    }

    /// The difference of a result at a table from the first comparable one, with a simultaneous interval at this level: the other run, the
    /// difference, and the number of shared deals.
    fn difference(&self, own: &RunScore, scores: &[RunScore], level: f64) -> Option<(String, Estimate, u64)> {
        let (from, agent, one) = (own.from?, &own.row.agent, &own.mean);
        let other = scores.iter().find(|score| score.run == from && score.row.agent == *agent)?;
        let (run, other) = (other.row.run.clone(), &other.mean);
        let [(plan, _, cell), (other_plan, _, other_cell)] =
            [self.cell(own.table, own.run)?, self.cell(own.table, from)?];
        let is_fixed = [one, other].iter().all(|mean| mean.half_width() == Some(0.0));
        if plan.seed != other_plan.seed || is_fixed {
            let simultaneous = independent_difference(one, other, level);
            let difference = Estimate { mean: one.mean - other.mean, simultaneous, ..Estimate::default() };
            return Some((run, difference.with_ends(independent_difference(one, other, LEVEL)), 0));
        }
        let paired = cell.difference_from(plan.agent(agent)?, (other_cell, other_plan.agent(agent)?))?;
        let simultaneous = paired.ends_at(t_quantile(0.5 + level / 2.0, paired.freedom()));
        Some((run, Estimate { simultaneous, ..estimate(&paired) }, paired.clusters))
    }

    /// The letters of the runs for which this is true.
    fn letters(&self, is_meant: impl Fn(usize) -> bool) -> String {
        (0..self.runs.len()).filter(|&run| is_meant(run)).map(|run| self.runs[run].letter).join(", ")
    }

    /// What limits the comparison, as sentences.
    pub fn notes(&self) -> Vec<String> {
        let stored = |run: usize| &self.runs[run].stored;
        let differ = |of: &dyn Fn(&StoredRun) -> String| !self.runs.iter().map(|run| of(&run.stored)).all_equal();
        let mut notes = Vec::new();
        if differ(&StoredRun::program) {
            let what = "Different programs played the runs. An agent of the same name may decide differently.";
            notes.push(what.to_owned());
        }
        if differ(&|run| run.plan.payoff.unit().to_owned()) {
            notes.push(format!("The runs have different payoffs. All are compared in {}.", self.payoff.unit()));
        }
        let [adjusted, without] =
            [true, false].map(|measures| self.letters(|run| stored(run).plan.measures_luck() == measures));
        if !without.is_empty() && !adjusted.is_empty() {
            notes.push(format!(
                "The luck of the cards is subtracted in {adjusted}, but not in {without}. A difference of such runs on the same \
                 deals is of the results with luck, so it is not the difference of the printed means."
            ));
        }
        let mut means = self.scores.iter().map(|score| score.mean);
        if self.payoff.support() == Support::Share && means.any(|mean| is_beyond(mean.mean, mean.ends())) {
            notes.push(BEYOND.to_owned());
        }
        let single = self.tables.iter().filter(|table| table.runs() == 1);
        let single = single.map(|table| format!("{} ({})", table.title, self.letters(|run| table.has(run)))).join("; ");
        if !single.is_empty() {
            notes.push(format!("Not compared, because only one run has the table: {single}."));
        }
        notes.extend((0..self.tables.len()).flat_map(|table| self.notes_about(table)));
        notes
    }

    /// What limits the comparison at a table.
    fn notes_about(&self, index: usize) -> Vec<String> {
        let (mut notes, table) = (Vec::new(), &self.tables[index]);
        let name = |table: &ComparedTable| (table.rules.name(), table.seats);
        if let Some(other) = self.tables[..index].iter().find(|other| name(other) == name(table)) {
            notes.push(format!(
                "The rules {} of {} differ from the rules of the same name of {}; their results are not comparable.",
                table.rules.name(),
                self.letters(|run| table.has(run)),
                self.letters(|run| other.has(run))
            ));
        }
        let agents = self.agents_at(index).into_iter().filter(|scores| scores.len() > 1);
        let are_mixed: Vec<bool> = agents.map(|scores| scores.iter().any(|score| score.is_other_field)).collect();
        let mixed = are_mixed.iter().filter(|is_mixed| **is_mixed).count();
        if mixed > 0 {
            notes.push(format!(
                "{}: {mixed} of {} agents of several runs have other opponents or other seats in some runs, marked with †. A mean \
                 depends on the opponents, so these means are not comparable. Play the agents in one experiment, or against the same \
                 field (lineups).",
                table.title,
                are_mixed.len()
            ));
        }
        notes
    }

    /// The results of each agent at a table.
    fn agents_at(&self, table: usize) -> Vec<&[RunScore]> {
        let agents = self.scores.chunk_by(|one, next| (one.table, &one.row.agent) == (next.table, &next.row.agent));
        agents.filter(|scores| scores[0].table == table).collect()
    }

    /// The comparison for people: for each table, the means in each run, and the differences.
    pub fn tables(&self) -> Tables {
        let run = |run: &ComparedRun| {
            let (plan, path, program) = (&run.stored.plan, run.stored.path.display(), run.stored.program());
            let deals = noun(plan.deals, "deal");
            format!("{}: {path}, {} {deals}, seed {}, program {program}\n", run.letter, plan.deals, plan.seed)
        };
        let mut parts = Vec::new();
        for (index, table) in self.tables.iter().enumerate().filter(|(_, table)| table.runs() > 1) {
            let agents = self.agents_at(index);
            let means = |scores: &&[RunScore]| {
                let mean = |run: usize| {
                    scores.iter().find(|score| score.run == run).map_or(NONE.to_owned(), |score| {
                        let mark = if score.is_other_field { " †" } else { "" };
                        in_full(score.mean.mean, score.mean.ends(), 3) + mark
                    })
                };
                std::iter::once(scores[0].row.agent.clone()).chain((0..self.runs.len()).map(mean)).collect_vec()
            };
            let heads = std::iter::once("agent".to_owned()).chain(self.runs.iter().map(|run| run.letter.to_string()));
            let means = Table::shown(heads, agents.iter().map(means));
            parts.push((format!("{}, {}\n", table.title, self.payoff.unit()), means, String::new()));
            let difference = |score: &RunScore| {
                let difference = score.row.difference?;
                let deals = match score.row.shared_deals? {
                    0 => "independent".to_owned(),
                    deals => format!("paired by {deals} {}", noun(deals, "deal")),
                };
                Some([
                    score.row.agent.clone(),
                    format!("{} − {}", self.runs[score.run].letter, self.runs[score.from?].letter),
                    signed(difference.mean, 4),
                    ends(difference.ends(), 4),
                    ends(difference.simultaneous, 4),
                    deals,
                ])
            };
            let heads = ["agent", "runs", "difference", "95 %, single", "95 %, simultaneous", "deals"];
            let differences = Table::shown(heads, agents.into_iter().flatten().filter_map(difference));
            parts.extend((!differences.rows.is_empty()).then(|| (String::new(), differences, String::new())));
        }
        let deals = self.scores.iter().map(|score| score.row.deals);
        Tables { title: self.runs.iter().map(run).collect(), parts, notes: few_deals_note(deals) }
    }

    /// The comparison as rows: by table, agent and run.
    pub fn rows(&self) -> Vec<ComparisonRow> {
        let scores = self.scores.iter().filter(|score| self.tables[score.table].runs() > 1);
        scores.map(|score| score.row.clone()).collect()
    }
}

/// The tables of these runs.
fn tables(runs: &[ComparedRun]) -> Vec<ComparedTable> {
    let mut tables: Vec<ComparedTable> = Vec::new();
    for (run, ComparedRun { letter, stored, .. }) in runs.iter().enumerate() {
        for (index, cell) in stored.plan.cells.iter().enumerate() {
            let known = tables.iter().position(|table| table.rules == cell.rules && table.seats == cell.seats);
            let table = known.unwrap_or_else(|| {
                let title = cell.to_string();
                let is_taken = tables.iter().any(|table| table.title == title);
                let title = if is_taken { format!("{title}, rules of {letter}") } else { title };
                tables.push(ComparedTable {
                    title,
                    rules: cell.rules,
                    seats: cell.seats,
                    cells: vec![None; runs.len()],
                });
                tables.len() - 1
            });
            tables[table].cells[run] = Some(index);
        }
    }
    tables
}

/// The field of an agent: for each match of a deal, the agents in the seats, with `None` for the agent itself.
fn field(plan: &Plan, cell: &Cell, agent: usize) -> Vec<Vec<Option<String>>> {
    let name = |other: usize| (other != agent).then(|| plan.agents[other].label.clone());
    let mut matches: Vec<_> = cell
        .lineups_of(agent)
        .flat_map(|lineup| {
            cell.seatings.iter().map(move |seating| seating.iter().map(|&at| name(lineup.agents()[at])).collect())
        })
        .collect();
    matches.sort_unstable();
    matches
}
