//! `cambio advise`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use cambio_agents::Roster;
use cambio_exec::read_text;
use cambio_sim::{AdviceOptions, measure_suite, read_rules, suite_table};

use crate::exit::{CliResult, Exit};
use crate::run::stop_on_signal;
use crate::say::{plain, say, stdout};
use crate::tables::{Format, print_rows, unless_closed};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The position, as one line: `cambio replay --position` prints one, and the book describes the text. It may begin with a rule file
    /// instead of the name of a preset
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
    if let Some(file) = &args.suite {
        let shown = plain(&file.display().to_string());
        let text = read_text(file).map_err(|error| format!("cannot read {shown}: {error}"))?;
        let agent = roster.parse(&args.options.agent)?;
        let rows = measure_suite(&text, &agent).map_err(|error| format!("{shown}: {error}"))?;
        print_rows(&rows, args.format, || suite_table(&rows, &agent.to_string()))?;
        return Ok(Exit::Done);
    }
    let cancel = stop_on_signal(Exit::Interrupted)?;
    let position = with_rules(args.position.as_deref().expect("a command without --suite has a position"))?;
    let position = position.parse().map_err(|error| format!("position: {error}"))?;
    let shown = args.options.advise(&position, &|| !cancel.is_cancelled())?;
    match args.format {
        Format::Json => unless_closed(writeln!(stdout(), "{}", serde_json::to_string_pretty(&shown)?), "advice")?,
        format => print_rows(&shown.rows(), format, || shown.tables())?,
    }
    if cancel.is_cancelled() {
        say!("stopped early: the intervals are wider than usual");
    }
    Ok(if cancel.is_cancelled() { Exit::Interrupted } else { Exit::Done })
}

/// The position with the rules of the file that it begins with, if it does.
fn with_rules(position: &str) -> Result<String, Box<dyn std::error::Error>> {
    match position.trim().split_once(' ') {
        Some((file, fields))
            if Path::new(file).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml")) =>
        {
            Ok(format!("{} {fields}", read_rules(file, Path::new("."))?.text()))
        }
        _ => Ok(position.to_owned()),
    }
}
