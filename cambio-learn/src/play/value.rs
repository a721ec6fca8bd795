//! Training data of value networks: the returns of decisions.
//!
//! The targets are Watkins' Q(λ) (Watkins 1989; Sutton and Barto 2018, section 12.10) on afterstates. Backwards from
//! the end of a round, the return of a decision mixes the return of the seat's next decision and the network's value of
//! the best candidate there. An exploratory decision cuts the trace: earlier decisions do not receive later returns.

use cambio_agents::{Network, NetworkEvaluation};
use cambio_core::{Action, Seat};

use super::{Collector, SelfPlay, soft, weights};
use crate::recipe::Play;
use crate::rng::SeededRng;
use crate::samples::{RoundValues, Samples};
use crate::trainer::sigmoid;

/// A decision of the network to train on.
#[derive(Clone, Copy, Debug)]
struct LearnedDecision {
    seat: Seat,
    /// The range of the decision's inputs in [`ValueCollector::on`].
    start: usize,
    end: usize,
    /// The network's value of the best candidate, or with a temperature the mean value under the softmax.
    value: f32,
    /// The luck of the seat in the match before the decision.
    luck: f32,
    /// Whether the decision was exploratory.
    explored: bool,
}

/// Takes the best candidates, except for one exploratory decision in some rounds.
#[derive(Default)]
pub(crate) struct ValueCollector {
    samples: Samples,
    evaluation: NetworkEvaluation,
    /// The active inputs of the round's decisions.
    on: Vec<u16>,
    decisions: Vec<LearnedDecision>,
    /// The softmax temperature of decisions; 0 takes the best.
    temperature: f32,
    /// Whether a decision of the round may be exploratory.
    may_explore: bool,
    explored: bool,
}

impl Collector for ValueCollector {
    type Data = Samples;

    fn round_begins(&mut self, play: &Play, share: f32, chance: &mut SeededRng) {
        self.temperature = play.temperature_after(share);
        self.may_explore = chance.share() < play.explore_rounds;
        self.explored = false;
        self.decisions.clear();
        self.on.clear();
    }

    fn decide(&mut self, play: &Play, network: &Network, referee: &SelfPlay<'_>, chance: &mut SeededRng) -> Action {
        let state = referee.playing().state();
        let seat = state.actor().expect("a seat is to act");
        let (view, (history, standing)) = (state.view(seat), referee.observer().seen_by(seat));
        let evaluation = &mut self.evaluation;
        network.evaluate(&view, history, standing, evaluation);
        let number = evaluation.actions().len();
        let mut index = evaluation.best();
        if number > 1 {
            let mut value = sigmoid(evaluation.logits().nth(index).expect("the best is one of them") as f32);
            if self.temperature > 0.0 {
                index = soft(evaluation, self.temperature, chance);
                value = soft_value(evaluation, self.temperature);
            }
            let mut explored = false;
            if self.may_explore && !self.explored && chance.share() < play.explore {
                index = explore(evaluation, chance);
                explored = true;
            } else if play.force_call_after.is_some_and(|turns| state.table().turns() > turns)
                && !self.explored
                && chance.share() < play.explore
                && let Some(call) = evaluation.actions().position(|action| action == Action::Call)
            {
                index = call;
                explored = true;
            }
            if explored {
                self.explored = true;
                // Drops the other seats' earlier decisions, because the exploration changes their outcome.
                self.decisions.retain(|decision| decision.seat == seat);
            }
            let (start, luck) = (self.on.len(), referee.observer().luck(seat));
            network.inputs().on(&view, evaluation, index, |input| self.on.push(input as u16));
            self.decisions.push(LearnedDecision { seat, start, end: self.on.len(), value, luck, explored });
        }
        self.evaluation.actions().nth(index).expect("it is one of them")
    }

    fn is_judged(&self) -> bool {
        !self.explored
    }

    fn round_ends(&mut self, play: &Play, result: &RoundValues) {
        // For each seat: the return after the decision, and its luck so far.
        let RoundValues { mut shares, mut luck } = *result;
        for decision in self.decisions.iter().rev() {
            let (back, later) = (&mut shares[decision.seat.index()], &mut luck[decision.seat.index()]);
            // The luck after the decision has the mean 0, so it can be subtracted without bias.
            *back -= *later - decision.luck;
            *later = decision.luck;
            self.samples.push(&self.on[decision.start..decision.end], *back);
            let before = if decision.explored {
                decision.value
            } else {
                play.lambda * *back + (1.0 - play.lambda) * decision.value
            };
            *back = play.discount * before;
        }
    }

    fn data(self) -> Samples {
        self.samples
    }
}

/// Draws an exploratory candidate: uniformly, or by a softmax of the values.
fn explore(evaluation: &NetworkEvaluation, chance: &mut SeededRng) -> usize {
    const TEMPERATURE: f32 = 0.3;
    let number = evaluation.actions().len();
    if chance.share() < 0.5 { chance.below(number) } else { soft(evaluation, TEMPERATURE, chance) }
}

/// The mean win share under the softmax.
fn soft_value(evaluation: &NetworkEvaluation, temperature: f32) -> f32 {
    let (mut all, mut sum) = (0.0, 0.0);
    for (weight, logit) in weights(evaluation, temperature).zip(evaluation.logits()) {
        all += weight;
        sum += weight * sigmoid(logit as f32);
    }
    sum / all
}
