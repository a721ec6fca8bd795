//! A bot of one's own in the full command line: `cargo run --release --example lucky -- agents --check lucky`.

use cambio_core::{Action, Agent, AgentError, Observation, Phase};

/// Swaps every drawn card for an unknown one of its own, snaps what it knows to match, calls after six turns.
struct Lucky;

impl Agent for Lucky {
    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        let choices = view.choices();
        let own = view.table().layout(view.seat());
        let wish = match view.table().phase() {
            Phase::Start | Phase::Close if view.table().turns() > 6 => Some(Action::Call),
            Phase::Start => Some(Action::Draw),
            Phase::Held(_) => own.without(view.known()).first_from(view.seat()).map(Action::Keep),
            Phase::Window | Phase::Chain => {
                view.known_matches().intersection(own).first_from(view.seat()).map(Action::Snap)
            }
            _ => None,
        };
        let fallback = [Action::Pass, Action::End, Action::Drop, Action::Skip];
        let legal = wish.into_iter().chain(fallback).find(|&action| choices.contains(action));
        legal.or_else(|| choices.nth(0)).ok_or_else(|| "there is no legal decision".into())
    }
}

fn main() -> std::process::ExitCode {
    cambio_cli::main(cambio_agents::roster().with("lucky", "Trusts in unknown cards.", || Lucky))
}
