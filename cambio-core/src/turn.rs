//! How decisions change the state: turns, powers, windows, gifts, chains, penalties, and the end of a round.
//!
//! Every function here runs after the one gate in [`State::apply`](crate::State::apply), so it changes and does
//! not ask. Each ends by asking somebody, or by ending the round.

use crate::card::{Card, Power};
use crate::chance::{Chance, Race, RaceOrder};
use crate::event::{Ending, Event, Sink, Verdict};
use crate::knob::{CallWhen, EmptyHand, Flip, Late, Matching, Peek, Redrop, StockEmpty, Window};
use crate::observation::{View as _, matches, may_call, step_has_target};
use crate::seat::{Seat, SeatSet, Spot, SpotSet};
use crate::state::{Declared, Order, State};
use crate::table::{Opening, Phase, Source};
use crate::{Action, RulesSpec};

/// The state in the middle of a decision, with the chance and the sink that go with it.
pub(crate) struct Turn<'s, C, S> {
    pub(crate) state: &'s mut State,
    pub(crate) chance: &'s mut C,
    pub(crate) sink: &'s mut S,
}

impl<C: Chance, S: Sink> Turn<'_, C, S> {
    fn spec(&self) -> &'static RulesSpec {
        self.state.table.rules.spec()
    }

    #[inline]
    fn ask(&mut self, seat: Seat, phase: Phase) {
        self.state.table.asked = Some(seat);
        self.state.table.phase = phase;
    }

    fn everyone(&self) -> SeatSet {
        SeatSet::first(self.state.table.seats())
    }

    /// Carries out a legal decision.
    #[inline]
    pub(crate) fn carry_out(&mut self, action: Action) {
        let seat = self.state.table.asked.expect("a legal decision has a seat that was asked");
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
                self.sink.event(&Event::Skipped { seat });
                self.after_success(seat);
            }
            (_, Action::Skip) => self.decline(seat),
            (_, Action::Show(spot)) => self.show(spot),
            (_, Action::Give(spot)) => self.give(seat, spot),
            (_, Action::Snap(spot)) => self.chain(seat, spot),
            // Only a chain still has a pass: that of a window stands above.
            (_, Action::Pass | Action::Touch(_)) => self.after_window(),
            (_, Action::Peek(spot)) => {
                self.peek(seat, spot);
                self.ask_to_peek(seat);
            }
            (_, Action::Cheat(spot)) => self.cheat(seat, spot),
        }
    }

    // Faces and cards.

    /// The face of an occupied spot; a latent one is decided now.
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
            let place = self.chance.draw(&hidden.stock[..len]);
            hidden.stock.swap(place, last);
        }
        hidden.pool_len = last as u16;
        hidden.stock[last]
    }

    /// The top of the stock, seen by somebody.
    #[inline]
    fn draw_stock(&mut self) -> Card {
        self.restock();
        self.state.table.stock_len -= 1;
        self.draw_pool()
    }

    /// Puts the top of the stock into an empty spot, unseen.
    pub(crate) fn deal_to(&mut self, spot: Spot) {
        self.restock();
        self.state.table.stock_len -= 1;
        self.state.table.occupied.insert(spot);
        if self.state.hidden.order == Order::Dealt {
            let card = self.draw_pool();
            self.state.hidden.faces[spot.index()] = Some(card);
        }
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
        // What is still latent comes from the old stock: it is decided before the new one lies there.
        self.settle();
        let State { table, hidden } = &mut *self.state;
        let top = table.top.expect("a pile that is reshuffled has a top");
        table.pile[top.kind()] -= 1;
        let mut len = 0;
        for (kind, copies) in table.pile.iter_mut().enumerate() {
            for _ in 0..std::mem::take(copies) {
                hidden.stock[len] = Card::new(kind).expect("the pile has a count for each kind");
                len += 1;
            }
        }
        table.pile[top.kind()] = 1;
        table.pile_points = table.rules.points(top);
        table.pile_len = 1;
        table.stock_len = len as u16;
        table.reshuffles += 1;
        hidden.pool_len = len as u16;
        if hidden.order == Order::Dealt {
            self.chance.shuffle(&mut hidden.stock[..len]);
        }
        self.sink.event(&Event::Reshuffled { cards: len as u16 });
    }

    pub(crate) fn settle(&mut self) {
        if self.state.hidden.pool_len == self.state.table.stock_len {
            return;
        }
        for spot in self.state.table.occupied {
            self.face(spot);
        }
    }

    #[inline]
    fn push_pile(&mut self, card: Card) {
        let table = &mut self.state.table;
        table.pile[card.kind()] += 1;
        table.pile_points += table.rules.points(card);
        table.pile_len += 1;
        table.top = Some(card);
        table.top_spent = false;
    }

    /// These seats have seen the card that lies here.
    #[inline]
    fn show_to(&mut self, spot: Spot, seats: SeatSet) {
        let State { table, hidden } = &mut *self.state;
        let Some(card) = hidden.faces[spot.index()] else { return };
        hidden.seen_ranks |= table.rules.rank_bit(card);
        let points = table.rules.points(card);
        for seat in seats.iter().map(Seat::index) {
            // Who has seen which card is hard to predict: no branch.
            let is_new = !table.seen[seat].contains(spot);
            table.seen[seat].insert(spot);
            hidden.seen_points[seat] += i32::from(is_new) * points;
        }
    }

    /// Takes the card away from an occupied spot: nobody has seen what will lie here.
    #[inline]
    fn clear(&mut self, spot: Spot) -> Option<Card> {
        let State { table, hidden } = &mut *self.state;
        let card = hidden.faces[spot.index()].take();
        let points = card.map_or(0, |card| table.rules.points(card));
        for (seen, seen_points) in table.seen.iter_mut().zip(&mut hidden.seen_points).take(usize::from(table.seats)) {
            let was_seen = seen.contains(spot);
            seen.remove(spot);
            *seen_points -= i32::from(was_seen) * points;
        }
        card
    }

    /// Takes the card away from a spot: a gap remains.
    fn lift(&mut self, spot: Spot) -> Option<Card> {
        self.state.table.occupied.remove(spot);
        self.clear(spot)
    }

    /// One penalty card, unseen, for `seat` (000:124, 003:8, 004:143).
    fn penalise(&mut self, seat: Seat) {
        match self.state.table.penalty_spot(seat) {
            Some(spot) if self.state.table.can_draw() => {
                self.deal_to(spot);
                self.sink.event(&Event::Penalised { seat, spot });
            }
            _ => self.sink.event(&Event::PenaltyWaived { seat }),
        }
    }

    // Before the first turn.

    pub(crate) fn peek(&mut self, seat: Seat, spot: Spot) {
        let face = self.face(spot);
        self.show_to(spot, SeatSet::only(seat));
        self.sink.event(&Event::Peeked { seat, spot, face });
    }

    /// Asks `seat`, or the next seat with a peek left, which card it looks at.
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
            let card = self.draw_stock();
            self.push_pile(card);
            self.sink.event(&Event::Flipped { card });
        }
        if self.state.table.rules.flip_opens_window() {
            self.open_window(Opening::Flip);
        } else {
            self.begin_turn(self.state.table.starter);
        }
    }

    // A turn.

    fn begin_turn(&mut self, seat: Seat) {
        let spec = self.spec();
        let table = &mut self.state.table;
        if table.first_caller == Some(seat) {
            return self.end(Ending::Call);
        }
        if spec.empty_hand == EmptyHand::EndsRoundAtTurn && table.emptied().is_some() {
            return self.end(Ending::EmptyHand);
        }
        if table.is_limit_reached() {
            return self.end(Ending::TurnLimit);
        }
        if spec.stock_empty == StockEmpty::EndRound && table.stock_len == 0 {
            return self.end(Ending::StockOut);
        }
        table.turn = seat;
        table.won = false;
        table.cheated = false;
        if !self.can_start(seat) {
            return self.end(Ending::StockOut);
        }
        self.state.table.turns += 1;
        self.sink.event(&Event::TurnBegan { seat });
        self.ask(seat, Phase::Start);
    }

    /// Whether a turn of this seat has a legal start.
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
        let card = self.draw_stock();
        self.state.hidden.held = Some(card);
        self.sink.event(&Event::Drew { seat, face: card });
        self.ask(seat, Phase::Held(Source::Stock));
    }

    fn take(&mut self, seat: Seat) {
        let table = &mut self.state.table;
        table.frozen = false;
        let card = table.top.take().expect("a card is taken from a pile with a top");
        table.pile[card.kind()] -= 1;
        table.pile_points -= table.rules.points(card);
        table.pile_len -= 1;
        self.state.hidden.held = Some(card);
        self.sink.event(&Event::Took { seat, card });
        self.ask(seat, Phase::Held(Source::Pile(card)));
    }

    fn call(&mut self, seat: Seat) {
        let table = &mut self.state.table;
        // A call that ends a turn is no start: the freeze is for the next seat.
        table.frozen &= table.phase != Phase::Start;
        table.callers.insert(seat);
        table.first_caller.get_or_insert(seat);
        self.sink.event(&Event::Called { seat });
        self.next_turn();
    }

    fn cheat(&mut self, seat: Seat, spot: Spot) {
        self.state.table.cheated = true;
        let face = self.face(spot);
        self.show_to(spot, SeatSet::only(seat));
        self.sink.event(&Event::Looked { seat, spot, face });
        self.penalise(seat);
        // The penalty card may have been the last of the stock.
        if !self.can_start(seat) {
            return self.end(Ending::StockOut);
        }
        self.ask(seat, Phase::Start);
    }

    fn drop_held(&mut self, seat: Seat) {
        let card = self.state.hidden.held.take().expect("the phase is Held");
        let power = self.state.table.rules.power(card);
        let was_spent = self.state.table.top_spent;
        let (has_power, spent) = match (self.state.table.phase, self.spec().redrop) {
            (Phase::Held(Source::Stock), _) | (_, Redrop::Power) => (true, false),
            (_, Redrop::UnspentPower) => (!was_spent, was_spent),
            (_, Redrop::NoPower | Redrop::Forbidden) => (false, was_spent),
        };
        self.push_pile(card);
        self.state.table.top_spent = spent;
        self.sink.event(&Event::Dropped { seat, card });
        self.land(if has_power { power } else { Power::NONE });
    }

    fn keep(&mut self, seat: Seat, spot: Spot) {
        let replaced = self.face(spot);
        let card = self.state.hidden.held.take().expect("the phase is Held");
        let seen_by = match self.state.table.phase {
            Phase::Held(Source::Pile(_)) => self.everyone(),
            _ => SeatSet::only(seat),
        };
        self.clear(spot);
        self.state.hidden.faces[spot.index()] = Some(card);
        self.show_to(spot, seen_by);
        self.push_pile(replaced);
        self.sink.event(&Event::Kept { seat, spot, replaced });
        self.land(Power::NONE);
    }

    /// A card has landed on the pile; `power` is what it may do.
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
        if self.spec().call == CallWhen::AfterTurn && self.may_call(seat) {
            self.ask(seat, Phase::Close);
        } else {
            self.next_turn();
        }
    }

    // Powers.

    fn begin_power(&mut self) {
        let table = &mut self.state.table;
        table.step = 0;
        (table.pointed, table.named) = (SpotSet::EMPTY, SpotSet::EMPTY);
        table.declined_look = false;
        table.carried_out = false;
        self.ask_step();
    }

    /// Asks for the power's step, or goes past those without a legal target.
    fn ask_step(&mut self) {
        let table = &mut self.state.table;
        while let Some(step) = table.power.step(table.step.into()) {
            if step.reveals() {
                table.named = SpotSet::EMPTY;
                if table.next_shown().is_some() {
                    let seat = table.turn;
                    return self.ask(seat, Phase::Show);
                }
            } else if step_has_target(table) {
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
        self.show_to(spot, SeatSet::only(seat));
        self.sink.event(&Event::Looked { seat, spot, face });
        self.state.table.pointed.insert(spot);
        self.state.table.carried_out = true;
        self.next_step();
    }

    fn swap(&mut self, seat: Seat, one: Spot, other: Spot) {
        self.state.hidden.faces.swap(one.index(), other.index());
        let table = &mut self.state.table;
        for seen in &mut table.seen[..usize::from(table.seats)] {
            seen.swap(one, other);
        }
        // It is the card that was looked at, wherever it lies.
        table.pointed.swap(one, other);
        let (one, other) = (one.min(other), one.max(other));
        self.sink.event(&Event::Swapped { seat, one, other });
        self.state.table.carried_out = true;
        self.next_step();
    }

    fn decline(&mut self, seat: Seat) {
        let table = &mut self.state.table;
        // A step that could have been a swap is an action declined, not a look: the next is offered in full.
        let looks = |step: crate::Step| (step.looks_at_own() || step.looks_at_others()) && !step.swaps();
        let looks = table.power.step(table.step.into()).is_some_and(looks);
        table.declined_look |= looks;
        self.sink.event(&Event::Skipped { seat });
        self.next_step();
    }

    /// One card of a reveal is named; after the last all are shown.
    fn show(&mut self, spot: Spot) {
        self.state.table.named.insert(spot);
        if self.state.table.next_shown().is_some() {
            return;
        }
        for spot in self.state.table.named {
            let card = self.face(spot);
            self.show_to(spot, self.everyone());
            self.sink.event(&Event::Shown { spot, card });
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

    // Snap windows.

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

    /// Whether only seats are asked that know a card that matches.
    #[inline]
    fn asks_knowing(&self) -> bool {
        self.spec().snap_known_only || self.state.hidden.asks_knowing
    }

    #[inline]
    fn knows_match(&self, seat: Seat) -> bool {
        !self.state.view(seat).known_matches().is_empty()
    }

    /// Whether surely nobody has seen a card that matches the opener: by ranks alone, and by a look at each card, instead
    /// of one for each seat, where they do not tell.
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
        let faces = seen.into_iter().filter_map(|spot| hidden.faces[spot.index()]);
        hidden.seen_ranks = faces.fold(0, |ranks, card| ranks | table.rules.rank_bit(card));
        hidden.seen_ranks & rank == 0
    }

    /// Asks the next seat that may snap to declare; after the last the declarations are resolved.
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
                    self.sink.event(&Event::Touched { seat, spot });
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
            let race = Race { rules: &table.rules, seats: table.seats(), turn: table.turn, snappers };
            self.chance.race(&race)
        };
        let mut winner = None;
        for seat in order.seats() {
            let Some(Declared::Snap(spot)) = self.state.hidden.declared[seat.index()] else { continue };
            // Only the winner's card can be gone; nothing else leaves a spot before its gift.
            if !self.state.table.occupied.contains(spot) {
                continue;
            }
            let card = self.face(spot);
            let verdict = match (matches(&self.state.table, seat, spot, card), winner) {
                (false, _) => Verdict::Wrong,
                (true, None) => Verdict::Right,
                (true, Some(_)) => Verdict::Late,
            };
            if verdict == Verdict::Late && self.spec().late == Late::Abort {
                self.sink.event(&Event::Aborted { seat });
                continue;
            }
            self.sink.event(&Event::Snapped { seat, spot, card, verdict });
            if verdict == Verdict::Right {
                winner = Some((seat, spot));
                self.win(seat, spot, card);
            } else {
                self.show_to(spot, self.everyone());
                if verdict == Verdict::Wrong || self.spec().late == Late::Penalise {
                    self.penalise(seat);
                }
            }
        }
        match winner {
            Some((seat, spot)) => self.ask_for_gift(seat, spot),
            None => self.after_window(),
        }
    }

    /// A snapped card matched: it goes onto the pile.
    fn win(&mut self, seat: Seat, spot: Spot, card: Card) {
        self.lift(spot);
        self.push_pile(card);
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
        let seen_by = self.state.table.seen_by(from);
        let face = self.lift(from);
        self.state.table.occupied.insert(to);
        self.state.hidden.faces[to.index()] = face;
        self.show_to(to, seen_by);
        self.sink.event(&Event::Gave { seat, from, to });
        self.after_success(seat);
    }

    /// After a success and its gift: empty layouts, then the chain.
    fn after_success(&mut self, winner: Seat) {
        self.state.table.gap = None;
        let spec = self.spec();
        if self.state.table.ends_when_empty() && self.state.table.emptied().is_some() {
            return self.end(Ending::EmptyHand);
        }
        if spec.empty_hand == EmptyHand::Safe {
            while let Some(seat) = self.state.table.emptied() {
                self.state.table.safe.insert(seat);
                self.sink.event(&Event::BecameSafe { seat });
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

    /// The winner goes on with one card more (000:118–120).
    fn chain(&mut self, seat: Seat, spot: Spot) {
        let card = self.face(spot);
        let verdict = if matches(&self.state.table, seat, spot, card) { Verdict::Right } else { Verdict::Wrong };
        self.sink.event(&Event::Snapped { seat, spot, card, verdict });
        if verdict == Verdict::Right {
            self.win(seat, spot, card);
            self.ask_for_gift(seat, spot);
        } else {
            self.show_to(spot, self.everyone());
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

    // The end.

    fn end(&mut self, reason: Ending) {
        let table = &mut self.state.table;
        table.asked = None;
        table.phase = Phase::Over;
        table.ended = Some(reason);
        self.sink.event(&Event::Ended { reason });
        if !C::SETTLES {
            return;
        }
        self.settle();
        for spot in self.state.table.occupied {
            if let Some(card) = self.state.hidden.faces[spot.index()] {
                self.sink.event(&Event::TurnedUp { spot, card });
            }
        }
    }
}
