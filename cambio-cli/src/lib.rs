//! The command `cambio`, as a library: a program with agents of its own calls [`main`] with its roster.
//!
//! Data goes to standard output; progress and errors go to standard error. Exit codes: 0 done, 1 wrong usage or input, or a
//! record that failed, 2 an agent at fault, 3 interrupted but resumable, 4 a run that failed its check, 70 a bug of ours.

// What is said may quote other people's files, and standard error may be closed: `say!` minds both.
#![warn(clippy::print_stderr, clippy::print_stdout)]

mod agents;
mod duel;
mod exit;
mod exploit;
mod export;
mod learn;
mod merge;
mod output;
mod person;
mod plan;
mod play;
mod progress;
mod replay;
mod report;
mod rules;
mod run;
mod run_progress;
mod say;
mod serve;
mod setting;
mod shell;
mod solve;
mod sprt;
mod tables;
mod tune;
mod verify;

use std::process::ExitCode;

use cambio_agents::Roster;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use exit::Exit;
use say::say;

/// The card game Cambio for research: tournaments, records, rules.
#[derive(Debug, Parser)]
#[command(name = "cambio", version, max_term_width = 100, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Play an experiment and write its rows, tables and report
    #[command(
        after_help = "Examples:\n  cambio run experiments/quickstart.toml --out runs/quickstart\n  cambio run experiments/quickstart.toml --out runs/quickstart --resume\n  cambio run experiments/quickstart.toml --out runs/small --deals 100 --format json"
    )]
    Run(run::Args),
    /// Play agents against each other without an experiment file
    #[command(
        after_help = "Examples:\n  cambio match greedy sharp\n  cambio match learned sharp 'greedy(call_at=7)' --rules original --seats 3 --deals 200"
    )]
    Match(duel::Args),
    /// Play one shard of an experiment, for machines that share the work
    #[command(after_help = "Example:\n  cambio shard experiments/quickstart.toml --index 0 --of 2 --out runs/first")]
    Shard(run::ShardArgs),
    /// Merge the shards of an experiment: the result is the same, byte for byte, as one run
    #[command(after_help = "Example:\n  cambio merge runs/first runs/second --out runs/whole")]
    Merge(merge::Args),
    /// Print the tables of a run and make them and the report again from its rows; also for a folder of `tune`
    #[command(
        after_help = "Examples:\n  cambio report runs/quickstart\n  cambio report runs/quickstart --dry --format md"
    )]
    Report(report::Args),
    /// Write the rows of a run in another format
    #[command(after_help = "Example:\n  cambio export runs/quickstart --out parquet/quickstart")]
    Export(export::Args),
    /// Check a run: its hashes, its derived files, and some or all of its batches by playing them again
    #[command(after_help = "Examples:\n  cambio verify runs/quickstart\n  cambio verify runs/quickstart --all")]
    Verify(verify::Args),
    /// Play two agents until it is decided which is better, with a sequential test
    #[command(after_help = "Example:\n  cambio sprt 'greedy(call_at=7)' greedy --elo1 20")]
    Sprt(sprt::Args),
    /// Print how many deals a comparison needs
    #[command(
        after_help = "Examples:\n  cambio plan --detect 0.01 --run runs/quickstart\n  cambio plan --detect 0.01 --deviation 0.4"
    )]
    Plan(plan::Args),
    /// Find the best value of an agent's parameter
    #[command(
        after_help = "Examples:\n  cambio tune --agent 'greedy(call_at=?)' --range 0..15\n  cambio tune --agent 'greedy(call_at=?)' --range 0..15 --method halving --deals 64000"
    )]
    Tune(tune::Args),
    /// Let a network teach itself, learn to beat an agent, or learn to decide as one
    #[command(
        after_help = "Examples:\n  cambio learn experiments/learn/classic.toml --out runs/classic\n  cambio learn --out runs/classic --resume\n  cambio learn --exploit sharp --out runs/responder\n  cambio learn --clone runs/quickstart/records.jsonl --agent greedy --out runs/clone\n  cambio learn --exploit 'learned(\"runs/clone/network.net\")' --out runs/responder\n\nThe network is an agent: cambio agents --check 'learned(\"runs/classic/network.net\")'"
    )]
    Learn(learn::Args),
    /// Play a match yourself, at the terminal
    #[command(
        after_help = "Examples:\n  cambio play\n  cambio play --against sharp --against greedy --rules original --seed 5"
    )]
    Play(play::Args),
    /// Serve pages on this machine: play at a table, watch matches, look into runs
    #[command(
        after_help = "Examples:\n  cambio serve\n  cambio serve --runs experiments --port 0\n  cambio serve --with 'external(\"python3 bot.py\")'"
    )]
    Serve(serve::Args),
    /// Check records of matches: replay every decision, outcome of chance and result
    #[command(
        after_help = "Examples:\n  cambio replay runs/quickstart/records.jsonl\n  cambio replay --events runs/quickstart/fault.jsonl\n  cambio replay --html match.html runs/quickstart/records.jsonl"
    )]
    Replay(replay::Args),
    /// Print a rule system as TOML, or check a rule file
    #[command(after_help = "Examples:\n  cambio rules classic > mine.toml\n  cambio rules --check mine.toml")]
    Rules(rules::Args),
    /// List the agents and their parameters, or check one for conformance
    #[command(
        after_help = "Examples:\n  cambio agents\n  cambio agents greedy\n  cambio agents --check 'external(\"python3 bot.py\")' --rules classic --seats 2"
    )]
    Agents(agents::Args),
    /// Print the JSON Schema of experiment files, for editors
    Schema,
    /// Print completions for a shell
    Completions(shell::CompletionArgs),
    /// Write manual pages into a folder
    Man(shell::ManArgs),
    /// Solve a small game exactly
    #[command(
        after_help = "Examples:\n  cambio solve --game mini-m1\n  cambio solve --game mini-m3 --to 1e-4 --save m3.strategy"
    )]
    Solve(solve::Args),
    /// Measure how far an agent can be exploited: exactly in a small game, a lower bound in any game
    #[command(
        after_help = "Examples:\n  cambio exploit --game mini-m1 --agent heuristic\n  cambio exploit --rules classic --agent 'greedy(call_at=7)' --deals 100"
    )]
    Exploit(exploit::Args),
}

/// Runs the command line with a roster of agents: those of `cambio-agents`, and any of your own.
///
/// ```no_run
/// use cambio_core::testing::RandomAgent;
///
/// fn main() -> std::process::ExitCode {
///     let roster = cambio_agents::roster().with("mine", "My first bot.", RandomAgent::default);
///     cambio_cli::main(roster)
/// }
/// ```
#[expect(clippy::needless_pass_by_value, reason = "the roster is made for this call")]
pub fn main(roster: Roster) -> ExitCode {
    // What bots start ends with the command.
    cambio_agents::adopt_orphans();
    let exit = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(&roster))).unwrap_or_else(|_| {
        say!("error: this is a bug in cambio; the message above says where");
        Exit::Bug
    });
    cambio_agents::end_orphans();
    ExitCode::from(exit as u8)
}

fn run(roster: &Roster) -> Exit {
    let parsed = command().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => {
            let exit = if error.use_stderr() { Exit::Failed } else { Exit::Done };
            say::usage(&error);
            return exit;
        }
    };
    let result = match cli.command {
        Command::Run(args) => run::run(&args, roster),
        Command::Match(args) => duel::run(&args, roster),
        Command::Shard(args) => run::shard(&args, roster),
        Command::Merge(args) => merge::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Verify(args) => verify::run(&args, roster),
        Command::Sprt(args) => sprt::run(&args, roster),
        Command::Plan(args) => plan::run(&args),
        Command::Tune(args) => tune::run(&args, roster),
        Command::Learn(args) => learn::run(&args, roster),
        Command::Play(args) => play::run(&args, roster),
        Command::Serve(args) => serve::run(&args, roster),
        Command::Replay(args) => replay::run(&args),
        Command::Rules(args) => rules::run(&args),
        Command::Agents(args) => agents::run(&args, roster),
        Command::Schema => shell::schema(),
        Command::Completions(args) => shell::completions(&args, Cli::command()),
        Command::Man(args) => shell::man(&args, Cli::command()),
        Command::Solve(args) => solve::run(&args),
        Command::Exploit(args) => exploit::run(&args, roster),
    };
    result.unwrap_or_else(|error| Exit::of(error.as_ref()))
}

/// The command line. A negative number where none is allowed is a value out of its range, and no unknown option.
fn command() -> clap::Command {
    Cli::command().mut_subcommands(|command| {
        command.mut_args(|arg| if arg.get_action().takes_values() { arg.allow_negative_numbers(true) } else { arg })
    })
}

/// The code of the README and of the book compiles and runs.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../README.md")]
    struct Readme;
    #[doc = include_str!("../../book/src/agents.md")]
    struct Agents;
    #[doc = include_str!("../../book/src/solving.md")]
    struct Solving;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_in_the_help_is_a_command_that_is_understood() {
        let mut tried = 0;
        for command in Cli::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in help.lines().filter(|line| line.starts_with("  cambio ")) {
                let words = shlex::split(line.split(" > ").next().unwrap_or(line)).unwrap();
                assert_eq!(words.get(1).map(String::as_str), Some(command.get_name()), "{line}");
                Cli::try_parse_from(&words).unwrap_or_else(|error| panic!("{line}: {error}"));
                tried += 1;
            }
        }
        assert!(tried >= 20, "{tried} examples");
    }
}
