//! What decisions are worth, against those of a policy.

use cambio_core::rng::Stream;
use cambio_core::{
    Action, Card, CardHistory, Dice, Event, Observer, Phase, RoundResult, Rules, Seat, Setup, Spot, Standing, State,
    View,
};
use rand::Rng as _;

use crate::bits::Bits;
use crate::policy::{Follow, Past as _, Policy};

/// Watches a round and measures what a seat's decisions are worth, against those that a policy would have taken there.
///
/// Where the two differ, the true state is played on from both, with the policy in every seat, under the same chance, often: what
/// anybody has seen stays, what nobody has seen is dealt anew each time. The difference of the shares of the win is the decision's
/// *advantage*. If the policy plays in all other seats, the advantages of a round add up, in expectation, to what the seat wins
/// more than the policy would win in it (the performance difference lemma: Kakade and Langford 2002), without most of the luck
/// of the cards, which makes the noise of results. Decisions that differ only in cards that the seat cannot
/// tell apart ([`CardHistory::are_alike`]) count as the same.
///
/// It is for rounds: of a match it measures each round by its own win.
///
/// ```
/// use cambio_agents::{Advantage, Blueprint, Plays, Preset, roster};
/// use cambio_core::{Agent, Pairing, Rules, Seat, play_match, rng::Key};
///
/// let (rules, key) = (Rules::preset("classic").unwrap(), Key::new(1, 0));
/// let sharp = Blueprint::Heuristic(Preset::Sharp.params());
/// let mut advantage = Advantage::new(sharp.clone(), &rules, 2, Seat::A, 100, key.agent(Seat::A)).unwrap();
/// let mut agents: [Box<dyn Agent>; 2] = [roster().parse("random").unwrap().make(), Box::new(Plays::new(sharp))];
/// play_match(&Pairing { rules, seats: 2, key }, &mut agents, &mut advantage).unwrap();
/// let worth: f64 = advantage.decided().iter().map(|decided| decided.advantage).sum();
/// assert!(worth < 0.0, "random decisions are worse than those of sharp");
/// ```
#[derive(Clone, Debug)]
pub struct Advantage<P: Policy> {
    policy: P,
    past: P::Past,
    history: CardHistory,
    seat: Seat,
    playouts: u32,
    stream: Stream,
    decided: Vec<Decided>,
}

/// A decision of the seat.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Decided {
    /// What was asked.
    pub phase: Phase,
    /// The decision.
    pub action: Action,
    /// What the policy would have decided.
    pub instead: Action,
    /// Whether the seat could tell the two apart.
    pub differs: bool,
    /// What the decision is worth more than the policy's, in shares of the round's win; 0 if it does not differ.
    pub advantage: f64,
}

impl<P: Policy> Advantage<P> {
    /// For a seat of a table of `seats` seats, with so many playouts from each of the two decisions. The stream should be one that
    /// no agent has.
    ///
    /// # Errors
    /// Why the policy cannot play there, in a clause.
    pub fn new(
        mut policy: P,
        rules: &Rules,
        seats: usize,
        seat: Seat,
        playouts: u32,
        stream: Stream,
    ) -> Result<Advantage<P>, String> {
        let past = policy.begin(rules, seats)?;
        let history = CardHistory::new(rules, seats);
        Ok(Advantage { policy, past, history, seat, playouts, stream, decided: Vec::new() })
    }

    /// The decisions of the seat that left it a choice, in order.
    pub fn decided(&self) -> &[Decided] {
        &self.decided
    }

    /// Whether two decisions are the same but for cards that the seat cannot tell apart.
    fn are_alike(&self, view: &impl View, one: Action, other: Action) -> bool {
        let alike = |pair: (Option<Spot>, Option<Spot>)| match pair {
            (Some(one), Some(other)) => one == other || self.history.are_alike(view, one, other),
            (one, other) => one == other,
        };
        one.verb_code() == other.verb_code() && spots(one).into_iter().zip(spots(other)).all(alike)
    }

    /// What the seat wins on average if it takes this decision now.
    fn worth(&mut self, state: &State, action: Action, base: u64) -> f64 {
        let mut won = 0.0;
        for number in 0..self.playouts {
            let (mut world, mut past, mut dice) = (state.clone(), self.past.clone(), Dice(Bits::new(base, number)));
            world.redeal_unseen(&mut dice);
            world.carry_out(action, &mut dice, &mut Follow(&mut past));
            self.policy.play_out(&mut world, &mut past, &mut dice);
            let winners = RoundResult::of(&world).expect("the round is over and settled").winners;
            won += if winners.contains(self.seat) { 1.0 / winners.len() as f64 } else { 0.0 };
        }
        won / f64::from(self.playouts)
    }
}

impl<P: Policy> Observer for Advantage<P> {
    fn round_begins(&mut self, standing: &Standing<'_>, _: &[Card]) {
        let Setup { rules, seats, .. } = standing.setup;
        self.past = self.policy.begin(&rules, seats).expect("it could play there before");
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
        let differs = !self.are_alike(&view, action, instead);
        let mut advantage = 0.0;
        if differs {
            let base = self.stream.next_u64();
            advantage = self.worth(state, action, base) - self.worth(state, instead, base);
        }
        self.decided.push(Decided { phase: state.table().phase(), action, instead, differs, advantage });
    }
}

/// The spots that a decision names.
fn spots(action: Action) -> [Option<Spot>; 2] {
    match action.canonical() {
        Action::Draw | Action::Take | Action::Call | Action::End | Action::Drop | Action::Skip | Action::Pass => {
            [None; 2]
        }
        Action::Peek(spot)
        | Action::Keep(spot)
        | Action::Look(spot)
        | Action::Snap(spot)
        | Action::Touch(spot)
        | Action::Give(spot)
        | Action::Show(spot)
        | Action::Cheat(spot) => [Some(spot), None],
        Action::Swap(one, other) => [Some(one), Some(other)],
    }
}
