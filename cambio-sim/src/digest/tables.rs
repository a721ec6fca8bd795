//! The row types of the derived files.

use cambio_exec::{Estimate, table};
use serde_json::Value;

use crate::plan::Payoff;
use crate::rows::cell_table;

cell_table! {
    /// A row of `summary.csv`: one agent in one cell, over all its lineups.
    ///
    /// Intervals are 95 % and clustered by deal, because all matches of one deal share its cards. Rank points and win share
    /// have Hall's intervals, which account for skewness and bounds; the margin and the points have Student's t
    /// intervals (`cambio_stats::Interval`).
    SummaryRow {
        /// The agent.
        agent: String,
        /// The rank by the mean of the experiment's payoff, without the luck of the cards if the run measures it: 1 plus the
        /// number of agents with a better mean. Equal agents share a rank. The rank depends on the field, which is the other agents of the cell.
        /// It also counts agents with other opponents, which a report marks with † and does not compare.
        rank: usize,
        /// The best rank in the interval: 1 plus the number of agents that are significantly better. All intervals of ranks
        /// of the cell are valid together at 95 %; empty if a pair has no simultaneous interval.
        rank_low: Option<usize>,
        /// The worst rank in the interval: the number of agents that are not significantly worse, with the agent itself.
        rank_high: Option<usize>,
        /// The best rank in a field without one of the other agents: the means are over the lineups without that agent.
        /// Empty if no such field has a match of the agent.
        rank_best_without_one: Option<usize>,
        /// The worst rank in a field without one of the other agents.
        rank_worst_without_one: Option<usize>,
        /// The number of the agent's matches, counted once per seat that it occupied.
        matches: u64 => "matches",
        /// The number of deals, which are the clusters.
        deals: u64 => "deals",
        /// Mean rank points; equal players get ½. No mean has an interval with one deal.
        rank_points: Estimate => "rank points" [Ends],
        /// Mean win share: a match with k winners counts 1 / k for each of them.
        win_share: Estimate => "wins" [Ends],
        /// Mean rank points without the luck of the cards; empty if the run does not measure it.
        rank_points_adjusted: Option<Estimate> => "rank points" [Ends],
        /// Mean win share without the luck of the cards.
        win_share_adjusted: Option<Estimate> => "wins" [Ends],
        /// Mean luck of the cards in a match, as a share of the win; its expected value is 0.
        luck: Option<Estimate> => "wins" [Error],
        /// Mean points of the agent's layout at the end of a round. All columns per round are empty if no round ended.
        points_per_round: Option<f64> => "points per round",
        /// Calls per round.
        calls_per_round: Option<f64> => "calls per round",
        /// The fraction of the agent's calls that succeeded; empty without a call.
        calls_succeeded_share: Option<f64> => "share",
        /// Mean points of the agent's layout at the end of the rounds in which it called; empty without a call.
        points_at_call_mean: Option<f64> => "points",
        /// Right snaps per round, of the agent's own cards and of other seats' cards.
        snaps_right_per_round: Option<f64> => "snaps per round",
        /// Wrong snaps per round.
        snaps_wrong_per_round: Option<f64> => "snaps per round",
        /// Late snaps per round.
        snaps_late_per_round: Option<f64> => "snaps per round",
        /// Penalty cards per round.
        penalties_per_round: Option<f64> => "cards per round",
        /// Turns per round, of all seats.
        turns_per_round: Option<f64> => "turns per round",
        /// Rounds per match.
        rounds_per_match: f64 => "rounds per match",
        /// Mean margin (the table's mean points minus the agent's points) over matches that were not forfeited; empty
        /// without such a match.
        margin: Option<Estimate> => "points per match" [Ends],
        /// Mean margin without the luck of the cards.
        margin_adjusted: Option<Estimate> => "points per match" [Ends],
        /// Mean points of the agent's layouts in a match, summed over its rounds; fewer are better.
        points: Estimate => "points per match" [Ends],
        /// Mean points without the luck of the cards.
        points_adjusted: Option<Estimate> => "points per match" [Ends],
        /// The number of matches that the agent forfeited by a fault.
        forfeits: u64 => "matches",
        /// Whether the agent or one of its opponents sees hidden cards.
        analysis: bool,
    }
}

impl SummaryRow {
    /// A mean payoff with the luck of the cards; `None` without a match that has the payoff.
    pub fn raw(&self, payoff: Payoff) -> Option<&Estimate> {
        match payoff {
            Payoff::RankPoints => Some(&self.rank_points),
            Payoff::Win => Some(&self.win_share),
            Payoff::Points => Some(&self.points),
            Payoff::Margin => self.margin.as_ref(),
        }
    }

    /// A mean payoff that tables for people show: without the luck of the cards if the run measures it.
    pub fn leading(&self, payoff: Payoff) -> Option<&Estimate> {
        let adjusted = match payoff {
            Payoff::RankPoints => &self.rank_points_adjusted,
            Payoff::Win => &self.win_share_adjusted,
            Payoff::Points => &self.points_adjusted,
            Payoff::Margin => &self.margin_adjusted,
        };
        adjusted.as_ref().or_else(|| self.raw(payoff))
    }
}

impl PairRow {
    /// The difference that tables for people show: without the luck of the cards if the run measures it.
    pub fn leading(&self) -> &Estimate {
        self.difference_adjusted.as_ref().unwrap_or(&self.difference)
    }

    /// The score of the first agent that tables for people show; `None` if the two never met.
    pub fn leading_score(&self) -> Option<&Estimate> {
        self.score_adjusted.as_ref().or(self.score.as_ref())
    }
}

cell_table! {
    /// A row of `ratings.csv`: one agent's strength among the agents of its cell, and its share in the empirical game.
    RatingRow {
        /// The agent.
        agent: String,
        /// The number of the agent's games. A game is the ranking of one match, counted once per seat of the agent.
        games: u64 => "games",
        /// The number of the agent's strongly connected component. Agents of one component can be compared by the games
        /// alone, because each has beaten or tied every other, directly or through other agents.
        component: Option<usize>,
        /// How strengths were fitted: `likelihood`, or `regularised` with a prior if the agents are in several components.
        fit: Option<&'static str>,
        /// Plackett–Luce strength, on the scale of natural logarithms. Its error is clustered by deal.
        strength: Option<Estimate> => "logits" [Error] as "*",
        /// The strength in Elo points. The simultaneous interval is over all agents.
        elo: Option<Estimate> => "Elo points" [Ends, Simultaneous],
        /// Hotelling's F for the hypothesis that one strength for each agent describes all pairs, the same in each row. Empty
        /// with too few deals, and for a regularised fit.
        misfit_f: Option<f64>,
        /// The numerator degrees of freedom: the number of pairs that the strengths do not determine.
        misfit_f_numerator: Option<f64>,
        /// The denominator degrees of freedom: deals, or groups of deals, minus the numerator.
        misfit_f_denominator: Option<f64>,
        /// The p-value of F.
        misfit_p: Option<f64> => "probability",
        /// The agent's share in the Nash equilibrium of maximum entropy at two seats; with more seats, in the symmetric
        /// equilibrium at the end of the logit path, which starts from equal shares. The interval is from bootstrap resamples of
        /// deals.
        nash: Option<Estimate> => "share" [Ends],
        /// The expected rank points against opponents that are drawn from the Nash equilibrium (Nash averaging; Balduzzi and
        /// others 2018): ½ for the agents in the equilibrium. Copies of weak agents in the field do not change it. The interval is
        /// from bootstrap resamples of deals.
        nash_score: Option<Estimate> => "rank points" [Ends],
    }
}

table! {
    /// A row of `pooled.csv`: one agent's strength over all cells of a run, assuming equal strength in every cell. The
    /// file exists only if more than one cell has games.
    pub PooledRow {
        /// The agent.
        agent: String,
        /// The number of cells in which the agent has games.
        tables: usize => "cells",
        /// The number of deals, which are the clusters: a deal is one cluster over all cells.
        deals: u64 => "deals",
        /// The number of the agent's games.
        games: u64 => "games",
        /// The number of the agent's component over the games of all cells, as in `ratings.csv`.
        component: usize,
        /// How strengths were fitted: `likelihood`, or `regularised`.
        fit: &'static str,
        /// Plackett–Luce strength, on the scale of natural logarithms. Its error is clustered by deal.
        strength: Estimate => "logits" [Error] as "*",
        /// The strength in Elo points. The interval is Student's t from `error`.
        elo: Estimate => "Elo points" [Ends],
    }
}

cell_table! {
    /// A row of `pairwise.csv`: two agents in one cell.
    PairRow {
        /// The first agent.
        agent: String,
        /// The second agent.
        other: String,
        /// The number of deals with matches of both agents.
        deals: u64 => "deals",
        /// The difference of the agents' mean payoffs, first minus second, paired by deal. The interval and the two-sided p-value are of
        /// this pair alone, by the method `Hall` or `t`. The simultaneous interval and the corrected p-value, which is below 0.05 where
        /// this interval excludes 0, are over all pairs (maximum statistic). The anytime-valid interval of this pair is valid after
        /// every number of deals, so that a run may be inspected while it is played.
        difference: Estimate => "payoff" [Error, Ends, Simultaneous, Anytime, Method, P, SimultaneousP] as "*",
        /// The difference without the luck of the cards; empty if the run does not measure it.
        difference_adjusted: Option<Estimate> => "payoff" [Error, Ends, Simultaneous, Anytime, P, SimultaneousP] as "*_adjusted",
        /// The variance of the difference over the variance of the adjusted difference.
        variance_ratio: Option<f64>,
        /// 1 − Var(a − b) / (Var a + Var b): the fraction of the variance that pairing by deal removes.
        efficiency: Option<f64> => "share",
        /// The number of deals in which both agents played in the same match.
        duel_deals: u64 => "deals",
        /// Pairs of seats in which the first agent had the better rank.
        wins: u64 => "pairs of seats",
        /// Pairs of seats of equal rank.
        ties: u64 => "pairs of seats",
        /// Pairs of seats in which the first agent had the worse rank.
        losses: u64 => "pairs of seats",
        /// The mean pairwise score of the first agent. The error is clustered by deal, and the interval is Hall's.
        score: Option<Estimate> => "share" [Error, Ends],
        /// The mean score without the luck of the cards; empty if the run does not measure it, and with more than two seats.
        score_adjusted: Option<Estimate> => "share" [Ends],
        /// The score expected from the two ratings in games without a tie of the two; empty if the ratings have seat effects.
        score_fitted: Option<f64> => "share",
        /// By how many Elo points the first agent is stronger against the second than the ratings say, which the other pairs
        /// determine too. Empty for a regularised fit, for pairs in which the weaker agent is expected to win fewer than
        /// 5 games, and with more than 300 pairs. The error is clustered by deal and includes the uncertainty of the ratings. The
        /// p-value is single: it is small if one rating for each agent does not describe the results of this pair.
        residual: Option<Estimate> => "Elo points" [Error, P],
        /// The score as an Elo difference; empty for the scores 0 and 1, where the difference is infinite. So are the ends.
        elo: Option<Estimate> => "Elo points" [Ends],
        /// The adjusted score as an Elo difference; empty if it is not between 0 and 1. So are the ends.
        elo_adjusted: Option<Estimate> => "Elo points" [Ends],
        /// Normalized Elo: (score − ½) / (√n · `score_error`) · 800 / ln 10, where n = wins + ties + losses. If the scores of a deal
        /// were independent, √n · `score_error` would be the standard deviation of a score; it also contains their correlation.
        normalized_elo: Option<f64> => "Elo points",
        /// The likelihood of superiority of the first agent: Φ((score − ½) / `score_error`). Like
        /// `normalized_elo`, it is empty if all deals have the same score.
        superiority: Option<f64> => "probability",
    }
}

cell_table! {
    /// A row of `seats.csv`: one seat in one cell.
    SeatRow {
        /// The letter of the seat.
        seat: char,
        /// The number of deals.
        deals: u64 => "deals",
        /// The mean payoff in this seat, over all agents.
        payoff: Estimate => "payoff" [Ends] as "*",
        /// The advantage of the seat over seat a for equal agents; empty if it cannot be estimated.
        effect: Option<Estimate> => "payoff" [Error],
        /// The number of deals used for the effect: the deals without void blocks.
        effect_deals: Option<u64> => "deals",
        /// F for the hypothesis that all effects are 0, by repeated-measures analysis of variance, the same in each row;
        /// empty below 12 deals.
        f: Option<f64>,
        /// The numerator degrees of freedom: seats minus 1, times the ε of Huynh and Feldt.
        f_numerator: Option<f64>,
        /// The denominator degrees of freedom: the numerator times deals minus 1.
        f_denominator: Option<f64>,
        /// The p-value of F.
        p: Option<f64> => "probability",
        /// The seat's advantage over seat a in Elo points, if the ratings have seat effects.
        elo: Option<Estimate> => "Elo points" [Error],
    }
}

cell_table! {
    /// A row of `faults.csv`: one fault of an agent.
    FaultRow {
        /// The agents of the lineup, separated by ` | `.
        lineup: String,
        /// The deal.
        deal: u64,
        /// The rotation.
        rotation: u64,
        /// The letter of the seat at fault.
        seat: String,
        /// The agent in this seat.
        agent: String,
        /// The round, counted from 1; 0 before the first round.
        round: u64,
        /// The decision within the round, counted from 1.
        decision: u64,
        /// The consequence: `forfeit` or `void`.
        policy: String,
        /// The description of the fault.
        what: String,
    }
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
