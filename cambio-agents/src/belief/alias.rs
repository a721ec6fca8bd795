//! Alias tables: weighted sampling in constant time (Walker 1977; construction by Vose 1991).

use rand::Rng;

/// 2³², the scale of thresholds.
const SCALE: f64 = 4_294_967_296.0;

/// Alias tables over the same items, stored one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct AliasTables {
    items: usize,
    /// For each item of each table, a threshold out of 2³², and the item that is drawn above the threshold.
    columns: Vec<(u32, u16)>,
    // Buffers of `append`, kept to avoid allocations.
    scaled: Vec<f64>,
    small: Vec<u16>,
    large: Vec<u16>,
}

impl AliasTables {
    /// Removes all tables. The next tables are over `items` items.
    pub(super) fn clear(&mut self, items: usize) {
        self.items = items;
        self.columns.clear();
    }

    pub(super) fn append(&mut self, weights: &[f64]) {
        let items = weights.len();
        let total: f64 = weights.iter().sum();
        self.scaled.clear();
        self.small.clear();
        self.large.clear();
        for (index, weight) in weights.iter().enumerate() {
            let scaled = weight * (items as f64 / total);
            self.scaled.push(scaled);
            if scaled < 1.0 { self.small.push(index as u16) } else { self.large.push(index as u16) }
        }
        let first = self.columns.len();
        self.columns.extend((0..items).map(|index| (u32::MAX, index as u16)));
        while let (Some(small), Some(&large)) = (self.small.pop(), self.large.last()) {
            let share = self.scaled[usize::from(small)];
            self.columns[first + usize::from(small)] = ((share * SCALE) as u32, large);
            let rest = &mut self.scaled[usize::from(large)];
            *rest -= 1.0 - share;
            if *rest < 1.0 {
                self.large.pop();
                self.small.push(large);
            }
        }
    }

    /// Draws an item from the table with this number.
    #[inline]
    pub(super) fn draw(&self, number: usize, rng: &mut impl Rng) -> usize {
        let (items, word) = (self.items, rng.next_u64());
        let column = (((word >> 32) * items as u64) >> 32) as usize;
        let (threshold, other) = self.columns[number * items + column];
        if (word as u32) < threshold { column } else { usize::from(other) }
    }
}
