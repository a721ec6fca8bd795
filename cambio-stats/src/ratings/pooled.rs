//! One rating over several tables.

use super::{Cluster, PositionEffects, Rankings, Strengths};

impl Rankings {
    /// Pools the games of several tables. Clusters with the same number are one cluster, so that shared randomness is
    /// not counted twice. Positions are dropped, because the first of two positions is not comparable with the first of
    /// eight.
    ///
    /// # Examples
    /// ```
    /// use cambio_stats::ratings::{Ranking, Rankings};
    ///
    /// let table = |players: &[(usize, usize)]| {
    ///     let mut rankings = Rankings::default();
    ///     for deal in 0..3 {
    ///         rankings.add(Ranking::new(players.iter().copied()));
    ///         rankings.end_cluster_of(deal);
    ///     }
    ///     rankings
    /// };
    /// let pooled = Rankings::pooled(&[&table(&[(0, 1), (1, 2)]), &table(&[(2, 2), (1, 3), (0, 1)])]);
    /// assert_eq!((pooled.games(), pooled.games_of(3)), (6, vec![6, 6, 3]));
    /// ```
    pub fn pooled(tables: &[&Rankings]) -> Rankings {
        let width = tables.iter().map(|table| table.width).max().unwrap_or(0).max(1);
        let mut pooled = Rankings { width, ..Rankings::default() };
        let mut counts: Vec<(u64, u32, u32)> = Vec::new();
        for table in tables {
            let numbers: Vec<u32> = table.list.iter().map(|ranking| pooled.number_of(ranking.unplaced())).collect();
            for cluster in table.all_clusters() {
                for &(number, count) in &cluster.counts {
                    let own = numbers[number as usize];
                    pooled.counts[own as usize] += u64::from(count);
                    counts.push((cluster.number / width, own, count));
                }
            }
        }
        counts.sort_unstable();
        for cluster in counts.chunk_by(|one, next| one.0 == next.0) {
            let sum = |same: &[(u64, u32, u32)]| (same[0].1, same.iter().map(|entry| entry.2).sum());
            let counts = cluster.chunk_by(|one, next| one.1 == next.1).map(sum).collect();
            pooled.clusters.push(Cluster { number: cluster[0].0 * width, counts });
        }
        pooled
    }
}

/// Fits one strength for each player to the games of several tables, as [`fit`](super::fit) does for one. `None` if
/// there is no ranking.
///
/// The model assumes that a player is equally strong at every table; a table with more games has more weight.
///
/// # Examples
/// ```
/// use cambio_stats::ratings::{Ranking, Rankings, pool};
///
/// // Player 0 wins two games of three at each of two tables, on the same forty deals.
/// let table = || {
///     let mut rankings = Rankings::default();
///     for deal in 0..40 {
///         for game in 0..3 {
///             let ranks = if (game + deal) % 3 == 0 { [2, 1] } else { [1, 2] };
///             rankings.add(Ranking::new([(0, ranks[0]), (1, ranks[1])]));
///         }
///         rankings.end_cluster_of(deal);
///     }
///     rankings
/// };
/// let found = pool(&[&table(), &table()], 2, Some(1)).unwrap();
/// assert!((found.strengths[0] - 2_f64.ln()).abs() < 1e-9);
/// assert_eq!(found.clusters, 40);
/// ```
pub fn pool(tables: &[&Rankings], players: usize, anchor: Option<usize>) -> Option<Strengths> {
    super::fit(&Rankings::pooled(tables), players, anchor, PositionEffects::Ignored)
}

#[cfg(test)]
mod tests;
