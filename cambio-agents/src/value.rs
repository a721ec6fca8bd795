//! The value of a finished round for a seat: its win share, its points, or its chance to win the match.

mod matches;

use std::sync::Arc;

use cambio_core::play::RoundResult;
use cambio_core::rules::MAX_SEATS;
use cambio_core::rules::knob::Score as ScoreKnob;
use cambio_core::{Match, Score, Standing, State};

use crate::words;
pub use matches::MatchValues;

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
