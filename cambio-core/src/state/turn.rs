//! How decisions change the state: turns, powers, windows, gifts, chains, penalties, and the end of a round.
//!
//! Every function here runs after the one gate in [`State::apply`](crate::State::apply), so it changes and does
//! not ask. Each ends by asking somebody, or by ending the round. `power` carries out powers, `window` snap windows with
//! gifts and chains.

mod power;
mod window;

use crate::card::{Card, Power};
use crate::chance::Chance;
use crate::event::{Ending, Event, Sink};
use crate::knob::{CallWhen, EmptyHand, Flip, Peek, Redrop, StockEmpty};
use crate::observation::may_call;
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
