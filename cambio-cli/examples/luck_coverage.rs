//! Measures how often intervals without the luck of the cards contain the true value:
//! `cargo run --release -p cambio-cli --example luck_coverage -- OUT_DIR`.
//!
//! Each setting is played once, in many deals. These deals are the population. Each repetition draws deals from it with
//! replacement and computes the intervals as a run of these deals does, so the true value is known except for the coefficient of
//! the luck, which the repetitions fit: it is the mean of all estimates. Writes `luck_coverage.csv` and `luck_coverage.md`,
//! which is a table of the book.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use cambio_exec::Executor;
use cambio_sim::digest::CellDigest;
use cambio_sim::{BlockRows, Experiment, LuckChoice, Payoff, Plan, PlayError, PlayablePlan, play_block, read_seed};
use cambio_stats::{Interval, ResampleRng as _};
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

/// Rules, seats, the two agents, of which the table shows the first, and the purpose.
const SETTINGS: [(&str, usize, [&str; 2], Purpose); 15] = [
    ("classic", 2, ["sharp", "greedy"], Checked),
    ("classic", 2, ["learned", "sharp"], Chosen),
    ("classic", 2, ["learned", "random"], Chosen),
    ("classic", 2, ["greedy", "random(pass=0.9)"], Checked),
    ("classic", 4, ["learned", "sharp"], Chosen),
    ("original", 2, ["learned", "sharp"], Checked),
    ("faessler", 2, ["learned", "sharp"], Checked),
    ("classic", 2, ["heuristic", "heuristic(confusion=0.15)"], Chosen),
    ("classic", 2, ["heuristic", "heuristic(confusion=0.03)"], Chosen),
    ("classic", 4, ["heuristic", "heuristic(confusion=0.15)"], Chosen),
    ("classic", 2, ["rollout(n=20)", "rollout(n=21)"], Chosen),
    ("classic", 2, ["heuristic", "heuristic(confusion=0.08)"], Checked),
    ("classic", 2, ["sharp", "sharp(decay=0.01)"], Checked),
    ("classic", 4, ["heuristic", "heuristic(decay=0.01)"], Checked),
    ("classic", 8, ["heuristic", "heuristic(confusion=0.15)"], Checked),
];

/// The numbers of deals.
const DEALS: [u64; 5] = [12, 40, 100, 400, 2000];

/// The share of the intervals that contain the mean of all estimates, and their mean half-width.
fn coverage(intervals: &[Interval]) -> (f64, f64) {
    let count = intervals.len() as f64;
    let truth = intervals.iter().map(|interval| interval.mean).sum::<f64>() / count;
    let ends = || intervals.iter().filter_map(Interval::ends);
    let hits = ends().filter(|(low, high)| (*low..=*high).contains(&truth)).count();
    (hits as f64 / count, ends().map(|(low, high)| (high - low) / 2.0).sum::<f64>() / count)
}

/// Plays the deals of a plan.
fn population<'p>(plan: &'p PlayablePlan, executor: &Executor) -> Result<Vec<BlockRows<'p>>, Box<dyn Error>> {
    let mut rows = Vec::new();
    let block = |number| play_block(plan, &plan.block(number)).map_err(PlayError::from);
    let keep = |_, played: Result<BlockRows<'p>, PlayError>| {
        rows.push(played?);
        Ok(())
    };
    executor.run_ordered(0..plan.deals, block, keep).map_err(|stopped| stopped.or(PlayError::Interrupted))?;
    Ok(rows)
}

/// The intervals of the first agent in each repetition, with luck and without.
fn repetitions(
    plan: &Plan,
    rows: &[BlockRows<'_>],
    deals: u64,
    repetitions: u64,
    executor: &Executor,
) -> Result<[Vec<Interval>; 2], Box<dyn Error>> {
    let one = |repetition: u64| {
        let mut rng = ChaCha8Rng::seed_from_u64(repetition << 16 | deals);
        let drawn = (0..deals).map(|_| &rows[rng.index(rows.len())]);
        let (raw, adjusted) = CellDigest::of_deals(plan, drawn);
        [raw, adjusted.expect("the plan measures luck")]
            .map(|sums| sums.payoff(0, Payoff::Win).expect("deals were added"))
    };
    let mut found = [Vec::new(), Vec::new()];
    let keep = |_, intervals: [Interval; 2]| -> Result<(), PlayError> {
        found.iter_mut().zip(intervals).for_each(|(found, interval)| found.push(interval));
        Ok(())
    };
    executor.run_ordered(0..repetitions, one, keep).map_err(|stopped| stopped.or(PlayError::Interrupted))?;
    Ok(found)
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    fs::create_dir_all(&args.out)?;
    let (roster, executor) = (cambio_agents::roster(), Executor::new(0)?);
    let mut csv = csv::Writer::from_path(args.out.join("luck_coverage.csv"))?;
    let columns = ["coverage", "half_width", "coverage_adjusted", "half_width_adjusted"];
    csv.write_record(["rules", "seats", "agent", "others", "pair", "deals", "repetitions"].iter().chain(&columns))?;
    let mut table = "| rules | seats | agent | other seats | pair | deals | coverage | half-width | without luck: coverage | half-width |\n\
                     |---|---:|---|---|---|---:|---:|---:|---:|---:|\n"
        .to_owned();
    for (rules, seats, [agent, others], purpose) in SETTINGS {
        let pair = purpose.word();
        let experiment = Experiment {
            deals: args.population,
            luck: LuckChoice::On,
            seed: Some(read_seed(&format!("luck coverage {rules} {seats} {agent} {others}"))?),
            ..Experiment::at(rules, seats, &[agent, others])
        };
        let plan = experiment.plan(&roster, Path::new("."))?;
        let rows = population(&plan, &executor)?;
        for deals in DEALS {
            let found = repetitions(&plan, &rows, deals, args.repetitions, &executor)?;
            let [(raw, raw_width), (adjusted, adjusted_width)] = found.each_ref().map(|found| coverage(found));
            eprintln!("{rules}, {seats} seats, {agent} – {others}, {deals} deals: {adjusted:.3}, {raw:.3} with luck");
            let fixed = [rules.to_owned(), seats.to_string(), agent.into(), others.into(), pair.into()];
            let counts = [deals, args.repetitions].map(|count| count.to_string());
            let numbers = [raw, raw_width, adjusted, adjusted_width].map(|number| number.to_string());
            csv.write_record(fixed.iter().chain(&counts).chain(&numbers))?;
            csv.flush()?;
            writeln!(
                table,
                "| `{rules}` | {seats} | `{agent}` | `{others}` | {pair} | {deals} | {:.1} % | {:.1} | {:.1} % | {:.1} |",
                100.0 * raw,
                100.0 * raw_width,
                100.0 * adjusted,
                100.0 * adjusted_width,
            )?;
        }
    }
    fs::write(args.out.join("luck_coverage.md"), table)?;
    Ok(())
}
