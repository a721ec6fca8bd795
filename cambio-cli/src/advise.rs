//! `cambio advise`.

use std::path::PathBuf;

use cambio_agents::Roster;
use cambio_exec::read_text;
use cambio_sim::{AdviceOptions, TestPosition, measure_suite, suite_table};

use crate::exit::{CliResult, Exit};
use crate::run::stop_on_signal;
use crate::say::plain;
use crate::tables::{Format, print_rows};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The position, as one line: `cambio replay --position` prints one, and the book describes the text
    #[arg(required_unless_present = "suite")]
    position: Option<String>,
    /// Instead of advising, measure --agent, which may be any agent, on the test positions of this file: how often it decides best,
    /// and what its decisions cost
    #[arg(long, value_name = "FILE", conflicts_with_all = ["position", "opponents", "games", "seed"])]
    suite: Option<PathBuf>,
    #[command(flatten)]
    options: AdviceOptions,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    let cancel = stop_on_signal(Exit::Interrupted)?;
    if let Some(file) = &args.suite {
        let shown = plain(&file.display().to_string());
        let text = read_text(file).map_err(|error| format!("cannot read {shown}: {error}"))?;
        let suite = TestPosition::read_all(&text).map_err(|error| format!("{shown}: {error}"))?;
        let agent = roster.parse(&args.options.agent)?;
        let rows = measure_suite(&suite, &agent)?;
        print_rows(&rows, args.format, || suite_table(&rows, &agent.to_string()))?;
        return Ok(Exit::Done);
    }
    let position = args.position.as_deref().expect("a command without --suite has a position");
    let shown = args.options.advise(position, &|| !cancel.is_cancelled())?;
    print_rows(&shown.rows(), args.format, || shown.tables())?;
    Ok(if cancel.is_cancelled() { Exit::Interrupted } else { Exit::Done })
}
