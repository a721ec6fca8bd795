//! The random player.

use cambio_core::rng::{Bounded as _, Stream};
use cambio_core::{Action, Agent, AgentError, Briefing, Observation, Phase};

use crate::params;

params! {
    /// The parameters of [`Random`].
    pub struct RandomParams {
        /// The probability of passing in a snap window; if not given, every legal decision is equally likely.
        pass: Option<f64> in 0.0..=1.0,
    }
}

/// A player that chooses uniformly among the legal decisions. If `pass` is given, it passes in snap windows with that
/// probability.
///
/// A window offers one pass and many cards, so uniform play snaps in nearly every window and collects many penalty
/// cards. The games of `random(pass=0.9)` are longer and closer to human play.
#[derive(Clone, Debug)]
pub struct Random {
    pass: Option<u32>,
    stream: Option<Stream>,
}

const SCALE: u32 = 1 << 30;

impl Random {
    /// A random player. The probability `pass` is rounded to the nearest 2⁻³⁰.
    pub fn new(params: &RandomParams) -> Random {
        Random { pass: params.pass.map(|p| (p.clamp(0.0, 1.0) * f64::from(SCALE)).round() as u32), stream: None }
    }
}

impl Agent for Random {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        self.stream = Some(briefing.stream.clone());
        Ok(())
    }

    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        let stream = self.stream.as_mut().expect("a match begins with a briefing");
        let choices = view.choices();
        if let (Some(pass), Phase::Window) = (self.pass, view.table().phase())
            && stream.chance(pass, SCALE)
        {
            return Ok(Action::Pass);
        }
        Ok(choices.nth(stream.below(choices.len() as u32) as usize).expect("the number is below the choices"))
    }

    fn probabilities(&mut self, view: &Observation<'_>) -> Result<Option<Vec<f64>>, AgentError> {
        let choices = view.choices();
        let passes = match (self.pass, view.table().phase()) {
            (Some(pass), Phase::Window) => f64::from(pass) / f64::from(SCALE),
            _ => 0.0,
        };
        let uniform = (1.0 - passes) / choices.len() as f64;
        Ok(Some(choices.iter().map(|choice| if choice == Action::Pass { passes + uniform } else { uniform }).collect()))
    }
}
