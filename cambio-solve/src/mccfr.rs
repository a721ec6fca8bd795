//! Monte Carlo counterfactual regret minimisation, for games whose compiled form does not fit into memory.

use cambio_core::engine::{Dice, Setup};
use cambio_core::rng::{Key as StreamKey, Purpose, Stream};
use cambio_core::rules::knob::Best;
use cambio_core::{Action, Card, Choices, Event, Rules, Seat, State};
use rand::Rng as _;

use crate::SolveError;
use crate::estimate::Limits;
use crate::game::{Game, payoff, rules_id};
use crate::key::{HistoryKey, KeyIndex, index_bytes, perceive_all};
use crate::strategy::{Strategy, strategy_head, write_line};
use crate::walk::SEATS;

/// A solver by external sampling (Lanctot, Waugh, Zinkevich and Bowling 2009, "Monte Carlo Sampling for Regret
/// Minimization in Extensive Games", section 4). Each iteration follows, for each seat in turn, all choices of that
/// seat, one sampled choice of the other seat and one sampled outcome of chance. The solver plays in the engine, and
/// stores regrets only for the information sets that it has reached.
///
/// # Determinism
/// The result depends only on the rules, the seed and the number of iterations.
#[derive(Clone, Debug)]
pub struct Mccfr {
    rules: Rules,
    limits: Limits,
    stream: Stream,
    tables: [RegretTable; SEATS],
    /// Memory for the probabilities at the next decision.
    spare: Vec<f64>,
    iterations: u64,
    histories: u64,
}

/// The regrets and the average strategy of one seat.
#[derive(Clone, Debug, Default)]
struct RegretTable {
    index: KeyIndex,
    /// The first choice of each information set.
    first: Vec<usize>,
    actions: Vec<Action>,
    regrets: Vec<f64>,
    average: Vec<f64>,
}

impl RegretTable {
    /// The range of the choices of the information set with this key, which is added if it is new.
    fn enter(&mut self, key: HistoryKey, choices: &Choices) -> std::ops::Range<usize> {
        let (set, is_new) = self.index.insert_full(key);
        if is_new {
            self.first.push(self.actions.len());
            self.actions.extend(choices.iter());
            self.regrets.resize(self.actions.len(), 0.0);
            self.average.resize(self.actions.len(), 0.0);
        }
        self.first[set]..self.first[set] + choices.len()
    }

    fn range(&self, set: usize) -> std::ops::Range<usize> {
        self.first[set]..self.first.get(set + 1).copied().unwrap_or(self.actions.len())
    }

    fn bytes(&self) -> u64 {
        index_bytes(&self.index)
            + (self.first.capacity() * 8 + self.actions.capacity() * (16 + size_of::<Action>())) as u64
    }

    /// The average strategy at an information set; uniform if the set was never sampled.
    fn average(&self, set: usize) -> impl Iterator<Item = f64> {
        let average = &self.average[self.range(set)];
        let sum: f64 = average.iter().sum();
        average.iter().map(move |&weight| if sum > 0.0 { weight / sum } else { 1.0 / average.len() as f64 })
    }
}

/// The number of histories between two checks of the memory limit.
const HISTORIES_PER_CHECK: u64 = 1 << 16;

/// The probabilities of regret matching: in proportion to the positive regrets.
fn match_regrets(regrets: &[f64], probabilities: &mut Vec<f64>) {
    let sum: f64 = regrets.iter().map(|regret| regret.max(0.0)).sum();
    let equal = 1.0 / regrets.len() as f64;
    probabilities.clear();
    probabilities.extend(regrets.iter().map(|regret| if sum > 0.0 { regret.max(0.0) / sum } else { equal }));
}

impl Mccfr {
    /// Creates a solver in which all regrets are 0.
    ///
    /// # Errors
    /// If the rules do not support two seats.
    pub fn new(rules: &Rules, limits: Limits, seed: u64) -> Result<Mccfr, SolveError> {
        rules.covers(SEATS).map_err(|error| SolveError::Unfit(error.to_string()))?;
        let stream = StreamKey::new(seed, 0).stream(Purpose::Deck, 0);
        let (tables, spare) = (Default::default(), Vec::new());
        Ok(Mccfr { rules: *rules, limits, stream, tables, spare, iterations: 0, histories: 0 })
    }

    /// Runs one iteration: one sample for each seat.
    ///
    /// # Errors
    /// If the information sets may exceed the memory limit. The regrets then include a part of the current sample.
    pub fn iterate(&mut self) -> Result<(), SolveError> {
        self.check_room()?;
        let best = self.rules.spec().best;
        for learner in [Seat::A, Seat::B] {
            let mut keys = [HistoryKey::START; SEATS];
            let mut dice = Dice(self.stream.clone());
            let mut sink = |event: &Event<Card>| perceive_all(&mut keys, event);
            let state = State::deal_latent(&Setup::new(&self.rules, SEATS), &mut dice, &mut sink)
                .map_err(|error| SolveError::Unfit(error.to_string()))?;
            self.stream = dice.0;
            self.sample(state, keys, learner, best)?;
        }
        self.iterations += 1;
        Ok(())
    }

    fn check_room(&self) -> Result<(), SolveError> {
        let bytes: u64 = self.tables.iter().map(RegretTable::bytes).sum();
        // A table may double before the next check.
        if bytes * 2 > self.limits.memory {
            return Err(SolveError::Sampled { iterations: self.iterations, bytes, limits: self.limits });
        }
        Ok(())
    }

    /// The number of iterations so far.
    pub fn iterations(&self) -> u64 {
        self.iterations
    }

    /// The number of decision and terminal nodes visited.
    pub fn histories(&self) -> u64 {
        self.histories
    }

    /// The number of information sets of a seat that were reached.
    pub fn information_sets(&self, seat: Seat) -> usize {
        self.tables[seat.index()].index.len()
    }

    /// Samples the value of a state for the learner.
    fn sample(
        &mut self,
        mut state: State,
        mut keys: [HistoryKey; SEATS],
        learner: Seat,
        best: Best,
    ) -> Result<f64, SolveError> {
        loop {
            self.histories += 1;
            if self.histories.is_multiple_of(HISTORIES_PER_CHECK) {
                self.check_room()?;
            }
            let Some(seat) = state.actor() else {
                let worth = payoff(&state, best);
                return Ok(if learner == Seat::A { worth } else { -worth });
            };
            let choices = state.choices();
            if choices.len() == 1 {
                self.histories -= 1;
                self.carry_out(&mut state, choices.nth(0).expect("there is one choice"), &mut keys);
                continue;
            }
            let range = self.tables[seat.index()].enter(keys[seat.index()], &choices);
            let mut probabilities = std::mem::take(&mut self.spare);
            match_regrets(&self.tables[seat.index()].regrets[range.clone()], &mut probabilities);
            if seat == learner {
                let value = self.learn(&state, keys, range, &probabilities, (learner, best));
                self.spare = probabilities;
                return value;
            }
            let average = &mut self.tables[seat.index()].average[range];
            average.iter_mut().zip(&probabilities).for_each(|(average, probability)| *average += probability);
            let chosen = self.pick(&probabilities);
            self.spare = probabilities;
            let action = choices.nth(chosen).expect("the number is below the choices");
            keys[seat.index()].decide(action);
            self.carry_out(&mut state, action, &mut keys);
        }
    }

    /// Follows every choice of the learner.
    fn learn(
        &mut self,
        state: &State,
        keys: [HistoryKey; SEATS],
        range: std::ops::Range<usize>,
        probabilities: &[f64],
        (learner, best): (Seat, Best),
    ) -> Result<f64, SolveError> {
        let mut value = 0.0;
        let mut worths = Vec::with_capacity(probabilities.len());
        for (action, probability) in state.choices().iter().zip(probabilities) {
            let (mut next, mut keys) = (state.clone(), keys);
            keys[learner.index()].decide(action);
            self.carry_out(&mut next, action, &mut keys);
            let worth = self.sample(next, keys, learner, best)?;
            value += probability * worth;
            worths.push(worth);
        }
        let regrets = &mut self.tables[learner.index()].regrets[range];
        regrets.iter_mut().zip(worths).for_each(|(regret, worth)| *regret += worth - value);
        Ok(value)
    }

    fn carry_out(&mut self, state: &mut State, action: Action, keys: &mut [HistoryKey; SEATS]) {
        let mut dice = Dice(&mut self.stream);
        state
            .apply(action, &mut dice, &mut |event: &Event<Card>| perceive_all(keys, event))
            .expect("a choice is legal");
    }

    fn pick(&mut self, probabilities: &[f64]) -> usize {
        // 53 bits, the precision of a double.
        let mut ticket = (self.stream.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        for (number, probability) in probabilities.iter().enumerate() {
            ticket -= probability;
            if ticket < 0.0 {
                return number;
            }
        }
        probabilities.iter().rposition(|&probability| probability > 0.0).expect("some choice is possible")
    }

    /// The average strategy on a compiled game of the same rules. Choices at information sets that were never sampled
    /// are equally likely.
    ///
    /// # Panics
    /// If the game and the solver have different rules.
    pub fn average(&self, game: &Game) -> Strategy {
        assert!(rules_id(&self.rules) == game.id(), "the game must have the rules of the solver");
        let mut strategy = game.uniform();
        for (seat, table) in [Seat::A, Seat::B].into_iter().zip(&self.tables) {
            for (number, &key) in table.index.iter().enumerate() {
                let set = game.find(seat, key).expect("the game was compiled from the same rules");
                let probabilities: Vec<f64> = table.average(number).collect();
                game.set_probabilities(&mut strategy, seat, set, &probabilities);
            }
        }
        strategy
    }

    /// The average strategy in the format of [`Strategy::write`], with only the information sets that were reached.
    pub fn write(&self) -> String {
        let sets = [Seat::A, Seat::B].map(|seat| self.information_sets(seat));
        let mut text = strategy_head(&self.rules, rules_id(&self.rules), sets);
        for (seat, table) in [Seat::A, Seat::B].into_iter().zip(&self.tables) {
            for (number, &key) in table.index.iter().enumerate() {
                write_line(&mut text, (seat, key), &table.actions[table.range(number)], table.average(number));
            }
        }
        text
    }
}
