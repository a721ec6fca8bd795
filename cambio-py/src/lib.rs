//! The compiled module of the Python package `cambio-game`: the game, observations, agents, tournaments.
//!
//! Each file wraps one part of the library and contains no rule of the game. `python/cambio_game` re-exports everything.

mod action;
mod agent;
mod args;
mod batch_agent;
mod batches;
mod chance_game;
mod episode;
mod error;
mod factory;
mod game;
mod keys;
mod network;
mod observation;
mod raised;
mod record;
mod rounds;
mod rules;
mod small_game;
mod tournament;
mod vector;
mod words;

use pyo3::prelude::*;

/// Implements `copy.copy` and `copy.deepcopy` by `Clone`, for classes whose objects share no mutable state.
macro_rules! copies {
    ($($class:path),*) => {$(
        #[pymethods]
        impl $class {
            fn __copy__(&self) -> $class {
                Clone::clone(self)
            }

            fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> $class {
                Clone::clone(self)
            }
        }
    )*};
}

copies!(action::PyAction, action::PyEvent, agent::PyAgent, rules::PyRules, rules::PyBlock, rules::PyLayout);
copies!(game::PyGame, chance_game::PyChanceGame, record::PyRecord, small_game::PySmallGame);
copies!(observation::PyObservation, observation::PyKnowledge, observation::PyWorld);

/// The compiled module of the package. `cambio_game` re-exports everything.
#[pymodule]
mod _cambio {
    #[pymodule_export]
    use super::action::{PyAction, PyEvent, event};
    #[pymodule_export]
    use super::agent::{PyAgent, agent, agents};
    #[pymodule_export]
    use super::args::_whole;
    #[pymodule_export]
    use super::batches::{PyPlan, PyRunFolder};
    #[pymodule_export]
    use super::chance_game::{_floats, PyChanceGame, chance_game};
    #[pymodule_export]
    use super::error::{
        ActionError, AgentError, AgentFault, ArrayError, CambioError, ExperimentError, IllegalAction, RecordError,
        RulesError, RunError,
    };
    #[pymodule_export]
    use super::game::{PyGame, game, world};
    #[pymodule_export]
    use super::observation::{PyKnowledge, PyObservation, PyWorld, observation};
    #[pymodule_export]
    use super::record::PyRecord;
    #[pymodule_export]
    use super::rounds::{PyStudy, _bench};
    #[pymodule_export]
    use super::rules::{PyBlock, PyLayout, PyRules};
    #[pymodule_export]
    use super::small_game::{_strategies, PySmallGame};
    #[pymodule_export]
    use super::tournament::{_columns, _command, _open, _run, _verify};
    #[pymodule_export]
    use super::vector::{PyVectorGame, vector};

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
