//! Options that several commands have, and checks of options.

use std::path::Path;

use cambio_sim::Payoff;
use cambio_stats::Support;

use crate::run::threads;

#[derive(Debug, clap::Args)]
pub(super) struct ThreadArgs {
    /// The number of threads; 0 means one for each core. The result does not depend on this number
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = threads)]
    pub(super) threads: usize,
    /// Do not show progress
    #[arg(long, short)]
    pub(super) quiet: bool,
}

/// The rules for an experiment file in any folder. The given path is relative to the current folder, but in an experiment it
/// would be relative to the experiment file.
pub(super) fn in_any_folder(rules: &str) -> std::io::Result<String> {
    let is_file = Path::new(rules).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"));
    Ok(if is_file { std::path::absolute(rules)?.display().to_string() } else { rules.to_owned() })
}

/// Reads a probability above 0 and below 1.
pub(super) fn probability(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|p| *p > 0.0 && *p < 1.0);
    number.ok_or_else(|| "must be a number above 0 and below 1".to_owned())
}

pub(super) fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|n: &f64| *n > 0.0 && n.is_finite());
    number.ok_or_else(|| "must be a number above 0".to_owned())
}

/// Checks that two agents can differ by so much in this payoff.
pub(super) fn check_difference(option: &str, difference: f64, payoff: Payoff) -> Result<(), String> {
    if payoff.support() == Support::Share && difference >= 1.0 {
        return Err(format!("{option} must be below 1, found {difference}: {} are between 0 and 1", payoff.unit()));
    }
    Ok(())
}
