//! The arrays of a batch.

use cambio_core::Choices;
use numpy::prelude::*;
use numpy::{Element, PyArrayDyn, PyReadwriteArrayDyn};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::BatchSettings;
use crate::error;
use crate::rules::slice;

/// The optional arrays that a batch writes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "one for each array")]
pub(super) struct Extras {
    pub(super) finals: bool,
    pub(super) all_seats: bool,
    pub(super) keys: bool,
    pub(super) true_cards: bool,
}

/// An array and its numbers. For an array of `bool`, the numbers are its bytes: memory that Python owns can contain any byte, and a
/// Rust `bool` only 0 or 1.
pub(super) struct SharedArray<N> {
    object: Py<PyAny>,
    numbers: Py<PyArrayDyn<N>>,
}

impl<N: Element> SharedArray<N> {
    /// An array of zeros.
    fn new(py: Python<'_>, dtype: &str, shape: &[usize]) -> PyResult<SharedArray<N>> {
        let array = zeros(py, shape, dtype)?;
        let numbers = if dtype == "bool" { array.call_method1("view", ("u1",))? } else { array.clone() };
        Ok(SharedArray { object: array.unbind(), numbers: numbers.cast_into()?.unbind() })
    }

    /// Borrows the array for writing. Fails if it is already borrowed.
    fn hold<'py>(&self, py: Python<'py>, name: &str) -> PyResult<PyReadwriteArrayDyn<'py, N>> {
        let refused = |what| error::ArrayError::new_err(format!("`{name}` cannot be written: {what}"));
        self.numbers.bind(py).try_readwrite().map_err(refused)
    }
}

/// The array as an object, if it was requested.
pub(super) fn object<N>(py: Python<'_>, array: Option<&SharedArray<N>>) -> Option<Py<PyAny>> {
    array.map(|array| array.object.clone_ref(py))
}

/// Declares the arrays of a batch: the type of the numbers, the dtype, whether the array is requested, and the shape after the first
/// axis, which has an entry for each match.
macro_rules! arrays {
    ($common:ident; $($array:ident: $number:ty, $dtype:literal, $is_wanted:expr, [$($size:expr),*];)+) => {
        /// The arrays into which a batch writes, if they were requested.
        pub(super) struct Arrays {
            $(pub(super) $array: Option<SharedArray<$number>>,)+
        }

        /// The arrays, borrowed for writing.
        pub(super) struct ArrayGuards<'py> {
            $($array: Option<PyReadwriteArrayDyn<'py, $number>>,)+
        }

        /// The number of entries that each array has for one match.
        #[derive(Clone, Copy)]
        struct RowWidths {
            $($array: usize,)+
        }

        /// The rows of some neighbouring matches. Rows of arrays that were not requested are empty.
        pub(super) struct MatchRows<'a> {
            widths: RowWidths,
            $($array: &'a mut [$number],)+
            choices: &'a mut [Choices],
            legal: &'a mut [u8],
        }

        /// The rows of one match.
        pub(super) struct MatchRow<'a> {
            $(pub(super) $array: &'a mut [$number],)+
            pub(super) choices: &'a mut Choices,
            pub(super) legal: &'a mut [u8],
        }

        impl Arrays {
            /// New arrays.
            pub(super) fn new(py: Python<'_>, $common: &BatchSettings) -> PyResult<Arrays> {
                Ok(Arrays {
                    $($array: if $is_wanted {
                        Some(SharedArray::new(py, $dtype, &[$common.batch $(, $size)*])?)
                    } else {
                        None
                    },)+
                })
            }

            /// Borrows all arrays for writing. Fails if one is already borrowed.
            pub(super) fn hold<'py>(&self, py: Python<'py>) -> PyResult<ArrayGuards<'py>> {
                Ok(ArrayGuards {
                    $($array: self.$array.as_ref().map(|array| array.hold(py, stringify!($array))).transpose()?,)+
                })
            }
        }

        impl ArrayGuards<'_> {
            /// The rows of the arrays. Fails if the caller has changed the shape of an array.
            pub(super) fn rows<'a>(
                &'a mut self,
                $common: &BatchSettings,
                choices: &'a mut [Choices],
                legal: &'a mut [u8],
            ) -> PyResult<MatchRows<'a>> {
                let width = |is_wanted: bool, sizes: &[usize]| if is_wanted { sizes.iter().product() } else { 0 };
                let widths = RowWidths { $($array: width($is_wanted, &[$($size),*]),)+ };
                let rows = MatchRows {
                    widths,
                    $($array: self.$array.as_mut().map_or(Ok(&mut [][..]), |array| array.as_slice_mut())?,)+
                    choices,
                    legal,
                };
                let fits = true $(&& rows.$array.len() == widths.$array * $common.batch)+;
                if fits { Ok(rows) } else { Err(error::ArrayError::new_err("an array of the batch has changed its shape")) }
            }
        }

        impl<'a> MatchRows<'a> {
            /// Splits off the rows of the first `size` matches.
            fn split_off(&mut self, size: usize) -> MatchRows<'a> {
                let (size, widths) = (size.min(self.choices.len()), self.widths);
                MatchRows {
                    widths,
                    $($array: take(&mut self.$array, widths.$array * size),)+
                    choices: take(&mut self.choices, size),
                    legal: take(&mut self.legal, widths.masks * size),
                }
            }

            /// The rows of each match.
            #[inline]
            pub(super) fn each(mut self) -> impl Iterator<Item = MatchRow<'a>> {
                let widths = self.widths;
                std::mem::take(&mut self.choices).iter_mut().map(move |choices| MatchRow {
                    $($array: take(&mut self.$array, widths.$array),)+
                    choices,
                    legal: take(&mut self.legal, widths.masks),
                })
            }
        }
    };
}

arrays! { common;
    observations: u8, "uint8", true, [common.tensors.len()];
    masks: u8, "bool", true, [common.space.action_count()];
    rewards: f32, "float32", true, [common.seats];
    seat: i64, "int64", true, [];
    done: u8, "bool", true, [];
    final_observations: u8, "uint8", common.extras.finals, [common.seats, common.tensors.len()];
    all_observations: u8, "uint8", common.extras.all_seats, [common.seats, common.tensors.len()];
    keys: u64, "uint64", common.extras.keys, [2];
    true_cards: i8, "int8", common.extras.true_cards, [common.seats, common.rules.slots()];
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

/// Removes the first entries of a slice and returns them.
#[inline]
#[expect(clippy::mut_mut, reason = "the slice itself becomes shorter")]
fn take<'a, T>(slice: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    if count == 0 {
        return &mut [];
    }
    slice.split_off_mut(..count).expect("the rows were counted when the arrays were borrowed")
}

impl<'a> MatchRows<'a> {
    /// The rows of `size` matches at a time.
    pub(super) fn chunks(mut self, size: usize) -> impl Iterator<Item = MatchRows<'a>> {
        std::iter::from_fn(move || (!self.choices.is_empty()).then(|| self.split_off(size)))
    }
}

impl MatchRow<'_> {
    /// Clears the results of the last step.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.rewards.fill(0.0);
        self.done.fill(0);
    }
}
