//! `cambio tune`.

use cambio_agents::Roster;
use cambio_sim::tune::{AgainstField, ResponsePoint, TuneOptions, TuningOutcome, TuningResult, Validation};
use cambio_sim::{Experiment, StudyDriver, read_seed};

use crate::exit::CliResult;
use crate::say::say;
use crate::setting::{ThreadArgs, in_any_folder};
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
        let mut files = Vec::new();
        if out.is_some() {
            files.extend(tuned.files());
            if let TuningOutcome::AgainstField(found) = &tuned.result.found {
                files.push(("test.toml", test_of(options, &tuned.result.field, found, roster)?.into_bytes()));
            }
        }
        warn(&tuned.result, &tuned.points);
        let mut text = tuned.result.tables(&tuned.points).text();
        for verdict in tuned.result.verdicts(&tuned.points) {
            text += &(textwrap::fill(&verdict, 80) + "\n");
        }
        Ok(Shown { text: text.into_bytes(), json: serde_json::Value::Null, files })
    })
}

/// An experiment that compares the winner with the incumbent on fresh deals, against the field of the tuning.
fn test_of(
    options: &TuneOptions,
    field: &[String],
    found: &AgainstField,
    roster: &Roster,
) -> Result<String, Box<dyn std::error::Error>> {
    let incumbent = match &found.validation {
        Some(Validation::Played(played)) => Some(&played.incumbent),
        _ => None,
    };
    let focal: Vec<String> = std::iter::once(&found.best).chain(incumbent).cloned().collect();
    let experiment = Experiment {
        name: format!("Test of {}", found.best),
        rules: vec![in_any_folder(options.setting.table.rules())?],
        seed: Some(read_seed(&format!("test of {}", found.best))?),
        deals: 10_000,
        payoff: options.payoff,
        ..options.experiment(roster, &focal, field)?
    };
    Ok(format!(
        "# A test of the best agent of a tuning on fresh deals. Before it starts, choose the number of deals: `cambio plan` says\n\
         # how many a difference needs.\n{}",
        experiment.in_current_folder()?.to_toml()
    ))
}

/// Prints the reasons for doubt about a tuning.
fn warn(result: &TuningResult, points: &[ResponsePoint]) {
    for warning in result.warnings(points) {
        say!("warning: {warning}");
    }
}
