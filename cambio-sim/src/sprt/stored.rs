//! The sequential test on the deals of a stored run.

use cambio_agents::Roster;
use cambio_stats::Interval;
use cambio_stats::sprt::Verdict;
use itertools::Itertools;

use super::{DealScore, SequentialReader, SprtOptions, SprtResult, pairs_a_deal, score};
use crate::digest::CellDigest;
use crate::disk::RunError;
use crate::plan::{Block, Cell, Lineup, Plan, PlayedBatches};
use crate::store::StoredRun;

/// The matches of a stored run at one table in which only two given agents played.
///
/// ```
/// use std::path::Path;
/// use cambio_sim::sprt::{SprtOptions, StoredDuel};
/// use cambio_sim::{Executor, Experiment, RunFolder, Runner, StoredRun};
/// use cambio_stats::sprt::Verdict;
///
/// let roster = cambio_agents::roster();
/// let experiment =
///     Experiment { seed: Some(1.into()), deals: 40, ..Experiment::at("classic", 2, &["random", "greedy", "sharp"]) };
/// let plan = experiment.plan(&roster, Path::new("."))?;
/// # let path = std::env::temp_dir().join(format!("cambio-duel-{}", std::process::id()));
/// Runner::new(&Executor::new(1)?).run(&plan, &mut RunFolder::create(&path, &plan)?)?;
///
/// let stored = StoredRun::open(&path)?;
/// let duel = StoredDuel::find(&stored, &roster, ["greedy", "random"], None, None)?;
/// let found = SprtOptions { elo1: 50.0, deals: 1000, ..SprtOptions::default() }.read(&duel)?;
/// assert_eq!(found.answer.verdict, Verdict::Second);
/// assert!(found.answer.deals < found.of_deals && found.last_deal == Some(found.answer.deals - 1));
/// # std::fs::remove_dir_all(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct StoredDuel<'r> {
    stored: &'r StoredRun,
    index: usize,
    agents: [usize; 2],
    /// The lineups of the cell that contain exactly these two agents.
    lineups: Vec<usize>,
}

/// The reason why two agents cannot be tested on a stored run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct DuelError(String);

impl<'r> StoredDuel<'r> {
    /// Finds the table with lineups of exactly two agents, given by their specs. `rules` (a name) and `seats` select a
    /// table if there are several.
    ///
    /// # Errors
    /// If the run is not complete or lacks an agent, or if no table or several tables match.
    pub fn find(
        stored: &'r StoredRun,
        roster: &Roster,
        agents: [&str; 2],
        rules: Option<&str>,
        seats: Option<usize>,
    ) -> Result<StoredDuel<'r>, DuelError> {
        let PlayedBatches { batches, of } = stored.extent();
        if batches < of {
            let path = stored.path.display();
            let what = format!("{path} is not complete: it has {batches} of {of} batches; finish it with --resume");
            return Err(DuelError(what));
        }
        let plan = &stored.plan;
        let [one, other] = agents;
        let indices = [index(plan, roster, one)?, index(plan, roster, other)?];
        if indices[0] == indices[1] {
            let label = &plan.agents[indices[0]].label;
            return Err(DuelError(format!("`{label}` is compared with itself; choose two different agents")));
        }
        let is_wanted = |cell: &Cell| {
            let name = cell.rules.name();
            let is_named = |rules: &str| name == rules || name.strip_suffix(" (one round)") == Some(rules);
            rules.is_none_or(is_named) && seats.is_none_or(|seats| cell.seats == seats)
        };
        let tables = |cells: &[usize]| cells.iter().map(|&cell| &plan.cells[cell]).join("; ");
        let all: Vec<usize> = (0..plan.cells.len()).collect();
        let wanted: Vec<usize> = all.iter().copied().filter(|&cell| is_wanted(&plan.cells[cell])).collect();
        if wanted.is_empty() {
            let tables = tables(&all);
            return Err(DuelError(format!("the run has no table with these rules and seats; it has {tables}")));
        }
        let duels: Vec<usize> =
            wanted.iter().copied().filter(|&cell| !duels_of(&plan.cells[cell], indices).is_empty()).collect();
        let [one, other] = indices.map(|index| &plan.agents[index].label);
        match duels[..] {
            [] => {
                let tables = tables(&wanted);
                Err(DuelError(format!("no lineup has only the agents `{one}` and `{other}` at {tables}")))
            }
            [index] => {
                let lineups = duels_of(&plan.cells[index], indices);
                Ok(StoredDuel { stored, index, agents: indices, lineups })
            }
            _ => {
                let tables = tables(&duels);
                Err(DuelError(format!(
                    "`{one}` and `{other}` meet at {tables}; choose one table by its rules and seats"
                )))
            }
        }
    }

    /// The specs of the two agents, as written in rows.
    pub fn labels(&self) -> [String; 2] {
        self.agents.map(|agent| self.stored.plan.agents[agent].label.clone())
    }

    /// The table of the duel.
    pub fn cell(&self) -> &Cell {
        &self.stored.plan.cells[self.index]
    }

    /// The lineups of the duel.
    pub fn lineups(&self) -> impl Iterator<Item = &Lineup> {
        self.lineups.iter().map(|&lineup| &self.cell().lineups[lineup])
    }

    fn has(&self, block: &Block<'_>) -> bool {
        block.cell_index == self.index && self.lineups.contains(&block.lineup_index)
    }

    /// The difference of the two agents' mean payoffs in these lineups, first minus second, as in a run of these lineups alone;
    /// `None` without a match.
    ///
    /// # Errors
    /// If a file cannot be read or does not match the ledger.
    pub fn difference(&self) -> Result<Option<Interval>, RunError> {
        let mut sums = CellDigest::new(&self.stored.plan, self.cell());
        for stored in self.stored.blocks()? {
            let (block, rows) = stored?;
            if self.has(&block) {
                sums.add_rows(&self.stored.plan, &block, &rows);
            }
        }
        sums.end_deal();
        Ok(sums.leading().difference(self.agents[0], self.agents[1]).map(|(difference, _)| difference))
    }
}

/// The index of an agent in a plan, by its spec as written in the run or as normalized by the roster.
fn index(plan: &Plan, roster: &Roster, spec: &str) -> Result<usize, DuelError> {
    let read = || plan.agent(&roster.parse(spec).ok()?.to_string());
    let unknown = || {
        let agents = plan.agents.iter().map(|agent| &agent.label).join(", ");
        DuelError(format!("the run has no agent `{spec}`; it has {agents}"))
    };
    plan.agent(spec).or_else(read).ok_or_else(unknown)
}

/// The lineups that contain exactly these two agents.
fn duels_of(cell: &Cell, agents: [usize; 2]) -> Vec<usize> {
    let is_duel = |lineup: &Lineup| {
        let seated = lineup.agents();
        seated.iter().all(|agent| agents.contains(agent)) && agents.iter().all(|agent| seated.contains(agent))
    };
    (0..cell.lineups.len()).filter(|&lineup| is_duel(&cell.lineups[lineup])).collect()
}

/// The result of a test on a stored run.
#[derive(Clone, PartialEq, Debug)]
pub struct StoredSprtResult {
    /// The answer, as if the test had played the deals and stopped.
    pub answer: SprtResult,
    /// The number of the last deal that was used; `None` if no deal was used.
    pub last_deal: Option<u64>,
    /// The number of deals of the run.
    pub of_deals: u64,
    /// The number of deals that were skipped because one of their blocks is void.
    pub void_deals: u64,
}

impl SprtOptions {
    /// Reads the deals of a stored run in order until a hypothesis is accepted or the deals end.
    ///
    /// The answer equals the answer of [`SprtOptions::run`] if the run has the same seed, rules and lineups. The rest of the run is
    /// read only to check it against the ledger.
    ///
    /// # Errors
    /// If a file cannot be read or does not match the ledger.
    pub fn read(&self, duel: &StoredDuel<'_>) -> Result<StoredSprtResult, RunError> {
        let cell = duel.cell();
        let pairs = pairs_a_deal(cell, duel.lineups(), duel.agents[0]);
        let measures_luck = duel.stored.plan.measures_luck();
        let mut reading = SequentialReader::new(self, pairs, measures_luck);
        let most = self.deals.min(duel.stored.plan.deals);
        let (mut last_deal, mut void_deals) = (None, 0);
        // The score so far of the current deal; `None` if one of its blocks is void.
        let mut sum = Some(DealScore::ZERO);
        for stored in duel.stored.blocks()? {
            let (block, rows) = stored?;
            if !duel.has(&block) || block.deal >= most || reading.verdict() != Verdict::Undecided {
                continue;
            }
            let players = &rows.players;
            sum = sum.filter(|_| !players.is_empty()).map(|sum| sum.plus(score(&block, players, duel.agents)));
            if Some(&block.lineup_index) == duel.lineups.last() {
                last_deal = Some(block.deal);
                match sum {
                    Some(sum) => reading.add(sum),
                    None => void_deals += 1,
                }
                sum = Some(DealScore::ZERO);
            }
        }
        let place = (cell, cell.rules.name(), duel.stored.plan.seed);
        let answer = reading.answer(self, place, duel.lineups.len());
        Ok(StoredSprtResult { answer, last_deal, of_deals: duel.stored.plan.deals, void_deals })
    }
}

#[cfg(test)]
mod tests;
