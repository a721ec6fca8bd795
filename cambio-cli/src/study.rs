//! Plays a study and shows its result, which is undecided after an interrupt.

use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use cambio_exec::Executor;
use cambio_sim::{PlayError, StudyDriver, StudyError, StudyStep};
use serde_json::Value;

use crate::exit::{CliResult, Exit};
use crate::progress::ProgressDisplay;
use crate::run::stop_on_signal;
use crate::say::{say, stdout};
use crate::setting::ThreadArgs;
use crate::solve::Format;

#[derive(Debug, clap::Args)]
pub(super) struct StudyArgs {
    #[command(flatten)]
    pub(super) threads: ThreadArgs,
    /// Keep the scores and write the result in this folder. If it has the same study, unfinished, the study continues
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
}

/// The options of a command that prints the result of a study.
#[derive(Debug, clap::Args)]
pub(super) struct PrintedStudy<O: clap::Args> {
    #[command(flatten)]
    pub(super) options: O,
    #[command(flatten)]
    study: StudyArgs,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

impl<O: clap::Args> PrintedStudy<O> {
    /// Runs the study and prints its result.
    pub(super) fn play<T>(
        &self,
        study: impl FnOnce(&mut StudyDriver<'_>) -> Result<T, StudyError>,
        json: impl FnOnce(&T) -> Value,
        print: impl FnOnce(&T, &mut Vec<u8>) -> std::io::Result<()>,
    ) -> CliResult {
        let StudyArgs { threads: ThreadArgs { threads, quiet }, out } = &self.study;
        play((*threads, *quiet), out.as_deref(), self.format, study, |result| {
            let mut text = Vec::new();
            print(result, &mut text)?;
            Ok(Shown { text, json: json(result), files: Vec::new() })
        })
    }
}

/// A result: as text, as an object, and as the files of its folder.
pub(super) struct Shown {
    pub(super) text: Vec<u8>,
    pub(super) json: Value,
    pub(super) files: Vec<(&'static str, Vec<u8>)>,
}

/// Runs a study, prints its result and writes its folder.
pub(super) fn play<T>(
    (threads, quiet): (usize, bool),
    out: Option<&Path>,
    format: Format,
    study: impl FnOnce(&mut StudyDriver<'_>) -> Result<T, StudyError>,
    show: impl FnOnce(&T) -> Result<Shown, Box<dyn Error>>,
) -> CliResult {
    let executor = Executor::new(threads)?.with_cancel(stop_on_signal(Exit::Interrupted)?);
    let progress = ProgressDisplay::spinner(quiet);
    let mut tell = |step| match step {
        StudyStep::Begin(about) => {
            // A closed output is reported when the result is printed.
            let _ = writeln!(stdout(), "{about}");
        }
        StudyStep::Play(status) => progress.status(|| status),
        _ => {}
    };
    let mut driver = StudyDriver::new(&executor, &mut tell).with_out(out);
    let result = study(&mut driver);
    progress.finish();
    let is_interrupted = driver.is_interrupted();
    let next = if out.is_some() { "; the same command continues it" } else { "" };
    let result = match result {
        Ok(result) => result,
        Err(StudyError::Play(PlayError::Interrupted)) => {
            say!("interrupted before there was a result{next}");
            return Ok(Exit::Interrupted);
        }
        Err(error @ StudyError::Round { .. }) => {
            say!("{error}");
            return Ok(Exit::Fault);
        }
        Err(error) => return Err(named(error)),
    };
    let Shown { text, mut json, files } = show(&result)?;
    if is_interrupted {
        say!("interrupted: the result is undecided{next}");
        if json.is_object() {
            json["undecided"] = true.into();
        }
    }
    driver.finish(&json, files)?;
    if let Some(out) = out.filter(|_| !quiet) {
        say!("the result is in {}", out.display());
    }
    let mut stdout = stdout();
    match format {
        Format::Json => writeln!(stdout, "{json}")?,
        Format::Text => {
            if is_interrupted {
                writeln!(stdout, "undecided: interrupted before the planned end")?;
            }
            stdout.write_all(&text)?;
        }
    }
    Ok(if is_interrupted { Exit::Interrupted } else { Exit::Done })
}

/// The error, with the names of options as on the command line.
pub(super) fn named(error: StudyError) -> Box<dyn Error> {
    match error {
        StudyError::Option(name, what) => format!("--{name} {what}").into(),
        StudyError::Play(PlayError::Run(error)) => error.into(),
        StudyError::Play(error) => error.into(),
        error => error.into(),
    }
}
