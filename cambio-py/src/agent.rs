//! Library agents, by spec.

use std::sync::Mutex;

use cambio_agents::{AgentSpec, roster};
use cambio_core::encode::ActionSpace;
use cambio_core::engine::Setup;
use cambio_core::play::MatchError;
use cambio_core::{Action, Deal, Players, Playing, Referee, Seat, Standing, View as _};
use cambio_solve::{AgentPolicy, InfosetPolicy as _, InfosetView, SolveError};
use numpy::PyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::action::PyAction;
use crate::args::{self, named};
use crate::chance_game::PyChanceGame;
use crate::episode::{LibraryAgent, library_agent};
use crate::error;
use crate::game::PyGame;
use crate::observation::PyObservation;

/// An agent of the library, created from its spec: `greedy`, `rollout(n=300)`, `learned`, `external("python3 bot.py")`.
///
/// `decide(game)` returns the agent's decision for the seat to act. Before it decides, the agent receives the events that this
/// seat has perceived since its last decision, and no other information. The object has a separate memory for each seat, so it
/// can play several seats. One object is for one thread at a time. If it makes every decision of its seat, it plays as in `cambio run`. If it takes over a seat in the
/// middle of a match, or gets a copy of the game in which other decisions were made, it starts with an empty memory, restarts
/// its random stream, and receives all events since the start of the match.
///
/// Two agents are equal if their specs are equal. A copy starts with an empty memory.
#[pyclass(frozen, eq, name = "Agent", module = "cambio_game")]
pub(crate) struct PyAgent {
    pub(crate) spec: AgentSpec,
    memory: Mutex<AgentMemory>,
}

/// An agent that answers questions about observations.
type ObservationPolicy<'a> = AgentPolicy<LibraryAgent, &'a mut (dyn FnMut() -> LibraryAgent + Send)>;

/// The parts of an agent that its methods change.
#[derive(Default)]
struct AgentMemory {
    followed_matches: Vec<FollowedMatch>,
    /// The agent that answers questions about observations, after the first call.
    asked: Option<LibraryAgent>,
}

/// An agent in one seat, with the match up to its last decision.
struct FollowedMatch {
    seat: Seat,
    followed: Referee<LibraryAgent>,
}

impl FollowedMatch {
    fn new(spec: &AgentSpec, game: &Playing, seat: Seat) -> Result<FollowedMatch, MatchError> {
        let players = Players::only(library_agent(spec), seat, game.seats());
        Ok(FollowedMatch { seat, followed: Referee::new(Deal::new(game.rules(), game.key()), players, ())? })
    }

    /// Whether `game` continues the match that the agent has followed.
    fn has_followed(&self, game: &Playing) -> bool {
        let followed = self.followed.playing();
        *followed.rules() == *game.rules()
            && followed.seats() == game.seats()
            && followed.key() == game.key()
            && game.actions().starts_with(followed.actions())
    }

    fn decide(&mut self, game: &Playing) -> Result<Action, MatchError> {
        for &action in &game.actions()[self.followed.playing().decisions()..] {
            self.followed.act(action).expect("the decision was legal in the match");
        }
        Ok(self.followed.ask()?.expect("the agent is in the seat to act"))
    }
}

impl PyAgent {
    pub(crate) fn read(spec: &str) -> PyResult<AgentSpec> {
        let spec = roster().parse(spec).map_err(error::spec)?;
        if spec.sees_all() {
            return Err(error::AgentError::new_err(format!(
                "agent `{spec}` sees every card and cannot be a player; only an experiment with `analysis = true` may use it"
            )));
        }
        Ok(spec)
    }

    fn fault(&self, what: &dyn std::fmt::Display) -> PyErr {
        error::AgentFault::new_err(format!("agent `{}`: {what}", self.spec))
    }

    fn decide_in(&self, py: Python<'_>, game: &PyGame) -> PyResult<PyAction> {
        let playing = game.episode.playing();
        let Some(seat) = game.episode.actor() else {
            return Err(error::IllegalAction::new_err("the match is over: no seat has to decide"));
        };
        let mut memory = args::exclusive(&self.memory, "Agent")?;
        let followed_matches = &mut memory.followed_matches;
        let index = followed_matches.iter().position(|followed_match| followed_match.seat == seat);
        let known = index
            .map(|index| followed_matches.swap_remove(index))
            .filter(|followed_match| followed_match.has_followed(playing));
        let decided = py.detach(|| {
            let mut followed_match = known.map_or_else(|| FollowedMatch::new(&self.spec, playing, seat), Ok)?;
            let action = followed_match.decide(playing)?;
            followed_matches.push(followed_match);
            Ok(action)
        });
        decided.map(PyAction).map_err(|error: MatchError| self.fault(&error))
    }

    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method itself is not general enough in its lifetime"
    )]
    fn decide_at(&self, py: Python<'_>, observation: &PyObservation, seed: u64) -> PyResult<PyAction> {
        self.ask(py, observation, seed, None, |policy, moment| policy.decide(moment)).map(PyAction)
    }

    /// Asks the agent about an observation.
    fn ask<T: Send>(
        &self,
        py: Python<'_>,
        observation: &PyObservation,
        seed: u64,
        streams: Option<u32>,
        ask: impl FnOnce(&mut ObservationPolicy<'_>, &InfosetView<'_>) -> Result<T, SolveError> + Send,
    ) -> PyResult<T> {
        if observation.view.choices().is_empty() {
            return Err(error::IllegalAction::new_err("the seat of this observation does not have to decide"));
        }
        let mut memory = args::exclusive(&self.memory, "Agent")?;
        let mut kept = memory.asked.take();
        let mut make = || kept.take().unwrap_or_else(|| library_agent(&self.spec));
        let mut policy: ObservationPolicy<'_> = AgentPolicy::new(&mut make, seed, streams);
        let (rules, seats, seat) = (observation.rules_of(), observation.seats_of(), observation.view.seat());
        // Observations that differ get different random numbers.
        let digest = observation.sightings.iter().fold(0x6361_6d62_696f_u64, |digest, sighting| {
            (digest ^ sighting.code()).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
        });
        let setup = Setup::new(rules, seats);
        let moment = InfosetView {
            rules,
            standing: Standing { round: observation.rounds, setup, totals: &observation.totals },
            seat,
            set: digest as usize,
            sightings: &observation.sightings,
            decisions: &observation.decided,
            view: &observation.view.observation(),
        };
        let answer = py.detach(|| ask(&mut policy, &moment)).map_err(|error| self.fault(&error));
        memory.asked = policy.into_agent();
        answer
    }
}

impl Clone for PyAgent {
    fn clone(&self) -> PyAgent {
        PyAgent { spec: self.spec.clone(), memory: Mutex::default() }
    }
}

impl PartialEq for PyAgent {
    fn eq(&self, other: &PyAgent) -> bool {
        self.spec.is(&other.spec)
    }
}

properties! { PyAgent, this,
    repr = format!("Agent({:?})", this.spec.to_string()),
    hash = this.spec.full(),
    reduce(py) = (py.get_type::<PyAgent>(), (this.spec(),));
    /// The spec, in its shortest form.
    spec: String = this.spec.to_string();
    /// The spec with all parameters, including the defaults.
    full: String = this.spec.full();
    /// The agent's name.
    name: String = this.spec.to_string().split('(').next().unwrap_or_default().to_owned();
}

#[pymethods]
impl PyAgent {
    #[new]
    fn new(spec: &str) -> PyResult<PyAgent> {
        Ok(PyAgent { spec: PyAgent::read(spec)?, memory: Mutex::default() })
    }

    /// Returns the agent's decision for the seat to act. Does not change the game, and releases the GIL.
    ///
    /// `game` is a `Game`, a `ChanceGame` or an `Observation`. In a `Game`, the agent follows the match and has the random numbers of the
    /// game's `agent_seed`. For the other two it receives the events of the round, and its random numbers depend on the observation
    /// and on `seed`.
    ///
    ///     >>> cambio.agent("greedy").decide(cambio.Game(seed=1).observe())
    ///     Action("draw")
    ///
    /// Raises `IllegalAction` if no seat has to decide, and `AgentFault` if the agent fails.
    #[pyo3(signature = (game, *, seed = 0))]
    fn decide(
        &self,
        py: Python<'_>,
        game: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = named::seed)] seed: u64,
    ) -> PyResult<PyAction> {
        if let Ok(game) = game.cast::<PyGame>() {
            return self.decide_in(py, &game.borrow());
        }
        if let Ok(observation) = game.cast::<PyObservation>() {
            return self.decide_at(py, observation.get(), seed);
        }
        if let Ok(game) = game.cast::<PyChanceGame>() {
            let observation = game.borrow().observe(None)?;
            return self.decide_at(py, &observation, seed);
        }
        let found = args::type_of(game);
        Err(PyTypeError::new_err(format!("`game` must be a Game, a ChanceGame or an Observation, found type {found}")))
    }

    /// The probability of each decision at an observation, by index: shape `(action_count,)`, dtype `float64`.
    ///
    /// The agent receives the events of the observation and decides once. An agent that knows its probabilities returns them.
    /// Other agents decide `streams` times with different random numbers, by default 20 times if they draw any and otherwise once,
    /// and the shares of their decisions are the probabilities. The result depends only on the observation, `streams` and `seed`. Releases the GIL.
    ///
    ///     >>> cambio.agent("greedy").probabilities(cambio.Game().observe()).max()
    ///     1.0
    ///
    /// Raises `IllegalAction` if the observing seat does not have to decide, and `AgentFault` if the agent fails.
    #[pyo3(signature = (observation, *, streams = None, seed = 0))]
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        observation: &PyObservation,
        streams: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = named::seed)] seed: u64,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let streams = args::optional(streams, "streams", 1, u32::MAX.into())?.map(|streams| streams as u32);
        let known = self.ask(py, observation, seed, streams, |policy, moment| policy.choose(moment))?;
        let choices = observation.view.choices();
        let space = ActionSpace::new(observation.view.rules(), observation.view.table().seats());
        let mut probabilities = vec![0.0; space.action_count()];
        for (action, probability) in choices.iter().zip(known) {
            let index = space.to_index(action, observation.view.seat()).expect("a choice is in the action space");
            // A sum of shares can round to more than 1.
            probabilities[index] = probability.min(1.0);
        }
        Ok(PyArray1::from_vec(py, probabilities))
    }

    fn __str__(&self) -> String {
        self.spec.to_string()
    }
}

/// Creates a library agent from its spec. Raises `AgentError` if the spec is invalid; the message lists the valid names.
#[pyfunction]
pub(crate) fn agent(spec: &str) -> PyResult<PyAgent> {
    PyAgent::new(spec)
}

/// The names of all agents, each with a description. `Agent.full` shows an agent's parameters.
#[pyfunction]
pub(crate) fn agents(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for entry in roster().entries().iter().filter(|entry| !entry.sees_all) {
        dict.set_item(&entry.name, &entry.about)?;
    }
    Ok(dict)
}
