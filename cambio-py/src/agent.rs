//! Library agents, by spec.

use cambio_agents::{AgentSpec, roster};
use cambio_core::play::MatchError;
use cambio_core::{Action, Deal, Players, Playing, Referee, Seat};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::action::PyAction;
use crate::episode::LibraryAgent;
use crate::error;
use crate::game::PyGame;
use crate::rules::hash_of;

/// An agent of the library, created from its spec: `greedy`, `rollout(n=300)`, `learned`, `external("python3 bot.py")`.
///
/// `decide(game)` returns the agent's decision for the seat to act. Before it decides, the agent receives the events that this
/// seat has perceived since its last decision, and no other information. The object has a separate memory for each seat, so it
/// can play several seats. If it makes every decision of its seat, it plays as in `cambio run`. If it takes over a seat in the
/// middle of a match, or gets a copy of the game in which other decisions were made, it starts with an empty memory, restarts
/// its random stream, and receives all events since the start of the match.
///
/// Two agents are equal if their specs are equal. A copy starts with an empty memory.
#[pyclass(eq, name = "Agent", module = "cambio_game")]
pub(crate) struct PyAgent {
    pub(crate) spec: AgentSpec,
    followed_matches: Vec<FollowedMatch>,
}

/// An agent in one seat, with the match up to its last decision.
struct FollowedMatch {
    seat: Seat,
    followed: Referee<LibraryAgent>,
}

impl FollowedMatch {
    fn new(spec: &AgentSpec, game: &Playing, seat: Seat) -> Result<FollowedMatch, MatchError> {
        let players = Players::only(LibraryAgent::new(spec), seat, game.seats());
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
}

impl Clone for PyAgent {
    fn clone(&self) -> PyAgent {
        PyAgent { spec: self.spec.clone(), followed_matches: Vec::new() }
    }
}

impl PartialEq for PyAgent {
    fn eq(&self, other: &PyAgent) -> bool {
        self.spec.is(&other.spec)
    }
}

#[pymethods]
impl PyAgent {
    #[new]
    fn new(spec: &str) -> PyResult<PyAgent> {
        Ok(PyAgent { spec: PyAgent::read(spec)?, followed_matches: Vec::new() })
    }

    /// The spec, in its shortest form.
    #[getter]
    fn spec(&self) -> String {
        self.spec.to_string()
    }

    /// The spec with all parameters, including the defaults.
    #[getter]
    fn full(&self) -> String {
        self.spec.full()
    }

    /// The agent's name.
    #[getter]
    fn name(&self) -> String {
        self.spec.to_string().split('(').next().unwrap_or_default().to_owned()
    }

    /// Returns the agent's decision for the seat to act. Does not change the game, and releases the GIL.
    ///
    /// Raises `IllegalAction` if the match is over, and `AgentFault` if the agent fails.
    fn decide(&mut self, py: Python<'_>, game: &PyGame) -> PyResult<PyAction> {
        let playing = game.episode.playing();
        let Some(seat) = game.episode.actor() else {
            return Err(error::IllegalAction::new_err("the match is over: no seat has to decide"));
        };
        let index = self.followed_matches.iter().position(|followed_match| followed_match.seat == seat);
        let known = index
            .map(|index| self.followed_matches.swap_remove(index))
            .filter(|followed_match| followed_match.has_followed(playing));
        let PyAgent { spec, followed_matches } = self;
        let decided = py.detach(|| {
            let mut followed_match = known.map_or_else(|| FollowedMatch::new(spec, playing, seat), Ok)?;
            let action = followed_match.decide(playing)?;
            followed_matches.push(followed_match);
            Ok(action)
        });
        decided
            .map(PyAction)
            .map_err(|error: MatchError| error::AgentFault::new_err(format!("agent `{spec}`: {error}")))
    }

    fn __repr__(&self) -> String {
        format!("Agent({:?})", self.spec.to_string())
    }

    fn __str__(&self) -> String {
        self.spec.to_string()
    }

    fn __hash__(&self) -> u64 {
        hash_of(&self.spec.full())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        (py.get_type::<PyAgent>(), (self.spec(),)).into_pyobject(py)
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
    for entry in roster().entries().iter().filter(|entry| !entry.sees_all()) {
        dict.set_item(entry.name(), entry.about())?;
    }
    Ok(dict)
}
