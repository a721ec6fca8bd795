//! The full command line with an additional bot: `cargo run --release --example lucky -- agents --check lucky`.

use cambio_core::{Action, Agent, AgentError, Observation, Phase};

/// Keeps each drawn card in place of one of its own unknown cards, snaps known matches, and calls after six turns.
struct Lucky;

impl Agent for Lucky {
    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        let choices = view.choices();
        let own = view.table().layout(view.seat());
        let preferred = match view.table().phase() {
            Phase::Start | Phase::Close if view.table().turns() > 6 => Some(Action::Call),
            Phase::Start => Some(Action::Draw),
            Phase::Held(_) => own.without(view.known()).first_from(view.seat()).map(Action::Keep),
            Phase::Window | Phase::Chain => {
                view.known_matches().intersection(own).first_from(view.seat()).map(Action::Snap)
            }
            _ => None,
        };
        let fallback = [Action::Pass, Action::End, Action::Drop, Action::Skip];
        let legal = preferred.into_iter().chain(fallback).find(|&action| choices.contains(action));
        legal.or_else(|| choices.nth(0)).ok_or_else(|| "there is no legal decision".into())
    }
}

fn main() -> std::process::ExitCode {
    cambio_cli::main(cambio_agents::roster().with("lucky", "Trusts unknown cards.", || Lucky))
}
