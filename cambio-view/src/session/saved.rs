//! Sessions as data.

use cambio_core::Record;
use serde::{Deserialize, Serialize};

use super::{STOPPED, Session, SessionDecision, SessionError, no_decision};
use crate::config::SessionConfig;

/// A session as data, from which [`Session::restore`] makes it again: its decisions and counts.
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
        Ok(SavedSession { decisions, hints: 0, undone: 0 })
    }
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
        SavedSession { decisions, hints: self.hints, undone: self.undone }
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
        let broken = |number: usize| SessionError(format!("the saved match has an error in decision {}", number + 1));
        let decisions = saved.decisions.iter().enumerate().map(|(number, (action, is_persons, time))| {
            let action = action.parse().map_err(|_| broken(number))?;
            Ok(SessionDecision { action, is_persons: *is_persons, time: *time })
        });
        let decisions = decisions.collect::<Result<Vec<_>, SessionError>>()?;
        let mut session = Session::new(config);
        session.follow(&decisions, goes_on);
        if !goes_on() {
            return Err(SessionError(STOPPED.to_owned()));
        }
        if session.decisions.len() < decisions.len() && session.trouble.is_none() {
            return Err(broken(session.decisions.len()));
        }
        (session.hints, session.undone) = (saved.hints, saved.undone);
        Ok(session)
    }
}
