//! The command line.
//!
//! Standard output is data, standard error is progress and errors. Exit codes: 0 done, 1 usage, input or a record that
//! failed, 2 an agent at fault, 3 interrupted but resumable, 4 a run that is not what it should be, 70 a bug of ours.

mod agents;
mod exit;
mod exploit;
mod export;
mod merge;
mod narrator;
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
mod setting;
mod shell;
mod solve;
mod sprt;
mod tables;
mod tune;
mod verify;

use std::process::ExitCode;

use cambio_agents::Roster;
use clap::{CommandFactory as _, Parser, Subcommand};
use exit::Exit;

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
    Run(run::Args),
    /// Play one part of an experiment, for machines that share it
    Shard(run::ShardArgs),
    /// Put the parts of an experiment together: the same bytes as of a run in one piece
    Merge(merge::Args),
    /// Make the tables and the report of a run again from its rows, or the report of what was tuned
    Report(report::Args),
    /// Write a run's rows in another format
    Export(export::Args),
    /// Check a run: hashes, derived files, and a part or all of it played again
    Verify(verify::Args),
    /// Play two agents until it is decided which is better
    Sprt(sprt::Args),
    /// Say how many deals a comparison needs
    Plan(plan::Args),
    /// Find the best value of an agent's parameter
    Tune(tune::Args),
    /// Play a match yourself, at the terminal
    Play(play::Args),
    /// Check records: replay every decision, outcome of chance and result
    Replay(replay::Args),
    /// Print a rule system as TOML, or check a rule file
    Rules(rules::Args),
    /// List the agents and their parameters, or check one for conformance
    Agents(agents::Args),
    /// Print the JSON Schema of experiment files, for editors
    Schema,
    /// Print completions for a shell
    Completions(shell::CompletionArgs),
    /// Write manual pages into a folder
    Man(shell::ManArgs),
    /// Solve a small game exactly
    Solve(solve::Args),
    /// Measure how far an agent can be exploited: exactly in a small game, from below in any
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
    let exit = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(&roster))).unwrap_or_else(|_| {
        eprintln!("error: this is a bug in cambio; the message above says where");
        Exit::Bug
    });
    ExitCode::from(exit as u8)
}

fn run(roster: &Roster) -> Exit {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let exit = if error.use_stderr() { Exit::Failed } else { Exit::Done };
            // Nothing can be said where neither output can be written to.
            let _ = error.print();
            return exit;
        }
    };
    let result = match cli.command {
        Command::Run(args) => run::run(&args, roster),
        Command::Shard(args) => run::shard(&args, roster),
        Command::Merge(args) => merge::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Verify(args) => verify::run(&args, roster),
        Command::Sprt(args) => sprt::run(&args, roster),
        Command::Plan(args) => plan::run(&args),
        Command::Tune(args) => tune::run(&args, roster),
        Command::Play(args) => play::run(&args, roster),
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
