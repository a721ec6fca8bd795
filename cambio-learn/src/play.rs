//! Self-play: matches of the network against itself and other agents.

mod policy;
mod value;

use std::collections::BTreeMap;
use std::sync::Arc;

use cambio_agents::{Guarded, Learned, Luck, MatchStanding, MatchValues, Network, NetworkEvaluation, NetworkInputs};
use cambio_core::play::{RoundResult, StepResult};
use cambio_core::rng::Key;
use cambio_core::rules::MAX_SEATS;
use cambio_core::rules::knob::{MatchEnd, WholeNumber};
use cambio_core::view::CardHistory;
use cambio_core::{
    Action, Agent, Card, Deal, Event, Observer, Players, Playing, Referee, Rules, Score, Seat, Standing, State,
};

use crate::error::LearnError;
use crate::recipe::{Play, Recipe, Rival};
use crate::rng::SeededRng;
use crate::samples::RoundValues;

pub(crate) use policy::PolicyCollector;
pub(crate) use value::ValueCollector;

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

/// The referee of a match of self-play.
type SelfPlay<'a> = Referee<Guarded<Box<dyn Agent>>, NetworkMatch<'a>>;

/// Decides for the network, and collects the decisions of each round as training data.
pub(crate) trait Collector {
    /// The collected training data.
    type Data;

    /// A round begins, after this share of the run's matches.
    fn round_begins(&mut self, play: &Play, share: f32, chance: &mut SeededRng);

    /// Decides for the seat to act.
    fn decide(&mut self, play: &Play, network: &Network, referee: &SelfPlay<'_>, chance: &mut SeededRng) -> Action;

    /// Whether the network has decided the round so far without exploration.
    fn is_judged(&self) -> bool;

    /// A round ended.
    fn round_ends(&mut self, play: &Play, result: &RoundValues);

    /// The data of all rounds.
    fn data(self) -> Self::Data;
}

impl League {
    /// A league without past networks.
    pub(crate) fn new(rules: &Rules, recipe: &Recipe, rivals: Vec<(Rival, f64)>) -> League {
        let Recipe { ref seats, play, matches: of, .. } = *recipe;
        let is_match = rules.spec().match_end != MatchEnd::Rounds(1);
        let values = seats.iter().filter(|_| is_match).map(|&seats| (seats, MatchValues::of(rules, seats))).collect();
        let mut spec = rules.spec().clone();
        if let Some(turns) = play.turn_limit {
            spec.turn_limit = WholeNumber::new(turns.into()).expect("the recipe has checked the limit");
        }
        let rules = spec.validate().expect("rules stay valid with another turn limit");
        League { rules, seats: seats.clone(), play, of, past: Vec::new(), rivals, values }
    }

    /// Adds a past network for later matches.
    pub(crate) fn remember(&mut self, network: Network) {
        self.past.drain(..(self.past.len() + 1).saturating_sub(MOST_PAST));
        self.past.push(network);
    }

    /// Plays the matches with these numbers. The data depend only on the networks, the seed and the numbers.
    ///
    /// # Errors
    /// If an opponent fails or decides illegally.
    pub(crate) fn play<C: Collector>(
        &self,
        network: &Network,
        seed: u64,
        matches: std::ops::Range<u64>,
        mut collector: C,
    ) -> Result<(C::Data, PlayTotals), LearnError> {
        let mut tally = PlayTotals::default();
        for number in matches {
            self.play_one(network, seed, number, &mut collector, &mut tally)?;
        }
        Ok((collector.data(), tally))
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
        collector: &mut impl Collector,
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
        let luck = (self.play.luck && Luck::supports(&self.rules)).then(|| Luck::new(&self.rules, seats));
        let observer = NetworkMatch { luck, ..NetworkMatch::new(network.inputs()) };
        let mut referee = Referee::new(deal, players, observer).map_err(failed)?;
        let share = number as f32 / self.of as f32;
        collector.round_begins(&self.play, share, &mut chance);
        loop {
            let rounds = referee.playing().rounds();
            match referee.step().map_err(failed)? {
                StepResult::Over => return Ok(()),
                StepResult::Decided(..) => {}
                StepResult::Waiting(_) => {
                    let action = collector.decide(&self.play, network, &referee, &mut chance);
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
            if has_rival && collector.is_judged() {
                tally.judged += 1;
                tally.won += f64::from(shares[focal.index()]);
            }
            let luck = Seat::ALL.map(|seat| referee.observer().luck(seat));
            collector.round_ends(&self.play, &RoundValues { shares, luck });
            if !playing.is_over() {
                collector.round_begins(&self.play, share, &mut chance);
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
}

/// The integers around a number, with interpolation weights.
fn around(number: f32) -> impl Iterator<Item = (i32, f32)> {
    let (low, part) = (number.floor(), number - number.floor());
    [(low as i32, 1.0 - part), (low as i32 + 1, part)].into_iter().filter(|&(_, weight)| weight > 0.0)
}

/// Tracks a match for network inputs: the public history of the round, the standing of each seat, and perhaps the luck.
pub(crate) struct NetworkMatch<'a> {
    inputs: &'a NetworkInputs,
    luck: Option<Luck>,
    round: Option<(CardHistory, Vec<MatchStanding>)>,
}

impl<'a> NetworkMatch<'a> {
    /// Tracks a match that has not begun.
    pub(crate) fn new(inputs: &'a NetworkInputs) -> NetworkMatch<'a> {
        NetworkMatch { inputs, luck: None, round: None }
    }

    /// The history of the round, and the standing of a seat.
    pub(crate) fn seen_by(&self, seat: Seat) -> (&CardHistory, &MatchStanding) {
        let (history, standings) = self.round.as_ref().expect("a round has begun");
        (history, &standings[seat.index()])
    }

    /// The luck of a seat in the match so far; 0 if it is not measured.
    pub(crate) fn luck(&self, seat: Seat) -> f32 {
        self.luck.as_ref().and_then(|luck| luck.shares().get(seat.index())).map_or(0.0, |&luck| luck as f32)
    }
}

impl Observer for NetworkMatch<'_> {
    fn round_begins(&mut self, begin: &Standing<'_>, deck: &[Card]) {
        if let Some(luck) = &mut self.luck {
            luck.round_begins(begin, deck);
        }
        let &Standing { setup, totals, .. } = begin;
        let standing = |&seat: &Seat| self.inputs.standing(totals, seat);
        let standings = Seat::ALL[..setup.seats].iter().map(standing).collect();
        self.round = Some((CardHistory::new(&setup.rules, setup.seats), standings));
    }

    fn event(&mut self, event: &Event<Card>) {
        if let Some(luck) = &mut self.luck {
            luck.event(event);
        }
        self.round.as_mut().expect("a round has begun").0.notice(event);
    }

    fn round_ends(&mut self, state: &State, result: &RoundResult) {
        if let Some(luck) = &mut self.luck {
            luck.round_ends(state, result);
        }
    }
}

/// The weights of the candidates in a softmax: proportional to their probabilities.
fn weights(evaluation: &NetworkEvaluation, temperature: f32) -> impl Iterator<Item = f32> {
    let most = evaluation.logits().fold(f64::MIN, f64::max);
    evaluation.logits().map(move |logit| libm::expf((logit - most) as f32 / temperature))
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
