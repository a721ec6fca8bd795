//! The class `SmallGame`: a game that is compiled once, for exact values, best responses and exploitability.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cambio_agents::Guarded;
use cambio_core::encode::{ActionSpace, TensorSpace};
use cambio_core::engine::OwnedObservation;
use cambio_core::rules::MINI_GAMES;
use cambio_core::view::RoundHistory;
use cambio_core::{Rules, Score, Seat};
use cambio_exec::{read_up_to, write_whole};
use cambio_solve::{AgentPolicy, Cfr, CfrMethod, Game, InfosetView, Limits, SolveError, Strategy, read_strategy};
use numpy::prelude::*;
use numpy::{Element, PyArray1, PyArray2, PyUntypedArray};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::agent::PyAgent;
use crate::args::named;
use crate::error::check_signals;
use crate::observation::{PyObservation, history_of};
use crate::python_agent::ask_policy;
use crate::rules::{PyLayout, PyRules, tensor_space};
use crate::{args, error};

const SEATS: usize = 2;

/// A small game, compiled once: exact values, best responses and exploitability of any pair of strategies.
///
/// `rules` is the name of a mini game (`cambio.MINI_GAMES`) or any rule system for two seats that is small enough: the game is
/// one round, in which seat 0 has the first turn. Compilation takes 0.01 to 10 seconds. Each evaluation after it is a few passes
/// over arrays and takes 0.1 to 300 milliseconds. A game that needs more than `memory_limit` bytes raises `RulesError`.
///
/// The information sets of each seat are numbered from 0. `tensors(seat)`, `masks(seat)` and `keys(seat)` have a row for each
/// information set. A strategy of a seat is an array of probabilities with shape `(information_sets[seat], action_count)` and
/// dtype `float64` or `float32`: a row for each information set and a column for each action index. Illegal actions have the
/// probability 0. A decision with a single choice is not an information set.
///
///     >>> game = cambio.SmallGame("mini-m1")
///     >>> round(game.exploitability(*game.uniform()), 6)
///     0.541857
///     >>> a, b = game.solve(to=1e-3)
///     >>> game.exploitability(a, b) <= 1e-3
///     True
///
/// Payoffs are 1 for a win, 0 for a tie, −1 for a loss; with other scoring rules, half the score difference.
#[pyclass(frozen, eq, name = "SmallGame", module = "cambio_game")]
#[derive(Clone)]
pub(crate) struct PySmallGame {
    compiled: Arc<CompiledGame>,
}

struct CompiledGame {
    game: Game,
    memory_limit: u64,
    space: ActionSpace,
    tensors: Arc<TensorSpace>,
    /// The action index of each choice of each seat.
    columns: [Vec<u32>; SEATS],
}

impl PartialEq for PySmallGame {
    fn eq(&self, other: &PySmallGame) -> bool {
        self.rules_of() == other.rules_of()
    }
}

/// The exception for an error of the solver.
fn solving(error: SolveError) -> PyErr {
    match error {
        SolveError::TooLarge { .. } | SolveError::Unfit(_) => {
            error::RulesError::new_err(format!("{error}; the mini games are {}", MINI_GAMES.join(", ")))
        }
        SolveError::Illegal { .. } | SolveError::Failed { .. } => error::AgentFault::new_err(error.to_string()),
        other => error::CambioError::new_err(other.to_string()),
    }
}

/// The history of a round up to an information set.
fn history(moment: &InfosetView<'_>) -> RoundHistory {
    history_of(moment.rules, SEATS, (0, &[Score::default(); SEATS]), moment.sightings)
}

impl PySmallGame {
    fn game(&self) -> &Game {
        &self.compiled.game
    }

    fn rules_of(&self) -> &Rules {
        self.game().rules()
    }

    fn shape(&self, seat: Seat) -> [usize; 2] {
        [self.game().information_sets(seat), self.compiled.space.action_count()]
    }

    /// The probabilities of all choices of a seat, from an array with a row or an action for each information set.
    fn flat(&self, value: &Bound<'_, PyAny>, what: &str, seat: Seat) -> PyResult<Vec<f64>> {
        let [sets, actions] = self.shape(seat);
        let numpy = value.py().import("numpy")?;
        let array = numpy.call_method1("asarray", (value,))?.cast_into::<PyUntypedArray>()?;
        if let Ok(array) = array.cast::<PyArray1<i64>>()
            && array.shape() == [sets]
        {
            return self.pure(array.try_readonly()?.as_array().iter().copied(), what, seat);
        }
        let is_float = array.cast::<PyArray2<f64>>().is_ok() || array.cast::<PyArray2<f32>>().is_ok();
        if array.shape() != [sets, actions] || !is_float {
            let (shape, dtype) = (array.getattr("shape")?, array.dtype());
            return Err(error::ArrayError::new_err(format!(
                "`{what}` must have shape ({sets}, {actions}), a row for each information set of seat {seat} and a column for \
                 each action, and dtype float64 or float32, or shape ({sets},), an action for each information set, and dtype \
                 int64, found shape {shape} and dtype {dtype}"
            )));
        }
        let array = numpy.call_method1("ascontiguousarray", (array, "float64"))?;
        self.gather(array.cast::<PyArray2<f64>>()?.try_readonly()?.as_slice()?, what, seat)
    }

    /// The strategy that takes one action at each information set.
    fn pure(&self, chosen: impl Iterator<Item = i64>, what: &str, seat: Seat) -> PyResult<Vec<f64>> {
        let (game, columns) = (self.game(), &self.compiled.columns[seat.index()]);
        let mut flat = Vec::with_capacity(columns.len());
        for (set, action) in chosen.enumerate() {
            let legal = &columns[game.choice_range(seat, set)];
            if !legal.iter().any(|&column| i64::from(column) == action) {
                return Err(error::ArrayError::new_err(format!(
                    "`{what}` must have legal actions, found {action} at information set {set} of seat {seat}; `masks` has the \
                     legal actions"
                )));
            }
            flat.extend(legal.iter().map(|&column| f64::from(i64::from(column) == action)));
        }
        Ok(flat)
    }

    /// Reads the probabilities of the legal actions and checks that all others are 0.
    fn gather(&self, all: &[f64], what: &str, seat: Seat) -> PyResult<Vec<f64>> {
        let (game, columns) = (self.game(), &self.compiled.columns[seat.index()]);
        let mut flat = Vec::with_capacity(columns.len());
        for (set, row) in all.chunks_exact(self.compiled.space.action_count()).enumerate() {
            let legal = &columns[game.choice_range(seat, set)];
            flat.extend(legal.iter().map(|&column| row[column as usize]));
            let is_illegal = |column: &usize| row[*column] != 0.0 && !legal.contains(&(*column as u32));
            if let Some(column) = (0..row.len()).find(is_illegal) {
                let found = row[column];
                return Err(error::ArrayError::new_err(format!(
                    "`{what}` must be 0 for illegal actions, found {found} for action {column} at information set {set} of seat \
                     {seat}; `masks` has the legal actions"
                )));
            }
        }
        Ok(flat)
    }

    /// The strategy of both arrays.
    fn strategy(&self, a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> PyResult<Strategy> {
        let a = self.flat(a, "probabilities_a", Seat::A)?;
        let b = self.flat(b, "probabilities_b", Seat::B)?;
        self.game().strategy([&a, &b]).map_err(|error| error::ArrayError::new_err(error.to_string()))
    }

    /// An array with the values of a seat's choices in the columns of their actions.
    fn dense<'py, T: Element + Copy + Default>(
        &self,
        py: Python<'py>,
        seat: Seat,
        value: impl Fn(usize) -> T,
    ) -> PyResult<Bound<'py, PyArray2<T>>> {
        let [sets, actions] = self.shape(seat);
        let mut dense = vec![T::default(); sets * actions];
        let columns = &self.compiled.columns[seat.index()];
        for (set, row) in dense.chunks_exact_mut(actions).enumerate() {
            self.game().choice_range(seat, set).for_each(|choice| row[columns[choice] as usize] = value(choice));
        }
        PyArray1::from_vec(py, dense).reshape([sets, actions])
    }

    /// The array of a seat's strategy from the probabilities of its choices.
    fn array<'py>(&self, py: Python<'py>, flat: &[f64], seat: Seat) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.dense(py, seat, |choice| flat[choice])
    }

    /// The arrays of both seats' strategies.
    fn arrays<'py>(&self, py: Python<'py>, strategy: &Strategy) -> PyResult<Bound<'py, PyTuple>> {
        let array = |seat| self.array(py, strategy.choice_probabilities(seat), seat);
        (array(Seat::A)?, array(Seat::B)?).into_pyobject(py)
    }

    /// Visits all information sets of a seat. `visit` receives each with its number.
    fn visit(&self, seat: Seat, mut visit: impl FnMut(&InfosetView<'_>) -> PyResult<()>) -> PyResult<()> {
        let mut done = Ok(());
        let walked = self.game().visit(seat, |moment| {
            if done.is_ok() {
                done = visit(moment);
            }
        });
        done?;
        walked.map_err(solving)
    }

    /// The array of a seat from an object with the method `probabilities`.
    fn asked<'py>(&self, policy: &Bound<'py, PyAny>, seat: Seat, batch: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let [sets, actions] = self.shape(seat);
        let (mut all, mut waiting) = (vec![0.0; sets * actions], Vec::new());
        let mut answer = |waiting: &mut Vec<(usize, PyObservation)>| -> PyResult<()> {
            policy.py().check_signals()?;
            let (rows, seen): (Vec<_>, Vec<_>) = waiting.drain(..).unzip();
            let answers = ask_policy(policy, seen, actions)?;
            for (row, shares) in rows.into_iter().zip(answers.as_array().rows()) {
                all[row * actions..][..actions].iter_mut().zip(shares).for_each(|(share, &found)| *share = found);
            }
            Ok(())
        };
        self.visit(seat, |moment| {
            let seen = PyObservation {
                view: OwnedObservation::from(moment.view),
                sightings: moment.sightings.to_vec(),
                decided: moment.decisions.to_vec(),
                rounds: 0,
                totals: vec![Score::default(); SEATS],
                key: Some(self.game().key(seat, moment.set)),
            };
            waiting.push((moment.set, seen));
            if waiting.len() == batch { answer(&mut waiting) } else { Ok(()) }
        })?;
        if !waiting.is_empty() {
            answer(&mut waiting)?;
        }
        PyArray1::from_vec(policy.py(), all).reshape([sets, actions])
    }
}

/// The strategies in a file for these rules: the probability of each action index, by seat and key.
#[pyfunction]
pub(crate) fn _strategies(path: PathBuf, rules: PyRules) -> PyResult<BTreeMap<(usize, String), BTreeMap<usize, f64>>> {
    let PyRules(rules) = rules;
    rules.covers(SEATS).map_err(error::rules)?;
    let refused = |error: &dyn Display| unreadable(&path, error);
    let text = read_up_to(&path, Limits::default().memory).map_err(|error| refused(&error))?;
    let (space, mut all) = (ActionSpace::new(&rules, SEATS), BTreeMap::new());
    let read = read_strategy(&rules, &text, |seat, key, actions, shares| {
        let cells = actions.iter().zip(shares).map(|(&action, &share)| Some((space.to_index(action, seat)?, share)));
        let row: Option<BTreeMap<usize, f64>> = cells.collect();
        let row = row.filter(|row| row.len() == shares.len());
        row.is_some_and(|row| all.insert((seat.index(), key.to_string()), row).is_none())
    });
    read.map(|()| all).map_err(|error| refused(&error))
}

/// The exception for a strategy file that cannot be read.
fn unreadable(path: &Path, error: &dyn Display) -> PyErr {
    error::CambioError::new_err(format!("`{}` cannot be read: {error}", path.display()))
}

properties! { PySmallGame, this,
    repr = {
        let (a, b) = this.information_sets();
        format!("<SmallGame {:?}, {a} and {b} information sets>", this.rules_of().name())
    },
    hash = this.rules_of().name(),
    reduce(py) = (py.get_type::<PySmallGame>(), (this.rules(), this.compiled.memory_limit));
    /// The rules.
    rules: PyRules = PyRules(*this.rules_of());
    /// The number of information sets of each seat.
    information_sets: (usize, usize) = (this.game().information_sets(Seat::A), this.game().information_sets(Seat::B));
    /// The number of histories: decision, chance and terminal nodes of the game tree.
    histories: u64 = this.game().histories();
    /// The layout of observation tensors.
    layout: PyLayout = PyLayout::shared(this.rules_of(), SEATS, &this.compiled.tensors);
    /// The size of the action space: indices are from 0 to `action_count - 1`.
    action_count: usize = this.compiled.space.action_count();
}

#[pymethods]
impl PySmallGame {
    #[new]
    #[pyo3(
        signature = (rules, memory_limit = Limits::default().memory),
        text_signature = "(rules, memory_limit=4294967296)"
    )]
    fn new(
        py: Python<'_>,
        rules: PyRules,
        #[pyo3(from_py_with = named::memory_limit)] memory_limit: u64,
    ) -> PyResult<PySmallGame> {
        let PyRules(rules) = rules;
        let limits = Limits { memory: memory_limit, ..Limits::default() };
        let game = py.detach(|| Game::compile(&rules, &limits, &mut |_| {})).map_err(solving)?;
        let space = ActionSpace::new(&rules, SEATS);
        let columns = [Seat::A, Seat::B].map(|seat| {
            let choices = (0..game.information_sets(seat)).flat_map(|set| game.choices(seat, set));
            choices
                .map(|&action| space.to_index(action, seat).expect("a choice is in the action space") as u32)
                .collect()
        });
        let tensors = tensor_space(&rules, SEATS);
        Ok(PySmallGame { compiled: Arc::new(CompiledGame { game, memory_limit, space, tensors, columns }) })
    }

    /// The observation tensor at each information set of a seat: shape `(information_sets[seat], layout.size)`, dtype `uint8`.
    ///
    /// Information sets may have equal tensors, because a tensor does not contain all earlier events. Each call computes the
    /// array, which takes 69 MB for seat 0 of `mini-p`.
    fn tensors<'py>(&self, py: Python<'py>, seat: &Bound<'_, PyAny>) -> PyResult<Bound<'py, PyArray2<u8>>> {
        let seat = args::seat(seat, SEATS)?;
        let (space, sets) = (&self.compiled.tensors, self.game().information_sets(seat));
        let all = py.detach(|| {
            let mut all = vec![0_u8; sets * space.len()];
            let row = |set: usize| set * space.len()..(set + 1) * space.len();
            self.visit(seat, |moment| {
                space.write(moment.view, &history(moment), &mut all[row(moment.set)]);
                Ok(())
            })
            .map(|()| all)
        })?;
        PyArray1::from_vec(py, all).reshape([sets, space.len()])
    }

    /// The legal actions at each information set of a seat: shape `(information_sets[seat], action_count)`, dtype `bool`.
    fn masks<'py>(&self, py: Python<'py>, seat: &Bound<'_, PyAny>) -> PyResult<Bound<'py, PyArray2<bool>>> {
        self.dense(py, args::seat(seat, SEATS)?, |_| true)
    }

    /// The key of each information set of a seat, as in the files of `cambio solve --save`: 32 hexadecimal digits. Two
    /// information sets of a seat have different keys.
    fn keys(&self, seat: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        let seat = args::seat(seat, SEATS)?;
        Ok((0..self.game().information_sets(seat)).map(|set| self.game().key(seat, set).to_string()).collect())
    }

    /// The strategies of both seats that take each legal action with equal probability.
    fn uniform<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.arrays(py, &self.game().uniform())
    }

    /// The strategies of a policy in both seats, as a pair of arrays.
    ///
    /// `policy` is an object with a method `probabilities`, which is called with lists of up to `batch` observations until it
    /// has answered for every information set: see `Policy`. It may also be an `Agent` or its spec. Then the agent decides at
    /// each information set that it can reach, `streams` times if it does not know its probabilities, by default 20 times if it
    /// draws random numbers and otherwise once. The same `seed` gives the same result, which is also the result of `cambio exploit`.
    #[pyo3(signature = (policy, *, batch = 1024, streams = None, seed = 0))]
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        policy: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = named::batch)] batch: usize,
        streams: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = named::seed)] seed: u64,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let streams = args::optional(streams, "streams", 1, u32::MAX.into())?.map(|streams| streams as u32);
        let spec = match policy.cast::<PyString>() {
            Ok(text) => Some(PyAgent::read(&text.to_cow()?)?),
            Err(_) => policy.cast::<PyAgent>().ok().map(|agent| agent.get().spec.clone()),
        };
        if let Some(spec) = spec {
            let answers = py.detach(|| {
                let mut policy = AgentPolicy::new(|| Guarded::new(spec.make()), seed, streams);
                self.game().ask(&mut policy, &mut |_| {})
            });
            return self.arrays(py, &answers.map_err(solving)?.strategy);
        }
        if !policy.hasattr("probabilities")? {
            let found = args::type_of(policy);
            return Err(pyo3::exceptions::PyTypeError::new_err(format!(
                "`policy` must be an agent, its spec or an object with a method probabilities(observations), found type {found}"
            )));
        }
        (self.asked(policy, Seat::A, batch)?, self.asked(policy, Seat::B, batch)?).into_pyobject(py)
    }

    /// The expected payoff of seat 0 if the seats play these strategies.
    fn value(
        &self,
        py: Python<'_>,
        probabilities_a: &Bound<'_, PyAny>,
        probabilities_b: &Bound<'_, PyAny>,
    ) -> PyResult<f64> {
        let strategy = self.strategy(probabilities_a, probabilities_b)?;
        Ok(py.detach(|| self.game().value(&strategy)))
    }

    /// The exact exploitability of a pair of strategies: the mean gain of a best response over both seats, which is half of
    /// `NashConv`. It is 0 for an equilibrium.
    fn exploitability(
        &self,
        py: Python<'_>,
        probabilities_a: &Bound<'_, PyAny>,
        probabilities_b: &Bound<'_, PyAny>,
    ) -> PyResult<f64> {
        let strategy = self.strategy(probabilities_a, probabilities_b)?;
        Ok(py.detach(|| self.game().exploitability(&strategy)))
    }

    /// A best response of `seat` to a strategy of the other seat.
    ///
    /// Returns the expected payoff of `seat` and the index of the best action at each of its information sets: shape
    /// `(information_sets[seat],)`, dtype `int64`. Every method that takes a strategy takes such an array too.
    fn best_response<'py>(
        &self,
        py: Python<'py>,
        seat: &Bound<'py, PyAny>,
        probabilities: &Bound<'py, PyAny>,
    ) -> PyResult<(f64, Bound<'py, PyArray1<i64>>)> {
        let seat = args::seat(seat, SEATS)?;
        let other = if seat == Seat::A { Seat::B } else { Seat::A };
        let theirs = self.flat(probabilities, "probabilities", other)?;
        let uniform = self.game().uniform();
        let own = uniform.choice_probabilities(seat);
        let both = if seat == Seat::A { [own, &theirs[..]] } else { [&theirs[..], own] };
        let strategy = self.game().strategy(both).map_err(|error| error::ArrayError::new_err(error.to_string()))?;
        let response = py.detach(|| self.game().best_response(seat, &strategy));
        let columns = &self.compiled.columns[seat.index()];
        let chosen = response.choices.iter().enumerate();
        let actions = chosen
            .map(|(set, &choice)| i64::from(columns[self.game().choice_range(seat, set).start + choice as usize]))
            .collect();
        Ok((response.value, PyArray1::from_vec(py, actions)))
    }

    /// The strategy of `seat` that draws one of `strategies` before the round, with probabilities in proportion to `weights`
    /// (equal by default), and follows it. It is the average strategy of fictitious play, of PSRO and of checkpoints.
    ///
    /// `strategies` may be a generator, so that one array at a time is in memory. Returns shape
    /// `(information_sets[seat], action_count)`, dtype `float64`.
    #[pyo3(signature = (seat, strategies, weights = None))]
    fn mixture<'py>(
        &self,
        py: Python<'py>,
        seat: &Bound<'py, PyAny>,
        strategies: &Bound<'py, PyAny>,
        weights: Option<Vec<f64>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let seat = args::seat(seat, SEATS)?;
        let parts = strategies.try_iter()?.map(|part| self.flat(&part?, "strategies", seat));
        let parts = parts.collect::<PyResult<Vec<_>>>()?;
        if parts.is_empty() {
            return Err(error::ArrayError::new_err("`strategies` must have at least one strategy"));
        }
        let weights = weights.unwrap_or_else(|| vec![1.0; parts.len()]);
        if weights.len() != parts.len()
            || weights.iter().any(|&weight| !(0.0..f64::INFINITY).contains(&weight))
            || weights.iter().sum::<f64>() <= 0.0
        {
            return Err(error::ArrayError::new_err(format!(
                "`weights` must have {} numbers from 0, one for each strategy and not all 0, found {weights:?}",
                parts.len()
            )));
        }
        let mixed = py.detach(|| self.game().mixture(seat, weights.into_iter().zip(parts)));
        self.array(py, &mixed, seat)
    }

    /// Solves the game: the strategies of both seats, with an exploitability of at most `to`. The solver is discounted
    /// counterfactual regret minimisation, as in `cambio solve`. Releases the GIL; Ctrl-C stops it.
    ///
    /// `progress(iterations, exploitability)` is called whenever the exploitability has been measured. An exception that it raises
    /// stops the solver.
    #[pyo3(signature = (to = 1e-3, *, progress = None))]
    fn solve<'py>(&self, py: Python<'py>, to: f64, progress: Option<Py<PyAny>>) -> PyResult<Bound<'py, PyTuple>> {
        if !(to > 0.0 && to.is_finite()) {
            return Err(error::CambioError::new_err(format!(
                "`to` must be a number above 0, such as 1e-3, found {to}"
            )));
        }
        let strategy = py.detach(|| -> PyResult<Strategy> {
            let mut cfr = Cfr::new(self.game(), CfrMethod::DCFR);
            loop {
                // The exploitability is measured at the same iterations as by `cambio solve`.
                let until = cfr.iterations() + 1 + cfr.iterations() / 20;
                while cfr.iterations() < until {
                    cfr.iterate();
                }
                let strategy = cfr.average();
                let exploitability = self.game().exploitability(&strategy);
                if let Some(progress) = &progress {
                    Python::attach(|py| progress.call1(py, (cfr.iterations(), exploitability)))?;
                }
                if exploitability <= to {
                    return Ok(strategy);
                }
                check_signals()?;
            }
        });
        self.arrays(py, &strategy?)
    }

    /// Writes strategies to a file that `load`, `cambio exploit --strategy` and `StrategyPolicy` can read. An existing file is
    /// replaced.
    fn save(
        &self,
        path: PathBuf,
        probabilities_a: &Bound<'_, PyAny>,
        probabilities_b: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let text = self.strategy(probabilities_a, probabilities_b)?.write(self.game());
        write_whole(&path, text.as_bytes()).map_err(|error| error::CambioError::new_err(error.to_string()))
    }

    /// Reads the strategies in a file of `save` or `cambio solve --save`. Raises `CambioError` if the file is for another game
    /// or damaged, or larger than `memory_limit`.
    fn load<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyTuple>> {
        let refused = |error: &dyn Display| unreadable(&path, error);
        let text = read_up_to(&path, self.compiled.memory_limit).map_err(|error| refused(&error))?;
        self.arrays(py, &Strategy::read(self.game(), &text).map_err(|error| refused(&error))?)
    }
}
