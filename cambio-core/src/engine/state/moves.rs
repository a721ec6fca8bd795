//! Applies motions to the state. Cards change places only here.

use crate::engine::motion::Motion;
use crate::engine::state::{Order, State};
use crate::engine::table::{CardSource, Phase};
use crate::rules::card::Card;
use crate::rules::seat::{Seat, SeatSet, Spot, SpotSet};

impl State {
    /// Moves the cards, and updates which seats have seen them. A latent face must be drawn before a seat sees it.
    #[expect(clippy::inline_always, reason = "callers construct the motion, so the match folds away")]
    #[inline(always)]
    pub(crate) fn follow(&mut self, motion: Motion<Card>) {
        match motion {
            Motion::Dealt { starter, extra } => self.deal_hands(starter, extra),
            Motion::Seen { seat, spot, .. } => self.show_to(spot, SeatSet::only(seat)),
            Motion::Shown { spot, .. } => self.show_to(spot, self.everyone()),
            Motion::Flipped { card } => {
                self.table.stock_len -= 1;
                self.push_pile(card);
            }
            Motion::Drawn { face, .. } => {
                self.table.stock_len -= 1;
                self.hidden.held = Some(face);
            }
            Motion::Taken { card } => {
                let table = &mut self.table;
                table.top = None;
                table.pile[card.kind()] -= 1;
                table.pile_points -= table.rules.points(card);
                table.pile_len -= 1;
                self.hidden.held = Some(card);
            }
            Motion::Dropped { card } => {
                self.hidden.held = None;
                self.push_pile(card);
            }
            Motion::Kept { spot, replaced } => {
                let seen_by = match self.table.phase {
                    Phase::Held(CardSource::Pile(_)) => self.everyone(),
                    _ => SeatSet::only(self.table.turn),
                };
                self.clear(spot);
                self.hidden.faces[spot.index()] = self.hidden.held.take();
                self.show_to(spot, seen_by);
                self.push_pile(replaced);
            }
            Motion::Discarded { spot, card } => {
                self.lift(spot);
                self.push_pile(card);
            }
            Motion::Exchanged { one, other } => {
                self.hidden.faces.swap(one.index(), other.index());
                for seen in &mut self.table.seen[..usize::from(self.table.seats)] {
                    seen.swap(one, other);
                }
            }
            Motion::Moved { from, to } => {
                let seen_by = self.table.seen_by(from);
                let face = self.lift(from);
                self.table.occupied.insert(to);
                self.hidden.faces[to.index()] = face;
                self.show_to(to, seen_by);
            }
            Motion::Added { spot } => self.add(spot),
            Motion::Reshuffled { cards } => self.turn_pile_over(cards),
            Motion::Nothing => {}
        }
    }

    fn everyone(&self) -> SeatSet {
        SeatSet::first(self.table.seats())
    }

    /// Deals one card to each seat in turn, from the starter on, until all have a hand, and then the extra cards.
    fn deal_hands(&mut self, starter: Seat, extra: SeatSet) {
        let State { table, hidden } = self;
        let (hand, seats) = (table.rules.spec().hand.count(), table.seats());
        for seat in SeatSet::first(seats).each() {
            table.occupied = table.occupied.union(SpotSet::row(seat, hand));
        }
        table.stock_len -= (hand * seats) as u16;
        if hidden.order == Order::Dealt {
            let top = usize::from(hidden.pool_len) - 1;
            hidden.pool_len = table.stock_len;
            for (place, seat) in starter.round(seats).enumerate() {
                for slot in 0..hand {
                    let spot = Spot::new(seat, slot + 1).expect("a hand has at most eight cards");
                    hidden.faces[spot.index()] = Some(hidden.stock[top - slot * seats - place]);
                }
            }
        }
        for seat in starter.round(seats).filter(|&seat| extra.contains(seat)) {
            let row = SpotSet::row(seat, self.table.rules.dealt_to(seat, extra));
            row.without(self.table.occupied).iter_from(seat).for_each(|spot| self.add(spot));
        }
    }

    /// Moves the top of the stock into an empty spot, unseen.
    fn add(&mut self, spot: Spot) {
        let State { table, hidden } = self;
        table.stock_len -= 1;
        table.occupied.insert(spot);
        if hidden.order == Order::Dealt {
            hidden.pool_len -= 1;
            hidden.faces[spot.index()] = Some(hidden.stock[usize::from(hidden.pool_len)]);
        }
    }

    /// Moves all cards but the top from the pile to the stock, sorted by kind. The caller shuffles the stock.
    fn turn_pile_over(&mut self, cards: u16) {
        let State { table, hidden } = self;
        let top = table.top.expect("a pile that is reshuffled has a top");
        table.pile[top.kind()] -= 1;
        let mut len = 0;
        for (kind, copies) in table.pile.iter_mut().enumerate() {
            for _ in 0..std::mem::take(copies) {
                hidden.stock[len] = Card::new(kind).expect("the pile has a count for each kind");
                len += 1;
            }
        }
        debug_assert_eq!(len, usize::from(cards), "all but the top becomes the stock");
        table.pile[top.kind()] = 1;
        table.pile_points = table.rules.points(top);
        table.pile_len = 1;
        table.stock_len = cards;
        table.reshuffles += 1;
        hidden.pool_len = cards;
    }

    #[inline]
    fn push_pile(&mut self, card: Card) {
        let table = &mut self.table;
        table.pile[card.kind()] += 1;
        table.pile_points += table.rules.points(card);
        table.pile_len += 1;
        table.top = Some(card);
        table.top_spent = false;
    }

    /// Marks the card in this spot as seen by these seats.
    #[inline]
    fn show_to(&mut self, spot: Spot, seats: SeatSet) {
        let State { table, hidden } = self;
        let Some(card) = hidden.faces[spot.index()] else { return };
        hidden.seen_ranks |= table.rules.rank_bit(card);
        let points = table.rules.points(card);
        for seat in seats.each().map(Seat::index) {
            // Branch-free, because the processor cannot predict well whether a seat has seen a card.
            let is_new = !table.seen[seat].contains(spot);
            table.seen[seat].insert(spot);
            hidden.seen_points[seat] += i32::from(is_new) * points;
        }
    }

    /// Removes the face from a spot, and marks the spot as unseen by all seats.
    #[inline]
    fn clear(&mut self, spot: Spot) -> Option<Card> {
        let State { table, hidden } = self;
        let card = hidden.faces[spot.index()].take();
        let points = card.map_or(0, |card| table.rules.points(card));
        for (seen, seen_points) in table.seen.iter_mut().zip(&mut hidden.seen_points).take(usize::from(table.seats)) {
            let was_seen = seen.contains(spot);
            seen.remove(spot);
            *seen_points -= i32::from(was_seen) * points;
        }
        card
    }

    /// Removes the card from a spot, which is then empty.
    fn lift(&mut self, spot: Spot) -> Option<Card> {
        self.table.occupied.remove(spot);
        self.clear(spot)
    }
}
