//! Policies: ways to play that a search plays worlds out with, believes in, or that sit down at a table themselves.

mod blueprint;
mod networked;
mod plays;

use std::fmt;

use cambio_core::{Action, Card, CardHistory, Chance, Event, Rules, Sink, Standing, State, View};

pub use blueprint::{Blueprint, BlueprintPast};
pub use networked::NetworkPolicy;
pub use plays::Plays;

/// A way to play: what a seat decides, from what it may know.
///
/// Unlike an [`Agent`](cambio_core::Agent), a policy belongs to no seat. It is asked about any seat of any table, a real one or a
/// sampled world, and gets what that seat sees ([`View`]) and what everybody saw of the round ([`Policy::Past`]). So one policy can
/// play out worlds ([`Rollout::over`](crate::Rollout::over), [`Ismcts::over`](crate::Ismcts::over)), say how likely a decision was
/// ([`Inference`](crate::Inference)), and play ([`Plays`]).
///
/// A policy decides by the view and the past alone: the same question has the same answer.
///
/// ```
/// use cambio_agents::{Plays, Policy, Rollout, RolloutParams};
/// use cambio_core::{Action, Agent, Pairing, Rules, View, play_match, rng::Key};
///
/// /// Calls as soon as it may, else takes the first decision that there is.
/// #[derive(Clone, Debug)]
/// struct Hasty;
///
/// impl Policy for Hasty {
///     type Past = ();
///
///     fn begin(&mut self, _: &Rules, _: usize) -> Result<(), String> {
///         Ok(())
///     }
///
///     fn decide(&mut self, view: &impl View, (): &()) -> Action {
///         let choices = view.choices();
///         let call = choices.contains(Action::Call).then_some(Action::Call);
///         call.or(choices.nth(0)).expect("who is asked has a choice")
///     }
/// }
///
/// // It plays, against a search that knows how it plays.
/// let search = Rollout::over(Hasty, &RolloutParams { n: 30, ..RolloutParams::default() });
/// let mut agents: [Box<dyn Agent>; 2] = [Box::new(Plays::new(Hasty)), Box::new(search)];
/// let pairing = Pairing { rules: Rules::preset("classic").unwrap(), seats: 2, key: Key::new(1, 0) };
/// assert!(play_match(&pairing, &mut agents, &mut ()).is_ok());
/// ```
pub trait Policy: Clone + fmt::Debug + Send {
    /// What it has to know of a round besides the view: `()`, or the public [`CardHistory`].
    type Past: Past;

    /// A match begins at a table of `seats` seats. Gives the past before the first round.
    ///
    /// # Errors
    /// Why the policy cannot play there, in a clause.
    fn begin(&mut self, rules: &Rules, seats: usize) -> Result<Self::Past, String>;

    /// A round begins, and the match stands like this.
    fn round_begins(&mut self, _: &Standing<'_>) {}

    /// The decision of the seat that is asked. It is legal.
    fn decide(&mut self, view: &impl View, past: &Self::Past) -> Action;

    /// How likely it is that this decision is taken, if with probability ε any other is, each equally likely. Without a better
    /// answer the policy's own decision has the rest.
    fn likelihood(&mut self, view: &impl View, past: &Self::Past, action: Action, epsilon: f64) -> f64 {
        if self.decide(view, past) == action {
            return 1.0 - epsilon;
        }
        epsilon / (view.choices().len().max(2) - 1) as f64
    }

    /// Whether it may snap a card that it does not know. If not, playouts ask only seats that know a match in snap windows, which is
    /// the same play in half the time.
    fn gambles(&self) -> bool {
        true
    }

    /// Plays a world to the end of its round, with this policy in every seat.
    #[inline]
    fn play_out(&mut self, world: &mut State, past: &mut Self::Past, chance: &mut impl Chance) {
        while let Some(actor) = world.actor() {
            let action = self.decide(&world.view(actor), past);
            world.carry_out(action, chance, &mut Follow(past));
        }
    }
}

/// A policy that can say how well a seat stands.
///
/// A search may stop its playouts early and take that for what would have followed: [`Rollout::with_values`](crate::Rollout::with_values),
/// with [`SearchParams::leaf`](crate::SearchParams::leaf).
///
/// ```
/// use cambio_agents::{NetworkPolicy, Policy, Value};
/// use cambio_core::rng::{Key, Purpose};
/// use cambio_core::{Dice, Rules, Seat, Setup, State};
///
/// let rules = Rules::preset("classic")?;
/// let mut network = NetworkPolicy::shipped();
/// let past = network.begin(&rules, 2)?;
/// let state = State::deal(&Setup::new(&rules, 2), rules.deck(), &mut Dice(Key::new(1, 0).stream(Purpose::Deck, 0)), &mut ())?;
/// let share = network.value(&state.observe(Seat::A), &past);
/// assert!(0.0 < share && share < 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Value: Policy {
    /// What the seat that is asked can expect, if everybody plays on by the policy: its share of the round's win from 0 to 1; in a
    /// match of several rounds its chance to win the match.
    fn value(&mut self, view: &impl View, past: &Self::Past) -> f64;
}

/// What a policy has to know of the course of a round. Every seat has the same.
pub trait Past: Clone + fmt::Debug + Send {
    /// Takes in what happened; of a card that one seat alone sees it uses nothing.
    fn notice<Face: Copy>(&mut self, event: &Event<Face>);
}

/// Nothing.
impl Past for () {
    #[inline]
    fn notice<Face: Copy>(&mut self, _: &Event<Face>) {}
}

impl Past for CardHistory {
    #[inline]
    fn notice<Face: Copy>(&mut self, event: &Event<Face>) {
        CardHistory::notice(self, event);
    }
}

/// A past that hears the events of a world.
pub(crate) struct Follow<'a, P>(pub(crate) &'a mut P);

impl<P: Past> Sink for Follow<'_, P> {
    #[inline]
    fn event(&mut self, event: &Event<Card>) {
        self.0.notice(event);
    }
}
