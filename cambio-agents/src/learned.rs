//! The learned player: a network evaluates the result of each decision.

mod candidates;
mod card;
mod evaluation;
mod features;
mod file;
mod network;
mod position;
mod shipped;
mod vectors;

use cambio_core::play::{ConsideredAction, Explanation};
use cambio_core::rng::Stream;
use cambio_core::view::CardHistory;
use cambio_core::{Action, Agent, AgentError, Briefing, Notice, Observation, Seat};

use crate::params;
pub use evaluation::{MatchStanding, Network, NetworkEvaluation, NetworkInputs};
pub use features::InputGroup;
pub(crate) use file::{NETWORK, open, seal};
pub use file::{NetworkError, NetworkMetadata, read_network};
pub use network::FloatNetwork;
pub(crate) use shipped::Shipped;
pub use shipped::{missing_networks, provide_network};

params! {
    /// The parameters of [`Learned`].
    pub struct LearnedParams {
        /// The strength. Levels below 10 sample decisions at a temperature, so that some are not the best.
        level: u32 = 10 in 1..=10,
        /// Samples each decision with a probability proportional to exp(l / temperature), where l is the logit of its
        /// estimated win share, instead of taking the best one; default: the temperature of the level, or 1 for a
        /// policy.
        temperature: Option<f64> in 0.001..=10.0,
    }
}

/// The temperatures of the levels below 10.
const LEVELS: [f64; 9] = [1.5, 0.9, 0.65, 0.5, 0.38, 0.28, 0.2, 0.13, 0.07];

impl LearnedParams {
    /// The temperature for sampling; `None` if the player takes the best decision.
    fn temperature(&self, network: &Network) -> Option<f64> {
        let level = || LEVELS.get(self.level as usize - 1).copied();
        self.temperature.or_else(level).or(network.is_policy().then_some(1.0))
    }
}

/// A player that takes the decision whose result its network values most.
///
/// The network evaluates one candidate for each class of decisions that it cannot distinguish. Ties between candidates
/// and within a class are broken by a hash of the pile, as in the heuristics, so no seat and no slot is preferred.
#[derive(Clone, Debug)]
pub struct Learned {
    /// The network that the caller gave; `None` for the bundled network.
    own: Option<Network>,
    params: LearnedParams,
    /// The state during a match; `None` before the first match.
    seated: Option<LearnedState>,
    evaluation: NetworkEvaluation,
}

/// The state during a match.
#[derive(Clone, Debug)]
struct LearnedState {
    network: Network,
    seat: Seat,
    history: CardHistory,
    standing: MatchStanding,
    stream: Stream,
}

impl Learned {
    /// A player with this network.
    pub fn new(network: Network) -> Learned {
        Learned { own: Some(network), ..Learned::shipped() }
    }

    /// A player with the bundled network: see [`Network::shipped`].
    pub fn shipped() -> Learned {
        Learned { own: None, params: LearnedParams::default(), seated: None, evaluation: NetworkEvaluation::default() }
    }

    /// The same player with these parameters.
    #[must_use]
    pub fn with_params(self, params: &LearnedParams) -> Learned {
        Learned { params: *params, ..self }
    }

    /// The evaluation of the last decision.
    pub fn evaluation(&self) -> &NetworkEvaluation {
        &self.evaluation
    }
}

impl Agent for Learned {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        self.seated = None;
        let network = Network::for_match(self.own.as_ref(), briefing.rules, briefing.seats)?;
        self.seated = Some(LearnedState {
            seat: briefing.seat,
            history: CardHistory::new(briefing.rules, briefing.seats),
            standing: network.inputs().standing(&[], briefing.seat),
            stream: briefing.stream.clone(),
            network,
        });
        Ok(())
    }

    fn notice(&mut self, notice: Notice<'_>) {
        let Some(seated) = &mut self.seated else { return };
        match notice {
            Notice::Event(sighting) => seated.history.notice(sighting),
            Notice::RoundBegins(standing) => {
                seated.standing = seated.network.inputs().standing(standing.totals, seated.seat);
            }
            _ => {}
        }
    }

    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        let seated = self.seated.as_mut().expect("a match begins with a briefing");
        let LearnedState { network, history, standing, stream, .. } = seated;
        network.evaluate(view, history, standing, &mut self.evaluation);
        Ok(match self.params.temperature(network) {
            None => self.evaluation.choose(network.inputs(), view),
            Some(temperature) => self.evaluation.draw(network.inputs(), view, temperature, stream),
        })
    }

    fn probabilities(&mut self, view: &Observation<'_>) -> Result<Option<Vec<f64>>, AgentError> {
        let seated = self.seated.as_ref().expect("a match begins with a briefing");
        let LearnedState { network, history, standing, .. } = seated;
        network.evaluate(view, history, standing, &mut self.evaluation);
        let inputs = network.inputs();
        if let Some(temperature) = self.params.temperature(network) {
            return Ok(Some(self.evaluation.probabilities(inputs, view, temperature)));
        }
        let decided = self.evaluation.choose(inputs, view);
        Ok(Some(view.choices().iter().map(|choice| f64::from(u8::from(choice == decided))).collect()))
    }

    fn explain(&self, view: &Observation<'_>, decided: Action) -> Option<Explanation> {
        let inputs = self.seated.as_ref()?.network.inputs();
        let taken = self.evaluation.index_of(inputs, view, decided);
        let considered = self.evaluation.logits().enumerate().map(|(index, logit)| ConsideredAction {
            action: if taken == Some(index) { decided } else { self.evaluation.choice_of(inputs, view, index) },
            value: 1.0 / (1.0 + libm::exp(-logit)),
            error: None,
            visits: None,
        });
        Some(Explanation { unit: "estimated chance to win", considered: considered.collect() })
    }
}
