//! The row types of the derived files.

use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// A row of `summary.csv`: one agent in one cell, over all its lineups.
///
/// Intervals are 95 % and clustered by deal, because all matches of one deal share its cards. Rank points and win share
/// have Hall's intervals, which account for skewness and bounds; the margin has a Student's t interval
/// (`cambio_stats::Interval`).
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct SummaryRow {
    /// The rule system.
    pub rules: String,
    /// The number of seats.
    #[schemars(extend("unit" = "seats"))]
    pub seats: usize,
    /// The agent.
    pub agent: String,
    /// The rank by the mean of the experiment's payoff: 1 plus the number of agents with a better mean. Equal agents
    /// share a rank. The rank depends on the field, which is the other agents of the cell.
    pub rank: usize,
    /// The best rank in the interval: 1 plus the number of agents that are significantly better. All intervals of ranks
    /// of the cell are valid together at 95 %; empty if a pair has no simultaneous interval.
    pub rank_low: Option<usize>,
    /// The worst rank in the interval: the number of agents that are not significantly worse, with the agent itself.
    pub rank_high: Option<usize>,
    /// The best rank in a field without one of the other agents: the means are over the lineups without that agent.
    /// Empty if no such field has a match of the agent.
    pub rank_best_without_one: Option<usize>,
    /// The worst rank in a field without one of the other agents.
    pub rank_worst_without_one: Option<usize>,
    /// The number of the agent's matches, counted once per seat that it occupied.
    #[schemars(extend("unit" = "matches"))]
    pub matches: u64,
    /// The number of deals, which are the clusters.
    #[schemars(extend("unit" = "deals"))]
    pub deals: u64,
    /// Mean rank points; equal players get ½.
    #[schemars(extend("unit" = "rank points"))]
    pub rank_points: f64,
    /// Lower end of the interval of the rank points; empty with one deal.
    pub rank_points_low: Option<f64>,
    /// Upper end of the interval of the rank points.
    pub rank_points_high: Option<f64>,
    /// Mean win share: a match with k winners counts 1 / k for each of them.
    #[schemars(extend("unit" = "wins"))]
    pub win_share: f64,
    /// Lower end of the interval of the win share.
    pub win_share_low: Option<f64>,
    /// Upper end of the interval of the win share.
    pub win_share_high: Option<f64>,
    /// Mean rank points without the luck of the cards; empty if the run does not measure it.
    pub rank_points_adjusted: Option<f64>,
    /// Lower end of the interval of the adjusted rank points.
    pub rank_points_adjusted_low: Option<f64>,
    /// Upper end of the interval of the adjusted rank points.
    pub rank_points_adjusted_high: Option<f64>,
    /// Mean win share without the luck of the cards.
    pub win_share_adjusted: Option<f64>,
    /// Lower end of the interval of the adjusted win share.
    pub win_share_adjusted_low: Option<f64>,
    /// Upper end of the interval of the adjusted win share.
    pub win_share_adjusted_high: Option<f64>,
    /// Mean luck of the cards in a match, as a share of the win; its expected value is 0.
    #[schemars(extend("unit" = "wins"))]
    pub luck: Option<f64>,
    /// The standard error of the mean luck.
    pub luck_error: Option<f64>,
    /// Mean points of the agent's layout at the end of a round. All columns per round are empty if no round ended.
    #[schemars(extend("unit" = "points per round"))]
    pub points_per_round: Option<f64>,
    /// Calls per round.
    #[schemars(extend("unit" = "calls per round"))]
    pub calls_per_round: Option<f64>,
    /// The fraction of the agent's calls that succeeded; empty without a call.
    #[schemars(extend("unit" = "share"))]
    pub calls_succeeded_share: Option<f64>,
    /// Mean points of the agent's layout at the end of the rounds in which it called; empty without a call.
    #[schemars(extend("unit" = "points"))]
    pub points_at_call_mean: Option<f64>,
    /// Right snaps per round, of the agent's own cards and of other seats' cards.
    #[schemars(extend("unit" = "snaps per round"))]
    pub snaps_right_per_round: Option<f64>,
    /// Wrong snaps per round.
    #[schemars(extend("unit" = "snaps per round"))]
    pub snaps_wrong_per_round: Option<f64>,
    /// Late snaps per round.
    #[schemars(extend("unit" = "snaps per round"))]
    pub snaps_late_per_round: Option<f64>,
    /// Penalty cards per round.
    #[schemars(extend("unit" = "cards per round"))]
    pub penalties_per_round: Option<f64>,
    /// Turns per round, of all seats.
    #[schemars(extend("unit" = "turns per round"))]
    pub turns_per_round: Option<f64>,
    /// Rounds per match.
    #[schemars(extend("unit" = "rounds per match"))]
    pub rounds_per_match: f64,
    /// Mean margin (the table's mean points minus the agent's points) over matches that were not forfeited; empty
    /// without such a match.
    #[schemars(extend("unit" = "points per match"))]
    pub margin: Option<f64>,
    /// Lower end of the interval of the margin.
    pub margin_low: Option<f64>,
    /// Upper end of the interval of the margin.
    pub margin_high: Option<f64>,
    /// Mean margin without the luck of the cards.
    pub margin_adjusted: Option<f64>,
    /// Lower end of the interval of the adjusted margin.
    pub margin_adjusted_low: Option<f64>,
    /// Upper end of the interval of the adjusted margin.
    pub margin_adjusted_high: Option<f64>,
    /// The number of matches that the agent forfeited by a fault.
    #[schemars(extend("unit" = "matches"))]
    pub forfeits: u64,
    /// Whether the agent or one of its opponents sees hidden cards.
    pub analysis: bool,
}

impl SummaryRow {
    /// The rank points that tables for people show, with their interval: without the luck of the cards if the run
    /// measures it.
    pub fn leading_rank_points(&self) -> (f64, Option<f64>, Option<f64>) {
        match self.rank_points_adjusted {
            Some(mean) => (mean, self.rank_points_adjusted_low, self.rank_points_adjusted_high),
            None => (self.rank_points, self.rank_points_low, self.rank_points_high),
        }
    }

    /// The win share that tables for people show, with its interval.
    pub fn leading_win_share(&self) -> (f64, Option<f64>, Option<f64>) {
        match self.win_share_adjusted {
            Some(mean) => (mean, self.win_share_adjusted_low, self.win_share_adjusted_high),
            None => (self.win_share, self.win_share_low, self.win_share_high),
        }
    }
}

/// The difference of two agents that tables for people show: without the luck of the cards if the run measures it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LeadingDifference {
    /// The difference of the mean payoffs, first minus second.
    pub difference: f64,
    /// The interval for this pair alone.
    pub alone: Option<(f64, f64)>,
    /// The simultaneous interval over all pairs of the cell.
    pub simultaneous: Option<(f64, f64)>,
    /// The p-value corrected for all pairs.
    pub p_simultaneous: Option<f64>,
}

impl PairRow {
    /// The difference that tables for people show.
    pub fn leading(&self) -> LeadingDifference {
        match self.difference_adjusted {
            Some(difference) => LeadingDifference {
                difference,
                alone: self.low_adjusted.zip(self.high_adjusted),
                simultaneous: self.low_simultaneous_adjusted.zip(self.high_simultaneous_adjusted),
                p_simultaneous: self.p_simultaneous_adjusted,
            },
            None => LeadingDifference {
                difference: self.difference,
                alone: self.low.zip(self.high),
                simultaneous: self.low_simultaneous.zip(self.high_simultaneous),
                p_simultaneous: self.p_simultaneous,
            },
        }
    }

    /// The score of the first agent that tables for people show, with its interval; `None` if the two never met.
    pub fn leading_score(&self) -> Option<(f64, Option<(f64, f64)>)> {
        match self.score_adjusted {
            Some(score) => Some((score, self.score_adjusted_low.zip(self.score_adjusted_high))),
            None => Some((self.score?, self.score_low.zip(self.score_high))),
        }
    }
}

/// A row of `ratings.csv`: one agent's strength among the agents of its cell, and its share in the empirical game.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct RatingRow {
    /// The rule system.
    pub rules: String,
    /// The number of seats.
    #[schemars(extend("unit" = "seats"))]
    pub seats: usize,
    /// The agent.
    pub agent: String,
    /// The number of the agent's games. A game is the ranking of one match, counted once per seat of the agent.
    #[schemars(extend("unit" = "games"))]
    pub games: u64,
    /// The number of the agent's strongly connected component. Agents of one component can be compared by the games
    /// alone, because each has beaten or tied every other, directly or through other agents.
    pub component: Option<usize>,
    /// How strengths were fitted: `likelihood`, or `regularised` with a prior if the agents are in several components.
    pub fit: Option<&'static str>,
    /// Plackett–Luce strength, on the scale of natural logarithms.
    #[schemars(extend("unit" = "logits"))]
    pub strength: Option<f64>,
    /// The standard error of the strength, clustered by deal.
    #[schemars(extend("unit" = "logits"))]
    pub error: Option<f64>,
    /// The strength in Elo points.
    #[schemars(extend("unit" = "Elo points"))]
    pub elo: Option<f64>,
    /// Lower end of the interval of `elo`.
    pub elo_low: Option<f64>,
    /// Upper end of the interval of `elo`.
    pub elo_high: Option<f64>,
    /// Lower end of the simultaneous interval over all agents.
    pub elo_low_simultaneous: Option<f64>,
    /// Upper end of the simultaneous interval.
    pub elo_high_simultaneous: Option<f64>,
    /// Hotelling's F for the hypothesis that one strength for each agent describes all pairs, the same in each row. Empty
    /// with too few deals, and for a regularised fit.
    pub misfit_f: Option<f64>,
    /// The numerator degrees of freedom: the number of pairs that the strengths do not determine.
    pub misfit_f_numerator: Option<f64>,
    /// The denominator degrees of freedom: deals, or groups of deals, minus the numerator.
    pub misfit_f_denominator: Option<f64>,
    /// The p-value of F.
    #[schemars(extend("unit" = "probability"))]
    pub misfit_p: Option<f64>,
    /// The agent's share in the Nash equilibrium of maximum entropy at two seats; with more seats, in the symmetric
    /// equilibrium at the end of the logit path, which starts from equal shares.
    #[schemars(extend("unit" = "share"))]
    pub nash: Option<f64>,
    /// Lower end of the interval of `nash`, from bootstrap resamples of deals.
    pub nash_low: Option<f64>,
    /// Upper end of the interval of `nash`.
    pub nash_high: Option<f64>,
    /// The expected rank points against opponents that are drawn from the Nash equilibrium (Nash averaging; Balduzzi and
    /// others 2018): ½ for the agents in the equilibrium. Copies of weak agents in the field do not change it.
    #[schemars(extend("unit" = "rank points"))]
    pub nash_score: Option<f64>,
    /// Lower end of the interval of `nash_score`, from bootstrap resamples of deals.
    pub nash_score_low: Option<f64>,
    /// Upper end of the interval of `nash_score`.
    pub nash_score_high: Option<f64>,
    /// The agent's share after 2,000 time units of the replicator dynamics, which start from equal shares.
    #[schemars(extend("unit" = "share"))]
    pub replicator: Option<f64>,
    /// The agent's share in the α-rank with α = 100 and 50 individuals.
    #[schemars(extend("unit" = "share"))]
    pub alpha_rank: Option<f64>,
    /// Lower end of the interval of `alpha_rank`, from bootstrap resamples of deals.
    pub alpha_rank_low: Option<f64>,
    /// Upper end of the interval of `alpha_rank`.
    pub alpha_rank_high: Option<f64>,
}

/// A row of `pooled.csv`: one agent's strength over all cells of a run, assuming equal strength in every cell. The
/// file exists only if more than one cell has games.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct PooledRow {
    /// The agent.
    pub agent: String,
    /// The number of cells in which the agent has games.
    #[schemars(extend("unit" = "cells"))]
    pub tables: usize,
    /// The number of deals, which are the clusters: a deal is one cluster over all cells.
    #[schemars(extend("unit" = "deals"))]
    pub deals: u64,
    /// The number of the agent's games.
    #[schemars(extend("unit" = "games"))]
    pub games: u64,
    /// The number of the agent's component over the games of all cells, as in `ratings.csv`.
    pub component: usize,
    /// How strengths were fitted: `likelihood`, or `regularised`.
    pub fit: &'static str,
    /// Plackett–Luce strength, on the scale of natural logarithms.
    #[schemars(extend("unit" = "logits"))]
    pub strength: f64,
    /// The standard error of the strength, clustered by deal.
    #[schemars(extend("unit" = "logits"))]
    pub error: Option<f64>,
    /// The strength in Elo points.
    #[schemars(extend("unit" = "Elo points"))]
    pub elo: f64,
    /// Lower end of the interval of `elo`, Student's t from `error`.
    pub elo_low: Option<f64>,
    /// Upper end of the interval of `elo`.
    pub elo_high: Option<f64>,
}

/// A row of `pairwise.csv`: two agents in one cell.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct PairRow {
    /// The rule system.
    pub rules: String,
    /// The number of seats.
    #[schemars(extend("unit" = "seats"))]
    pub seats: usize,
    /// The first agent.
    pub agent: String,
    /// The second agent.
    pub other: String,
    /// The number of deals with matches of both agents.
    #[schemars(extend("unit" = "deals"))]
    pub deals: u64,
    /// The difference of the agents' mean payoffs, first minus second, paired by deal.
    #[schemars(extend("unit" = "payoff"))]
    pub difference: f64,
    /// The standard error of the difference.
    #[schemars(extend("unit" = "payoff"))]
    pub error: Option<f64>,
    /// Lower end of the interval of the difference.
    #[schemars(extend("unit" = "payoff"))]
    pub low: Option<f64>,
    /// Upper end of the interval of the difference.
    #[schemars(extend("unit" = "payoff"))]
    pub high: Option<f64>,
    /// Lower end of the simultaneous interval over all pairs.
    pub low_simultaneous: Option<f64>,
    /// Upper end of the simultaneous interval.
    pub high_simultaneous: Option<f64>,
    /// Lower end of the anytime-valid interval of this pair. The interval is valid after every number of deals, so that
    /// a run may be inspected while it is played.
    pub low_anytime: Option<f64>,
    /// Upper end of the anytime-valid interval.
    pub high_anytime: Option<f64>,
    /// The method of the intervals and p-values of the difference: `Hall` or `t`.
    pub method: &'static str,
    /// The two-sided p-value of this pair alone.
    #[schemars(extend("unit" = "probability"))]
    pub p: Option<f64>,
    /// The p-value corrected for all pairs by the maximum statistic: below 0.05 where the simultaneous interval
    /// excludes 0.
    pub p_simultaneous: Option<f64>,
    /// The difference without the luck of the cards; empty if the run does not measure it.
    pub difference_adjusted: Option<f64>,
    /// The standard error of the adjusted difference, clustered by deal.
    pub error_adjusted: Option<f64>,
    /// Lower end of the single interval of the adjusted difference.
    pub low_adjusted: Option<f64>,
    /// Upper end of the single interval of the adjusted difference.
    pub high_adjusted: Option<f64>,
    /// Lower end of the simultaneous interval of the adjusted difference.
    pub low_simultaneous_adjusted: Option<f64>,
    /// Upper end of the simultaneous interval of the adjusted difference.
    pub high_simultaneous_adjusted: Option<f64>,
    /// Lower end of the anytime-valid interval of the adjusted difference.
    pub low_anytime_adjusted: Option<f64>,
    /// Upper end of the anytime-valid interval of the adjusted difference.
    pub high_anytime_adjusted: Option<f64>,
    /// The single two-sided p-value of the adjusted difference.
    pub p_adjusted: Option<f64>,
    /// The p-value of the adjusted difference, corrected for all pairs by the maximum statistic.
    pub p_simultaneous_adjusted: Option<f64>,
    /// The variance of the difference over the variance of the adjusted difference.
    pub variance_ratio: Option<f64>,
    /// 1 − Var(a − b) / (Var a + Var b): the fraction of the variance that pairing by deal removes.
    #[schemars(extend("unit" = "share"))]
    pub efficiency: Option<f64>,
    /// The number of deals in which both agents played in the same match.
    #[schemars(extend("unit" = "deals"))]
    pub duel_deals: u64,
    /// Pairs of seats in which the first agent had the better rank.
    #[schemars(extend("unit" = "pairs of seats"))]
    pub wins: u64,
    /// Pairs of seats of equal rank.
    #[schemars(extend("unit" = "pairs of seats"))]
    pub ties: u64,
    /// Pairs of seats in which the first agent had the worse rank.
    #[schemars(extend("unit" = "pairs of seats"))]
    pub losses: u64,
    /// The mean pairwise score of the first agent.
    #[schemars(extend("unit" = "share"))]
    pub score: Option<f64>,
    /// Lower end of the interval of `score`, by Hall's method.
    pub score_low: Option<f64>,
    /// Upper end of the interval of `score`.
    pub score_high: Option<f64>,
    /// The mean score without the luck of the cards; empty if the run does not measure it, and with more than two seats.
    #[schemars(extend("unit" = "share"))]
    pub score_adjusted: Option<f64>,
    /// Lower end of the interval of the adjusted score.
    pub score_adjusted_low: Option<f64>,
    /// Upper end of the interval of the adjusted score.
    pub score_adjusted_high: Option<f64>,
    /// The score expected from the two ratings in games without a tie of the two; empty if the ratings have seat effects.
    pub score_fitted: Option<f64>,
    /// By how many Elo points the first agent is stronger against the second than the ratings say, which the other pairs
    /// determine too. Empty for a regularised fit, for pairs in which the weaker agent is expected to win fewer than
    /// 5 games, and with more than 300 pairs.
    #[schemars(extend("unit" = "Elo points"))]
    pub residual: Option<f64>,
    /// The standard error of `residual`, clustered by deal. It includes the uncertainty of the ratings.
    pub residual_error: Option<f64>,
    /// The single p-value of the hypothesis that the residual is 0: small if one rating for each agent does
    /// not describe the results of this pair.
    #[schemars(extend("unit" = "probability"))]
    pub residual_p: Option<f64>,
    /// The score as an Elo difference; empty for the scores 0 and 1, where the difference is infinite.
    #[schemars(extend("unit" = "Elo points"))]
    pub elo: Option<f64>,
    /// Lower end of the interval of `elo`; empty if `score_low` is 0.
    pub elo_low: Option<f64>,
    /// Upper end of the interval of `elo`; empty if `score_high` is 1.
    pub elo_high: Option<f64>,
    /// Normalized Elo: (score − ½) over the standard deviation of a game, times 800 / ln 10.
    #[schemars(extend("unit" = "Elo points"))]
    pub normalized_elo: Option<f64>,
    /// The likelihood of superiority of the first agent: Φ((score − ½) / error).
    #[schemars(extend("unit" = "probability"))]
    pub superiority: Option<f64>,
}

impl PairRow {
    /// Whether the first agent's mean is significantly greater or less among all pairs of the cell; `Equal` if the agents
    /// are not distinguishable, or the p-value is missing because all deals have the same difference.
    pub fn side(&self) -> Ordering {
        let leading = self.leading();
        match (leading.p_simultaneous, leading.simultaneous) {
            (Some(_), Some((low, _))) if low > 0.0 => Ordering::Greater,
            (Some(_), Some((_, high))) if high < 0.0 => Ordering::Less,
            _ => Ordering::Equal,
        }
    }
}

/// Two one-sided tests of whether the mean payoffs of two agents differ by less than a margin.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct EquivalenceRow {
    /// The rule system.
    pub rules: String,
    /// The number of seats.
    #[schemars(extend("unit" = "seats"))]
    pub seats: usize,
    /// The first agent.
    pub agent: String,
    /// The second agent.
    pub other: String,
    /// The number of deals with matches of both agents.
    #[schemars(extend("unit" = "deals"))]
    pub deals: u64,
    /// The difference of the mean payoffs, first minus second, paired by deal.
    #[schemars(extend("unit" = "payoff"))]
    pub difference: f64,
    /// Lower end of the single 90 % interval, which corresponds to two one-sided tests at 5 %.
    #[schemars(extend("unit" = "payoff"))]
    pub low: Option<f64>,
    /// Upper end of the single 90 % interval.
    #[schemars(extend("unit" = "payoff"))]
    pub high: Option<f64>,
    /// The margin of equivalence.
    #[schemars(extend("unit" = "payoff"))]
    pub equivalence_margin: f64,
    /// The p-value of this pair alone: below 0.05 if its interval is inside the margin.
    #[schemars(extend("unit" = "probability"))]
    pub p: Option<f64>,
    /// The p-value corrected for all pairs of the cell (Holm).
    #[schemars(extend("unit" = "probability"))]
    pub p_holm: Option<f64>,
    /// The method of the interval: `score` or `t`.
    pub method: &'static str,
}

/// One agent against the baseline in one cell.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct BaselineRow {
    /// The rule system.
    pub rules: String,
    /// The number of seats.
    #[schemars(extend("unit" = "seats"))]
    pub seats: usize,
    /// The agent.
    pub agent: String,
    /// The baseline.
    pub baseline: String,
    /// The number of deals with matches of both agents.
    #[schemars(extend("unit" = "deals"))]
    pub deals: u64,
    /// The difference of the mean payoffs, agent minus baseline, paired by deal.
    #[schemars(extend("unit" = "payoff"))]
    pub difference: f64,
    /// Lower end of the simultaneous interval over all agents of the cell.
    #[schemars(extend("unit" = "payoff"))]
    pub low: Option<f64>,
    /// Upper end of the simultaneous interval.
    #[schemars(extend("unit" = "payoff"))]
    pub high: Option<f64>,
    /// The p-value, corrected for all agents of the cell.
    #[schemars(extend("unit" = "probability"))]
    pub p: Option<f64>,
    /// The method of the interval: `Hall` or `t`.
    pub method: &'static str,
}

/// A row of `seats.csv`: one seat in one cell.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct SeatRow {
    /// The rule system.
    pub rules: String,
    /// The number of seats.
    #[schemars(extend("unit" = "seats"))]
    pub seats: usize,
    /// The letter of the seat.
    pub seat: char,
    /// The number of deals.
    #[schemars(extend("unit" = "deals"))]
    pub deals: u64,
    /// The mean payoff in this seat, over all agents.
    #[schemars(extend("unit" = "payoff"))]
    pub payoff: f64,
    /// Lower end of the interval of the payoff.
    #[schemars(extend("unit" = "payoff"))]
    pub low: Option<f64>,
    /// Upper end of the interval of the payoff.
    #[schemars(extend("unit" = "payoff"))]
    pub high: Option<f64>,
    /// The advantage of the seat over seat a for equal agents; empty if it cannot be estimated.
    #[schemars(extend("unit" = "payoff"))]
    pub effect: Option<f64>,
    /// The standard error of the effect.
    pub effect_error: Option<f64>,
    /// The number of deals used for the effect: the deals without void blocks.
    #[schemars(extend("unit" = "deals"))]
    pub effect_deals: Option<u64>,
    /// F for the hypothesis that all effects are 0, by repeated-measures analysis of variance, the same in each row;
    /// empty below 12 deals.
    pub f: Option<f64>,
    /// The numerator degrees of freedom: seats minus 1, times the ε of Huynh and Feldt.
    pub f_numerator: Option<f64>,
    /// The denominator degrees of freedom: the numerator times deals minus 1.
    pub f_denominator: Option<f64>,
    /// The p-value of F.
    #[schemars(extend("unit" = "probability"))]
    pub p: Option<f64>,
    /// The seat's advantage over seat a in Elo points, if the ratings have seat effects.
    #[schemars(extend("unit" = "Elo points"))]
    pub elo: Option<f64>,
    /// The standard error of `elo`.
    pub elo_error: Option<f64>,
}

/// A row of `faults.csv`: one fault of an agent.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct FaultRow {
    /// The rule system.
    pub rules: String,
    /// The number of seats.
    #[schemars(extend("unit" = "seats"))]
    pub seats: usize,
    /// The agents of the lineup, separated by ` | `.
    pub lineup: String,
    /// The deal.
    pub deal: u64,
    /// The rotation.
    pub rotation: u64,
    /// The letter of the seat at fault.
    pub seat: String,
    /// The agent in this seat.
    pub agent: String,
    /// The round, counted from 1; 0 before the first round.
    pub round: u64,
    /// The decision within the round, counted from 1.
    pub decision: u64,
    /// The consequence: `forfeit` or `void`.
    pub policy: String,
    /// The description of the fault.
    pub what: String,
}

impl FaultRow {
    /// Reads a line of `faults.jsonl`.
    pub(super) fn read(line: &str) -> Option<FaultRow> {
        let record: Value = serde_json::from_str(line).ok()?;
        let about = &record["x-fault-of"];
        let text = |value: &Value| value.as_str().map(str::to_owned);
        Some(FaultRow {
            rules: text(&about["rules"])?,
            seats: about["seats"].as_u64()? as usize,
            lineup: text(&about["lineup"])?,
            deal: record["deal"].as_u64()?,
            rotation: record["rotation"].as_u64()?,
            seat: text(&about["seat"])?,
            agent: text(&about["agent"])?,
            round: about["round"].as_u64()?,
            decision: about["decision"].as_u64()?,
            policy: text(&about["policy"])?,
            what: text(&record["x-fault"])?,
        })
    }
}
