//! Training data: the active inputs of afterstates, with returns or with the decisions of a policy.

use cambio_agents::NetworkInputs;
use cambio_core::rules::MAX_SEATS;

use crate::rng::SeededRng;

/// Afterstates with their targets, in flat arrays.
#[derive(Clone, Default, Debug)]
pub(crate) struct Samples {
    on: Vec<u16>,
    ends: Vec<u32>,
    targets: Vec<f32>,
    /// For a general network: the numbers of the samples with which other rules begin, and the inputs under these rules.
    systems: Vec<(usize, NetworkInputs)>,
}

impl Samples {
    pub(crate) fn len(&self) -> usize {
        self.targets.len()
    }

    pub(crate) fn push(&mut self, on: &[u16], target: f32) {
        self.on.extend_from_slice(on);
        self.ends.push(self.on.len() as u32);
        self.targets.push(target);
    }

    pub(crate) fn get(&self, number: usize) -> (&[u16], f32) {
        let start = if number == 0 { 0 } else { self.ends[number - 1] as usize };
        (&self.on[start..self.ends[number] as usize], self.targets[number])
    }

    /// The inputs of the next samples.
    pub(crate) fn begin(&mut self, inputs: &NetworkInputs) {
        let is_same = |(_, last): &(usize, NetworkInputs)| last.rules() == inputs.rules();
        if inputs.are_general() && !self.systems.last().is_some_and(is_same) {
            self.systems.push((self.len(), inputs.clone()));
        }
    }

    /// The inputs of a sample; `None` if the network is not general.
    pub(crate) fn inputs(&self, number: usize) -> Option<&NetworkInputs> {
        let after = self.systems.partition_point(|&(start, _)| start <= number);
        Some(&self.systems[after.checked_sub(1)?].1)
    }

    /// The same samples in a random order, so that each batch of this size has about the same share of each rule system.
    pub(crate) fn mixed(&self, batch: usize, chance: &mut SeededRng) -> Samples {
        let ends = self.systems.iter().skip(1).map(|&(start, _)| start).chain([self.len()]);
        let systems: Vec<(&NetworkInputs, Vec<usize>)> = self
            .systems
            .iter()
            .zip(ends)
            .map(|((start, inputs), end)| {
                let mut order: Vec<usize> = (*start..end).collect();
                for last in (1..order.len()).rev() {
                    order.swap(last, chance.below(last + 1));
                }
                (inputs, order)
            })
            .collect();
        let (batches, mut mixed) = (self.len().div_ceil(batch), Samples::default());
        for number in 0..batches {
            for (inputs, order) in &systems {
                mixed.begin(inputs);
                for &sample in &order[order.len() * number / batches..order.len() * (number + 1) / batches] {
                    let (on, target) = self.get(sample);
                    mixed.push(on, target);
                }
            }
        }
        mixed
    }

    pub(crate) fn set_targets(&mut self, targets: Vec<f32>) {
        assert_eq!(targets.len(), self.targets.len(), "a target for each sample");
        self.targets = targets;
    }

    pub(crate) fn append(&mut self, other: &Samples) {
        let (base, len) = (self.on.len() as u32, self.len());
        self.systems.extend(other.systems.iter().map(|(start, inputs)| (len + start, inputs.clone())));
        self.on.extend_from_slice(&other.on);
        self.ends.extend(other.ends.iter().map(|end| base + end));
        self.targets.extend_from_slice(&other.targets);
    }
}

/// Decisions in flat arrays, each with the afterstates of all candidates.
#[derive(Clone, Default, Debug)]
pub(crate) struct ChoiceSamples {
    /// The target is 1 for the chosen candidate and 0 for the others.
    candidates: Samples,
    ends: Vec<u32>,
}

impl ChoiceSamples {
    /// The inputs of the next decisions.
    pub(crate) fn begin(&mut self, inputs: &NetworkInputs) {
        self.candidates.begin(inputs);
    }

    /// Adds a candidate to the current decision, which [`ChoiceSamples::end`] ends.
    pub(crate) fn push(&mut self, on: &[u16], is_taken: bool) {
        self.candidates.push(on, f32::from(u8::from(is_taken)));
    }

    /// Ends the current decision, whose candidates were added since the previous call.
    pub(crate) fn end(&mut self) {
        self.ends.push(self.candidates.len() as u32);
    }

    /// The inputs of a decision; `None` if the network is not general.
    pub(crate) fn inputs(&self, number: usize) -> Option<&NetworkInputs> {
        self.candidates.inputs(if number == 0 { 0 } else { self.ends[number - 1] as usize })
    }

    /// The candidates of a decision: the active inputs, and 1 for the chosen candidate or 0 for another.
    pub(crate) fn get(&self, number: usize) -> impl ExactSizeIterator<Item = (&[u16], f32)> {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        (start as usize..self.ends[number] as usize).map(|candidate| self.candidates.get(candidate))
    }

    pub(crate) fn append(&mut self, other: &ChoiceSamples) {
        let base = self.candidates.len() as u32;
        self.candidates.append(&other.candidates);
        self.ends.extend(other.ends.iter().map(|end| base + end));
    }
}

/// Decisions of a policy in self-play, in the order in which they were made.
#[derive(Clone, Default, Debug)]
pub(crate) struct PolicySamples {
    /// The candidates of each decision.
    pub(crate) choices: ChoiceSamples,
    /// The probability with which each decision was drawn.
    pub(crate) chances: Vec<f32>,
    /// The seat of each decision.
    pub(crate) seats: Vec<u8>,
    /// The position before each decision, as the critic sees it. The trainer sets the targets.
    pub(crate) positions: Samples,
    /// The rounds, in order: for each, the number of decisions up to its end, and by seat the win share or the chance to win the match.
    pub(crate) rounds: Vec<(usize, [f32; MAX_SEATS])>,
}

impl PolicySamples {
    /// The advantage of each decision and the return that the critic learns, from the critic's values of the positions:
    /// generalized advantage estimation (Schulman et al. 2016) among the decisions of each seat.
    pub(crate) fn advantages(&self, values: &[f32], lambda: f32) -> (Vec<f32>, Vec<f32>) {
        let (mut advantages, mut returns) = (vec![0.0; values.len()], vec![0.0; values.len()]);
        let mut start = 0;
        for &(end, shares) in &self.rounds {
            // For each seat, the value of its next decision and the advantage there.
            let (mut next, mut later) = (shares, [0.0; MAX_SEATS]);
            for number in (start..end).rev() {
                let seat = usize::from(self.seats[number]);
                let advantage = next[seat] - values[number] + lambda * later[seat];
                (advantages[number], returns[number]) = (advantage, values[number] + advantage);
                (next[seat], later[seat]) = (values[number], advantage);
            }
            start = end;
        }
        (advantages, returns)
    }

    pub(crate) fn append(&mut self, other: &PolicySamples) {
        let base = self.chances.len();
        self.choices.append(&other.choices);
        self.chances.extend_from_slice(&other.chances);
        self.seats.extend_from_slice(&other.seats);
        self.positions.append(&other.positions);
        self.rounds.extend(other.rounds.iter().map(|&(end, values)| (base + end, values)));
    }
}

/// The training data of a generation.
#[derive(Clone, Debug)]
pub(crate) enum TrainingData {
    /// Decisions with their returns.
    Values(Samples),
    /// The decisions of a policy.
    Policy(Box<PolicySamples>),
}

#[cfg(test)]
mod tests {
    use cambio_core::Rules;

    use super::*;

    #[test]
    fn each_mixed_batch_has_its_share_of_each_system() {
        let (mut samples, mut chance) = (Samples::default(), SeededRng::new(1));
        for (preset, number) in [("mini-m1", 30), ("mini-p", 60)] {
            samples.begin(&NetworkInputs::general(&Rules::preset(preset).unwrap()));
            (0..number).for_each(|input| samples.push(&[input], f32::from(number)));
        }
        let mixed = samples.mixed(9, &mut chance);
        let mut found: Vec<(u16, u16)> = Vec::new();
        for number in 0..90 {
            let (on, target) = mixed.get(number);
            let is_first = target < 45.0;
            let preset = if is_first { "mini-m1" } else { "mini-p" };
            assert_eq!(mixed.inputs(number).unwrap().rules().name(), preset);
            assert_eq!(is_first, number % 9 < 3, "sample {number}");
            found.push((on[0], target as u16));
        }
        found.sort_unstable();
        assert!(found.windows(2).all(|pair| pair[0] != pair[1]), "no sample occurs twice");
    }
}
