//! Observations as numbers, for learning code.

use crate::Rules;
use crate::card::{Card, MAX_KINDS};
use crate::chronicle::{Chronicle, Happening};
use crate::history::{Origin, Trace};
use crate::observation::View;
use crate::score::Score;
use crate::seat::{MAX_SEATS, Seat};
use crate::table::{Phase, Source};

/// A named block of an observation tensor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// The block's name.
    pub name: &'static str,
    /// What its numbers are.
    pub values: BlockValues,
    /// Where it begins.
    pub offset: usize,
    /// Its shape, outermost first; its length is the product.
    pub shape: Vec<usize>,
}

impl Block {
    /// How many numbers the block has.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether the block has no number.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What the numbers of a [`Block`] are. None is scaled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockValues {
    /// Each is 0 or 1.
    Flags,
    /// Each is a count of 0 or more.
    Counts,
}

/// A type for the numbers of a tensor.
///
/// `u8`, `i16` and `f32` are such types. All hold the same numbers, but for counts above 255: there a `u8` holds 255.
pub trait TensorNumber: Copy {
    /// The flag that is down.
    const ZERO: Self;
    /// The flag that is up.
    const ONE: Self;

    /// A count, or the highest number of the type where the count is higher.
    fn from_count(count: u16) -> Self;

    /// A flag.
    #[inline]
    fn from_flag(is_up: bool) -> Self {
        if is_up { Self::ONE } else { Self::ZERO }
    }
}

impl TensorNumber for u8 {
    const ZERO: u8 = 0;
    const ONE: u8 = 1;

    #[inline]
    fn from_count(count: u16) -> u8 {
        u8::try_from(count).unwrap_or(u8::MAX)
    }
}

impl TensorNumber for i16 {
    const ZERO: i16 = 0;
    const ONE: i16 = 1;

    #[inline]
    fn from_count(count: u16) -> i16 {
        i16::try_from(count).unwrap_or(i16::MAX)
    }
}

impl TensorNumber for f32 {
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;

    #[inline]
    fn from_count(count: u16) -> f32 {
        f32::from(count)
    }
}

/// How many blocks a tensor has.
const BLOCKS: usize = 28;

/// The layout of observation tensors: fixed per rules and number of seats.
///
/// A tensor holds a seat's information state: what it sees now and what it remembers of the round. Everything is relative to
/// the seat that observes: seat 0 is itself, seat 1 the one that plays after it. Cards are told apart by their *class*: kinds
/// with the same rank, points and power are one class, for no rule tells them apart. Classes come in the order of
/// [`Rules::kinds`]; [`TensorSpace::class_of`] gives them. The blocks follow each other in the order of this table, without a
/// gap.
///
/// | block | shape | values | meaning |
/// |---|---|---|---|
/// | `phase` | 10 | flags | what is being decided, one-hot by [`Phase::code`] |
/// | `step` | 5 | flags | what the power step offers: look own, look other, not the same again, swap, reveal |
/// | `asked` | 1 | flag | whether the observing seat is asked |
/// | `turn` | seats | flags | whose turn it is, one-hot |
/// | `callers` | seats | flags | who has called |
/// | `safe` | seats | flags | who is safe |
/// | `frozen` | 1 | flag | whether the pile is frozen |
/// | `sizes` | 4 | counts | cards in the stock, cards on the pile, reshuffles, turns begun |
/// | `match` | 1 + seats | counts | rounds that ended; each seat's total when the round began, in whole points, 0 below zero |
/// | `held` | classes | flags | the held card, if this seat knows it, one-hot |
/// | `held_from` | 2 | flags | whether a card is held from the stock, from the pile |
/// | `top` | classes | flags | the pile's top, one-hot |
/// | `opener` | classes | flags | the card that opened the window, one-hot |
/// | `pile` | classes | counts | how many of each class lie on the pile |
/// | `unseen` | classes | counts | how many of each class this seat does not see: in the stock, in layouts, in a hand |
/// | `occupied` | seats, slots | flags | where cards lie |
/// | `gap` | seats, slots | flags | the gap that waits for a gift |
/// | `pointed` | seats, slots | flags | the cards that the power in progress has looked at |
/// | `seen_by` | seats, slots, seats | flags | who has seen the card that lies here |
/// | `face` | seats, slots, classes | flags | the card that lies here, if this seat has seen it, one-hot |
/// | `seen_for` | seats, slots, seats | counts | turns since that seat last saw the card, plus 1; 0 if it has not seen it |
/// | `origin` | seats, slots, 3 | flags | how the card came: dealt, kept, as a penalty |
/// | `age` | seats, slots | counts | turns since the card came, plus 1; 0 where none lies |
/// | `moves` | seats, slots | counts | how often the card went from one seat to another |
/// | `hints` | seats, slots, 4 | counts | what owners did over the card, as [`Trace`] has it: replaced, outlived, passed, spent; a bound of points less the fewest points of a card, plus 1; 0 is no hint |
/// | `recent` | 8, w | flags | the last things that happened at the table, newest first |
/// | `last` | seats, 4, 19 | flags | the last things that each seat did or met, newest first, one-hot by [`Happening::code`] |
/// | `last_card` | seats, classes | flags | the card of the newest of them that showed one, one-hot |
///
/// A row of `recent` has w = 19 + seats + 2 · (seats + slots) + classes flags: what happened ([`Happening::code`]), who, two
/// spots (each whose and which slot), the card that everybody saw. What the row does not name is 0.
///
/// # What a tensor does not tell
/// Labels of cards that differ in nothing else; public happenings longer ago than `recent` and `last` reach, beyond what the
/// other blocks keep of them; which of the unseen cards lay hidden before a reshuffle
/// ([`Knowledge`](crate::Knowledge) keeps these epochs apart); fractions of totals, and totals below zero; in bytes, what is
/// above 255. So no observation can be made from a tensor.
///
/// # Examples
///
/// An agent writes its observation, here as `f32`. Code that plays the games itself writes bytes straight from a state
/// and a seat, and copies no observation.
/// ```
/// use cambio_core::{Chronicle, Dice, Rules, Seat, Setup, State, TensorSpace};
/// use cambio_core::rng::{Key, Purpose};
///
/// let rules = Rules::preset("classic").unwrap();
/// let space = TensorSpace::new(&rules, 2);
/// let mut chronicle = Chronicle::new(&rules, 2);
/// let mut dice = Dice(Key::new(1, 0).stream(Purpose::Race, 0));
/// let state = State::deal(&Setup::new(&rules, 2), rules.deck(), &mut dice, &mut chronicle).unwrap();
///
/// let mut floats = vec![0.0_f32; space.len()];
/// space.write(&state.observe(Seat::B), &chronicle, &mut floats);
/// let mut bytes = vec![0_u8; space.len()];
/// space.write(&state.view(Seat::B), &chronicle, &mut bytes);
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
    /// The class of each kind.
    class: [u8; MAX_KINDS],
    /// The kinds, class by class, and where each class ends among them.
    kinds: [u8; MAX_KINDS],
    ends: [u8; MAX_KINDS],
    /// How many cards of each class are in play.
    copies: [u16; MAX_KINDS],
    /// The fewest points of a card.
    fewest: i32,
    blocks: [Block; BLOCKS],
    /// Where each block begins.
    at: Offsets,
    len: usize,
}

/// Where the blocks begin, by names, so that none is looked up.
macro_rules! offsets {
    ($($name:ident),+ $(,)?) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        struct Offsets {
            $($name: usize,)+
        }

        impl Offsets {
            fn of(blocks: &[Block; BLOCKS]) -> Offsets {
                let [$($name),+] = blocks.each_ref().map(|block| block.offset);
                Offsets { $($name),+ }
            }
        }
    };
}

// In the order of the blocks.
offsets! {
    phase, step, asked, turn, callers, safe, frozen, sizes, standing, held, held_from, top, opener, pile, unseen,
    occupied, gap, pointed, seen_by, face, seen_for, origin, age, moves, hints, recent, last, last_card,
}

impl TensorSpace {
    /// The layout for a table of `seats` seats under these rules.
    pub fn new(rules: &Rules, seats: usize) -> TensorSpace {
        use BlockValues::{Counts, Flags};
        let slots = rules.slots();
        let (class, classes) = classes(rules);
        let mut copies = [0; MAX_KINDS];
        for card in rules.deck() {
            copies[usize::from(class[card.kind()])] += 1;
        }
        let (mut kinds, mut ends, mut end) = ([0; MAX_KINDS], [0; MAX_KINDS], 0);
        for (wanted, stop) in ends.iter_mut().enumerate().take(classes) {
            for (kind, _) in
                class.iter().enumerate().take(rules.kinds().len()).filter(|&(_, &of)| usize::from(of) == wanted)
            {
                kinds[end] = kind as u8;
                end += 1;
            }
            *stop = end as u8;
        }
        let mut offset = 0;
        let row = Happening::COUNT + seats + 2 * (seats + slots) + classes;
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
            ("recent", Flags, vec![Chronicle::RECENT, row]),
            ("last", Flags, vec![seats, Chronicle::LAST, Happening::COUNT]),
            ("last_card", Flags, vec![seats, classes]),
        ]
        .map(|(name, values, shape)| {
            let block = Block { name, values, offset, shape };
            offset += block.len();
            block
        });
        let at = Offsets::of(&blocks);
        let fewest = rules.deck().iter().map(|&card| rules.points(card)).min().unwrap_or(0);
        TensorSpace {
            rules: *rules,
            seats,
            slots,
            classes,
            class,
            kinds,
            ends,
            copies,
            fewest,
            blocks,
            at,
            len: offset,
        }
    }

    /// How many numbers a tensor has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether a tensor has no number, which is never so.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The blocks in order; they follow each other without a gap.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The block with this name.
    pub fn block(&self, name: &str) -> Option<&Block> {
        self.blocks.iter().find(|block| block.name == name)
    }

    /// How many classes of cards there are.
    ///
    /// ```
    /// use cambio_core::{Rules, TensorSpace};
    ///
    /// let rules = Rules::preset("classic").unwrap();
    /// let space = TensorSpace::new(&rules, 2);
    /// let class = |label| space.class_of(rules.card(label).unwrap());
    /// assert_eq!(class("7h"), class("7s"));
    /// // A black king and a red one differ in points.
    /// assert_ne!(class("Kh"), class("Ks"));
    /// assert!(space.classes() < rules.kinds().len());
    /// ```
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The class of a card, below [`TensorSpace::classes`].
    #[inline]
    pub fn class_of(&self, card: Card) -> usize {
        usize::from(self.class[card.kind()])
    }

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
        let me = view.seat();
        // Each seat as the observing one counts them.
        let mut relative = [0; MAX_SEATS];
        for seat in me.round(self.seats) {
            relative[seat.index()] = seat.distance_from(me, self.seats);
        }
        self.write_table(view, &relative, tensor);
        self.write_match(chronicle, &relative, tensor);
        self.write_spots(view, chronicle, &relative, tensor);
        self.write_past(chronicle, &relative, tensor);
    }

    fn write_table<N: TensorNumber>(&self, view: &impl View, relative: &[usize; MAX_SEATS], tensor: &mut [N]) {
        let (table, at) = (view.table(), &self.at);
        tensor[at.phase + usize::from(table.phase().code())] = N::ONE;
        if let Some(due) = table.step() {
            let offers =
                [due.looks_at_own(), due.looks_at_others(), due.looks_at_another(), due.swaps(), due.reveals()];
            tensor[at.step..][..5].copy_from_slice(&offers.map(N::from_flag));
        }
        tensor[at.asked] = N::from_flag(table.asked() == Some(view.seat()));
        tensor[at.turn + relative[table.turn().index()]] = N::ONE;
        for seat in table.callers().each() {
            tensor[at.callers + relative[seat.index()]] = N::ONE;
        }
        for seat in table.safe().each() {
            tensor[at.safe + relative[seat.index()]] = N::ONE;
        }
        tensor[at.frozen] = N::from_flag(table.is_frozen());
        let sizes = [table.stock_len, table.pile_len, table.reshuffles, table.turns].map(N::from_count);
        tensor[at.sizes..][..4].copy_from_slice(&sizes);
        for (offset, card) in [(at.held, view.held()), (at.top, table.top()), (at.opener, table.opener())] {
            if let Some(card) = card {
                tensor[offset + self.class_of(card)] = N::ONE;
            }
        }
        match table.phase() {
            Phase::Held(Source::Stock) => tensor[at.held_from] = N::ONE,
            Phase::Held(Source::Pile(_)) => tensor[at.held_from + 1] = N::ONE,
            _ => {}
        }
    }

    fn write_match<N: TensorNumber>(&self, chronicle: &Chronicle, relative: &[usize; MAX_SEATS], tensor: &mut [N]) {
        let standing = &mut tensor[self.at.standing..][..=self.seats];
        standing[0] = N::from_count(chronicle.rounds());
        for (seat, &place) in Seat::ALL.into_iter().zip(&relative[..self.seats]) {
            let points = chronicle.total(seat).units().max(0) / Score::UNITS;
            standing[1 + place] = N::from_count(u16::try_from(points).unwrap_or(u16::MAX));
        }
    }

    /// Everything about the spots, and the counts of cards.
    fn write_spots<N: TensorNumber>(
        &self,
        view: &impl View,
        chronicle: &Chronicle,
        relative: &[usize; MAX_SEATS],
        tensor: &mut [N],
    ) {
        let (table, at, seats) = (view.table(), &self.at, self.seats);
        // How many cards of each class the seat sees in layouts and in its hand.
        let mut seen = [0_u8; MAX_KINDS];
        if let Some(card) = view.held() {
            seen[self.class_of(card)] += 1;
        }
        let turns = chronicle.turns();
        for (owner, &distance) in Seat::ALL.into_iter().zip(&relative[..seats]) {
            let first = distance * self.slots;
            for spot in table.occupied.iter_of(owner) {
                let place = first + spot.number() - 1;
                tensor[at.occupied + place] = N::ONE;
                tensor[at.pointed + place] = N::from_flag(table.pointed.contains(spot));
                let by = &mut tensor[at.seen_by + place * seats..][..seats];
                for (seat, &entry) in Seat::ALL.into_iter().zip(&relative[..seats]) {
                    by[entry] = N::from_flag(table.seen[seat.index()].contains(spot));
                }
                let ages = &mut tensor[at.seen_for + place * seats..][..seats];
                for (seat, &entry) in Seat::ALL.into_iter().zip(&relative[..seats]) {
                    if table.seen[seat.index()].contains(spot) {
                        ages[entry] = N::from_count(1 + turns.saturating_sub(chronicle.stamp(spot, seat)));
                    }
                }
                if let Some(card) = view.face(spot) {
                    let class = self.class_of(card);
                    tensor[at.face + place * self.classes + class] = N::ONE;
                    seen[class] += 1;
                }
                let trace = chronicle.history().trace(spot);
                let origin = match trace.origin {
                    Origin::Dealt => 0,
                    Origin::Kept => 1,
                    Origin::Penalty => 2,
                };
                tensor[at.origin + 3 * place + origin] = N::ONE;
                tensor[at.age + place] = N::from_count(1 + turns.saturating_sub(trace.turn));
                tensor[at.moves + place] = N::from_count(trace.moves.into());
                tensor[at.hints + 4 * place..][..4].copy_from_slice(&self.hints(trace).map(N::from_count));
            }
        }
        if let Some(spot) = table.gap() {
            tensor[at.gap + relative[spot.seat().index()] * self.slots + spot.number() - 1] = N::ONE;
        }
        let (pile, rest) = tensor[at.pile..].split_at_mut(self.classes);
        let unseen = &mut rest[..self.classes];
        let mut start = 0;
        for (class, (pile, unseen)) in pile.iter_mut().zip(unseen).enumerate() {
            let end = usize::from(self.ends[class]);
            let count: u16 = self.kinds[start..end].iter().map(|&kind| u16::from(table.pile[usize::from(kind)])).sum();
            start = end;
            *pile = N::from_count(count);
            *unseen = N::from_count(self.copies[class].saturating_sub(count + u16::from(seen[class])));
        }
    }

    /// The bounds of a trace as counts.
    #[inline]
    fn hints(&self, trace: &Trace) -> [u16; 4] {
        [trace.replaced, trace.outlived, trace.passed, trace.spent]
            .map(|bound| bound.map_or(0, |points| (i32::from(points) - self.fewest + 1) as u16))
    }

    fn write_past<N: TensorNumber>(&self, chronicle: &Chronicle, relative: &[usize; MAX_SEATS], tensor: &mut [N]) {
        let at = &self.at;
        let spot_width = self.seats + self.slots;
        let row = Happening::COUNT + self.seats + 2 * spot_width + self.classes;
        for back in 0..Chronicle::RECENT {
            let Some(happening) = chronicle.recent(back) else { break };
            let flags = &mut tensor[at.recent + back * row..][..row];
            flags[usize::from(happening.code())] = N::ONE;
            let mut offset = Happening::COUNT;
            flags[offset + relative[happening.seat.index()]] = N::ONE;
            offset += self.seats;
            for spot in happening.spots {
                if let Some(spot) = spot {
                    flags[offset + relative[spot.seat().index()]] = N::ONE;
                    flags[offset + self.seats + spot.number() - 1] = N::ONE;
                }
                offset += spot_width;
            }
            if let Some(card) = happening.card {
                flags[offset + self.class_of(card)] = N::ONE;
            }
        }
        for seat in Seat::ALL.into_iter().take(self.seats) {
            let (place, mut card) = (relative[seat.index()], None);
            for back in 0..Chronicle::LAST {
                let Some(happening) = chronicle.last_of(seat, back) else { break };
                let entry = (place * Chronicle::LAST + back) * Happening::COUNT + usize::from(happening.code());
                tensor[at.last + entry] = N::ONE;
                card = card.or(happening.card);
            }
            if let Some(card) = card {
                tensor[at.last_card + place * self.classes + self.class_of(card)] = N::ONE;
            }
        }
    }
}

/// The class of each kind, and how many there are.
fn classes(rules: &Rules) -> ([u8; MAX_KINDS], usize) {
    let (mut class, mut first) = ([0; MAX_KINDS], Vec::<Card>::new());
    for (kind, class) in class.iter_mut().enumerate().take(rules.kinds().len()) {
        let card = Card::new(kind).expect("a kind has a card");
        let same = |&one: &Card| {
            rules.same_rank(one, card)
                && rules.points(one) == rules.points(card)
                && rules.power(one) == rules.power(card)
        };
        let found = first.iter().position(same).unwrap_or_else(|| {
            first.push(card);
            first.len() - 1
        });
        *class = found as u8;
    }
    (class, first.len())
}
