//! The class `VectorGame`: many matches that one call steps.

mod arrays;
mod vector_match;

use std::iter::zip;
use std::sync::{Arc, Mutex, MutexGuard};

use cambio_agents::AgentSpec;
use cambio_core::encode::{ActionSpace, TensorSpace};
use cambio_core::engine::IllegalAction;
use cambio_core::rng::{Bounded as _, Key, Purpose, Seed};
use cambio_core::{Choices, Rules};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::action::no_index;
use crate::agent::PyAgent;
use crate::args::named;
use crate::episode::{GameEpisode, Reward};
use crate::game::PyGame;
use crate::rules::{PyLayout, PyRules, tensor_space};
use crate::{args, error};
use arrays::{Arrays, Extras, object};
use vector_match::{BatchCall, MatchStart, Threads, VectorMatches};

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
    /// Whether a match that has ended starts its next deal at once.
    autoreset: bool,
    extras: Extras,
    space: ActionSpace,
    tensors: Arc<TensorSpace>,
}

/// `batch` independent matches that one call steps. The results are written into arrays, which every call overwrites.
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
/// | `keys` | `(batch, 2)` | `uint64` | only with `keys`: the key of the information set of the seat to act, its upper and lower 64 bits |
/// | `all_observations` | `(batch, seats, layout.size)` | `uint8` | only with `all_seats`: the tensor of every seat |
/// | `true_cards` | `(batch, seats, rules.slots)` | `int8` | only with `true_cards`: the class of the true card in each spot, as in `layout.classes`; −1 for no card |
///
/// `all_observations` and `true_cards` are for critics and analyses, not for players: they contain information that is hidden from
/// the seat to act. `all_observations[i, s]` is the tensor of seat `s`. In `true_cards`, seats are relative to the seat to act.
///
/// With `autoreset=False`, a match that has ended stays at its end until `reset(where=…)` starts its next deal: `done` remains true, no
/// decision is legal, `seat` is −1, `observations` are 0, and its entry in `actions` is ignored.
///
/// Torch and JAX can use the arrays without a copy (`torch.from_numpy`, `jax.dlpack`). A batch cannot be copied or pickled: `game(i)` is a
/// copy of one match, and `reset(games=…)` continues from such copies.
///
/// `step` releases the GIL. If an action is not legal, it raises `IllegalAction` with the number of the match; all matches are
/// then unchanged. A call of a method while another thread is in a method of the same batch raises `CambioError`.
#[pyclass(frozen, name = "VectorGame", module = "cambio_game")]
pub(crate) struct PyVectorGame {
    common: BatchSettings,
    arrays: Arrays,
    batch: Mutex<VectorBatch>,
    threads: usize,
}

/// The matches of a batch.
struct VectorBatch {
    slots: VectorMatches,
    /// The legal decisions in each match.
    choices: Vec<Choices>,
    /// A copy of the masks, which the caller cannot change. A step checks all decisions before it carries out any, and reads
    /// little memory for this: the threads that step the matches write it, so it is not in the cache of the calling thread.
    legal: Vec<u8>,
    threads: Threads,
    /// Whether `reset` was called.
    is_begun: bool,
}

fn check_begun(batch: &VectorBatch) -> PyResult<()> {
    let not_begun = || error::IllegalAction::new_err("the matches have not begun; call reset() first");
    if batch.is_begun { Ok(()) } else { Err(not_begun()) }
}

impl PyVectorGame {
    /// The matches, for one thread at a time.
    fn batch(&self) -> PyResult<MutexGuard<'_, VectorBatch>> {
        args::exclusive(&self.batch, "VectorGame")
    }

    /// Applies `work` to every match and its rows, without the GIL. Raises the fault of the first match that has one.
    fn work(&self, py: Python<'_>, batch: &mut VectorBatch, work: BatchCall<'_>) -> PyResult<()> {
        let VectorBatch { slots, choices, legal, threads, .. } = batch;
        let mut held = self.arrays.hold(py)?;
        let rows = held.rows(&self.common, choices, legal)?;
        match py.detach(|| slots.work(work, &self.common, threads, rows)) {
            None => Ok(()),
            Some((number, fault)) => Err(error::AgentFault::new_err(format!("match {number}: {fault}"))),
        }
    }

    /// The error for an illegal decision.
    fn refusal(&self, batch: &VectorBatch, number: usize, index: i64) -> PyErr {
        let (space, state) = (&self.common.space, batch.slots.matches()[number].state());
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

properties! { PyVectorGame, this;
    /// The rules.
    rules: PyRules = PyRules(this.common.rules);
    /// The number of seats.
    seats: usize = this.common.seats;
    /// The number of threads.
    threads: usize = this.threads;
    /// The layout of a row of `observations`.
    layout: PyLayout = PyLayout::shared(&this.common.rules, this.common.seats, &this.common.tensors);
    /// The size of the action space: indices are from 0 to `action_count - 1`.
    action_count: usize = this.common.space.action_count();
    /// The tensors of the seats to act: shape `(batch, layout.size)`, dtype `uint8`.
    observations<'py>(py): Option<Py<PyAny>> = object(py, this.arrays.observations.as_ref());
    /// The legal decisions of the seats to act: shape `(batch, action_count)`, dtype `bool`.
    masks<'py>(py): Option<Py<PyAny>> = object(py, this.arrays.masks.as_ref());
    /// Each seat's reward since your last decision: shape `(batch, seats)`, dtype `float32`.
    rewards<'py>(py): Option<Py<PyAny>> = object(py, this.arrays.rewards.as_ref());
    /// The seats to act: shape `(batch,)`, dtype `int64`.
    seat<'py>(py): Option<Py<PyAny>> = object(py, this.arrays.seat.as_ref());
    /// Whether each match ended in the last step: shape `(batch,)`, dtype `bool`.
    done<'py>(py): Option<Py<PyAny>> = object(py, this.arrays.done.as_ref());
    /// Each seat's tensor at the end of the match, valid where `done`: shape `(batch, seats, layout.size)`, dtype `uint8`.
    /// `None` without `finals`.
    final_observations<'py>(py): Option<Py<PyAny>> = object(py, this.arrays.final_observations.as_ref());
    /// Each seat's current tensor: shape `(batch, seats, layout.size)`, dtype `uint8`. `None` without `all_seats`.
    ///
    /// Not for players: a player may only see the tensor of its own seat.
    all_observations<'py>(py): Option<Py<PyAny>> = object(py, this.arrays.all_observations.as_ref());
    /// The key of the information set of the seat to act: its upper and lower 64 bits, shape `(batch, 2)`, dtype `uint64`. `None`
    /// without `keys`.
    ///
    /// Two rows are equal if and only if their seats have the same events and decisions in this round, where seats are counted from the
    /// seat with the first turn. `"%016x%016x" % tuple(keys[i])` is the key as text, as in `SmallGame.keys`.
    keys<'py>(py): Option<Py<PyAny>> = object(py, this.arrays.keys.as_ref());
    /// The class of the true card in each spot, as in `layout.classes`: shape `(batch, seats, rules.slots)`, dtype `int8`; −1 for no card.
    /// Seats are relative to the seat to act. `None` without `true_cards`.
    ///
    /// Not for players: it contains hidden cards.
    true_cards<'py>(py): Option<Py<PyAny>> = object(py, this.arrays.true_cards.as_ref());
    /// The deal number of each match: a new array of shape `(batch,)`, dtype `uint64`.
    deals<'py>(py): PyResult<Bound<'py, PyArray1<u64>>> = {
        let batch = this.batch()?;
        Ok(PyArray1::from_iter(py, batch.slots.matches().into_iter().map(|playing| playing.key().deal)))
    };
}

#[pymethods]
impl PyVectorGame {
    #[new]
    #[pyo3(
        signature = (
            batch, rules = PyRules::default(), seats = 2, *, seed = Seed::Number(0), first_deal = 0,
            agent_seed = Seed::AGENTS, opponents = None, rotate = false, reward = "rank", threads = 1, autoreset = true, finals = false, keys = false, all_seats = false, true_cards = false,
        ),
        text_signature = "(batch, rules='classic', seats=2, *, seed=0, first_deal=0, agent_seed=0, opponents=None, rotate=False, \
                          reward='rank', threads=1, autoreset=True, finals=False, keys=False, all_seats=False, true_cards=False)",
    )]
    #[expect(clippy::too_many_arguments, clippy::fn_params_excessive_bools, reason = "keyword arguments")]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = named::batch)] batch: usize,
        rules: PyRules,
        #[pyo3(from_py_with = named::seats)] seats: usize,
        #[pyo3(from_py_with = named::any_seed)] seed: Seed,
        #[pyo3(from_py_with = named::first_deal)] first_deal: u64,
        #[pyo3(from_py_with = named::agent_seed)] agent_seed: Seed,
        opponents: Option<Vec<Option<String>>>,
        rotate: bool,
        reward: &str,
        #[pyo3(from_py_with = named::threads)] threads: usize,
        autoreset: bool,
        finals: bool,
        keys: bool,
        all_seats: bool,
        true_cards: bool,
    ) -> PyResult<PyVectorGame> {
        let PyRules(rules) = rules;
        rules.covers(seats).map_err(error::rules)?;
        let common = BatchSettings {
            rules,
            seats,
            key: Key { seed, agents: agent_seed, deal: first_deal },
            batch,
            opponents: opponents_of(opponents, seats)?,
            rotates: rotate,
            reward: Reward::read(reward)?,
            autoreset,
            extras: Extras { finals, all_seats, keys, true_cards },
            space: ActionSpace::new(&rules, seats),
            tensors: tensor_space(&rules, seats),
        };
        let batch = VectorBatch {
            slots: VectorMatches::new(&common),
            choices: vec![Choices::NONE; batch],
            legal: vec![0; batch * common.space.action_count()],
            threads: Threads::new(threads)?,
            is_begun: false,
        };
        Ok(PyVectorGame { arrays: Arrays::new(py, &common)?, common, batch: Mutex::new(batch), threads })
    }

    /// The number of matches.
    #[getter(batch)]
    fn size(&self) -> usize {
        self.common.batch
    }

    /// Starts matches. Without arguments, every match starts its first deal.
    ///
    /// `where` selects matches: an array of `batch` bools, such as `games.done`, or the numbers of matches. Each of them starts its
    /// next deal; the others do not change. `games` is a list with a `Game` for each selected match, by default of every match:
    /// a selected match continues from the position of its game, with the same random outcomes as the game. Opponents have
    /// perceived all events of the game, and their random streams restart. When such a match ends, the next deal of the batch
    /// follows.
    #[pyo3(signature = (r#where = None, games = None))]
    fn reset(
        &self,
        py: Python<'_>,
        r#where: Option<&Bound<'_, PyAny>>,
        games: Option<Vec<PyRef<'_, PyGame>>>,
    ) -> PyResult<()> {
        let mut batch = self.batch()?;
        if r#where.is_some() && !batch.is_begun {
            return Err(error::IllegalAction::new_err(
                "the matches have not begun; call reset() without `where` first",
            ));
        }
        let chosen =
            r#where.map_or_else(|| Ok(vec![true; self.common.batch]), |chosen| selected(chosen, self.common.batch))?;
        let starts = match (r#where, games) {
            (_, Some(games)) => starts(&games, &chosen, (&self.common.rules, self.common.seats))?,
            (None, None) => vec![MatchStart::First; self.common.batch],
            (Some(_), None) => {
                chosen.iter().map(|&is_chosen| if is_chosen { MatchStart::Next } else { MatchStart::None }).collect()
            }
        };
        batch.is_begun = true;
        self.work(py, &mut batch, BatchCall::Start(&starts))
    }

    /// Carries out one decision in each match. `actions` has their indices: shape `(batch,)`, dtype `int64` or `int32`, as an array of
    /// numpy or of a library with `__dlpack__` or `__array__`, such as torch and JAX.
    fn step(&self, py: Python<'_>, actions: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut batch = self.batch()?;
        check_begun(&batch)?;
        let chosen = read_indices(actions, self.common.batch)?;
        let rows = batch.legal.chunks_exact(self.common.space.action_count());
        let is_legal = |row: &[u8], index: i64| usize::try_from(index).is_ok_and(|index| row.get(index) == Some(&1));
        // In a match that is over, any index is ignored.
        let refused = zip(zip(rows, &chosen), &batch.choices)
            .position(|((row, &index), choices)| !is_legal(row, index) && !choices.is_empty());
        if let Some(number) = refused {
            return Err(self.refusal(&batch, number, chosen[number]));
        }
        self.work(py, &mut batch, BatchCall::Step(&chosen))
    }

    /// Samples a legal decision of each match uniformly: shape `(batch,)`, dtype `int64`. The result depends on the seed
    /// and the current matches. It is −1 for a match that is over. Raises `IllegalAction` before the first `reset`.
    fn random_actions<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = named::seed)] seed: u64,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let batch = self.batch()?;
        check_begun(&batch)?;
        let mut stream = Key::new(seed, 0).stream(Purpose::Agent, 0);
        let space = &self.common.space;
        Ok(PyArray1::from_iter(
            py,
            batch.choices.iter().map(|legal| {
                let chosen = legal.nth(stream.below(legal.len().max(1) as u32) as usize);
                chosen.and_then(|action| space.to_index(action, legal.seat())).map_or(-1, |index| index as i64)
            }),
        ))
    }

    /// A copy of one match of the batch, as a `Game`.
    fn game(&self, index: &Bound<'_, PyAny>) -> PyResult<PyGame> {
        let batch = self.batch()?;
        let matches = batch.slots.matches();
        let playing = &matches[args::whole(index, "index", 0, matches.len() as u64 - 1)? as usize];
        let BatchSettings { rules, seats, reward, .. } = &self.common;
        GameEpisode::replayed(rules, *seats, playing.key(), *reward, playing.actions()).map(PyGame::from)
    }

    fn __repr__(&self) -> String {
        let BatchSettings { rules, seats, batch, .. } = &self.common;
        let (name, threads) = (rules.name(), self.threads);
        let (es, s) = (if *batch == 1 { "" } else { "es" }, if threads == 1 { "" } else { "s" });
        format!("<VectorGame of {batch} match{es}, {name:?} at {seats} seats, {threads} thread{s}>")
    }
}

/// Copies the caller's indices, one for each match. A copy is needed because a step may overwrite the caller's array.
fn read_indices(value: &Bound<'_, PyAny>, batch: usize) -> PyResult<Vec<i64>> {
    if let Ok(indices) = value.extract::<PyReadonlyArray1<'_, i64>>()
        && indices.len()? == batch
    {
        return Ok(indices.as_array().to_vec());
    }
    let array = value.py().import("numpy")?.call_method1("asarray", (value,))?;
    let (shape, dtype) = (array.getattr("shape")?, array.getattr("dtype")?);
    if !shape.eq((batch,))? || !dtype.getattr("kind")?.eq("i")? {
        return Err(error::ArrayError::new_err(format!(
            "the actions must be an array of {batch} whole numbers, found shape {shape} and dtype {dtype}"
        )));
    }
    array.call_method0("tolist")?.extract()
}

/// Reads the argument `opponents`.
fn opponents_of(specs: Option<Vec<Option<String>>>, seats: usize) -> PyResult<Vec<Option<AgentSpec>>> {
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

/// The matches that `where` selects.
fn selected(chosen: &Bound<'_, PyAny>, batch: usize) -> PyResult<Vec<bool>> {
    let numpy = chosen.py().import("numpy")?;
    let (array, flags) = (numpy.call_method1("asarray", (chosen,))?, numpy.call_method1("zeros", (batch, "bool"))?);
    let is_list = array.getattr("ndim")?.eq(1)?;
    // numpy gives an empty list the dtype float64.
    let is_empty = array.getattr("size")?.eq(0)? && !array.getattr("dtype")?.getattr("kind")?.eq("b")?;
    if !is_list || (!is_empty && flags.set_item(&array, true).is_err()) {
        let (shape, dtype) = (array.getattr("shape")?, array.getattr("dtype")?);
        return Err(error::ArrayError::new_err(format!(
            "`where` must be an array of {batch} bool, or of numbers of matches from 0 to {}, found shape {shape} and dtype {dtype}",
            batch - 1
        )));
    }
    flags.extract()
}

/// The games of `reset`, one for each selected match.
fn starts(games: &[PyRef<'_, PyGame>], chosen: &[bool], (rules, seats): (&Rules, usize)) -> PyResult<Vec<MatchStart>> {
    let wanted = chosen.iter().filter(|&&is_chosen| is_chosen).count();
    if games.len() != wanted {
        let found = games.len();
        return Err(error::CambioError::new_err(format!(
            "`games` must have {wanted} games, one for each selected match, found {found}"
        )));
    }
    let mut games = games.iter().enumerate();
    let start = |&is_chosen: &bool| {
        let Some((number, game)) = is_chosen.then(|| games.next()).flatten() else { return Ok(MatchStart::None) };
        let playing = game.episode.playing();
        if (playing.rules(), playing.seats()) != (rules, seats) {
            return Err(error::CambioError::new_err(format!(
                "`games[{number}]` must be a game of {} at {seats} seats, found {} at {} seats",
                rules.name(),
                playing.rules().name(),
                playing.seats()
            )));
        }
        if playing.is_over() {
            return Err(error::CambioError::new_err(format!("`games[{number}]` must not be over")));
        }
        Ok(MatchStart::After(playing.key(), playing.actions().to_vec()))
    };
    chosen.iter().map(start).collect()
}
