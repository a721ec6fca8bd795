//! The agents in the seats of a table.

use crate::play::RoundResult;
use crate::play::observer::Observer;
use crate::{
    Action, Agent, AgentError, Briefing, Card, Event, Match, MatchResult, Notice, Observation, Seat, Sighting,
    Standing, State,
};

/// The failure of an agent that could not continue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The seat.
    pub seat: Seat,
    /// The number of the round, counted from 1; 0 before the first round.
    pub round: usize,
    /// The number of the decision within the round, counted from 1; 0 before the first decision.
    pub decision: usize,
    /// The reason.
    pub error: AgentError,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "seat {} cannot go on: {} ", self.seat, self.error)?;
        match self.round {
            0 => f.write_str("(before round 1)"),
            round => write!(f, "(round {round}, decision {})", self.decision),
        }
    }
}

impl std::error::Error for Failure {}

/// The agents in some or all seats of a table.
///
/// All code that runs agents uses this type: a [`Referee`](crate::Referee) in matches, and the solver and the
/// conformance check for positions that they set up. It is an [`Observer`]: when it observes a match, each agent gets
/// what its seat perceives. [`begin`](Players::begin) briefs agents, [`ask`](Players::ask) requests a decision.
///
/// ```
/// use cambio_core::{Deal, Playing, Players, Rules, rng::Key, testing::RandomAgent};
///
/// let rules = Rules::preset("classic")?;
/// let mut deal = Deal::new(&rules, Key::new(42, 0));
/// let mut players: Players<_> = [(); 2].map(|()| RandomAgent::default()).into();
/// players.begin(&mut deal)?;
/// let mut playing = Playing::observed(deal, 2, &mut players)?;
/// while let Some(turn) = playing.turn() {
///     let action = players.ask(&turn.view).expect("an agent sits in every seat")?;
///     playing.act_observed(action, &mut players)?;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Players<A> {
    agents: Vec<Option<A>>,
    has_spectators: bool,
    round: usize,
    decisions: usize,
    /// The agent whose method is running: its seat, and whether the method is `decide`. Still set after a panic.
    calling: Option<(Seat, bool)>,
}

impl<A> From<Vec<Option<A>>> for Players<A> {
    /// The agents by seat, seat a first.
    fn from(agents: Vec<Option<A>>) -> Players<A> {
        Players { agents, has_spectators: false, round: 0, decisions: 0, calling: None }
    }
}

impl<A, const SEATS: usize> From<[A; SEATS]> for Players<A> {
    /// An agent in each seat, seat a first.
    fn from(agents: [A; SEATS]) -> Players<A> {
        Players::all(agents)
    }
}

impl<A> Players<A> {
    /// An agent in each seat, seat a first.
    pub fn all(agents: impl IntoIterator<Item = A>) -> Players<A> {
        agents.into_iter().map(Some).collect::<Vec<_>>().into()
    }

    /// One agent at a table of `seats` seats.
    ///
    /// # Panics
    /// If the seat is not at the table.
    pub fn only(agent: A, seat: Seat, seats: usize) -> Players<A> {
        let mut agents: Vec<Option<A>> = (0..seats).map(|_| None).collect();
        agents[seat.index()] = Some(agent);
        agents.into()
    }

    /// The number of seats.
    pub fn seats(&self) -> usize {
        self.agents.len()
    }

    /// The agents by seat; `None` where no agent sits.
    pub fn agents(&self) -> &[Option<A>] {
        &self.agents
    }

    /// The agents by seat, to replace them between matches.
    pub fn agents_mut(&mut self) -> &mut Vec<Option<A>> {
        &mut self.agents
    }

    /// The agent in a seat, if there is one.
    pub fn agent(&self, seat: Seat) -> Option<&A> {
        self.agents.get(seat.index())?.as_ref()
    }
}

impl<A: Agent> Players<A> {
    /// Calls a method of the agent in a seat, if there is one.
    #[inline]
    fn call<T>(&mut self, seat: Seat, is_decision: bool, call: impl FnOnce(&mut A) -> T) -> Option<T> {
        let agent = self.agents.get_mut(seat.index())?.as_mut()?;
        self.calling = Some((seat, is_decision));
        let answer = call(agent);
        self.calling = None;
        Some(answer)
    }

    fn failure(&self, seat: Seat, decision: usize, error: AgentError) -> Failure {
        Failure { seat, round: self.round, decision, error }
    }

    /// Begins a match of a deal: briefs every agent.
    ///
    /// # Errors
    /// If an agent cannot play the match.
    pub fn begin(&mut self, deal: &mut crate::Deal) -> Result<(), Failure> {
        let (rules, seats) = (*deal.rules(), self.seats());
        (self.round, self.decisions, self.has_spectators) = (0, 0, false);
        for &seat in &Seat::ALL[..seats] {
            // Skip empty seats, because creating a stream takes longer than a decision.
            if self.agent(seat).is_some() {
                self.brief(&Briefing { rules: &rules, seats, seat, stream: deal.agent(seat) })?;
            }
        }
        Ok(())
    }

    /// Briefs the agent in the seat of the briefing, if there is one.
    ///
    /// # Errors
    /// If the agent cannot play the match.
    pub fn brief(&mut self, briefing: &Briefing<'_>) -> Result<(), Failure> {
        (self.round, self.decisions) = (0, 0);
        let seat = briefing.seat;
        if let Some(Err(error)) = self.call(seat, false, |agent| agent.begin(briefing)) {
            return Err(self.failure(seat, 0, error));
        }
        self.has_spectators = self.agents.iter().flatten().any(A::is_spectator);
        Ok(())
    }

    /// Gives a notice to the agent in one seat, if there is one.
    #[inline]
    pub fn notice(&mut self, seat: Seat, notice: Notice<'_>) {
        self.call(seat, false, |agent| agent.notice(notice));
    }

    /// Gives the sightings of a seat, in order, to the agent in the seat, if there is one.
    pub fn perceive(&mut self, seat: Seat, sightings: &[Sighting]) {
        for sighting in sightings {
            self.notice(seat, Notice::Event(sighting));
        }
    }

    /// Shows the table to all spectators but one seat. Few agents are spectators, so this code is apart.
    #[cold]
    #[inline(never)]
    fn show_spectators(&mut self, state: &State, seat: Seat) {
        for &other in &Seat::ALL[..self.seats()] {
            if other != seat && self.agent(other).is_some_and(A::is_spectator) {
                self.notice(other, Notice::Table(state.table()));
            }
        }
    }

    fn tell(&mut self, notice: Notice<'_>) {
        for &seat in &Seat::ALL[..self.seats()] {
            self.notice(seat, notice);
        }
    }

    /// Asks the agent in the seat of this view for its decision, which may be illegal; `None` if no agent sits there.
    ///
    /// # Errors
    /// If the agent cannot continue.
    #[inline]
    pub fn ask(&mut self, view: &Observation<'_>) -> Option<Result<Action, Failure>> {
        let seat = view.seat();
        let decision = self.call(seat, true, |agent| agent.decide(view))?;
        Some(decision.map_err(|error| self.failure(seat, self.decisions + 1, error)))
    }

    /// The probabilities of the choices of the seat that observes: see [`Agent::probabilities`]. `None` if no agent sits
    /// there, or if it does not know them.
    ///
    /// # Errors
    /// If the agent cannot continue.
    pub fn probabilities(&mut self, view: &Observation<'_>) -> Option<Result<Vec<f64>, Failure>> {
        let seat = view.seat();
        let probabilities = self.call(seat, true, |agent| agent.probabilities(view))?;
        probabilities.map_err(|error| self.failure(seat, self.decisions + 1, error)).transpose()
    }

    /// After a panic: the failure of the agent that panicked, with this reason; `None` if no agent panicked.
    pub fn panicked(&self, reason: String) -> Option<Failure> {
        let (seat, is_decision) = self.calling?;
        Some(self.failure(seat, self.decisions + usize::from(is_decision), AgentError::Failed(reason)))
    }
}

impl<A: Agent> Observer for Players<A> {
    fn round_begins(&mut self, standing: &Standing<'_>, _: &[Card]) {
        (self.round, self.decisions) = (standing.round + 1, 0);
        self.tell(Notice::RoundBegins(standing));
    }

    #[inline]
    fn event(&mut self, event: &Event<Card>) {
        for (agent, seat) in self.agents.iter_mut().zip(Seat::ALL) {
            if let Some(agent) = agent {
                self.calling = Some((seat, false));
                agent.notice(Notice::Event(&event.seen_from(seat)));
            }
        }
        self.calling = None;
    }

    #[inline]
    fn asks(&mut self, state: &State, seat: Seat) {
        if self.has_spectators {
            self.show_spectators(state, seat);
        }
    }

    #[inline]
    fn decides(&mut self, _: &State, _: Seat, _: Action) {
        self.decisions += 1;
    }

    fn round_ends(&mut self, _: &State, result: &RoundResult) {
        self.tell(Notice::RoundEnds(result));
    }

    fn match_ends(&mut self, game: &Match) {
        if self.agents.iter().any(Option::is_some) {
            self.tell(Notice::MatchEnds(&MatchResult::of(game)));
        }
    }
}
