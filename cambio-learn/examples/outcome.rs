//! Trains an outcome model, a baseline for the luck of the cards: `cargo run --release -p cambio-learn --example outcome -- RECIPE OUT`.
//!
//! The bundled models are in `cambio-agents/nets`, their recipes in `experiments/learn/outcome-*.toml`.

use std::error::Error;
use std::path::PathBuf;

use cambio_agents::{AgentSpec, Guarded, JointKnowledge, OutcomeFeatures, OutcomeModel, Roster, roster};
use cambio_core::play::RoundResult;
use cambio_core::rng::Key;
use cambio_core::rules::MAX_SEATS;
use cambio_core::text::read_toml;
use cambio_core::{Agent, Card, Deal, Event, Observer, Players, Referee, Rules, Standing, State};
use cambio_exec::{Executor, Worker, read_text, write_whole};
use cambio_learn::{LearnError, RecipeError};
use serde::{Deserialize, Serialize};

#[path = "../src/rng.rs"]
mod rng;

use rng::SeededRng;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(recipe), Some(out)) = (args.next(), args.next()) else { return Err("expected RECIPE OUT".into()) };
    let recipe = OutcomeRecipe::from_toml(&read_text(&recipe)?)?;
    let rules = Rules::preset(&recipe.rules)?;
    let progress = |share: f64| eprint!("\r{:3.0} %", 100.0 * share);
    let model = train_outcome_model(&recipe, &rules, &roster(), &Executor::new(0)?, &mut { progress })?;
    Ok(write_whole(&out, &model.to_bytes(&serde_json::json!({ "recipe": recipe })))?)
}

/// The settings for training an outcome model.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutcomeRecipe {
    /// The rules: a preset or a rule file.
    pub rules: String,
    /// The numbers of seats, through which matches cycle.
    pub seats: Vec<usize>,
    /// The agents. Each seat of a match gets one of them at random; an agent in the list twice is drawn twice as often.
    pub agents: Vec<String>,
    /// The number of matches.
    pub matches: u64,
    /// The seed of the matches and of the first weights.
    #[serde(default = "one")]
    pub seed: u64,
    /// How often the training passes over all positions.
    #[serde(default = "three")]
    pub passes: u32,
    /// The learning rate at the beginning; it falls linearly to a fiftieth of this value.
    #[serde(default = "rate")]
    pub rate: f32,
}

const fn one() -> u64 {
    1
}

const fn three() -> u32 {
    3
}

const fn rate() -> f32 {
    0.003
}

impl OutcomeRecipe {
    /// Reads a recipe.
    ///
    /// # Errors
    /// If the text is not TOML, has an unknown field, or a field has an invalid value.
    pub(crate) fn from_toml(text: &str) -> Result<OutcomeRecipe, RecipeError> {
        let recipe: OutcomeRecipe = read_toml(text).map_err(RecipeError::Form)?;
        let refuse =
            |field, found: String, allowed: &str| Err(RecipeError::Field { field, found, allowed: allowed.to_owned() });
        if recipe.seats.is_empty() || !recipe.seats.iter().all(|seats| (2..=MAX_SEATS).contains(seats)) {
            return refuse("seats", format!("{:?}", recipe.seats), "a list of numbers from 2 to 8");
        }
        if recipe.agents.is_empty() {
            return refuse("agents", "an empty list".to_owned(), "a list of agents");
        }
        if !(1..=100_000_000).contains(&recipe.matches) {
            return refuse("matches", recipe.matches.to_string(), "a number from 1 to 100000000");
        }
        Ok(recipe)
    }
}

/// A position: the features of each seat, and each seat's share of the win after the round.
struct Sample {
    features: Vec<OutcomeFeatures>,
    shares: Vec<f32>,
}

/// One in this many revealed cards is followed by a position in the training data.
const ONE_IN: usize = 3;
/// The number of positions between steps of the weights.
const BATCH: usize = 64;

/// Trains an outcome model: plays the matches of the recipe, and fits the model to their results.
///
/// The positions are those after revealed cards and at the end of a round. The target is each seat's share of the win,
/// or in a match of several rounds its chance to win after the round, by [`MatchValues`](cambio_agents::MatchValues).
/// The loss is the cross-entropy, the method is Adam (Kingma and Ba 2015). Calls `progress` with the share of the work
/// that is done.
///
/// # Errors
/// If an agent is unknown, cannot play, or is at fault, or the executor was cancelled.
///
/// # Determinism
/// The model depends only on the recipe and the rules.
pub(crate) fn train_outcome_model(
    recipe: &OutcomeRecipe,
    rules: &Rules,
    roster: &Roster,
    executor: &Executor,
    progress: &mut dyn FnMut(f64),
) -> Result<OutcomeModel, LearnError> {
    let agents = recipe.agents.iter().map(|spec| {
        let agent = roster.parse(spec).map_err(|error| RecipeError::Form(format!("`agents`: {error}")))?;
        if agent.sees_all() || !agent.is_reproducible() {
            let what = format!("`agents`: `{agent}` sees hidden cards or is not reproducible; choose another agent");
            return Err(RecipeError::Form(what));
        }
        Ok(agent)
    });
    let agents: Vec<AgentSpec> = agents.collect::<Result<_, RecipeError>>()?;
    for &seats in &recipe.seats {
        rules.covers(seats).map_err(|error| RecipeError::Form(error.to_string()))?;
        for agent in &agents {
            let refuse =
                |error| RecipeError::Form(format!("`agents`: `{agent}` cannot play at {seats} seats: {error}"));
            agent.try_begin(rules, seats).map_err(refuse)?;
        }
    }
    let mut samples: Vec<Sample> = Vec::new();
    let work = |number: u64, worker: &Worker<'_>| {
        worker.count(1);
        Some(positions(recipe, rules, &agents, number))
    };
    let commit = |samples: &mut Vec<Sample>, _, positions: Result<Vec<Sample>, LearnError>| {
        samples.extend(positions?);
        Ok(())
    };
    // Playing takes about a third of the time.
    let watch = |_: &mut Vec<Sample>, played: u64| {
        progress(played as f64 / recipe.matches as f64 / 3.0);
        Ok(())
    };
    executor
        .run_watched(0..recipe.matches, &mut samples, work, commit, watch)
        .map_err(|stopped| stopped.or(LearnError::Interrupted))?;
    let stop = executor.cancel_token();
    let weights = fit(recipe, &samples, &mut |share| {
        progress((1.0 + 2.0 * share) / 3.0);
        !stop.is_cancelled()
    });
    weights.map(OutcomeModel::new).ok_or(LearnError::Interrupted)
}

/// Plays a match and returns positions of it.
fn positions(
    recipe: &OutcomeRecipe,
    rules: &Rules,
    agents: &[AgentSpec],
    number: u64,
) -> Result<Vec<Sample>, LearnError> {
    let seats = recipe.seats[(number % recipe.seats.len() as u64) as usize];
    let mut chance = SeededRng::of_match(recipe.seed, number);
    let drawn: Vec<&AgentSpec> = (0..seats).map(|_| &agents[chance.below(agents.len())]).collect();
    let players = Players::all(drawn.iter().map(|spec| Guarded::new(spec.make())));
    let collector =
        Collector { knowledge: JointKnowledge::new(rules, seats), chance, open: Vec::new(), samples: Vec::new() };
    let against = || drawn.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | ");
    let failed = |error| LearnError::SelfPlay { number, against: against(), error };
    let deal = Deal::new(rules, Key::new(recipe.seed, number));
    let mut referee: Referee<Guarded<Box<dyn Agent>>, Collector> =
        Referee::new(deal, players, collector).map_err(failed)?;
    referee.run().map_err(failed)?;
    Ok(std::mem::take(&mut referee.observer_mut().samples))
}

/// Collects positions of a match.
struct Collector {
    knowledge: JointKnowledge,
    chance: SeededRng,
    /// The features of the positions of this round.
    open: Vec<Vec<OutcomeFeatures>>,
    samples: Vec<Sample>,
}

impl Observer for Collector {
    fn round_begins(&mut self, standing: &Standing<'_>, _: &[Card]) {
        self.knowledge.round_begins(standing);
    }

    fn event(&mut self, event: &Event<Card>) {
        let is_end = matches!(event, Event::Ended { .. });
        let reveals = self.knowledge.revealed(event).is_some();
        self.knowledge.notice(event);
        if is_end || (reveals && self.chance.below(ONE_IN) == 0) {
            self.open.push(self.knowledge.features().to_vec());
        }
    }

    fn round_ends(&mut self, _: &State, result: &RoundResult) {
        let chances = self.knowledge.chances_after(result);
        for features in self.open.drain(..) {
            let shares = chances[..features.len()].iter().map(|&share| share as f32).collect();
            self.samples.push(Sample { features, shares });
        }
        self.knowledge.round_ends(result);
    }
}

const LAYERS: [usize; 4] = OutcomeModel::LAYERS;
const FEATURES: usize = LAYERS[0];
const FIRST: usize = LAYERS[1];
const SECOND: usize = LAYERS[2];
/// The places of the weights: rows of the first layer, its bias being row 0, rows of the second layer, the last layer.
const SECOND_AT: usize = FIRST * (FEATURES + 1);
const LAST_AT: usize = SECOND_AT + SECOND * (FIRST + 1);

/// The activations of a seat.
#[derive(Clone, Copy)]
struct Activations {
    first: [f32; FIRST],
    second: [f32; SECOND],
    logit: f32,
}

fn activations(weights: &[f32], features: &OutcomeFeatures) -> Activations {
    fn layer<const UNITS: usize>(weights: &[f32], inputs: &[f32]) -> [f32; UNITS] {
        let rows = weights.as_chunks::<UNITS>().0;
        let mut sums = rows[0];
        for (row, input) in rows[1..].iter().zip(inputs) {
            for (sum, weight) in sums.iter_mut().zip(row) {
                *sum += weight * input;
            }
        }
        sums.map(|sum| sum.max(0.0))
    }
    let first: [f32; FIRST] = layer(&weights[..SECOND_AT], &features.0);
    let second: [f32; SECOND] = layer(&weights[SECOND_AT..LAST_AT], &first);
    let logit = second.iter().zip(&weights[LAST_AT..]).map(|(unit, weight)| unit * weight).sum();
    Activations { first, second, logit }
}

/// Adds the gradient of one seat, whose logit has the derivative `slope`.
fn backpropagate(weights: &[f32], features: &OutcomeFeatures, at: &Activations, slope: f32, gradient: &mut [f32]) {
    let mut second = [0.0; SECOND];
    for (unit, &activation) in at.second.iter().enumerate() {
        gradient[LAST_AT + unit] += slope * activation;
        if activation > 0.0 {
            second[unit] = slope * weights[LAST_AT + unit];
        }
    }
    let mut first = [0.0; FIRST];
    let rows = weights[SECOND_AT..LAST_AT].as_chunks::<SECOND>().0;
    let gradients = gradient[SECOND_AT..LAST_AT].as_chunks_mut::<SECOND>().0;
    add_scaled(&mut gradients[0], &second, 1.0);
    for (unit, &activation) in at.first.iter().enumerate().filter(|(_, activation)| **activation > 0.0) {
        add_scaled(&mut gradients[unit + 1], &second, activation);
        first[unit] = rows[unit + 1].iter().zip(&second).map(|(weight, slope)| weight * slope).sum();
    }
    let gradients = gradient[..SECOND_AT].as_chunks_mut::<FIRST>().0;
    add_scaled(&mut gradients[0], &first, 1.0);
    for (row, &feature) in gradients[1..].iter_mut().zip(&features.0).filter(|(_, feature)| **feature != 0.0) {
        add_scaled(row, &first, feature);
    }
}

fn add_scaled<const N: usize>(to: &mut [f32; N], from: &[f32; N], by: f32) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += from * by;
    }
}

/// Fits the weights by Adam, and returns their moving average; `None` as soon as `goes_on` returns false.
fn fit(recipe: &OutcomeRecipe, samples: &[Sample], goes_on: &mut dyn FnMut(f64) -> bool) -> Option<Vec<f32>> {
    const DECAYS: [f32; 2] = [0.9, 0.999];
    const AVERAGE: f32 = 0.998;
    let mut chance = SeededRng::new(recipe.seed);
    let mut weights = vec![0.0; OutcomeModel::WEIGHTS];
    for (range, scale) in [(FIRST..SECOND_AT, 0.25), (SECOND_AT + SECOND..LAST_AT, 0.3), (LAST_AT..weights.len(), 0.3)]
    {
        weights[range].iter_mut().for_each(|weight| *weight = scale * (2.0 * chance.share() - 1.0));
    }
    let mut average = weights.clone();
    let zeros = vec![0.0_f32; weights.len()];
    let (mut gradient, mut mean, mut squares) = (zeros.clone(), zeros.clone(), zeros);
    let steps = (samples.len() * recipe.passes as usize).div_ceil(BATCH).max(1);
    let mut decayed = [1.0_f32; 2];
    for step in 0..steps {
        gradient.fill(0.0);
        for _ in 0..BATCH {
            let Sample { features, shares } = &samples[chance.below(samples.len())];
            let seats: Vec<Activations> = features.iter().map(|features| activations(&weights, features)).collect();
            let most = seats.iter().map(|seat| seat.logit).fold(f32::NEG_INFINITY, f32::max);
            let powers: Vec<f32> = seats.iter().map(|seat| libm::expf(seat.logit - most)).collect();
            let all: f32 = powers.iter().sum();
            for (((features, at), power), share) in features.iter().zip(&seats).zip(&powers).zip(shares) {
                backpropagate(&weights, features, at, (power / all - share) / BATCH as f32, &mut gradient);
            }
        }
        let rate = recipe.rate * (1.0 - step as f32 / steps as f32).max(0.02);
        decayed[0] *= DECAYS[0];
        decayed[1] *= DECAYS[1];
        for (index, weight) in weights.iter_mut().enumerate() {
            let slope = gradient[index];
            mean[index] += (1.0 - DECAYS[0]) * (slope - mean[index]);
            squares[index] += (1.0 - DECAYS[1]) * (slope * slope - squares[index]);
            let size = (squares[index] / (1.0 - decayed[1])).sqrt() + 1e-8;
            *weight -= rate * mean[index] / (1.0 - decayed[0]) / size;
            average[index] += (1.0 - AVERAGE) * (*weight - average[index]);
        }
        if step % 1000 == 0 && !goes_on(step as f64 / steps as f64) {
            return None;
        }
    }
    Some(average)
}
