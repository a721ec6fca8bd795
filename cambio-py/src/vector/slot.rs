//! One match of a batch.

use cambio_core::rng::Key;
use cambio_core::{Action, ActionSpace, Chronicle, IllegalAction, Playing, Score, Seat, View as _};
use pyo3::prelude::*;

use super::Common;
use super::arrays::Row;
use crate::action::no_index;
use crate::course::{Reward, rank_reward, score_reward};
use crate::error;
use crate::minds::{Hearing, Minds};

/// One match of a batch, with what observations tell of its past and the opponents that play inside.
pub(super) struct Slot {
    playing: Playing,
    chronicle: Chronicle,
    minds: Minds,
    /// What the caller decided in this match; only kept where opponents decide too.
    own: Vec<Action>,
    /// The totals when the caller was last asked.
    before: [Score; 8],
    /// Why an opponent could not go on.
    pub(super) fault: Option<String>,
}

impl Slot {
    /// A match before its players are told of it.
    pub(super) fn new(common: &Common, deal: u64) -> Slot {
        let key = Key { deal, ..common.key };
        let playing = Playing::new(&common.rules, common.seats, key).expect("the rules were checked for these seats");
        let mut slot = Slot {
            playing,
            chronicle: Chronicle::new(&common.rules, common.seats),
            minds: Minds::none(),
            own: Vec::new(),
            before: [Score::default(); 8],
            fault: None,
        };
        slot.hear_deal();
        slot
    }

    /// Takes in the deal of the first round.
    fn hear_deal(&mut self) {
        self.chronicle.stands(&self.playing.standing());
        for event in self.playing.events() {
            self.chronicle.notice(event);
        }
    }

    /// Begins another deal.
    pub(super) fn restart(&mut self, common: &Common, deal: u64) {
        let key = Key { deal, ..common.key };
        if self.playing.key() != key || self.playing.decisions() > 0 {
            self.playing.redeal(key);
            self.hear_deal();
        }
        self.fault = None;
        self.begin(common);
    }

    /// Seats the opponents and lets them play up to the caller's first decision.
    pub(super) fn begin(&mut self, common: &Common) {
        self.own.clear();
        self.before = [Score::default(); 8];
        if common.opponents.is_empty() {
            return;
        }
        let turned = if common.rotates { self.deal() % common.seats as u64 } else { 0 } as usize;
        let specs = (0..common.seats).map(|seat| {
            let entry = (seat + common.seats - turned) % common.seats;
            common.opponents[entry].as_ref()
        });
        self.minds = Minds::new(specs);
        self.minds.begin(&mut self.playing);
        self.let_opponents_play();
    }

    /// Opponents decide until the caller is asked or the match is over.
    fn let_opponents_play(&mut self) {
        while let Some(seat) = self.actor().filter(|&seat| self.minds.has(seat)) {
            let action = match self.minds.decide(&self.playing) {
                Ok(Some(action)) => action,
                Ok(None) => return,
                Err(reason) => {
                    self.fault = Some(format!("the agent in seat {seat} cannot go on: {reason}"));
                    return;
                }
            };
            if let Err(illegal) = self.act(action) {
                self.fault = Some(format!("the agent in seat {seat} is at fault: {illegal}"));
                return;
            }
        }
    }

    fn act(&mut self, action: Action) -> Result<(), IllegalAction> {
        let rounds = self.playing.rounds();
        if self.minds.is_empty() {
            self.playing.act_observed(action, &mut self.chronicle)?;
        } else {
            let mut hearing = Hearing { chronicle: &mut self.chronicle, minds: &mut self.minds };
            self.playing.act_observed(action, &mut hearing)?;
        }
        // A chronicle tells how the match stood when the round began, also at the end of the last one.
        if self.playing.rounds() != rounds && !self.playing.is_over() {
            self.chronicle.stands(&self.playing.standing());
        }
        Ok(())
    }

    pub(super) fn actor(&self) -> Option<Seat> {
        if self.playing.is_over() { None } else { self.playing.state().actor() }
    }

    /// Why a decision is refused.
    pub(super) fn refusal(&self, space: &ActionSpace, number: usize, index: i64) -> PyErr {
        let Some(seat) = self.actor() else {
            return error::IllegalAction::new_err(format!("match {number}: the match is over; call reset()"));
        };
        match usize::try_from(index).ok().and_then(|index| space.from_index(index, seat)) {
            None => no_index(&format!("match {number}: {index}"), space.action_count()),
            Some(action) => {
                let illegal = IllegalAction { action, actor: Some(seat), legal: self.playing.state().choices() };
                error::IllegalAction::new_err(format!("match {number}: {illegal}"))
            }
        }
    }

    /// Carries out the planned decision and what follows, up to the caller's next one. A match that ends is followed by the
    /// next deal; one in which the caller is never asked is passed over.
    #[inline]
    pub(super) fn carry_out(&mut self, common: &Common, row: &mut Row<'_>) {
        let next = row.ask.next;
        if !self.minds.is_empty() {
            self.own.push(next);
        }
        if let Err(illegal) = self.act(next) {
            self.fault = Some(illegal.to_string());
            return;
        }
        if !self.minds.is_empty() {
            self.let_opponents_play();
        }
        if common.reward == Reward::Score {
            self.write_gains(common, row);
        }
        if self.playing.is_over() {
            if common.reward == Reward::Rank
                && let Some(result) = self.playing.result()
            {
                for (seat, reward) in row.rewards.iter_mut().enumerate() {
                    *reward = rank_reward(&result.ranks, seat) as f32;
                }
            }
            *row.done = 1;
            if common.finals {
                let rows = row.finals.chunks_exact_mut(common.tensors.len());
                for (seat, row) in Seat::ALL.into_iter().zip(rows) {
                    common.tensors.write(&self.playing.state().view(seat), &self.chronicle, row);
                }
            }
            while self.playing.is_over() && self.fault.is_none() {
                self.restart(common, self.deal().wrapping_add(common.batch as u64));
            }
        }
    }

    fn write_gains(&mut self, common: &Common, row: &mut Row<'_>) {
        for ((reward, now), before) in row.rewards.iter_mut().zip(self.playing.totals()).zip(&mut self.before) {
            *reward = score_reward(&common.rules, Score::from_units(now.units() - before.units())) as f32;
            *before = *now;
        }
    }

    /// Carries a decision out again, for copies and pickles.
    pub(super) fn replay(&mut self, _: &Common, action: Action) -> Result<(), IllegalAction> {
        if !self.minds.is_empty() {
            self.own.push(action);
        }
        self.act(action)?;
        self.let_opponents_play();
        self.before[..self.playing.seats()].copy_from_slice(self.playing.totals());
        Ok(())
    }

    /// Writes what the seat that is asked may know.
    #[inline]
    pub(super) fn show(&self, common: &Common, row: &mut Row<'_>) {
        let Some(seat) = self.actor() else { return };
        let view = self.playing.state().view(seat);
        let legal = view.choices();
        *row.seat = seat.index() as i64;
        row.mask.fill(0);
        common.space.each(&legal, seat, |index| row.mask[index] = 1);
        row.ask.legal = legal;
        common.tensors.write(&view, &self.chronicle, row.observation);
    }

    pub(super) fn deal(&self) -> u64 {
        self.playing.key().deal
    }

    /// What the caller decided in this match.
    pub(super) fn own(&self) -> &[Action] {
        if self.minds.is_empty() { self.playing.actions() } else { &self.own }
    }

    /// The key and every decision.
    pub(super) fn course(&self) -> (Key, &[Action]) {
        (self.playing.key(), self.playing.actions())
    }

    pub(super) fn is_at(&self, other: &Slot) -> bool {
        self.course() == other.course()
    }
}
