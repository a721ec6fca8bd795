//! The loop of learning: play a generation, train on it, judge now and then.

use std::thread;

use cambio_agents::{AgentSpec, Floats, Inputs, Network, Roster};
use cambio_core::Rules;
use cambio_exec::{CancelToken, Executor, Stopped, ThreadsError};

use crate::error::LearnError;
use crate::evaluate::{Judgement, judge};
use crate::imitate::{Agreement, agreement, lessons};
use crate::play::{League, Tally};
use crate::recipe::Recipe;
use crate::records::Records;
use crate::samples::{Choices, Lessons, Samples};
use crate::trainer::{Loss, Trainer};

/// Matches that one worker plays at a time.
const CHUNK: u64 = 16;

/// A learner can be saved whenever so many generations have been learned from.
const CHECKPOINT_EVERY: u64 = 64;

/// How learning goes.
#[derive(Clone, PartialEq, Debug)]
pub struct Progress {
    /// The matches that have been learned from.
    pub matches: u64,
    /// How many there are to be.
    pub of: u64,
    /// The rounds of these matches.
    pub rounds: u64,
    /// Samples that were trained on.
    pub samples: u64,
    /// The mean cross-entropy since the last report, in nats.
    pub loss: f64,
    /// The share of the win against others than itself since the last report, in rounds without exploration.
    pub won: Option<f64>,
    /// Turns a round since the last report.
    pub turns: f64,
    /// The learning rate.
    pub rate: f32,
    /// How it fares against the agents of the evaluation; empty between evaluations.
    pub judgements: Vec<Judgement>,
    /// How often it decides as the agent that it imitates; only of a clone, and only at evaluations.
    pub agreement: Option<Agreement>,
    /// Whether [`Learner::save`] can save it now.
    pub is_checkpoint: bool,
}

/// The threads of a learner.
///
/// One trains while the others play. Cancelling the token stops a step, and nothing of it is kept.
#[derive(Clone, Debug)]
pub struct Crew {
    /// Those who play while another thread trains.
    players: Executor,
    everybody: Executor,
}

impl Crew {
    /// So many threads; 0 takes as many as there are cores.
    ///
    /// # Errors
    /// If the operating system does not give so many.
    pub fn new(threads: usize, cancel: &CancelToken) -> Result<Crew, ThreadsError> {
        let everybody = Executor::new(threads)?.with_cancel(cancel.clone());
        let players = Executor::new((everybody.threads() - 1).max(1))?.with_cancel(cancel.clone());
        Ok(Crew { players, everybody })
    }
}

/// A network that learns by a recipe, one generation after the other.
///
/// A generation is played by the network as it was before the last training, while that training goes on: playing and
/// training overlap. What is learned does not depend on the number of threads.
///
/// ```
/// use cambio_agents::roster;
/// use cambio_core::Rules;
/// use cambio_learn::{Crew, Learner, Recipe};
/// use cambio_exec::CancelToken;
///
/// let recipe = Recipe { rules: "mini-m1".into(), matches: 200, generation: 50, ..Recipe::default() };
/// let rules = Rules::preset("mini-m1")?;
/// let mut learner = Learner::new(recipe, &rules, &roster(), None)?;
/// let crew = Crew::new(1, &CancelToken::new())?;
/// while let Some(progress) = learner.step(&crew)? {
///     assert!(progress.matches <= 200);
/// }
/// let network = learner.network();
/// assert_eq!(network.inputs().rules(), &rules);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Learner {
    pub(crate) recipe: Recipe,
    pub(crate) inputs: Inputs,
    pub(crate) league: League,
    /// What it imitates, if it does.
    records: Option<Records>,
    /// The network that plays: the weights as they are now, in whole numbers.
    network: Network,
    judges: Vec<AgentSpec>,
    pub(crate) trainer: Trainer,
    /// The generations that were learned from.
    pub(crate) done: u64,
    pub(crate) rounds: u64,
    pub(crate) samples: u64,
    /// The generation that was played ahead.
    pub(crate) ahead: Option<(Lessons, Tally)>,
}

impl Learner {
    /// A learner at its beginning. `from` is the network to go on from, if there is one.
    ///
    /// # Errors
    /// If the recipe names agents that cannot play here or are not the same each time, the rules do not fit its seats, or the
    /// records of a recipe for a clone cannot be learned from.
    pub fn new(
        mut recipe: Recipe,
        rules: &Rules,
        roster: &Roster,
        from: Option<&Floats>,
    ) -> Result<Learner, LearnError> {
        recipe.check()?;
        recipe.covers(rules)?;
        let rivals = recipe.rivals(rules, roster)?;
        let judges = recipe.judges(rules, roster)?;
        let records = Records::read(&mut recipe, rules)?;
        let inputs = Inputs::new(rules);
        let trainer = match from {
            Some(floats) => Trainer::from_floats(inputs.count(), floats),
            None => Trainer::new(inputs.count(), recipe.seed),
        };
        let league = League::new(rules, &recipe, rivals);
        let network = Network::new(&inputs, &trainer.current());
        let (done, rounds, samples) = (0, 0, 0);
        Ok(Learner { recipe, inputs, league, records, network, judges, trainer, done, rounds, samples, ahead: None })
    }

    /// The recipe.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// How many matches it has learned from.
    pub fn matches(&self) -> u64 {
        (self.done * self.recipe.generation).min(self.recipe.matches)
    }

    /// How many generations there are.
    fn generations(&self) -> u64 {
        self.recipe.matches.div_ceil(self.recipe.generation)
    }

    /// The network that plays best: the averaged weights; of a clone, which learns in fewer steps, the weights as they are.
    pub fn network(&self) -> Network {
        let began_at_random = self.recipe.from.is_none();
        let floats = match self.records {
            None => self.trainer.averaged(began_at_random),
            Some(_) => self.trainer.settled(began_at_random),
        };
        Network::new(&self.inputs, &floats)
    }

    /// Takes the whole numbers of all weights anew, after others have been taken up.
    pub(crate) fn start_over(&mut self) {
        self.network = Network::new(&self.inputs, &self.trainer.current());
    }

    /// Learns from the next generation; `None` if there is none.
    ///
    /// # Errors
    /// If a match cannot be played, or the token was cancelled; the learner is then of no more use, but a
    /// checkpoint is.
    pub fn step(&mut self, crew: &Crew) -> Result<Option<Progress>, LearnError> {
        if self.done == self.generations() {
            return Ok(None);
        }
        self.trainer.follow(&mut self.network);
        let (lessons, tally) = match self.ahead.take() {
            Some(ahead) => ahead,
            None => self.source().generation(&crew.everybody, self.done)?,
        };
        let rate = self.rate();
        let next = self.done + 1;
        // After a checkpoint a learner that was taken up has nothing that was played ahead; so this one has nothing either.
        let overlaps = next < self.generations() && !self.is_checkpoint(next);
        let loss = if overlaps {
            let Learner { trainer, recipe, league, records, network, inputs, .. } = self;
            let (recipe, records) = (&*recipe, records.as_ref());
            let source = Source { recipe, league, records, network, inputs };
            let train = || train(trainer, &lessons, recipe, rate);
            let (loss, ahead) = both(crew.everybody.threads(), train, || source.generation(&crew.players, next));
            self.ahead = Some(ahead?);
            loss
        } else {
            train(&mut self.trainer, &lessons, &self.recipe, rate)
        };
        self.done = next;
        self.rounds += tally.rounds;
        self.samples += loss.samples;
        let (mut judgements, mut agreement) = (Vec::new(), None);
        if self.is_judged() {
            let network = self.network();
            judgements = self.judge(&network, crew)?;
            agreement = self.agree(&network, crew)?;
            if self.recipe.has_past() {
                self.league.remember(network);
            }
        }
        Ok(Some(Progress {
            matches: self.matches(),
            of: self.recipe.matches,
            rounds: self.rounds,
            samples: self.samples,
            loss: loss.sum / loss.samples.max(1) as f64,
            won: (tally.judged > 0).then(|| tally.won / tally.judged as f64),
            turns: tally.turns as f64 / tally.rounds.max(1) as f64,
            rate,
            judgements,
            agreement,
            is_checkpoint: self.is_checkpoint(self.done),
        }))
    }

    /// Whether a learner can be saved after so many generations.
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

    fn is_judged(&self) -> bool {
        let (times, generations) = (self.recipe.evaluation.times, self.generations());
        self.done == generations
            || (times > 0 && self.done * times / generations != (self.done - 1) * times / generations)
    }

    /// Where the next lessons come from.
    fn source(&self) -> Source<'_> {
        let Learner { recipe, league, records, network, inputs, .. } = self;
        Source { recipe, league, records: records.as_ref(), network, inputs }
    }

    /// How often a network decides as the agent that is imitated, if one is.
    fn agree(&self, network: &Network, crew: &Crew) -> Result<Option<Agreement>, LearnError> {
        self.records.as_ref().map(|records| agreement(records, network, &crew.everybody)).transpose()
    }

    /// Judges a network on the deals of the evaluation.
    pub(crate) fn judge(&self, network: &Network, crew: &Crew) -> Result<Vec<Judgement>, LearnError> {
        let evaluation = &self.recipe.evaluation;
        self.judge_on(network, evaluation.seed, evaluation.deals, crew)
    }

    /// Judges a network against the agents of the evaluation on these deals.
    pub(crate) fn judge_on(
        &self,
        network: &Network,
        seed: u64,
        deals: u64,
        crew: &Crew,
    ) -> Result<Vec<Judgement>, LearnError> {
        let mut tables = self.recipe.seats.clone();
        tables.sort_unstable();
        tables.dedup();
        let judge = |(seats, spec)| {
            judge(network, spec, seats, seed, deals, &crew.everybody)
                .map_err(|error| error.map_or(LearnError::Interrupted, LearnError::Match))
        };
        tables.iter().flat_map(|&seats| self.judges.iter().map(move |spec| (seats, spec))).map(judge).collect()
    }
}

/// Where the lessons of a learner come from.
struct Source<'a> {
    recipe: &'a Recipe,
    league: &'a League,
    records: Option<&'a Records>,
    network: &'a Network,
    inputs: &'a Inputs,
}

/// Does two things at once, or one after the other if there is one thread.
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

impl Source<'_> {
    /// What a generation of matches gives: they are played, or read from records.
    fn generation(&self, executor: &Executor, generation: u64) -> Result<(Lessons, Tally), LearnError> {
        let &Source { recipe, league, records, network, inputs } = self;
        match records {
            None => {
                let play = |matches| league.play(network, recipe.seed, matches);
                let (samples, tally) = in_chunks(executor, recipe, generation, play, Samples::append)?;
                Ok((Lessons::Values(samples), tally))
            }
            Some(records) => {
                let read = |matches| lessons(records, inputs, matches);
                let (choices, tally) = in_chunks(executor, recipe, generation, read, Choices::append)?;
                Ok((Lessons::Choices(choices), tally))
            }
        }
    }
}

/// Makes the lessons of a generation chunk by chunk, and puts them together in order.
fn in_chunks<T: Default + Send>(
    executor: &Executor,
    recipe: &Recipe,
    generation: u64,
    make: impl Fn(std::ops::Range<u64>) -> Result<(T, Tally), LearnError> + Sync,
    append: fn(&mut T, &T),
) -> Result<(T, Tally), LearnError> {
    let start = generation * recipe.generation;
    let end = (start + recipe.generation).min(recipe.matches);
    let chunk = |number: u64| {
        let from = start + number * CHUNK;
        make(from..(from + CHUNK).min(end))
    };
    let mut all = (T::default(), Tally::default());
    let commit = |_, made: Result<(T, Tally), LearnError>| {
        let (lessons, tally) = made?;
        append(&mut all.0, &lessons);
        all.1.add(&tally);
        Ok(())
    };
    match executor.run_ordered(0..(end - start).div_ceil(CHUNK), chunk, commit) {
        Ok(()) => Ok(all),
        Err(Stopped::Cancelled) => Err(LearnError::Interrupted),
        Err(Stopped::Failed(error)) => Err(error),
    }
}

/// Trains on a generation, batch by batch in order.
fn train(trainer: &mut Trainer, lessons: &Lessons, recipe: &Recipe, rate: f32) -> Loss {
    let mut loss = Loss::default();
    let mut from = 0;
    while from < lessons.len() {
        let to = (from + recipe.training.batch).min(lessons.len());
        let step = trainer.step(lessons, from..to, rate);
        loss.sum += step.sum;
        loss.samples += step.samples;
        from = to;
    }
    loss
}
