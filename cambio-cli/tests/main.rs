//! The tests of the command, in one program so that it is linked only once.

mod arena;
mod bench;
mod bots;
mod cli;
mod command;
mod comparison;
mod durability;
mod figures;
mod folder;
mod foreign;
mod golden;
mod hasty;
mod install;
mod learning;
mod notebooks;
mod oracle;
mod reading;
mod referee;
mod report;
mod review;
#[cfg(all(unix, feature = "serve"))]
mod serve;
mod site;
mod solving;

/// The size of a random test: `small`, or `full` with `CAMBIO_FULL=1`.
fn amount<T>(small: T, full: T) -> T {
    if std::env::var_os("CAMBIO_FULL").is_some_and(|value| value == "1") { full } else { small }
}
