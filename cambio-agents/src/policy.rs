//! Policies: ways to play that searches use for playouts and beliefs, and that can play as agents.

use std::fmt;

use cambio_core::engine::{Chance, Sink};
use cambio_core::play::{ConsideredAction, Explanation};
use cambio_core::rng::Stream;
use cambio_core::rules::MAX_SEATS;
use cambio_core::view::CardHistory;
use cambio_core::{
    Action, Agent, AgentError, Briefing, Card, Event, Notice, Observation, Rules, Seat, Standing, State, View,
};

use crate::call_rule::CallRule;
use crate::heuristic::{HeuristicParams, blueprint};
use crate::learned::{MatchStanding, Network, NetworkEvaluation, win_share};
use crate::params;

/// The maximum number of styles in which another seat may play.
pub(crate) const STYLES: usize = 3;

/// A way to play: it gives the decision of a seat from the information that the seat may have.
///
/// Unlike an [`Agent`](cambio_core::Agent), a policy does not belong to a seat. It can decide for any seat of any real
/// or sampled table, from the seat's view ([`View`]) and the public history of the round ([`Policy::History`]). One policy
/// can play out worlds ([`Rollout::over`](crate::Rollout::over), [`Ismcts::over`](crate::Ismcts::over)), give the
/// likelihood of a decision ([`Inference`](crate::Inference)), and play as an agent ([`PolicyAgent`]).
///
/// A decision depends on the view and the public history alone: the same arguments give the same decision.
///
/// ```
/// use cambio_agents::{Policy, PolicyAgent, Rollout, RolloutParams};
/// use cambio_core::{Action, Agent, MatchSetup, Rules, View, play_match, rng::Key};
///
/// /// Calls as soon as it may, otherwise takes the first legal decision.
/// #[derive(Clone, Debug)]
/// struct Hasty;
///
/// impl Policy for Hasty {
///     type History = ();
///
///     fn begin(&mut self, _: &Rules, _: usize) -> Result<(), String> {
///         Ok(())
///     }
///
///     fn decide(&mut self, view: &impl View, (): &()) -> Action {
///         let choices = view.choices();
///         let call = choices.contains(Action::Call).then_some(Action::Call);
///         call.or(choices.nth(0)).expect("the seat to act has a choice")
///     }
/// }
///
/// // `Hasty` plays against a search that assumes that the other seats play like `Hasty`.
/// let search = Rollout::over(Hasty, &RolloutParams { n: 30, ..RolloutParams::default() });
/// let mut agents: [Box<dyn Agent>; 2] = [Box::new(PolicyAgent::new(Hasty)), Box::new(search)];
/// let match_setup = MatchSetup { rules: Rules::preset("classic").unwrap(), seats: 2, key: Key::new(1, 0) };
/// assert!(play_match(&match_setup, &mut agents, &mut ()).is_ok());
/// ```
pub trait Policy: Clone + fmt::Debug + Send {
    /// The part of a round's public history that the policy needs: for example `()` or [`CardHistory`].
    type History: PublicHistory;

    /// Begins a match at a table of `seats` seats. Returns the public history before the first round.
    ///
    /// # Errors
    /// If the policy cannot play at this table. The error is a clause with the reason.
    fn begin(&mut self, rules: &Rules, seats: usize) -> Result<Self::History, String>;

    /// Begins a round, with the standing of the match.
    fn round_begins(&mut self, _: &Standing<'_>) {}

    /// The decision of the seat to act. It must be legal.
    fn decide(&mut self, view: &impl View, past: &Self::History) -> Action;

    /// The probability of this decision. By default, the policy's own decision has probability 1 − ε, and the other
    /// decisions share ε equally.
    fn likelihood(&mut self, view: &impl View, past: &Self::History, action: Action, epsilon: f64) -> f64 {
        if self.decide(view, past) == action {
            return 1.0 - epsilon;
        }
        epsilon / (view.choices().len().max(2) - 1) as f64
    }

    /// The prior probabilities of the styles in which another seat may play. The first is the style of the policy itself; by default
    /// it is the only one.
    fn styles(&self) -> [f64; STYLES] {
        [1.0, 0.0, 0.0]
    }

    /// [`Policy::likelihood`] for a seat of each style.
    fn likelihoods(&mut self, view: &impl View, past: &Self::History, action: Action, epsilon: f64) -> [f64; STYLES] {
        [self.likelihood(view, past, action, epsilon), 0.0, 0.0]
    }

    /// Whether the policy may snap unknown cards. If not, playouts ask only seats that know a matching card in a snap
    /// window: the play is the same with half the decisions.
    fn gambles(&self) -> bool {
        true
    }

    /// Plays a world to the end of its round, with this policy in every seat.
    #[inline]
    fn play_out(&mut self, world: &mut State, past: &mut Self::History, chance: &mut impl Chance) {
        while let Some(actor) = world.actor() {
            let action = self.decide(&world.view(actor), past);
            world.carry_out(action, chance, &mut HistorySink(past));
        }
    }
}

/// The part of a round's public history that a policy needs. It is the same for every seat.
pub trait PublicHistory: Clone + fmt::Debug + Send {
    /// Adds an event. It must not use a face that only one seat sees.
    fn notice<Face: Copy>(&mut self, event: &Event<Face>);
}

/// The public history of a policy that needs none.
impl PublicHistory for () {
    #[inline]
    fn notice<Face: Copy>(&mut self, _: &Event<Face>) {}
}

impl PublicHistory for CardHistory {
    #[inline]
    fn notice<Face: Copy>(&mut self, event: &Event<Face>) {
        CardHistory::notice(self, event);
    }
}

/// Adds the events of a world to a public history.
pub(crate) struct HistorySink<'a, P>(pub(crate) &'a mut P);

impl<P: PublicHistory> Sink for HistorySink<'_, P> {
    #[inline]
    fn event(&mut self, event: &Event<Card>) {
        self.0.notice(event);
    }
}

/// An [`Agent`] that decides by a policy.
///
/// ```
/// use cambio_agents::{HeuristicParams, PolicyAgent, roster};
///
/// // Adds a policy to a roster, so that specs can name it.
/// let roster = roster().with("mine", "The heuristic, with perfect memory.", || PolicyAgent::new(HeuristicParams::default()));
/// assert!(roster.parse("mine").is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct PolicyAgent<P: Policy> {
    policy: P,
    /// The public history of the round; `None` before the first match.
    past: Option<P::History>,
}

impl<P: Policy> PolicyAgent<P> {
    /// An agent that decides by this policy.
    pub fn new(policy: P) -> PolicyAgent<P> {
        PolicyAgent { policy, past: None }
    }
}

impl<P: Policy> Agent for PolicyAgent<P> {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        self.past = None;
        self.past = Some(self.policy.begin(briefing.rules, briefing.seats)?);
        Ok(())
    }

    fn notice(&mut self, notice: Notice<'_>) {
        match (notice, &mut self.past) {
            (Notice::Event(sighting), Some(past)) => past.notice(sighting),
            (Notice::RoundBegins(standing), _) => self.policy.round_begins(standing),
            _ => {}
        }
    }

    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        let past = self.past.as_ref().expect("a match begins with a briefing");
        Ok(self.policy.decide(view, past))
    }

    fn draws(&self) -> bool {
        false
    }
}

/// The heuristic with perfect memory. Its decisions depend on the view alone.
impl Policy for HeuristicParams {
    type History = ();

    fn begin(&mut self, _: &Rules, _: usize) -> Result<(), String> {
        Ok(())
    }

    #[inline]
    fn decide(&mut self, view: &impl View, (): &()) -> Action {
        blueprint(self, view)
    }

    fn gambles(&self) -> bool {
        self.gamble > 0.0
    }
}

/// A search's blueprint: a heuristic or a network.
///
/// ```
/// use cambio_agents::{Blueprint, PolicyAgent, Preset, roster};
/// use cambio_core::{Agent, MatchSetup, Rules, play_match, rng::Key};
///
/// let sharp = Blueprint::Heuristic(Preset::Sharp.params());
/// let mut agents: [Box<dyn Agent>; 2] = [Box::new(PolicyAgent::new(sharp)), roster().parse("learned").unwrap().make()];
/// let match_setup = MatchSetup { rules: Rules::preset("classic").unwrap(), seats: 2, key: Key::new(1, 0) };
/// assert!(play_match(&match_setup, &mut agents, &mut ()).is_ok());
/// ```
#[derive(Clone, Debug)]
pub enum Blueprint {
    /// A heuristic.
    Heuristic(HeuristicParams),
    /// A network.
    Network(Box<NetworkPolicy>),
}

/// The public history that a [`Blueprint`] needs: the card history for a network, nothing for a heuristic.
///
/// The card history is boxed, so that a heuristic's history, which is empty, is cheap to copy: searches copy it for each world.
#[derive(Clone, Debug)]
pub struct BlueprintHistory(Option<Box<CardHistory>>);

impl PublicHistory for BlueprintHistory {
    #[expect(clippy::inline_always, reason = "without a history, events need not be made")]
    #[inline(always)]
    fn notice<Face: Copy>(&mut self, event: &Event<Face>) {
        if let Some(history) = &mut self.0 {
            history.notice(event);
        }
    }
}

impl BlueprintHistory {
    fn history(&self) -> &CardHistory {
        self.0.as_ref().expect("a network keeps the history")
    }
}

impl Policy for Blueprint {
    type History = BlueprintHistory;

    fn begin(&mut self, rules: &Rules, seats: usize) -> Result<BlueprintHistory, String> {
        Ok(BlueprintHistory(match self {
            Blueprint::Heuristic(_) => None,
            Blueprint::Network(network) => Some(Box::new(network.begin(rules, seats)?)),
        }))
    }

    fn round_begins(&mut self, standing: &Standing<'_>) {
        if let Blueprint::Network(network) = self {
            network.round_begins(standing);
        }
    }

    #[inline]
    fn decide(&mut self, view: &impl View, past: &BlueprintHistory) -> Action {
        match self {
            Blueprint::Heuristic(params) => blueprint(params, view),
            Blueprint::Network(network) => network.decide(view, past.history()),
        }
    }

    fn likelihood(&mut self, view: &impl View, past: &BlueprintHistory, action: Action, epsilon: f64) -> f64 {
        match self {
            Blueprint::Heuristic(params) => params.likelihood(view, &(), action, epsilon),
            Blueprint::Network(network) => network.likelihood(view, past.history(), action, epsilon),
        }
    }

    fn gambles(&self) -> bool {
        match self {
            Blueprint::Heuristic(params) => params.gambles(),
            Blueprint::Network(network) => network.gambles(),
        }
    }

    #[inline]
    fn play_out(&mut self, world: &mut State, past: &mut BlueprintHistory, chance: &mut impl Chance) {
        match self {
            Blueprint::Heuristic(params) => params.play_out(world, &mut (), chance),
            Blueprint::Network(network) => {
                network.play_out(world, past.0.as_mut().expect("a network keeps the history"), chance);
            }
        }
    }
}

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

    /// The expected result of the seat to act if all seats continue with the policy: the seat's win share, from 0 to 1, or in a match of
    /// several rounds its chance to win the match.
    #[inline]
    pub(crate) fn value(&mut self, view: &impl View, past: &CardHistory) -> f64 {
        self.evaluate(view, past);
        let best = self.evaluation.logits().nth(self.evaluation.best()).expect("the seat to act has a choice");
        win_share(best)
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
        /// The rule for its calls.
        ..rule: CallRule,
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

    /// Evaluates a decision. Returns whether the rule for calls decides to call. If it decides against a call, the candidate is removed.
    fn evaluate(&mut self, view: &Observation<'_>) -> Option<bool> {
        let (past, _) = self.seated.as_ref().expect("a match begins with a briefing");
        self.policy.evaluate(view, past);
        let layout = view.table().layout(view.seat());
        let calls = self.params.rule.decides(view, view.seat(), layout, view.rules());
        let calls = calls.filter(|_| view.allows(Action::Call));
        if calls == Some(false) {
            self.policy.evaluation.remove(Action::Call);
        }
        calls
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
        if self.evaluate(view) == Some(true) {
            return Ok(Action::Call);
        }
        let (_, stream) = self.seated.as_mut().expect("a match begins with a briefing");
        let (network, evaluation) = (self.policy.network(), self.policy.evaluation());
        Ok(match self.params.temperature(network) {
            None => evaluation.choose(network.inputs(), view),
            Some(temperature) => evaluation.draw(network.inputs(), view, temperature, stream),
        })
    }

    fn probabilities(&mut self, view: &Observation<'_>) -> Result<Option<Vec<f64>>, AgentError> {
        let calls = self.evaluate(view) == Some(true);
        let (network, evaluation) = (self.policy.network(), self.policy.evaluation());
        if let Some(temperature) = self.params.temperature(network).filter(|_| !calls) {
            return Ok(Some(evaluation.probabilities(network.inputs(), view, temperature)));
        }
        let decided = if calls { Action::Call } else { evaluation.choose(network.inputs(), view) };
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
