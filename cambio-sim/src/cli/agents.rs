//! `cambio agents`.

use std::io::Write as _;

use cambio_agents::Roster;
use cambio_core::testing::{Effort, check_agent};

use super::{CliResult, Exit};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Check an agent: legal, steady, stateless, blind to hidden cards, on every preset at 2, 3, 4 and 8 seats
    #[arg(long, value_name = "SPEC")]
    check: Option<String>,
    /// With --check: how many matches on each preset and number of seats
    #[arg(long, value_name = "N", default_value_t = 50, requires = "check")]
    matches: u64,
}

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    let mut out = std::io::stdout().lock();
    if let Some(spec) = &args.check {
        let agent = roster.parse(spec)?;
        let effort = Effort { matches: args.matches, ..Effort::default() };
        return match check_agent(|| agent.make(), &effort) {
            Ok(found) => {
                writeln!(out, "{agent}: conforms in {} matches, {} decisions", found.matches, found.decisions)?;
                Ok(Exit::Done)
            }
            Err(failing) => {
                writeln!(out, "{agent}: does not conform: {failing}")?;
                Ok(Exit::Fault)
            }
        };
    }
    for entry in roster.entries() {
        writeln!(out, "{}\n    {}", entry.name, entry.about)?;
        if let Some(text) = entry.text {
            writeln!(out, "    {}(\"{}\"): {}", entry.name, text.name, text.doc)?;
        }
        for param in entry.params {
            let default = param.default.map_or("off".to_owned(), |value| value.to_string());
            writeln!(out, "    {} = {default}: {} ({})", param.name, param.doc, param.range)?;
        }
    }
    Ok(Exit::Done)
}
