//! `cambio agents`.

use std::cell::Cell;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;

use cambio_agents::{Guarded, Roster, RosterEntry};
use cambio_core::Record;
use cambio_core::testing::{CheckScope, check_agent};
use cambio_sim::read_rules;

use crate::exit::{CliResult, Exit};
use crate::program;
use crate::progress::ProgressDisplay;
use crate::say::{count, say, stdout};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// List only this agent; without a name, all agents are listed
    #[arg(conflicts_with = "check")]
    name: Option<String>,
    /// Check an agent: it must decide legally and reproducibly, not remember earlier matches, and not depend on hidden
    /// cards or seat letters. The check plays matches on every preset at 2, 3, 4 and 8 seats
    #[arg(long, value_name = "SPEC")]
    check: Option<String>,
    /// With --check: the number of matches on each preset and number of seats
    #[arg(long, value_name = "N", default_value_t = 12, requires = "check",
        value_parser = clap::value_parser!(u64).range(1..))]
    matches: u64,
    /// With --check: play only on these rules, a preset or a rule file; may be given several times
    #[arg(long, value_name = "RULES", requires = "check")]
    rules: Vec<String>,
    /// With --check: play only at this number of seats; may be given several times
    #[arg(long, value_name = "N", requires = "check", value_parser = clap::value_parser!(u8).range(2..=8))]
    seats: Vec<u8>,
}

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    let mut out = stdout();
    if let Some(spec) = &args.check {
        let agent = roster.parse(spec)?;
        let mut effort = CheckScope { matches: args.matches, ..CheckScope::default() };
        if !args.rules.is_empty() {
            effort.presets.clear();
            let read = |name: &String| read_rules(name, Path::new("."));
            effort.rules = args.rules.iter().map(read).collect::<Result<_, _>>()?;
        }
        if args.seats.is_empty() {
            effort.seats.retain(|&seats| effort.rules.iter().all(|rules| rules.covers(seats).is_ok()));
        } else {
            effort.seats = args.seats.iter().copied().map(usize::from).collect();
            for (rules, &seats) in
                effort.rules.iter().flat_map(|rules| effort.seats.iter().map(move |seats| (rules, seats)))
            {
                rules.covers(seats).map_err(|error| format!("rules `{}`: {error}", rules.name()))?;
            }
        }
        let read_files =
            || agent.files().iter().map(|file| std::fs::read(agent.folder().join(file)).ok()).collect::<Vec<_>>();
        let (before, progress, players) = (read_files(), ProgressDisplay::spinner(false), Cell::new(0_u64));
        let make = || {
            players.set(players.get() + 1);
            progress.status(|| format!("checking; {} so far", count(players.get(), "player")));
            Guarded::new(agent.make())
        };
        let checked = check_agent(make, &effort);
        progress.finish();
        if read_files() != before {
            return Err("a file of the agent has changed during the check; check it again".into());
        }
        return match checked {
            Ok(found) => {
                let (matches, decisions) = (count(found.matches, "match"), count(found.decisions, "decision"));
                writeln!(out, "{agent}: conforms in {matches}, {decisions}")?;
                Ok(Exit::Done)
            }
            Err(failing) => {
                writeln!(out, "{agent}: does not conform: {failing}")?;
                if !failing.record.rounds.is_empty() {
                    match keep(&failing.record) {
                        Ok(file) => {
                            say!("this command shows the match:");
                            say!("    {} replay --events {file}", program());
                        }
                        Err(error) => say!("cannot write the match to counterexample.jsonl: {error}"),
                    }
                }
                Ok(Exit::Fault)
            }
        };
    }
    if let Some(name) = &args.name {
        let bare = name.split('(').next().unwrap_or(name).trim();
        match roster.entries().iter().find(|entry| entry.name == bare) {
            Some(entry) => list(std::slice::from_ref(entry), &mut out)?,
            // This fails, with an error that lists the agents.
            None => drop(roster.parse(bare)?),
        }
    } else {
        list(roster.entries(), &mut out)?;
    }
    Ok(Exit::Done)
}

/// Writes the record of a violation into a new file in the current folder. Returns the name of the file.
fn keep(record: &Record) -> std::io::Result<String> {
    let names = (1..).map(|number| {
        if number == 1 { "counterexample.jsonl".to_owned() } else { format!("counterexample-{number}.jsonl") }
    });
    for name in names {
        match File::create_new(&name) {
            Ok(mut file) => return writeln!(file, "{}", record.to_json()).map(|()| name),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    unreachable!("one of the names is free")
}

/// Writes the agents with their descriptions and parameters.
fn list(entries: &[RosterEntry], out: &mut impl Write) -> std::io::Result<()> {
    for (number, entry) in entries.iter().enumerate() {
        writeln!(out, "{}", entry.name)?;
        let mut say = |text: &str, hang: &str| {
            let options = textwrap::Options::new(WIDTH).initial_indent("    ").subsequent_indent(hang);
            writeln!(out, "{}", textwrap::fill(text, options))
        };
        say(&entry.about, "    ")?;
        if let Some(text) = entry.text {
            say(&format!("{}(\"{}\"): {}", entry.name, text.name, text.meaning), "        ")?;
        }
        if let Some(like) = entries[..number].iter().find(|other| has_the_same_params(other, entry)) {
            let changes: Vec<String> = changes(like, entry);
            say(&format!("Parameters as for {}, but {}.", like.name, changes.join(", ")), "    ")?;
            continue;
        }
        for param in entry.params() {
            let default = param.default.map_or(String::new(), |value| format!(" = {value}"));
            say(&format!("{}{default}: {} ({})", param.name, param.meaning, param.range), "        ")?;
        }
    }
    Ok(())
}

const WIDTH: usize = 80;

fn has_the_same_params(one: &RosterEntry, other: &RosterEntry) -> bool {
    let names = |entry: &RosterEntry| entry.params().iter().map(|param| param.name).collect::<Vec<_>>();
    !names(one).is_empty() && names(one) == names(other)
}

/// The defaults that differ from the defaults of `like`, which has the same parameters.
fn changes(like: &RosterEntry, entry: &RosterEntry) -> Vec<String> {
    let pairs = like.params().into_iter().zip(entry.params()).filter(|(like, own)| like.default != own.default);
    pairs
        .map(|(_, own)| format!("{} = {}", own.name, own.default.map_or("off".to_owned(), |value| value.to_string())))
        .collect()
}
