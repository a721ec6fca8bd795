//! Export of the game tree as an extensive-form file.

use std::io::{BufWriter, Write};

use cambio_core::{Score, State};

use crate::SolveError;
use crate::game::{Game, ending, lead};
use crate::key::KeyIndex;
use crate::walk::{ChanceBranch, ChanceResult, DecisionNode, HistoryNode, SEATS, Trail, Visitor, settled, walk};

impl Game {
    /// Writes the whole tree of histories in Gambit's extensive-form format (`.efg`), which Gambit and `OpenSpiel`
    /// read, and returns the number of bytes. With [`std::io::sink`] it only measures the size of the file.
    ///
    /// After three header lines, each line is one history. A node comes before its descendants, and children are in the
    /// order of [`Game::choices`] and of the kinds of the deck:
    ///
    /// ```text
    /// EFG 2 R "mini-m0" { "a" "b" }
    /// c "" 1 "" { "1" 1/3 "2" 1/3 "3" 1/3 } 0
    /// p "" 1 12 "⟨key⟩" { "draw" "call" } 0
    /// t "" 4 "" { 1/3, -1/3 }
    /// ```
    ///
    /// The outcomes of a chance node are card labels, or the seats that may come first in a race, with exact
    /// probabilities; each chance node has its own number. Information set `n` of a player is set `n - 1` of that seat
    /// here. Its name is its key in a file of [`Strategy::write`](crate::Strategy::write), and its actions are written
    /// as in records. Payoffs are exact averages over the unseen faces. A quotation mark in a label is written as `\"`,
    /// which the reader of `OpenSpiel` does not support.
    ///
    /// # Errors
    /// If `out` cannot be written.
    ///
    /// # Examples
    /// ```
    /// use cambio_core::Rules;
    /// use cambio_solve::{Game, Limits};
    ///
    /// let game = Game::compile(&Rules::preset("mini-m0")?, &Limits::default(), &mut |_| {})?;
    /// let size = game.write_efg(&mut std::io::sink())?;
    /// let mut file = Vec::new();
    /// assert_eq!((game.write_efg(&mut file)?, file.len() as u64), (size, size));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_efg(&self, out: &mut dyn Write) -> Result<u64, SolveError> {
        let out = BufWriter::new(CountingWriter { out, bytes: 0 });
        let mut writer =
            EfgWriter { game: self, out, forks: 0, ends: KeyIndex::default(), numbers: Vec::new(), worths: vec![] };
        writer.head().map_err(|error| unwritten(&error))?;
        walk(self.rules(), (), &mut writer)?;
        let counted = writer.out.into_inner().map_err(|error| unwritten(error.error()))?;
        Ok(counted.bytes)
    }
}

fn unwritten(error: &std::io::Error) -> SolveError {
    SolveError::Unwritten(error.to_string())
}

struct CountingWriter<'w> {
    out: &'w mut dyn Write,
    bytes: u64,
}

impl Write for CountingWriter<'_> {
    fn write(&mut self, buffer: &[u8]) -> std::io::Result<usize> {
        let taken = self.out.write(buffer)?;
        self.bytes += taken as u64;
        Ok(taken)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

struct EfgWriter<'g, 'w> {
    game: &'g Game,
    out: BufWriter<CountingWriter<'w>>,
    /// The number of chance nodes so far.
    forks: u64,
    /// The distinct endings of rounds, and for each the index of its payoff in `worths`.
    ends: KeyIndex,
    numbers: Vec<usize>,
    /// The distinct payoffs: Gambit's outcomes, numbered from 1.
    worths: Vec<Ratio>,
}

impl EfgWriter<'_, '_> {
    fn head(&mut self) -> std::io::Result<()> {
        let [a, b] = cambio_core::Seat::ALL.first_chunk::<SEATS>().expect("there are eight seats");
        writeln!(self.out, "EFG 2 R {} {{ \"{a}\" \"{b}\" }}", quoted(self.game.rules().name()))?;
        writeln!(self.out, "\"One round of Cambio that seat {a} starts; information sets are named by their keys.\"\n")
    }

    /// The index in `worths` of the payoff of a terminal state.
    fn outcome(&mut self, state: &State) -> usize {
        let (end, is_new) = self.ends.insert(ending(state));
        if is_new {
            let best = self.game.rules().spec().best;
            let mut worth = Ratio { above: 0, below: 1 };
            settled(state, |world, odds| {
                let (ways, all) = odds.odds();
                worth = worth.plus(ways * i128::from(lead(world, best)), all * i128::from(2 * Score::UNITS));
            });
            let known = self.worths.iter().position(|other| *other == worth);
            self.numbers.push(known.unwrap_or(self.worths.len()));
            if known.is_none() {
                self.worths.push(worth);
            }
        }
        self.numbers[end]
    }

    fn fork(&mut self, outcomes: &[ChanceBranch]) -> std::io::Result<()> {
        self.forks += 1;
        write!(self.out, "c \"\" {} \"\" {{", self.forks)?;
        let all = outcomes.iter().map(|outcome| i128::from(outcome.ways)).sum();
        for outcome in outcomes {
            let label = match outcome.result {
                ChanceResult::Face(card) => quoted(self.game.rules().label(card)),
                ChanceResult::First(seat) => format!("\"{seat}\""),
            };
            write!(self.out, " {label} {}", Ratio::of(outcome.ways.into(), all))?;
        }
        writeln!(self.out, " }} 0")
    }

    fn end(&mut self, state: &State) -> std::io::Result<()> {
        let number = self.outcome(state);
        let worth = self.worths[number];
        writeln!(self.out, "t \"\" {} \"\" {{ {worth}, {} }}", number + 1, worth.negated())
    }

    fn ask(&mut self, at: &DecisionNode, set: usize) -> std::io::Result<()> {
        let key = self.game.key(at.seat, set);
        write!(self.out, "p \"\" {} {} \"{key}\" {{", at.seat.index() + 1, set + 1)?;
        for action in at.choices.iter() {
            write!(self.out, " \"{action}\"")?;
        }
        writeln!(self.out, " }} 0")
    }
}

impl Visitor for EfgWriter<'_, '_> {
    type Path = ();
    const TRAIL: bool = false;
    const TREE: bool = true;

    fn fork(&mut self, outcomes: &[ChanceBranch]) -> Result<(), SolveError> {
        EfgWriter::fork(self, outcomes).map_err(|error| unwritten(&error))
    }

    fn terminal(&mut self, node: &HistoryNode<()>) -> Result<(), SolveError> {
        self.end(&node.state).map_err(|error| unwritten(&error))
    }

    fn decision(
        &mut self,
        node: &HistoryNode<()>,
        at: DecisionNode,
        _: &Trail,
        paths: &mut Vec<Option<()>>,
    ) -> Result<(), SolveError> {
        let set = self.game.find(at.seat, node.keys[at.seat.index()]).expect("the game was compiled by the same walk");
        paths.resize(at.choices.len(), Some(()));
        self.ask(&at, set).map_err(|error| unwritten(&error))
    }
}

/// Quotes and escapes text for Gambit.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A fraction in lowest terms. In practice sums do not overflow: that would need so many unseen faces that their
/// enumeration would take too long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Ratio {
    above: i128,
    /// At least 1.
    below: i128,
}

impl Ratio {
    fn of(above: i128, below: i128) -> Ratio {
        let (mut divisor, mut rest) = (below, above);
        while rest != 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        let divisor = divisor.abs();
        Ratio { above: above / divisor, below: below / divisor }
    }

    fn plus(self, above: i128, below: i128) -> Ratio {
        Ratio::of(self.above * below + above * self.below, self.below * below)
    }

    fn negated(self) -> Ratio {
        Ratio { above: -self.above, ..self }
    }
}

impl std::fmt::Display for Ratio {
    /// Writes a fraction as `1/3`, a whole number as `-1`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.below {
            1 => write!(f, "{}", self.above),
            below => write!(f, "{}/{below}", self.above),
        }
    }
}
