//! Advice for a position: what each decision is worth, measured by playouts, and why the best one is better.
//!
//! All decisions are played out in the same worlds with the same random numbers, so the difference of two decisions has
//! less noise than either chance. Worlds are drawn uniformly from what the position leaves open. The best decision is
//! selected in some worlds and measured in others, because the best of many noisy means is biased upwards.

use cambio_core::engine::{Chance, Dice};
use cambio_core::rng::{SplitMix, mix};
use cambio_core::rules::knob::MatchEnd;
use cambio_core::view::CardHistory;
use cambio_core::{Action, Knowledge, Observation, Position, Seat, State};
use serde::{Serialize, Serializer};

use crate::playout::{is_plausible, limit_turns};
use crate::policy::{Blueprint, BlueprintHistory, Policy as _, PublicHistory as _};
use crate::reason::{Continuations, GameMarks, play_game, reason};
use crate::review::{MeanAccumulator, MeanEstimate};
use crate::search::BlueprintName;
use crate::value::{Utility, Valuer};

/// The maximum number of decisions that are measured.
const MAX_MEASURED: usize = 12;
/// With more different decisions, only those are tried that searches try: no bluffs, and no swaps that do not move one own card.
const MAX_TRIED: usize = 24;
/// The number of playouts of all decisions together in each round of the selection.
const SELECTION_PLAYOUTS: usize = 2_400;
/// The minimum number of worlds in each round of the selection.
const MIN_SELECTION_WORLDS: u32 = 10;
/// The numbers of decisions in all playouts after which a round of the selection and the measurement end, if the caller gives no number
/// of games. They limit the time to some three seconds.
const SELECTION_DECISIONS: u64 = 60_000;
const MAX_DECISIONS: u64 = 2_500_000;
/// The number of worlds between two checks of the precision.
const BLOCK_WORLDS: u32 = 250;
/// The minimum number of worlds, even after an interrupt.
const MIN_WORLDS: u32 = 20;
/// The maximum number of worlds, if the caller gives none.
const MAX_WORLDS: u32 = 60_000;
/// The half-width at which a cost is known well enough. For a large cost, a quarter of the cost is enough.
const PRECISION: f64 = 0.01;
/// The number of times that a better decision, found by the measurement, becomes the best, and everything is measured again.
const MAX_CORRECTIONS: u64 = 3;

/// How advice is computed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AdviceSettings {
    /// The policy of the seat after its decision.
    pub agent: BlueprintName,
    /// The policy of the other seats.
    pub opponents: BlueprintName,
    /// The number of playouts after each decision; `None` to stop when each cost is known to ± 1 win in 100 or a quarter of
    /// the cost, or after some three seconds.
    pub games: Option<u32>,
    /// The seed of the playouts.
    pub seed: u64,
}

impl Default for AdviceSettings {
    fn default() -> AdviceSettings {
        AdviceSettings { agent: BlueprintName::Learned, opponents: BlueprintName::Learned, games: None, seed: 0 }
    }
}

/// The advice for a position.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Advice {
    /// The seat that is advised.
    #[serde(serialize_with = "as_text")]
    pub seat: Seat,
    /// Whether chances are chances to win a match of several rounds, by [`MatchValues`](crate::MatchValues). Otherwise they
    /// are shares of the win of the round.
    pub of_match: bool,
    /// The decisions, the best first.
    pub decisions: Vec<DecisionAdvice>,
    /// The number of decisions that were not tried, or fell behind early and were not measured.
    pub unmeasured: usize,
    /// The chance that no other seat has fewer points on the table now.
    pub lowest_now: MeanEstimate,
    /// The number of worlds in which the best decision was measured.
    pub worlds: u32,
}

/// A mean and the ends of its interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[expect(missing_docs, reason = "the type explains its fields")]
pub struct IntervalEstimate {
    pub mean: f64,
    pub low: f64,
    pub high: f64,
}

impl IntervalEstimate {
    /// The interval of `z` standard errors to each side. The variance has a floor, because a mean of a few equal values is not
    /// certain.
    fn of(values: &MeanAccumulator, z: f64) -> IntervalEstimate {
        let MeanEstimate { mean, error } = values.estimate();
        let half = z * libm::hypot(error, 1.0 / f64::from(values.number().max(1)));
        IntervalEstimate { mean, low: mean - half, high: mean + half }
    }

    fn half(&self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

/// The value of a decision.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct DecisionAdvice {
    /// The decision.
    #[serde(serialize_with = "as_text")]
    pub action: Action,
    /// The decisions that differ from it only in cards that the seat cannot distinguish. They have the same value.
    #[serde(serialize_with = "as_texts")]
    pub alike: Vec<Action>,
    /// The chance of the seat, with the ends of a simultaneous 95 % interval over all decisions.
    pub chance: IntervalEstimate,
    /// The chance of the best decision minus this chance, with its simultaneous interval; `None` for the best decision.
    pub cost: Option<IntervalEstimate>,
    /// The mean points of each seat on the table at the end of the round, seat a first.
    pub points: Vec<f64>,
    /// How the games differ from those after the best decision, in a sentence; `None` for the best decision.
    pub reason: Option<String>,
}

impl DecisionAdvice {
    /// Whether the decision may be the best: its cost is not shown to be above 0.
    pub fn may_be_best(&self) -> bool {
        self.cost.is_none_or(|cost| cost.low <= 0.0)
    }
}

fn as_text<T: std::fmt::Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

fn as_texts<S: Serializer>(values: &[Action], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(Action::to_string))
}

impl Advice {
    /// Advises the seat to act. `goes_on` is called before each world; when it returns false, the advice has the
    /// precision that was reached.
    ///
    /// ```
    /// use cambio_agents::{Advice, AdviceSettings};
    ///
    /// let position = "classic a=Ah,2h,3s,Ad b=?,?,?,? turns=7 phase=close pile=9c".parse().unwrap();
    /// let settings = AdviceSettings { games: Some(200), ..AdviceSettings::default() };
    /// let advice = Advice::of(&position, &settings, &|| true).unwrap();
    /// assert_eq!(advice.decisions[0].action.to_string(), "call");
    /// assert!(advice.lowest_now.mean > 0.9);
    /// ```
    ///
    /// # Errors
    /// If the round is over, another seat is to act, or a policy cannot play under the rules. The error is a sentence without a
    /// full stop.
    ///
    /// # Determinism
    /// The advice depends on the position and the settings alone, unless `goes_on` ends it.
    pub fn of(position: &Position, settings: &AdviceSettings, goes_on: &dyn Fn() -> bool) -> Result<Advice, String> {
        let mut playouts = AdvicePlayouts::new(position, settings)?;
        let (view, seat) = (playouts.view.clone(), playouts.view.seat());
        match view.table().asked() {
            None => return Err("the round is over, so there is nothing to decide".to_owned()),
            Some(asked) if asked != seat => {
                let what = format!("seat {asked} is to act, but the position is what seat {seat} knows");
                return Err(format!("{what}: give view={asked}"));
            }
            Some(_) => {}
        }
        let mut groups = playouts.groups();
        let of_all = groups.len();
        if of_all > MAX_TRIED {
            let is_tried = |group: &AlikeDecisions| is_plausible(&view, group[0], |spot| view.face(spot));
            if groups.iter().any(is_tried) {
                groups.retain(is_tried);
            }
        }
        let mut ranked = playouts.select(groups, goes_on);
        ranked.truncate(MAX_MEASURED);
        let unmeasured = of_all - ranked.len();
        let z = simultaneous_quantile(2 * ranked.len() - 1);
        let mut correction = 0;
        let measured = loop {
            let measured = playouts.measure(&ranked, z, correction, goes_on);
            let gain = |at: usize| IntervalEstimate::of(&measured[at].gain, z);
            let better = (1..ranked.len()).filter(|&at| gain(at).low > 0.0);
            let better = better.max_by(|&one, &other| gain(one).mean.total_cmp(&gain(other).mean));
            match better {
                Some(better) if correction < MAX_CORRECTIONS && playouts.decisions < MAX_DECISIONS && goes_on() => {
                    ranked.swap(0, better);
                    correction += 1;
                }
                _ => break measured,
            }
        };
        let best = &measured[0];
        let advice = |own: &Measured| own.advice(best, &view, z);
        let mut decisions: Vec<DecisionAdvice> = measured.iter().map(advice).collect();
        // The sort is stable, and the best decision stays the first.
        let cost = |decision: &DecisionAdvice| decision.cost.map_or(f64::NEG_INFINITY, |cost| cost.mean);
        decisions.sort_by(|one, other| cost(one).total_cmp(&cost(other)));
        Ok(Advice {
            seat,
            of_match: playouts.of_match,
            decisions,
            unmeasured,
            lowest_now: playouts.lowest_now.estimate(),
            worlds: best.chance.number(),
        })
    }
}

/// The number of standard errors at which this many independent normal estimates are all within their intervals with a
/// probability of 95 % (Šidák 1967). Estimates that are positively correlated are within more often.
fn simultaneous_quantile(number: usize) -> f64 {
    let each = libm::pow(0.95, 1.0 / number.max(1) as f64);
    let (mut low, mut high) = (0.0, 10.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if libm::erf(middle / std::f64::consts::SQRT_2) < each { low = middle } else { high = middle }
    }
    high
}

/// Decisions that differ only in cards that the seat cannot distinguish. The first one is played out.
type AlikeDecisions = Vec<Action>;

/// What happened in the games after a decision, with the sums of their results.
struct Measured {
    alike: AlikeDecisions,
    chance: MeanAccumulator,
    /// The chance minus the chance of the best decision in the same world.
    gain: MeanAccumulator,
    games: Continuations,
}

impl Measured {
    fn new(alike: AlikeDecisions) -> Measured {
        let none = MeanAccumulator::default();
        Measured { alike, chance: none, gain: none, games: Continuations::default() }
    }

    fn action(&self) -> Action {
        self.alike[0]
    }

    fn advice(&self, best: &Measured, view: &Observation<'_>, z: f64) -> DecisionAdvice {
        let is_best = self.action() == best.action();
        let IntervalEstimate { mean, low, high } = IntervalEstimate::of(&self.gain, z);
        let chance = self.chance_given(best, z);
        DecisionAdvice {
            action: self.action(),
            alike: self.alike[1..].to_vec(),
            chance: IntervalEstimate { low: chance.low.max(0.0), high: chance.high.min(1.0), ..chance },
            cost: (!is_best).then_some(IntervalEstimate { mean: -mean, low: -high, high: -low }),
            points: self.games.points().take(view.table().seats()).collect(),
            reason: (!is_best)
                .then(|| reason((best.action(), &best.games), (self.action(), &self.games), view.table(), view.seat())),
        }
    }

    /// The chance: the chance of the best decision, which was measured in most worlds, plus the gain over it in the worlds of both.
    fn chance_given(&self, best: &Measured, z: f64) -> IntervalEstimate {
        let [own, gain, all] = [&self.chance, &self.gain, &best.chance].map(MeanAccumulator::estimate);
        let (worlds, most) = (f64::from(self.chance.number()), f64::from(best.chance.number()));
        let (spread, of_gain) = (own.error.powi(2) * worlds, gain.error.powi(2) * worlds);
        // The variance of the sum if the worlds of this decision are the first of all of them.
        let variance = of_gain * (1.0 / worlds - 1.0 / most) + spread / most;
        let (mean, half) = (all.mean + gain.mean, z * libm::hypot(variance.max(0.0).sqrt(), 1.0 / most));
        IntervalEstimate { mean, low: mean - half, high: mean + half }
    }
}

/// The context of all playouts of a position.
struct AdvicePlayouts<'p> {
    view: Observation<'p>,
    games: Option<u32>,
    /// The policy of the seat and, if it is another one, the policy of the other seats, with their public histories.
    policies: Vec<(Blueprint, BlueprintHistory)>,
    knowledge: Knowledge,
    history: CardHistory,
    valuer: Valuer,
    of_match: bool,
    asks_all: bool,
    base: u64,
    lowest_now: MeanAccumulator,
    /// The number of decisions in all playouts.
    decisions: u64,
}

impl AdvicePlayouts<'_> {
    fn new<'p>(position: &'p Position, settings: &AdviceSettings) -> Result<AdvicePlayouts<'p>, String> {
        let (standing, sightings) = (position.standing(), position.sightings());
        let (rules, seats) = (standing.setup.rules, standing.setup.seats);
        let begin = |name: BlueprintName| {
            let mut policy = name.policy();
            let mut past = policy.begin(&rules, seats)?;
            policy.round_begins(&standing);
            for sighting in &sightings {
                past.notice(sighting);
            }
            Ok::<_, String>((policy, past))
        };
        let mut policies = vec![begin(settings.agent)?];
        if settings.opponents != settings.agent {
            policies.push(begin(settings.opponents)?);
        }
        let of_match = rules.spec().match_end != MatchEnd::Rounds(1);
        let mut valuer = Valuer::new(if of_match { Utility::Match } else { Utility::Win });
        valuer.round_begins(&standing);
        let mut history = CardHistory::new(&rules, seats);
        for sighting in &sightings {
            history.notice(sighting);
        }
        Ok(AdvicePlayouts {
            view: position.observation(),
            games: settings.games,
            asks_all: policies.iter().any(|(policy, _)| policy.gambles()),
            policies,
            knowledge: position.knowledge(),
            history,
            valuer,
            of_match,
            base: mix(settings.seed ^ 0x0adc_1ce0),
            lowest_now: MeanAccumulator::default(),
            decisions: 0,
        })
    }

    /// The legal decisions.
    fn groups(&self) -> Vec<AlikeDecisions> {
        let mut groups: Vec<AlikeDecisions> = Vec::new();
        for action in self.view.choices().iter() {
            match groups.iter_mut().find(|group| self.history.are_alike_decisions(&self.view, group[0], action)) {
                Some(group) => group.push(action),
                None => groups.push(vec![action]),
            }
        }
        groups
    }

    fn world(&self, stage: u64, number: u32) -> State {
        let mut world = self.knowledge.sample(&self.view, &mut SplitMix::new(mix(self.base ^ stage), number));
        if !self.asks_all {
            world.ask_knowing_only();
        }
        world
    }

    /// Plays a game to the end of the round after this decision.
    fn play(&mut self, world: &State, action: Action, chance: &mut impl Chance) -> (State, GameMarks) {
        let mut world = world.clone();
        limit_turns(&mut world);
        let pasts = self.policies.iter().map(|(_, past)| past.clone()).collect();
        let mut policies: Vec<&mut Blueprint> = self.policies.iter_mut().map(|(policy, _)| policy).collect();
        let (world, marks) = play_game(world, action, self.view.seat(), &mut policies, pasts, chance);
        self.decisions += marks.decisions;
        (world, marks)
    }

    /// The value of the end of a game for the seat.
    fn value(&self, ended: &State) -> f64 {
        self.valuer.values(ended)[self.view.seat().index()]
    }

    /// The chance in the game with this number, the same for all decisions.
    fn dice(&self, stage: u64, number: u32) -> Dice<SplitMix> {
        Dice(SplitMix::new(mix(!self.base ^ stage), number))
    }

    /// The decisions, the most promising first, by successive halving (Karnin, Koren and Somekh 2013).
    fn select(&mut self, groups: Vec<AlikeDecisions>, goes_on: &dyn Fn() -> bool) -> Vec<AlikeDecisions> {
        let mut live: Vec<(AlikeDecisions, f64)> = groups.into_iter().map(|group| (group, 0.0)).collect();
        let (mut out, mut number) = (Vec::new(), 0);
        while live.len() > 1 {
            let (worlds, before) = (SELECTION_PLAYOUTS.div_ceil(live.len()) as u32, self.decisions);
            for round in 0..worlds.max(MIN_SELECTION_WORLDS) {
                let is_enough = round >= MIN_SELECTION_WORLDS && self.decisions - before > SELECTION_DECISIONS;
                if is_enough || !goes_on() {
                    break;
                }
                let (world, dice) = (self.world(1, number), self.dice(1, number));
                for (group, sum) in &mut live {
                    let (ended, _) = self.play(&world, group[0], &mut dice.clone());
                    *sum += self.value(&ended);
                }
                number += 1;
            }
            live.sort_by(|(_, one), (_, other)| other.total_cmp(one));
            out.splice(0..0, live.drain(live.len().div_ceil(2)..).map(|(group, _)| group));
        }
        out.splice(0..0, live.into_iter().map(|(group, _)| group));
        out
    }

    /// Measures the decisions, the best first, in worlds that the selection has not used.
    fn measure(
        &mut self,
        ranked: &[AlikeDecisions],
        z: f64,
        correction: u64,
        goes_on: &dyn Fn() -> bool,
    ) -> Vec<Measured> {
        let (stage, games) = (2 + correction, self.games);
        let mut measured: Vec<Measured> = ranked.iter().cloned().map(Measured::new).collect();
        self.lowest_now = MeanAccumulator::default();
        let is_known = |decision: &Measured| {
            let gain = IntervalEstimate::of(&decision.gain, z);
            gain.half() <= PRECISION.max(-gain.mean / 4.0)
        };
        let mut live: Vec<usize> = (0..ranked.len()).collect();
        for number in 0..games.unwrap_or(MAX_WORLDS) {
            if number > 0 && number % BLOCK_WORLDS == 0 {
                live.retain(|&at| at == 0 || games.is_some() || !is_known(&measured[at]));
                let is_chance_known = || IntervalEstimate::of(&measured[0].chance, z).half() <= 2.0 * PRECISION;
                if games.is_none() && live.len() == 1 && is_chance_known() {
                    break;
                }
            }
            // The first worlds are always played, so that there is a result.
            if number >= MIN_WORLDS && (games.is_none() && self.decisions > MAX_DECISIONS || !goes_on()) {
                break;
            }
            let (world, dice) = (self.world(stage, number), self.dice(stage, number));
            self.lowest_now.add(has_fewest_points(&world, self.view.seat()));
            let mut best = 0.0;
            for &at in &live {
                let (ended, marks) = self.play(&world, ranked[at][0], &mut dice.clone());
                let value = self.value(&ended);
                best = if at == 0 { value } else { best };
                let decision = &mut measured[at];
                decision.chance.add(value);
                decision.gain.add(value - best);
                decision.games.add(&ended, marks, value);
            }
        }
        measured
    }
}

/// 1 if no other seat has fewer points on the table than this seat, and 0 otherwise.
fn has_fewest_points(world: &State, seat: Seat) -> f64 {
    let own = world.points(seat);
    f64::from(u8::from(Seat::ALL[..world.table().seats()].iter().all(|&other| world.points(other) >= own)))
}

#[cfg(test)]
mod tests;
