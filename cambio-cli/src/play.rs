//! `cambio play`.

use std::io::{BufReader, Write as _};
use std::path::{Path, PathBuf};

use cambio_agents::Roster;
use cambio_core::rng::Key;
use cambio_core::{Deal, MAX_SEATS, Seat};
use cambio_sim::{Unit, fresh_seed, read_rules, read_seed};
use cambio_view::{Invitation, Sitting};

use crate::exit::{CliResult, Exit};
use crate::output::Output;
use crate::person::Person;
use crate::run::stop_on_signal;
use crate::say::say;
use crate::screen::{self, Ending};
use crate::setting::player;

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(super) struct Args {
    /// An opponent; may be given up to seven times, for the other seats in order
    #[arg(long, value_name = "AGENT", default_value = "heuristic")]
    against: Vec<String>,
    /// A preset, or a rule file
    #[arg(long, default_value = "classic")]
    rules: String,
    /// Your seat
    #[arg(long, value_name = "LETTER", default_value = "a", value_parser = seat)]
    seat: Seat,
    /// Play one round instead of a match
    #[arg(long)]
    rounds: bool,
    /// Do not show the cards that you have seen: you have to remember them
    #[arg(long)]
    no_notes: bool,
    /// For practice: hints with the key h, and decisions are taken back with u. Needs a terminal
    #[arg(long, conflicts_with = "plain")]
    practice: bool,
    /// Who gives the hints of --practice
    #[arg(long, value_name = "AGENT", default_value = "rollout(n=200)", requires = "practice")]
    hints: String,
    /// Ask line by line instead of drawing the table in the whole terminal, as for pipes and screen readers
    #[arg(long)]
    plain: bool,
    /// The seed of the deal, a whole number or a text; without it, a random one that nobody can guess
    #[arg(long, value_name = "SEED")]
    seed: Option<String>,
    /// Write the record of a finished match to this file; it must not exist
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

fn seat(text: &str) -> Result<Seat, String> {
    let mut letters = text.chars();
    let seat = letters.next().and_then(Seat::from_letter).filter(|_| letters.next().is_none());
    seat.ok_or_else(|| "allowed is a letter from a to h".to_owned())
}

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    let unit = if args.rounds { Unit::Rounds } else { Unit::Match };
    let rules = unit.of(read_rules(&args.rules, Path::new("."))?);
    let seats = args.against.len() + 1;
    if seats > MAX_SEATS {
        return Err(format!("--against is given {} times; allowed are 1 to {}", seats - 1, MAX_SEATS - 1).into());
    }
    if args.seat.index() >= seats {
        let last = Seat::ALL[seats - 1];
        return Err(format!("--seat {} at {seats} seats; allowed is a to {last}", args.seat).into());
    }
    let record = args.record.as_deref().map(Output::reserve).transpose()?;
    let others = args.against.iter().map(|spec| player(roster, "--against", spec)).collect::<Result<Vec<_>, _>>()?;
    let seed = args.seed.clone().unwrap_or_else(fresh_seed);
    // Bots end with the match, however it ends.
    let interrupt = stop_on_signal(Exit::Failed)?;
    let is_plain = args.plain || !screen::is_there();
    if is_plain && args.practice {
        return Err("--practice needs a terminal of its own; line by line there are no hints".into());
    }
    rules.covers(seats)?;
    let deal = Deal::new(&rules, Key::new(read_seed(&seed)?, 0));
    let (person, notes, practice) = (args.seat, !args.no_notes, args.practice);
    let invitation = Invitation { deal, person, opponents: others, notes, practice, reaction: None };
    let mut out = std::io::stdout();
    let ending = if is_plain {
        writeln!(out, "{} at {seats} seats, seed {seed}; you are seat {person}, ? helps", rules.name())?;
        let input = BufReader::new(std::io::stdin());
        Person::new(input, std::io::stdout(), interrupt.clone()).play(Sitting::new(invitation))
    } else {
        let adviser = if practice { Some(player(roster, "--hints", &args.hints)?) } else { None };
        let ending = screen::sit(Sitting::new(invitation), adviser, || interrupt.is_cancelled())?;
        // An agent that still thinks is not waited for.
        cambio_agents::interrupt();
        ending
    };
    match ending {
        Ending::Over(sitting) => {
            let result = sitting.record()?;
            if let Some(file) = record {
                file.write(|file| writeln!(file, "{}", result.to_json()))?;
            }
            let end = sitting.latest().end.as_ref();
            // The screen is gone with its scores; at the prompt they have been printed.
            let scores = end.filter(|_| !is_plain).into_iter().flat_map(|end| &end.scores);
            scores.into_iter().try_for_each(|line| writeln!(out, "{line}"))?;
            let rank = end.and_then(|end| Some(end.ranks.as_ref()?[person.index()])).unwrap_or(seats);
            writeln!(out, "you have rank {rank} of {seats}; --seed {seed} deals the same cards again")?;
            Ok(Exit::Done)
        }
        Ending::Left(why) => {
            writeln!(out, "{why}; --seed {seed} deals the same cards again")?;
            Ok(Exit::Done)
        }
        Ending::Trouble(trouble) => {
            say!("fault: {trouble}");
            Ok(Exit::Fault)
        }
    }
}
