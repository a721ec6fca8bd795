//! The advantage of decisions over the decisions of a policy.

use cambio_core::engine::{Dice, Setup};
use cambio_core::play::RoundResult;
use cambio_core::rng::{SplitMix, Stream};
use cambio_core::view::CardHistory;
use cambio_core::{Action, Card, Event, Observer, Phase, Rules, Seat, Standing, State};
use rand::Rng as _;

use crate::policy::{HistorySink, Policy, PublicHistory as _};

/// Observes a round and measures the advantage of a seat's decisions over the decisions that a policy would have taken.
///
/// If the two decisions differ, the true state is played out many times from both, with the policy in every seat and
/// the same random numbers. In each playout, the cards that no seat has seen are dealt again. The difference between
/// the win shares is the decision's *advantage*. If the policy plays in all other seats, the expected sum of a round's
/// advantages is the seat's expected win share minus that of the policy in the seat (the performance difference lemma:
/// Kakade and Langford 2002). This sum is less noisy than results, because most of the luck cancels. Decisions that
/// differ only in cards that the seat cannot distinguish ([`CardHistory::are_alike_decisions`]) count as the same.
///
/// In a match of several rounds, each round is measured separately, by the win share of that round.
///
/// ```
/// use cambio_agents::{AdvantageEstimator, Blueprint, PolicyAgent, Preset, roster};
/// use cambio_core::{Agent, MatchSetup, Rules, Seat, play_match, rng::Key};
///
/// let (rules, key) = (Rules::preset("classic").unwrap(), Key::new(1, 0));
/// let sharp = Blueprint::Heuristic(Preset::Sharp.params());
/// let mut advantage = AdvantageEstimator::new(sharp.clone(), &rules, 2, Seat::A, 100, key.agent(Seat::A)).unwrap();
/// let mut agents: [Box<dyn Agent>; 2] = [roster().parse("random").unwrap().make(), Box::new(PolicyAgent::new(sharp))];
/// play_match(&MatchSetup { rules, seats: 2, key }, &mut agents, &mut advantage).unwrap();
/// let worth: f64 = advantage.decided().iter().map(|decided| decided.advantage).sum();
/// assert!(worth < 0.0, "random decisions are worse than the decisions of sharp");
/// ```
#[derive(Clone, Debug)]
pub struct AdvantageEstimator<P: Policy> {
    policy: P,
    past: P::History,
    history: CardHistory,
    seat: Seat,
    playouts: u32,
    stream: Stream,
    decided: Vec<DecisionAdvantage>,
}

/// A decision of the seat.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DecisionAdvantage {
    /// The phase of the decision.
    pub phase: Phase,
    /// The decision.
    pub action: Action,
    /// The decision of the policy.
    pub instead: Action,
    /// Whether the seat could distinguish the two decisions.
    pub differs: bool,
    /// The win share after the decision minus the win share after the policy's decision; 0 if they do not differ.
    pub advantage: f64,
}

impl<P: Policy> AdvantageEstimator<P> {
    /// Measures `seat` at a table of `seats` seats, with `playouts` playouts for each of the two decisions. No agent
    /// should use the same random stream.
    ///
    /// # Errors
    /// If the policy cannot play at this table. The error is a clause with the reason.
    pub fn new(
        mut policy: P,
        rules: &Rules,
        seats: usize,
        seat: Seat,
        playouts: u32,
        stream: Stream,
    ) -> Result<AdvantageEstimator<P>, String> {
        let past = policy.begin(rules, seats)?;
        let history = CardHistory::new(rules, seats);
        Ok(AdvantageEstimator { policy, past, history, seat, playouts, stream, decided: Vec::new() })
    }

    /// The decisions at which the seat had a choice, in order.
    pub fn decided(&self) -> &[DecisionAdvantage] {
        &self.decided
    }

    /// The seat's mean win share if it takes this decision now.
    fn worth(&mut self, state: &State, action: Action, base: u64) -> f64 {
        let mut won = 0.0;
        for number in 0..self.playouts {
            let (mut world, mut past, mut dice) = (state.clone(), self.past.clone(), Dice(SplitMix::new(base, number)));
            world.redeal_unseen(&mut dice);
            world.carry_out(action, &mut dice, &mut HistorySink(&mut past));
            self.policy.play_out(&mut world, &mut past, &mut dice);
            let winners = RoundResult::of(&world).expect("the round is over and settled").winners;
            won += if winners.contains(self.seat) { 1.0 / winners.len() as f64 } else { 0.0 };
        }
        won / f64::from(self.playouts)
    }
}

impl<P: Policy> Observer for AdvantageEstimator<P> {
    fn round_begins(&mut self, standing: &Standing<'_>, _: &[Card]) {
        let Setup { rules, seats, .. } = standing.setup;
        self.past = self.policy.begin(&rules, seats).expect("the policy could play at this table before");
        self.policy.round_begins(standing);
        self.history = CardHistory::new(&rules, seats);
    }

    fn event(&mut self, event: &Event<Card>) {
        self.past.notice(event);
        self.history.notice(event);
    }

    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        if seat != self.seat || state.choices().len() < 2 {
            return;
        }
        let view = state.view(seat);
        let instead = self.policy.decide(&view, &self.past);
        let differs = !self.history.are_alike_decisions(&view, action, instead);
        let mut advantage = 0.0;
        if differs {
            let base = self.stream.next_u64();
            advantage = self.worth(state, action, base) - self.worth(state, instead, base);
        }
        self.decided.push(DecisionAdvantage { phase: state.table().phase(), action, instead, differs, advantage });
    }
}
