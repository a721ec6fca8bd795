//! Lookahead: the learned player with playouts of its best candidates.
//!
//! A one-ply search over the player's network, as in SPARTA (Lerer, Hu, Foerster and Brown 2020), with changes. Worlds
//! are drawn by the likelihood of the other seats' decisions under the network. All candidates are played out in the
//! same worlds with the same random numbers, and compared with the network's choice. The differences are averaged with
//! the network's own estimates, so that noise does not overrule them. Candidates that fall behind are dropped.

use cambio_core::engine::Dice;
use cambio_core::play::Explanation;
use cambio_core::rng::Stream;
use cambio_core::rules::knob::MatchEnd;
use cambio_core::{Action, Agent, AgentError, Briefing, Notice, Observation, Seat, State};
use rand::Rng as _;

use crate::bits::Bits;
use crate::inference::{Inference, SamplingSettings};
use crate::learned::Network;
use crate::params;
use crate::policy::{HistorySink, NetworkPolicy, Policy as _};
use crate::search::{Arm, explained, strided};
use crate::value::{Utility, Valuer};

params! {
    /// The parameters of [`Lookahead`].
    pub struct LookaheadParams {
        /// The maximum number of worlds in which the candidates are played out.
        worlds: u32 = 240 in 1..=100_000,
        /// The number of proposals: `worlds` are resampled from them by the likelihood of the other seats' decisions.
        proposals: u32 = 1500 in 1..=1_000_000,
        /// The number of the other seats' latest decisions that are used as evidence; 0 turns inference off.
        last: u32 = 64 in 0..=64,
        /// The other seats are assumed to take a decision with probability proportional to exp(its logit / temperature).
        temperature: f64 = 0.05 in 0.001..=10.0,
        /// The probability that another seat decides at random instead.
        epsilon: f64 = 0.01 in 0.0001..=1.0,
        /// Candidates whose logit is more than this below the best are not tried.
        margin: f64 = 0.6 in 0.0..=100.0,
        /// The assumed standard error of the differences that the network estimates between candidates, in win shares.
        trust: f64 = 0.06 in 0.0001..=10.0,
    }
}

/// The number of worlds in which all candidates are tried before any is dropped.
const BATCH: usize = 16;
/// Makes the random bits of playouts different from the random bits of worlds.
const PLAYOUTS: u64 = 0x5555;
/// The prior variance of a difference, and the weight of this prior as a number of worlds.
const VARIANCE: (f64, f64) = (0.15, 8.0);

/// The learned player with a search.
///
/// The player is a [spectator](Agent::is_spectator): without [`Notice::Table`] it infers nothing about other seats.
///
/// ```
/// use cambio_agents::{Lookahead, LookaheadParams, roster};
/// use cambio_core::{Agent, MatchSetup, Rules, play_match, rng::Key};
///
/// let lookahead = Lookahead::shipped(&LookaheadParams { worlds: 20, ..LookaheadParams::default() });
/// let mut agents: [Box<dyn Agent>; 2] = [Box::new(lookahead), roster().parse("learned").unwrap().make()];
/// let match_setup = MatchSetup { rules: Rules::preset("classic").unwrap(), seats: 2, key: Key::new(1, 0) };
/// assert!(play_match(&match_setup, &mut agents, &mut ()).is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct Lookahead {
    params: LookaheadParams,
    policy: NetworkPolicy,
    /// The state during a match; `None` before the first match.
    seated: Option<LookaheadState>,
    arms: Vec<Arm>,
}

/// The state during a match.
#[derive(Clone, Debug)]
struct LookaheadState {
    seat: Seat,
    stream: Stream,
    inference: Inference<NetworkPolicy>,
    valuer: Valuer,
}

impl Lookahead {
    /// A player with this network.
    pub fn new(network: Network, params: &LookaheadParams) -> Lookahead {
        Lookahead {
            policy: NetworkPolicy::new(network).at_temperature(params.temperature),
            ..Lookahead::shipped(params)
        }
    }

    /// A player with the bundled network: see [`Network::shipped`].
    pub fn shipped(params: &LookaheadParams) -> Lookahead {
        let policy = NetworkPolicy::shipped().at_temperature(params.temperature);
        Lookahead { params: *params, policy, seated: None, arms: Vec::new() }
    }

    /// The candidates of the last decision that were played out: first the network's own choice, with the sum 0, then
    /// the other candidates, with the sums of their gains over that choice. Empty if there was only one candidate.
    pub fn arms(&self) -> &[Arm] {
        &self.arms
    }
}

impl Agent for Lookahead {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        self.arms.clear();
        self.seated = None;
        let Briefing { rules, seats, seat, stream } = *briefing;
        let past = self.policy.begin(rules, seats)?;
        if self.policy.network().is_policy() {
            return Err(
                "its network gives probabilities and no values, which the search needs; learned(\"FILE\") plays it"
                    .into(),
            );
        }
        let utility = if rules.spec().match_end == MatchEnd::Rounds(1) { Utility::Win } else { Utility::Match };
        let (inference, valuer) = (Inference::new(briefing, past), Valuer::new(utility));
        self.seated = Some(LookaheadState { seat, stream: stream.clone(), inference, valuer });
        Ok(())
    }

    fn notice(&mut self, notice: Notice<'_>) {
        let Some(seated) = &mut self.seated else { return };
        match notice {
            Notice::Event(sighting) => seated.inference.notice(sighting),
            Notice::Table(table) => seated.inference.spectate(table),
            Notice::RoundBegins(standing) => {
                seated.valuer.round_begins(standing);
                self.policy.round_begins(standing);
            }
            _ => {}
        }
    }

    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        let seated = self.seated.as_mut().expect("a match begins with a briefing");
        Ok(seated.decide(view, &self.params, &mut self.policy, &mut self.arms))
    }

    fn is_spectator(&self) -> bool {
        self.params.last > 0
    }

    /// The candidates that were played out; none if there was only one candidate.
    fn explain(&self, _: &Observation<'_>, _: Action) -> Option<Explanation> {
        Some(explained("gain over the network's first choice", &self.arms))
    }
}

impl LookaheadState {
    fn decide(
        &mut self,
        view: &Observation<'_>,
        params: &LookaheadParams,
        policy: &mut NetworkPolicy,
        arms: &mut Vec<Arm>,
    ) -> Action {
        arms.clear();
        let choice = policy.decide(view, self.inference.past());
        let (evaluation, inputs) = (policy.evaluation(), policy.network().inputs());
        let best = evaluation.best();
        let logits: Vec<f64> = evaluation.logits().collect();
        // The network's own choice comes first.
        let rivals = (0..logits.len()).filter(|&index| index != best && logits[index] >= logits[best] - params.margin);
        let candidates: Vec<PlayedCandidate> =
            std::iter::once(PlayedCandidate { action: choice, prior: 0.0, ..PlayedCandidate::NONE })
                .chain(rivals.map(|index| PlayedCandidate {
                    action: evaluation.choice_of(inputs, view, index),
                    prior: share(logits[index]) - share(logits[best]),
                    ..PlayedCandidate::NONE
                }))
                .collect();
        if candidates.len() == 1 {
            return choice;
        }
        let candidates = self.race(view, params, policy, candidates);
        arms.extend(candidates.iter().map(|candidate| Arm {
            action: candidate.action,
            visits: candidate.tries as u32,
            sum: candidate.sum,
            squares: candidate.squares,
        }));
        let estimate = |candidate: &PlayedCandidate| candidate.estimate(params.trust).0;
        let better = candidates[1..].iter().filter(|&candidate| estimate(candidate) > 0.0);
        better.reduce(|best, one| if estimate(one) > estimate(best) { one } else { best }).map_or(choice, |c| c.action)
    }

    /// Plays the candidates out, all in the same worlds, until no rival is left, or a single, clearly better one.
    fn race(
        &mut self,
        view: &Observation<'_>,
        params: &LookaheadParams,
        policy: &mut NetworkPolicy,
        mut candidates: Vec<PlayedCandidate>,
    ) -> Vec<PlayedCandidate> {
        let base = self.stream.next_u64();
        let draw = SamplingSettings {
            worlds: params.worlds as usize,
            proposals: params.proposals as usize,
            last: params.last as usize,
            epsilon: params.epsilon,
        };
        let worlds = self.inference.draw(view, policy, &draw, base);
        // Resampled worlds are in the order of their proposals, so equal worlds are adjacent; `strided` separates them.
        let mut live: Vec<usize> = (1..candidates.len()).collect();
        let mut tried = 0;
        while tried < worlds.len() && !live.is_empty() {
            let until = (tried + BATCH).min(worlds.len());
            for number in tried..until {
                let world = &worlds[strided(number, worlds.len())];
                let bits = Bits::new(base ^ PLAYOUTS, number as u32);
                let least = self.play_out(policy, world, candidates[0].action, bits);
                candidates[0].tries += 1.0;
                for &index in &live {
                    let more = self.play_out(policy, world, candidates[index].action, bits) - least;
                    candidates[index].add(more);
                }
            }
            tried = until;
            let estimate = |index: usize| candidates[index].estimate(params.trust);
            let lead = live.iter().map(|&index| estimate(index).0).fold(0.0, f64::max);
            live.retain(|&index| {
                let (mean, error) = estimate(index);
                mean + error > lead
            });
            if let [last] = live[..] {
                let (mean, error) = estimate(last);
                if mean > 2.0 * error {
                    break;
                }
            }
        }
        candidates
    }

    /// The utility of a decision in a world if all seats continue with the network.
    fn play_out(&self, policy: &mut NetworkPolicy, world: &State, action: Action, bits: Bits) -> f64 {
        let (mut world, mut past, mut dice) = (world.clone(), self.inference.past().clone(), Dice(bits));
        world.carry_out(action, &mut dice, &mut HistorySink(&mut past));
        policy.play_out(&mut world, &mut past, &mut dice);
        self.valuer.values(&world)[self.seat.index()]
    }
}

/// A candidate that is played out, against the network's own choice.
#[derive(Clone, Copy, Debug)]
struct PlayedCandidate {
    action: Action,
    /// The difference from the network's own choice, as the network estimates it.
    prior: f64,
    tries: f64,
    /// The sum of the measured differences; the next field is the sum of their squares.
    sum: f64,
    squares: f64,
}

impl PlayedCandidate {
    const NONE: PlayedCandidate =
        PlayedCandidate { action: Action::Pass, prior: 0.0, tries: 0.0, sum: 0.0, squares: 0.0 };

    fn add(&mut self, difference: f64) {
        self.tries += 1.0;
        self.sum += difference;
        self.squares += difference * difference;
    }

    /// The estimated difference and its standard error: the mean of the playouts and the network's estimate, weighted
    /// by precision. `trust` is the standard error of the network's estimate.
    fn estimate(&self, trust: f64) -> (f64, f64) {
        let tries = self.tries.max(1.0);
        let mean = self.sum / tries;
        let (variance, as_many) = VARIANCE;
        let spread = (self.squares - tries * mean * mean + variance * as_many) / (self.tries + as_many);
        let (playouts, network) = (self.tries / spread, 1.0 / (trust * trust));
        ((mean * playouts + self.prior * network) / (playouts + network), 1.0 / (playouts + network).sqrt())
    }
}

/// Converts a logit to a win share.
fn share(logit: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-logit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_begins_with_what_the_network_says_and_ends_with_what_was_seen() {
        let mut candidate = PlayedCandidate { prior: -0.1, ..PlayedCandidate::NONE };
        let (mean, error) = candidate.estimate(0.05);
        assert!((mean + 0.1).abs() < 1e-12 && (error - 0.05).abs() < 1e-12, "{mean} {error}");
        for number in 0..10_000 {
            candidate.add(if number % 10 < 6 { 1.0 } else { -1.0 });
        }
        let (mean, error) = candidate.estimate(0.05);
        assert!((mean - 0.2).abs() < 0.015 && error < 0.011, "{mean} {error}");
    }
}
