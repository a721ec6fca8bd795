//! The common parts of all searches: a budget, a belief, a policy for playouts, and a utility.

use std::time::{Duration, Instant};

use cambio_core::engine::Dice;
use cambio_core::play::{ConsideredAction, Explanation};
use cambio_core::rng::{Bounded as _, SplitMix, Stream};
use cambio_core::rules::MAX_SEATS;
use cambio_core::{Action, Briefing, Notice, Observation, Seat, Sighting, State};
use rand::Rng as _;

use crate::belief::{Belief, Likelihood};
use crate::heuristic::{HeuristicParams, Preset};
use crate::inference::{Inference, SamplingSettings};
use crate::playout::{PlayoutPolicy, Playouts};
use crate::policy::{Blueprint, NetworkPolicy, Policy, PublicHistory as _};
use crate::value::{Utility, Valuer};
use crate::{WordEnum, params, words};

params! {
    /// The common parameters of all searches.
    pub struct SearchParams {
        /// The policy used in playouts, and that the other seats are assumed to follow.
        blueprint: BlueprintName = BlueprintName::Preset(Preset::Heuristic),
        /// How worlds are sampled: by rules of thumb about the cards that the other seats kept and dropped, and about
        /// their calls (evidence), or by the likelihood of their decisions under the blueprint (policy).
        belief: BeliefKind = BeliefKind::Evidence,
        /// How the decision is chosen: most visits, best mean, or at random in proportion to the visits, which is
        /// easier to exploit.
        last as "final": FinalChoice = FinalChoice::Visits,
    }
}

words! {
    /// How a search samples worlds.
    #[derive(Default)]
    pub enum BeliefKind {
        /// A [`Belief`]: evidence by rules of thumb.
        #[default]
        Evidence = "evidence",
        /// An [`Inference`]: the likelihood of the other seats' decisions under the blueprint.
        Policy = "policy",
    }
}

/// The name of a search's blueprint: a preset of the heuristic, or `learned` for the bundled network.
///
/// ```
/// use cambio_agents::{BlueprintName, Preset, WordEnum as _};
///
/// assert_eq!(BlueprintName::Learned.word(), "learned");
/// assert_eq!(BlueprintName::Preset(Preset::Sharp).word(), "sharp");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlueprintName {
    /// A heuristic.
    Preset(Preset),
    /// The bundled network.
    Learned,
}

/// The number of names: one for each preset, and `learned`.
const NAMES: usize = Preset::ALL.len() + 1;

/// All names and their words.
const NAMED: ([BlueprintName; NAMES], [&str; NAMES]) = {
    let (mut names, mut words) = ([BlueprintName::Learned; NAMES], ["learned"; NAMES]);
    let mut index = 0;
    while index < Preset::ALL.len() {
        (names[index], words[index]) = (BlueprintName::Preset(Preset::ALL[index]), Preset::WORDS[index]);
        index += 1;
    }
    (names, words)
};

impl WordEnum for BlueprintName {
    const ALL: &'static [BlueprintName] = &NAMED.0;
    const WORDS: &'static [&'static str] = &NAMED.1;

    fn word(self) -> &'static str {
        match self {
            BlueprintName::Preset(preset) => preset.word(),
            BlueprintName::Learned => "learned",
        }
    }
}

impl BlueprintName {
    /// The policy of this name.
    pub fn policy(self) -> Blueprint {
        match self {
            BlueprintName::Preset(preset) => Blueprint::Heuristic(preset.params()),
            BlueprintName::Learned => Blueprint::Network(Box::new(NetworkPolicy::shipped())),
        }
    }
}

impl SearchParams {
    /// The heuristic blueprint; the default heuristic if the blueprint is a network.
    fn heuristic(&self) -> HeuristicParams {
        match self.blueprint {
            BlueprintName::Preset(preset) => preset.params(),
            BlueprintName::Learned => HeuristicParams::default(),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct SearchSettings<P: Policy> {
    pub(crate) budget: Budget,
    pub(crate) utility: Utility,
    pub(crate) likelihood: Likelihood,
    pub(crate) belief: BeliefKind,
    pub(crate) playouts: Playouts<P>,
    pub(crate) last: FinalChoice,
}

impl<P: Policy> SearchSettings<P> {
    /// The settings of a search over this blueprint, with the ε of the belief.
    pub(crate) fn new(
        blueprint: P,
        budget: Budget,
        utility: Utility,
        epsilon: f64,
        search: &SearchParams,
    ) -> SearchSettings<P> {
        SearchSettings {
            budget,
            utility,
            likelihood: Likelihood { blueprint: search.heuristic(), epsilon },
            belief: search.belief,
            playouts: Playouts { blueprint, policy: PlayoutPolicy::None },
            last: search.last,
        }
    }

    /// Begins a match. The error is the reason why the player cannot play this match.
    pub(crate) fn seat(&mut self, briefing: &Briefing<'_>) -> Result<SearchState<P>, String> {
        let past = self.playouts.blueprint.begin(briefing.rules, briefing.seats)?;
        let worlds = match self.belief {
            BeliefKind::Evidence => Worlds::Evidence(Box::new(Belief::new(briefing, self.likelihood))),
            BeliefKind::Policy => Worlds::Policy(Box::new(InferredWorlds::new(briefing, past.clone()))),
        };
        Ok(SearchState { stream: briefing.stream.clone(), worlds, past, valuer: Valuer::new(self.utility) })
    }

    /// Plays out a world, and returns the utility for each seat.
    #[inline]
    pub(crate) fn outcome(
        &mut self,
        valuer: &Valuer,
        world: &mut State,
        searcher: Seat,
        past: &mut P::History,
        dice: &mut Dice<SplitMix>,
    ) -> [f64; MAX_SEATS] {
        self.playouts.finish(world, searcher, past, dice);
        valuer.values(world)
    }

    /// Passes a notice to the state of a player that has begun a match.
    pub(crate) fn notice(&mut self, seated: Option<&mut SearchState<P>>, notice: Notice<'_>) {
        let Some(seated) = seated else { return };
        match notice {
            Notice::Event(sighting) => seated.notice(sighting),
            Notice::Table(table) => {
                if let Worlds::Policy(inferred) = &mut seated.worlds {
                    inferred.inference.spectate(table);
                }
            }
            Notice::RoundBegins(standing) => {
                seated.valuer.round_begins(standing);
                self.playouts.blueprint.round_begins(standing);
            }
            _ => {}
        }
    }

    /// Prepares to draw the worlds of one decision.
    pub(crate) fn prepare(&mut self, seated: &mut SearchState<P>) {
        match &mut seated.worlds {
            Worlds::Evidence(belief) => belief.prepare(),
            Worlds::Policy(inferred) => {
                let worlds = (self.budget.most_iterations() as usize).min(BLOCK);
                let epsilon = self.likelihood.epsilon;
                let block = SamplingSettings { worlds, proposals: 3 * worlds, epsilon, ..SamplingSettings::default() };
                inferred.prepare(seated.stream.next_u64(), block);
            }
        }
    }

    /// Draws the world of an iteration.
    #[inline]
    pub(crate) fn world(
        &mut self,
        seated: &mut SearchState<P>,
        view: &Observation<'_>,
        iteration: u32,
        bits: &mut SplitMix,
    ) -> State {
        match &mut seated.worlds {
            Worlds::Evidence(belief) => belief.sample(view, bits),
            Worlds::Policy(inferred) => inferred.world(view, &mut self.playouts.blueprint, iteration).0.clone(),
        }
    }
}

/// The state of a searching player during a match.
#[derive(Clone, Debug)]
pub(crate) struct SearchState<P: Policy> {
    pub(crate) stream: Stream,
    worlds: Worlds<P>,
    /// The public history of the round, for the blueprint.
    pub(crate) past: P::History,
    pub(crate) valuer: Valuer,
}

/// The source of sampled worlds.
#[derive(Clone, Debug)]
enum Worlds<P: Policy> {
    Evidence(Box<Belief>),
    Policy(Box<InferredWorlds<P>>),
}

impl<P: Policy> SearchState<P> {
    fn notice(&mut self, sighting: &Sighting) {
        self.past.notice(sighting);
        match &mut self.worlds {
            Worlds::Evidence(belief) => belief.notice(sighting),
            Worlds::Policy(inferred) => inferred.inference.notice(sighting),
        }
    }
}

/// The maximum number of worlds that are drawn at a time, from three times as many proposals.
const BLOCK: usize = 500;

/// An inference, and a block of worlds that were drawn from it for the current decision.
#[derive(Clone, Debug)]
pub(crate) struct InferredWorlds<P: Policy> {
    pub(crate) inference: Inference<P>,
    base: u64,
    block: SamplingSettings,
    worlds: Vec<State>,
    styles: Vec<[u8; MAX_SEATS]>,
}

impl<P: Policy> InferredWorlds<P> {
    pub(crate) fn new(briefing: &Briefing<'_>, past: P::History) -> InferredWorlds<P> {
        let inference = Inference::new(briefing, past);
        let (worlds, styles) = (Vec::new(), Vec::new());
        InferredWorlds { inference, base: 0, block: SamplingSettings::default(), worlds, styles }
    }

    /// Prepares to draw the worlds of one decision, in blocks with these settings.
    pub(crate) fn prepare(&mut self, base: u64, block: SamplingSettings) {
        (self.base, self.block) = (base, block);
        self.worlds.clear();
    }

    /// The world with this number, and the style of each seat in it. The numbers must be requested in order.
    pub(crate) fn world(&mut self, view: &Observation<'_>, policy: &mut P, number: u32) -> (&State, [u8; MAX_SEATS]) {
        let (block, index) = (number as usize / self.block.worlds, number as usize % self.block.worlds);
        if index == 0 {
            let base = self.base.wrapping_add((block as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let sample = self.inference.sample(view, policy, &self.block, (0.0, 0), base);
            (self.worlds, self.styles) = sample.into_draws();
        }
        // Equal worlds are adjacent, but successive numbers should get different worlds.
        let draw = strided(index, self.block.worlds);
        (&self.worlds[draw], self.styles.get(draw).copied().unwrap_or_default())
    }
}

/// The element at `index` of a permutation of `0..number` in which neighbours are far apart.
pub(crate) fn strided(index: usize, number: usize) -> usize {
    const PRIME: usize = 7919;
    let step = if number.is_multiple_of(PRIME) { 1 } else { PRIME };
    index * step % number
}

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

params! {
    /// The parameters of a time budget.
    pub struct TimeParams {
        /// The search time for a decision in milliseconds, instead of a number of iterations; not reproducible.
        time_ms: Option<u32> in 1..=3_600_000,
    }

    fn is_reproducible(&self) -> bool {
        self.time_ms.is_none()
    }
}

/// The budget of a search for each decision.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Budget {
    iterations: u32,
    /// The search time. If it is given, the number of iterations is ignored.
    time: Option<Duration>,
}

impl Budget {
    pub(crate) fn new(iterations: u32, time: TimeParams) -> Budget {
        Budget { iterations, time: time.time_ms.map(|time| Duration::from_millis(time.into())) }
    }

    /// Starts the countdown for one decision.
    pub(crate) fn begin(self) -> Countdown {
        Countdown { budget: self, begun: None, done: 0, half: None }
    }

    /// The maximum number of iterations of a decision. For a time budget, it is an estimate for a fast machine.
    pub(crate) fn most_iterations(self) -> u32 {
        const A_MILLISECOND: u128 = 2000;
        let by_clock = |time: Duration| u32::try_from(time.as_millis() * A_MILLISECOND).unwrap_or(u32::MAX);
        self.time.map_or(self.iterations, by_clock)
    }
}

/// Counts the iterations of one decision.
#[derive(Clone, Debug)]
pub(crate) struct Countdown {
    budget: Budget,
    begun: Option<Instant>,
    done: u32,
    /// With a time budget: the first iteration of the second half.
    half: Option<u32>,
}

impl Countdown {
    /// The number of the next iteration, from 0; `None` when the budget is spent.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<u32> {
        let number = self.done;
        let goes_on = match self.budget.time {
            None => number < self.budget.iterations,
            Some(time) => self.has_time(time),
        };
        self.done += 1;
        goes_on.then_some(number)
    }

    /// Whether the budget's second half begins with this iteration. `number` is the last result of [`Countdown::next`].
    #[inline]
    pub(crate) fn is_halfway(&self, number: u32) -> bool {
        match self.budget.time {
            None => number == self.budget.iterations / 2,
            Some(_) => self.half == Some(number),
        }
    }

    /// Checks the clock, every 16 iterations.
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

// Races: decisions are tried in the same worlds, and dropped when they fall behind.
//
// In the same world with the same random numbers, the utilities of two decisions are similar, so their difference has a
// smaller variance than with independent worlds. A decision is dropped when it is probably not better than the best one
// (Maron and Moore 1994, "Hoeffding races", with standard errors in place of Hoeffding's bound), and the race ends when
// one decision is left.

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
        self.racers[..self.number].iter().map(|racer| tried(racer.action, racer.utilities.iter().copied()))
    }

    /// The tries of each decision, by their gains over the first one in the same worlds.
    pub(crate) fn gains(&self) -> impl Iterator<Item = Arm> {
        let first = &self.racers[0].utilities;
        self.racers[..self.number].iter().map(move |racer| {
            tried(racer.action, racer.utilities.iter().zip(first).map(|(utility, first)| utility - first))
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

fn tried(action: Action, utilities: impl Iterator<Item = f64>) -> Arm {
    let mut arm = Arm::new(action);
    utilities.for_each(|utility| arm.add(utility));
    arm
}

#[cfg(test)]
mod tests;
