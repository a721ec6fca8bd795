//! Sessions: a person's match against agents, with the jobs of the agents and the steps for the person's page.

use std::fmt;

use cambio_agents::{AgentSpec, Guarded};
use cambio_core::{
    Action, Agent, AgentError, Card, Deal, Event, MatchError, Observer, Playing, RaceOrder, Record, Referee,
    RoundResult, Seat, Sighting, State, Thinker,
};

use crate::narrator::Narrator;
use crate::page::{Feed, RoundEnd, Setting, Step};
use crate::reaction::ReactionTimes;

/// An agent at the table; a panic becomes an error.
type Opponent = Guarded<Box<dyn Agent>>;

/// The configuration of a session.
#[derive(Clone, Debug)]
pub struct Invitation {
    /// The deal. Its rules must allow the number of seats, which is the number of opponents plus one.
    pub deal: Deal,
    /// The person's seat.
    pub person: Seat,
    /// The agents of the other seats, in seat order.
    pub opponents: Vec<AgentSpec>,
    /// Whether faces that the person has seen stay visible.
    pub notes: bool,
    /// Whether hints and undo are allowed.
    pub practice: bool,
    /// The median of the agents' reaction times in milliseconds if speed decides races; with `None`, chance decides.
    pub reaction: Option<u32>,
}

impl Invitation {
    /// The names of the players, seat a first; `person` is the person's name.
    pub fn names(&self, person: &str) -> Vec<String> {
        let mut names: Vec<String> = self.opponents.iter().map(ToString::to_string).collect();
        names.insert(self.person.index(), person.to_owned());
        names
    }
}

/// The reason why a request is rejected, in one sentence.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);

/// A session: a person's match against agents.
///
/// The caller runs each [`Job`] on any thread and passes its result to [`Sitting::finish`].
///
/// ```
/// use cambio_core::{Deal, Rules, Seat, rng::Key};
/// use cambio_view::{Invitation, Sitting};
///
/// let deal = Deal::new(&Rules::preset("classic").unwrap(), Key::new(42, 0));
/// let opponents = vec![cambio_agents::roster().parse("greedy").unwrap()];
/// let mut sitting = Sitting::new(Invitation { deal, person: Seat::A, opponents, notes: true, practice: false, reaction: None });
/// while sitting.latest().end.is_none() {
///     if let Some(job) = sitting.job() {
///         sitting.finish(job.run());
///         continue;
///     }
///     let step = sitting.latest();
///     let choices = &step.ask.as_ref().expect("the person decides").choices;
///     let pass = choices.iter().find(|choice| *choice == "pass" || *choice == "call").unwrap_or(&choices[0]).clone();
///     sitting.act(step.n, &pass, None).unwrap();
/// }
/// assert!(sitting.record().is_ok(), "the match of one round is over");
/// ```
pub struct Sitting {
    invitation: Invitation,
    narrator: Narrator,
    /// The match. The person's seat has no agent.
    referee: Referee<Opponent, Heard>,
    decisions: Vec<Decision>,
    /// The person's time for the last decision in milliseconds, if the page reported it.
    time: Option<u32>,
    feed: Feed,
    /// The first step of the next round, until the person continues.
    recess: Option<Step>,
    trouble: Option<String>,
    /// The decisions to replay after an undo.
    rewind: Option<Vec<Decision>>,
    is_busy: bool,
}

#[derive(Clone, Copy, Debug)]
struct Decision {
    action: Action,
    is_persons: bool,
    /// The person's time in milliseconds, if the page reported it.
    time: Option<u32>,
}

/// A computation of a session, for another thread.
pub struct Job(Task);

enum Task {
    /// Lets an agent decide.
    Decide(Thinker<Opponent>),
    /// Replays the match up to an earlier decision.
    Rewind { invitation: Box<Invitation>, decisions: Vec<Decision> },
}

/// The result of a job.
pub struct Done(Outcome);

enum Outcome {
    Decided(Thinker<Opponent>, Result<Action, AgentError>),
    Rewound(Box<Sitting>),
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").finish_non_exhaustive()
    }
}

impl fmt::Debug for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Done").finish_non_exhaustive()
    }
}

impl Job {
    /// Runs the job; it takes as long as the agent needs.
    pub fn run(self) -> Done {
        Done(match self.0 {
            Task::Decide(mut thinker) => {
                let decision = thinker.decide();
                Outcome::Decided(thinker, decision)
            }
            Task::Rewind { invitation, decisions } => {
                let mut sitting = Sitting::new(*invitation);
                sitting.follow(&decisions);
                Outcome::Rewound(Box::new(sitting))
            }
        })
    }
}

/// The events of one decision.
#[derive(Default)]
pub(crate) struct Heard {
    pub(crate) before: Vec<Event<Card>>,
    /// The end of a round; `after` has the first events of the next one.
    pub(crate) ended: Option<(Box<State>, RoundResult)>,
    pub(crate) after: Vec<Event<Card>>,
    race: Option<RaceOrder>,
}

impl Observer for Heard {
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

fn seen(events: &[Event<Card>], seat: Seat) -> Vec<Sighting> {
    events.iter().map(|event| event.seen_from(seat)).collect()
}

impl Sitting {
    /// Starts a session; no seat has decided yet.
    ///
    /// # Panics
    /// If the person's seat is not at the table, or the rules do not allow the number of seats.
    pub fn new(invitation: Invitation) -> Sitting {
        let seats = invitation.opponents.len() + 1;
        let names = invitation.names("person");
        let mut opponents: Vec<Option<Opponent>> =
            invitation.opponents.iter().map(|spec| Some(Guarded::new(spec.make()))).collect();
        opponents.insert(invitation.person.index(), None);
        let begin = |opponents: Vec<_>| Referee::new(invitation.deal.clone(), opponents.into(), Heard::default());
        let (referee, trouble) = match begin(opponents) {
            Ok(referee) => (referee, None),
            Err(error) => {
                let empty = begin((0..seats).map(|_| None).collect());
                (empty.expect("the rules allow the number of seats"), Some(trouble_of(&error, &names)))
            }
        };
        let person = invitation.person;
        let shown = Setting {
            notes: invitation.notes,
            practice: invitation.practice,
            reaction: invitation.reaction,
            ..Setting::new(invitation.deal.rules(), person, names)
        };
        let mut sitting = Sitting {
            narrator: Narrator::for_players(invitation.deal.rules()),
            decisions: Vec::new(),
            time: None,
            feed: Feed::new(shown),
            recess: None,
            trouble,
            rewind: None,
            is_busy: false,
            referee,
            invitation,
        };
        let step = sitting.step(&seen(sitting.playing().events(), person));
        sitting.feed.push(step);
        sitting
    }

    fn playing(&self) -> &Playing {
        self.referee.playing()
    }

    /// The steps, serialized for pages.
    pub fn feed(&self) -> &Feed {
        &self.feed
    }

    /// The last step: the table as the person sees it, and the question.
    pub fn latest(&self) -> &Step {
        self.feed.last_step()
    }

    /// The session config.
    pub fn invitation(&self) -> &Invitation {
        &self.invitation
    }

    /// The decisions so far.
    pub fn actions(&self) -> Vec<Action> {
        self.decisions.iter().map(|decision| decision.action).collect()
    }

    /// A step with these sightings of the person and the current table.
    fn step(&self, sightings: &[Sighting]) -> Step {
        let playing = self.playing();
        let view = playing.state().observe(self.invitation.person);
        let (round, totals) = (playing.rounds() + 1, playing.totals());
        let step = Step::new(&self.narrator, sightings, &view, round, totals, self.invitation.notes);
        step.in_trouble(self.trouble.clone())
    }

    /// If speed decides races: draws the times of the current or next window and sets the order of its race.
    fn lay_race(&mut self) -> Option<ReactionTimes> {
        let playing = self.referee.playing();
        let Invitation { reaction, person, deal, .. } = &mut self.invitation;
        let (round, race) = (playing.rounds(), playing.races());
        let times = ReactionTimes::draw(playing.key(), round, race, (*reaction)?).with(*person, self.time);
        self.referee.lay_race(round, race, times.order());
        deal.lay_race(round, race, times.order());
        Some(times)
    }

    /// Carries out a legal decision and adds the steps that follow.
    fn carry_out(&mut self, decision: Decision) {
        let Decision { action, is_persons, time } = decision;
        if is_persons {
            self.time = time;
        }
        let times = self.lay_race();
        *self.referee.observer_mut() = Heard::default();
        self.referee.act(action).expect("the decision was checked");
        let heard = std::mem::take(self.referee.observer_mut());
        self.decisions.push(decision);
        let speeds = heard.race.zip(times).map(|(order, times)| times.in_words(order));
        let person = self.invitation.person;
        let Some((state, result)) = heard.ended else {
            let step = self.step(&seen(&heard.before, person)).adding(speeds);
            if step.is_worth_showing() {
                self.feed.push(step);
            }
            return;
        };
        let playing = self.referee.playing();
        let (rounds, totals) = (playing.rounds(), playing.totals());
        let ranks = playing.result().map(|result| result.ranks);
        let end = RoundEnd::new(playing.rules(), &result, totals, ranks);
        let sightings = seen(&heard.before, person);
        let last = Step::new(&self.narrator, &sightings, &state.observe(person), rounds, totals, self.invitation.notes);
        self.feed.push(last.adding(speeds).ending(end, &sightings));
        if !self.playing().is_over() {
            self.recess = Some(self.step(&seen(&heard.after, person)));
        }
    }

    /// Rejects a request if the match has ended or stopped, or if the person saw an older step.
    fn check_open(&self, at: u64) -> Result<(), Refusal> {
        let refuse = |why: &str| Err(Refusal(why.to_owned()));
        if self.playing().is_over() && self.rewind.is_none() {
            return refuse("the match is over");
        }
        if let Some(trouble) = &self.trouble {
            return Err(Refusal(format!("the match has stopped: {trouble}")));
        }
        if at != self.feed.last() || self.rewind.is_some() {
            return refuse("the table has changed since then; look at it again");
        }
        Ok(())
    }

    /// Carries out a decision of the person. `at` is the last step that the person saw, `time` milliseconds ago;
    /// without a time the person is last in a race that speed decides.
    ///
    /// # Errors
    /// If it is not the person's turn to decide, or the decision is not legal.
    pub fn act(&mut self, at: u64, text: &str, time: Option<u32>) -> Result<(), Refusal> {
        self.check_open(at)?;
        let turn = self.referee.turn().filter(|turn| turn.seat == self.invitation.person && self.recess.is_none());
        let Some(turn) = turn else { return Err(Refusal("it is not your turn to decide".to_owned())) };
        let choices = turn.view.choices();
        let action = text.parse::<Action>().map_err(|error| Refusal(error.to_string()))?;
        if !turn.view.allows(action) {
            return Err(Refusal(format!("`{action}` is not possible now; choose one of: {choices}")));
        }
        self.carry_out(Decision { action: action.canonical(), is_persons: true, time });
        Ok(())
    }

    /// Continues with the next round.
    ///
    /// # Errors
    /// If no round has just ended.
    pub fn go_on(&mut self, at: u64) -> Result<(), Refusal> {
        self.check_open(at)?;
        let step = self.recess.take().ok_or_else(|| Refusal("no round has just ended".to_owned()))?;
        self.feed.new_round();
        self.feed.push(step);
        Ok(())
    }

    /// Takes back the person's last decision that is not a pass, and all later decisions.
    ///
    /// # Errors
    /// If the session is not for practice, or the person has not decided yet.
    pub fn take_back(&mut self, at: u64) -> Result<(), Refusal> {
        if !self.invitation.practice {
            return Err(Refusal("decisions can be taken back only at a practice table".to_owned()));
        }
        if at != self.feed.last() || self.rewind.is_some() {
            return Err(Refusal("the table has changed since then; look at it again".to_owned()));
        }
        let own = |decision: &Decision| decision.is_persons && decision.action != Action::Pass;
        let place = self.decisions.iter().rposition(own);
        let Some(place) = place else { return Err(Refusal("you have not decided anything yet".to_owned())) };
        self.rewind = Some(self.decisions[..place].to_vec());
        Ok(())
    }

    /// Replays the decisions of another session of the same match. The agents decide again, which restores their state,
    /// but the given decisions are carried out.
    fn follow(&mut self, decisions: &[Decision]) {
        for &decision in decisions {
            // The agent's answer and errors do not count.
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

    /// The next job, if there is one. Its result must be passed to [`Sitting::finish`].
    pub fn job(&mut self) -> Option<Job> {
        if self.is_busy {
            return None;
        }
        if let Some(decisions) = self.rewind.clone() {
            self.is_busy = true;
            return Some(Job(Task::Rewind { invitation: Box::new(self.invitation.clone()), decisions }));
        }
        if self.recess.is_some() || self.trouble.is_some() {
            return None;
        }
        let thinker = self.referee.take_out()?;
        self.is_busy = true;
        Some(Job(Task::Decide(thinker)))
    }

    /// Takes the result of a job.
    pub fn finish(&mut self, done: Done) {
        self.is_busy = false;
        match done.0 {
            Outcome::Decided(thinker, decision) => {
                let seat = thinker.seat();
                self.referee.put_back(thinker);
                if self.rewind.is_some() {
                    return;
                }
                let name = &self.feed.setting().names[seat.index()];
                match decision {
                    Ok(action) if self.playing().state().allows(action) => {
                        self.carry_out(Decision { action, is_persons: false, time: None });
                        return;
                    }
                    Ok(action) => {
                        self.trouble = Some(format!("{name} in seat {seat} decided `{action}`, which is illegal"));
                    }
                    Err(error) => self.trouble = Some(format!("{name} in seat {seat} failed: {error}")),
                }
                let step = self.step(&[]);
                self.feed.push(step);
            }
            Outcome::Rewound(other) => {
                let Sitting { referee, decisions, recess, trouble, .. } = *other;
                (self.referee, self.decisions) = (referee, decisions);
                (self.recess, self.trouble, self.rewind) = (recess, trouble, None);
                let step = self.step(&[]).saying("you take back your decision");
                self.feed.push(step);
                if let Some(recess) = self.recess.take() {
                    self.feed.new_round();
                    self.feed.push(recess);
                }
            }
        }
    }

    /// Stops the match because of an internal error.
    pub fn fail(&mut self) {
        self.is_busy = false;
        self.rewind = None;
        self.trouble = Some("this is a bug in cambio; standard error has the details".to_owned());
        let step = self.step(&[]);
        self.feed.push(step);
    }

    /// The record of the match.
    ///
    /// # Errors
    /// While the match is in progress, because the record contains every card.
    pub fn record(&self) -> Result<Record, Refusal> {
        if !self.playing().is_over() && self.trouble.is_none() {
            return Err(Refusal(
                "the match is in progress; its record shows every card, so it is available when the match is over"
                    .to_owned(),
            ));
        }
        let names: Vec<&str> = self.feed.setting().names.iter().map(String::as_str).collect();
        Ok(self.playing().save(&names))
    }
}

impl fmt::Debug for Sitting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sitting").field("feed", &self.feed).finish_non_exhaustive()
    }
}

/// The error of an agent at the start, with its name.
fn trouble_of(error: &MatchError, names: &[String]) -> String {
    match error {
        MatchError::Failed(failure) => {
            let (seat, error) = (failure.seat, &failure.error);
            format!("{} in seat {seat} failed: {error}", names[seat.index()])
        }
        other => other.to_string(),
    }
}
