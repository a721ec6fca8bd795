//! What the decisions of a seat are worth, and why the best one is better: the mechanism of [`Advice`](crate::Advice) and of the
//! [`Reviewer`](crate::Reviewer).
//!
//! All decisions are played out in the same worlds with the same random numbers, so the difference of two decisions has less noise than
//! either chance. The most promising decisions are selected in some worlds and measured in others, because the best of many noisy means is
//! biased upwards. If the measurement shows that another decision is better than the best one, that decision becomes the best, and all are
//! measured again in further worlds. The reason for the best decision is derived from the games that measure the costs.
//!
//! The caller draws the worlds in blocks. A block may contain copies of a world, so standard errors are clustered by world.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, Sub};

use cambio_core::engine::{Chance, Dice, Sink as _};
use cambio_core::rng::{SplitMix, mix};
use cambio_core::rules::MAX_SEATS;
use cambio_core::{Action, Card, Event, Observation, State};
use serde::{Serialize, Serializer};

use crate::inference::WorldSample;
use crate::policy::{Blueprint, BlueprintHistory, Policy as _, PublicHistory as _};
use crate::reason::{Continuations, GameMarks, reason};
use crate::value::Valuer;

/// The number of worlds between two checks of the precision, and the maximum number that is drawn at once.
const BLOCK_WORLDS: u32 = 250;
const MAX_BLOCK: u32 = 10_000;
/// A selection or a measurement plays in at least this many worlds, even after an interrupt.
const MIN_WORLDS: u32 = 20;
/// The numbers of decisions in all playouts after which a round of the selection, and a measurement with a precision, end: some three
/// seconds.
const SELECTION_DECISIONS: u64 = 60_000;
const MAX_DECISIONS: u64 = 2_500_000;
/// The number of times that a better decision, found by the measurement, becomes the best, and everything is measured again.
const MAX_CORRECTIONS: u32 = 3;

/// A mean and the half-width of its 95 % interval.
#[derive(Serialize, Clone, Copy, PartialEq, Debug, Default)]
#[expect(missing_docs, reason = "the type explains its fields")]
pub struct MeanEstimate {
    pub mean: f64,
    pub half: f64,
}

impl MeanEstimate {
    /// The number of standard errors in the half-width of an interval that is valid for itself.
    pub(crate) const Z: f64 = 1.96;

    /// A mean without an error.
    pub fn exact(mean: f64) -> MeanEstimate {
        MeanEstimate { mean, half: 0.0 }
    }

    /// The lower end of the interval.
    pub fn low(&self) -> f64 {
        self.mean - self.half
    }
}

/// The sum of two independent estimates.
impl Add for MeanEstimate {
    type Output = MeanEstimate;

    fn add(self, other: MeanEstimate) -> MeanEstimate {
        MeanEstimate { mean: self.mean + other.mean, half: libm::hypot(self.half, other.half) }
    }
}

/// The difference of two independent estimates.
impl Sub for MeanEstimate {
    type Output = MeanEstimate;

    fn sub(self, other: MeanEstimate) -> MeanEstimate {
        self + MeanEstimate { mean: -other.mean, ..other }
    }
}

/// The sum of independent estimates.
impl Sum for MeanEstimate {
    fn sum<I: Iterator<Item = MeanEstimate>>(estimates: I) -> MeanEstimate {
        estimates.fold(MeanEstimate::default(), Add::add)
    }
}

/// Sums of values in clusters, with the standard error of a ratio for their mean (Cochran 1977, chapter 6).
#[derive(Clone, Copy, Default)]
pub(crate) struct MeanAccumulator {
    clusters: f64,
    number: f64,
    sum: f64,
    /// Sums over the clusters: the squared number of values, the number times their sum, and the squared sum.
    products: [f64; 3],
}

impl MeanAccumulator {
    /// Adds a cluster with this number of values and this sum.
    pub(crate) fn add(&mut self, number: f64, sum: f64) {
        self.clusters += 1.0;
        self.number += number;
        self.sum += sum;
        let products = [number * number, number * sum, sum * sum];
        self.products.iter_mut().zip(products).for_each(|(all, product)| *all += product);
    }

    /// The mean, with an interval of `z` standard errors to each side. The variance has a floor, because a mean of a few equal values is
    /// not certain.
    pub(crate) fn estimate(&self, z: f64) -> MeanEstimate {
        let (mean, [squares, mixed, of_sums]) = (self.sum / self.number, self.products);
        let spread = (of_sums - 2.0 * mean * mixed + mean * mean * squares).max(0.0);
        let variance = spread * self.clusters / (self.clusters - 1.0).max(1.0);
        MeanEstimate { mean, half: z * libm::hypot(variance.sqrt() / self.number, 1.0 / self.clusters) }
    }
}

/// Decisions of the same value, such as those that differ only in cards that the seat cannot distinguish. The first one is played out.
pub(crate) type AlikeDecisions = Vec<Action>;

/// Groups decisions that are alike, in the order of the first of each group.
pub(crate) fn grouped(
    decisions: impl IntoIterator<Item = Action>,
    are_alike: impl Fn(Action, Action) -> bool,
) -> Vec<AlikeDecisions> {
    let mut groups: Vec<AlikeDecisions> = Vec::new();
    for action in decisions {
        match groups.iter_mut().find(|group| are_alike(group[0], action)) {
            Some(group) if group.iter().any(|own| own.canonical() == action.canonical()) => {}
            Some(group) => group.push(action),
            None => groups.push(vec![action]),
        }
    }
    groups
}

/// The value of a decision.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct DecisionValue {
    /// The decision.
    #[serde(serialize_with = "as_text")]
    pub action: Action,
    /// The decisions that differ from it only in cards that the seat cannot distinguish. They have the same value.
    #[serde(serialize_with = "as_texts")]
    pub alike: Vec<Action>,
    /// The chance of the seat to win.
    pub chance: MeanEstimate,
    /// The chance of the best decision minus this chance, in the same worlds; `None` for the best decision. Noise can make it negative.
    pub cost: Option<MeanEstimate>,
    /// Whether the decision is the best, or its cost is not shown to be above 0.
    pub may_be_best: bool,
    /// The mean points of each seat on the table at the end of the round, seat a first.
    pub points: Vec<f64>,
    /// How the games differ from those after the best decision, in a sentence; `None` for a decision that may be the best.
    pub reason: Option<String>,
    /// The chance of each seat to win, seat a first.
    #[serde(skip)]
    pub chances: Vec<MeanEstimate>,
    /// The chance of each seat after the best decision minus its chance after this one; 0 for the best decision.
    #[serde(skip)]
    pub costs: Vec<MeanEstimate>,
}

impl DecisionValue {
    /// The decision and those that are alike.
    pub(crate) fn group(&self) -> AlikeDecisions {
        [&[self.action], &*self.alike].concat()
    }
}

pub(crate) fn as_text<T: fmt::Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

fn as_texts<S: Serializer>(actions: &[Action], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(actions.iter().map(Action::to_string))
}

/// The values of the decisions of a seat, the best decision first.
#[derive(Clone, PartialEq, Debug)]
pub struct DecisionComparison {
    /// The decisions.
    pub decisions: Vec<DecisionValue>,
    /// The number of games after the best decision.
    pub games: u32,
}

impl DecisionComparison {
    /// The best decision.
    pub fn best(&self) -> Action {
        self.decisions[0].action
    }

    /// The value of a decision, if it was measured.
    pub fn of(&self, action: Action) -> Option<&DecisionValue> {
        self.decisions.iter().find(|own| own.action == action)
    }

    /// Replaces the values of decisions by later ones with the same best decision.
    pub(crate) fn update(&mut self, later: DecisionComparison) {
        self.decisions.retain(|own| later.of(own.action).is_none());
        self.decisions.extend(later.decisions);
        self.games = later.games;
        self.sort();
    }

    /// Sorts the decisions by their costs. The best one has none.
    fn sort(&mut self) {
        let cost = |own: &DecisionValue| own.cost.map_or(f64::NEG_INFINITY, |cost| cost.mean);
        self.decisions.sort_by(|one, other| cost(one).total_cmp(&cost(other)));
    }
}

/// How much is played.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    /// The number of playouts of all decisions together in each round of the selection.
    pub(crate) selection: u32,
    /// The maximum number of decisions that are measured.
    pub(crate) max_measured: usize,
    /// The maximum number of worlds in a measurement.
    pub(crate) worlds: u32,
    /// The half-width at which a cost is known well enough; for a large cost, a quarter of the cost is enough. `None` to play in all
    /// worlds.
    pub(crate) precision: Option<f64>,
    /// The number of standard errors in the half-width of an interval.
    pub(crate) z: f64,
}

/// Compares the decisions of a seat.
pub(crate) struct Comparer<'a> {
    view: &'a Observation<'a>,
    /// The policy of the seat and, if it is another one, the policy of the other seats, with their public histories.
    policies: Vec<(Blueprint, BlueprintHistory)>,
    valuer: &'a Valuer,
    /// Draws worlds, given the number of the block and of the worlds.
    draw: &'a mut dyn FnMut(u64, u32) -> WorldSample,
    effort: Effort,
    /// Called before each world that is played; when it returns false, the comparison has the precision that was reached.
    pub(crate) goes_on: &'a dyn Fn() -> bool,
    seed: u64,
    /// The number of blocks so far.
    blocks: u64,
    /// The number of decisions in all games so far.
    decisions: u64,
}

impl<'a> Comparer<'a> {
    pub(crate) fn new(
        view: &'a Observation<'a>,
        policies: Vec<(Blueprint, BlueprintHistory)>,
        valuer: &'a Valuer,
        draw: &'a mut dyn FnMut(u64, u32) -> WorldSample,
        effort: Effort,
        seed: u64,
    ) -> Comparer<'a> {
        Comparer { view, policies, valuer, draw, effort, seed, goes_on: &|| true, blocks: 0, decisions: 0 }
    }

    /// Compares groups of decisions. The first `fixed` groups are measured in any case, and the first of these is the best decision
    /// until another one is shown to be better.
    pub(crate) fn compare(&mut self, mut groups: Vec<AlikeDecisions>, fixed: usize) -> DecisionComparison {
        let others = groups.split_off(fixed);
        groups.extend(self.select(others));
        groups.truncate(self.effort.max_measured);
        let mut corrections = 0;
        loop {
            let measured = self.measure(groups, self.effort.worlds);
            let excess = |at: usize| self.of_seat(&measured[at].costs).estimate(self.effort.z);
            let better = (1..measured.len()).filter(|&at| excess(at).mean + excess(at).half < 0.0);
            let better = better.min_by(|&one, &other| excess(one).mean.total_cmp(&excess(other).mean));
            let Some(better) = better.filter(|_| corrections < MAX_CORRECTIONS && (self.goes_on)()) else {
                return self.comparison(&measured);
            };
            groups = measured.into_iter().map(|own| own.alike).collect();
            groups.swap(0, better);
            corrections += 1;
        }
    }

    /// Compares groups of decisions with the first one.
    pub(crate) fn compare_with_first(&mut self, groups: Vec<AlikeDecisions>, worlds: u32) -> DecisionComparison {
        let measured = self.measure(groups, worlds);
        self.comparison(&measured)
    }

    /// The groups, the most promising first, by successive halving (Karnin, Koren and Somekh 2013).
    fn select(&mut self, groups: Vec<AlikeDecisions>) -> Vec<AlikeDecisions> {
        let mut live: Vec<Measured> = groups.into_iter().map(Measured::new).collect();
        let mut out = Vec::new();
        while live.len() > 1 {
            let (worlds, limit) =
                (self.effort.selection.div_ceil(live.len() as u32), self.decisions + SELECTION_DECISIONS);
            self.play_block(&mut live, worlds.max(MIN_WORLDS), limit);
            let chance = |own: &Measured| self.of_seat(&own.chances).estimate(0.0).mean;
            // The sort is stable: among equals, the earlier one stays first.
            live.sort_by(|one, other| chance(other).total_cmp(&chance(one)));
            out.splice(0..0, live.drain(live.len().div_ceil(2)..));
        }
        live.into_iter().chain(out).map(|own| own.alike).collect()
    }

    /// Measures groups of decisions against the first one, in at most this number of worlds that were not used before.
    pub(crate) fn measure(&mut self, groups: Vec<AlikeDecisions>, worlds: u32) -> Vec<Measured> {
        let mut live: Vec<Measured> = groups.into_iter().map(Measured::new).collect();
        let (Effort { precision, z, .. }, mut known) = (self.effort, Vec::new());
        let (block, limit) =
            precision.map_or((MAX_BLOCK, u64::MAX), |_| (BLOCK_WORLDS, self.decisions + MAX_DECISIONS));
        while live[0].number() < worlds && (live[0].number() < MIN_WORLDS || self.goes_on(limit)) {
            let left = worlds - live[0].number();
            self.play_block(&mut live, block.min(left), limit);
            let Some(precision) = precision else { continue };
            let is_known = |own: &mut Measured| {
                let cost = self.of_seat(&own.costs).estimate(z);
                cost.half <= precision.max(cost.mean / 4.0)
            };
            known.extend(live.extract_if(1.., is_known));
            if live.len() == 1 && self.of_seat(&live[0].chances).estimate(z).half <= 2.0 * precision {
                break;
            }
        }
        live.extend(known);
        live
    }

    fn goes_on(&self, limit: u64) -> bool {
        self.decisions <= limit && (self.goes_on)()
    }

    fn of_seat<T: Copy>(&self, by_seat: &[T; MAX_SEATS]) -> T {
        by_seat[self.view.seat().index()]
    }

    /// Plays a game after each of these decisions in further worlds, until `limit` decisions were made in all games.
    fn play_block(&mut self, measured: &mut [Measured], worlds: u32, limit: u64) {
        self.blocks += 1;
        let (block, mut game) = (self.blocks, 0_u32);
        let WorldSample { worlds, draws, .. } = (self.draw)(block, worlds);
        for copies in draws.chunk_by(|one, other| one == other) {
            if measured[0].number() >= MIN_WORLDS && !self.goes_on(limit) {
                return;
            }
            let mut sums = vec![[0.0; MAX_SEATS]; measured.len()];
            for &world in copies {
                let dice = Dice(SplitMix::new(mix(!self.seed ^ block), game));
                for (own, sums) in measured.iter_mut().zip(&mut sums) {
                    let (ended, marks) = self.play(&worlds[world], own.action(), &mut dice.clone());
                    let values = self.valuer.values(&ended);
                    own.games.add(&ended, marks, self.of_seat(&values));
                    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
                }
                game += 1;
            }
            let best = sums[0];
            for (own, sums) in measured.iter_mut().zip(sums) {
                let accumulators = own.chances.iter_mut().zip(&mut own.costs);
                for ((chance, cost), (sum, best)) in accumulators.zip(sums.into_iter().zip(best)) {
                    chance.add(copies.len() as f64, sum);
                    cost.add(copies.len() as f64, best - sum);
                }
            }
        }
    }

    /// Plays a world to the end of its round: a decision of the seat, and then the decisions of the policies.
    pub(crate) fn play(&mut self, world: &State, action: Action, chance: &mut impl Chance) -> (State, GameMarks) {
        let mut world = world.clone();
        if !self.policies.iter().any(|(policy, _)| policy.gambles()) {
            world.ask_knowing_only();
        }
        let mut pasts: Vec<BlueprintHistory> = self.policies.iter().map(|(_, past)| past.clone()).collect();
        let (mut marks, mut action) = (GameMarks::of(&world), Some(action));
        while let Some(actor) = world.actor() {
            let at = usize::from(actor != self.view.seat()).min(pasts.len() - 1);
            let decision = action.take().unwrap_or_else(|| self.policies[at].0.decide(&world.view(actor), &pasts[at]));
            let mut sink = |event: &Event<Card>| {
                for past in &mut pasts {
                    past.notice(event);
                }
                marks.event(event);
            };
            world.carry_out(decision, chance, &mut sink);
            self.decisions += 1;
        }
        (world, marks)
    }

    /// The values of the decisions, the first of which is the best.
    pub(crate) fn comparison(&self, measured: &[Measured]) -> DecisionComparison {
        let decisions = measured.iter().map(|own| own.value(&measured[0], self.view, self.effort.z)).collect();
        let mut comparison = DecisionComparison { decisions, games: measured[0].number() };
        comparison.sort();
        comparison
    }
}

/// The results of the games after a decision, with their sums for each seat.
pub(crate) struct Measured {
    alike: AlikeDecisions,
    chances: [MeanAccumulator; MAX_SEATS],
    /// The chances after the best decision minus these chances.
    costs: [MeanAccumulator; MAX_SEATS],
    pub(crate) games: Continuations,
}

impl Measured {
    fn new(alike: AlikeDecisions) -> Measured {
        let none = [MeanAccumulator::default(); MAX_SEATS];
        Measured { alike, chances: none, costs: none, games: Continuations::default() }
    }

    fn action(&self) -> Action {
        self.alike[0]
    }

    /// The number of games.
    fn number(&self) -> u32 {
        self.chances[0].number as u32
    }

    fn value(&self, best: &Measured, view: &Observation<'_>, z: f64) -> DecisionValue {
        let (seat, seats, is_best) = (view.seat().index(), view.table().seats(), self.action() == best.action());
        let cost = |sums: &MeanAccumulator| if is_best { MeanEstimate::default() } else { sums.estimate(z) };
        let costs: Vec<MeanEstimate> = self.costs[..seats].iter().map(cost).collect();
        // The best decision was played in most worlds. A chance is its chance minus the cost in the worlds of both; the variance is that of
        // the sum if the worlds of this decision are the first of all of them.
        let share = f64::from(self.number()) / f64::from(best.number());
        let chance = |of: usize| {
            let [own, best] = [&self.chances, &best.chances].map(|chances| chances[of].estimate(z));
            let variance = costs[of].half.powi(2) * (1.0 - share) + own.half.powi(2) * share;
            MeanEstimate { mean: best.mean - costs[of].mean, half: variance.sqrt() }
        };
        let chances: Vec<MeanEstimate> = (0..seats).map(chance).collect();
        let may_be_best = costs[seat].low() <= 0.0;
        DecisionValue {
            action: self.action(),
            alike: self.alike[1..].to_vec(),
            chance: chances[seat],
            cost: (!is_best).then_some(costs[seat]),
            may_be_best,
            points: self.games.points().take(seats).collect(),
            reason: (!may_be_best)
                .then(|| reason((best.action(), &best.games), (self.action(), &self.games), view.table(), view.seat())),
            chances,
            costs,
        }
    }
}
