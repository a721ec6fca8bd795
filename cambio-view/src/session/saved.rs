//! Sessions as data.

use cambio_core::{Action, Record, Seat};
use serde::{Deserialize, Serialize};

use super::{STOPPED, Session, SessionDecision, SessionError, no_decision};
use crate::config::SessionConfig;

/// A session as data, from which [`Session::restore`] makes it again: its decisions and counts.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug, Default)]
#[serde(deny_unknown_fields)]
pub struct SavedSession {
    /// The decisions of all seats, each with whether it is the person's, and with the person's time in milliseconds.
    decisions: Vec<(String, bool, Option<u32>)>,
    /// The secret decisions in the open snap window of a shared session: seat, decision, and the person's time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    declared: Vec<(char, String, Option<u32>)>,
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

impl Session {
    /// The session as data.
    ///
    /// ```
    /// use cambio_core::{Deal, Rules, Seat, rng::Key};
    /// use cambio_view::{Session, SessionConfig};
    ///
    /// let deal = Deal::new(&Rules::preset("classic").unwrap(), Key::new(42, 0));
    /// let opponents = vec![cambio_agents::roster().parse("greedy").unwrap()];
    /// let config = SessionConfig::alone(deal, Seat::A, opponents);
    /// let mut session = Session::new(config.clone());
    /// session.act(Seat::A, session.latest(Seat::A).n, "draw", None).unwrap();
    /// let restored = Session::restore(config, &session.save(), &|| true).unwrap();
    /// assert_eq!(restored.latest(Seat::A).lines, session.latest(Seat::A).lines);
    /// assert_eq!(restored.save(), session.save());
    /// ```
    pub fn save(&self) -> SavedSession {
        let saved = |decision: &SessionDecision| (decision.action.to_string(), decision.is_persons, decision.time);
        let decisions = self.rewind.as_ref().unwrap_or(&self.decisions).iter().map(saved).collect();
        let declared =
            |(seat, decision): (&Seat, &SessionDecision)| (seat.letter(), decision.action.to_string(), decision.time);
        let declared = self.window.declared.iter().map(declared).collect();
        SavedSession { decisions, declared, hints: self.hints, undone: self.undone }
    }

    /// Makes a session again from its configuration and its data. The agents decide again, which restores their state; this takes
    /// as long as it took them in the match, and stops between two decisions when `goes_on` returns false. A round that has just
    /// ended is shown again.
    ///
    /// # Errors
    /// If a decision is not possible, for example because another version of this program saved the session, or if the
    /// computation is stopped.
    ///
    /// # Panics
    /// As [`Session::new`].
    pub fn restore(
        config: SessionConfig,
        saved: &SavedSession,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Session, SessionError> {
        let mut session = Session::new(config);
        session.follow_saved(saved, goes_on)?;
        Ok(session)
    }

    /// Makes a session again without waiting for its agents. Pages see the match at once. If it is in progress, the first job
    /// starts the agents, which decide again; until then, requests of people are rejected. A round that has just ended is shown
    /// again, and a snap window that was open is open again.
    ///
    /// # Errors
    /// If a decision is not possible, for example because another version of this program saved the session.
    ///
    /// # Panics
    /// As [`Session::new`].
    ///
    /// ```
    /// use cambio_core::{Deal, Rules, Seat, rng::Key};
    /// use cambio_view::{Session, SessionConfig};
    ///
    /// let deal = Deal::new(&Rules::preset("classic").unwrap(), Key::new(42, 0));
    /// let opponents = vec![cambio_agents::roster().parse("greedy").unwrap()];
    /// let config = SessionConfig::alone(deal, Seat::A, opponents);
    /// let mut session = Session::new(config.clone());
    /// session.act(Seat::A, session.latest(Seat::A).n, "draw", None).unwrap();
    /// let mut resumed = Session::resume(config, &session.save()).unwrap();
    /// assert!(resumed.latest(Seat::A).ask.is_none());
    /// let job = resumed.job().expect("the agents must decide again");
    /// resumed.finish(job.run());
    /// assert!(resumed.latest(Seat::A).ask.is_some());
    /// assert_eq!(resumed.save(), session.save());
    /// ```
    pub fn resume(config: SessionConfig, saved: &SavedSession) -> Result<Session, SessionError> {
        let no_agents = config.players.iter().map(|_| None).collect();
        let mut session = Session::with(config, no_agents);
        session.follow_saved(saved, &|| true)?;
        if session.playing().is_over() {
            return Ok(session);
        }
        for (seat, action, time) in &saved.declared {
            let Some((seat, action)) = Seat::from_letter(*seat).zip(action.parse::<Action>().ok()) else { continue };
            // A decision that was carried out in a window which is still open is not asked for again.
            let is_due = session.is_in_window() && session.config.people().any(|person| person == seat) && {
                let moment = session.moment(seat);
                moment.turn().is_some_and(|turn| turn.seat == seat && turn.view.allows(action))
            };
            if is_due {
                let decision = SessionDecision { action: action.canonical(), is_persons: true, time: *time };
                session.window.declared.insert(seat, decision);
            }
        }
        session.rewind = Some(session.decisions.clone());
        if session.recess.is_none() {
            let told = "the match goes on after a restart of the server";
            session.tell_all(|session, seat| Some(session.step_again(seat).asking_unless(true).saying(told)));
        }
        Ok(session)
    }

    fn follow_saved(&mut self, saved: &SavedSession, goes_on: &dyn Fn() -> bool) -> Result<(), SessionError> {
        let decisions = saved.decisions()?;
        self.follow(&decisions, goes_on);
        if !goes_on() {
            return Err(SessionError(STOPPED.to_owned()));
        }
        if self.decisions.len() < decisions.len() && self.trouble.is_none() {
            return Err(broken(self.decisions.len()));
        }
        (self.hints, self.undone) = (saved.hints, saved.undone);
        Ok(())
    }
}
