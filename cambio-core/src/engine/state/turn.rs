//! How decisions change the state: turns, powers, windows, gifts, chains, penalties, and the end of a round.
//!
//! The functions run after the check in [`State::apply`](crate::State::apply), so they do not validate. Each one ends
//! by setting the seat to act or by ending the round. `window` carries out snap windows, gifts and chains. Cards move only
//! through events.

use crate::engine::chance::{Chance, RaceOrder, SnapRace};
use crate::engine::event::{EndReason, Event, Sink, SnapOutcome};
use crate::engine::observation::{View as _, matches, may_call, step_has_target};
use crate::engine::state::{Declared, Order, State};
use crate::engine::table::{CardSource, Opening, Phase};
use crate::rules::card::{Card, Power};
use crate::rules::knob::{CallWhen, EmptyHand, EmptyHandFines, Flip, Late, Matching, Peek, Redrop, StockEmpty, Window};
use crate::rules::seat::{Seat, SeatSet, Spot, SpotSet};
use crate::{Action, RulesSpec};

/// A state while a decision is carried out, with the caller's source of chance and event sink.
pub(crate) struct Turn<'s, C, S> {
    pub(crate) state: &'s mut State,
    pub(crate) chance: &'s mut C,
    pub(crate) sink: &'s mut S,
}

impl<C: Chance, S: Sink> Turn<'_, C, S> {
    fn spec(&self) -> &'static RulesSpec {
        self.state.table.rules.spec()
    }

    /// Applies an event to the cards, and passes it to the sink.
    #[expect(clippy::inline_always, reason = "callers construct the event, so the match folds away")]
    #[inline(always)]
    pub(crate) fn emit(&mut self, event: Event<Card>) {
        self.state.follow(event.motion());
        self.sink.event(&event);
    }

    #[inline]
    fn ask(&mut self, seat: Seat, phase: Phase) {
        self.state.table.asked = Some(seat);
        self.state.table.phase = phase;
    }

    /// Carries out a legal decision.
    #[inline]
    pub(crate) fn carry_out(&mut self, action: Action) {
        let seat = self.state.table.asked.expect("only a seat that was asked has a legal decision");
        match (self.state.table.phase, action) {
            (Phase::Window, Action::Pass) => self.ask_next(),
            (Phase::Window, Action::Snap(spot)) => {
                self.state.hidden.snappers.insert(seat);
                self.state.hidden.declared[seat.index()] = Some(Declared::Snap(spot));
                self.ask_next();
            }
            (Phase::Window, Action::Touch(spot)) => {
                self.state.hidden.touchers.insert(seat);
                self.state.hidden.declared[seat.index()] = Some(Declared::Touch(spot));
                self.ask_next();
            }
            (_, Action::Draw) => self.draw(seat),
            (_, Action::Take) => self.take(seat),
            (_, Action::Drop) => self.drop_held(seat),
            (_, Action::Keep(spot)) => self.keep(seat, spot),
            (_, Action::End) => self.next_turn(),
            (_, Action::Call) => self.call(seat),
            (_, Action::Look(spot)) => self.look(seat, spot),
            (_, Action::Swap(one, other)) => self.swap(seat, one, other),
            (Phase::Gift, Action::Skip) => {
                self.emit(Event::Skipped { seat });
                self.after_success(seat);
            }
            (_, Action::Skip) => self.decline(seat),
            (_, Action::Show(spot)) => self.show(spot),
            (_, Action::Give(spot)) => self.give(seat, spot),
            (_, Action::Snap(spot)) => self.chain(seat, spot),
            // This pass ends a chain; a pass in a window is matched above.
            (_, Action::Pass | Action::Touch(_)) => self.after_window(),
            (_, Action::Peek(spot)) => {
                self.peek(seat, spot);
                self.ask_to_peek(seat);
            }
            (_, Action::Cheat(spot)) => self.cheat(seat, spot),
        }
    }

    /// The face of an occupied spot. If the face is latent, draws it now.
    #[inline]
    fn face(&mut self, spot: Spot) -> Card {
        match self.state.hidden.faces[spot.index()] {
            Some(card) => card,
            None => self.decide(spot),
        }
    }

    #[cold]
    fn decide(&mut self, spot: Spot) -> Card {
        let card = self.draw_pool();
        self.state.hidden.faces[spot.index()] = Some(card);
        card
    }

    fn draw_pool(&mut self) -> Card {
        let hidden = &mut self.state.hidden;
        let len = usize::from(hidden.pool_len);
        let last = len - 1;
        if hidden.order == Order::Pool {
            let index = self.chance.draw(&hidden.stock[..len]);
            hidden.stock.swap(index, last);
        }
        hidden.pool_len = last as u16;
        hidden.stock[last]
    }

    /// Draws the top of the stock, because a seat sees its face now. The caller's next event moves the card.
    #[inline]
    fn turn_top(&mut self) -> Card {
        self.restock();
        self.draw_pool()
    }

    /// Shuffles the pile without its top into a new stock if the stock is empty.
    #[inline]
    fn restock(&mut self) {
        if self.state.table.stock_len == 0 {
            self.reshuffle();
        }
    }

    #[cold]
    fn reshuffle(&mut self) {
        // Latent faces come from the old stock, so they are drawn before the new stock replaces it.
        self.settle();
        let event = Event::Reshuffled { cards: self.state.table.pile_len - 1 };
        self.state.follow(event.motion());
        let hidden = &mut self.state.hidden;
        if hidden.order == Order::Dealt {
            self.chance.shuffle(&mut hidden.stock[..usize::from(hidden.pool_len)]);
        }
        self.sink.event(&event);
    }

    pub(crate) fn settle(&mut self) {
        if self.state.hidden.pool_len == self.state.table.stock_len {
            return;
        }
        for spot in self.state.table.occupied.iter_from(self.state.table.turn) {
            self.face(spot);
        }
    }

    /// Gives `seat` the cards of one penalty, unseen (000:124, 003:8, 004:143).
    fn penalise(&mut self, seat: Seat) {
        for _ in 0..self.spec().penalty.count() {
            match self.state.table.penalty_spot(seat) {
                Some(spot) if self.state.table.can_draw() => {
                    self.restock();
                    self.emit(Event::Penalised { seat, spot });
                }
                _ => self.emit(Event::PenaltyWaived { seat }),
            }
        }
    }

    pub(crate) fn peek(&mut self, seat: Seat, spot: Spot) {
        let face = self.face(spot);
        self.emit(Event::Peeked { seat, spot, face });
    }

    /// Asks `seat`, or the next seat with a peek left, which card it peeks at.
    pub(crate) fn ask_to_peek(&mut self, seat: Seat) {
        let number = match self.spec().peek {
            Peek::Slots(slots) => slots.count_ones() as usize,
            Peek::Choose(number) => usize::from(number),
        };
        let hand = self.spec().hand.count();
        let table = &self.state.table;
        let (seats, starter) = (table.seats(), table.starter);
        let has_left = |seat: Seat| {
            let seen = SpotSet::row(seat, hand).intersection(table.seen(seat)).len();
            let more = usize::from(table.carry.extra_peek.contains(seat));
            seen < (number + more).min(hand)
        };
        let rest = (seat.distance_from(starter, seats)..seats).map(|steps| starter.ahead(steps, seats));
        match rest.into_iter().find(|&seat| has_left(seat)) {
            Some(seat) => self.ask(seat, Phase::Peek),
            None => self.after_peeks(),
        }
    }

    pub(crate) fn after_peeks(&mut self) {
        if self.spec().flip != Flip::None {
            let card = self.turn_top();
            self.emit(Event::Flipped { card });
        }
        if self.state.table.rules.flip_opens_window() {
            self.open_window(Opening::Flip);
        } else {
            self.begin_turn(self.state.table.starter);
        }
    }

    fn begin_turn(&mut self, seat: Seat) {
        let spec = self.spec();
        let table = &mut self.state.table;
        if table.first_caller == Some(seat) {
            return self.end(EndReason::Call);
        }
        if spec.empty_hand == EmptyHand::EndsRoundAtTurn
            && let Some(seat) = table.emptied()
        {
            return self.end_with_empty(seat);
        }
        if table.is_limit_reached(usize::from(self.state.hidden.turn_limit)) {
            return self.end(EndReason::TurnLimit);
        }
        if spec.stock_empty == StockEmpty::EndRound && table.stock_len == 0 {
            return self.end(EndReason::StockOut);
        }
        table.turn = seat;
        table.won = false;
        table.cheated = false;
        // The number of the turn determines whether the seat may call.
        table.turns += 1;
        if table.must_call(seat) {
            table.frozen = false;
            self.emit(Event::TurnBegan { seat });
            return self.call(seat);
        }
        if !self.can_start(seat) {
            self.state.table.turns -= 1;
            return self.end(EndReason::StockOut);
        }
        self.emit(Event::TurnBegan { seat });
        self.ask(seat, Phase::Start);
    }

    /// Whether this seat has a legal decision at the start of its turn.
    fn can_start(&mut self, seat: Seat) -> bool {
        let table = &self.state.table;
        let has_card = table.can_draw() || table.can_take();
        has_card || (self.spec().call == CallWhen::InsteadOfTurn && self.may_call(seat))
    }

    fn may_call(&mut self, seat: Seat) -> bool {
        self.state.table.asked = Some(seat);
        may_call(&self.state.table, seat, &self.state.view(seat))
    }

    fn next_turn(&mut self) {
        let table = &self.state.table;
        self.begin_turn(table.turn.next(table.seats()));
    }

    fn draw(&mut self, seat: Seat) {
        self.state.table.frozen = false;
        let card = self.turn_top();
        self.emit(Event::Drew { seat, face: card });
        self.ask(seat, Phase::Held(CardSource::Stock));
    }

    fn take(&mut self, seat: Seat) {
        let table = &mut self.state.table;
        table.frozen = false;
        let card = table.top.expect("a card is taken from a pile with a top");
        self.emit(Event::Took { seat, card });
        self.ask(seat, Phase::Held(CardSource::Pile(card)));
    }

    fn call(&mut self, seat: Seat) {
        let table = &mut self.state.table;
        // A call at the start of a turn ends the freeze, as a draw does. A call at the end of a turn does not.
        table.frozen &= table.phase != Phase::Start;
        self.add_caller(seat);
        self.next_turn();
    }

    fn add_caller(&mut self, seat: Seat) {
        self.state.table.callers.insert(seat);
        self.state.table.first_caller.get_or_insert(seat);
        self.emit(Event::Called { seat });
    }

    /// Ends the round because this seat has no cards, which may count as its call.
    fn end_with_empty(&mut self, seat: Seat) {
        if self.state.table.must_call(seat) {
            self.add_caller(seat);
        }
        self.end(EndReason::EmptyHand);
    }

    fn cheat(&mut self, seat: Seat, spot: Spot) {
        self.state.table.cheated = true;
        let face = self.face(spot);
        self.emit(Event::Looked { seat, spot, face });
        self.penalise(seat);
        // The last card of the stock may have been a penalty card, so that the seat has no legal decision.
        if !self.can_start(seat) {
            return self.end(EndReason::StockOut);
        }
        self.ask(seat, Phase::Start);
    }

    fn drop_held(&mut self, seat: Seat) {
        let card = self.state.hidden.held.expect("the phase is Held");
        let power = self.state.table.rules.power(card);
        let was_spent = self.state.table.top_spent;
        let (has_power, spent) = match (self.state.table.phase, self.spec().redrop) {
            (Phase::Held(CardSource::Stock), _) | (_, Redrop::Power) => (true, false),
            (_, Redrop::UnspentPower) => (!was_spent, was_spent),
            (_, Redrop::NoPower | Redrop::Forbidden) => (false, was_spent),
        };
        self.emit(Event::Dropped { seat, card });
        self.state.table.top_spent = spent;
        self.land(if has_power { power } else { Power::NONE });
    }

    fn keep(&mut self, seat: Seat, spot: Spot) {
        let replaced = self.face(spot);
        self.emit(Event::Kept { seat, spot, replaced });
        let has_power = self.spec().replaced_power;
        self.land(if has_power { self.state.table.rules.power(replaced) } else { Power::NONE });
    }

    /// Continues after a card has landed on the pile. `power` is the power that the seat may use now.
    fn land(&mut self, power: Power) {
        self.state.table.power = power;
        if self.state.table.rules.powers_come_first() && !power.is_none() {
            self.begin_power();
        } else {
            self.open_window(Opening::Landing);
        }
    }

    fn finish_turn(&mut self) {
        let seat = self.state.table.turn;
        if self.state.table.must_call(seat) {
            self.call(seat);
        } else if self.spec().call == CallWhen::AfterTurn && self.may_call(seat) {
            self.ask(seat, Phase::Close);
        } else {
            self.next_turn();
        }
    }

    fn end(&mut self, reason: EndReason) {
        let table = &mut self.state.table;
        table.asked = None;
        table.phase = Phase::Over;
        table.ended = Some(reason);
        self.emit(Event::Ended { reason });
        if !self.chance.settles() {
            return;
        }
        self.settle();
        // All seats see the cards at scoring. These events do not change the table: it stays as at the end of play.
        for spot in self.state.table.occupied.iter_from(self.state.table.starter) {
            if let Some(card) = self.state.hidden.faces[spot.index()] {
                self.sink.event(&Event::TurnedUp { spot, card });
            }
        }
    }
}

impl<C: Chance, S: Sink> Turn<'_, C, S> {
    fn begin_power(&mut self) {
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

    fn look(&mut self, seat: Seat, spot: Spot) {
        let face = self.face(spot);
        self.emit(Event::Looked { seat, spot, face });
        self.state.table.pointed.insert(spot);
        self.state.table.carried_out = true;
        self.next_step();
    }

    fn swap(&mut self, seat: Seat, one: Spot, other: Spot) {
        // `pointed` follows the cards that were looked at.
        self.state.table.pointed.swap(one, other);
        let (one, other) = (one.min(other), one.max(other));
        self.emit(Event::Swapped { seat, one, other });
        self.state.table.carried_out = true;
        self.next_step();
    }

    fn decline(&mut self, seat: Seat) {
        let table = &mut self.state.table;
        // Declining a step that allows a swap too is not a declined look, so later looks stay available.
        let looks = |step: crate::rules::PowerStep| (step.looks_at_own() || step.looks_at_others()) && !step.swaps();
        let looks = table.power.step(table.step.into()).is_some_and(looks);
        table.declined_look |= looks;
        self.emit(Event::Skipped { seat });
        self.next_step();
    }

    /// Names one card of a reveal. After the last card has been named, all named cards are shown.
    fn show(&mut self, spot: Spot) {
        self.state.table.named.insert(spot);
        if self.state.table.next_shown().is_some() {
            return;
        }
        for spot in self.state.table.named.iter_from(self.state.table.turn) {
            let card = self.face(spot);
            self.emit(Event::Shown { spot, card });
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

// Snap windows: which seats are asked, how declarations are resolved, gifts and chains.

impl<C: Chance, S: Sink> Turn<'_, C, S> {
    fn open_window(&mut self, opening: Opening) {
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
    fn ask_next(&mut self) {
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

    fn give(&mut self, seat: Seat, from: Spot) {
        let to = self.state.table.gap.expect("a gift goes into a gap");
        self.emit(Event::Gave { seat, from, to });
        self.after_success(seat);
    }

    /// Continues after a successful snap and its gift: handles seats without cards, then asks for the chain.
    fn after_success(&mut self, winner: Seat) {
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
    fn chain(&mut self, seat: Seat, spot: Spot) {
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
    fn after_window(&mut self) {
        let table = &self.state.table;
        match table.opening {
            Opening::Flip => self.begin_turn(table.starter),
            Opening::Landing if !table.power.is_none() => self.begin_power(),
            Opening::Landing | Opening::AfterPower => self.finish_turn(),
        }
    }
}
