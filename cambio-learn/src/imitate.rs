//! Imitation: the decisions of an agent in its records, for training and for evaluation.

use cambio_agents::{MatchStanding, Network, NetworkEvaluation, NetworkInputs};
use cambio_core::play::RoundResult;
use cambio_core::view::CardHistory;
use cambio_core::{Action, Card, Event, Observer, Record, Seat, Standing, State, replay};
use cambio_exec::Executor;
use cambio_stats::{Interval, Moments, Support};

use crate::error::LearnError;
use crate::play::{NetworkMatch, PlayTotals};
use crate::records::ImitationRecords;
use crate::samples::ChoiceSamples;

/// The agreement of a network with an agent in held-out records.
#[derive(Clone, PartialEq, Debug)]
pub struct Agreement {
    /// The agent.
    pub agent: String,
    /// The share of the decisions with a choice in which the network takes the recorded decision, or one with the same
    /// inputs, with a 95 % interval that is clustered by deal.
    pub share: Interval,
    /// The number of decisions.
    pub decisions: u64,
    /// The expected share if the network chose candidates at random.
    pub by_chance: f64,
}

/// A decision of the agent, with the information from which a network computes its inputs.
struct ImitatedDecision<'a> {
    view: cambio_core::engine::StateView<'a>,
    history: &'a CardHistory,
    standing: &'a MatchStanding,
    action: Action,
}

/// Follows a match and passes the decisions of one agent to `each`.
struct ImitationObserver<'a, F> {
    /// For each seat, seat a first, whether the agent sits there.
    is_agent: Vec<bool>,
    course: NetworkMatch<'a>,
    tally: PlayTotals,
    each: F,
}

impl<F: FnMut(&ImitatedDecision<'_>)> Observer for ImitationObserver<'_, F> {
    fn round_begins(&mut self, standing: &Standing<'_>, deck: &[Card]) {
        self.course.round_begins(standing, deck);
    }

    fn event(&mut self, event: &Event<Card>) {
        self.course.event(event);
    }

    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        if self.is_agent[seat.index()] {
            let (history, standing) = self.course.seen_by(seat);
            (self.each)(&ImitatedDecision { view: state.view(seat), history, standing, action });
        }
    }

    fn round_ends(&mut self, _: &State, result: &RoundResult) {
        self.tally.rounds += 1;
        self.tally.turns += result.turns as u64;
    }
}

/// Replays a record and passes the decisions of the agent to `each`.
fn follow(
    records: &ImitationRecords,
    index: usize,
    inputs: &NetworkInputs,
    each: impl FnMut(&ImitatedDecision<'_>),
) -> Result<PlayTotals, LearnError> {
    let record = records.record(index)?;
    let is_agent = seats_of(&record, records.agent());
    let mut follower =
        ImitationObserver { is_agent, course: NetworkMatch::new(inputs), tally: PlayTotals::default(), each };
    replay(&record, &mut follower).map_err(|flaw| records.flaw(index, &flaw))?;
    Ok(follower.tally)
}

/// For each seat, seat a first, whether the agent sits there.
fn seats_of(record: &Record, agent: &str) -> Vec<bool> {
    let agents = record.fields.get("agents").and_then(|agents| agents.as_array());
    agents.into_iter().flatten().map(|name| name.as_str() == Some(agent)).collect()
}

/// The agent's decisions in the records for the training matches with these numbers.
pub(crate) fn training_data(
    records: &ImitationRecords,
    inputs: &NetworkInputs,
    matches: std::ops::Range<u64>,
) -> Result<(ChoiceSamples, PlayTotals), LearnError> {
    let (mut choices, mut tally) = (ChoiceSamples::default(), PlayTotals::default());
    let (mut evaluation, mut on) = (NetworkEvaluation::default(), Vec::new());
    choices.candidates.begin(inputs);
    for number in matches {
        let one = follow(records, records.of_match(number), inputs, |taken| {
            inputs.look(&taken.view, taken.history, taken.standing, &mut evaluation);
            let number = evaluation.actions().len();
            let Some(index) = evaluation.index_of(inputs, &taken.view, taken.action).filter(|_| number > 1) else {
                return;
            };
            for candidate in 0..number {
                on.clear();
                inputs.on_under_rules(&taken.view, &evaluation, candidate, |input| on.push(input as u16));
                choices.push(&on, candidate == index);
            }
            choices.end();
        })?;
        tally.add(&one);
    }
    Ok((choices, tally))
}

/// The agreement of a network with the agent in the held-out deals.
pub(crate) fn agreement(
    records: &ImitationRecords,
    network: &Network,
    executor: &Executor,
) -> Result<Agreement, LearnError> {
    #[derive(Default)]
    struct AgreementSums {
        decisions: i64,
        agreed: i64,
        by_chance: f64,
    }
    let work = |deal: u64| {
        let (mut sums, mut evaluation) = (AgreementSums::default(), NetworkEvaluation::default());
        for &index in records.of_held_out(deal) {
            follow(records, index, network.inputs(), |taken| {
                network.evaluate(&taken.view, taken.history, taken.standing, &mut evaluation);
                let number = evaluation.actions().len();
                let index = evaluation.index_of(network.inputs(), &taken.view, taken.action);
                // A decision with one candidate, such as a pass without a card to snap, is not a choice.
                if number > 1 || index.is_none() {
                    sums.decisions += 1;
                    sums.agreed += i64::from(index == Some(evaluation.best()));
                    sums.by_chance += index.map_or(0.0, |_| 1.0 / number as f64);
                }
            })?;
        }
        Ok(sums)
    };
    let (mut moments, mut by_chance) = (Moments::default(), 0.0);
    let commit = |_, sums: Result<AgreementSums, LearnError>| {
        let sums = sums?;
        moments.add(sums.decisions, sums.agreed);
        by_chance += sums.by_chance;
        Ok(())
    };
    executor.run_ordered(0..records.held_out(), work, commit).map_err(|stopped| stopped.or(LearnError::Interrupted))?;
    let nothing = || LearnError::Records("the agent has no decision with a choice in the held-out deals".to_owned());
    let share = moments.interval(1.0, Support::Share).ok_or_else(nothing)?;
    let decisions = moments.results() as u64;
    Ok(Agreement { agent: records.agent().to_owned(), share, decisions, by_chance: by_chance / decisions as f64 })
}
