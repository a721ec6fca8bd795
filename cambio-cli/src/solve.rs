//! `cambio solve`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use cambio_core::{Rules, Seat};
use cambio_sim::read_rules;
use cambio_solve::{Cfr, CfrMethod, Game, Limits, Mccfr, SolveError, SolverProgress, StopCondition, Strategy};
use clap::ValueEnum;
use serde_json::json;

use crate::exit::{CliResult, Exit};
use crate::output::OutputFile;
use crate::say::stdout;
use crate::setting::positive;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The game: a mini game such as mini-m3, a preset, or a rule file. Two seats play one round, and seat a starts
    #[arg(long, value_name = "GAME")]
    game: String,
    /// The algorithm
    #[arg(long, value_enum, default_value_t = Algorithm::Dcfr)]
    algorithm: Algorithm,
    /// Stop after N iterations
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    iterations: Option<u64>,
    /// Stop at this exploitability of the average strategy [default: 1e-3, unless --iterations is given]
    #[arg(long, value_name = "EXPLOITABILITY", value_parser = positive)]
    to: Option<f64>,
    /// Write the average strategy to this file, which must not exist; - is standard output
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// With --algorithm mccfr: the seed of the sampling
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    limits: LimitArgs,
}

/// The options that limit the memory of a computation and hide its progress.
#[derive(Debug, clap::Args)]
pub(super) struct LimitArgs {
    /// The memory limit, such as 500MB or 8GB; a game that needs more, or a larger strategy file, is rejected
    #[arg(long, value_name = "BYTES", default_value = "4GB", value_parser = memory)]
    pub(super) memory_limit: u64,
    /// Do not show progress
    #[arg(long, short)]
    pub(super) quiet: bool,
}

impl LimitArgs {
    pub(super) fn limits(&self) -> Limits {
        Limits { memory: self.memory_limit, ..Limits::default() }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Algorithm {
    /// Discounted counterfactual regret minimisation
    Dcfr,
    /// Counterfactual regret minimisation with the changes of CFR+
    #[value(name = "cfr+")]
    Plus,
    /// Monte Carlo CFR with external sampling, for games that do not fit into memory
    Mccfr,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum Format {
    /// Text for people
    Text,
    /// One JSON object
    Json,
}

fn memory(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|char: char| char.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "B" => 1.0,
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        _ => 0.0,
    };
    let bytes = digits.trim().parse::<f64>().ok().map(|number| number * unit);
    let bytes = bytes.filter(|bytes| (1.0..1e18).contains(bytes));
    bytes.map(|bytes| bytes as u64).ok_or_else(|| "must be a number of bytes such as 500MB or 8GB".to_owned())
}

pub(super) struct SolveProgressDisplay {
    pub(super) line: crate::progress::ProgressDisplay,
    name: String,
}

impl SolveProgressDisplay {
    pub(super) fn new(name: &str, is_quiet: bool) -> SolveProgressDisplay {
        SolveProgressDisplay { line: crate::progress::ProgressDisplay::spinner(is_quiet), name: name.to_owned() }
    }

    pub(super) fn show(&self, progress: SolverProgress) {
        match progress {
            SolverProgress::Estimated(estimate) => self.line.note(&format!("{}: {estimate}", self.name)),
            SolverProgress::Compiling { histories, bytes } => {
                self.line.status(|| format!("compiling: {histories} histories, {}", megabytes(bytes)));
            }
            SolverProgress::Iterated { iterations, exploitability: Some(exploitability) } => {
                self.line.status(|| format!("solving: {iterations} iterations, exploitability {exploitability:.2e}"));
            }
            SolverProgress::Iterated { .. } => {}
            SolverProgress::Asked { sets } => {
                self.line.status(|| format!("querying the agent: {sets} information sets"));
            }
        }
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// Compiles a game, and prints its size and the time of the compilation.
pub(super) fn compile(
    rules: &Rules,
    limits: &LimitArgs,
    progress: &SolveProgressDisplay,
) -> Result<Game, cambio_solve::SolveError> {
    let begun = Instant::now();
    let game = Game::compile(rules, &limits.limits(), &mut |at| progress.show(at))?;
    progress.line.note(&format!(
        "compiled in {:.2} s: {} histories, {} + {} information sets, {} and {} for the solver",
        begun.elapsed().as_secs_f64(),
        game.histories(),
        game.information_sets(Seat::A),
        game.information_sets(Seat::B),
        megabytes(game.bytes()),
        megabytes(game.solver_bytes()),
    ));
    Ok(game)
}

pub(super) fn run(args: &Args) -> CliResult {
    let rules = read_rules(&args.game, Path::new("."))?;
    let save = args.save.as_deref().map(OutputFile::reserve).transpose()?;
    let progress = SolveProgressDisplay::new(rules.name(), args.limits.quiet);
    let until = StopCondition {
        iterations: args.iterations.unwrap_or(u64::MAX),
        exploitability: args.to.unwrap_or(if args.iterations.is_some() { 0.0 } else { 1e-3 }),
    };
    let solved = match args.algorithm {
        Algorithm::Dcfr => exact(args, &rules, CfrMethod::DCFR, &until, &progress)?,
        Algorithm::Plus => exact(args, &rules, CfrMethod::Plus, &until, &progress)?,
        Algorithm::Mccfr => sampled(args, &rules, &until, &progress)?,
    };
    progress.line.finish();
    if let Some(save) = save {
        save.write(|file| file.write_all(solved.text.as_bytes()))?;
    }
    solved.print(args, &rules)?;
    Ok(Exit::Done)
}

struct Solved {
    text: String,
    iterations: u64,
    seconds: f64,
    histories: u64,
    sets: [usize; 2],
    /// The value and the exploitability; `None` if they are unknown.
    figures: Option<(f64, f64)>,
}

impl Solved {
    fn new(game: &Game, strategy: &Strategy, iterations: u64, seconds: f64, text: String) -> Solved {
        Solved {
            text,
            iterations,
            seconds,
            histories: game.histories(),
            sets: [Seat::A, Seat::B].map(|seat| game.information_sets(seat)),
            figures: Some((game.value(strategy), game.exploitability(strategy))),
        }
    }

    fn print(&self, args: &Args, rules: &Rules) -> std::io::Result<()> {
        let mut out = stdout();
        let algorithm = args.algorithm.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned());
        let [a, b] = self.sets;
        if args.format == Format::Json {
            let object = json!({
                "game": rules.name(), "algorithm": algorithm, "iterations": self.iterations, "seconds": self.seconds,
                "histories": self.histories, "information_sets": self.sets,
                "value": self.figures.map(|(value, _)| value),
                "exploitability": self.figures.map(|(_, exploitability)| exploitability),
            });
            return writeln!(out, "{object}");
        }
        writeln!(out, "game              {}", rules.name())?;
        writeln!(out, "histories         {}", self.histories)?;
        writeln!(out, "information sets  {a} in seat a, {b} in seat b")?;
        if let Some((value, exploitability)) = self.figures {
            writeln!(out, "value for seat a  {value:.6}")?;
            writeln!(out, "exploitability    {exploitability:.3e}")?;
        } else {
            writeln!(out, "exploitability    unknown: the game is too large to compile")?;
        }
        writeln!(out, "{algorithm}, {}, {:.2} s", crate::say::count(self.iterations, "iteration"), self.seconds)
    }
}

fn exact(
    args: &Args,
    rules: &Rules,
    method: CfrMethod,
    until: &StopCondition,
    progress: &SolveProgressDisplay,
) -> Result<Solved, SolveError> {
    let game = compile(rules, &args.limits, progress)?;
    let begun = Instant::now();
    let mut cfr = Cfr::new(&game, method);
    let strategy = cfr.run(until, &mut |at| progress.show(at));
    let seconds = begun.elapsed().as_secs_f64();
    let text = if args.save.is_some() { strategy.write(&game) } else { String::new() };
    Ok(Solved::new(&game, &strategy, cfr.iterations(), seconds, text))
}

/// The number of samples before the exploitability is measured for the first time.
const SAMPLES: u64 = 1_000;

fn sampled(
    args: &Args,
    rules: &Rules,
    until: &StopCondition,
    progress: &SolveProgressDisplay,
) -> Result<Solved, Box<dyn std::error::Error>> {
    let game = match compile(rules, &args.limits, progress) {
        Ok(game) => Some(game),
        Err(error) if args.iterations.is_none() => {
            return Err(
                format!("{error}; sampling requires --iterations, because the exploitability is unknown").into()
            );
        }
        Err(error) => {
            progress.line.note(&format!("{error}; sampling without measuring the exploitability"));
            None
        }
    };
    let mut mccfr = Mccfr::new(rules, args.limits.limits(), args.seed)?;
    let (begun, mut next) = (Instant::now(), SAMPLES);
    while mccfr.iterations() < until.iterations {
        match mccfr.iterate() {
            // The strategy sampled so far is still usable.
            Err(error @ SolveError::Sampled { iterations: 1.., .. }) => {
                progress.line.note(&format!("stopped: {error}"));
                break;
            }
            other => other?,
        }
        if mccfr.iterations() < next {
            continue;
        }
        next += SAMPLES.max(mccfr.iterations() / 5);
        let exploitability = game.as_ref().map(|game| game.exploitability(&mccfr.average(game)));
        let iterations = mccfr.iterations();
        progress.show(SolverProgress::Iterated { iterations, exploitability });
        if exploitability.is_some_and(|exploitability| exploitability <= until.exploitability) {
            break;
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    let text = if args.save.is_some() { mccfr.write() } else { String::new() };
    Ok(match game {
        Some(game) => Solved::new(&game, &mccfr.average(&game), mccfr.iterations(), seconds, text),
        None => Solved {
            text,
            iterations: mccfr.iterations(),
            seconds,
            histories: mccfr.histories(),
            sets: [Seat::A, Seat::B].map(|seat| mccfr.information_sets(seat)),
            figures: None,
        },
    })
}
