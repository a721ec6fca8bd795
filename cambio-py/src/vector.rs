//! The class `VectorGame`: many matches that one call steps.

mod arrays;
mod threads;
mod vector_match;

use std::iter::zip;
use std::sync::Arc;

use cambio_agents::AgentSpec;
use cambio_core::encode::{ActionSpace, TensorSpace};
use cambio_core::engine::IllegalAction;
use cambio_core::rng::{Bounded as _, Key, Purpose};
use cambio_core::{Action, Rules};
use numpy::{PyArray1, PyArray2, PyArray3, PyReadonlyArray1};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::action::no_index;
use crate::agent::PyAgent;
use crate::episode::{GameEpisode, Reward, Seeds, actions_of, key_of, seeds, texts};
use crate::game::PyGame;
use crate::rules::{self, PyLayout, PyRules, hash_of, tensor_space};
use crate::{args, error};
use arrays::{Arrays, LegalChoices, Results};
use threads::Threads;
use vector_match::{BatchCall, VectorMatches};

/// The maximum number of matches in a batch, and of threads.
const MOST: u64 = 1 << 20;
const MOST_THREADS: u64 = 256;

/// The settings that all matches of a batch share.
pub(crate) struct BatchSettings {
    rules: Rules,
    seats: usize,
    /// The seeds, and the deal of the first match.
    key: Key,
    batch: usize,
    opponents: Vec<Option<AgentSpec>>,
    rotates: bool,
    reward: Reward,
    /// Whether observations at the end of a match are written.
    finals: bool,
    space: ActionSpace,
    tensors: Arc<TensorSpace>,
}

/// `batch` independent matches that one call steps. The results are written into arrays, which you can provide.
///
/// Match `i` plays the deals `first_deal + i`, `first_deal + i + batch`, … under `seed`. When a match ends, its next deal starts
/// immediately. The results depend neither on `threads` nor on timing.
///
/// `opponents` has an entry for each seat: the spec of a library agent that plays this seat, or `None` for a seat that
/// you play. By default, you play every seat (self-play). With `rotate`, the entries move by one seat with each
/// deal, so that a learner plays every seat.
///
/// After `reset()` and each `step(actions)`, these arrays have a row for each match:
///
/// | array | shape | dtype | |
/// |---|---|---|---|
/// | `observations` | `(batch, layout.size)` | `uint8` | the tensor of the seat to act |
/// | `masks` | `(batch, action_count)` | `bool` | the legal decisions of the seat to act |
/// | `seat` | `(batch,)` | `int64` | the seat to act |
/// | `rewards` | `(batch, seats)` | `float32` | each seat's reward since your last decision |
/// | `done` | `(batch,)` | `bool` | whether the match ended; observation, mask and seat then belong to the next match |
/// | `final_observations` | `(batch, seats, layout.size)` | `uint8` | only with `finals`: each seat's tensor at the end of the match, valid where `done` |
///
/// Arrays that you provide must be contiguous and writable, with this shape and dtype. Missing arrays are created. Torch
/// and JAX can use the arrays without a copy (`torch.from_numpy`, `jax.dlpack`).
///
/// `step` releases the GIL. If an action is not legal, it raises `IllegalAction` with the number of the match; all matches are
/// then unchanged.
#[pyclass(eq, name = "VectorGame", module = "cambio_game")]
pub(crate) struct PyVectorGame {
    common: BatchSettings,
    slots: VectorMatches,
    /// The seat to act and its legal decisions in each match.
    asks: Vec<LegalChoices>,
    arrays: Arrays,
    threads: Threads,
    /// Whether `reset` was called.
    is_begun: bool,
}

/// Copies the caller's indices, one for each match. A copy is needed because a step may overwrite the caller's array.
fn read_indices(value: &Bound<'_, PyAny>, batch: usize) -> PyResult<Vec<i64>> {
    let long = value.extract::<PyReadonlyArray1<'_, i64>>().ok();
    let long = long.and_then(|array| Some(array.as_slice().ok()?.to_vec()));
    let chosen = long.or_else(|| {
        let short = value.extract::<PyReadonlyArray1<'_, i32>>().ok()?;
        Some(short.as_slice().ok()?.iter().map(|&index| index.into()).collect())
    });
    chosen.filter(|chosen| chosen.len() == batch).ok_or_else(|| {
        let shape = value.getattr("shape").map_or_else(|_| "none".to_owned(), |shape| shape.to_string());
        let dtype = value.getattr("dtype").map_or_else(|_| args::type_of(value), |dtype| dtype.to_string());
        error::ArrayError::new_err(format!(
            "the actions must be a contiguous array of {batch} int64 or int32, found shape {shape} and dtype {dtype}"
        ))
    })
}

impl PyVectorGame {
    /// Applies `work` to every match and its rows, without the GIL. Raises the fault of the first match that has one.
    fn work(&mut self, py: Python<'_>, work: BatchCall) -> PyResult<()> {
        let PyVectorGame { common, slots, asks, arrays, threads, .. } = self;
        let mut held = arrays.hold(py)?;
        let rows = held.rows(common, asks)?;
        match py.detach(|| slots.work(work, common, threads, rows)) {
            None => Ok(()),
            Some((number, fault)) => Err(error::AgentFault::new_err(format!("match {number}: {fault}"))),
        }
    }

    /// The error for an illegal decision.
    fn refusal(&self, number: usize, index: i64) -> PyErr {
        let (space, state) = (&self.common.space, self.slots.matches()[number].state());
        let Some(seat) = state.actor() else {
            return error::IllegalAction::new_err(format!("match {number}: the match is over; call reset()"));
        };
        match usize::try_from(index).ok().and_then(|index| space.from_index(index, seat)) {
            None => no_index(&format!("match {number}: {index}"), space.action_count()),
            Some(action) => {
                let illegal = IllegalAction { action, actor: Some(seat), legal: state.choices() };
                error::IllegalAction::new_err(format!("match {number}: {illegal}"))
            }
        }
    }
}

/// A batch with these deals and decisions.
fn restored(
    py: Python<'_>,
    common: BatchSettings,
    matches: Vec<(u64, Vec<Action>)>,
    threads: usize,
    is_begun: bool,
    results: Results,
) -> PyResult<PyVectorGame> {
    let slots = VectorMatches::new(&common, matches, is_begun).map_err(error::illegal)?;
    let (asks, arrays, threads) =
        (vec![LegalChoices::NOBODY; common.batch], Arrays::new(py, &common), Threads::new(threads)?);
    let mut games = PyVectorGame { common, slots, asks, arrays, threads, is_begun };
    if is_begun {
        games.work(py, BatchCall::Show)?;
    }
    games.arrays.set_results(py, results)?;
    Ok(games)
}

impl PartialEq for PyVectorGame {
    fn eq(&self, other: &PyVectorGame) -> bool {
        let (one, two) = (&self.common, &other.common);
        (one.rules, one.seats, one.key, one.batch) == (two.rules, two.seats, two.key, two.batch)
            && (one.rotates, one.reward, self.is_begun) == (two.rotates, two.reward, other.is_begun)
            && one.opponents.len() == two.opponents.len()
            && one.opponents.iter().zip(&two.opponents).all(|pair| match pair {
                (Some(one), Some(two)) => one.is(two),
                (None, None) => true,
                _ => false,
            })
            && zip(self.slots.matches(), other.slots.matches())
                .all(|(one, two)| (one.key(), one.actions()) == (two.key(), two.actions()))
    }
}

/// Reads the argument `opponents`.
fn opponents(specs: Option<Vec<Option<String>>>, seats: usize) -> PyResult<Vec<Option<AgentSpec>>> {
    let Some(specs) = specs else { return Ok(Vec::new()) };
    if specs.len() != seats {
        let found = specs.len();
        return Err(error::AgentError::new_err(format!(
            "`opponents` must have {seats} entries, one for each seat (a spec, or None for a seat that you play), found {found}"
        )));
    }
    if specs.iter().all(Option::is_some) {
        let sentence = "`opponents` must have at least one None, a seat that you play, found none";
        return Err(error::AgentError::new_err(sentence));
    }
    let read = |spec: Option<String>| spec.map(|spec| PyAgent::read(&spec)).transpose();
    let specs = specs.into_iter().map(read).collect::<PyResult<Vec<_>>>()?;
    Ok(if specs.iter().all(Option::is_none) { Vec::new() } else { specs })
}

#[pymethods]
impl PyVectorGame {
    #[new]
    #[pyo3(
        signature = (
            batch, rules = None, seats = None, *, seed = None, first_deal = None, agent_seed = None, opponents = None,
            rotate = false, reward = "rank", threads = None, finals = false, observations = None, masks = None, rewards = None,
            seat = None, done = None,
        ),
        text_signature = "(batch, rules='classic', seats=2, *, seed=0, first_deal=0, agent_seed=0, opponents=None, \
                          rotate=False, reward='rank', threads=1, finals=False, observations=None, masks=None, rewards=None, seat=None, \
                          done=None)",
    )]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments")]
    fn new(
        py: Python<'_>,
        batch: &Bound<'_, PyAny>,
        rules: Option<&Bound<'_, PyAny>>,
        seats: Option<&Bound<'_, PyAny>>,
        seed: Option<&Bound<'_, PyAny>>,
        first_deal: Option<&Bound<'_, PyAny>>,
        agent_seed: Option<&Bound<'_, PyAny>>,
        opponents: Option<Vec<Option<String>>>,
        rotate: bool,
        reward: &str,
        threads: Option<&Bound<'_, PyAny>>,
        finals: bool,
        observations: Option<&Bound<'_, PyAny>>,
        masks: Option<&Bound<'_, PyAny>>,
        rewards: Option<&Bound<'_, PyAny>>,
        seat: Option<&Bound<'_, PyAny>>,
        done: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyVectorGame> {
        let batch = args::whole(batch, "batch", 1, MOST)? as usize;
        let (rules, seats) = rules::table_or_default(rules, seats)?;
        let key = crate::game::key(seed, first_deal, agent_seed)?;
        let threads = threads.map_or(Ok(1), |threads| args::whole(threads, "threads", 1, MOST_THREADS))? as usize;
        let common = BatchSettings {
            rules,
            seats,
            key,
            batch,
            opponents: self::opponents(opponents, seats)?,
            rotates: rotate,
            reward: Reward::read(reward)?,
            finals,
            space: ActionSpace::new(&rules, seats),
            tensors: tensor_space(&rules, seats),
        };
        let arrays = Arrays::given(py, &common, [observations, masks, rewards, seat, done])?;
        let matches = (0..batch as u64).map(|number| (key.deal.wrapping_add(number), Vec::new())).collect();
        let slots = VectorMatches::new(&common, matches, false).map_err(error::illegal)?;
        let (asks, threads) = (vec![LegalChoices::NOBODY; batch], Threads::new(threads)?);
        Ok(PyVectorGame { common, slots, asks, arrays, threads, is_begun: false })
    }

    /// The number of matches.
    #[getter]
    fn batch(&self) -> usize {
        self.common.batch
    }

    /// The rules.
    #[getter]
    fn rules(&self) -> PyRules {
        PyRules(self.common.rules)
    }

    /// The number of seats.
    #[getter]
    fn seats(&self) -> usize {
        self.common.seats
    }

    /// The number of threads.
    #[getter]
    fn threads(&self) -> usize {
        self.threads.count()
    }

    /// The layout of a row of `observations`.
    #[getter]
    fn layout(&self) -> PyLayout {
        PyLayout::shared(&self.common.rules, self.common.seats, &self.common.tensors)
    }

    /// The size of the action space: indices are from 0 to `action_count - 1`.
    #[getter]
    fn action_count(&self) -> usize {
        self.common.space.action_count()
    }

    /// The tensors of the seats to act: shape `(batch, layout.size)`, dtype `uint8`.
    #[getter]
    fn observations(&self, py: Python<'_>) -> Py<PyArray2<u8>> {
        self.arrays.observations.clone_ref(py)
    }

    /// The legal decisions of the seats to act: shape `(batch, action_count)`, dtype `bool`.
    #[getter]
    fn masks(&self, py: Python<'_>) -> Py<PyAny> {
        self.arrays.masks.clone_ref(py)
    }

    /// Each seat's reward since your last decision: shape `(batch, seats)`, dtype `float32`.
    #[getter]
    fn rewards(&self, py: Python<'_>) -> Py<PyArray2<f32>> {
        self.arrays.rewards.clone_ref(py)
    }

    /// The seats to act: shape `(batch,)`, dtype `int64`.
    #[getter]
    fn seat(&self, py: Python<'_>) -> Py<PyArray1<i64>> {
        self.arrays.seat.clone_ref(py)
    }

    /// Whether each match ended in the last step: shape `(batch,)`, dtype `bool`.
    #[getter]
    fn done(&self, py: Python<'_>) -> Py<PyAny> {
        self.arrays.done.clone_ref(py)
    }

    /// Each seat's tensor at the end of the match, valid where `done`: shape `(batch, seats, layout.size)`, dtype `uint8`.
    /// `None` without `finals`.
    #[getter]
    fn final_observations(&self, py: Python<'_>) -> Option<Py<PyArray3<u8>>> {
        self.arrays.finals.as_ref().map(|finals| finals.clone_ref(py))
    }

    /// The deal number of each match: a new array of shape `(batch,)`, dtype `uint64`.
    #[getter]
    fn deals<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        PyArray1::from_iter(py, self.slots.matches().into_iter().map(|playing| playing.key().deal))
    }

    /// Restarts every match with its first deal.
    fn reset(&mut self, py: Python<'_>) -> PyResult<()> {
        self.is_begun = true;
        self.work(py, BatchCall::Reset)
    }

    /// Carries out one decision in each match. `actions` has their indices: shape `(batch,)`, dtype `int64` or `int32`.
    fn step(&mut self, py: Python<'_>, actions: &Bound<'_, PyAny>) -> PyResult<()> {
        if !self.is_begun {
            return Err(error::IllegalAction::new_err("the matches have not begun; call reset() first"));
        }
        let chosen = read_indices(actions, self.common.batch)?;
        let space = &self.common.space;
        let refused = self.asks.iter_mut().zip(&chosen).position(|(ask, &index)| !ask.choose(space, index));
        if let Some(number) = refused {
            return Err(self.refusal(number, chosen[number]));
        }
        self.work(py, BatchCall::Step)
    }

    /// Samples a legal decision of each match uniformly: shape `(batch,)`, dtype `int64`. The result depends on the seed
    /// and the current matches.
    fn random_actions<'py>(&self, py: Python<'py>, seed: &Bound<'_, PyAny>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let seed = args::whole(seed, "seed", 0, u64::MAX)?;
        let mut stream = Key::new(seed, 0).stream(Purpose::Agent, 0);
        let space = &self.common.space;
        Ok(PyArray1::from_iter(
            py,
            self.asks.iter().map(|ask| {
                let legal = &ask.legal;
                let chosen = legal.nth(stream.below(legal.len().max(1) as u32) as usize);
                chosen.and_then(|action| space.to_index(action, legal.seat())).map_or(-1, |index| index as i64)
            }),
        ))
    }

    /// A copy of one match of the batch, as a `Game`.
    fn game(&self, index: &Bound<'_, PyAny>) -> PyResult<PyGame> {
        let index = args::whole(index, "index", 0, u64::MAX)? as usize;
        let matches = self.slots.matches();
        let Some(playing) = matches.get(index) else {
            let most = matches.len() - 1;
            return Err(PyIndexError::new_err(format!("`index` must be from 0 to {most}, found {index}")));
        };
        let BatchSettings { rules, seats, reward, .. } = &self.common;
        GameEpisode::replayed(rules, *seats, playing.key(), *reward, playing.actions()).map(PyGame::from)
    }

    /// An independent copy with new arrays.
    fn copy(&self, py: Python<'_>) -> PyResult<PyVectorGame> {
        let common = BatchSettings {
            opponents: self.common.opponents.clone(),
            space: self.common.space,
            tensors: self.common.tensors.clone(),
            ..self.common
        };
        let own = self.slots.own().map(|(deal, own)| (deal, own.to_vec())).collect();
        restored(py, common, own, self.threads.count(), self.is_begun, self.arrays.results(py))
    }

    fn __len__(&self) -> usize {
        self.common.batch
    }

    fn __repr__(&self) -> String {
        let BatchSettings { rules, seats, batch, .. } = &self.common;
        let (name, threads) = (rules.name(), self.threads.count());
        let (es, s) = (if *batch == 1 { "" } else { "es" }, if threads == 1 { "" } else { "s" });
        format!("<VectorGame of {batch} match{es}, {name:?} at {seats} seats, {threads} thread{s}>")
    }

    fn __hash__(&self) -> u64 {
        let key = self.common.key;
        hash_of(&(self.common.rules.name(), self.common.seats, self.common.batch, key.seed, key.agents, key.deal))
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<PyVectorGame> {
        self.copy(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<PyVectorGame> {
        self.copy(py)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let thaw = py.import("cambio_game._cambio")?.getattr("_vector")?;
        let common = &self.common;
        let specs = common.opponents.iter().map(|spec| spec.as_ref().map(ToString::to_string)).collect::<Vec<_>>();
        let matches = self.slots.own().map(|(deal, own)| (deal, texts(own))).collect::<Vec<_>>();
        let state = (self.threads.count(), self.is_begun, matches, self.arrays.results(py));
        let parts = (self.rules(), common.seats, seeds(common.key), specs, common.rotates, common.reward.word(), state);
        (thaw, parts).into_pyobject(py)
    }
}

/// The state in a pickle: threads, whether `reset` was called, each match's deal and decisions, the results of the last step.
type PickledState<'py> = (Bound<'py, PyAny>, bool, Vec<(u64, String)>, Results);

/// Restores a batch, for `pickle`.
#[pyfunction(name = "_vector")]
#[expect(clippy::too_many_arguments, reason = "the fields of a pickle")]
pub(crate) fn vector(
    py: Python<'_>,
    rules: &Bound<'_, PyAny>,
    seats: &Bound<'_, PyAny>,
    seeds: Seeds,
    specs: Vec<Option<String>>,
    rotates: bool,
    reward: &str,
    state: PickledState<'_>,
) -> PyResult<PyVectorGame> {
    let (rules, seats) = rules::table(rules, seats)?;
    let (threads, is_begun, matches, results) = state;
    // A pickle may come from others, so it has the same bounds as the constructor.
    let threads = args::whole(&threads, "threads", 1, MOST_THREADS)? as usize;
    let batch = matches.len();
    if !(1..=MOST).contains(&(batch as u64)) {
        let what = format!("`batch` must be a whole number from 1 to {MOST}, found {batch}");
        return Err(error::CambioError::new_err(what));
    }
    let common = BatchSettings {
        rules,
        seats,
        key: key_of(seeds)?,
        batch,
        opponents: opponents((!specs.is_empty()).then_some(specs), seats)?,
        rotates,
        reward: Reward::read(reward)?,
        finals: results.2.is_some(),
        space: ActionSpace::new(&rules, seats),
        tensors: tensor_space(&rules, seats),
    };
    let matches = matches.into_iter().map(|(deal, texts)| Ok((deal, actions_of(&texts)?)));
    let matches = matches.collect::<PyResult<Vec<_>>>()?;
    restored(py, common, matches, threads, is_begun, results)
}
