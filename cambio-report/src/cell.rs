//! The section of the page about one cell: a rule system at one number of seats. The page calls a cell a table.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use cambio_core::text::duration;
use cambio_sim::digest::{BEYOND, RESAMPLES, SEAT_DEALS, is_beyond};
use cambio_sim::rows::{MEASURES, Measure};
use cambio_sim::{
    BehaviourRow, Derived, Estimate, Payoff, Plan, PlayedBatches, RatingRow, SeatRow, SummaryRow, Timing,
};
use cambio_stats::ratings::Fit;
use serde_json::json;

use crate::figure::{Figure, IntervalPoint, forest};
use crate::numbers::{NONE, grouped, listed, maybe, measured, number, plus_minus, range, signed, spread};
use crate::page::{Block, ReportTable, Section, TableCell, TableRow, code, prose};
use crate::verdict::{RankedAgent, RankedAgents, p_value};

/// The maximum number of columns of a matrix of agents. With more agents, only the best 8 get a column.
const MOST_COLUMNS: usize = 12;
const BEST_COLUMNS: usize = 8;
/// From this number of agents on, agents are the rows of the behaviour table instead of its columns.
const MANY: usize = 8;

/// The maximum number of pairs in the plot of the residuals.
const MOST_RESIDUALS: usize = 12;

pub(super) struct CellReport<'a> {
    pub(super) plan: &'a Plan,
    /// The number of the cell in the plan.
    pub(super) index: usize,
    pub(super) derived: &'a Derived,
    pub(super) ranked: RankedAgents<'a>,
    pub(super) extent: PlayedBatches,
}

impl CellReport<'_> {
    pub(super) fn title(&self) -> String {
        self.plan.cells[self.index].to_string()
    }

    pub(super) fn seats(&self) -> usize {
        self.plan.cells[self.index].seats
    }

    fn is_here(&self, rules: &str, seats: usize) -> bool {
        self.plan.cells[self.index].is_of(rules, seats)
    }

    /// The ranks and names of the agents, the best first.
    fn names(&self) -> Vec<String> {
        let name = |(index, agent): (usize, &RankedAgent<'_>)| format!("{} {}", self.ranked.rank(index), agent.label);
        self.ranked.agents.iter().enumerate().map(name).collect()
    }

    /// Like [`names`](Self::names), with the names as code.
    pub(super) fn heads(&self) -> Vec<String> {
        let head = |(index, agent): (usize, &RankedAgent<'_>)| self.ranked.rank(index) + "\u{a0}" + &code(agent.label);
        self.ranked.agents.iter().enumerate().map(head).collect()
    }

    /// The name of a table, for screen readers.
    fn name(&self, kind: &str) -> String {
        format!("{kind}, {}", self.title())
    }

    /// The section of a page that has this cell alone, or several cells.
    pub(super) fn section(&self, has_several: bool) -> Section {
        let ratings: Vec<&RatingRow> = self.ranked.agents.iter().filter_map(|agent| self.rating(agent.label)).collect();
        let has_several_agents = self.ranked.agents.len() > 1;
        let is_rated = has_several_agents && ratings.iter().all(|row| row.elo.is_some());
        let details = |heading: &str, is_open, blocks| Block::Details { heading: heading.to_owned(), is_open, blocks };
        let mut blocks = Vec::new();
        if has_several {
            let verdict = self.ranked.verdict(self.extent);
            blocks.push(Block::verdict(format!("verdict-{}", self.index + 1), verdict));
        }
        blocks.push(Block::facts(self.facts()));
        blocks.extend(self.ranked.field().map(Block::text));
        blocks.extend([Block::heading("Standing"), Block::Table(self.standing())]);
        if has_several_agents {
            let note = ratings_note(&ratings);
            let ratings = is_rated.then(|| self.ratings(&ratings));
            blocks.extend(Block::figures([self.means()].into_iter().chain(ratings)));
            blocks.extend(note.map(Block::note));
        }
        blocks.extend(self.misfit_note(&ratings).map(Block::note));
        let differences = self.ranked.compares().then(|| self.differences());
        let mut pairs: Vec<Block> = self.scores().into_iter().chain(differences).map(Block::Table).collect();
        let shares = self.shares(&ratings).map(Block::Table);
        if !pairs.is_empty() || shares.is_some() {
            pairs.extend(Block::figures(self.misfit()));
            pairs.extend(shares);
            blocks.push(details("Pairs", !has_several, pairs));
        }
        let seats = vec![Block::text(self.seat_test()), Block::Table(self.seat_table())];
        blocks.extend([
            details("Seats", !has_several, seats),
            details("Behaviour", false, vec![Block::Table(self.behaviour())]),
        ]);
        Section::new(format!("table-{}", self.index + 1), self.title(), blocks)
    }

    fn facts(&self) -> String {
        let agents = &self.ranked.agents;
        let behaviour = self.derived.behaviour.iter().filter(|row| self.is_here(&row.rules, row.seats));
        let values = json!({
            "lineups": self.plan.cells[self.index].lineups.len(),
            "deals": agents.iter().map(|agent| agent.summary.deals).max().unwrap_or(0),
            "matches": agents.iter().map(|agent| agent.summary.matches).sum::<u64>() / self.seats() as u64,
            "rounds": behaviour.map(|row| row.rounds).sum::<u64>() / self.seats() as u64,
        });
        prose("facts", values)
    }

    fn rating(&self, agent: &str) -> Option<&RatingRow> {
        self.derived.ratings.iter().find(|row| self.is_here(&row.rules, row.seats) && row.agent == agent)
    }

    fn standing(&self) -> ReportTable {
        let (agents, has_ranks, is_adjusted) =
            (&self.ranked.agents, self.ranked.compares() && !self.ranked.has_others(), self.plan.measures_luck());
        let mut columns: Vec<(&str, Vec<String>)> = Vec::new();
        let mut add = |head, is_shown: bool, cell: &dyn Fn(&SummaryRow) -> String| {
            columns.extend(is_shown.then(|| (head, agents.iter().map(|agent| cell(agent.summary)).collect())));
        };
        let show = |mean: Option<&Estimate>, payoff: Payoff| {
            mean.map_or_else(|| NONE.to_owned(), |mean| plus_minus(mean.mean, mean.ends(), payoff.digits()))
        };
        let leading = |row: &SummaryRow, payoff| show(row.leading(payoff), payoff);
        let raw = |row: &SummaryRow, payoff| show(row.raw(payoff), payoff);
        add("rank", has_ranks, &|row| range(row.rank_low.zip(row.rank_high)));
        add("without one", has_ranks, &|row| range(row.rank_best_without_one.zip(row.rank_worst_without_one)));
        // The mean points a match have their own column only if they are the payoff, because rounds are easier to compare.
        add("points a match", self.plan.payoff == Payoff::Points, &|row| leading(row, Payoff::Points));
        add("rank points", true, &|row| leading(row, Payoff::RankPoints));
        add("share of wins", true, &|row| leading(row, Payoff::Win));
        add("rank points with luck", is_adjusted, &|row| raw(row, Payoff::RankPoints));
        add("wins with luck", is_adjusted, &|row| raw(row, Payoff::Win));
        add("margin", true, &|row| leading(row, Payoff::Margin));
        let round = if is_adjusted { "points a round with luck" } else { "points a round" };
        add(round, true, &|row| maybe(row.points_per_round, 2));
        add("deals", true, &|row| grouped(row.deals));
        add("matches", true, &|row| grouped(row.matches));
        add("forfeits", agents.iter().any(|agent| agent.summary.forfeits > 0), &|row| grouped(row.forfeits));
        let caption = json!({
            "unit": self.ranked.payoff.unit(),
            "has_ranks": has_ranks,
            "has_others": self.ranked.has_others(),
            "is_adjusted": is_adjusted,
            "beyond": self.derived.has_beyond().then_some(BEYOND),
        });
        let row = |(index, head): (usize, String)| {
            TableRow::new(head, columns.iter().map(|(_, cells)| cells[index].as_str()))
        };
        let rows = self.heads().into_iter().enumerate().map(row).collect();
        let heads = columns.iter().map(|(head, _)| *head);
        ReportTable::new(self.name("Standing"), prose("standing", caption), "agent", heads, rows)
    }

    fn means(&self) -> Figure {
        let ranked = &self.ranked;
        let estimate = |(label, agent): (String, &RankedAgent<'_>)| IntervalPoint {
            label,
            figure: ranked.told(agent.mean),
            mean: agent.mean.mean,
            interval: agent.mean.ends(),
            wide: None,
            is_best: agent.is_among_best,
        };
        let estimates: Vec<IntervalPoint> = self.names().into_iter().zip(&ranked.agents).map(estimate).collect();
        let unit = ranked.payoff.unit();
        let par = ranked.payoff.par(self.seats());
        let caption = json!({
            "unit": unit,
            "luck": self.plan.without_luck(),
            "has_par": par.is_some(),
            "has_others": ranked.has_others(),
        });
        self.forest("means", &format!("Mean {unit}"), caption, &estimates, par, (unit, ranked.payoff.digits()))
    }

    fn ratings(&self, rows: &[&RatingRow]) -> Figure {
        let estimate = |((label, agent), row): ((String, &RankedAgent<'_>), &&RatingRow)| IntervalPoint {
            label,
            figure: row.elo.map_or_else(String::new, |elo| plus_minus(elo.mean, elo.ends(), 0)),
            mean: row.elo.map_or(0.0, |elo| elo.mean),
            interval: row.elo.and_then(|elo| elo.ends()),
            wide: row.elo.and_then(|elo| elo.simultaneous),
            is_best: agent.is_among_best,
        };
        let mut estimates: Vec<IntervalPoint> =
            self.names().into_iter().zip(&self.ranked.agents).zip(rows).map(estimate).collect();
        estimates.sort_by(|one, other| other.mean.total_cmp(&one.mean));
        let luck = self.plan.with_luck();
        let kind = if is_regularised(rows) { "Regularised ratings" } else { "Ratings" };
        let title = format!("{kind} in Elo points{luck}");
        let caption = json!({ "luck": luck, "zero": zero(self.plan) });
        self.forest("ratings", &title, caption, &estimates, Some(0.0), ("Elo points", 0))
    }

    /// The table of the empirical game, if every composition of agents was played.
    fn shares(&self, rows: &[&RatingRow]) -> Option<ReportTable> {
        rows.iter().any(|row| row.nash.is_some()).then_some(())?;
        let share = |share: Estimate| match share.ends() {
            None => number(share.mean, 2),
            // Percentiles of equal resamples have no width, which looks like certainty.
            Some((low, high)) if high - low < 0.005 => format!("{} (all alike)", number(share.mean, 2)),
            Some((low, high)) => format!("{} ({} to {})", number(share.mean, 2), number(low, 2), number(high, 2)),
        };
        let row = |(head, row): (String, &&RatingRow)| {
            let cells = [
                row.nash_score.map_or_else(|| NONE.to_owned(), |score| plus_minus(score.mean, score.ends(), 3)),
                row.nash.map_or_else(|| NONE.to_owned(), share),
            ];
            TableRow::new(head, cells)
        };
        let caption = json!({ "luck": self.plan.with_luck(), "seats": self.seats(), "resamples": RESAMPLES });
        let rows = self.heads().into_iter().zip(rows).map(row).collect();
        let (name, caption) = (self.name("Empirical game"), prose("empirical_game", caption));
        Some(ReportTable::new(name, caption, "agent", ["against Nash", "Nash share"], rows))
    }

    /// A matrix of pairs, with a row for every agent and a column for each of `columns`.
    fn matrix(
        &self,
        name: &str,
        caption: String,
        columns: &[usize],
        cell: impl Fn(&str, &str) -> Option<TableCell>,
    ) -> ReportTable {
        let agents = &self.ranked.agents;
        let shown = if columns.len() > MOST_COLUMNS { &columns[..BEST_COLUMNS] } else { columns };
        let left = if shown.len() < columns.len() {
            format!(" {}", prose("best_columns", json!({ "best": BEST_COLUMNS })))
        } else {
            String::new()
        };
        let row = |(head, own): (String, &RankedAgent<'_>)| {
            let against = |&index: &usize| {
                let other = &agents[index];
                if own.index == other.index {
                    TableCell::from("·")
                } else {
                    cell(own.label, other.label).unwrap_or_else(|| NONE.into())
                }
            };
            TableRow { head, cells: shown.iter().map(against).collect() }
        };
        let head = |&index: &usize| match &agents[index] {
            agent if agent.is_compared => self.ranked.rank(index),
            agent => format!("† {}", agent.label),
        };
        let heads = shown.iter().map(head);
        let rows = self.heads().into_iter().zip(agents).map(row).collect();
        ReportTable::new(self.name(name), caption + &left, "row against column", heads, rows).with_class("matrix")
    }

    fn scores(&self) -> Option<ReportTable> {
        let agents = &self.ranked.agents;
        let met = |one: &str, other: &str| self.ranked.score(one, other).is_some();
        let rivals = |index: usize| agents.iter().filter(|other| met(agents[index].label, other.label)).count();
        let most = (0..agents.len()).map(rivals).max().filter(|most| *most > 0)?;
        // An agent that met only one opponent gets no column, unless this is so for all agents.
        let columns: Vec<usize> = (0..agents.len()).filter(|&index| most == 1 || rivals(index) > 1).collect();
        let cell = |one: &str, other: &str| {
            let (mean, ends) = self.ranked.score(one, other)?;
            let half = spread(mean * 100.0, ends.map(|(low, high)| (low * 100.0, high * 100.0)), 1);
            let tone = match mean.total_cmp(&0.5) {
                Ordering::Greater => "up",
                Ordering::Less => "down",
                Ordering::Equal => "",
            };
            let text = format!("{}{half}", number(mean * 100.0, 1));
            Some(TableCell { tone, shade: shade((mean - 0.5).abs() * 2.0), ..text.into() })
        };
        let mut shown =
            agents.iter().flat_map(|one| agents.iter().filter_map(|other| self.ranked.score(one.label, other.label)));
        let beyond = shown.any(|(mean, ends)| is_beyond(mean, ends)).then_some(BEYOND);
        let caption = json!({ "luck": self.ranked.luck_of_scores(self.plan), "beyond": beyond });
        Some(self.matrix("Scores", prose("scores", caption), &columns, cell))
    }

    fn differences(&self) -> ReportTable {
        let (unit, digits) = (self.ranked.payoff.unit(), self.ranked.payoff.digits());
        let agents = &self.ranked.agents;
        let gaps =
            agents.iter().flat_map(|one| agents.iter().filter_map(|other| self.ranked.gap(one.label, other.label)));
        let most = gaps.map(|gap| gap.mean.abs()).fold(f64::MIN_POSITIVE, f64::max);
        let cell = |one: &str, other: &str| {
            let gap = self.ranked.gap(one, other)?;
            let half = spread(gap.mean, gap.simultaneous, digits);
            let (tone, mark) = match gap.side() {
                Ordering::Equal => ("", ""),
                Ordering::Greater => ("up", "▲ "),
                Ordering::Less => ("down", "▼ "),
            };
            let text = format!("{mark}{}{half}", signed(gap.mean, digits));
            Some(TableCell { tone, shade: shade(gap.mean.abs() / most), ..text.into() })
        };
        let caption = json!({ "unit": unit, "luck": self.plan.without_luck(), "pairs": self.ranked.pair_count() });
        let columns: Vec<usize> = (0..self.ranked.compared().len()).collect();
        self.matrix("Differences", prose("differences", caption), &columns, cell)
    }

    fn seat_rows(&self) -> Vec<&SeatRow> {
        self.derived.seats.iter().filter(|row| self.is_here(&row.rules, row.seats)).collect()
    }

    fn seat_table(&self) -> ReportTable {
        let digits = self.ranked.payoff.digits();
        let elo = self.seat_rows().iter().any(|row| row.elo.is_some());
        let row = |row: &&SeatRow| {
            let mut cells = vec![
                plus_minus(row.payoff.mean, row.payoff.ends(), digits),
                match row.effect {
                    Some(_) if row.seat == 'a' => "0".to_owned(),
                    Some(effect) => signed(effect.mean, digits) + &spread(effect.mean, effect.ends(), digits),
                    None => NONE.to_owned(),
                },
            ];
            cells.extend(elo.then(|| maybe(row.elo.map(|elo| elo.mean), 0)));
            TableRow::new(row.seat.to_string(), cells)
        };
        let mut columns = vec!["mean", "over seat a"];
        columns.extend(elo.then_some("Elo"));
        let caption = json!({ "unit": self.ranked.payoff.unit(), "luck": self.plan.with_luck() });
        let rows = self.seat_rows().iter().map(row).collect();
        ReportTable::new(self.name("Seats"), prose("seat_table", caption), "seat", columns, rows)
    }

    fn seat_test(&self) -> String {
        let rows = self.seat_rows();
        let row = rows.first();
        let values = json!({
            "has_rows": row.is_some(),
            "has_effects": row.is_some_and(|row| row.effect.is_some()),
            "deals": row.and_then(|row| row.effect_deals).unwrap_or(0),
            "wanted": SEAT_DEALS,
            "luck": self.plan.with_luck(),
            "test": row.and_then(|row| f_test([row.f, row.f_numerator, row.f_denominator, row.p])),
            "is_significant": row.and_then(|row| row.p).is_some_and(|p| p < 0.05),
        });
        prose("seat_test", values)
    }

    /// A forest plot of this cell, whose caption is the text with the name `id`.
    fn forest(
        &self,
        id: &str,
        title: &str,
        caption: serde_json::Value,
        points: &[IntervalPoint],
        reference: Option<f64>,
        axis: (&str, usize),
    ) -> Figure {
        let described = points.iter().map(|own| format!("{}: {}", own.label, own.figure));
        Figure {
            id: format!("{id}-{}", self.index + 1),
            title: format!("{title}, {}", self.title()),
            description: listed(described),
            caption: prose(id, caption),
            drawing: forest(points, reference, axis),
        }
    }

    fn behaviour(&self) -> ReportTable {
        let of = |agent: &str| {
            self.derived.behaviour.iter().find(|row| self.is_here(&row.rules, row.seats) && row.agent == agent)
        };
        let own: Vec<_> = self.ranked.agents.iter().filter_map(|agent| of(agent.label)).collect();
        let is_used =
            |measure: &&Measure| own.iter().any(|row| (measure.value)(row).is_some_and(|value| value.mean != 0.0));
        let measures: Vec<&Measure> = MEASURES.iter().filter(is_used).collect();
        let row = |(head, row): (String, &&BehaviourRow)| {
            TableRow::new(head, measures.iter().map(|measure| measured(measure, row)))
        };
        let caption = prose("behaviour", json!({ "luck": self.plan.with_luck() }));
        let columns = measures.iter().map(|measure| measure.label);
        let rows = self.heads().into_iter().zip(&own).map(row).collect();
        let table = ReportTable::new(self.name("Behaviour"), caption, "agent", columns, rows).with_class("behaviour");
        if own.len() < MANY { table.transposed("per round") } else { table }
    }

    /// The deviations of pairs from the ratings, the most significant first. The first agent of a pair is stronger than the ratings say.
    fn residuals(&self) -> Vec<(Estimate, [&str; 2])> {
        let rows = self.derived.pairwise.iter().filter(|row| self.is_here(&row.rules, row.seats));
        let turned = rows.filter_map(|row| {
            let (own, [one, other]) = (row.residual?, [&*row.agent, &*row.other]);
            Some(if own.mean < 0.0 { (own.scaled(-1.0), [other, one]) } else { (own, [one, other]) })
        });
        let size = |own: &Estimate| own.error.filter(|error| *error > 0.0).map_or(0.0, |error| own.mean / error);
        let mut residuals: Vec<_> = turned.collect();
        residuals.sort_by(|(one, _), (other, _)| size(other).total_cmp(&size(one)));
        residuals
    }

    /// Describes whether one rating for each agent describes the results.
    fn misfit_note(&self, ratings: &[&RatingRow]) -> Option<String> {
        let (residuals, row) = (self.residuals(), ratings.first()?);
        let (most, [one, other]) = residuals.first()?;
        let test = f_test([row.misfit_f, row.misfit_f_numerator, row.misfit_f_denominator, row.misfit_p]);
        // The mean square of the deviations that is not expected from chance.
        let excess = |(own, _): &(Estimate, _)| own.mean.powi(2) - own.error.unwrap_or(0.0).powi(2);
        let excess = residuals.iter().map(excess).sum::<f64>() / residuals.len() as f64;
        let values = json!({
            "test": test.map(|test| format!("goodness of fit{}, {test}", self.plan.with_luck())),
            "is_significant": row.misfit_p.is_some_and(|p| p < 0.05),
            "size": number(excess.max(0.0).sqrt(), 0),
            "one": one,
            "most": number(most.mean, 0),
            "other": other,
        });
        Some(prose("misfit_note", values))
    }

    /// The plot of the residuals.
    fn misfit(&self) -> Option<Figure> {
        let residuals = self.residuals();
        let point = |(own, [one, other]): &(Estimate, [&str; 2])| IntervalPoint {
            label: format!("{one} – {other}"),
            figure: signed(own.mean, 0) + &spread(own.mean, own.ends(), 0),
            mean: own.mean,
            interval: own.ends(),
            wide: own.simultaneous,
            is_best: false,
        };
        let points: Vec<IntervalPoint> = residuals.iter().take(MOST_RESIDUALS).map(point).collect();
        let caption = json!({ "luck": self.plan.with_luck(), "pairs": residuals.len(), "shown": MOST_RESIDUALS });
        let title = "Deviations of pairs from the ratings";
        let figure = || self.forest("misfit", title, caption, &points, Some(0.0), ("Elo points", 0));
        (!points.is_empty()).then(figure)
    }

    /// The times of the agents: a heading and a table; nothing if no agent was timed.
    pub(super) fn times(&self, timing: &Timing) -> Vec<Block> {
        let (ranked, unit) = (&self.ranked, self.ranked.payoff.unit());
        let spent: Vec<Option<(f64, u64)>> = ranked
            .agents
            .iter()
            .map(|agent| timing.agent(self.index, agent.index))
            .map(|spent| spent.and_then(|spent| Some((spent.per_decision()?, spent.decisions))))
            .collect();
        if spent.iter().all(Option::is_none) {
            return Vec::new();
        }
        let row = |((head, agent), spent): ((String, &RankedAgent<'_>), &Option<(f64, u64)>)| {
            let (each, decisions) = spent.map_or((NONE.to_owned(), 0), |(each, of)| (duration(each), of));
            TableRow::new(head, [ranked.told(agent.mean), each, grouped(decisions)])
        };
        let rows = self.heads().into_iter().zip(&ranked.agents).zip(&spent).map(row).collect();
        let columns = [unit, "time per decision", "timed decisions"];
        let table = ReportTable::new(self.name("Times"), prose("timed", json!({})), "agent", columns, rows);
        vec![Block::heading(self.title()), Block::Table(table)]
    }
}

/// An F test in words, from the statistic, its degrees of freedom and the p-value; `None` without a test.
fn f_test(test: [Option<f64>; 4]) -> Option<String> {
    let [f, numerator, denominator, p] = test;
    let [numerator, denominator] = [numerator?, denominator?].map(|freedom| (freedom * 10.0).round() / 10.0);
    Some(format!("F = {:.2} with {numerator} and {denominator} degrees of freedom, {}", f?, p_value(p?)))
}

/// Explains missing or regularised ratings.
fn ratings_note(rows: &[&RatingRow]) -> Option<String> {
    let is_rated = rows.iter().all(|row| row.elo.is_some());
    if is_rated && !is_regularised(rows) {
        return None;
    }
    let groups: BTreeSet<Option<usize>> = rows.iter().map(|row| row.component).collect();
    Some(prose("ratings_note", json!({ "is_rated": is_rated, "groups": groups.len() })))
}

/// Describes which agent has the rating 0, or that the mean is 0.
pub(super) fn zero(plan: &Plan) -> String {
    prose("zero", json!({ "anchor": plan.anchor.map(|agent| plan.agents[agent].label.as_str()) }))
}

/// Whether the ratings were fitted with a prior.
fn is_regularised(rows: &[&RatingRow]) -> bool {
    rows.iter().any(|row| row.fit == Some(Fit::Regularised.method()))
}

/// The strength of a shade, limited so that the text stays readable.
fn shade(strength: f64) -> f64 {
    (strength.clamp(0.0, 1.0) * 40.0).round() / 100.0
}
