//! The presets of the heuristic: named sets of parameters.

use super::params::HeuristicParams;
use crate::words;

/// Declares the presets, each with a description, a name and the parameters that differ from the defaults.
macro_rules! presets {
    ($($(#[doc = $about:literal])+ $variant:ident = $name:literal { $($field:ident: $value:expr),* },)+) => {
        words! {
            /// A named set of parameters of the heuristic. Each is an agent of the roster, and a blueprint of searches.
            pub enum Preset {
                $($(#[doc = $about])+ $variant = $name,)+
            }
        }

        impl Preset {
            /// A description in one sentence.
            ///
            /// ```
            /// assert_eq!(cambio_agents::Preset::Bold.about(), "Calls early.");
            /// ```
            pub fn about(self) -> &'static str {
                match self {
                    $(Preset::$variant => const { concat!($($about),+).trim_ascii() },)+
                }
            }

            /// The parameters.
            ///
            /// ```
            /// use cambio_agents::{HeuristicParams, Preset};
            ///
            /// assert_eq!(Preset::Heuristic.params(), HeuristicParams::default());
            /// assert_eq!(Preset::Bold.params().call_at, 11.0);
            /// ```
            pub fn params(self) -> HeuristicParams {
                let base = HeuristicParams::default();
                match self {
                    $(Preset::$variant => HeuristicParams { $($field: $value,)* ..base },)+
                }
            }
        }
    };
}

presets! {
    /// The defaults.
    Heuristic = "heuristic" {},
    /// Calls only with almost no points.
    Cautious = "cautious" { call_at: 1.0, call_chance: 0.0 },
    /// Calls early.
    Bold = "bold" { call_at: 11.0, call_chance: 0.0 },
    /// Calls when it expects to be clearly lowest.
    Patient = "patient" { call_at: 12.0, call_margin: 4.0, call_chance: 0.0 },
    /// Gambles on unknown cards.
    Snapper = "snapper" { gamble: 0.15, foreign_gain: 0.0 },
    /// Swaps cards that their owners know.
    Disruptor = "disruptor" { disrupt: 3.0 },
    /// Takes every card from the pile that saves two points.
    Collector = "collector" { take_gain: 2.0 },
    /// Drops cards with a power to use it, even if they would save a few points.
    Looker = "looker" { power_worth: 6.0 },
    /// Touches cards as a bluff.
    Bluffer = "bluffer" { bluff: 0.2 },
    /// The strongest known heuristic on `classic`: uses powers, learns its cards, and calls at a lower chance.
    Sharp = "sharp" { call_chance: 0.57, curiosity: 5.0, keep_gain: 1.0, power_worth: 3.0 },
    /// Never calls.
    NeverCalls = "never-calls" { call_at: -1000.0 },
}
