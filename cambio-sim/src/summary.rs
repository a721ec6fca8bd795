//! Means and intervals that respect the deal: matches of one deal share its cards and are not independent.

use statrs::distribution::{ContinuousCDF as _, StudentsT};

use crate::experiment::Plan;
use crate::rows::{PlayerRow, SummaryRow};

/// A mean with its 95 % interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// Half the interval's width; `None` with fewer than two clusters.
    pub half_width: Option<f64>,
}

impl Interval {
    /// The lower end.
    pub fn low(&self) -> Option<f64> {
        self.half_width.map(|half| self.mean - half)
    }

    /// The upper end.
    pub fn high(&self) -> Option<f64> {
        self.half_width.map(|half| self.mean + half)
    }
}

/// Sums by cluster: for each deal the number of matches and the sum of a payoff.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Clusters {
    sums: Vec<(f64, f64)>,
}

impl Clusters {
    /// Adds one payoff to the cluster with this number.
    pub fn add(&mut self, cluster: usize, payoff: f64) {
        if self.sums.len() <= cluster {
            self.sums.resize(cluster + 1, (0.0, 0.0));
        }
        let (matches, sum) = &mut self.sums[cluster];
        *matches += 1.0;
        *sum += payoff;
    }

    /// The mean and its 95 % interval, clustered: the ratio estimator with the cluster sandwich variance
    /// `D/(D−1) · Σ(S_d − μ n_d)² / (Σ n_d)²` (Liang and Zeger 1986), and Student's t with D − 1 degrees of freedom.
    /// With equal clusters it is the t interval of the clusters' means.
    ///
    /// `None` without a match.
    ///
    /// # Panics
    /// Never: with two clusters there is a degree of freedom.
    pub fn interval(&self) -> Option<Interval> {
        let used = || self.sums.iter().filter(|(matches, _)| *matches > 0.0);
        let clusters = used().count() as f64;
        let matches: f64 = used().map(|(matches, _)| matches).sum();
        if clusters == 0.0 {
            return None;
        }
        let mean = used().map(|(_, sum)| sum).sum::<f64>() / matches;
        if clusters < 2.0 {
            return Some(Interval { mean, half_width: None });
        }
        let squares: f64 = used().map(|(matches, sum)| (sum - mean * matches).powi(2)).sum();
        let error = (clusters / (clusters - 1.0) * squares).sqrt() / matches;
        let quantile =
            StudentsT::new(0.0, 1.0, clusters - 1.0).expect("there is a degree of freedom").inverse_cdf(0.975);
        Some(Interval { mean, half_width: Some(quantile * error) })
    }

    fn clusters(&self) -> u64 {
        self.sums.iter().filter(|(matches, _)| *matches > 0.0).count() as u64
    }
}

/// What is summed up of one agent in one cell.
#[derive(Clone, Default, Debug)]
struct Sums {
    rank_points: Clusters,
    win: Clusters,
    matches: u64,
    rounds: u64,
    points: i64,
    calls: u64,
    calls_succeeded: u64,
    points_at_calls: i64,
    snaps_right: u64,
    snaps_wrong: u64,
    snaps_late: u64,
    penalties: u64,
    table_turns: u64,
}

/// Sums up a run as its blocks come in, in canonical order.
#[derive(Clone, Debug)]
pub struct Summary {
    /// By cell, then agent.
    sums: Vec<Vec<Sums>>,
}

impl Summary {
    /// A summary of nothing yet.
    pub fn new(plan: &Plan) -> Summary {
        Summary { sums: vec![vec![Sums::default(); plan.agents.len()]; plan.cells.len()] }
    }

    /// Adds a player's row; `table_turns` are the turns of all seats of its match.
    pub fn add(&mut self, cell: usize, agent: usize, row: &PlayerRow, table_turns: u32) {
        let sums = &mut self.sums[cell][agent];
        sums.rank_points.add(row.deal as usize, row.rank_points);
        sums.win.add(row.deal as usize, row.win);
        sums.matches += 1;
        sums.rounds += u64::from(row.rounds);
        sums.points += row.points;
        sums.calls += u64::from(row.calls);
        sums.calls_succeeded += u64::from(row.calls_succeeded);
        sums.points_at_calls += row.points_at_calls.unwrap_or(0);
        sums.snaps_right += u64::from(row.snaps_right_own + row.snaps_right_foreign);
        sums.snaps_wrong += u64::from(row.snaps_wrong);
        sums.snaps_late += u64::from(row.snaps_late);
        sums.penalties += u64::from(row.penalties);
        sums.table_turns += u64::from(table_turns);
    }

    /// The rows: by cell, then agent as the experiment lists them; agents without a match are left out.
    pub fn rows(&self, plan: &Plan) -> Vec<SummaryRow> {
        let cells = plan.cells.iter().zip(&self.sums);
        cells
            .flat_map(|(cell, sums)| {
                let agents = sums.iter().zip(&plan.labels);
                agents.filter_map(|(sums, agent)| row(cell.rules.name(), cell.seats, agent, sums))
            })
            .collect()
    }
}

fn row(rules: &str, seats: usize, agent: &str, sums: &Sums) -> Option<SummaryRow> {
    let (rank_points, win) = (sums.rank_points.interval()?, sums.win.interval()?);
    let rounds = sums.rounds as f64;
    let per_round = |count: u64| count as f64 / rounds;
    Some(SummaryRow {
        rules: rules.to_owned(),
        seats,
        agent: agent.to_owned(),
        matches: sums.matches,
        deals: sums.rank_points.clusters(),
        rank_points: rank_points.mean,
        rank_points_low: rank_points.low(),
        rank_points_high: rank_points.high(),
        win_share: win.mean,
        win_share_low: win.low(),
        win_share_high: win.high(),
        points_per_round: sums.points as f64 / rounds,
        calls_per_round: per_round(sums.calls),
        call_success: (sums.calls > 0).then(|| sums.calls_succeeded as f64 / sums.calls as f64),
        points_at_call: (sums.calls > 0).then(|| sums.points_at_calls as f64 / sums.calls as f64),
        snaps_right_per_round: per_round(sums.snaps_right),
        snaps_wrong_per_round: per_round(sums.snaps_wrong),
        snaps_late_per_round: per_round(sums.snaps_late),
        penalties_per_round: per_round(sums.penalties),
        turns_per_round: per_round(sums.table_turns),
        rounds_per_match: rounds / sums.matches as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) -> bool {
        (found - expected).abs() <= 1e-9 * expected.abs()
    }

    /// Reference: `scipy.stats` 1.16, `t.interval(0.95, 4, mean, sem)` of the five cluster means.
    #[test]
    fn equal_clusters_give_the_t_interval_of_their_means() {
        let mut clusters = Clusters::default();
        for (deal, payoffs) in [[0.0, 1.0], [1.0, 1.0], [0.5, 0.0], [1.0, 0.5], [0.0, 0.0]].iter().enumerate() {
            for payoff in payoffs {
                clusters.add(deal, *payoff);
            }
        }
        let interval = clusters.interval().unwrap();
        assert!(close(interval.mean, 0.5));
        // Means 0.5, 1, 0.25, 0.75, 0: standard error sqrt(0.15625 / 5), quantile 2.7764451051977934.
        assert!(close(interval.half_width.unwrap(), 2.776_445_105_197_793_4 * (0.156_25_f64 / 5.0).sqrt()));
    }

    #[test]
    fn a_mirror_has_a_mean_of_one_half_and_no_variance() {
        let mut clusters = Clusters::default();
        for deal in 0..10 {
            for payoff in [0.0, 1.0, 1.0, 0.0] {
                clusters.add(deal, payoff);
            }
        }
        let interval = clusters.interval().unwrap();
        assert_eq!((interval.mean, interval.half_width), (0.5, Some(0.0)));
    }

    #[test]
    fn one_cluster_has_a_mean_and_no_interval() {
        let mut clusters = Clusters::default();
        assert_eq!(clusters.interval(), None);
        clusters.add(3, 0.25);
        assert_eq!(clusters.interval(), Some(Interval { mean: 0.25, half_width: None }));
    }
}
