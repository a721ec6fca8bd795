//! What a test of an agent needs: a random player, and the conformance suite that anyone can run on a bot.

use crate::rng::{Bounded as _, Key, Stream};
use crate::{
    Action, Agent, Briefing, Card, Event, Fault, Knowledge, MatchError, Observation, Observer, PRESETS, Pairing,
    RaceOrder, RoundResult, Rules, Score, Seat, Setup, Sighting, Standing, State, Trouble, play_match,
};

/// Chooses among the legal decisions, each equally likely.
#[derive(Clone, Debug, Default)]
pub struct RandomAgent {
    stream: Option<Stream>,
}

impl Agent for RandomAgent {
    fn begin(&mut self, briefing: &Briefing<'_>) {
        self.stream = Some(briefing.stream.clone());
    }

    fn decide(&mut self, view: &Observation<'_>) -> Action {
        let stream = self.stream.as_mut().expect("a match begins with a briefing");
        let choices = view.choices();
        choices.nth(stream.below(choices.len() as u32) as usize).expect("the number is below the choices")
    }
}

/// How much of an agent [`check_agent`] checks.
#[derive(Clone, Debug)]
pub struct Effort {
    /// The presets, by name.
    pub presets: Vec<&'static str>,
    /// The numbers of seats.
    pub seats: Vec<usize>,
    /// How many matches are played on each.
    pub matches: u64,
}

impl Default for Effort {
    /// Twelve matches on every preset at 2, 3, 4 and 8 seats.
    fn default() -> Effort {
        Effort { presets: PRESETS.to_vec(), seats: vec![2, 3, 4, 8], matches: 12 }
    }
}

/// What an agent was found to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Conformance {
    /// How many matches were played.
    pub matches: u64,
    /// How many decisions were checked.
    pub decisions: u64,
}

/// Where an agent does not conform.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{preset}, {seats} seats, deal {deal}: {kind}")]
pub struct Nonconformance {
    /// The preset.
    pub preset: &'static str,
    /// The number of seats.
    pub seats: usize,
    /// The deal, under seed 0.
    pub deal: u64,
    /// What went wrong.
    pub kind: Failing,
}

/// What can be wrong with an agent.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum Failing {
    /// It decides what is not legal.
    #[error("{}", MatchError::Fault(Box::new(*.0)))]
    Illegal(Fault),
    /// It cannot go on.
    #[error("{0}")]
    Trouble(Trouble),
    /// The same briefing and sightings lead to another decision.
    #[error("seat {seat} decides `{second}` where it decided `{first}` before, on the same briefing and sightings")]
    Unsteady {
        /// The seat.
        seat: Seat,
        /// The decision in the match.
        first: Action,
        /// The decision when it is asked again.
        second: Action,
    },
    /// What it saw in an earlier match changes its play.
    #[error("seat {seat} decides `{second}` instead of `{first}` after other matches: it has not forgotten them")]
    Stateful {
        /// The seat.
        seat: Seat,
        /// The decision of a fresh agent.
        first: Action,
        /// The decision of one that has played before.
        second: Action,
    },
    /// The cards that it cannot know change its play.
    #[error("seat {seat} decides `{second}` instead of `{first}` when the cards that it cannot know are others")]
    Clairvoyant {
        /// The seat.
        seat: Seat,
        /// The decision in the true world.
        first: Action,
        /// The decision in another world that looks the same.
        second: Action,
    },
}

/// What one seat went through in a match, with worlds that it cannot tell from the true one.
enum Moment {
    RoundBegins(Setup, usize, Vec<Score>),
    Sighting(Sighting),
    Decision { truth: Box<State>, other: Box<State>, action: Action, number: usize },
    RoundEnds(Box<RoundResult>),
}

/// Writes down what each seat goes through.
struct Diary {
    moments: Vec<Vec<Moment>>,
    knowledge: Vec<Knowledge>,
    totals: Vec<Score>,
    rounds: usize,
    stream: Stream,
    decisions: u64,
    /// How many of the decisions were in this round.
    number: usize,
}

impl Diary {
    fn new(rules: &Rules, seats: usize, key: Key) -> Diary {
        Diary {
            moments: (0..seats).map(|_| Vec::new()).collect(),
            knowledge: Seat::ALL[..seats].iter().map(|&seat| Knowledge::new(rules, seats, seat)).collect(),
            totals: vec![Score::default(); seats],
            rounds: 0,
            stream: Key { seed: !key.seed, ..key }.agent(Seat::A),
            decisions: 0,
            number: 0,
        }
    }
}

impl Observer for Diary {
    fn round_begins(&mut self, setup: &Setup, _: &[Card]) {
        for moments in &mut self.moments {
            moments.push(Moment::RoundBegins(*setup, self.rounds, self.totals.clone()));
        }
        self.rounds += 1;
        self.number = 0;
    }

    fn event(&mut self, event: &Event<Card>) {
        for ((moments, knowledge), seat) in self.moments.iter_mut().zip(&mut self.knowledge).zip(Seat::ALL) {
            let sighting = event.seen_from(seat);
            knowledge.notice(&sighting);
            moments.push(Moment::Sighting(sighting));
        }
    }

    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        let other = self.knowledge[seat.index()].sample(&state.observe(seat), &mut self.stream);
        self.number += 1;
        let (truth, other) = (Box::new(state.clone()), Box::new(other));
        self.moments[seat.index()].push(Moment::Decision { truth, other, action, number: self.number });
        self.decisions += 1;
    }

    fn race(&mut self, _: &RaceOrder) {}

    fn round_ends(&mut self, _: &State, result: &RoundResult) {
        for moments in &mut self.moments {
            moments.push(Moment::RoundEnds(Box::new(*result)));
        }
        for (total, &score) in self.totals.iter_mut().zip(result.scores()) {
            *total = *total + score;
        }
    }
}

/// Which world a seat that goes through a match again is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Truth,
    Other,
}

/// Lets an agent go through a match again; gives the first decision that differs, as (before, now).
fn relive<A: Agent>(
    agent: &mut A,
    briefing: &Briefing<'_>,
    moments: &[Moment],
    totals: &[Score],
    shown: Shown,
) -> Result<Option<(Action, Action)>, Trouble> {
    let seat = briefing.seat;
    let ask_after = |agent: &mut A, round, decision| match agent.trouble() {
        None => Ok(()),
        Some(reason) => Err(Trouble { seat, round, decision, reason }),
    };
    agent.begin(briefing);
    ask_after(agent, 0, 0)?;
    let mut current = 0;
    for moment in moments {
        match moment {
            Moment::RoundBegins(setup, round, totals) => {
                current = round + 1;
                agent.round_begins(&Standing { round: *round, setup: *setup, totals });
            }
            Moment::Sighting(sighting) => agent.notice(sighting),
            Moment::Decision { truth, other, action, number } => {
                let world = if shown == Shown::Truth { truth } else { other };
                let again = agent.decide(&world.observe(seat)).canonical();
                ask_after(agent, current, *number)?;
                if again != *action {
                    return Ok(Some((*action, again)));
                }
            }
            Moment::RoundEnds(result) => agent.round_ends(result),
        }
    }
    agent.match_ends(totals);
    Ok(None)
}

/// Checks an agent, made anew by `make` as often as it is needed.
///
/// It has to be legal in every match and never be in trouble; the same briefing and sightings have to lead to the same decisions; earlier
/// matches must change nothing; and the cards that it cannot know must change nothing: at every decision everything
/// hidden from the seat is dealt anew, the stock's order included, and the decision has to stay.
///
/// # Errors
/// The first way in which the agent does not conform, and where.
///
/// # Panics
/// If a preset of `effort` does not exist or cannot seat so many.
///
/// # Examples
/// ```
/// use cambio_core::testing::{Effort, RandomAgent, check_agent};
///
/// let effort = Effort { matches: 2, ..Effort::default() };
/// let found = check_agent(RandomAgent::default, &effort).unwrap();
/// assert!(found.decisions > 1000);
/// ```
pub fn check_agent<A: Agent>(make: impl Fn() -> A, effort: &Effort) -> Result<Conformance, Box<Nonconformance>> {
    let mut found = Conformance::default();
    for &preset in &effort.presets {
        let rules = Rules::preset(preset).expect("the effort names presets");
        for &seats in &effort.seats {
            let mut veterans: Vec<A> = (0..seats).map(|_| make()).collect();
            for deal in 0..effort.matches {
                let key = Key { seed: 0, deal };
                let checked = check_match(&make, &mut veterans, &Pairing { rules, seats, key });
                found.decisions += checked.map_err(|kind| Box::new(Nonconformance { preset, seats, deal, kind }))?;
                found.matches += 1;
            }
        }
    }
    Ok(found)
}

fn check_match<A: Agent>(make: &impl Fn() -> A, veterans: &mut [A], pairing: &Pairing) -> Result<u64, Failing> {
    let Pairing { rules, seats, key } = *pairing;
    let mut diary = Diary::new(&rules, seats, key);
    let mut agents: Vec<A> = (0..seats).map(|_| make()).collect();
    match play_match(pairing, &mut agents, &mut diary) {
        Ok(_) => {}
        Err(MatchError::Fault(fault)) => return Err(Failing::Illegal(*fault)),
        Err(MatchError::Trouble(trouble)) => return Err(Failing::Trouble(*trouble)),
        Err(error) => panic!("{error}"),
    }
    for ((moments, veteran), seat) in diary.moments.iter().zip(veterans).zip(Seat::ALL) {
        let briefing = Briefing { rules: &rules, seats, seat, stream: &key.agent(seat) };
        let again =
            |agent: &mut A, shown| relive(agent, &briefing, moments, &diary.totals, shown).map_err(Failing::Trouble);
        if let Some((first, second)) = again(&mut make(), Shown::Truth)? {
            return Err(Failing::Unsteady { seat, first, second });
        }
        if let Some((first, second)) = again(&mut make(), Shown::Other)? {
            return Err(Failing::Clairvoyant { seat, first, second });
        }
        if let Some((first, second)) = again(veteran, Shown::Truth)? {
            return Err(Failing::Stateful { seat, first, second });
        }
    }
    Ok(diary.decisions)
}
