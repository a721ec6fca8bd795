//! The derived files of a run: tables that can always be recomputed from its rows.

use std::cmp::Ordering;
use std::path::Path;

use cambio_exec::{Estimate, write_whole};
use cambio_stats::ratings::{Misfit, PositionEffects, Rankings, Strengths, fit, misfit, pool};
use cambio_stats::simultaneous::{Contrasts, SimultaneousIntervals};
use cambio_stats::sprt::elo_of_score;
use cambio_stats::{ELO, Interval, Support, anytime, normal_cdf};
use itertools::Itertools;
use serde::Serialize;

use super::adjusted::is_beyond;
use super::cell::CellDigest;
use super::hypothesis::HypothesisAnswer;
use super::sums::PayoffSums;
use super::tables::{FaultRow, PairRow, PooledRow, RatingRow, SeatRow, SummaryRow};
use super::{Digest, resampling, streams};
use crate::disk::RunError;
use crate::plan::{Payoff, Plan};
use crate::rows::{BehaviourRow, ratio};
use crate::table::Table;

/// The number of bootstrap resamples for the intervals of an empirical game.
pub const RESAMPLES: usize = 1000;

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
}

impl Derived {
    /// Computes the tables from the sums of all rows.
    pub(crate) fn new(plan: &Plan, mut digest: Digest) -> Derived {
        digest.end_deal();
        let faults = std::mem::take(&mut digest.faults);
        let (hypothesis, pooled) = (HypothesisAnswer::of(plan, &digest), pooled(plan, &digest));
        let mut derived = Derived { hypothesis, pooled, faults, ..Derived::default() };
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
            derived.pairwise.extend(pairs);
            derived.ratings.extend(sums.ratings(strengths.as_ref(), misfit.as_ref()));
            derived.seats.extend(sums.seats(strengths.as_ref()));
            derived.together.push(adjusted.or(compared));
        }
        derived
    }

    /// The name and the content of every file.
    pub fn files(&self) -> Vec<(&'static str, String)> {
        let mut files = vec![
            ("summary.csv", Table::of(&self.summary).csv()),
            ("ratings.csv", Table::of(&self.ratings).csv()),
            ("pairwise.csv", Table::of(&self.pairwise).csv()),
            ("seats.csv", Table::of(&self.seats).csv()),
            ("behaviour.csv", Table::of(&self.behaviour).csv()),
            ("faults.csv", Table::of(&self.faults).csv()),
        ];
        if !self.pooled.is_empty() {
            files.push(("pooled.csv", Table::of(&self.pooled).csv()));
        }
        files
    }

    /// Whether a mean share that tables for people show is below 0 or above 1, or an end of its interval.
    pub fn has_beyond(&self) -> bool {
        let shares =
            self.summary.iter().flat_map(|row| [Payoff::RankPoints, Payoff::Win].map(|payoff| row.leading(payoff)));
        shares.flatten().any(|found| is_beyond(found.mean, found.ends()))
    }

    /// Writes the files.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), RunError> {
        Ok(self.files().into_iter().try_for_each(|(name, text)| write_whole(&folder.join(name), text.as_bytes()))?)
    }
}

/// An interval as an estimate.
pub(crate) fn estimate(found: &Interval) -> Estimate {
    let (mean, error, method) = (found.mean, found.error, found.support.method());
    Estimate { mean, error, method, ..Estimate::default() }.with_ends(found.ends())
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
        let rating = estimate(&strengths.interval(agent));
        PooledRow {
            agent: plan.agents[agent].label.clone(),
            tables: played.iter().filter(|cell| cell.matches(agent) > 0).count(),
            deals: strengths.clusters,
            games: games[agent],
            component: components[agent] + 1,
            fit: strengths.fit.method(),
            strength: rating,
            elo: rating.scaled(ELO),
        }
    };
    (0..agents).filter(|&agent| games[agent] > 0).map(row).collect()
}

/// The sums of a cell, with the names for its rows.
struct CellSums<'a> {
    plan: &'a Plan,
    cell: &'a CellDigest,
    index: usize,
}

impl CellSums<'_> {
    fn rules(&self) -> String {
        self.plan.cells[self.index].rules.name().to_owned()
    }

    fn seat_count(&self) -> usize {
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
        let is_tested = !pairs.is_empty() && pairs.iter().all(|pair| pair.difference.error.is_some());
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
            let means = |sums: &PayoffSums| Payoff::ALL.map(|payoff| sums.payoff(agent, payoff).as_ref().map(estimate));
            let [rank_points, win_share, points, margin] = means(&self.cell.raw);
            let [rank_points_adjusted, win_share_adjusted, points_adjusted, margin_adjusted] =
                self.cell.adjusted().map_or([None; 4], means);
            let sums = self.cell.behaviour(agent, None);
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
                deals: self.cell.raw.payoff(agent, Payoff::RankPoints)?.clusters,
                rank_points: rank_points?,
                win_share: win_share?,
                rank_points_adjusted,
                win_share_adjusted,
                luck: self.cell.luck(agent).as_ref().map(estimate),
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
                margin,
                margin_adjusted,
                points: points?,
                points_adjusted,
                forfeits: sums.forfeits,
                analysis: lineups
                    .iter()
                    .any(|lineup| lineup.agents().contains(&agent) && self.plan.is_analysis(lineup)),
            })
        };
        (0..self.plan.agents.len()).filter_map(row).collect()
    }

    /// The behaviour of an agent without one group of deals.
    fn behaviour_of(&self, agent: usize, left_out: Option<u64>) -> BehaviourRow {
        let (label, sums) = (self.plan.agents[agent].label.clone(), self.cell.behaviour(agent, left_out));
        BehaviourRow::new(self.rules(), self.seat_count(), label, &sums)
    }

    /// The behaviour, with intervals by the jackknife over groups of deals.
    fn behaviour(&self) -> Vec<BehaviourRow> {
        let row = |&agent: &usize| {
            let without = |left_out| self.behaviour_of(agent, Some(left_out));
            let without: Vec<BehaviourRow> = self.cell.groups_of(agent).map(without).collect();
            self.behaviour_of(agent, None).with_intervals(&without)
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
        let compared = |sums: &PayoffSums, together: Option<&SimultaneousIntervals>| {
            let (found, efficiency) = sums.difference(one, other)?;
            let p = found.p(0.0);
            let difference = Estimate {
                simultaneous: together.and_then(|together| together.ends(&found)),
                anytime: found.ends_at(anytime::factor(found.clusters)),
                p,
                p_simultaneous: together.zip(p).map(|(together, p)| together.p(p)),
                ..estimate(&found)
            };
            Some((difference, efficiency, found.clusters))
        };
        let (difference, efficiency, deals) = compared(&self.cell.raw, together)?;
        let difference_adjusted = self.cell.adjusted().and_then(|sums| Some(compared(sums, together_adjusted)?.0));
        let errors = difference.error.zip(difference_adjusted.and_then(|adjusted| adjusted.error));
        let duel = self.cell.duel(one, other);
        let score = |sums: &PayoffSums| sums.score_interval(one, other).as_ref().map(estimate);
        let (score, score_adjusted) = (score(&self.cell.raw), self.cell.adjusted().and_then(score));
        let error = score.and_then(|score| score.error).filter(|error| *error > 0.0);
        // In the Plackett–Luce model, the odds between two agents do not depend on the other agents at the table.
        let odds = |strengths: &Strengths| libm::exp(strengths.strengths[other] - strengths.strengths[one]);
        let score_fitted =
            strengths.filter(|fit| fit.positions.is_empty()).map(|strengths| 1.0 / (1.0 + odds(strengths)));
        let score_fitted = score_fitted.filter(|_| score.is_some());
        let residual = misfit.and_then(|misfit| {
            let own = misfit.residual(one, other)?;
            let (p, simultaneous) = (own.interval.p(0.0), misfit.wide(own));
            Some(Estimate { p, simultaneous, ..estimate(&own.interval) }.scaled(ELO))
        });
        let scores = self.cell.raw.score(one, other);
        let results = scores.results() as f64;
        let normalized =
            score.zip(error).map(|(score, error)| (score.mean - 0.5) / (error * results.sqrt()) * 2.0 * ELO);
        // The sum is 0 for −0, the Elo difference of equals.
        let elo = |share: f64| elo_of_score(share).map(|elo| elo + 0.0);
        let elo = |score: Estimate| Estimate {
            mean: elo(score.mean).unwrap_or(f64::INFINITY.copysign(score.mean - 0.5)),
            low: score.low.and_then(elo),
            high: score.high.and_then(elo),
            ..Estimate::default()
        };
        Some(PairRow {
            rules: self.rules(),
            seats: self.seat_count(),
            agent: self.plan.agents[one].label.clone(),
            other: self.plan.agents[other].label.clone(),
            deals,
            difference,
            difference_adjusted,
            variance_ratio: errors.filter(|errors| errors.1 > 0.0).map(|(raw, adjusted)| (raw / adjusted).powi(2)),
            efficiency,
            duel_deals: scores.clusters,
            wins: duel.wins,
            ties: duel.ties,
            losses: duel.losses,
            score,
            score_adjusted,
            score_fitted,
            residual,
            elo: score.map(elo),
            elo_adjusted: score_adjusted.map(elo),
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
            let strength = fitted.map(|strengths| {
                let rating = strengths.interval(agent);
                let simultaneous = together.as_ref().and_then(|together| together.ends(&rating));
                Estimate { simultaneous, ..estimate(&rating) }
            });
            RatingRow {
                rules: self.rules(),
                seats: self.seat_count(),
                agent: self.plan.agents[agent].label.clone(),
                games: games[agent],
                component: (games[agent] > 0).then(|| components[agent] + 1),
                fit: fitted.map(|strengths| strengths.fit.method()),
                strength,
                elo: strength.map(|strength| strength.scaled(ELO)),
                misfit_f: test.map(|test| test.f),
                misfit_f_numerator: test.map(|test| test.freedom.0),
                misfit_f_denominator: test.map(|test| test.freedom.1),
                misfit_p: test.map(|test| test.p),
                nash: shares.as_ref().map(|[nash, _]| nash[agent]),
                nash_score: shares.as_ref().map(|[_, score]| score[agent]),
            }
        };
        self.present().iter().map(row).collect()
    }

    /// The agents' shares in the equilibrium of the empirical game and their payoffs against it, by their numbers in the plan, with
    /// bootstrap intervals over deals.
    fn shares(&self) -> Option<[Vec<Estimate>; 2]> {
        let (sums, scale) = (self.cell.game.as_ref()?, Payoff::RankPoints.scale(self.seat_count()));
        let game = sums.game(scale)?;
        let nash = game.nash()?;
        let mut rng = resampling(self.plan.seed, streams::GAMES + self.index as u32);
        let games: Vec<_> = (0..RESAMPLES).filter_map(|_| sums.resampled(scale, &mut rng)).collect();
        let solved: Vec<_> = games.iter().filter_map(|game| Some((game.nash()?, game))).collect();
        let scores: Vec<Vec<f64>> = solved.iter().map(|(nash, game)| game.payoffs(nash)).collect();
        let shares: Vec<Vec<f64>> = solved.into_iter().map(|(nash, _)| nash).collect();
        Some([estimates(&nash, &shares), estimates(&game.payoffs(&nash), &scores)])
    }

    fn seats(&self, fitted: Option<&Strengths>) -> Vec<SeatRow> {
        let effect = self.cell.seat_effect();
        let row = |seat: usize| {
            let payoff = self.cell.seat(seat)?;
            let of_seat = |list: &[f64]| if seat == 0 { Some(0.0) } else { list.get(seat - 1).copied() };
            let fitted = fitted
                .filter(|strengths| !strengths.positions.is_empty())
                .map(|strengths| if seat == 0 { (0.0, Some(0.0)) } else { strengths.positions[seat - 1] })
                .map(|(mean, error)| Estimate { mean, error, ..Estimate::default() }.scaled(ELO));
            let test = effect.as_ref().and_then(|effect| effect.test);
            Some(SeatRow {
                rules: self.rules(),
                seats: self.seat_count(),
                seat: cambio_core::Seat::ALL[seat].letter(),
                deals: payoff.clusters,
                payoff: estimate(&payoff),
                effect: effect.as_ref().and_then(|effect| {
                    let (mean, error) = (of_seat(&effect.effects)?, of_seat(&effect.errors));
                    Some(estimate(&Interval::new(mean, error, effect.deals, Support::Line)))
                }),
                effect_deals: effect.as_ref().map(|effect| effect.deals),
                f: test.map(|test| test.f),
                f_numerator: test.map(|test| test.freedom.0),
                f_denominator: test.map(|test| test.freedom.1),
                p: test.map(|test| test.p),
                elo: fitted,
            })
        };
        (0..self.seat_count()).filter_map(row).collect()
    }
}

/// Values with 95 % percentile intervals from resamples.
fn estimates(values: &[f64], resamples: &[Vec<f64>]) -> Vec<Estimate> {
    // Round to nine places, the precision to which the iterations converge.
    let rounded = |value: f64| (value * 1e9).round() / 1e9;
    let estimate = |(index, &value): (usize, &f64)| {
        let mut sorted: Vec<f64> = resamples.iter().map(|resample| resample[index]).collect();
        sorted.sort_by(f64::total_cmp);
        let percentile = |level: f64| {
            let last = sorted.len().checked_sub(1)?;
            Some(rounded(sorted[((level * sorted.len() as f64) as usize).min(last)]))
        };
        Estimate { mean: rounded(value), low: percentile(0.025), high: percentile(0.975), ..Estimate::default() }
    };
    values.iter().enumerate().map(estimate).collect()
}
