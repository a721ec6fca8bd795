//! Lineups: the agents that play at one table.

use cambio_agents::{AgentSpec, Roster};
use itertools::Itertools;

use super::experiment::{Focal, LineupRule, Lineups, PlanError, Pools};

/// The agents at one table, by their numbers in [`Plan::agents`](super::Plan::agents).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Lineup {
    agents: Vec<usize>,
    label: String,
}

impl Lineup {
    pub(super) fn new(agents: Vec<usize>, labels: &[String]) -> Lineup {
        let label = agents.iter().map(|&agent| &labels[agent]).join(" | ");
        Lineup { agents, label }
    }

    /// The agents in the order of the seats in rotation 0.
    pub fn agents(&self) -> &[usize] {
        &self.agents
    }

    /// The name of the lineup in rows: the specs of its agents.
    pub fn label(&self) -> &str {
        &self.label
    }
}

/// The maximum number of lineups for one number of seats.
const MOST_LINEUPS: u128 = 100_000;

/// The agents that lineups can name.
pub(super) struct Names<'a> {
    pub(super) roster: &'a Roster,
    pub(super) agents: &'a [AgentSpec],
    pub(super) labels: &'a [String],
}

impl Names<'_> {
    /// The index of an agent, by its label or by a spec with the same values.
    pub(super) fn index(&self, spec: &str, field: &'static str) -> Result<usize, PlanError> {
        if let Some(index) = self.labels.iter().position(|label| label == spec) {
            return Ok(index);
        }
        let agent = self.roster.parse(spec)?;
        let found = || {
            let allowed = if field == "anchor" { "one of `agents`" } else { "limited to agents in `agents`" };
            PlanError::value(field, format!("`{agent}`; add it to `agents`"), allowed)
        };
        self.agents.iter().position(|other| other.is(&agent)).ok_or_else(found)
    }

    fn indices(&self, specs: &[String]) -> Result<Vec<usize>, PlanError> {
        specs.iter().map(|spec| self.index(spec, "lineups")).collect()
    }

    /// The agents that are focal and in the field.
    pub(super) fn focal(&self, lineups: &Lineups) -> Result<Vec<usize>, PlanError> {
        let Lineups::Focal(Focal { focal, field, .. }) = lineups else { return Ok(Vec::new()) };
        let (mut both, field) = (self.indices(focal)?, self.indices(field)?);
        both.retain(|agent| field.contains(agent));
        Ok(both)
    }

    pub(super) fn lineups(&self, lineups: &Lineups, seats: usize) -> Result<Vec<Lineup>, PlanError> {
        let count = self.agents.len();
        let limit = |rule: &str, made: u128| {
            if made <= MOST_LINEUPS {
                return Ok(());
            }
            let found = format!("\"{rule}\", which makes {made} lineups of {count} agents at {seats} seats");
            Err(PlanError::value("lineups", found, format!("a list, or a rule for at most {MOST_LINEUPS} lineups")))
        };
        let chosen = match lineups {
            Lineups::Unsaid | Lineups::Rule(LineupRule::All) => {
                limit("all", choose(count, seats % count))?;
                evenly(count, seats)
            }
            Lineups::Rule(LineupRule::Mirror) => (0..count).map(|agent| vec![agent; seats]).collect(),
            Lineups::Rule(LineupRule::Compositions) => {
                if count < 2 {
                    let allowed = "\"all\", \"mirror\" or a list with 1 agent";
                    return Err(PlanError::value("lineups", "\"compositions\"", allowed));
                }
                limit("compositions", choose(count + seats - 1, seats))?;
                let all = (0..count).combinations_with_replacement(seats);
                all.filter(|lineup| !lineup.iter().all_equal()).collect()
            }
            Lineups::Listed(lists) => {
                let of_size = lists.iter().filter(|list| list.len() == seats);
                of_size.map(|list| self.indices(list)).collect::<Result<_, _>>()?
            }
            Lineups::Focal(Focal { focal, field, mixture }) => {
                let field = self.indices(field)?;
                let fields = match field.len() {
                    1.. if *mixture => field.iter().map(|&agent| vec![agent; seats - 1]).collect(),
                    1 => vec![vec![field[0]; seats - 1]],
                    length if length == seats - 1 => vec![field.clone()],
                    length => {
                        let found = format!("a field of {length} agents at {seats} seats");
                        let allowed = "a field of 1 agent, or 1 for each other seat, or a mixture of opponents";
                        return Err(PlanError::value("lineups", found, allowed));
                    }
                };
                let focal = match &focal[..] {
                    [] => (0..count).filter(|agent| !field.contains(agent)).collect(),
                    specs => self.indices(specs)?,
                };
                let tables = focal.into_iter().cartesian_product(&fields);
                tables.map(|(agent, others)| [vec![agent], others.clone()].concat()).collect()
            }
            Lineups::Pools(Pools { pools }) => {
                if pools.is_empty() || pools.len() > seats || pools.iter().any(Vec::is_empty) {
                    let found = format!("a list of {} at {seats} seats", pools.len());
                    return Err(PlanError::value("lineups", found, format!("1 to {seats} pools, none of them empty")));
                }
                let pools: Vec<Vec<usize>> = pools.iter().map(|pool| self.indices(pool)).collect::<Result<_, _>>()?;
                let pools: Vec<Vec<usize>> = (0..seats).map(|seat| pools[seat % pools.len()].clone()).collect();
                limit("pools", pools.iter().map(|pool| pool.len() as u128).product())?;
                let lineups = pools.into_iter().multi_cartesian_product();
                // Choices that differ only in their order are the same lineup.
                lineups.unique_by(|lineup| lineup.iter().copied().sorted().collect_vec()).collect()
            }
        };
        if let Some(twice) =
            (1..chosen.len()).find(|&next| chosen.len() <= 1000 && chosen[..next].contains(&chosen[next]))
        {
            let found = format!("[{}] twice", Lineup::new(chosen[twice].clone(), self.labels).label);
            return Err(PlanError::value("lineups", found, "a list without duplicates"));
        }
        Ok(chosen.into_iter().map(|agents| Lineup::new(agents, self.labels)).collect())
    }
}

/// The binomial coefficient "`of` choose `size`".
fn choose(of: usize, size: usize) -> u128 {
    (0..size as u128).fold(1, |count, step| count.saturating_mul(of as u128 - step) / (step + 1))
}

/// All multisets of `seats` agents in which the counts of any two agents differ by at most 1.
fn evenly(agents: usize, seats: usize) -> Vec<Vec<usize>> {
    let each = seats / agents;
    let lineup = |extra: Vec<usize>| {
        let copies = |agent: usize| each + usize::from(extra.contains(&agent));
        (0..agents).flat_map(|agent| std::iter::repeat_n(agent, copies(agent))).collect()
    };
    (0..agents).combinations(seats % agents).map(lineup).collect()
}

#[cfg(test)]
mod tests;
