//! `cambio tune`.

use cambio_agents::Roster;
use cambio_sim::StudyDriver;
use cambio_sim::tune::TuneOptions;

use crate::exit::CliResult;
use crate::say::say;
use crate::setting::ThreadArgs;
use crate::solve::Format;
use crate::study::{Shown, StudyArgs, play};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    options: TuneOptions,
    #[command(flatten)]
    study: StudyArgs,
}

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    let Args { options, study: StudyArgs { threads: ThreadArgs { threads, quiet }, out } } = args;
    let study = |driver: &mut StudyDriver<'_>| options.run(roster, driver);
    play((*threads, *quiet), out.as_deref(), Format::Text, study, |tuned| {
        for warning in tuned.result.warnings(&tuned.points) {
            say!("warning: {warning}");
        }
        let mut text = tuned.result.tables(&tuned.points).text();
        for verdict in tuned.result.verdicts(&tuned.points) {
            text += &(textwrap::fill(&verdict, 80) + "\n");
        }
        Ok(Shown { text: text.into_bytes(), json: serde_json::Value::Null, files: tuned.files() })
    })
}
