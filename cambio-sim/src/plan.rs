//! Plans: experiments written out, every number checked, in the order in which everything is played and stored.

use std::ops::Range;
use std::path::Path;

use cambio_agents::{AgentSpec, Roster};
use cambio_core::{Rules, RulesSpec};
use serde_json::{Value, json};

use crate::experiment::{
    Experiment, FaultPolicy, Focal, LineupRule, Lineups, Payoff, PlanError, Pools, Rotations, Unit, read_rules,
};

/// Some agents at one table, by their place in [`Plan::labels`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Lineup {
    agents: Vec<usize>,
    label: String,
}

impl Lineup {
    fn new(agents: Vec<usize>, labels: &[String]) -> Lineup {
        let names: Vec<&str> = agents.iter().map(|&agent| labels[agent].as_str()).collect();
        let label = names.join(" | ");
        Lineup { agents, label }
    }

    /// The agents, seat a of rotation 0 first.
    pub fn agents(&self) -> &[usize] {
        &self.agents
    }

    /// What rows call the lineup: its agents' specs.
    pub fn label(&self) -> &str {
        &self.label
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
    /// In which seatings: for each rotation, which place of the lineup sits in seat a, b and so on.
    pub seatings: Vec<Vec<usize>>,
}

/// What is played.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "as the experiment's fields")]
pub struct Plan {
    /// What the experiment is called.
    pub name: String,
    /// The master seed.
    pub seed: u64,
    /// How many deals each lineup plays.
    pub deals: u64,
    /// In which seatings a lineup plays each deal.
    pub rotations: Rotations,
    /// What a deal is played for.
    pub unit: Unit,
    /// What differences, ratings and seat effects are measured in.
    pub payoff: Payoff,
    /// What becomes of a match in which an agent is at fault.
    pub faults: FaultPolicy,
    /// Whether full records are written.
    pub records: bool,
    /// Whether the rows are compressed.
    pub compress: bool,
    /// Whether agents that see hidden cards may take part.
    pub analysis: bool,
    /// Whether ratings take the seat into account.
    pub seat_effects: bool,
    /// The place of the agent whose rating is 0.
    pub anchor: Option<usize>,
    /// The agents' specs as every row carries them.
    pub labels: Vec<String>,
    /// Which agents see hidden cards.
    pub seers: Vec<bool>,
    /// Which agents decide the same on every machine.
    pub reproducible: Vec<bool>,
    /// The tables.
    pub cells: Vec<Cell>,
    /// The agents; none in a plan that was read back without a roster.
    pub(crate) agents: Vec<AgentSpec>,
}

/// One deal block: a lineup on one deal in all its rotations. The unit of randomness, scheduling and storage.
#[derive(Clone, Copy, Debug)]
pub struct Block<'p> {
    /// Its number in canonical order.
    pub number: u64,
    /// Which cell of the plan.
    pub place: usize,
    /// The cell.
    pub cell: &'p Cell,
    /// Which lineup of the cell.
    pub lineup_place: usize,
    /// Who meets.
    pub lineup: &'p Lineup,
    /// The deal.
    pub deal: u64,
}

impl Block<'_> {
    /// The agent in a seat in this rotation, by its place in [`Plan::labels`].
    pub fn agent(&self, seat: usize, rotation: usize) -> usize {
        self.lineup.agents[self.cell.seatings[rotation][seat]]
    }

    /// The first rotation before this one in which the same agents sit in the same seats, if there is one: where a lineup
    /// has an agent more than once.
    pub fn twin(&self, rotation: usize) -> Option<usize> {
        let seats = 0..self.cell.seats;
        let is_twin = |&other: &usize| seats.clone().all(|seat| self.agent(seat, other) == self.agent(seat, rotation));
        (0..rotation).find(is_twin)
    }
}

/// The most lineups of one number of seats, and the most matches of a plan.
const MOST_LINEUPS: u128 = 100_000;
const MOST_MATCHES: u128 = 1 << 40;
/// The most seats of which all orders are played.
const MOST_ORDERED: usize = 6;
/// The format of `spec.lock.json`.
const LOCK: &str = "cambio-lock/1";

impl Experiment {
    /// Checks everything and writes out what is played. `folder` is where relative paths of rule files start.
    ///
    /// # Errors
    /// One sentence: what was found, where, and what is allowed.
    pub fn plan(&self, roster: &Roster, folder: &Path) -> Result<Plan, PlanError> {
        if self.deals == 0 {
            return Err(PlanError::value("deals", "0", "at least 1"));
        }
        for (field, is_empty) in
            [("rules", self.rules.is_empty()), ("seats", self.seats.is_empty()), ("agents", self.agents.is_empty())]
        {
            if is_empty {
                return Err(PlanError::value(field, "empty", "a list of at least one"));
            }
        }
        if self.compress && !cfg!(feature = "zstd") {
            return Err(PlanError::value("compress", "true", "false in a program built without the feature `zstd`"));
        }
        let agents = self.agents.iter().map(|spec| roster.parse(spec)).collect::<Result<Vec<_>, _>>()?;
        let labels: Vec<String> = agents.iter().map(AgentSpec::to_string).collect();
        if let Some(next) = (1..agents.len()).find(|&next| agents[..next].iter().any(|agent| agent.is(&agents[next]))) {
            return Err(PlanError::value("agents", format!("a list with `{}` twice", labels[next]), "each agent once"));
        }
        let seers: Vec<bool> = agents.iter().map(AgentSpec::sees_all).collect();
        if let (false, Some(seer)) = (self.analysis, seers.iter().position(|&sees| sees)) {
            let found = format!("false, and `{}` sees hidden cards", labels[seer]);
            return Err(PlanError::value("analysis", found, "true, which marks every row that it is in"));
        }
        let counted = match self.payoff {
            Payoff::RankPoints | Payoff::Win => None,
            Payoff::Points => Some("points"),
            Payoff::Margin => Some("margin"),
        };
        if let (FaultPolicy::Forfeit, Some(payoff)) = (self.faults, counted) {
            let found = format!("\"{payoff}\" with faults = \"forfeit\"");
            let allowed = "rank_points or win: a match that is forfeited is lost, but has no points";
            return Err(PlanError::value("payoff", found, allowed));
        }
        let names = Names { roster, agents: &agents, labels: &labels };
        let anchor = self.anchor.as_ref().map(|spec| names.place(spec, "anchor")).transpose()?;
        let mut cells: Vec<Cell> = Vec::new();
        for name in &self.rules {
            let rules = self.unit.of(read_rules(name, folder)?);
            for &seats in &self.seats {
                rules.covers(seats).map_err(|source| PlanError::Rules { name: name.clone(), source })?;
                if cells.iter().any(|cell| cell.rules.name() == rules.name() && cell.seats == seats) {
                    let found = format!("`{}` at {seats} seats twice", rules.name());
                    return Err(PlanError::value(
                        "rules",
                        found,
                        "each name and number of seats once; a rule file says its own in `name`",
                    ));
                }
                if self.rotations == Rotations::All && seats > MOST_ORDERED {
                    let found = format!("\"all\" at {seats} seats");
                    return Err(PlanError::value("rotations", found, format!("\"all\" at 2 to {MOST_ORDERED} seats")));
                }
                let lineups = names.lineups(&self.lineups, seats)?;
                cells.push(Cell { rules, seats, lineups, seatings: self.rotations.seatings(seats) });
            }
        }
        if let Lineups::Listed(lists) = &self.lineups
            && let Some(list) = lists.iter().find(|list| !self.seats.contains(&list.len()))
        {
            let found = format!("a list with one of {} agents", list.len());
            return Err(PlanError::value("lineups", found, "one agent for each of `seats`"));
        }
        if let Some(cell) = cells.iter().find(|cell| cell.lineups.is_empty()) {
            let found = format!("a list without a lineup of {} agents", cell.seats);
            return Err(PlanError::value("lineups", found, "one or more for each of `seats`"));
        }
        let matches = |cell: &Cell| cell.lineups.len() as u128 * cell.seatings.len() as u128 * u128::from(self.deals);
        let all: u128 = cells.iter().map(matches).sum();
        if all > MOST_MATCHES {
            let found = format!("{}, which makes {all} matches", self.deals);
            return Err(PlanError::value("deals", found, "at most 2^40 matches"));
        }
        Ok(Plan {
            name: self.name.clone(),
            seed: self.seed,
            deals: self.deals,
            rotations: self.rotations,
            unit: self.unit,
            payoff: self.payoff,
            faults: self.faults,
            records: self.records,
            compress: self.compress,
            analysis: self.analysis,
            seat_effects: self.seat_effects,
            anchor,
            seers,
            reproducible: agents.iter().map(AgentSpec::is_reproducible).collect(),
            labels,
            cells,
            agents,
        })
    }
}

impl Unit {
    /// The rules under which this unit is played.
    ///
    /// # Panics
    /// Never: one round is allowed wherever a match is.
    pub fn of(self, rules: Rules) -> Rules {
        const SUFFIX: &str = " (one round)";
        // Of rule systems.
        const LONGEST_NAME: usize = 64;
        if self == Unit::Match {
            return rules;
        }
        let mut table = rules.spec().to_table();
        if table["match_end"] == "rounds(1)" {
            return rules;
        }
        table["match_end"] = json!("rounds(1)");
        // A long name makes room.
        let ends = rules.name().char_indices().map(|(at, letter)| at + letter.len_utf8());
        let end = ends.take_while(|end| end + SUFFIX.len() <= LONGEST_NAME).last().unwrap_or(0);
        table["name"] = json!(format!("{}{SUFFIX}", &rules.name()[..end]));
        let spec = RulesSpec::from_json(&table).expect("one round is allowed, and the rest was");
        spec.validate().expect("rules of one round are as good as those of a match")
    }
}

/// The agents that lineups can name.
struct Names<'a> {
    roster: &'a Roster,
    agents: &'a [AgentSpec],
    labels: &'a [String],
}

impl Names<'_> {
    fn place(&self, spec: &str, field: &'static str) -> Result<usize, PlanError> {
        let agent = self.roster.parse(spec)?;
        let found = || {
            let what = if field == "anchor" { format!("`{agent}`") } else { format!("a list with `{agent}`") };
            PlanError::value(field, what, "the agents of `agents`")
        };
        self.agents.iter().position(|other| other.is(&agent)).ok_or_else(found)
    }

    fn places(&self, specs: &[String]) -> Result<Vec<usize>, PlanError> {
        specs.iter().map(|spec| self.place(spec, "lineups")).collect()
    }

    fn lineups(&self, lineups: &Lineups, seats: usize) -> Result<Vec<Lineup>, PlanError> {
        let count = self.agents.len();
        let limit = |rule: &str, made: u128| {
            if made <= MOST_LINEUPS {
                return Ok(());
            }
            let found = format!("\"{rule}\", which makes {made} of {count} agents at {seats} seats");
            Err(PlanError::value("lineups", found, format!("at most {MOST_LINEUPS}, or a list of those to play")))
        };
        let chosen = match lineups {
            Lineups::Unsaid | Lineups::Rule(LineupRule::All) => {
                limit("all", choose(count, seats % count))?;
                evenly(count, seats)
            }
            Lineups::Rule(LineupRule::Mirror) => (0..count).map(|agent| vec![agent; seats]).collect(),
            Lineups::Rule(LineupRule::Compositions) => {
                if count < 2 {
                    return Err(PlanError::value("lineups", "\"compositions\" of 1 agent", "2 agents or more"));
                }
                limit("compositions", choose(count + seats - 1, seats))?;
                let pools = vec![(0..count).collect(); seats];
                let mut all = from_pools(&pools);
                all.retain(|lineup| lineup.iter().any(|agent| *agent != lineup[0]));
                all
            }
            Lineups::Listed(lists) => {
                let of_size = lists.iter().filter(|list| list.len() == seats);
                of_size.map(|list| self.places(list)).collect::<Result<_, _>>()?
            }
            Lineups::Focal(Focal { focal, field }) => {
                let field = self.places(field)?;
                let field = match field.len() {
                    1 => vec![field[0]; seats - 1],
                    length if length == seats - 1 => field,
                    length => {
                        let found = format!("a field of {length} agents at {seats} seats");
                        return Err(PlanError::value("lineups", found, format!("1 agent or {}", seats - 1)));
                    }
                };
                let focal = match &focal[..] {
                    [] => (0..count).filter(|agent| !field.contains(agent)).collect(),
                    specs => self.places(specs)?,
                };
                focal.into_iter().map(|agent| [vec![agent], field.clone()].concat()).collect()
            }
            Lineups::Pools(Pools { pools }) => {
                if pools.is_empty() || pools.len() > seats || pools.iter().any(Vec::is_empty) {
                    let found = format!("{} pools at {seats} seats", pools.len());
                    return Err(PlanError::value("lineups", found, "1 to as many pools as seats, none empty"));
                }
                let pools: Vec<Vec<usize>> = pools.iter().map(|pool| self.places(pool)).collect::<Result<_, _>>()?;
                let pools: Vec<Vec<usize>> = (0..seats).map(|seat| pools[seat % pools.len()].clone()).collect();
                limit("pools", pools.iter().map(|pool| pool.len() as u128).product())?;
                from_pools(&pools)
            }
        };
        if let Some(twice) =
            (1..chosen.len()).find(|&next| chosen.len() <= 1000 && chosen[..next].contains(&chosen[next]))
        {
            let found = format!("a list with [{}] twice", Lineup::new(chosen[twice].clone(), self.labels).label);
            return Err(PlanError::value("lineups", found, "each lineup once"));
        }
        Ok(chosen.into_iter().map(|agents| Lineup::new(agents, self.labels)).collect())
    }
}

/// How many choices of `size` out of `of` there are.
fn choose(of: usize, size: usize) -> u128 {
    (0..size as u128).fold(1, |count, step| count.saturating_mul(of as u128 - step) / (step + 1))
}

/// Every choice of `seats` out of `agents` in which no agent comes more than once more often than another.
fn evenly(agents: usize, seats: usize) -> Vec<Vec<usize>> {
    let each = seats / agents;
    let mut chosen = Vec::new();
    combinations(agents, seats % agents, 0, &mut Vec::new(), &mut chosen);
    let lineup = |extra: &Vec<usize>| {
        let copies = |agent: usize| each + usize::from(extra.contains(&agent));
        (0..agents).flat_map(|agent| std::iter::repeat_n(agent, copies(agent))).collect()
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

/// Every choice of one from each pool, those of the same agents once.
fn from_pools(pools: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut chosen: Vec<Vec<usize>> = vec![Vec::new()];
    for pool in pools {
        let longer = |lineup: Vec<usize>| {
            pool.iter().map(move |&agent| lineup.iter().copied().chain([agent]).collect::<Vec<_>>())
        };
        chosen = chosen.into_iter().flat_map(longer).collect();
        // Choices that are the same so far, and come from the same pools, stay the same.
        let mut seen = std::collections::BTreeSet::new();
        let sorted = |lineup: &[usize]| {
            let mut sorted = lineup.to_vec();
            sorted.sort_unstable();
            sorted
        };
        chosen.retain(|lineup| seen.insert(sorted(lineup)));
    }
    chosen
}

impl Plan {
    /// How many matches are played.
    pub fn matches(&self) -> u64 {
        self.cells.iter().map(|cell| (cell.lineups.len() * cell.seatings.len()) as u64 * self.deals).sum()
    }

    /// How many blocks there are.
    pub fn block_count(&self) -> u64 {
        self.cells.iter().map(|cell| cell.lineups.len() as u64 * self.deals).sum()
    }

    /// The block with this number in canonical order: by cell, then deal, then lineup.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn block(&self, number: u64) -> Block<'_> {
        let mut left = number;
        for (place, cell) in self.cells.iter().enumerate() {
            let lineups = cell.lineups.len() as u64;
            if left < lineups * self.deals {
                let lineup_place = (left % lineups) as usize;
                let lineup = &cell.lineups[lineup_place];
                return Block { number, place, cell, lineup_place, lineup, deal: left / lineups };
            }
            left -= lineups * self.deals;
        }
        panic!("block {number} of {}", self.block_count())
    }

    /// The blocks in canonical order.
    pub fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        (0..self.block_count()).map(|number| self.block(number))
    }

    /// How many blocks a line of the ledger covers: few enough that little is lost with slow agents, enough that the
    /// ledger stays short. Depends on the plan alone, so that the ledger does as well.
    fn blocks_a_line(&self) -> u64 {
        let wanted = (self.matches() / 256).clamp(16, 4096);
        let in_block = self.cells.iter().map(|cell| cell.seatings.len()).max().unwrap_or(1) as u64;
        (wanted / in_block).max(1)
    }

    /// How many lines a full ledger has.
    pub fn line_count(&self) -> u64 {
        self.block_count().div_ceil(self.blocks_a_line())
    }

    /// The blocks of a line of the ledger.
    pub fn line(&self, line: u64) -> Range<u64> {
        let each = self.blocks_a_line();
        line * each..((line + 1) * each).min(self.block_count())
    }

    /// Whether a lineup has an agent that sees hidden cards.
    pub fn is_analysis(&self, lineup: &Lineup) -> bool {
        lineup.agents.iter().any(|&agent| self.seers[agent])
    }

    /// Whether all agents of a lineup decide the same on every machine.
    pub fn is_reproducible(&self, lineup: &Lineup) -> bool {
        lineup.agents.iter().all(|&agent| self.reproducible[agent])
    }

    /// Whether a match of a lineup is the same whenever it is played: its agents keep to what they are told, and no other
    /// program has a part in it, which might not.
    pub(crate) fn is_repeatable(&self, lineup: &Lineup) -> bool {
        self.is_reproducible(lineup) && lineup.agents.iter().all(|&agent| self.agents[agent].is_self_contained())
    }

    /// The text of `spec.lock.json`: everything that the rows depend on, complete and in one canonical form.
    pub fn lock(&self) -> String {
        let cell = |cell: &Cell| {
            let lineups: Vec<&[usize]> = cell.lineups.iter().map(Lineup::agents).collect();
            json!({ "rules": cell.rules.spec().to_table(), "seats": cell.seats, "lineups": lineups })
        };
        let marks = |marks: &[bool]| -> Vec<usize> { (0..marks.len()).filter(|&agent| marks[agent]).collect() };
        let lock = json!({
            "format": LOCK,
            "version": env!("CARGO_PKG_VERSION"),
            "name": self.name,
            "seed": self.seed.to_string(),
            "deals": self.deals,
            "rotations": self.rotations,
            "unit": self.unit,
            "payoff": self.payoff,
            "faults": self.faults,
            "records": self.records,
            "compress": self.compress,
            "analysis": self.analysis,
            "seat_effects": self.seat_effects,
            "anchor": self.anchor,
            "agents": self.labels,
            "seers": marks(&self.seers),
            "reproducible": marks(&self.reproducible),
            "tables": self.cells.iter().map(cell).collect::<Vec<_>>(),
        });
        format!("{lock}\n")
    }

    /// The run id: BLAKE3 of the lock.
    pub fn run_id(&self) -> String {
        blake3::hash(self.lock().as_bytes()).to_hex().to_string()
    }

    /// Reads a plan back from its lock. It can be summed up; to be played on it needs [`Plan::with_agents`].
    ///
    /// # Errors
    /// If it is not a lock; the sentence says what is wrong with it.
    pub fn unlock(text: &str) -> Result<Plan, String> {
        let lock: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
        if lock["format"] != LOCK {
            return Err(format!("its format is {}; allowed is \"{LOCK}\"", lock["format"]));
        }
        let plan = read_lock(&lock).ok_or("a field is missing or has a value that is not allowed")?;
        if plan.lock() != text {
            return Err("it is not in canonical form, or is of another version".to_owned());
        }
        Ok(plan)
    }

    /// The plan with agents that play.
    ///
    /// # Errors
    /// If the roster does not know one of them.
    pub fn with_agents(mut self, roster: &Roster) -> Result<Plan, PlanError> {
        self.agents = self.labels.iter().map(|spec| roster.parse(spec)).collect::<Result<_, _>>()?;
        Ok(self)
    }
}

fn read_lock(lock: &Value) -> Option<Plan> {
    let list = |value: &Value| -> Option<Vec<usize>> {
        value.as_array()?.iter().map(|place| place.as_u64().map(|place| place as usize)).collect()
    };
    let labels: Vec<String> =
        lock["agents"].as_array()?.iter().map(|label| label.as_str().map(str::to_owned)).collect::<Option<_>>()?;
    let rotations: Rotations = serde_json::from_value(lock["rotations"].clone()).ok()?;
    let marks = |name: &str| -> Option<Vec<bool>> {
        let marked = list(&lock[name])?;
        Some((0..labels.len()).map(|agent| marked.contains(&agent)).collect())
    };
    let cell = |table: &Value| {
        let seats = table["seats"].as_u64()? as usize;
        let lineups = table["lineups"].as_array()?.iter().map(list).collect::<Option<Vec<_>>>()?;
        let fits = |lineup: &Vec<usize>| lineup.len() == seats && lineup.iter().all(|&agent| agent < labels.len());
        (2..=8).contains(&seats).then_some(())?;
        lineups.iter().all(fits).then_some(())?;
        Some(Cell {
            rules: RulesSpec::from_json(&table["rules"]).and_then(RulesSpec::validate).ok()?,
            seats,
            lineups: lineups.into_iter().map(|agents| Lineup::new(agents, &labels)).collect(),
            seatings: rotations.seatings(seats),
        })
    };
    Some(Plan {
        name: lock["name"].as_str()?.to_owned(),
        seed: lock["seed"].as_str()?.parse().ok()?,
        deals: lock["deals"].as_u64()?,
        rotations,
        unit: serde_json::from_value(lock["unit"].clone()).ok()?,
        payoff: serde_json::from_value(lock["payoff"].clone()).ok()?,
        faults: serde_json::from_value(lock["faults"].clone()).ok()?,
        records: lock["records"].as_bool()?,
        compress: lock["compress"].as_bool()?,
        analysis: lock["analysis"].as_bool()?,
        seat_effects: lock["seat_effects"].as_bool()?,
        anchor: lock["anchor"].as_u64().map(|agent| agent as usize),
        seers: marks("seers")?,
        reproducible: marks("reproducible")?,
        cells: lock["tables"].as_array()?.iter().map(cell).collect::<Option<_>>()?,
        labels,
        agents: Vec::new(),
    })
}

/// Where two locks differ: the fields' paths with both values, at most five.
pub(crate) fn lock_differences(one: &str, other: &str) -> Vec<String> {
    fn walk(path: &str, one: &Value, other: &Value, found: &mut Vec<String>) {
        if one == other || found.len() >= 5 {
            return;
        }
        match (one, other) {
            (Value::Object(one), Value::Object(other)) => {
                let join = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
                for key in one.keys().chain(other.keys().filter(|key| !one.contains_key(*key))) {
                    let missing = Value::Null;
                    let (one, other) = (one.get(key).unwrap_or(&missing), other.get(key).unwrap_or(&missing));
                    walk(&join(key), one, other, found);
                }
            }
            (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
                for (place, (one, other)) in one.iter().zip(other).enumerate() {
                    walk(&format!("{path}[{place}]"), one, other, found);
                }
            }
            _ => {
                let short = |value: &Value| {
                    let table = |table: &Value| format!("{}, {} seats", table["rules"]["name"], table["seats"]);
                    if let ("tables", Value::Array(tables)) = (path, value) {
                        return tables.iter().map(table).collect::<Vec<_>>().join("; ");
                    }
                    let text = value.to_string();
                    if text.chars().count() > 60 {
                        format!("{}…", text.chars().take(60).collect::<String>())
                    } else {
                        text
                    }
                };
                found.push(format!("`{path}` was {} and is now {}", short(one), short(other)));
            }
        }
    }
    let (Ok(one), Ok(other)) = (serde_json::from_str(one), serde_json::from_str(other)) else {
        return vec!["the lock cannot be read".to_owned()];
    };
    let mut found = Vec::new();
    walk("", &one, &other, &mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_agents_than_seats_repeat_as_evenly_as_possible() {
        assert_eq!(evenly(3, 2), [[0, 1], [0, 2], [1, 2]]);
        assert_eq!(evenly(3, 4), [[0, 0, 1, 2], [0, 1, 1, 2], [0, 1, 2, 2]]);
        assert_eq!(evenly(2, 4), [[0, 0, 1, 1]]);
        assert_eq!(evenly(1, 2), [[0, 0]]);
    }

    fn experiment(lineups: &str, seats: usize) -> Experiment {
        let text = format!(
            "seed = 1\ndeals = 10\nrules = ['original']\nseats = [{seats}]\n\
             agents = ['random', 'greedy', 'heuristic']\nlineups = {lineups}"
        );
        toml::from_str(&text).unwrap()
    }

    fn labels(lineups: &str, seats: usize) -> Vec<String> {
        let plan = experiment(lineups, seats).plan(&cambio_agents::roster(), Path::new(".")).unwrap();
        plan.cells[0].lineups.iter().map(|lineup| lineup.label().to_owned()).collect()
    }

    #[test]
    fn lineups_are_what_their_rule_says() {
        assert_eq!(labels("'compositions'", 2), ["random | greedy", "random | heuristic", "greedy | heuristic"]);
        assert_eq!(labels("'compositions'", 3).len(), 10 - 3);
        let field = "{ field = ['heuristic'] }";
        assert_eq!(labels(field, 3), ["random | heuristic | heuristic", "greedy | heuristic | heuristic"]);
        let own = "{ focal = ['greedy'], field = ['random', 'heuristic'] }";
        assert_eq!(labels(own, 3), ["greedy | random | heuristic"]);
        let pools = "{ pools = [['random', 'greedy'], ['heuristic', 'greedy']] }";
        let expected = ["random | heuristic", "random | greedy", "greedy | heuristic", "greedy | greedy"];
        assert_eq!(labels(pools, 2), expected);
        assert_eq!(labels("{ pools = [['random', 'greedy']] }", 2).len(), 3);
    }

    #[test]
    fn a_plan_is_read_back_from_its_lock_and_differences_are_named() {
        let roster = cambio_agents::roster();
        let mut experiment = experiment("'all'", 3);
        experiment.unit = Unit::Rounds;
        let plan = experiment.plan(&roster, Path::new(".")).unwrap();
        let lock = plan.lock();
        assert_eq!(Plan::unlock(&lock).unwrap().lock(), lock);
        assert!(lock.contains("\"match_end\":\"rounds(1)\""));
        experiment.deals = 11;
        experiment.rules = vec!["original-b".into()];
        let other = experiment.plan(&roster, Path::new(".")).unwrap();
        let found = lock_differences(&lock, &other.lock());
        assert!(found[0] == "`deals` was 10 and is now 11" && found[1].starts_with("`tables[0].rules.name` was "));
        assert!(Plan::unlock(&lock.replace("\"deals\":10", "\"deals\": 10")).is_err());
    }

    #[test]
    fn blocks_come_deal_by_deal_and_lines_cover_them_once() {
        let plan = experiment("'all'", 2).plan(&cambio_agents::roster(), Path::new(".")).unwrap();
        let keys: Vec<(u64, usize)> = plan.blocks().map(|block| (block.deal, block.lineup_place)).collect();
        assert_eq!(keys[..4], [(0, 0), (0, 1), (0, 2), (1, 0)]);
        let covered: Vec<u64> = (0..plan.line_count()).flat_map(|line| plan.line(line)).collect();
        assert_eq!(covered, (0..plan.block_count()).collect::<Vec<_>>());
    }
}
