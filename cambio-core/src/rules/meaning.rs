//! The meaning of several knobs together: contradictions.

use super::{RulesError, RulesSpec};
use crate::rules::card::Kind;
use crate::rules::knob::{Best, Knob as _, Score};

impl RulesSpec {
    /// Checks that no knob turns the game round: that the seats which win the rounds win the match, and that a successful
    /// call is better than a failed one.
    ///
    /// [`RulesSpec::from_toml`] calls this function. [`RulesSpec::validate`] does not, because records of earlier versions
    /// may have such rules.
    ///
    /// # Errors
    /// The field that contradicts another field.
    ///
    /// ```
    /// use cambio_core::RulesSpec;
    ///
    /// let error = RulesSpec::from_toml("base = 'classic'\nscore = 'points'").unwrap_err();
    /// assert_eq!(error.to_string(), "field `best` must be \"fewest\" with `score = \"points\"`, found \"most\"");
    /// ```
    pub fn check_meaning(&self) -> Result<(), RulesError> {
        let (success, failure) = (self.call_success, self.call_failure);
        let best = if self.score == Score::Points { Best::Fewest } else { Best::Most };
        let (field, found, allowed) = if self.best != best {
            ("best", self.best.write(), format!("{} with `score = {}`", best.write(), self.score.write()))
        } else if self.score == Score::Points
            && (0..=40).all(|points| success.of(points) >= failure.of(points))
            && success.of(10) > failure.of(10)
        {
            let failure = failure.write();
            let allowed = format!("better than `call_failure = {failure}`, because the fewest points win");
            ("call_success", success.write(), allowed)
        } else {
            return Ok(());
        };
        Err(RulesError::Field { field, found: found.to_string(), allowed })
    }

    /// The most points, positive or negative, that a round can add to a total, with `score = "points"`.
    pub(super) fn most_per_round(&self, kinds: &[Kind]) -> usize {
        let dearest = kinds.iter().map(|kind| kind.points.unsigned_abs()).max().map_or(0, usize::from);
        let bonuses = [self.call_success, self.call_failure, self.lowest_bonus];
        bonuses.map(|bonus| bonus.most(dearest * self.max_slots.count())).into_iter().max().unwrap_or(0)
    }
}
