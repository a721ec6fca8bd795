//! Training data: the active inputs of afterstates, with returns or with the decisions of an imitated agent.

/// Afterstates with their targets, in flat arrays.
#[derive(Clone, Default, PartialEq, Debug)]
pub(crate) struct Samples {
    on: Vec<u16>,
    ends: Vec<u32>,
    targets: Vec<f32>,
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

    pub(crate) fn append(&mut self, other: &Samples) {
        let base = self.on.len() as u32;
        self.on.extend_from_slice(&other.on);
        self.ends.extend(other.ends.iter().map(|end| base + end));
        self.targets.extend_from_slice(&other.targets);
    }
}

/// Decisions of an imitated agent in flat arrays, each with the afterstates of all candidates.
#[derive(Clone, Default, PartialEq, Debug)]
pub(crate) struct ChoiceSamples {
    /// The target is 1 for the chosen candidate and 0 for the others.
    candidates: Samples,
    ends: Vec<u32>,
}

impl ChoiceSamples {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Adds a candidate to the current decision, which [`ChoiceSamples::end`] ends.
    pub(crate) fn push(&mut self, on: &[u16], is_taken: bool) {
        self.candidates.push(on, f32::from(u8::from(is_taken)));
    }

    /// Ends the current decision, whose candidates were added since the previous call.
    pub(crate) fn end(&mut self) {
        self.ends.push(self.candidates.len() as u32);
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

/// The training data of a generation.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum TrainingData {
    /// Decisions with their returns.
    Values(Samples),
    /// The decisions of an imitated agent.
    Choices(ChoiceSamples),
}

impl TrainingData {
    pub(crate) fn len(&self) -> usize {
        match self {
            TrainingData::Values(samples) => samples.len(),
            TrainingData::Choices(choices) => choices.len(),
        }
    }
}
