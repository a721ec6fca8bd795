//! One match of a batch.

use cambio_core::rng::Key;
use cambio_core::{Action, ActionSpace, Choices, IllegalAction, RoundHistory, Seat, View as _};
use pyo3::prelude::*;

use super::Common;
use super::arrays::Row;
use crate::action::no_index;
use crate::episode::{Episode, Seated};
use crate::error;

/// One match of a batch, with the opponents that play inside.
pub(super) struct Slot {
    pub(super) episode: Episode<Seated, RoundHistory>,
    /// The caller's decisions in this match; kept only if opponents decide too.
    own: Vec<Action>,
}

impl Slot {
    /// A match before its opponents sit down.
    pub(super) fn new(common: &Common, deal: u64) -> Slot {
        let (rules, seats, key) = (&common.rules, common.seats, Key { deal, ..common.key });
        let episode = Episode::new(rules, seats, key, common.reward, RoundHistory::new(rules, seats));
        Slot { episode, own: Vec::new() }
    }

    /// Begins another deal: seats the opponents and lets them play up to the caller's first decision.
    pub(super) fn restart(&mut self, common: &Common, deal: u64) {
        self.own.clear();
        if !common.opponents.is_empty() {
            let turned = if common.rotates { deal % common.seats as u64 } else { 0 } as usize;
            for (seat, agent) in self.episode.agents_mut().iter_mut().enumerate() {
                let entry = (seat + common.seats - turned) % common.seats;
                *agent = common.opponents[entry].as_ref().map(Seated::new);
            }
        }
        self.episode.restart(Key { deal, ..common.key });
    }

    /// Carries out a decision of the caller and what follows, up to the caller's next one.
    #[inline]
    pub(super) fn act(&mut self, common: &Common, action: Action) -> Result<(), IllegalAction> {
        if !common.opponents.is_empty() {
            self.own.push(action);
        }
        self.episode.act(action)
    }

    /// Carries out the chosen decision and writes its results. A match that ends is followed by the next deal; one in which
    /// the caller never decides is passed over.
    #[inline]
    pub(super) fn step(&mut self, common: &Common, row: &mut Row<'_>) {
        self.act(common, row.ask.next).expect("the decision was checked when it was chosen");
        for (reward, gained) in row.rewards.iter_mut().zip(self.episode.rewards()) {
            *reward = gained as f32;
        }
        let is_over = self.episode.playing().is_over();
        *row.done = is_over.into();
        if is_over {
            if common.finals {
                let (state, history) = (self.episode.playing().state(), self.episode.observer());
                for (seat, row) in Seat::ALL.into_iter().zip(row.finals.chunks_exact_mut(common.tensors.len())) {
                    common.tensors.write(&state.view(seat), history, row);
                }
            }
            while self.episode.playing().is_over() && self.episode.fault.is_none() {
                self.restart(common, self.deal().wrapping_add(common.batch as u64));
            }
        }
        self.show(common, row);
    }

    /// Writes what the seat that has to decide may know.
    #[inline]
    pub(super) fn show(&self, common: &Common, row: &mut Row<'_>) {
        let Some(seat) = self.episode.actor() else {
            row.ask.legal = Choices::NONE;
            return;
        };
        let view = self.episode.playing().state().view(seat);
        let legal = view.choices();
        *row.seat = seat.index() as i64;
        row.mask.fill(0);
        common.space.each(&legal, seat, |index| row.mask[index] = 1);
        row.ask.legal = legal;
        common.tensors.write(&view, self.episode.observer(), row.observation);
    }

    /// Why a decision is refused.
    pub(super) fn refusal(&self, space: &ActionSpace, number: usize, index: i64) -> PyErr {
        let Some(seat) = self.episode.actor() else {
            return error::IllegalAction::new_err(format!("match {number}: the match is over; call reset()"));
        };
        match usize::try_from(index).ok().and_then(|index| space.from_index(index, seat)) {
            None => no_index(&format!("match {number}: {index}"), space.action_count()),
            Some(action) => {
                let legal = self.episode.playing().state().choices();
                let illegal = IllegalAction { action, actor: Some(seat), legal };
                error::IllegalAction::new_err(format!("match {number}: {illegal}"))
            }
        }
    }

    pub(super) fn deal(&self) -> u64 {
        self.episode.playing().key().deal
    }

    /// The caller's decisions in this match.
    pub(super) fn own(&self, common: &Common) -> &[Action] {
        if common.opponents.is_empty() { self.episode.playing().actions() } else { &self.own }
    }

    pub(super) fn is_at(&self, other: &Slot) -> bool {
        let (one, two) = (self.episode.playing(), other.episode.playing());
        (one.key(), one.actions()) == (two.key(), two.actions())
    }
}
