//! Estimates of the size of a game before it is walked.

use cambio_core::engine::{Chance, RaceOrder, Setup, SnapRace};
use cambio_core::rng::{Bounded as _, Key as StreamKey, Purpose, Stream};
use cambio_core::{Card, Rules, State};
use libm::{exp, exp10, log, log10};

use crate::SolveError;
use crate::walk::SEATS;

/// The size of a game's tree, estimated from random walks down it (Knuth 1975, "Estimating the Efficiency of Backtrack
/// Programs"). Each walk takes a random branch at every node, and weights a node by the product of the numbers of
/// branches on the way to it. The estimate is unbiased; for a large, uneven tree it gives the order of magnitude.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SizeEstimate {
    /// The decimal logarithm of the number of histories.
    pub log_histories: f64,
    /// The decimal logarithm of the maximum size in bytes of the compiled game and its solver.
    pub log_bytes: f64,
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

/// The maximum length of a walk. Only games that are far too large reach this limit, which can only lower the estimate.
const MAX_WALK_LENGTH: usize = 10_000;

/// The bytes that compilation takes for a terminal node, for a decision node with its own information set, and for each
/// choice at such a node.
const TERMINAL_BYTES: f64 = 48.0;
const SET_BYTES: f64 = 48.0;
const CHOICE_BYTES: f64 = 8.0 + SOLVER_BYTES as f64;

/// A game is rejected before compilation only if its estimate exceeds a limit by more than this power of ten.
const SLACK_DIGITS: f64 = 0.5;

impl SizeEstimate {
    /// Estimates the size of the tree of a two-seat round.
    ///
    /// # Errors
    /// If the rules do not support two seats.
    ///
    /// # Panics
    /// Does not panic: a legal action can always be applied.
    pub fn of(rules: &Rules) -> Result<SizeEstimate, SolveError> {
        let (mut histories, mut bytes) = (LogSum::default(), LogSum::default());
        for probe in 0..PROBES {
            let stream = StreamKey::new(0x6b6e_7574_6800, probe).stream(Purpose::Deck, 0);
            let mut walk = Probe { stream, log: 0.0, histories: &mut histories };
            let mut state = State::deal_latent(&Setup::new(rules, SEATS), &mut walk, &mut ())
                .map_err(|error| SolveError::Unfit(error.to_string()))?;
            for _ in 0..MAX_WALK_LENGTH {
                if state.is_over() {
                    break;
                }
                let choices = state.choices();
                let len = choices.len();
                if len > 1 {
                    walk.histories.add(walk.log);
                    bytes.add(walk.log + log(SET_BYTES + CHOICE_BYTES * len as f64));
                    walk.log += log(len as f64);
                }
                let chosen = walk.stream.below(len as u32) as usize;
                let action = choices.nth(chosen).expect("the number is below the choices");
                state.apply(action, &mut walk, &mut ()).expect("a choice is legal");
            }
            walk.histories.add(walk.log);
            bytes.add(walk.log + log(TERMINAL_BYTES));
        }
        let decimal = |sum: &LogSum| (sum.ln() - log(PROBES as f64)) / std::f64::consts::LN_10;
        Ok(SizeEstimate { log_histories: decimal(&histories), log_bytes: decimal(&bytes) })
    }

    /// Rejects a game that is far too large.
    pub(crate) fn fits(&self, rules: &Rules, limits: &Limits) -> Result<(), SolveError> {
        let too_many = self.log_histories > log10(limits.histories as f64) + SLACK_DIGITS;
        if too_many || self.log_bytes > log10(limits.memory as f64) + SLACK_DIGITS {
            let name = rules.name().to_owned();
            return Err(SolveError::TooLarge { name, estimate: *self, limits: *limits, walked: None });
        }
        Ok(())
    }
}

impl std::fmt::Display for SizeEstimate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "about {} histories and up to about {} of memory", count(self.log_histories), bytes(self.log_bytes))
    }
}

/// Formats a number from its decimal logarithm.
fn count(log: f64) -> String {
    match log {
        _ if log < 6.0 => format!("{:.0}", exp10(log)),
        _ if log < 9.0 => format!("{:.1} million", exp10(log - 6.0)),
        _ => format!("10^{log:.0}"),
    }
}

/// Formats a number of bytes from its decimal logarithm.
pub(crate) fn bytes(log: f64) -> String {
    const UNITS: [(&str, i32); 4] = [("kB", 3), ("MB", 6), ("GB", 9), ("TB", 12)];
    if log >= 15.0 {
        return format!("10^{log:.0} bytes");
    }
    let (unit, power) = UNITS.into_iter().rev().find(|(_, power)| log >= f64::from(*power)).unwrap_or(UNITS[0]);
    format!("{:.1} {unit}", exp10(log - f64::from(power)))
}

/// A sum in log space.
#[derive(Default)]
struct LogSum {
    /// The largest logarithm so far, and the sum divided by the exponential of this logarithm.
    top: f64,
    sum: f64,
}

impl LogSum {
    fn add(&mut self, log: f64) {
        if self.sum == 0.0 {
            (self.top, self.sum) = (log, 1.0);
        } else if log <= self.top {
            self.sum += exp(log - self.top);
        } else {
            self.sum = self.sum * exp(self.top - log) + 1.0;
            self.top = log;
        }
    }

    fn ln(&self) -> f64 {
        self.top + log(self.sum)
    }
}

/// One random walk, which also serves as the [`Chance`] of its state.
struct Probe<'s> {
    stream: Stream,
    /// The logarithm of the number of branches so far.
    log: f64,
    histories: &'s mut LogSum,
}

impl Chance for Probe<'_> {
    fn settles(&self) -> bool {
        false
    }

    fn draw(&mut self, pool: &[Card]) -> usize {
        self.histories.add(self.log);
        let is_first = |index: &usize| !pool[..*index].contains(&pool[*index]);
        let kinds = (0..pool.len()).filter(is_first).count();
        self.log += log(kinds as f64);
        let chosen = self.stream.below(kinds as u32) as usize;
        (0..pool.len()).filter(is_first).nth(chosen).expect("the number is below the kinds")
    }

    fn shuffle(&mut self, _: &mut [Card]) {
        unreachable!("a state with latent faces has no stock to order")
    }

    fn race(&mut self, race: &SnapRace<'_>) -> RaceOrder {
        self.histories.add(self.log);
        self.log += std::f64::consts::LN_2;
        race.draw(&mut self.stream)
    }
}
