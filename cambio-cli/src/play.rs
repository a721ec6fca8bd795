//! `cambio play`.

use std::io::{BufReader, Write as _};
use std::path::{Path, PathBuf};

use cambio_agents::{AgentSpec, Guarded, Roster};
use cambio_core::rng::Key;
use cambio_core::{Agent, Deal, MAX_SEATS, MatchError, Pairing, Recorder, Seat, play_match};
use cambio_exec::CancelToken;
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
    let mut names: Vec<String> = others.iter().map(ToString::to_string).collect();
    names.insert(args.seat.index(), "person".to_owned());
    let seed = args.seed.clone().unwrap_or_else(fresh_seed);
    // Bots end with the match, however it ends.
    let interrupt = stop_on_signal(Exit::Failed)?;
    if !args.plain && screen::is_there() {
        rules.covers(seats)?;
        let deal = Deal::new(&rules, Key::new(read_seed(&seed)?, 0));
        let (person, notes, practice) = (args.seat, !args.no_notes, args.practice);
        let invitation = Invitation { deal, person, opponents: others, notes, practice, reaction: None };
        let adviser = if practice { Some(player(roster, "--hints", &args.hints)?) } else { None };
        return on_screen(invitation, adviser, &seed, record, &interrupt);
    }
    if args.practice {
        return Err("--practice needs a terminal of its own; line by line there are no hints".into());
    }
    let mut out = std::io::stdout();
    writeln!(out, "{} at {seats} seats, seed {seed}; you are seat {}, ? helps", rules.name(), args.seat)?;

    let mut agents: Vec<Box<dyn Agent>> =
        others.iter().map(|spec| Box::new(Guarded::new(spec.make())) as Box<dyn Agent>).collect();
    let input = BufReader::new(std::io::stdin());
    let person = Person::new(&rules, input, std::io::stdout(), names.clone(), !args.no_notes, interrupt.clone());
    agents.insert(args.seat.index(), Box::new(person));
    let key = Key::new(read_seed(&seed)?, 0);
    let mut recorder = Recorder::new(&rules);
    let result = match play_match(&Pairing { rules, seats, key }, &mut agents, &mut recorder) {
        Ok(result) => result,
        Err(MatchError::Failed(failure)) if failure.seat == args.seat => {
            writeln!(out, "{}; --seed {seed} deals the same cards again", failure.error)?;
            return Ok(Exit::Done);
        }
        Err(MatchError::Failed(_)) if interrupt.is_cancelled() => {
            writeln!(out, "the player has left; --seed {seed} deals the same cards again")?;
            return Ok(Exit::Done);
        }
        Err(error @ (MatchError::Failed(_) | MatchError::Fault(_))) => {
            say!("fault: {error}");
            return Ok(Exit::Fault);
        }
        Err(error) => return Err(error.into()),
    };
    let rank = result.ranks[args.seat.index()];
    if let Some(file) = record {
        let labels: Vec<&str> = names.iter().map(String::as_str).collect();
        let record = recorder.finish(key, 0, &labels, &result);
        file.write(|file| writeln!(file, "{}", record.to_json()))?;
    }
    writeln!(out, "you have rank {rank} of {seats}; --seed {seed} deals the same cards again")?;
    Ok(Exit::Done)
}

/// Plays in the whole terminal.
fn on_screen(
    invitation: Invitation,
    adviser: Option<AgentSpec>,
    seed: &str,
    record: Option<Output>,
    interrupt: &CancelToken,
) -> CliResult {
    let (person, seats) = (invitation.person, invitation.opponents.len() + 1);
    let ending = screen::sit(Sitting::new(invitation), adviser, || interrupt.is_cancelled())?;
    // Nobody waits for an agent that still thinks.
    cambio_agents::interrupt();
    let mut out = std::io::stdout();
    match ending {
        Ending::Over(sitting) => {
            let result = sitting.record()?;
            if let Some(file) = record {
                file.write(|file| writeln!(file, "{}", result.to_json()))?;
            }
            let end = sitting.latest().end.as_ref();
            end.into_iter().flat_map(|end| &end.scores).try_for_each(|line| writeln!(out, "{line}"))?;
            let rank = end.and_then(|end| Some(end.ranks.as_ref()?[person.index()])).unwrap_or(seats);
            writeln!(out, "you have rank {rank} of {seats}; --seed {seed} deals the same cards again")?;
            Ok(Exit::Done)
        }
        Ending::Left => {
            writeln!(out, "the player has left; --seed {seed} deals the same cards again")?;
            Ok(Exit::Done)
        }
        Ending::Trouble(trouble) => {
            say!("fault: {trouble}");
            Ok(Exit::Fault)
        }
    }
}
