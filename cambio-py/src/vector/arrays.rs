//! The arrays of a batch.

use cambio_core::Choices;
use numpy::prelude::*;
use numpy::{Element, PyArray1, PyArray2, PyArray3, PyReadwriteArray1, PyReadwriteArray2, PyReadwriteArray3};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::BatchSettings;
use crate::rules::slice;
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
    /// Each seat's current tensor, if requested.
    pub(super) all_observations: Option<Py<PyArray3<u8>>>,
    /// The keys of the information sets of the seats to act, if requested.
    pub(super) keys: Option<Py<PyArray2<u64>>>,
    /// The true cards, if requested.
    pub(super) true_cards: Option<Py<PyArray3<i8>>>,
}

/// The optional arrays that a batch writes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "one for each array")]
pub(super) struct Extras {
    pub(super) finals: bool,
    pub(super) all_seats: bool,
    pub(super) keys: bool,
    pub(super) true_cards: bool,
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
        let (batch, extras) = (common.batch, common.extras);
        let tensors = [batch, common.seats, common.tensors.len()];
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
        let numpy = py.import("numpy")?;
        for (place, (name, _)) in NAMES.iter().enumerate() {
            for ((other, _), array) in NAMES.iter().zip(&all[..place]) {
                // The arrays are contiguous, so their bounds are exact.
                if numpy.call_method1("may_share_memory", (array, &all[place]))?.is_truthy()? {
                    let what = format!("`{other}` and `{name}` must have memory of their own, found common memory");
                    return Err(error::ArrayError::new_err(what));
                }
            }
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
            finals: optional3(py, extras.finals, tensors)?,
            all_observations: optional3(py, extras.all_seats, tensors)?,
            keys: if extras.keys { Some(zeros(py, &[batch, 2], "uint64")?.cast_into()?.unbind()) } else { None },
            true_cards: optional3(py, extras.true_cards, [batch, common.seats, common.rules.slots()])?,
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
            finals: writable(py, self.finals.as_ref()).map_err(refused("final_observations"))?,
            all_observations: writable(py, self.all_observations.as_ref()).map_err(refused("all_observations"))?,
            keys: match &self.keys {
                Some(keys) => Some(keys.bind(py).try_readwrite().map_err(refused("keys"))?),
                None => None,
            },
            true_cards: writable(py, self.true_cards.as_ref()).map_err(refused("true_cards"))?,
        })
    }
}

/// Borrows an array for writing, if it exists.
fn writable<'py, N: Element>(
    py: Python<'py>,
    array: Option<&Py<PyArray3<N>>>,
) -> Result<Option<PyReadwriteArray3<'py, N>>, numpy::BorrowError> {
    array.map(|array| array.bind(py).try_readwrite()).transpose()
}

/// A new array of zeros, if it is requested.
fn optional3<N: Element>(py: Python<'_>, is_wanted: bool, shape: [usize; 3]) -> PyResult<Option<Py<PyArray3<N>>>> {
    let dtype = N::get_dtype(py).to_string();
    is_wanted.then(|| Ok(zeros(py, &shape, &dtype)?.cast_into()?.unbind())).transpose()
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
    let line = bytes.get_item(slice(py, first, size)?)?;
    line.call_method1("view", (dtype,))?.call_method1("reshape", (PyTuple::new(py, shape)?,))
}

/// Checks the shape, dtype, contiguity, alignment and writability of a caller's array.
fn checked<'py>(array: &Bound<'py, PyAny>, name: &str, dtype: &str, shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    let found = array.getattr("dtype").map_or_else(|_| args::type_of(array), |dtype| dtype.to_string());
    let found_shape = array.getattr("shape").and_then(|shape| shape.extract::<Vec<usize>>()).unwrap_or_default();
    let flag = |name: &str| array.getattr("flags").and_then(|flags| flags.get_item(name)?.extract::<bool>());
    let missing = ["C_CONTIGUOUS", "ALIGNED", "WRITEABLE"].into_iter().find(|name| !flag(name).unwrap_or(false));
    if found == dtype && found_shape == shape && missing.is_none() {
        return Ok(array.clone());
    }
    let missing = missing.map_or_else(String::new, |name| format!(", without the flag {name}"));
    Err(error::ArrayError::new_err(format!(
        "`{name}` must be a contiguous, aligned, writable array of shape {shape:?} and dtype {dtype}, found shape {found_shape:?} \
         and dtype {found}{missing}"
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
    all_observations: Option<PyReadwriteArray3<'py, u8>>,
    keys: Option<PyReadwriteArray2<'py, u64>>,
    true_cards: Option<PyReadwriteArray3<'py, i8>>,
}

impl ArrayGuards<'_> {
    /// The rows of the arrays. Fails if the caller has changed the shape of an array.
    pub(super) fn rows<'a>(
        &'a mut self,
        common: &BatchSettings,
        choices: &'a mut [Choices],
        legal: &'a mut [u8],
    ) -> PyResult<MatchRows<'a>> {
        let [observation, mask, seats] = [common.tensors.len(), common.space.action_count(), common.seats];
        let (extras, cards) = (common.extras, common.seats * common.rules.slots());
        let wide = |is_wanted: bool, width: usize| if is_wanted { width } else { 0 };
        let widths = RowWidths {
            observation,
            mask,
            seats,
            finals: wide(extras.finals, observation * seats),
            all_observations: wide(extras.all_seats, observation * seats),
            keys: wide(extras.keys, 2),
            true_cards: wide(extras.true_cards, cards),
        };
        let rows = MatchRows {
            widths,
            observations: self.observations.as_slice_mut()?,
            masks: self.masks.as_slice_mut()?,
            rewards: self.rewards.as_slice_mut()?,
            seat: self.seat.as_slice_mut()?,
            done: self.done.as_slice_mut()?,
            finals: self.finals.as_mut().map_or(Ok(&mut [][..]), |array| array.as_slice_mut())?,
            all_observations: self.all_observations.as_mut().map_or(Ok(&mut [][..]), |array| array.as_slice_mut())?,
            keys: self.keys.as_mut().map_or(Ok(&mut [][..]), |array| array.as_slice_mut())?,
            true_cards: self.true_cards.as_mut().map_or(Ok(&mut [][..]), |array| array.as_slice_mut())?,
            choices,
            legal,
        };
        let all = |width: usize| width * common.batch;
        let fits = (rows.observations.len(), rows.masks.len(), rows.rewards.len())
            == (all(observation), all(mask), all(seats))
            && (rows.seat.len(), rows.done.len(), rows.finals.len()) == (all(1), all(1), all(widths.finals))
            && (rows.all_observations.len(), rows.keys.len()) == (all(widths.all_observations), all(widths.keys))
            && rows.true_cards.len() == all(widths.true_cards);
        if fits { Ok(rows) } else { Err(error::ArrayError::new_err("an array of the batch has changed its shape")) }
    }
}

/// The results of a step: rewards, done flags, and the final observations if requested.
pub(super) type Results = (Py<PyAny>, Py<PyAny>, Option<Py<PyAny>>);

/// The invariant that every match has its rows.
const COUNTED: &str = "the rows were counted when the arrays were borrowed";

/// The number of entries that each array has for one match.
#[derive(Clone, Copy)]
struct RowWidths {
    observation: usize,
    mask: usize,
    seats: usize,
    finals: usize,
    all_observations: usize,
    keys: usize,
    true_cards: usize,
}

/// The rows of some neighbouring matches. Arrays that were not requested are empty.
pub(super) struct MatchRows<'a> {
    widths: RowWidths,
    observations: &'a mut [u8],
    masks: &'a mut [u8],
    rewards: &'a mut [f32],
    seat: &'a mut [i64],
    done: &'a mut [u8],
    finals: &'a mut [u8],
    all_observations: &'a mut [u8],
    keys: &'a mut [u64],
    true_cards: &'a mut [i8],
    choices: &'a mut [Choices],
    legal: &'a mut [u8],
}

/// Removes the first entries of a slice and returns them.
#[inline]
#[expect(clippy::mut_mut, reason = "the slice itself becomes shorter")]
fn take<'a, T>(slice: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    if count == 0 {
        return &mut [];
    }
    slice.split_off_mut(..count).expect(COUNTED)
}

impl<'a> MatchRows<'a> {
    /// The rows of `size` matches at a time.
    pub(super) fn chunks(mut self, size: usize) -> impl Iterator<Item = MatchRows<'a>> {
        std::iter::from_fn(move || (!self.seat.is_empty()).then(|| self.split_off(size)))
    }

    /// Splits off the rows of the first `size` matches.
    fn split_off(&mut self, size: usize) -> MatchRows<'a> {
        let (size, widths) = (size.min(self.seat.len()), self.widths);
        MatchRows {
            widths,
            observations: take(&mut self.observations, widths.observation * size),
            masks: take(&mut self.masks, widths.mask * size),
            rewards: take(&mut self.rewards, widths.seats * size),
            seat: take(&mut self.seat, size),
            done: take(&mut self.done, size),
            finals: take(&mut self.finals, widths.finals * size),
            all_observations: take(&mut self.all_observations, widths.all_observations * size),
            keys: take(&mut self.keys, widths.keys * size),
            true_cards: take(&mut self.true_cards, widths.true_cards * size),
            choices: take(&mut self.choices, size),
            legal: take(&mut self.legal, widths.mask * size),
        }
    }

    /// The rows of each match.
    #[inline]
    pub(super) fn each(&mut self) -> impl Iterator<Item = MatchRow<'_>> {
        let widths = self.widths;
        let (mut finals, mut all_observations) = (&mut *self.finals, &mut *self.all_observations);
        let (mut keys, mut true_cards) = (&mut *self.keys, &mut *self.true_cards);
        let shown =
            self.observations.chunks_exact_mut(widths.observation).zip(self.masks.chunks_exact_mut(widths.mask));
        let gained = self.rewards.chunks_exact_mut(widths.seats).zip(&mut *self.done);
        let legal = self.legal.chunks_exact_mut(widths.mask);
        let asked = self.seat.iter_mut().zip(&mut *self.choices).zip(legal);
        shown.zip(gained).zip(asked).map(move |(((observation, mask), (rewards, done)), ((seat, choices), legal))| {
            MatchRow {
                observation,
                mask,
                rewards,
                seat,
                done,
                finals: take(&mut finals, widths.finals),
                all_observations: take(&mut all_observations, widths.all_observations),
                keys: take(&mut keys, widths.keys),
                true_cards: take(&mut true_cards, widths.true_cards),
                choices,
                legal,
            }
        })
    }
}

/// The rows of one match. Rows that were not requested are empty.
pub(super) struct MatchRow<'a> {
    pub(super) observation: &'a mut [u8],
    pub(super) mask: &'a mut [u8],
    pub(super) rewards: &'a mut [f32],
    pub(super) seat: &'a mut i64,
    pub(super) done: &'a mut u8,
    pub(super) finals: &'a mut [u8],
    pub(super) all_observations: &'a mut [u8],
    pub(super) keys: &'a mut [u64],
    pub(super) true_cards: &'a mut [i8],
    pub(super) choices: &'a mut Choices,
    pub(super) legal: &'a mut [u8],
}

impl MatchRow<'_> {
    /// Clears the results of the last step.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.rewards.fill(0.0);
        *self.done = 0;
    }
}
