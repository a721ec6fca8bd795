//! Observations as numbers, for learning code.

mod write;

use crate::Rules;
use crate::engine::table::Phase;
use crate::rules::card::{Card, MAX_KINDS};
use crate::view::round_history::{PublicEvent, RoundHistory};

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
        count.min(u8::MAX.into()) as u8
    }
}

impl TensorNumber for i16 {
    const ZERO: i16 = 0;
    const ONE: i16 = 1;

    #[inline]
    fn from_count(count: u16) -> i16 {
        count.min(i16::MAX as u16) as i16
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
/// | `hints` | seats, slots, 4 | counts | what owners did over the card, as [`Trace`](crate::Trace) has it: replaced, outlived, passed, spent; a bound of points less the fewest points of a card, plus 1; 0 is no hint |
/// | `recent` | 8, w | flags | the last things that happened at the table, newest first |
/// | `last` | seats, 4, 19 | flags | the last things that each seat did or met, newest first, one-hot by [`PublicEvent::code`] |
/// | `last_card` | seats, classes | flags | the card of the newest of them that showed one, one-hot |
///
/// A row of `recent` has w = 19 + seats + 2 · (seats + slots) + classes flags: what happened ([`PublicEvent::code`]), who, two
/// spots (each whose and which slot), the card that everybody saw. What the row does not name is 0.
///
/// # What a tensor does not tell
/// Labels of cards that differ in nothing else; public events longer ago than `recent` and `last` reach, beyond what the
/// other blocks keep of them; which of the unseen cards lay hidden before a reshuffle
/// ([`Knowledge`](crate::Knowledge) keeps these epochs apart); fractions of totals, and totals below zero; in bytes, what is
/// above 255. So no observation can be made from a tensor.
///
/// # Examples
///
/// An agent writes its observation, here as `f32`. Code that plays the games itself writes bytes straight from a state
/// and a seat, and copies no observation.
/// ```
/// use cambio_core::{RoundHistory, Dice, Rules, Seat, Setup, State, TensorSpace};
/// use cambio_core::rng::{Key, Purpose};
///
/// let rules = Rules::preset("classic").unwrap();
/// let space = TensorSpace::new(&rules, 2);
/// let mut history = RoundHistory::new(&rules, 2);
/// let mut dice = Dice(Key::new(1, 0).stream(Purpose::Race, 0));
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
    /// How many cards of each class are in play.
    copies: [u16; MAX_KINDS],
    /// The fewest points of a card.
    fewest: i16,
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
            let block = Block { name, values, offset, shape };
            offset += block.len();
            block
        });
        let at = Offsets::of(&blocks);
        let fewest = rules.deck().iter().map(|&card| rules.points(card)).min().unwrap_or(0) as i16;
        TensorSpace { rules: *rules, seats, slots, classes, copies, fewest, blocks, at, len: offset }
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
        self.rules.class(card)
    }
}
