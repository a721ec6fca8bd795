//! Compiled games: one tree of decisions for each seat, and the payoffs.
//!
//! The tree of histories is walked once and not stored. The result is its *sequence form* (Koller, Megiddo and von
//! Stengel 1996, "Efficient Computation of Equilibria for Extensive Two-Person Games"): for each seat a tree of its
//! information sets, each below the seat's decision that leads to it; and a sparse matrix with an entry for each pair
//! of sequences, one of each seat, that end a round together: the payoff, averaged over chance. The sequence form
//! represents the same game, because with perfect recall the probability of a history is the product of the chance
//! probability and the probabilities of both seats' sequences.

use cambio_core::play::RoundResult;
use cambio_core::rng::mix;
use cambio_core::rules::knob::Best;
use cambio_core::{Action, Card, Rules, Score, Seat, State};

use crate::estimate::{Limits, SOLVER_BYTES, SizeEstimate};
use crate::key::{HistoryKey, KeyIndex, index_bytes};
use crate::walk::{DecisionNode, HistoryNode, SEATS, Trail, Visitor, settled, walk};
use crate::{SolveError, SolverProgress};

/// A two-seat round, compiled for solving.
///
/// # Examples
/// ```
/// use cambio_core::{Rules, Seat};
/// use cambio_solve::{Game, Limits};
///
/// let game = Game::compile(&Rules::preset("mini-m0").unwrap(), &Limits::default(), &mut |_| {}).unwrap();
/// assert_eq!(game.histories(), 2_569);
/// assert_eq!((game.information_sets(Seat::A), game.information_sets(Seat::B)), (114, 108));
/// assert!((game.nash_conv(&game.uniform()) - 1.08889).abs() < 1e-5);
/// ```
#[derive(Clone, Debug)]
pub struct Game {
    rules: Rules,
    id: HistoryKey,
    histories: u64,
    pub(crate) trees: [SequenceTree; SEATS],
    pub(crate) payoffs: Payoffs,
}

/// The decisions of one seat. A *sequence* is a choice at an information set together with all earlier choices of the
/// seat; sequence 0 is the empty sequence.
#[derive(Clone, Debug, Default)]
pub(crate) struct SequenceTree {
    index: KeyIndex,
    /// The first sequence of each information set, and one more entry for the end.
    pub(crate) first: Vec<u32>,
    /// The sequence that leads to each information set, with a lower number than the information set's own sequences.
    pub(crate) parent: Vec<u32>,
    /// The decision of each sequence except sequence 0.
    actions: Vec<Action>,
}

impl SequenceTree {
    fn new() -> SequenceTree {
        SequenceTree { first: vec![1], ..SequenceTree::default() }
    }

    pub(crate) fn sets(&self) -> usize {
        self.parent.len()
    }

    pub(crate) fn sequences(&self) -> usize {
        self.actions.len() + 1
    }

    pub(crate) fn range(&self, set: usize) -> std::ops::Range<usize> {
        self.first[set] as usize..self.first[set + 1] as usize
    }

    pub(crate) fn actions(&self, set: usize) -> &[Action] {
        let range = self.range(set);
        &self.actions[range.start - 1..range.end - 1]
    }

    fn bytes(&self) -> u64 {
        let arrays = self.first.capacity() * 4 + self.parent.capacity() * 4;
        index_bytes(&self.index) + (arrays + self.actions.capacity() * size_of::<Action>()) as u64
    }

    /// The number of the information set with this key, which is added if it is new.
    fn enter(&mut self, key: HistoryKey, parent: u32, at: &DecisionNode) -> Result<usize, SolveError> {
        let (set, is_new) = self.index.insert_full(key);
        if is_new {
            self.actions.extend(at.choices.iter());
            self.first.push(self.sequences() as u32);
            self.parent.push(parent);
        } else if self.parent[set] != parent || !at.choices.iter().eq(self.actions(set).iter().copied()) {
            return Err(SolveError::Recall { seat: at.seat });
        }
        Ok(set)
    }

    /// The realisation plan: for each sequence, the product of the probabilities of its own choices.
    pub(crate) fn plan(&self, probabilities: &[f64]) -> Vec<f64> {
        let mut plan = vec![1.0; self.sequences()];
        for (set, &parent) in self.parent.iter().enumerate() {
            let reach = plan[parent as usize];
            for sequence in self.range(set) {
                plan[sequence] = reach * probabilities[sequence];
            }
        }
        plan
    }
}

/// The payoffs of seat a by the last sequence of each seat, weighted by chance: a compressed sparse row (CSR) matrix.
#[derive(Clone, Debug, Default)]
pub(crate) struct Payoffs {
    /// The first entry of each sequence of seat a, and one more for the end.
    rows: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Payoffs {
    fn of(entries: &[Entry], sequences: usize) -> Payoffs {
        let mut rows = vec![0; sequences + 1];
        for entry in entries {
            rows[entry.own as usize + 1] += 1;
        }
        for row in 0..sequences {
            rows[row + 1] += rows[row];
        }
        Payoffs {
            rows,
            columns: entries.iter().map(|entry| entry.other).collect(),
            values: entries.iter().map(|entry| entry.value).collect(),
        }
    }

    fn bytes(&self) -> u64 {
        (self.rows.capacity() * 4 + self.columns.capacity() * 4 + self.values.capacity() * 8) as u64
    }

    fn row(&self, row: usize) -> (&[u32], &[f64]) {
        let range = self.rows[row] as usize..self.rows[row + 1] as usize;
        (&self.columns[range.clone()], &self.values[range])
    }

    /// Computes the payoff of the rounds that end with each sequence of `seat`, against the other seat's plan.
    pub(crate) fn gradient(&self, seat: Seat, other: &[f64], worth: &mut [f64]) {
        if seat == Seat::A {
            for (row, worth) in worth.iter_mut().enumerate() {
                let (columns, values) = self.row(row);
                *worth = columns.iter().zip(values).map(|(&column, value)| value * other[column as usize]).sum();
            }
        } else {
            worth.fill(0.0);
            for (row, &reach) in other.iter().enumerate() {
                if reach == 0.0 {
                    continue;
                }
                let (columns, values) = self.row(row);
                for (&column, value) in columns.iter().zip(values) {
                    worth[column as usize] -= value * reach;
                }
            }
        }
    }
}

/// The payoff of a pair of sequences, one of each seat, that end a round together.
#[derive(Clone, Copy, Debug)]
struct Entry {
    own: u32,
    other: u32,
    value: f64,
}

/// Sorts the entries and adds up the entries of each pair of sequences.
fn merge(entries: &mut Vec<Entry>) {
    // The value is the last sort key, so that the sums do not depend on the order of the walk.
    entries.sort_unstable_by_key(|entry| (entry.own, entry.other, entry.value.to_bits()));
    entries.dedup_by(|next, kept| {
        let same = (next.own, next.other) == (kept.own, kept.other);
        if same {
            kept.value += next.value;
        }
        same
    });
}

impl Game {
    /// Compiles a two-seat round that seat a starts, by a walk of its whole tree.
    ///
    /// # Errors
    /// If the tree has more histories than the limit, or the compiled game and its solver would exceed the memory
    /// limit. The error contains the estimated size. A game that is far too large is rejected before any large
    /// allocation.
    pub fn compile(
        rules: &Rules,
        limits: &Limits,
        progress: &mut dyn FnMut(SolverProgress),
    ) -> Result<Game, SolveError> {
        let estimate = SizeEstimate::of(rules)?;
        progress(SolverProgress::Estimated(estimate));
        estimate.fits(rules, limits)?;
        let mut compiler = Compiler {
            rules,
            estimate,
            limits,
            progress,
            trees: [SequenceTree::new(), SequenceTree::new()],
            entries: Vec::new(),
            merged: 0,
            worth: TerminalValues::new(rules),
            histories: 0,
        };
        walk(rules, [0; SEATS], &mut compiler)?;
        let Compiler { trees, mut entries, histories, .. } = compiler;
        merge(&mut entries);
        entries.retain(|entry| entry.value != 0.0);
        let payoffs = Payoffs::of(&entries, trees[0].sequences());
        Ok(Game { rules: *rules, id: rules_id(rules), histories, trees, payoffs })
    }

    /// The rules.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// A digest of the rules without their name: equal rules with different names have the same id.
    pub(crate) fn id(&self) -> HistoryKey {
        self.id
    }

    /// The number of histories: decision, chance and terminal nodes of the tree with lazy chance (see the [crate
    /// documentation](crate)), including the root. A decision with a single choice is not counted.
    pub fn histories(&self) -> u64 {
        self.histories
    }

    /// The number of information sets of a seat.
    pub fn information_sets(&self, seat: Seat) -> usize {
        self.trees[seat.index()].sets()
    }

    /// The size of the compiled game in bytes.
    pub fn bytes(&self) -> u64 {
        self.trees.iter().map(SequenceTree::bytes).sum::<u64>() + self.payoffs.bytes()
    }

    /// The memory in bytes that a solver needs in addition to the game.
    pub fn solver_bytes(&self) -> u64 {
        self.trees.iter().map(|tree| tree.sequences() as u64 * SOLVER_BYTES).sum()
    }

    /// The decisions at an information set of a seat, in order.
    ///
    /// # Panics
    /// If the seat has no such information set.
    pub fn choices(&self, seat: Seat, set: usize) -> &[Action] {
        self.trees[seat.index()].actions(set)
    }

    /// The positions of the choices of an information set in an array of all choices of the seat. Such an array has the
    /// choices of all information sets one after another, in the order of their numbers.
    ///
    /// # Panics
    /// If the seat has no such information set.
    pub fn choice_range(&self, seat: Seat, set: usize) -> std::ops::Range<usize> {
        let range = self.trees[seat.index()].range(set);
        range.start - 1..range.end - 1
    }

    /// The key of an information set.
    ///
    /// # Panics
    /// If the seat has no such information set.
    pub fn key(&self, seat: Seat, set: usize) -> HistoryKey {
        self.trees[seat.index()].index[set]
    }

    /// The number of the information set with this key, if the seat has one.
    pub(crate) fn find(&self, seat: Seat, key: HistoryKey) -> Option<usize> {
        self.trees[seat.index()].index.get_index_of(&key)
    }
}

/// A digest of everything in a rule system except its name.
pub(crate) fn rules_id(rules: &Rules) -> HistoryKey {
    let mut spec = rules.spec().clone();
    spec.name = String::new();
    let mut table = spec.to_table();
    // A deck given by its name has the same digest as its list of kinds.
    if let Some(fields) = table.as_object_mut() {
        let kinds = format!("{:?}", rules.kinds());
        fields.insert("deck".to_owned(), kinds.into());
    }
    HistoryKey::of_text(&table.to_string())
}

struct Compiler<'p> {
    rules: &'p Rules,
    estimate: SizeEstimate,
    limits: &'p Limits,
    progress: &'p mut dyn FnMut(SolverProgress),
    trees: [SequenceTree; SEATS],
    entries: Vec<Entry>,
    /// The number of entries after the last merge.
    merged: usize,
    worth: TerminalValues,
    histories: u64,
}

/// The number of histories between two checks of the limits.
const HISTORIES_PER_CHECK: u64 = 1 << 16;

impl Compiler<'_> {
    fn count(&mut self, nodes: u64) -> Result<(), SolveError> {
        let before = self.histories / HISTORIES_PER_CHECK;
        self.histories += nodes;
        if self.histories / HISTORIES_PER_CHECK == before {
            return Ok(());
        }
        if self.entries.len() > 2 * self.merged + (1 << 20) {
            merge(&mut self.entries);
            self.merged = self.entries.len();
        }
        // Three copies of the entries may exist while their vector grows or is compiled; other arrays may grow by half
        // before the next check.
        let tables: u64 = self.trees.iter().map(|tree| tree.bytes() + tree.sequences() as u64 * SOLVER_BYTES).sum();
        let bytes = tables * 3 / 2 + 3 * (self.entries.len() * size_of::<Entry>()) as u64;
        (self.progress)(SolverProgress::Compiling { histories: self.histories, bytes });
        if bytes > self.limits.memory || self.histories > self.limits.histories {
            let (name, walked) = (self.rules.name().to_owned(), Some((self.histories, bytes)));
            return Err(SolveError::TooLarge { name, estimate: self.estimate, limits: *self.limits, walked });
        }
        Ok(())
    }
}

impl Visitor for Compiler<'_> {
    /// The last sequence of each seat.
    type Path = [u32; SEATS];
    const TRAIL: bool = false;

    fn chance(&mut self, nodes: u64) {
        self.histories += nodes;
    }

    fn terminal(&mut self, node: &HistoryNode<[u32; SEATS]>) -> Result<(), SolveError> {
        let value = node.chance * self.worth.of(&node.state);
        if value != 0.0 {
            self.entries.push(Entry { own: node.path[0], other: node.path[1], value });
        }
        self.count(1)
    }

    fn decision(
        &mut self,
        node: &HistoryNode<[u32; SEATS]>,
        at: DecisionNode,
        _: &Trail,
        paths: &mut Vec<Option<[u32; SEATS]>>,
    ) -> Result<(), SolveError> {
        let seat = at.seat.index();
        let tree = &mut self.trees[seat];
        let set = tree.enter(node.keys[seat], node.path[seat], &at)?;
        paths.extend(tree.range(set).map(|sequence| {
            let mut path = node.path;
            path[seat] = sequence as u32;
            Some(path)
        }));
        self.count(1)
    }
}

/// The payoffs of finished rounds for seat a, averaged over unseen faces. The payoff of equal endings is computed once.
struct TerminalValues {
    best: Best,
    known: KeyIndex,
    worths: Vec<f64>,
}

impl TerminalValues {
    fn new(rules: &Rules) -> TerminalValues {
        TerminalValues { best: rules.spec().best, known: KeyIndex::default(), worths: Vec::new() }
    }

    fn of(&mut self, state: &State) -> f64 {
        let (number, is_new) = self.known.insert_full(ending(state));
        if is_new {
            let mut worth = 0.0;
            settled(state, |world, probability| worth += probability * payoff(world, self.best));
            self.worths.push(worth);
        }
        self.worths[number]
    }
}

/// The payoff of a finished and settled round for seat a: half the score difference. This makes the game zero-sum under
/// every scoring rule. With scores of ±1 the payoff is the score itself.
pub(crate) fn payoff(world: &State, best: Best) -> f64 {
    let result = RoundResult::of(world).expect("the round is over and settled");
    let lead = result.scores()[0].units() - result.scores()[1].units();
    let lead = if best == Best::Most { lead } else { -lead };
    f64::from(lead) / f64::from(2 * Score::UNITS)
}

/// A digest of everything that the result of a finished round may depend on: the seen cards and the number of unseen
/// cards in each layout, the pool of the unseen cards, the callers and the reason for the end.
fn ending(state: &State) -> HistoryKey {
    // Sums of these mixed numbers distinguish multisets of kinds.
    let number = |card: Card| mix(card.kind() as u64 + 1);
    let mut key = HistoryKey::START;
    let table = state.table();
    for seat in [Seat::A, Seat::B] {
        let (mut sum, mut latent) = (0_u64, 0);
        for spot in table.layout(seat).iter_from(seat) {
            match state.face(spot) {
                Some(card) => sum = sum.wrapping_add(number(card)),
                None => latent += 1,
            }
        }
        key.absorb(sum);
        key.absorb(latent << 2 | u64::from(table.safe().contains(seat)));
    }
    key.absorb(state.stock().fold(0, |sum, card| sum.wrapping_add(number(card))));
    let callers = table.callers_in_order().fold(0, |callers, seat| callers * 8 + seat.index() as u64 + 1);
    key.absorb(callers << 8 | table.ended().map_or(0, |ended| ended.code().into()));
    key
}
