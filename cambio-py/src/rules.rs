//! Rule systems, and the layout of observation tensors.

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use cambio_core::encode::{ActionSpace, TensorBlock, TensorBlockValues, TensorSpace};
use cambio_core::view::RoundHistory;
use cambio_core::{Card, Rules, RulesSpec};
use numpy::PyUntypedArray;
use numpy::prelude::*;
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyRange, PySlice, PyString, PyTuple};
use serde_json::Value;

use crate::args::named;
use crate::{args, error};

/// A hash of a value that is the same within one process.
pub(crate) fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The tensor layout for rules and a number of seats. The last 64 layouts are cached, because each new match needs one.
pub(crate) fn tensor_space(rules: &Rules, seats: usize) -> Arc<TensorSpace> {
    const MOST: usize = 64;
    static KEPT: Mutex<Vec<(Rules, usize, Arc<TensorSpace>)>> = Mutex::new(Vec::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((.., space)) = kept.iter().find(|(of, at, _)| (*of, *at) == (*rules, seats)) {
        return space.clone();
    }
    let space = Arc::new(TensorSpace::new(rules, seats));
    if kept.len() == MOST {
        kept.remove(0);
    }
    kept.push((*rules, seats, space.clone()));
    space
}

/// A rule system, validated and immutable.
///
/// `rules` is the name of a preset or mini game (`cambio.PRESETS`, `cambio.MINI_GAMES`), a dictionary of knobs with an
/// optional `base`, or a `Rules` object. Raises `RulesError` if the rules are invalid.
///
///     >>> cambio.Rules({"base": "classic", "name": "six cards", "hand": 6}).name
///     'six cards'
///
/// Rule systems are cached until the process exits and take 4 to 22 KB each; equal ones share memory.
#[pyclass(frozen, eq, name = "Rules", module = "cambio_game")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct PyRules(pub(crate) Rules);

impl PyRules {
    fn is_preset(&self) -> bool {
        args::preset(self.0.name()).is_ok_and(|known| known == self.0)
    }

    /// The card with a label.
    fn card(&self, label: &str) -> PyResult<Card> {
        self.0.card(label).ok_or_else(|| {
            let (label, name) = (cambio_core::text::excerpt(label), self.0.name());
            error::CambioError::new_err(format!("`{label}` is not a card of `{name}`"))
        })
    }
}

properties! { PyRules, this,
    repr = {
        let name = this.0.name();
        if this.is_preset() { format!("Rules({name:?})") } else { format!("<Rules {name:?}>") }
    },
    hash = (this.0.name(), this.0.deck()),
    reduce(py) = {
        let of = if this.is_preset() { this.name().into_pyobject(py)?.into_any() } else { this.to_dict(py)? };
        (py.get_type::<PyRules>(), (of,))
    };
    /// The name of the rule system.
    name: &'static str = this.0.name();
    /// The number of slots in each seat's layout.
    slots: usize = this.0.slots();
    /// The labels of the cards in the deck, each with its number of copies.
    deck<'py>(py): PyResult<Bound<'py, PyDict>> = counts(py, &this.0, this.0.deck().iter().copied());
    /// The numbers of seats that the rules support.
    seats<'py>(py): PyResult<Bound<'py, PyRange>> = {
        let most = (2..=8).rev().find(|&seats| this.0.covers(seats).is_ok()).unwrap_or(1);
        PyRange::new(py, 2, most as isize + 1)
    };
}

#[pymethods]
impl PyRules {
    #[new]
    #[pyo3(signature = (rules = PyRules::default()), text_signature = "(rules='classic')")]
    fn new(rules: PyRules) -> PyRules {
        rules
    }

    /// Creates rules from the text of a rule file (TOML).
    #[staticmethod]
    fn from_toml(text: &str) -> PyResult<PyRules> {
        validated(RulesSpec::from_toml(text)).map(PyRules)
    }

    /// Reads a rule file (TOML).
    #[staticmethod]
    fn read(path: std::path::PathBuf) -> PyResult<PyRules> {
        let text = cambio_exec::read_text(&path)
            .map_err(|what| error::RulesError::new_err(format!("`{}` cannot be read: {what}", path.display())))?;
        PyRules::from_toml(&text)
    }

    /// All knobs with their values, and the deck; `Rules(rules.to_dict()) == rules`.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let spec = self.0.spec();
        let mut table = spec.to_table();
        spec.knobs().into_iter().for_each(|(name, value)| table[name] = value);
        args::from_json(py, &table)
    }

    /// The text of a rule file (TOML), with a comment on every knob.
    fn to_toml(&self) -> String {
        self.0.spec().to_toml()
    }

    /// The points of a card, by its label.
    fn points(&self, card: &str) -> PyResult<i32> {
        self.card(card).map(|card| self.0.points(card))
    }

    /// The rank of a card, by its label, such as "10" for "10h".
    fn rank(&self, card: &str) -> PyResult<&'static str> {
        self.card(card).map(|card| &self.0.kind(card).rank[..])
    }

    /// The size of the action space at a table of `seats` seats.
    fn action_count(&self, #[pyo3(from_py_with = named::seats)] seats: usize) -> PyResult<usize> {
        self.0.covers(seats).map_err(error::rules)?;
        Ok(ActionSpace::new(&self.0, seats).action_count())
    }
}

/// Rules that are not given.
impl Default for PyRules {
    fn default() -> PyRules {
        PyRules(Rules::preset("classic").expect("it is a preset"))
    }
}

/// Reads a rule system: a `Rules` object, the name of a preset or mini game, or a mapping of knobs.
impl<'a, 'py> FromPyObject<'a, 'py> for PyRules {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<PyRules> {
        if let Ok(rules) = value.cast::<PyRules>() {
            return Ok(*rules.get());
        }
        if let Ok(name) = value.cast::<PyString>() {
            return args::preset(&name.to_cow()?).map(PyRules);
        }
        let table = value.cast::<PyMapping>().map_err(|_| {
            let found = args::type_of(&value);
            PyTypeError::new_err(format!(
                "the rules must be a Rules object, a preset's name or a dict, found type {found}"
            ))
        })?;
        let dict = PyDict::new(value.py());
        dict.update(&table)?;
        let table = args::to_json(dict.as_any())?;
        validated(RulesSpec::from_json(&table).and_then(|spec| spec.check_meaning().map(|()| spec))).map(PyRules)
    }
}

/// Validates a spec. Rules with the name, cards and knobs of a preset become that preset.
fn validated(spec: Result<RulesSpec, cambio_core::RulesError>) -> PyResult<Rules> {
    let rules = spec.and_then(RulesSpec::validate).map_err(error::rules)?;
    match rules.spec().to_json() {
        Value::String(name) => args::preset(&name),
        _ => Ok(rules),
    }
}

/// The number of cards of each label, without zeros.
pub(crate) fn counts<'py>(
    py: Python<'py>,
    rules: &Rules,
    cards: impl IntoIterator<Item = Card>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut numbers = vec![0_usize; rules.kinds().len()];
    cards.into_iter().for_each(|card| numbers[card.kind()] += 1);
    let dict = PyDict::new(py);
    for (kind, &count) in rules.kinds().iter().zip(&numbers).filter(|&(_, &count)| count > 0) {
        dict.set_item(&kind.label, count)?;
    }
    Ok(dict)
}

/// The slice of `len` numbers from `first`. `PySlice::new` never releases its three numbers (`PyO3` 0.30).
pub(crate) fn slice(py: Python<'_>, first: usize, len: usize) -> PyResult<Bound<'_, PyAny>> {
    py.get_type::<PySlice>().call1((first, first + len, 1))
}

/// The kind of the numbers of a block.
fn kind_of(block: &TensorBlock) -> &'static str {
    match block.values {
        TensorBlockValues::Flags => "flags",
        TensorBlockValues::Counts => "counts",
    }
}

/// A block as an object of the Python class `Block`.
fn block_of<'py>(py: Python<'py>, block: &TensorBlock) -> PyResult<Bound<'py, PyAny>> {
    let shape = PyTuple::new(py, &block.shape)?;
    let class = py.import("cambio_game._types")?.getattr("Block")?;
    class.call1((block.name, block.offset, shape, kind_of(block)))
}

/// The layout of observation tensors for given rules and number of seats.
///
/// A tensor is a one-dimensional array of `size` bytes (`uint8`): the information state of one seat, in named blocks. Seats are
/// relative to this seat: seat 0 is the seat itself, seat 1 plays after it. Counts above 255 are stored as 255. `print(layout)`
/// lists the blocks. The documentation of `TensorSpace` in the Rust crate `cambio-core` describes them; the book lists the
/// information that a tensor does not contain.
#[pyclass(frozen, eq, name = "Layout", module = "cambio_game")]
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct PyLayout {
    rules: Rules,
    seats: usize,
    space: Arc<TensorSpace>,
}

impl PyLayout {
    pub(crate) fn shared(rules: &Rules, seats: usize, space: &Arc<TensorSpace>) -> PyLayout {
        PyLayout { rules: *rules, seats, space: space.clone() }
    }
}

properties! { PyLayout, this,
    repr = format!("<Layout of {:?} at {} seats, {} bytes>", this.rules.name(), this.seats, this.space.len()),
    hash = (this.rules.name(), this.seats, this.space.len()),
    reduce(py) = (py.get_type::<PyLayout>(), (PyRules(this.rules), this.seats));
    /// The rules.
    rules: PyRules = PyRules(this.rules);
    /// The number of seats.
    seats: usize = this.seats;
    /// The number of bytes in a tensor.
    size: usize = this.space.len();
    /// The blocks in order, without gaps.
    blocks<'py>(py): PyResult<Bound<'py, PyTuple>> =
        PyTuple::new(py, this.space.blocks().iter().map(|block| block_of(py, block)).collect::<PyResult<Vec<_>>>()?);
    /// The classes of cards, each with the labels of its cards. The rules treat all cards of a class alike.
    classes<'py>(py): PyResult<Bound<'py, PyTuple>> = {
        let mut classes: Vec<Vec<&str>> = vec![Vec::new(); this.space.classes()];
        for card in (0..this.rules.kinds().len()).filter_map(Card::new) {
            classes[this.rules.class(card)].push(this.rules.label(card));
        }
        let classes = classes.into_iter().map(|labels| PyTuple::new(py, labels)).collect::<PyResult<Vec<_>>>()?;
        PyTuple::new(py, classes)
    };
}

#[pymethods]
impl PyLayout {
    #[new]
    fn new(rules: PyRules, #[pyo3(from_py_with = named::seats)] seats: usize) -> PyResult<PyLayout> {
        let PyRules(rules) = rules;
        rules.covers(seats).map_err(error::rules)?;
        Ok(PyLayout { rules, seats, space: tensor_space(&rules, seats) })
    }

    /// The names of the public events, in the order of the flags in the blocks `recent` and `last`.
    #[getter]
    #[expect(clippy::unused_self, reason = "it is a property for Python")]
    fn happenings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, RoundHistory::event_names())
    }

    /// Splits an array whose last axis is a tensor into its blocks: views by name, of shape `(..., *block.shape)`.
    fn split<'py>(&self, tensor: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let py = tensor.py();
        let array = tensor.cast::<PyUntypedArray>()?;
        let Some((_, outer)) = array.shape().split_last().filter(|&(&last, _)| last == self.space.len()) else {
            let (shape, size) = (array.shape(), self.space.len());
            return Err(error::ArrayError::new_err(format!(
                "the last axis of the array must have {size} numbers, found shape {shape:?}"
            )));
        };
        let views = PyDict::new(py);
        for block in self.space.blocks() {
            let view = tensor.get_item((py.Ellipsis(), slice(py, block.offset, block.len())?))?;
            let shape: Vec<usize> = outer.iter().chain(&block.shape).copied().collect();
            views.set_item(block.name, view.call_method1("reshape", (shape,))?)?;
        }
        Ok(views)
    }

    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        match self.space.block(name) {
            Some(block) => block_of(py, block),
            None => {
                let known: Vec<&str> = self.space.blocks().iter().map(|block| block.name).collect();
                let name = cambio_core::text::excerpt(name);
                Err(PyKeyError::new_err(format!("there is no block `{name}`; the blocks are {}", known.join(", "))))
            }
        }
    }

    fn __str__(&self) -> String {
        let mut text = format!("{:>6}  {:<10} {:<7} shape\n", "offset", "block", "values");
        for block in self.space.blocks() {
            let values = kind_of(block);
            let _ = writeln!(text, "{:>6}  {:<10} {values:<7} {:?}", block.offset, block.name, block.shape);
        }
        text
    }
}
