//! The quantities that are measured for each agent in each match.
//!
//! A line of `quantities!` declares a quantity: its name, type and meaning. The macro derives the counter ([`Counts`]),
//! the column of `players.csv`, and the sum over matches ([`QuantitySums`]). `impl Counts` below counts it.
//! A line of `behaviour!` declares a column of `behaviour.csv`, computed from the sums ([`BehaviourRow`]), and its label
//! in reports ([`MEASURES`]). Columns have the order of the lines.

use cambio_core::engine::SnapOutcome;
use cambio_core::play::RoundResult;
use cambio_core::rules::MAX_SEATS;
use cambio_core::{Action, Card, Event, Rules, Seat, State};
use cambio_exec::Estimate;
use cambio_stats::{Interval, Shape, Support};
use serde::{Deserialize, Serialize};

use super::PlayerRow;
use super::columns::{Columns, cell_table, columns};

/// Declares the counters of a seat in a match, and their sums over matches.
macro_rules! quantities {
    ($($(#[doc = $doc:literal])+ $name:ident: $type:ty => $unit:literal,)+) => {
        columns! {
            /// The counters of one seat in a match: one for each measured quantity.
            #[derive(Copy, Default)]
            Counts { $($(#[doc = $doc])+ $name: $type => $unit,)+ }
        }

        /// The sums of each quantity over the matches of one agent in a cell.
        #[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Deserialize, Serialize)]
        pub(crate) struct QuantitySums {
            /// The number of matches, counted once per seat of the agent.
            pub matches: u64,
            /// The number of forfeited matches.
            pub forfeits: u64,
            /// The number of rounds.
            pub rounds: u64,
            /// The number of turns of all seats.
            pub table_turns: u64,
            $($(#[doc = $doc])+ pub $name: <$type as Summed>::Sum,)+
        }

        impl QuantitySums {
            /// Adds a match with `table_turns` turns of all seats.
            pub(crate) fn add(&mut self, row: &PlayerRow<'_>, table_turns: u32) {
                self.matches += 1;
                self.forfeits += u64::from(row.forfeit);
                self.rounds += u64::from(row.rounds);
                self.table_turns += u64::from(table_turns);
                $(row.counts.$name.add_to(&mut self.$name, row.rounds);)+
            }
        }

        impl std::ops::AddAssign<&QuantitySums> for QuantitySums {
            fn add_assign(&mut self, other: &QuantitySums) {
                self.matches += other.matches;
                self.forfeits += other.forfeits;
                self.rounds += other.rounds;
                self.table_turns += other.table_turns;
                $(self.$name += other.$name;)+
            }
        }
    };
}

quantities! {
    /// The points of the agent's layouts, summed over the rounds.
    points: i64 => "points",
    /// The rounds that the agent won, alone or with others, as in rounds.csv.
    rounds_won: u32 => "rounds",
    /// The agent's calls.
    calls: u32 => "calls",
    /// The agent's successful calls.
    calls_succeeded: u32 => "calls",
    /// The sum of the agent's points at the end of the rounds in which it called; empty without a call.
    points_at_call_sum: Option<i64> => "points",
    /// Right snaps of the agent's own cards.
    snaps_right_own: u32 => "snaps",
    /// Right snaps of other seats' cards.
    snaps_right_foreign: u32 => "snaps",
    /// Wrong snaps: the card did not match.
    snaps_wrong: u32 => "snaps",
    /// Late snaps: the card matched, but another snap was first.
    snaps_late: u32 => "snaps",
    /// Cards touched as a bluff.
    touches: u32 => "cards",
    /// Penalty cards drawn.
    penalties: u32 => "cards",
    /// Cards given after a snap of another seat's card.
    gifts: u32 => "cards",
    /// Cards looked at by a power, including cards shown to all.
    looks: u32 => "cards",
    /// Swaps made by a power.
    swaps: u32 => "swaps",
    /// Cards that the agent had seen and that another seat swapped away.
    swapped_away: u32 => "cards",
    /// Cards that the agent forgot or confused; empty in a forfeited match, and if the agent does not count them.
    lapses: Option<u32> => "cards",
    /// The agent's turns.
    turns: u32 => "turns",
    /// The table's mean points minus the agent's points, summed over the rounds; empty in a forfeited match.
    margin: Option<f64> => "points",
    /// The sum of the agent's turn numbers at its calls (its first turn in a round is 1); empty without a call.
    call_turn_sum: Option<u32> => "turns",
    /// The cards in the agent's layouts at the end of the round, summed over the rounds.
    cards: u32 => "cards",
    /// The cards counted in `cards` that the agent has legitimately seen.
    cards_known: u32 => "cards",
    /// The cards dealt to the agent.
    dealt: u32 => "cards",
    /// The points of the dealt cards.
    dealt_points: i64 => "points",
    /// The cards that the agent drew from the stock in its turns.
    drawn: u32 => "cards",
    /// The points of the drawn cards.
    drawn_points: i64 => "points",
}

/// The context of an event, for counting.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountingContext {
    /// The rules.
    pub(crate) rules: Rules,
    /// The seat whose turn it is.
    pub(crate) turn: Option<Seat>,
    /// The number of turns of each seat in this round.
    pub(crate) turns: [u32; MAX_SEATS],
}

impl Counts {
    #[expect(clippy::inline_always, reason = "callers construct a known variant, so inlining removes the match")]
    #[inline(always)]
    pub(crate) fn event(seats: &mut [Counts; MAX_SEATS], event: &Event<Card>, at: &CountingContext) {
        match *event {
            Event::TurnBegan { seat } => seats[seat.index()].turns += 1,
            Event::Drew { seat, face } => {
                let own = &mut seats[seat.index()];
                own.drawn += 1;
                own.drawn_points += i64::from(at.rules.points(face));
            }
            Event::Looked { seat, .. } => seats[seat.index()].looks += 1,
            // A card is shown to all by the power of the seat whose turn it is.
            Event::Shown { .. } => at.turn.iter().for_each(|seat| seats[seat.index()].looks += 1),
            Event::Swapped { seat, .. } => seats[seat.index()].swaps += 1,
            Event::Called { seat } => {
                let own = &mut seats[seat.index()];
                own.calls += 1;
                *own.call_turn_sum.get_or_insert(0) += at.turns[seat.index()];
            }
            Event::Snapped { seat, spot, verdict, .. } => {
                let own = &mut seats[seat.index()];
                match verdict {
                    SnapOutcome::Right if spot.seat() == seat => own.snaps_right_own += 1,
                    SnapOutcome::Right => own.snaps_right_foreign += 1,
                    SnapOutcome::Wrong => own.snaps_wrong += 1,
                    SnapOutcome::Late => own.snaps_late += 1,
                }
            }
            Event::Aborted { seat } => seats[seat.index()].snaps_late += 1,
            Event::Touched { seat, .. } => seats[seat.index()].touches += 1,
            Event::Penalised { seat, .. } => seats[seat.index()].penalties += 1,
            Event::Gave { seat, .. } => seats[seat.index()].gifts += 1,
            _ => {}
        }
    }

    /// Counts a decision, before it is carried out.
    #[inline]
    pub(crate) fn decision(seats: &mut [Counts; MAX_SEATS], state: &State, seat: Seat, action: Action) {
        if let Action::Swap(one, other) = action
            && one.seat() != other.seat()
        {
            for spot in [one, other] {
                let owner = spot.seat();
                let is_lost = owner != seat && state.table().seen(owner).contains(spot);
                seats[owner.index()].swapped_away += u32::from(is_lost);
            }
        }
    }

    /// Counts the dealt cards of a seat. No card may have moved since the deal.
    pub(crate) fn deal(&mut self, state: &State, seat: Seat) {
        let (rules, layout) = (state.table().rules(), state.table().layout(seat));
        self.dealt += layout.len() as u32;
        let faces = layout.iter_from(seat).filter_map(|spot| state.face(spot));
        self.dealt_points += faces.map(|card| i64::from(rules.points(card))).sum::<i64>();
    }

    /// Counts the result of a round for a seat, from the state at the end of the round.
    pub(crate) fn round(&mut self, state: &State, result: &RoundResult, seat: Seat) {
        let points = i64::from(result.points()[seat.index()]);
        self.points += points;
        self.rounds_won += u32::from(result.winners.contains(seat));
        self.calls_succeeded += u32::from(result.succeeded.contains(seat));
        if result.callers.contains(seat) {
            *self.points_at_call_sum.get_or_insert(0) += points;
        }
        let layout = state.table().layout(seat);
        self.cards += layout.len() as u32;
        self.cards_known += layout.intersection(state.table().seen(seat)).len() as u32;
    }

    /// Sets the quantities that are known only at the end of the match: the lapses and the margin. `table` contains the
    /// points of each seat.
    pub(crate) fn finish(&mut self, lapses: Option<u32>, table: &[i64]) {
        let seats = table.len() as i64;
        self.lapses = lapses;
        self.margin = Some((table.iter().sum::<i64>() - seats * self.points) as f64 / seats as f64);
    }
}

/// A quantity that can be summed exactly, in any order. Floats are not summed.
pub(crate) trait Summed {
    /// The type of the sum.
    type Sum: Copy + PartialEq + Eq + Default + std::fmt::Debug + std::ops::AddAssign;

    /// Adds the value of a match with `rounds` rounds.
    fn add_to(self, sum: &mut Self::Sum, rounds: u32);
}

macro_rules! summed {
    ($($type:ty, $sum:ty;)+) => {
        $(
            impl Summed for $type {
                type Sum = $sum;

                #[inline]
                fn add_to(self, sum: &mut $sum, _: u32) {
                    *sum += <$sum>::from(self);
                }
            }

            impl Summed for Option<$type> {
                type Sum = KnownSum;

                #[inline]
                fn add_to(self, sum: &mut KnownSum, rounds: u32) {
                    if let Some(number) = self {
                        *sum += KnownSum { total: i64::from(number), rounds: u64::from(rounds) };
                    }
                }
            }
        )+
    };
}

summed! { u32, u64; i64, i64; }

impl Summed for Option<f64> {
    type Sum = NotSummed;

    fn add_to(self, _: &mut NotSummed, _: u32) {}
}

/// The sum of an optional quantity.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Deserialize, Serialize)]
pub(crate) struct KnownSum {
    /// The sum over the matches that have a value.
    pub total: i64,
    /// The number of rounds in those matches.
    pub rounds: u64,
}

impl std::ops::AddAssign for KnownSum {
    fn add_assign(&mut self, other: KnownSum) {
        self.total += other.total;
        self.rounds += other.rounds;
    }
}

/// Placeholder for the sum of a float, which is not computed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Deserialize, Serialize)]
pub(crate) struct NotSummed;

impl std::ops::AddAssign for NotSummed {
    fn add_assign(&mut self, _: NotSummed) {}
}

impl QuantitySums {
    fn per_round(&self, count: u64) -> Option<f64> {
        ratio(count as f64, self.rounds)
    }
}

/// A quotient; `None` if the divisor is 0.
pub(crate) fn ratio(count: f64, of: u64) -> Option<f64> {
    (of > 0).then(|| count / of as f64)
}

/// The standard error of a function of clusters, from its values without one cluster (Tukey 1958; Efron and Stein 1981,
/// "The jackknife estimate of variance"). `None` with fewer than two clusters or if a value is missing.
fn jackknife(without: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = without.collect::<Option<_>>()?;
    let clusters = values.len() as f64;
    let mean = values.iter().sum::<f64>() / clusters;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| ((clusters - 1.0) / clusters * squares).sqrt())
}

/// The display format of a measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MeasureForm {
    /// An integer.
    Count,
    /// A mean.
    Mean,
    /// A fraction between 0 and 1.
    Share,
}

/// A column of `behaviour.csv` as shown in reports.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// The label in reports.
    pub label: &'static str,
    /// The display format.
    pub form: MeasureForm,
    /// Returns the value in a row.
    pub value: fn(&BehaviourRow) -> Option<Estimate>,
}

/// Declares the columns of `behaviour.csv` that are computed from sums.
macro_rules! behaviour {
    (
        |$sum:ident|
        $($(#[doc = $doc:literal])+ $column:ident: $form:ident $label:literal => $unit:literal = $value:expr;)+
    ) => {
        cell_table! {
            /// A row of `behaviour.csv`: the behaviour of one agent in one cell. A value is empty if its divisor is 0.
            BehaviourRow {
                /// The agent.
                agent: String,
                /// The number of rounds, counted once per seat of the agent.
                rounds: u64 => "rounds",
                /// Rounds per match.
                rounds_per_match: Estimate => "rounds per match",
                $($(#[doc = $doc])+ $column: Option<Estimate> => $unit,)+
            }
        }

        impl BehaviourRow {
            /// The row of an agent, without intervals.
            pub(crate) fn new(rules: String, seats: usize, agent: String, $sum: &QuantitySums) -> BehaviourRow {
                let (rounds, rounds_per_match) = ($sum.rounds, count($sum.rounds as f64 / $sum.matches as f64));
                BehaviourRow { rules, seats, agent, rounds, rounds_per_match, $($column: $value.map(count),)+ }
            }

            /// The row with 95 % intervals, by the jackknife: each row of `without` leaves out one cluster.
            pub(crate) fn with_intervals(self, without: &[BehaviourRow]) -> BehaviourRow {
                let whole = self.clone();
                let found = |own: Estimate, form: MeasureForm, value: fn(&BehaviourRow) -> Option<Estimate>| {
                    own.with_ends(whole.interval(own.mean, form, without.iter().map(|row| Some(value(row)?.mean))))
                };
                BehaviourRow {
                    rounds_per_match: found(self.rounds_per_match, MeasureForm::Mean, |row| Some(row.rounds_per_match)),
                    $($column: self.$column.map(|own| found(own, MeasureForm::$form, |row| row.$column)),)+
                    ..self
                }
            }
        }

        /// The measures of behaviour in reports, in order.
        pub const MEASURES: &[Measure] = &[
            Measure { label: "rounds, all", form: MeasureForm::Count, value: |row| Some(count(row.rounds as f64)) },
            Measure { label: "rounds a match", form: MeasureForm::Mean, value: |row| Some(row.rounds_per_match) },
            Measure {
                label: "calls, all",
                form: MeasureForm::Count,
                value: |row| Some(count((row.calls_per_round?.mean * row.rounds as f64).round())),
            },
            $(Measure { label: $label, form: MeasureForm::$form, value: |row| row.$column },)+
        ];
    };
}

impl BehaviourRow {
    /// The 95 % interval of a value, from its values without one cluster. If nothing varies, only a share has an interval.
    fn interval(
        &self,
        value: f64,
        form: MeasureForm,
        without: impl ExactSizeIterator<Item = Option<f64>>,
    ) -> Option<(f64, f64)> {
        let support = if form == MeasureForm::Share { Support::Share } else { Support::Line };
        let clusters = without.len() as u64;
        let error = jackknife(without).filter(|error| *error > 0.0 || support == Support::Share)?;
        let (rounds, calls) = (self.rounds as f64, self.calls_per_round?.mean);
        let results = (rounds * calls.min(1.0) / clusters as f64).max(1.0);
        let with_calls = clusters.min((rounds * calls).round() as u64).max(2);
        let groups = if error > 0.0 { clusters } else { with_calls };
        Interval::new(value, Some(error), groups, support).with_shape(Shape { results, ..Shape::NORMAL }).ends()
    }
}

/// A value without an interval.
fn count(mean: f64) -> Estimate {
    Estimate { mean, ..Estimate::default() }
}

behaviour! {
    |sum|
    /// Turns of all seats per round.
    turns_per_round: Mean "turns of the table" => "turns per round" = sum.per_round(sum.table_turns);
    /// Rounds won per round: the share of rounds that the agent won, alone or with others.
    rounds_won_per_round: Mean "rounds won" => "rounds won per round" = sum.per_round(sum.rounds_won);
    /// Calls per round.
    calls_per_round: Mean "calls" => "calls per round" = sum.per_round(sum.calls);
    /// The mean turn of a call (the agent's first turn in the round is 1).
    call_turn_mean: Mean "own turn of a call" => "turns" = ratio(sum.call_turn_sum.total as f64, sum.calls);
    /// The fraction of the agent's calls that succeeded.
    calls_succeeded_share: Share "calls that succeed" => "share" = ratio(sum.calls_succeeded as f64, sum.calls);
    /// Mean points of the agent's layout at the end of the rounds in which it called.
    points_at_call_mean: Mean "points when it called" => "points" = ratio(sum.points_at_call_sum.total as f64, sum.calls);
    /// Right snaps of the agent's own cards per round.
    snaps_right_own_per_round: Mean "own cards snapped" => "snaps per round" = sum.per_round(sum.snaps_right_own);
    /// Right snaps of other seats' cards per round.
    snaps_right_foreign_per_round: Mean "others’ cards snapped" => "snaps per round" = sum.per_round(sum.snaps_right_foreign);
    /// Wrong snaps per round.
    snaps_wrong_per_round: Mean "wrong snaps" => "snaps per round" = sum.per_round(sum.snaps_wrong);
    /// Late snaps per round.
    snaps_late_per_round: Mean "late snaps" => "snaps per round" = sum.per_round(sum.snaps_late);
    /// Cards touched as a bluff per round.
    touches_per_round: Mean "touches" => "cards per round" = sum.per_round(sum.touches);
    /// Penalty cards per round.
    penalties_per_round: Mean "penalty cards" => "cards per round" = sum.per_round(sum.penalties);
    /// Cards given per round.
    gifts_per_round: Mean "cards given" => "cards per round" = sum.per_round(sum.gifts);
    /// Cards looked at by a power per round.
    looks_per_round: Mean "looks by powers" => "cards per round" = sum.per_round(sum.looks);
    /// Swaps made by a power per round.
    swaps_per_round: Mean "swaps by powers" => "swaps per round" = sum.per_round(sum.swaps);
    /// Cards per round that the agent had seen and that another seat swapped away.
    swapped_away_per_round: Mean "known cards swapped away" => "cards per round" = sum.per_round(sum.swapped_away);
    /// Cards per round that the agent forgot or confused; empty if the agent does not count them.
    lapses_per_round: Mean "cards forgotten or confused" => "cards per round" = ratio(sum.lapses.total as f64, sum.lapses.rounds);
    /// Mean number of cards in the agent's layout at the end of a round.
    cards_per_round: Mean "cards at the end" => "cards per round" = sum.per_round(sum.cards);
    /// The fraction of the cards at the end of the round that the agent has seen.
    cards_known_share: Share "of them seen" => "share" = ratio(sum.cards_known as f64, sum.cards);
}
