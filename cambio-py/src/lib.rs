//! The compiled module of the Python package `cambio-game`: the game, observations, agents, tournaments.
//!
//! Each file wraps one part of the library and contains no rule of the game. `python/cambio_game` re-exports everything.

/// Declares how objects of a class are printed, hashed, copied (by `Clone`, because they share no mutable state) and pickled, and their
/// properties, each with its type and its value. `name<'py>(py)` binds the interpreter's token.
macro_rules! properties {
    ($class:ident, $this:ident
        $(, repr = $repr:expr, hash = $hash:expr)?
        $(, reduce($reduce_py:ident) = $reduce:expr)?;
        $($(#[$doc:meta])* $vis:vis $name:ident$(<$life:lifetime>($py:ident))?: $type:ty = $value:expr;)*) => {
        #[pymethods]
        impl $class {
            $(
                fn __repr__(&self) -> String {
                    let $this = self;
                    $repr
                }

                fn __hash__(&self) -> u64 {
                    let $this = self;
                    crate::rules::hash_of(&$hash)
                }

                fn __copy__(&self) -> $class {
                    Clone::clone(self)
                }

                fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> $class {
                    Clone::clone(self)
                }
            )?
            $(
                fn __reduce__<'py>(&self, $reduce_py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyTuple>> {
                    let $this = self;
                    $reduce.into_pyobject($reduce_py)
                }
            )?
            $(
                $(#[$doc])*
                #[getter]
                $vis fn $name$(<$life>)?(&self$(, $py: Python<$life>)?) -> $type {
                    let $this = self;
                    $value
                }
            )*
        }
    };
}

mod action;
mod agent;
mod args;
mod batches;
mod chance_game;
mod episode;
mod error;
mod game;
mod observation;
mod python_agent;
mod record;
mod rounds;
mod rules;
mod small_game;
mod tournament;
mod vector;

use pyo3::prelude::*;

/// The compiled module of the package. `cambio_game` re-exports everything.
#[pymodule]
mod _cambio {
    #[pymodule_export]
    use super::{
        action::{PyAction, PyEvent},
        agent::{PyAgent, agent, agents},
        args::_whole,
        batches::{PyPlan, PyRunFolder},
        chance_game::{_floats, PyChanceGame},
        error::{
            ActionError, AgentError, AgentFault, ArrayError, CambioError, ExperimentError, IllegalAction, RecordError,
            RulesError, RunError,
        },
        game::PyGame,
        observation::{PyObservation, PyPosition, PyWorld},
        record::PyRecord,
        rounds::{_bench, PyStudy},
        rules::{PyLayout, PyRules},
        small_game::{_strategies, PySmallGame},
        tournament::{_columns, _command, _open, _run, _verify},
        vector::PyVectorGame,
    };

    use pyo3::prelude::*;
    use pyo3::types::PyTuple;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let py = module.py();
        py.get_type::<AgentFault>().setattr("record", py.None())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("PRESETS", PyTuple::new(py, cambio_core::rules::PRESETS)?)?;
        module.add("MINI_GAMES", PyTuple::new(py, cambio_core::rules::MINI_GAMES)?)
    }
}
