//! What agents did, summed up.

use cambio_stats::histogram::Histogram;

use crate::plan::Block;
use crate::rows::{PlayerRow, RoundRow};

/// What one agent did in a cell.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Deeds {
    /// Matches, one for each of its seats.
    pub matches: u64,
    /// Matches that it forfeited.
    pub forfeits: u64,
    /// Rounds.
    pub rounds: u64,
    /// Points of its layouts.
    pub points: i64,
    /// Rounds won.
    pub rounds_won: u64,
    /// Calls.
    pub calls: u64,
    /// Calls that succeeded.
    pub calls_succeeded: u64,
    /// Points of its layouts when it had called.
    pub points_at_calls: i64,
    /// Its turns in which it called, summed.
    pub call_turns: u64,
    /// Own cards snapped first.
    pub snaps_right_own: u64,
    /// Foreign cards snapped first.
    pub snaps_right_foreign: u64,
    /// Cards snapped that did not match.
    pub snaps_wrong: u64,
    /// Cards snapped too late.
    pub snaps_late: u64,
    /// Touches.
    pub touches: u64,
    /// Penalty cards.
    pub penalties: u64,
    /// Gifts.
    pub gifts: u64,
    /// Looks.
    pub looks: u64,
    /// Swaps.
    pub swaps: u64,
    /// Cards forgotten or confused.
    pub lapses: u64,
    /// The rounds of matches in which it said how many.
    pub rounds_with_lapses: u64,
    /// Its turns.
    pub turns: u64,
    /// Turns of all seats.
    pub table_turns: u64,
    /// Cards at the ends of rounds.
    pub cards: u64,
    /// Those of them that it had seen.
    pub cards_known: u64,
    /// Cards dealt to it.
    pub dealt: u64,
    /// Their points.
    pub dealt_points: i64,
    /// Cards drawn from the stock.
    pub drawn: u64,
    /// Their points.
    pub drawn_points: i64,
}

impl Deeds {
    pub(super) fn add(&mut self, row: &PlayerRow<'_>, table_turns: u32) {
        self.matches += 1;
        self.forfeits += u64::from(row.forfeit);
        self.rounds += u64::from(row.rounds);
        self.points += row.points;
        self.rounds_won += u64::from(row.rounds_won);
        self.calls += u64::from(row.calls);
        self.calls_succeeded += u64::from(row.calls_succeeded);
        self.points_at_calls += row.points_at_calls.unwrap_or(0);
        self.call_turns += u64::from(row.call_turns.unwrap_or(0));
        self.snaps_right_own += u64::from(row.snaps_right_own);
        self.snaps_right_foreign += u64::from(row.snaps_right_foreign);
        self.snaps_wrong += u64::from(row.snaps_wrong);
        self.snaps_late += u64::from(row.snaps_late);
        self.touches += u64::from(row.touches);
        self.penalties += u64::from(row.penalties);
        self.gifts += u64::from(row.gifts);
        self.looks += u64::from(row.looks);
        self.swaps += u64::from(row.swaps);
        if let Some(lapses) = row.lapses {
            self.lapses += u64::from(lapses);
            self.rounds_with_lapses += u64::from(row.rounds);
        }
        self.turns += u64::from(row.turns);
        self.table_turns += u64::from(table_turns);
        self.cards += u64::from(row.cards);
        self.cards_known += u64::from(row.cards_known);
        self.dealt += u64::from(row.dealt);
        self.dealt_points += row.dealt_points;
        self.drawn += u64::from(row.drawn);
        self.drawn_points += row.drawn_points;
    }
}

impl std::ops::AddAssign<&Deeds> for Deeds {
    fn add_assign(&mut self, other: &Deeds) {
        macro_rules! add {
            ($($field:ident)+) => { $(self.$field += other.$field;)+ };
        }
        add! {
            matches forfeits rounds points rounds_won calls calls_succeeded points_at_calls call_turns snaps_right_own
            snaps_right_foreign snaps_wrong snaps_late touches penalties gifts looks swaps lapses rounds_with_lapses turns table_turns cards
            cards_known dealt dealt_points drawn drawn_points
        }
    }
}

/// What an agent did: sums that do not mind the order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Doing {
    /// Calls, snaps and what else is counted.
    pub deeds: Deeds,
    /// The turns of the table in which it called first.
    pub call_turns: Histogram,
    /// The points of its layouts at the ends of rounds.
    pub points: Histogram,
}

/// What was done in a cell.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Doings {
    /// By agent.
    pub agents: Vec<Doing>,
    /// How many rounds there were.
    pub rounds: u64,
    /// How many of them somebody called.
    pub called: u64,
}

impl Doings {
    pub(super) fn of(&mut self, agent: usize) -> &mut Doing {
        if agent >= self.agents.len() {
            self.agents.resize(agent + 1, Doing::default());
        }
        &mut self.agents[agent]
    }

    pub(super) fn add_round(&mut self, block: &Block<'_>, row: &RoundRow<'_>) {
        self.rounds += 1;
        for (seat, &points) in row.points.as_slice().iter().take(block.cell.seats).enumerate() {
            self.of(block.agent(seat, row.rotation)).points.add(i64::from(points));
        }
        if let (Some(caller), Some(turn)) = (row.callers.first(), row.call_turn) {
            self.called += 1;
            self.of(block.agent(caller.index(), row.rotation)).call_turns.add(i64::from(turn));
        }
    }

    pub(super) fn merge(&mut self, other: &Doings) {
        self.rounds += other.rounds;
        self.called += other.called;
        for (agent, doing) in other.agents.iter().enumerate() {
            let sum = self.of(agent);
            sum.deeds += &doing.deeds;
            sum.call_turns.merge(&doing.call_turns);
            sum.points.merge(&doing.points);
        }
    }
}
