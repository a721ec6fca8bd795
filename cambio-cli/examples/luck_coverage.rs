//! Measures how often intervals without the luck of the cards contain the true value:
//! `cargo run --release -p cambio-cli --example luck_coverage -- OUT_DIR`.
//!
//! Each setting is played as many short runs with different seeds. The true value of an agent is the mean over the deals of
//! all these runs, whose error is small beside the width of one run's interval. Writes `luck_coverage.csv` and
//! `luck_coverage.md`, which is a table of the book.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use cambio_exec::Executor;
use cambio_sim::{Experiment, LuckChoice, Runner, read_seed};
use clap::Parser;

/// Measures the coverage of intervals without the luck of the cards.
#[derive(Parser)]
struct Args {
    /// The folder for the tables; it is created if it does not exist
    out: PathBuf,
    /// The number of runs for each setting of single rounds; each setting gets the part that its time allows
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(20..))]
    runs: u64,
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

/// Rules, seats, the two agents, of which the table shows the first, the divisor of the number of runs, and the purpose.
const SETTINGS: [(&str, usize, [&str; 2], u64, Purpose); 15] = [
    ("classic", 2, ["sharp", "greedy"], 2, Checked),
    ("classic", 2, ["learned", "sharp"], 4, Chosen),
    ("classic", 2, ["learned", "random"], 4, Chosen),
    ("classic", 2, ["greedy", "random(pass=0.9)"], 2, Checked),
    ("classic", 4, ["learned", "sharp"], 8, Chosen),
    ("original", 2, ["learned", "sharp"], 20, Checked),
    ("faessler", 2, ["learned", "sharp"], 20, Checked),
    ("classic", 2, ["heuristic", "heuristic(confusion=0.15)"], 2, Chosen),
    ("classic", 2, ["heuristic", "heuristic(confusion=0.03)"], 2, Chosen),
    ("classic", 4, ["heuristic", "heuristic(confusion=0.15)"], 4, Chosen),
    ("classic", 2, ["rollout(n=20)", "rollout(n=21)"], 8, Chosen),
    ("classic", 2, ["heuristic", "heuristic(confusion=0.08)"], 2, Checked),
    ("classic", 2, ["sharp", "sharp(decay=0.01)"], 2, Checked),
    ("classic", 4, ["heuristic", "heuristic(decay=0.01)"], 4, Checked),
    ("classic", 8, ["heuristic", "heuristic(confusion=0.15)"], 20, Checked),
];

/// The deals of a run.
const DEALS: [u64; 5] = [12, 40, 100, 400, 2000];

/// A mean and its interval.
type Estimate = [f64; 3];

/// The share of the intervals that contain the mean of all estimates, and their mean half-width.
fn coverage(estimates: &[Estimate]) -> (f64, f64) {
    let count = estimates.len() as f64;
    let truth = estimates.iter().map(|[mean, ..]| mean).sum::<f64>() / count;
    let hits = estimates.iter().filter(|[_, low, high]| (*low..=*high).contains(&truth)).count();
    (hits as f64 / count, estimates.iter().map(|[_, low, high]| (high - low) / 2.0).sum::<f64>() / count)
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    fs::create_dir_all(&args.out)?;
    let (roster, executor) = (cambio_agents::roster(), Executor::new(0)?);
    let mut csv = csv::Writer::from_path(args.out.join("luck_coverage.csv"))?;
    let columns = ["coverage", "half_width", "coverage_adjusted", "half_width_adjusted"];
    csv.write_record(["rules", "seats", "agent", "others", "pair", "deals", "runs"].iter().chain(&columns))?;
    let mut table = "| rules | seats | agent | other seats | pair | deals | runs | coverage | half-width | without luck: coverage | half-width |\n\
                     |---|---:|---|---|---|---:|---:|---:|---:|---:|---:|\n"
        .to_owned();
    for (rules, seats, [agent, others], divisor, purpose) in SETTINGS {
        let pair = purpose.word();
        let runs = args.runs / divisor;
        for deals in DEALS {
            let (mut raw, mut adjusted) = (Vec::new(), Vec::new());
            for run in 0..runs {
                let experiment = Experiment {
                    deals,
                    luck: LuckChoice::On,
                    seed: Some(read_seed(&format!("luck coverage {rules} {seats} {agent} {others} {deals} {run}"))?),
                    ..Experiment::at(rules, seats, &[agent, others])
                };
                let plan = experiment.plan(&roster, Path::new("."))?;
                let derived = Runner::new(&executor).play(&plan).derived;
                let row = derived.summary.iter().find(|row| row.agent == plan.agents[0].label).ok_or("no agent")?;
                let found = |share: cambio_sim::Estimate| share.ends().map(|(low, high)| [share.mean, low, high]);
                raw.push(found(row.win_share).ok_or("no interval")?);
                adjusted.push(row.win_share_adjusted.and_then(found).expect("the run measures luck"));
            }
            let [(raw, raw_width), (adjusted, adjusted_width)] = [&raw, &adjusted].map(|runs| coverage(runs));
            eprintln!("{rules}, {seats} seats, {agent} – {others}, {deals} deals: {adjusted:.3}, {raw:.3} with luck");
            let fixed = [rules.to_owned(), seats.to_string(), agent.into(), others.into(), pair.into()];
            let counts = [deals, runs].map(|count| count.to_string());
            let numbers = [raw, raw_width, adjusted, adjusted_width].map(|number| number.to_string());
            csv.write_record(fixed.iter().chain(&counts).chain(&numbers))?;
            csv.flush()?;
            writeln!(
                table,
                "| `{rules}` | {seats} | `{agent}` | `{others}` | {pair} | {deals} | {runs} | {:.1} % | {:.1} | {:.1} % | {:.1} |",
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
