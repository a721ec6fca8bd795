//! `cambio replay`.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use cambio_core::engine::Setup;
use cambio_core::play::RoundResult;
use cambio_core::position::PositionFinder;
use cambio_core::record::InvalidRecord;
use cambio_core::text::EscapingWriter;
use cambio_core::{Action, Card, Event, Observer, Record, Seat, Standing, State, replay};
use cambio_exec::next_line;
use cambio_view::{Narrator, Replay, ReviewProgress, review};
use serde_json::{Value, json};

use crate::exit::{CliResult, Exit};
use crate::output::OutputFile;
use crate::progress::ProgressDisplay;
use crate::run::stop_on_signal;
use crate::say::{count, plain, say, stdout};
use crate::solve::Format;

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each option of the command line is a field")]
pub(super) struct Args {
    /// A file with one record per line; - reads standard input
    file: PathBuf,
    /// The output format: a line for each failed record and 'N passed, M failed', or an object for each record
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Print the records with missing results filled in; the outcomes go to standard error
    #[arg(long)]
    fill: bool,
    /// With --fill: add the field x-legal to each round, with the legal choices at every decision
    #[arg(long, requires = "fill")]
    legal: bool,
    /// Print every event of every record
    #[arg(long, conflicts_with = "fill")]
    events: bool,
    /// Print the position of the seat to act before one decision of every record, as one line; the numbers count from 1, and the
    /// outcomes go to standard error
    #[arg(long, value_name = "ROUND.DECISION", conflicts_with_all = ["fill", "events", "format"])]
    position: Option<Moment>,
    /// Write a self-contained page that shows one match step by step. FILE must not exist; - is standard output
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// With --html: add the analysis of all rounds, which takes seconds for each round: the chances to win and the costs
    /// of decisions
    #[arg(long, requires = "html")]
    analysis: bool,
    /// With --html: the number of the line whose record is shown
    #[arg(long, value_name = "N", default_value_t = 1, requires = "html", value_parser = clap::value_parser!(u64).range(1..))]
    line: u64,
}

/// A decision of a match: the number of its round, and its number in the round, from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Moment {
    round: usize,
    decision: usize,
}

impl std::str::FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Moment, String> {
        let number = |text: &str| text.parse().ok().filter(|&number: &usize| number > 0);
        let found = text.split_once('.').and_then(|(round, decision)| Some((number(round)?, number(decision)?)));
        let (round, decision) =
            found.ok_or("expected the numbers of a round and of a decision, from 1, such as 1.12")?;
        Ok(Moment { round, decision })
    }
}

/// A file is not a file of records if this number of lines fail before any line passes.
const HOPELESS: u64 = 10;

/// The maximum number of bytes in a line.
const LINE: u64 = 1 << 26;

pub(super) fn run(args: &Args) -> CliResult {
    let mut input: Box<dyn BufRead> = if args.file == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        let open = File::open(&args.file);
        Box::new(BufReader::new(open.map_err(|error| format!("cannot read {}: {error}", args.file.display()))?))
    };
    // Standard output is for other programs, so the outcomes go to standard error.
    let prints_lines = args.fill || args.position.is_some();
    let page = args.html.as_deref().map(OutputFile::reserve).transpose()?;
    let mut replay = None;
    let mut out = BufWriter::new(stdout());
    let (mut passed, mut failed, mut stopped, mut missing) = (0u64, 0u64, 0u64, 0u64);
    let mut number = 0u64;
    let hint = if args.file.is_dir() { "; give a file, such as the records.jsonl of a run with --records" } else { "" };
    let unreadable = |error| format!("cannot read {}: {error}{hint}", args.file.display());
    while let Some(line) = next_line(&mut *input, LINE).map_err(unreadable)? {
        number += 1;
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        if page.is_some() && number == args.line {
            replay = Some(read(&line).and_then(|record| Ok((Replay::of(&record)?, record))));
        }
        let (checked, fault) = check(&line, args, &mut missing, &mut out)?;
        match &checked {
            Ok(_) => passed += 1,
            Err(_) => failed += 1,
        }
        stopped += u64::from(fault.is_some());
        let outcome = Outcome { line: number, flaw: checked.as_ref().err(), fault: fault.as_deref() };
        if args.format == Format::Text && passed == 0 && failed == HOPELESS && number == HOPELESS {
            outcome.tell(args.format, &mut out)?;
            out.flush()?;
            let named = plain(&args.file.display().to_string());
            return Err(format!("{named} is not a file of records: its first {HOPELESS} lines all fail").into());
        }
        if let (true, Ok(record)) = (args.fill, &checked) {
            writeln!(out, "{}", record.to_json())?;
        }
        if prints_lines {
            outcome.tell(args.format, &mut EscapingWriter::new(std::io::stderr().lock()))?;
        } else {
            outcome.tell(args.format, &mut out)?;
        }
    }
    if passed + failed == 0 {
        return Err(format!("{} has no records", args.file.display()).into());
    }
    if let Some(page) = page {
        let (records, line) = (args.file.display(), args.line);
        let lines = count(number, "line");
        let replay = replay.ok_or_else(|| format!("{records} has no record in line {line}; it has {lines}"))?;
        let (replay, record) = replay.map_err(|flaw| format!("{records}, line {line}: {flaw}"))?;
        let reviews = if args.analysis { analysis(&record)? } else { Vec::new() };
        page.write(|out| out.write_all(replay.page(&reviews).as_bytes()))?;
    }
    if let Some(Moment { round, decision }) = args.position {
        if missing == passed && failed == 0 {
            return Err(format!("{} has no decision {decision} in round {round}", args.file.display()).into());
        }
        if missing > 0 {
            say!("{missing} of {passed} records have no decision {decision} in round {round}");
        }
    }
    let stopped = if stopped > 0 { format!(", {stopped} stopped with a fault") } else { String::new() };
    let sum = format!("{passed} passed, {failed} failed{stopped}");
    match (args.format, prints_lines) {
        (Format::Json, _) => {}
        (Format::Text, true) => say!("{sum}"),
        (Format::Text, false) => writeln!(out, "{sum}")?,
    }
    out.flush()?;
    Ok(if failed == 0 { Exit::Done } else { Exit::Failed })
}

fn analysis(record: &Record) -> Result<Vec<ReviewProgress>, Box<dyn std::error::Error>> {
    let interrupt = stop_on_signal(Exit::Failed)?;
    let progress = ProgressDisplay::spinner(false);
    let rounds = record.rounds.len();
    let review = |round: usize| {
        let (decisions, mut done) = (record.rounds[round - 1].decisions.len(), 0);
        let mut tell = |_: &ReviewProgress| {
            done += 1;
            progress.status(|| format!("analysis of round {round} of {rounds}: decision {done} of {decisions}"));
            !interrupt.is_cancelled()
        };
        review(record, round, ReviewProgress::PLAYOUTS, &mut tell)
    };
    let reviews: Option<Vec<ReviewProgress>> = (1..=rounds).map(review).collect();
    progress.finish();
    Ok(reviews.ok_or("interrupted without a result")?)
}

/// The result of the check of one record.
struct Outcome<'r> {
    line: u64,
    flaw: Option<&'r InvalidRecord>,
    fault: Option<&'r str>,
}

impl Outcome<'_> {
    fn tell(&self, format: Format, out: &mut impl Write) -> std::io::Result<()> {
        let Outcome { line, flaw, fault } = *self;
        if format == Format::Json {
            let mut object = json!({
                "line": line,
                "ok": flaw.is_none(),
                "round": flaw.and_then(|flaw| flaw.round),
                "decision": flaw.and_then(|flaw| flaw.decision),
                "error": flaw.map(|flaw| flaw.what.as_str()),
            });
            if let Some(fault) = fault {
                object["fault"] = fault.into();
            }
            return writeln!(out, "{object}");
        }
        let flaw = flaw.map_or(Ok(()), |flaw| writeln!(out, "line {line}, {}", plain(&flaw.to_string())));
        flaw.and_then(|()| {
            fault.map_or(Ok(()), |fault| writeln!(out, "line {line}, the match stopped with a fault: {}", plain(fault)))
        })
    }
}

fn read(line: &[u8]) -> Result<Record, InvalidRecord> {
    let flaw = |error| InvalidRecord { round: None, decision: None, what: format!("not UTF-8: {error}") };
    Record::read(std::str::from_utf8(line).map_err(flaw)?.trim())
}

/// The record of a line with its results filled in, and the fault with which the match stopped.
type Checked = (Result<Record, InvalidRecord>, Option<String>);

/// Replays one line. `missing` counts the records without the wanted position.
fn check(line: &[u8], args: &Args, missing: &mut u64, out: &mut impl Write) -> std::io::Result<Checked> {
    let record = match read(line) {
        Ok(record) => record,
        Err(flaw) => return Ok((Err(flaw), None)),
    };
    let fault = record.fault().map(str::to_owned);
    if args.events {
        let mut transcript = Transcript::default();
        let replayed = replay(&record, &mut transcript);
        out.write_all(transcript.text.as_bytes())?;
        return Ok((replayed, fault));
    }
    if let Some(wanted) = args.position {
        let Moment { round, decision } = wanted;
        let mut finder = PositionFinder::new(round, decision);
        let replayed = replay(&record, &mut finder);
        match finder.found {
            Some(position) => writeln!(out, "{position}")?,
            None => *missing += u64::from(replayed.is_ok()),
        }
        return Ok((replayed, fault));
    }
    if args.legal {
        let mut legal = Legal::default();
        let filled = replay(&record, &mut legal).map(|mut filled| {
            for (round, legal) in filled.rounds.iter_mut().zip(legal.rounds) {
                round.fields.insert("x-legal".to_owned(), Value::from(legal));
            }
            filled
        });
        return Ok((filled, fault));
    }
    Ok((replay(&record, &mut ()), fault))
}

/// Collects the legal choices at every decision.
#[derive(Default)]
struct Legal {
    rounds: Vec<Vec<Vec<String>>>,
}

impl Observer for Legal {
    fn round_begins(&mut self, _: &Standing<'_>, _: &[Card]) {
        self.rounds.push(Vec::new());
    }

    fn decides(&mut self, state: &State, _: Seat, _: Action) {
        let legal = state.choices().iter().map(|action| action.to_string()).collect();
        self.rounds.last_mut().expect("a round has begun").push(legal);
    }
}

/// Collects every event as a line of text.
#[derive(Default)]
struct Transcript {
    text: String,
    narrator: Option<Narrator>,
}

impl Observer for Transcript {
    fn round_begins(&mut self, standing: &Standing<'_>, _: &[Card]) {
        let Setup { rules, seats, starter, .. } = standing.setup;
        self.narrator.get_or_insert_with(|| Narrator::new(&rules));
        let _ = writeln!(self.text, "round {}: {seats} seats, seat {starter} starts", standing.round + 1);
    }

    fn event(&mut self, event: &Event<Card>) {
        if let Some(line) = self.narrator.as_ref().and_then(|narrator| narrator.line(event, Some)) {
            let _ = writeln!(self.text, "{line}");
        }
    }

    fn round_ends(&mut self, _: &State, result: &RoundResult) {
        let _ = writeln!(self.text, "  points {:?}, scores {:?}", result.points(), result.scores());
    }
}
