//! The arguments of a batch: actions, opponents, matches to start.

use cambio_agents::AgentSpec;
use cambio_core::Rules;
use numpy::{PyReadonlyArray1, PyUntypedArray};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::vector_match::MatchStart;
use crate::agent::PyAgent;
use crate::game::PyGame;
use crate::{args, error};

/// Copies the caller's indices, one for each match. A copy is needed because a step may overwrite the caller's array.
pub(super) fn read_indices(value: &Bound<'_, PyAny>, batch: usize) -> PyResult<Vec<i64>> {
    if let Some(chosen) = whole_numbers(value).filter(|chosen| chosen.len() == batch) {
        return Ok(chosen);
    }
    let type_name = args::type_of(value);
    let expected = format!("the actions must be an array of {batch} int64 or int32");
    let Ok(array) = on_host(value) else {
        return Err(error::ArrayError::new_err(format!(
            "{expected} in the memory of the processor, found a {type_name} elsewhere; copy it, as with np.asarray(actions) or \
             actions.cpu()"
        )));
    };
    array.as_ref().and_then(whole_numbers).filter(|chosen| chosen.len() == batch).ok_or_else(|| {
        let found = array.as_ref().unwrap_or(value);
        error::ArrayError::new_err(match (found.getattr("shape"), found.getattr("dtype")) {
            (Ok(shape), Ok(dtype)) => {
                let wanted = if array.is_none() { "a contiguous array" } else { "an array" };
                format!("{}, found shape {shape} and dtype {dtype}", expected.replace("an array", wanted))
            }
            _ => format!("{expected}, found type {type_name}; use np.asarray(actions)"),
        })
    })
}

/// The numbers in a contiguous array of numpy, with the dtype int64 or int32.
fn whole_numbers(array: &Bound<'_, PyAny>) -> Option<Vec<i64>> {
    let long = array.extract::<PyReadonlyArray1<'_, i64>>().ok();
    let long = long.and_then(|array| Some(array.as_slice().ok()?.to_vec()));
    long.or_else(|| {
        let short = array.extract::<PyReadonlyArray1<'_, i32>>().ok()?;
        Some(short.as_slice().ok()?.iter().map(|&index| index.into()).collect())
    })
}

/// An array of another library as an array of numpy; `None` if the value is already one, or no array at all. Fails if the array is not in the
/// memory of the processor.
fn on_host<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    if value.cast::<PyUntypedArray>().is_ok() {
        return Ok(None);
    }
    let numpy = value.py().import("numpy")?;
    if value.hasattr("__dlpack__")?
        && let Ok(array) = numpy.call_method1("from_dlpack", (value,))
    {
        return numpy.call_method1("ascontiguousarray", (array,)).map(Some);
    }
    if value.hasattr("__array__")? || value.hasattr("__dlpack__")? {
        return numpy.call_method1("ascontiguousarray", (value,)).map(Some);
    }
    Ok(None)
}

/// Reads the argument `opponents`.
pub(super) fn opponents(specs: Option<Vec<Option<String>>>, seats: usize) -> PyResult<Vec<Option<AgentSpec>>> {
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
pub(super) fn selected(chosen: &Bound<'_, PyAny>, batch: usize) -> PyResult<Vec<bool>> {
    let array = chosen.py().import("numpy")?.call_method1("asarray", (chosen,))?;
    let refused = || {
        let shape = array.getattr("shape").map_or_else(|_| String::new(), |shape| shape.to_string());
        let dtype = array.getattr("dtype").map_or_else(|_| String::new(), |dtype| dtype.to_string());
        error::ArrayError::new_err(format!(
            "`where` must be an array of {batch} bool, or of numbers of matches from 0 to {}, found shape {shape} and dtype {dtype}",
            batch - 1
        ))
    };
    if array.getattr("dtype")?.getattr("kind")?.eq("b")? {
        return array.extract().ok().filter(|flags: &Vec<bool>| flags.len() == batch).ok_or_else(refused);
    }
    // numpy gives an empty list the dtype float64.
    let numbers = array.extract::<Vec<usize>>().map_err(|_| refused())?;
    let mut flags = vec![false; batch];
    for number in numbers {
        *flags.get_mut(number).ok_or_else(refused)? = true;
    }
    Ok(flags)
}

/// The games of `reset`, one for each selected match.
pub(super) fn starts(
    games: &Bound<'_, PyAny>,
    chosen: &[bool],
    (rules, seats): (&Rules, usize),
) -> PyResult<Vec<MatchStart>> {
    let wanted = chosen.iter().filter(|&&is_chosen| is_chosen).count();
    let wrong = || {
        let found = args::type_of(games);
        PyTypeError::new_err(format!("`games` must be a list of Game objects, found type {found}"))
    };
    let games = games.try_iter().map_err(|_| wrong())?.collect::<PyResult<Vec<_>>>()?;
    if games.len() != wanted {
        let found = games.len();
        return Err(error::CambioError::new_err(format!(
            "`games` must have {wanted} games, one for each selected match, found {found}"
        )));
    }
    let mut games = games.into_iter().enumerate();
    let start = |&is_chosen: &bool| {
        let Some((number, game)) = is_chosen.then(|| games.next()).flatten() else { return Ok(MatchStart::None) };
        let game = game.cast::<PyGame>().map_err(|_| wrong())?.borrow();
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
