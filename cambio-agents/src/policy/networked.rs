//! A network as a policy, and the learned player, which plays with it.

use cambio_core::play::{ConsideredAction, Explanation};
use cambio_core::rng::Stream;
use cambio_core::rules::MAX_SEATS;
use cambio_core::view::CardHistory;
use cambio_core::{Action, Agent, AgentError, Briefing, Notice, Observation, Rules, Seat, Standing, View};

use super::Policy;
use crate::learned::{MatchStanding, Network, NetworkEvaluation, win_share};
use crate::params;

/// A network as a policy: it decides as [`Learned`] does.
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
    pub(crate) fn at_temperature(self, temperature: f64) -> NetworkPolicy {
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

    fn has_values(&self) -> bool {
        true
    }

    #[inline]
    fn value(&mut self, view: &impl View, past: &CardHistory) -> f64 {
        self.evaluate(view, past);
        let best = self.evaluation.logits().nth(self.evaluation.best()).expect("the seat to act has a choice");
        win_share(best)
    }
}

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
    policy: NetworkPolicy,
    params: LearnedParams,
    /// The history of the round and the stream; `None` before the first match.
    seated: Option<(CardHistory, Stream)>,
}

impl Learned {
    /// A player with this network.
    pub fn new(network: Network) -> Learned {
        Learned { policy: NetworkPolicy::new(network), ..Learned::shipped() }
    }

    /// A player with the bundled network: see [`Network::shipped`].
    pub fn shipped() -> Learned {
        Learned { policy: NetworkPolicy::shipped(), params: LearnedParams::default(), seated: None }
    }

    /// The same player with these parameters.
    #[must_use]
    pub(crate) fn with_params(self, params: &LearnedParams) -> Learned {
        Learned { params: *params, ..self }
    }
}

impl Agent for Learned {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        self.seated = None;
        let past = self.policy.begin(briefing.rules, briefing.seats)?;
        self.seated = Some((past, briefing.stream.clone()));
        Ok(())
    }

    fn notice(&mut self, notice: Notice<'_>) {
        match (notice, &mut self.seated) {
            (Notice::Event(sighting), Some((past, _))) => past.notice(sighting),
            (Notice::RoundBegins(standing), Some(_)) => self.policy.round_begins(standing),
            _ => {}
        }
    }

    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        let (past, stream) = self.seated.as_mut().expect("a match begins with a briefing");
        self.policy.evaluate(view, past);
        let (network, evaluation) = (self.policy.network(), self.policy.evaluation());
        Ok(match self.params.temperature(network) {
            None => evaluation.choose(network.inputs(), view),
            Some(temperature) => evaluation.draw(network.inputs(), view, temperature, stream),
        })
    }

    fn probabilities(&mut self, view: &Observation<'_>) -> Result<Option<Vec<f64>>, AgentError> {
        let (past, _) = self.seated.as_ref().expect("a match begins with a briefing");
        self.policy.evaluate(view, past);
        let (network, evaluation) = (self.policy.network(), self.policy.evaluation());
        if let Some(temperature) = self.params.temperature(network) {
            return Ok(Some(evaluation.probabilities(network.inputs(), view, temperature)));
        }
        let decided = evaluation.choose(network.inputs(), view);
        Ok(Some(view.choices().iter().map(|choice| f64::from(u8::from(choice == decided))).collect()))
    }

    fn explain(&self, view: &Observation<'_>, decided: Action) -> Option<Explanation> {
        self.seated.as_ref()?;
        let (inputs, evaluation) = (self.policy.network().inputs(), self.policy.evaluation());
        let taken = evaluation.index_of(inputs, view, decided);
        let considered = evaluation.logits().enumerate().map(|(index, logit)| ConsideredAction {
            action: if taken == Some(index) { decided } else { evaluation.choice_of(inputs, view, index) },
            value: win_share(logit),
            error: None,
            visits: None,
        });
        Some(Explanation { unit: "estimated chance to win", considered: considered.collect() })
    }
}
