//! The derived files of a run: tables that can always be recomputed from its rows.

use std::cmp::Ordering;
use std::path::Path;

use cambio_exec::{Row, write_whole};
use cambio_stats::ratings::{Misfit, PositionEffects, Rankings, Strengths, fit, misfit, pool};
use cambio_stats::simultaneous::{Contrasts, SimultaneousIntervals, holm};
use cambio_stats::sprt::elo_of_score;
use cambio_stats::{ELO, Interval, anytime, equivalence, normal_cdf};
use itertools::Itertools;
use serde::Serialize;

use super::adjusted::is_beyond;
use super::cell::CellDigest;
use super::hypothesis::HypothesisAnswer;
use super::sums::PayoffSums;
use super::tables::{BaselineRow, EquivalenceRow, FaultRow, PairRow, PooledRow, RatingRow, SeatRow, SummaryRow};
use super::{Digest, resampling, streams};
use crate::disk::RunError;
use crate::plan::{Payoff, Plan};
use crate::rows::{BehaviourRow, QuantitySums, ratio};

/// The derived tables of a run. They serialize to an object with the rows of each file.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Derived {
    /// The answer to the hypothesis of the experiment, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hypothesis: Option<HypothesisAnswer>,
    /// `summary.csv`.
    pub summary: Vec<SummaryRow>,
    /// `ratings.csv`.
    pub ratings: Vec<RatingRow>,
    /// `pooled.csv`; empty if only one cell has games.
    pub pooled: Vec<PooledRow>,
    /// `pairwise.csv`.
    pub pairwise: Vec<PairRow>,
    /// `seats.csv`.
    pub seats: Vec<SeatRow>,
    /// `behaviour.csv`.
    pub behaviour: Vec<BehaviourRow>,
    /// `faults.csv`.
    pub faults: Vec<FaultRow>,
    /// For each cell, the simultaneous intervals for all pairs; `None` if they cannot be computed.
    #[serde(skip)]
    pub together: Vec<Option<SimultaneousIntervals>>,
    /// For each cell, the deviations of pairs from the ratings; `None` for a regularised fit or too many pairs.
    #[serde(skip)]
    pub misfits: Vec<Option<Misfit>>,
    /// For each row of `behaviour`, the standard errors of its values, clustered by groups of neighbouring deals.
    #[serde(skip)]
    pub behaviour_errors: Vec<BehaviourRow>,
    /// The sums from which the tables are computed.
    #[serde(skip)]
    pub digest: Digest,
}

impl Derived {
    /// Computes the tables from the sums of all rows.
    pub(crate) fn new(plan: &Plan, mut digest: Digest) -> Derived {
        digest.end_deal();
        let faults = std::mem::take(&mut digest.faults);
        let (hypothesis, pooled) = (HypothesisAnswer::of(plan, &digest), pooled(plan, &digest));
        let mut derived = Derived { hypothesis, faults, pooled, ..Derived::default() };
        let effects = if plan.seat_effects { PositionEffects::Fitted } else { PositionEffects::Ignored };
        for (index, cell) in digest.cells.iter().enumerate() {
            let sums = CellSums { plan, cell, index };
            let (present, agents) = (sums.present(), plan.agents.len());
            let compared = sums.together(Some(&cell.raw), &present, Contrasts::Pairs, streams::PAIRS);
            let adjusted = sums.together(cell.adjusted(), &present, Contrasts::Pairs, streams::ADJUSTED_PAIRS);
            // The fit is regularised if an agent has no game.
            let strengths = fit(&cell.rankings, agents, plan.anchor, effects);
            let misfit = misfit(&cell.rankings, agents, effects);
            let together = [&compared, &adjusted].map(Option::as_ref);
            let pair = |(one, other)| sums.pair(one, other, together, strengths.as_ref(), misfit.as_ref());
            let pairs: Vec<PairRow> = present.into_iter().tuple_combinations().filter_map(pair).collect();
            derived.summary.extend(sums.summary(&pairs));
            derived.behaviour.extend(sums.behaviour());
            derived.behaviour_errors.extend(sums.behaviour_errors());
            derived.pairwise.extend(pairs);
            derived.ratings.extend(sums.ratings(strengths.as_ref(), misfit.as_ref()));
            derived.seats.extend(sums.seats(strengths.as_ref()));
            derived.together.push(adjusted.or(compared));
            derived.misfits.push(misfit);
        }
        Derived { digest, ..derived }
    }

    /// The name and the content of every file.
    pub fn files(&self) -> Vec<(&'static str, String)> {
        let mut files = vec![
            ("summary.csv", table(&self.summary)),
            ("ratings.csv", table(&self.ratings)),
            ("pairwise.csv", table(&self.pairwise)),
            ("seats.csv", table(&self.seats)),
            ("behaviour.csv", table(&self.behaviour)),
            ("faults.csv", table(&self.faults)),
        ];
        if !self.pooled.is_empty() {
            files.push(("pooled.csv", table(&self.pooled)));
        }
        files
    }

    /// The sums from which a row of the summary was computed, and the number of its agent.
    pub fn sums(&self, plan: &Plan, row: &SummaryRow) -> Option<(&CellDigest, usize)> {
        Some((&self.digest.cells[plan.cell(&row.rules, row.seats)?], plan.agent(&row.agent)?))
    }

    /// Whether a mean share that tables for people show is below 0 or above 1, or an end of its interval.
    pub fn has_beyond(&self, plan: &Plan) -> bool {
        let shares = self
            .summary
            .iter()
            .filter_map(|row| self.sums(plan, row))
            .cartesian_product([Payoff::RankPoints, Payoff::Win]);
        let mut means = shares.filter_map(|((cell, agent), payoff)| cell.leading().payoff(agent, payoff));
        means.any(|found| is_beyond(found.mean, found.ends()))
    }

    /// Compares every agent with the agent at index `baseline` of the plan, for each table (Dunnett 1955). The
    /// intervals are simultaneous, and narrower than for all pairs because there are fewer comparisons. Tables without
    /// a match of the baseline are omitted.
    pub fn against(&self, plan: &Plan, baseline: usize) -> Vec<BaselineRow> {
        let mut rows = Vec::new();
        for (index, cell) in self.digest.cells.iter().enumerate() {
            let sums = CellSums { plan, cell, index };
            let present = sums.present();
            let Some(base) = present.iter().position(|&agent| agent == baseline) else { continue };
            let contrasts = Contrasts::Against(base);
            let adjusted = sums.together(cell.adjusted(), &present, contrasts, streams::ADJUSTED_BASELINE);
            let together = adjusted.or_else(|| sums.together(Some(&cell.raw), &present, contrasts, streams::BASELINE));
            for &agent in present.iter().filter(|&&agent| agent != baseline) {
                let Some((difference, _)) = cell.leading().difference(agent, baseline) else { continue };
                let ends = together.as_ref().and_then(|together| together.ends(&difference));
                rows.push(BaselineRow {
                    rules: sums.rules(),
                    seats: sums.seat_count(),
                    agent: plan.agents[agent].label.clone(),
                    baseline: plan.agents[baseline].label.clone(),
                    deals: difference.clusters,
                    difference: difference.mean,
                    low: ends.map(|ends| ends.0),
                    high: ends.map(|ends| ends.1),
                    p: together.as_ref().zip(difference.p(0.0)).map(|(together, p)| together.p(p)),
                    method: difference.support.method(),
                });
            }
        }
        rows
    }

    /// Tests for each pair of each table whether the mean payoffs differ by less than `margin`. With a `baseline`, an index
    /// of an agent of the plan, only the pairs with this agent.
    pub fn equivalences(&self, plan: &Plan, margin: f64, baseline: Option<usize>) -> Vec<EquivalenceRow> {
        let mut rows = Vec::new();
        for (index, cell) in self.digest.cells.iter().enumerate() {
            let sums = CellSums { plan, cell, index };
            let present = sums.present();
            let pairs = present.iter().enumerate().flat_map(|(at, &one)| match baseline {
                Some(base) if one == base => Vec::new(),
                Some(base) => vec![(one, base)],
                None => present[at + 1..].iter().map(|&other| (one, other)).collect(),
            });
            let found: Vec<_> = pairs
                .filter_map(|(one, other)| {
                    let (difference, _) = cell.leading().difference(one, other)?;
                    Some((one, other, difference, equivalence::p_value(&difference, margin)))
                })
                .collect();
            let tested: Vec<f64> = found.iter().filter_map(|(.., p)| *p).collect();
            let mut corrected = holm(&tested).into_iter();
            for (one, other, difference, p) in found {
                let ends = equivalence::ends(&difference);
                rows.push(EquivalenceRow {
                    rules: sums.rules(),
                    seats: sums.seat_count(),
                    agent: plan.agents[one].label.clone(),
                    other: plan.agents[other].label.clone(),
                    deals: difference.clusters,
                    difference: difference.mean,
                    low: ends.map(|ends| ends.0),
                    high: ends.map(|ends| ends.1),
                    equivalence_margin: margin,
                    p,
                    p_holm: p.and_then(|_| corrected.next()),
                    method: difference.support.method(),
                });
            }
        }
        rows
    }

    /// Writes the files.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), RunError> {
        Ok(self.files().into_iter().try_for_each(|(name, text)| write_whole(&folder.join(name), text.as_bytes()))?)
    }
}

/// A table as CSV. A table without rows has only its header.
fn table<R: Row + Serialize>(rows: &[R]) -> String {
    let mut csv = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    let header = csv.write_record(R::COLUMNS.iter().map(|column| column.name));
    let written = header.and_then(|()| rows.iter().try_for_each(|row| csv.serialize(row)));
    written.expect("rows of scalar fields can be written");
    String::from_utf8(csv.into_inner().expect("memory writes succeed")).expect("the cells are UTF-8")
}

/// One rating of each agent over all tables; empty if fewer than two tables have games.
fn pooled(plan: &Plan, digest: &Digest) -> Vec<PooledRow> {
    let agents = plan.agents.len();
    let played: Vec<&CellDigest> = digest.cells.iter().filter(|cell| cell.rankings.games() > 0).collect();
    let rankings: Vec<&Rankings> = played.iter().map(|cell| &cell.rankings).collect();
    let found = (rankings.len() > 1).then(|| pool(&rankings, agents, plan.anchor)).flatten();
    let Some(strengths) = found else { return Vec::new() };
    let all = Rankings::pooled(&rankings);
    let (games, components) = (all.games_of(agents), all.components(agents));
    let row = |agent: usize| {
        let rating = strengths.interval(agent);
        PooledRow {
            agent: plan.agents[agent].label.clone(),
            tables: played.iter().filter(|cell| cell.matches(agent) > 0).count(),
            deals: strengths.clusters,
            games: games[agent],
            component: components[agent] + 1,
            fit: strengths.fit.method(),
            strength: rating.mean,
            error: rating.error,
            elo: rating.mean * ELO,
            elo_low: rating.low().map(|low| low * ELO),
            elo_high: rating.high().map(|high| high * ELO),
        }
    };
    (0..agents).filter(|&agent| games[agent] > 0).map(row).collect()
}

/// The sums of a cell, with the names for its rows.
pub(super) struct CellSums<'a> {
    pub(super) plan: &'a Plan,
    pub(super) cell: &'a CellDigest,
    pub(super) index: usize,
}

impl CellSums<'_> {
    fn rules(&self) -> String {
        self.plan.cells[self.index].rules.name().to_owned()
    }

    pub(super) fn seat_count(&self) -> usize {
        self.plan.cells[self.index].seats
    }

    /// The agents that have a match.
    fn present(&self) -> Vec<usize> {
        (0..self.plan.agents.len()).filter(|&agent| self.cell.matches(agent) > 0).collect()
    }

    fn summary(&self, pairs: &[PairRow]) -> Vec<SummaryRow> {
        let lineups = &self.plan.cells[self.index].lineups;
        let (ranks, present) = (self.cell.ranks(None), self.present());
        let without: Vec<_> = present.iter().map(|&agent| (agent, self.cell.ranks(Some(agent)))).collect();
        let is_tested = !pairs.is_empty() && pairs.iter().all(|pair| pair.error.is_some());
        // The number of agents that are significantly better and worse than this one.
        let apart = |label: &str| {
            let mut counts = (0, 0);
            for pair in pairs.iter().filter(|pair| pair.agent == label || pair.other == label) {
                let is_straight = (pair.agent == label) == (self.plan.payoff.sign() > 0.0);
                match if is_straight { pair.leading().side() } else { pair.leading().side().reverse() } {
                    Ordering::Less => counts.0 += 1,
                    Ordering::Equal => {}
                    Ordering::Greater => counts.1 += 1,
                }
            }
            counts
        };
        let row = |agent: usize| {
            let rank_points = self.cell.raw.payoff(agent, Payoff::RankPoints)?;
            let win = self.cell.raw.payoff(agent, Payoff::Win)?;
            let margin = self.cell.raw.payoff(agent, Payoff::Margin);
            let adjusted = |payoff| self.cell.adjusted()?.payoff(agent, payoff);
            let points = self.cell.raw.payoff(agent, Payoff::Points)?;
            let [rank_points_adjusted, win_adjusted, points_adjusted, margin_adjusted] = Payoff::ALL.map(adjusted);
            let (mean, low, high) = (
                |found: Option<Interval>| found.map(|found| found.mean),
                |found: Option<Interval>| found.and_then(|found| found.low()),
                |found: Option<Interval>| found.and_then(|found| found.high()),
            );
            let luck = self.cell.luck(agent);
            let sums = &self.cell.behaviour.agents[agent].sums;
            let per_round = |count: u64| ratio(count as f64, sums.rounds);
            let label = &self.plan.agents[agent].label;
            let (better, worse) = apart(label);
            let left_out = without.iter().filter(|(other, _)| *other != agent);
            let without = || left_out.clone().filter_map(|(_, ranks)| ranks[agent]);
            Some(SummaryRow {
                rules: self.rules(),
                seats: self.seat_count(),
                agent: label.clone(),
                rank: ranks[agent]?,
                rank_low: is_tested.then_some(1 + better),
                rank_high: is_tested.then_some(present.len() - worse),
                rank_best_without_one: without().min(),
                rank_worst_without_one: without().max(),
                matches: sums.matches,
                deals: rank_points.clusters,
                rank_points: rank_points.mean,
                rank_points_low: rank_points.low(),
                rank_points_high: rank_points.high(),
                win_share: win.mean,
                win_share_low: win.low(),
                win_share_high: win.high(),
                rank_points_adjusted: mean(rank_points_adjusted),
                rank_points_adjusted_low: low(rank_points_adjusted),
                rank_points_adjusted_high: high(rank_points_adjusted),
                win_share_adjusted: mean(win_adjusted),
                win_share_adjusted_low: low(win_adjusted),
                win_share_adjusted_high: high(win_adjusted),
                luck: mean(luck),
                luck_error: luck.and_then(|luck| luck.error),
                points_per_round: ratio(sums.points as f64, sums.rounds),
                calls_per_round: per_round(sums.calls),
                calls_succeeded_share: ratio(sums.calls_succeeded as f64, sums.calls),
                points_at_call_mean: ratio(sums.points_at_call_sum.total as f64, sums.calls),
                snaps_right_per_round: per_round(sums.snaps_right_own + sums.snaps_right_foreign),
                snaps_wrong_per_round: per_round(sums.snaps_wrong),
                snaps_late_per_round: per_round(sums.snaps_late),
                penalties_per_round: per_round(sums.penalties),
                turns_per_round: per_round(sums.table_turns),
                rounds_per_match: sums.rounds as f64 / sums.matches as f64,
                margin: mean(margin),
                margin_low: low(margin),
                margin_high: high(margin),
                margin_adjusted: mean(margin_adjusted),
                margin_adjusted_low: low(margin_adjusted),
                margin_adjusted_high: high(margin_adjusted),
                points: points.mean,
                points_low: points.low(),
                points_high: points.high(),
                points_adjusted: mean(points_adjusted),
                points_adjusted_low: low(points_adjusted),
                points_adjusted_high: high(points_adjusted),
                forfeits: sums.forfeits,
                analysis: lineups
                    .iter()
                    .any(|lineup| lineup.agents().contains(&agent) && self.plan.is_analysis(lineup)),
            })
        };
        (0..self.plan.agents.len()).filter_map(row).collect()
    }

    fn behaviour_of(&self, agent: usize, sums: &QuantitySums) -> BehaviourRow {
        BehaviourRow::new(self.rules(), self.seat_count(), self.plan.agents[agent].label.clone(), sums)
    }

    fn behaviour(&self) -> Vec<BehaviourRow> {
        let row = |&agent: &usize| self.behaviour_of(agent, &self.cell.behaviour.agents[agent].sums);
        self.present().iter().map(row).collect()
    }

    /// The standard errors of the behaviour, by the jackknife over groups of deals.
    fn behaviour_errors(&self) -> Vec<BehaviourRow> {
        let row = |&agent: &usize| {
            let groups = self.cell.behaviour_of_groups(agent);
            let without = |left_out: usize| {
                let mut sums = QuantitySums::default();
                (0..groups.len()).filter(|&group| group != left_out).for_each(|group| sums += groups[group]);
                self.behaviour_of(agent, &sums)
            };
            let without: Vec<BehaviourRow> = (0..groups.len()).map(without).collect();
            self.behaviour_of(agent, &self.cell.behaviour.agents[agent].sums).errors(&without)
        };
        self.present().iter().map(row).collect()
    }

    /// The simultaneous intervals for the means of these agents.
    fn together(
        &self,
        sums: Option<&PayoffSums>,
        agents: &[usize],
        contrasts: Contrasts,
        stream: u32,
    ) -> Option<SimultaneousIntervals> {
        let mut rng = resampling(self.plan.seed, stream + self.index as u32);
        SimultaneousIntervals::new(&sums?.covariance(agents)?, contrasts, &mut rng)
    }

    fn pair(
        &self,
        one: usize,
        other: usize,
        [together, together_adjusted]: [Option<&SimultaneousIntervals>; 2],
        strengths: Option<&Strengths>,
        misfit: Option<&Misfit>,
    ) -> Option<PairRow> {
        let (difference, efficiency) = self.cell.raw.difference(one, other)?;
        let wide = together.and_then(|together| together.ends(&difference));
        let anytime = difference.ends_at(anytime::factor(difference.clusters));
        let p = difference.p(0.0);
        let adjusted = self.cell.adjusted().and_then(|sums| Some(sums.difference(one, other)?.0));
        let wide_adjusted =
            adjusted.as_ref().zip(together_adjusted).and_then(|(adjusted, together)| together.ends(adjusted));
        let anytime_adjusted = adjusted.and_then(|adjusted| adjusted.ends_at(anytime::factor(adjusted.clusters)));
        let p_adjusted = adjusted.and_then(|adjusted| adjusted.p(0.0));
        let errors = difference.error.zip(adjusted.and_then(|adjusted| adjusted.error));
        let duel = self.cell.duel(one, other);
        let score = self.cell.raw.score_interval(one, other);
        let score_adjusted = self.cell.adjusted().and_then(|sums| sums.score_interval(one, other));
        let error = score.and_then(|score| score.error).filter(|error| *error > 0.0);
        // In the Plackett–Luce model, the odds between two agents do not depend on the other agents at the table.
        let odds = |strengths: &Strengths| libm::exp(strengths.strengths[other] - strengths.strengths[one]);
        let score_fitted =
            strengths.filter(|fit| fit.positions.is_empty()).map(|strengths| 1.0 / (1.0 + odds(strengths)));
        let score_fitted = score_fitted.filter(|_| score.is_some());
        let residual = misfit.and_then(|misfit| misfit.residual(one, other)).map(|residual| residual.interval);
        let scores = self.cell.raw.score(one, other);
        let results = scores.results() as f64;
        let normalized =
            score.zip(error).map(|(score, error)| (score.mean - 0.5) / (error * results.sqrt()) * 2.0 * ELO);
        // The sum is 0 for −0, the Elo difference of equals.
        let elo = |end: Option<f64>| end.and_then(elo_of_score).map(|elo| elo + 0.0);
        Some(PairRow {
            rules: self.rules(),
            seats: self.seat_count(),
            agent: self.plan.agents[one].label.clone(),
            other: self.plan.agents[other].label.clone(),
            deals: difference.clusters,
            difference: difference.mean,
            error: difference.error,
            low: difference.low(),
            high: difference.high(),
            low_simultaneous: wide.map(|wide| wide.0),
            high_simultaneous: wide.map(|wide| wide.1),
            low_anytime: anytime.map(|ends| ends.0),
            high_anytime: anytime.map(|ends| ends.1),
            method: difference.support.method(),
            p,
            p_simultaneous: together.zip(p).map(|(together, p)| together.p(p)),
            difference_adjusted: adjusted.map(|adjusted| adjusted.mean),
            error_adjusted: adjusted.and_then(|adjusted| adjusted.error),
            low_adjusted: adjusted.and_then(|adjusted| adjusted.low()),
            high_adjusted: adjusted.and_then(|adjusted| adjusted.high()),
            low_simultaneous_adjusted: wide_adjusted.map(|wide| wide.0),
            high_simultaneous_adjusted: wide_adjusted.map(|wide| wide.1),
            low_anytime_adjusted: anytime_adjusted.map(|ends| ends.0),
            high_anytime_adjusted: anytime_adjusted.map(|ends| ends.1),
            p_adjusted,
            p_simultaneous_adjusted: together_adjusted.zip(p_adjusted).map(|(together, p)| together.p(p)),
            variance_ratio: errors.filter(|errors| errors.1 > 0.0).map(|(raw, adjusted)| (raw / adjusted).powi(2)),
            efficiency,
            duel_deals: scores.clusters,
            wins: duel.wins,
            ties: duel.ties,
            losses: duel.losses,
            score: score.map(|score| score.mean),
            score_error: score.and_then(|score| score.error),
            score_low: score.and_then(|score| score.low()),
            score_high: score.and_then(|score| score.high()),
            score_adjusted: score_adjusted.map(|score| score.mean),
            score_adjusted_low: score_adjusted.and_then(|score| score.low()),
            score_adjusted_high: score_adjusted.and_then(|score| score.high()),
            score_fitted,
            residual: residual.map(|residual| residual.mean * ELO),
            residual_error: residual.and_then(|residual| residual.error).map(|error| error * ELO),
            residual_p: residual.and_then(|residual| residual.p(0.0)),
            elo: elo(score.map(|score| score.mean)),
            elo_low: elo(score.and_then(|score| score.low())),
            elo_high: elo(score.and_then(|score| score.high())),
            elo_adjusted: elo(score_adjusted.map(|score| score.mean)),
            elo_adjusted_low: elo(score_adjusted.and_then(|score| score.low())),
            elo_adjusted_high: elo(score_adjusted.and_then(|score| score.high())),
            normalized_elo: normalized,
            superiority: score.zip(error).map(|(score, error)| normal_cdf((score.mean - 0.5) / error)),
        })
    }

    fn ratings(&self, fitted: Option<&Strengths>, misfit: Option<&Misfit>) -> Vec<RatingRow> {
        let test = misfit.and_then(|misfit| misfit.test);
        let agents = self.plan.agents.len();
        let games = self.cell.rankings.games_of(agents);
        let components = self.cell.rankings.components(agents);
        let together = fitted.and_then(|strengths| {
            (strengths.clusters > 1).then_some(())?;
            let mut rng = resampling(self.plan.seed, streams::RATINGS + self.index as u32);
            // The rating of the anchor is fixed at 0, so it needs no interval.
            let free: Vec<usize> =
                self.present().into_iter().filter(|&agent| Some(agent) != self.plan.anchor).collect();
            let covariance = strengths.covariance.select_rows(&free).select_columns(&free);
            SimultaneousIntervals::new(&covariance, Contrasts::Single, &mut rng)
        });
        let shares = self.shares();
        let row = |&agent: &usize| {
            let rating = fitted.map(|strengths| strengths.interval(agent));
            let wide = together.as_ref().zip(rating).and_then(|(together, rating)| together.ends(&rating));
            let strength = rating.map(|rating| rating.mean);
            let elo = |value: Option<f64>| value.map(|value| value * ELO);
            // Round to nine places, the precision to which the iterations converge.
            let share = |list: &Option<Vec<f64>>| list.as_ref().map(|list| (list[agent] * 1e9).round() / 1e9);
            RatingRow {
                rules: self.rules(),
                seats: self.seat_count(),
                agent: self.plan.agents[agent].label.clone(),
                games: games[agent],
                component: (games[agent] > 0).then(|| components[agent] + 1),
                fit: fitted.map(|strengths| strengths.fit.method()),
                strength,
                error: rating.and_then(|rating| rating.error),
                elo: elo(strength),
                elo_low: elo(rating.and_then(|rating| rating.low())),
                elo_high: elo(rating.and_then(|rating| rating.high())),
                elo_low_simultaneous: elo(wide.map(|wide| wide.0)),
                elo_high_simultaneous: elo(wide.map(|wide| wide.1)),
                misfit_f: test.map(|test| test.f),
                misfit_f_numerator: test.map(|test| test.freedom.0),
                misfit_f_denominator: test.map(|test| test.freedom.1),
                misfit_p: test.map(|test| test.p),
                nash: share(&shares.nash),
                nash_low: share(&shares.nash_low),
                nash_high: share(&shares.nash_high),
                nash_score: share(&shares.score),
                nash_score_low: share(&shares.score_low),
                nash_score_high: share(&shares.score_high),
            }
        };
        self.present().iter().map(row).collect()
    }

    fn seats(&self, fitted: Option<&Strengths>) -> Vec<SeatRow> {
        let effect = self.cell.seat_effect();
        let row = |seat: usize| {
            let payoff = self.cell.seat(seat)?;
            let of_seat = |list: &[f64]| if seat == 0 { Some(0.0) } else { list.get(seat - 1).copied() };
            let fitted = fitted
                .filter(|strengths| !strengths.positions.is_empty())
                .map(|strengths| if seat == 0 { (0.0, Some(0.0)) } else { strengths.positions[seat - 1] });
            let test = effect.as_ref().and_then(|effect| effect.test);
            Some(SeatRow {
                rules: self.rules(),
                seats: self.seat_count(),
                seat: cambio_core::Seat::ALL[seat].letter(),
                deals: payoff.clusters,
                payoff: payoff.mean,
                low: payoff.low(),
                high: payoff.high(),
                effect: effect.as_ref().and_then(|effect| of_seat(&effect.effects)),
                effect_error: effect.as_ref().and_then(|effect| of_seat(&effect.errors)),
                effect_deals: effect.as_ref().map(|effect| effect.deals),
                f: test.map(|test| test.f),
                f_numerator: test.map(|test| test.freedom.0),
                f_denominator: test.map(|test| test.freedom.1),
                p: test.map(|test| test.p),
                elo: fitted.map(|fitted| fitted.0 * ELO),
                elo_error: fitted.and_then(|fitted| fitted.1).map(|error| error * ELO),
            })
        };
        (0..self.seat_count()).filter_map(row).collect()
    }
}
