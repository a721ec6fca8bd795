//! Observations as numbers, for learning code.

use crate::Rules;
use crate::observation::View;
use crate::seat::{Seat, Spot};
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
const BLOCKS: usize = 17;

/// The layout of observation tensors: fixed per rules and number of seats.
///
/// Everything is relative to the seat that observes: seat 0 is itself, seat 1 the one that plays after it. Kinds are in
/// the order of [`Rules::kinds`]. The blocks follow each other in the order of this table, without a gap.
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
/// | `held` | kinds | flags | the held card, if this seat knows it, one-hot |
/// | `held_from` | 2 | flags | whether a card is held from the stock, from the pile |
/// | `top` | kinds | flags | the pile's top, one-hot |
/// | `opener` | kinds | flags | the card that opened the window, one-hot |
/// | `pile` | kinds | counts | how many of each kind lie on the pile |
/// | `occupied` | seats, slots | flags | where cards lie |
/// | `gap` | seats, slots | flags | the gap that waits for a gift |
/// | `seen_by` | seats, slots, seats | flags | who has seen the card that lies here |
/// | `face` | seats, slots, kinds | flags | the card that lies here, if this seat has seen it, one-hot |
///
/// # Examples
///
/// An agent writes its observation, here as `f32`. Code that plays the games itself writes bytes straight from a state
/// and a seat, and copies no observation.
/// ```
/// use cambio_core::{Dice, Rules, Seat, Setup, State, TensorSpace};
/// use cambio_core::rng::{Key, Purpose};
///
/// let rules = Rules::preset("classic").unwrap();
/// let space = TensorSpace::new(&rules, 2);
/// let mut dice = Dice(Key::new(1, 0).stream(Purpose::Race, 0));
/// let state = State::deal(&Setup::new(&rules, 2), rules.deck(), &mut dice, &mut ()).unwrap();
///
/// let mut floats = vec![0.0_f32; space.len()];
/// space.write(&state.observe(Seat::B), &mut floats);
/// let mut bytes = vec![0_u8; space.len()];
/// space.write(&state.view(Seat::B), &mut bytes);
///
/// let occupied = space.block("occupied").unwrap();
/// assert_eq!(bytes[occupied.offset..][..occupied.len()].iter().sum::<u8>(), 8);
/// assert!(bytes.iter().map(|&byte| f32::from(byte)).eq(floats));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TensorSpace {
    seats: usize,
    slots: usize,
    kinds: usize,
    blocks: [Block; BLOCKS],
    /// The length of each block.
    lens: [usize; BLOCKS],
}

impl TensorSpace {
    /// The layout for a table of `seats` seats under these rules.
    pub fn new(rules: &Rules, seats: usize) -> TensorSpace {
        use BlockValues::{Counts, Flags};
        let (slots, kinds) = (rules.slots(), rules.kinds().len());
        let mut offset = 0;
        // In the order in which `write` takes them apart.
        let blocks = [
            ("phase", Flags, vec![Phase::COUNT]),
            ("step", Flags, vec![5]),
            ("asked", Flags, vec![1]),
            ("turn", Flags, vec![seats]),
            ("callers", Flags, vec![seats]),
            ("safe", Flags, vec![seats]),
            ("frozen", Flags, vec![1]),
            ("sizes", Counts, vec![4]),
            ("held", Flags, vec![kinds]),
            ("held_from", Flags, vec![2]),
            ("top", Flags, vec![kinds]),
            ("opener", Flags, vec![kinds]),
            ("pile", Counts, vec![kinds]),
            ("occupied", Flags, vec![seats, slots]),
            ("gap", Flags, vec![seats, slots]),
            ("seen_by", Flags, vec![seats, slots, seats]),
            ("face", Flags, vec![seats, slots, kinds]),
        ]
        .map(|(name, values, shape)| {
            let block = Block { name, values, offset, shape };
            offset += block.len();
            block
        });
        let lens = blocks.each_ref().map(Block::len);
        TensorSpace { seats, slots, kinds, blocks, lens }
    }

    /// How many numbers a tensor has.
    pub fn len(&self) -> usize {
        self.lens.iter().sum()
    }

    /// Whether a tensor has no number, which is never so.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The blocks in order; they follow each other without a gap.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The block with this name.
    pub fn block(&self, name: &str) -> Option<&Block> {
        self.blocks.iter().find(|block| block.name == name)
    }

    /// Writes what a seat may know: an [`Observation`](crate::Observation), or the [`StateView`](crate::StateView) of a state
    /// and a seat. Both give the same numbers; the latter is faster.
    ///
    /// # Panics
    /// If `tensor` has another length than [`TensorSpace::len`], or the view is of another table.
    pub fn write<N: TensorNumber>(&self, view: &impl View, tensor: &mut [N]) {
        assert_eq!(tensor.len(), self.len(), "a tensor has the length of its space");
        let table = view.table();
        assert!(
            (table.seats(), table.rules().kinds().len()) == (self.seats, self.kinds),
            "the view is of the table that the space was made for"
        );
        tensor.fill(N::ZERO);
        let [
            phase,
            step,
            asked,
            turn,
            callers,
            safe,
            frozen,
            sizes,
            held,
            held_from,
            top,
            opener,
            pile,
            occupied,
            gap,
            seen_by,
            face,
        ] = self.split(tensor);
        let relative = |seat: Seat| seat.distance_from(view.seat(), self.seats);
        let place = |spot: Spot| relative(spot.seat()) * self.slots + spot.number() - 1;

        phase[usize::from(table.phase().code())] = N::ONE;
        if let Some(due) = table.step() {
            let offers =
                [due.looks_at_own(), due.looks_at_others(), due.looks_at_another(), due.swaps(), due.reveals()];
            step.copy_from_slice(&offers.map(N::from_flag));
        }
        asked[0] = N::from_flag(table.asked() == Some(view.seat()));
        turn[relative(table.turn())] = N::ONE;
        table.callers().each().for_each(|seat| callers[relative(seat)] = N::ONE);
        table.safe().each().for_each(|seat| safe[relative(seat)] = N::ONE);
        frozen[0] = N::from_flag(table.is_frozen());
        sizes.copy_from_slice(&[table.stock_len, table.pile_len, table.reshuffles, table.turns].map(N::from_count));
        for (block, card) in [(held, view.held()), (top, table.top()), (opener, table.opener())] {
            if let Some(card) = card {
                block[card.kind()] = N::ONE;
            }
        }
        match table.phase() {
            Phase::Held(Source::Stock) => held_from[0] = N::ONE,
            Phase::Held(Source::Pile(_)) => held_from[1] = N::ONE,
            _ => {}
        }
        for (number, &count) in pile.iter_mut().zip(&table.pile) {
            *number = N::from_count(count.into());
        }
        let cards = table.occupied();
        cards.each().for_each(|spot| occupied[place(spot)] = N::ONE);
        if let Some(spot) = table.gap() {
            gap[place(spot)] = N::ONE;
        }
        for seat in Seat::ALL.into_iter().take(self.seats) {
            let seen = table.seen(seat).intersection(cards);
            seen.each().for_each(|spot| seen_by[place(spot) * self.seats + relative(seat)] = N::ONE);
        }
        for (spot, card) in view.known_cards(cards) {
            face[place(spot) * self.kinds + card.kind()] = N::ONE;
        }
    }

    /// The blocks of a tensor, in order.
    fn split<'t, N>(&self, tensor: &'t mut [N]) -> [&'t mut [N]; BLOCKS] {
        let mut rest = tensor;
        self.lens.map(|len| rest.split_off_mut(..len).expect("a tensor has the length of its blocks"))
    }
}
