//! What play gives and training takes: inputs that were on, and what followed or was decided.

/// Samples one behind the other.
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

    /// Adds other samples behind these.
    pub(crate) fn append(&mut self, other: &Samples) {
        let base = self.on.len() as u32;
        self.on.extend_from_slice(&other.on);
        self.ends.extend(other.ends.iter().map(|end| base + end));
        self.targets.extend_from_slice(&other.targets);
    }
}

/// Decisions that somebody took, one behind the other, each with what every candidate leads to.
#[derive(Clone, Default, PartialEq, Debug)]
pub(crate) struct Choices {
    /// The target of the candidate that was taken is 1, that of the others 0.
    candidates: Samples,
    ends: Vec<u32>,
}

impl Choices {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Adds a candidate to the decision that [`Choices::end`] ends.
    pub(crate) fn push(&mut self, on: &[u16], is_taken: bool) {
        self.candidates.push(on, f32::from(u8::from(is_taken)));
    }

    /// Ends a decision: the candidates since the one before are its own.
    pub(crate) fn end(&mut self) {
        self.ends.push(self.candidates.len() as u32);
    }

    /// The candidates of a decision: the inputs that are on, and whether it was taken as 1 or 0.
    pub(crate) fn get(&self, number: usize) -> impl ExactSizeIterator<Item = (&[u16], f32)> {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        (start as usize..self.ends[number] as usize).map(|candidate| self.candidates.get(candidate))
    }

    /// Adds other decisions behind these.
    pub(crate) fn append(&mut self, other: &Choices) {
        let base = self.candidates.len() as u32;
        self.candidates.append(&other.candidates);
        self.ends.extend(other.ends.iter().map(|end| base + end));
    }
}

/// What a generation gives.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Lessons {
    /// What decisions led to.
    Values(Samples),
    /// Which decisions somebody took.
    Choices(Choices),
}

impl Lessons {
    pub(crate) fn len(&self) -> usize {
        match self {
            Lessons::Values(samples) => samples.len(),
            Lessons::Choices(choices) => choices.len(),
        }
    }
}
