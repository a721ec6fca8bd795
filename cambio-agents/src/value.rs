//! The value of a finished round for a seat: its win share, its points, or its chance to win the match.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use cambio_core::engine::{Dice, Setup};
use cambio_core::play::RoundResult;
use cambio_core::rng::{Bounded as _, Key, Purpose, SplitMix};
use cambio_core::rules::MAX_SEATS;
use cambio_core::rules::knob::{Best, MatchEnd, Score as ScoreKnob};
use cambio_core::{Match, Rules, Score, Seat, Standing, State};

use crate::heuristic::HeuristicParams;
use crate::policy::Policy as _;
use crate::words;

words! {
    /// The objective of a search: the value of a finished round for a seat, from 0 to 1.
    #[derive(Default)]
    pub enum Utility {
        /// The seat's win share in the round: 1 for a win, split equally in a tie.
        Win = "win",
        /// The seat's points compared with the mean of the other seats: 1 with 30 fewer, 0 with 30 more.
        #[default]
        Points = "points",
        /// The seat's chance to win the match with the totals after the round, by [`MatchValues`].
        Match = "match",
    }
}

impl Utility {
    /// The chance to win the round, or the match if it has several rounds.
    pub(crate) fn of_winning(rules: &Rules) -> Utility {
        if rules.spec().match_end == MatchEnd::Rounds(1) { Utility::Win } else { Utility::Match }
    }
}

/// Computes utilities for the current standing of a match.
#[derive(Clone, Debug)]
pub(crate) struct Valuer {
    utility: Utility,
    matches: Option<Arc<MatchValues>>,
    totals: [Score; MAX_SEATS],
    rounds: usize,
}

impl Valuer {
    pub(crate) fn new(utility: Utility) -> Valuer {
        Valuer { utility, matches: None, totals: [Score::default(); MAX_SEATS], rounds: 0 }
    }

    pub(crate) fn utility(&self) -> Utility {
        self.utility
    }

    /// Begins a round, with the standing of the match.
    pub(crate) fn round_begins(&mut self, standing: &Standing<'_>) {
        self.totals[..standing.totals.len()].copy_from_slice(standing.totals);
        self.rounds = standing.round;
        if self.utility == Utility::Match && self.matches.is_none() {
            self.matches = Some(MatchValues::of(&standing.setup.rules, standing.setup.seats));
        }
    }

    /// The utility of the finished round for each seat, seat a first.
    ///
    /// # Panics
    /// If the round is not over.
    #[inline]
    pub(crate) fn values(&self, world: &State) -> [f64; MAX_SEATS] {
        let result = RoundResult::of(world).expect("the round is over and settled");
        let mut values = [0.0; MAX_SEATS];
        match (self.utility, &self.matches) {
            (Utility::Points, _) | (Utility::Match, None) => points(world, &result, &mut values),
            (Utility::Win, _) => {
                for seat in result.winners.iter_from(result.starter) {
                    values[seat.index()] = 1.0 / result.winners.len() as f64;
                }
            }
            (Utility::Match, Some(matches)) => {
                let mut totals = self.totals;
                for (total, &score) in totals.iter_mut().zip(result.scores()) {
                    *total = *total + score;
                }
                let rules = world.table().rules();
                let mut game = Match::new(rules, result.seats, result.starter).expect("the rules fit the seats");
                game.add(&result);
                values = matches.chances(&totals[..result.seats], game.setup().starter, self.rounds + 1);
            }
        }
        values
    }
}

/// The utility [`Utility::Points`]: ½ plus 1/60 for each point that a seat has fewer than the mean of the other seats.
fn points(world: &State, result: &RoundResult, values: &mut [f64; MAX_SEATS]) {
    const SCALE: f64 = 60.0;
    // Scores in points include the points that a call adds. Under other scoring, only the layouts count.
    let adds = world.table().rules().spec().score == ScoreKnob::Points;
    let counts = |seat: usize| {
        let points = if adds { result.scores()[seat].units() / Score::UNITS } else { result.points()[seat] };
        f64::from(points)
    };
    let all: f64 = (0..result.seats).map(counts).sum();
    for (seat, value) in values[..result.seats].iter_mut().enumerate() {
        let own = counts(seat);
        let others = (all - own) / (result.seats - 1) as f64;
        *value = (0.5 + (others - own) / SCALE).clamp(0.0, 1.0);
    }
}

/// Matches to more points than this use the fitted curve, because they have too many pairs of totals.
const LARGEST: u16 = 200;

/// The number of stages that a match is divided into.
const STAGES: usize = 10;

/// The chance of each seat to win a match, from the totals and the starter of the next round.
///
/// # Provenance
/// The distribution of round scores comes from 20,000 rounds with the default heuristic in every seat, under a fixed
/// seed. For two seats and a match to a total of points, value iteration over all pairs of totals gives the chances
/// (Bellman 1957). Otherwise a logistic curve is fitted to matches drawn from the same rounds: the chance of a seat is
/// proportional to exp(−β total), with one β for each tenth of the match. Cards and looks that a round carries over to
/// the next one are ignored.
///
/// # Examples
/// ```
/// use cambio_agents::MatchValues;
/// use cambio_core::{Rules, Score, Seat};
///
/// let values = MatchValues::of(&Rules::preset("original").unwrap(), 2);
/// let chances = values.chances(&[Score::points(10), Score::points(40)], Seat::A, 3);
/// assert!(chances[0] > 0.8 && (chances[0] + chances[1] - 1.0).abs() < 0.02);
/// ```
#[derive(Clone, Debug)]
pub struct MatchValues {
    seats: usize,
    fewest_wins: bool,
    end: MatchEnd,
    /// The value table, for two seats and a match to a total of points.
    table: Option<ValueTable>,
    /// For all other matches: the fitted β for each stage.
    slopes: Vec<f64>,
}

impl MatchValues {
    /// The values of matches with these rules and this number of seats. They are computed once per process, in well
    /// under a second.
    ///
    /// # Panics
    /// If the rules do not allow this number of seats.
    pub fn of(rules: &Rules, seats: usize) -> Arc<MatchValues> {
        type MatchValueCache = BTreeMap<(String, usize), Arc<MatchValues>>;
        static MADE: Mutex<MatchValueCache> = Mutex::new(BTreeMap::new());
        let key = (rules.spec().to_json().to_string(), seats);
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(made.entry(key).or_insert_with(|| Arc::new(MatchValues::compute(rules, seats))))
    }

    fn compute(rules: &Rules, seats: usize) -> MatchValues {
        let spec = rules.spec();
        let mut values = MatchValues {
            seats,
            fewest_wins: spec.best == Best::Fewest,
            end: spec.match_end,
            table: None,
            slopes: Vec::new(),
        };
        if spec.match_end == MatchEnd::Rounds(1) {
            return values;
        }
        let outcomes = sample(rules, seats);
        match spec.match_end {
            MatchEnd::Total(most)
                if seats == 2 && most <= LARGEST && spec.score == ScoreKnob::Points && values.fewest_wins =>
            {
                values.table = Some(ValueTable::compute(&outcomes, i32::from(most)));
            }
            _ => values.slopes = values.fit(&outcomes),
        }
        values
    }

    /// The chance of each seat, seat a first, to win the match.
    ///
    /// `totals` are the scores after `rounds` rounds, and `starter` starts the next round. Seats that win with equal
    /// totals share the win.
    pub fn chances(&self, totals: &[Score], starter: Seat, rounds: usize) -> [f64; MAX_SEATS] {
        if self.is_over(totals, rounds) {
            return self.shares(totals);
        }
        let mut chances = [0.0; MAX_SEATS];
        let points = |seat: usize| totals[seat].units().div_euclid(Score::UNITS);
        if let Some(table) = &self.table {
            for (seat, chance) in chances[..2].iter_mut().enumerate() {
                *chance = table.chance(points(seat), points(1 - seat), starter.index() == seat);
            }
            return chances;
        }
        let slope = self.slopes.get(self.stage(totals, rounds)).copied().unwrap_or(0.0);
        let sign = if self.fewest_wins { -1.0 } else { 1.0 };
        let best = self.best(totals);
        for (chance, total) in chances.iter_mut().zip(totals) {
            let behind = f64::from(total.units() - best) / f64::from(Score::UNITS);
            *chance = exponential(sign * slope * behind);
        }
        // Summed in playing order, so that the last bit does not depend on the letters of the seats.
        let all: f64 = starter.round(totals.len()).map(|seat| chances[seat.index()]).sum();
        for chance in &mut chances[..totals.len()] {
            *chance /= all;
        }
        chances
    }

    fn is_over(&self, totals: &[Score], rounds: usize) -> bool {
        match self.end {
            MatchEnd::Total(most) => totals.iter().any(|&total| total >= Score::points(i32::from(most))),
            MatchEnd::Rounds(number) => rounds >= usize::from(number),
        }
    }

    fn best(&self, totals: &[Score]) -> i32 {
        let units = totals.iter().map(|total| total.units());
        if self.fewest_wins { units.min() } else { units.max() }.unwrap_or(0)
    }

    fn shares(&self, totals: &[Score]) -> [f64; MAX_SEATS] {
        let best = self.best(totals);
        let winners = totals.iter().filter(|total| total.units() == best).count();
        let mut shares = [0.0; MAX_SEATS];
        for (share, total) in shares.iter_mut().zip(totals) {
            *share = if total.units() == best { 1.0 / winners as f64 } else { 0.0 };
        }
        shares
    }

    /// The stage of the match, from 0.
    fn stage(&self, totals: &[Score], rounds: usize) -> usize {
        match self.end {
            MatchEnd::Total(most) => {
                let highest = totals.iter().map(|total| total.units() / Score::UNITS).max().unwrap_or(0);
                (highest * STAGES as i32 / i32::from(most).max(1)).clamp(0, STAGES as i32 - 1) as usize
            }
            MatchEnd::Rounds(number) => (rounds * STAGES / usize::from(number).max(1)).min(STAGES - 1),
        }
    }

    /// Fits β for each stage to simulated matches, whose rounds are drawn from `outcomes`.
    fn fit(&self, outcomes: &[RoundOutcome]) -> Vec<f64> {
        const MATCHES: u32 = 3000;
        const MOST_ROUNDS: usize = 1000;
        let mut samples: Vec<Vec<Sample>> = vec![Vec::new(); STAGES];
        let mut bits = SplitMix::new(SEED, 1_u32);
        let sign = if self.fewest_wins { -1.0 } else { 1.0 };
        for _ in 0..MATCHES {
            let mut totals = vec![Score::default(); self.seats];
            let mut starter = Seat::A;
            let mut seen = Vec::new();
            let mut rounds = 0;
            while !self.is_over(&totals, rounds) && rounds < MOST_ROUNDS {
                let best = self.best(&totals);
                let mut behind = [0.0; MAX_SEATS];
                for (behind, total) in behind.iter_mut().zip(&totals) {
                    *behind = sign * f64::from(total.units() - best) / f64::from(Score::UNITS);
                }
                seen.push((self.stage(&totals, rounds), behind));
                let RoundOutcome { added, next } = outcomes[bits.below(outcomes.len() as u32) as usize];
                for (seat, score) in starter.round(self.seats).zip(added) {
                    totals[seat.index()] = totals[seat.index()] + score;
                }
                starter = starter.ahead(next, self.seats);
                rounds += 1;
            }
            let shares = self.shares(&totals);
            for (stage, behind) in seen {
                samples[stage].push((behind, shares));
            }
        }
        samples.iter().map(|samples| slope(samples, self.seats)).collect()
    }
}

/// The number of sampled rounds.
const ROUNDS: u64 = 20_000;
/// The seed of the sampled rounds.
const SEED: u64 = 0x0ca3_b105;

/// The outcome of one round.
#[derive(Clone, Copy, Debug)]
struct RoundOutcome {
    /// The scores that the round added, in playing order from its starter.
    added: [Score; MAX_SEATS],
    /// The distance from the round's starter to the starter of the next round.
    next: usize,
}

/// Plays rounds with the default heuristic in every seat.
fn sample(rules: &Rules, seats: usize) -> Vec<RoundOutcome> {
    let mut policy = HeuristicParams::default();
    let mut deck = rules.deck().to_vec();
    let round = |number: u64| {
        let key = Key::new(SEED, number);
        deck.copy_from_slice(rules.deck());
        key.stream(Purpose::Deck, 0).shuffle(&mut deck);
        let mut dice = Dice(SplitMix::new(SEED, number as u32));
        let setup = Setup::new(rules, seats);
        let mut state = State::deal(&setup, &deck, &mut dice, &mut ()).expect("the rules fit the seats");
        // The default heuristic does not snap unknown cards.
        state.ask_knowing_only();
        policy.play_out(&mut state, &mut (), &mut dice);
        let result = RoundResult::of(&state).expect("the round is over");
        let mut game = Match::new(rules, seats, Seat::A).expect("the rules fit the seats");
        game.add(&result);
        let mut added = [Score::default(); MAX_SEATS];
        added[..seats].copy_from_slice(result.scores());
        RoundOutcome { added, next: game.setup().starter.index() }
    };
    (0..ROUNDS).map(round).collect()
}

/// The lowest total in the table; lower totals are clamped to this value.
const LOWEST: i32 = -30;

/// The chance of a seat to win a match, by its total, the other seat's total, and whether it starts the next round.
#[derive(Clone, Debug)]
struct ValueTable {
    width: usize,
    values: Vec<f64>,
}

impl ValueTable {
    /// Computes the table of a match to `most` points by value iteration (Bellman 1957). Each sweep begins with the highest totals, so
    /// that a few sweeps converge.
    fn compute(outcomes: &[RoundOutcome], most: i32) -> ValueTable {
        const SWEEPS: usize = 8;
        let width = (most - LOWEST).max(1) as usize;
        let mut table = ValueTable { width, values: vec![0.5; width * width * 2] };
        let mut distinct: BTreeMap<(i32, i32, usize), f64> = BTreeMap::new();
        for RoundOutcome { added, next } in outcomes {
            let points = |index: usize| added[index].units().div_euclid(Score::UNITS);
            *distinct.entry((points(0), points(1), *next)).or_default() += 1.0 / outcomes.len() as f64;
        }
        let distinct: Vec<_> = distinct.into_iter().collect();
        let mut pairs: Vec<(i32, i32)> =
            (LOWEST..most).flat_map(|own| (LOWEST..most).map(move |other| (own, other))).collect();
        pairs.sort_by_key(|(own, other)| -(own + other));
        for _ in 0..SWEEPS {
            for &(own, other) in &pairs {
                for starts in [false, true] {
                    let mut value = 0.0;
                    for &((first, second, next), weight) in &distinct {
                        let (mine, theirs) = if starts { (first, second) } else { (second, first) };
                        let (own, other) = (own + mine, other + theirs);
                        // `next` counts from the starter, so 0 means that the starter also starts the next round.
                        let starts_next = (next == 0) == starts;
                        value += weight
                            * if own >= most || other >= most {
                                if own == other { 0.5 } else { f64::from(u8::from(own < other)) }
                            } else {
                                table.chance(own, other, starts_next)
                            };
                    }
                    let index = table.index(own, other, starts);
                    table.values[index] = value;
                }
            }
        }
        table
    }

    /// The chance to win the match for a seat with `own` points against a seat with `other` points.
    fn chance(&self, own: i32, other: i32, starts: bool) -> f64 {
        self.values[self.index(own, other, starts)]
    }

    fn index(&self, own: i32, other: i32, starts: bool) -> usize {
        let clamp = |total: i32| (total - LOWEST).clamp(0, self.width as i32 - 1) as usize;
        (clamp(own) * self.width + clamp(other)) * 2 + usize::from(starts)
    }
}

/// One observation of a logistic model, in which a seat's chance is proportional to exp(β x): each seat's x (0 for the
/// leader, negative for a seat that is behind), and its win share.
type Sample = ([f64; MAX_SEATS], [f64; MAX_SEATS]);

/// The maximum likelihood estimate of β, by Newton's method: the log-likelihood is concave.
fn slope(samples: &[Sample], seats: usize) -> f64 {
    const STEPS: usize = 30;
    let mut slope = 0.0;
    for _ in 0..STEPS {
        // A weak prior keeps β near 0 if there are few samples.
        let (mut gradient, mut curvature) = (-slope, 1.0);
        for (behind, shares) in samples {
            let weights = behind.map(|behind| exponential(slope * behind));
            let all: f64 = weights[..seats].iter().sum();
            let chance = |seat: usize| weights[seat] / all;
            let mean: f64 = (0..seats).map(|seat| chance(seat) * behind[seat]).sum();
            let square: f64 = (0..seats).map(|seat| chance(seat) * behind[seat] * behind[seat]).sum();
            gradient += (0..seats).map(|seat| shares[seat] * behind[seat]).sum::<f64>() - mean;
            curvature += square - mean * mean;
        }
        slope += gradient / curvature;
    }
    slope
}

/// eˣ by its Taylor series after repeated halving of the argument: the result is the same on every machine.
fn exponential(power: f64) -> f64 {
    const HALVINGS: i32 = 10;
    let small = power.clamp(-200.0, 200.0) / f64::from(1 << HALVINGS);
    let mut result = 1.0 + small * (1.0 + small / 2.0 * (1.0 + small / 3.0 * (1.0 + small / 4.0)));
    for _ in 0..HALVINGS {
        result *= result;
    }
    result
}
