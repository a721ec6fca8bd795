//! Checkpoints: serialized learners.
//!
//! A checkpoint consists of a line that names the format, a line of JSON with the recipe and the counters, the states of
//! the trainer and of a policy's critic, the past networks, and the BLAKE3 hash of all these parts.

use cambio_agents::{Network, Roster};
use cambio_core::Rules;
use serde::{Deserialize, Serialize};

use crate::error::{CheckpointError, LearnError};
use crate::learner::Learner;
use crate::play::PastNetwork;
use crate::recipe::Recipe;
use crate::trainer::Trainer;

const FORMAT: &str = "cambio checkpoint 1\n";

/// The header, which precedes the numbers of the trainer's state.
#[derive(Serialize, Deserialize)]
struct CheckpointHeader {
    recipe: Recipe,
    done: u64,
    rounds: u64,
    samples: u64,
    steps: u64,
    /// The steps of the critic, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    critic: Option<u64>,
    inputs: usize,
    /// The number of floats that follow.
    numbers: usize,
    /// The size in bytes of each past network.
    past: Vec<usize>,
}

impl Learner {
    /// Serializes the learner; `None` if a generation was played ahead, because such a learner cannot be saved.
    ///
    /// # Panics
    /// Does not panic: every recipe can be written as JSON.
    ///
    /// ```
    /// use cambio_agents::roster;
    /// use cambio_core::Rules;
    /// use cambio_learn::{Learner, Recipe};
    ///
    /// let (rules, recipe) = (Rules::preset("mini-m1")?, Recipe { rules: "mini-m1".into(), ..Recipe::default() });
    /// let learner = Learner::new(recipe.clone(), &rules, &roster(), None)?;
    /// let bytes = learner.save().unwrap();
    /// let again = Learner::resume(recipe, &rules, &roster(), &bytes)?;
    /// assert_eq!(again.save().unwrap(), bytes);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(&self) -> Option<Vec<u8>> {
        if self.ahead.is_some() {
            return None;
        }
        let (steps, parts) = self.trainer.state();
        let critic = self.critic.as_ref().map(Trainer::state);
        let parts = || parts.into_iter().chain(critic.iter().flat_map(|(_, parts)| *parts));
        let head = CheckpointHeader {
            recipe: self.recipe.clone(),
            done: self.done,
            rounds: self.rounds,
            samples: self.samples,
            steps,
            critic: critic.map(|(steps, _)| steps),
            inputs: self.inputs.count(),
            numbers: parts().map(<[f32]>::len).sum(),
            past: self.league.past.iter().map(|(_, file)| file.len()).collect(),
        };
        let mut bytes = FORMAT.as_bytes().to_vec();
        bytes.extend(serde_json::to_vec(&head).expect("every recipe can be written as JSON"));
        bytes.push(b'\n');
        for number in parts().flatten() {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        for (_, file) in &self.league.past {
            bytes.extend_from_slice(file);
        }
        let hash = blake3::hash(&bytes);
        bytes.extend_from_slice(hash.as_bytes());
        Some(bytes)
    }

    /// Restores a learner that [`Learner::save`] saved. It continues as if it had never stopped.
    ///
    /// # Errors
    /// If the bytes are not a checkpoint of this recipe, or the recipe is rejected.
    pub fn resume(mut recipe: Recipe, rules: &Rules, roster: &Roster, bytes: &[u8]) -> Result<Learner, LearnError> {
        let (head, numbers, past) = read(bytes)?;
        recipe.inputs = recipe.inputs.or_else(|| head.recipe.inputs.clone());
        if let Some((field, was)) = difference(&head.recipe, &recipe) {
            return Err(CheckpointError::Recipe { field, was }.into());
        }
        let mut learner = Learner::new(recipe, rules, roster, None)?;
        let damaged = |what| CheckpointError::Damaged { what };
        let inputs = learner.inputs.count();
        if head.inputs != inputs {
            return Err(damaged("its network has a different number of inputs").into());
        }
        let mut numbers = &numbers[..];
        let mut restore = |inputs: usize, steps| {
            let mut take = || numbers.split_off(..Trainer::len(inputs)).map(<[f32]>::to_vec);
            Some(Trainer::restore(inputs, steps, [take()?, take()?, take()?, take()?]))
        };
        let unfit = || damaged("its number of weights does not fit its inputs");
        learner.trainer = restore(inputs, head.steps).ok_or_else(unfit)?;
        if let Some(critic) = &mut learner.critic {
            *critic = head.critic.and_then(|steps| restore(2 * inputs, steps)).ok_or_else(unfit)?;
        }
        if !numbers.is_empty() {
            return Err(unfit().into());
        }
        learner.league.past = past;
        learner.network = Network::new(&learner.inputs, &learner.trainer.current());
        (learner.done, learner.rounds, learner.samples) = (head.done, head.rounds, head.samples);
        Ok(learner)
    }
}

fn read(bytes: &[u8]) -> Result<(CheckpointHeader, Vec<f32>, Vec<PastNetwork>), CheckpointError> {
    let damaged = |what| CheckpointError::Damaged { what };
    let body = bytes
        .strip_prefix(FORMAT.as_bytes())
        .ok_or(damaged("its first line is not the format `cambio checkpoint 1` of this version"))?;
    let end = body.len().checked_sub(blake3::OUT_LEN).ok_or(damaged("it ends too early"))?;
    let (body, hash) = body.split_at(end);
    if blake3::hash(&bytes[..FORMAT.len() + end]).as_bytes() != hash {
        return Err(damaged("its hash does not match its content"));
    }
    let line = body.iter().position(|&byte| byte == b'\n').ok_or(damaged("the weights are missing"))?;
    let head: CheckpointHeader =
        serde_json::from_slice(&body[..line]).map_err(|_| damaged("its header is not of this version"))?;
    let mut rest = &body[line + 1..];
    let mut take = |bytes: usize| rest.split_off(..bytes).ok_or(damaged("it ends too early"));
    let numbers = take(head.numbers.saturating_mul(4))?.as_chunks::<4>().0;
    let numbers = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    let mut past = Vec::new();
    for &bytes in &head.past {
        let file = take(bytes)?;
        let (network, _) = Network::from_bytes(file).map_err(|_| damaged("a past network cannot be read"))?;
        past.push((network, file.to_vec()));
    }
    if !rest.is_empty() {
        return Err(damaged("its length differs from its header"));
    }
    Ok((head, numbers, past))
}

/// The first field in which two recipes differ, and its value in the first recipe.
fn difference(was: &Recipe, is: &Recipe) -> Option<(String, String)> {
    let fields = |recipe| match serde_json::to_value(recipe) {
        Ok(serde_json::Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let is = fields(is);
    fields(was)
        .into_iter()
        .find(|(field, value)| is.get(field) != Some(value))
        .map(|(field, was)| (field, was.to_string()))
}

#[cfg(test)]
mod tests;
