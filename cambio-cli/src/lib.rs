//! The command `cambio` as a library. A program with its own agents calls [`main`] with its roster.
//!
//! Data goes to standard output; progress and errors go to standard error. Exit codes: 0 success, 1 wrong usage, input or
//! record, 2 an agent at fault, 3 interrupted but resumable, 4 a damaged run, 70 a bug in `cambio`.

// Messages may quote untrusted files, and standard error may be closed; `say!` handles both.
#![warn(clippy::print_stderr, clippy::print_stdout)]

mod advantage;
mod advise;
mod agents;
#[cfg(feature = "learn")]
mod bench;
mod duel;
mod exit;
mod exploit;
#[cfg(feature = "learn")]
mod export_network;
#[cfg(feature = "learn")]
mod learn;
mod output;
mod person;
mod plan;
mod play;
mod progress;
mod replay;
#[cfg(feature = "report")]
mod report;
#[cfg(feature = "report")]
mod review;
mod rules;
mod run;
mod say;
mod schema;
#[cfg(feature = "serve")]
mod serve;
mod setting;
#[cfg(feature = "report")]
mod site;
mod solve;
mod sprt;
mod study;
mod tables;
mod tune;
mod verify;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::OnceLock;

use cambio_agents::Roster;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use exit::{CliResult, Exit};
use say::say;

/// The card game Cambio for AI research: play, run tournaments, solve small games and train agents.
#[derive(Debug, Parser)]
#[command(name = "cambio", version = cambio_sim::BUILD, max_term_width = 100, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Play a match in the terminal
    #[command(
        after_help = "Examples:\n  cambio play\n  cambio play --against sharp --against greedy --rules original\n  cambio play --no-notes --seed 5 --record match.jsonl"
    )]
    Play(play::Args),
    /// Start a local web server to play, watch matches and view runs
    #[command(
        after_help = "Examples:\n  cambio serve\n  cambio serve --runs experiments --port 0\n  cambio serve --with 'external(\"python3 bot.py\")'"
    )]
    #[cfg(feature = "serve")]
    Serve(serve::Args),
    /// Check match records: replay every decision, card and result
    #[command(
        after_help = "Examples:\n  cambio replay match.jsonl\n  cambio replay --events match.jsonl\n  cambio replay --html match.html --analysis match.jsonl\n\n`cambio play --record` and `cambio run --records` write such files."
    )]
    Replay(replay::Args),
    /// Run an experiment and write its rows, tables and report
    #[command(
        after_help = "Examples:\n  cambio run experiments/quickstart.toml --out runs/quickstart\n  cambio run experiments/quickstart.toml --out runs/quickstart --resume\n  cambio run experiments/quickstart.toml --out runs/small --deals 100"
    )]
    Run(run::Args),
    /// Play agents against each other without an experiment file
    #[command(
        after_help = "Examples:\n  cambio match greedy sharp\n  cambio match learned sharp 'greedy(call_at=7)' --seats 3 --deals 200\n  cambio match 'rollout(n=?)' 'ismcts(iterations=?)' --equal-time 5"
    )]
    Match(duel::Args),
    /// Print tables, rewrite the report, compare or review runs
    #[command(
        after_help = "Examples:\n  cambio report runs/quickstart\n  cambio report runs/quickstart --dry --format md\n  \
                      cambio report runs/before runs/after\n  \
                      cambio report runs/quickstart --review review --matches 40"
    )]
    #[cfg(feature = "report")]
    Report(report::Args),
    /// Check the files of a run and replay some or all of its matches
    #[command(after_help = "Examples:\n  cambio verify runs/quickstart\n  cambio verify runs/quickstart --all")]
    Verify(verify::Args),
    /// Estimate the deals that a comparison needs
    #[command(
        override_usage = "cambio plan [OPTIONS] --detect <EFFECT> --run <DIR>\n       cambio plan [OPTIONS] --detect <EFFECT> --deviation <SIGMA>",
        after_help = "Examples:\n  cambio plan --detect 0.01 --run runs/quickstart\n  cambio plan --detect 0.01 --deviation 0.4"
    )]
    Plan(plan::Args),
    /// Find the best value of an agent's parameter
    #[command(
        after_help = "Examples:\n  cambio tune --agent 'greedy(call_at=?)' --range 0..15\n  cambio tune --agent 'greedy(call_at=?)' --range 0..15 --method race"
    )]
    Tune(tune::Args),
    /// Play two agents until a sequential test shows which is better
    #[command(after_help = "Example:\n  cambio sprt 'greedy(call_at=7)' greedy --elo1 20")]
    Sprt(sprt::Args),
    /// Measure what an agent's decisions gain over a policy's decisions
    #[command(
        after_help = "Examples:\n  cambio advantage sharp\n  cambio advantage 'greedy(call_at=7)' --over sharp --deals 1000\n  cambio advantage learned --over sharp --rules original --seats 4\n\nWherever the agent and the policy differ, the command plays the rest of the\nround after each of the two decisions. This removes most of the luck of the\ncards, so intervals are about half as wide as those from the rounds' results."
    )]
    Advantage(advantage::Args),
    /// Advise a seat in a position: what each decision is worth, and why
    #[command(
        after_help = "Examples:\n  cambio advise 'classic a=7s,2h,?,? b=?/b,?/b,?,? turns=5 pile=9c'\n  cambio advise 'classic a=3s,2h,?,? b=?,?,?,? phase=close' --opponents sharp\n  cambio advise \"$(cambio replay match.jsonl --position 1.12 2>/dev/null)\"\n  cambio advise --suite experiments/positions/classic.pos --agent sharp\n\nThe chapter Positions of the book describes the text of a position."
    )]
    Advise(advise::Args),
    /// Measure an agent by the frozen benchmark, or print a leaderboard
    #[command(
        override_usage = "cambio bench [OPTIONS] --out <DIR> <AGENT>\n       cambio bench [OPTIONS] --board <DIR>...",
        after_help = "Examples:\n  cambio bench greedy --out bench/greedy --quick\n  cambio bench 'external(\"python3 bot.py\")' --out bench/bot --class 10ms\n  cambio bench --board bench/greedy bench/sharp\n\n`cambio verify bench/greedy --all` repeats a benchmark and compares the results."
    )]
    #[cfg(feature = "learn")]
    Bench(bench::Args),
    /// Solve a small game exactly
    #[command(
        after_help = "Examples:\n  cambio solve --game mini-m1\n  cambio solve --game mini-m3 --to 1e-4 --save m3.strategy"
    )]
    Solve(solve::Args),
    /// Measure an agent's exploitability, exactly or as a lower bound
    #[command(
        override_usage = "cambio exploit [OPTIONS] --game <GAME> --agent <SPEC>\n       cambio exploit [OPTIONS] --game <GAME> --strategy <FILE>\n       cambio exploit [OPTIONS] --rules <RULES> --agent <SPEC>",
        after_help = "Examples:\n  cambio exploit --game mini-m1 --agent heuristic\n  cambio exploit --rules classic --agent 'greedy(call_at=7)' --deals 100"
    )]
    Exploit(exploit::Args),
    /// Train a network by self-play, or to beat an agent
    #[command(
        override_usage = "cambio learn [OPTIONS] --out <DIR> <RECIPE>\n       cambio learn [OPTIONS] --out <DIR> --exploit <SPEC>\n       cambio learn [OPTIONS] --out <DIR> --resume\n       cambio learn --out <FILE> --export <NETWORK>",
        after_help = "Examples:\n  cambio learn experiments/learn/classic.toml --out runs/classic\n  cambio learn --out runs/classic --resume\n  cambio learn --exploit sharp --out runs/responder\n  cambio learn --export classic --out classic.safetensors\n\nThe agent learned(\"runs/classic/network.net\") plays with the trained network."
    )]
    #[cfg(feature = "learn")]
    Learn(learn::Args),
    /// List the agents and their parameters, or check an agent
    #[command(
        after_help = "Examples:\n  cambio agents\n  cambio agents greedy\n  cambio agents --check 'external(\"python3 bot.py\")' --rules classic"
    )]
    Agents(agents::Args),
    /// Print a rule system as TOML, or check a rule file
    #[command(
        after_help = "Examples:\n  cambio rules classic > mine.toml\n  cambio rules --check mine.toml\n\nA rule file sets all fields, or `base = \"classic\"` and the fields that differ.\nThe tables [points] and [powers] at its end change single cards, by label or\nrank: `6h = -3`, `K = \"look own\"`, `7 = \"\"` for no power."
    )]
    Rules(rules::Args),
    /// Print the schema of experiments or records, or all columns
    #[command(
        after_help = "Examples:\n  cambio schema > experiment.schema.json\n  cambio schema --rows\n  cambio schema --rows --format json > columns.json\n  cambio schema --records > record.schema.json"
    )]
    Schema(schema::Args),
}

/// Runs the command line with a roster: the agents of `cambio-agents` and your own.
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
    ExitCode::from(exit_code(&roster, std::env::args_os().collect()))
}

/// Runs the command line inside another program, with these words, and returns the exit code. The first word is the name of
/// the command in help texts. `program` is what a shell has to run instead of the path of this executable.
///
/// The call replaces the handler of interrupts (Ctrl-C), so a process should end after it.
pub fn run_inside(roster: &Roster, program: String, words: Vec<OsString>) -> u8 {
    PROGRAM.get_or_init(|| program);
    exit_code(roster, words)
}

/// The argument `program` of [`run_inside`].
static PROGRAM: OnceLock<String> = OnceLock::new();

/// What a shell has to run to start this program, with quotes where it needs them.
fn program() -> String {
    PROGRAM.get().cloned().unwrap_or_else(|| {
        let path = std::env::current_exe().map_or("cambio".to_owned(), |path| path.display().to_string());
        // A path contains no zero byte, so quoting cannot fail.
        shlex::try_join([path.as_str()]).unwrap_or(path)
    })
}

fn exit_code(roster: &Roster, words: Vec<OsString>) -> u8 {
    let exit = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(roster, words))).unwrap_or_else(|_| {
        say!("error: this is a bug in cambio; please report the message above");
        Exit::Bug
    });
    cambio_agents::end_bots();
    exit as u8
}

fn run(roster: &Roster, words: Vec<OsString>) -> Exit {
    say::reserve_stdout(false);
    let parsed = command().try_get_matches_from(words).and_then(|matches| Cli::from_arg_matches(&matches));
    let result = match parsed {
        Ok(cli) => of_command(cli, roster),
        Err(error) if error.use_stderr() => {
            say::usage_error(&error);
            return Exit::Failed;
        }
        Err(help) => help.print().map(|()| Exit::Done).map_err(Into::into),
    };
    // Output is lost if it cannot be written, so this is an error.
    let flushed = std::io::stdout().flush().map_err(Into::into);
    result.and_then(|exit| flushed.map(|()| exit)).unwrap_or_else(|error| Exit::of(&*error))
}

fn of_command(cli: Cli, roster: &Roster) -> CliResult {
    match cli.command {
        Command::Play(args) => play::run(&args, roster),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(&args, roster),
        Command::Replay(args) => replay::run(&args),
        Command::Advise(args) => advise::run(&args, roster),
        Command::Run(args) => run::run(&args, roster),
        Command::Match(args) => duel::run(&args, roster),
        #[cfg(feature = "report")]
        Command::Report(args) => report::run(&args, roster),
        Command::Verify(args) => verify::run(&args, roster),
        Command::Plan(args) => plan::run(&args),
        Command::Tune(args) => tune::run(&args, roster),
        Command::Sprt(args) => sprt::run(&args, roster),
        Command::Advantage(args) => advantage::run(&args, roster),
        #[cfg(feature = "learn")]
        Command::Bench(args) => bench::run(&args, roster),
        Command::Solve(args) => solve::run(&args),
        Command::Exploit(args) => exploit::run(&args, roster),
        #[cfg(feature = "learn")]
        Command::Learn(args) => learn::run(&args, roster),
        Command::Agents(args) => agents::run(&args, roster),
        Command::Rules(args) => rules::run(&args),
        Command::Schema(args) => schema::run(&args),
    }
}

/// The headings of `cambio --help`, each after the name of the first subcommand below it.
const HEADINGS: [(&str, &str); 5] = [
    ("play", "Play"),
    ("run", "Experiments"),
    ("tune", "Tuning and testing"),
    ("solve", "Solving and learning"),
    ("agents", "Files and set-up"),
];

/// The command line, for programs that write completions or manual pages. An invalid negative number is reported as a value out of range, not as an unknown option.
pub fn command() -> clap::Command {
    let command = Cli::command().mut_subcommands(|command| {
        command.mut_args(|arg| if arg.get_action().takes_values() { arg.allow_negative_numbers(true) } else { arg })
    });
    // clap cannot group subcommands, so the help template contains their list.
    let (header, literal) = (*command.get_styles().get_header(), *command.get_styles().get_literal());
    let line = |subcommand: &clap::Command| {
        let name = subcommand.get_name();
        let heading = HEADINGS.iter().find(|(first, _)| *first == name);
        let heading = heading.map_or_else(String::new, |(_, text)| format!("\n{header}{text}:{header:#}\n"));
        let about = subcommand.get_about().map(ToString::to_string).unwrap_or_default();
        format!(
            "{heading}  {literal}{name}{literal:#}{}{about}\n",
            " ".repeat(13_usize.saturating_sub(name.len()).max(2))
        )
    };
    let list = command.get_subcommands().map(line).collect::<Vec<_>>().concat();
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{list}\n{header}Options:{header:#}\n{{options}}\n\n\
         --help after a command prints its options."
    ))
}

/// Doctests of the code in the README and in the book.
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
mod tests;
