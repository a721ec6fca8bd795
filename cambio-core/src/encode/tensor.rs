//! Observations as tensors, for learning code.

mod write;

use crate::Rules;
use crate::engine::table::Phase;
use crate::rules::card::{Card, MAX_KINDS};
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
/// order of [`Rules::kinds`]; [`TensorSpace::class_of`] returns the class of a card. Blocks are in the order of this
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
/// | `last` | seats, 4, 19 | flags | the last public events of each seat, newest first, one-hot by [`PublicEvent::code`] |
/// | `last_card` | seats, classes | flags | the card of the newest event in `last` that showed a card, one-hot |
///
/// A row of `recent` has w = 19 + seats + 2 · (seats + slots) + classes flags: the event ([`PublicEvent::code`]), its seat, its
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
        self.rules.class(card)
    }
}
