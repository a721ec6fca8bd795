//! Queries any agent at every information set of a game, and measures its exploitability.

use cambio_core::engine::Setup;
use cambio_core::play::Failure;
use cambio_core::rng::Key as StreamKey;
use cambio_core::{
    Action, Agent, Briefing, Choices, Observation, Observer as _, Players, Rules, Score, Seat, Sighting, Standing,
};

use crate::game::Game;
use crate::strategy::{Strategy, is_distribution, nash_conv};
use crate::walk::{DecisionNode, HistoryNode, SEATS, Trail, Visitor, walk};
use crate::{SolveError, SolverProgress};

/// A decision at an information set, as an [`InfosetPolicy`] receives it.
#[derive(Clone, Copy, Debug)]
pub struct InfosetView<'a> {
    /// The rules.
    pub rules: &'a Rules,
    /// The standing at the start of the round.
    pub standing: Standing<'a>,
    /// The seat to act.
    pub seat: Seat,
    /// The number of the information set in its [`Game`].
    pub set: usize,
    /// The sightings of the seat since the round was dealt, in order.
    pub sightings: &'a [Sighting],
    /// The decisions of the seat since the round was dealt, in order, including forced ones.
    pub decisions: &'a [Action],
    /// The observation of the seat. Its choices are the choices of the information set, in the same order.
    pub view: &'a Observation<'a>,
}

/// A policy returns a probability for each choice at any information set. [`AgentPolicy`] wraps any agent.
///
/// Every `FnMut(&InfosetView) -> Vec<f64>` is a policy, for example a search that returns visit shares.
pub trait InfosetPolicy {
    /// The probabilities of the choices of the view, in order. They add up to 1.
    ///
    /// # Errors
    /// If the agent behind the policy fails or decides illegally.
    fn choose(&mut self, moment: &InfosetView<'_>) -> Result<Vec<f64>, SolveError>;
}

impl<F: FnMut(&InfosetView<'_>) -> Vec<f64>> InfosetPolicy for F {
    fn choose(&mut self, moment: &InfosetView<'_>) -> Result<Vec<f64>, SolveError> {
        Ok(self(moment))
    }
}

/// An agent as a policy: each query begins a new match, passes the agent the sightings of its seat, and takes its
/// decision.
///
/// The agent is briefed, the round begins, the agent receives every sighting in order and decides once, at this
/// information set and at no earlier one. The agent must therefore derive its memory from its sightings: an agent that
/// remembers only its own decisions plays differently here than in a match. One agent answers all queries, so that a
/// bot needs only one process; at [`Agent::begin`] it must forget the earlier ones, as in matches. The agent's random
/// stream depends on the seed, the information set and the number of the stream, not on earlier queries. A
/// deterministic agent gets probability 1 for its decision. A randomised agent that knows its probabilities
/// ([`Agent::probabilities`]) returns them; another one decides with several streams, and the frequencies of its
/// decisions are the probabilities. These frequencies contain sampling error, of which a best response takes advantage:
/// the exploitability decreases with the number of streams.
#[derive(Clone, Debug)]
pub struct AgentPolicy<A, F> {
    make: F,
    /// The agent of the last query, if there was one.
    agent: Option<A>,
    seed: u64,
    /// The chosen number of streams; `None` for the default.
    chosen: Option<u32>,
    streams: u32,
}

/// The default number of random streams with which an agent that draws random numbers decides at each information set.
const STREAMS: u32 = 20;

impl<A: Agent, F: FnMut() -> A> AgentPolicy<A, F> {
    /// Creates a policy from the agent that `make` returns; `make` is called again after an error of the agent. Each
    /// query uses `streams` random streams, at least one, by default 20 if the agent draws random numbers and otherwise 1.
    pub fn new(make: F, seed: u64, streams: impl Into<Option<u32>>) -> AgentPolicy<A, F> {
        let chosen = streams.into().map(|streams| streams.max(1));
        AgentPolicy { make, agent: None, seed, chosen, streams: chosen.unwrap_or(0) }
    }

    /// The number of random streams of a query: the chosen number, or the default number. The latter is 0 before the agent has
    /// decided, and for an agent that has always returned its probabilities.
    pub fn streams(&self) -> u32 {
        self.streams
    }

    /// The agent of the last query, for another policy of the same agent.
    pub fn into_agent(self) -> Option<A> {
        self.agent
    }

    /// The agent's decision with the first random stream.
    ///
    /// # Errors
    /// If the agent fails or decides illegally.
    pub fn decide(&mut self, moment: &InfosetView<'_>) -> Result<Action, SolveError> {
        self.consult(moment, 0, |players| decision(players, moment))
    }

    /// The chosen or the default number of streams of a query.
    fn count(&mut self) -> u32 {
        let agent = self.agent.get_or_insert_with(&mut self.make);
        self.chosen.unwrap_or(if agent.draws() { STREAMS } else { 1 })
    }

    /// Asks the agent in its seat, after its sightings of the round, with one of its random streams.
    fn consult<T>(
        &mut self,
        moment: &InfosetView<'_>,
        stream: u32,
        ask: impl FnOnce(&mut Players<A>) -> Result<T, SolveError>,
    ) -> Result<T, SolveError> {
        let InfosetView { rules, standing, seat, sightings, .. } = *moment;
        let seats = standing.setup.seats;
        let deal = (moment.set as u64).wrapping_mul(self.count().into()).wrapping_add(stream.into());
        let agent = self.agent.take().unwrap_or_else(&mut self.make);
        let mut players = Players::only(agent, seat, seats);
        let stream = StreamKey::new(self.seed, deal).with_agents(self.seed).agent(seat);
        players.brief(&Briefing { rules, seats, seat, stream: &stream }).map_err(failed)?;
        players.round_begins(&standing, &[]);
        players.perceive(seat, sightings);
        let answer = ask(&mut players)?;
        self.agent = players.agents_mut()[seat.index()].take();
        Ok(answer)
    }
}

fn failed(Failure { seat, error, .. }: Failure) -> SolveError {
    SolveError::Failed { seat, error }
}

/// The legal decision of the agent in the seat to act.
fn decision<A: Agent>(players: &mut Players<A>, moment: &InfosetView<'_>) -> Result<Action, SolveError> {
    let (seat, legal) = (moment.seat, moment.view.choices());
    let action = players.ask(moment.view).expect("the agent sits there").map_err(failed)?.canonical();
    if legal.contains(action) { Ok(action) } else { Err(SolveError::Illegal { seat, action, legal: Box::new(legal) }) }
}

impl<A: Agent, F: FnMut() -> A> InfosetPolicy for AgentPolicy<A, F> {
    fn choose(&mut self, moment: &InfosetView<'_>) -> Result<Vec<f64>, SolveError> {
        let choices = moment.view.choices();
        let mut probabilities = vec![0.0; choices.len()];
        let streams = self.count();
        for stream in 0..streams {
            let answer = self.consult(moment, stream, |players| {
                let known = if stream == 0 { players.probabilities(moment.view) } else { None };
                known.map_or_else(|| decision(players, moment).map(Ok), |known| known.map(Err).map_err(failed))
            })?;
            let action = match answer {
                Ok(action) => action,
                Err(known) => return Ok(known),
            };
            self.streams = streams;
            let index = choices.iter().position(|choice| choice == action).expect("the decision is legal");
            probabilities[index] += 1.0 / f64::from(streams);
        }
        Ok(probabilities)
    }
}

/// The answers of a policy to all queries.
#[derive(Clone, PartialEq, Debug)]
pub struct PolicyAnswers {
    /// The strategy. Information sets that the policy's own earlier decisions rule out were not queried. Their choices
    /// are equally likely, which changes neither the value nor the exploitability.
    pub strategy: Strategy,
    /// The number of information sets of each seat that were queried.
    pub asked: [usize; SEATS],
}

impl Game {
    /// Queries a policy in both seats, at every information set that it can reach against any play of the other seat.
    ///
    /// # Errors
    /// If the policy fails, or its probabilities are not a distribution over the choices.
    pub fn ask(
        &self,
        policy: &mut dyn InfosetPolicy,
        progress: &mut dyn FnMut(SolverProgress),
    ) -> Result<PolicyAnswers, SolveError> {
        self.ask_where(&[Seat::A, Seat::B], policy, None, progress)
    }

    /// Like [`Game::ask`], but only at information sets that the policy can reach if the other seat plays `against`.
    ///
    /// # Errors
    /// As [`Game::ask`].
    pub fn ask_against(
        &self,
        policy: &mut dyn InfosetPolicy,
        against: &Strategy,
        progress: &mut dyn FnMut(SolverProgress),
    ) -> Result<PolicyAnswers, SolveError> {
        self.ask_where(&[Seat::A, Seat::B], policy, Some(against), progress)
    }

    fn ask_where(
        &self,
        seats: &[Seat],
        policy: &mut dyn InfosetPolicy,
        against: Option<&Strategy>,
        progress: &mut dyn FnMut(SolverProgress),
    ) -> Result<PolicyAnswers, SolveError> {
        let mut answers = PolicyAnswers { strategy: self.uniform(), asked: [0; SEATS] };
        for &seat in seats {
            let known = vec![false; self.information_sets(seat)];
            let mut asker = PolicyWalk { game: self, seat, policy, against, progress, known, answers: &mut answers };
            walk(self.rules(), (), &mut asker)?;
        }
        Ok(answers)
    }

    /// Visits every information set of a seat once, in the order of the tree walk.
    ///
    /// # Errors
    /// Only if there is a bug: the same tree was walked when the game was compiled.
    pub fn visit(&self, seat: Seat, mut visit: impl FnMut(&InfosetView<'_>)) -> Result<(), SolveError> {
        let mut uniform = |moment: &InfosetView<'_>| {
            visit(moment);
            let len = moment.view.choices().len();
            vec![1.0 / len as f64; len]
        };
        self.ask_where(&[seat], &mut uniform, None, &mut |_| {}).map(drop)
    }

    /// Measures the exploitability of a strategy, and its payoff against an equilibrium.
    pub fn exploit(&self, strategy: &Strategy, equilibrium: &Strategy) -> Exploitability {
        let best = self.best_values(strategy);
        let game_value = self.value(equilibrium);
        Exploitability {
            nash_conv: nash_conv(best),
            value: self.value(strategy),
            best_responses: best,
            lost: [best[1] + game_value, best[0] - game_value],
            against_equilibrium: [
                self.value_between(strategy, equilibrium) - game_value,
                game_value - self.value_between(equilibrium, strategy),
            ],
            game_value,
            equilibrium_nash_conv: self.nash_conv(equilibrium),
        }
    }
}

/// The exploitability of a strategy. All values are payoffs of the game: half the score difference.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Exploitability {
    /// The sum of the gains of a best response in both seats.
    pub nash_conv: f64,
    /// The value for seat a if both seats play the strategy.
    pub value: f64,
    /// The payoff of a best response in seat a to the strategy in seat b, and the reverse for seat b.
    pub best_responses: [f64; SEATS],
    /// For each seat: the value of the game minus the strategy's worst-case payoff. The sum is `nash_conv`.
    pub lost: [f64; SEATS],
    /// For each seat: the strategy's payoff against the equilibrium, minus the value of the game in that seat.
    pub against_equilibrium: [f64; SEATS],
    /// The value of the game for seat a, with an error of at most the `NashConv` of the equilibrium.
    pub game_value: f64,
    /// The `NashConv` of the equilibrium, 0 if the equilibrium is exact.
    pub equilibrium_nash_conv: f64,
}

impl Exploitability {
    /// Half of `nash_conv`: the mean gain of a best response over both seats.
    pub fn exploitability(&self) -> f64 {
        self.nash_conv / 2.0
    }
}

struct PolicyWalk<'p> {
    game: &'p Game,
    seat: Seat,
    policy: &'p mut dyn InfosetPolicy,
    against: Option<&'p Strategy>,
    progress: &'p mut dyn FnMut(SolverProgress),
    known: Vec<bool>,
    answers: &'p mut PolicyAnswers,
}

impl PolicyWalk<'_> {
    fn ask(&mut self, set: usize, choices: &Choices, node: &HistoryNode<()>, trail: &Trail) -> Result<(), SolveError> {
        let sightings: Vec<Sighting> = trail.events.iter().map(|event| event.seen_from(self.seat)).collect();
        let own = trail.decisions.iter().filter(|(seat, _)| *seat == self.seat);
        let decisions: Vec<Action> = own.map(|&(_, action)| action).collect();
        let view = node.state.observe(self.seat);
        let rules = self.game.rules();
        let (sightings, decisions) = (&sightings[..], &decisions[..]);
        let standing = Standing { round: 0, setup: Setup::new(rules, SEATS), totals: &[Score::default(); SEATS] };
        let moment = InfosetView { rules, standing, seat: self.seat, set, sightings, decisions, view: &view };
        let probabilities = self.policy.choose(&moment)?;
        if probabilities.len() != choices.len() || !is_distribution(&probabilities) {
            return Err(SolveError::NoDistribution { seat: self.seat, choices: choices.len(), probabilities });
        }
        self.game.set_probabilities(&mut self.answers.strategy, self.seat, set, &probabilities);
        self.known[set] = true;
        self.answers.asked[self.seat.index()] += 1;
        (self.progress)(SolverProgress::Asked { sets: self.answers.asked.iter().sum::<usize>() as u64 });
        Ok(())
    }
}

impl Visitor for PolicyWalk<'_> {
    type Path = ();
    const TRAIL: bool = true;

    fn decision(
        &mut self,
        node: &HistoryNode<()>,
        at: DecisionNode,
        trail: &Trail,
        paths: &mut Vec<Option<()>>,
    ) -> Result<(), SolveError> {
        let of = |probabilities: &[f64], paths: &mut Vec<Option<()>>| {
            paths.extend(probabilities.iter().map(|&probability| (probability > 0.0).then_some(())));
        };
        let key = node.keys[at.seat.index()];
        let set = self.game.find(at.seat, key).expect("the game was compiled by the same walk");
        if at.seat != self.seat {
            match self.against {
                Some(against) => of(self.game.probabilities(against, at.seat, set), paths),
                None => paths.resize(at.choices.len(), Some(())),
            }
            return Ok(());
        }
        if !self.known[set] {
            self.ask(set, &at.choices, node, trail)?;
        }
        of(self.game.probabilities(&self.answers.strategy, self.seat, set), paths);
        Ok(())
    }
}
