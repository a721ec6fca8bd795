//! A bot in 40 lines, with one parameter: snaps known matches, keeps low cards, and calls at a low expected sum.

use std::process::ExitCode;

use cambio_agents::{RosterEntry, params};
use cambio_core::{Action, Agent, AgentError, Observation, Phase};

params! {
    /// The parameters of [`Mine`].
    pub struct MineParams {
        /// Calls if it expects at most this sum of its cards.
        call_at: i32 = 8 in -20..=100,
    }
}

struct Mine(MineParams);

impl Agent for Mine {
    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        let (choices, own) = (view.choices(), view.table().layout(view.seat()));
        let points = |spot| view.face(spot).map_or(6, |card| view.rules().points(card));
        let preferred = match view.table().phase() {
            Phase::Start | Phase::Close if own.iter_from(view.seat()).map(points).sum::<i32>() <= self.0.call_at => {
                Some(Action::Call)
            }
            Phase::Window => view.known_matches().intersection(own).first_from(view.seat()).map(Action::Snap),
            Phase::Held(_) => {
                let worst = own.iter_from(view.seat()).max_by_key(|&spot| points(spot));
                let held = view.held().map_or(0, |card| view.rules().points(card));
                worst.filter(|&spot| points(spot) > held).map(Action::Keep)
            }
            _ => None,
        };
        let idle = [Action::Draw, Action::Drop, Action::Pass, Action::End, Action::Skip];
        let mut legal = preferred.into_iter().chain(idle).filter(|&action| choices.contains(action));
        legal.next().or(choices.nth(0)).ok_or_else(|| "there is no legal decision".into())
    }
}

fn main() -> ExitCode {
    let mine = RosterEntry::new("mine", "My own bot.", |params: &MineParams| Mine(*params));
    cambio_cli::main(cambio_agents::roster().with_entry(mine))
}

#[cfg(test)]
mod tests {
    use cambio_core::testing::{CheckScope, check_agent};

    use super::{Mine, MineParams};

    #[test]
    fn mine_conforms() {
        check_agent(|| Mine(MineParams::default()), &CheckScope { matches: 1, ..CheckScope::default() }).unwrap();
    }
}
