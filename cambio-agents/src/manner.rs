//! How a heuristic plays: its parameters, each declared once, and the characters that are named sets of them.

use std::sync::OnceLock;

use crate::{Forgetting, Param, Params, Range};

/// Declares the parameters of the heuristic once: field, default, range and meaning.
macro_rules! parameters {
    ($($(#[doc = $doc:literal])+ $name:ident = $default:literal in $range:expr,)+) => {
        /// The parameters of a [`Heuristic`](crate::Heuristic).
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub struct Manner {
            $($(#[doc = $doc])+ pub $name: f64,)+
        }

        impl Default for Manner {
            fn default() -> Manner {
                Manner { $($name: $default,)+ }
            }
        }

        impl Manner {
            /// The parameters as specs name them; those of the memory models follow.
            pub const PARAMS: &'static [Param] = &[
                $(Param { name: stringify!($name), doc: concat!($($doc),+), default: Some($default), range: $range },)+
                Forgetting::PARAMS[0],
                Forgetting::PARAMS[1],
                Forgetting::PARAMS[2],
                Forgetting::PARAMS[3],
            ];

            /// The manner that a spec describes.
            pub fn from_params(params: &Params) -> Manner {
                Manner { $($name: params.value(stringify!($name)),)+ }
            }

            /// The parameters with this manner's values as defaults.
            fn params(self) -> Vec<Param> {
                let mut params = Manner::PARAMS.to_vec();
                for (name, value) in [$((stringify!($name), self.$name),)+] {
                    let param = params.iter_mut().find(|param| param.name == name).expect("it was declared above");
                    param.default = Some(value);
                }
                params
            }
        }
    };
}

parameters! {
    /// Calls when the expected sum of its own cards is at most this, and `call_chance` agrees.
    call_at = 1000.0 in Range::Real(-1000.0, 1000.0),
    /// Calls only if it expects so many points fewer than the lowest other seat; a large negative number never minds.
    call_margin = -1000.0 in Range::Real(-1000.0, 1000.0),
    /// Calls when its chance to end below another seat is, as it reckons, at least this, in the geometric mean over the
    /// other seats; 0 calls by `call_at` alone.
    call_chance = 0.7 in Range::Real(0.0, 1.0),
    /// How many points it expects each other seat to lose in its last turn, for `call_chance`.
    last_turn = 3.0 in Range::Real(0.0, 20.0),
    /// Where totals of points decide a match: raises `call_at` by so many points for each 10 points that it is behind.
    chase = 0.0 in Range::Real(-20.0, 20.0),
    /// What it takes a card for that another seat knows and it does not: so many points below the mean.
    hoard = 2.0 in Range::Real(0.0, 20.0),
    /// Keeps a card that saves more points than this.
    keep_gain = 0.0 in Range::Real(-20.0, 20.0),
    /// What a power is worth: a card with one is kept only if it saves so much more.
    power_worth = 2.0 in Range::Real(0.0, 20.0),
    /// What it is worth to know an own card that it does not know.
    curiosity = 4.0 in Range::Real(0.0, 20.0),
    /// Takes the pile's top if that saves so many points.
    take_gain = 8.0 in Range::Real(0.0, 30.0),
    /// Swaps if that saves so many points.
    swap_gain = 0.0 in Range::Real(0.0, 30.0),
    /// What it is worth to move a card that its owner knows and nobody else; 0 leaves others' knowledge alone.
    disrupt = 0.0 in Range::Real(0.0, 20.0),
    /// Snaps an unknown own card if its expected gain is so many times its expected loss; 0 never does.
    gamble = 0.0 in Range::Real(0.0, 100.0),
    /// Snaps cards of other seats if that saves so many points.
    foreign_gain = 0.5 in Range::Real(0.0, 30.0),
    /// Touches a card as a bluff with this probability, where the rules know it.
    bluff = 0.0 in Range::Real(0.0, 1.0),
}

/// A named set of parameters.
#[derive(Clone, Debug)]
pub struct Character {
    /// What a spec calls it.
    pub name: &'static str,
    /// How it plays, in a sentence.
    pub about: &'static str,
    /// What differs from the default.
    pub manner: Manner,
    /// The parameters, with the character's own defaults.
    pub params: Vec<Param>,
}

impl Character {
    /// The characters that ship.
    pub fn all() -> &'static [Character] {
        static ALL: OnceLock<Vec<Character>> = OnceLock::new();
        ALL.get_or_init(Character::make_all)
    }

    fn make_all() -> Vec<Character> {
        let base = Manner::default();
        let character = |name, about, manner: Manner| Character { name, about, manner, params: manner.params() };
        vec![
            character(
                "cautious",
                "Calls only with next to nothing.",
                Manner { call_at: 1.0, call_chance: 0.0, ..base },
            ),
            character("bold", "Calls early.", Manner { call_at: 11.0, call_chance: 0.0, ..base }),
            character(
                "patient",
                "Calls when it expects to be clearly lowest.",
                Manner { call_at: 12.0, call_margin: 4.0, call_chance: 0.0, ..base },
            ),
            character("snapper", "Gambles on unknown cards.", Manner { gamble: 0.15, foreign_gain: 0.0, ..base }),
            character("disruptor", "Moves what others know.", Manner { disrupt: 3.0, ..base }),
            character("collector", "Takes from the pile whatever saves two points.", Manner { take_gain: 2.0, ..base }),
            character(
                "looker",
                "Drops powers to use them, whatever their points.",
                Manner { power_worth: 6.0, ..base },
            ),
            character("bluffer", "Touches cards that it would not snap.", Manner { bluff: 0.2, ..base }),
            character(
                "sharp",
                "Plays `classic` as well as any heuristic that we found: uses powers, learns its cards, calls by a fine chance.",
                Manner { call_chance: 0.57, curiosity: 5.0, keep_gain: 1.0, power_worth: 3.0, ..base },
            ),
            character("never-calls", "Never calls.", Manner { call_at: -1000.0, ..base }),
        ]
    }
}
