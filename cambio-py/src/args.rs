//! Conversion and validation of arguments: numbers, seats, seeds, presets, JSON.

use std::sync::{Mutex, MutexGuard, TryLockError};

use cambio_core::rng::Seed;
use cambio_core::{Rules, Seat, Spot};
use cambio_sim::read_seed;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict as _, PyBool, PyString};
use serde_json::Value;

use crate::error;

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

/// Reads an optional whole number.
pub(crate) fn optional(value: Option<&Bound<'_, PyAny>>, what: &str, least: u64, most: u64) -> PyResult<Option<u64>> {
    value.map(|value| whole(value, what, least, most)).transpose()
}

/// Readers of arguments for `from_py_with`. Each has the name of its argument, and fails with this name.
pub(crate) mod named {
    use super::{Bound, PyAny, PyResult, Seed, text_or_number, whole};

    macro_rules! whole_numbers {
        ($($name:ident: $number:ty, $least:expr, $most:expr;)*) => {$(
            pub(crate) fn $name(value: &Bound<'_, PyAny>) -> PyResult<$number> {
                Ok(whole(value, stringify!($name), $least, $most)? as $number)
            }
        )*};
    }

    whole_numbers! {
        batch: usize, 1, 1 << 20;
        deal: u64, 0, u64::MAX;
        first_deal: u64, 0, u64::MAX;
        memory_limit: u64, 1, u64::MAX;
        number: u64, 1, 100_000;
        outcome: u64, 0, u64::MAX;
        seats: usize, 2, 8;
        seed: u64, 0, u64::MAX;
        threads: usize, 1, 256;
    }

    /// A seed that may be a text.
    pub(crate) fn any_seed(value: &Bound<'_, PyAny>) -> PyResult<Seed> {
        text_or_number(value, "seed")
    }

    pub(crate) fn agent_seed(value: &Bound<'_, PyAny>) -> PyResult<Seed> {
        text_or_number(value, "agent_seed")
    }
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

/// The part of an object of this class that its methods change, for one thread at a time.
pub(crate) fn exclusive<'a, T>(part: &'a Mutex<T>, class: &str) -> PyResult<MutexGuard<'a, T>> {
    match part.try_lock() {
        Ok(part) => Ok(part),
        Err(TryLockError::Poisoned(part)) => Ok(part.into_inner()),
        Err(TryLockError::WouldBlock) => Err(error::CambioError::new_err(format!(
            "another thread is in a method of this {class}; use one {class} for each thread, or a lock"
        ))),
    }
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
fn text_or_number(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Seed> {
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
pub(crate) fn to_json(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let (json, strict) = (value.py().import("json")?, [("allow_nan", false)].into_py_dict(value.py())?);
    let text: String = json.call_method("dumps", (value,), Some(&strict))?.extract()?;
    serde_json::from_str(&text).map_err(|error| error::CambioError::new_err(format!("not valid as JSON: {error}")))
}

/// Converts JSON to a Python value.
pub(crate) fn from_json<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (value.to_string(),))
}
