//! Sessions of several people: snap windows in which all people decide at the same time, and people who leave.

use std::borrow::Cow;
use std::collections::BTreeMap;

use cambio_agents::AgentSpec;
use cambio_core::{Action, Phase, Playing, Seat};

use super::{Session, SessionDecision, SessionError};
use crate::config::Player;
use crate::page::PageSetup;

/// The open snap window of a shared session, or the next one.
#[derive(Default)]
pub(super) struct SnapWindow {
    /// The number of earlier windows.
    number: u64,
    /// The people's decisions in this window so far.
    pub(super) declared: BTreeMap<Seat, SessionDecision>,
    is_time_up: bool,
}

impl SnapWindow {
    pub(super) fn next(&self) -> SnapWindow {
        SnapWindow { number: self.number + 1, ..SnapWindow::default() }
    }
}

impl Session {
    /// Whether several people play and a snap window is open.
    pub(super) fn is_in_window(&self) -> bool {
        self.config.is_shared() && self.playing().state().table().phase() == Phase::Window
    }

    /// The match at the moment at which a seat decides. In the window of a shared session, all people decide at the same time:
    /// for each of them, the seats that the engine asks earlier have passed, which changes nothing that a seat can see.
    pub(super) fn moment(&self, seat: Seat) -> Cow<'_, Playing> {
        let is_asked = |playing: &Playing| playing.turn().is_some_and(|turn| turn.seat == seat);
        let mut ahead = Cow::Borrowed(self.playing());
        if !self.is_in_window() || self.window.declared.contains_key(&seat) {
            return ahead;
        }
        while !is_asked(&ahead) {
            let events = ahead.to_mut().act(Action::Pass).expect("every seat may pass in a snap window");
            let is_closed = !events.is_empty();
            if is_closed || ahead.state().table().phase() != Phase::Window {
                // The seat may not snap, or the engine has already asked it.
                return Cow::Borrowed(self.playing());
            }
        }
        ahead
    }

    /// The number of the snap window of a shared session that is open and whose time is not up.
    pub fn open_window(&self) -> Option<u64> {
        (self.is_in_window() && self.recess.is_none() && !self.window.is_time_up).then_some(self.window.number)
    }

    /// Closes a snap window of a shared session, if it is still open: a person who has not decided passes.
    pub fn close_window(&mut self, number: u64) {
        if self.open_window() == Some(number) {
            self.window.is_time_up = true;
            self.decide_for_people();
        }
    }

    /// When the time of a window is up, carries out the decisions of the people whom the engine asks before the next agent.
    pub(super) fn decide_for_people(&mut self) {
        let pass = SessionDecision { action: Action::Pass, is_persons: true, time: None };
        while self.window.is_time_up && self.rewind.is_none() && self.trouble.is_none() {
            let Some(turn) = self.referee.turn() else { return };
            if self.config.players[turn.seat.index()].person().is_none() {
                return;
            }
            let decision = self.window.declared.get(&turn.seat).copied().unwrap_or(pass);
            self.carry_out(decision);
        }
    }

    /// Lets an agent play on for a person who leaves. It decides again at each earlier decision of the seat, so that it knows
    /// what the seat has seen.
    ///
    /// # Errors
    /// If no person is in this seat, or no other person is at the table.
    pub fn replace(&mut self, person: Seat, agent: AgentSpec) -> Result<(), SessionError> {
        let name = self.config.players.get(person.index()).and_then(Player::person).map(str::to_owned);
        let name = name.ok_or_else(|| SessionError(format!("no person is in seat {person}")))?;
        if self.config.people().count() == 1 {
            return Err(SessionError("no other person is at the table; end the match instead".to_owned()));
        }
        self.config.players[person.index()] = Player::Substitute { name, agent };
        for (&seat, feed) in &mut self.feeds {
            feed.set_up(PageSetup::new(&self.config, seat));
        }
        self.window.declared.remove(&person);
        self.rewind = Some(self.decisions.clone());
        if self.recess.is_some() {
            self.go_on_if_all_are_ready();
        }
        Ok(())
    }
}
