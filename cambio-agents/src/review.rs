//! Review of a finished match: the chances of each seat at each decision, and the cost of each decision.
//!
//! Everything is measured by playouts with one policy in every seat, the bundled network. A chance is therefore the chance if all seats play
//! like `learned`.
//!
//! Worlds are resampled by their likelihood. A cost is certain only if the effective number of worlds is at least
//! [`MIN_EFFECTIVE_WORLDS`]. The decision taken counts as the best until another one is shown to be better.

use std::cell::Cell;
use std::iter::once;

use cambio_core::engine::Dice;
use cambio_core::rng::{Key, Seed, SplitMix, mix};
use cambio_core::rules::MAX_SEATS;
use cambio_core::{Action, Briefing, Card, Event, Observation, Phase, Rules, Seat, Standing, State};
use serde::Serialize;

use crate::compare::{
    AlikeDecisions, Comparer, DecisionComparison, DecisionValue, Effort, MeanAccumulator, MeanEstimate, grouped,
};
use crate::inference::{Inference, SamplingSettings, WorldSample};
use crate::playout::is_plausible;
use crate::policy::{Blueprint, BlueprintHistory, HistorySink, Policy as _};
use crate::search::BlueprintName;
use crate::value::{Utility, Valuer};

/// The maximum number of decisions that are measured besides the decision taken and the decision of the network.
const MAX_OTHERS: usize = 4;
/// The minimum effective number of worlds for a cost.
const MIN_EFFECTIVE_WORLDS: f64 = 100.0;
/// The assumed probability that a seat deviates from the policy at a decision. People and other agents deviate more than a
/// network in self-play.
const DEVIATION: f64 = 0.1;
/// The maximum number of proposed worlds, as a multiple of the number of playouts.
const MAX_PROPOSALS_PER_PLAYOUT: usize = 64;
/// A cost whose lower end is less than this number of half-widths from the cost of a blunder is measured again, with this multiple of the
/// number of playouts.
const NEAR_HALVES: f64 = 1.5;
const REPEATED_PLAYOUT_FACTOR: u32 = 20;
/// The chances before and after the deal are measured with this multiple of the number of playouts.
const DEAL_PLAYOUT_FACTOR: u32 = 10;
/// A decision that is not the decision of the policy is measured with this multiple of the number of playouts.
const UNUSUAL_PLAYOUT_FACTOR: u32 = 3;
/// The seed of all reviews.
const SEED: u64 = 0x0a99_4a15;

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
        let low = cost.low();
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
    /// The decision taken.
    pub taken: Action,
    /// The chance of each seat to win, before the decision and given the true cards on the table; seat a first.
    pub chances: Vec<MeanEstimate>,
    /// The chance of each seat after the decision minus its chance after the decision of the policy, given the true cards on
    /// the table. 0 if the policy decides the same.
    pub advantages: Vec<MeanEstimate>,
    /// Whether too few different worlds fit the decisions of the other seats to compare the decision, given the information of its seat.
    pub is_uncertain: bool,
    /// The decision taken and the most promising other decisions, given the information of the seat; `None` if there was no
    /// alternative, or if too few different worlds fit.
    pub known: Option<DecisionComparison>,
    /// The same if the seat knew all cards on the table for this decision; `None` if there was no alternative.
    pub open: Option<DecisionComparison>,
}

impl DecisionReview {
    /// The decision taken, with its cost given the information of the seat.
    pub fn value(&self) -> Option<&DecisionValue> {
        self.known.as_ref()?.of(self.taken)
    }

    /// The grade, if there is a cost. A blunder costs at least `least`: [`Reviewer::blunder`] gives the usual value.
    pub fn grade(&self, least: f64) -> Option<Grade> {
        self.value().map(|value| Grade::of(&value.cost.unwrap_or_default(), least))
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
    seed: u64,
    /// The number of rounds so far, and of decisions in the current round.
    at: (u64, u64),
}

impl Reviewer {
    /// Creates a reviewer for these rules and `seats` seats. A chance needs `playouts` playouts, and each cost three times as many.
    ///
    /// # Panics
    /// If the rules do not allow this number of seats, or the program does not have the network ([`Network::shipped`](crate::Network::shipped)).
    pub fn new(rules: &Rules, seats: usize, playouts: u32) -> Reviewer {
        let mut policy = BlueprintName::Learned.policy();
        let past = policy.begin(rules, seats).expect("a bundled network plays under all rules");
        let stream = Key::new(Seed::Number(SEED), 0).agent(Seat::A);
        let seated = Seat::ALL[..seats]
            .iter()
            .map(|&seat| Inference::new(&Briefing { rules, seats, seat, stream: &stream }, past.clone()));
        Reviewer {
            seats: seated.collect(),
            policy,
            fresh: past,
            valuer: Valuer::new(Utility::of_winning(rules)),
            playouts: playouts.max(8),
            seed: SEED,
            at: (0, 0),
        }
    }

    /// The same reviewer with other random numbers, to see how much a review depends on them.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Reviewer {
        Reviewer { seed: mix(SEED ^ mix(seed)), ..self }
    }

    /// Whether chances are win shares of a single round. Otherwise the match has several rounds, and the chances are
    /// chances to win the match, by [`MatchValues`](crate::MatchValues).
    pub fn is_single_round(&self) -> bool {
        self.valuer.utility() == Utility::Win
    }

    /// The minimum cost of a blunder: 5 wins in 100 rounds, or 2 wins in 100 matches if a match has several rounds.
    pub fn blunder(&self) -> f64 {
        if self.is_single_round() { 0.05 } else { 0.02 }
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
            sums.iter_mut().zip(values).for_each(|(sums, value)| sums.add(1.0, value));
        }
        sums[..seats].iter().map(|sums| sums.estimate(MeanEstimate::Z)).collect()
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
        let seed = mix(self.seed ^ mix(self.at.0 << 32 | self.at.1));
        let (blunder, is_first) = (self.blunder(), self.at.1 == 0);
        let Reviewer { policy, seats, valuer, playouts, .. } = self;
        let (playouts, inference) = (*playouts, &seats[seat.index()]);
        let choice = policy.decide(&view, inference.past());
        let known_groups = promising(policy, &view, [taken, choice]);
        let policies = vec![(policy.clone(), inference.past().clone())];
        let effort = Effort {
            selection: playouts / 2,
            max_measured: 2,
            worlds: 3 * playouts,
            precision: None,
            z: MeanEstimate::Z,
        };

        let truth = inference.around(&view, |spot| state.face(spot));
        let mut draw = |_: u64, worlds: u32| WorldSample::uniform(vec![truth.clone(); worlds as usize]);
        let mut comparer = Comparer::new(&view, policies.clone(), valuer, &mut draw, effort, seed);
        let multiple = match () {
            () if is_first => DEAL_PLAYOUT_FACTOR,
            () if choice != taken => UNUSUAL_PLAYOUT_FACTOR,
            () => 1,
        };
        let alone = grouped([choice, taken], |one, other| one == other);
        let after = comparer.compare_with_first(alone, multiple * playouts).decisions;
        let advantages = after[after.len() - 1].costs.iter().map(|&cost| MeanEstimate::default() - cost).collect();
        // A seat that knows every card does not need looks.
        let is_look = |action: &Action| matches!(action, Action::Look(_) | Action::Peek(_));
        let is_tried = |&action: &Action| is_plausible(&view, action, |spot| truth.face(spot)) && !is_look(&action);
        let candidates = [taken, choice].into_iter().chain(view.choices().iter().filter(is_tried));
        let groups = grouped(candidates, |one, other| one.canonical() == other.canonical());
        let open = (groups.len() > 1).then(|| comparer.compare(groups, 1));

        // The least effective number of worlds of a measurement.
        let effective = Cell::new(f64::INFINITY);
        let mut draw = |block: u64, worlds: u32| {
            let (worlds, proposals) = (worlds as usize, 4 * worlds as usize);
            let settings = SamplingSettings { worlds, proposals, epsilon: DEVIATION, ..SamplingSettings::default() };
            let enough = (MIN_EFFECTIVE_WORLDS, MAX_PROPOSALS_PER_PLAYOUT * playouts as usize);
            let sample = inference.sample(&view, policy, &settings, enough, mix(seed ^ block));
            effective.set(effective.get().min(sample.effective));
            sample
        };
        let is_choice = known_groups.len() > 1;
        let known = is_choice.then(|| {
            let all = known_groups.len();
            let effort = Effort { max_measured: all, ..effort };
            let mut comparer = Comparer::new(&view, policies, valuer, &mut draw, effort, mix(seed));
            let mut known = comparer.compare(known_groups, all);
            let cost = known.of(taken).and_then(|value| value.cost);
            let is_near = cost.is_some_and(|cost| (cost.low() - blunder).abs() < NEAR_HALVES * cost.half);
            if is_near && effective.get() >= MIN_EFFECTIVE_WORLDS {
                let group = |action: Action| known.of(action).map_or_else(Vec::new, DecisionValue::group);
                let pair = vec![group(known.best()), group(taken)];
                known.update(comparer.compare_with_first(pair, REPEATED_PLAYOUT_FACTOR * playouts));
            }
            known
        });
        let is_uncertain = effective.get() < MIN_EFFECTIVE_WORLDS;
        let known = known.filter(|_| !is_uncertain);
        self.decides(state);
        let phase = state.table().phase();
        DecisionReview { seat, phase, taken, chances: after[0].chances.clone(), advantages, is_uncertain, known, open }
    }

    /// The chance of each seat to win, after the end of the round, seat a first.
    ///
    /// # Panics
    /// If the round is not over.
    pub fn outcome(&self, state: &State) -> Vec<f64> {
        self.valuer.values(state)[..state.table().seats()].to_vec()
    }
}

/// The decision taken and the decision of the network, which has just been evaluated, and the other decisions with the highest values.
/// Decisions that the network cannot distinguish are alike.
fn promising(policy: &Blueprint, view: &Observation<'_>, first: [Action; 2]) -> Vec<AlikeDecisions> {
    let Blueprint::Network(network) = policy else { unreachable!("a review plays with a network") };
    let (evaluation, inputs) = (network.evaluation(), network.network().inputs());
    let are_alike = |one: Action, other: Action| {
        let index = evaluation.index_of(inputs, view, one);
        one.canonical() == other.canonical() || index.is_some() && index == evaluation.index_of(inputs, view, other)
    };
    let mut candidates: Vec<(Action, f64)> = evaluation.actions().zip(evaluation.logits()).collect();
    candidates.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let mut groups = grouped(first.into_iter().chain(candidates.into_iter().map(|(action, _)| action)), are_alike);
    groups.truncate(grouped(first, are_alike).len() + MAX_OTHERS);
    groups
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
/// let half = MeanEstimate { mean: 0.5, half: 0.01 };
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
        let exact: Vec<MeanEstimate> = outcome.iter().copied().map(MeanEstimate::exact).collect();
        let dealt = reviews.first().map_or(&exact, |review| &review.chances);
        let seats = 0..outcome.len();
        let advantage = |seat: usize| reviews.iter().map(|review| review.advantages[seat]).sum::<MeanEstimate>();
        let decided = |by: usize, seat: usize| -> MeanEstimate {
            let values = reviews.iter().filter(|review| review.seat.index() == by).filter_map(DecisionReview::value);
            MeanEstimate::default() - values.map(|value| value.costs[seat]).sum()
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
