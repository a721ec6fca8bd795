//! The class `Game`, and the methods that it shares with `ChanceGame`.

use std::sync::Arc;

use cambio_agents::WordEnum as _;
use cambio_core::encode::{ActionSpace, TensorSpace};
use cambio_core::play::RoundLog;
use cambio_core::rng::{Key, Seed};
use cambio_core::view::RoundHistory;
use cambio_core::{Choices, Playing, Seat, Standing, State};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::action::{PyAction, PyEvent, decision};
use crate::args::named;
use crate::episode::{GameEpisode, Reward, SeatKeys};
use crate::observation::PyWorld;
use crate::record::PyRecord;
use crate::rules::{PyRules, tensor_space};
use crate::{args, error};

/// Implements the methods that `Game` and `ChanceGame` share. The class needs the fields `space` and `tensors`, and the
/// methods `standing`, `dealt`, `actor`, `round_history`, `log` and `keys`.
macro_rules! shared_methods {
    ($class:ident) => {
        impl $class {
            /// The given seat; without one, the seat to act, if there is one.
            fn seat_or_actor(&self, seat: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Seat>> {
                match seat {
                    Some(seat) => args::seat(seat, self.standing().setup.seats).map(Some),
                    None => Ok(self.actor()),
                }
            }

            /// The given seat; without one, the seat to act. Fails if no seat has to act.
            fn seat_of(&self, seat: Option<&Bound<'_, PyAny>>) -> PyResult<Seat> {
                let none = || error::IllegalAction::new_err("no seat has to decide now; name a seat, such as seat=0");
                self.seat_or_actor(seat)?.ok_or_else(none)
            }

            /// The legal decisions of the seat to act.
            fn choices(&self) -> Choices {
                self.actor().and_then(|_| self.dealt().ok()).map_or(Choices::NONE, State::choices)
            }
        }

        properties! { $class, this;
            /// The rules.
            rules: $crate::rules::PyRules = $crate::rules::PyRules(this.standing().setup.rules);
            /// The number of seats.
            seats: usize = this.standing().setup.seats;
            /// The seat to act, from 0; `None` when the match is over, and at a chance node of a `ChanceGame`.
            seat: Option<usize> = this.actor().map(Seat::index);
            /// The number of rounds that have ended; 0 during the first round.
            round: usize = this.standing().round;
            /// Each seat's total over the rounds that have ended, seat 0 first.
            totals<'py>(py): PyResult<Bound<'py, PyTuple>> = $crate::observation::floats(py, this.standing().totals);
            /// The layout of observation tensors.
            layout: $crate::rules::PyLayout = {
                let setup = this.standing().setup;
                $crate::rules::PyLayout::shared(&setup.rules, setup.seats, &this.tensors)
            };
            /// The size of the action space: indices are from 0 to `action_count - 1`.
            action_count: usize = this.space.action_count();
        }

        #[pymethods]
        impl $class {
            /// The observation of a seat; by default, of the seat to act. Raises `IllegalAction` without a seat to act.
            #[pyo3(signature = (seat = None))]
            pub(crate) fn observe(
                &self,
                seat: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<$crate::observation::PyObservation> {
                let (seat, Standing { round, totals, .. }) = (self.seat_of(seat)?, self.standing());
                Ok($crate::observation::PyObservation::new(self.dealt()?, seat, round, totals, self.log(), self.keys()))
            }

            /// The legal decisions of the seat to act; empty if there is no seat to act.
            fn legal_actions(&self) -> Vec<PyAction> {
                self.choices().iter().map(PyAction).collect()
            }

            /// The indices of the legal decisions, in the order of `legal_actions`: shape `(n,)`, dtype `int64`.
            fn legal_indices<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
                let choices = self.choices();
                let indices = choices.iter().filter_map(|action| self.space.to_index(action, choices.seat()));
                PyArray1::from_iter(py, indices.map(|index| index as i64))
            }

            /// The mask of a seat's legal decisions, by index; all false if it is not the seat to act. Shape
            /// `(action_count,)`, dtype `bool`.
            #[pyo3(signature = (seat = None))]
            fn mask<'py>(
                &self,
                py: Python<'py>,
                seat: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyArray1<bool>>> {
                let seat = self.seat_or_actor(seat)?.unwrap_or(Seat::A);
                let choices = if self.actor() == Some(seat) { self.choices() } else { Choices::NONE };
                let mut mask = vec![false; self.space.action_count()];
                self.space.mask(&choices, seat, &mut mask);
                Ok(PyArray1::from_vec(py, mask))
            }

            /// The observation tensor of a seat, with the blocks of `layout`: shape `(layout.size,)`, dtype `uint8`. By default
            /// it is the tensor of the seat to act; raises `IllegalAction` without a seat to act.
            #[pyo3(signature = (seat = None))]
            fn tensor<'py>(
                &self,
                py: Python<'py>,
                seat: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyArray1<u8>>> {
                let view = self.dealt()?.view(self.seat_of(seat)?);
                let mut tensor = vec![0; self.tensors.len()];
                self.tensors.write(&view, self.round_history(), &mut tensor);
                Ok(PyArray1::from_vec(py, tensor))
            }

            /// The table as text, with the faces that a seat knows; by default, the seat to act, or seat 0 if there is none. `*`
            /// marks this seat, and `'` a card that its owner has not seen.
            #[pyo3(signature = (seat = None))]
            fn render(&self, seat: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
                let (seat, standing) = (self.seat_or_actor(seat)?.unwrap_or(Seat::A), self.standing());
                Ok(match self.dealt() {
                    Ok(state) => $crate::observation::render(&state.view(seat), standing.round, standing.totals),
                    Err(_) => "nothing is dealt yet\n".to_owned(),
                })
            }

            /// An independent copy. If you make the same decisions in it, the outcomes are the same.
            fn copy(&self) -> $class {
                self.clone()
            }

            fn __str__(&self) -> PyResult<String> {
                self.render(None)
            }
        }
    };
}

pub(crate) use shared_methods;

/// A seed as a Python object.
fn seed_object(py: Python<'_>, seed: Seed) -> PyResult<Bound<'_, PyAny>> {
    Ok(match seed {
        Seed::Number(number) => number.into_pyobject(py)?.into_any(),
        Seed::Key(_) => seed.to_string().into_pyobject(py)?.into_any(),
    })
}

/// A match that your program steps from decision to decision.
///
/// `rules` is a `Rules` object or the name of a preset; `seats` is 2 to 8. `seed` and `deal` determine all random outcomes
/// of the match: the same values and the same decisions give the same match, as in `cambio run`. `reward` selects what
/// `rewards` returns. "rank": from 1 for the first to −1 for the last when the match ends, 0 before. "score": the points
/// that each round adds, signed so that more is better.
///
///     >>> game = cambio.Game("classic", seats=2, seed=42)
///     >>> while not game.is_over:
///     ...     game.step(game.legal_actions()[0])
///
/// A seat is a number from 0 or a letter from a. Copies are independent. Two games are equal if they have the same rules,
/// seats, seeds, deal, reward and decisions; the hash does not depend on the decisions.
#[pyclass(eq, name = "Game", module = "cambio_game")]
#[derive(Clone)]
pub(crate) struct PyGame {
    pub(crate) episode: GameEpisode,
    space: ActionSpace,
    tensors: Arc<TensorSpace>,
}

impl From<GameEpisode> for PyGame {
    fn from(episode: GameEpisode) -> PyGame {
        let (rules, seats) = (*episode.playing().rules(), episode.playing().seats());
        PyGame { episode, space: ActionSpace::new(&rules, seats), tensors: tensor_space(&rules, seats) }
    }
}

impl PartialEq for PyGame {
    fn eq(&self, other: &PyGame) -> bool {
        let parts = |game: &PyGame| (*game.playing().rules(), game.seats(), game.key(), game.episode.reward());
        parts(self) == parts(other) && self.playing().actions() == other.playing().actions()
    }
}

shared_methods!(PyGame);

impl PyGame {
    fn playing(&self) -> &Playing {
        self.episode.playing()
    }

    fn key(&self) -> Key {
        self.playing().key()
    }

    fn standing(&self) -> Standing<'_> {
        self.playing().standing()
    }

    #[expect(clippy::unnecessary_wraps, reason = "a match of chance has no state before its first deal")]
    fn dealt(&self) -> PyResult<&State> {
        Ok(self.playing().state())
    }

    fn actor(&self) -> Option<Seat> {
        self.episode.actor()
    }

    fn round_history(&self) -> &RoundHistory {
        &self.episode.observer().0
    }

    fn log(&self) -> &RoundLog {
        &self.episode.observer().1.0
    }

    fn keys(&self) -> &SeatKeys {
        &self.episode.observer().1.1
    }
}

properties! { PyGame, this,
    repr = {
        let (playing, key) = (this.playing(), this.key());
        let (name, seats, done) = (playing.rules().name(), playing.seats(), playing.decisions());
        let asked = this.actor().map_or("over".to_owned(), |seat| format!("seat {} to act", seat.index()));
        format!("<Game {name:?} at {seats} seats, seed {}, deal {}, {done} decisions, {asked}>", key.seed, key.deal)
    },
    hash = {
        let key = this.key();
        (this.playing().rules().name(), this.seats(), key.seed, key.agents, key.deal)
    },
    reduce(py) = (py.get_type::<PyGame>().getattr("restore")?, (this.record(None)?, this.reward()));
    /// The seed: a number, or 64 hexadecimal digits if it was given as text.
    seed<'py>(py): PyResult<Bound<'py, PyAny>> = seed_object(py, this.key().seed);
    /// The seed of the agents' random numbers.
    agent_seed<'py>(py): PyResult<Bound<'py, PyAny>> = seed_object(py, this.key().agents);
    /// The number of the deal under the seed.
    deal: u64 = this.key().deal;
    /// What `rewards` returns: "rank" or "score".
    reward: &'static str = this.episode.reward().word();
    /// Whether the match is over.
    is_over: bool = this.playing().is_over();
    /// The number of decisions so far.
    decisions: usize = this.playing().decisions();
    /// The ranks, seat 0 first; equal totals share a rank. `None` until the match is over.
    ranks<'py>(py): PyResult<Option<Bound<'py, PyTuple>>> =
        this.playing().result().map(|result| PyTuple::new(py, result.ranks)).transpose();
    /// All decisions so far, in order.
    actions<'py>(py): PyResult<Bound<'py, PyTuple>> =
        PyTuple::new(py, this.playing().actions().iter().map(|&action| PyAction(action)));
}

#[pymethods]
impl PyGame {
    #[new]
    #[pyo3(
        signature = (
            rules = PyRules::default(), seats = 2, *, seed = Seed::Number(0), deal = 0, agent_seed = Seed::AGENTS,
            reward = "rank",
        ),
        text_signature = "(rules='classic', seats=2, *, seed=0, deal=0, agent_seed=0, reward='rank')",
    )]
    fn new(
        rules: PyRules,
        #[pyo3(from_py_with = named::seats)] seats: usize,
        #[pyo3(from_py_with = named::any_seed)] seed: Seed,
        #[pyo3(from_py_with = named::deal)] deal: u64,
        #[pyo3(from_py_with = named::agent_seed)] agent_seed: Seed,
        reward: &str,
    ) -> PyResult<PyGame> {
        let key = Key { seed, agents: agent_seed, deal };
        GameEpisode::replayed(&rules.0, seats, key, Reward::read(reward)?, &[]).map(PyGame::from)
    }

    /// Restores the match of a record, after its last decision. The record must have its seed and deal.
    #[staticmethod]
    #[pyo3(signature = (record, reward = "rank"))]
    fn restore(record: &PyRecord, reward: &str) -> PyResult<PyGame> {
        let playing = Playing::restore(&record.record).map_err(error::record)?;
        let (rules, seats, key) = (*playing.rules(), playing.seats(), playing.key());
        GameEpisode::replayed(&rules, seats, key, Reward::read(reward)?, playing.actions()).map(PyGame::from)
    }

    /// Carries out a decision of the seat to act, and all events up to the next decision.
    ///
    /// The decision is an `Action`, its notation or its index. Raises `IllegalAction` if it is not legal, and `ActionError` if
    /// it is not a decision; the game is then unchanged.
    fn step(&mut self, action: &Bound<'_, PyAny>) -> PyResult<()> {
        let Some(seat) = self.actor() else {
            return Err(error::IllegalAction::new_err("the match is over: no seat has to decide"));
        };
        let action = decision(action, &self.space, seat)?;
        self.episode.act(action).map_err(error::illegal)
    }

    /// The events since the previous decision, or since the start of the match: as `seat` perceived them, or, without a seat,
    /// with every face.
    #[pyo3(signature = (seat = None))]
    fn events(&self, seat: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<PyEvent>> {
        let seat = seat.map(|seat| args::seat(seat, self.seats())).transpose()?;
        let (rules, playing) = (self.playing().rules(), self.playing());
        Ok(match seat {
            Some(seat) => playing.sightings(seat).map(|sighting| PyEvent::new(rules, sighting)).collect(),
            None => playing.events().iter().map(|event| PyEvent::of_referee(rules, event)).collect(),
        })
    }

    /// Each seat's reward from the last decision, seat 0 first; more is better. See `reward`.
    fn rewards<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.episode.rewards().collect::<Vec<_>>())
    }

    /// The position of every card, for referees and analyses.
    fn world(&self) -> PyWorld {
        PyWorld(self.playing().state().clone())
    }

    /// The record of the match so far. `agents` has the names of the players, seat 0 first.
    #[pyo3(signature = (agents = None))]
    fn record(&self, agents: Option<Vec<String>>) -> PyResult<PyRecord> {
        let seats = self.seats();
        let agents = agents.unwrap_or_else(|| vec![String::new(); seats]);
        if agents.len() != seats {
            let found = agents.len();
            return Err(error::RecordError::new_err(format!(
                "`agents` must have {seats} names, one for each seat, found {found}"
            )));
        }
        let names: Vec<&str> = agents.iter().map(String::as_str).collect();
        Ok(PyRecord { record: self.playing().save(&names) })
    }
}
