//! `cambio report`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use cambio_exec::{read_text, write_whole};
use cambio_report::{Run, Tuning, of_tuning};
use cambio_sim::tune::{ResponsePoint, TuningResult};
use cambio_sim::{PlayedBatches, RunError, StoredRun, derive};

use crate::exit::{CliResult, Exit};
use crate::say::{count, plain_lines, say};
use crate::tables::{self, Format};
use crate::tune;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The folder that `run` or `tune` has written
    folder: PathBuf,
    /// The output format of the tables
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Only print; do not write files
    #[arg(long)]
    dry: bool,
    /// Instead of the tables, print the differences of all other agents from this agent, with simultaneous intervals
    /// (Dunnett)
    #[arg(long, value_name = "AGENT")]
    baseline: Option<String>,
    /// Instead of the tables, print which pairs of agents are shown to differ by less than this margin, in units of the
    /// payoff. With --baseline, only pairs with this agent
    #[arg(long, value_name = "MARGIN")]
    margin: Option<f64>,
}

pub(super) fn run(args: &Args) -> CliResult {
    if args.folder.join("tuning.json").exists() && !args.folder.join("spec.lock.json").exists() {
        return Ok(tuned(args)?);
    }
    let stored = StoredRun::open(&args.folder)?;
    tell_if_partial(&stored)?;
    let plan = &stored.plan;
    let index = |baseline: &String| {
        let labels: Vec<&str> = plan.agents.iter().map(|agent| agent.label.as_str()).collect();
        let found = || format!("--baseline must be one of {}, found `{baseline}`", labels.join(", "));
        labels.iter().position(|label| label == baseline).ok_or_else(found)
    };
    let baseline = args.baseline.as_ref().map(index).transpose()?;
    if let Some(margin) = args.margin {
        if !(margin > 0.0 && margin.is_finite()) {
            return Err(format!("--margin must be a number above 0, found {margin}").into());
        }
        tables::print_equivalences(plan, &derive(&stored)?.equivalences(plan, margin, baseline), args.format)?;
        return Ok(Exit::Done);
    }
    if let Some(baseline) = baseline {
        tables::print_baseline(plan, &derive(&stored)?.against(plan, baseline), args.format)?;
        return Ok(Exit::Done);
    }
    let derived = derive(&stored)?;
    if !args.dry {
        derived.write(&args.folder)?;
        Run::stored(&stored, &derived).write(&args.folder)?;
    }
    tables::print(&stored.plan, &derived, args.format)?;
    Ok(Exit::Done)
}

/// Prints a note on standard error if a run is not complete. Fails if the manifest says that the run is complete,
/// because then lines of its ledger are missing.
pub(super) fn tell_if_partial(stored: &StoredRun) -> Result<(), RunError> {
    if stored.is_complete() {
        return Ok(());
    }
    let PlayedBatches { batches: found, of: wanted } = stored.extent();
    if stored.claims_complete {
        let what = format!("it has {found} of {wanted} batches, and the manifest says that the run is complete");
        return Err(RunError::damaged(&stored.path.join("ledger.jsonl"), what));
    }
    say!(
        "the run is not complete: {found} of {wanted} batches, {}; the results cover only these",
        count(stored.matches(), "match")
    );
    Ok(())
}

/// Prints the curves of a tuning folder, and rewrites its report.
fn tuned(args: &Args) -> Result<Exit, RunError> {
    let file = args.folder.join("tuning.json");
    let text = read(&file)?;
    let result: TuningResult = serde_json::from_str(&text)
        .map_err(|error| RunError::damaged(&file, format!("it is not a tuning result: {error}")))?;
    let file = args.folder.join("curve.csv");
    let text = read(&file)?;
    let points =
        csv::Reader::from_reader(text.as_bytes()).into_deserialize().collect::<Result<Vec<ResponsePoint>, _>>();
    let points = points.map_err(|error| RunError::damaged(&file, error.to_string()))?;
    let tuning = Tuning { points: &points, result: &result };
    if !args.dry {
        write_whole(&args.folder.join("report.html"), of_tuning(tuning).as_bytes())?;
    }
    tune::warn(&result, &points);
    let shown = match args.format {
        Format::Csv => text,
        Format::Json => format!("{:#}\n", serde_json::json!({ "found": result, "curve": points })),
        Format::Table => plain_lines(&curves(&tuning)),
        Format::Md => format!("```text\n{}```\n", plain_lines(&curves(&tuning))),
    };
    // A closed output is not an error.
    let _ = std::io::stdout().lock().write_all(shown.as_bytes());
    Ok(Exit::Done)
}

fn curves(tuning: &Tuning<'_>) -> String {
    let curve = |points: &[ResponsePoint]| {
        let best = points.iter().position(|point| tuning.is_best(point)).unwrap_or(0);
        format!("against {}\n{}", points[0].field, tune::table(points, best))
    };
    tuning.points.chunk_by(|one, next| one.field == next.field).map(curve).collect()
}

fn read(file: &Path) -> Result<String, RunError> {
    read_text(file).map_err(RunError::unreadable(file))
}
