//! Playing a sampled world out to the end of the round.

use cambio_core::rng::Bounded as _;
use cambio_core::{Action, Card, Choices, Dice, Phase, Seat, Spot, SpotSet, State, StateView, View};

use crate::bits::Bits;
use crate::card_model::CardModel;
use crate::heuristic::{HeuristicParams, Mind, blueprint};
use crate::words;

words! {
    /// What the other seats know in playouts. Anything but [`Knows::AsSeen`] is wrong, and there to measure what it costs.
    #[derive(Default)]
    pub enum Knows {
        /// What they have seen in the sampled world.
        #[default]
        AsSeen = "seen",
        /// Every card on the table.
        All = "all",
        /// No card.
        Nothing = "nothing",
    }
}

/// Who plays a world out.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Policy {
    /// Uniformly random decisions, of those that are [plausible](is_plausible) in windows: nobody snaps blindly.
    Uniform,
    /// A heuristic with these parameters in every seat, with what the others know.
    Blueprint(HeuristicParams, Knows),
    /// The same, but the searching seat knows every card: for an oracle alone.
    Clairvoyant(HeuristicParams),
}

impl Policy {
    /// Makes a sampled world ready: under a policy that never gambles only seats with a match are asked in windows.
    #[inline]
    pub(crate) fn enter(&self, world: &mut State) {
        let gambles = match self {
            Policy::Uniform => false,
            Policy::Blueprint(params, knows) => params.gamble > 0.0 || *knows != Knows::AsSeen,
            Policy::Clairvoyant(_) => true,
        };
        if !gambles {
            world.ask_knowing_only();
        }
    }

    /// What the asked seat decides; `searcher` always plays by what it has seen.
    #[inline]
    pub(crate) fn decide(&self, world: &State, actor: Seat, searcher: Seat, dice: &mut Dice<Bits>) -> Action {
        match self {
            Policy::Uniform => {
                let choices = world.choices();
                let draw = |dice: &mut Dice<Bits>| {
                    choices.nth(dice.0.below(choices.len() as u32) as usize).expect("the number is below the choices")
                };
                match world.table().phase() {
                    Phase::Window | Phase::Chain => {
                        let matching = world.view(actor).known_matches();
                        matching
                            .nth(dice.0.below(matching.len() as u32 + 1) as usize)
                            .map_or(Action::Pass, Action::Snap)
                    }
                    _ => draw(dice),
                }
            }
            Policy::Blueprint(params, Knows::AsSeen) => blueprint(params, &world.view(actor)),
            Policy::Blueprint(params, knows) if actor != searcher => fancied(world, actor, params, *knows),
            Policy::Clairvoyant(params) if actor == searcher => fancied(world, actor, params, Knows::All),
            Policy::Blueprint(params, _) | Policy::Clairvoyant(params) => blueprint(params, &world.view(actor)),
        }
    }

    /// Plays a world to the end of its round.
    #[inline]
    pub(crate) fn finish(&self, world: &mut State, searcher: Seat, dice: &mut Dice<Bits>) {
        while let Some(actor) = world.actor() {
            let action = self.decide(world, actor, searcher, dice);
            world.carry_out(action, dice, &mut ());
        }
    }
}

/// What a seat decides that takes itself to know all or nothing.
fn fancied(world: &State, actor: Seat, params: &HeuristicParams, knows: Knows) -> Action {
    let view = world.view(actor);
    Mind::new(&view, &Fancied { view, world, knows }, params).decide()
}

/// What a seat would know that saw all or nothing.
struct Fancied<'a> {
    view: StateView<'a>,
    world: &'a State,
    knows: Knows,
}

impl CardModel for Fancied<'_> {
    fn face(&self, spot: Spot) -> Option<Card> {
        if self.knows == Knows::All { self.world.face(spot) } else { None }
    }

    fn known(&self) -> SpotSet {
        let mut known = SpotSet::EMPTY;
        if self.knows == Knows::All {
            // A penalty card that was drawn in the playout has no face yet.
            let faces = self.view.table().occupied().into_iter().filter(|&spot| self.world.face(spot).is_some());
            faces.for_each(|spot| known.insert(spot));
        }
        known
    }
}

/// Whether a decision is worth a try: neither bluffs are, nor snaps of cards that do not match as far as `face` tells, nor
/// swaps of two cards of which none is the seat's own.
pub(crate) fn is_plausible(
    view: &impl View,
    choices: &Choices,
    action: Action,
    face: impl Fn(Spot) -> Option<Card>,
) -> bool {
    let own = view.table().layout(view.seat());
    choices.contains(action)
        && match action {
            Action::Touch(_) | Action::Cheat(_) => false,
            Action::Snap(spot) => {
                matches!(view.table().phase(), Phase::Window | Phase::Chain)
                    && face(spot).is_some_and(|card| view.would_match(spot, card))
            }
            Action::Swap(one, other) => own.contains(one) != own.contains(other),
            _ => true,
        }
}
