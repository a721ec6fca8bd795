//! Self-play: matches of the network against itself and other agents.

use std::sync::{Arc, OnceLock};

use cambio_agents::{Guarded, Learned, MatchStanding, MatchValues, Network, NetworkEvaluation, NetworkInputs};
use cambio_core::play::{RoundResult, StepResult};
use cambio_core::rng::Key;
use cambio_core::rules::knob::{MatchEnd, WholeNumber};
use cambio_core::rules::{MAX_SEATS, PRESETS};
use cambio_core::view::CardHistory;
use cambio_core::{
    Action, Agent, Card, Deal, Event, Observer, Players, Playing, Referee, Rules, Score, Seat, Spot, Standing, State,
    Table, View,
};

use crate::error::LearnError;
use crate::recipe::{Play, Recipe, Rival};
use crate::rng::SeededRng;
use crate::sampler::sampled_rules;
use crate::samples::{PolicySamples, Samples};
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

/// Matches in a row under one rule system.
const MATCHES_PER_SYSTEM: u64 = 128;

/// A rule system of self-play.
#[derive(Clone, Debug)]
struct System {
    /// The rules without the turn limit of training: the values of match totals are for these.
    own: Rules,
    /// The rules of self-play.
    rules: Rules,
    /// The inputs of a general network under these rules.
    inputs: OnceLock<NetworkInputs>,
    /// The values of match totals, by the number of seats.
    values: [OnceLock<Arc<MatchValues>>; MAX_SEATS + 1],
}

impl System {
    fn new(own: Rules, play: &Play) -> System {
        let mut spec = own.spec().clone();
        if let Some(turns) = play.turn_limit {
            spec.turn_limit = WholeNumber::new(turns.into()).expect("the recipe has checked the limit");
        }
        let rules = spec.validate().expect("rules stay valid with another turn limit");
        System { own, rules, inputs: OnceLock::new(), values: Default::default() }
    }

    /// The values of match totals; `None` if a match has one round.
    fn values(&self, seats: usize) -> Option<&MatchValues> {
        let values = || &**self.values[seats].get_or_init(|| MatchValues::of(&self.own, seats));
        (self.rules.spec().match_end != MatchEnd::Rounds(1)).then(values)
    }
}

/// The rule systems of a recipe: its own rules alone, or for a general network also each preset, as a match and as single rounds,
/// and systems that are drawn at random.
fn systems(rules: &Rules, recipe: &Recipe) -> Vec<System> {
    let mut systems = vec![*rules];
    if let Some(drawn) = recipe.systems {
        let preset = |name: &&str| Rules::preset(name).expect("the name is a preset");
        systems.extend(PRESETS.iter().map(preset).flat_map(|rules| [rules, rules.of_one_round()]));
        systems.extend((0..drawn).map(|number| sampled_rules(recipe.seed, number)));
    }
    systems.into_iter().map(|rules| System::new(rules, &recipe.play)).collect()
}

/// The number of systems before those drawn at random: the rules of the recipe, and each preset as a match and as single rounds.
const FIXED_SYSTEMS: usize = 1 + 2 * PRESETS.len();

/// The opponents and tables of self-play.
#[derive(Clone, Debug)]
pub(crate) struct League {
    /// The rule systems, the rules of the recipe first.
    systems: Vec<System>,
    /// The numbers of seats, through which matches cycle.
    pub(crate) seats: Vec<usize>,
    pub(crate) play: Play,
    /// The total number of matches.
    pub(crate) of: u64,
    /// Past networks and their files, which take long to compress; the latest last, at most [`MOST_PAST`].
    pub(crate) past: Vec<PastNetwork>,
    /// The opponents of the network and their relative shares of the matches.
    pub(crate) rivals: Vec<(Rival, f64)>,
}

/// A past network and its file.
pub(crate) type PastNetwork = (Network, Vec<u8>);

/// The referee of a match of self-play.
type SelfPlay<'a> = Referee<Guarded<Box<dyn Agent>>, NetworkMatch<'a>>;

/// Decides for the network, and collects the decisions of each round as training data.
pub(crate) trait Collector {
    /// The collected training data.
    type Data;

    /// The next matches are played with this network.
    fn plays(&mut self, network: &Network);

    /// A round begins, after this share of the run's matches.
    fn round_begins(&mut self, play: &Play, share: f32, chance: &mut SeededRng);

    /// Decides for the seat to act.
    fn decide(&mut self, play: &Play, network: &Network, referee: &SelfPlay<'_>, chance: &mut SeededRng) -> Action;

    /// Whether the network has decided the round so far without exploration.
    fn is_judged(&self) -> bool;

    /// A round ended.
    fn round_ends(&mut self, play: &Play, result: &[f32; MAX_SEATS]);

    /// The data of all rounds.
    fn data(self) -> Self::Data;
}

impl League {
    /// A league without past networks.
    pub(crate) fn new(rules: &Rules, recipe: &Recipe, rivals: Vec<(Rival, f64)>) -> League {
        let Recipe { ref seats, play, matches: of, .. } = *recipe;
        League { systems: systems(rules, recipe), seats: seats.clone(), play, of, past: Vec::new(), rivals }
    }

    /// Adds a past network for later matches.
    pub(crate) fn remember(&mut self, network: Network) {
        self.past.drain(..(self.past.len() + 1).saturating_sub(MOST_PAST));
        let file = network.to_bytes(&serde_json::Value::Null);
        self.past.push((network, file));
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
        let (mut network, mut last) = (network.clone(), 0);
        collector.plays(&network);
        for number in matches {
            let at = self.system(seed, number);
            if at != last && self.systems.len() > 1 {
                let system = &self.systems[at];
                network =
                    network.with_inputs(system.inputs.get_or_init(|| NetworkInputs::general(&system.rules)).clone());
                last = at;
                collector.plays(&network);
            }
            self.play_one(&self.systems[at], &network, seed, number, &mut collector, &mut tally)?;
        }
        Ok((collector.data(), tally))
    }

    /// The rule system of a match: of 64 matches of a general network, 6 are under the recipe's rules, 4 single rounds of a preset, one
    /// a whole match of a preset, which has about as many rounds as the 15 matches before, and the others under systems drawn at random.
    fn system(&self, seed: u64, number: u64) -> usize {
        if self.systems.len() == 1 {
            return 0;
        }
        let mut chance = SeededRng::of_match(!seed, number / MATCHES_PER_SYSTEM);
        let drawn = self.systems.len() - FIXED_SYSTEMS;
        let preset = chance.below(PRESETS.len());
        match chance.below(64) {
            0 => 1 + 2 * preset,
            1..=4 => 2 + 2 * preset,
            5..=10 => 0,
            _ if drawn > 0 => FIXED_SYSTEMS + chance.below(drawn),
            _ => 2 + 2 * preset,
        }
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
        system: &System,
        network: &Network,
        seed: u64,
        number: u64,
        collector: &mut impl Collector,
        tally: &mut PlayTotals,
    ) -> Result<(), LearnError> {
        let rules = &system.rules;
        let wanted = self.seats[(number % self.seats.len() as u64) as usize];
        // A deck that was drawn at random may be too small for many seats.
        let seats =
            (2..=wanted).rev().find(|&seats| rules.covers(seats).is_ok()).expect("every rule system allows two seats");
        let values = system.values(seats);
        let mut chance = SeededRng::of_match(seed, number);
        let rival = self.draw(&mut chance);
        let past = (matches!(rival, Rival::Past) && !self.past.is_empty())
            .then(|| Learned::new(self.past[chance.below(self.past.len())].0.clone()));
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
        let deal = Deal::new(rules, Key::new(seed, number));
        let observer = NetworkMatch::new(network.inputs());
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
            let shares = self.shares(rules, values, playing, result);
            tally.rounds += 1;
            tally.turns += result.turns as u64;
            if has_rival && collector.is_judged() {
                tally.judged += 1;
                tally.won += f64::from(shares[focal.index()]);
            }
            collector.round_ends(&self.play, &shares);
            if !playing.is_over() {
                collector.round_begins(&self.play, share, &mut chance);
            }
        }
    }

    /// The value of a finished round for each seat: the win share, or the probability to win the match.
    fn shares(
        &self,
        rules: &Rules,
        values: Option<&MatchValues>,
        playing: &Playing,
        result: &RoundResult,
    ) -> [f32; MAX_SEATS] {
        let mut shares = [0.0; MAX_SEATS];
        let Some(values) = values else {
            for seat in result.winners.iter_from(result.starter) {
                shares[seat.index()] = 1.0 / result.winners.len() as f32;
            }
            return shares;
        };
        // The prices of extra cards and peeks may be fractional; values are interpolated between integer prices.
        let Play { extra_card, extra_peek, .. } = self.play;
        for (card, card_weight) in around(extra_card) {
            for (peek, peek_weight) in around(extra_peek) {
                let totals = priced(rules, playing, card, -peek);
                let chances = values.chances(&totals, playing.standing().setup.starter, playing.rounds());
                for (share, chance) in shares.iter_mut().zip(chances) {
                    *share += card_weight * peek_weight * chance as f32;
                }
            }
        }
        shares
    }
}

/// The totals, with carry-overs to the next round converted to points: `card` for an extra card, `peek` for a peek.
fn priced(rules: &Rules, playing: &Playing, card: i32, peek: i32) -> Vec<Score> {
    let mut totals = playing.totals().to_vec();
    if playing.is_over() {
        return totals;
    }
    let carry = playing.standing().setup.carry;
    let card = card * rules.spec().penalty.get() as i32;
    for (seat, total) in Seat::ALL.into_iter().zip(&mut totals) {
        let points = if carry.extra_card.contains(seat) { card } else { 0 }
            + if carry.extra_peek.contains(seat) { peek } else { 0 };
        if points != 0 {
            *total = *total + Score::points(points);
            // A carry-over does not end the match.
            if let MatchEnd::Total(most) = rules.spec().match_end {
                *total = (*total).min(Score::points(i32::from(most) - 1));
            }
        }
    }
    totals
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
    fn round_begins(&mut self, begin: &Standing<'_>, _: &[Card]) {
        let &Standing { setup, totals, .. } = begin;
        let standing = |&seat: &Seat| self.inputs.standing(totals, seat);
        let standings = Seat::ALL[..setup.seats].iter().map(standing).collect();
        self.round = Some((CardHistory::new(&setup.rules, setup.seats), standings));
    }

    fn event(&mut self, event: &Event<Card>) {
        self.round.as_mut().expect("a round has begun").0.notice(event);
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

/// Draws each decision from the network's probabilities.
#[derive(Default)]
pub(crate) struct PolicyCollector {
    samples: PolicySamples,
    evaluation: NetworkEvaluation,
    /// A buffer for the critic's inputs.
    position: NetworkEvaluation,
    on: Vec<u16>,
}

/// The critic's view: the view of a seat that sees every card.
struct OpenView<'a> {
    state: &'a State,
    seat: Seat,
}

impl View for OpenView<'_> {
    fn table(&self) -> &Table {
        self.state.table()
    }

    fn seat(&self) -> Seat {
        self.seat
    }

    fn face(&self, spot: Spot) -> Option<Card> {
        self.state.face(spot)
    }

    fn held(&self) -> Option<Card> {
        self.state.held()
    }
}

impl Collector for PolicyCollector {
    type Data = PolicySamples;

    fn plays(&mut self, network: &Network) {
        self.samples.choices.begin(network.inputs());
    }

    fn round_begins(&mut self, _: &Play, _: f32, _: &mut SeededRng) {}

    fn decide(&mut self, _: &Play, network: &Network, referee: &SelfPlay<'_>, chance: &mut SeededRng) -> Action {
        let state = referee.playing().state();
        let seat = state.actor().expect("a seat is to act");
        let (view, (history, standing)) = (state.view(seat), referee.observer().seen_by(seat));
        let PolicyCollector { samples, evaluation, position, on } = self;
        network.evaluate(&view, history, standing, evaluation);
        let number = evaluation.actions().len();
        if number == 1 {
            return evaluation.actions().next().expect("there is one");
        }
        let index = soft(evaluation, 1.0, chance);
        let inputs = network.inputs();
        for candidate in 0..number {
            on.clear();
            inputs.on_under_rules(&view, evaluation, candidate, |input| on.push(input as u16));
            samples.choices.push(on, candidate == index);
        }
        samples.choices.end();
        let sum: f32 = weights(evaluation, 1.0).sum();
        samples.chances.push(weights(evaluation, 1.0).nth(index).expect("it is one of them") / sum);
        samples.seats.push(seat.index() as u8);
        on.clear();
        inputs.on_position(&view, history, standing, position, |input| on.push(input as u16));
        let open = OpenView { state, seat };
        inputs.on_position(&open, history, standing, position, |input| on.push((inputs.count() + input) as u16));
        samples.positions.push(on, 0.0);
        evaluation.actions().nth(index).expect("it is one of them")
    }

    fn is_judged(&self) -> bool {
        true
    }

    fn round_ends(&mut self, _: &Play, result: &[f32; MAX_SEATS]) {
        self.samples.rounds.push((self.samples.chances.len(), *result));
    }

    fn data(self) -> PolicySamples {
        self.samples
    }
}

/// A decision of the network to train on.
#[derive(Clone, Copy, Debug)]
struct LearnedDecision {
    seat: Seat,
    /// The range of the decision's inputs in [`ValueCollector::on`].
    start: usize,
    end: usize,
    /// The network's value of the best candidate, or with a temperature the mean value under the softmax.
    value: f32,
    /// Whether the decision was exploratory.
    explored: bool,
}

/// Takes the best candidates, except for one exploratory decision in some rounds.
#[derive(Default)]
pub(crate) struct ValueCollector {
    samples: Samples,
    evaluation: NetworkEvaluation,
    /// The active inputs of the round's decisions.
    on: Vec<u16>,
    decisions: Vec<LearnedDecision>,
    /// The softmax temperature of decisions; 0 takes the best.
    temperature: f32,
    /// Whether a decision of the round may be exploratory.
    may_explore: bool,
    explored: bool,
}

impl Collector for ValueCollector {
    type Data = Samples;

    fn plays(&mut self, network: &Network) {
        self.samples.begin(network.inputs());
    }

    fn round_begins(&mut self, play: &Play, share: f32, chance: &mut SeededRng) {
        self.temperature = play.temperature_after(share);
        self.may_explore = chance.share() < play.explore_rounds;
        self.explored = false;
        self.decisions.clear();
        self.on.clear();
    }

    fn decide(&mut self, play: &Play, network: &Network, referee: &SelfPlay<'_>, chance: &mut SeededRng) -> Action {
        let state = referee.playing().state();
        let seat = state.actor().expect("a seat is to act");
        let (view, (history, standing)) = (state.view(seat), referee.observer().seen_by(seat));
        let evaluation = &mut self.evaluation;
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
            if self.may_explore && !self.explored && chance.share() < play.explore {
                index = explore(evaluation, chance);
                explored = true;
            } else if play.force_call_after.is_some_and(|turns| state.table().turns() > turns)
                && !self.explored
                && chance.share() < play.explore
                && let Some(call) = evaluation.actions().position(|action| action == Action::Call)
            {
                index = call;
                explored = true;
            }
            if explored {
                self.explored = true;
                // Drops the other seats' earlier decisions, because the exploration changes their outcome.
                self.decisions.retain(|decision| decision.seat == seat);
            }
            let start = self.on.len();
            network.inputs().on_under_rules(&view, evaluation, index, |input| self.on.push(input as u16));
            self.decisions.push(LearnedDecision { seat, start, end: self.on.len(), value, explored });
        }
        self.evaluation.actions().nth(index).expect("it is one of them")
    }

    fn is_judged(&self) -> bool {
        !self.explored
    }

    fn round_ends(&mut self, play: &Play, result: &[f32; MAX_SEATS]) {
        // For each seat: the return after the decision.
        let mut shares = *result;
        for decision in self.decisions.iter().rev() {
            let back = &mut shares[decision.seat.index()];
            self.samples.push(&self.on[decision.start..decision.end], *back);
            let before = if decision.explored {
                decision.value
            } else {
                play.lambda * *back + (1.0 - play.lambda) * decision.value
            };
            *back = play.discount * before;
        }
    }

    fn data(self) -> Samples {
        self.samples
    }
}

/// Draws an exploratory candidate: uniformly, or by a softmax of the values.
fn explore(evaluation: &NetworkEvaluation, chance: &mut SeededRng) -> usize {
    const TEMPERATURE: f32 = 0.3;
    let number = evaluation.actions().len();
    if chance.share() < 0.5 { chance.below(number) } else { soft(evaluation, TEMPERATURE, chance) }
}

/// The mean win share under the softmax.
fn soft_value(evaluation: &NetworkEvaluation, temperature: f32) -> f32 {
    let (mut all, mut sum) = (0.0, 0.0);
    for (weight, logit) in weights(evaluation, temperature).zip(evaluation.logits()) {
        all += weight;
        sum += weight * sigmoid(logit as f32);
    }
    sum / all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_limit_of_training_leaves_the_match_values() {
        let rules = Rules::preset("original").unwrap();
        let system = System::new(rules, &Play { turn_limit: Some(100), ..Play::default() });
        assert_eq!(system.rules.spec().turn_limit.get(), 100);
        assert!(std::ptr::eq(system.values(2).unwrap(), &raw const *MatchValues::of(&rules, 2)));
    }
}
