//! A network as a policy.

use cambio_core::rules::MAX_SEATS;
use cambio_core::view::CardHistory;
use cambio_core::{Action, Rules, Seat, Standing, View};

use super::Policy;
use crate::learned::{MatchStanding, Network, NetworkEvaluation};

/// A network as a policy: it decides as [`Learned`](crate::Learned) does.
///
/// The likelihood of a decision follows from the network's outputs: each candidate has a probability proportional to
/// exp(logit / temperature), a quantal response (`McKelvey` and Palfrey 1998). For a network that is itself a policy
/// ([`Network::into_policy`]) the temperature is 1.
#[derive(Clone, Debug)]
pub struct NetworkPolicy {
    /// The network that the caller gave; `None` for the bundled network.
    own: Option<Network>,
    temperature: f64,
    playing: Option<NetworkState>,
    evaluation: NetworkEvaluation,
}

/// The state during a match.
#[derive(Clone, Debug)]
struct NetworkState {
    network: Network,
    standings: [MatchStanding; MAX_SEATS],
}

impl NetworkPolicy {
    /// The default temperature of [`Policy::likelihood`].
    pub const TEMPERATURE: f64 = 0.05;

    /// The policy of this network.
    pub fn new(network: Network) -> NetworkPolicy {
        NetworkPolicy { own: Some(network), ..NetworkPolicy::shipped() }
    }

    /// The policy of the bundled network: see [`Network::shipped`].
    pub fn shipped() -> NetworkPolicy {
        NetworkPolicy {
            own: None,
            temperature: NetworkPolicy::TEMPERATURE,
            playing: None,
            evaluation: NetworkEvaluation::default(),
        }
    }

    /// The same policy, with this temperature in [`Policy::likelihood`].
    #[must_use]
    pub fn at_temperature(self, temperature: f64) -> NetworkPolicy {
        NetworkPolicy { temperature, ..self }
    }

    /// The network of the current match.
    ///
    /// # Panics
    /// If no match has begun.
    pub fn network(&self) -> &Network {
        &self.playing.as_ref().expect("a match has begun").network
    }

    /// The evaluation of the last decision.
    pub fn evaluation(&self) -> &NetworkEvaluation {
        &self.evaluation
    }

    /// Evaluates the decision of the seat to act.
    ///
    /// # Panics
    /// If no match has begun.
    #[inline]
    pub fn evaluate(&mut self, view: &impl View, past: &CardHistory) {
        let NetworkState { network, standings } = self.playing.as_ref().expect("a match has begun");
        network.evaluate(view, past, &standings[view.seat().index()], &mut self.evaluation);
    }
}

impl Policy for NetworkPolicy {
    type History = CardHistory;

    fn begin(&mut self, rules: &Rules, seats: usize) -> Result<CardHistory, String> {
        let network = Network::for_match(self.own.as_ref(), rules, seats)?;
        let standings = [network.inputs().standing(&[], Seat::A); MAX_SEATS];
        self.playing = Some(NetworkState { network, standings });
        Ok(CardHistory::new(rules, seats))
    }

    fn round_begins(&mut self, standing: &Standing<'_>) {
        let Some(NetworkState { network, standings }) = &mut self.playing else { return };
        for (own, seat) in standings[..standing.totals.len()].iter_mut().zip(Seat::ALL) {
            *own = network.inputs().standing(standing.totals, seat);
        }
    }

    #[inline]
    fn decide(&mut self, view: &impl View, past: &CardHistory) -> Action {
        self.evaluate(view, past);
        self.evaluation.choose(self.network().inputs(), view)
    }

    fn likelihood(&mut self, view: &impl View, past: &CardHistory, action: Action, epsilon: f64) -> f64 {
        self.evaluate(view, past);
        let evaluation = &self.evaluation;
        let number = evaluation.actions().len() as f64;
        let Some(index) = evaluation.index_of(self.network().inputs(), view, action) else {
            return epsilon / (number + 1.0);
        };
        let best = evaluation.logits().fold(f64::NEG_INFINITY, f64::max);
        let temperature = if self.network().is_policy() { 1.0 } else { self.temperature };
        let weight = |logit: f64| libm::exp((logit - best) / temperature);
        let all: f64 = evaluation.logits().map(weight).sum();
        let own = evaluation.logits().nth(index).map_or(0.0, weight);
        (1.0 - epsilon) * own / all + epsilon / number
    }

    fn gambles(&self) -> bool {
        // After a call, the candidates include snaps of unknown cards.
        true
    }

    fn has_values(&self) -> bool {
        true
    }

    #[inline]
    fn value(&mut self, view: &impl View, past: &CardHistory) -> f64 {
        self.evaluate(view, past);
        let best = self.evaluation.logits().nth(self.evaluation.best()).expect("the seat to act has a choice");
        1.0 / (1.0 + libm::exp(-best))
    }
}
