//! `cambio serve`.

use std::io::Write as _;
use std::net::IpAddr;
use std::path::PathBuf;

use cambio_agents::Roster;
use cambio_exec::FileError;
use cambio_serve::{Server, Settings, TableFolder};
use etcetera::BaseStrategy as _;

use crate::exit::{CliResult, Exit};
use crate::run::stop_on_signal;
use crate::say::{say, stdout};
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
    /// Let friends in a local network join your tables: an address of this machine in this network, such as 192.168.1.5. They
    /// reach only the seats whose links you give them
    #[arg(long, value_name = "ADDRESS", value_parser = private_address)]
    host: Option<IpAddr>,
    /// The maximum number of tables that are open at the same time
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = tables)]
    tables: usize,
    /// The folder in which the server keeps its tables, its address and finished analyses, so that a restart continues every match: a
    /// path, or `none` to keep nothing. The default is ~/.local/state/cambio/serve-PORT, and `none` with --port 0
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

fn tables(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| (1..=1000).contains(n)).ok_or_else(|| "must be a number from 1 to 1000".to_owned())
}

/// Parses an address in a local network. Other addresses are rejected, because connections are not encrypted.
fn private_address(text: &str) -> Result<IpAddr, String> {
    let expected = "must be the address of this machine in a local network, such as 192.168.1.5";
    let address: IpAddr = text.parse().map_err(|_| expected.to_owned())?;
    let is_private = match address {
        IpAddr::V4(address) => address.is_private() || address.is_link_local(),
        IpAddr::V6(address) => address.is_unique_local(),
    };
    match address {
        _ if is_private => Ok(address),
        _ if address.is_unspecified() => Err(format!("{expected}; `{text}` stands for all networks")),
        _ if address.is_loopback() => Err(format!("{expected}; friends who use this machine need no --host")),
        _ => Err(format!("{expected}; `{text}` is a public address, and connections are not encrypted")),
    }
}

/// Opens the folder of the option `--keep`; `None` if the server keeps nothing.
fn table_folder(args: &Args) -> Result<Option<TableFolder>, String> {
    let path = match &args.keep {
        Some(path) if path.as_os_str() == "none" => return Ok(None),
        Some(path) => path.clone(),
        None if args.port == 0 => return Ok(None),
        None => {
            let folders = etcetera::choose_base_strategy().map_err(|error| error.to_string())?;
            // Windows has no folder for states. The folder for caches is the only one that stays on this machine.
            let states = folders.state_dir().unwrap_or_else(|| folders.cache_dir());
            states.join("cambio").join(format!("serve-{}", args.port))
        }
    };
    let opened = TableFolder::open(&path, |warning| say!("warning: {warning}"));
    opened.map(Some).map_err(|error| match error {
        FileError::Busy(folder) => format!("another `cambio serve` keeps its tables in {folder}; stop it first"),
        other => other.to_string(),
    })
}

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    for spec in &args.with {
        player(roster, "--with", spec)?;
    }
    let settings = Settings {
        allowed: args.with.clone(),
        runs: args.runs.clone(),
        network: args.host,
        tables: args.tables,
        ..Settings::new(roster.clone())
    };
    let port = args.port;
    // Without its default folder, a server is still useful.
    let (folder, trouble) = match table_folder(args) {
        Ok(folder) => (folder, None),
        Err(trouble) if args.keep.is_none() => (None, Some(trouble)),
        Err(trouble) => return Err(format!("{trouble}, or choose another folder with --keep").into()),
    };
    let is_keeping = folder.is_some();
    let server = Server::bind(port, settings, folder).map_err(|error| {
        let hosts = args.host.map(|host| format!(" of this machine and {host}")).unwrap_or_default();
        format!("cannot listen on port {port}{hosts}: {error}; --port 0 picks a free port")
    })?;
    if let Some(trouble) = trouble {
        say!("warning: the tables are lost when this server stops: {trouble}, or choose another folder with --keep");
    }
    let interrupt = stop_on_signal(Exit::Done)?;
    let mut out = stdout();
    writeln!(out, "{}", server.address())?;
    let tables = if is_keeping { "and the next start continues its tables" } else { "and ends its tables" };
    writeln!(
        out,
        "open this address in a browser; anyone who knows it can play here. Ctrl-C stops the server {tables}"
    )?;
    out.flush()?;
    if let Some(host) = args.host {
        say!(
            "warning: every machine in the network of {host} can connect to this server. With a link that you give away, it \
             reaches one seat of one table, and nothing else. Connections are not encrypted: anyone who can read the traffic of \
             the network can take the seat"
        );
    }
    server.run(|| interrupt.is_cancelled());
    Ok(Exit::Done)
}
