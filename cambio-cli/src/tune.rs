//! `cambio tune`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::Range;
use std::path::PathBuf;

use cambio_agents::Roster;
use cambio_report::{Tuning, of_tuning};
use cambio_sim::tune::{
    AgainstField, AgainstItself, Candidates, Comparison, Found as Answer, MethodName, Point, TuningResult, Validation,
};
use cambio_sim::{Executor, MeasureError, Payoff, RunError, write_whole};
use cambio_stats::empirical::Game;
use cambio_stats::race::{Race, halve};
use cambio_stats::{Joint, Matrix};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde_json::json;

use crate::exit::{CliResult, Exit};
use crate::progress::Progress;
use crate::say::say;
use crate::setting::{SettingArgs, positive, probability};
use crate::tune_bounds::{MOST_DEALS, MOST_GENERATIONS, MOST_VALUES, Values, check_scores};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The agent, with a question mark for each value to be tuned: `greedy(call_at=?)`
    #[arg(long, value_name = "SPEC")]
    agent: String,
    /// The values of a question mark, ends included: 0..15, or 0..1:0.1 with a step. One range for each question mark, in
    /// order
    #[arg(long, value_name = "FROM..TO[:STEP]", required = true, allow_hyphen_values = true)]
    range: Vec<String>,
    /// The opponents of the candidates: one spec for all other seats, one for each seat, or `self` for the candidates
    /// themselves. The default is the agent with its default values
    #[arg(long, value_name = "SPEC")]
    field: Vec<String>,
    #[command(flatten)]
    setting: SettingArgs,
    /// The payoff that is maximized
    #[arg(long, default_value = "rank_points", value_parser = payoff())]
    payoff: Payoff,
    /// The search method
    #[arg(long, value_enum, default_value_t)]
    method: Method,
    /// The number of deals: for each value in a sweep, for each generation in cma; with halving, the number of deal blocks for
    /// all values together
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(2..=MOST_DEALS))]
    deals: u64,
    /// With cma: the number of generations
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=MOST_GENERATIONS))]
    generations: u32,
    /// With race: differences below DELTA do not matter
    #[arg(long, value_name = "DELTA", default_value_t = 0.01, value_parser = positive)]
    indifference: f64,
    /// With race: the probability of a wrong choice
    #[arg(long, default_value_t = 0.05, value_parser = probability)]
    alpha: f64,
    /// With race: the number of deals in the first stage
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(2..=MOST_DEALS))]
    first: u64,
    /// The number of fresh deals on which the winner and the incumbent meet the same field; 0 for none
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(..=MOST_DEALS))]
    validate: u64,
    /// The agent that the winner is compared with. The default is the agent with its default values
    #[arg(long, value_name = "SPEC")]
    incumbent: Option<String>,
    /// Write curve.csv, scores.csv, tuning.json and report.html into this folder; it must not exist
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
enum Method {
    /// All values play the same deals; gives the whole curve
    #[default]
    Sweep,
    /// The race of Kim and Nelson (2001): values drop out as soon as they are too far behind
    Race,
    /// Sequential halving: the worse half of the values drops out again and again
    Halving,
    /// CMA-ES, for several parameters at once
    Cma,
}

/// The payoffs by their names in experiment files.
fn payoff() -> impl TypedValueParser<Value = Payoff> {
    const PAYOFFS: [(Payoff, &str, &str); 4] = [
        (
            Payoff::RankPoints,
            "rank_points",
            "(seats − midrank) / (seats − 1): 1 for the best, 0 for the worst, ½ for par; the mean pairwise score",
        ),
        (Payoff::Win, "win", "The share of the win: 1 / k with k winners"),
        (Payoff::Points, "points", "The points of its layouts over the rounds of the match; fewer are better"),
        (Payoff::Margin, "margin", "The mean points of the table minus its own: more is better, 0 is par"),
    ];
    let values = PAYOFFS.map(|(_, name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(values).try_map(|name| {
        let named = PAYOFFS.into_iter().find(|(_, other, _)| *other == name);
        named.map(|(payoff, ..)| payoff).ok_or("it is none of those")
    })
}

/// The agent with these values in place of its question marks.
fn filled(agent: &str, values: &[f64]) -> String {
    let mut values = values.iter();
    agent
        .chars()
        .map(|char| match char {
            '?' => values.next().map_or_else(|| "?".to_owned(), ToString::to_string),
            char => char.to_string(),
        })
        .collect()
}

/// The agent with its default values in place of the question marks.
fn without_marks(agent: &str) -> String {
    let Some((name, list)) = agent.split_once('(') else { return agent.to_owned() };
    let kept: Vec<&str> = list.trim_end_matches(')').split(',').filter(|part| !part.contains('?')).collect();
    if kept.is_empty() { name.to_owned() } else { format!("{name}({})", kept.join(",")) }
}

/// The command that repeats this tuning: every option that differs from its default and changes the result.
fn command(args: &Args) -> String {
    let mut words = vec!["cambio".to_owned(), "tune".to_owned(), "--agent".to_owned(), args.agent.clone()];
    let mut option = |name: &str, value: String, default: &str| {
        if value != default {
            words.extend([format!("--{name}"), value]);
        }
    };
    args.range.iter().for_each(|range| option("range", range.clone(), ""));
    args.field.iter().for_each(|field| option("field", field.clone(), ""));
    let name = |value: &dyn std::fmt::Debug| format!("{value:?}").to_lowercase();
    let payoff = json!(args.payoff);
    let setting = &args.setting;
    option("rules", setting.rules().to_owned(), "");
    option("seats", setting.seats().to_string(), "");
    option("payoff", payoff.as_str().unwrap_or_default().to_owned(), "rank_points");
    option("method", name(&args.method), "sweep");
    option("deals", args.deals.to_string(), "");
    if args.method == Method::Cma {
        option("generations", args.generations.to_string(), "");
    }
    if args.method == Method::Race {
        option("indifference", args.indifference.to_string(), "");
        option("alpha", args.alpha.to_string(), "");
        option("first", args.first.to_string(), "");
    }
    option("validate", args.validate.to_string(), "1000");
    option("incumbent", args.incumbent.clone().unwrap_or_default(), "");
    option("seed", setting.seed.to_string(), "");
    if setting.rounds {
        words.push("--rounds".to_owned());
    }
    // Quotes whatever a shell would change. A command line has no zero byte, so quoting cannot fail.
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default()
}

/// A tuning task, checked.
struct Task<'a> {
    args: &'a Args,
    roster: &'a Roster,
    executor: &'a Executor,
    ranges: Vec<Values>,
    progress: Progress,
}

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    let marks = args.agent.matches('?').count();
    if marks == 0 || marks != args.range.len() {
        let (agent, ranges) = (&args.agent, args.range.len());
        return Err(
            format!("`{agent}` has {marks} question marks and {ranges} ranges; allowed is one range for each").into()
        );
    }
    if let Some(out) = args.out.as_ref().filter(|out| out.exists()) {
        return Err(
            format!("{} exists; the curve is written only to a folder that does not exist", out.display()).into()
        );
    }
    let ranges = args.range.iter().map(|text| Values::read(text)).collect::<Result<Vec<_>, _>>()?;
    let executor = Executor::new(args.setting.threads)?.with_cancel(crate::run::stop_on_signal(Exit::Failed)?);
    let task = Task { args, roster, executor: &executor, ranges, progress: Progress::spinner(args.setting.quiet) };
    let outcome =
        if args.field.iter().any(|field| field == "self") { task.against_itself()? } else { task.against_field()? };
    outcome.write(args)?;
    Ok(Exit::Done)
}

/// The points of a search, which of them is best, how many blocks were played, how many deals were used, and the scores.
type Found = (Vec<Point>, usize, u64, u64, Vec<Scores>);

/// The scores of the candidates against one field, from which the curve is computed.
struct Scores {
    field: String,
    /// The specs of the candidates, as rows have them.
    agents: Vec<String>,
    /// For each candidate, its mean payoff over its seats in each deal that it played, from deal 0 on.
    by_deal: Vec<Vec<f64>>,
}

impl Scores {
    /// Appends the header and a row for each deal, with a column for each candidate. A cell is empty if the candidate had
    /// dropped out.
    fn append(&self, is_first: bool, csv: &mut csv::Writer<Vec<u8>>) -> csv::Result<()> {
        if is_first {
            csv.write_record(["field", "deal"].into_iter().chain(self.agents.iter().map(String::as_str)))?;
        }
        let deals = self.by_deal.iter().map(Vec::len).max().unwrap_or(0);
        for deal in 0..deals {
            let scores = self.by_deal.iter().map(|scores| scores.get(deal).map_or_else(String::new, f64::to_string));
            csv.write_record([self.field.clone(), deal.to_string()].into_iter().chain(scores))?;
        }
        Ok(())
    }
}

/// The result of tuning.
struct Outcome {
    points: Vec<Point>,
    /// The scores against each field; empty after cma, whose candidates change.
    scores: Vec<Scores>,
    text: String,
    result: TuningResult,
}

impl Outcome {
    fn write(&self, args: &Args) -> Result<(), Box<dyn std::error::Error>> {
        if let Some(out) = &args.out {
            std::fs::create_dir_all(out).map_err(RunError::unwritable(out))?;
            let mut csv = csv::Writer::from_writer(Vec::new());
            self.points.iter().try_for_each(|point| csv.serialize(point))?;
            write_whole(&out.join("curve.csv"), &csv.into_inner().map_err(|error| error.to_string())?)?;
            if !self.scores.is_empty() {
                let mut csv = csv::Writer::from_writer(Vec::new());
                for (place, scores) in self.scores.iter().enumerate() {
                    scores.append(place == 0, &mut csv)?;
                }
                write_whole(&out.join("scores.csv"), &csv.into_inner().map_err(|error| error.to_string())?)?;
            }
            let text = serde_json::to_string_pretty(&self.result)? + "\n";
            write_whole(&out.join("tuning.json"), text.as_bytes())?;
            let tuning = Tuning { points: &self.points, result: &self.result };
            write_whole(&out.join("report.html"), of_tuning(tuning).as_bytes())?;
            if !args.setting.quiet {
                say!("the report is {}", out.join("report.html").display());
            }
        }
        std::io::stdout().lock().write_all(self.text.as_bytes())?;
        Ok(())
    }
}

impl Task<'_> {
    fn measured(&self, candidates: &[String], field: &[String]) -> Result<Candidates<'_>, MeasureError> {
        let setting = cambio_sim::tune::Setting { payoff: self.args.payoff, ..self.args.setting.setting() };
        Candidates::new(&setting, self.roster, self.executor, candidates, field)
    }

    fn result(&self, found: Answer) -> TuningResult {
        let args = self.args;
        TuningResult {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            agent: args.agent.clone(),
            ranges: args.range.clone(),
            rules: args.setting.rules().to_owned(),
            seats: args.setting.seats(),
            payoff: args.payoff,
            seed: args.setting.seed,
            command: command(args),
            found,
        }
    }

    /// Every combination of values, the last question mark's fastest.
    fn grid(&self) -> Result<Vec<Vec<f64>>, String> {
        let count = self.ranges.iter().map(|values| values.count()).fold(1, usize::saturating_mul);
        if count > MOST_VALUES {
            return Err(format!("the ranges have {count} combinations; allowed are {MOST_VALUES}, or the method cma"));
        }
        let fields = if self.args.field.iter().any(|field| field == "self") { count as u64 } else { 1 };
        match self.args.method {
            Method::Sweep => check_scores("--deals", self.args.deals, count as u64, fields)?,
            Method::Race => check_scores("--first", self.args.first, count as u64, fields)?,
            // The deals are those of all values together.
            Method::Halving | Method::Cma => {}
        }
        let mut grid: Vec<Vec<f64>> = vec![Vec::new()];
        for values in &self.ranges {
            let longer = |start: Vec<f64>| {
                (0..values.count()).map(move |number| [start.clone(), vec![values.nth(number)]].concat())
            };
            grid = grid.into_iter().flat_map(longer).collect();
        }
        Ok(grid)
    }

    fn against_field(&self) -> Result<Outcome, Box<dyn std::error::Error>> {
        let args = self.args;
        let default = without_marks(&args.agent);
        let field = if args.field.is_empty() { vec![default.clone()] } else { args.field.clone() };
        let incumbent = args.incumbent.clone().unwrap_or(default);
        let (points, best, blocks, used, scores) = match args.method {
            Method::Cma => self.search(&field)?,
            _ => self.choose(&field)?,
        };
        self.progress.finish();
        let winner = points[best].clone();
        let shown = field.join(", ");
        let (rules, seats) = (args.setting.rules(), args.setting.seats());
        let mut text = format!("{} on {rules}, {seats} seats, against {shown}\n", args.agent);
        text += &table(&points, best);
        writeln!(text, "\nbest: {} with {:.4}, {blocks} deal blocks", winner.agent, winner.mean)?;
        let validation =
            (args.validate > 1).then(|| self.validate(&winner.agent, &incumbent, &field, used)).transpose()?;
        let validation = validation.map(|(validation, told)| {
            text += &told;
            validation
        });
        let method = match args.method {
            Method::Sweep => MethodName::Sweep,
            Method::Race => MethodName::Race,
            Method::Halving => MethodName::Halving,
            Method::Cma => MethodName::Cma,
        };
        let (best, best_value, estimate) = (winner.agent, winner.value, winner.mean);
        let found = AgainstField { field, method, blocks, best, best_value, estimate, validation };
        Ok(Outcome { points, scores, text, result: self.result(Answer::AgainstField(found)) })
    }

    /// Sweep, race or halving.
    fn choose(&self, field: &[String]) -> Result<Found, Box<dyn std::error::Error>> {
        let args = self.args;
        let grid = self.grid()?;
        let candidates: Vec<String> = grid.iter().map(|values| filled(&args.agent, values)).collect();
        let measured = self.measured(&candidates, field)?;
        let sign = args.payoff.sign();
        let mut last = 0;
        let mut ask = |which: &[usize], deals: Range<u64>| {
            self.progress.status(|| format!("{} values, deals {} to {}", which.len(), deals.start, deals.end));
            last = last.max(deals.end);
            let mut scores = measured.scores(which, deals)?;
            scores.iter_mut().flatten().for_each(|score| *score *= sign);
            Ok::<_, MeasureError>(scores)
        };
        let everybody: Vec<usize> = (0..candidates.len()).collect();
        let (mut scores, best, blocks) = match args.method {
            Method::Race => {
                let race = Race { indifference: args.indifference, alpha: args.alpha, first: args.first, step: 16 };
                let choice = race.run(candidates.len(), ask)?;
                (choice.scores, Some(choice.best), choice.spent)
            }
            Method::Halving => {
                let choice = halve(candidates.len(), args.deals, ask)?;
                (choice.scores, Some(choice.best), choice.spent)
            }
            Method::Sweep | Method::Cma => {
                let scores = ask(&everybody, 0..args.deals)?;
                (scores, None, candidates.len() as u64 * args.deals)
            }
        };
        let mean = |scores: &[f64]| scores.iter().sum::<f64>() / scores.len() as f64;
        let highest = || {
            let means: Vec<f64> = scores.iter().map(|scores| mean(scores)).collect();
            (0..means.len()).rev().max_by(|&one, &other| means[one].total_cmp(&means[other])).unwrap_or(0)
        };
        let best = best.unwrap_or_else(highest);
        // Simultaneous statements are about the payoff that is maximized.
        let values: Vec<String> = grid.iter().map(|values| spaced(values)).collect();
        let mut points = measured.curve(&field.join(" | "), &values, &scores, args.setting.seed);
        if sign < 0.0 {
            scores.iter_mut().flatten().for_each(|score| *score *= sign);
            points.iter_mut().for_each(negate);
        }
        let scores = Scores { field: field.join(" | "), agents: measured.labels(), by_deal: scores };
        Ok((points, best, blocks, last, vec![scores]))
    }

    fn search(&self, field: &[String]) -> Result<Found, Box<dyn std::error::Error>> {
        let args = self.args;
        let sign = args.payoff.sign();
        let mut search = cambio_sim::tune::search(self.ranges.len(), args.setting.seed);
        let at = |point: &[f64]| -> Vec<f64> {
            self.ranges.iter().zip(point).map(|(values, place)| values.at(*place)).collect()
        };
        let (mut deals, mut blocks) = (0, 0);
        for generation in 0..args.generations {
            self.progress.status(|| format!("generation {generation}, centre {}", spaced(&at(&search.centre()))));
            let score = |points: &[Vec<f64>]| {
                let specs: Vec<String> = points.iter().map(|point| filled(&args.agent, &at(point))).collect();
                let mut distinct = specs.clone();
                distinct.sort();
                distinct.dedup();
                let measured = self.measured(&distinct, field)?;
                let which: Vec<usize> = (0..distinct.len()).collect();
                let scores = measured.scores(&which, deals..deals + args.deals)?;
                blocks += distinct.len() as u64 * args.deals;
                let mean = |spec: &String| {
                    let place = distinct.binary_search(spec).expect("it is listed");
                    sign * scores[place].iter().sum::<f64>() / args.deals as f64
                };
                Ok::<_, MeasureError>(specs.iter().map(mean).collect())
            };
            search.step(score)?;
            deals += args.deals;
            if search.spread() < 0.01 {
                break;
            }
        }
        let values = at(&search.centre());
        let measured = self.measured(&[filled(&args.agent, &values)], field)?;
        let scores = measured.scores(&[0], deals..deals + args.deals)?;
        blocks += args.deals;
        let points = measured.curve(&field.join(" | "), &[spaced(&values)], &scores, args.setting.seed);
        Ok((points, 0, blocks, deals + args.deals, Vec::new()))
    }

    /// Compares the winner with the incumbent on deals that the search did not use.
    fn validate(
        &self,
        winner: &str,
        incumbent: &str,
        field: &[String],
        used: u64,
    ) -> Result<(Validation, String), Box<dyn std::error::Error>> {
        let parsed = (self.roster.parse(winner)?, self.roster.parse(incumbent)?);
        if parsed.0.is(&parsed.1) {
            let text = format!("it is the incumbent, {incumbent}: nothing to validate\n");
            return Ok((Validation::Same { incumbent: incumbent.to_owned() }, text));
        }
        let measured = self.measured(&[winner.to_owned(), incumbent.to_owned()], field)?;
        let scores = measured.scores(&[0, 1], used..used + self.args.validate)?;
        let units = measured.units();
        let whole = |score: &f64| (score * units).round() as i64;
        let mut joint = Joint::new(2);
        for (one, other) in scores[0].iter().zip(&scores[1]) {
            joint.add(&[1, 1], &[whole(one), whole(other)]);
        }
        let (difference, _) =
            joint.difference(0, 1, units, self.args.payoff.support_of_difference()).ok_or("nothing was played")?;
        let mean = |scores: &[f64]| scores.iter().sum::<f64>() / scores.len() as f64;
        let (low, high) = (difference.low(), difference.high());
        let ends = low.zip(high);
        let interval = ends.map_or_else(String::new, |(low, high)| format!(" ({low:+.4} to {high:+.4})"));
        let text = format!(
            "on {} fresh deals: {winner} {:.4}\n  incumbent {incumbent} {:.4}, difference {:+.4}{interval}\n",
            self.args.validate,
            mean(&scores[0]),
            mean(&scores[1]),
            difference.mean,
        );
        let played = Comparison {
            deals: self.args.validate,
            winner: mean(&scores[0]),
            incumbent: incumbent.to_owned(),
            incumbent_mean: mean(&scores[1]),
            difference: difference.mean,
            low,
            high,
        };
        Ok((Validation::Played(played), text))
    }

    /// Every value against a table full of every value: best replies, and values that are best replies to themselves.
    fn against_itself(&self) -> Result<Outcome, Box<dyn std::error::Error>> {
        let args = self.args;
        if args.method != Method::Sweep || args.field.len() != 1 {
            return Err("--field self goes with the method sweep and no other field".into());
        }
        if args.payoff == Payoff::Points {
            return Err("--field self is about what is shared out; allowed are rank_points, win and margin".into());
        }
        let grid = self.grid()?;
        let candidates: Vec<String> = grid.iter().map(|values| filled(&args.agent, values)).collect();
        let values: Vec<String> = grid.iter().map(|values| spaced(values)).collect();
        let size = candidates.len();
        let which: Vec<usize> = (0..size).collect();
        let (mut points, mut all_scores) = (Vec::new(), Vec::new());
        let mut matrix = Matrix::zeros(size, size);
        let mut lines = String::new();
        let mut equilibria = Vec::new();
        for (rival, field) in candidates.iter().enumerate() {
            self.progress.status(|| format!("field {} of {size}: {field}", rival + 1));
            let measured = self.measured(&candidates, std::slice::from_ref(field))?;
            let scores = measured.scores(&which, 0..args.deals)?;
            let curve = measured.curve(field, &values, &scores, args.setting.seed);
            for (place, point) in curve.iter().enumerate() {
                matrix[(place, rival)] = point.mean;
            }
            let best =
                (0..size).rev().max_by(|&one, &other| curve[one].mean.total_cmp(&curve[other].mean)).unwrap_or(0);
            let set: Vec<&str> =
                curve.iter().filter(|point| point.among_best == Some(true)).map(|point| &*point.value).collect();
            let is_own = curve[rival].among_best == Some(true);
            if is_own {
                equilibria.push(values[rival].clone());
            }
            let (own, value) = (if is_own { "*" } else { " " }, &values[rival]);
            writeln!(
                lines,
                "{own} {value:>8}  {:>8}  {:+.4}  {}",
                values[best],
                curve[best].mean - curve[rival].mean,
                set.join(" ")
            )?;
            points.extend(curve);
            all_scores.push(Scores { field: field.clone(), agents: measured.labels(), by_deal: scores });
        }
        self.progress.finish();
        let (rules, seats) = (args.setting.rules(), args.setting.seats());
        let mut text =
            format!("{} on {rules}, {seats} seats, against tables of itself, {} deals\n", args.agent, args.deals);
        text += "     field  best reply  gain  cannot be told from the best reply\n";
        text += &lines;
        text += "* a best reply to itself, for all that can be told: a symmetric equilibrium\n";
        let nash = (seats == 2 && args.payoff == Payoff::RankPoints && size > 1)
            .then(|| Game::of_matrix(&matrix).nash())
            .flatten();
        if let Some(nash) = &nash {
            let shares = nash.iter().zip(&values).filter(|(share, _)| **share > 0.005);
            let shares: Vec<String> = shares.map(|(share, value)| format!("{value}: {:.0} %", share * 100.0)).collect();
            writeln!(text, "equilibrium of the measured game: {}", shares.join(", "))?;
        }
        let found = AgainstItself { deals: args.deals, symmetric_equilibria: equilibria, nash, values };
        Ok(Outcome { points, scores: all_scores, text, result: self.result(Answer::AgainstItself(found)) })
    }
}

fn spaced(values: &[f64]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// Turns a point back from the maximized payoff, if fewer points are better.
fn negate(point: &mut Point) {
    point.mean = -point.mean;
    let flip = |low: &mut Option<f64>, high: &mut Option<f64>| {
        std::mem::swap(low, high);
        for end in [low, high].into_iter().flatten() {
            *end = -*end;
        }
    };
    flip(&mut point.low, &mut point.high);
    flip(&mut point.low_simultaneous, &mut point.high_simultaneous);
}

/// The curve for people.
pub(super) fn table(points: &[Point], best: usize) -> String {
    let mut text = format!("  {:>12} {:>7} {:>16} {:>16} {:>6}\n", "value", "deals", "mean", "all together", "best");
    for (place, point) in points.iter().enumerate() {
        let mark = match point.among_best {
            _ if place == best => "*",
            Some(true) => "=",
            _ => " ",
        };
        let half = |low: Option<f64>, high: Option<f64>| match low.zip(high) {
            None => "–".to_owned(),
            Some(_) if point.is_mirror => "exact".to_owned(),
            Some((low, high)) => format!("± {:.4}", (high - point.mean).max(point.mean - low)),
        };
        let share = point.best_share.map_or_else(|| "–".to_owned(), |share| format!("{:.0} %", share * 100.0));
        let mean = format!("{:.4} {}", point.mean, half(point.low, point.high));
        let (value, deals, band) = (&point.value, point.deals, half(point.low_simultaneous, point.high_simultaneous));
        writeln!(text, "{mark} {value:>12} {deals:>7} {mean:>16} {band:>16} {share:>6}")
            .expect("a string takes everything");
    }
    text += "* best, = cannot be told from the best; best: how often it is, deals drawn again\n";
    if points.iter().any(|point| point.is_mirror) {
        text += "exact: it meets copies of itself alone and gets its share, whatever is played\n";
    }
    text
}
