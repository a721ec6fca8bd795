//! The options for the setting in which agents play: rules, seats, seed and threads.

use std::path::Path;

use cambio_agents::{AgentSpec, Roster};
use cambio_core::rng::Seed;
use cambio_sim::tune::PlaySetting;
use cambio_sim::{Experiment, LuckChoice, Payoff, Unit};
use cambio_stats::Support;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::run::threads;
use crate::seeds::seed_of;

#[derive(Debug, clap::Args)]
pub(super) struct SettingArgs {
    /// The rules: a preset or a rule file [default: classic]
    #[arg(long)]
    pub(super) rules: Option<String>,
    /// The number of seats [default: 2]
    #[arg(long, value_name = "N", value_parser = seats)]
    pub(super) seats: Option<usize>,
    /// Play one round on each deal instead of a match
    #[arg(long)]
    pub(super) rounds: bool,
    /// The seed of the deals: a whole number or any text [default: the name of the command, so that a test never plays the
    /// deals on which `tune` chose its agent]
    #[arg(long, value_name = "SEED", value_parser = cambio_sim::read_seed)]
    pub(super) seed: Option<Seed>,
    /// Whether to measure the luck of the cards and subtract it from the results, which gives narrower intervals
    #[arg(long, default_value = "auto", value_parser = one_of(LUCK))]
    pub(super) luck: LuckChoice,
    /// The number of threads; 0 means one for each core. The result does not depend on this number
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = threads)]
    pub(super) threads: usize,
    /// Do not show progress
    #[arg(long, short)]
    pub(super) quiet: bool,
}

const LUCK: &[(LuckChoice, &str, &str)] = &[
    (LuckChoice::Auto, "auto", "If an agent is slower than the heuristics, and the rules and agents allow it"),
    (LuckChoice::On, "on", "Always"),
    (LuckChoice::Off, "off", "Never"),
];

/// A parser for these values, each with its name and help.
pub(super) fn one_of<T: Copy + Send + Sync>(values: &'static [(T, &str, &str)]) -> impl TypedValueParser<Value = T> {
    let named = PossibleValuesParser::new(values.iter().map(|(_, name, help)| PossibleValue::new(*name).help(*help)));
    named.try_map(|name| values.iter().find(|(_, other, _)| *other == name).map(|(value, ..)| *value).ok_or("unknown"))
}

pub(super) fn seats(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| (2..=8).contains(n)).ok_or_else(|| "must be a number from 2 to 8".to_owned())
}

/// The rules for an experiment file in any folder. The given path is relative to the current folder, but in an experiment it
/// would be relative to the experiment file.
pub(super) fn in_any_folder(rules: &str) -> std::io::Result<String> {
    let is_file = Path::new(rules).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"));
    Ok(if is_file { std::path::absolute(rules)?.display().to_string() } else { rules.to_owned() })
}

/// The experiment for a file in any folder: bots and networks of the command line are relative to the current folder.
pub(super) fn from_here(mut experiment: Experiment) -> std::io::Result<Experiment> {
    if experiment.agents.iter().any(|spec| spec.contains('"')) {
        experiment.agents_folder = std::env::current_dir()?.display().to_string();
    }
    Ok(experiment)
}

/// Reads the spec of an agent, which must not see hidden cards. `flag` is the name of the option for the error.
pub(super) fn player(roster: &Roster, flag: &str, spec: &str) -> Result<AgentSpec, Box<dyn std::error::Error>> {
    let agent = roster.parse(spec)?;
    if agent.sees_all() {
        let what = "sees hidden cards; choose an agent that does not";
        return Err(format!("{flag} `{agent}` {what}").into());
    }
    Ok(agent)
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

impl SettingArgs {
    pub(super) fn rules(&self) -> &str {
        self.rules.as_deref().unwrap_or("classic")
    }

    pub(super) fn seats(&self) -> usize {
        self.seats.unwrap_or(2)
    }

    /// The given seed, or the seed of the command with this name.
    pub(super) fn seed(&self, command: &str) -> Seed {
        self.seed.unwrap_or_else(|| seed_of(command))
    }

    pub(super) fn setting(&self, command: &str) -> PlaySetting {
        PlaySetting {
            rules: self.rules().to_owned(),
            seats: self.seats(),
            unit: if self.rounds { Unit::Rounds } else { Unit::Match },
            seed: self.seed(command),
            luck: self.luck,
            ..PlaySetting::default()
        }
    }
}
