//! The random player.

use cambio_core::testing::RandomAgent;

use crate::params;

params! {
    /// The parameters of the agent `random`.
    ///
    /// A window offers one pass and many cards, so uniform play snaps in nearly every window and collects many penalty cards. The games
    /// of `random(pass=0.9)` are longer and closer to human play.
    pub struct RandomParams {
        /// The probability of passing in a snap window; if not given, every legal decision is equally likely.
        pass: Option<f64> in 0.0..=1.0,
    }
}

impl RandomParams {
    pub(crate) fn agent(&self) -> RandomAgent {
        self.pass.map_or_else(RandomAgent::default, RandomAgent::passing)
    }
}
