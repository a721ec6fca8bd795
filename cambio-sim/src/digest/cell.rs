//! The sums of one cell.

use std::collections::{BTreeMap, BTreeSet};

use cambio_core::rules::MAX_SEATS;
use cambio_stats::anova::{self, AnovaTest};
use cambio_stats::empirical::GameSums;
use cambio_stats::ratings::{Ranking, Rankings};
use cambio_stats::{Interval, Joint, Matrix, Moments};
use itertools::Itertools as _;

use super::adjusted::{self, Adjusted};
use super::extract::{Extract, SeatOutcome};
use super::sums::PayoffSums;
use crate::plan::{Block, Cell, Hypothesis, Lineup, Payoff, Plan};
use crate::play::BlockRows;
use crate::rows::QuantitySums;

/// How one agent ranked against another in the matches in which both sat at the table.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(crate) struct PairRanks {
    /// Pairs of seats in which the first agent had the better rank.
    pub wins: u64,
    /// Pairs of seats with the same rank.
    pub ties: u64,
    /// Pairs of seats in which the first agent had the worse rank.
    pub losses: u64,
}

/// The sums of one cell.
#[derive(Clone, Debug)]
pub struct CellDigest {
    agents: usize,
    seats: usize,
    payoff: Payoff,
    /// Whether a focal agent is also in the field.
    has_focal: bool,
    /// The measured quantities of each agent, by group of neighbouring deals.
    groups: BTreeMap<u64, Vec<QuantitySums>>,
    /// The payoffs with the luck of the cards.
    pub(crate) raw: PayoffSums,
    /// The payoffs without the luck of the cards, if the run measures it.
    adjusted: Option<Adjusted>,
    by_seat: Vec<Moments>,
    /// Like the joint sums of `raw`, but only over incomplete deals.
    partial: Joint,
    /// How often each agent sits in each seat of a complete deal.
    occupied: Vec<i64>,
    duels: Vec<PairRanks>,
    /// The sums of the plan's payoff in each lineup: the agent, the number of results, and their sum, without the luck of the
    /// cards if the run measures it.
    by_lineup: Vec<Vec<(usize, i64, i64)>>,
    /// The rankings of all games.
    pub(crate) rankings: Rankings,
    /// The payoffs of every combination of agents, if the plan plays them all.
    pub(crate) game: Option<GameSums>,
    matches_a_deal: u64,
    /// The hypothesis about this cell.
    tested: Option<TestedPair>,
    /// The sums of each deal, if they are kept.
    kept: Option<KeptDeals>,
    open: OpenDeal,
}

/// The sums of one payoff in each deal: for each agent, the number of results and their sum in units of adjusted payoffs,
/// first with the luck of the cards and then without it, if the run measures it.
#[derive(Clone, Debug)]
struct KeptDeals {
    payoff: Payoff,
    sums: BTreeMap<u64, Vec<(i64, [i64; 2])>>,
}

/// The sums of the deal that is being read.
#[derive(Clone, Debug, Default)]
struct OpenDeal {
    deal: Option<u64>,
    matches: u64,
    /// The numbers `n` and sums `s` of payoffs: first for each agent, then for each seat.
    n: Vec<i64>,
    s: Vec<i64>,
    /// For each agent and each payoff, the number of known values and their sum.
    payoffs: Vec<[(i64, i64); 4]>,
    occupied: Vec<i64>,
    /// For each pair of agents, the number of scores, their sum in halves, and the luck of the first agent.
    duels: Vec<(i64, i64, i64)>,
}

/// A hypothesis, and the difference of its pair in the deals of the hypothesis once a later deal has ended.
#[derive(Clone, Copy, Debug)]
struct TestedPair {
    hypothesis: Hypothesis,
    is_complete: bool,
    difference: Option<Interval>,
}

impl CellDigest {
    pub(crate) fn new(plan: &Plan, cell: &Cell) -> CellDigest {
        let (agents, seats) = (plan.agents.len(), cell.seats);
        let open = OpenDeal {
            n: vec![0; agents + seats],
            s: vec![0; agents + seats],
            payoffs: vec![[(0, 0); 4]; agents],
            occupied: vec![0; agents * seats],
            duels: vec![(0, 0, 0); agents * agents],
            ..OpenDeal::default()
        };
        let lineups: Vec<&[usize]> = cell.lineups.iter().map(Lineup::agents).collect();
        CellDigest {
            agents,
            seats,
            payoff: plan.payoff,
            has_focal: !cell.focal.is_empty(),
            groups: BTreeMap::new(),
            raw: PayoffSums::new(plan, cell, 1, agents + seats),
            adjusted: cell
                .baseline
                .is_some()
                .then(|| Adjusted::new(PayoffSums::new(plan, cell, adjusted::FINE, agents))),
            by_seat: vec![Moments::default(); seats],
            partial: Joint::new(agents + seats),
            occupied: vec![0; agents * seats],
            duels: vec![PairRanks::default(); agents * agents],
            by_lineup: lineups
                .iter()
                .map(|agents| agents.iter().unique().map(|&agent| (agent, 0, 0)).collect())
                .collect(),
            rankings: Rankings::default(),
            game: GameSums::new(&lineups, agents),
            matches_a_deal: cell.matches_a_deal(),
            tested: plan
                .hypothesis
                .filter(|hypothesis| std::ptr::eq(&raw const plan.cells[hypothesis.table], cell))
                .map(|hypothesis| TestedPair { hypothesis, is_complete: false, difference: None }),
            kept: None,
            open,
        }
    }

    /// The payoffs in the first table of a plan after the first 1, 2, … of these deals, at each of the numbers `looks`, which ascend:
    /// with the luck of the cards and, if the plan measures it, without. A deal has the rows of its blocks, one for each lineup: a
    /// resample of deals that [`play_block`](crate::play_block) played.
    ///
    /// # Panics
    /// If there are more deals than the plan has.
    pub fn of_deals<'b>(
        plan: &Plan,
        deals: impl IntoIterator<Item = &'b [BlockRows<'b>]>,
        looks: &[u64],
    ) -> Vec<(PayoffSums, Option<PayoffSums>)> {
        let mut digest = CellDigest::new(plan, &plan.cells[0]);
        let (mut number, mut found) = (0, Vec::new());
        for (deal, rows) in (1..).zip(deals) {
            for rows in rows {
                digest.add_rows(plan, &plan.block(number), rows);
                number += 1;
            }
            digest.end_deal();
            if looks.contains(&deal) {
                found.push((digest.raw.clone(), digest.adjusted.as_ref().map(|adjusted| adjusted.sums.clone())));
            }
        }
        found
    }

    /// Adds the behaviour in deals of one group.
    pub(super) fn add_behaviour(&mut self, group: u64, behaviour: &[QuantitySums]) {
        let groups = self.groups.entry(group).or_insert_with(|| vec![QuantitySums::default(); self.agents]);
        groups.iter_mut().zip(behaviour).for_each(|(sums, own)| *sums += own);
    }

    /// The measured quantities of an agent, without one group of deals.
    pub(super) fn behaviour(&self, agent: usize, left_out: Option<u64>) -> QuantitySums {
        let mut sums = QuantitySums::default();
        let groups = self.groups.iter().filter(|(group, _)| Some(**group) != left_out);
        groups.for_each(|(_, agents)| sums += &agents[agent]);
        sums
    }

    /// The groups of deals in which an agent has rounds.
    pub(super) fn groups_of(&self, agent: usize) -> impl Iterator<Item = u64> {
        self.groups.iter().filter(move |(_, agents)| agents[agent].rounds > 0).map(|(group, _)| *group)
    }

    /// Adds the rows of a block without its behaviour. Blocks must be added in canonical order.
    pub(crate) fn add_rows(&mut self, plan: &Plan, block: &Block<'_>, rows: &BlockRows<'_>) {
        let mut extract = Extract::default();
        extract.add(plan, block, &rows.matches, &rows.players);
        extract.blocks().for_each(|outcomes| self.add(block, outcomes));
    }

    /// Adds the outcomes of a block, ordered by rotation and seat.
    pub(super) fn add(&mut self, block: &Block<'_>, outcomes: &[SeatOutcome]) {
        if outcomes.is_empty() {
            // A void block has no rows.
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
            for (seat, &SeatOutcome { payoffs, rank, luck }) in table.iter().enumerate() {
                let agent = seated[seat];
                // Only the margin of a forfeited match is missing, and plans with the payoff margin have no forfeits.
                let payoff = payoffs[self.payoff as usize].unwrap_or(0);
                self.open.n[agents + seat] += 1;
                self.open.s[agents + seat] += payoff;
                if block.counts(seat, rotation) {
                    self.open.n[agent] += 1;
                    self.open.s[agent] += payoff;
                    self.add_payoffs(agent, payoffs, luck, block.lineup_index);
                }
                self.open.occupied[agent * seats + seat] += 1;
                if let Some(game) = &mut self.game {
                    game.add(block.lineup_index, agent, 1, payoffs[0].unwrap_or(0));
                }
                for (other_seat, other) in table.iter().enumerate().skip(seat + 1) {
                    let rival = seated[other_seat];
                    if rival == agent {
                        continue;
                    }
                    let (first, second, one, two, luck) = if agent < rival {
                        (agent, rival, rank, other.rank, luck)
                    } else {
                        (rival, agent, other.rank, rank, other.luck)
                    };
                    let duel = &mut self.duels[first * agents + second];
                    duel.wins += u64::from(one < two);
                    duel.ties += u64::from(one == two);
                    duel.losses += u64::from(one > two);
                    let sums = &mut self.open.duels[first * agents + second];
                    sums.0 += 1;
                    sums.1 += i64::from(one < two) + i64::from(one <= two);
                    sums.2 += i64::from(luck);
                }
            }
            self.rankings.add(Ranking::new(table.iter().enumerate().map(|(seat, other)| (seated[seat], other.rank))));
        }
    }

    /// Adds the payoffs of an agent in one match to its means.
    fn add_payoffs(&mut self, agent: usize, payoffs: [Option<i64>; 4], luck: i32, lineup: usize) {
        for (sum, payoff) in self.open.payoffs[agent].iter_mut().zip(payoffs) {
            sum.0 += i64::from(payoff.is_some());
            sum.1 += payoff.unwrap_or(0);
        }
        let payoff = payoffs[self.payoff as usize].unwrap_or(0);
        let payoff = match &mut self.adjusted {
            Some(adjusted) => {
                adjusted.open[agent] += i64::from(luck);
                if self.raw.is_mirrored[agent] { payoff * adjusted::FINE } else { adjusted.of_match(payoff, luck) }
            }
            None => payoff,
        };
        let own = self.by_lineup[lineup].iter_mut().find(|(other, ..)| *other == agent);
        let (_, n, s) = own.expect("the agent is in the lineup");
        (*n, *s) = (*n + 1, *s + payoff);
    }

    pub(crate) fn end_deal(&mut self) {
        let Some(deal) = self.open.deal.take() else { return };
        if let Some(TestedPair { hypothesis, is_complete: false, .. }) = self.tested
            && deal >= hypothesis.deals
        {
            let difference = self.tested_difference(&hypothesis);
            self.tested = Some(TestedPair { hypothesis, is_complete: true, difference });
        }
        let open = &mut self.open;
        let adjusted = self.adjusted.as_mut().map(|adjusted| adjusted.end_deal(&open.payoffs));
        if let Some(KeptDeals { payoff, sums }) = &mut self.kept {
            let own = |(agent, payoffs): (usize, &[(i64, i64); 4])| {
                let (known, sum) = payoffs[*payoff as usize];
                let raw = sum * adjusted::FINE;
                (known, [raw, adjusted.as_ref().map_or(raw, |adjusted| adjusted[agent][*payoff as usize])])
            };
            sums.insert(deal, open.payoffs.iter().enumerate().map(own).collect());
        }
        for (agent, payoffs) in self.raw.payoffs.iter_mut().enumerate() {
            for (moments, sums) in payoffs.iter_mut().zip(&mut open.payoffs[agent]) {
                let (known, sum) = std::mem::take(sums);
                moments.add(known, sum);
            }
        }
        for (seat, moments) in self.by_seat.iter_mut().enumerate() {
            moments.add(open.n[self.agents + seat], open.s[self.agents + seat]);
        }
        self.raw.joint.add(&open.n, &open.s);
        if open.matches == self.matches_a_deal {
            self.occupied.copy_from_slice(&open.occupied);
        } else {
            self.partial.add(&open.n, &open.s);
        }
        for (duel, sums) in open.duels.iter_mut().enumerate() {
            let (count, halves, luck) = std::mem::take(sums);
            self.raw.duels[duel].add(count, halves);
            // At two seats, the score is the win share, whose luck is measured.
            if let Some(adjusted) = self.adjusted.as_mut().filter(|_| self.seats == 2) {
                let score = adjusted::without_luck(halves, 2.0 * adjusted::share_of(luck));
                adjusted.sums.duels[duel].add(count, score);
            }
        }
        open.n.fill(0);
        open.s.fill(0);
        open.occupied.fill(0);
        open.matches = 0;
        self.rankings.end_cluster_of(deal);
        if let Some(game) = &mut self.game {
            game.end_cluster();
        }
    }

    /// The payoffs without the luck of the cards; `None` if the run does not measure it.
    pub(crate) fn adjusted(&self) -> Option<&PayoffSums> {
        self.adjusted.as_ref().map(|adjusted| &adjusted.sums)
    }

    /// The payoffs that tables for people show: without the luck of the cards if the run measures it.
    pub(crate) fn leading(&self) -> &PayoffSums {
        self.adjusted().unwrap_or(&self.raw)
    }

    /// The difference of the pair of a hypothesis in the deals of the hypothesis.
    pub(super) fn tested_difference(&self, hypothesis: &Hypothesis) -> Option<Interval> {
        let [one, other] = hypothesis.pair;
        match self.tested {
            Some(TestedPair { is_complete: true, difference, .. }) => difference,
            _ => Some(self.leading().difference(one, other)?.0),
        }
    }

    /// An agent's mean luck in a match, as a share of the win; `None` if the run does not measure it. Its expected value
    /// is 0.
    pub(crate) fn luck(&self, agent: usize) -> Option<Interval> {
        self.adjusted.as_ref()?.luck(agent)
    }

    /// The rank of each agent by the mean of the plan's payoff, over the lineups without the agent `left_out`: 1 plus the
    /// number of agents with a better mean. Agents with equal means share a rank. `None` for agents without a match.
    pub(crate) fn ranks(&self, left_out: Option<usize>) -> Vec<Option<usize>> {
        let mut sums = vec![(0, 0); self.agents];
        let is_in = |lineup: &&Vec<(usize, i64, i64)>| lineup.iter().all(|&(agent, ..)| Some(agent) != left_out);
        for &(agent, n, s) in self.by_lineup.iter().filter(is_in).flatten() {
            sums[agent] = (sums[agent].0 + i128::from(n), sums[agent].1 + i128::from(s));
        }
        let sign = self.payoff.sign() as i128;
        // Means are compared as fractions, so that equal means are equal.
        let is_better = |one: (i128, i128), other: (i128, i128)| sign * one.1 * other.0 > sign * other.1 * one.0;
        let rank = |own: &(i128, i128)| {
            (own.0 > 0).then(|| 1 + sums.iter().filter(|other| other.0 > 0 && is_better(**other, *own)).count())
        };
        sums.iter().map(rank).collect()
    }

    /// The number of matches of an agent, counted once per seat that it occupied.
    pub(crate) fn matches(&self, agent: usize) -> u64 {
        self.groups.values().map(|agents| agents[agent].matches).sum()
    }

    /// The mean of the plan's payoff in a seat, over all agents.
    pub(crate) fn seat(&self, seat: usize) -> Option<Interval> {
        self.by_seat[seat].interval(self.payoff.scale(self.seats), self.payoff.support())
    }

    /// The ranks of two agents in their matches; `first` is the agent with the lower number.
    pub(crate) fn duel(&self, first: usize, second: usize) -> &PairRanks {
        &self.duels[first * self.agents + second]
    }

    /// Keeps the sums of this payoff in each deal from now on. The comparison of runs on the same deals needs them.
    pub(crate) fn keep_deals(&mut self, payoff: Payoff) {
        self.kept = Some(KeptDeals { payoff, sums: BTreeMap::new() });
    }

    /// The difference of the mean payoffs of an agent and an agent of another run on the same deals, paired by deal;
    /// `None` unless both runs keep their deals. The luck of the cards is subtracted only if both runs measure it, because
    /// on the same deals the luck is the same.
    pub(crate) fn difference_from(&self, agent: usize, other: (&CellDigest, usize)) -> Option<Interval> {
        let (own, kept) = (self.kept.as_ref()?, other.0.kept.as_ref()?);
        let deals: BTreeSet<u64> = own.sums.keys().chain(kept.sums.keys()).copied().collect();
        let is_raw = self.adjusted.is_none() || other.0.adjusted.is_none();
        let mut joint = Joint::new(2);
        for deal in deals {
            let at = |kept: &KeptDeals, agent: usize| {
                let (n, sums) = kept.sums.get(&deal).map_or((0, [0; 2]), |agents| agents[agent]);
                (n, sums[usize::from(!is_raw)])
            };
            let ((n, s), (other_n, other_s)) = (at(own, agent), at(kept, other.1));
            joint.add(&[n, other_n], &[s, other_s]);
        }
        let support = own.payoff.support_of_difference();
        let support = if is_raw { support } else { support.without_luck() };
        Some(joint.difference(0, 1, own.payoff.scale(self.seats) * adjusted::FINE as f64, support)?.0)
    }

    /// The effects of the seats: least squares of payoff ~ agent + seat over complete deals, with errors clustered by
    /// deal (Liang and Zeger 1986, with the factor D/(D−1) alone), and the analysis of variance that tests whether all
    /// effects are 0. The test applies because effects are means over deals. `None` if the effects of agents and seats are not
    /// identifiable.
    pub(crate) fn seat_effect(&self) -> Option<SeatEffect> {
        if self.has_focal {
            // The means of focal agents do not count all their seats.
            return None;
        }
        let complete = self.raw.joint.without(&self.partial);
        let present: Vec<usize> = (0..self.agents).filter(|&agent| complete.totals(agent).0 > 0.0).collect();
        let (k, fitted) = (present.len(), self.seats - 1);
        let deals = complete.clusters(*present.first()?, *present.first()?) as f64;
        if deals < 2.0 {
            return None;
        }
        // The design matrix of one deal, which is the same for all deals: one column per agent, and one per seat
        // except the first.
        let quantity = |column: usize| if column < k { present[column] } else { self.agents + 1 + (column - k) };
        let occupied = |agent: usize, seat: usize| self.occupied[present[agent] * self.seats + seat] as f64;
        let size = k + fitted;
        let design = Matrix::from_fn(size, size, |i, j| match (i < k, j < k) {
            (true, true) if i == j => (0..self.seats).map(|seat| occupied(i, seat)).sum(),
            (true, false) => occupied(i, j - k + 1),
            (false, true) => occupied(j, i - k + 1),
            (false, false) if i == j => (0..k).map(|agent| occupied(agent, i - k + 1)).sum(),
            _ => 0.0,
        });
        let scale = self.payoff.scale(self.seats);
        let sums = Matrix::from_fn(size, 1, |column, _| complete.totals(quantity(column)).1 / scale);
        let inverse = design.clone().cholesky()?.inverse();
        if inverse.amax() > 1e9 {
            return None;
        }
        let fitted_values = &inverse * sums / deals;
        // Σ g gᵀ with g = Xᵀy − XᵀXβ, whose sum over the deals is 0.
        let mean = design * &fitted_values;
        let spread = Matrix::from_fn(size, size, |i, j| {
            complete.products(quantity(i), quantity(j)) / (scale * scale) - deals * mean[i] * mean[j]
        });
        let covariance = &inverse * spread * &inverse / (deals * (deals - 1.0));
        let effects: Vec<f64> = (0..fitted).map(|seat| fitted_values[k + seat]).collect();
        let of_seats = covariance.view((k, k), (fitted, fitted)).into_owned();
        // Seat a has the effect 0, without an error.
        let of_all = of_seats.clone().insert_row(0, 0.0).insert_column(0, 0.0);
        let all: Vec<f64> = std::iter::once(0.0).chain(effects.iter().copied()).collect();
        let test = (deals as u64 >= SEAT_DEALS).then(|| anova::test(&all, &of_all, deals as u64)).flatten();
        Some(SeatEffect {
            errors: (0..fitted).map(|seat| of_seats[(seat, seat)].max(0.0).sqrt()).collect(),
            effects,
            test,
            deals: deals as u64,
        })
    }
}

/// The advantage of each seat over seat a.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct SeatEffect {
    /// The effects of seat b and the later seats.
    pub effects: Vec<f64>,
    /// The standard errors of the effects.
    pub errors: Vec<f64>,
    /// The test that all effects are 0; `None` below [`SEAT_DEALS`], or if the effects do not vary.
    pub test: Option<AnovaTest>,
    /// The number of deals.
    pub deals: u64,
}

/// The minimum number of deals for the test of the seats. With fewer, the test rejects more often than its level.
pub const SEAT_DEALS: u64 = 12;
