//! `cambio report`.

use std::path::PathBuf;

use cambio_agents::Roster;
use cambio_report::Run;
use cambio_sim::{Comparison, StoredRun, derive};

use crate::exit::{CliResult, Exit};
use crate::review;
use crate::run::tell_if_partial;
use crate::say::say;
use crate::site;
use crate::tables::{self, Format};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The folder that `run` has written. Several folders are compared
    #[arg(required = true, num_args = 1..=Comparison::MOST_RUNS, value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// The output format of the tables
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Only print; do not write files
    #[arg(long)]
    dry: bool,
    /// Write the run to this file, which must not exist, for the site without a server (scripts/website.py): readers replay its
    /// matches in their browsers and compare them with the results
    #[arg(long, value_name = "FILE", conflicts_with_all = ["dry", "review"])]
    site: Option<PathBuf>,
    #[command(flatten)]
    review: review::ReviewArgs,
}

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    let [folder] = &args.folders[..] else { return compared(args) };
    let stored = StoredRun::open(folder)?;
    if let Some(out) = &args.review.review {
        return review::run(&args.review, &stored, out, roster);
    }
    if let Some(out) = &args.site {
        return site::write(&stored, out);
    }
    tell_if_partial(&stored)?;
    let derived = derive(&stored)?;
    if !args.dry {
        derived.write(folder)?;
        Run::stored(&stored, &derived).write(folder)?;
        say!("wrote {}", folder.join("report.html").display());
    }
    tables::print(&stored.plan, &derived, &stored.timing, args.format)?;
    Ok(Exit::Done)
}

/// Compares several runs.
fn compared(args: &Args) -> CliResult {
    let of_a_run = [("--site", args.site.is_some()), ("--review", args.review.review.is_some())];
    if let Some((option, _)) = of_a_run.into_iter().find(|(_, is_given)| *is_given) {
        return Err(format!("{option} needs exactly 1 folder, found {}", args.folders.len()).into());
    }
    let runs = args.folders.iter().map(|folder| StoredRun::open(folder)).collect::<Result<Vec<_>, _>>()?;
    runs.iter().try_for_each(tell_if_partial)?;
    let comparison = Comparison::new(runs)?;
    for note in comparison.notes() {
        say!("note: {note}");
    }
    tables::print_rows(&comparison.rows(), args.format, || comparison.tables())?;
    Ok(Exit::Done)
}
