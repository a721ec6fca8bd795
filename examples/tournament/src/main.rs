//! A tournament of an own agent with one parameter, without the command: a run folder with CSV files, and a table.

use std::path::Path;

use cambio_agents::{RosterEntry, params, roster};
use cambio_core::{Action, Agent, AgentError, Observation};
use cambio_sim::{Executor, Experiment, RunFolder, Runner};

params! {
    /// The parameters of [`Mine`].
    pub struct MineParams {
        /// The number of turns after which the agent calls.
        turns: u32 = 6 in 0..=100,
    }
}

/// Draws, drops and never snaps.
struct Mine(MineParams);

impl Agent for Mine {
    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        let call = (view.table().turns() > self.0.turns as usize).then_some(Action::Call);
        let wishes = call.into_iter().chain([Action::Draw, Action::Drop, Action::Pass, Action::End, Action::Skip]);
        let mut legal = wishes.filter(|&action| view.allows(action));
        legal.next().or(view.choices().nth(0)).ok_or_else(|| "there is no legal decision".into())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mine = RosterEntry::new("mine", "Calls after some turns.", |params: &MineParams| Mine(*params));
    let agents = ["mine", "mine(turns=20)", "greedy"];
    let experiment = Experiment { seed: Some(42.into()), deals: 100, ..Experiment::at("classic", 2, &agents) };
    let plan = experiment.plan(&roster().with_entry(mine), Path::new("."))?;
    let mut folder = RunFolder::create(Path::new("run"), &plan)?;
    let report = Runner::new(&Executor::new(2)?).run(&plan, &mut folder)?;
    report.outcome?;
    for row in &report.derived.summary {
        println!("{:<14} {:.3}", row.agent, row.rank_points.mean);
    }
    Ok(())
}
