//! The tidy rows of a run: what each CSV file holds, its header being the fields' names.

use serde::Serialize;

/// A row of `matches.csv`: one match.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MatchRow {
    /// The rule system.
    pub rules: String,
    /// The number of seats.
    pub seats: usize,
    /// The agents of the lineup, seat a of rotation 0 first.
    pub lineup: String,
    /// The deal.
    pub deal: u64,
    /// The rotation: everybody sits one seat earlier than in the one before.
    pub rotation: usize,
    /// How many rounds were played.
    pub rounds: usize,
    /// How many turns began.
    pub turns: u32,
    /// How many decisions were made.
    pub decisions: u32,
    /// The seats of rank 1.
    pub winners: String,
    /// The fingerprint of play, 16 hexadecimal digits.
    pub fingerprint: String,
}

/// A row of `rounds.csv`: one round.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RoundRow {
    /// The rule system.
    pub rules: String,
    /// The number of seats.
    pub seats: usize,
    /// The agents of the lineup.
    pub lineup: String,
    /// The deal.
    pub deal: u64,
    /// The rotation.
    pub rotation: usize,
    /// The round, counted from 1.
    pub round: usize,
    /// The seat with the first turn.
    pub starter: String,
    /// Why the round ended: `call`, `empty_hand`, `turn_limit` or `stock_out`.
    pub ended: &'static str,
    /// The callers in the order of their calls; empty without one.
    pub callers: String,
    /// The seats that won the round: the callers who succeeded, else those with the fewest points who did not call.
    pub winners: String,
    /// How many turns began.
    pub turns: usize,
    /// How many decisions were made.
    pub decisions: u32,
    /// How often the pile became a new stock.
    pub reshuffles: usize,
    /// The points of the layouts, seat a first, separated by spaces.
    pub points: String,
    /// What the round added to the totals, seat a first, separated by spaces.
    pub scores: String,
}

/// A row of `players.csv`: one agent in one match.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PlayerRow {
    /// The rule system.
    pub rules: String,
    /// The number of seats.
    pub seats: usize,
    /// The agents of the lineup.
    pub lineup: String,
    /// The deal.
    pub deal: u64,
    /// The rotation.
    pub rotation: usize,
    /// The agent's seat.
    pub seat: char,
    /// The agent.
    pub agent: String,
    /// Its total.
    pub total: f64,
    /// Its rank by total; equal totals share a rank.
    pub rank: usize,
    /// (seats − midrank) / (seats − 1): 1 for the best alone, 0 for the worst alone, ties share.
    pub rank_points: f64,
    /// Its share of the match's win: 1 / k with k seats of rank 1.
    pub win: f64,
    /// How many rounds were played.
    pub rounds: u32,
    /// The points of its layouts, summed over the rounds.
    pub points: i64,
    /// How often it won a round, shared or not, by the measure of rounds.csv.
    pub rounds_won: u32,
    /// How often it called.
    pub calls: u32,
    /// How often its call succeeded.
    pub calls_succeeded: u32,
    /// The points of its layouts when it had called, summed over those rounds; empty without a call.
    pub points_at_calls: Option<i64>,
    /// Own cards snapped that matched first.
    pub snaps_right_own: u32,
    /// Cards of other seats snapped that matched first.
    pub snaps_right_foreign: u32,
    /// Cards snapped that did not match.
    pub snaps_wrong: u32,
    /// Cards snapped that matched after a winner.
    pub snaps_late: u32,
    /// Cards touched as a bluff.
    pub touches: u32,
    /// Penalty cards drawn.
    pub penalties: u32,
    /// Cards given after a foreign snap.
    pub gifts: u32,
    /// Cards looked at by a power, its reveals included.
    pub looks: u32,
    /// Swaps made by a power.
    pub swaps: u32,
    /// Turns begun.
    pub turns: u32,
}

/// A row of `summary.csv`: one agent on one rule system at one number of seats, over all its lineups.
///
/// Intervals are 95 % and clustered by deal: all matches of one deal share its cards.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SummaryRow {
    /// The rule system.
    pub rules: String,
    /// The number of seats.
    pub seats: usize,
    /// The agent.
    pub agent: String,
    /// How many matches it played, one for each seat that it had.
    pub matches: u64,
    /// How many deals: the number of clusters.
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
    /// Mean points of its layout at the end of a round.
    pub points_per_round: f64,
    /// Calls per round.
    pub calls_per_round: f64,
    /// The share of its calls that succeeded; empty without a call.
    pub call_success: Option<f64>,
    /// Mean points of its layout when it had called; empty without a call.
    pub points_at_call: Option<f64>,
    /// Right snaps per round, own and foreign.
    pub snaps_right_per_round: f64,
    /// Wrong snaps per round.
    pub snaps_wrong_per_round: f64,
    /// Late snaps per round.
    pub snaps_late_per_round: f64,
    /// Penalty cards per round.
    pub penalties_per_round: f64,
    /// Turns per round, of all seats.
    pub turns_per_round: f64,
    /// Rounds per match.
    pub rounds_per_match: f64,
}
