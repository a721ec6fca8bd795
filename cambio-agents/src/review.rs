//! Review of a finished match: the chances of each seat at each decision, and the cost of each decision.
//!
//! Everything is measured by playouts with one policy in every seat: the bundled network if it fits the cards,
//! otherwise the default heuristic. A chance is therefore the chance if all seats play this policy. A cost is the
//! difference between two decisions in the same worlds with the same random numbers. The best decision is selected in
//! some worlds and its gain is measured in others, because the best of many noisy means is biased upwards.
//!
//! Worlds are resampled by their likelihood, so several playouts may use copies of one world. Standard errors are
//! clustered by world, and a cost is certain only if the effective number of worlds is at least [`MIN_EFFECTIVE_WORLDS`].
//! The other decisions are measured against the best one in some of the same worlds. The reason for the best one is derived from
//! the playouts that measure the cost.

use std::cmp::Reverse;
use std::iter::{Sum, once};
use std::ops::{Add, Sub};

use cambio_core::engine::Dice;
use cambio_core::rng::{Key, Seed, SplitMix, mix};
use cambio_core::rules::MAX_SEATS;
use cambio_core::rules::knob::MatchEnd;
use cambio_core::{Action, Briefing, Card, Event, Observation, Phase, Rules, Seat, Spot, Standing, State};
use serde::{Serialize, Serializer};

use crate::heuristic::HeuristicParams;
use crate::inference::{Inference, SamplingSettings, WorldSample};
use crate::playout::is_plausible;
use crate::policy::{Blueprint, BlueprintHistory, HistorySink, NetworkPolicy, Policy as _};
use crate::reason::{Continuations, GameMarks, play_game, reason};
use crate::search::strided;
use crate::value::{Utility, Valuer};

/// The maximum number of decisions that are compared with the decision taken.
const MAX_COMPARED: usize = 12;
/// The minimum effective number of worlds for a cost that may be called a blunder.
const MIN_EFFECTIVE_WORLDS: f64 = 100.0;
/// The assumed probability that a seat deviates from the policy at a decision. People and other agents deviate more than a
/// network in self-play.
const DEVIATION: f64 = 0.1;
/// The maximum number of proposed worlds, as a multiple of the number of playouts.
const MAX_PROPOSALS_PER_PLAYOUT: usize = 64;
/// A cost near the size of a blunder is measured with up to this multiple of the number of playouts.
const MAX_PLAYOUT_FACTOR: u32 = 40;
/// The chances before and after the deal are measured with this multiple of the number of playouts.
const DEAL_PLAYOUT_FACTOR: u32 = 10;
/// The maximum number of decisions that are measured besides the best one and the decision taken.
const MAX_OTHERS: usize = 4;
/// A decision that is not the decision of the policy is measured with this multiple of the number of playouts.
const UNUSUAL_PLAYOUT_FACTOR: u32 = 3;
/// The seed of all reviews.
const SEED: u64 = 0x0a99_4a15;
/// Makes the random bits of the measurement different from the random bits of the search.
const PLAYOUTS: u64 = 0x5555;

/// A mean and its standard error. It is written as the mean and the half-width of the 95 % interval.
#[derive(Serialize, Clone, Copy, PartialEq, Debug, Default)]
pub struct MeanEstimate {
    /// The mean.
    pub mean: f64,
    /// The standard error of the mean.
    #[serde(rename = "half", serialize_with = "as_half")]
    pub error: f64,
}

fn as_half<S: Serializer>(error: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(MeanEstimate { mean: 0.0, error: *error }.half())
}

impl MeanEstimate {
    /// The half-width of the 95 % interval.
    pub fn half(&self) -> f64 {
        1.96 * self.error
    }
}

/// The sum of two independent estimates.
impl Add for MeanEstimate {
    type Output = MeanEstimate;

    fn add(self, other: MeanEstimate) -> MeanEstimate {
        let error = (self.error * self.error + other.error * other.error).sqrt();
        MeanEstimate { mean: self.mean + other.mean, error }
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

/// Sums of numbers and of their squares.
#[derive(Clone, Copy, Default)]
pub(crate) struct MeanAccumulator {
    number: f64,
    sum: f64,
    squares: f64,
}

impl MeanAccumulator {
    pub(crate) fn add(&mut self, value: f64) {
        self.number += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    /// The number of values.
    pub(crate) fn number(&self) -> u32 {
        self.number as u32
    }

    pub(crate) fn estimate(&self) -> MeanEstimate {
        let mean = self.sum / self.number.max(1.0);
        let spread = (self.squares - self.number * mean * mean).max(0.0) / (self.number - 1.0).max(1.0);
        MeanEstimate { mean, error: (spread / self.number.max(1.0)).sqrt() }
    }
}

/// Sums by cluster, with the standard error of a ratio for their mean (Cochran 1977, chapter 6).
#[derive(Clone, Default)]
struct ClusterAccumulator {
    /// The number of values and their sum in each cluster.
    clusters: Vec<(f64, f64)>,
}

impl ClusterAccumulator {
    fn add(&mut self, cluster: usize, value: f64) {
        if self.clusters.len() <= cluster {
            self.clusters.resize(cluster + 1, (0.0, 0.0));
        }
        let (number, sum) = &mut self.clusters[cluster];
        (*number, *sum) = (*number + 1.0, *sum + value);
    }

    fn estimate(&self) -> MeanEstimate {
        let used: Vec<(f64, f64)> = self.clusters.iter().copied().filter(|(number, _)| *number > 0.0).collect();
        let (number, sum) = used.iter().fold((0.0, 0.0), |sums, cluster| (sums.0 + cluster.0, sums.1 + cluster.1));
        let (mean, clusters) = (sum / number, used.len() as f64);
        let squares: f64 = used.iter().map(|(number, sum)| (sum - number * mean).powi(2)).sum();
        MeanEstimate { mean, error: (squares * clusters / (clusters - 1.0).max(1.0)).sqrt() / number }
    }
}

/// The cost of a decision compared with the best one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Regret {
    /// The best decision found; the decision taken if none was better.
    pub best: Action,
    /// The value of the best decision minus the value of the decision taken. Noise can make it negative.
    pub cost: MeanEstimate,
    /// The same difference in the value for each seat, seat a first. It equals `cost` for the seat that decided.
    pub by_seat: [MeanEstimate; MAX_SEATS],
    /// Whether enough different worlds fit the decisions of the other seats. Otherwise, the error of the cost is
    /// unreliable.
    pub is_certain: bool,
}

/// Another decision than the best one and the decision taken, and its cost compared with the best one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Alternative {
    /// The decision.
    pub action: Action,
    /// The value of the best decision minus the value of this one. Noise can make it negative.
    pub cost: MeanEstimate,
}

/// The grade of a decision, by the low end of the 95 % interval of its cost with the information of the seat.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    /// The low end is not above 0.
    Best,
    /// The low end is above 0, and below 2 wins in 100 rounds, or 0.8 wins in 100 matches of several rounds.
    Fine,
    /// The low end is at least as large, but less than the cost of a blunder.
    Mistake,
    /// The low end is at least [`Reviewer::blunder`].
    Blunder,
}

impl Grade {
    /// A mistake costs at least this share of a blunder.
    pub const MISTAKE_SHARE: f64 = 0.4;

    /// The grade of a decision with this cost. A blunder costs at least `least`: [`Reviewer::blunder`] gives the usual value.
    pub fn of(cost: &MeanEstimate, least: f64) -> Grade {
        let low = cost.mean - cost.half();
        match () {
            () if low >= least => Grade::Blunder,
            () if low >= Grade::MISTAKE_SHARE * least => Grade::Mistake,
            () if low > 0.0 => Grade::Fine,
            () => Grade::Best,
        }
    }
}

/// The review of a decision.
#[derive(Clone, PartialEq, Debug)]
pub struct DecisionReview {
    /// The seat that decided.
    pub seat: Seat,
    /// The phase of the decision.
    pub phase: Phase,
    /// The chance of each seat to win, before the decision and given the true cards on the table; seat a first.
    pub chances: Vec<MeanEstimate>,
    /// The chance of each seat after the decision minus its chance after the decision of the policy, given the true cards on
    /// the table. 0 if the policy decides the same.
    pub advantages: Vec<MeanEstimate>,
    /// The chance of `seat` to win before the decision, given only its information; `None` if there was no alternative, or
    /// if too few different worlds fit the decisions of the other seats.
    pub own_chance: Option<MeanEstimate>,
    /// The cost of the decision, given the information of its seat; `None` if there was no alternative.
    pub known: Option<Regret>,
    /// The most promising other decisions, given the information of the seat; the most promising first.
    pub others: Vec<Alternative>,
    /// How the games after the best decision differ from those after the decision taken, in a sentence; only for a mistake or a
    /// blunder.
    pub reason: Option<String>,
    /// The cost if the seat knew all cards on the table for this decision; `None` if there was no alternative.
    pub open: Option<Regret>,
}

impl DecisionReview {
    /// The grade, if the cost is certain. A blunder costs at least `least`: [`Reviewer::blunder`] gives the usual value.
    pub fn grade(&self, least: f64) -> Option<Grade> {
        self.judged().map(|regret| Grade::of(&regret.cost, least))
    }

    /// Whether the decision was a blunder.
    pub fn is_blunder(&self, least: f64) -> bool {
        self.grade(least) == Some(Grade::Blunder)
    }

    /// The cost with the information of the seat, if it is certain.
    fn judged(&self) -> Option<&Regret> {
        self.known.as_ref().filter(|regret| regret.is_certain)
    }
}

/// Reviews the decisions of a finished match.
///
/// Pass every round to [`Reviewer::round_begins`], every event to [`Reviewer::event`], and every decision, before it is
/// carried out, to [`Reviewer::review`]. Chances are averages over the
/// order of the stock. In a snap window, seats that have already declared decide again in the playouts.
///
/// # Determinism
/// A review depends only on the course of the match up to the decision and on `playouts`.
///
/// ```
/// use cambio_agents::Reviewer;
/// use cambio_core::{Playing, Rules, rng::Key};
///
/// let playing = Playing::new(&Rules::preset("classic").unwrap(), 2, Key::new(42, 0)).unwrap();
/// let mut reviewer = Reviewer::new(playing.rules(), 2, 20);
/// reviewer.round_begins(&playing.standing());
/// playing.events().iter().for_each(|event| reviewer.event(event));
/// let review = reviewer.review(playing.state(), "draw".parse().unwrap());
/// assert!((review.chances.iter().map(|chance| chance.mean).sum::<f64>() - 1.0).abs() < 1e-9);
/// ```
#[derive(Clone, Debug)]
pub struct Reviewer {
    policy: Blueprint,
    /// The public history before a deal.
    fresh: BlueprintHistory,
    seats: Vec<Inference<Blueprint>>,
    valuer: Valuer,
    playouts: u32,
    is_one_round: bool,
    seed: u64,
    /// The number of rounds so far, and of decisions in the current round.
    at: (u64, u64),
}

impl Reviewer {
    /// Creates a reviewer for these rules and `seats` seats. A chance needs `playouts` playouts, and the search for the
    /// best decision about as many. A cost that may be a blunder needs twice as many for each of the two decisions, and
    /// so does each of up to four other decisions.
    ///
    /// # Panics
    /// If the rules do not allow this number of seats.
    pub fn new(rules: &Rules, seats: usize, playouts: u32) -> Reviewer {
        let mut policy = Blueprint::Network(Box::new(NetworkPolicy::shipped()));
        let past = policy.begin(rules, seats).unwrap_or_else(|_| {
            policy = Blueprint::Heuristic(HeuristicParams::default());
            policy.begin(rules, seats).expect("the heuristic plays under all rules")
        });
        let is_one_round = rules.spec().match_end == MatchEnd::Rounds(1);
        let stream = Key::new(Seed::Number(SEED), 0).agent(Seat::A);
        let seated = Seat::ALL[..seats]
            .iter()
            .map(|&seat| Inference::new(&Briefing { rules, seats, seat, stream: &stream }, past.clone()));
        Reviewer {
            seats: seated.collect(),
            policy,
            fresh: past,
            valuer: Valuer::new(if is_one_round { Utility::Win } else { Utility::Match }),
            playouts: playouts.max(8),
            is_one_round,
            seed: SEED,
            at: (0, 0),
        }
    }

    /// The same reviewer with other random numbers, to see how much a review depends on them.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Reviewer {
        Reviewer { seed: mix(SEED ^ mix(seed)), ..self }
    }

    /// The spec of the playout policy: `learned`, or `heuristic` if the program has no network.
    pub fn player(&self) -> &'static str {
        match self.policy {
            Blueprint::Network(_) => "learned",
            Blueprint::Heuristic(_) => "heuristic",
        }
    }

    /// Whether chances are win shares of a single round. Otherwise the match has several rounds, and the chances are
    /// chances to win the match, by [`MatchValues`](crate::MatchValues).
    pub fn is_single_round(&self) -> bool {
        self.is_one_round
    }

    /// The minimum cost of a blunder: 5 wins in 100 rounds, or 2 wins in 100 matches if a match has several rounds.
    pub fn blunder(&self) -> f64 {
        if self.is_one_round { 0.05 } else { 0.02 }
    }

    /// Begins a round, with the standing of the match.
    pub fn round_begins(&mut self, standing: &Standing<'_>) {
        self.at = (self.at.0 + 1, 0);
        self.valuer.round_begins(standing);
        self.policy.round_begins(standing);
    }

    /// The chance of each seat to win before the round is dealt, seat a first: the mean over random deals, in which all seats
    /// play the policy. Call it after [`Reviewer::round_begins`] with the same standing.
    ///
    /// # Panics
    /// If the rules do not allow the number of seats.
    pub fn before_deal(&mut self, standing: &Standing<'_>) -> Vec<MeanEstimate> {
        let seats = standing.setup.seats;
        let mut sums = [MeanAccumulator::default(); MAX_SEATS];
        let base = mix(self.seed ^ mix(!self.at.0));
        for number in 0..DEAL_PLAYOUT_FACTOR * self.playouts {
            let (mut past, mut dice) = (self.fresh.clone(), Dice(SplitMix::new(base, number)));
            let dealt = State::deal_latent(&standing.setup, &mut dice, &mut HistorySink(&mut past));
            let mut world = dealt.expect("the rules allow the number of seats");
            if !self.policy.gambles() {
                world.ask_knowing_only();
            }
            self.policy.play_out(&mut world, &mut past, &mut dice);
            let values = self.valuer.values(&world);
            sums.iter_mut().zip(values).for_each(|(sums, value)| sums.add(value));
        }
        sums[..seats].iter().map(MeanAccumulator::estimate).collect()
    }

    /// Adds an event, as the referee sees it.
    pub fn event(&mut self, event: &Event<Card>) {
        for (inference, seat) in self.seats.iter_mut().zip(Seat::ALL) {
            inference.notice(&event.seen_from(seat));
        }
    }

    /// Adds a decision before it is carried out in this state.
    fn decides(&mut self, state: &State) {
        let actor = state.actor().expect("a seat is to act");
        self.at.1 += 1;
        for (inference, seat) in self.seats.iter_mut().zip(Seat::ALL) {
            if seat != actor {
                inference.spectate(state.table());
            }
        }
    }

    /// Reviews the decision `taken` in this state, before it is carried out.
    ///
    /// # Panics
    /// If no seat is to act, or the state does not belong to the match.
    pub fn review(&mut self, state: &State, taken: Action) -> DecisionReview {
        let seat = state.actor().expect("a seat is to act");
        let view = state.observe(seat);
        let base = mix(self.seed ^ mix(self.at.0 << 32 | self.at.1));
        let (blunder, is_first) = (self.blunder(), self.at.1 == 0);
        let Reviewer { policy, seats, valuer, playouts, .. } = self;
        let inference = &seats[seat.index()];
        let mut table = ReviewPlayouts { policy, valuer, past: inference.past(), seat, number: *playouts, blunder };
        let choice = table.policy.decide(&view, table.past);
        let truth = inference.around(&view, |spot| state.face(spot));

        let mut sums = [[MeanAccumulator::default(); MAX_SEATS]; 2];
        let multiple = match () {
            () if is_first => DEAL_PLAYOUT_FACTOR,
            () if choice != taken => UNUSUAL_PLAYOUT_FACTOR,
            () => 1,
        };
        for number in 0..multiple * *playouts {
            let bits = SplitMix::new(base, number);
            let values = table.values(&truth, choice, bits);
            let after = if choice == taken { values } else { table.values(&truth, taken, bits) };
            for (index, (value, after)) in values.into_iter().zip(after).enumerate() {
                sums[0][index].add(value);
                sums[1][index].add(after - value);
            }
        }
        let [chances, advantages] =
            sums.map(|sums| sums[..state.table().seats()].iter().map(MeanAccumulator::estimate).collect());

        let rivals = table.rivals(&view, taken);
        let (mut own_chance, mut reason, mut others, mut known) = (None, None, Vec::new(), None);
        if !rivals.is_empty() {
            let enough = (MIN_EFFECTIVE_WORLDS, MAX_PROPOSALS_PER_PLAYOUT * *playouts as usize);
            let mut draw = |policy: &mut Blueprint, purpose: u64, worlds: u32| {
                let (worlds, proposals) = (worlds as usize, 4 * worlds as usize);
                let settings =
                    SamplingSettings { worlds, proposals, epsilon: DEVIATION, ..SamplingSettings::default() };
                inference.sample(&view, policy, &settings, enough, base ^ purpose)
            };
            let search = draw(table.policy, 1, *playouts);
            own_chance = table.own_chance(choice, &search, base ^ 6);
            let mut compared = table.compare(rivals, taken, &search, &mut draw, base ^ 3);
            others = table.others(&compared, &mut draw, base ^ 7);
            // The search among many rivals can miss one, which its measurement then shows to be better. It is measured again.
            let better = others.iter().filter(|other| other.cost.mean + other.cost.half() < 0.0);
            if let Some(&Alternative { action, .. }) =
                better.min_by(|one, other| one.cost.mean.total_cmp(&other.cost.mean))
            {
                let mut draw = |policy: &mut Blueprint, purpose: u64, worlds| draw(policy, purpose ^ 16, worlds);
                let again = table.compare(vec![action], taken, &search, &mut draw, base ^ 8);
                if again.measured.is_some() {
                    let rest = others.iter().map(|other| other.action).filter(|&other| other != action);
                    compared = Comparison { others: rest.collect(), ..again };
                    others = table.others(&compared, &mut draw, base ^ 9);
                }
            }
            reason = compared.reason(taken, state, blunder);
            known = Some(compared.regret);
        }
        let rivals = table.open_rivals(&view, taken, &truth);
        // The seat knows this world, so one world is enough.
        let open = WorldSample { worlds: vec![truth], draws: vec![0], styles: Vec::new(), effective: f64::INFINITY };
        let mut draw = |_: &mut Blueprint, _, _| open.clone();
        let open = (!rivals.is_empty()).then(|| table.compare(rivals, taken, &open, &mut draw, base ^ 4).regret);
        self.decides(state);
        let phase = state.table().phase();
        DecisionReview { seat, phase, chances, advantages, own_chance, known, others, reason, open }
    }

    /// The chance of each seat to win, after the end of the round, seat a first.
    ///
    /// # Panics
    /// If the round is not over.
    pub fn outcome(&self, state: &State) -> Vec<f64> {
        self.valuer.values(state)[..state.table().seats()].to_vec()
    }
}

/// A decision compared with its rivals.
struct Comparison {
    regret: Regret,
    /// The rivals that are not the best decision, the most promising first.
    others: Vec<Action>,
    /// The worlds of the measurement, and the games in them after the best decision and after the decision taken; `None` if no rival
    /// was worth a measurement.
    measured: Option<(WorldSample, Vec<Continuations>)>,
}

impl Comparison {
    /// The reason for the best decision, if the decision taken was a mistake or a blunder.
    fn reason(&self, taken: Action, state: &State, blunder: f64) -> Option<String> {
        let (Regret { best, is_certain, .. }, table) = (self.regret, state.table());
        let is_wrong = is_certain && matches!(Grade::of(&self.regret.cost, blunder), Grade::Mistake | Grade::Blunder);
        let (_, games) = self.measured.as_ref().filter(|_| is_wrong)?;
        Some(reason((best, &games[0]), (taken, &games[1]), table, table.asked()?))
    }
}

/// Draws a sample of worlds, given its number and the number of draws.
type DrawWorlds<'d> = dyn FnMut(&mut Blueprint, u64, u32) -> WorldSample + 'd;

/// The context for the playouts of one decision.
struct ReviewPlayouts<'a> {
    policy: &'a mut Blueprint,
    valuer: &'a Valuer,
    past: &'a BlueprintHistory,
    seat: Seat,
    number: u32,
    blunder: f64,
}

impl ReviewPlayouts<'_> {
    /// The utility of each seat if this decision is taken and all seats continue with the policy.
    fn values(&mut self, world: &State, action: Action, bits: SplitMix) -> [f64; MAX_SEATS] {
        let (ended, _) = self.game(world, action, bits);
        self.valuer.values(&ended)
    }

    /// The end of the game with its marks, if this decision is taken and all seats continue with the policy.
    fn game(&mut self, world: &State, action: Action, bits: SplitMix) -> (State, GameMarks) {
        let mut world = world.clone();
        if !self.policy.gambles() {
            world.ask_knowing_only();
        }
        play_game(world, action, self.seat, &mut [self.policy], vec![self.past.clone()], &mut Dice(bits))
    }

    /// The alternatives to the decision taken, given the information of the seat: the network's best candidates, or all
    /// plausible decisions.
    fn rivals(&mut self, view: &Observation<'_>, taken: Action) -> Vec<Action> {
        let preferred = self.policy.decide(view, self.past);
        let Blueprint::Network(network) = &*self.policy else {
            return few(taken, std::iter::once(preferred).chain(plausible(view, |spot| view.face(spot))));
        };
        let (evaluation, inputs) = (network.evaluation(), network.network().inputs());
        // A decision that the network cannot distinguish from `taken` is not an alternative.
        let same = evaluation.index_of(inputs, view, taken);
        let logits: Vec<f64> = evaluation.logits().collect();
        let mut indices: Vec<usize> = (0..logits.len()).filter(|&index| Some(index) != same).collect();
        indices.sort_by(|&one, &other| logits[other].total_cmp(&logits[one]));
        few(taken, indices.into_iter().map(|index| evaluation.choice_of(inputs, view, index)))
    }

    /// The alternatives for a seat that knows every card on the table. Such a seat does not need looks.
    fn open_rivals(&mut self, view: &Observation<'_>, taken: Action, truth: &State) -> Vec<Action> {
        let preferred = self.policy.decide(view, self.past);
        let is_look = |action: &Action| matches!(action, Action::Look(_) | Action::Peek(_));
        let more = plausible(view, |spot| truth.face(spot)).filter(|action| !is_look(action));
        few(taken, std::iter::once(preferred).chain(more))
    }

    /// The chance of the seat to win if it decides by the policy, as a mean over the worlds, unless there are too few.
    fn own_chance(&mut self, choice: Action, sample: &WorldSample, base: u64) -> Option<MeanEstimate> {
        let mut sums = ClusterAccumulator::default();
        for number in 0..self.number {
            let (cluster, world) = sample.of_playout(number);
            sums.add(cluster, self.values(world, choice, SplitMix::new(base, number))[self.seat.index()]);
        }
        (sample.effective >= MIN_EFFECTIVE_WORLDS).then(|| sums.estimate())
    }

    /// The cost of the decision. The best rival is selected in the sample `search` of worlds and measured in another one.
    fn compare(
        &mut self,
        rivals: Vec<Action>,
        taken: Action,
        search: &WorldSample,
        draw: &mut DrawWorlds<'_>,
        base: u64,
    ) -> Comparison {
        let mut others = Vec::new();
        let mut live: Vec<(Action, MeanAccumulator)> =
            rivals.into_iter().map(|action| (action, MeanAccumulator::default())).collect();
        let mut number = 0;
        let halvings = live.len().next_power_of_two().ilog2().max(1);
        for _ in 0..halvings {
            let each = (2 * self.number / (halvings * (live.len() as u32 + 1))).max(4);
            for _ in 0..each {
                let ((_, world), bits) = (search.of_playout(number), SplitMix::new(base, number));
                let least = self.values(world, taken, bits)[self.seat.index()];
                for (action, sums) in &mut live {
                    sums.add(self.values(world, *action, bits)[self.seat.index()] - least);
                }
                number += 1;
            }
            // The sort is stable: among equals, the earlier one stays first.
            live.sort_by(|(_, one), (_, other)| other.estimate().mean.total_cmp(&one.estimate().mean));
            others.splice(0..0, live.drain(live.len().div_ceil(2)..).map(|(action, _)| action));
        }
        let (best, lead) = (live[0].0, live[0].1.estimate());
        // Noise alone can make one of many rivals look better, usually by less than one standard error.
        if lead.mean <= lead.error {
            let is_certain = search.effective >= MIN_EFFECTIVE_WORLDS;
            let nothing = MeanEstimate::default();
            let regret = Regret { best: taken, cost: nothing, by_seat: [nothing; MAX_SEATS], is_certain };
            others.insert(0, best);
            return Comparison { regret, others, measured: None };
        }
        // A cost that is too small for a blunder is measured with fewer playouts.
        let may_be_large = lead.mean + lead.half() >= self.blunder;
        let number = if may_be_large { 2 * self.number } else { self.number / 4 };
        let mut measure = draw(self.policy, 2, number);
        let (mut by_seat, mut games) = self.measure(&[best, taken], &measure, base ^ PLAYOUTS, number);
        let cost = by_seat[1][self.seat.index()];
        let is_clear = (cost.mean - cost.half() - self.blunder).abs() > 3.0 * cost.error;
        if may_be_large && !is_clear {
            // Only the new playouts count: the earlier ones decided that there are more.
            measure = draw(self.policy, 5, MAX_PLAYOUT_FACTOR / 4 * self.number);
            (by_seat, games) =
                self.measure(&[best, taken], &measure, base ^ !PLAYOUTS, MAX_PLAYOUT_FACTOR * self.number);
        }
        let is_certain = measure.effective >= MIN_EFFECTIVE_WORLDS;
        let by_seat = by_seat[1];
        let regret = Regret { best, cost: by_seat[self.seat.index()], by_seat, is_certain };
        Comparison { regret, others, measured: Some((measure, games)) }
    }

    /// Measures the most promising other rivals against the best decision, unless too few different worlds fit.
    fn others(&mut self, compared: &Comparison, draw: &mut DrawWorlds<'_>, base: u64) -> Vec<Alternative> {
        let Comparison { regret, others, measured } = compared;
        if others.is_empty() || !regret.is_certain {
            return Vec::new();
        }
        let number = 2 * self.number;
        let drawn = measured.is_none().then(|| draw(self.policy, 2, number));
        let sample = drawn.as_ref().or(measured.as_ref().map(|(sample, _)| sample)).expect("one of them is there");
        let actions: Vec<Action> = once(regret.best).chain(others.iter().copied().take(MAX_OTHERS)).collect();
        let (costs, _) = self.measure(&actions, sample, base, number);
        let others = actions.into_iter().zip(costs).skip(1);
        others.map(|(action, cost)| Alternative { action, cost: cost[self.seat.index()] }).collect()
    }

    /// For each decision and each seat, the value of the first decision minus its value, in worlds of this sample with the same
    /// random numbers; and the games after each decision.
    fn measure(
        &mut self,
        actions: &[Action],
        sample: &WorldSample,
        base: u64,
        number: u32,
    ) -> (Vec<[MeanEstimate; MAX_SEATS]>, Vec<Continuations>) {
        let seats = sample.worlds[0].table().seats();
        let mut sums = vec![vec![ClusterAccumulator::default(); seats]; actions.len()];
        let mut games = vec![Continuations::default(); actions.len()];
        for number in 0..number {
            let ((draw, world), bits) = (sample.of_playout(number), SplitMix::new(base, number));
            // Playouts in a known world are independent; those in copies of one sampled world are not.
            let cluster = if sample.worlds.len() == 1 { number as usize } else { draw };
            let mut best = None;
            for ((&action, sums), games) in actions.iter().zip(&mut sums).zip(&mut games) {
                let (ended, marks) = self.game(world, action, bits);
                let values = self.valuer.values(&ended);
                games.add(&ended, marks, values[self.seat.index()]);
                let best = best.get_or_insert(values);
                for ((sums, best), value) in sums.iter_mut().zip(&*best).zip(values) {
                    sums.add(cluster, best - value);
                }
            }
        }
        let estimates = |sums: Vec<ClusterAccumulator>| {
            let mut by_seat = [MeanEstimate::default(); MAX_SEATS];
            by_seat.iter_mut().zip(&sums).for_each(|(estimate, sums)| *estimate = sums.estimate());
            by_seat
        };
        (sums.into_iter().map(estimates).collect(), games)
    }
}

impl WorldSample {
    /// The world that a playout uses, and its number. Draws of equal worlds are adjacent, so successive playouts use draws
    /// that are far apart.
    fn of_playout(&self, number: u32) -> (usize, &State) {
        let draw = self.draws[strided(number as usize % self.draws.len(), self.draws.len())];
        (draw, &self.worlds[draw])
    }
}

/// The first of these decisions that differ from the decision taken, at most [`MAX_COMPARED`].
fn few(taken: Action, actions: impl Iterator<Item = Action>) -> Vec<Action> {
    let mut few: Vec<Action> = Vec::new();
    for action in actions {
        if few.len() == MAX_COMPARED {
            break;
        }
        if action.canonical() != taken.canonical() && !few.contains(&action) {
            few.push(action);
        }
    }
    few
}

/// The plausible decisions: snaps and calls first, then the other decisions by the points that they gain with the known
/// cards.
fn plausible(view: &Observation<'_>, face: impl Fn(Spot) -> Option<Card> + Copy) -> impl Iterator<Item = Action> {
    let points = |spot| face(spot).map_or(0, |card| view.rules().points(card));
    let gain = |action: &Action| match *action {
        Action::Snap(_) | Action::Call => i32::MAX,
        Action::Keep(spot) => points(spot),
        Action::Swap(one, other) if one.seat() == view.seat() => points(one) - points(other),
        Action::Swap(other, one) => points(one) - points(other),
        _ => 0,
    };
    let mut plausible: Vec<Action> = view.choices().iter().filter(|&action| is_plausible(view, action, face)).collect();
    plausible.sort_by_key(|action| Reverse(gain(action)));
    plausible.into_iter()
}

/// How the result of a round came about: for each seat, seat a first, parts that add up to its result.
///
/// `before + deal + draws + decisions + rest = result`, in shares of the win of the round, or in chances to win the match if
/// a match has several rounds.
///
/// The baseline is the playout policy of the [`Reviewer`] with the true cards on the table, so this is AIVAT
/// (Burch, Schmid, Moravčík, Morrill and Bowling 2018) with simulated values: `deal` and `draws` have an expected value of 0 if
/// all seats decide by their observations alone. Races and reshuffles count as draws. In a snap window, a seat's
/// declaration is compared with the policy's declaration while the other seats play the policy; what two unusual
/// declarations cause only together is part of `draws`.
///
/// ```
/// use cambio_agents::{MeanEstimate, ResultParts};
///
/// // A round that was over after the deal.
/// let half = MeanEstimate { mean: 0.5, error: 0.01 };
/// let parts = ResultParts::of(&[half, half], &[], &[1.0, 0.0]);
/// assert_eq!(parts.deal[0], half);
/// assert_eq!((parts.draws[1].mean, parts.result), (0.0, vec![1.0, 0.0]));
/// ```
#[derive(Serialize, Clone, PartialEq, Debug)]
pub struct ResultParts {
    /// The chances before the deal.
    pub before: Vec<MeanEstimate>,
    /// The luck of the deal: the chances with the true cards after the deal, minus the chances before it.
    pub deal: Vec<MeanEstimate>,
    /// The luck of all later chance events.
    pub draws: Vec<MeanEstimate>,
    /// `draws` by decision: the luck of chance events between each decision and the next one. In a snap window the luck is 0
    /// for all declarations but the last, because no card moves before all seats have declared.
    pub steps: Vec<Vec<MeanEstimate>>,
    /// For each seat that decides, what its decisions changed for each seat: the sum of the certain costs with the
    /// information of the seat, with the sign reversed.
    pub decisions: Vec<Vec<MeanEstimate>>,
    /// What no other part explains: how well decisions that the policy would not have taken happened to fit cards that the
    /// seat did not know, decisions with an uncertain cost, and what the policy itself leaves to gain.
    pub rest: Vec<MeanEstimate>,
    /// The result.
    pub result: Vec<f64>,
}

impl ResultParts {
    /// The parts of a round: the chances before the deal ([`Reviewer::before_deal`]), the
    /// reviews of all decisions in order, and the outcome ([`Reviewer::outcome`]).
    pub fn of(before: &[MeanEstimate], reviews: &[DecisionReview], outcome: &[f64]) -> ResultParts {
        let exact: Vec<MeanEstimate> = outcome.iter().map(|&mean| MeanEstimate { mean, error: 0.0 }).collect();
        let dealt = reviews.first().map_or(&exact, |review| &review.chances);
        let seats = 0..outcome.len();
        let advantage = |seat: usize| reviews.iter().map(|review| review.advantages[seat]).sum::<MeanEstimate>();
        let decided = |by: usize, seat: usize| -> MeanEstimate {
            let judged = reviews.iter().filter(|review| review.seat.index() == by).filter_map(DecisionReview::judged);
            MeanEstimate::default() - judged.map(|regret| regret.by_seat[seat]).sum()
        };
        ResultParts {
            before: before.to_vec(),
            deal: seats.clone().map(|seat| dealt[seat] - before[seat]).collect(),
            draws: seats.clone().map(|seat| exact[seat] - dealt[seat] - advantage(seat)).collect(),
            steps: steps(reviews, &exact),
            decisions: seats.clone().map(|by| seats.clone().map(|seat| decided(by, seat)).collect()).collect(),
            rest: seats
                .clone()
                .map(|seat| seats.clone().fold(advantage(seat), |rest, by| rest - decided(by, seat)))
                .collect(),
            result: outcome.to_vec(),
        }
    }
}

/// The entries of [`ResultParts::steps`].
fn steps(reviews: &[DecisionReview], outcome: &[MeanEstimate]) -> Vec<Vec<MeanEstimate>> {
    let nexts = reviews.iter().skip(1).map(|next| (&next.chances[..], next.phase)).chain(once((outcome, Phase::Over)));
    let mut expected: Option<Vec<MeanEstimate>> = None;
    let mut steps = Vec::new();
    for (review, (chances, next)) in reviews.iter().zip(nexts) {
        let now = expected.take().unwrap_or_else(|| review.chances.clone());
        let now: Vec<MeanEstimate> =
            now.into_iter().zip(&review.advantages).map(|(now, &change)| now + change).collect();
        if review.phase == Phase::Window && next == Phase::Window {
            steps.push(vec![MeanEstimate::default(); now.len()]);
            expected = Some(now);
        } else {
            steps.push(chances.iter().zip(now).map(|(&chance, now)| chance - now).collect());
        }
    }
    steps
}

#[cfg(test)]
mod tests;
