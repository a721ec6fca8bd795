//! Writes shell completions and manual pages of the command `cambio` into a folder: `cargo run --example manual -- DIR`.

use std::path::PathBuf;

use clap_complete::Shell;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args_os().nth(1).ok_or("the folder for the files is missing")?);
    std::fs::create_dir_all(&folder)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::PowerShell, Shell::Elvish] {
        clap_complete::generate_to(shell, &mut cambio_cli::command(), "cambio", &folder)?;
    }
    clap_mangen::generate_to(cambio_cli::command(), &folder)?;
    Ok(())
}
