//! The arrays of a batch.

use cambio_core::encode::ActionSpace;
use cambio_core::{Action, Choices};
use numpy::prelude::*;
use numpy::{PyArray1, PyArray2, PyArray3, PyReadwriteArray1, PyReadwriteArray2, PyReadwriteArray3};
use pyo3::prelude::*;
use pyo3::types::{PySlice, PyTuple};

use super::BatchSettings;
use crate::{args, error};

/// The arrays into which a batch writes. For arrays of `bool`, the batch also has a view of the bytes: memory that Python owns
/// can contain any byte, and a Rust `bool` only 0 or 1.
pub(super) struct Arrays {
    pub(super) observations: Py<PyArray2<u8>>,
    pub(super) masks: Py<PyAny>,
    mask_bytes: Py<PyArray2<u8>>,
    pub(super) rewards: Py<PyArray2<f32>>,
    pub(super) seat: Py<PyArray1<i64>>,
    pub(super) done: Py<PyAny>,
    done_bytes: Py<PyArray1<u8>>,
    /// Each seat's tensor at the end of a match, if requested.
    pub(super) finals: Option<Py<PyArray3<u8>>>,
}

/// The names and dtypes of the arrays, in the order of the arguments.
const NAMES: [(&str, &str); 5] =
    [("observations", "uint8"), ("masks", "bool"), ("rewards", "float32"), ("seat", "int64"), ("done", "bool")];

impl Arrays {
    pub(super) fn new(py: Python<'_>, common: &BatchSettings) -> Arrays {
        Arrays::given(py, common, [None; 5]).expect("new arrays have the right shape")
    }

    /// The caller's arrays, and new arrays for the missing ones.
    pub(super) fn given(
        py: Python<'_>,
        common: &BatchSettings,
        given: [Option<&Bound<'_, PyAny>>; 5],
    ) -> PyResult<Arrays> {
        let batch = common.batch;
        let shapes: [Vec<usize>; 5] = [
            vec![batch, common.tensors.len()],
            vec![batch, common.space.action_count()],
            vec![batch, common.seats],
            vec![batch],
            vec![batch],
        ];
        let mut all = Vec::with_capacity(5);
        for ((&(name, dtype), shape), given) in NAMES.iter().zip(shapes).zip(given) {
            all.push(match given {
                Some(array) => checked(array, name, dtype, &shape)?,
                None => zeros(py, &shape, dtype)?,
            });
        }
        let [observations, masks, rewards, seat, done]: [Bound<'_, PyAny>; 5] =
            all.try_into().expect("there are five arrays");
        Ok(Arrays {
            observations: observations.cast_into::<PyArray2<u8>>()?.unbind(),
            mask_bytes: masks.call_method1("view", ("u1",))?.cast_into::<PyArray2<u8>>()?.unbind(),
            masks: masks.unbind(),
            rewards: rewards.cast_into::<PyArray2<f32>>()?.unbind(),
            seat: seat.cast_into::<PyArray1<i64>>()?.unbind(),
            done_bytes: done.call_method1("view", ("u1",))?.cast_into::<PyArray1<u8>>()?.unbind(),
            done: done.unbind(),
            finals: if common.finals {
                let shape = [batch, common.seats, common.tensors.len()];
                Some(zeros(py, &shape, "uint8")?.cast_into::<PyArray3<u8>>()?.unbind())
            } else {
                None
            },
        })
    }

    /// The results of the last step, as [`Arrays::set_results`] takes them.
    pub(super) fn results(&self, py: Python<'_>) -> Results {
        let finals = self.finals.as_ref().map(|finals| finals.clone_ref(py).into_any());
        (self.rewards.clone_ref(py).into_any(), self.done.clone_ref(py), finals)
    }

    /// Sets the results of the last step.
    pub(super) fn set_results(&self, py: Python<'_>, (rewards, done, finals): Results) -> PyResult<()> {
        self.rewards.bind(py).set_item(py.Ellipsis(), rewards)?;
        self.done.bind(py).set_item(py.Ellipsis(), done)?;
        match self.finals.as_ref().zip(finals) {
            Some((own, given)) => own.bind(py).set_item(py.Ellipsis(), given),
            None => Ok(()),
        }
    }

    /// Borrows all arrays for writing. Fails if two of them share memory, or if one is already borrowed.
    pub(super) fn hold<'py>(&self, py: Python<'py>) -> PyResult<ArrayGuards<'py>> {
        let refused = |name: &'static str| {
            move |what: numpy::BorrowError| error::ArrayError::new_err(format!("`{name}` cannot be written: {what}"))
        };
        Ok(ArrayGuards {
            observations: self.observations.bind(py).try_readwrite().map_err(refused("observations"))?,
            masks: self.mask_bytes.bind(py).try_readwrite().map_err(refused("masks"))?,
            rewards: self.rewards.bind(py).try_readwrite().map_err(refused("rewards"))?,
            seat: self.seat.bind(py).try_readwrite().map_err(refused("seat"))?,
            done: self.done_bytes.bind(py).try_readwrite().map_err(refused("done"))?,
            finals: match &self.finals {
                Some(finals) => Some(finals.bind(py).try_readwrite().map_err(refused("final_observations"))?),
                None => None,
            },
        })
    }
}

/// A new array of zeros, aligned to a cache line, because JAX copies arrays without this alignment.
fn zeros<'py>(py: Python<'py>, shape: &[usize], dtype: &str) -> PyResult<Bound<'py, PyAny>> {
    const LINE: usize = 64;
    let numpy = py.import("numpy")?;
    let item: usize = numpy.call_method1("dtype", (dtype,))?.getattr("itemsize")?.extract()?;
    let size = shape.iter().product::<usize>() * item;
    let bytes = numpy.call_method1("zeros", (size + LINE, "uint8"))?;
    let address: usize = bytes.getattr("ctypes")?.getattr("data")?.extract()?;
    let first = address.next_multiple_of(LINE) - address;
    let line = bytes.get_item(PySlice::new(py, first as isize, (first + size) as isize, 1))?;
    line.call_method1("view", (dtype,))?.call_method1("reshape", (PyTuple::new(py, shape)?,))
}

/// Checks the shape, dtype, contiguity and writability of a caller's array.
fn checked<'py>(array: &Bound<'py, PyAny>, name: &str, dtype: &str, shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    let found = array.getattr("dtype").map_or_else(|_| args::type_of(array), |dtype| dtype.to_string());
    let found_shape = array.getattr("shape").and_then(|shape| shape.extract::<Vec<usize>>()).unwrap_or_default();
    let flag = |name: &str| array.getattr("flags").and_then(|flags| flags.get_item(name)?.extract::<bool>());
    let is_good = found == dtype && found_shape == shape && flag("C_CONTIGUOUS").unwrap_or(false);
    if is_good && flag("WRITEABLE").unwrap_or(false) {
        return Ok(array.clone());
    }
    Err(error::ArrayError::new_err(format!(
        "`{name}` must be a contiguous, writable array of shape {shape:?} and dtype {dtype}, found shape {found_shape:?} and \
         dtype {found}"
    )))
}

/// The arrays, borrowed for writing.
pub(super) struct ArrayGuards<'py> {
    observations: PyReadwriteArray2<'py, u8>,
    masks: PyReadwriteArray2<'py, u8>,
    rewards: PyReadwriteArray2<'py, f32>,
    seat: PyReadwriteArray1<'py, i64>,
    done: PyReadwriteArray1<'py, u8>,
    finals: Option<PyReadwriteArray3<'py, u8>>,
}

impl ArrayGuards<'_> {
    /// The rows of the arrays. Fails if the caller has changed the shape of an array.
    pub(super) fn rows<'a>(
        &'a mut self,
        common: &BatchSettings,
        asks: &'a mut [LegalChoices],
    ) -> PyResult<MatchRows<'a>> {
        let rows = MatchRows {
            widths: [common.tensors.len(), common.space.action_count(), common.seats],
            observations: self.observations.as_slice_mut()?,
            masks: self.masks.as_slice_mut()?,
            rewards: self.rewards.as_slice_mut()?,
            seat: self.seat.as_slice_mut()?,
            done: self.done.as_slice_mut()?,
            finals: match &mut self.finals {
                Some(finals) => finals.as_slice_mut()?,
                None => &mut [],
            },
            asks,
        };
        let [observation, mask, seats] = rows.widths.map(|width| width * common.batch);
        let finals = if common.finals { observation * common.seats } else { 0 };
        let fits = (rows.observations.len(), rows.masks.len(), rows.rewards.len()) == (observation, mask, seats)
            && (rows.seat.len(), rows.done.len(), rows.finals.len()) == (common.batch, common.batch, finals);
        if fits { Ok(rows) } else { Err(error::ArrayError::new_err("an array of the batch has changed its shape")) }
    }
}

/// The results of a step: rewards, done flags, and the final observations if requested.
pub(super) type Results = (Py<PyAny>, Py<PyAny>, Option<Py<PyAny>>);

/// The invariant that every match has its rows.
const COUNTED: &str = "the rows were counted when the arrays were borrowed";

/// The rows of some neighbouring matches.
pub(super) struct MatchRows<'a> {
    widths: [usize; 3],
    observations: &'a mut [u8],
    masks: &'a mut [u8],
    rewards: &'a mut [f32],
    seat: &'a mut [i64],
    done: &'a mut [u8],
    /// Empty if not requested.
    finals: &'a mut [u8],
    /// The seats to act. They are stored apart from the matches because a step checks all decisions before it applies any.
    asks: &'a mut [LegalChoices],
}

impl<'a> MatchRows<'a> {
    /// The rows of `size` matches at a time.
    pub(super) fn chunks(mut self, size: usize) -> impl Iterator<Item = MatchRows<'a>> {
        std::iter::from_fn(move || (!self.seat.is_empty()).then(|| self.split_off(size)))
    }

    /// Splits off the rows of the first `size` matches.
    fn split_off(&mut self, size: usize) -> MatchRows<'a> {
        let size = size.min(self.seat.len());
        let [observation, mask, seats] = self.widths.map(|width| width * size);
        let finals = if self.finals.is_empty() { 0 } else { observation * self.widths[2] };
        MatchRows {
            widths: self.widths,
            observations: self.observations.split_off_mut(..observation).expect(COUNTED),
            masks: self.masks.split_off_mut(..mask).expect(COUNTED),
            rewards: self.rewards.split_off_mut(..seats).expect(COUNTED),
            seat: self.seat.split_off_mut(..size).expect(COUNTED),
            done: self.done.split_off_mut(..size).expect(COUNTED),
            finals: self.finals.split_off_mut(..finals).expect(COUNTED),
            asks: self.asks.split_off_mut(..size).expect(COUNTED),
        }
    }

    /// The rows of each match.
    #[inline]
    pub(super) fn each(&mut self) -> impl Iterator<Item = MatchRow<'_>> {
        let [observation, mask, seats] = self.widths;
        let mut finals = &mut *self.finals;
        let width = if finals.is_empty() { 0 } else { observation * seats };
        let shown = self.observations.chunks_exact_mut(observation).zip(self.masks.chunks_exact_mut(mask));
        let gained = self.rewards.chunks_exact_mut(seats).zip(&mut *self.done);
        let asked = self.seat.iter_mut().zip(&mut *self.asks);
        shown.zip(gained).zip(asked).map(move |(((observation, mask), (rewards, done)), (seat, ask))| {
            let finals = finals.split_off_mut(..width).expect(COUNTED);
            MatchRow { observation, mask, rewards, seat, done, finals, ask }
        })
    }
}

/// The rows of one match.
pub(super) struct MatchRow<'a> {
    pub(super) observation: &'a mut [u8],
    pub(super) mask: &'a mut [u8],
    pub(super) rewards: &'a mut [f32],
    pub(super) seat: &'a mut i64,
    pub(super) done: &'a mut u8,
    /// Empty if not requested.
    pub(super) finals: &'a mut [u8],
    pub(super) ask: &'a mut LegalChoices,
}

impl MatchRow<'_> {
    /// Clears the results of the last step.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.rewards.fill(0.0);
        *self.done = 0;
    }
}

/// The seat to act in a match, its legal decisions, and the decision that the caller chose.
#[derive(Clone, Copy)]
pub(super) struct LegalChoices {
    pub(super) legal: Choices,
    pub(super) next: Action,
}

impl LegalChoices {
    pub(super) const NOBODY: LegalChoices = LegalChoices { legal: Choices::NONE, next: Action::Pass };

    /// Stores the caller's decision; returns `false` if it is not legal.
    #[inline]
    pub(super) fn choose(&mut self, space: &ActionSpace, index: i64) -> bool {
        let action = usize::try_from(index).ok().and_then(|index| space.from_index(index, self.legal.seat()));
        let legal = action.filter(|&action| self.legal.contains(action));
        self.next = legal.unwrap_or(Action::Pass);
        legal.is_some()
    }
}
