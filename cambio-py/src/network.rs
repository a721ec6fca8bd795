//! The inputs of networks, for forward passes in Python.

use cambio_agents::{Network, NetworkEvaluation, read_network};
use cambio_core::View as _;
use cambio_core::view::CardHistory;
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::action::PyAction;
use crate::error;
use crate::observation::PyObservation;

/// A candidate of a network: the decision, the active inputs, and the output.
type Candidate<'py> = (PyAction, Bound<'py, PyArray1<i64>>, f64);

#[pymethods]
impl PyObservation {
    /// The inputs of a network for this decision: for each candidate, an `Action`, its active inputs (dtype `int64`), and the
    /// network's output, a logit of the win share.
    ///
    /// A candidate stands for all decisions that the network cannot distinguish. If there is only one, it has no inputs and the
    /// output 0. `network` is a network file; without it, the bundled network for the cards and the number of seats.
    ///
    ///     >>> [str(action) for action, inputs, logit in cambio.Game("classic", seed=1).observe().network_inputs()]
    ///     ['draw']
    ///
    /// Raises `IllegalAction` if the seat does not have to decide, and `AgentError` without a network for these cards.
    #[pyo3(signature = (network = None))]
    fn network_inputs<'py>(&self, py: Python<'py>, network: Option<&str>) -> PyResult<Vec<Candidate<'py>>> {
        if self.view.choices().is_empty() {
            return Err(error::IllegalAction::new_err("the seat of this observation does not have to decide"));
        }
        let (rules, seats, seat) = (self.rules_of(), self.seats_of(), self.view.seat());
        let network = match network {
            Some(path) => read_network(path).and_then(|found| found.fitting(rules).map_err(|error| error.to_string())),
            None => Network::shipped(rules, seats)
                .ok_or_else(|| format!("there is no bundled network for the cards of `{}`", rules.name())),
        };
        let network = network.map_err(error::AgentError::new_err)?;
        let mut history = CardHistory::new(rules, seats);
        self.sightings.iter().for_each(|sighting| history.notice(sighting));
        let (inputs, view, mut evaluation) = (network.inputs(), self.view.observation(), NetworkEvaluation::default());
        network.evaluate(&view, &history, &inputs.standing(&self.totals, seat), &mut evaluation);
        let (count, logits) = (evaluation.actions().len(), evaluation.logits());
        let candidate = |(index, (action, logit))| {
            let mut on = Vec::new();
            if count > 1 {
                inputs.on(&view, &evaluation, index, |input| on.push(input as i64));
            }
            (PyAction(action), PyArray1::from_vec(py, on), logit)
        };
        Ok(evaluation.actions().zip(logits).enumerate().map(candidate).collect())
    }
}
