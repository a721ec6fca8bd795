//! A person's match against agents: who decides next, what everybody is told, and what the person's page is sent.

use std::fmt;

use cambio_agents::{AgentSpec, Guarded};
use cambio_core::{
    Action, Agent, AgentError, Card, Deal, Event, MatchError, Observer, Playing, RaceOrder, Record, Referee,
    RoundResult, Seat, Sighting, State, Thinker,
};

use crate::narrator::Narrator;
use crate::page::{Feed, RoundEnd, Setting, Step};
use crate::reaction::ReactionTimes;

/// An agent at the table; its panics do not unwind.
type Opponent = Guarded<Box<dyn Agent>>;

/// What a person wants to play.
#[derive(Clone, Debug)]
pub struct Invitation {
    /// The deal. Its rules have to allow the number of seats: the opponents and the person.
    pub deal: Deal,
    /// The person's seat.
    pub person: Seat,
    /// The agents of the other seats, in order.
    pub opponents: Vec<AgentSpec>,
    /// Whether the table keeps showing what the person has seen.
    pub notes: bool,
    /// Whether decisions can be taken back and hints be had.
    pub practice: bool,
    /// Whether races are decided by speed: the median of the agents' reaction times in milliseconds, or `None` for the chance of the
    /// rules.
    pub reaction: Option<u32>,
}

impl Invitation {
    /// The names of the players, seat a first, where `person` stands for the person.
    pub fn names(&self, person: &str) -> Vec<String> {
        let mut names: Vec<String> = self.opponents.iter().map(ToString::to_string).collect();
        names.insert(self.person.index(), person.to_owned());
        names
    }
}

/// Why a request of a person is refused: a sentence.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);

/// A person's match against agents.
///
/// Whoever owns it runs the jobs that it names, on any thread, and hands back what came of them; between them the person decides.
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
///     let choices = &step.ask.as_ref().expect("the person is asked").choices;
///     let pass = choices.iter().find(|choice| *choice == "pass" || *choice == "call").unwrap_or(&choices[0]).clone();
///     sitting.act(step.n, &pass, None).unwrap();
/// }
/// assert!(sitting.record().is_ok(), "a match of one round is over with it");
/// ```
pub struct Sitting {
    invitation: Invitation,
    narrator: Narrator,
    /// The match. No agent sits in the person's seat.
    referee: Referee<Opponent, Heard>,
    decisions: Vec<Decision>,
    /// How long the person took for its last decision, milliseconds, if its page said so.
    time: Option<u32>,
    feed: Feed,
    /// The first step of the next round, which waits until the person has seen how this one ended.
    recess: Option<Step>,
    trouble: Option<String>,
    /// The decisions from which the match is to be played again, after one was taken back.
    rewind: Option<Vec<Decision>>,
    is_busy: bool,
}

/// A decision that was carried out.
#[derive(Clone, Copy, Debug)]
struct Decision {
    action: Action,
    is_persons: bool,
    /// How long the person took, milliseconds, if it did and its page said so.
    time: Option<u32>,
}

/// What is to be computed for a sitting while its page stays alive.
pub struct Job(Task);

enum Task {
    /// An agent decides.
    Decide(Thinker<Opponent>),
    /// The match is played again up to an earlier decision.
    Rewind { invitation: Box<Invitation>, decisions: Vec<Decision> },
}

/// What came of a job.
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
    /// Does it. It may take as long as an agent thinks.
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

/// What was heard of one decision.
#[derive(Default)]
pub(crate) struct Heard {
    pub(crate) before: Vec<Event<Card>>,
    /// The end of a round, and the events of the next one's beginning.
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
    /// Sits everybody down. Nobody has decided yet.
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
                let nobody = begin((0..seats).map(|_| None).collect());
                (nobody.expect("the rules allow the number of seats"), Some(trouble_of(&error, &names)))
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

    /// Its steps, written out for pages.
    pub fn feed(&self) -> &Feed {
        &self.feed
    }

    /// The last step: the table as the person sees it, and what is asked.
    pub fn latest(&self) -> &Step {
        self.feed.last_step()
    }

    /// What was agreed before the match.
    pub fn invitation(&self) -> &Invitation {
        &self.invitation
    }

    /// The decisions so far.
    pub fn actions(&self) -> Vec<Action> {
        self.decisions.iter().map(|decision| decision.action).collect()
    }

    /// The step that shows what the person perceived, and the table as it is now.
    fn step(&self, sightings: &[Sighting]) -> Step {
        let playing = self.playing();
        let view = playing.state().observe(self.invitation.person);
        let (round, totals) = (playing.rounds() + 1, playing.totals());
        let step = Step::new(&self.narrator, sightings, &view, round, totals, self.invitation.notes);
        step.in_trouble(self.trouble.clone())
    }

    /// The times of the next race, by which its order is laid, if speed decides; those of the window that is open, or of the next.
    fn lay_race(&mut self) -> Option<ReactionTimes> {
        let playing = self.referee.playing();
        let Invitation { reaction, person, deal, .. } = &mut self.invitation;
        let (round, race) = (playing.rounds(), playing.races());
        let times = ReactionTimes::draw(playing.key(), round, race, (*reaction)?).with(*person, self.time);
        self.referee.lay_race(round, race, times.order());
        deal.lay_race(round, race, times.order());
        Some(times)
    }

    /// Carries a legal decision out and tells everybody.
    fn carry_out(&mut self, decision: Decision) {
        let Decision { action, is_persons, time } = decision;
        if is_persons {
            self.time = time;
        }
        let times = self.lay_race();
        *self.referee.observer_mut() = Heard::default();
        self.referee.act(action).expect("the decision was just found legal");
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

    /// Whether nobody is asked now, or nobody may act now.
    fn check_open(&self, at: u64) -> Result<(), Refusal> {
        let refuse = |why: &str| Err(Refusal(why.to_owned()));
        if self.playing().is_over() && self.rewind.is_none() {
            return refuse("the match is over");
        }
        if let Some(trouble) = &self.trouble {
            return Err(Refusal(format!("the match has stopped: {trouble}")));
        }
        if at != self.feed.last() || self.rewind.is_some() {
            return refuse("the table has moved on since; look at it again");
        }
        Ok(())
    }

    /// Takes a decision of the person, who saw step `at` last, `time` milliseconds ago; without a time it is the last in a race
    /// that speed decides.
    ///
    /// # Errors
    /// If the person is not asked, or the decision is not one of those offered.
    pub fn act(&mut self, at: u64, text: &str, time: Option<u32>) -> Result<(), Refusal> {
        self.check_open(at)?;
        let turn = self.referee.turn().filter(|turn| turn.seat == self.invitation.person && self.recess.is_none());
        let Some(turn) = turn else { return Err(Refusal("it is not your turn to decide".to_owned())) };
        let choices = turn.view.choices();
        let action = text.parse::<Action>().map_err(|error| Refusal(error.to_string()))?;
        if !turn.view.allows(action) {
            return Err(Refusal(format!("`{action}` is not offered; one of: {choices}")));
        }
        self.carry_out(Decision { action: action.canonical(), is_persons: true, time });
        Ok(())
    }

    /// Goes on to the next round.
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

    /// Takes the person's last decision back; those that only passed in a window go with the one before.
    ///
    /// # Errors
    /// If the match is not one for practice, or the person has decided nothing.
    pub fn take_back(&mut self, at: u64) -> Result<(), Refusal> {
        if !self.invitation.practice {
            return Err(Refusal("this match is for real; decisions can be taken back in practice".to_owned()));
        }
        if at != self.feed.last() || self.rewind.is_some() {
            return Err(Refusal("the table has moved on since; look at it again".to_owned()));
        }
        let own = |decision: &Decision| decision.is_persons && decision.action != Action::Pass;
        let place = self.decisions.iter().rposition(own);
        let Some(place) = place else { return Err(Refusal("you have decided nothing yet".to_owned())) };
        self.rewind = Some(self.decisions[..place].to_vec());
        Ok(())
    }

    /// Plays the decisions of another sitting of the same match. The agents are asked, so that they are in the state in which they
    /// were then; what was decided counts.
    fn follow(&mut self, decisions: &[Decision]) {
        for &decision in decisions {
            // What the agent decides now does not count, nor does its failure.
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

    /// What is to be computed next, if anything is; [`Sitting::finish`] has to follow.
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
                    Err(error) => self.trouble = Some(format!("{name} in seat {seat} cannot go on: {error}")),
                }
                let step = self.step(&[]);
                self.feed.push(step);
            }
            Outcome::Rewound(other) => {
                let Sitting { referee, decisions, recess, trouble, .. } = *other;
                (self.referee, self.decisions) = (referee, decisions);
                (self.recess, self.trouble, self.rewind) = (recess, trouble, None);
                let step = self.step(&[]).saying("you take your decision back");
                self.feed.push(step);
                if let Some(recess) = self.recess.take() {
                    self.feed.new_round();
                    self.feed.push(recess);
                }
            }
        }
    }

    /// Stops the match for a fault of this program.
    pub fn fail(&mut self) {
        self.is_busy = false;
        self.rewind = None;
        self.trouble = Some("this is a bug in cambio; its standard error says where".to_owned());
        let step = self.step(&[]);
        self.feed.push(step);
    }

    /// The record.
    ///
    /// # Errors
    /// While the match goes on: its record tells every card.
    pub fn record(&self) -> Result<Record, Refusal> {
        if !self.playing().is_over() && self.trouble.is_none() {
            return Err(Refusal(
                "the match is in progress, and its record tells every card; it can be had when the match is over"
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

/// Why an agent could not begin.
fn trouble_of(error: &MatchError, names: &[String]) -> String {
    match error {
        MatchError::Failed(failure) => {
            let (seat, error) = (failure.seat, &failure.error);
            format!("{} in seat {seat} cannot go on: {error}", names[seat.index()])
        }
        other => other.to_string(),
    }
}
