//! The decisions that a search has tried, and the choice among them.

use cambio_core::Action;
use cambio_core::play::{ConsideredAction, Explanation};
use cambio_core::rng::{Bounded as _, Stream};

use crate::words;

words! {
    /// How a search chooses among the decisions that it has tried.
    #[derive(Default)]
    pub enum FinalChoice {
        /// The decision with the most visits.
        #[default]
        Visits = "visits",
        /// The decision with the best mean.
        Mean = "mean",
        /// A random decision, in proportion to the visits.
        Proportional = "proportional",
    }
}

/// A decision that a search has tried at its root.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Arm {
    /// The decision.
    pub action: Action,
    /// The number of tries.
    pub visits: u32,
    /// The sum of the utilities.
    pub sum: f64,
    /// The sum of the squared utilities.
    pub squares: f64,
}

impl Arm {
    /// A decision that has not been tried yet.
    pub(crate) fn new(action: Action) -> Arm {
        Arm { action, visits: 0, sum: 0.0, squares: 0.0 }
    }

    /// Adds the utility of one try.
    #[inline]
    pub(crate) fn add(&mut self, utility: f64) {
        self.visits += 1;
        self.sum += utility;
        self.squares += utility * utility;
    }

    /// The mean utility; 0 before the first visit.
    ///
    /// ```
    /// use cambio_agents::Arm;
    /// use cambio_core::Action;
    ///
    /// let arm = Arm { action: Action::Draw, visits: 4, sum: 3.0, squares: 3.0 };
    /// assert_eq!((arm.mean(), arm.error()), (0.75, Some(0.25)));
    /// ```
    pub fn mean(&self) -> f64 {
        if self.visits == 0 { 0.0 } else { self.sum / f64::from(self.visits) }
    }

    /// The standard error of the mean, as if the tries were independent; `None` before the second try. A search tries
    /// promising decisions more often, so the error shows the noise, but is not valid for a test.
    pub fn error(&self) -> Option<f64> {
        let visits = f64::from(self.visits);
        let spread = (self.squares - visits * self.mean() * self.mean()).max(0.0);
        (self.visits > 1).then(|| (spread / (visits - 1.0) / visits).sqrt())
    }
}

/// The root statistics of a search, as an explanation.
pub(crate) fn explained(unit: &'static str, arms: &[Arm]) -> Explanation {
    let considered = |arm: &Arm| ConsideredAction {
        action: arm.action,
        value: arm.mean(),
        error: arm.error(),
        visits: Some(arm.visits),
    };
    Explanation { unit, considered: arms.iter().map(considered).collect() }
}

/// The best arm: the best mean with [`FinalChoice::Mean`], otherwise the most visits, then the best mean, then the first.
pub(crate) fn best(arms: &[Arm], last: FinalChoice) -> Option<Arm> {
    let key = |arm: &Arm| (if last == FinalChoice::Mean { 0 } else { arm.visits }, arm.mean());
    arms.iter().copied().reduce(|best, arm| if key(&arm) > key(&best) { arm } else { best })
}

/// The arm that the search chooses: the best, or one drawn in proportion to the visits.
pub(crate) fn choose(arms: &[Arm], last: FinalChoice, stream: &mut Stream) -> Option<Arm> {
    let visits: u32 = arms.iter().map(|arm| arm.visits).sum();
    if last != FinalChoice::Proportional || visits == 0 {
        return best(arms, last);
    }
    let mut ticket = stream.below(visits);
    arms.iter().copied().find(|arm| {
        let is_drawn = ticket < arm.visits;
        ticket = ticket.wrapping_sub(arm.visits);
        is_drawn
    })
}

#[cfg(test)]
mod tests;
