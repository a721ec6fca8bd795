//! An analysis agent that sees every card: an upper bound to measure players against, not a player.
//!
//! Agents never receive a state, so an oracle has two parts. The [`Oracle`] sits at the table like any agent. Its
//! [observer](Agent::observer) sees the state before each decision and searches there; the program that runs the match must
//! add it. Without the observer, the oracle fails at its first decision, so it cannot play by mistake.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cambio_core::{Action, Agent, AgentError, Briefing, Notice, Observation, Observer, Seat, State};

use crate::belief::Likelihood;
use crate::heuristic::HeuristicParams;
use crate::params;
use crate::playout::PlayoutPolicy;
use crate::search::{Budget, SearchParams, SearchSettings, SearchState, TimeParams};
use crate::tree::{Searcher, TreeMode};
use crate::value::Utility;

params! {
    /// The parameters of [`Oracle`].
    pub(crate) struct OracleParams {
        /// The number of search iterations for a decision.
        iterations: u32 = 1000 in 1..=1_000_000,
        /// The value of a round for a seat: its win share, its points relative to the other seats, or its chance to win
        /// the match.
        utility: Utility = Utility::Points,
    }
}

/// An analyst that takes the decision that its [observer](Agent::observer) found best.
///
/// ```
/// use cambio_agents::roster;
/// use cambio_core::{Agent, MatchSetup, Rules, play_match, rng::Key};
///
/// let oracle = roster().parse("oracle(iterations=50)").unwrap().make();
/// let mut observer = oracle.observer().unwrap();
/// let mut agents: [Box<dyn Agent>; 2] = [oracle, roster().parse("greedy").unwrap().make()];
/// let match_setup = MatchSetup { rules: Rules::preset("classic").unwrap(), seats: 2, key: Key::new(1, 0) };
/// assert!(play_match(&match_setup, &mut agents, &mut ()).is_err(), "it needs its observer");
/// play_match(&match_setup, &mut agents, &mut observer).unwrap();
/// ```
#[derive(Clone, Debug)]
pub(crate) struct Oracle {
    mind: Arc<Mutex<OracleState>>,
}

/// The observer of an [`Oracle`]: sees the state before each decision of the oracle, and searches from there.
#[derive(Debug)]
struct OracleObserver {
    mind: Arc<Mutex<OracleState>>,
}

/// The state that an oracle and its observer share.
#[derive(Clone, Debug)]
struct OracleState {
    searcher: Searcher<HeuristicParams>,
    at: Option<(Seat, SearchState<HeuristicParams>)>,
    advice: Option<Action>,
}

fn lock(mind: &Mutex<OracleState>) -> MutexGuard<'_, OracleState> {
    mind.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Oracle {
    /// An oracle.
    pub(crate) fn new(params: &OracleParams) -> Oracle {
        let blueprint = HeuristicParams::default();
        let budget = Budget::new(params.iterations, TimeParams::default());
        let epsilon = Likelihood::default().epsilon;
        let settings = SearchSettings::new(blueprint, budget, params.utility, epsilon, &SearchParams::default());
        let mut searcher = Searcher::new(settings, TreeMode::Policy);
        searcher.settings.playouts.policy = PlayoutPolicy::Clairvoyant(blueprint);
        searcher.growth.expand = 2;
        searcher.growth.prior = 0.5;
        searcher.growth.sees_all = true;
        let mind = Arc::new(Mutex::new(OracleState { searcher, at: None, advice: None }));
        Oracle { mind }
    }
}

impl Observer for OracleObserver {
    fn asks(&mut self, state: &State, seat: Seat) {
        let mind = &mut *lock(&self.mind);
        if let Some((at, seated)) = &mut mind.at
            && *at == seat
        {
            let view = state.observe(seat);
            let advice = mind.searcher.search(&view, seated, &mut Vec::new(), |_, _, _, _| state.clone());
            mind.advice = Some(advice);
        }
    }
}

impl Agent for Oracle {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        let mind = &mut *lock(&self.mind);
        let seated = mind.searcher.settings.seat(briefing)?;
        mind.at = Some((briefing.seat, seated));
        mind.advice = None;
        Ok(())
    }

    fn notice(&mut self, notice: Notice<'_>) {
        if let Notice::RoundBegins(_) = notice {
            let OracleState { searcher, at, .. } = &mut *lock(&self.mind);
            searcher.settings.notice(at.as_mut().map(|(_, seated)| seated), notice);
        }
    }

    fn decide(&mut self, _: &Observation<'_>) -> Result<Action, AgentError> {
        let advice = lock(&self.mind).advice.take();
        advice.ok_or_else(|| "an oracle sees every card, and this match does not show them to it".into())
    }

    fn observer(&self) -> Option<Box<dyn Observer + Send>> {
        Some(Box::new(OracleObserver { mind: Arc::clone(&self.mind) }))
    }
}
