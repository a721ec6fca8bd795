//! `cambio report`.

use std::path::{Path, PathBuf};

use super::tables::{self, Format};
use super::{CliResult, Exit};
use crate::folder::{damaged, unreadable, write_whole};
use crate::report::{Tuning, of_tuning};
use crate::{Payoff, RunError, StoredRun, derive};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The folder of a run, or of what was tuned
    folder: PathBuf,
    /// How the tables are printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Print only; write nothing
    #[arg(long)]
    dry: bool,
}

pub(super) fn run(args: &Args) -> CliResult {
    if args.folder.join("tuning.json").exists() {
        return Ok(tuned(args)?);
    }
    let stored = StoredRun::open(&args.folder)?;
    if stored.share.is_some() {
        return Err(
            format!("{} is one part of a run; put the parts together with `merge`", args.folder.display()).into()
        );
    }
    let derived = derive(&stored)?;
    if !args.dry {
        derived.write(&args.folder)?;
    }
    tables::print(&stored.plan, &derived, args.format);
    Ok(Exit::Done)
}

/// Makes the page of a tuning folder again, and prints where it is.
fn tuned(args: &Args) -> Result<Exit, RunError> {
    let file = args.folder.join("tuning.json");
    let text = read(&file)?;
    let found: serde_json::Value = serde_json::from_str(&text).map_err(|error| damaged(&file, error.to_string()))?;
    let payoff: Payoff =
        serde_json::from_value(found["payoff"].clone()).map_err(|error| damaged(&file, format!("payoff: {error}")))?;
    let curve = args.folder.join("curve.csv");
    let text = read(&curve)?;
    let points = csv::Reader::from_reader(text.as_bytes()).into_deserialize().collect::<Result<Vec<_>, _>>();
    let points = points.map_err(|error| damaged(&curve, error.to_string()))?;
    let page = of_tuning(Tuning { points: &points, found: &found, payoff });
    if !args.dry {
        let report = args.folder.join("report.html");
        write_whole(&report, page.as_bytes())?;
        println!("the report is {}", report.display());
    }
    Ok(Exit::Done)
}

fn read(file: &Path) -> Result<String, RunError> {
    std::fs::read_to_string(file).map_err(unreadable(file))
}
