//! Sessions: a match of a person and agents, with the jobs of the agents and the steps for the person's page.

use std::fmt;

use cambio_agents::Guarded;
use cambio_core::engine::RaceOrder;
use cambio_core::play::{MatchError, RoundResult};
use cambio_core::{Action, Agent, AgentError, Card, Event, Observer, Playing, Record, Referee, Seat, Sighting, State};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::config::{PERSON_NAME, SessionConfig};
use crate::narrator::Narrator;
use crate::page::{Feed, PageSetup, PageStep, RoundEnd};
use crate::reaction::ReactionTimes;

/// An agent at the table, whose panics become errors.
type Opponent = Guarded<Box<dyn Agent>>;

/// The extra field of a record with the person's seat, whether the match was for practice, and the numbers of hints and undone
/// decisions. Records of matches without a person do not have it.
pub(crate) const PERSON: &str = "x-person";

/// The error of a request about a decision that the match does not have.
pub(crate) fn no_decision(round: usize, decision: usize) -> SessionError {
    SessionError(format!("the match has no decision {decision} in round {round}"))
}

/// The error of a computation that was stopped.
pub(crate) const STOPPED: &str = "the computation was stopped";

/// The reason why a request is rejected, in one sentence.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct SessionError(pub String);

/// A match of a person, with agents in the other seats.
///
/// The caller runs each [job](Session::job) on any thread and passes its result to [`Session::finish`].
///
/// ```
/// use cambio_core::{Deal, Rules, Seat, rng::Key};
/// use cambio_view::{Session, SessionConfig};
///
/// let deal = Deal::new(&Rules::preset("classic").unwrap(), Key::new(42, 0));
/// let opponents = vec![cambio_agents::roster().parse("greedy").unwrap()];
/// let mut session = Session::new(SessionConfig::alone(deal, Seat::A, opponents));
/// while session.latest().end.is_none() {
///     if let Some(job) = session.job() {
///         session.finish(job(&|| true));
///         continue;
///     }
///     let step = session.latest();
///     let choices = &step.ask.as_ref().expect("the person decides").choices;
///     let pass = choices.iter().find(|choice| *choice == "pass" || *choice == "call").unwrap_or(&choices[0]).clone();
///     session.act(step.n, &pass, None).unwrap();
/// }
/// assert!(session.record().is_ok(), "the match of one round is over");
/// ```
pub struct Session {
    config: SessionConfig,
    narrator: Narrator,
    /// The match. The seat of the person has no agent.
    referee: Referee<Opponent, DecisionEvents>,
    decisions: Vec<SessionDecision>,
    /// The person's time for the last decision in milliseconds, if the page reported it.
    time: Option<u32>,
    /// The steps for the person's page.
    feed: Feed,
    /// The first step of the next round, until the person continues.
    recess: Option<PageStep>,
    trouble: Option<String>,
    /// The number of hints that the person asked for.
    hints: u32,
    /// The number of times that the person undid a decision.
    undone: u32,
    /// The decisions to replay with new agents: after an undo, or in a resumed session.
    rewind: Option<Vec<SessionDecision>>,
    is_busy: bool,
}

#[derive(Clone, Copy, Debug)]
struct SessionDecision {
    action: Action,
    is_persons: bool,
    /// The person's time in milliseconds, if the page reported it.
    time: Option<u32>,
}

/// A computation, which any thread may run. It stops between two decisions when the given function returns false.
pub type Computation<T> = Box<dyn FnOnce(&dyn Fn() -> bool) -> T + Send>;

/// The result of a job of a session.
pub struct JobResult(Box<dyn FnOnce(&mut Session) + Send>);

/// The events that follow from one decision.
#[derive(Default)]
pub(crate) struct DecisionEvents {
    pub(crate) before: Vec<Event<Card>>,
    /// The state and result at the end of a round, if it ended; `after` then has the first events of the next round.
    pub(crate) ended: Option<(Box<State>, RoundResult)>,
    pub(crate) after: Vec<Event<Card>>,
    race: Option<RaceOrder>,
}

impl Observer for DecisionEvents {
    fn event(&mut self, event: &Event<Card>) {
        if self.ended.is_some() { self.after.push(*event) } else { self.before.push(*event) }
    }

    fn race(&mut self, order: &RaceOrder) {
        self.race = Some(*order);
    }

    fn round_ends(&mut self, state: &State, result: &RoundResult) {
        self.ended = Some((Box::new(state.clone()), *result));
    }
}

impl Session {
    /// Starts a session, before the first decision.
    ///
    /// # Panics
    /// If the rules do not allow the number of seats.
    pub fn new(config: SessionConfig) -> Session {
        let opponents = config.agents().into_iter().map(|agent| Some(Guarded::new(agent?.make()))).collect();
        Session::with(config, opponents)
    }

    /// Starts a session with these agents. A seat of an agent may lack it as long as the session has no jobs.
    fn with(config: SessionConfig, opponents: Vec<Option<Opponent>>) -> Session {
        let names = config.names(PERSON_NAME);
        let begin = |opponents: Vec<_>| Referee::new(config.deal.clone(), opponents.into(), DecisionEvents::default());
        let (referee, trouble) = match begin(opponents) {
            Ok(referee) => (referee, None),
            Err(error) => {
                let empty = begin(names.iter().map(|_| None).collect());
                (empty.expect("the rules allow the number of seats"), Some(trouble_of(&error, &names)))
            }
        };
        let mut session = Session {
            narrator: Narrator::for_players(config.deal.rules()),
            decisions: Vec::new(),
            time: None,
            feed: Feed::new(PageSetup::new(&config)),
            recess: None,
            trouble,
            hints: 0,
            undone: 0,
            rewind: None,
            is_busy: false,
            referee,
            config,
        };
        session.feed.push(session.step(&session.seen(session.playing().events())));
        session
    }

    fn playing(&self) -> &Playing {
        self.referee.playing()
    }

    /// The steps for the person's page, serialized.
    pub(crate) fn feed(&self) -> &Feed {
        &self.feed
    }

    /// The last step: the table as the person sees it, and the question.
    pub fn latest(&self) -> &PageStep {
        self.feed.last_step()
    }

    /// The configuration of the session.
    pub fn config(&self) -> &SessionConfig {
        &self.config
    }

    /// The decisions so far.
    pub(crate) fn actions(&self) -> Vec<Action> {
        self.decisions.iter().map(|decision| decision.action).collect()
    }

    /// These events as the person perceives them.
    fn seen(&self, events: &[Event<Card>]) -> Vec<Sighting> {
        events.iter().map(|event| event.seen_from(self.config.person)).collect()
    }

    /// Creates a step from the person's sightings and the current table.
    fn step(&self, sightings: &[Sighting]) -> PageStep {
        let playing = self.playing();
        let view = playing.state().observe(self.config.person);
        let (round, totals) = (playing.rounds() + 1, playing.totals());
        PageStep::new(&self.narrator, sightings, &view, round, totals, self.config.notes)
            .in_trouble(self.trouble.clone())
    }

    /// Whether a job must replay the match before it can go on.
    pub(crate) fn is_rewinding(&self) -> bool {
        self.rewind.is_some()
    }

    /// If speed decides races, draws the times of the current or next snap window and sets the order of the race in it.
    fn set_race_order(&mut self) -> Option<ReactionTimes> {
        let playing = self.referee.playing();
        let median = self.config.reaction?;
        let (round, race) = (playing.rounds(), playing.races());
        let times = ReactionTimes::draw(playing.key(), round, race, median).with(self.config.person, self.time);
        self.referee.set_race_order(round, race, times.order());
        self.config.deal.set_race_order(round, race, times.order());
        Some(times)
    }

    /// Carries out a legal decision and adds the steps that follow.
    fn carry_out(&mut self, decision: SessionDecision) {
        let SessionDecision { action, is_persons, time } = decision;
        if is_persons {
            self.time = time;
        }
        let times = self.set_race_order();
        *self.referee.observer_mut() = DecisionEvents::default();
        self.referee.act(action).expect("the decision was checked");
        let events = std::mem::take(self.referee.observer_mut());
        self.decisions.push(decision);
        let speeds = events.race.zip(times).map(|(order, times)| times.in_words(order));
        let sightings = self.seen(&events.before);
        let Some((state, result)) = events.ended else {
            let step = self.step(&sightings).adding(speeds);
            if step.is_worth_showing() {
                self.feed.push(step);
            }
            return;
        };
        let playing = self.referee.playing();
        let (rounds, totals) = (playing.rounds(), playing.totals());
        let ranks = playing.result().map(|result| result.ranks);
        let end = RoundEnd::new(playing.rules(), &result, totals, ranks);
        let view = state.observe(self.config.person);
        let last = PageStep::new(&self.narrator, &sightings, &view, rounds, totals, self.config.notes);
        self.feed.push(last.adding(speeds).ending(end, &sightings));
        if !self.playing().is_over() {
            self.recess = Some(self.step(&self.seen(&events.after)));
        }
    }

    /// Rejects a request if the match has ended or stopped, or if the person saw an older step.
    fn check_open(&self, at: u64) -> Result<(), SessionError> {
        let refuse = |why: &str| Err(SessionError(why.to_owned()));
        if self.playing().is_over() && self.rewind.is_none() {
            return refuse("the match is over");
        }
        if let Some(trouble) = &self.trouble {
            return Err(SessionError(format!("the match has stopped: {trouble}")));
        }
        if self.rewind.is_some() {
            return refuse("the bots are getting ready; try again in a moment");
        }
        if at != self.feed.last() {
            return refuse("the table has changed since then; look at it again");
        }
        Ok(())
    }

    /// Carries out a decision of the person. `at` is the number of the last step that the person saw, and `time` the
    /// milliseconds since then; without a time, the person is last in a race that speed decides.
    ///
    /// # Errors
    /// If it is not the person's turn to decide, or the decision is not legal.
    pub fn act(&mut self, at: u64, text: &str, time: Option<u32>) -> Result<(), SessionError> {
        self.check_open(at)?;
        let turn = self.playing().turn().filter(|turn| turn.seat == self.config.person && self.recess.is_none());
        let Some(turn) = turn else { return Err(SessionError("it is not your turn to decide".to_owned())) };
        let choices = turn.view.choices();
        let action = text.parse::<Action>().map_err(|error| SessionError(error.to_string()))?;
        if !turn.view.allows(action) {
            return Err(SessionError(format!("`{action}` is not possible now; choose one of: {choices}")));
        }
        self.carry_out(SessionDecision { action: action.canonical(), is_persons: true, time });
        Ok(())
    }

    /// Continues with the next round.
    ///
    /// # Errors
    /// If no round has just ended.
    pub fn go_on(&mut self, at: u64) -> Result<(), SessionError> {
        self.check_open(at)?;
        let first = self.recess.take().ok_or_else(|| SessionError("no round has just ended".to_owned()))?;
        self.begin_round(first);
        Ok(())
    }

    fn begin_round(&mut self, first: PageStep) {
        self.feed.new_round();
        self.feed.push(first);
    }

    /// Counts a hint. The record contains the number. Call this for each [`hint`](crate::hint) that the person asks for.
    pub(crate) fn count_hint(&mut self) {
        self.hints = self.hints.saturating_add(1);
    }

    /// Takes back the person's last decision that is not a pass, and all later decisions.
    ///
    /// # Errors
    /// If the session is not for practice, or the person has not decided yet.
    pub(crate) fn take_back(&mut self, at: u64) -> Result<(), SessionError> {
        if !self.config.practice {
            return Err(SessionError("decisions can be taken back only at a practice table".to_owned()));
        }
        if at != self.feed.last() || self.rewind.is_some() {
            return Err(SessionError("the table has changed since then; look at it again".to_owned()));
        }
        let own = |decision: &SessionDecision| decision.is_persons && decision.action != Action::Pass;
        let index = self.decisions.iter().rposition(own);
        let Some(index) = index else { return Err(SessionError("there is nothing to undo".to_owned())) };
        self.rewind = Some(self.decisions[..index].to_vec());
        self.undone = self.undone.saturating_add(1);
        Ok(())
    }

    /// Replays the decisions of another session of the same match. The agents decide again, which restores their state,
    /// but the given decisions are carried out.
    fn follow(&mut self, decisions: &[SessionDecision], goes_on: &dyn Fn() -> bool) {
        for &decision in decisions.iter().take_while(|_| goes_on()) {
            // Only the effect on the agent's state matters, so its answer and its errors are ignored.
            let _ = self.referee.ask();
            if !self.playing().state().allows(decision.action) {
                return;
            }
            if self.recess.take().is_some() {
                self.feed.new_round();
            }
            self.carry_out(decision);
        }
    }

    /// The next job, if there is one: a decision of an agent, or the replay of the match up to an earlier decision. Its result must be
    /// passed to [`Session::finish`]; if the job was stopped, the session must not be continued.
    pub fn job(&mut self) -> Option<Computation<JobResult>> {
        if self.is_busy {
            return None;
        }
        if let Some(decisions) = self.rewind.clone() {
            self.is_busy = true;
            let config = self.config.clone();
            return Some(Box::new(move |goes_on| {
                let mut again = Session::new(config);
                again.follow(&decisions, goes_on);
                JobResult(Box::new(|session| session.rewound(again)))
            }));
        }
        if self.recess.is_some() || self.trouble.is_some() {
            return None;
        }
        let state = self.playing().state().clone();
        let seat = state.actor()?;
        let mut agent = self.referee.players_mut().agents_mut()[seat.index()].take()?;
        self.is_busy = true;
        Some(Box::new(move |_| {
            let decision = agent.decide(&state.observe(seat));
            JobResult(Box::new(move |session| session.decided(seat, agent, decision)))
        }))
    }

    /// Applies the result of a job.
    pub fn finish(&mut self, done: JobResult) {
        self.is_busy = false;
        (done.0)(self);
    }

    fn decided(&mut self, seat: Seat, agent: Opponent, decision: Result<Action, AgentError>) {
        self.referee.players_mut().agents_mut()[seat.index()] = Some(agent);
        if self.rewind.is_some() {
            return;
        }
        let name = &self.config.names(PERSON_NAME)[seat.index()];
        match decision {
            Ok(action) if self.playing().state().allows(action) => {
                self.carry_out(SessionDecision { action, is_persons: false, time: None });
                return;
            }
            Ok(action) => {
                self.trouble = Some(format!("{name} in seat {seat} decided `{action}`, which is illegal"));
            }
            Err(error) => self.trouble = Some(format!("{name} in seat {seat} failed: {error}")),
        }
        self.feed.push(self.step(&[]));
    }

    /// Continues with the agents of a session that has replayed the match up to an earlier decision.
    fn rewound(&mut self, again: Session) {
        let Session { referee, decisions, recess, trouble, .. } = again;
        let is_undone = decisions.len() < self.decisions.len();
        (self.referee, self.decisions, self.trouble, self.rewind) = (referee, decisions, trouble, None);
        if !is_undone {
            if self.trouble.is_some() {
                self.feed.push(self.step(&[]));
            }
            return;
        }
        self.feed.push(self.step(&[]).saying("you undid your decision"));
        self.recess = None;
        if let Some(first) = recess {
            self.begin_round(first);
        }
    }

    /// Stops the match because of an internal error.
    pub(crate) fn fail(&mut self) {
        self.is_busy = false;
        self.rewind = None;
        self.trouble = Some("this is a bug in cambio; standard error has the details".to_owned());
        self.feed.push(self.step(&[]));
    }

    /// The record of the match.
    ///
    /// # Errors
    /// While the match is in progress, because the record contains every card. After an undo, it is in progress again.
    pub fn record(&self) -> Result<Record, SessionError> {
        if self.rewind.is_some() || (!self.playing().is_over() && self.trouble.is_none()) {
            return Err(SessionError(
                "the match is in progress; its record shows every card, so it is available when the match is over"
                    .to_owned(),
            ));
        }
        let names = self.config.names(PERSON_NAME);
        let mut record = self.playing().save(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let (seat, practice) = (self.config.person.to_string(), self.config.practice);
        let about = json!({ "seat": seat, "practice": practice, "hints": self.hints, "undone": self.undone });
        record.fields.insert(PERSON.to_owned(), about);
        Ok(record)
    }

    /// The session as data.
    pub(crate) fn save(&self) -> SavedSession {
        let saved = |decision: &SessionDecision| (decision.action.to_string(), decision.is_persons, decision.time);
        let decisions = self.rewind.as_ref().unwrap_or(&self.decisions).iter().map(saved).collect();
        SavedSession { decisions, hints: self.hints, undone: self.undone }
    }

    /// Makes a session again without waiting for its agents. If the match is in progress, the first job
    /// starts the agents, which decide again; until then, requests of the person are rejected. A round that has just ended is shown
    /// again.
    ///
    /// # Errors
    /// If a decision is not possible, for example because another version of this program saved the session.
    ///
    /// # Panics
    /// As [`Session::new`].
    pub(crate) fn resume(config: SessionConfig, saved: &SavedSession) -> Result<Session, SessionError> {
        let no_agents = config.agents().iter().map(|_| None).collect();
        let mut session = Session::with(config, no_agents);
        let decisions = saved.decisions()?;
        session.follow(&decisions, &|| true);
        if session.decisions.len() < decisions.len() {
            return Err(broken(session.decisions.len()));
        }
        (session.hints, session.undone) = (saved.hints, saved.undone);
        if !session.playing().is_over() {
            session.rewind = Some(decisions);
        }
        Ok(session)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("feed", &self.feed).finish_non_exhaustive()
    }
}

/// Describes an error at the start of a match, with the name of the agent that failed.
fn trouble_of(error: &MatchError, names: &[String]) -> String {
    match error {
        MatchError::Failed(failure) => {
            let (seat, error) = (failure.seat, &failure.error);
            format!("{} in seat {seat} failed: {error}", names[seat.index()])
        }
        other => other.to_string(),
    }
}

/// A session as data, from which [`Session::resume`] makes it again: its decisions and counts.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug, Default)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedSession {
    /// The decisions of all seats, each with whether it is the person's, and with the person's time in milliseconds.
    decisions: Vec<(String, bool, Option<u32>)>,
    hints: u32,
    undone: u32,
}

impl SavedSession {
    /// A session in which no decision is the person's yet: at the position of a recorded match after decision `decision` of
    /// round `round`, both counted from 1.
    pub(crate) fn at(record: &Record, round: usize, decision: usize) -> Result<SavedSession, SessionError> {
        let last = record.rounds.get(round.wrapping_sub(1)).and_then(|round| round.decisions.get(..decision));
        let last = last.ok_or_else(|| no_decision(round, decision))?;
        let earlier = record.rounds[..round - 1].iter().flat_map(|round| &round.decisions);
        let action = |text: &String| text.split_once(' ').map_or_else(String::new, |(_, action)| action.to_owned());
        let decisions = earlier.chain(last).map(|text| (action(text), false, None)).collect();
        Ok(SavedSession { decisions, ..SavedSession::default() })
    }

    /// The decisions of all seats.
    fn decisions(&self) -> Result<Vec<SessionDecision>, SessionError> {
        let decisions = self.decisions.iter().enumerate().map(|(number, (action, is_persons, time))| {
            let action = action.parse().map_err(|_| broken(number))?;
            Ok(SessionDecision { action, is_persons: *is_persons, time: *time })
        });
        decisions.collect()
    }
}

/// The error of the decision with this number, counted from 0.
fn broken(number: usize) -> SessionError {
    SessionError(format!("the saved match has an error in decision {}", number + 1))
}

#[cfg(test)]
pub(crate) mod tests;
