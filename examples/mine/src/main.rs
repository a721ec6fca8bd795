//! A bot in 30 lines: snaps known matches, keeps low cards, and calls at a low expected sum.

use std::process::ExitCode;

use cambio_core::{Action, Agent, AgentError, Observation, Phase};

struct Mine;

impl Agent for Mine {
    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        let (choices, own) = (view.choices(), view.table().layout(view.seat()));
        let points = |spot| view.face(spot).map_or(6, |card| view.rules().points(card));
        let preferred = match view.table().phase() {
            Phase::Start | Phase::Close if own.iter_from(view.seat()).map(points).sum::<i32>() <= 8 => {
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
    cambio_cli::main(cambio_agents::roster().with("mine", "A bot of my own.", || Mine))
}

#[cfg(test)]
mod tests {
    use cambio_core::testing::{CheckScope, check_agent};

    #[test]
    fn mine_conforms() {
        check_agent(|| super::Mine, &CheckScope { matches: 1, ..CheckScope::default() }).unwrap();
    }
}
