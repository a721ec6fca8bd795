//! Imitation: the decisions of an agent in its records, for training and for evaluation.

use cambio_agents::{Inputs, MatchStanding, Network, Weighing};
use cambio_core::{Action, Card, CardHistory, Event, Observer, Record, RoundResult, Seat, Standing, State, replay};
use cambio_exec::{Executor, Stopped};
use cambio_stats::{Interval, Moments, Support};

use crate::error::LearnError;
use crate::play::{Course, Tally};
use crate::records::Records;
use crate::samples::Choices;

/// The agreement of a network with an agent in held-out records.
#[derive(Clone, PartialEq, Debug)]
pub struct Agreement {
    /// The agent.
    pub agent: String,
    /// The share of the decisions with a choice in which the network takes the recorded decision, or one that it does
    /// not distinguish from it, with a 95 % interval that is clustered by deal.
    pub share: Interval,
    /// The number of decisions.
    pub decisions: u64,
    /// The expected share of a random candidate.
    pub by_chance: f64,
}

/// A decision of the agent, as a network sees it.
struct Taken<'a> {
    view: cambio_core::StateView<'a>,
    history: &'a CardHistory,
    standing: &'a MatchStanding,
    action: Action,
}

/// Follows a match and passes the decisions of one agent to `each`.
struct Follower<'a, F> {
    /// Whether the agent sits in each seat, from seat a.
    is_agent: Vec<bool>,
    course: Course<'a>,
    tally: Tally,
    each: F,
}

impl<F: FnMut(&Taken<'_>)> Observer for Follower<'_, F> {
    fn round_begins(&mut self, standing: &Standing<'_>, deck: &[Card]) {
        self.course.round_begins(standing, deck);
    }

    fn event(&mut self, event: &Event<Card>) {
        self.course.event(event);
    }

    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        if self.is_agent[seat.index()] {
            let (history, standing) = self.course.seen_by(seat);
            (self.each)(&Taken { view: state.view(seat), history, standing, action });
        }
    }

    fn round_ends(&mut self, _: &State, result: &RoundResult) {
        self.tally.rounds += 1;
        self.tally.turns += result.turns as u64;
    }
}

/// Replays a record and passes the decisions of the agent to `each`.
fn follow(records: &Records, place: usize, inputs: &Inputs, each: impl FnMut(&Taken<'_>)) -> Result<Tally, LearnError> {
    let record = records.record(place)?;
    let is_agent = seats_of(&record, records.agent());
    let mut follower = Follower { is_agent, course: Course::new(inputs), tally: Tally::default(), each };
    replay(&record, &mut follower).map_err(|flaw| records.flaw(place, &flaw))?;
    Ok(follower.tally)
}

/// Whether an agent sits in each seat, from seat a.
fn seats_of(record: &Record, agent: &str) -> Vec<bool> {
    let agents = record.fields.get("agents").and_then(|agents| agents.as_array());
    agents.into_iter().flatten().map(|name| name.as_str() == Some(agent)).collect()
}

/// The agent's decisions in the matches with these numbers.
pub(crate) fn lessons(
    records: &Records,
    inputs: &Inputs,
    matches: std::ops::Range<u64>,
) -> Result<(Choices, Tally), LearnError> {
    let (mut choices, mut tally) = (Choices::default(), Tally::default());
    let (mut weighing, mut on) = (Weighing::default(), Vec::new());
    for number in matches {
        let one = follow(records, records.of_match(number), inputs, |taken| {
            inputs.look(&taken.view, taken.history, taken.standing, &mut weighing);
            let number = weighing.actions().len();
            let Some(place) = weighing.place_of(inputs, &taken.view, taken.action).filter(|_| number > 1) else {
                return;
            };
            for candidate in 0..number {
                on.clear();
                inputs.on(&taken.view, &weighing, candidate, |input| on.push(input as u16));
                choices.push(&on, candidate == place);
            }
            choices.end();
        })?;
        tally.add(&one);
    }
    Ok((choices, tally))
}

/// The agreement of a network with the agent in the held-out deals.
pub(crate) fn agreement(records: &Records, network: &Network, executor: &Executor) -> Result<Agreement, LearnError> {
    #[derive(Default)]
    struct Sums {
        decisions: i64,
        agreed: i64,
        by_chance: f64,
    }
    let work = |deal: u64| {
        let (mut sums, mut weighing) = (Sums::default(), Weighing::default());
        for &place in records.of_held_out(deal) {
            follow(records, place, network.inputs(), |taken| {
                network.weigh(&taken.view, taken.history, taken.standing, &mut weighing);
                let number = weighing.actions().len();
                let place = weighing.place_of(network.inputs(), &taken.view, taken.action);
                // A pass without a card to snap is not a choice.
                if number > 1 || place.is_none() {
                    sums.decisions += 1;
                    sums.agreed += i64::from(place == Some(weighing.best()));
                    sums.by_chance += place.map_or(0.0, |_| 1.0 / number as f64);
                }
            })?;
        }
        Ok(sums)
    };
    let (mut moments, mut by_chance) = (Moments::default(), 0.0);
    let commit = |_, sums: Result<Sums, LearnError>| {
        let sums = sums?;
        moments.add(sums.decisions, sums.agreed);
        by_chance += sums.by_chance;
        Ok(())
    };
    executor.run_ordered(0..records.held_out(), work, commit).map_err(|stopped| match stopped {
        Stopped::Cancelled => LearnError::Interrupted,
        Stopped::Failed(error) => error,
    })?;
    let nothing = || LearnError::Records("the agent has no decision with a choice in the held-out deals".to_owned());
    let share = moments.interval(1.0, Support::Share).ok_or_else(nothing)?;
    let decisions = moments.results() as u64;
    Ok(Agreement { agent: records.agent().to_owned(), share, decisions, by_chance: by_chance / decisions as f64 })
}
