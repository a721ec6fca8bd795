//! Support for tests: a random player, and a conformance check for agents and bots.

use crate::engine::Setup;
use crate::play::{Failure, Fault, MatchError, RoundResult};
use crate::record::RoundRecord;
use crate::rng::{Bounded as _, Key, Purpose, Stream};
use crate::rules::PRESETS;
use crate::rules::seat::{MAX_SEATS, Spot};
use crate::{
    Action, Agent, AgentError, Briefing, Card, Event, Knowledge, Match, MatchResult, MatchSetup, Notice, Observation,
    Observer, Phase, Players, Record, Recorder, Rules, Score, Seat, Standing, State, play_match, replay,
};

/// An agent that chooses uniformly among the legal decisions.
#[derive(Clone, Debug, Default)]
pub struct RandomAgent {
    /// The probability of passing in a snap window, in multiples of 2⁻³⁰; `None` if a pass is as likely as every other decision.
    pass: Option<u32>,
    stream: Option<Stream>,
}

/// The denominator of [`RandomAgent::pass`].
const PASS_SCALE: u32 = 1 << 30;

impl RandomAgent {
    /// An agent that passes in snap windows with this probability, which is rounded to the nearest 2⁻³⁰, and otherwise chooses uniformly.
    pub fn passing(probability: f64) -> RandomAgent {
        let pass = (probability.clamp(0.0, 1.0) * f64::from(PASS_SCALE)).round() as u32;
        RandomAgent { pass: Some(pass), stream: None }
    }
}

impl Agent for RandomAgent {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        self.stream = Some(briefing.stream.clone());
        Ok(())
    }

    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        let stream = self.stream.as_mut().expect("a match begins with a briefing");
        let choices = view.choices();
        if let (Some(pass), Phase::Window) = (self.pass, view.table().phase())
            && stream.chance(pass, PASS_SCALE)
        {
            return Ok(Action::Pass);
        }
        Ok(choices.nth(stream.below(choices.len() as u32) as usize).expect("the number is below the choices"))
    }

    fn probabilities(&mut self, view: &Observation<'_>) -> Result<Option<Vec<f64>>, AgentError> {
        let choices = view.choices();
        let passes = match (self.pass, view.table().phase()) {
            (Some(pass), Phase::Window) => f64::from(pass) / f64::from(PASS_SCALE),
            _ => 0.0,
        };
        let uniform = (1.0 - passes) / choices.len() as f64;
        Ok(Some(choices.iter().map(|choice| if choice == Action::Pass { passes + uniform } else { uniform }).collect()))
    }
}

/// What [`check_agent`] plays, and how much.
#[derive(Clone, Debug)]
pub struct CheckScope {
    /// The presets, by name.
    pub presets: Vec<&'static str>,
    /// More rule systems.
    pub rules: Vec<Rules>,
    /// The numbers of seats.
    pub seats: Vec<usize>,
    /// The number of matches per rule system and number of seats.
    pub matches: u64,
}

impl Default for CheckScope {
    /// Twelve matches on every preset at 2, 3, 4 and 8 seats.
    fn default() -> CheckScope {
        CheckScope { presets: PRESETS.to_vec(), rules: Vec::new(), seats: vec![2, 3, 4, 8], matches: 12 }
    }
}

/// The result of a successful check.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Conformance {
    /// The number of matches played.
    pub matches: u64,
    /// The number of decisions checked.
    pub decisions: u64,
}

/// The first violation that [`check_agent`] found.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{rules}, {seats} seats, deal {deal}: {kind}")]
pub struct Nonconformance {
    /// The name of the rule system.
    pub rules: &'static str,
    /// The number of seats.
    pub seats: usize,
    /// The number of the deal, with seed 0.
    pub deal: u64,
    /// The kind of violation.
    pub kind: NonconformanceKind,
    /// The record of the match of the violation, up to an illegal decision. The agents' names in it are empty.
    pub record: Record,
}

/// The kinds of violations that [`check_agent`] finds.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message explains the fields")]
pub enum NonconformanceKind {
    /// The agent makes an illegal decision.
    #[error("{}", MatchError::Fault(Box::new(*.0)))]
    Illegal(Fault),
    /// The agent returns an error and cannot continue.
    #[error(transparent)]
    Failed(Failure),
    /// The agent decides differently when the match is repeated; `when` describes the difference of the repetition.
    #[error("seat {seat} decides `{second}` instead of `{first}` {when}")]
    Changed { seat: Seat, first: Action, second: Action, when: &'static str },
    /// The letters of the seats change the agent's play.
    #[error(
        "seat {seat} decides `{first}`; when all seats are relabelled and it is seat {moved}, it decides `{second}` \
         instead of `{same}`: the agent depends on the letters of the seats"
    )]
    Partial { seat: Seat, first: Action, moved: Seat, same: Action, second: Action },
}

/// A notice to all seats or a decision of one seat in a match.
enum TranscriptEntry {
    RoundBegins(Setup, usize, Vec<Score>),
    Event(Event<Card>),
    /// A decision in the true world, with another world that is indistinguishable for the seat.
    Decision {
        seat: Seat,
        truth: Box<State>,
        other: Box<State>,
        action: Action,
    },
    RoundEnds(Box<RoundResult>),
    MatchEnds(MatchResult),
}

/// An observer that records the notices and decisions of a match.
struct Transcript {
    entries: Vec<TranscriptEntry>,
    knowledge: Vec<Knowledge>,
    stream: Stream,
    decisions: u64,
}

impl Transcript {
    fn new(rules: &Rules, seats: usize, key: Key) -> Transcript {
        Transcript {
            entries: Vec::new(),
            knowledge: Seat::ALL[..seats].iter().map(|&seat| Knowledge::new(rules, seats, seat)).collect(),
            stream: Key::new(u64::MAX, key.deal).stream(Purpose::Deck, 0),
            decisions: 0,
        }
    }
}

impl Observer for Transcript {
    fn round_begins(&mut self, standing: &Standing<'_>, _: &[Card]) {
        self.entries.push(TranscriptEntry::RoundBegins(standing.setup, standing.round, standing.totals.to_vec()));
    }

    fn event(&mut self, event: &Event<Card>) {
        for (knowledge, seat) in self.knowledge.iter_mut().zip(Seat::ALL) {
            knowledge.notice(&event.seen_from(seat));
        }
        self.entries.push(TranscriptEntry::Event(*event));
    }

    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        let other = self.knowledge[seat.index()].sample(&state.observe(seat), &mut self.stream);
        let (truth, other) = (Box::new(state.clone()), Box::new(other));
        self.entries.push(TranscriptEntry::Decision { seat, truth, other, action });
        self.decisions += 1;
    }

    fn round_ends(&mut self, _: &State, result: &RoundResult) {
        self.entries.push(TranscriptEntry::RoundEnds(Box::new(*result)));
    }

    fn match_ends(&mut self, game: &Match) {
        self.entries.push(TranscriptEntry::MatchEnds(MatchResult::of(game)));
    }
}

/// The world that an agent sees when a match is repeated with it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReplayedWorld {
    Truth,
    Other,
}

/// Repeats a match with an agent. Returns the first decision that differs: the one in the match, and the one now.
fn repeat<A: Agent>(
    agent: &mut A,
    briefing: &Briefing<'_>,
    entries: &[TranscriptEntry],
    shown: ReplayedWorld,
) -> Result<Option<(Action, Action)>, NonconformanceKind> {
    let seat = briefing.seat;
    let mut players = Players::only(agent, seat, briefing.seats);
    players.brief(briefing).map_err(NonconformanceKind::Failed)?;
    for entry in entries {
        match entry {
            TranscriptEntry::RoundBegins(setup, round, totals) => {
                players.round_begins(&Standing { round: *round, setup: *setup, totals }, &[]);
            }
            TranscriptEntry::Event(event) => players.event(event),
            TranscriptEntry::Decision { seat: decider, truth, .. } if *decider != seat => players.asks(truth, *decider),
            TranscriptEntry::Decision { truth, other, action, .. } => {
                let world = if shown == ReplayedWorld::Other { other } else { truth };
                let again = players.ask(&world.observe(seat)).expect("the seat has an agent");
                let again = again.map_err(NonconformanceKind::Failed)?.canonical();
                if again != *action {
                    return Ok(Some((*action, again)));
                }
                players.decides(world, seat, again);
            }
            TranscriptEntry::RoundEnds(result) => players.notice(seat, Notice::RoundEnds(result)),
            TranscriptEntry::MatchEnds(result) => players.notice(seat, Notice::MatchEnds(result)),
        }
    }
    Ok(None)
}

/// Checks that an agent conforms. `make` returns a new agent each time it is called.
///
/// - All decisions must be legal, and the agent must never fail.
/// - The same briefing and sightings must lead to the same decisions.
/// - Earlier matches must not change its decisions, nor must the same deal in another seat.
/// - Cards that it cannot know must not change its decisions. For each decision, all cards that are hidden from the
///   seat are dealt again, including the order of the stock, and the decision must be the same.
/// - The letters of the seats must not change its decisions. If all seats are relabelled and the stream is the same,
///   the relabelled decisions must be the same.
///
/// An agent may still guess a seed that is a small number: a run with agents that cannot be trusted needs a secret seed.
///
/// # Errors
/// The first violation, with the preset, the number of seats and the deal.
///
/// # Panics
/// If a preset of `scope` does not exist, or a rule system does not allow a number of seats.
///
/// # Examples
/// ```
/// use cambio_core::testing::{CheckScope, RandomAgent, check_agent};
///
/// let scope = CheckScope { matches: 2, ..CheckScope::default() };
/// let found = check_agent(RandomAgent::default, &scope).unwrap();
/// assert!(found.decisions > 1000);
/// ```
pub fn check_agent<A: Agent>(make: impl Fn() -> A, scope: &CheckScope) -> Result<Conformance, Box<Nonconformance>> {
    let mut found = Conformance::default();
    let presets = scope.presets.iter().map(|preset| Rules::preset(preset).expect("the presets of the scope exist"));
    for rules in presets.chain(scope.rules.iter().copied()) {
        for &seats in &scope.seats {
            let mut reused: Vec<A> = (0..seats).map(|_| make()).collect();
            for deal in 0..scope.matches {
                let key = Key::new(0, deal);
                let mut recorder = Recorder::new(&rules);
                let checked = check_match(&make, &mut reused, &MatchSetup { rules, seats, key }, &mut recorder);
                found.decisions += checked.map_err(|kind| {
                    let illegal = if let NonconformanceKind::Illegal(fault) = &kind { Some(fault) } else { None };
                    let mut record = recorder.stop(key, 0, &vec![""; seats], illegal);
                    record.fields.insert("x-fault".to_owned(), kind.to_string().into());
                    Nonconformance { rules: rules.name(), seats, deal, kind, record }
                })?;
                found.matches += 1;
            }
        }
    }
    Ok(found)
}

/// Plays a match. A fault or a failure of an agent is a violation.
fn play<A: Agent>(
    match_setup: &MatchSetup,
    agents: &mut [A],
    observer: &mut impl Observer,
) -> Result<(), NonconformanceKind> {
    match play_match(match_setup, agents, observer) {
        Ok(_) => Ok(()),
        Err(MatchError::Fault(fault)) => Err(NonconformanceKind::Illegal(*fault)),
        Err(MatchError::Failed(failure)) => Err(NonconformanceKind::Failed(*failure)),
        Err(error) => panic!("{error}"),
    }
}

fn check_match<A: Agent>(
    make: &impl Fn() -> A,
    reused: &mut [A],
    match_setup: &MatchSetup,
    recorder: &mut Recorder,
) -> Result<u64, NonconformanceKind> {
    let MatchSetup { rules, seats, key } = *match_setup;
    let mut transcript = Transcript::new(&rules, seats, key);
    let mut agents: Vec<A> = (0..seats).map(|_| make()).collect();
    play(match_setup, &mut agents, &mut (&mut transcript, &mut *recorder))?;
    // The relabelling differs from deal to deal.
    let relabelling = Relabelling::new(seats, 1 + key.deal as usize % (seats - 1));
    let mut relabelled = Transcript::new(&rules, seats, key);
    let record = recorder.clone().stop(key, 0, &vec![""; seats], None);
    replay(&relabelling.record(&record), &mut relabelled).expect("the rules do not depend on the letters of the seats");
    for (reused, seat) in reused.iter_mut().zip(Seat::ALL) {
        let briefing = Briefing { rules: &rules, seats, seat, stream: &key.agent(seat) };
        let again = |agent: &mut A, shown| repeat(agent, &briefing, &transcript.entries, shown);
        let mut elsewhere = make();
        let next = seat.next(seats);
        let there = Briefing { seat: next, stream: &key.agent(next), ..briefing };
        repeat(&mut elsewhere, &there, &transcript.entries, ReplayedWorld::Truth)?;
        let repetitions = [
            (&mut make(), ReplayedWorld::Truth, "after the same briefing and sightings"),
            (&mut make(), ReplayedWorld::Other, "when the cards that it cannot know are changed"),
            (reused, ReplayedWorld::Truth, "after other matches: the agent remembers them"),
            (
                &mut elsewhere,
                ReplayedWorld::Truth,
                "after its agent played the same deal in another seat: the agent remembers the cards",
            ),
        ];
        for (agent, world, when) in repetitions {
            if let Some((first, second)) = again(agent, world)? {
                return Err(NonconformanceKind::Changed { seat, first, second, when });
            }
        }
        let moved = relabelling.seat(seat);
        let there = Briefing { seat: moved, ..briefing };
        if let Some((same, second)) = repeat(&mut make(), &there, &relabelled.entries, ReplayedWorld::Truth)? {
            let first = Relabelling::new(seats, seats - relabelling.places).action(same);
            return Err(NonconformanceKind::Partial { seat, first, moved, same, second });
        }
    }
    Ok(transcript.decisions)
}

/// Renames all seats by shifting their letters by the same number of places. The order of the seats does not change.
///
/// The game is symmetric under such a shift. An agent that plays a relabelled match with the same stream must therefore
/// make the relabelled decisions; [`check_agent`] checks this.
///
/// ```
/// use cambio_core::Seat;
/// use cambio_core::testing::Relabelling;
///
/// let two_on = Relabelling::new(4, 2);
/// assert_eq!(two_on.seat(Seat::D), Seat::B);
/// assert_eq!(two_on.action("swap a1 d2".parse().unwrap()), "swap b2 c1".parse().unwrap());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Relabelling {
    seats: usize,
    places: usize,
}

impl Relabelling {
    /// Shifts the letters of a table of `seats` seats by `places` places.
    ///
    /// # Panics
    /// If `seats` is 0 or above [`MAX_SEATS`].
    pub fn new(seats: usize, places: usize) -> Relabelling {
        assert!((1..=MAX_SEATS).contains(&seats), "a table must have 1 to 8 seats, found {seats}");
        Relabelling { seats, places: places % seats }
    }

    /// The seat's new letter.
    pub fn seat(self, seat: Seat) -> Seat {
        seat.ahead(self.places, self.seats)
    }

    /// The same spot, with its seat relabelled.
    pub fn spot(self, spot: Spot) -> Spot {
        Spot::new(self.seat(spot.seat()), spot.number()).unwrap_or(spot)
    }

    /// The decision with all seats relabelled.
    pub fn action(self, action: Action) -> Action {
        match (action, action.aimed()) {
            (Action::Swap(one, other), _) => Action::swap(self.spot(one), self.spot(other)),
            (_, Some((verb, spot))) => verb.of(self.spot(spot)),
            _ => action,
        }
    }

    /// The event with all seats relabelled. The event may be a sighting.
    pub fn event<Face: Copy>(self, event: &Event<Face>) -> Event<Face> {
        match event.map(|seat| self.seat(seat), |spot| self.spot(spot), |_, face| face) {
            Event::Swapped { seat, one, other } => Event::Swapped { seat, one: one.min(other), other: one.max(other) },
            other => other,
        }
    }

    /// The record with all seats relabelled, without the results of its rounds.
    fn record(self, record: &Record) -> Record {
        let seat = |letter: &str| {
            let seat = letter.chars().next().and_then(Seat::from_letter);
            self.seat(seat.expect("the library wrote the record")).to_string()
        };
        let decision = |text: &String| {
            let (letter, action) = text.split_once(' ').expect("the library wrote the record");
            format!("{} {}", seat(letter), self.action(action.parse().expect("the library wrote the record")))
        };
        let rounds = record.rounds.iter().map(|round| RoundRecord {
            starter: round.starter.as_deref().map(seat),
            decisions: round.decisions.iter().map(decision).collect(),
            races: round.races.iter().map(|race| race.iter().map(|letter| seat(letter)).collect()).collect(),
            fields: serde_json::Map::new(),
            ..round.clone()
        });
        Record { fields: record.fields.clone(), rounds: rounds.collect() }
    }
}
