//! The parameters of the heuristic.

use crate::memory::MemoryParams;
use crate::params;

params! {
    /// The parameters of a [`Heuristic`](crate::Heuristic).
    pub struct HeuristicParams {
        /// Calls when the expected sum of its own cards is at most this, and `call_chance` agrees.
        call_at: f64 = 1000.0 in -1000.0..=1000.0,
        /// Calls only if its expected sum is at least this much below that of the lowest other seat. A large negative number
        /// switches the condition off.
        call_margin: f64 = -1000.0 in -1000.0..=1000.0,
        /// Calls when it estimates its chance to end below another seat at this or more, in the geometric mean over the other
        /// seats. With 0 only `call_at` decides.
        call_chance: f64 = 0.7 in 0.0..=1.0,
        /// For `call_chance`: the points by which it expects each other seat to improve in its last turn.
        last_turn: f64 = 3.0 in 0.0..=20.0,
        /// If totals of points decide a match: raises `call_at` by this much for each 10 points that it is behind.
        chase: f64 = 0.0 in -20.0..=20.0,
        /// How far below the mean it estimates a card that another seat knows and it does not, in points.
        hoard: f64 = 2.0 in 0.0..=20.0,
        /// Keeps a card that saves more points than this.
        keep_gain: f64 = 0.0 in -20.0..=20.0,
        /// The value of using a power, in points: a card with a power is kept only if it saves this much more.
        power_worth: f64 = 2.0 in 0.0..=20.0,
        /// The value of learning an unknown own card, in points.
        curiosity: f64 = 4.0 in 0.0..=20.0,
        /// Takes the top of the pile if that saves at least this many points.
        take_gain: f64 = 8.0 in 0.0..=30.0,
        /// Swaps if that saves at least this many points.
        swap_gain: f64 = 0.0 in 0.0..=30.0,
        /// The value of moving a card that only its owner knows, in points. With 0 it does not try to disturb others.
        disrupt: f64 = 0.0 in 0.0..=20.0,
        /// Snaps an unknown own card if its expected gain is more than this many times its expected loss; 0 never does.
        gamble: f64 = 0.0 in 0.0..=100.0,
        /// Snaps cards of other seats if that saves at least this many points.
        foreign_gain: f64 = 0.5 in 0.0..=30.0,
        /// Touches a card as a bluff with this probability, if the rules allow it.
        bluff: f64 = 0.0 in 0.0..=1.0,
        /// How it forgets.
        ..memory: MemoryParams,
    }
}
