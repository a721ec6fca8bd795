//! The command `cambio`.

use std::process::ExitCode;

fn main() -> ExitCode {
    cambio_cli::main(cambio_agents::roster())
}
