//! What a round's end is worth: its win, its points, or the chance to win the match from there.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use cambio_core::knob::{Best, MatchEnd, Score as ScoreKnob};
use cambio_core::rng::{Bounded as _, Key, Purpose};
use cambio_core::{Dice, MAX_SEATS, RoundResult, Rules, Score, Seat, Setup, Standing, State};

use crate::bits::Bits;
use crate::heuristic::HeuristicParams;
use crate::playout::{Knows, Policy};
use crate::words;

words! {
    /// What a round is worth to a seat.
    #[derive(Default)]
    pub enum Utility {
        /// Its share of the round's win.
        Win = "win",
        /// How many points fewer it gets than the others do on average, 30 fewer being 1 and 30 more 0.
        #[default]
        Points = "points",
        /// Its chance to win the match from there, by [`MatchValues`].
        Match = "match",
    }
}

/// How many rounds of the blueprint the values of matches rest on.
const ROUNDS: u64 = 20_000;
/// The seed of those rounds.
const SEED: u64 = 0x0ca3_b105;
/// Matches to more points than this get the fitted curve: the pairs of totals are too many.
const LARGEST: u16 = 200;
/// Totals from this on are told apart; lower ones count as this.
const LOWEST: i32 = -30;

/// The chance to win a match, by the totals and by who starts the next round.
///
/// # Provenance
/// Rounds of the default heuristic in every seat, 20,000 under a fixed seed, give the distribution of what a round adds.
/// For two seats and a match to a total of points, value iteration over all pairs of totals follows from it
/// (Bellman 1957), the higher totals first, so that a few sweeps converge. For other tables a logistic curve is fitted
/// to matches drawn from the same rounds: the chance of a seat is proportional to exp(−β total), β by how far the match
/// has come. What a round carries over to the next is left out.
#[derive(Clone, Debug)]
pub struct MatchValues {
    seats: usize,
    fewest_wins: bool,
    end: MatchEnd,
    /// Two seats: for (own total, other total, whether the seat itself starts) the chance to win.
    table: Option<Table>,
    /// Others: β by how far the match has come.
    slopes: Vec<f64>,
}

#[derive(Clone, Debug)]
struct Table {
    width: usize,
    values: Vec<f64>,
}

impl Table {
    fn place(&self, own: i32, other: i32, starts: bool) -> usize {
        let clamp = |total: i32| (total - LOWEST).clamp(0, self.width as i32 - 1) as usize;
        (clamp(own) * self.width + clamp(other)) * 2 + usize::from(starts)
    }
}

/// What a round added, seat by seat from its starter on, and the place of the next starter from there.
type Outcome = ([Score; MAX_SEATS], usize);

impl MatchValues {
    /// The values of matches by these rules at this table. Computed once in a process for each, in well under a second.
    ///
    /// # Panics
    /// If the rules do not fit the number of seats.
    pub fn of(rules: &Rules, seats: usize) -> Arc<MatchValues> {
        type Made = BTreeMap<(String, usize), Arc<MatchValues>>;
        static MADE: OnceLock<Mutex<Made>> = OnceLock::new();
        let made = MADE.get_or_init(Mutex::default);
        let key = (rules.spec().to_json().to_string(), seats);
        let mut made = made.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
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
        let outcomes = outcomes(rules, seats);
        match spec.match_end {
            MatchEnd::Total(most)
                if seats == 2 && most <= LARGEST && spec.score == ScoreKnob::Points && values.fewest_wins =>
            {
                values.table = Some(iterate(&outcomes, i32::from(most)));
            }
            _ => values.slopes = values.fit(&outcomes),
        }
        values
    }

    /// The chance of each seat, seat a first, to win the match, with these totals before a round that `starter` starts
    /// and after so many rounds. A win is shared by equal totals.
    pub fn chances(&self, totals: &[Score], starter: Seat, rounds: usize) -> [f64; MAX_SEATS] {
        if self.is_over(totals, rounds) {
            return self.shares(totals);
        }
        let mut chances = [0.0; MAX_SEATS];
        let points = |seat: usize| totals[seat].units().div_euclid(Score::UNITS);
        if let Some(table) = &self.table {
            for (seat, chance) in chances[..2].iter_mut().enumerate() {
                let starts = starter.index() == seat;
                *chance = table.values[table.place(points(seat), points(1 - seat), starts)];
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
        let all: f64 = chances.iter().sum();
        for chance in &mut chances {
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

    /// How far the match has come, in ten steps.
    fn stage(&self, totals: &[Score], rounds: usize) -> usize {
        match self.end {
            MatchEnd::Total(most) => {
                let highest = totals.iter().map(|total| total.units() / Score::UNITS).max().unwrap_or(0);
                (highest * 10 / i32::from(most).max(1)).clamp(0, 9) as usize
            }
            MatchEnd::Rounds(number) => (rounds * 10 / usize::from(number).max(1)).min(9),
        }
    }

    /// The slope of each stage by maximum likelihood: Newton's method, for the likelihood is concave.
    fn fit(&self, outcomes: &[Outcome]) -> Vec<f64> {
        const MATCHES: u32 = 3000;
        const MOST_ROUNDS: usize = 1000;
        let mut samples: Vec<Vec<([f64; MAX_SEATS], [f64; MAX_SEATS])>> = vec![Vec::new(); 10];
        let mut bits = Bits::new(SEED, 1);
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
                let (added, next) = outcomes[bits.below(outcomes.len() as u32) as usize];
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
        samples.iter().map(|samples| slope(&samples[..], self.seats)).collect()
    }
}

/// The β that makes the shares likeliest.
fn slope(samples: &[([f64; MAX_SEATS], [f64; MAX_SEATS])], seats: usize) -> f64 {
    const STEPS: usize = 30;
    let mut slope = 0.0;
    for _ in 0..STEPS {
        // A weak prior keeps stages with few samples near 0.
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

/// e to this power, by its series with halved argument: the same on every machine.
fn exponential(power: f64) -> f64 {
    const HALVINGS: i32 = 10;
    let small = power.clamp(-200.0, 200.0) / f64::from(1 << HALVINGS);
    let mut result = 1.0 + small * (1.0 + small / 2.0 * (1.0 + small / 3.0 * (1.0 + small / 4.0)));
    for _ in 0..HALVINGS {
        result *= result;
    }
    result
}

/// What rounds of the blueprint add, each from its starter on.
fn outcomes(rules: &Rules, seats: usize) -> Vec<Outcome> {
    let policy = Policy::Blueprint(HeuristicParams::default(), Knows::AsSeen);
    let mut deck = rules.deck().to_vec();
    let round = |number: u64| {
        let key = Key { seed: SEED, deal: number };
        deck.copy_from_slice(rules.deck());
        key.stream(Purpose::Deck, 0).shuffle(&mut deck);
        let mut dice = Dice(Bits::new(SEED, number as u32));
        let setup = Setup::new(rules, seats);
        let mut state = State::deal(&setup, &deck, &mut dice, &mut ()).expect("the rules fit the seats");
        policy.enter(&mut state);
        policy.finish(&mut state, Seat::A, &mut dice);
        let result = RoundResult::of(&state).expect("the round is over");
        let mut game = cambio_core::Match::new(rules, seats, Seat::A).expect("the rules fit the seats");
        game.add(&result);
        let mut added = [Score::default(); MAX_SEATS];
        added[..seats].copy_from_slice(result.scores());
        (added, game.setup().starter.index())
    };
    (0..ROUNDS).map(round).collect()
}

/// Values for two seats, by value iteration.
fn iterate(outcomes: &[Outcome], most: i32) -> Table {
    const SWEEPS: usize = 8;
    let width = (most - LOWEST).max(1) as usize;
    let mut table = Table { width, values: vec![0.5; width * width * 2] };
    let mut distinct: BTreeMap<(i32, i32, usize), f64> = BTreeMap::new();
    for (added, next) in outcomes {
        let points = |place: usize| added[place].units().div_euclid(Score::UNITS);
        *distinct.entry((points(0), points(1), *next)).or_default() += 1.0 / outcomes.len() as f64;
    }
    let mut places: Vec<(i32, i32)> =
        (LOWEST..most).flat_map(|own| (LOWEST..most).map(move |other| (own, other))).collect();
    places.sort_by_key(|(own, other)| -(own + other));
    for _ in 0..SWEEPS {
        for &(own, other) in &places {
            for starts in [false, true] {
                let mut value = 0.0;
                for (&(first, second, next), weight) in &distinct {
                    let (mine, theirs) = if starts { (first, second) } else { (second, first) };
                    let (own, other) = (own + mine, other + theirs);
                    // The starter has place 0: the seat starts the next round if the next starter is where it is.
                    let starts_next = (next == 0) == starts;
                    value += weight
                        * if own >= most || other >= most {
                            if own == other { 0.5 } else { f64::from(u8::from(own < other)) }
                        } else {
                            table.values[table.place(own, other, starts_next)]
                        };
                }
                let place = table.place(own, other, starts);
                table.values[place] = value;
            }
        }
    }
    table
}

/// Says what the end of a round is worth, in a match that stands as it does.
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

    /// A round begins in a match that stands like this.
    pub(crate) fn round_begins(&mut self, standing: &Standing<'_>) {
        self.totals[..standing.totals.len()].copy_from_slice(standing.totals);
        self.rounds = standing.round;
        if self.utility == Utility::Match && self.matches.is_none() {
            self.matches = Some(MatchValues::of(&standing.setup.rules, standing.setup.seats));
        }
    }

    /// What the end of this round is worth to each seat, seat a first, from 0 to 1.
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
                for seat in result.winners.iter() {
                    values[seat.index()] = 1.0 / result.winners.len() as f64;
                }
            }
            (Utility::Match, Some(matches)) => {
                let mut totals = self.totals;
                for (total, &score) in totals.iter_mut().zip(result.scores()) {
                    *total = *total + score;
                }
                let rules = world.table().rules();
                let mut game = cambio_core::Match::new(rules, result.seats, result.starter).expect("the rules fit");
                game.add(&result);
                values = matches.chances(&totals[..result.seats], game.setup().starter, self.rounds + 1);
            }
        }
        values
    }
}

/// 0.5 and a sixtieth of the points by which a seat has fewer than the others on average.
fn points(world: &State, result: &RoundResult, values: &mut [f64; MAX_SEATS]) {
    const SCALE: f64 = 60.0;
    // With what a call adds where rounds are scored in points; elsewhere the layouts alone count.
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
