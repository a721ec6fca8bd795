//! Estimates of the size of a game before it is walked.

use cambio_core::engine::{Chance, RaceOrder, Setup, SnapRace};
use cambio_core::rng::{Bounded as _, Key as StreamKey, Purpose, Stream};
use cambio_core::{Card, Rules, State};
use libm::log10;

use crate::SolveError;
use crate::walk::SEATS;

/// The size of a game's tree, estimated from random walks down it (Knuth 1975, "Estimating the Efficiency of Backtrack
/// Programs"). Each walk takes a random branch at every node, and weights a node by the product of the numbers of
/// branches on the way to it. The estimate is unbiased; for a large, uneven tree it gives the order of magnitude.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SizeEstimate {
    /// The number of histories; far too low if it is above 10³⁰.
    pub histories: f64,
}

/// The limits of a solver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The maximum memory in bytes.
    pub memory: u64,
    /// The maximum number of histories to walk.
    pub histories: u64,
}

impl Default for Limits {
    /// 4 GiB, and 10 billion histories, which take most of an hour.
    fn default() -> Limits {
        Limits { memory: 4 << 30, histories: 10_000_000_000 }
    }
}

/// Four doubles per sequence: regret, average, plan and gradient.
pub(crate) const SOLVER_BYTES: u64 = 4 * 8;

/// The number of walks.
const PROBES: u64 = 10_000;

/// The number of histories at which a walk stops, because no game that can be solved has as many.
const MAX_HISTORIES: f64 = 1e30;

/// The bytes that compilation takes for a history, if no information set or payoff of it is shared with another one.
const BYTES_PER_HISTORY: f64 = 48.0;

/// A game is rejected before compilation only if its estimate exceeds a limit by more than this factor.
const SLACK: f64 = 3.0;

impl SizeEstimate {
    /// Estimates the size of the tree of a two-seat round.
    ///
    /// # Errors
    /// If the rules do not support two seats.
    pub(crate) fn of(rules: &Rules) -> Result<SizeEstimate, SolveError> {
        let mut histories = 0.0;
        for probe in 0..PROBES {
            let stream = StreamKey::new(0x6b6e_7574_6800, probe).stream(Purpose::Deck, 0);
            let mut walk = Probe { stream, branches: 1.0, histories: 0.0 };
            let mut state = State::deal_latent(&Setup::new(rules, SEATS), &mut walk, &mut ())
                .map_err(|error| SolveError::Unfit(error.to_string()))?;
            while !state.is_over() && walk.branches < MAX_HISTORIES {
                let choices = state.choices();
                let chosen = if choices.len() > 1 { walk.branch(choices.len()) } else { 0 };
                let action = choices.nth(chosen).expect("the number is below the choices");
                state.apply(action, &mut walk, &mut ()).expect("a choice is legal");
            }
            histories += walk.histories + walk.branches;
        }
        Ok(SizeEstimate { histories: histories / PROBES as f64 })
    }

    fn bytes(&self) -> f64 {
        self.histories * BYTES_PER_HISTORY
    }

    /// Rejects a game that is far too large.
    pub(crate) fn fits(&self, rules: &Rules, limits: &Limits) -> Result<(), SolveError> {
        let (histories, memory) = (limits.histories as f64, limits.memory as f64);
        if self.histories > SLACK * histories || self.bytes() > SLACK * memory {
            let name = rules.name().to_owned();
            return Err(SolveError::TooLarge { name, estimate: *self, limits: *limits, walked: None });
        }
        Ok(())
    }
}

impl std::fmt::Display for SizeEstimate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let histories = match self.histories {
            few @ ..1e6 => format!("{few:.0}"),
            some @ 1e6..1e9 => format!("{:.1} million", some / 1e6),
            many => format!("10^{:.0}", log10(many)),
        };
        write!(f, "about {histories} histories and up to about {} of memory", bytes(self.bytes()))
    }
}

/// Formats a number of bytes.
pub(crate) fn bytes(number: f64) -> String {
    const UNITS: [(&str, f64); 4] = [("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12)];
    if number >= 1e15 {
        return format!("10^{:.0} bytes", log10(number));
    }
    let (unit, size) = UNITS.into_iter().rev().find(|(_, size)| number >= *size).unwrap_or(UNITS[0]);
    format!("{:.1} {unit}", number / size)
}

/// One random walk, which also serves as the [`Chance`] of its state.
struct Probe {
    stream: Stream,
    /// The product of the numbers of branches so far.
    branches: f64,
    /// The sum of the weights of the nodes so far.
    histories: f64,
}

impl Probe {
    /// Counts a node, and takes one of its branches.
    fn branch(&mut self, branches: usize) -> usize {
        self.histories += self.branches;
        self.branches *= branches as f64;
        self.stream.below(branches as u32) as usize
    }
}

impl Chance for Probe {
    fn settles(&self) -> bool {
        false
    }

    fn draw(&mut self, pool: &[Card]) -> usize {
        let is_first = |index: &usize| !pool[..*index].contains(&pool[*index]);
        let chosen = self.branch((0..pool.len()).filter(is_first).count());
        (0..pool.len()).filter(is_first).nth(chosen).expect("the number is below the kinds")
    }

    fn shuffle(&mut self, _: &mut [Card]) {
        unreachable!("a state with latent faces has no stock to order")
    }

    fn race(&mut self, race: &SnapRace<'_>) -> RaceOrder {
        self.histories += self.branches;
        self.branches *= 2.0;
        race.draw(&mut self.stream)
    }
}
