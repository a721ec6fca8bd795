//! Measures how often intervals without the luck of the cards contain the true value:
//! `cargo run --release -p cambio-cli --example luck_coverage -- OUT_DIR`.
//!
//! Each setting is played once, in many deals. These deals are the population. Each repetition draws deals from it with
//! replacement and computes the intervals as a run of these deals does: the interval of the first agent's wins, the simultaneous
//! intervals for the differences of all pairs, and the anytime-valid interval of the first difference after 30 deals and at many
//! looks from there on. The true value is known except for the coefficient of the luck, which the repetitions fit: it is the mean
//! of all estimates. Writes `luck_coverage.csv` and `luck_coverage.md`, which is a table of the book.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use cambio_exec::Executor;
use cambio_sim::digest::{CellDigest, PayoffSums};
use cambio_sim::{BlockRows, Experiment, LuckChoice, Payoff, Plan, PlayError, PlayablePlan, play_block, read_seed};
use cambio_stats::simultaneous::{Contrasts, SimultaneousIntervals};
use cambio_stats::{Interval, ResampleRng as _, anytime};
use clap::Parser;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng as _};

/// Measures the coverage of intervals without the luck of the cards.
#[derive(Parser)]
struct Args {
    /// The folder for the tables; it is created if it does not exist
    out: PathBuf,
    /// The number of repetitions for each setting and number of deals
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(20..))]
    repetitions: u64,
    /// The number of deals of each population
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(2_000..))]
    population: u64,
}

/// What the pair was for: the constants of the intervals were chosen on some pairs and checked on the others.
#[derive(Clone, Copy)]
enum Purpose {
    Chosen,
    Checked,
}

impl Purpose {
    fn word(self) -> &'static str {
        match self {
            Purpose::Chosen => "chosen",
            Purpose::Checked => "checked",
        }
    }
}

use Purpose::{Checked, Chosen};

/// Rules, seats, the agents, of which the first is the one whose wins are shown, and the purpose.
const SETTINGS: [(&str, usize, &[&str], Purpose); 20] = [
    ("classic", 2, &["sharp", "greedy"], Checked),
    ("classic", 2, &["learned", "sharp"], Chosen),
    ("classic", 2, &["learned", "random"], Chosen),
    ("classic", 2, &["greedy", "random(pass=0.9)"], Checked),
    ("classic", 2, &["learned", "sharp", "greedy"], Checked),
    ("classic", 4, &["learned", "sharp"], Chosen),
    ("classic", 4, &["learned", "sharp", "greedy", "random"], Checked),
    ("original", 2, &["learned", "sharp"], Checked),
    ("faessler", 2, &["learned", "sharp"], Checked),
    ("classic", 2, &["heuristic", "heuristic(confusion=0.15)"], Chosen),
    ("classic", 2, &["heuristic", "heuristic(confusion=0.03)"], Chosen),
    ("classic", 4, &["heuristic", "heuristic(confusion=0.15)"], Chosen),
    ("classic", 2, &["rollout(n=20)", "rollout(n=21)"], Chosen),
    ("classic", 2, &["heuristic", "heuristic(confusion=0.08)"], Checked),
    ("classic", 2, &["sharp", "sharp(decay=0.01)"], Checked),
    ("classic", 4, &["heuristic", "heuristic(decay=0.01)"], Checked),
    ("classic", 8, &["heuristic", "heuristic(confusion=0.15)"], Checked),
    ("classic", 2, &["heuristic", "heuristic(confusion=0.03)", "heuristic(confusion=0.15)"], Checked),
    ("classic", 4, &["heuristic", "heuristic(confusion=0.03)", "heuristic(confusion=0.15)", "sharp"], Checked),
    ("classic", 8, &["heuristic", "heuristic(confusion=0.03)", "heuristic(confusion=0.15)"], Checked),
];

/// The numbers of deals.
const DEALS: [u64; 5] = [12, 40, 100, 400, 2000];
/// The first look at an anytime-valid interval; see [`anytime::factor`].
const FIRST_LOOK: u64 = 30;

/// The numbers of deals at which the intervals are computed: [`DEALS`], and from [`FIRST_LOOK`] on each is 2 % higher than the one
/// before, so that there are more than 150.
fn looks() -> Vec<u64> {
    let most = DEALS[DEALS.len() - 1];
    let mut looks = DEALS.to_vec();
    looks.extend(
        std::iter::successors(Some(FIRST_LOOK), |look| Some(look + look.div_ceil(50))).take_while(|&look| look < most),
    );
    looks.sort_unstable();
    looks.dedup();
    looks
}

/// The intervals of one repetition at one look, with the luck or without.
struct Found {
    /// The first agent's share of wins.
    wins: Interval,
    /// The differences of all pairs, with their simultaneous ends; without these between the numbers of [`DEALS`].
    pairs: Vec<(Interval, Option<(f64, f64)>)>,
}

impl Found {
    fn new(sums: &PayoffSums, agents: usize, deals: u64) -> Found {
        let wins = sums.payoff(0, Payoff::Win).expect("deals were added");
        let difference = |(one, other)| sums.difference(one, other).expect("all agents have matches").0;
        if !DEALS.contains(&deals) {
            return Found { wins, pairs: vec![(difference((0, 1)), None)] };
        }
        let everyone: Vec<usize> = (0..agents).collect();
        let covariance = sums.covariance(&everyone).expect("there are at least two deals");
        let mut rng = ChaCha8Rng::seed_from_u64(deals);
        let together = SimultaneousIntervals::new(&covariance, Contrasts::Pairs, &mut rng).expect("there are pairs");
        let pairs = (0..agents).flat_map(|one| (one + 1..agents).map(move |other| (one, other)));
        let pair = |pair| {
            let found = difference(pair);
            (found, together.ends(&found))
        };
        Found { wins, pairs: pairs.map(pair).collect() }
    }
}

/// Whether an interval contains a value.
fn contains(ends: Option<(f64, f64)>, value: f64) -> bool {
    ends.is_some_and(|(low, high)| (low..=high).contains(&value))
}

/// The shares of the repetitions in which the intervals contain the true values, and the mean half-width of the first interval.
#[derive(Clone, Copy, Default)]
struct Coverage {
    wins: f64,
    half_width: f64,
    /// All pairs at once.
    pairs: f64,
    /// The anytime-valid interval of the first difference, at all looks so far; `None` before the first.
    anytime: Option<f64>,
}

/// The coverage at each number of [`DEALS`], from the intervals at all looks of each repetition.
fn coverage(repetitions: &[Vec<Found>], looks: &[u64]) -> Vec<Coverage> {
    let mean = |of: &dyn Fn(&Vec<Found>) -> f64| repetitions.iter().map(of).sum::<f64>() / repetitions.len() as f64;
    let share = |of: &dyn Fn(&Vec<Found>) -> bool| mean(&|found| f64::from(u8::from(of(found))));
    let at_all_looks = mean(&|found| found[looks.len() - 1].pairs[0].0.mean);
    let of_deals = |deals: &u64| {
        let at = looks.iter().position(|look| look == deals).expect("it is a look");
        let truth = mean(&|found| found[at].wins.mean);
        let pairs = repetitions[0][at].pairs.len();
        let differences: Vec<f64> = (0..pairs).map(|pair| mean(&|found| found[at].pairs[pair].0.mean)).collect();
        let first = looks.iter().position(|look| *look == FIRST_LOOK).expect("it is a look");
        let always = |found: &Vec<Found>| {
            let mut looked = looks[first..=at].iter().zip(&found[first..=at]);
            looked.all(|(&look, found)| contains(found.pairs[0].0.ends_at(anytime::factor(look)), at_all_looks))
        };
        Coverage {
            wins: share(&|found| contains(found[at].wins.ends(), truth)),
            half_width: mean(&|found| found[at].wins.ends().map_or(0.0, |(low, high)| (high - low) / 2.0)),
            pairs: share(&|found| {
                found[at].pairs.iter().zip(&differences).all(|((_, ends), &truth)| contains(*ends, truth))
            }),
            anytime: (at >= first).then(|| share(&always)),
        }
    };
    DEALS.iter().map(of_deals).collect()
}

/// Plays all blocks of a plan.
fn population<'p>(plan: &'p PlayablePlan, executor: &Executor) -> Result<Vec<BlockRows<'p>>, Box<dyn Error>> {
    let mut rows = Vec::new();
    let block = |number| play_block(plan, &plan.block(number)).map_err(PlayError::from);
    let keep = |_, played: Result<BlockRows<'p>, PlayError>| {
        rows.push(played?);
        Ok(())
    };
    executor.run_ordered(0..plan.block_count(), block, keep).map_err(|stopped| stopped.or(PlayError::Interrupted))?;
    Ok(rows)
}

/// The intervals of each repetition at each look, with luck and without.
fn repetitions(
    plan: &Plan,
    rows: &[BlockRows<'_>],
    looks: &[u64],
    repetitions: u64,
    executor: &Executor,
) -> Result<[Vec<Vec<Found>>; 2], Box<dyn Error>> {
    let population: Vec<&[BlockRows<'_>]> = rows.chunks(plan.cells[0].lineups.len()).collect();
    let one = |repetition: u64| {
        let mut rng = ChaCha8Rng::seed_from_u64(repetition);
        let drawn = (0..looks[looks.len() - 1]).map(|_| population[rng.index(population.len())]);
        let found = CellDigest::of_deals(plan, drawn, looks);
        let found_in = |sums: &PayoffSums, look: &u64| Found::new(sums, plan.agents.len(), *look);
        let adjusted = |sums: &Option<PayoffSums>, look| found_in(sums.as_ref().expect("the plan measures luck"), look);
        [
            found.iter().zip(looks).map(|((raw, _), look)| found_in(raw, look)).collect(),
            found.iter().zip(looks).map(|((_, sums), look)| adjusted(sums, look)).collect(),
        ]
    };
    let mut found = [Vec::new(), Vec::new()];
    let keep = |_, intervals: [Vec<Found>; 2]| -> Result<(), PlayError> {
        found.iter_mut().zip(intervals).for_each(|(found, intervals)| found.push(intervals));
        Ok(())
    };
    executor.run_ordered(0..repetitions, one, keep).map_err(|stopped| stopped.or(PlayError::Interrupted))?;
    Ok(found)
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    fs::create_dir_all(&args.out)?;
    let (roster, executor, looks) = (cambio_agents::roster(), Executor::new(0)?, looks());
    let mut csv = csv::Writer::from_path(args.out.join("luck_coverage.csv"))?;
    let columns = ["coverage", "half_width", "coverage_pairs", "coverage_anytime"];
    let adjusted = columns.map(|column| format!("{column}_adjusted"));
    let fixed = ["rules", "seats", "agents", "pair", "deals", "repetitions"];
    csv.write_record(fixed.into_iter().chain(columns).chain(adjusted.iter().map(String::as_str)))?;
    let mut table = "| rules | seats | agents | use | deals | wins | half-width | pairs | any time | without luck: wins | half-width | pairs | any time |\n\
                     |---|---:|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n"
        .to_owned();
    for (rules, seats, agents, purpose) in SETTINGS {
        let names = agents.join(" ");
        let experiment = Experiment {
            deals: args.population,
            luck: LuckChoice::On,
            seed: Some(read_seed(&format!("luck coverage {rules} {seats} {names}"))?),
            ..Experiment::at(rules, seats, agents)
        };
        let plan = experiment.plan(&roster, Path::new("."))?;
        let rows = population(&plan, &executor)?;
        let found = repetitions(&plan, &rows, &looks, args.repetitions, &executor)?;
        let [raw, adjusted] = found.map(|found| coverage(&found, &looks));
        for ((deals, raw), adjusted) in DEALS.iter().zip(&raw).zip(&adjusted) {
            let percent = |share: Option<f64>| share.map_or(String::new(), |share| format!("{:.1} %", 100.0 * share));
            write!(table, "| `{rules}` | {seats} | `{}` | {} | {deals} |", agents.join("`, `"), purpose.word())?;
            let mut record = vec![rules.to_owned(), seats.to_string(), names.clone(), purpose.word().to_owned()];
            record.extend([deals, &args.repetitions].map(u64::to_string));
            for found in [raw, adjusted] {
                let Coverage { wins, half_width, pairs, anytime } = *found;
                let (width, [wins_shown, pairs_shown]) =
                    (100.0 * half_width, [wins, pairs].map(|share| percent(Some(share))));
                write!(table, " {wins_shown} | {width:.1} | {pairs_shown} | {} |", percent(anytime))?;
                record.extend([wins, half_width, pairs].map(|number| number.to_string()));
                record.push(anytime.map_or(String::new(), |number| number.to_string()));
            }
            table.push('\n');
            csv.write_record(&record)?;
            let Coverage { wins, pairs, anytime, .. } = *adjusted;
            eprintln!(
                "{rules}, {seats} seats, {names}, {deals} deals: {wins:.3} {pairs:.3} {anytime:.3?}, with luck {:.3} {:.3} {:.3?}",
                raw.wins, raw.pairs, raw.anytime
            );
        }
        csv.flush()?;
    }
    fs::write(args.out.join("luck_coverage.md"), table)?;
    Ok(())
}
