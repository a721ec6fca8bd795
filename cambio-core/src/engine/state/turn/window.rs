//! Snap windows: which seats are asked, how declarations are resolved, gifts and chains.

use crate::engine::chance::{Chance, RaceOrder, SnapRace};
use crate::engine::event::{Event, Sink, SnapOutcome};
use crate::engine::observation::{View as _, matches};
use crate::engine::state::turn::Turn;
use crate::engine::state::{Declared, State};
use crate::engine::table::{Opening, Phase};
use crate::rules::knob::{EmptyHand, EmptyHandFines, Late, Matching};
use crate::rules::seat::{Seat, SeatSet, Spot, SpotSet};

impl<C: Chance, S: Sink> Turn<'_, C, S> {
    pub(super) fn open_window(&mut self, opening: Opening) {
        let spec = self.spec();
        let State { table, hidden } = &mut *self.state;
        table.opening = opening;
        table.opener = table.top;
        let too_late = !spec.final_window && opening != Opening::Flip && table.is_last_turn();
        if !table.rules.has_windows() || too_late {
            return self.after_window();
        }
        table.phase = Phase::Window;
        hidden.unasked = table.may_snap();
        if self.asks_knowing() && self.nobody_knows_a_match() {
            return self.after_window();
        }
        self.ask_next();
    }

    /// Whether only seats that know a matching card are asked.
    #[inline]
    fn asks_knowing(&self) -> bool {
        self.spec().snap_known_only || self.state.hidden.asks_knowing
    }

    #[inline]
    fn knows_match(&self, seat: Seat) -> bool {
        !self.state.view(seat).known_matches().is_empty()
    }

    /// Returns `true` only if no seat has seen a card that matches the opener. Checks the cached ranks first. If they
    /// contain the opener's rank, rebuilds the cache from all seen cards, instead of searching the cards of each seat.
    #[inline]
    fn nobody_knows_a_match(&mut self) -> bool {
        let State { table, hidden } = &mut *self.state;
        if table.rules.spec().matching != Matching::Rank {
            return false;
        }
        let Some(rank) = table.opener.map(|opener| table.rules.rank_bit(opener)) else { return true };
        if hidden.seen_ranks & rank == 0 {
            return true;
        }
        let seen = table.seen[..table.seats()].iter().fold(SpotSet::EMPTY, |all, &seen| all.union(seen));
        let faces = seen.each().filter_map(|spot| hidden.faces[spot.index()]);
        hidden.seen_ranks = faces.fold(0, |ranks, card| ranks | table.rules.rank_bit(card));
        hidden.seen_ranks & rank == 0
    }

    /// Asks the next seat that may snap for its declaration. After the last seat, resolves the declarations.
    #[inline]
    pub(super) fn ask_next(&mut self) {
        self.state.table.phase = Phase::Window;
        while let Some(seat) = self.state.hidden.unasked.first_from(self.state.table.turn) {
            self.state.hidden.unasked.remove(seat);
            self.state.table.asked = Some(seat);
            if !self.asks_knowing() || self.knows_match(seat) {
                return;
            }
        }
        self.resolve();
    }

    fn resolve(&mut self) {
        let hidden = &mut self.state.hidden;
        let snappers = std::mem::take(&mut hidden.snappers);
        let touchers = std::mem::take(&mut hidden.touchers);
        if !touchers.is_empty() {
            let table = &self.state.table;
            for seat in table.turn.round(table.seats()).filter(|&seat| touchers.contains(seat)) {
                if let Some(Declared::Touch(spot)) = self.state.hidden.declared[seat.index()] {
                    self.emit(Event::Touched { seat, spot });
                }
            }
        }
        if snappers.is_empty() {
            self.after_window();
        } else {
            self.resolve_snaps(snappers);
        }
    }

    fn resolve_snaps(&mut self, snappers: SeatSet) {
        let table = &self.state.table;
        let only = snappers.first_from(table.turn).filter(|&seat| snappers == SeatSet::only(seat));
        let order = if let Some(seat) = only {
            RaceOrder::only(seat)
        } else {
            let race = SnapRace { rules: &table.rules, seats: table.seats(), turn: table.turn, snappers };
            self.chance.race(&race)
        };
        let mut winner = None;
        for seat in order.seats() {
            let Some(Declared::Snap(spot)) = self.state.hidden.declared[seat.index()] else { continue };
            // Skip a card that the winner has snapped already. Before the gift, no other card leaves its spot.
            if !self.state.table.occupied.contains(spot) {
                continue;
            }
            let card = self.face(spot);
            let verdict = match (matches(&self.state.table, seat, spot, card), winner) {
                (false, _) => SnapOutcome::Wrong,
                (true, None) => SnapOutcome::Right,
                (true, Some(_)) => SnapOutcome::Late,
            };
            if verdict == SnapOutcome::Late && self.spec().late == Late::Abort {
                self.emit(Event::Aborted { seat });
                continue;
            }
            self.emit(Event::Snapped { seat, spot, card, verdict });
            if verdict == SnapOutcome::Right {
                winner = Some((seat, spot));
                self.win(seat, spot);
                // If the winner has no cards left, the round is over. Another seat without cards still gets the gift.
                let is_over = self.state.table.ends_when_empty() && self.state.table.layout(seat).is_empty();
                if is_over && self.spec().empty_hand_fines == EmptyHandFines::None {
                    break;
                }
            } else if verdict == SnapOutcome::Wrong || self.spec().late == Late::Penalise {
                self.penalise(seat);
            }
        }
        match winner {
            Some((seat, spot)) => self.ask_for_gift(seat, spot),
            None => self.after_window(),
        }
    }

    /// Records a successful snap. The snapped card is already on the pile.
    fn win(&mut self, seat: Seat, spot: Spot) {
        let table = &mut self.state.table;
        table.won = true;
        table.frozen |= table.rules.spec().freeze;
        if spot.seat() != seat {
            table.gap = Some(spot);
        }
    }

    fn ask_for_gift(&mut self, seat: Seat, spot: Spot) {
        if spot.seat() != seat && self.state.table.can_keep(seat) {
            self.ask(seat, Phase::Gift);
        } else {
            self.after_success(seat);
        }
    }

    pub(super) fn give(&mut self, seat: Seat, from: Spot) {
        let to = self.state.table.gap.expect("a gift goes into a gap");
        self.emit(Event::Gave { seat, from, to });
        self.after_success(seat);
    }

    /// Continues after a successful snap and its gift: handles seats without cards, then asks for the chain.
    pub(super) fn after_success(&mut self, winner: Seat) {
        self.state.table.gap = None;
        let spec = self.spec();
        if self.state.table.ends_when_empty()
            && let Some(seat) = self.state.table.emptied()
        {
            return self.end_with_empty(seat);
        }
        if spec.empty_hand == EmptyHand::Safe {
            while let Some(seat) = self.state.table.emptied() {
                self.state.table.safe.insert(seat);
                self.emit(Event::BecameSafe { seat });
            }
        }
        if !spec.chain || self.state.table.safe.contains(winner) {
            return self.after_window();
        }
        self.ask(winner, Phase::Chain);
        if self.asks_knowing() && !self.knows_match(winner) {
            self.after_window();
        }
    }

    /// The winner snaps one more card (000:118–120).
    pub(super) fn chain(&mut self, seat: Seat, spot: Spot) {
        let card = self.face(spot);
        let verdict =
            if matches(&self.state.table, seat, spot, card) { SnapOutcome::Right } else { SnapOutcome::Wrong };
        self.emit(Event::Snapped { seat, spot, card, verdict });
        if verdict == SnapOutcome::Right {
            self.win(seat, spot);
            self.ask_for_gift(seat, spot);
        } else {
            self.penalise(seat);
            self.after_window();
        }
    }

    #[inline]
    pub(super) fn after_window(&mut self) {
        let table = &self.state.table;
        match table.opening {
            Opening::Flip => self.begin_turn(table.starter),
            Opening::Landing if !table.power.is_none() => self.begin_power(),
            Opening::Landing | Opening::AfterPower => self.finish_turn(),
        }
    }
}
