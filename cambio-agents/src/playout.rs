//! Playouts: a policy in every seat plays a sampled world to the end of the round.

use cambio_core::engine::{Dice, StateView};
use cambio_core::rng::{Bounded as _, SplitMix};
use cambio_core::{Action, Card, Phase, Seat, Spot, SpotSet, State, View};

use crate::card_model::CardModel;
use crate::heuristic::{HeuristicDecision, HeuristicParams};
use crate::policy::{HistorySink, Policy};

/// How playouts deviate from playouts in which every seat follows the blueprint.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum PlayoutPolicy {
    /// No deviation.
    None,
    /// Uniformly random decisions. In windows, seats snap only cards that they know to match.
    Uniform,
    /// The searching seat plays this heuristic and knows every card, as an oracle does.
    Clairvoyant(HeuristicParams),
}

/// Plays out sampled worlds.
#[derive(Clone, Debug)]
pub(crate) struct Playouts<P: Policy> {
    pub(crate) blueprint: P,
    pub(crate) policy: PlayoutPolicy,
}

impl<P: Policy> Playouts<P> {
    /// Prepares a sampled world: limits its turns, and if no seat snaps unknown cards, windows ask only the seats that know
    /// a match.
    #[inline]
    pub(crate) fn enter(&self, world: &mut State) {
        let gambles = match self.policy {
            PlayoutPolicy::None => self.blueprint.gambles(),
            PlayoutPolicy::Uniform => false,
            PlayoutPolicy::Clairvoyant(_) => true,
        };
        if !gambles {
            world.ask_knowing_only();
        }
        limit_turns(world);
    }

    /// The decision of the seat to act.
    #[inline]
    pub(crate) fn decide(
        &mut self,
        world: &State,
        actor: Seat,
        searcher: Seat,
        past: &P::History,
        dice: &mut Dice<SplitMix>,
    ) -> Action {
        match &self.policy {
            PlayoutPolicy::Uniform => uniform_decision(world, actor, dice),
            PlayoutPolicy::Clairvoyant(params) if actor == searcher => {
                let view = world.view(actor);
                HeuristicDecision::new(&view, &AllCards { view, world }, params).decide()
            }
            PlayoutPolicy::None | PlayoutPolicy::Clairvoyant(_) => self.blueprint.decide(&world.view(actor), past),
        }
    }

    /// Plays a world to the end of the round.
    #[inline]
    pub(crate) fn finish(
        &mut self,
        world: &mut State,
        searcher: Seat,
        past: &mut P::History,
        dice: &mut Dice<SplitMix>,
    ) {
        match self.policy {
            PlayoutPolicy::None => self.blueprint.play_out(world, past, dice),
            // No decision depends on the history, so no event is made.
            PlayoutPolicy::Uniform => {
                while let Some(actor) = world.actor() {
                    world.carry_out(uniform_decision(world, actor, dice), dice, &mut ());
                }
            }
            PlayoutPolicy::Clairvoyant(_) => {
                while let Some(actor) = world.actor() {
                    let action = self.decide(world, actor, searcher, past, dice);
                    world.carry_out(action, dice, &mut HistorySink(past));
                }
            }
        }
    }
}

/// Ends a playout after 15 more turns of each seat. Between heuristics at two and four seats, at most 0.6 % of the rounds of
/// `classic` and `original` are longer, and 4 to 10 % of the rounds of `faessler`; many of them go on to the rules' limit.
pub(crate) fn limit_turns(world: &mut State) {
    world.limit_turns(15 * world.table().seats());
}

/// A uniformly random decision of the seat to act. In a window it snaps only cards that it knows to match.
#[inline]
fn uniform_decision(world: &State, actor: Seat, dice: &mut Dice<SplitMix>) -> Action {
    match world.table().phase() {
        Phase::Window | Phase::Chain => {
            let matching = world.view(actor).known_matches();
            let number = dice.0.below(matching.len() as u32 + 1) as usize;
            matching.nth_from(actor, number).map_or(Action::Pass, Action::Snap)
        }
        _ => {
            let choices = world.choices();
            let number = dice.0.below(choices.len() as u32) as usize;
            choices.nth(number).expect("the number is below the choices")
        }
    }
}

/// The card model of a seat that knows every card.
struct AllCards<'a> {
    view: StateView<'a>,
    world: &'a State,
}

impl CardModel for AllCards<'_> {
    fn face(&self, spot: Spot) -> Option<Card> {
        self.world.face(spot)
    }

    fn known(&self) -> SpotSet {
        // A penalty card that was drawn in the playout possibly has no face yet.
        let occupied = self.view.table().occupied().iter_from(self.view.seat());
        occupied.filter(|&spot| self.world.face(spot).is_some()).collect()
    }
}

/// Whether a search should try this legal decision. Searches skip bluffs, snaps of cards that do not match according to
/// `face`, and swaps that do not move exactly one of the seat's own cards.
#[inline]
pub(crate) fn is_plausible(view: &impl View, action: Action, face: impl Fn(Spot) -> Option<Card>) -> bool {
    match action {
        Action::Touch(_) | Action::Cheat(_) => false,
        Action::Snap(spot) => face(spot).is_some_and(|card| view.would_match(spot, card)),
        Action::Swap(one, other) => (one.seat() == view.seat()) != (other.seat() == view.seat()),
        _ => true,
    }
}
