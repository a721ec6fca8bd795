//! What every search has: a budget, a belief, a policy for playouts, and a measure of what a round is worth.

use std::time::{Duration, Instant};

use cambio_core::rng::{Bounded as _, Stream};
use cambio_core::{Action, Briefing, Standing};
use rand::Rng as _;

use crate::belief::{Belief, Likelihood};
use crate::heuristic::{HeuristicParams, Preset};
use crate::playout::{Knows, Policy};
use crate::value::{Utility, Valuer};
use crate::{params, words};

params! {
    /// The parameters that every search has.
    pub struct SearchParams {
        /// Who plays on in playouts, and whom it takes the others for.
        blueprint: Preset = Preset::Heuristic,
        /// At which expected sum the blueprint calls, if not at its own.
        call_at: Option<f64> in -1000.0..=1000.0,
        /// At which chance to be lowest the blueprint calls, if not at its own.
        call_chance: Option<f64> in 0.0..=1.0,
        /// What the others know in playouts: what they have seen, all or nothing; the last two are wrong, for
        /// comparison.
        knows: Knows = Knows::AsSeen,
        /// How much is explored: the constant of UCB on utilities from 0 to 1.
        c: f64 = 0.7 in 0.0..=10.0,
        /// Which decision is made: the one most often tried, the one of the best mean, or each by chance as often as it
        /// was tried, which is easier to exploit.
        last as "final": Final = Final::Visits,
    }
}

params! {
    /// A budget of time.
    pub struct TimeParams {
        /// Searches for so long instead of so often, in milliseconds; what it does can then not be reproduced.
        time_ms: Option<u32> in 1..=3_600_000,
    }

    fn is_reproducible(&self) -> bool {
        self.time_ms.is_none()
    }
}

words! {
    /// How a search chooses among what it has tried.
    pub enum Final {
        /// The decision most often tried.
        Visits = "visits",
        /// The one of the best mean.
        Mean = "mean",
        /// Each by chance, as often as it was tried.
        Proportional = "proportional",
    }
}

/// How a search is set up.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) iterations: u32,
    pub(crate) time: Option<Duration>,
    pub(crate) exploration: f64,
    pub(crate) utility: Utility,
    pub(crate) last: Final,
    pub(crate) likelihood: Likelihood,
    pub(crate) params: HeuristicParams,
    pub(crate) knows: Knows,
}

impl Settings {
    /// The settings of a search with this budget, measure and belief.
    pub(crate) fn new(
        iterations: u32,
        time: TimeParams,
        utility: Utility,
        epsilon: f64,
        search: &SearchParams,
    ) -> Settings {
        let base = search.blueprint.params();
        let params = HeuristicParams {
            call_at: search.call_at.unwrap_or(base.call_at),
            call_chance: search.call_chance.unwrap_or(base.call_chance),
            ..base
        };
        Settings {
            iterations,
            time: time.time_ms.map(|time| Duration::from_millis(time.into())),
            exploration: search.c,
            utility,
            last: search.last,
            likelihood: Likelihood { blueprint: params, epsilon },
            params,
            knows: search.knows,
        }
    }

    pub(crate) fn blueprint(&self) -> Policy {
        Policy::Blueprint(self.params, self.knows)
    }

    pub(crate) fn budget(&self) -> Budget {
        Budget { iterations: self.iterations, time: self.time, begun: None, done: 0, half: None }
    }

    /// How many iterations a decision has at most; by the clock as many as a fast machine makes.
    pub(crate) fn most_iterations(&self) -> u32 {
        const A_MILLISECOND: u128 = 2000;
        let by_clock = |time: Duration| u32::try_from(time.as_millis() * A_MILLISECOND).unwrap_or(u32::MAX);
        self.time.map_or(self.iterations, by_clock)
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            iterations: 1000,
            time: None,
            exploration: 0.7,
            utility: Utility::default(),
            last: Final::Visits,
            likelihood: Likelihood::default(),
            params: HeuristicParams::default(),
            knows: Knows::default(),
        }
    }
}

/// Counts the iterations of a decision.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    iterations: u32,
    time: Option<Duration>,
    begun: Option<Instant>,
    done: u32,
    /// The first iteration of the second half, by the clock.
    half: Option<u32>,
}

impl Budget {
    /// The number of the next iteration, from 0; `None` when the budget is spent.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<u32> {
        let number = self.done;
        let goes_on = match self.time {
            None => number < self.iterations,
            Some(time) => self.has_time(time),
        };
        self.done += 1;
        goes_on.then_some(number)
    }

    /// Whether the second half begins with the iteration of this number, the last that was given.
    #[inline]
    pub(crate) fn is_halfway(&self, number: u32) -> bool {
        match self.time {
            None => number == self.iterations / 2,
            Some(_) => self.half == Some(number),
        }
    }

    /// The clock is asked every 16 iterations.
    #[cold]
    fn has_time(&mut self, time: Duration) -> bool {
        let begun = *self.begun.get_or_insert_with(Instant::now);
        if !self.done.is_multiple_of(16) || self.done == 0 {
            return true;
        }
        let elapsed = begun.elapsed();
        if 2 * elapsed >= time {
            self.half.get_or_insert(self.done);
        }
        elapsed < time
    }
}

/// A searching player at a table.
#[derive(Clone, Debug)]
pub(crate) struct Seated {
    pub(crate) stream: Stream,
    pub(crate) belief: Belief,
    pub(crate) valuer: Valuer,
}

impl Seated {
    pub(crate) fn new(briefing: &Briefing<'_>, settings: &Settings) -> Seated {
        Seated {
            stream: briefing.stream.clone(),
            belief: Belief::new(briefing, settings.likelihood),
            valuer: Valuer::new(settings.utility),
        }
    }

    /// The base of the counter-based bits of one decision.
    pub(crate) fn base(&mut self) -> u64 {
        self.stream.next_u64()
    }

    pub(crate) fn round_begins(&mut self, standing: &Standing<'_>) {
        self.valuer.round_begins(standing);
    }
}

/// A decision that was tried.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Arm {
    /// The decision.
    pub action: Action,
    /// How often it was tried.
    pub visits: u32,
    /// The sum of what it was worth.
    pub sum: f64,
}

impl Arm {
    pub(crate) fn new(action: Action) -> Arm {
        Arm { action, visits: 0, sum: 0.0 }
    }

    /// What it was worth on average; 0 if it was never tried.
    pub fn mean(&self) -> f64 {
        if self.visits == 0 { 0.0 } else { self.sum / f64::from(self.visits) }
    }
}

/// The best arm: the most visited, of equals the better mean, then the first; or by mean alone.
pub(crate) fn best(arms: &[Arm], last: Final) -> Option<Arm> {
    let key = |arm: &Arm| (if last == Final::Mean { 0 } else { arm.visits }, arm.mean());
    arms.iter().copied().reduce(|best, arm| if key(&arm) > key(&best) { arm } else { best })
}

/// The arm that is chosen in the end: the best, or one drawn in proportion to the visits.
pub(crate) fn choose(arms: &[Arm], last: Final, stream: &mut Stream) -> Option<Arm> {
    let visits: u32 = arms.iter().map(|arm| arm.visits).sum();
    if last != Final::Proportional || visits == 0 {
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
mod tests {
    use cambio_core::rng::{Key, Purpose};

    use super::*;

    #[test]
    fn a_budget_is_halved_by_what_it_is_of() {
        let halves = |settings: &Settings| {
            let mut budget = settings.budget();
            let (mut count, mut halves) = (0, Vec::new());
            while let Some(number) = budget.next() {
                count += 1;
                halves.extend(budget.is_halfway(number).then_some(number));
            }
            (count, halves)
        };
        assert_eq!(halves(&Settings { iterations: 7, ..Settings::default() }), (7, vec![3]));
        let timed = Settings { iterations: 7, time: Some(Duration::from_millis(20)), ..Settings::default() };
        let (count, half) = halves(&timed);
        assert!(count > 1000 && half.len() == 1 && half[0] < count, "{count} {half:?}");
        assert_eq!(timed.most_iterations(), 40_000);
    }

    #[test]
    fn decisions_are_drawn_in_proportion_to_their_visits() {
        let arm = |action, visits| Arm { action, visits, sum: f64::from(visits) / 2.0 };
        let arms = [arm(Action::Draw, 600), arm(Action::Take, 0), arm(Action::Call, 300), arm(Action::Pass, 100)];
        let mut stream = Key { seed: 3, deal: 0 }.stream(Purpose::Race, 0);
        let mut counts = [0; 4];
        for _ in 0..10_000 {
            let chosen = choose(&arms, Final::Proportional, &mut stream).unwrap();
            counts[arms.iter().position(|arm| arm.action == chosen.action).unwrap()] += 1;
        }
        // Five standard deviations are 245 at most.
        for (count, expected) in counts.into_iter().zip([6000_i32, 0, 3000, 1000]) {
            assert!((count - expected).abs() <= if expected == 0 { 0 } else { 245 }, "{counts:?}");
        }
        let before = stream.clone();
        assert_eq!(choose(&arms, Final::Visits, &mut stream).unwrap().action, Action::Draw);
        assert_eq!(stream, before, "what is best needs no chance");
    }
}
