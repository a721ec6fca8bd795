//! `cambio serve`.

use std::io::Write as _;
use std::path::PathBuf;

use cambio_agents::Roster;
use cambio_exec::{create_private_folder, read_text, write_private};
use cambio_serve::{Server, Settings, fresh_token};
use etcetera::BaseStrategy as _;

use crate::exit::{CliResult, Exit};
use crate::run::stop_on_signal;
use crate::say::{say, stdout};

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
}

/// The token of the server at this port. A file of the user keeps it, so that open pages still reach a server that has started again.
fn kept_token(port: u16) -> Result<String, Box<dyn std::error::Error>> {
    let folders = etcetera::choose_base_strategy()?;
    // Windows has no folder for states. The folder for caches is the only one that stays on this machine.
    let states = folders.state_dir().unwrap_or_else(|| folders.cache_dir()).join("cambio");
    let path = states.join(format!("serve-{port}.token"));
    if path.try_exists()? {
        let kept = read_text(&path)?;
        let is_token = kept.len() == 32 && kept.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        return if is_token { Ok(kept) } else { Err(format!("{} is not a token; remove it", path.display()).into()) };
    }
    let token = fresh_token()?;
    create_private_folder(&states)?;
    write_private(&path, token.as_bytes())?;
    Ok(token)
}

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    for spec in &args.with {
        roster.player(spec)?;
    }
    let Args { port, .. } = *args;
    let settings = Settings { allowed: args.with.clone(), runs: args.runs.clone(), ..Settings::new(roster.clone()) };
    let token = if port == 0 {
        fresh_token()?
    } else {
        kept_token(port).or_else(|problem| {
            say!("warning: the address of this server is new, and open pages must be opened again: {problem}");
            fresh_token()
        })?
    };
    let server = Server::bind(port, settings, token)
        .map_err(|error| format!("cannot listen on port {port}: {error}; --port 0 picks a free port"))?;
    let interrupt = stop_on_signal(Exit::Done)?;
    let mut out = stdout();
    writeln!(out, "{}", server.address())?;
    writeln!(out, "open this address in a browser; anyone who knows it can play here. Ctrl-C stops the server")?;
    out.flush()?;
    server.run(|| interrupt.is_cancelled());
    Ok(Exit::Done)
}
