//! Observations as tensors, for learning code.

use crate::Rules;
use crate::engine::observation::View;
use crate::engine::table::{CardSource, Phase};
use crate::rules::card::{Card, MAX_KINDS};
use crate::rules::score::Score;
use crate::rules::seat::{MAX_SEATS, MAX_SLOTS, SPOTS, Seat, SeatSet, SpotSet};
use crate::view::card_history::{CardTrace, NEVER};
use crate::view::round_history::{PublicEvent, RoundHistory};

/// A named block of an observation tensor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TensorBlock {
    /// The block's name.
    pub name: &'static str,
    /// The type of the values in the block.
    pub values: TensorBlockValues,
    /// The index of the block's first value in the tensor.
    pub offset: usize,
    /// The shape of the block, outermost dimension first.
    pub shape: Vec<usize>,
}

impl TensorBlock {
    /// The number of values: the product of the shape.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether the block has no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The type of the values of a [`TensorBlock`]. Values are not scaled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TensorBlockValues {
    /// Each value is 0 or 1.
    Flags,
    /// Each value is a count, 0 or more.
    Counts,
}

/// An element type of tensors: `u8`, `i16` or `f32`.
///
/// A tensor has the same numbers in each type, except that a `u8` saturates at 255.
pub trait TensorNumber: Copy {
    /// The value of a flag that is not set.
    const ZERO: Self;
    /// The value of a flag that is set.
    const ONE: Self;

    /// Converts a count; saturates at the largest number of the type.
    fn from_count(count: u16) -> Self;

    /// Converts a flag.
    #[inline]
    fn from_flag(is_set: bool) -> Self {
        if is_set { Self::ONE } else { Self::ZERO }
    }
}

macro_rules! tensor_numbers {
    ($($type:ident: $zero:literal, $one:literal, |$count:ident| $converted:expr;)+) => {$(
        impl TensorNumber for $type {
            const ZERO: $type = $zero;
            const ONE: $type = $one;

            #[inline]
            fn from_count($count: u16) -> $type {
                $converted
            }
        }
    )+};
}

tensor_numbers! {
    u8: 0, 1, |count| count.min(u8::MAX.into()) as u8;
    i16: 0, 1, |count| count.min(i16::MAX as u16) as i16;
    f32: 0.0, 1.0, |count| f32::from(count);
}

/// The number of blocks of a tensor.
const BLOCKS: usize = 28;

/// The layout of observation tensors: fixed per rules and number of seats.
///
/// A tensor holds the information state of a seat: its current observation and a summary of the round so far. Seats are
/// relative to the observing seat: seat 0 is the observing seat, seat 1 plays after it. Cards are encoded by *class*:
/// kinds with the same rank, points and power share a class, because no rule distinguishes them. Classes are in the
/// order of [`Rules::kinds`]; [`Rules::class`] returns the class of a card. Blocks are in the order of this
/// table, without gaps.
///
/// | block | shape | values | meaning |
/// |---|---|---|---|
/// | `phase` | 10 | flags | the phase, one-hot by [`Phase::code`] |
/// | `step` | 5 | flags | the actions of the current power step: look own, look other, look another, swap, reveal |
/// | `asked` | 1 | flag | whether the observing seat is the seat to act |
/// | `turn` | seats | flags | the seat whose turn it is, one-hot |
/// | `callers` | seats | flags | the seats that have called |
/// | `safe` | seats | flags | the seats that are safe |
/// | `frozen` | 1 | flag | whether the pile is frozen |
/// | `sizes` | 4 | counts | cards in the stock, cards on the pile, reshuffles, turns begun |
/// | `match` | 1 + seats | counts | finished rounds; each seat's total when the round began, in whole points, 0 if negative |
/// | `held` | classes | flags | the held card, if this seat knows it, one-hot |
/// | `held_from` | 2 | flags | whether a card from the stock is held; whether a card from the pile is held |
/// | `top` | classes | flags | the top card of the pile, one-hot |
/// | `opener` | classes | flags | the card that opened the window, one-hot |
/// | `pile` | classes | counts | the number of cards of each class on the pile |
/// | `unseen` | classes | counts | the number of cards of each class that this seat has not seen: in the stock, in layouts, held by another seat |
/// | `occupied` | seats, slots | flags | the spots that hold a card |
/// | `gap` | seats, slots | flags | the gap that waits for a gift |
/// | `pointed` | seats, slots | flags | the cards that the current power has looked at |
/// | `seen_by` | seats, slots, seats | flags | the seats that have seen the card in this spot |
/// | `face` | seats, slots, classes | flags | the card in this spot, if this seat has seen it, one-hot |
/// | `seen_for` | seats, slots, seats | counts | turns since the seat last saw the card, plus 1; 0 if the seat has not seen it |
/// | `origin` | seats, slots, 3 | flags | the origin of the card: dealt, kept, penalty |
/// | `age` | seats, slots | counts | turns since the card entered a layout, plus 1; 0 if the spot is empty |
/// | `moves` | seats, slots | counts | how often the card moved from one seat to another |
/// | `hints` | seats, slots, 4 | counts | the bounds of [`CardTrace`](crate::view::CardTrace): replaced, outlived, passed, spent; each is the bound minus the lowest points of any card, plus 1; 0 means no bound |
/// | `recent` | 8, w | flags | the last public events, newest first |
/// | `last` | seats, 4, 19 | flags | the last public events of each seat, newest first, one-hot in the order of [`RoundHistory::event_names`] |
/// | `last_card` | seats, classes | flags | the card of the newest event in `last` that showed a card, one-hot |
///
/// A row of `recent` has w = 19 + seats + 2 · (seats + slots) + classes flags: the event (in the order of [`RoundHistory::event_names`]), its seat, its
/// two spots (each as seat and slot), and the public card, each one-hot. A part that the event does not have is 0.
///
/// # Information that a tensor omits
/// An observation cannot be restored from a tensor, because a tensor omits: the labels of cards within a class; public
/// events that are older than `recent` and `last`, except for their effect on other blocks; which of the unseen cards
/// were hidden before a reshuffle ([`Knowledge`](crate::Knowledge) stores these epochs separately); fractions of totals
/// and negative totals; in bytes, counts above 255.
///
/// # Examples
///
/// An agent writes its observation, here as `f32`. Code that runs the games itself can write a tensor directly from a
/// state and a seat, here as bytes, without copying an observation.
/// ```
/// use cambio_core::{Rules, Seat, State, encode::TensorSpace, engine::{Dice, Setup}, view::RoundHistory};
/// use cambio_core::rng::{Key, Purpose};
///
/// let rules = Rules::preset("classic").unwrap();
/// let space = TensorSpace::new(&rules, 2);
/// let mut history = RoundHistory::new(&rules, 2);
/// let mut dice = Dice(Key::new(1, 0).stream(Purpose::Race, 0));
/// // The sorted deck, for a fixed example; a real game shuffles it.
/// let state = State::deal(&Setup::new(&rules, 2), rules.deck(), &mut dice, &mut history).unwrap();
///
/// let mut floats = vec![0.0_f32; space.len()];
/// space.write(&state.observe(Seat::B), &history, &mut floats);
/// let mut bytes = vec![0_u8; space.len()];
/// space.write(&state.view(Seat::B), &history, &mut bytes);
///
/// let occupied = space.block("occupied").unwrap();
/// assert_eq!(bytes[occupied.offset..][..occupied.len()].iter().sum::<u8>(), 8);
/// assert!(bytes.iter().map(|&byte| f32::from(byte)).eq(floats));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TensorSpace {
    rules: Rules,
    seats: usize,
    slots: usize,
    classes: usize,
    /// The number of cards of each class in play.
    copies: [u16; MAX_KINDS],
    /// The lowest points of any card in play.
    fewest: i16,
    blocks: [TensorBlock; BLOCKS],
    /// The offset of each block.
    at: Offsets,
    len: usize,
}

/// The offsets of the blocks as named fields, so that no block is looked up by its name.
macro_rules! offsets {
    ($($name:ident),+ $(,)?) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        struct Offsets {
            $($name: usize,)+
        }

        impl Offsets {
            fn of(blocks: &[TensorBlock; BLOCKS]) -> Offsets {
                let [$($name),+] = blocks.each_ref().map(|block| block.offset);
                Offsets { $($name),+ }
            }
        }
    };
}

// The fields must be in the order of the blocks.
offsets! {
    phase, step, asked, turn, callers, safe, frozen, sizes, standing, held, held_from, top, opener, pile, unseen,
    occupied, gap, pointed, seen_by, face, seen_for, origin, age, moves, hints, recent, last, last_card,
}

impl TensorSpace {
    /// The tensor layout for a table of `seats` seats under these rules.
    pub fn new(rules: &Rules, seats: usize) -> TensorSpace {
        use TensorBlockValues::{Counts, Flags};
        let slots = rules.slots();
        let classes = rules.classes();
        let mut copies = [0; MAX_KINDS];
        for &card in rules.deck() {
            copies[rules.class(card)] += 1;
        }
        let mut offset = 0;
        let row = PublicEvent::COUNT + seats + 2 * (seats + slots) + classes;
        let blocks = [
            ("phase", Flags, vec![Phase::COUNT]),
            ("step", Flags, vec![5]),
            ("asked", Flags, vec![1]),
            ("turn", Flags, vec![seats]),
            ("callers", Flags, vec![seats]),
            ("safe", Flags, vec![seats]),
            ("frozen", Flags, vec![1]),
            ("sizes", Counts, vec![4]),
            ("match", Counts, vec![1 + seats]),
            ("held", Flags, vec![classes]),
            ("held_from", Flags, vec![2]),
            ("top", Flags, vec![classes]),
            ("opener", Flags, vec![classes]),
            ("pile", Counts, vec![classes]),
            ("unseen", Counts, vec![classes]),
            ("occupied", Flags, vec![seats, slots]),
            ("gap", Flags, vec![seats, slots]),
            ("pointed", Flags, vec![seats, slots]),
            ("seen_by", Flags, vec![seats, slots, seats]),
            ("face", Flags, vec![seats, slots, classes]),
            ("seen_for", Counts, vec![seats, slots, seats]),
            ("origin", Flags, vec![seats, slots, 3]),
            ("age", Counts, vec![seats, slots]),
            ("moves", Counts, vec![seats, slots]),
            ("hints", Counts, vec![seats, slots, 4]),
            ("recent", Flags, vec![RoundHistory::RECENT, row]),
            ("last", Flags, vec![seats, RoundHistory::LAST, PublicEvent::COUNT]),
            ("last_card", Flags, vec![seats, classes]),
        ]
        .map(|(name, values, shape)| {
            let block = TensorBlock { name, values, offset, shape };
            offset += block.len();
            block
        });
        let at = Offsets::of(&blocks);
        let fewest = rules.deck().iter().map(|&card| rules.points(card)).min().unwrap_or(0) as i16;
        TensorSpace { rules: *rules, seats, slots, classes, copies, fewest, blocks, at, len: offset }
    }

    /// The number of values in a tensor.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether a tensor has no values; always false.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The blocks in order, without gaps.
    pub fn blocks(&self) -> &[TensorBlock] {
        &self.blocks
    }

    /// The block with this name.
    pub fn block(&self, name: &str) -> Option<&TensorBlock> {
        self.blocks.iter().find(|block| block.name == name)
    }

    /// The number of classes of cards.
    ///
    /// ```
    /// use cambio_core::{Rules, encode::TensorSpace};
    ///
    /// let rules = Rules::preset("classic").unwrap();
    /// let space = TensorSpace::new(&rules, 2);
    /// let class = |label| rules.class(rules.card(label).unwrap());
    /// assert_eq!(class("7h"), class("7s"));
    /// // A black king and a red one differ in points.
    /// assert_ne!(class("Kh"), class("Ks"));
    /// assert!(space.classes() < rules.kinds().len());
    /// ```
    pub fn classes(&self) -> usize {
        self.classes
    }
}

// Writing of tensors. This is a hot path of learning, so the loops have no branch that depends on the cards: for an
// absent card, the code writes 0 to an entry that is already 0.

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
    /// Writes the class of a card, one-hot; zeros for `None`.
    #[inline]
    fn write_card<N: TensorNumber>(&self, card: Option<Card>, at: usize, tensor: &mut [N]) {
        tensor[at + self.rules.class_here(card)] = N::from_flag(card.is_some());
    }

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
            2 => TensorWriter::<_, _, 2>::new(self, view, history, tensor).write(),
            3 => TensorWriter::<_, _, 3>::new(self, view, history, tensor).write(),
            4 => TensorWriter::<_, _, 4>::new(self, view, history, tensor).write(),
            5 => TensorWriter::<_, _, 5>::new(self, view, history, tensor).write(),
            6 => TensorWriter::<_, _, 6>::new(self, view, history, tensor).write(),
            7 => TensorWriter::<_, _, 7>::new(self, view, history, tensor).write(),
            _ => TensorWriter::<_, _, MAX_SEATS>::new(self, view, history, tensor).write(),
        }
    }
}

/// Writes one tensor for a table of `SEATS` seats.
struct TensorWriter<'a, N, V, const SEATS: usize> {
    space: &'a TensorSpace,
    view: &'a V,
    history: &'a RoundHistory,
    circle: RelativeSeats<SEATS>,
    tensor: &'a mut [N],
}

impl<'a, N: TensorNumber, V: View, const SEATS: usize> TensorWriter<'a, N, V, SEATS> {
    #[inline]
    fn new(space: &'a TensorSpace, view: &'a V, history: &'a RoundHistory, tensor: &'a mut [N]) -> Self {
        TensorWriter { space, view, history, circle: RelativeSeats::new(view.seat()), tensor }
    }

    fn write(&mut self) {
        self.tensor.fill(N::ZERO);
        self.write_table();
        self.write_match();
        self.write_spots();
        self.write_recent();
        self.write_last();
    }

    #[inline]
    fn write_table(&mut self) {
        let (table, at, view) = (self.view.table(), &self.space.at, self.view);
        self.tensor[at.phase + usize::from(table.phase().code())] = N::ONE;
        if let Some(due) = table.step() {
            let offers =
                [due.looks_at_own(), due.looks_at_others(), due.looks_at_another(), due.swaps(), due.reveals()];
            let step: &mut [N; 5] = chunk(self.tensor, at.step);
            for (number, offer) in step.iter_mut().zip(offers) {
                *number = N::from_flag(offer);
            }
        }
        self.tensor[at.asked] = N::from_flag(table.asked() == Some(view.seat()));
        self.tensor[at.turn + self.circle.place(table.turn())] = N::ONE;
        self.circle.write_flags(table.callers(), chunk(self.tensor, at.callers));
        self.circle.write_flags(table.safe(), chunk(self.tensor, at.safe));
        self.tensor[at.frozen] = N::from_flag(table.is_frozen());
        let [stock, pile, reshuffles, turns] = chunk(self.tensor, at.sizes);
        *stock = N::from_count(table.stock_len);
        *pile = N::from_count(table.pile_len);
        *reshuffles = N::from_count(table.reshuffles);
        *turns = N::from_count(table.turns);
        self.space.write_card(view.held(), at.held, self.tensor);
        self.space.write_card(table.top(), at.top, self.tensor);
        self.space.write_card(table.opener(), at.opener, self.tensor);
        match table.phase() {
            Phase::Held(CardSource::Stock) => self.tensor[at.held_from] = N::ONE,
            Phase::Held(CardSource::Pile(_)) => self.tensor[at.held_from + 1] = N::ONE,
            _ => {}
        }
    }

    #[inline]
    fn write_match(&mut self) {
        let at = self.space.at.standing;
        self.tensor[at] = N::from_count(self.history.rounds());
        let totals: &mut [N; SEATS] = chunk(self.tensor, at + 1);
        for (total, &seat) in totals.iter_mut().zip(&self.circle.seats) {
            let points = (self.history.total(seat).units().max(0) / Score::UNITS) as u32;
            *total = N::from_count(points.min(u16::MAX.into()) as u16);
        }
    }

    /// Writes the blocks about spots, and the counts of cards.
    #[inline]
    fn write_spots(&mut self) {
        let (space, view, history, table) = (self.space, self.view, self.history, self.view.table());
        let (at, seats, traces) = (&space.at, self.circle.seats, history.cards().traces());
        let now = history.turns().saturating_add(1);
        let age = |turn: u16| N::from_count(now.saturating_sub(turn));
        // Each row is written with `MAX_SLOTS` entries, so zeros are written beyond the slots of the rules. They are
        // overwritten or fall on entries that are still 0, because the blocks are written in the order of the tensor.
        self.write_spot_flags(table.occupied, at.occupied);
        self.write_spot_flags(table.pointed.intersection(table.occupied), at.pointed);
        if let Some(spot) = table.gap() {
            self.tensor[at.gap + self.circle.place(spot.seat()) * space.slots + spot.number() - 1] = N::ONE;
        }
        self.write_stamps(|turn| N::from_flag(turn != NEVER), at.seen_by);
        // The number of cards of each class that the seat knows: on the pile, in layouts and in its hand.
        let mut seen = *history.pile();
        let held = view.held();
        seen[space.rules.class_here(held)] += u8::from(held.is_some());
        for (distance, &owner) in seats.iter().enumerate() {
            let first = at.face + distance * space.slots * space.classes;
            for (spot, card) in view.known_cards_of(owner, table.occupied) {
                let class = space.rules.class(card);
                self.tensor[first + (spot.number() - 1) * space.classes + class] = N::ONE;
                seen[class] += 1;
            }
        }
        self.write_stamps(age, at.seen_for);
        self.write_rows(&traces.origins, |bit| N::from_count(bit.into()), at.origin);
        self.write_rows(&traces.turns, age, at.age);
        self.write_rows(&traces.moves, |moves| N::from_count(moves.into()), at.moves);
        let hint = |points: i16| {
            let hint = points.wrapping_sub(space.fewest).wrapping_add(1) as u16;
            N::from_count(if points == CardTrace::NONE { 0 } else { hint })
        };
        self.write_rows(&traces.bounds, hint, at.hints);
        let (pile, unseen) = self.tensor[at.pile..][..2 * space.classes].split_at_mut(space.classes);
        let counts = space.copies.iter().zip(history.pile()).zip(&seen);
        for ((pile, unseen), ((&copies, &on_pile), &seen)) in pile.iter_mut().zip(unseen).zip(counts) {
            *pile = N::from_count(on_pile.into());
            *unseen = N::from_count(copies.saturating_sub(seen.into()));
        }
    }

    /// Writes a block with one flag per spot, row by row.
    #[inline]
    fn write_spot_flags(&mut self, spots: SpotSet, block: usize) {
        for (distance, &owner) in self.circle.seats.iter().enumerate() {
            let [low, high, ..] = spots.slots_of(owner).to_le_bytes();
            let flags = [spread(low), spread(high)];
            let row: &mut [N; MAX_SLOTS] = chunk(self.tensor, block + distance * self.space.slots);
            for (number, &flag) in row.iter_mut().zip(flags.as_flattened()) {
                *number = N::from_count(flag.into());
            }
        }
    }

    /// Writes a block row by row. `number` converts the turn in which a seat last saw a card to a number of the tensor.
    #[inline]
    fn write_stamps(&mut self, number: impl Fn(u16) -> N, block: usize) {
        for (distance, &owner) in self.circle.seats.iter().enumerate() {
            let saw = self.circle.seats.map(|seat| self.history.stamps_of(owner, seat));
            let (numbers, _) = self.tensor[block + distance * self.space.slots * SEATS..].as_chunks_mut::<SEATS>();
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
    fn write_rows<T: Copy, const WIDTH: usize>(
        &mut self,
        items: &[[T; WIDTH]; SPOTS],
        number: impl Fn(T) -> N,
        block: usize,
    ) {
        for (distance, &owner) in self.circle.seats.iter().enumerate() {
            let rows: &[[[T; WIDTH]; MAX_SLOTS]] = items.as_chunks().0;
            let numbers = &mut self.tensor[block + distance * self.space.slots * WIDTH..][..MAX_SLOTS * WIDTH];
            for (to, &from) in numbers.iter_mut().zip(rows[owner.index()].as_flattened()) {
                *to = number(from);
            }
        }
    }

    #[inline]
    fn write_recent(&mut self) {
        let (space, circle) = (self.space, &self.circle);
        let spot_width = SEATS + space.slots;
        let width = PublicEvent::COUNT + SEATS + 2 * spot_width + space.classes;
        let rows = self.tensor[space.at.recent..][..RoundHistory::RECENT * width].chunks_exact_mut(width);
        for (back, row) in rows.enumerate() {
            let Some(event) = self.history.recent(back) else { break };
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
            space.write_card(event.card, offset, row);
        }
    }

    #[inline]
    fn write_last(&mut self) {
        let at = &self.space.at;
        for (place, &seat) in self.circle.seats.iter().enumerate() {
            let mut card: Option<Card> = None;
            for back in 0..RoundHistory::LAST {
                let Some(event) = self.history.last_of(seat, back) else { break };
                let entry = (place * RoundHistory::LAST + back) * PublicEvent::COUNT + usize::from(event.code());
                self.tensor[at.last + entry] = N::ONE;
                card = card.or(event.card);
            }
            self.space.write_card(card, at.last_card + place * self.space.classes, self.tensor);
        }
    }
}
