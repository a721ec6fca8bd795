//! Observations as numbers, for learning code.

use crate::seat::{Seat, Spot};
use crate::table::{Phase, Source};
use crate::{Card, Observation, Rules};

/// A named block of an observation tensor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// The block's name.
    pub name: &'static str,
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

/// The layout of observation tensors: fixed per rules and number of seats.
///
/// Everything is relative to the seat that observes: seat 0 is itself, seat 1 the one that plays after it. Numbers
/// are 0 or 1, but for counts (`pile`, `sizes`). Kinds are in the order of [`Rules::kinds`].
///
/// | block | shape | meaning |
/// |---|---|---|
/// | `phase` | 10 | what is being decided, one-hot in the order of [`Phase`] |
/// | `step` | 5 | what the power step offers: look own, look other, not the same again, swap, reveal |
/// | `asked` | 1 | whether the observing seat is asked |
/// | `turn` | seats | whose turn it is, one-hot |
/// | `callers`, `safe` | seats | who has called; who is safe |
/// | `frozen` | 1 | whether the pile is frozen |
/// | `sizes` | 4 | cards in the stock, cards on the pile, reshuffles, turns begun |
/// | `held` | kinds | the held card, if this seat knows it, one-hot |
/// | `held_from` | 2 | whether a card is held from the stock, from the pile |
/// | `top`, `opener` | kinds | the pile's top, the card that opened the window, one-hot |
/// | `pile` | kinds | how many of each kind lie on the pile |
/// | `occupied`, `gap` | seats, slots | where cards lie; the gap that waits for a gift |
/// | `seen_by` | seats, slots, seats | who has seen the card that lies here |
/// | `face` | seats, slots, kinds | the card that lies here, if this seat has seen it, one-hot |
///
/// # Examples
/// ```
/// use cambio_core::{Dice, Rules, Seat, Setup, State, TensorSpace};
/// use cambio_core::rng::{Key, Purpose};
///
/// let rules = Rules::preset("classic").unwrap();
/// let space = TensorSpace::new(&rules, 2);
/// let mut dice = Dice(Key { seed: 1, deal: 0 }.stream(Purpose::Race, 0));
/// let state = State::deal(&Setup::new(&rules, 2), rules.deck(), &mut dice, &mut ()).unwrap();
/// let mut tensor = vec![0; space.len()];
/// space.write(&state.observe(Seat::B), &mut tensor);
/// let occupied = space.block("occupied").unwrap();
/// assert_eq!(tensor[occupied.offset..][..occupied.len()].iter().sum::<i16>(), 8);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TensorSpace {
    seats: usize,
    slots: usize,
    kinds: usize,
    blocks: Vec<Block>,
    len: usize,
}

const PHASES: usize = 10;

impl TensorSpace {
    /// The layout for a table of `seats` seats under these rules.
    pub fn new(rules: &Rules, seats: usize) -> TensorSpace {
        let (slots, kinds) = (rules.slots(), rules.kinds().len());
        let shapes: [(&'static str, &[usize]); 16] = [
            ("phase", &[PHASES]),
            ("step", &[5]),
            ("asked", &[1]),
            ("turn", &[seats]),
            ("callers", &[seats]),
            ("safe", &[seats]),
            ("frozen", &[1]),
            ("sizes", &[4]),
            ("held", &[kinds]),
            ("held_from", &[2]),
            ("top", &[kinds]),
            ("opener", &[kinds]),
            ("pile", &[kinds]),
            ("occupied", &[seats, slots]),
            ("gap", &[seats, slots]),
            ("seen_by", &[seats, slots, seats]),
        ];
        let mut blocks = Vec::new();
        let mut len = 0;
        for (name, shape) in shapes.into_iter().chain([("face", [seats, slots, kinds].as_slice())]) {
            let block = Block { name, offset: len, shape: shape.to_vec() };
            len += block.len();
            blocks.push(block);
        }
        TensorSpace { seats, slots, kinds, blocks, len }
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

    /// Writes an observation.
    ///
    /// # Panics
    /// If `tensor` has another length than [`TensorSpace::len`], or the view is of another table.
    pub fn write(&self, view: &Observation<'_>, tensor: &mut [i16]) {
        assert_eq!(tensor.len(), self.len, "a tensor has the length of its space");
        let table = view.table();
        assert!(
            (table.seats(), table.rules().kinds().len()) == (self.seats, self.kinds),
            "the view is of the table that the space was made for"
        );
        tensor.fill(0);
        let mut put = |name: &str, at: usize, value: usize| {
            let block = self.block(name).expect("the blocks are named above");
            tensor[block.offset + at] = value as i16;
        };
        let relative = |seat: Seat| seat.distance_from(view.seat(), self.seats);
        let place = |spot: Spot| relative(spot.seat()) * self.slots + spot.number() - 1;
        put("phase", phase_index(table.phase()), 1);
        if let Some(step) = table.step() {
            let offers =
                [step.looks_at_own(), step.looks_at_others(), step.looks_at_another(), step.swaps(), step.reveals()];
            offers.into_iter().enumerate().for_each(|(at, is_offered)| put("step", at, is_offered.into()));
        }
        put("asked", 0, (table.asked() == Some(view.seat())).into());
        put("turn", relative(table.turn()), 1);
        table.callers().iter().for_each(|seat| put("callers", relative(seat), 1));
        table.safe().iter().for_each(|seat| put("safe", relative(seat), 1));
        put("frozen", 0, table.is_frozen().into());
        let sizes = [table.stock_len(), table.pile_len(), table.reshuffles(), table.turns()];
        sizes.into_iter().enumerate().for_each(|(at, size)| put("sizes", at, size));
        for (name, card) in [("held", view.held()), ("top", table.top()), ("opener", table.opener())] {
            if let Some(card) = card {
                put(name, card.kind(), 1);
            }
        }
        match table.phase() {
            Phase::Held(Source::Stock) => put("held_from", 0, 1),
            Phase::Held(Source::Pile(_)) => put("held_from", 1, 1),
            _ => {}
        }
        for card in (0..self.kinds).filter_map(Card::new) {
            put("pile", card.kind(), table.on_pile(card));
        }
        if let Some(gap) = table.gap() {
            put("gap", place(gap), 1);
        }
        for spot in table.occupied() {
            put("occupied", place(spot), 1);
            table.seen_by(spot).iter().for_each(|seat| put("seen_by", place(spot) * self.seats + relative(seat), 1));
            if let Some(card) = view.face(spot) {
                put("face", place(spot) * self.kinds + card.kind(), 1);
            }
        }
    }
}

const fn phase_index(phase: Phase) -> usize {
    match phase {
        Phase::Peek => 0,
        Phase::Start => 1,
        Phase::Held(_) => 2,
        Phase::Window => 3,
        Phase::Gift => 4,
        Phase::Chain => 5,
        Phase::Power => 6,
        Phase::Show => 7,
        Phase::Close => 8,
        Phase::Over => PHASES - 1,
    }
}
