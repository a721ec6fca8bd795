//! Training data of policy networks: decisions with all their candidates, and positions for the critic.

use cambio_agents::{Network, NetworkEvaluation};
use cambio_core::{Action, Card, Seat, Spot, State, Table, View};

use super::{Collector, SelfPlay, soft, weights};
use crate::recipe::Play;
use crate::rng::SeededRng;
use crate::samples::{PolicySamples, RoundValues};

/// Draws each decision from the network's probabilities.
#[derive(Default)]
pub(crate) struct PolicyCollector {
    samples: PolicySamples,
    evaluation: NetworkEvaluation,
    /// A buffer for the critic's inputs.
    position: NetworkEvaluation,
    on: Vec<u16>,
}

/// The critic's view: the view of a seat that sees every card.
struct OpenView<'a> {
    state: &'a State,
    seat: Seat,
}

impl View for OpenView<'_> {
    fn table(&self) -> &Table {
        self.state.table()
    }

    fn seat(&self) -> Seat {
        self.seat
    }

    fn face(&self, spot: Spot) -> Option<Card> {
        self.state.face(spot)
    }

    fn held(&self) -> Option<Card> {
        self.state.held()
    }
}

impl Collector for PolicyCollector {
    type Data = PolicySamples;

    fn round_begins(&mut self, _: &Play, _: f32, _: &mut SeededRng) {}

    fn decide(&mut self, _: &Play, network: &Network, referee: &SelfPlay<'_>, chance: &mut SeededRng) -> Action {
        let state = referee.playing().state();
        let seat = state.actor().expect("a seat is to act");
        let (view, (history, standing)) = (state.view(seat), referee.observer().seen_by(seat));
        let PolicyCollector { samples, evaluation, position, on } = self;
        network.evaluate(&view, history, standing, evaluation);
        let number = evaluation.actions().len();
        if number == 1 {
            return evaluation.actions().next().expect("there is one");
        }
        let index = soft(evaluation, 1.0, chance);
        let inputs = network.inputs();
        for candidate in 0..number {
            on.clear();
            inputs.on(&view, evaluation, candidate, |input| on.push(input as u16));
            samples.choices.push(on, candidate == index);
        }
        samples.choices.end();
        let sum: f32 = weights(evaluation, 1.0).sum();
        samples.chances.push(weights(evaluation, 1.0).nth(index).expect("it is one of them") / sum);
        samples.seats.push(seat.index() as u8);
        samples.luck.push(referee.observer().luck(seat));
        on.clear();
        inputs.on_position(&view, history, standing, position, |input| on.push(input as u16));
        let open = OpenView { state, seat };
        inputs.on_position(&open, history, standing, position, |input| on.push((inputs.count() + input) as u16));
        samples.positions.push(on, 0.0);
        evaluation.actions().nth(index).expect("it is one of them")
    }

    fn is_judged(&self) -> bool {
        true
    }

    fn round_ends(&mut self, _: &Play, result: &RoundValues) {
        self.samples.rounds.push((self.samples.chances.len(), *result));
    }

    fn data(self) -> PolicySamples {
        self.samples
    }
}
