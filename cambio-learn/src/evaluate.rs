//! Evaluation of a network against an agent.

use cambio_agents::{AgentSpec, Guarded, Learned, Network};
use cambio_core::play::MatchError;
use cambio_core::rng::Key;
use cambio_core::{Agent, Deal, Players, Referee};
use cambio_exec::{Executor, ExecutorError, Worker};
use cambio_stats::{Interval, Moments, Support, t_quantile};

/// The result of a network in one seat against one agent in all other seats.
#[derive(Clone, PartialEq, Debug)]
pub struct EvaluationResult {
    /// The agent in the other seats.
    pub against: String,
    /// The number of seats.
    pub seats: usize,
    /// The network's share of the wins, with a 95 % interval clustered by deal; 1 / seats if both are equally strong.
    pub share: Interval,
}

impl EvaluationResult {
    /// The one-sided 95 % lower limit of the share (Student's t).
    pub fn at_least(&self) -> Option<f64> {
        self.share.ends_at(t_quantile(0.95, self.share.freedom())).map(|(low, _)| low)
    }
}

/// The value of a win in units, so that an equal share of the win is a whole number for 1 to 8 winners.
const UNITS: i64 = 840;

/// Plays deals between a network, in each seat in turn, and one agent in all other seats. Deals cycle through the networks, which
/// may be one network under several rule systems; a system whose deck is too small for the seats is skipped.
///
/// # Errors
/// The error of the first match, in order of the deals, that could not be played; `None` if the executor was cancelled.
///
/// # Panics
/// If there are no deals.
pub fn judge(
    networks: &[Network],
    against: &AgentSpec,
    seats: usize,
    seed: u64,
    deals: u64,
    executor: &Executor,
) -> Result<EvaluationResult, Option<MatchError>> {
    let is_covered = |network: &&Network| network.inputs().rules().covers(seats).is_ok();
    let networks: Vec<&Network> = networks.iter().filter(is_covered).collect();
    let work = |deal: u64, worker: &Worker<'_>| {
        let network = networks[deal as usize % networks.len()];
        let rules = network.inputs().rules();
        let key = Key::new(seed, deal);
        let mut agents: Vec<Box<dyn Agent>> = vec![Box::new(Learned::new(network.clone()))];
        agents.resize_with(seats, || against.make());
        let play = || -> Result<Option<i64>, MatchError> {
            let players = Players::all(agents.into_iter().map(Guarded::new));
            let (mut referee, mut won) = (Referee::new(Deal::new(rules, key), players, ())?, 0);
            for seat in 0..seats {
                if worker.is_stopped() {
                    return Ok(None);
                }
                if seat > 0 {
                    referee.players_mut().agents_mut().rotate_right(1);
                    referee.restart(key)?;
                }
                referee.run()?;
                let ranks = referee.playing().result().expect("an agent sits in every seat").ranks;
                let winners = ranks.iter().filter(|&&rank| rank == 1).count() as i64;
                won += if ranks[seat] == 1 { UNITS / winners } else { 0 };
            }
            Ok(Some(won))
        };
        play().transpose()
    };
    let commit = |moments: &mut Moments, _, won: Result<i64, MatchError>| {
        moments.add(seats as i64, won?);
        Ok(())
    };
    let mut moments = Moments::default();
    executor.run_watched(0..deals, &mut moments, work, commit, |_, _| Ok(())).map_err(|stopped| match stopped {
        ExecutorError::Cancelled => None,
        ExecutorError::Failed(error) => Some(error),
    })?;
    let share = moments.interval(UNITS as f64, Support::Share).expect("at least one deal was played");
    Ok(EvaluationResult { against: against.to_string(), seats, share })
}
