//! Compares the results of agents in several runs.

use std::collections::{BTreeMap, BTreeSet};

use cambio_core::Rules;
use cambio_core::text::noun;
use cambio_exec::Estimate;
use cambio_stats::{Interval, LEVEL, Support, independent_difference, t_quantile};
use itertools::Itertools;

use crate::digest::{BEYOND, CellDigest, Digest, FEW_DEALS, estimate, is_beyond};
use crate::disk::RunError;
use crate::plan::{Cell, Payoff, Plan};
use crate::rows::cell_table;
use crate::run::sums;
use crate::store::StoredRun;
use crate::table::{NONE, Table, Tables, ends, in_full, signed};

/// Several runs, and the tables that at least two of them have.
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
    /// The runs.
    pub runs: Vec<ComparedRun>,
    /// The payoff of the first run, in which all runs are compared.
    pub payoff: Payoff,
    /// The tables of at least two runs, in the order in which the runs have them.
    pub tables: Vec<ComparedTable>,
    /// What limits the comparison, as sentences.
    pub notes: Vec<String>,
}

/// A run of a comparison.
#[derive(Debug)]
pub struct ComparedRun {
    /// The letter by which tables and plots refer to the run.
    pub letter: char,
    /// The run.
    pub stored: StoredRun,
    /// The version of the program that played it, and its git revision.
    pub program: String,
    digest: Digest,
}

/// One rule system at one number of seats.
#[derive(Debug)]
pub struct ComparedTable {
    /// The rules and the number of seats.
    pub title: String,
    /// The rules.
    pub rules: Rules,
    /// The number of seats.
    pub seats: usize,
    /// The agents, the best first, by the average of their means in all runs.
    pub agents: Vec<ComparedAgent>,
    /// For each run, the number of its cell; `None` if the run does not have this table.
    cells: Vec<Option<usize>>,
}

/// An agent at one table.
#[derive(Debug)]
pub struct ComparedAgent {
    /// The agent's spec.
    pub label: String,
    /// The agent's result in each run; `None` if it has no match there.
    pub scores: Vec<Option<RunScore>>,
}

/// The result of an agent in one run.
#[derive(Clone, Debug)]
pub struct RunScore {
    /// The mean payoff, without the luck of the cards if the run measures it.
    pub mean: Interval,
    /// Whether the luck of the cards is subtracted.
    pub is_adjusted: bool,
    /// The number of the field: results at a table are comparable if and only if they have the same number. Then the
    /// agents meet the same opponents in the same seats.
    pub field: usize,
    /// The difference from the first comparable run; `None` if the run itself is the first.
    pub difference: Option<RunDifference>,
}

/// The difference of an agent's means in two runs, the later run minus the earlier one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RunDifference {
    /// The number of the earlier run.
    pub from: usize,
    /// The difference, with its single interval and the simultaneous interval over all differences of the table (Bonferroni).
    pub difference: Estimate,
    /// The number of deals that both runs have. If it is not 0, the difference is paired by deal; otherwise the runs are
    /// independent.
    pub shared_deals: u64,
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
        /// The number of the field: only rows with the same rules, seats and field are comparable.
        field: usize,
        /// The folder of the first comparable run; empty if this run is the first.
        from: Option<String>,
        /// The mean in this run minus the mean in the first comparable run. The simultaneous interval is over all differences of
        /// the table.
        difference: Option<Estimate> => "payoff" [Ends, Simultaneous],
        /// The number of deals that both runs have.
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
            runs.push(ComparedRun { letter, program: stored.program(), digest, stored });
        }
        let mut comparison = Comparison { runs, payoff, tables: Vec::new(), notes: Vec::new() };
        comparison.compare();
        Ok(comparison)
    }

    fn compare(&mut self) {
        let plans: Vec<&Plan> = self.runs.iter().map(|run| &run.stored.plan).collect();
        let mut tables: Vec<ComparedTable> = Vec::new();
        for (run, index, cell) in plans
            .iter()
            .enumerate()
            .flat_map(|(run, plan)| plan.cells.iter().enumerate().map(move |(index, cell)| (run, index, cell)))
        {
            let known = tables.iter().position(|table| table.rules == cell.rules && table.seats == cell.seats);
            let table = known.unwrap_or_else(|| {
                let title = cell.to_string();
                let is_taken = tables.iter().any(|table| table.title == title);
                let title = if is_taken { format!("{title}, rules of {}", self.runs[run].letter) } else { title };
                let cells = vec![None; plans.len()];
                tables.push(ComparedTable { title, rules: cell.rules, seats: cell.seats, agents: Vec::new(), cells });
                tables.len() - 1
            });
            tables[table].cells[run] = Some(index);
        }
        let agents = tables.iter().map(|table| self.agents(table)).collect::<Vec<_>>();
        tables.iter_mut().zip(agents).for_each(|(table, agents)| table.agents = agents);
        self.notes = self.limits(&tables);
        tables.retain(|table| table.cells.iter().flatten().count() > 1);
        self.tables = tables;
    }

    /// The run's cell of a table.
    fn cell(&self, table: &ComparedTable, run: usize) -> Option<(&Plan, &Cell, &CellDigest)> {
        let index = table.cells[run]?;
        let ComparedRun { stored, digest, .. } = &self.runs[run];
        Some((&stored.plan, &stored.plan.cells[index], &digest.cells[index]))
    }

    fn agents(&self, table: &ComparedTable) -> Vec<ComparedAgent> {
        let mut agents: Vec<ComparedAgent> = Vec::new();
        let mut fields = Vec::new();
        for run in 0..self.runs.len() {
            let Some((plan, cell, digest)) = self.cell(table, run) else { continue };
            for (agent, planned) in plan.agents.iter().enumerate() {
                let Some(mean) = digest.leading().payoff(agent, self.payoff) else { continue };
                let own = field(plan, cell, agent);
                let field = fields.iter().position(|other| *other == own).unwrap_or_else(|| {
                    fields.push(own);
                    fields.len() - 1
                });
                let score = RunScore { mean, is_adjusted: digest.leading().is_adjusted(), field, difference: None };
                let known = agents.iter().position(|other| other.label == planned.label).unwrap_or_else(|| {
                    agents.push(ComparedAgent { label: planned.label.clone(), scores: vec![None; self.runs.len()] });
                    agents.len() - 1
                });
                agents[known].scores[run] = Some(score);
            }
        }
        // The pairs of runs, later and earlier, with the number of the agent.
        let first = |agent: &ComparedAgent, run: usize| {
            let field = agent.scores[run].as_ref()?.field;
            (0..run).find(|&other| agent.scores[other].as_ref().is_some_and(|score| score.field == field))
        };
        let pairs: Vec<(usize, usize, usize)> = agents
            .iter()
            .enumerate()
            .flat_map(|(at, agent)| (0..self.runs.len()).filter_map(move |run| Some((at, run, first(agent, run)?))))
            .collect();
        for &(at, run, from) in &pairs {
            let found = self.difference(table, &agents[at], [run, from], pairs.len());
            if let Some(score) = &mut agents[at].scores[run] {
                score.difference = found;
            }
        }
        let average = |agent: &ComparedAgent| {
            let means: Vec<f64> = agent.scores.iter().flatten().map(|score| score.mean.mean).collect();
            self.payoff.sign() * means.iter().sum::<f64>() / means.len() as f64
        };
        agents.sort_by(|one, other| average(other).total_cmp(&average(one)));
        agents
    }

    /// The difference of an agent's means in two runs, as one of `count` differences.
    fn difference(
        &self,
        table: &ComparedTable,
        agent: &ComparedAgent,
        [run, from]: [usize; 2],
        count: usize,
    ) -> Option<RunDifference> {
        let [one, other] = [agent.scores[run].as_ref()?.mean, agent.scores[from].as_ref()?.mean];
        let [(plan, _, cell), (other_plan, _, other_cell)] = [self.cell(table, run)?, self.cell(table, from)?];
        let level = 1.0 - (1.0 - LEVEL) / count as f64;
        let is_fixed = [one, other].iter().all(|mean| mean.half_width() == Some(0.0));
        if plan.seed != other_plan.seed || is_fixed {
            return Some(RunDifference {
                from,
                difference: Estimate {
                    mean: one.mean - other.mean,
                    simultaneous: independent_difference(&one, &other, level),
                    ..Estimate::default()
                }
                .with_ends(independent_difference(&one, &other, LEVEL)),
                shared_deals: 0,
            });
        }
        let paired = cell.difference_from(plan.agent(&agent.label)?, (other_cell, other_plan.agent(&agent.label)?))?;
        Some(RunDifference {
            from,
            difference: Estimate {
                simultaneous: paired.ends_at(t_quantile(0.5 + level / 2.0, paired.freedom())),
                ..estimate(&paired)
            },
            shared_deals: paired.clusters,
        })
    }

    /// The letters of the runs for which this is true.
    fn letters(&self, is_meant: impl Fn(usize) -> bool) -> String {
        (0..self.runs.len()).filter(|&run| is_meant(run)).map(|run| self.runs[run].letter).join(", ")
    }

    /// What limits the comparison.
    fn limits(&self, tables: &[ComparedTable]) -> Vec<String> {
        let mut notes = Vec::new();
        let groups = |of: &dyn Fn(&ComparedRun) -> String| {
            let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
            for run in &self.runs {
                groups.entry(of(run)).or_default().push(run.letter.to_string());
            }
            groups.into_iter().map(|(what, letters)| (what, letters.join(", "))).collect_vec()
        };
        let list =
            |groups: &[(String, String)]| groups.iter().map(|(what, letters)| format!("{letters}: {what}")).join("; ");
        let programs = groups(&|run| run.program.clone());
        if programs.len() > 1 {
            notes.push(format!(
                "Different programs played the runs ({}). An agent of the same name may decide differently.",
                list(&programs)
            ));
        }
        let payoffs = groups(&|run| run.stored.plan.payoff.unit().to_owned());
        if payoffs.len() > 1 {
            notes.push(format!(
                "The runs have different payoffs ({}). All are compared in {}.",
                list(&payoffs),
                self.payoff.unit()
            ));
        }
        let without = self.letters(|run| !self.runs[run].stored.plan.measures_luck());
        let adjusted = self.letters(|run| self.runs[run].stored.plan.measures_luck());
        if !without.is_empty() && !adjusted.is_empty() {
            notes.push(format!(
                "The luck of the cards is subtracted in {adjusted}, but not in {without}. A difference of such runs on the same \
                 deals is of the results with luck, so it is not the difference of the printed means."
            ));
        }
        let mut scores = tables.iter().flat_map(|table| &table.agents).flat_map(|agent| agent.scores.iter().flatten());
        if self.payoff.support() == Support::Share && scores.any(|score| is_beyond(score.mean.mean, score.mean.ends()))
        {
            notes.push(BEYOND.to_owned());
        }
        let part = self.letters(|run| !self.runs[run].stored.is_complete());
        if !part.is_empty() {
            notes.push(format!("Incomplete: {part}. The numbers are based on the deals that were played."));
        }
        let is_short = |score: &RunScore| score.mean.clusters < FEW_DEALS;
        let few = |run: usize| {
            let mut scores =
                tables.iter().flat_map(|table| &table.agents).filter_map(|agent| agent.scores[run].as_ref());
            scores.any(is_short)
        };
        let short = self.letters(few);
        if !short.is_empty() {
            notes.push(format!("Fewer than {FEW_DEALS} deals: {short}. Their intervals are rough."));
        }
        let has = |table: &ComparedTable, run: usize| table.cells[run].is_some();
        let seeds: BTreeSet<String> = self.runs.iter().map(|run| run.stored.plan.seed.to_string()).collect();
        for seed in seeds {
            let is_meant = |run: usize| self.runs[run].stored.plan.seed.to_string() == seed;
            let own =
                |table: &ComparedTable| (0..self.runs.len()).filter(|&run| is_meant(run) && has(table, run)).count();
            if tables.iter().any(|table| own(table) > 1) {
                notes.push(format!(
                    "The runs {} have the same seed, so they play the same deals and are not independent. Their differences are paired \
                     by deal.",
                    self.letters(is_meant)
                ));
            }
        }
        let single = tables.iter().filter(|table| table.cells.iter().flatten().count() == 1);
        let single =
            single.map(|table| format!("{} ({})", table.title, self.letters(|run| has(table, run)))).join("; ");
        if !single.is_empty() {
            notes.push(format!("Not compared, because only one run has the table: {single}."));
        }
        notes.extend(self.limits_of_tables(tables));
        notes
    }

    /// What limits the comparison in single tables.
    fn limits_of_tables(&self, tables: &[ComparedTable]) -> Vec<String> {
        let mut notes = Vec::new();
        let has = |table: &ComparedTable, run: usize| table.cells[run].is_some();
        for (at, table) in tables.iter().enumerate() {
            let other = &tables[..at]
                .iter()
                .find(|other| (other.rules.name(), other.seats) == (table.rules.name(), table.seats));
            if let Some(other) = other {
                notes.push(format!(
                    "The rules {} of {} differ from the rules of the same name of {}; their results are not comparable.",
                    table.rules.name(),
                    self.letters(|run| has(table, run)),
                    self.letters(|run| has(other, run))
                ));
            }
            let in_several = |agent: &&ComparedAgent| agent.scores.iter().flatten().count() > 1;
            let several: Vec<&ComparedAgent> = table.agents.iter().filter(in_several).collect();
            let is_mixed = |agent: &&&ComparedAgent| (0..self.runs.len()).any(|run| agent.has_other_field(run));
            let mixed = several.iter().filter(is_mixed).count();
            if mixed > 0 {
                notes.push(format!(
                    "{}: {} have other opponents or other seats in some runs, marked with †. A mean depends on the opponents, so \
                     these means are not comparable. Play the agents in one experiment, or against the same field (lineups).",
                    table.title,
                    if mixed == several.len() {
                        "all agents of several runs".to_owned()
                    } else {
                        format!("{mixed} of {} agents of several runs", several.len())
                    },
                ));
            }
        }
        notes
    }

    /// All differences, each with its table, its agent and the later run.
    pub fn differences(&self) -> impl Iterator<Item = (&ComparedTable, &ComparedAgent, usize, RunDifference)> {
        let agents = self.tables.iter().flat_map(|table| table.agents.iter().map(move |agent| (table, agent)));
        agents.flat_map(|(table, agent)| {
            let scores = agent.scores.iter().enumerate();
            scores.filter_map(move |(run, score)| Some((table, agent, run, score.as_ref()?.difference?)))
        })
    }

    /// The comparison for people: for each table, the means in each run, and the differences.
    pub fn tables(&self) -> Tables {
        let mut tables = Vec::new();
        let run = |run: &ComparedRun| {
            let (plan, path) = (&run.stored.plan, run.stored.path.display());
            format!("{}: {path}, {} {}, seed {}\n", run.letter, plan.deals, noun(plan.deals, "deal"), plan.seed)
        };
        for table in &self.tables {
            let scores = |agent: &ComparedAgent| {
                let score = |run: usize| {
                    agent.scores[run].as_ref().map_or(NONE.to_owned(), |score| {
                        let mark = if agent.has_other_field(run) { " †" } else { "" };
                        in_full(score.mean.mean, score.mean.ends(), 3) + mark
                    })
                };
                std::iter::once(agent.label.clone()).chain((0..self.runs.len()).map(score)).collect_vec()
            };
            let letters = self.runs.iter().map(|run| run.letter.to_string());
            let means =
                Table::shown(std::iter::once("agent".to_owned()).chain(letters), table.agents.iter().map(scores));
            tables.push((format!("{}, {}\n", table.title, self.payoff.unit()), means, String::new()));
            let difference = |(_, agent, run, found): (_, &ComparedAgent, usize, RunDifference)| {
                let deals = match found.shared_deals {
                    0 => "independent".to_owned(),
                    deals => format!("paired by {deals} {}", noun(deals, "deal")),
                };
                [
                    agent.label.clone(),
                    format!("{} − {}", self.runs[run].letter, self.runs[found.from].letter),
                    signed(found.difference.mean, 4),
                    ends(found.difference.ends(), 4),
                    ends(found.difference.simultaneous, 4),
                    deals,
                ]
            };
            let heads = ["agent", "runs", "difference", "95 %, single", "95 %, simultaneous", "deals"];
            let own = self.differences().filter(|(other, ..)| std::ptr::eq(*other, table));
            let differences = Table::shown(heads, own.map(difference));
            tables.extend((!differences.rows.is_empty()).then(|| (String::new(), differences, String::new())));
        }
        Tables { title: self.runs.iter().map(run).collect(), parts: tables, notes: String::new() }
    }

    /// The comparison as rows: by table, agent and run.
    pub fn rows(&self) -> Vec<ComparisonRow> {
        let name = |run: usize| self.runs[run].stored.path.display().to_string();
        let mut rows = Vec::new();
        for table in &self.tables {
            for agent in &table.agents {
                let scores = agent.scores.iter().enumerate();
                for (run, score) in scores.filter_map(|(run, score)| Some((run, score.as_ref()?))) {
                    let difference = score.difference;
                    rows.push(ComparisonRow {
                        rules: table.rules.name().to_owned(),
                        seats: table.seats,
                        agent: agent.label.clone(),
                        run: name(run),
                        payoff: self.payoff.name().replace(' ', "_"),
                        deals: score.mean.clusters,
                        mean: estimate(&score.mean),
                        adjusted: score.is_adjusted,
                        field: score.field + 1,
                        from: difference.map(|found| name(found.from)),
                        difference: difference.map(|found| found.difference),
                        shared_deals: difference.map(|found| found.shared_deals),
                    });
                }
            }
        }
        rows
    }
}

impl RunDifference {
    /// Whether the simultaneous interval excludes 0.
    pub fn is_told_apart(&self) -> bool {
        self.difference.simultaneous.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
    }
}

impl ComparedAgent {
    /// Whether the agent's result in this run is not comparable with its result in the first run that has it.
    pub fn has_other_field(&self, run: usize) -> bool {
        let first = self.scores.iter().flatten().next();
        self.scores[run].as_ref().zip(first).is_some_and(|(score, first)| score.field != first.field)
    }
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
