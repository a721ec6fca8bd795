//! Races: decisions are tried in the same worlds, and dropped when they fall behind.
//!
//! In the same world with the same random numbers, the utilities of two decisions are similar, so their difference has a
//! smaller variance than with independent worlds. A decision is dropped when it is probably not better than the best one
//! (Maron and Moore 1994, "Hoeffding races", with standard errors in place of Hoeffding's bound), and the race ends when
//! one decision is left.

use cambio_core::Action;

use super::{Arm, FinalChoice, choose};
use cambio_core::rng::Stream;

/// The number of worlds in which all decisions are tried before any is dropped.
const BATCH: usize = 8;
/// The next check takes place after this share of the number of worlds so far.
const CHECK_EVERY: f64 = 0.125;
/// The weight of the prior variance of a difference, as a number of worlds. The prior variance is half the variance of
/// the utilities.
const PRIOR_WORLDS: f64 = 4.0;

/// When a race drops a decision.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct ActionRaceSettings {
    /// A decision is dropped when its gain over the best is below `tie` at this many standard errors above its mean.
    pub(crate) errors: f64,
    /// The gain that is too small to matter.
    pub(crate) tie: f64,
    /// The standard error of the gains that are expected before the race; `None` if nothing is known.
    pub(crate) trust: Option<Trust>,
}

/// The standard error of the gains that are expected before a race.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Trust {
    /// In the unit of the utilities.
    Fixed(f64),
    /// As a share of the utilities' standard deviation.
    Relative(f64),
}

/// A race of the decisions at one position. The next race reuses the memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct ActionRace {
    /// The first `number` are in this race.
    racers: Vec<Racer>,
    number: usize,
    /// The numbers of the racers that are still tried.
    live: Vec<usize>,
    /// The utilities in the current world so far, one for each live racer.
    row: Vec<f64>,
    /// The number of the racer that is best so far.
    lead: usize,
    worlds: usize,
    next_check: usize,
}

/// A decision in a race.
#[derive(Clone, Debug)]
struct Racer {
    action: Action,
    /// The utility that is expected before the race.
    prior: f64,
    /// The utilities in the worlds so far, until the decision was dropped.
    utilities: Vec<f64>,
}

impl ActionRace {
    /// Begins a race of these decisions with their expected utilities. The first one leads until another is better.
    pub(crate) fn begin(&mut self, decisions: impl IntoIterator<Item = (Action, f64)>) {
        self.number = 0;
        for (action, prior) in decisions {
            if let Some(racer) = self.racers.get_mut(self.number) {
                (racer.action, racer.prior) = (action, prior);
                racer.utilities.clear();
            } else {
                self.racers.push(Racer { action, prior, utilities: Vec::new() });
            }
            self.number += 1;
        }
        self.live.clear();
        self.live.extend(0..self.number);
        self.row.clear();
        (self.lead, self.worlds, self.next_check) = (0, 0, BATCH);
    }

    /// Whether one decision is left.
    pub(crate) fn is_decided(&self) -> bool {
        self.live.len() == 1
    }

    /// The decision to try next in the current world; `None` if all were tried.
    pub(crate) fn next(&self) -> Option<Action> {
        self.live.get(self.row.len()).map(|&index| self.racers[index].action)
    }

    /// Adds the utility of the decision that [`ActionRace::next`] returned.
    pub(crate) fn add(&mut self, utility: f64) {
        self.row.push(utility);
    }

    /// The best decision.
    pub(crate) fn best(&self) -> Action {
        self.racers[self.lead].action
    }

    /// Ends the current world, in which all decisions were tried.
    pub(crate) fn end_world(&mut self, settings: &ActionRaceSettings) {
        for (&index, &utility) in self.live.iter().zip(&self.row) {
            self.racers[index].utilities.push(utility);
        }
        self.row.clear();
        self.worlds += 1;
        if self.worlds == self.next_check {
            self.next_check += BATCH.max((self.worlds as f64 * CHECK_EVERY) as usize);
            self.check(settings);
        }
    }

    /// Finds the best decision, without dropping others. A world that was not ended does not count.
    pub(crate) fn finish(&mut self, settings: &ActionRaceSettings) {
        if self.worlds > 0 {
            self.lead(settings);
        }
    }

    /// Drops the decisions that are behind.
    fn check(&mut self, settings: &ActionRaceSettings) {
        let variance = self.lead(settings);
        let (lead, mut live) = (self.lead, std::mem::take(&mut self.live));
        live.retain(|&index| {
            let (gain, error) = self.gain(index, lead, variance, settings);
            index == lead || gain + settings.errors * error >= settings.tie
        });
        self.live = live;
    }

    /// Finds the best decision. Returns the prior variance of a difference.
    fn lead(&mut self, settings: &ActionRaceSettings) -> f64 {
        let number = (self.live.len() * self.worlds) as f64;
        let all = || self.live.iter().flat_map(|&index| &self.racers[index].utilities);
        let mean = all().sum::<f64>() / number;
        let variance = all().map(|utility| (utility - mean) * (utility - mean)).sum::<f64>() / number / 2.0;
        for index in 0..self.live.len() {
            let index = self.live[index];
            if index != self.lead && self.gain(index, self.lead, variance, settings).0 > 0.0 {
                self.lead = index;
            }
        }
        variance
    }

    /// The estimated gain of one live decision over another, and its standard error: the mean of the differences and the
    /// expected difference, weighted by precision.
    fn gain(&self, one: usize, other: usize, prior_variance: f64, settings: &ActionRaceSettings) -> (f64, f64) {
        let (one, other) = (&self.racers[one], &self.racers[other]);
        let differences = one.utilities.iter().zip(&other.utilities).map(|(one, other)| one - other);
        let (sum, squares) = differences.fold((0.0, 0.0), |(sum, squares), gain| (sum + gain, squares + gain * gain));
        let tries = self.worlds as f64;
        let mean = sum / tries;
        let spread = (squares - tries * mean * mean).max(0.0) + prior_variance * PRIOR_WORLDS;
        let variance = spread / (tries + PRIOR_WORLDS) / tries;
        let trusted = match settings.trust {
            None => return (mean, variance.sqrt()),
            Some(Trust::Fixed(error)) => error * error,
            Some(Trust::Relative(share)) => share * share * 2.0 * prior_variance,
        };
        // Without any variance, the playouts are certain.
        let share = if variance > 0.0 { trusted / (trusted + variance) } else { 1.0 };
        (share * mean + (1.0 - share) * (one.prior - other.prior), (share * variance).sqrt())
    }

    /// The tries of each decision.
    pub(crate) fn arms(&self) -> impl Iterator<Item = Arm> {
        self.racers[..self.number].iter().map(|racer| arm(racer.action, racer.utilities.iter().copied()))
    }

    /// The tries of each decision, by their gains over the first one in the same worlds.
    pub(crate) fn gains(&self) -> impl Iterator<Item = Arm> {
        let first = &self.racers[0].utilities;
        self.racers[..self.number].iter().map(move |racer| {
            arm(racer.action, racer.utilities.iter().zip(first).map(|(utility, first)| utility - first))
        })
    }

    /// The decision that the search takes.
    pub(crate) fn choose(&self, last: FinalChoice, stream: &mut Stream) -> Action {
        if last == FinalChoice::Visits {
            return self.best();
        }
        let arms: Vec<Arm> = self.arms().collect();
        choose(&arms, last, stream).map_or(self.best(), |arm| arm.action)
    }
}

fn arm(action: Action, utilities: impl Iterator<Item = f64>) -> Arm {
    let mut arm = Arm::new(action);
    utilities.for_each(|utility| arm.add(utility));
    arm
}

#[cfg(test)]
mod tests;
