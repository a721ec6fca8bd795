//! The arrays of a batch.

use numpy::prelude::*;
use numpy::{PyArray1, PyArray2, PyReadwriteArray1, PyReadwriteArray2};
use pyo3::prelude::*;

use super::Common;
use crate::{args, error};

/// The arrays into which a batch writes. Those of `bool` are kept with a view of their bytes: memory that Python owns may hold
/// any byte, and a `bool` of Rust may not.
pub(super) struct Arrays {
    observations: Py<PyArray2<u8>>,
    masks: Py<PyAny>,
    mask_bytes: Py<PyArray2<u8>>,
    rewards: Py<PyArray2<f32>>,
    seat: Py<PyArray1<i64>>,
    done: Py<PyAny>,
    done_bytes: Py<PyArray1<u8>>,
}

/// The names, in the order in which callers give the arrays, with their dtypes.
const NAMES: [(&str, &str); 5] =
    [("observations", "uint8"), ("masks", "bool"), ("rewards", "float32"), ("seat", "int64"), ("done", "bool")];

impl Arrays {
    /// New arrays.
    pub(super) fn new(py: Python<'_>, common: &Common) -> Arrays {
        Arrays::given(py, common, [None; 5]).expect("arrays of our own have the right shape")
    }

    /// The arrays that a caller gave, and new ones for the rest.
    pub(super) fn given(py: Python<'_>, common: &Common, given: [Option<&Bound<'_, PyAny>>; 5]) -> PyResult<Arrays> {
        let batch = common.batch;
        let shapes: [Vec<usize>; 5] = [
            vec![batch, common.tensors.len()],
            vec![batch, common.space.action_count()],
            vec![batch, common.seats],
            vec![batch],
            vec![batch],
        ];
        let zeros = py.import("numpy")?.getattr("zeros")?;
        let mut all = Vec::with_capacity(5);
        for ((&(name, dtype), shape), given) in NAMES.iter().zip(shapes).zip(given) {
            all.push(match given {
                Some(array) => checked(array, name, dtype, &shape)?,
                None => zeros.call1((shape, dtype))?,
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
        })
    }

    pub(super) fn observations<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.observations.bind(py).as_any().clone()
    }

    pub(super) fn masks<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.masks.bind(py).clone()
    }

    pub(super) fn rewards<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.rewards.bind(py).as_any().clone()
    }

    pub(super) fn seat<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.seat.bind(py).as_any().clone()
    }

    pub(super) fn done<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.done.bind(py).clone()
    }

    /// Copies the results of the last step from other arrays.
    pub(super) fn copy_results(&self, py: Python<'_>, other: &Arrays) -> PyResult<()> {
        self.set_results(py, &other.rewards(py), &other.done(py))
    }

    /// Sets the results of the last step.
    pub(super) fn set_results(
        &self,
        py: Python<'_>,
        rewards: &Bound<'_, PyAny>,
        done: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.rewards(py).set_item(py.Ellipsis(), rewards)?;
        self.done(py).set_item(py.Ellipsis(), done)
    }

    /// Borrows all arrays for writing. Fails if two share memory, or somebody else has borrowed one.
    pub(super) fn hold<'py>(&self, py: Python<'py>) -> PyResult<Held<'py>> {
        let refused = |name: &'static str| {
            move |what: numpy::BorrowError| error::ArrayError::new_err(format!("`{name}` cannot be written: {what}"))
        };
        Ok(Held {
            observations: self.observations.bind(py).try_readwrite().map_err(refused("observations"))?,
            masks: self.mask_bytes.bind(py).try_readwrite().map_err(refused("masks"))?,
            rewards: self.rewards.bind(py).try_readwrite().map_err(refused("rewards"))?,
            seat: self.seat.bind(py).try_readwrite().map_err(refused("seat"))?,
            done: self.done_bytes.bind(py).try_readwrite().map_err(refused("done"))?,
        })
    }
}

/// An array that a caller gave, if it can be written as it is.
fn checked<'py>(array: &Bound<'py, PyAny>, name: &str, dtype: &str, shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    let found = array.getattr("dtype").map_or_else(|_| args::type_of(array), |dtype| dtype.to_string());
    let found_shape = array.getattr("shape").and_then(|shape| shape.extract::<Vec<usize>>()).unwrap_or_default();
    let flag = |name: &str| array.getattr("flags").and_then(|flags| flags.get_item(name)?.extract::<bool>());
    let is_good = found == dtype && found_shape == shape && flag("C_CONTIGUOUS").unwrap_or(false);
    if is_good && flag("WRITEABLE").unwrap_or(false) {
        return Ok(array.clone());
    }
    Err(error::ArrayError::new_err(format!(
        "`{name}` has the shape {found_shape:?} and the dtype {found}; allowed is a contiguous, writable array of the shape \
         {shape:?} and the dtype {dtype}"
    )))
}

/// The arrays while they are written.
pub(super) struct Held<'py> {
    observations: PyReadwriteArray2<'py, u8>,
    masks: PyReadwriteArray2<'py, u8>,
    rewards: PyReadwriteArray2<'py, f32>,
    seat: PyReadwriteArray1<'py, i64>,
    done: PyReadwriteArray1<'py, u8>,
}

impl Held<'_> {
    /// The memory of the arrays. A caller may have changed the shape of an array meanwhile; then it is refused.
    pub(super) fn rows(&mut self, common: &Common) -> PyResult<Rows<'_>> {
        let rows = Rows {
            widths: [common.tensors.len(), common.space.action_count(), common.seats],
            observations: self.observations.as_slice_mut()?,
            masks: self.masks.as_slice_mut()?,
            rewards: self.rewards.as_slice_mut()?,
            seat: self.seat.as_slice_mut()?,
            done: self.done.as_slice_mut()?,
        };
        let [observation, mask, seats] = rows.widths.map(|width| width * common.batch);
        let fits = (rows.observations.len(), rows.masks.len(), rows.rewards.len()) == (observation, mask, seats)
            && (rows.seat.len(), rows.done.len()) == (common.batch, common.batch);
        if fits { Ok(rows) } else { Err(error::ArrayError::new_err("an array of the batch has changed its shape")) }
    }
}

/// The rows of some neighbouring matches.
pub(super) struct Rows<'a> {
    widths: [usize; 3],
    pub(super) observations: &'a mut [u8],
    pub(super) masks: &'a mut [u8],
    pub(super) rewards: &'a mut [f32],
    pub(super) seat: &'a mut [i64],
    pub(super) done: &'a mut [u8],
}

impl<'a> Rows<'a> {
    /// The rows of `size` matches at a time.
    pub(super) fn chunks(self, size: usize) -> impl Iterator<Item = Rows<'a>> {
        let Rows { widths, observations, masks, rewards, seat, done } = self;
        let [observation, mask, seats] = widths.map(|width| width * size);
        let wide = observations.chunks_mut(observation).zip(masks.chunks_mut(mask)).zip(rewards.chunks_mut(seats));
        let all = wide.zip(seat.chunks_mut(size)).zip(done.chunks_mut(size));
        all.map(move |((((observations, masks), rewards), seat), done)| Rows {
            widths,
            observations,
            masks,
            rewards,
            seat,
            done,
        })
    }

    /// Forgets the results of the last step.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.rewards.fill(0.0);
        self.done.fill(0);
    }
}
