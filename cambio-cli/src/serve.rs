//! `cambio serve`.

use std::io::Write as _;
use std::path::PathBuf;

use cambio_agents::Roster;
use cambio_serve::{Server, Settings};

use crate::exit::{CliResult, Exit};
use crate::run::stop_on_signal;
use crate::setting::player;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The port on this machine; 0 picks a free port
    #[arg(long, value_name = "PORT", default_value_t = 8417)]
    port: u16,
    /// The folder that contains the run folders to show
    #[arg(long, value_name = "DIR", default_value = "runs")]
    runs: PathBuf,
    /// Also offer an agent that reads a file or runs a command, such as 'external("python3 bot.py")'; may be given
    /// several times
    #[arg(long, value_name = "AGENT")]
    with: Vec<String>,
    /// The maximum number of tables that are open at the same time
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = tables)]
    tables: usize,
}

fn tables(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| (1..=1000).contains(n)).ok_or_else(|| "must be a number from 1 to 1000".to_owned())
}

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    for spec in &args.with {
        player(roster, "--with", spec)?;
    }
    let settings = Settings {
        allowed: args.with.clone(),
        runs: args.runs.clone(),
        tables: args.tables,
        ..Settings::new(roster.clone())
    };
    let port = args.port;
    let server = Server::bind(port, settings)
        .map_err(|error| format!("cannot listen on port {port}: {error}; --port 0 picks a free port"))?;
    let interrupt = stop_on_signal(Exit::Done)?;
    let mut out = std::io::stdout();
    writeln!(out, "{}", server.address())?;
    writeln!(out, "open this address in a browser; anyone who knows it can play here. Ctrl-C stops the server")?;
    out.flush()?;
    server.run(|| interrupt.is_cancelled());
    Ok(Exit::Done)
}
