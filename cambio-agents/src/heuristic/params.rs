//! The parameters of the heuristic.

use crate::memory::MemoryParams;
use crate::params;

params! {
    /// The parameters of a [`Heuristic`](crate::Heuristic).
    pub struct HeuristicParams {
        /// Calls when its expected sum is at most this and its estimated chance is at least `call_chance`.
        call_at: f64 = 1000.0 in -1000.0..=1000.0,
        /// Calls only if its expected sum is at least this much below the lowest expected sum of another seat. -1000
        /// turns this condition off.
        call_margin: f64 = -1000.0 in -1000.0..=1000.0,
        /// Calls only if its estimated chance to end below another seat, as the geometric mean over the other seats, is
        /// at least this. 0 turns this condition off.
        call_chance: f64 = 0.7 in 0.0..=1.0,
        /// For `call_chance`: the points that it expects each other seat to save in its last turn.
        last_turn: f64 = 3.0 in 0.0..=20.0,
        /// In a match decided by totals of points: raises `call_at` by this much for each 10 points that it trails.
        chase: f64 = 0.0 in -20.0..=20.0,
        /// How many points below the mean it expects an unknown card to be if the owner of the card knows it.
        hoard: f64 = 2.0 in 0.0..=20.0,
        /// Keeps a card only if that saves more points than this.
        keep_gain: f64 = 0.0 in -20.0..=20.0,
        /// The value of using a power, in points: a card with a power is kept only if it saves this much more.
        power_worth: f64 = 2.0 in 0.0..=20.0,
        /// The value of learning one of its own unknown cards, in points.
        curiosity: f64 = 4.0 in 0.0..=20.0,
        /// Takes the top card of the pile if that saves at least this many points.
        take_gain: f64 = 8.0 in 0.0..=30.0,
        /// Swaps if that saves at least this many points.
        swap_gain: f64 = 0.0 in 0.0..=30.0,
        /// The value of moving a card that only its owner knows, in points. With 0 it makes no such swaps.
        disrupt: f64 = 0.0 in 0.0..=20.0,
        /// Snaps unknown cards of its own if the expected gain exceeds this many times the expected loss; never with 0.
        gamble: f64 = 0.0 in 0.0..=100.0,
        /// Snaps cards of other seats if that saves at least this many points.
        foreign_gain: f64 = 0.5 in 0.0..=30.0,
        /// Touches a card as a bluff with this probability, if the rules allow it.
        bluff: f64 = 0.0 in 0.0..=1.0,
        /// The parameters of its memory.
        ..memory: MemoryParams,
    }
}
