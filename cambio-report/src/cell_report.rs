//! The section of the page about one cell: a rule system at one number of seats. The page calls a cell a table.

use std::cmp::Ordering;

use cambio_sim::digest::{BEYOND, Behaviour, CellBehaviour, CellDigest, RESAMPLES, SEAT_DEALS, is_beyond};
use cambio_sim::rows::{MEASURES, Measure};
use cambio_sim::{BehaviourRow, Derived, Estimate, Payoff, Plan, PlayedBatches, RatingRow, SeatRow};
use cambio_stats::histogram::Histogram;
use cambio_stats::ratings::Fit;
use cambio_stats::{Interval, Support};
use serde::Serialize;

use crate::numbers::{
    NONE, count, grouped, listed, maybe, measured, number, percent, plus_minus, range, signed, spread,
};
use crate::parts::{ReportTable, TableCell, TableRow, code};
use crate::plot::{Curve, Distribution, Figure, Forest, IntervalPoint, Strips};
use crate::verdict::{RankedAgent, RankedAgents, p_value};

/// The maximum number of columns of a matrix of agents. With more agents, only the best 8 get a column.
const MOST_COLUMNS: usize = 12;
const BEST_COLUMNS: usize = 8;
/// From this number of agents on, agents are the rows of the behaviour table instead of its columns.
const MANY: usize = 8;

/// The template's view of one cell.
#[derive(Serialize)]
pub(super) struct Section {
    id: String,
    title: String,
    facts: String,
    verdict: String,
    field: Option<String>,
    standing: ReportTable,
    means: Option<Figure<Forest>>,
    ratings: Option<Figure<Forest>>,
    curves: Vec<Figure<Curve>>,
    ratings_note: Option<String>,
    misfit_note: Option<String>,
    misfit: Option<Figure<Forest>>,
    shares: Option<ReportTable>,
    scores: Option<ReportTable>,
    differences: Option<ReportTable>,
    seat_plot: Option<Figure<Forest>>,
    seats: ReportTable,
    seat_test: String,
    calls: Figure<Strips>,
    points: Figure<Strips>,
    behaviour: ReportTable,
}

pub(super) struct CellReport<'a> {
    pub(super) plan: &'a Plan,
    /// The number of the cell in the plan.
    pub(super) index: usize,
    pub(super) cell: &'a CellDigest,
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

    pub(super) fn section(&self) -> Section {
        let lineups = self.plan.cells[self.index].lineups.len() as u64;
        let deals = self.ranked.agents.iter().map(|agent| agent.mean.clusters).max().unwrap_or(0);
        let matches: u64 =
            self.ranked.agents.iter().map(|agent| agent.summary.matches).sum::<u64>() / self.seats() as u64;
        let CellBehaviour { rounds, called, .. } = self.cell.behaviour;
        let share = if rounds == 0 { 0.0 } else { called as f64 / rounds as f64 };
        let ratings: Vec<&RatingRow> = self.ranked.agents.iter().filter_map(|agent| self.rating(agent.label)).collect();
        let is_rated = self.ranked.agents.len() > 1 && ratings.iter().all(|row| row.elo.is_some());
        Section {
            id: format!("table-{}", self.index + 1),
            title: self.title(),
            facts: format!(
                "{}, {}, {}, {}; {} of the rounds were called.",
                count(lineups, "lineup"),
                count(deals, "deal"),
                count(matches, "match"),
                count(rounds, "round"),
                percent(share)
            ),
            verdict: self.ranked.verdict(self.extent),
            field: self.ranked.field(self.cell),
            standing: self.standing(),
            means: (self.ranked.agents.len() > 1).then(|| self.means()),
            ratings: is_rated.then(|| self.ratings(&ratings)),
            curves: self.curves(),
            ratings_note: (self.ranked.agents.len() > 1).then(|| ratings_note(&ratings)).flatten(),
            misfit_note: self.misfit_note(),
            misfit: self.misfit(),
            shares: self.shares(&ratings),
            scores: self.scores(),
            differences: self.ranked.compares().then(|| self.differences()),
            seat_plot: self.seat_plot(),
            seats: self.seat_table(),
            seat_test: self.seat_test(),
            calls: self.calls(),
            points: self.points(),
            behaviour: self.behaviour(),
        }
    }

    fn rating(&self, agent: &str) -> Option<&RatingRow> {
        self.derived.ratings.iter().find(|row| self.is_here(&row.rules, row.seats) && row.agent == agent)
    }

    fn standing(&self) -> ReportTable {
        let forfeits = self.ranked.agents.iter().any(|agent| agent.summary.forfeits > 0);
        let ranks = self.ranked.compares().then_some(["rank", "without one"]);
        let is_adjusted = self.plan.measures_luck();
        let round = if is_adjusted { "points a round with luck" } else { "points a round" };
        let mut columns = vec!["rank points", "share of wins", "margin", round, "deals", "matches"];
        if is_adjusted {
            columns.splice(2..2, ["rank points with luck", "wins with luck"]);
        }
        // The mean points a match have their own column only if they are the payoff, because rounds are easier to compare.
        let points = (self.plan.payoff == Payoff::Points).then_some("points a match");
        columns.splice(0..0, points);
        columns.splice(0..0, ranks.into_iter().flatten());
        columns.extend(forfeits.then_some("forfeits"));
        let row = |(head, agent): (String, &RankedAgent<'_>)| {
            let row = agent.summary;
            let show = |mean: Option<Interval>, payoff: Payoff| {
                mean.map_or_else(|| NONE.to_owned(), |mean| plus_minus(mean.mean, mean.ends(), payoff.digits()))
            };
            let leading = |payoff| show(self.cell.leading().payoff(agent.index, payoff), payoff);
            let mut cells: Vec<String> = points.map(|_| leading(Payoff::Points)).into_iter().collect();
            cells.extend([Payoff::RankPoints, Payoff::Win].map(leading));
            if is_adjusted {
                let raw = |payoff| show(self.cell.raw.payoff(agent.index, payoff), payoff);
                cells.extend([Payoff::RankPoints, Payoff::Win].map(raw));
            }
            cells.extend([
                leading(Payoff::Margin),
                maybe(row.points_per_round, 2),
                grouped(row.deals),
                grouped(row.matches),
            ]);
            let without = row.rank_best_without_one.zip(row.rank_worst_without_one);
            let ranges = ranks.map(|_| [row.rank_low.zip(row.rank_high), without].map(range));
            cells.splice(0..0, ranges.into_iter().flatten());
            cells.extend(forfeits.then(|| grouped(row.forfeits)));
            TableRow::new(head, cells)
        };
        ReportTable {
            caption: format!(
                "The agents over all lineups of this table, the best mean of {} first. The intervals of the means are single 95 % \
                 intervals, clustered by deal: skewness-corrected t (Hall) for shares and rank points, Student’s t for points. Rank points \
                 are 1 for the best seat, 0 for the worst, ½ for par; the margin is the table’s mean points minus the agent’s.{}{}{}",
                self.ranked.payoff.unit(),
                ranks.map_or("", |_| " Equal agents share a rank (=). The intervals of the ranks hold together at 95 %. Without one: \
                    the best and the worst rank if one of the other agents is left out."),
                if is_adjusted {
                    " The luck of the cards is subtracted, which does not change the expected values; these intervals are \
                     Student’s t. The columns “with luck” have the raw results."
                } else {
                    ""
                },
                if self.derived.has_beyond() { format!(" {BEYOND}") } else { String::new() }
            ),
            corner: "agent",
            columns: columns.into_iter().map(String::from).collect(),
            rows: self.heads().into_iter().zip(&self.ranked.agents).map(row).collect(),
        }
    }

    fn means(&self) -> Figure<Forest> {
        let ranked = &self.ranked;
        let estimate = |(label, agent): (String, &RankedAgent<'_>)| IntervalPoint {
            label,
            figure: ranked.told(&agent.mean),
            mean: agent.mean.mean,
            interval: agent.mean.ends(),
            wide: None,
            is_best: agent.is_among_best,
        };
        let estimates: Vec<IntervalPoint> = self.names().into_iter().zip(&ranked.agents).map(estimate).collect();
        let unit = ranked.payoff.unit();
        let par = ranked.payoff.par(self.seats());
        let dashed = if par.is_some() { " The dashed line is par." } else { "" };
        Figure {
            id: format!("means-{}", self.index + 1),
            title: format!("Mean {unit}, {}", self.title()),
            description: described(&estimates),
            caption: format!(
                "Mean {unit} with single 95 % intervals{}.{dashed} A filled diamond is the best mean, or not distinguishable from \
                 it in the simultaneous test of all pairs; a ring is behind.",
                self.plan.without_luck()
            ),
            drawing: Forest::new(&estimates, par, (unit, ranked.payoff.digits())),
        }
    }

    fn ratings(&self, rows: &[&RatingRow]) -> Figure<Forest> {
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
        Figure {
            id: format!("ratings-{}", self.index + 1),
            title: format!(
                "{} in Elo points{}, {}",
                if is_regularised(rows) { "Regularised ratings" } else { "Ratings" },
                self.plan.with_luck(),
                self.title()
            ),
            description: described(&estimates),
            caption: format!(
                "Plackett–Luce ratings from a joint fit of all games, in Elo points{}; {}. The thick bar is the single 95 % interval, \
                 the thin line the simultaneous one. The marks are as in the plot of the means.",
                self.plan.with_luck(),
                zero(self.plan)
            ),
            drawing: Forest::new(&estimates, Some(0.0), ("Elo points", 0)),
        }
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
        let equilibrium = if self.seats() == 2 { "the maximum-entropy equilibrium" } else { "a symmetric equilibrium" };
        Some(ReportTable {
            caption: format!(
                "The agents as strategies of an empirical game{}: the expected rank points against opponents from {equilibrium} (Nash \
                 averaging, ½ for its own agents), and the share of each in this equilibrium, with single 95 % bootstrap intervals over deals. \
                 All alike: the share is the same in at least 95 % of {} resamples, which is not certainty.",
                self.plan.with_luck(),
                grouped(RESAMPLES as u64)
            ),
            corner: "agent",
            columns: ["against Nash", "Nash share"].into_iter().map(String::from).collect(),
            rows: self.heads().into_iter().zip(rows).map(row).collect(),
        })
    }

    /// A matrix of pairs, with a row for every agent and a column for each of `columns`.
    fn matrix(
        &self,
        caption: String,
        columns: &[usize],
        cell: impl Fn(&str, &str) -> Option<TableCell>,
    ) -> ReportTable {
        let agents = &self.ranked.agents;
        let shown = if columns.len() > MOST_COLUMNS { &columns[..BEST_COLUMNS] } else { columns };
        let left = if shown.len() < columns.len() {
            format!(" The columns are the {BEST_COLUMNS} agents with the best means; pairwise.csv has all pairs.")
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
        ReportTable {
            caption: caption + &left,
            corner: "row against column",
            columns: shown.iter().map(|&index| self.ranked.rank(index)).collect(),
            rows: self.heads().into_iter().zip(agents).map(row).collect(),
        }
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
            Some(TableCell { text, tone, shade: shade((mean - 0.5).abs() * 2.0) })
        };
        let caption = "Pairwise scores: the row’s score against the column in percent, over their games: 1 for the better rank, ½ \
                       for the same. Intervals are single 95 % intervals.";
        let reading = "The shade repeats the number: blue above one half, orange below.";
        let mut shown =
            agents.iter().flat_map(|one| agents.iter().filter_map(|other| self.ranked.score(one.label, other.label)));
        let beyond = if shown.any(|(mean, ends)| is_beyond(mean, ends)) { format!(" {BEYOND}") } else { String::new() };
        Some(self.matrix(
            format!("{caption}{}{beyond} {reading}", self.ranked.luck_of_scores(self.plan)),
            &columns,
            cell,
        ))
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
            Some(TableCell { text, tone, shade: shade(gap.mean.abs() / most) })
        };
        let caption = format!(
            "Differences of mean {unit}{}, row minus column, paired by deal. The 95 % intervals are simultaneous over all {}. ▲ and ▼ \
             mark significant differences, above and below 0.",
            self.plan.without_luck(),
            count(self.ranked.pair_count() as u64, "pair")
        );
        self.matrix(caption, &(0..agents.len()).collect::<Vec<_>>(), cell)
    }

    fn seat_rows(&self) -> Vec<&SeatRow> {
        self.derived.seats.iter().filter(|row| self.is_here(&row.rules, row.seats)).collect()
    }

    fn seat_plot(&self) -> Option<Figure<Forest>> {
        let digits = self.ranked.payoff.digits();
        let estimate = |row: &&SeatRow| {
            let effect = seat_effect(row)?;
            let is_first = row.seat == 'a';
            Some(IntervalPoint {
                label: format!("seat {}", row.seat),
                figure: if is_first {
                    "0, by definition".to_owned()
                } else {
                    format!("{}{}", signed(effect.mean, digits), half(&effect, digits))
                },
                mean: effect.mean,
                interval: effect.ends().filter(|_| !is_first),
                wide: None,
                is_best: false,
            })
        };
        let estimates: Vec<IntervalPoint> = self.seat_rows().iter().map(estimate).collect::<Option<_>>()?;
        (!estimates.is_empty()).then(|| Figure {
            id: format!("seats-{}", self.index + 1),
            title: format!("Advantage of each seat over seat a, {}", self.title()),
            description: described(&estimates),
            caption: format!(
                "The advantage of a seat over seat a in {}{}, adjusted for the agents; single 95 % intervals. rounds.csv has the seat that \
                 began each round.",
                self.ranked.payoff.unit(),
                self.plan.with_luck()
            ),
            drawing: Forest::new(&estimates, Some(0.0), (self.ranked.payoff.unit(), digits)),
        })
    }

    fn seat_table(&self) -> ReportTable {
        let digits = self.ranked.payoff.digits();
        let elo = self.seat_rows().iter().any(|row| row.elo.is_some());
        let row = |row: &&SeatRow| {
            let effect = seat_effect(row);
            let mut cells = vec![
                plus_minus(row.payoff.mean, row.payoff.ends(), digits),
                match effect {
                    Some(_) if row.seat == 'a' => "0".to_owned(),
                    Some(effect) => format!("{}{}", signed(effect.mean, digits), half(&effect, digits)),
                    None => NONE.to_owned(),
                },
            ];
            cells.extend(elo.then(|| maybe(row.elo.map(|elo| elo.mean), 0)));
            TableRow::new(row.seat.to_string(), cells)
        };
        let mut columns = vec!["mean", "over seat a"];
        columns.extend(elo.then_some("Elo"));
        ReportTable {
            caption: format!("Results by seat, in {}{}.", self.ranked.payoff.unit(), self.plan.with_luck()),
            corner: "seat",
            columns: columns.into_iter().map(String::from).collect(),
            rows: self.seat_rows().iter().map(row).collect(),
        }
    }

    fn seat_test(&self) -> String {
        let rows = self.seat_rows();
        let Some(row) = rows.first() else { return "No matches were played yet.".into() };
        if row.effect.is_none() {
            return "Seat effects cannot be estimated: seats and agents are confounded, or there are too few deals."
                .into();
        }
        let test = row.f.zip(row.f_numerator).zip(row.f_denominator).zip(row.p);
        let Some((((f, numerator), denominator), p)) = test else {
            return match row.effect_deals.unwrap_or(0) {
                few if few < SEAT_DEALS => format!(
                    "No test of the seats: it needs {SEAT_DEALS} complete deals, and there {} {few}.",
                    if few == 1 { "is" } else { "are" }
                ),
                _ => "The seat effects do not vary between deals, so there is no variance to test with.".into(),
            };
        };
        let word = if p < 0.05 { "the seat matters" } else { "no evidence that the seat matters" };
        format!(
            "Analysis of variance{}, no seat matters: F = {f:.2} with {numerator:.1} and {denominator:.1} degrees of freedom, {}: {word}.",
            self.plan.with_luck(),
            p_value(p)
        )
    }

    /// A figure with a histogram for each agent.
    fn strips(
        &self,
        (id, title): (&str, &str),
        of: fn(&Behaviour) -> &Histogram,
        (origin, unit): (i64, &str),
        caption: &str,
    ) -> Figure<Strips> {
        let own: Vec<Distribution<'_>> = self
            .names()
            .into_iter()
            .zip(&self.ranked.agents)
            .map(|(label, agent)| Distribution { label, counts: of(&self.cell.behaviour.agents[agent.index]) })
            .collect();
        let described = |own: &Distribution<'_>| {
            let at = |share: f64| own.counts.quantile(share).map(|value| number(value as f64, 0));
            match (at(0.0), at(0.25), at(0.5), at(0.75), at(1.0)) {
                (Some(least), Some(low), Some(median), Some(high), Some(most)) => format!(
                    "{}: {} values from {least} to {most}, median {median}, middle half {low} to {high}",
                    own.label,
                    grouped(own.counts.total())
                ),
                _ => format!("{}: no values", own.label),
            }
        };
        let drawing = Strips::new(&own, origin, unit);
        Figure {
            id: format!("{id}-{}", self.index + 1),
            title: format!("{title}, {}", self.title()),
            description: listed(own.iter().map(described)),
            caption: format!("{caption}{}. {}", self.plan.with_luck(), drawing.reading()),
            drawing,
        }
    }

    fn calls(&self) -> Figure<Strips> {
        let caption = format!(
            "The turn in which an agent made the first call of a round. Turns of all seats are counted from 1: with {} seats, lap 2 \
             begins at turn {}",
            self.seats(),
            self.seats() + 1,
        );
        self.strips(
            ("calls", "When agents call"),
            |behaviour| &behaviour.call_turns,
            (1, "turn of the table"),
            &caption,
        )
    }

    fn points(&self) -> Figure<Strips> {
        let (name, unit) = (("points", "Points at the end of a round"), "points at the end of a round");
        let caption = "The points of an agent’s layout at the end of a round; fewer are better";
        self.strips(name, |behaviour| &behaviour.points, (0, unit), caption)
    }

    fn behaviour(&self) -> ReportTable {
        let of = |agent: &str| {
            let mut rows = self.derived.behaviour.iter().zip(&self.derived.behaviour_errors);
            rows.find(|(row, _)| self.is_here(&row.rules, row.seats) && row.agent == agent)
        };
        let own: Vec<_> = self.ranked.agents.iter().filter_map(|agent| of(agent.label)).collect();
        let is_used =
            |measure: &&Measure| own.iter().any(|(row, _)| (measure.value)(row).is_some_and(|value| value != 0.0));
        let measures: Vec<&Measure> = MEASURES.iter().filter(is_used).collect();
        let row = |(head, (row, errors)): (String, &(&BehaviourRow, &BehaviourRow))| TableRow {
            head,
            cells: measures.iter().map(|measure| measured(measure, row, errors).into()).collect(),
        };
        let table = ReportTable {
            caption: format!(
                "How each agent played, per round unless noted{}, with single 95 % intervals clustered by deal. Actions that no agent \
                 took are omitted. Values of calls are over all calls.",
                self.plan.with_luck()
            ),
            corner: "agent",
            columns: measures.iter().map(|measure| measure.label.into()).collect(),
            rows: self.heads().into_iter().zip(&own).map(row).collect(),
        };
        if own.len() < MANY { table.transposed("per round") } else { table }
    }
}

/// The advantage of a seat over seat a, from deals without missing matches.
fn seat_effect(row: &SeatRow) -> Option<Interval> {
    let effect = row.effect?;
    Some(Interval::new(effect.mean, effect.error, row.effect_deals?, Support::Line))
}

/// Explains missing or regularised ratings.
fn ratings_note(rows: &[&RatingRow]) -> Option<String> {
    if rows.iter().any(|row| row.elo.is_none()) {
        return Some("No ratings: there are no ranked games.".into());
    }
    is_regularised(rows).then_some(())?;
    let mut components: Vec<Option<usize>> = rows.iter().map(|row| row.component).collect();
    components.sort_unstable();
    components.dedup();
    let why = match components.len() {
        1 => "the seat decides every game, or an agent has no games here".to_owned(),
        groups => format!(
            "the agents fall into {groups} groups that never met, or of which one never won or never lost against another"
        ),
    };
    Some(format!(
        "The ratings are regularised: {why}. The maximum-likelihood ratings would be infinitely far apart, so as a prior each agent \
         has one win and one loss against an agent of mean strength. The distance between groups depends on this prior and on the \
         number of games."
    ))
}

/// Describes which agent has the rating 0, or that the mean is 0.
pub(super) fn zero(plan: &Plan) -> String {
    match plan.anchor {
        Some(agent) => format!("0 is {}", code(&plan.agents[agent].label)),
        None => "0 is their mean".into(),
    }
}

/// Whether the ratings were fitted with a prior.
fn is_regularised(rows: &[&RatingRow]) -> bool {
    rows.iter().any(|row| row.fit == Some(Fit::Regularised.method()))
}

fn half(interval: &Interval, digits: usize) -> String {
    spread(interval.mean, interval.ends(), digits)
}

/// The strength of a shade, limited so that the text stays readable.
fn shade(strength: f64) -> f64 {
    (strength.clamp(0.0, 1.0) * 40.0).round() / 100.0
}

pub(super) fn described(estimates: &[IntervalPoint]) -> String {
    listed(estimates.iter().map(|own| format!("{}: {}", own.label, own.figure)))
}
