//! The rows of the derived files.

use serde::Serialize;
use serde_json::Value;

/// A row of `summary.csv`: one agent in one cell, over all its lineups.
///
/// Intervals are 95 % and clustered by deal: all matches of one deal share its cards. Those of rank points and the share of
/// wins are score intervals with the effective sample size, those of the margin Student's t (`cambio_stats::Interval`).
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct SummaryRow {
    /// The rule system.
    pub rules: String,
    /// The number of seats.
    pub seats: usize,
    /// The agent.
    pub agent: String,
    /// How many matches it played, one for each seat that it had.
    pub matches: u64,
    /// The number of deals, which are the clusters.
    pub deals: u64,
    /// Mean rank points; ½ is what equal players get.
    pub rank_points: f64,
    /// Lower end of their interval; empty with one deal.
    pub rank_points_low: Option<f64>,
    /// Upper end of their interval.
    pub rank_points_high: Option<f64>,
    /// Mean share of the match's win.
    pub win_share: f64,
    /// Lower end of its interval.
    pub win_share_low: Option<f64>,
    /// Upper end of its interval.
    pub win_share_high: Option<f64>,
    /// Mean points of its layout at the end of a round. This column and those per round are empty if no round ended.
    pub points_per_round: Option<f64>,
    /// Calls per round.
    pub calls_per_round: Option<f64>,
    /// The share of its calls that succeeded; empty without a call.
    pub call_success: Option<f64>,
    /// Mean points of its layout when it had called; empty without a call.
    pub points_at_call: Option<f64>,
    /// Right snaps per round, own and foreign.
    pub snaps_right_per_round: Option<f64>,
    /// Wrong snaps per round.
    pub snaps_wrong_per_round: Option<f64>,
    /// Late snaps per round.
    pub snaps_late_per_round: Option<f64>,
    /// Penalty cards per round.
    pub penalties_per_round: Option<f64>,
    /// Turns per round, of all seats.
    pub turns_per_round: Option<f64>,
    /// Rounds per match.
    pub rounds_per_match: f64,
    /// Mean margin of a match that was not forfeited: the table's mean points less its own; empty without one.
    pub margin: Option<f64>,
    /// Lower end of its interval.
    pub margin_low: Option<f64>,
    /// Upper end of its interval.
    pub margin_high: Option<f64>,
    /// Matches that it lost by a fault.
    pub forfeits: u64,
    /// Whether it, or an agent that it met, may see hidden cards.
    pub analysis: bool,
}

/// A row of `ratings.csv`: one agent's strength among those at its table, and its share in the empirical game.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct RatingRow {
    /// The rule system.
    pub rules: String,
    /// The number of seats.
    pub seats: usize,
    /// The agent.
    pub agent: String,
    /// The number of its games.
    pub games: u64,
    /// Which agents the games alone can compare: those with the same number have beaten or tied each other, over others if
    /// need be.
    pub component: Option<usize>,
    /// How strengths were fitted: `likelihood`, or `regularised` with a prior where not all agents have the same component.
    pub fit: Option<&'static str>,
    /// Plackett–Luce strength, natural scale.
    pub strength: Option<f64>,
    /// Its standard error, clustered by deal.
    pub error: Option<f64>,
    /// The strength in Elo points.
    pub elo: Option<f64>,
    /// Lower end of its interval.
    pub elo_low: Option<f64>,
    /// Upper end of its interval.
    pub elo_high: Option<f64>,
    /// Lower end of the simultaneous interval over all agents.
    pub elo_low_simultaneous: Option<f64>,
    /// Upper end of that interval.
    pub elo_high_simultaneous: Option<f64>,
    /// Its share in the Nash equilibrium of largest entropy at two seats; with more seats, in the symmetric equilibrium that
    /// the logit equilibria reach from equal shares.
    pub nash: Option<f64>,
    /// Lower end of the share's interval, by resampling deals.
    pub nash_low: Option<f64>,
    /// Upper end of that interval.
    pub nash_high: Option<f64>,
    /// Its share after 2,000 units of replicator dynamics from equal shares.
    pub replicator: Option<f64>,
    /// Its share in the α-rank with α = 100 and 50 individuals.
    pub alpha_rank: Option<f64>,
    /// Lower end of the share's interval, by resampling deals.
    pub alpha_rank_low: Option<f64>,
    /// Upper end of that interval.
    pub alpha_rank_high: Option<f64>,
}

/// A row of `pooled.csv`: one agent's strength over all tables of a run, as if it were the same at each. The file is there where
/// more than one table has games.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct PooledRow {
    /// The agent.
    pub agent: String,
    /// The number of tables at which it has games.
    pub tables: usize,
    /// The number of deals, which are the clusters: a deal has the same cards at every table.
    pub deals: u64,
    /// The number of its games.
    pub games: u64,
    /// Which agents the games of all tables can compare, as in `ratings.csv`.
    pub component: usize,
    /// How strengths were fitted: `likelihood`, or `regularised`.
    pub fit: &'static str,
    /// Plackett–Luce strength, natural scale.
    pub strength: f64,
    /// Its standard error, clustered by deal.
    pub error: Option<f64>,
    /// The strength in Elo points.
    pub elo: f64,
    /// Lower end of its interval, by resampling deals; of a regularised fit by its standard error.
    pub elo_low: Option<f64>,
    /// Upper end of its interval.
    pub elo_high: Option<f64>,
}

/// A row of `pairwise.csv`: two agents at one table.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct PairRow {
    /// The rule system.
    pub rules: String,
    /// The number of seats.
    pub seats: usize,
    /// The first agent.
    pub agent: String,
    /// The second.
    pub other: String,
    /// The number of deals with matches of both.
    pub deals: u64,
    /// The difference of their mean payoffs, first minus second, paired by deal.
    pub difference: f64,
    /// Its standard error.
    pub error: Option<f64>,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end of its interval.
    pub high: Option<f64>,
    /// Lower end of the simultaneous interval over all pairs.
    pub low_simultaneous: Option<f64>,
    /// Upper end of that interval.
    pub high_simultaneous: Option<f64>,
    /// Lower end of an interval of this pair that holds at every number of deals at once, for who looks while a run is played.
    pub low_anytime: Option<f64>,
    /// Upper end of that interval.
    pub high_anytime: Option<f64>,
    /// How these intervals and p-values are made: `score`, or `t`.
    pub method: &'static str,
    /// The two-sided p-value of this pair alone.
    pub p: Option<f64>,
    /// The p-value corrected for all pairs, by the largest of all statistics: below 0.05 where the interval that holds
    /// together with the others leaves 0 out.
    pub p_simultaneous: Option<f64>,
    /// 1 − Var(a − b) / (Var a + Var b): what pairing by deal saves.
    pub efficiency: Option<f64>,
    /// The number of deals in which they sat at one table.
    pub duel_deals: u64,
    /// Pairs of seats in which the first had the better rank.
    pub wins: u64,
    /// Pairs of seats of equal rank.
    pub ties: u64,
    /// Pairs of seats in which the first had the worse rank.
    pub losses: u64,
    /// The first's mean pairwise score.
    pub score: Option<f64>,
    /// Lower end of its interval, a score interval with the effective sample size.
    pub score_low: Option<f64>,
    /// Upper end of its interval.
    pub score_high: Option<f64>,
    /// The score that the ratings of the two expect; empty where these have seat effects.
    pub score_fitted: Option<f64>,
    /// The p-value of the score being that: small where one number for each agent does not describe these two.
    pub misfit_p: Option<f64>,
    /// The score as an Elo difference; empty at 0 and 1, where it is infinite.
    pub elo: Option<f64>,
    /// Lower end of its interval; empty if the score's is 0.
    pub elo_low: Option<f64>,
    /// Upper end of its interval; empty if the score's is 1.
    pub elo_high: Option<f64>,
    /// Normalized Elo: (score − ½) over the standard deviation of a game, times 800 / ln 10.
    pub normalized_elo: Option<f64>,
    /// The likelihood that the first is the better: Φ((score − ½) / error).
    pub superiority: Option<f64>,
}

/// One agent against the baseline at one table.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct BaselineRow {
    /// The rule system.
    pub rules: String,
    /// The number of seats.
    pub seats: usize,
    /// The agent.
    pub agent: String,
    /// The agent of the comparison.
    pub baseline: String,
    /// How many deals have matches of both.
    pub deals: u64,
    /// The difference of their payoffs, agent less baseline, paired by deal.
    pub difference: f64,
    /// Lower end of the interval that holds together with the intervals of all agents of the table.
    pub low: Option<f64>,
    /// Upper end of that interval.
    pub high: Option<f64>,
    /// The p-value, corrected for all agents of the table.
    pub p: Option<f64>,
    /// How the interval is made: `score`, or `t`.
    pub method: &'static str,
}

/// A row of `seats.csv`: one seat at one table.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct SeatRow {
    /// The rule system.
    pub rules: String,
    /// The number of seats.
    pub seats: usize,
    /// The seat.
    pub seat: char,
    /// The number of deals.
    pub deals: u64,
    /// The mean payoff of whoever sits there.
    pub payoff: f64,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end of its interval.
    pub high: Option<f64>,
    /// The advantage of the seat over seat a for equal agents; empty where it cannot be estimated.
    pub effect: Option<f64>,
    /// Its standard error.
    pub effect_error: Option<f64>,
    /// The number of deals behind the effect: those in which every match counts.
    pub effect_deals: Option<u64>,
    /// Hotelling's F of "no seat matters", the same in each row; empty below 12 deals.
    pub f: Option<f64>,
    /// Its first degrees of freedom: seats less one.
    pub f_numerator: Option<f64>,
    /// Its second: deals less the first.
    pub f_denominator: Option<f64>,
    /// Its p-value.
    pub p: Option<f64>,
    /// The seat's advantage over seat a in Elo points, where ratings take it into account.
    pub elo: Option<f64>,
    /// Its standard error.
    pub elo_error: Option<f64>,
}

/// A row of `faults.csv`: one fault of an agent.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct FaultRow {
    /// The rule system.
    pub rules: String,
    /// The number of seats.
    pub seats: usize,
    /// The lineup.
    pub lineup: String,
    /// The deal.
    pub deal: u64,
    /// The rotation.
    pub rotation: u64,
    /// The seat at fault.
    pub seat: String,
    /// Its agent.
    pub agent: String,
    /// The round, counted from 1; 0 before the first.
    pub round: u64,
    /// The decision within the round, counted from 1.
    pub decision: u64,
    /// What followed: `forfeit` or `void`.
    pub policy: String,
    /// What it did.
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
