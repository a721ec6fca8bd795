//! Replays a match of a stored run.

use cambio_agents::Roster;
use cambio_core::Record;
use serde::{Deserialize, Serialize};

use crate::plan::Plan;
use crate::play::play_block;
use crate::rows::MatchKey;
use crate::store::StoredRun;

/// The fields that identify a match in a run.
#[derive(Deserialize, Serialize, Clone, PartialEq, Eq, Debug)]
pub struct StoredMatch {
    /// The name of the rules.
    pub rules: String,
    /// The number of seats.
    pub seats: usize,
    /// The lineup, as written in rows.
    pub lineup: String,
    /// The number of the deal.
    pub deal: u64,
    /// The number of the rotation.
    pub rotation: usize,
}

impl From<MatchKey<'_>> for StoredMatch {
    fn from(MatchKey { rules, seats, lineup, deal, rotation }: MatchKey<'_>) -> StoredMatch {
        StoredMatch { rules: rules.to_owned(), seats, lineup: lineup.to_owned(), deal, rotation }
    }
}

impl StoredMatch {
    /// Plays the match again and returns its record.
    ///
    /// # Errors
    /// If the run has no such match, or an agent is missing or fails.
    ///
    /// ```no_run
    /// use cambio_sim::{StoredMatch, StoredRun};
    ///
    /// let run = StoredRun::open("runs/quickstart".as_ref())?;
    /// let lineup = run.plan.cells[0].lineups[0].label().to_owned();
    /// let which = StoredMatch { rules: "classic".to_owned(), seats: 2, lineup, deal: 0, rotation: 0 };
    /// assert_eq!(which.play(run, &cambio_agents::roster())?.rounds.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn play(&self, mut run: StoredRun, roster: &Roster) -> Result<Record, String> {
        run.plan.records = true;
        let plan = run.playable(roster).map_err(|error| error.to_string())?;
        let missing = || "the run has no such match".to_owned();
        let block = self.block(&plan).ok_or_else(missing)?;
        let rows = play_block(&plan, &plan.block(block)).map_err(|fault| fault.what)?;
        rows.records.into_iter().nth(self.rotation).ok_or_else(missing)
    }

    /// The number of the block that contains this match.
    pub fn block(&self, plan: &Plan) -> Option<u64> {
        let mut before = 0;
        for cell in &plan.cells {
            let lineups = cell.lineups.len() as u64;
            if cell.is_of(&self.rules, self.seats) && self.deal < plan.deals {
                let lineup = cell.lineups.iter().position(|lineup| lineup.label() == self.lineup);
                if let Some(lineup) = lineup {
                    return Some(before + self.deal * lineups + lineup as u64);
                }
            }
            before += lineups * plan.deals;
        }
        None
    }
}
