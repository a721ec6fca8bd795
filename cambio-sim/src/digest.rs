//! What the derived files are made from: sums over the rows, taken in canonical order, in memory that does not grow with
//! the number of games.

use cambio_core::MAX_SEATS;
use nalgebra::{DMatrix, DVector};

use crate::experiment::Payoff;
use crate::plan::{Block, Cell, Plan};
use crate::rows::{MatchRow, PlayerRow, RoundRow};
use cambio_stats::empirical::GameSums;
use cambio_stats::histogram::Histogram;
use cambio_stats::moments::{Interval, Joint, Moments};
use cambio_stats::ratings::{Ranking, Rankings};

impl Payoff {
    /// Every payoff.
    pub const ALL: [Payoff; 4] = [Payoff::RankPoints, Payoff::Win, Payoff::Points, Payoff::Margin];

    /// The payoff of a row as a whole number of a unit.
    pub fn units(self, row: &PlayerRow<'_>) -> i64 {
        let value = match self {
            Payoff::Points => return row.points,
            Payoff::RankPoints => row.rank_points,
            Payoff::Win => row.win,
            Payoff::Margin => row.margin,
        };
        // Nothing but rounding lies between it and a whole number.
        let units = value * self.scale(row.seats);
        (units + 0.5_f64.copysign(units)) as i64
    }

    /// Whether more of it is better: 1, or −1.
    pub fn sign(self) -> f64 {
        if self == Payoff::Points { -1.0 } else { 1.0 }
    }

    /// What its numbers are numbers of.
    pub fn unit(self) -> &'static str {
        match self {
            Payoff::RankPoints => "rank points",
            Payoff::Win => "wins a match",
            Payoff::Points => "points a match",
            Payoff::Margin => "points of margin a match",
        }
    }

    /// What equal players get; `None` where that depends on how they play.
    pub fn par(self, seats: usize) -> Option<f64> {
        match self {
            Payoff::RankPoints => Some(0.5),
            Payoff::Win => Some(1.0 / seats as f64),
            Payoff::Points => None,
            Payoff::Margin => Some(0.0),
        }
    }

    /// How many of these units are 1.
    pub fn scale(self, seats: usize) -> f64 {
        match self {
            Payoff::RankPoints => f64::from(2 * (seats as u32 - 1)),
            // 1/k for every k up to 8.
            Payoff::Win => 840.0,
            Payoff::Points => 1.0,
            Payoff::Margin => f64::from(seats as u32),
        }
    }
}

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
    fn add(&mut self, row: &PlayerRow<'_>, table_turns: u32) {
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

/// What a seat has from a match.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    rank: usize,
    /// In the order of [`Payoff::ALL`].
    payoffs: [i64; 4],
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
    fn of(&mut self, agent: usize) -> &mut Doing {
        if agent >= self.agents.len() {
            self.agents.resize(agent + 1, Doing::default());
        }
        &mut self.agents[agent]
    }

    fn add_round(&mut self, block: &Block<'_>, row: &RoundRow<'_>) {
        self.rounds += 1;
        for (seat, &points) in row.points.as_slice().iter().take(block.cell.seats).enumerate() {
            self.of(block.agent(seat, row.rotation)).points.add(i64::from(points));
        }
        if let (Some(caller), Some(turn)) = (row.callers.first(), row.call_turn) {
            self.called += 1;
            self.of(block.agent(caller.index(), row.rotation)).call_turns.add(i64::from(turn));
        }
    }

    fn merge(&mut self, other: &Doings) {
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

/// The rows of some neighbouring blocks as far as a digest needs them. What agents did can be summed up in any order, and
/// so by whoever played; what is left of a match is small.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extract {
    /// The places of cells, and what was done there.
    doings: Vec<(usize, Doings)>,
    /// By match in canonical order, then seat.
    outcomes: Vec<Outcome>,
    /// How many of the outcomes there were before each block.
    blocks: Vec<usize>,
}

impl Extract {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.doings.clear();
        self.outcomes.clear();
        self.blocks.clear();
    }

    /// Takes the rows of the next block.
    pub(crate) fn add(
        &mut self,
        block: &Block<'_>,
        matches: &[MatchRow<'_>],
        rounds: &[RoundRow<'_>],
        players: &[PlayerRow<'_>],
    ) {
        self.blocks.push(self.outcomes.len());
        if self.doings.last().is_none_or(|(place, _)| *place != block.place) {
            self.doings.push((block.place, Doings::default()));
        }
        let (_, doings) = self.doings.last_mut().expect("it was just pushed");
        for row in rounds {
            doings.add_round(block, row);
        }
        for (row, table) in matches.iter().zip(players.chunks_exact(block.cell.seats)) {
            for (seat, player) in table.iter().enumerate() {
                doings.of(block.agent(seat, row.rotation)).deeds.add(player, row.turns);
                let payoffs = Payoff::ALL.map(|payoff| payoff.units(player));
                self.outcomes.push(Outcome { rank: player.rank, payoffs });
            }
        }
    }

    /// The outcomes of each block.
    fn blocks(&self) -> impl Iterator<Item = &[Outcome]> {
        let ends = self.blocks.iter().skip(1).copied().chain([self.outcomes.len()]);
        self.blocks.iter().zip(ends).map(|(&from, to)| &self.outcomes[from..to])
    }
}

/// What two agents did against each other: of the first, the pairwise score.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Duel {
    /// The pairwise scores in halves, by deal.
    pub scores: Moments,
    /// Pairs of seats in which the first had the better rank.
    pub wins: u64,
    /// Pairs of seats of the same rank.
    pub ties: u64,
    /// Pairs of seats in which the first had the worse rank.
    pub losses: u64,
}

/// The sums of one cell.
#[derive(Clone, Debug)]
pub struct CellDigest {
    agents: usize,
    seats: usize,
    payoff: Payoff,
    /// What was done, by every agent of the plan.
    pub doings: Doings,
    /// By agent, then payoff in the order of [`Payoff::ALL`].
    payoffs: Vec<[Moments; 4]>,
    by_seat: Vec<Moments>,
    /// The plan's payoff of agents, then of seats.
    pub joint: Joint,
    /// The same over the deals that are not complete alone.
    partial: Joint,
    /// How often each agent sat in each seat of a complete deal.
    occupied: Vec<i64>,
    duels: Vec<Duel>,
    /// The rankings of all games.
    pub rankings: Rankings,
    /// The payoffs of every composition, if there are all.
    pub game: Option<GameSums>,
    matches_a_deal: u64,
    open: Open,
}

/// The sums of the deal that is being read.
#[derive(Clone, Debug, Default)]
struct Open {
    deal: Option<u64>,
    matches: u64,
    /// Agents, then seats.
    n: Vec<i64>,
    s: Vec<i64>,
    payoffs: Vec<[i64; 4]>,
    occupied: Vec<i64>,
    duels: Vec<(i64, i64)>,
}

impl CellDigest {
    fn new(plan: &Plan, cell: &Cell) -> CellDigest {
        let (agents, seats) = (plan.labels.len(), cell.seats);
        let open = Open {
            n: vec![0; agents + seats],
            s: vec![0; agents + seats],
            payoffs: vec![[0; 4]; agents],
            occupied: vec![0; agents * seats],
            duels: vec![(0, 0); agents * agents],
            ..Open::default()
        };
        let lineups: Vec<&[usize]> = cell.lineups.iter().map(crate::plan::Lineup::agents).collect();
        CellDigest {
            agents,
            seats,
            payoff: plan.payoff,
            doings: Doings { agents: vec![Doing::default(); agents], ..Doings::default() },
            payoffs: vec![[Moments::default(); 4]; agents],
            by_seat: vec![Moments::default(); seats],
            joint: Joint::new(agents + seats),
            partial: Joint::new(agents + seats),
            occupied: vec![0; agents * seats],
            duels: vec![Duel::default(); agents * agents],
            rankings: Rankings::default(),
            game: GameSums::new(&lineups, agents),
            matches_a_deal: (cell.lineups.len() * cell.seatings.len()) as u64,
            open,
        }
    }

    /// Adds the outcomes of a block, by rotation and seat.
    fn add(&mut self, block: &Block<'_>, outcomes: &[Outcome]) {
        if outcomes.is_empty() {
            // A void block leaves no trace, as in the rows.
            return;
        }
        if self.open.deal != Some(block.deal) {
            self.end_deal();
            self.open.deal = Some(block.deal);
        }
        let (agents, seats) = (self.agents, self.seats);
        for (rotation, table) in outcomes.chunks_exact(seats).enumerate() {
            let mut seated = [0; MAX_SEATS];
            (0..seats).for_each(|seat| seated[seat] = block.agent(seat, rotation));
            self.open.matches += 1;
            for (seat, &Outcome { payoffs, rank }) in table.iter().enumerate() {
                let agent = seated[seat];
                for (sum, payoff) in self.open.payoffs[agent].iter_mut().zip(payoffs) {
                    *sum += payoff;
                }
                let payoff = payoffs[self.payoff as usize];
                for place in [agent, agents + seat] {
                    self.open.n[place] += 1;
                    self.open.s[place] += payoff;
                }
                self.open.occupied[agent * seats + seat] += 1;
                if let Some(game) = &mut self.game {
                    game.add(block.lineup_place, agent, 1, payoffs[0]);
                }
                for (other_seat, other) in table.iter().enumerate().skip(seat + 1) {
                    let rival = seated[other_seat];
                    if rival == agent {
                        continue;
                    }
                    let (first, second, one, two) =
                        if agent < rival { (agent, rival, rank, other.rank) } else { (rival, agent, other.rank, rank) };
                    let duel = &mut self.duels[first * agents + second];
                    let halves = match one.cmp(&two) {
                        std::cmp::Ordering::Less => {
                            duel.wins += 1;
                            2
                        }
                        std::cmp::Ordering::Equal => {
                            duel.ties += 1;
                            1
                        }
                        std::cmp::Ordering::Greater => {
                            duel.losses += 1;
                            0
                        }
                    };
                    let sums = &mut self.open.duels[first * agents + second];
                    sums.0 += 1;
                    sums.1 += halves;
                }
            }
            self.rankings.add(Ranking::new(table.iter().enumerate().map(|(seat, other)| (seated[seat], other.rank))));
        }
    }

    fn end_deal(&mut self) {
        if self.open.deal.take().is_none() {
            return;
        }
        let open = &mut self.open;
        for (agent, payoffs) in self.payoffs.iter_mut().enumerate() {
            for (moments, sum) in payoffs.iter_mut().zip(&mut open.payoffs[agent]) {
                moments.add(open.n[agent], std::mem::take(sum));
            }
        }
        for (seat, moments) in self.by_seat.iter_mut().enumerate() {
            moments.add(open.n[self.agents + seat], open.s[self.agents + seat]);
        }
        self.joint.add(&open.n, &open.s);
        if open.matches == self.matches_a_deal {
            self.occupied.copy_from_slice(&open.occupied);
        } else {
            self.partial.add(&open.n, &open.s);
        }
        for (duel, sums) in self.duels.iter_mut().zip(&mut open.duels) {
            duel.scores.add(sums.0, sums.1);
            *sums = (0, 0);
        }
        open.n.fill(0);
        open.s.fill(0);
        open.occupied.fill(0);
        open.matches = 0;
        self.rankings.end_deal();
        if let Some(game) = &mut self.game {
            game.end_deal();
        }
    }

    /// An agent's payoff; `None` if it has no match.
    pub fn payoff(&self, agent: usize, payoff: Payoff) -> Option<Interval> {
        self.payoffs[agent][payoff as usize].interval(payoff.scale(self.seats))
    }

    /// How many matches an agent has.
    pub fn matches(&self, agent: usize) -> u64 {
        self.doings.agents[agent].deeds.matches
    }

    /// The plan's payoff in a seat, over all agents.
    pub fn seat(&self, seat: usize) -> Option<Interval> {
        self.by_seat[seat].interval(self.payoff.scale(self.seats))
    }

    /// What two agents did against each other; the first has the lower place.
    pub fn duel(&self, first: usize, second: usize) -> &Duel {
        &self.duels[first * self.agents + second]
    }

    /// The difference of two agents' payoffs, paired by deal, and the efficiency of the pairing.
    pub fn difference(&self, first: usize, second: usize) -> Option<(Interval, Option<f64>)> {
        self.joint.difference(first, second, self.payoff.scale(self.seats))
    }

    /// The covariance of the payoffs' means of these agents; `None` with fewer than two deals.
    pub fn covariance(&self, agents: &[usize]) -> Option<DMatrix<f64>> {
        let scale = self.payoff.scale(self.seats);
        let mut matrix = DMatrix::zeros(agents.len(), agents.len());
        for (i, &one) in agents.iter().enumerate() {
            for (j, &other) in agents.iter().enumerate() {
                matrix[(i, j)] = self.joint.covariance(one, other)? / (scale * scale);
            }
        }
        Some(matrix)
    }

    /// The effect of the seat, from payoff ~ agent + seat by least squares over complete deals, with errors clustered by
    /// deal (Liang and Zeger 1986, with the factor D/(D−1) alone) and Wald's test that no seat matters (Wald 1943).
    /// `None` where agents and seats cannot be told apart.
    pub fn seat_effect(&self) -> Option<SeatEffect> {
        let complete = self.joint.without(&self.partial);
        let present: Vec<usize> = (0..self.agents).filter(|&agent| complete.totals(agent).0 > 0.0).collect();
        let (k, fitted) = (present.len(), self.seats - 1);
        let deals = complete.clusters(*present.first()?, *present.first()?) as f64;
        if deals < 2.0 {
            return None;
        }
        // The design of one deal, the same in each: a column for each agent, and for each seat but the first.
        let quantity = |column: usize| if column < k { present[column] } else { self.agents + 1 + (column - k) };
        let occupied = |agent: usize, seat: usize| self.occupied[present[agent] * self.seats + seat] as f64;
        let size = k + fitted;
        let design = DMatrix::from_fn(size, size, |i, j| match (i < k, j < k) {
            (true, true) if i == j => (0..self.seats).map(|seat| occupied(i, seat)).sum(),
            (true, false) => occupied(i, j - k + 1),
            (false, true) => occupied(j, i - k + 1),
            (false, false) if i == j => (0..k).map(|agent| occupied(agent, i - k + 1)).sum(),
            _ => 0.0,
        });
        let scale = self.payoff.scale(self.seats);
        let sums = DVector::from_fn(size, |column, _| complete.totals(quantity(column)).1 / scale);
        let inverse = design.clone().cholesky()?.inverse();
        if inverse.amax() > 1e9 {
            return None;
        }
        let fitted_values = &inverse * &sums / deals;
        // Σ g gᵀ with g = Xᵀy − XᵀXβ, whose sum over the deals is 0.
        let mean = &design * &fitted_values;
        let spread = DMatrix::from_fn(size, size, |i, j| {
            complete.products(quantity(i), quantity(j)) / (scale * scale) - deals * mean[i] * mean[j]
        });
        let covariance = &inverse * spread * &inverse / (deals * deals) * (deals / (deals - 1.0));
        let effects: Vec<f64> = (0..fitted).map(|seat| fitted_values[k + seat]).collect();
        let of_seats = covariance.view((k, k), (fitted, fitted)).into_owned();
        let vector = DVector::from_vec(effects.clone());
        let wald = of_seats.clone().cholesky().map(|root| vector.dot(&root.solve(&vector)));
        Some(SeatEffect {
            errors: (0..fitted).map(|seat| of_seats[(seat, seat)].max(0.0).sqrt()).collect(),
            effects,
            wald: wald.filter(|wald| wald.is_finite()),
            deals: deals as u64,
        })
    }
}

/// What sitting in a seat is worth over sitting in seat a.
#[derive(Clone, PartialEq, Debug)]
pub struct SeatEffect {
    /// Of seat b and on.
    pub effects: Vec<f64>,
    /// Their standard errors.
    pub errors: Vec<f64>,
    /// Wald's statistic, chi-square with as many degrees of freedom as there are effects; `None` if the effects do not
    /// vary.
    pub wald: Option<f64>,
    /// How many deals it is from.
    pub deals: u64,
}

/// The sums of a run.
#[derive(Clone, Debug)]
pub struct Digest {
    /// By cell.
    pub cells: Vec<CellDigest>,
}

impl Digest {
    /// Sums of nothing yet.
    pub fn new(plan: &Plan) -> Digest {
        Digest { cells: plan.cells.iter().map(|cell| CellDigest::new(plan, cell)).collect() }
    }

    /// Adds the rows of a block; blocks come in canonical order.
    pub fn add(
        &mut self,
        block: &Block<'_>,
        matches: &[MatchRow<'_>],
        rounds: &[RoundRow<'_>],
        players: &[PlayerRow<'_>],
    ) {
        let mut extract = Extract::default();
        extract.add(block, matches, rounds, players);
        self.add_extract(&[*block], &extract);
    }

    /// Adds what was extracted from the rows of these blocks.
    pub(crate) fn add_extract(&mut self, blocks: &[Block<'_>], extract: &Extract) {
        for (place, doings) in &extract.doings {
            self.cells[*place].doings.merge(doings);
        }
        for (block, outcomes) in blocks.iter().zip(extract.blocks()) {
            self.cells[block.place].add(block, outcomes);
        }
    }

    /// Ends the deals that are being read; before anything is asked.
    pub fn finish(&mut self) {
        self.cells.iter_mut().for_each(CellDigest::end_deal);
    }
}
