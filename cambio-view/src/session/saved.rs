//! Sessions as data.

use cambio_core::Record;
use serde::{Deserialize, Serialize};

use super::{Session, SessionDecision, SessionError, no_decision};
use crate::config::SessionConfig;

/// A session as data, from which [`Session::resume`] makes it again: its decisions and counts.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug, Default)]
#[serde(deny_unknown_fields)]
pub struct SavedSession {
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

impl Session {
    /// The session as data.
    pub fn save(&self) -> SavedSession {
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
    ///
    /// ```
    /// use cambio_core::{Deal, Rules, Seat, rng::Key};
    /// use cambio_view::{Session, SessionConfig};
    ///
    /// let deal = Deal::new(&Rules::preset("classic").unwrap(), Key::new(42, 0));
    /// let opponents = vec![cambio_agents::roster().parse("greedy").unwrap()];
    /// let config = SessionConfig::alone(deal, Seat::A, opponents);
    /// let mut session = Session::new(config.clone());
    /// session.act(session.latest().n, "draw", None).unwrap();
    /// let mut resumed = Session::resume(config, &session.save()).unwrap();
    /// let job = resumed.job().expect("the agents must decide again");
    /// resumed.finish(job.run());
    /// assert!(resumed.latest().ask.is_some());
    /// assert_eq!(resumed.save(), session.save());
    /// ```
    pub fn resume(config: SessionConfig, saved: &SavedSession) -> Result<Session, SessionError> {
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
