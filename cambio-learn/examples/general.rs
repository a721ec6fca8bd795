//! Measures the general network under rule systems that it was not trained on:
//! `cargo run --release -p cambio-learn --example general -- OUT_DIR [SYSTEMS] [DEALS] [NETWORK]`.
//!
//! NETWORK is the file of another general network. With 0 deals it only writes the rule files of the drawn systems, `drawn-0.toml` and so on.
//!
//! Forty systems are drawn at random, from another seed than the systems of the training; the others are the rule files of the benchmark
//! and of `experiments/outside`. Writes `general.csv`, with a row for each system, number of seats and opponent, and `general.md`, which is a
//! table of the book.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use cambio_agents::{Network, read_network, roster};
use cambio_core::Rules;
use cambio_core::rules::RulesSpec;
use cambio_exec::Executor;
use cambio_learn::{EvaluationResult, judge, sampled_rules};

/// The seed of the rule systems and of their deals.
const SEED: u64 = 2026;
/// The folders with the other rule files: the benchmark's files, and files outside the ranges of the drawn systems.
const FOLDERS: [(&str, &str); 2] = [("benchmark", "cambio-report/benchmark/2"), ("outside", "experiments/outside")];
/// The number of seats, and the agents in the other seats. Only `sharp` took part in the training.
const TABLES: [(usize, &[&str]); 3] =
    [(2, &["sharp", "greedy", "heuristic(decay=0.05)", "rollout(n=100)"]), (4, &["sharp", "greedy"]), (6, &["sharp"])];

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let out = PathBuf::from(args.next().ok_or("the folder for the tables is missing")?);
    let mut number = |default: u64| args.next().map_or(Ok(default), |text| text.parse());
    let (systems, deals) = (number(40)?, number(2_000)?);
    let trained = args.next().map(read_network).transpose()?;
    fs::create_dir_all(&out)?;
    if deals == 0 {
        for number in 0..systems {
            fs::write(out.join(format!("drawn-{number}.toml")), sampled_rules(SEED, number).spec().to_toml())?;
        }
        return Ok(());
    }
    let (roster, executor) = (roster(), Executor::new(0)?);
    let mut csv = csv::Writer::from_path(out.join("general.csv"))?;
    csv.write_record(["set", "system", "differences", "seats", "against", "deals", "win_share", "low", "high"])?;
    let mut table =
        "| rules | seats | par | other seats | wins | lowest of the systems | systems |\n|---|---:|---:|---|---:|---:|---:|\n"
            .to_owned();
    for (set, files) in sets(systems)? {
        for (seats, opponents) in if set == "drawn" { &TABLES[..] } else { &TABLES[..1] } {
            for against in if set == "drawn" { *opponents } else { &opponents[..2] } {
                let spec = roster.parse(against)?;
                let mut results = Vec::new();
                for (number, rules) in (0..).zip(&files) {
                    if rules.covers(*seats).is_err() {
                        continue;
                    }
                    let network =
                        trained.as_ref().map_or_else(|| Network::general(rules), |trained| trained.under(rules));
                    let network = network.ok_or("the network does not play these rules")?;
                    let deals = if *against == "rollout(n=100)" { deals / 10 } else { deals };
                    let found = judge(&[network], &spec, *seats, SEED + number, deals, &executor)
                        .map_err(|error| error.map_or("interrupted".to_owned(), |error| error.to_string()))?;
                    let (low, high) = found.share.ends().ok_or("more deals are needed")?;
                    let name = if set == "drawn" { number.to_string() } else { rules.name().to_owned() };
                    csv.serialize((set, name, differences(rules), seats, against, deals, found.share.mean, low, high))?;
                    csv.flush()?;
                    results.push(found);
                }
                let (mean, half, lowest) = summary(&results).ok_or("no rule system allows this number of seats")?;
                let [mean, half, lowest, par] = [mean, half, lowest, 1.0 / *seats as f64].map(|share| 100.0 * share);
                let count = results.len();
                writeln!(
                    table,
                    "| {set} | {seats} | {par:.1} | `{against}` | {mean:.1} ± {half:.1} % | {lowest:.1} % | {count} |"
                )?;
                eprintln!("{set}, {seats} seats, {against}: {mean:.1} ± {half:.1} %, lowest {lowest:.1} %");
            }
        }
    }
    fs::write(out.join("general.md"), table)?;
    Ok(())
}

/// A name, and the rule systems.
type SystemSet = (&'static str, Vec<Rules>);

/// The sets of rule systems, as single rounds.
fn sets(systems: u64) -> Result<Vec<SystemSet>, Box<dyn Error>> {
    let mut sets = vec![("drawn", (0..systems).map(|number| sampled_rules(SEED, number)).collect::<Vec<_>>())];
    for (set, folder) in FOLDERS {
        let mut files: Vec<PathBuf> =
            fs::read_dir(folder)?.map(|file| Ok(file?.path())).collect::<std::io::Result<_>>()?;
        files.retain(|file| !file.ends_with("suite.toml"));
        files.sort();
        let read = |file: &PathBuf| -> Result<Rules, Box<dyn Error>> {
            Ok(RulesSpec::from_toml(&fs::read_to_string(file)?)?.validate()?)
        };
        sets.push((set, files.iter().map(read).collect::<Result<_, _>>()?));
    }
    for rules in sets.iter_mut().flat_map(|(_, files)| files) {
        *rules = rules.of_one_round();
    }
    Ok(sets)
}

/// The mean win share over the systems, half its 95 % interval, and the lowest of them.
fn summary(results: &[EvaluationResult]) -> Option<(f64, f64, f64)> {
    let count = results.len() as f64;
    let mean = results.iter().map(|result| result.share.mean).sum::<f64>() / count;
    let variance: f64 = results.iter().filter_map(|result| result.share.error).map(|error| error * error).sum();
    let lowest = results.iter().map(|result| result.share.mean).min_by(f64::total_cmp)?;
    Some((mean, 1.96 * variance.sqrt() / count, lowest))
}

/// The number of knobs that differ from `classic`, plus one if the deck does.
fn differences(rules: &Rules) -> usize {
    let classic = Rules::preset("classic").expect("classic is a preset").of_one_round();
    let knobs = rules.spec().knobs();
    let different = knobs.iter().zip(classic.spec().knobs()).filter(|(own, other)| *own != other).count();
    different + usize::from(rules.kinds() != classic.kinds())
}
