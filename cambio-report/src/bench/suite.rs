//! The frozen suite: what a benchmark plays.

use std::collections::BTreeMap;
use std::path::Path;

use cambio_agents::{Roster, SpecError};
use cambio_exec::{FileError, create_folder, write_whole};
use cambio_sim::{Experiment, FaultPolicy, Lineups, LuckChoice, Payoff, PlayablePlan, read_seed};
use serde::Deserialize;

use super::BenchError;

/// A file of the suite, included in the program.
macro_rules! suite_files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../benchmark/2/", $name)))),*]
    };
}

const SUITE: &str = include_str!("../../benchmark/2/suite.toml");

/// The parts that are runs, in the order of the leaderboard.
pub(crate) const RUN_PARTS: [&str; 4] = ["duel", "table", "match", "transfer"];

/// The rule files of the suite, by name.
const RULE_FILES: [(&str, &str); 12] = suite_files![
    "six-cards.toml",
    "no-taking.toml",
    "two-decks.toml",
    "own-snaps.toml",
    "hard-penalties.toml",
    "late-calls.toml",
    "other-points.toml",
    "several-callers.toml",
    "short-round.toml",
    "blind-start.toml",
    "value-match.toml",
    "house.toml",
];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Suite {
    pub(super) name: String,
    seed: String,
    agent_seed: String,
    classes: BTreeMap<String, TimeClass>,
    runs: Vec<RunPart>,
    pub(super) exact: ExactPart,
    pub(super) robust: RobustPart,
    /// The hashes of the bundled networks that play.
    #[cfg_attr(not(test), expect(dead_code, reason = "a test compares them with the networks of this program"))]
    networks: BTreeMap<String, String>,
}

/// The searches of a time class, and the share of the deals that it plays.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TimeClass {
    pub(super) rollout: String,
    pub(super) lookahead: String,
    deals: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunPart {
    part: String,
    rules: Vec<String>,
    seats: usize,
    deals: u64,
    opponents: Vec<String>,
    luck: LuckChoice,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExactPart {
    pub(super) games: Vec<String>,
    pub(super) streams: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RobustPart {
    pub(super) rules: String,
    pub(super) seats: usize,
    pub(super) seconds: f64,
}

/// One table of the suite, which is played as a run of its own.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct BenchTable {
    /// One of [`RUN_PARTS`].
    pub(super) part: String,
    /// The name of the run's folder, and of the experiment file without its extension.
    pub(super) name: String,
    pub(super) seats: usize,
    pub(super) opponents: Vec<String>,
    /// The experiment, in which the agent does not play against itself; that result is known.
    pub(super) experiment: Experiment,
}

/// Writes the rule files into the folder `rules` of a folder with experiments.
pub(super) fn write_rules(experiments: &Path) -> Result<(), FileError> {
    create_folder(&experiments.join("rules"))?;
    RULE_FILES.iter().try_for_each(|(name, text)| write_whole(&experiments.join("rules").join(name), text.as_bytes()))
}

/// The plans of the runs. They come from the rule files of this program, not from those in a folder.
pub(super) fn plans(tables: &[BenchTable], roster: &Roster) -> Result<Vec<PlayablePlan>, BenchError> {
    let base = tempfile::tempdir()?;
    write_rules(base.path())?;
    let plan = |table: &BenchTable| Ok(table.experiment.clone().in_current_folder()?.plan(roster, base.path())?);
    tables.iter().map(plan).collect()
}

impl Suite {
    /// The suite of this program.
    pub(super) fn own() -> Suite {
        toml::from_str(SUITE).expect("the suite is valid")
    }

    pub(super) fn class(&self, name: &str) -> Result<&TimeClass, String> {
        let names: Vec<&str> = self.classes.keys().map(String::as_str).collect();
        let refuse = || format!("--class must be one of {}, found `{name}`", names.join(", "));
        self.classes.get(name).ok_or_else(refuse)
    }

    /// The tables of an agent in a class, in the order in which they are played. `agent` is a valid spec in its normal form. The
    /// numbers of deals are divided by `divisor`.
    ///
    /// # Errors
    /// If the roster lacks an opponent.
    pub(super) fn tables(
        &self,
        class: &TimeClass,
        divisor: u64,
        agent: &str,
        roster: &Roster,
    ) -> Result<Vec<BenchTable>, SpecError> {
        // Runs name agents by the normal form of their specs.
        let opponent = |name: &String| -> Result<String, SpecError> {
            let spec = match name.as_str() {
                "rollout" => &class.rollout,
                "lookahead" => &class.lookahead,
                _ => name,
            };
            Ok(roster.parse(spec)?.to_string())
        };
        let seed = |text: &str| Some(read_seed(text).expect("the seed of the suite is valid"));
        let table = |run: &RunPart, rules: &String| -> Result<BenchTable, SpecError> {
            let name = match &run.rules[..] {
                [_] => run.part.clone(),
                _ => format!("{}-{}", run.part, rules.trim_end_matches(".toml")),
            };
            let opponents = run.opponents.iter().map(opponent).collect::<Result<Vec<_>, _>>()?;
            let others: Vec<&str> = opponents.iter().map(String::as_str).filter(|&other| other != agent).collect();
            let lineup = |&other: &&str| {
                let others = std::iter::repeat_n(other, run.seats - 1);
                std::iter::once(agent).chain(others).map(str::to_owned).collect()
            };
            let is_file = RULE_FILES.iter().any(|(name, _)| name == rules);
            let rules = if is_file { format!("rules/{rules}") } else { rules.clone() };
            let experiment = Experiment {
                name: format!("{}, {name}: {agent}", self.name),
                seed: seed(&self.seed),
                agent_seed: seed(&self.agent_seed),
                deals: ((run.deals as f64 * class.deals) as u64 / divisor).max(2),
                lineups: Lineups::Listed(others.iter().map(lineup).collect()),
                payoff: Payoff::Win,
                faults: FaultPolicy::Forfeit,
                luck: run.luck,
                ..Experiment::at(&rules, run.seats, &[&[agent], &others[..]].concat())
            };
            Ok(BenchTable { part: run.part.clone(), name, seats: run.seats, opponents, experiment })
        };
        self.runs.iter().flat_map(|run| run.rules.iter().map(move |rules| table(run, rules))).collect()
    }
}

#[cfg(test)]
mod tests;
