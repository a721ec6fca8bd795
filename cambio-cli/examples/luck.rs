//! Measures the luck of the cards in many pairings: its mean, which should be 0, and the variance that it explains:
//! `cargo run --release -p cambio-cli --example luck -- OUT_DIR`.
//!
//! Writes `luck.csv` and `bias.md`, `variance.md` and `sprt.md`, which are tables of the book.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use cambio_agents::Roster;
use cambio_exec::Executor;
use cambio_sim::sprt::SprtOptions;
use cambio_sim::{
    Experiment, Focal, Lineups, LuckChoice, Payoff, Runner, SettingOptions, StudyDriver, TableOptions, read_seed,
};
use cambio_stats::normal_cdf;
use cambio_stats::sprt::Verdict;
use clap::Parser;

/// Measures the luck of the cards.
#[derive(Parser)]
struct Args {
    /// The folder for the tables; it is created if it does not exist
    out: PathBuf,
    /// The number of deals of rounds at two seats between fast agents. Four seats, matches of many rounds, and searches play
    /// a fixed fraction of it
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(1000..))]
    deals: u64,
    /// The number of sequential tests with each setting
    #[arg(long, default_value_t = 4)]
    tests: u64,
}

/// The measured agent, and the agent in all other seats. The last two search.
const PAIRS: [[&str; 2]; 10] = [
    ["greedy", "random(pass=0.9)"],
    ["heuristic", "greedy"],
    ["sharp", "heuristic"],
    ["sharp", "greedy(call_at=9)"],
    ["learned", "random(pass=0.9)"],
    ["learned", "greedy"],
    ["learned", "heuristic"],
    ["learned", "sharp"],
    ["rollout(n=100)", "learned"],
    ["lookahead", "sharp"],
];

/// The number of the first pair with a search.
const FIRST_SEARCH: usize = 8;

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    fs::create_dir_all(&args.out)?;
    let (roster, executor) = (cambio_agents::roster(), Executor::new(0)?);
    let mut csv = csv::Writer::from_path(args.out.join("luck.csv"))?;
    csv.write_record([
        "rules",
        "seats",
        "agent",
        "others",
        "deals",
        "luck",
        "luck_error",
        "z",
        "variance_raw",
        "variance_adjusted",
        "ratio",
    ])?;
    let head = "| agent | other seats |";
    let mut columns = String::new();
    let mut lines = PAIRS.map(|[agent, others]| [(); 2].map(|()| format!("| `{agent}` | `{others}` |")));
    let mut z_values = Vec::new();
    for (rules, fraction) in [("classic", 1), ("original", 10), ("faessler", 10)] {
        for (seats, part) in [(2, 1), (4, 4)] {
            write!(columns, " {rules}, {seats} |")?;
            for (number, [agent, others]) in PAIRS.into_iter().enumerate() {
                let search = if number >= FIRST_SEARCH { 20 } else { 1 };
                let focal = Focal { focal: vec![agent.into()], field: vec![others.into()], mixture: false };
                let experiment = Experiment {
                    deals: (args.deals / (fraction * part * search)).max(100),
                    lineups: Lineups::Focal(focal),
                    luck: LuckChoice::On,
                    payoff: Payoff::Win,
                    seed: Some(read_seed("luck")?),
                    ..Experiment::at(rules, seats, &[agent, others])
                };
                let plan = experiment.plan(&roster, Path::new("."))?;
                let derived = Runner::new(&executor).play(&plan).derived;
                let row = derived.summary.iter().find(|row| row.agent == plan.agents[0].label).ok_or("no agent")?;
                let (luck, error) = row.luck.and_then(|luck| Some((luck.mean, luck.error?))).ok_or("too few deals")?;
                let pair = derived.pairwise.first().ok_or("no pair")?;
                let adjusted = pair.difference_adjusted.and_then(|adjusted| adjusted.error);
                let (raw, adjusted) = pair.difference.error.zip(adjusted).ok_or("too few deals")?;
                let [raw, adjusted] = [raw, adjusted].map(|error| error * error * pair.deals as f64);
                let z = luck / error;
                z_values.push(z);
                eprintln!(
                    "{rules}, {seats} seats, {agent} – {others}: {} deals, z {z:+.2}, ratio {:.2}",
                    row.deals,
                    raw / adjusted
                );
                let numbers = [luck, error, z, raw, adjusted, raw / adjusted].map(|number| number.to_string());
                let fixed = [rules.to_owned(), seats.to_string(), agent.into(), others.into(), row.deals.to_string()];
                csv.write_record(fixed.iter().chain(&numbers))?;
                csv.flush()?;
                write!(lines[number][0], " {z:+.2} |")?;
                write!(lines[number][1], " {:.2} |", raw / adjusted)?;
            }
        }
    }
    for (index, name) in ["bias.md", "variance.md"].into_iter().enumerate() {
        let body: Vec<&str> = lines.iter().map(|line| &*line[index]).collect();
        let mut text = format!("{head}{columns}\n|---|---|{}\n{}\n", "---:|".repeat(6), body.join("\n"));
        if index == 0 {
            let squares: f64 = z_values.iter().map(|z| z * z).sum();
            let beyond = z_values.iter().filter(|z| z.abs() > 1.96).count();
            let most = z_values.iter().fold(0.0, |most: f64, z| most.max(z.abs()));
            // The probability that the largest of all values is larger.
            let chance = 1.0 - (1.0 - 2.0 * normal_cdf(-most)).powi(z_values.len() as i32);
            writeln!(
                text,
                "\nOf {} values, {beyond} are beyond ±1.96, where {:.0} are expected. Their mean square is {:.2}, where 1 is \
                 expected. The largest is {most:.2}; with no bias, the largest is above it with probability {chance:.2} at most.",
                z_values.len(),
                0.05 * z_values.len() as f64,
                squares / z_values.len() as f64,
            )?;
        }
        fs::write(args.out.join(name), text)?;
    }
    fs::write(args.out.join("sprt.md"), sequential_tests(args.tests, &roster, &executor)?)?;
    Ok(())
}

/// A table of sequential tests with and without the luck of the cards.
fn sequential_tests(tests: u64, roster: &Roster, executor: &Executor) -> Result<String, Box<dyn Error>> {
    let mut text = "| test | luck | verdicts | mean number of deals |\n|---|---|---|---:|\n".to_owned();
    for [agent, other] in [["lookahead", "learned"], ["learned", "sharp"]] {
        for (luck, name) in [(LuckChoice::Off, "not subtracted"), (LuckChoice::On, "subtracted")] {
            let (mut verdicts, mut deals) = ([0; 3], 0);
            for seed in 1..=tests {
                let table = TableOptions { seed: Some(seed.into()), ..TableOptions::default() };
                let setting = SettingOptions { table, luck, rounds: false };
                let (agent, other) = (agent.to_owned(), other.to_owned());
                let options =
                    SprtOptions { agent, other, setting, elo1: 20.0, deals: 20_000, ..SprtOptions::default() };
                let pair = format!("{} – {}", options.agent, options.other);
                let answer = options.run(roster, &mut StudyDriver::new(executor, &mut |_| ()))?;
                eprintln!("{pair}, luck {name}: {:?} after {} deals", answer.verdict, answer.deals);
                deals += answer.deals;
                verdicts[match answer.verdict {
                    Verdict::First => 0,
                    Verdict::Second => 1,
                    Verdict::Undecided => 2,
                }] += 1;
            }
            let [first, second, undecided] = verdicts;
            writeln!(
                text,
                "| `{agent}` – `{other}` | {name} | H0 {first}, H1 {second}, undecided {undecided} | {:.0} |",
                deals as f64 / tests as f64
            )?;
        }
    }
    Ok(text)
}
