//! Writing of tensors. This is a hot path of learning, so the loops have no branch that depends on the cards: for an
//! absent card, the code writes 0 to an entry that is already 0.

use super::{TensorNumber, TensorSpace};
use crate::engine::observation::View;
use crate::engine::table::{CardSource, Phase};
use crate::rules::card::Card;
use crate::rules::score::Score;
use crate::rules::seat::{MAX_SEATS, MAX_SLOTS, Seat, SeatSet, SpotSet};
use crate::view::card_history::{CardTrace, NEVER, SlotRow, row_of};
use crate::view::round_history::{PublicEvent, RoundHistory};

/// The `SEATS` seats of a table, relative to the observing seat.
struct RelativeSeats<const SEATS: usize> {
    /// The seats in playing order, beginning with the observing seat.
    seats: [Seat; SEATS],
    /// The distance of each seat from the observing seat.
    place: [u8; MAX_SEATS],
}

impl<const SEATS: usize> RelativeSeats<SEATS> {
    #[inline]
    fn new(me: Seat) -> RelativeSeats<SEATS> {
        let mut circle = RelativeSeats { seats: [me; SEATS], place: [0; MAX_SEATS] };
        let mut seat = me;
        for (place, own) in circle.seats.iter_mut().enumerate() {
            *own = seat;
            circle.place[seat.index()] = place as u8;
            seat = seat.next(SEATS);
        }
        circle
    }

    #[inline]
    fn place(&self, seat: Seat) -> usize {
        usize::from(self.place[seat.index()])
    }

    /// Writes one flag per place: whether the seat at that place is in the set.
    #[inline]
    fn write_flags<N: TensorNumber>(&self, set: SeatSet, flags: &mut [N; SEATS]) {
        for (flag, &seat) in flags.iter_mut().zip(&self.seats) {
            *flag = N::from_flag(set.contains(seat));
        }
    }
}

/// The bits as bytes of 0 or 1, lowest bit first.
#[inline]
fn spread(bits: u8) -> [u8; 8] {
    // Each byte gets a copy of the bits, nine bits above the previous copy. Bit 7 of byte `n` is then bit `7 - n` of `bits`.
    (u64::from(bits).wrapping_mul(0x8040_2010_0804_0201) >> 7 & 0x0101_0101_0101_0101).to_be_bytes()
}

/// The first `LEN` numbers from index `at` on.
#[inline]
fn chunk<N, const LEN: usize>(tensor: &mut [N], at: usize) -> &mut [N; LEN] {
    tensor[at..].first_chunk_mut().expect("a block has its length")
}

impl TensorSpace {
    /// Writes the tensor for a view and the history of its round. The view is an [`Observation`](crate::Observation)
    /// or a [`StateView`](crate::engine::StateView). Both give the same numbers; a [`StateView`](crate::engine::StateView) is faster.
    ///
    /// # Panics
    /// If the length of `tensor` is not [`TensorSpace::len`], or the view has other rules or another number of seats.
    pub fn write<N: TensorNumber>(&self, view: &impl View, history: &RoundHistory, tensor: &mut [N]) {
        assert_eq!(tensor.len(), self.len, "the tensor must have the length of its space");
        assert!(
            view.table().seats() == self.seats && *view.rules() == self.rules,
            "the view must have the rules and the number of seats of the space"
        );
        // With the number of seats as a constant, the compiler unrolls the loops over seats.
        match self.seats {
            2 => self.write_for::<N, 2>(view, history, tensor),
            3 => self.write_for::<N, 3>(view, history, tensor),
            4 => self.write_for::<N, 4>(view, history, tensor),
            5 => self.write_for::<N, 5>(view, history, tensor),
            6 => self.write_for::<N, 6>(view, history, tensor),
            7 => self.write_for::<N, 7>(view, history, tensor),
            _ => self.write_for::<N, MAX_SEATS>(view, history, tensor),
        }
    }

    fn write_for<N: TensorNumber, const SEATS: usize>(
        &self,
        view: &impl View,
        history: &RoundHistory,
        tensor: &mut [N],
    ) {
        tensor.fill(N::ZERO);
        let circle = RelativeSeats::<SEATS>::new(view.seat());
        self.write_table(view, &circle, tensor);
        self.write_match(history, &circle, tensor);
        self.write_spots(view, history, &circle, tensor);
        self.write_recent(history, &circle, tensor);
        self.write_last(history, &circle, tensor);
    }

    #[inline]
    fn write_table<N: TensorNumber, const SEATS: usize>(
        &self,
        view: &impl View,
        circle: &RelativeSeats<SEATS>,
        tensor: &mut [N],
    ) {
        let (table, at) = (view.table(), &self.at);
        tensor[at.phase + usize::from(table.phase().code())] = N::ONE;
        if let Some(due) = table.step() {
            let offers =
                [due.looks_at_own(), due.looks_at_others(), due.looks_at_another(), due.swaps(), due.reveals()];
            let step: &mut [N; 5] = chunk(tensor, at.step);
            for (number, offer) in step.iter_mut().zip(offers) {
                *number = N::from_flag(offer);
            }
        }
        tensor[at.asked] = N::from_flag(table.asked() == Some(view.seat()));
        tensor[at.turn + circle.place(table.turn())] = N::ONE;
        circle.write_flags(table.callers(), chunk(tensor, at.callers));
        circle.write_flags(table.safe(), chunk(tensor, at.safe));
        tensor[at.frozen] = N::from_flag(table.is_frozen());
        let [stock, pile, reshuffles, turns] = chunk(tensor, at.sizes);
        *stock = N::from_count(table.stock_len);
        *pile = N::from_count(table.pile_len);
        *reshuffles = N::from_count(table.reshuffles);
        *turns = N::from_count(table.turns);
        self.write_card(view.held(), at.held, tensor);
        self.write_card(table.top(), at.top, tensor);
        self.write_card(table.opener(), at.opener, tensor);
        match table.phase() {
            Phase::Held(CardSource::Stock) => tensor[at.held_from] = N::ONE,
            Phase::Held(CardSource::Pile(_)) => tensor[at.held_from + 1] = N::ONE,
            _ => {}
        }
    }

    #[inline]
    fn write_match<N: TensorNumber, const SEATS: usize>(
        &self,
        history: &RoundHistory,
        circle: &RelativeSeats<SEATS>,
        tensor: &mut [N],
    ) {
        tensor[self.at.standing] = N::from_count(history.rounds());
        let totals: &mut [N; SEATS] = chunk(tensor, self.at.standing + 1);
        for (total, &seat) in totals.iter_mut().zip(&circle.seats) {
            let points = (history.total(seat).units().max(0) / Score::UNITS) as u32;
            *total = N::from_count(points.min(u16::MAX.into()) as u16);
        }
    }

    /// Writes the blocks about spots, and the counts of cards.
    #[inline]
    fn write_spots<N: TensorNumber, const SEATS: usize>(
        &self,
        view: &impl View,
        history: &RoundHistory,
        circle: &RelativeSeats<SEATS>,
        tensor: &mut [N],
    ) {
        let (table, at) = (view.table(), &self.at);
        let traces = history.cards().traces();
        let now = history.turns().saturating_add(1);
        let age = |turn: u16| N::from_count(now.saturating_sub(turn));
        // Each row is written with `MAX_SLOTS` entries, so zeros are written beyond the slots of the rules. They are
        // overwritten or fall on entries that are still 0, because the blocks are written in the order of the tensor.
        self.write_spot_flags(table.occupied, circle, at.occupied, tensor);
        self.write_spot_flags(table.pointed.intersection(table.occupied), circle, at.pointed, tensor);
        if let Some(spot) = table.gap() {
            tensor[at.gap + circle.place(spot.seat()) * self.slots + spot.number() - 1] = N::ONE;
        }
        self.write_stamps(history, circle, |turn| N::from_flag(turn != NEVER), at.seen_by, tensor);
        // The number of cards of each class that the seat knows: on the pile, in layouts and in its hand.
        let mut seen = *history.pile();
        let held = view.held();
        seen[self.rules.class_here(held)] += u8::from(held.is_some());
        for (distance, &owner) in circle.seats.iter().enumerate() {
            let first = at.face + distance * self.slots * self.classes;
            for (spot, card) in view.known_cards_of(owner, table.occupied) {
                let class = self.rules.class(card);
                tensor[first + (spot.number() - 1) * self.classes + class] = N::ONE;
                seen[class] += 1;
            }
        }
        self.write_stamps(history, circle, age, at.seen_for, tensor);
        let origins = circle.seats.map(|owner| row_of(&traces.origins, owner));
        self.write_rows(origins, |bit| N::from_count(bit.into()), at.origin, tensor);
        self.write_rows(circle.seats.map(|owner| row_of(&traces.turns, owner)), age, at.age, tensor);
        let moves = circle.seats.map(|owner| row_of(&traces.moves, owner));
        self.write_rows(moves, |moves| N::from_count(moves.into()), at.moves, tensor);
        let hint = |points: i16| {
            let hint = points.wrapping_sub(self.fewest).wrapping_add(1) as u16;
            N::from_count(if points == CardTrace::NONE { 0 } else { hint })
        };
        self.write_rows(circle.seats.map(|owner| row_of(&traces.bounds, owner)), hint, at.hints, tensor);
        let (pile, unseen) = tensor[at.pile..][..2 * self.classes].split_at_mut(self.classes);
        let counts = self.copies.iter().zip(history.pile()).zip(&seen);
        for ((pile, unseen), ((&copies, &on_pile), &seen)) in pile.iter_mut().zip(unseen).zip(counts) {
            *pile = N::from_count(on_pile.into());
            *unseen = N::from_count(copies.saturating_sub(seen.into()));
        }
    }

    /// Writes the class of a card, one-hot; zeros for `None`.
    #[inline]
    fn write_card<N: TensorNumber>(&self, card: Option<Card>, at: usize, tensor: &mut [N]) {
        tensor[at + self.rules.class_here(card)] = N::from_flag(card.is_some());
    }

    /// Writes a block with one flag per spot, row by row.
    #[inline]
    fn write_spot_flags<N: TensorNumber, const SEATS: usize>(
        &self,
        spots: SpotSet,
        circle: &RelativeSeats<SEATS>,
        block: usize,
        tensor: &mut [N],
    ) {
        for (distance, &owner) in circle.seats.iter().enumerate() {
            let [low, high, ..] = spots.slots_of(owner).to_le_bytes();
            let flags = [spread(low), spread(high)];
            let row: &mut [N; MAX_SLOTS] = chunk(tensor, block + distance * self.slots);
            for (number, &flag) in row.iter_mut().zip(flags.as_flattened()) {
                *number = N::from_count(flag.into());
            }
        }
    }

    /// Writes a block row by row. `number` converts the turn in which a seat last saw a card to a number of the tensor.
    #[inline]
    fn write_stamps<N: TensorNumber, const SEATS: usize>(
        &self,
        history: &RoundHistory,
        circle: &RelativeSeats<SEATS>,
        number: impl Fn(u16) -> N,
        block: usize,
        tensor: &mut [N],
    ) {
        for (distance, &owner) in circle.seats.iter().enumerate() {
            let saw = circle.seats.map(|seat| history.stamps_of(owner, seat));
            let (numbers, _) = tensor[block + distance * self.slots * SEATS..].as_chunks_mut::<SEATS>();
            let numbers: &mut [[N; SEATS]; MAX_SLOTS] = chunk(numbers, 0);
            for (slot, numbers) in numbers.iter_mut().enumerate() {
                for (to, turns) in numbers.iter_mut().zip(&saw) {
                    *to = number(turns[slot]);
                }
            }
        }
    }

    /// Writes a block row by row. `number` converts the items of a row to numbers of the tensor.
    #[inline]
    fn write_rows<N: TensorNumber, T: Copy, const WIDTH: usize, const SEATS: usize>(
        &self,
        rows: [&SlotRow<T, WIDTH>; SEATS],
        number: impl Fn(T) -> N,
        block: usize,
        tensor: &mut [N],
    ) {
        for (distance, row) in rows.iter().enumerate() {
            let row = row.as_flattened();
            let numbers = &mut tensor[block + distance * self.slots * WIDTH..][..MAX_SLOTS * WIDTH];
            for (to, &from) in numbers.iter_mut().zip(row) {
                *to = number(from);
            }
        }
    }

    #[inline]
    fn write_recent<N: TensorNumber, const SEATS: usize>(
        &self,
        history: &RoundHistory,
        circle: &RelativeSeats<SEATS>,
        tensor: &mut [N],
    ) {
        let spot_width = SEATS + self.slots;
        let width = PublicEvent::COUNT + SEATS + 2 * spot_width + self.classes;
        let rows = tensor[self.at.recent..][..RoundHistory::RECENT * width].chunks_exact_mut(width);
        for (back, row) in rows.enumerate() {
            let Some(event) = history.recent(back) else { break };
            row[usize::from(event.code())] = N::ONE;
            let mut offset = PublicEvent::COUNT;
            row[offset + circle.place(event.seat)] = N::ONE;
            offset += SEATS;
            let [first, second] = event.spots;
            let (seat, slot) = first.map_or((0, 0), |spot| (circle.place(spot.seat()), spot.number() - 1));
            let is_there = N::from_flag(first.is_some());
            row[offset + seat] = is_there;
            row[offset + SEATS + slot] = is_there;
            offset += spot_width;
            // Few public events have a second spot.
            if let Some(spot) = second {
                row[offset + circle.place(spot.seat())] = N::ONE;
                row[offset + SEATS + spot.number() - 1] = N::ONE;
            }
            offset += spot_width;
            self.write_card(event.card, offset, row);
        }
    }

    #[inline]
    fn write_last<N: TensorNumber, const SEATS: usize>(
        &self,
        history: &RoundHistory,
        circle: &RelativeSeats<SEATS>,
        tensor: &mut [N],
    ) {
        let at = &self.at;
        for (place, &seat) in circle.seats.iter().enumerate() {
            let mut card: Option<Card> = None;
            for back in 0..RoundHistory::LAST {
                let Some(event) = history.last_of(seat, back) else { break };
                let entry = (place * RoundHistory::LAST + back) * PublicEvent::COUNT + usize::from(event.code());
                tensor[at.last + entry] = N::ONE;
                card = card.or(event.card);
            }
            self.write_card(card, at.last_card + place * self.classes, tensor);
        }
    }
}
