//! What self-play gives and training takes: inputs that were on, and the share of the win that followed.

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
