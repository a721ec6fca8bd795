//! Validates an experiment and expands it to a plan.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cambio_agents::{AgentSpec, Roster};
use cambio_core::Rules;
use cambio_core::rng::Seed;
use cambio_core::text::excerpt;

use super::baseline::{self, Baseline};
use super::blocks::{Cell, Hypothesis, MOST_MATCHES, Plan, PlannedAgent, matches_in};
use super::experiment::{
    Experiment, FaultPolicy, HypothesisSpec, Lineups, LuckChoice, Payoff, PlanError, Rotations, read_rules,
};
use super::lineups::Names;
use super::playable::PlayablePlan;

/// The maximum number of agents of a plan: the candidates of a tuning, and a field.
const MOST_AGENTS: usize = 10_010;

/// The maximum length of a name in bytes.
const MOST_NAME: usize = 200;

/// The maximum number of seats for `rotations = "all"`.
const MOST_ORDERED: usize = 6;

impl Experiment {
    /// Checks that no required field is empty, and that lists and the name are not too long.
    fn check_sizes(&self) -> Result<(), PlanError> {
        if self.deals == 0 {
            return Err(PlanError::value("deals", "0", "at least 1"));
        }
        for (field, is_empty) in
            [("rules", self.rules.is_empty()), ("seats", self.seats.is_empty()), ("agents", self.agents.is_empty())]
        {
            if is_empty {
                return Err(PlanError::value(field, "an empty list", "a list with at least one entry"));
            }
        }
        if self.agents.len() > MOST_AGENTS {
            let found = format!("a list of {}", self.agents.len());
            return Err(PlanError::value("agents", found, format!("a list of at most {MOST_AGENTS}")));
        }
        if self.name.len() > MOST_NAME || self.name.contains(char::is_control) {
            let found = format!("\"{}\"", excerpt(&self.name));
            return Err(PlanError::value("name", found, format!("one line of at most {MOST_NAME} bytes")));
        }
        Ok(())
    }

    /// The baseline for the luck of the cards in a cell; `None` if it is not measured.
    fn baseline(&self, rules: &Rules, seats: usize, agents: &[AgentSpec]) -> Result<Option<Baseline>, PlanError> {
        let is_measured = match (self.luck, baseline::obstacle(rules, agents)) {
            (LuckChoice::On, Some(allowed)) => return Err(PlanError::value("luck", "`on`", allowed)),
            (LuckChoice::On, None) => true,
            (LuckChoice::Auto, obstacle) => obstacle.is_none() && !agents.iter().all(AgentSpec::is_fast),
            (LuckChoice::Off, _) => false,
        };
        Ok(is_measured.then(|| Baseline::shipped(rules, seats)))
    }

    /// Validates the experiment and expands it to a plan. Paths of rule files, bots and networks are relative to `folder`.
    ///
    /// # Errors
    /// If a field is invalid. The message contains the field, the expected value and the value that was found.
    pub fn plan(&self, roster: &Roster, folder: &Path) -> Result<PlayablePlan, PlanError> {
        let seed = self.seed.ok_or_else(|| PlanError::value("seed", "nothing", "a whole number or a text"))?;
        self.check_sizes()?;
        let roster = &roster.in_folder(&folder.join(&self.agents_folder));
        if self.compress {
            return Err(PlanError::value(
                "compress",
                "true",
                "false (compress the files of the run with another program)",
            ));
        }
        let agents = self.specs(roster)?;
        let labels: Vec<String> = agents.iter().map(AgentSpec::label).collect();
        let counted = match self.payoff {
            Payoff::RankPoints | Payoff::Win => None,
            Payoff::Points => Some("points"),
            Payoff::Margin => Some("margin"),
        };
        if let (FaultPolicy::Forfeit, Some(payoff)) = (self.faults, counted) {
            let allowed = "rank_points or win with faults = \"forfeit\", because a forfeited match has no points";
            return Err(PlanError::value("payoff", format!("\"{payoff}\""), allowed));
        }
        let names = Names { roster, agents: &agents, labels: &labels };
        let anchor = self.anchor.as_ref().map(|spec| names.index(spec, "anchor")).transpose()?;
        let mut cells: Vec<Cell> = Vec::new();
        for name in &self.rules {
            let rules = self.unit.of(read_rules(name, folder)?);
            for &seats in &self.seats {
                rules.covers(seats).map_err(|error| PlanError::Rules(name.clone(), error))?;
                if cells.iter().any(|cell| cell.is_of(rules.name(), seats)) {
                    let found = format!("`{}` at {seats} seats twice", rules.name());
                    let is_seats = self.seats.iter().filter(|&&other| other == seats).count() > 1;
                    let allowed = "a list without duplicates (rule files are compared by `name`)";
                    return Err(PlanError::value(if is_seats { "seats" } else { "rules" }, found, allowed));
                }
                if self.rotations == Rotations::All && seats > MOST_ORDERED {
                    let found = format!("\"all\" at {seats} seats");
                    let allowed = format!("cyclic, williams or one at more than {MOST_ORDERED} seats");
                    return Err(PlanError::value("rotations", found, allowed));
                }
                let lineups = names.lineups(&self.lineups, seats)?;
                let (focal, seatings) = (names.focal(&self.lineups)?, self.rotations.seatings(seats));
                let baseline = self.baseline(&rules, seats, &agents)?;
                cells.push(Cell { rules, seats, lineups, focal, seatings, baseline });
            }
        }
        if let Lineups::Listed(lists) = &self.lineups
            && let Some(list) = lists.iter().find(|list| !self.seats.contains(&list.len()))
        {
            let found = format!("a lineup of length {}", list.len());
            return Err(PlanError::value("lineups", found, "a list of lineups whose lengths are in `seats`"));
        }
        if let Some(cell) = cells.iter().find(|cell| cell.lineups.is_empty()) {
            let found = format!("none for {} seats", cell.seats);
            return Err(PlanError::value("lineups", found, "a list with a lineup for each number in `seats`"));
        }
        // All rows of a file have the same columns, so the luck is measured in all cells or in none.
        let measures_luck = cells.iter().all(|cell| cell.baseline.is_some());
        for cell in cells.iter_mut().filter(|_| !measures_luck) {
            cell.baseline = None;
        }
        let all = matches_in(&cells, self.deals);
        if all > MOST_MATCHES {
            let found = format!("{}, which makes {all} matches", self.deals);
            return Err(PlanError::value("deals", found, "small enough for at most 2^40 matches"));
        }
        let hypothesis = self.hypothesis.as_ref().map(|asked| self.hypothesis(asked, &names, &cells)).transpose()?;
        let plan = Plan {
            hypothesis,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            name: self.name.clone(),
            seed,
            agent_seed: self.agent_seed.unwrap_or(Seed::AGENTS),
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
            agents: agents.iter().map(PlannedAgent::from).collect(),
            cells,
        };
        Ok(PlayablePlan::new(plan, agents, self.to_toml()))
    }

    /// The hypothesis about agents and a table of the experiment.
    fn hypothesis(&self, asked: &HypothesisSpec, names: &Names<'_>, cells: &[Cell]) -> Result<Hypothesis, PlanError> {
        let &HypothesisSpec { margin, alpha, .. } = asked;
        let shown: Vec<String> = cells.iter().map(Cell::to_string).collect();
        let table = match &asked.table {
            Some(name) => shown.iter().position(|table| table == name),
            None => (cells.len() == 1).then_some(0),
        };
        let table = table.ok_or_else(|| {
            let found = asked.table.as_ref().map_or("nothing".to_owned(), |name| format!("`{name}`"));
            PlanError::value("hypothesis.table", found, format!("one of {}", shown.join("; ")))
        })?;
        let [one, other] = [&asked.pair[0], &asked.pair[1]].map(|agent| names.index(agent, "hypothesis.pair"));
        let pair = [one?, other?];
        if pair[0] == pair[1] || pair.iter().any(|&agent| cells[table].lineups_of(agent).next().is_none()) {
            let found = format!("`{}`, `{}`", asked.pair[0], asked.pair[1]);
            return Err(PlanError::value(
                "hypothesis.pair",
                found,
                format!("two agents that play at {}", shown[table]),
            ));
        }
        if !(margin >= 0.0 && margin.is_finite()) {
            return Err(PlanError::value("hypothesis.margin", margin.to_string(), "a number, 0 or more"));
        }
        if !(alpha > 0.0 && alpha < 0.5) {
            return Err(PlanError::value("hypothesis.alpha", alpha.to_string(), "a number above 0 and below 0.5"));
        }
        let deals = asked.deals.unwrap_or(self.deals);
        if !(1..=self.deals).contains(&deals) {
            let allowed = format!("a whole number from 1 to the number of deals of the experiment, {}", self.deals);
            return Err(PlanError::value("hypothesis.deals", deals.to_string(), allowed));
        }
        Ok(Hypothesis { pair, table, margin, alpha, deals })
    }

    /// The agents, which are distinct, have distinct names, and may take part in the experiment.
    fn specs(&self, roster: &Roster) -> Result<Vec<AgentSpec>, PlanError> {
        let agents = self.agents.iter().map(|spec| roster.parse(spec)).collect::<Result<Vec<_>, _>>()?;
        let mut others = BTreeMap::new();
        if let Some((next, first)) =
            agents.iter().find_map(|agent| others.insert(agent.full(), agent).map(|first| (agent, first)))
        {
            let (one, other) = (first.to_string(), next.to_string());
            let found = if one == other { format!("`{one}` twice") } else { format!("`{one}` and `{other}`") };
            let allowed = "a list without duplicates (specs with the same values are the same agent)";
            return Err(PlanError::value("agents", found, allowed));
        }
        let mut names: BTreeSet<&str> = roster.entries().iter().map(|entry| entry.name.as_str()).collect();
        if let Some(name) = agents.iter().filter_map(AgentSpec::name).find(|name| !names.insert(name)) {
            let allowed = "a list in which each name is used once and is not the name of an agent in `cambio agents`";
            return Err(PlanError::value("agents", format!("the name `{name}` for another agent"), allowed));
        }
        if let (false, Some(seer)) = (self.analysis, agents.iter().find(|agent| agent.sees_all())) {
            let allowed = format!("true in an experiment file with `{seer}`, which sees hidden cards");
            return Err(PlanError::value("analysis", "false", allowed));
        }
        Ok(agents)
    }
}
