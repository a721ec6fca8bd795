//! How a heuristic plays.

use crate::memory::MemoryParams;
use crate::params;

params! {
    /// The parameters of a [`Heuristic`](crate::Heuristic).
    pub struct HeuristicParams {
        /// Calls when the expected sum of its own cards is at most this, and `call_chance` agrees.
        call_at: f64 = 1000.0 in -1000.0..=1000.0,
        /// Calls only if it expects so many points fewer than the lowest other seat; a large negative number never minds.
        call_margin: f64 = -1000.0 in -1000.0..=1000.0,
        /// Calls when its chance to end below another seat is, as it reckons, at least this, in the geometric mean over
        /// the other seats; 0 calls by `call_at` alone.
        call_chance: f64 = 0.7 in 0.0..=1.0,
        /// How many points it expects each other seat to lose in its last turn, for `call_chance`.
        last_turn: f64 = 3.0 in 0.0..=20.0,
        /// Where totals of points decide a match: raises `call_at` by so many points for each 10 points that it is
        /// behind.
        chase: f64 = 0.0 in -20.0..=20.0,
        /// What it takes a card for that another seat knows and it does not: so many points below the mean.
        hoard: f64 = 2.0 in 0.0..=20.0,
        /// Keeps a card that saves more points than this.
        keep_gain: f64 = 0.0 in -20.0..=20.0,
        /// What a power is worth: a card with one is kept only if it saves so much more.
        power_worth: f64 = 2.0 in 0.0..=20.0,
        /// What it is worth to know an own card that it does not know.
        curiosity: f64 = 4.0 in 0.0..=20.0,
        /// Takes the pile's top if that saves so many points.
        take_gain: f64 = 8.0 in 0.0..=30.0,
        /// Swaps if that saves so many points.
        swap_gain: f64 = 0.0 in 0.0..=30.0,
        /// What it is worth to move a card that its owner knows and nobody else; 0 leaves others' knowledge alone.
        disrupt: f64 = 0.0 in 0.0..=20.0,
        /// Snaps an unknown own card if its expected gain is so many times its expected loss; 0 never does.
        gamble: f64 = 0.0 in 0.0..=100.0,
        /// Snaps cards of other seats if that saves so many points.
        foreign_gain: f64 = 0.5 in 0.0..=30.0,
        /// Touches a card as a bluff with this probability, where the rules know it.
        bluff: f64 = 0.0 in 0.0..=1.0,
        /// How it forgets.
        ..memory: MemoryParams,
    }
}
