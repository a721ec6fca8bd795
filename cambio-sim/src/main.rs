//! The command `cambio`.

use std::process::ExitCode;

fn main() -> ExitCode {
    cambio_sim::cli::main(cambio_agents::roster())
}
