//! How a network fares against an agent.

use cambio_agents::{AgentSpec, Guarded, Learned, Network};
use cambio_core::rng::Key;
use cambio_core::{Agent, Deal, MatchError};
use cambio_exec::{Executor, Stopped, Worker};
use cambio_stats::{Interval, Moments, Support};

/// What a network won against one agent in every other seat.
#[derive(Clone, PartialEq, Debug)]
pub struct Judgement {
    /// The agent.
    pub against: String,
    /// The number of seats.
    pub seats: usize,
    /// The network's share of the wins, with a 95 % interval that is clustered by deal. Equals have 1 / seats.
    pub share: Interval,
}

/// Shares of a win are counted in parts of this size: every number of seats divides it.
const UNITS: i64 = 840;

/// Plays deals in all seats between a network and one agent in every other seat.
///
/// # Errors
/// The first match in order that could not be played; `None` if the executor was cancelled.
///
/// # Panics
/// If there are no deals.
pub fn judge(
    network: &Network,
    against: &AgentSpec,
    seats: usize,
    seed: u64,
    deals: u64,
    executor: &Executor,
) -> Result<Judgement, Option<MatchError>> {
    let rules = network.inputs().rules();
    let work = |deal: u64, worker: &Worker<'_>| {
        let mut won = 0;
        let mut played = Deal::new(rules, Key::new(seed, deal));
        for seat in 0..seats {
            if worker.is_stopped() {
                return None;
            }
            match share(&mut played, network, against, seats, seat) {
                Ok(share) => won += share,
                Err(error) => return Some(Err(error)),
            }
        }
        Some(Ok(won))
    };
    let commit = |moments: &mut Moments, _, won: Result<i64, MatchError>| {
        moments.add(seats as i64, won?);
        Ok(())
    };
    let mut moments = Moments::default();
    executor.run_watched(0..deals, &mut moments, work, commit, |_, _| Ok(())).map_err(|stopped| match stopped {
        Stopped::Cancelled => None,
        Stopped::Failed(error) => Some(error),
    })?;
    let share = moments.interval(UNITS as f64, Support::Share).expect("at least one deal was played");
    Ok(Judgement { against: against.to_string(), seats, share })
}

/// The network's share of the win in a seat, in parts of [`UNITS`].
fn share(
    deal: &mut Deal,
    network: &Network,
    against: &AgentSpec,
    seats: usize,
    seat: usize,
) -> Result<i64, MatchError> {
    let mut agents: Vec<Guarded<Box<dyn Agent>>> = Vec::with_capacity(seats);
    for other in 0..seats {
        let agent = if other == seat { Box::new(Learned::new(network.clone())) } else { against.make() };
        agents.push(Guarded::new(agent));
    }
    let result = deal.play(seats, &mut agents, &mut ())?;
    let winners = result.ranks.iter().filter(|&&rank| rank == 1).count() as i64;
    Ok(if result.ranks[seat] == 1 { UNITS / winners } else { 0 })
}
