//! Self-play: matches of the network against itself and other agents, and training samples from them.
//!
//! The targets are Watkins' Q(λ) (Watkins 1989; Sutton and Barto 2018, section 12.10) on afterstates. Backwards from
//! the end of a round, the return of a decision mixes the return of the seat's next decision and the network's value of
//! the best candidate there. An exploratory decision cuts the trace: earlier decisions do not receive later returns.

use std::collections::BTreeMap;
use std::sync::Arc;

use cambio_agents::{Guarded, Learned, MatchStanding, MatchValues, Network, NetworkEvaluation, NetworkInputs};
use cambio_core::play::{RoundResult, StepResult};
use cambio_core::rng::Key;
use cambio_core::rules::MAX_SEATS;
use cambio_core::rules::knob::MatchEnd;
use cambio_core::view::CardHistory;
use cambio_core::{
    Action, Agent, Card, Deal, Event, Observer, Players, Playing, Referee, Rules, Score, Seat, Standing,
};

use crate::error::LearnError;
use crate::recipe::{Play, Recipe, Rival};
use crate::rng::SeededRng;
use crate::samples::Samples;
use crate::trainer::sigmoid;

/// The statistics of matches.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(crate) struct PlayTotals {
    pub(crate) rounds: u64,
    pub(crate) turns: u64,
    /// The rounds without an exploratory decision against an opponent other than the network itself.
    pub(crate) judged: u64,
    /// The sum of the network's win shares in the rounds that `judged` counts.
    pub(crate) won: f64,
}

impl PlayTotals {
    pub(crate) fn add(&mut self, other: &PlayTotals) {
        self.rounds += other.rounds;
        self.turns += other.turns;
        self.judged += other.judged;
        self.won += other.won;
    }
}

/// The maximum number of past networks.
const MOST_PAST: usize = 8;

/// The opponents and tables of self-play.
#[derive(Clone, Debug)]
pub(crate) struct League {
    pub(crate) rules: Rules,
    /// The numbers of seats, through which matches cycle.
    pub(crate) seats: Vec<usize>,
    pub(crate) play: Play,
    /// The total number of matches.
    pub(crate) of: u64,
    /// Past networks, the latest last; at most [`MOST_PAST`].
    pub(crate) past: Vec<Network>,
    /// The opponents of the network and their relative shares of the matches.
    pub(crate) rivals: Vec<(Rival, f64)>,
    /// The values of match totals, by the number of seats; empty if a match has one round.
    pub(crate) values: BTreeMap<usize, Arc<MatchValues>>,
}

/// A decision of the network to train on.
#[derive(Clone, Copy, Debug)]
struct LearnedDecision {
    seat: Seat,
    /// The range of the decision's inputs in [`PlayBuffers::on`].
    start: usize,
    end: usize,
    /// The network's value of the best candidate, or with a temperature the mean value under the softmax.
    value: f32,
    /// Whether the decision was exploratory.
    explored: bool,
}

/// Reused buffers.
#[derive(Default)]
struct PlayBuffers {
    evaluation: NetworkEvaluation,
    on: Vec<u16>,
    decisions: Vec<LearnedDecision>,
}

impl League {
    /// A league without past networks.
    pub(crate) fn new(rules: &Rules, recipe: &Recipe, rivals: Vec<(Rival, f64)>) -> League {
        let Recipe { ref seats, play, matches: of, .. } = *recipe;
        let is_match = rules.spec().match_end != MatchEnd::Rounds(1);
        let values = seats.iter().filter(|_| is_match).map(|&seats| (seats, MatchValues::of(rules, seats))).collect();
        League { rules: *rules, seats: seats.clone(), play, of, past: Vec::new(), rivals, values }
    }

    /// Adds a past network for later matches.
    pub(crate) fn remember(&mut self, network: Network) {
        self.past.drain(..(self.past.len() + 1).saturating_sub(MOST_PAST));
        self.past.push(network);
    }

    /// Plays the matches with these numbers. The samples depend only on the networks, the seed and the numbers.
    ///
    /// # Errors
    /// If an opponent fails or decides illegally.
    pub(crate) fn play(
        &self,
        network: &Network,
        seed: u64,
        matches: std::ops::Range<u64>,
    ) -> Result<(Samples, PlayTotals), LearnError> {
        let (mut samples, mut tally, mut buffers) = (Samples::default(), PlayTotals::default(), PlayBuffers::default());
        for number in matches {
            self.play_one(network, seed, number, &mut buffers, &mut samples, &mut tally)?;
        }
        Ok((samples, tally))
    }

    fn draw(&self, chance: &mut SeededRng) -> &Rival {
        let all: f64 = self.rivals.iter().map(|(_, share)| share).sum();
        let mut left = f64::from(chance.share()) * all;
        for (rival, share) in &self.rivals {
            left -= share;
            if left < 0.0 {
                return rival;
            }
        }
        &self.rivals.last().expect("a table has rivals").0
    }

    fn play_one(
        &self,
        network: &Network,
        seed: u64,
        number: u64,
        buffers: &mut PlayBuffers,
        samples: &mut Samples,
        tally: &mut PlayTotals,
    ) -> Result<(), LearnError> {
        let seats = self.seats[(number % self.seats.len() as u64) as usize];
        let mut chance = SeededRng::of_match(seed, number);
        let rival = self.draw(&mut chance);
        let past = (matches!(rival, Rival::Past) && !self.past.is_empty())
            .then(|| Learned::new(self.past[chance.below(self.past.len())].clone()));
        let focal = Seat::ALL[chance.below(seats)];
        // The network decides for the seats without an agent.
        let agents = Seat::ALL[..seats].iter().map(|&seat| match (rival, &past) {
            _ if seat == focal => None,
            (Rival::Agent(spec), _) => Some(Guarded::new(spec.make())),
            (_, past) => past.clone().map(|past| Guarded::new(Box::new(past) as Box<dyn Agent>)),
        });
        let players = Players::from(agents.collect::<Vec<_>>());
        let failed = |error| LearnError::SelfPlay { number, against: rival.to_string(), error };
        let has_rival = players.agents().iter().any(Option::is_some);
        let deal = Deal::new(&self.rules, Key::new(seed, number));
        let mut referee = Referee::new(deal, players, NetworkMatch::new(network.inputs())).map_err(failed)?;
        let temperature = self.play.temperature_after(number as f32 / self.of as f32);
        let mut round = Exploration::begin(self, temperature, &mut chance);
        buffers.decisions.clear();
        buffers.on.clear();
        loop {
            let rounds = referee.playing().rounds();
            match referee.step().map_err(failed)? {
                StepResult::Over => return Ok(()),
                StepResult::Decided(..) => {}
                StepResult::Waiting(seat) => {
                    let action = round.decide(self, network, &referee, seat, buffers, &mut chance);
                    referee.act(action).expect("the network decides legally");
                }
            }
            let playing = referee.playing();
            if playing.rounds() == rounds {
                continue;
            }
            let result = playing.last_round().expect("a round has ended");
            let shares = self.shares(playing, result);
            tally.rounds += 1;
            tally.turns += result.turns as u64;
            if has_rival && !round.explored {
                tally.judged += 1;
                tally.won += f64::from(shares[focal.index()]);
            }
            self.learn(buffers, &shares, samples);
            if !playing.is_over() {
                round = Exploration::begin(self, temperature, &mut chance);
            }
        }
    }

    /// The value of a finished round for each seat: the win share, or the probability to win the match.
    fn shares(&self, playing: &Playing, result: &RoundResult) -> [f32; MAX_SEATS] {
        let mut shares = [0.0; MAX_SEATS];
        let Some(values) = self.values.get(&playing.totals().len()) else {
            for seat in result.winners.iter_from(result.starter) {
                shares[seat.index()] = 1.0 / result.winners.len() as f32;
            }
            return shares;
        };
        // The prices of extra cards and peeks may be fractional; values are interpolated between integer prices.
        let Play { extra_card, extra_peek, .. } = self.play;
        for (card, card_weight) in around(extra_card) {
            for (peek, peek_weight) in around(extra_peek) {
                let totals = self.priced(playing, card, -peek);
                let chances = values.chances(&totals, playing.standing().setup.starter, playing.rounds());
                for (share, chance) in shares.iter_mut().zip(chances) {
                    *share += card_weight * peek_weight * chance as f32;
                }
            }
        }
        shares
    }

    /// The totals, with carry-overs to the next round converted to points: `card` for an extra card, `peek` for a peek.
    fn priced(&self, playing: &Playing, card: i32, peek: i32) -> Vec<Score> {
        let mut totals = playing.totals().to_vec();
        if playing.is_over() {
            return totals;
        }
        let carry = playing.standing().setup.carry;
        let card = card * self.rules.spec().penalty.get() as i32;
        for (seat, total) in Seat::ALL.into_iter().zip(&mut totals) {
            let points = if carry.extra_card.contains(seat) { card } else { 0 }
                + if carry.extra_peek.contains(seat) { peek } else { 0 };
            if points != 0 {
                *total = *total + Score::points(points);
                // A carry-over does not end the match.
                if let MatchEnd::Total(most) = self.rules.spec().match_end {
                    *total = (*total).min(Score::points(i32::from(most) - 1));
                }
            }
        }
        totals
    }

    /// Turns the decisions of a round into samples, the last decision first.
    fn learn(&self, buffers: &mut PlayBuffers, shares: &[f32], samples: &mut Samples) {
        let mut returns = [0.0; MAX_SEATS];
        returns[..shares.len()].copy_from_slice(shares);
        let Play { lambda, discount, .. } = self.play;
        for decision in buffers.decisions.iter().rev() {
            let back = &mut returns[decision.seat.index()];
            samples.push(&buffers.on[decision.start..decision.end], *back);
            let before =
                if decision.explored { decision.value } else { lambda * *back + (1.0 - lambda) * decision.value };
            *back = discount * before;
        }
        buffers.decisions.clear();
        buffers.on.clear();
    }
}

/// The integers around a number, with interpolation weights.
fn around(number: f32) -> impl Iterator<Item = (i32, f32)> {
    let (low, part) = (number.floor(), number - number.floor());
    [(low as i32, 1.0 - part), (low as i32 + 1, part)].into_iter().filter(|&(_, weight)| weight > 0.0)
}

/// Tracks a match for network inputs: the public history of the round, and the standing of each seat.
pub(crate) struct NetworkMatch<'a> {
    inputs: &'a NetworkInputs,
    round: Option<(CardHistory, Vec<MatchStanding>)>,
}

impl<'a> NetworkMatch<'a> {
    /// Tracks a match that has not begun.
    pub(crate) fn new(inputs: &'a NetworkInputs) -> NetworkMatch<'a> {
        NetworkMatch { inputs, round: None }
    }

    /// The history of the round, and the standing of a seat.
    pub(crate) fn seen_by(&self, seat: Seat) -> (&CardHistory, &MatchStanding) {
        let (history, standings) = self.round.as_ref().expect("a round has begun");
        (history, &standings[seat.index()])
    }
}

impl Observer for NetworkMatch<'_> {
    fn round_begins(&mut self, &Standing { setup, totals, .. }: &Standing<'_>, _: &[Card]) {
        let standing = |&seat: &Seat| self.inputs.standing(totals, seat);
        let standings = Seat::ALL[..setup.seats].iter().map(standing).collect();
        self.round = Some((CardHistory::new(&setup.rules, setup.seats), standings));
    }

    fn event(&mut self, event: &Event<Card>) {
        self.round.as_mut().expect("a round has begun").0.notice(event);
    }
}

/// The exploration settings and state of a round.
struct Exploration {
    /// The softmax temperature of decisions; 0 takes the best.
    temperature: f32,
    /// Whether a decision of the round may be exploratory.
    may_explore: bool,
    explored: bool,
}

impl Exploration {
    fn begin(league: &League, temperature: f32, chance: &mut SeededRng) -> Exploration {
        Exploration { temperature, may_explore: chance.share() < league.play.explore_rounds, explored: false }
    }

    fn decide(
        &mut self,
        league: &League,
        network: &Network,
        referee: &Referee<Guarded<Box<dyn Agent>>, NetworkMatch<'_>>,
        seat: Seat,
        buffers: &mut PlayBuffers,
        chance: &mut SeededRng,
    ) -> Action {
        let state = referee.playing().state();
        let (view, (history, standing)) = (state.view(seat), referee.observer().seen_by(seat));
        let evaluation = &mut buffers.evaluation;
        network.evaluate(&view, history, standing, evaluation);
        let number = evaluation.actions().len();
        let mut index = evaluation.best();
        if number > 1 {
            let mut value = sigmoid(evaluation.logits().nth(index).expect("the best is one of them") as f32);
            if self.temperature > 0.0 {
                index = soft(evaluation, self.temperature, chance);
                value = soft_value(evaluation, self.temperature);
            }
            let mut explored = false;
            if self.may_explore && !self.explored && chance.share() < league.play.explore {
                index = explore(evaluation, chance);
                explored = true;
            } else if league.play.force_call_after.is_some_and(|turns| state.table().turns() > turns)
                && !self.explored
                && chance.share() < league.play.explore
                && let Some(call) = evaluation.actions().position(|action| action == Action::Call)
            {
                index = call;
                explored = true;
            }
            if explored {
                self.explored = true;
                // Drops the other seats' earlier decisions, because the exploration changes their outcome.
                buffers.decisions.retain(|decision| decision.seat == seat);
            }
            let start = buffers.on.len();
            let PlayBuffers { evaluation, on, .. } = buffers;
            network.inputs().on(&view, evaluation, index, |input| on.push(input as u16));
            buffers.decisions.push(LearnedDecision { seat, start, end: buffers.on.len(), value, explored });
        }
        buffers.evaluation.actions().nth(index).expect("it is one of them")
    }
}

/// Draws an exploratory candidate: uniformly, or by a softmax of the values.
fn explore(evaluation: &NetworkEvaluation, chance: &mut SeededRng) -> usize {
    const TEMPERATURE: f32 = 0.3;
    let number = evaluation.actions().len();
    if chance.share() < 0.5 { chance.below(number) } else { soft(evaluation, TEMPERATURE, chance) }
}

/// Draws a candidate by softmax: with a probability proportional to exp(logit / temperature).
fn soft(evaluation: &NetworkEvaluation, temperature: f32, chance: &mut SeededRng) -> usize {
    // The maximum of the values plus Gumbel noise has the softmax distribution (Gumbel 1954).
    let mut best = (f32::MIN, 0);
    for (index, logit) in evaluation.logits().enumerate() {
        let noise = -libm::logf(-libm::logf(chance.share().max(1e-7)));
        let value = logit as f32 / temperature + noise;
        if value > best.0 {
            best = (value, index);
        }
    }
    best.1
}

/// The mean win share under the softmax.
fn soft_value(evaluation: &NetworkEvaluation, temperature: f32) -> f32 {
    let most = evaluation.logits().fold(f64::MIN, f64::max);
    let (mut all, mut sum) = (0.0, 0.0);
    for logit in evaluation.logits() {
        let weight = libm::expf((logit - most) as f32 / temperature);
        all += weight;
        sum += weight * sigmoid(logit as f32);
    }
    sum / all
}
