//! Checks an experiment and makes its plan.

use std::collections::BTreeSet;
use std::path::Path;

use cambio_agents::{AgentSpec, Roster};
use cambio_core::rng::Seed;
use cambio_core::shown;

use super::blocks::{Cell, Plan, PlannedAgent};
use super::experiment::{Experiment, FaultPolicy, Lineups, Payoff, PlanError, Rotations, read_rules};
use super::lineups::Names;
use super::playable::PlayablePlan;
use super::seeds::Secret;

/// The most matches of a plan.
const MOST_MATCHES: u128 = 1 << 40;

/// The most agents of a plan: the values of a tuning, and a field.
const MOST_AGENTS: usize = 10_010;

/// The most bytes of a name.
const MOST_NAME: usize = 200;

/// The most seats at which all orders of a lineup can be played.
const MOST_ORDERED: usize = 6;

impl Experiment {
    /// Checks the experiment and writes it out as a plan. Relative paths of rule files start at `folder`.
    ///
    /// # Errors
    /// One sentence: what was found, where, and what is allowed.
    pub fn plan(&self, roster: &Roster, folder: &Path) -> Result<PlayablePlan, PlanError> {
        self.plan_under(self.secret.then(Secret::draw), roster, folder)
    }

    /// As [`Experiment::plan`], with the secret of a run that has begun, for an experiment with `secret = true`.
    ///
    /// # Errors
    /// As [`Experiment::plan`].
    pub fn plan_with(&self, secret: Secret, roster: &Roster, folder: &Path) -> Result<PlayablePlan, PlanError> {
        self.plan_under(Some(secret), roster, folder)
    }

    /// Checks what stands by itself: nothing empty, and nothing larger than can be planned.
    fn check_sizes(&self) -> Result<(), PlanError> {
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
        if self.agents.len() > MOST_AGENTS {
            let found = format!("a list of {}", self.agents.len());
            return Err(PlanError::value("agents", found, format!("at most {MOST_AGENTS}")));
        }
        if self.name.len() > MOST_NAME || self.name.contains(char::is_control) {
            let found = format!("\"{}\"", shown(&self.name));
            return Err(PlanError::value("name", found, format!("one line of at most {MOST_NAME} bytes")));
        }
        Ok(())
    }

    fn plan_under(&self, secret: Option<Secret>, roster: &Roster, folder: &Path) -> Result<PlayablePlan, PlanError> {
        let seed = match (&secret, self.seed, self.agent_seed) {
            (Some(secret), None, None) if self.secret => secret.commitment(),
            (None, Some(seed), _) => seed,
            (None, None, _) => {
                return Err(PlanError::value("seed", "missing", "a whole number, a text, or `secret = true` instead"));
            }
            (Some(_), _, _) => {
                let found = if self.secret { "true beside a seed" } else { "false, and a secret was given" };
                return Err(PlanError::value("secret", found, "true without `seed` and `agent_seed`"));
            }
        };
        self.check_sizes()?;
        if self.compress && !cfg!(feature = "zstd") {
            return Err(PlanError::value("compress", "true", "false in a program built without the feature `zstd`"));
        }
        let agents = self.agents.iter().map(|spec| roster.parse(spec)).collect::<Result<Vec<_>, _>>()?;
        let labels: Vec<String> = agents.iter().map(AgentSpec::to_string).collect();
        let mut others = BTreeSet::new();
        if let Some(next) = agents.iter().position(|agent| !others.insert(agent.full())) {
            return Err(PlanError::value("agents", format!("a list with `{}` twice", labels[next]), "each agent once"));
        }
        if let (false, Some(seer)) = (self.analysis, agents.iter().find(|agent| agent.sees_all())) {
            let found = format!("false, and `{seer}` sees hidden cards");
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
        let plan = Plan {
            name: self.name.clone(),
            seed,
            agent_seed: self.agent_seed.unwrap_or(Seed::AGENTS),
            secret: self.secret,
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
        Ok(PlayablePlan::new(plan, agents, secret, self.to_toml()))
    }
}
