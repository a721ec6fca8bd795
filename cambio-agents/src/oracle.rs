//! An analyst that sees every card: a ceiling to measure players against, and no player.
//!
//! Agents never receive a state, so an oracle is in two parts. The [`Oracle`] sits at the table like any agent and decides what
//! it is told; its [observer](Extensions::observer) is a scribe, which whoever plays the match has to let watch. Without it the oracle is in
//! trouble at its first decision: it cannot be entered by mistake.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cambio_core::{Action, Agent, Briefing, Observation, Scribe, Seat, Sighting, Standing, State};

use crate::heuristic::HeuristicParams;
use crate::ismcts::Searcher;
use crate::params;
use crate::player::Extensions;
use crate::playout::Policy;
use crate::search::{Seated, Settings};
use crate::tree::Mode;
use crate::value::Utility;

params! {
    /// The parameters of [`Oracle`].
    pub struct OracleParams {
        /// How often the true course of the round is searched for a decision.
        iterations: u32 = 1000 in 1..=1_000_000,
        /// What a round is worth: the share of its win, its points against the others', or the chance to win the match.
        utility: Utility = Utility::Points,
    }
}

/// Decides what its [observer](Extensions::observer) has seen to be best.
#[derive(Clone, Debug)]
pub struct Oracle {
    mind: Arc<Mutex<Mind>>,
    is_blind: bool,
}

/// Sees the state before each decision of its [`Oracle`].
#[derive(Debug)]
struct Eye {
    mind: Arc<Mutex<Mind>>,
}

#[derive(Clone, Debug)]
struct Mind {
    searcher: Searcher,
    at: Option<(Seat, Seated)>,
    advice: Option<Action>,
}

fn lock(mind: &Mutex<Mind>) -> MutexGuard<'_, Mind> {
    mind.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Oracle {
    /// The oracle that these parameters describe.
    pub fn new(params: &OracleParams) -> Oracle {
        let blueprint = HeuristicParams::default();
        let settings = Settings { iterations: params.iterations, utility: params.utility, ..Settings::default() };
        let searcher = Searcher {
            policy: Policy::Clairvoyant(blueprint),
            expand: 2,
            prior: 0.5,
            sees_all: true,
            ..Searcher::new(settings, Mode::Policy)
        };
        let mind = Arc::new(Mutex::new(Mind { searcher, at: None, advice: None }));
        Oracle { mind, is_blind: false }
    }
}

impl Extensions for Oracle {
    fn observer(&self) -> Option<Box<dyn Scribe + Send>> {
        Some(Box::new(Eye { mind: Arc::clone(&self.mind) }))
    }
}

impl Scribe for Eye {
    fn asks(&mut self, state: &State, seat: Seat) {
        let mind = &mut *lock(&self.mind);
        if let Some((at, seated)) = &mut mind.at
            && *at == seat
        {
            let view = state.observe(seat);
            let advice = mind.searcher.search(&view, seated, &mut Vec::new(), |_, _| state.clone());
            mind.advice = Some(advice);
        }
    }
}

impl Agent for Oracle {
    fn begin(&mut self, briefing: &Briefing<'_>) {
        let mind = &mut *lock(&self.mind);
        let seated = Seated::new(briefing, &mind.searcher.settings);
        mind.at = Some((briefing.seat, seated));
        mind.advice = None;
        self.is_blind = false;
    }

    fn round_begins(&mut self, standing: &Standing<'_>) {
        if let Some((_, seated)) = &mut lock(&self.mind).at {
            seated.round_begins(standing);
        }
    }

    fn notice(&mut self, _: &Sighting) {}

    fn decide(&mut self, view: &Observation<'_>) -> Action {
        let advice = lock(&self.mind).advice.take();
        self.is_blind = advice.is_none();
        advice.or_else(|| view.choices().nth(0)).expect("who is asked has a choice")
    }

    fn trouble(&mut self) -> Option<String> {
        self.is_blind.then(|| "an oracle sees every card, and nobody shows them to it here".to_owned())
    }
}
