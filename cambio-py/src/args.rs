//! Conversion and validation of arguments: numbers, seats, seeds, presets, JSON.

use cambio_core::rng::Seed;
use cambio_core::{Rules, Seat, Spot};
use cambio_sim::read_seed;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Map, Number, Value};

use crate::error;

/// The deepest nesting of a rule system's dictionary. A deck has three levels.
const DEEPEST: usize = 32;

/// An optional argument for which Python's `None` is a wrong value.
#[derive(Default)]
pub(crate) struct Arg<'py>(Option<Bound<'py, PyAny>>);

impl<'py> Arg<'py> {
    /// The argument, if it was given.
    pub(crate) fn given(&self) -> Option<&Bound<'py, PyAny>> {
        self.0.as_ref()
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Arg<'py> {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Arg<'py>> {
        Ok(Arg(Some(value.to_owned())))
    }
}

/// Whether a value is a `bool`, which Python would accept as the number 0 or 1.
pub(crate) fn is_flag(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyBool>()
}

/// A whole number from 0. The error is the number as text if it does not fit, and `None` if the value is not a number.
pub(crate) fn number(value: &Bound<'_, PyAny>) -> Result<u64, Option<String>> {
    match value.extract() {
        Ok(number) if !is_flag(value) => Ok(number),
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => Err(Some(shown(value))),
        _ => Err(None),
    }
}

/// Reads a whole number from `least` to `most`. `what` is the argument's name in errors.
pub(crate) fn whole(value: &Bound<'_, PyAny>, what: &str, least: u64, most: u64) -> PyResult<u64> {
    let refused = |found: String| {
        error::CambioError::new_err(format!("`{what}` must be a whole number from {least} to {most}, found {found}"))
    };
    match number(value) {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        Ok(number) => Err(refused(number.to_string())),
        Err(Some(found)) => Err(refused(found)),
        Err(None) => {
            Err(PyTypeError::new_err(format!("`{what}` must be a whole number, found type {}", type_of(value))))
        }
    }
}

/// Reads a number of random streams; `None` for the default of the agent.
pub(crate) fn streams(value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<u32>> {
    value.map(|value| Ok(whole(value, "streams", 1, u64::from(u32::MAX))? as u32)).transpose()
}

/// [`whole`] for the functions in Python.
#[pyfunction]
#[pyo3(signature = (value, name, least = 0, most = u64::MAX))]
pub(crate) fn _whole(value: &Bound<'_, PyAny>, name: &str, least: u64, most: u64) -> PyResult<u64> {
    whole(value, name, least, most)
}

/// The `repr` of a value for an error message, truncated to 60 characters.
pub(crate) fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(|_| "something".to_owned(), |text| text.to_string());
    cambio_core::text::excerpt(&text).up_to(60).to_string()
}

/// The name of a value's type.
pub(crate) fn type_of(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "thing".to_owned(), |name| name.to_string())
}

/// Reads a number of seats and checks that the rules support it.
pub(crate) fn seats(value: &Bound<'_, PyAny>, rules: &Rules) -> PyResult<usize> {
    let seats = whole(value, "seats", 2, 8)? as usize;
    rules.covers(seats).map_err(error::rules)?;
    Ok(seats)
}

/// Reads a seat at a table of `seats` seats: its number from 0, or its letter.
pub(crate) fn seat(value: &Bound<'_, PyAny>, seats: usize) -> PyResult<Seat> {
    let refused = |found: String| {
        let last = Seat::ALL[seats - 1];
        let most = seats - 1;
        error::CambioError::new_err(format!("`seat` must be from 0 to {most} or from a to {last}, found {found}"))
    };
    if let Ok(text) = value.cast::<PyString>() {
        let text = text.to_cow()?;
        let mut letters = text.chars();
        let found = letters.next().and_then(Seat::from_letter).filter(|seat| seat.index() < seats);
        return found.filter(|_| letters.next().is_none()).ok_or_else(|| refused(shown(value)));
    }
    match number(value) {
        Ok(number) if number < seats as u64 => Ok(Seat::ALL[number as usize]),
        Ok(number) => Err(refused(number.to_string())),
        Err(Some(found)) => Err(refused(found)),
        Err(None) => {
            let found = type_of(value);
            Err(PyTypeError::new_err(format!("`seat` must be a number or a letter, found type {found}")))
        }
    }
}

/// Reads a spot such as `a3`.
pub(crate) fn spot(text: &str) -> PyResult<Spot> {
    text.parse().map_err(|error: cambio_core::text::ParseError| error::CambioError::new_err(error.to_string()))
}

/// Reads a seed: a whole number or a non-empty text, as in experiment files.
pub(crate) fn seed(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Seed> {
    if let Ok(text) = value.cast::<PyString>() {
        let text = text.to_cow().map_err(|_| {
            let found = shown(value);
            error::CambioError::new_err(format!(
                "`{what}` must be a whole number or a text without surrogates, found {found}"
            ))
        })?;
        return read_seed(&text)
            .map_err(|allowed| error::CambioError::new_err(format!("`{what}` is empty: {allowed}")));
    }
    whole(value, what, 0, u64::MAX).map(Seed::Number)
}

/// A preset or mini game by name.
pub(crate) fn preset(name: &str) -> PyResult<Rules> {
    Rules::preset(name).map_err(error::rules)
}

/// Converts a Python value to JSON.
pub(crate) fn to_json(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    if depth > DEEPEST {
        let sentence = format!("values must be nested at most {DEEPEST} deep, found more levels");
        return Err(error::CambioError::new_err(sentence));
    }
    if value.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(Value::Bool(flag.is_true()));
    }
    if let Ok(number) = value.cast::<PyInt>() {
        let number = number.extract::<i64>().map(Number::from).or_else(|_| number.extract::<u64>().map(Number::from));
        return number.map(Value::Number).map_err(|_| {
            error::CambioError::new_err(format!("a whole number must fit into 64 bits, found {}", shown(value)))
        });
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        let finite = Number::from_f64(number.value()).map(Value::Number);
        return finite
            .ok_or_else(|| error::CambioError::new_err(format!("a number must be finite, found {}", shown(value))));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::String(text.to_cow()?.into_owned()));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        return value.try_iter()?.map(|item| to_json(&item?, depth + 1)).collect::<PyResult<_>>().map(Value::Array);
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        let mut map = Map::new();
        for (key, item) in dict {
            let Ok(key) = key.cast::<PyString>() else {
                return Err(PyTypeError::new_err(format!("a key must be a str, found type {}", type_of(&key))));
            };
            map.insert(key.to_cow()?.into_owned(), to_json(&item, depth + 1)?);
        }
        return Ok(Value::Object(map));
    }
    let found = type_of(value);
    Err(PyTypeError::new_err(format!("a value must be a str, number, list or dict, found type {found}")))
}

/// Converts JSON to a Python value.
pub(crate) fn from_json<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (value.to_string(),))
}
