//! The command `cambio`, as a library: a program with agents of its own calls [`main`] with its roster.
//!
//! Data goes to standard output; progress and errors go to standard error. Exit codes: 0 done, 1 wrong usage or input, or a
//! record that failed, 2 an agent at fault, 3 interrupted but resumable, 4 a run that failed its check, 70 a bug of ours.

// What is said may quote other people's files, and standard error may be closed: `say!` minds both.
#![warn(clippy::print_stderr, clippy::print_stdout)]

mod advantage;
mod agents;
mod budget;
mod duel;
mod exit;
mod exploit;
mod export;
mod learn;
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
mod screen;
#[cfg(feature = "serve")]
mod serve;
mod setting;
mod shell;
mod solve;
mod sprt;
mod tables;
mod tune;
mod units;
mod verify;
mod watch;

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
        after_help = "Examples:\n  cambio run experiments/quickstart.toml --out runs/quickstart\n  cambio run experiments/quickstart.toml --out runs/quickstart --resume\n  cambio run experiments/quickstart.toml --out runs/small --deals 100"
    )]
    Run(run::Args),
    /// Play agents against each other without an experiment file
    #[command(
        after_help = "Examples:\n  cambio match greedy sharp\n  cambio match learned sharp 'greedy(call_at=7)' --seats 3 --deals 200"
    )]
    Match(duel::Args),
    /// Let many machines play an experiment through a store that all of them reach
    #[command(
        after_help = "Examples:\n  cambio units begin experiments/quickstart.toml --store shared/quickstart\n  cambio units play --store shared/quickstart --index 0 --of 200\n  cambio units show --store shared/quickstart\n  cambio units merge --store shared/quickstart --out runs/quickstart"
    )]
    Units(units::Args),
    /// Write the files that let a cluster play an experiment: Slurm or Kubernetes
    #[command(
        after_help = "Examples:\n  cambio cluster slurm six.toml --units 200 --store /s/six --out six --into jobs\n  cambio cluster k8s six.toml --units 200 --image registry/cambio:1 --into jobs"
    )]
    Cluster(units::cluster::Args),
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
    /// Print how many deals a comparison needs, or how long a target precision takes on many machines
    #[command(
        after_help = "Examples:\n  cambio plan --detect 0.01 --run runs/quickstart\n  cambio plan --detect 0.01 --deviation 0.4\n  cambio plan --machines 100 --cost runs/quickstart --within 0.005"
    )]
    Plan(plan::Args),
    /// Find the best value of an agent's parameter
    #[command(
        after_help = "Examples:\n  cambio tune --agent 'greedy(call_at=?)' --range 0..15\n  cambio tune --agent 'greedy(call_at=?)' --range 0..15 --method halving"
    )]
    Tune(tune::Args),
    /// Let a network teach itself, learn to beat an agent, or learn to decide as one
    #[command(
        override_usage = "cambio learn [OPTIONS] --out <DIR> <RECIPE>\n       cambio learn [OPTIONS] --out <DIR> --exploit <SPEC>\n       cambio learn [OPTIONS] --out <DIR> --clone <RECORDS>...\n       cambio learn [OPTIONS] --out <DIR> --resume",
        after_help = "Examples:\n  cambio learn experiments/learn/classic.toml --out runs/classic\n  cambio learn --out runs/classic --resume\n  cambio learn --exploit sharp --out runs/responder\n  cambio learn --clone match.jsonl --agent greedy --out runs/clone\n\nThe network is an agent, learned(\"runs/classic/network.net\")."
    )]
    Learn(learn::Args),
    /// Play a match yourself, at the terminal
    #[command(
        after_help = "Examples:\n  cambio play\n  cambio play --against sharp --against greedy --rules original --practice\n  cambio play --plain --no-notes --seed 5 --record match.jsonl"
    )]
    Play(play::Args),
    /// Watch a match step by step at the terminal: a record, or a match of a run, which is played again
    #[command(
        after_help = "Examples:\n  cambio watch runs/quickstart --match 7\n  cambio watch match.jsonl --round 2 --decision 17"
    )]
    Watch(watch::Args),
    /// Serve pages on this machine: play at a table, watch matches, look into runs
    #[command(
        after_help = "Examples:\n  cambio serve\n  cambio serve --runs experiments --port 0\n  cambio serve --with 'external(\"python3 bot.py\")'"
    )]
    #[cfg(feature = "serve")]
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
        after_help = "Examples:\n  cambio agents\n  cambio agents greedy\n  cambio agents --check 'external(\"python3 bot.py\")' --rules classic"
    )]
    Agents(agents::Args),
    /// Print the JSON Schema of experiment files, for editors
    #[command(after_help = "Example:\n  cambio schema > experiment.schema.json")]
    Schema,
    /// Print completions for a shell
    #[command(after_help = "Example:\n  cambio completions bash > cambio.bash")]
    Completions(shell::CompletionArgs),
    /// Write manual pages into a folder
    #[command(after_help = "Example:\n  cambio man target/man")]
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
    /// Measure what an agent's decisions are worth, kind by kind, against those of a policy
    #[command(
        after_help = "Examples:\n  cambio advantage sharp\n  cambio advantage 'greedy(call_at=7)' --over sharp --deals 1000\n  cambio advantage learned --over sharp --rules original --seats 4\n\nRounds are played on from each decision that differs. So most of the luck of the\ncards falls away, and intervals are half as wide as those of results."
    )]
    Advantage(advantage::Args),
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
        Command::Cluster(args) => units::cluster::run(&args, roster),
        Command::Units(args) => units::run(&args, roster),
        Command::Report(args) => report::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Verify(args) => verify::run(&args, roster),
        Command::Sprt(args) => sprt::run(&args, roster),
        Command::Plan(args) => plan::run(&args),
        Command::Tune(args) => tune::run(&args, roster),
        Command::Learn(args) => learn::run(&args, roster),
        Command::Play(args) => play::run(&args, roster),
        Command::Watch(args) => watch::run(&args, roster),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(&args, roster),
        Command::Replay(args) => replay::run(&args),
        Command::Rules(args) => rules::run(&args),
        Command::Agents(args) => agents::run(&args, roster),
        Command::Schema => shell::schema(),
        Command::Completions(args) => shell::completions(&args, Cli::command()),
        Command::Man(args) => shell::man(&args, Cli::command()),
        Command::Solve(args) => solve::run(&args),
        Command::Exploit(args) => exploit::run(&args, roster),
        Command::Advantage(args) => advantage::run(&args, roster),
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

    #[test]
    fn every_help_has_examples_and_fits_80_columns_whole() {
        let mut lines = 0;
        for name in Cli::command().get_subcommands().map(|command| command.get_name().to_owned()) {
            let mut command = command().term_width(80);
            let help = command.find_subcommand_mut(&name).expect("it is one of them").clone().term_width(80);
            let told = help.clone().render_long_help().to_string();
            let examples = help.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(examples.contains(&format!("  cambio {name}")), "{name} has no example");
            // What was wrapped is not found as it was written.
            for example in examples.lines() {
                assert!(told.lines().any(|line| line == example), "{example} is broken in:\n{told}");
            }
            for line in told.lines() {
                assert!(line.chars().count() <= 80, "{name}: {line}");
                lines += 1;
            }
        }
        let told = command().term_width(80).render_long_help().to_string();
        assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
        assert!(lines > 300, "{lines} lines");
    }
}
