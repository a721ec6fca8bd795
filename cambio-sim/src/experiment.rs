//! Experiment files, and the plan that becomes of one.
//!
//! An [`Experiment`] is what a file says; a [`Plan`] is what is played: rules read, agents parsed, lineups written
//! out, every number checked.

use std::path::Path;

use cambio_agents::{AgentSpec, Roster, SpecError};
use cambio_core::{Rules, RulesError, RulesSpec};
use serde::Deserialize;

/// An experiment as a file says it.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// What the experiment is called.
    #[serde(default)]
    pub name: String,
    /// The master seed.
    pub seed: u64,
    /// How many deals each lineup plays; each in all its rotations.
    pub deals: u64,
    /// Presets by name, or rule files by path, relative to the experiment file.
    pub rules: Vec<String>,
    /// The numbers of seats.
    pub seats: Vec<usize>,
    /// The agents' specs.
    pub agents: Vec<String>,
    /// Which agents meet.
    #[serde(default)]
    pub lineups: Lineups,
    /// In which seatings a lineup plays each deal.
    #[serde(default)]
    pub rotations: Rotations,
}

/// In which seatings a lineup plays each deal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rotations {
    /// Each agent sits in each seat once.
    #[default]
    Cyclic,
    /// Only as the lineup is written. Seats are then not balanced; for mirrors, of which all rotations are the same.
    One,
}

/// Which agents meet at one table.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(untagged)]
pub enum Lineups {
    /// A rule: `all` or `mirror`.
    Rule(LineupRule),
    /// The lineups themselves, each a list of agent specs with one for each seat. Tables of other sizes are left out.
    Listed(Vec<Vec<String>>),
    /// Not said: `all`.
    #[default]
    #[serde(skip)]
    Unsaid,
}

/// A rule for which agents meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineupRule {
    /// Every set of as many different agents as there are seats; where there are fewer agents, all of them, repeated
    /// as evenly as possible in every way.
    All,
    /// Each agent against copies of itself.
    Mirror,
}

/// Why an experiment cannot be planned: one sentence.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The file cannot be read.
    #[error("cannot read {path}: {source}")]
    Unreadable {
        /// The path.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not an experiment.
    #[error("{path} is not an experiment file: {what}")]
    Form {
        /// The path.
        path: String,
        /// What is wrong, and where.
        what: String,
    },
    /// A rule file is refused.
    #[error("rules `{name}`: {source}")]
    Rules {
        /// The preset or path.
        name: String,
        /// Why.
        source: RulesError,
    },
    /// An agent's spec is refused.
    #[error(transparent)]
    Agent(#[from] SpecError),
    /// A list or number is not allowed.
    #[error("field `{field}` is {found}; allowed is {allowed}")]
    Value {
        /// The field.
        field: &'static str,
        /// What it is.
        found: String,
        /// What is allowed.
        allowed: String,
    },
}

/// Some agents at one table, seat a of rotation 0 first, by their place in [`Plan::agents`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lineup(Vec<usize>);

impl Lineup {
    /// The agent that sits in `seat` in this rotation: everybody moves on by one seat each time.
    pub fn agent(&self, seat: usize, rotation: usize) -> usize {
        self.0[(seat + rotation) % self.0.len()]
    }

    /// The agents, seat a of rotation 0 first.
    pub fn agents(&self) -> &[usize] {
        &self.0
    }
}

/// One rule system at one number of seats, and the lineups that play there.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The rules.
    pub rules: Rules,
    /// The number of seats.
    pub seats: usize,
    /// Who meets.
    pub lineups: Vec<Lineup>,
}

/// What is played.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What the experiment is called.
    pub name: String,
    /// The master seed.
    pub seed: u64,
    /// How many deals each lineup plays.
    pub deals: u64,
    /// The agents.
    pub agents: Vec<AgentSpec>,
    /// In which seatings a lineup plays each deal.
    pub rotations: Rotations,
    /// The agents' specs as every row carries them.
    pub labels: Vec<String>,
    /// The tables.
    pub cells: Vec<Cell>,
}

/// One deal block: a lineup on one deal in all its rotations. The unit of randomness and of scheduling.
#[derive(Clone, Copy, Debug)]
pub struct Block<'p> {
    /// Which cell of the plan.
    pub cell: usize,
    /// The rules.
    pub rules: &'p Rules,
    /// The number of seats.
    pub seats: usize,
    /// Who meets.
    pub lineup: &'p Lineup,
    /// The deal.
    pub deal: u64,
}

impl Experiment {
    /// Reads an experiment file; gives its text as well.
    ///
    /// # Errors
    /// If it cannot be read or is not an experiment; the sentence names the line and what is allowed.
    pub fn read(path: &Path) -> Result<(Experiment, String), PlanError> {
        let shown = path.display().to_string();
        let text =
            std::fs::read_to_string(path).map_err(|source| PlanError::Unreadable { path: shown.clone(), source })?;
        let experiment = toml::from_str(&text).map_err(|error| {
            let line = error.span().map(|span| text[..span.start].matches('\n').count() + 1);
            let place = line.map_or_else(String::new, |line| format!("line {line}: "));
            PlanError::Form { path: shown, what: format!("{place}{}", in_plain_words(error.message())) }
        })?;
        Ok((experiment, text))
    }

    /// Checks everything and writes out what is played. `folder` is where relative paths of rule files start.
    ///
    /// # Errors
    /// One sentence: what was found, where, and what is allowed.
    pub fn plan(&self, roster: &Roster, folder: &Path) -> Result<Plan, PlanError> {
        let value =
            |field, found: String, allowed: &str| PlanError::Value { field, found, allowed: allowed.to_owned() };
        if self.deals == 0 {
            return Err(value("deals", "0".to_owned(), "at least 1"));
        }
        for (field, is_empty) in
            [("rules", self.rules.is_empty()), ("seats", self.seats.is_empty()), ("agents", self.agents.is_empty())]
        {
            if is_empty {
                return Err(value(field, "empty".to_owned(), "a list of at least one"));
            }
        }
        let agents = self.agents.iter().map(|spec| roster.parse(spec)).collect::<Result<Vec<_>, _>>()?;
        let labels: Vec<String> = agents.iter().map(AgentSpec::to_string).collect();
        if let Some(next) = (1..agents.len()).find(|&next| agents[..next].iter().any(|agent| agent.is(&agents[next]))) {
            return Err(value("agents", format!("a list with `{}` twice", labels[next]), "each agent once"));
        }
        let mut cells: Vec<Cell> = Vec::new();
        for name in &self.rules {
            let rules = read_rules(name, folder)?;
            for &seats in &self.seats {
                rules.covers(seats).map_err(|source| PlanError::Rules { name: name.clone(), source })?;
                if cells.iter().any(|cell| cell.rules.name() == rules.name() && cell.seats == seats) {
                    let found = format!("`{}` at {seats} seats twice", rules.name());
                    return Err(value("rules", found, "each name and number of seats once"));
                }
                let lineups = self.lineups(seats, roster, &labels)?;
                cells.push(Cell { rules: rules.clone(), seats, lineups });
            }
        }
        if let Lineups::Listed(lists) = &self.lineups
            && let Some(list) = lists.iter().find(|list| !self.seats.contains(&list.len()))
        {
            return Err(value(
                "lineups",
                format!("a list with one of {} agents", list.len()),
                "one agent for each of `seats`",
            ));
        }
        if cells.iter().all(|cell| cell.lineups.is_empty()) {
            return Err(value(
                "lineups",
                "a list without a lineup for any of `seats`".to_owned(),
                "one agent for each seat",
            ));
        }
        let matches = |cell: &Cell| cell.lineups.len() as u128 * cell.seats as u128 * u128::from(self.deals);
        let all: u128 = cells.iter().map(matches).sum();
        if all > MOST_MATCHES {
            return Err(value("deals", format!("{}, which makes {all} matches", self.deals), "at most 2^40 matches"));
        }
        let (name, seed, deals, rotations) = (self.name.clone(), self.seed, self.deals, self.rotations);
        Ok(Plan { name, seed, deals, agents, rotations, labels, cells })
    }

    fn lineups(&self, seats: usize, roster: &Roster, labels: &[String]) -> Result<Vec<Lineup>, PlanError> {
        match &self.lineups {
            Lineups::Unsaid | Lineups::Rule(LineupRule::All) => {
                let count = count_evenly(labels.len(), seats);
                if count > MOST_LINEUPS {
                    return Err(PlanError::Value {
                        field: "lineups",
                        found: format!("\"all\", which makes {count} of {} agents at {seats} seats", labels.len()),
                        allowed: format!("at most {MOST_LINEUPS}, or a list of those to play"),
                    });
                }
                Ok(evenly(labels.len(), seats))
            }
            Lineups::Rule(LineupRule::Mirror) => {
                Ok((0..labels.len()).map(|agent| Lineup(vec![agent; seats])).collect())
            }
            Lineups::Listed(lists) => {
                let place = |spec: &String| {
                    let agent = roster.parse(spec)?;
                    let label = agent.to_string();
                    let same = |other: &String| roster.parse(other).is_ok_and(|other| other.is(&agent));
                    labels.iter().position(same).ok_or_else(|| PlanError::Value {
                        field: "lineups",
                        found: format!("a list with `{label}`"),
                        allowed: "the agents of `agents`".to_owned(),
                    })
                };
                let of_size = lists.iter().filter(|list| list.len() == seats);
                let lineups: Vec<Lineup> = of_size
                    .map(|list| list.iter().map(place).collect::<Result<_, _>>().map(Lineup))
                    .collect::<Result<_, _>>()?;
                match (1..lineups.len()).find(|&next| lineups[..next].contains(&lineups[next])) {
                    None => Ok(lineups),
                    Some(twice) => Err(PlanError::Value {
                        field: "lineups",
                        found: format!("a list with [{}] twice", names(labels, &lineups[twice])),
                        allowed: "each lineup once".to_owned(),
                    }),
                }
            }
        }
    }
}

/// What the TOML reader says, without the names of Rust's types.
fn in_plain_words(message: &str) -> String {
    let lineups = "data did not match any variant of untagged enum Lineups";
    message
        .trim()
        .replace('\n', " ")
        .replace(lineups, "field `lineups` is neither \"all\" nor \"mirror\" nor a list of lists of agents")
        .replace(" as i128", "")
        .replace("expected u64", "expected a whole number from 0 to 18446744073709551615")
        .replace("expected usize", "expected a whole number from 0 on")
}

/// How many choices of `seats` out of `agents` [`evenly`] makes.
fn count_evenly(agents: usize, seats: usize) -> u128 {
    let extra = (seats % agents) as u128;
    (0..extra).fold(1, |count, step| count * (agents as u128 - step) / (step + 1))
}

/// The most lineups of one number of seats, and the most matches of a plan.
const MOST_LINEUPS: u128 = 100_000;
const MOST_MATCHES: u128 = 1 << 40;

/// Every choice of `seats` out of `agents` in which no agent comes more than once more often than another.
fn evenly(agents: usize, seats: usize) -> Vec<Lineup> {
    let each = seats / agents;
    let extra = seats % agents;
    let mut chosen = Vec::new();
    combinations(agents, extra, 0, &mut Vec::new(), &mut chosen);
    let lineup = |extra: &Vec<usize>| {
        let copies = |agent: usize| each + usize::from(extra.contains(&agent));
        Lineup((0..agents).flat_map(|agent| std::iter::repeat_n(agent, copies(agent))).collect())
    };
    chosen.iter().map(lineup).collect()
}

fn combinations(of: usize, size: usize, from: usize, chosen: &mut Vec<usize>, all: &mut Vec<Vec<usize>>) {
    if chosen.len() == size {
        all.push(chosen.clone());
        return;
    }
    for next in from..of {
        chosen.push(next);
        combinations(of, size, next + 1, chosen, all);
        chosen.pop();
    }
}

/// A preset by name, or a rule file by path.
///
/// # Errors
/// If there is neither, or the file is not a rule system.
pub fn read_rules(name: &str, folder: &Path) -> Result<Rules, PlanError> {
    let refuse = |source| PlanError::Rules { name: name.to_owned(), source };
    if !Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml")) {
        return Rules::preset(name).map_err(refuse);
    }
    let path = folder.join(name);
    let text = std::fs::read_to_string(&path)
        .map_err(|source| PlanError::Unreadable { path: path.display().to_string(), source })?;
    RulesSpec::from_toml(&text).and_then(RulesSpec::validate).map_err(refuse)
}

impl Plan {
    /// How many matches are played.
    pub fn matches(&self) -> u64 {
        self.cells.iter().map(|cell| (cell.lineups.len() * self.rotations(cell.seats)) as u64 * self.deals).sum()
    }

    /// In how many seatings a lineup of so many seats plays each deal.
    pub fn rotations(&self, seats: usize) -> usize {
        match self.rotations {
            Rotations::Cyclic => seats,
            Rotations::One => 1,
        }
    }

    /// The blocks in canonical order: by cell, then lineup, then deal.
    pub fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        self.cells.iter().enumerate().flat_map(move |(place, cell)| {
            cell.lineups.iter().flat_map(move |lineup| {
                (0..self.deals).map(move |deal| Block {
                    cell: place,
                    rules: &cell.rules,
                    seats: cell.seats,
                    lineup,
                    deal,
                })
            })
        })
    }

    /// A lineup's name: its agents, seat a of rotation 0 first.
    pub fn lineup_label(&self, lineup: &Lineup) -> String {
        names(&self.labels, lineup)
    }
}

fn names(labels: &[String], lineup: &Lineup) -> String {
    let names: Vec<&str> = lineup.agents().iter().map(|&agent| labels[agent].as_str()).collect();
    names.join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_agents_than_seats_repeat_as_evenly_as_possible() {
        let lineups = |agents, seats| evenly(agents, seats).into_iter().map(|l| l.0).collect::<Vec<_>>();
        assert_eq!(lineups(3, 2), [[0, 1], [0, 2], [1, 2]]);
        assert_eq!(lineups(3, 4), [[0, 0, 1, 2], [0, 1, 1, 2], [0, 1, 2, 2]]);
        assert_eq!(lineups(2, 4), [[0, 0, 1, 1]]);
        assert_eq!(lineups(1, 2), [[0, 0]]);
    }

    #[test]
    fn every_agent_sits_in_every_seat_once_in_a_cyclic_rotation() {
        let lineup = Lineup(vec![4, 2, 7]);
        for seat in 0..3 {
            let mut sitters: Vec<usize> = (0..3).map(|rotation| lineup.agent(seat, rotation)).collect();
            sitters.sort_unstable();
            assert_eq!(sitters, [2, 4, 7]);
        }
    }
}
