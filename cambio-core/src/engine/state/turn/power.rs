//! Carries out the steps of a power (look, swap, reveal) one after the other.

use crate::engine::chance::Chance;
use crate::engine::event::{Event, Sink};
use crate::engine::observation::step_has_target;
use crate::engine::state::turn::Turn;
use crate::engine::table::{Opening, Phase};
use crate::rules::card::Power;
use crate::rules::knob::Window;
use crate::rules::seat::{Seat, Spot, SpotSet};

impl<C: Chance, S: Sink> Turn<'_, C, S> {
    pub(super) fn begin_power(&mut self) {
        let table = &mut self.state.table;
        table.step = 0;
        (table.pointed, table.named) = (SpotSet::EMPTY, SpotSet::EMPTY);
        table.declined_look = false;
        table.carried_out = false;
        self.ask_step();
    }

    /// Asks for the first step, from the current one on, that has a legal target. If no step has one, the power ends.
    fn ask_step(&mut self) {
        let table = &mut self.state.table;
        while let Some(step) = table.power.step(table.step.into()) {
            if step.reveals() {
                table.named = SpotSet::EMPTY;
                if table.next_shown().is_some() {
                    let seat = table.turn;
                    return self.ask(seat, Phase::Show);
                }
            } else if step_has_target(table, step) {
                let seat = table.turn;
                return self.ask(seat, Phase::Power);
            }
            table.step += 1;
        }
        self.after_power();
    }

    fn next_step(&mut self) {
        self.state.table.step += 1;
        self.ask_step();
    }

    pub(super) fn look(&mut self, seat: Seat, spot: Spot) {
        let face = self.face(spot);
        self.happens(Event::Looked { seat, spot, face });
        self.state.table.pointed.insert(spot);
        self.state.table.carried_out = true;
        self.next_step();
    }

    pub(super) fn swap(&mut self, seat: Seat, one: Spot, other: Spot) {
        // `pointed` follows the cards that were looked at.
        self.state.table.pointed.swap(one, other);
        let (one, other) = (one.min(other), one.max(other));
        self.happens(Event::Swapped { seat, one, other });
        self.state.table.carried_out = true;
        self.next_step();
    }

    pub(super) fn decline(&mut self, seat: Seat) {
        let table = &mut self.state.table;
        // Declining a step that allows a swap too is not a declined look, so later looks stay available.
        let looks = |step: crate::rules::PowerStep| (step.looks_at_own() || step.looks_at_others()) && !step.swaps();
        let looks = table.power.step(table.step.into()).is_some_and(looks);
        table.declined_look |= looks;
        self.happens(Event::Skipped { seat });
        self.next_step();
    }

    /// Names one card of a reveal. After the last card has been named, all named cards are shown.
    pub(super) fn show(&mut self, spot: Spot) {
        self.state.table.named.insert(spot);
        if self.state.table.next_shown().is_some() {
            return;
        }
        for spot in self.state.table.named.iter_from(self.state.table.turn) {
            let card = self.face(spot);
            self.happens(Event::Shown { spot, card });
        }
        self.state.table.carried_out = true;
        self.next_step();
    }

    fn after_power(&mut self) {
        let table = &mut self.state.table;
        table.power = Power::NONE;
        if table.carried_out && !table.won {
            table.top_spent = true;
        }
        let reopens = match table.rules.spec().window {
            Window::After => true,
            Window::Both => table.carried_out && !table.won,
            Window::Before | Window::None => false,
        };
        if reopens { self.open_window(Opening::AfterPower) } else { self.finish_turn() }
    }
}
