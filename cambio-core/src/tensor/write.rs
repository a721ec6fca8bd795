//! How a tensor is written. Learners do it for every decision, so the loops have no branch that depends on the cards: what is
//! not there is written as 0 where nothing else can lie.

use super::{TensorNumber, TensorSpace};
use crate::card::MAX_KINDS;
use crate::chronicle::{Chronicle, Happening};
use crate::history::Trace;
use crate::observation::View;
use crate::score::Score;
use crate::seat::{MAX_SEATS, MAX_SLOTS, Seat, Spot};
use crate::table::{Phase, Source};

/// The seats of a table as one of them counts them.
struct Circle {
    /// The seats from the observing one on.
    seats: [Seat; MAX_SEATS],
    /// How many places after the observing seat each seat sits.
    place: [u8; MAX_SEATS],
}

impl Circle {
    fn new(me: Seat, seats: usize) -> Circle {
        let mut circle = Circle { seats: [me; MAX_SEATS], place: [0; MAX_SEATS] };
        for (place, seat) in me.round(seats).enumerate() {
            circle.seats[place] = seat;
            circle.place[seat.index()] = place as u8;
        }
        circle
    }

    #[inline]
    fn place(&self, seat: Seat) -> usize {
        usize::from(self.place[seat.index()])
    }
}

impl TensorSpace {
    /// Writes what a seat may know: an [`Observation`](crate::Observation), or the [`StateView`](crate::StateView) of a state
    /// and a seat, with the chronicle of its round. Both give the same numbers; the latter is faster.
    ///
    /// # Panics
    /// If `tensor` has another length than [`TensorSpace::len`], or the view is of other rules or another number of seats.
    pub fn write<N: TensorNumber>(&self, view: &impl View, chronicle: &Chronicle, tensor: &mut [N]) {
        assert_eq!(tensor.len(), self.len, "a tensor has the length of its space");
        assert!(
            view.table().seats() == self.seats && *view.rules() == self.rules,
            "the view is of the table that the space was made for"
        );
        tensor.fill(N::ZERO);
        let circle = Circle::new(view.seat(), self.seats);
        self.write_table(view, &circle, tensor);
        self.write_match(chronicle, &circle, tensor);
        // What is the same for every card is counted once, and loops over seats are no loops.
        match self.seats {
            2 => self.write_spots::<N, 2>(view, chronicle, &circle, tensor),
            3 => self.write_spots::<N, 3>(view, chronicle, &circle, tensor),
            4 => self.write_spots::<N, 4>(view, chronicle, &circle, tensor),
            5 => self.write_spots::<N, 5>(view, chronicle, &circle, tensor),
            6 => self.write_spots::<N, 6>(view, chronicle, &circle, tensor),
            7 => self.write_spots::<N, 7>(view, chronicle, &circle, tensor),
            _ => self.write_spots::<N, MAX_SEATS>(view, chronicle, &circle, tensor),
        }
        self.write_recent(chronicle, &circle, tensor);
        self.write_last(chronicle, &circle, tensor);
    }

    fn write_table<N: TensorNumber>(&self, view: &impl View, circle: &Circle, tensor: &mut [N]) {
        let (table, at) = (view.table(), &self.at);
        tensor[at.phase + usize::from(table.phase().code())] = N::ONE;
        if let Some(due) = table.step() {
            let offers =
                [due.looks_at_own(), due.looks_at_others(), due.looks_at_another(), due.swaps(), due.reveals()];
            tensor[at.step..][..5].copy_from_slice(&offers.map(N::from_flag));
        }
        tensor[at.asked] = N::from_flag(table.asked() == Some(view.seat()));
        tensor[at.turn + circle.place(table.turn())] = N::ONE;
        for (place, &seat) in circle.seats[..self.seats].iter().enumerate() {
            tensor[at.callers + place] = N::from_flag(table.callers().contains(seat));
            tensor[at.safe + place] = N::from_flag(table.safe().contains(seat));
        }
        tensor[at.frozen] = N::from_flag(table.is_frozen());
        let sizes = [table.stock_len, table.pile_len, table.reshuffles, table.turns].map(N::from_count);
        tensor[at.sizes..][..4].copy_from_slice(&sizes);
        for (offset, card) in [(at.held, view.held()), (at.top, table.top()), (at.opener, table.opener())] {
            let (class, is_there) = self.class_here(card);
            tensor[offset + class] = N::from_flag(is_there);
        }
        match table.phase() {
            Phase::Held(Source::Stock) => tensor[at.held_from] = N::ONE,
            Phase::Held(Source::Pile(_)) => tensor[at.held_from + 1] = N::ONE,
            _ => {}
        }
    }

    fn write_match<N: TensorNumber>(&self, chronicle: &Chronicle, circle: &Circle, tensor: &mut [N]) {
        let standing = &mut tensor[self.at.standing..][..=self.seats];
        standing[0] = N::from_count(chronicle.rounds());
        for (number, &seat) in standing[1..].iter_mut().zip(&circle.seats) {
            let points = chronicle.total(seat).units().max(0) / Score::UNITS;
            *number = N::from_count(points.min(u16::MAX.into()) as u16);
        }
    }

    /// Everything about the spots, and the counts of cards.
    fn write_spots<N: TensorNumber, const SEATS: usize>(
        &self,
        view: &impl View,
        chronicle: &Chronicle,
        circle: &Circle,
        tensor: &mut [N],
    ) {
        let (table, at) = (view.table(), &self.at);
        let order: [Seat; SEATS] = std::array::from_fn(|place| circle.seats[place]);
        // How many cards of each class the seat sees on the pile, in layouts and in its hand.
        let mut seen = [0_u8; MAX_KINDS];
        let kinds = self.rules.kinds().len();
        for (&class, &count) in self.class[1..=kinds].iter().zip(&table.pile[..kinds]) {
            seen[usize::from(class) % MAX_KINDS] += count;
        }
        for (number, &count) in tensor[at.pile..][..self.classes].iter_mut().zip(&seen) {
            *number = N::from_count(count.into());
        }
        let (class, is_there) = self.class_here(view.held());
        seen[class % MAX_KINDS] += u8::from(is_there);
        let turns = chronicle.turns();
        for (distance, owner) in order.into_iter().enumerate() {
            // A bit for each slot: what lies there, and which seats have seen it.
            let mut left = table.occupied.slots_of(owner);
            let pointed = table.pointed.slots_of(owner);
            let known = order.map(|seat| table.seen[seat.index()].slots_of(owner));
            let (stamps, traces) = (chronicle.stamps_of(owner), chronicle.history().traces_of(owner));
            while left != 0 {
                let slot = left.trailing_zeros() as usize % MAX_SLOTS;
                left &= left - 1;
                let place = distance * self.slots + slot;
                tensor[at.occupied + place] = N::ONE;
                tensor[at.pointed + place] = N::from_flag(pointed >> slot & 1 == 1);
                let has_seen = known.map(|slots| slots >> slot & 1);
                let ages = order.map(|seat| 1 + turns.saturating_sub(stamps[slot][seat.index()]));
                let by = tensor[at.seen_by + place * SEATS..].first_chunk_mut().expect("a place for each seat");
                *by = has_seen.map(|has_seen| N::from_flag(has_seen == 1));
                let seen_for = tensor[at.seen_for + place * SEATS..].first_chunk_mut().expect("a place for each seat");
                *seen_for =
                    std::array::from_fn::<_, SEATS, _>(|seat| N::from_count(ages[seat] * has_seen[seat] as u16));
                let (class, is_known) = self.class_here(Spot::new(owner, slot + 1).and_then(|spot| view.face(spot)));
                tensor[at.face + place * self.classes + class] = N::from_flag(is_known);
                seen[class % MAX_KINDS] += u8::from(is_known);
                let trace = &traces[slot];
                tensor[at.origin + 3 * place + trace.origin as usize] = N::ONE;
                tensor[at.age + place] = N::from_count(1 + turns.saturating_sub(trace.turn));
                tensor[at.moves + place] = N::from_count(trace.moves.into());
                tensor[at.hints + 4 * place..][..4].copy_from_slice(&self.hints::<N>(trace));
            }
        }
        if let Some(spot) = table.gap() {
            tensor[at.gap + circle.place(spot.seat()) * self.slots + spot.number() - 1] = N::ONE;
        }
        let unseen = &mut tensor[at.unseen..][..self.classes];
        for ((number, &copies), &seen) in unseen.iter_mut().zip(&self.copies).zip(&seen) {
            *number = N::from_count(copies.saturating_sub(seen.into()));
        }
    }

    /// The bounds of a trace as counts.
    #[inline]
    fn hints<N: TensorNumber>(&self, trace: &Trace) -> [N; 4] {
        trace.bounds.map(|points| {
            let hint = points.wrapping_sub(self.fewest).wrapping_add(1) as u16;
            N::from_count(if points == Trace::NONE { 0 } else { hint })
        })
    }

    fn write_recent<N: TensorNumber>(&self, chronicle: &Chronicle, circle: &Circle, tensor: &mut [N]) {
        let spot_width = self.seats + self.slots;
        let width = Happening::COUNT + self.seats + 2 * spot_width + self.classes;
        let rows = tensor[self.at.recent..][..Chronicle::RECENT * width].chunks_exact_mut(width);
        for (back, row) in rows.enumerate() {
            let Some(happening) = chronicle.recent(back) else { break };
            row[usize::from(happening.code())] = N::ONE;
            let mut offset = Happening::COUNT;
            row[offset + circle.place(happening.seat)] = N::ONE;
            offset += self.seats;
            for spot in happening.spots {
                let (seat, slot) = spot.map_or((0, 0), |spot| (circle.place(spot.seat()), spot.number() - 1));
                let is_there = N::from_flag(spot.is_some());
                row[offset + seat] = is_there;
                row[offset + self.seats + slot] = is_there;
                offset += spot_width;
            }
            let (class, is_there) = self.class_here(happening.card);
            row[offset + class] = N::from_flag(is_there);
        }
    }

    fn write_last<N: TensorNumber>(&self, chronicle: &Chronicle, circle: &Circle, tensor: &mut [N]) {
        let at = &self.at;
        for (place, &seat) in circle.seats[..self.seats].iter().enumerate() {
            let mut card = None;
            for back in 0..Chronicle::LAST {
                let Some(happening) = chronicle.last_of(seat, back) else { break };
                let entry = (place * Chronicle::LAST + back) * Happening::COUNT + usize::from(happening.code());
                tensor[at.last + entry] = N::ONE;
                card = card.or(happening.card);
            }
            let (class, is_there) = self.class_here(card);
            tensor[at.last_card + place * self.classes + class] = N::from_flag(is_there);
        }
    }
}
