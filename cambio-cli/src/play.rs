//! `cambio play`.

use std::io::{BufReader, Write as _};
use std::path::{Path, PathBuf};

use cambio_agents::Roster;
use cambio_core::rng::Key;
use cambio_core::rules::MAX_SEATS;
use cambio_core::{Deal, Seat};
use cambio_sim::{Unit, fresh_seed, read_rules, read_seed};
use cambio_view::{Session, SessionConfig};

use crate::exit::{CliResult, Exit};
use crate::output::OutputFile;
use crate::person::{Person, SessionEnd};
use crate::run::stop_on_signal;
use crate::say::{say, stdout};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// An opponent; repeat the option for up to seven opponents, in the order of the seats
    #[arg(long, value_name = "AGENT", default_value = "heuristic")]
    against: Vec<String>,
    /// The rules: a preset or a rule file
    #[arg(long, default_value = "classic")]
    rules: String,
    /// Your seat
    #[arg(long, value_name = "LETTER", default_value = "a", value_parser = seat)]
    seat: Seat,
    /// Play one round instead of a match
    #[arg(long)]
    rounds: bool,
    /// Hide the cards that you have seen, so that you have to remember them
    #[arg(long)]
    no_notes: bool,
    /// The seed of the deal: a whole number or any text [default: random]
    #[arg(long, value_name = "SEED")]
    seed: Option<String>,
    /// After the match, write its record to this file, which must not exist; - is standard output
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

fn seat(text: &str) -> Result<Seat, String> {
    let mut letters = text.chars();
    let seat = letters.next().and_then(Seat::from_letter).filter(|_| letters.next().is_none());
    seat.ok_or_else(|| "must be a letter from a to h".to_owned())
}

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    let unit = if args.rounds { Unit::Rounds } else { Unit::Match };
    let rules = unit.of(read_rules(&args.rules, Path::new("."))?);
    let seats = args.against.len() + 1;
    if seats > MAX_SEATS {
        return Err(format!("--against must be given at most {} times, found {}", MAX_SEATS - 1, seats - 1).into());
    }
    if args.seat.index() >= seats {
        let allowed = format!("from a to {}, because there are {seats} seats", Seat::ALL[seats - 1]);
        return Err(format!("--seat must be {allowed} (add --against for more), found {}", args.seat).into());
    }
    let record = args.record.as_deref().map(OutputFile::reserve).transpose()?;
    let opponents = args.against.iter().map(|spec| roster.player(spec)).collect::<Result<Vec<_>, _>>()?;
    let seed = args.seed.clone().unwrap_or_else(fresh_seed);
    // An interrupt also ends the processes of bots.
    let interrupt = stop_on_signal(Exit::Failed)?;
    rules.covers(seats)?;
    let deal = Deal::new(&rules, Key::new(read_seed(&seed)?, 0));
    let person = args.seat;
    let config = SessionConfig { notes: !args.no_notes, ..SessionConfig::alone(deal, person, opponents) };
    let mut out = stdout();
    writeln!(out, "{} at {seats} seats, seed {seed}. You are seat {person}. Type ? for help", rules.name())?;
    let input = BufReader::new(std::io::stdin());
    match Person::new(input, stdout(), interrupt).play(Session::new(config)) {
        SessionEnd::Over(session) => {
            let result = session.record()?;
            if let Some(file) = record {
                file.write(|file| writeln!(file, "{}", result.to_json()))?;
            }
            let end = session.latest().end.as_ref();
            let rank = end.and_then(|end| Some(end.ranks.as_ref()?[person.index()])).unwrap_or(seats);
            writeln!(out, "your rank: {rank} of {seats}; --seed {seed} deals the same cards again")?;
            Ok(Exit::Done)
        }
        SessionEnd::Left(why) => {
            writeln!(out, "{why}; --seed {seed} deals the same cards again")?;
            Ok(Exit::Done)
        }
        SessionEnd::Trouble(trouble) => {
            say!("fault: {trouble}");
            Ok(Exit::Fault)
        }
    }
}
