//! Replays a match of a stored run.

use cambio_agents::Roster;
use cambio_core::Record;
use serde_json::Value;

use crate::play::play_block;
use crate::store::StoredRun;

impl StoredRun {
    /// Plays a match again and returns its record: the match of a block in this rotation.
    ///
    /// # Errors
    /// If the run has no such match, or an agent is missing or fails.
    ///
    /// ```no_run
    /// use cambio_sim::StoredRun;
    ///
    /// let run = StoredRun::open("runs/quickstart".as_ref())?;
    /// assert_eq!(run.replay(0, 1, &cambio_agents::roster())?.rounds.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn replay(&self, block: u64, rotation: usize, roster: &Roster) -> Result<Record, String> {
        let missing = || "the run has no such match".to_owned();
        let plan = self.playable(roster).map_err(|error| error.to_string())?.with_records();
        let block = (block < plan.block_count()).then(|| plan.block(block));
        let block = block.filter(|block| rotation < block.cell.seatings.len()).ok_or_else(missing)?;
        let rows = play_block(&plan, &block).map_err(|fault| fault.what)?;
        // Forfeited and void matches have no record.
        let is_of = |record: &Record| record.fields.get("rotation").and_then(Value::as_u64) == Some(rotation as u64);
        rows.records
            .into_iter()
            .find(is_of)
            .ok_or_else(|| "an agent's fault ended this match, so it has no record".to_owned())
    }
}
