//! The command line.
//!
//! Standard output is data, standard error is progress and errors. Exit codes: 0 done, 1 usage, input or a record that
//! failed, 2 an agent at fault, 3 interrupted, 70 a bug of ours.

mod agents;
mod exploit;
mod replay;
mod rules;
mod run;
mod solve;

use std::process::ExitCode;

use cambio_agents::Roster;
use clap::{Parser, Subcommand};

/// The card game Cambio for research: tournaments, records, rules.
#[derive(Debug, Parser)]
#[command(name = "cambio", version, max_term_width = 100, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Play an experiment and write its rows as CSV
    Run(run::Args),
    /// Check records: replay every decision, outcome of chance and result
    Replay(replay::Args),
    /// Print a rule system as TOML, or check a rule file
    Rules(rules::Args),
    /// List the agents and their parameters, or check one for conformance
    Agents(agents::Args),
    /// Solve a small game exactly
    Solve(solve::Args),
    /// Measure how far an agent can be exploited in a game that can be solved
    Exploit(exploit::Args),
}

/// How a command ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Exit {
    Done = 0,
    Failed = 1,
    Fault = 2,
    Interrupted = 3,
    Bug = 70,
}

/// An error that is told in one sentence.
type CliResult = Result<Exit, Box<dyn std::error::Error>>;

/// Runs the command line with a roster of agents: those of `cambio-agents`, and any of your own.
///
/// ```no_run
/// use cambio_core::testing::RandomAgent;
///
/// fn main() -> std::process::ExitCode {
///     let roster = cambio_agents::roster().with("mine", "My first bot.", RandomAgent::default);
///     cambio_sim::cli::main(roster)
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
        Command::Replay(args) => replay::run(&args),
        Command::Rules(args) => rules::run(&args),
        Command::Agents(args) => agents::run(&args, roster),
        Command::Solve(args) => solve::run(&args),
        Command::Exploit(args) => exploit::run(&args, roster),
    };
    result.unwrap_or_else(|error| {
        if is_broken_pipe(error.as_ref()) {
            return Exit::Done;
        }
        eprintln!("error: {error}");
        Exit::Failed
    })
}

/// Whether the reader of our output has gone away, as `head` does.
fn is_broken_pipe(error: &(dyn std::error::Error + 'static)) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
