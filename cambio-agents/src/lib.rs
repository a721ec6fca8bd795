//! Agents that play Cambio, created from spec strings.
//!
//! A spec string such as `greedy(call_at=7)` names an agent and its parameters. [`roster`] lists the agents, and
//! [`Roster::parse`] parses a spec. Each agent declares its parameters once, as a typed struct ([`params!`]). The
//! defaults, the help, the errors and the spec parser use that declaration.
//!
//! From weak to strong:
//!
//! - [`RandomAgent`](cambio_core::testing::RandomAgent) decides at random.
//! - `greedy` remembers every card that it saw and does not look ahead.
//! - `heuristic` scores each decision by expected points, and can forget cards. [`Preset`] lists its presets.
//! - [`Ismcts`] searches a tree of information sets. Its textbook forms are weak in this game; it is strong if the other
//!   seats follow a fixed policy, the [`Blueprint`], in the tree.
//! - [`Rollout`] searches one ply and plays worlds out with a [`Blueprint`].
//! - [`Learned`] uses a network that was trained by self-play; [`Lookahead`] adds a one-ply search to it.
//!
//! The searches sample worlds from a [`Belief`] (rules of thumb about the cards that the seat does not know) or an
//! [`Inference`] (the likelihood of the other seats' decisions under a policy). With a budget of iterations their
//! decisions are the same on every machine; with a time budget they are not. `external` runs a bot in any language
//! over standard input and output. `oracle` sees every card and is for analyses only.
//!
//! ```
//! use cambio_agents::roster;
//! use cambio_core::{MatchSetup, Rules, play_match, rng::Key};
//!
//! let roster = roster();
//! let rules = Rules::preset("faessler").unwrap();
//! let mut agents = ["greedy(call_at=7)", "random(pass=0.9)"]
//!     .map(|spec| roster.parse(spec).unwrap().make());
//! let match_setup = MatchSetup { rules, seats: 2, key: Key::new(42, 0) };
//! let result = play_match(&match_setup, &mut agents, &mut ()).unwrap();
//! assert_eq!(result.totals.len(), 2);
//! ```

mod advantage;
mod advice;
mod belief;
mod call_rule;
mod card_model;
mod compare;
mod external;
mod greedy;
mod guarded;
mod heuristic;
mod inference;
mod ismcts;
mod learned;
mod lookahead;
mod luck;
mod memory;
mod oracle;
mod outcome;
mod params;
mod playout;
mod policy;
mod reason;
mod review;
mod rollout;
mod roster;
mod search;
mod tie;
mod tree;
mod value;

pub use advantage::{AdvantageEstimator, DecisionAdvantage};
pub use advice::{Advice, AdviceSettings};
pub use belief::{Belief, Likelihood};
pub use call_rule::CallRule;
pub use compare::{DecisionComparison, DecisionValue, MeanEstimate};
pub use external::{end_bots, interrupt, is_interrupted};
pub use guarded::{Guarded, panic_message};
pub use heuristic::{HeuristicParams, Preset};
pub use inference::{Inference, SamplingSettings};
pub use ismcts::{CallTrial, Ismcts, IsmctsParams, Playout};
pub use learned::{
    Embedding, FloatNetwork, MatchStanding, Network, NetworkError, NetworkEvaluation, NetworkInputs, NetworkMetadata,
    missing_networks, provide_network, read_network,
};
pub use lookahead::{Lookahead, LookaheadParams};
pub use luck::Luck;
pub use memory::MemoryParams;
pub use outcome::{JointKnowledge, OutcomeFeatures, OutcomeModel};
pub use params::{Field, NoParams, Param, ParamError, ParamValue, Params, Range, Text, WordEnum};
pub use policy::{
    Blueprint, BlueprintHistory, Learned, LearnedParams, NetworkPolicy, Policy, PolicyAgent, PublicHistory,
};
pub use review::{DecisionReview, Grade, ResultParts, Reviewer};
pub use rollout::{Rollout, RolloutParams};
pub use roster::{AgentSpec, Roster, RosterEntry, SpecError, roster};
pub use search::{Arm, BeliefKind, BlueprintName, FinalChoice, SearchParams, TimeParams};
pub use tree::TreeMode;
pub use value::{MatchValues, Utility};
