//! Lookahead: the learned player, which plays out what its best candidates lead to before it decides.
//!
//! It is a search of one ply (as SPARTA: Lerer, Hu, Foerster and Brown 2020) over its own network. What is its own: worlds
//! are drawn in proportion to how likely the network makes what the other seats decided in them; every candidate is played
//! out in the same worlds by the same chance, and only differences to the network's choice count; and these are averaged
//! with what the network itself says, so that noise alone does not overrule it. Candidates that fall behind are dropped.

use cambio_core::knob::MatchEnd;
use cambio_core::rng::Stream;
use cambio_core::{Action, Agent, AgentError, Briefing, Dice, Explanation, Notice, Observation, Seat, State};
use rand::Rng as _;

use crate::bits::Bits;
use crate::inference::{Draw, Inference};
use crate::learned::Network;
use crate::params;
use crate::policy::{Follow, NetworkPolicy, Policy as _};
use crate::search::{Arm, explained, strided};
use crate::value::{Utility, Valuer};

params! {
    /// The parameters of [`Lookahead`].
    pub struct LookaheadParams {
        /// In how many worlds the candidates are played out, at most.
        worlds: u32 = 240 in 1..=100_000,
        /// Out of how many worlds these are drawn, by how likely each makes what the others did.
        proposals: u32 = 1500 in 1..=1_000_000,
        /// How many of the others' last decisions tell of their cards; 0 believes nothing.
        last: u32 = 64 in 0..=64,
        /// How the others are taken to decide: each with a probability proportional to exp(logit / temperature).
        temperature: f64 = 0.05 in 0.001..=10.0,
        /// How likely any other decision is.
        epsilon: f64 = 0.01 in 0.0001..=1.0,
        /// Candidates that the network values so much less are not tried, in logits.
        margin: f64 = 0.6 in 0.0..=100.0,
        /// How far the network's own differences are trusted: their standard error, in shares of a win.
        trust: f64 = 0.06 in 0.0001..=10.0,
    }
}

/// Worlds in which all candidates are tried before any is dropped.
const BATCH: usize = 16;
/// Tells the bits of playouts from those of the worlds that they are played in.
const PLAYOUTS: u64 = 0x5555;
/// What the variance of a difference is taken to be before it has been seen, and as how many worlds that counts.
const VARIANCE: (f64, f64) = (0.15, 8.0);

/// The learned player with a search.
///
/// It is a [spectator](Agent::is_spectator): without [`Notice::Table`] it infers nothing from the decisions of other seats.
///
/// ```
/// use cambio_agents::{Lookahead, LookaheadParams, roster};
/// use cambio_core::{Agent, Pairing, Rules, play_match, rng::Key};
///
/// let lookahead = Lookahead::shipped(&LookaheadParams { worlds: 20, ..LookaheadParams::default() });
/// let mut agents: [Box<dyn Agent>; 2] = [Box::new(lookahead), roster().parse("learned").unwrap().make()];
/// let pairing = Pairing { rules: Rules::preset("classic").unwrap(), seats: 2, key: Key::new(1, 0) };
/// assert!(play_match(&pairing, &mut agents, &mut ()).is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct Lookahead {
    params: LookaheadParams,
    policy: NetworkPolicy,
    /// Its memory of the match; `None` before the first.
    seated: Option<Seated>,
    arms: Vec<Arm>,
}

/// What the player keeps during a match.
#[derive(Clone, Debug)]
struct Seated {
    seat: Seat,
    stream: Stream,
    inference: Inference<NetworkPolicy>,
    valuer: Valuer,
}

impl Lookahead {
    /// A player by this network.
    pub fn new(network: Network, params: &LookaheadParams) -> Lookahead {
        Lookahead {
            policy: NetworkPolicy::new(network).at_temperature(params.temperature),
            ..Lookahead::shipped(params)
        }
    }

    /// A player by the network that comes with the cards it is given: see [`Network::shipped`].
    pub fn shipped(params: &LookaheadParams) -> Lookahead {
        let policy = NetworkPolicy::shipped().at_temperature(params.temperature);
        Lookahead { params: *params, policy, seated: None, arms: Vec::new() }
    }

    /// The candidates of the last decision that were played out, in the order of the choices, with the sums of what they
    /// gave more than the network's own choice; that one has no sum. Empty if the network was sure.
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
        let utility = if rules.spec().match_end == MatchEnd::Rounds(1) { Utility::Win } else { Utility::Match };
        let (inference, valuer) = (Inference::new(briefing, past), Valuer::new(utility));
        self.seated = Some(Seated { seat, stream: stream.clone(), inference, valuer });
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

    /// The candidates that were played out; none where the network was sure.
    fn explain(&self, _: &Observation<'_>, _: Action) -> Option<Explanation> {
        Some(explained("what it gives more than the network's own choice", &self.arms))
    }
}

impl Seated {
    fn decide(
        &mut self,
        view: &Observation<'_>,
        params: &LookaheadParams,
        policy: &mut NetworkPolicy,
        arms: &mut Vec<Arm>,
    ) -> Action {
        arms.clear();
        let choice = policy.decide(view, self.inference.past());
        let (weighing, inputs) = (policy.weighing(), policy.network().inputs());
        let best = weighing.best();
        let logits: Vec<f64> = weighing.logits().collect();
        // The network's own choice comes first.
        let rivals = (0..logits.len()).filter(|&place| place != best && logits[place] >= logits[best] - params.margin);
        let candidates: Vec<Candidate> = std::iter::once(Candidate { action: choice, prior: 0.0, ..Candidate::NONE })
            .chain(rivals.map(|place| Candidate {
                action: weighing.choice_of(inputs, view, place),
                prior: share(logits[place]) - share(logits[best]),
                ..Candidate::NONE
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
        let estimate = |candidate: &Candidate| candidate.estimate(params.trust).0;
        let better = candidates[1..].iter().filter(|&candidate| estimate(candidate) > 0.0);
        better.reduce(|best, one| if estimate(one) > estimate(best) { one } else { best }).map_or(choice, |c| c.action)
    }

    /// Plays the candidates out, all in the same worlds, until all but one have fallen behind.
    fn race(
        &mut self,
        view: &Observation<'_>,
        params: &LookaheadParams,
        policy: &mut NetworkPolicy,
        mut candidates: Vec<Candidate>,
    ) -> Vec<Candidate> {
        let base = self.stream.next_u64();
        let draw = Draw {
            worlds: params.worlds as usize,
            proposals: params.proposals as usize,
            last: params.last as usize,
            epsilon: params.epsilon,
        };
        let worlds = self.inference.draw(view, policy, &draw, base);
        // Resampled worlds come in the order of their proposals, those that are equal side by side.
        let mut live: Vec<usize> = (1..candidates.len()).collect();
        let mut tried = 0;
        while tried < worlds.len() && !live.is_empty() {
            let until = (tried + BATCH).min(worlds.len());
            for number in tried..until {
                let world = &worlds[strided(number, worlds.len())];
                let bits = Bits::new(base ^ PLAYOUTS, number as u32);
                let least = self.play_out(policy, world, candidates[0].action, bits);
                candidates[0].tries += 1.0;
                for &place in &live {
                    let more = self.play_out(policy, world, candidates[place].action, bits) - least;
                    candidates[place].add(more);
                }
            }
            tried = until;
            let estimate = |place: usize| candidates[place].estimate(params.trust);
            let lead = live.iter().map(|&place| estimate(place).0).fold(0.0, f64::max);
            live.retain(|&place| {
                let (mean, error) = estimate(place);
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

    /// What a decision is worth in a world where everybody plays on by the network.
    fn play_out(&self, policy: &mut NetworkPolicy, world: &State, action: Action, bits: Bits) -> f64 {
        let (mut world, mut past, mut dice) = (world.clone(), self.inference.past().clone(), Dice(bits));
        world.carry_out(action, &mut dice, &mut Follow(&mut past));
        policy.play_out(&mut world, &mut past, &mut dice);
        self.valuer.values(&world)[self.seat.index()]
    }
}

/// A candidate that is played out, against the network's own choice.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    action: Action,
    /// What the network says of the difference.
    prior: f64,
    tries: f64,
    /// Of the differences, and of their squares.
    sum: f64,
    squares: f64,
}

impl Candidate {
    const NONE: Candidate = Candidate { action: Action::Pass, prior: 0.0, tries: 0.0, sum: 0.0, squares: 0.0 };

    fn add(&mut self, difference: f64) {
        self.tries += 1.0;
        self.sum += difference;
        self.squares += difference * difference;
    }

    /// The difference and its standard error: the mean of what was seen and what the network says, each with the weight of
    /// its precision. `trust` is the standard error of the network.
    fn estimate(&self, trust: f64) -> (f64, f64) {
        let tries = self.tries.max(1.0);
        let mean = self.sum / tries;
        let (variance, as_many) = VARIANCE;
        let spread = (self.squares - tries * mean * mean + variance * as_many) / (self.tries + as_many);
        let (seen, said) = (self.tries / spread, 1.0 / (trust * trust));
        ((mean * seen + self.prior * said) / (seen + said), 1.0 / (seen + said).sqrt())
    }
}

/// The share of a win that a logit stands for.
fn share(logit: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-logit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_begins_with_what_the_network_says_and_ends_with_what_was_seen() {
        let mut candidate = Candidate { prior: -0.1, ..Candidate::NONE };
        let (mean, error) = candidate.estimate(0.05);
        assert!((mean + 0.1).abs() < 1e-12 && (error - 0.05).abs() < 1e-12, "{mean} {error}");
        for number in 0..10_000 {
            candidate.add(if number % 10 < 6 { 1.0 } else { -1.0 });
        }
        let (mean, error) = candidate.estimate(0.05);
        assert!((mean - 0.2).abs() < 0.015 && error < 0.011, "{mean} {error}");
    }
}
