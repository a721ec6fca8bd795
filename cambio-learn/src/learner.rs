//! The training loop: play a generation, train on it, and evaluate at intervals.

use std::ops::Range;
use std::thread;

use cambio_agents::{AgentSpec, Network, NetworkInputs, Roster};
use cambio_core::Rules;
use cambio_exec::{CancelToken, Executor, ThreadsError};

use crate::error::LearnError;
use crate::evaluate::{EvaluationResult, judge};
use crate::play::{League, PlayTotals, PolicyCollector, ValueCollector};
use crate::recipe::{Method, Recipe};
use crate::rng::SeededRng;
use crate::sampler::sampled_rules;
use crate::samples::{PolicySamples, Samples, TrainingData};
use crate::trainer::{Loss, Surrogate, Trainer};

/// The number of matches that one worker plays at a time.
const CHUNK: u64 = 64;

/// The number of generations between checkpoints.
const CHECKPOINT_EVERY: u64 = 64;

/// The number of rule systems, beside the recipe's rules, under which a general network is evaluated. None of them is trained on.
const JUDGED_SYSTEMS: u64 = 15;

/// The progress of training.
#[derive(Clone, PartialEq, Debug)]
pub struct LearnProgress {
    /// The number of matches trained on so far.
    pub matches: u64,
    /// The total number of matches.
    pub of: u64,
    /// The rounds of these matches.
    pub rounds: u64,
    /// The number of samples trained on.
    pub samples: u64,
    /// The mean cross-entropy since the last report, in nats; for a policy, the mean entropy of its decisions.
    pub loss: f64,
    /// The mean win share against opponents other than the network itself since the last report, in rounds without
    /// exploration.
    pub won: Option<f64>,
    /// Turns per round since the last report.
    pub turns: f64,
    /// The learning rate.
    pub rate: f32,
    /// The results against the agents of the evaluation; empty between evaluations.
    pub judgements: Vec<EvaluationResult>,
    /// Whether [`Learner::save`] can save the learner now.
    pub is_checkpoint: bool,
}

/// The threads of a learner.
///
/// One thread trains while the others play. Cancelling the token stops a step, whose results are then lost.
#[derive(Clone, Debug)]
pub struct LearnThreads {
    /// The threads that play while another thread trains.
    players: Executor,
    all: Executor,
}

impl LearnThreads {
    /// Creates this many threads; 0 means one per core.
    ///
    /// # Errors
    /// If the operating system cannot start the threads.
    pub fn new(threads: usize, cancel: &CancelToken) -> Result<LearnThreads, ThreadsError> {
        let all = Executor::new(threads)?.with_cancel(cancel.clone());
        let players = match all.threads() {
            1 => all.clone(),
            threads => Executor::new(threads - 1)?.with_cancel(cancel.clone()),
        };
        Ok(LearnThreads { players, all })
    }

    /// Runs a function on one of the threads, as [`Executor::install`].
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.all.install(work)
    }
}

/// Trains a network by a recipe, one generation at a time.
///
/// Playing and training overlap: while the network trains on one generation, the next is played with the weights before
/// that training. The result does not depend on the number of threads.
///
/// ```
/// use cambio_agents::roster;
/// use cambio_core::Rules;
/// use cambio_learn::{LearnThreads, Learner, Recipe};
/// use cambio_exec::CancelToken;
///
/// let recipe = Recipe { rules: "mini-m1".into(), matches: 200, generation: 50, ..Recipe::default() };
/// let rules = Rules::preset("mini-m1")?;
/// let mut learner = Learner::new(recipe, &rules, &roster(), None)?;
/// let threads = LearnThreads::new(1, &CancelToken::new())?;
/// while let Some(progress) = learner.step(&threads)? {
///     assert!(progress.matches <= 200);
/// }
/// let network = learner.network();
/// assert_eq!(network.inputs().rules(), &rules);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Learner {
    pub(crate) recipe: Recipe,
    pub(crate) inputs: NetworkInputs,
    pub(crate) league: League,
    /// The network that plays: the current weights, quantized to integers.
    pub(crate) network: Network,
    judges: Vec<AgentSpec>,
    pub(crate) trainer: Trainer,
    /// For a policy: the critic, which predicts the result of positions with all cards open.
    pub(crate) critic: Option<Trainer>,
    /// The number of generations trained on.
    pub(crate) done: u64,
    pub(crate) rounds: u64,
    pub(crate) samples: u64,
    /// The next generation, if it was played during the training.
    pub(crate) ahead: Option<(TrainingData, PlayTotals)>,
}

impl Learner {
    /// Creates a learner that starts from the network `from`, or from random weights.
    ///
    /// # Errors
    /// If the recipe is invalid or its inputs are not the inputs of the network, if the rules do not allow its numbers of
    /// seats, or if an agent cannot play under these rules or is not reproducible.
    pub fn new(
        mut recipe: Recipe,
        rules: &Rules,
        roster: &Roster,
        from: Option<&Network>,
    ) -> Result<Learner, LearnError> {
        recipe.check()?;
        recipe.covers(rules)?;
        let rivals = recipe.rivals(rules, roster)?;
        let judges = recipe.judges(rules, roster)?;
        let inputs = recipe.network_inputs(rules, from.map(Network::inputs))?;
        let trainer = match from {
            Some(network) => Trainer::from_floats(inputs.count(), &network.floats()),
            None => Trainer::new(inputs.count(), recipe.seed),
        };
        let league = League::new(rules, &recipe, rivals);
        let critic = (recipe.method == Method::Policy).then(|| Trainer::new(2 * inputs.count(), !recipe.seed));
        let network = Network::new(&inputs, &trainer.current());
        let (done, rounds, samples, ahead) = (0, 0, 0, None);
        Ok(Learner { recipe, inputs, league, network, judges, trainer, critic, done, rounds, samples, ahead })
    }

    /// The recipe.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// The number of matches trained on so far.
    pub fn matches(&self) -> u64 {
        self.matches_after(self.done)
    }

    fn matches_after(&self, done: u64) -> u64 {
        (done * self.recipe.generation).min(self.recipe.matches)
    }

    fn generations(&self) -> u64 {
        self.recipe.matches.div_ceil(self.recipe.generation)
    }

    /// The network with the averaged weights.
    pub fn network(&self) -> Network {
        let floats = self.trainer.averaged(self.recipe.from.is_none());
        let network = Network::new(&self.inputs, &floats);
        if self.critic.is_some() { network.into_policy() } else { network }
    }

    /// Trains on the next generation; `None` after the last one.
    ///
    /// # Errors
    /// If a match cannot be played, or the token was cancelled. The learner is then unusable; resume from a checkpoint.
    pub fn step(&mut self, threads: &LearnThreads) -> Result<Option<LearnProgress>, LearnError> {
        if self.done == self.generations() {
            return Ok(None);
        }
        self.trainer.follow(&mut self.network);
        let rate = self.rate();
        let next = self.done + 1;
        // At a checkpoint no generation is played ahead, because a resumed learner cannot have one.
        let overlaps = next < self.generations() && !self.is_checkpoint(next);
        let entropy = self.recipe.policy.entropy_after(self.done as f32 / self.generations() as f32);
        let Learner { trainer, critic, recipe, league, network, ahead, .. } = self;
        let play = |executor: &Executor, number| generation(recipe, league, network, executor, number);
        let (training_data, tally) = match ahead.take() {
            Some(ahead) => ahead,
            None => play(&threads.all, self.done)?,
        };
        let train = || train(trainer, critic.as_mut(), training_data, recipe, rate, entropy);
        let loss = if overlaps {
            let (loss, made) = both(threads.all.threads(), train, || play(&threads.players, next));
            *ahead = Some(made?);
            loss
        } else {
            train()
        };
        self.done = next;
        self.rounds += tally.rounds;
        self.samples += loss.samples;
        let mut judgements = Vec::new();
        if self.is_judged_after(self.done) {
            let network = self.network();
            judgements = self.judge(&network, threads)?;
            if self.recipe.has_past() {
                self.league.remember(network);
            }
        }
        Ok(Some(LearnProgress {
            matches: self.matches(),
            of: self.recipe.matches,
            rounds: self.rounds,
            samples: self.samples,
            loss: loss.sum / loss.samples.max(1) as f64,
            won: (tally.judged > 0).then(|| tally.won / tally.judged as f64),
            turns: tally.turns as f64 / tally.rounds.max(1) as f64,
            rate,
            judgements,
            is_checkpoint: self.is_checkpoint(self.done),
        }))
    }

    /// Whether a learner can be saved after this many generations.
    fn is_checkpoint(&self, done: u64) -> bool {
        done.is_multiple_of(CHECKPOINT_EVERY) || done == self.generations()
    }

    /// The learning rate of the next generation.
    fn rate(&self) -> f32 {
        const FLAT: f32 = 0.3;
        let training = self.recipe.training;
        let done = self.done as f32 / self.generations() as f32;
        if done < FLAT {
            return training.rate;
        }
        let angle = std::f32::consts::PI * (done - FLAT) / (1.0 - FLAT);
        training.final_rate + (training.rate - training.final_rate) * 0.5 * (1.0 + libm::cosf(angle))
    }

    fn is_judged_after(&self, done: u64) -> bool {
        let (times, generations) = (self.recipe.evaluation.times, self.generations());
        done == generations || (times > 0 && done * times / generations != (done - 1) * times / generations)
    }

    /// The numbers of matches after which the training evaluates the network.
    pub(crate) fn evaluations(&self) -> impl Iterator<Item = u64> {
        (1..=self.generations()).filter(|&done| self.is_judged_after(done)).map(|done| self.matches_after(done))
    }

    /// Evaluates a network as the recipe specifies.
    pub(crate) fn judge(&self, network: &Network, threads: &LearnThreads) -> Result<Vec<EvaluationResult>, LearnError> {
        let evaluation = &self.recipe.evaluation;
        self.judge_on(network, evaluation.seed, evaluation.deals, threads)
    }

    /// Evaluates a network against the agents of the evaluation, on deals from this seed.
    pub(crate) fn judge_on(
        &self,
        network: &Network,
        seed: u64,
        deals: u64,
        threads: &LearnThreads,
    ) -> Result<Vec<EvaluationResult>, LearnError> {
        let mut tables = self.recipe.seats.clone();
        tables.sort_unstable();
        tables.dedup();
        let mut networks = vec![network.clone()];
        if self.recipe.systems.is_some() {
            let others = (0..JUDGED_SYSTEMS).map(|number| sampled_rules(!seed, number).of_one_round());
            networks.splice(0..0, others.filter_map(|rules| network.under(&rules)));
        }
        let judge = |(seats, spec)| {
            judge(&networks, spec, seats, seed, deals, &threads.all)
                .map_err(|error| error.map_or(LearnError::Interrupted, LearnError::Match))
        };
        tables.iter().flat_map(|&seats| self.judges.iter().map(move |spec| (seats, spec))).map(judge).collect()
    }
}

/// Runs two functions in parallel, or one after the other if there is only one thread.
fn both<A: Send, B>(threads: usize, one: impl FnOnce() -> A + Send, other: impl FnOnce() -> B) -> (A, B) {
    if threads == 1 {
        return (one(), other());
    }
    thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        (one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), other)
    })
}

/// Plays the matches of a generation.
fn generation(
    recipe: &Recipe,
    league: &League,
    network: &Network,
    executor: &Executor,
    generation: u64,
) -> Result<(TrainingData, PlayTotals), LearnError> {
    if recipe.method == Method::Policy {
        let play = |matches| league.play(network, recipe.seed, matches, PolicyCollector::default());
        let (samples, tally) = in_chunks(executor, recipe, generation, play, PolicySamples::append)?;
        return Ok((TrainingData::Policy(Box::new(samples)), tally));
    }
    let play = |matches| league.play(network, recipe.seed, matches, ValueCollector::default());
    let (mut samples, tally) = in_chunks(executor, recipe, generation, play, Samples::append)?;
    if network.inputs().are_general() {
        let mut chance = SeededRng::of_match(recipe.seed, !generation);
        samples = samples.mixed(recipe.training.batch, &mut chance);
    }
    Ok((TrainingData::Values(samples), tally))
}

/// Collects the training data of a generation in chunks, and appends them in order.
fn in_chunks<T: Default + Send>(
    executor: &Executor,
    recipe: &Recipe,
    generation: u64,
    make: impl Fn(Range<u64>) -> Result<(T, PlayTotals), LearnError> + Sync,
    append: fn(&mut T, &T),
) -> Result<(T, PlayTotals), LearnError> {
    let start = generation * recipe.generation;
    let end = (start + recipe.generation).min(recipe.matches);
    let chunk = |number: u64| {
        let from = start + number * CHUNK;
        make(from..(from + CHUNK).min(end))
    };
    let mut all = (T::default(), PlayTotals::default());
    let commit = |_, made: Result<(T, PlayTotals), LearnError>| {
        let (training_data, tally) = made?;
        append(&mut all.0, &training_data);
        all.1.add(&tally);
        Ok(())
    };
    let done = executor.run_ordered(0..(end - start).div_ceil(CHUNK), chunk, commit);
    done.map(|()| all).map_err(|stopped| stopped.or(LearnError::Interrupted))
}

/// Trains on a generation, batch by batch in order.
fn train(
    trainer: &mut Trainer,
    critic: Option<&mut Trainer>,
    training_data: TrainingData,
    recipe: &Recipe,
    rate: f32,
    entropy: f32,
) -> Loss {
    let mut loss = Loss::default();
    let size = recipe.training.batch;
    let mut in_batches = |len: usize, step: &mut dyn FnMut(Range<usize>) -> Loss| {
        for from in (0..len).step_by(size) {
            let step = step(from..(from + size).min(len));
            loss.sum += step.sum;
            loss.samples += step.samples;
        }
    };
    match training_data {
        TrainingData::Values(samples) => {
            in_batches(samples.len(), &mut |batch| trainer.step_values(&samples, batch, rate));
        }
        TrainingData::Policy(mut samples) => {
            let critic = critic.expect("a policy has a critic");
            let values = critic.predict(&samples.positions);
            let (advantages, returns) = samples.advantages(&values, recipe.policy.lambda);
            samples.positions.set_targets(returns);
            let surrogate = Surrogate { clip: recipe.policy.clip, entropy };
            in_batches(advantages.len(), &mut |batch| {
                critic.step_values(&samples.positions, batch.clone(), rate);
                trainer.step_policy(&samples, &advantages, batch, rate, surrogate)
            });
        }
    }
    loss
}
