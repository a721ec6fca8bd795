//! Rules for calls that a person can remember.

use cambio_core::{Rules, Seat, SpotSet};

use crate::card_model::CardModel;
use crate::params;

params! {
    /// A rule for calls: the points of the player's known cards, whatever its unknown cards are. It replaces the player's own way to
    /// decide about calls, wherever it may call.
    pub struct CallRule {
        /// Calls if, and only if, its known cards have at most this many points, whatever its unknown cards are. By default the
        /// player decides by its other parameters.
        call_known: Option<i16> in -50..=100,
        /// `call_known` with one unknown card; by default the same number.
        call_known_1: Option<i16> in -50..=100,
        /// `call_known` with two unknown cards; by default the same number as with one.
        call_known_2: Option<i16> in -50..=100,
        /// `call_known` with three or more unknown cards; by default the same number as with two.
        call_known_3: Option<i16> in -50..=100,
    }
}

impl CallRule {
    /// Whether a player with these cards calls; `None` if no rule is set for it.
    #[inline]
    pub(crate) fn decides(&self, model: &impl CardModel, seat: Seat, layout: SpotSet, rules: &Rules) -> Option<bool> {
        let limits = [self.call_known, self.call_known_1, self.call_known_2, self.call_known_3];
        let unknown = layout.without(model.known()).len();
        let limit = limits[..=unknown.min(3)].iter().rev().find_map(|limit| *limit)?;
        Some(model.tally(seat, layout, rules).sum <= limit.into())
    }
}

#[cfg(test)]
mod tests {
    use cambio_core::{Action, Agent as _, Position, Seat, rng::Key};

    use crate::{Guarded, roster};

    /// The decision of an agent in a position.
    fn decision(spec: &str, position: &str) -> Action {
        let position: Position = position.parse().unwrap();
        let mut agent = Guarded::new(roster().parse(spec).unwrap().make());
        position.seat(&mut agent, &Key::new(1, 0).agent(Seat::A)).unwrap();
        agent.decide(&position.observation()).unwrap()
    }

    #[test]
    fn agents_call_by_their_known_points() {
        // The rule counts the three of spades alone, or the nine as well.
        let positions = [
            "classic a=3s,?,?,? b=?,?,?,? turns=5 phase=close pile=9c",
            "classic a=3s,9s,?,? b=?,?,?,? turns=5 phase=close pile=9c",
        ];
        for agent in ["greedy", "sharp", "learned", "learned(level=5)", "heuristic(capacity=4)"] {
            let calls = |rule: &str, position: usize| {
                let spec = match agent.strip_suffix(')') {
                    Some(begun) => format!("{begun}, {rule})"),
                    None => format!("{agent}({rule})"),
                };
                decision(&spec, positions[position]) == Action::Call
            };
            assert!(calls("call_known=3", 0) && !calls("call_known=2", 0), "{agent}");
            assert!(calls("call_known=12", 1) && !calls("call_known=11", 1), "{agent}");
            // A number for fewer unknown cards holds for more of them, if there is none for these.
            assert!(calls("call_known=0, call_known_2=13", 1) && calls("call_known=0, call_known_2=3", 0), "{agent}");
            assert!(!calls("call_known_2=13, call_known_3=2", 0), "{agent}");
        }
    }
}
