//! The factories of Python agents, and the parameters in their signatures.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use cambio_agents::{Field as _, Param, ParamError, ParamValue, Params, Range};
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::error;

/// A class or a function that creates a Python agent, or an agent that all matches share, with the values of its parameters.
pub(crate) struct Factory {
    given: Py<PyAny>,
    is_object: bool,
    defaults: PythonParams,
    /// The parameters that differ from their defaults, and their values as text.
    arguments: Vec<(&'static str, String)>,
}

impl Factory {
    /// The factory with the parameters in its signature.
    pub(crate) fn of(given: &Bound<'_, PyAny>) -> PyResult<Factory> {
        let has = |name: &str| given.hasattr(name);
        let is_object = !given.is_instance_of::<PyType>() && (has("decide_batch")? || has("probabilities")?);
        let defaults = if is_object { PythonParams::default() } else { PythonParams::of(given)? };
        Ok(Factory { given: given.clone().unbind(), is_object, defaults, arguments: Vec::new() })
    }

    /// The parameters with their defaults.
    pub(crate) fn params(&self) -> &PythonParams {
        &self.defaults
    }

    /// The factory with other values of its parameters.
    pub(crate) fn with(&self, params: &PythonParams) -> Factory {
        let changed = params.0.iter().zip(&self.defaults.0).filter(|(now, before)| now != before);
        let arguments = changed.filter_map(|(now, _)| Some((now.name, now.default?.to_string()))).collect();
        let given = Python::attach(|py| self.given.clone_ref(py));
        Factory { given, is_object: self.is_object, defaults: params.clone(), arguments }
    }

    pub(crate) fn has_arguments_of(&self, other: &Factory) -> bool {
        self.arguments == other.arguments
    }

    /// Creates an agent, or returns the shared one.
    pub(crate) fn call(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        if self.is_object {
            return Ok(self.given.clone_ref(py));
        }
        if self.arguments.is_empty() {
            return self.given.call0(py);
        }
        let module = py.import("cambio_game.run")?;
        Ok(module.getattr("_made")?.call1((&self.given, &self.arguments))?.unbind())
    }
}

/// The parameters of a Python agent.
#[derive(Clone, Default, Debug)]
pub(crate) struct PythonParams(Vec<Param>);

impl PythonParams {
    /// The parameters in the signature of a factory.
    fn of(factory: &Bound<'_, PyAny>) -> PyResult<PythonParams> {
        let found = factory.py().import("cambio_game.run")?.getattr("_parameters")?.call1((factory,))?;
        let mut params = PythonParams::default();
        for (name, kind, words, default) in found.extract::<Vec<(String, String, Vec<String>, Option<String>)>>()? {
            let range = match &kind[..] {
                "int" => Range::Whole(i64::MIN, i64::MAX),
                "float" => Range::Real(f64::MIN, f64::MAX),
                _ => Range::Words(kept(words)),
            };
            let name = kept(vec![name])[0];
            params.0.push(Param { name, meaning: "an argument of the Python class or function", default: None, range });
            if let Some(text) = default
                && params.set(name, &text).is_err()
            {
                let text = cambio_core::text::excerpt(&text);
                return Err(error::AgentError::new_err(format!(
                    "the default of parameter `{name}` must be {range}, found `{text}`"
                )));
            }
        }
        Ok(params)
    }
}

impl Params for PythonParams {
    fn declared(&self) -> Vec<Param> {
        self.0.clone()
    }

    fn set(&mut self, name: &str, text: &str) -> Result<(), ParamError> {
        let param = self.0.iter_mut().find(|param| param.name == name).ok_or(ParamError::Unknown)?;
        let value = match param.range {
            Range::Whole(..) => text.parse().ok().map(ParamValue::Whole),
            Range::Real(..) => f64::read(text, param.range).map(ParamValue::Real),
            Range::Words(words) => words.iter().find(|word| **word == text).map(|word| ParamValue::Word(word)),
        };
        param.default = Some(value.ok_or(ParamError::Range(param.range))?);
        Ok(())
    }

    fn is_reproducible(&self) -> bool {
        true
    }

    fn boxed(&self) -> Box<dyn Params> {
        Box::new(self.clone())
    }
}

/// These texts until the process exits, as declarations need them; equal ones share memory.
fn kept(texts: Vec<String>) -> &'static [&'static str] {
    static KEPT: Mutex<BTreeMap<Vec<String>, &'static [&'static str]>> = Mutex::new(BTreeMap::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    kept.entry(texts).or_insert_with_key(|texts| {
        let texts = texts.iter().map(|text| &*text.clone().leak());
        texts.collect::<Vec<&str>>().leak()
    })
}
