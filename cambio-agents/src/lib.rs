//! Opinions about how to play Cambio.
//!
//! An agent is named by a spec string, `greedy(call_at=7)`. A [`Roster`] knows the agents and their parameters; each
//! parameter is declared once, with its default, range and meaning, and that serves parsing, help and errors.
//! [`External`] is an agent in any language, over standard input and output.
//!
//! The ladder: [`Random`]; [`Greedy`], which remembers; [`Heuristic`], which has parameters for everything and may forget; [`Ismcts`] as the
//! textbook has it, which is weak here, or against the blueprint, which is strong; [`Rollout`], one ply over the blueprint. The
//! searches draw worlds from [`Belief`]: what a seat makes of how the others play. An [`Oracle`] sees every card and is
//! for analyses alone. Searches with an iteration budget decide the same on every machine; `time_ms` gives that up.
//!
//! ```
//! use cambio_agents::roster;
//! use cambio_core::{Pairing, Rules, play_match, rng::Key};
//!
//! let roster = roster();
//! let rules = Rules::preset("faessler").unwrap();
//! let mut agents = ["greedy(call_at=7)", "random(pass=0.9)"]
//!     .map(|spec| roster.parse(spec).unwrap().make());
//! let pairing = Pairing { rules, seats: 2, key: Key { seed: 42, deal: 0 } };
//! let result = play_match(&pairing, &mut agents, &mut ()).unwrap();
//! assert_eq!(result.totals.len(), 2);
//! ```

mod belief;
mod bits;
mod card_model;
mod external;
mod greedy;
mod heuristic;
mod ismcts;
mod memory;
mod oracle;
mod params;
mod player;
mod playout;
mod random;
mod rollout;
mod roster;
mod search;
mod searcher;
mod tree;
mod value;

pub use belief::{Belief, Likelihood};
pub use external::{CommandError, External, ExternalParams, PROTOCOL};
pub use greedy::{Greedy, GreedyParams};
pub use heuristic::{Heuristic, HeuristicParams, Preset};
pub use ismcts::{CallTrial, Ismcts, IsmctsParams, Playout};
pub use memory::{Memory, MemoryParams};
pub use oracle::{Oracle, OracleParams};
#[doc(hidden)]
pub use params::set_field;
pub use params::{Field, NoParams, Param, Params, Range, Refusal, Text, Value, Words};
pub use player::{Extensions, Player};
pub use playout::Knows;
pub use random::{Random, RandomParams};
pub use rollout::{Rollout, RolloutParams};
pub use roster::{AgentSpec, Entry, Roster, SpecError, roster};
pub use search::{Arm, Final, SearchParams, TimeParams};
pub use tree::Mode;
pub use value::{MatchValues, Utility};
