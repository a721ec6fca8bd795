//! Histograms of integers, in memory that does not grow with the number of counted values.

use serde::{Deserialize, Serialize};

/// The count of each integer. Memory depends only on the range between the smallest and the largest value.
///
/// # Examples
/// ```
/// use cambio_stats::histogram::Histogram;
///
/// let mut points = Histogram::default();
/// for value in [3, -1, 3, 8] {
///     points.add(value);
/// }
/// assert_eq!((points.total(), points.quantile(0.5)), (4, Some(3)));
/// assert_eq!(points.iter().find(|(value, _)| *value == 3), Some((3, 2)));
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug, Deserialize, Serialize)]
pub struct Histogram {
    least: i64,
    counts: Vec<u64>,
}

impl Histogram {
    /// Counts a value.
    #[inline]
    pub fn add(&mut self, value: i64) {
        self.add_times(value, 1);
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        other.iter().filter(|(_, times)| *times > 0).for_each(|(value, times)| self.add_times(value, times));
    }

    #[inline]
    fn add_times(&mut self, value: i64, times: u64) {
        if self.counts.is_empty() {
            self.least = value;
        }
        if value < self.least {
            let more = (self.least - value) as usize;
            self.counts.splice(0..0, std::iter::repeat_n(0, more));
            self.least = value;
        }
        let index = (value - self.least) as usize;
        if index >= self.counts.len() {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] += times;
    }

    /// The number of counted values.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Each value from the smallest to the largest with its count.
    pub fn iter(&self) -> impl Iterator<Item = (i64, u64)> {
        (self.least..).zip(self.counts.iter().copied())
    }

    /// The smallest value that at least this share of all values does not exceed; `None` for an empty histogram.
    pub fn quantile(&self, share: f64) -> Option<i64> {
        let needed = (share * self.total() as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        self.iter()
            .find(|(_, count)| {
                seen += count;
                seen >= needed
            })
            .map(|(value, _)| value)
    }
}

#[cfg(test)]
mod tests;
