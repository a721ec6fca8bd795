//! The quantities that are measured of each agent in each match. Each is declared once.
//!
//! A line of `quantities!` declares a quantity: its name, type and meaning, and when and how it is counted. The counter
//! ([`Counts`]), the column of `players.csv` ([`PlayerRow`]) and of Parquet files, and the sum over matches ([`Sums`]) follow
//! from it. A line under `behaviour` says how sums become a column of `behaviour.csv` ([`BehaviourRow`]) and what the report
//! calls it ([`MEASURES`]). Columns come in the order of the lines.

use cambio_core::{Action, Card, Event, MAX_SEATS, RoundResult, Rules, Seat, Spot, State, Verdict};
use serde::{Deserialize, Serialize};

use super::cell::Field;
use super::cell_writer::CellWriter;
use super::declare::quantities;
use super::schema::{Column, Row, row};

quantities! {
    measured {
        /// The points of its layouts, summed over the rounds.
        points: i64 = round(|end, seat| Some(end.points(seat)));
        /// How often it won a round, shared or not, by the measure of rounds.csv.
        rounds_won: u32 = round(|end, seat| Some(u32::from(end.result.winners.contains(seat))));
        /// How often it called.
        calls: u32 = event(|_| Event::Called { seat } => [(seat, 1)]);
        /// How often its call succeeded.
        calls_succeeded: u32 = round(|end, seat| Some(u32::from(end.result.succeeded.contains(seat))));
        /// The points of its layouts when it had called, summed over those rounds; empty without a call.
        points_at_calls: Option<i64> = round(|end, seat| end.result.callers.contains(seat).then(|| end.points(seat)));
        /// Own cards snapped that matched first.
        snaps_right_own: u32 = event(|_| Event::Snapped { seat, spot, verdict: Verdict::Right, .. }
            => [(seat, u32::from(spot.seat() == seat))]);
        /// Cards of other seats snapped that matched first.
        snaps_right_foreign: u32 = event(|_| Event::Snapped { seat, spot, verdict: Verdict::Right, .. }
            => [(seat, u32::from(spot.seat() != seat))]);
        /// Cards snapped that did not match.
        snaps_wrong: u32 = event(|_| Event::Snapped { seat, verdict: Verdict::Wrong, .. } => [(seat, 1)]);
        /// Cards snapped that matched after a winner.
        snaps_late: u32 = event(|_| Event::Snapped { seat, verdict: Verdict::Late, .. } | Event::Aborted { seat }
            => [(seat, 1)]);
        /// Cards touched as a bluff.
        touches: u32 = event(|_| Event::Touched { seat, .. } => [(seat, 1)]);
        /// Penalty cards drawn.
        penalties: u32 = event(|_| Event::Penalised { seat, .. } => [(seat, 1)]);
        /// Cards given after a foreign snap.
        gifts: u32 = event(|_| Event::Gave { seat, .. } => [(seat, 1)]);
        /// Cards looked at by a power, its reveals included.
        looks: u32 = event(|at| event @ (Event::Looked { .. } | Event::Shown { .. })
            => at.looker(event).into_iter().map(|seat| (seat, 1)));
        /// Swaps made by a power.
        swaps: u32 = event(|_| Event::Swapped { seat, .. } => [(seat, 1)]);
        /// Cards that it had seen and that another seat swapped away from it.
        swapped_away: u32 = decision(|state, seat| Action::Swap(one, other)
            => [one, other].map(|spot| (spot.seat(), u32::from(loses_known(state, seat, one, other, spot)))));
        /// Cards that it forgot or confused; empty of an agent that does not say, and in a match that was forfeited.
        lapses: Option<u32> = finish(|end, seat| end.lapses[seat]);
        /// Turns begun.
        turns: u32 = event(|_| Event::TurnBegan { seat } => [(seat, 1)]);
        /// The table's mean points less its own, over the rounds; empty in a match that was forfeited.
        margin: Option<f64> = finish(|end, seat| end.margin(seat));
        /// The turns of its calls, each its own turn counted from 1 within the round, summed; empty without a call.
        call_turns: Option<u32> = event(|at| Event::Called { seat } => [(seat, at.turns[seat.index()])]);
        /// The cards of its layouts at the ends of the rounds.
        cards: u32 = round(|end, seat| Some(end.state.table().layout(seat).len() as u32));
        /// Those of them that it had legitimately seen.
        cards_known: u32 = round(|end, seat| Some(end.known(seat)));
        /// The cards that it was dealt.
        dealt: u32 = deal(|state, seat| Some(state.table().layout(seat).len() as u32));
        /// Their points.
        dealt_points: i64 = deal(|state, seat| Some(points_dealt(state, seat)));
        /// The cards that it drew from the stock in its turns.
        drawn: u32 = event(|_| Event::Drew { seat, .. } => [(seat, 1)]);
        /// Their points.
        drawn_points: i64 = event(|at| Event::Drew { seat, face } => [(seat, i64::from(at.rules.points(face)))]);
    }

    behaviour |sum, mean| {
        /// Turns of the table.
        turns: Mean "turns of the table" = sum.per_round(sum.table_turns);
        /// Rounds won.
        rounds_won: Mean "rounds won" = sum.per_round(sum.rounds_won);
        /// Calls.
        calls: Mean "calls" = sum.per_round(sum.calls);
        /// The mean of its own turns, counted from 1, in which it called.
        call_turn: Mean "own turn of a call" = ratio(sum.call_turns.total as f64, sum.calls);
        /// The share of its calls that succeeded.
        call_success: Share "calls that succeed" = ratio(sum.calls_succeeded as f64, sum.calls);
        /// Mean points of its layout when it had called.
        points_at_call: Mean "points when it called" = ratio(sum.points_at_calls.total as f64, sum.calls);
        /// Own cards snapped first.
        snaps_right_own: Mean "own cards snapped" = sum.per_round(sum.snaps_right_own);
        /// Foreign cards snapped first.
        snaps_right_foreign: Mean "others’ cards snapped" = sum.per_round(sum.snaps_right_foreign);
        /// Cards snapped that did not match.
        snaps_wrong: Mean "wrong snaps" = sum.per_round(sum.snaps_wrong);
        /// Cards snapped too late.
        snaps_late: Mean "late snaps" = sum.per_round(sum.snaps_late);
        /// Cards touched as a bluff.
        touches: Mean "touches" = sum.per_round(sum.touches);
        /// Penalty cards.
        penalties: Mean "penalty cards" = sum.per_round(sum.penalties);
        /// Cards given.
        gifts: Mean "cards given" = sum.per_round(sum.gifts);
        /// Cards looked at by a power.
        looks: Mean "looks by powers" = sum.per_round(sum.looks);
        /// Swaps made by a power.
        swaps: Mean "swaps by powers" = sum.per_round(sum.swaps);
        /// Cards that it had seen and that another seat swapped away from it.
        swapped_away: Mean "known cards swapped away" = sum.per_round(sum.swapped_away);
        /// Cards that it forgot or confused; empty of an agent that does not say.
        lapses: Mean "cards forgotten or confused" = ratio(sum.lapses.total as f64, sum.lapses.rounds);
        /// Cards in its layout at the end.
        cards: Mean "cards at the end" = sum.per_round(sum.cards);
        /// The share of them that it had seen.
        cards_known: Share "of them seen" = ratio(sum.cards_known as f64, sum.cards);
        /// Luck of the deal: points below what its cards are worth on average; positive is good.
        luck_dealt: Mean "luck of the deal, points"
            = ratio(mean * sum.dealt as f64 - sum.dealt_points as f64, sum.rounds);
        /// Luck of the draw: points of drawn cards below the deck's mean; positive is good.
        luck_drawn: Mean "luck of the draw, points"
            = ratio(mean * sum.drawn as f64 - sum.drawn_points as f64, sum.rounds);
    }
}

/// What counting an event may need to know besides the event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context {
    /// The rules.
    pub(crate) rules: Rules,
    /// Whose turn it is.
    pub(crate) turn: Option<Seat>,
    /// How many turns each seat has begun in this round.
    pub(crate) turns: [u32; MAX_SEATS],
}

impl Context {
    /// The seat that uses a power: the one that looks, or the one whose turn shows a card to all.
    #[inline]
    fn looker(&self, event: Event<Card>) -> Option<Seat> {
        if let Event::Looked { seat, .. } = event { Some(seat) } else { self.turn }
    }
}

/// A round that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundEnd<'a> {
    /// The state at its end.
    pub(crate) state: &'a State,
    /// Its result.
    pub(crate) result: &'a RoundResult,
}

impl RoundEnd<'_> {
    fn points(&self, seat: Seat) -> i64 {
        i64::from(self.result.points()[seat.index()])
    }

    fn known(&self, seat: Seat) -> u32 {
        let table = self.state.table();
        table.layout(seat).intersection(table.seen(seat)).len() as u32
    }
}

/// A match that has ended, or that a fault has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatchEnd<'a> {
    /// The lapses of each seat that counts them; `None` in a match that was forfeited.
    pub(crate) lapses: [Option<u32>; MAX_SEATS],
    /// The points of each seat's layouts over the rounds; `None` in a match that was forfeited.
    pub(crate) points: Option<&'a [i64]>,
}

impl MatchEnd<'_> {
    fn margin(&self, seat: usize) -> Option<f64> {
        let points = self.points?;
        let table: i64 = points.iter().sum();
        Some((table - points.len() as i64 * points[seat]) as f64 / f64::from(points.len() as u32))
    }
}

/// Whether the owner of `spot` loses a card that it has seen if `seat` swaps two spots.
fn loses_known(state: &State, seat: Seat, one: Spot, other: Spot, spot: Spot) -> bool {
    let owner = spot.seat();
    owner != seat && one.seat() != other.seat() && state.table().seen(owner).contains(spot)
}

fn points_dealt(state: &State, seat: Seat) -> i64 {
    let (table, rules) = (state.table(), state.table().rules());
    let faces = table.layout(seat).iter_from(seat).filter_map(|spot| state.face(spot));
    faces.map(|card| i64::from(rules.points(card))).sum()
}

/// A counter. An unknown number becomes known when it is first counted.
trait Count<Amount> {
    fn count(&mut self, amount: Amount);
}

/// A number in a row that can be summed exactly, in any order of rows. Floats are not summed.
pub trait Summed {
    /// The type of the sum.
    type Sum: Copy + PartialEq + Eq + Default + std::fmt::Debug + std::ops::AddAssign;

    /// Adds the number of a match with `rounds` rounds.
    fn add_to(self, sum: &mut Self::Sum, rounds: u32);
}

macro_rules! count {
    ($($type:ty, $sum:ty;)+) => {
        $(
            impl Count<$type> for $type {
                #[inline]
                fn count(&mut self, amount: $type) {
                    *self += amount;
                }
            }

            impl Count<$type> for Option<$type> {
                #[inline]
                fn count(&mut self, amount: $type) {
                    *self.get_or_insert(0) += amount;
                }
            }

            impl Summed for $type {
                type Sum = $sum;

                #[inline]
                fn add_to(self, sum: &mut $sum, _: u32) {
                    *sum += <$sum>::from(self);
                }
            }

            impl Summed for Option<$type> {
                type Sum = Known;

                #[inline]
                fn add_to(self, sum: &mut Known, rounds: u32) {
                    if let Some(number) = self {
                        *sum += Known { total: i64::from(number), rounds: u64::from(rounds) };
                    }
                }
            }
        )+
    };
}

count! { u32, u64; i64, i64; }

impl Summed for Option<f64> {
    type Sum = NotSummed;

    fn add_to(self, _: &mut NotSummed, _: u32) {}
}

/// The sum of a quantity that is sometimes unknown.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Deserialize, Serialize)]
pub struct Known {
    /// The sum over the matches in which it was known.
    pub total: i64,
    /// The rounds of those matches.
    pub rounds: u64,
}

impl std::ops::AddAssign for Known {
    fn add_assign(&mut self, other: Known) {
        self.total += other.total;
        self.rounds += other.rounds;
    }
}

/// Stands for the sum of a float.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Deserialize, Serialize)]
pub struct NotSummed;

impl std::ops::AddAssign for NotSummed {
    fn add_assign(&mut self, _: NotSummed) {}
}

impl Sums {
    fn per_round(&self, count: u64) -> Option<f64> {
        ratio(count as f64, self.rounds)
    }
}

/// A quotient; `None` if the divisor is 0.
pub(crate) fn ratio(count: f64, of: u64) -> Option<f64> {
    (of > 0).then(|| count / of as f64)
}

/// The form in which a measure is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// A whole number.
    Count,
    /// A mean.
    Mean,
    /// A share of 1.
    Share,
}

/// A column of `behaviour.csv` as reports show it.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// Its label in reports.
    pub label: &'static str,
    /// The form in which it is written.
    pub form: Form,
    /// Its value in a row.
    pub value: fn(&BehaviourRow) -> Option<f64>,
}
