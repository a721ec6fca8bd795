//! The roster: agents by name.

mod entry;
mod spec;

use std::path::Path;
use std::sync::Arc;

use cambio_core::Agent;

use crate::external::{COMMAND, External, ExternalParams};
use crate::greedy::Greedy;
use crate::heuristic::{Heuristic, HeuristicParams, Preset};
use crate::ismcts::Ismcts;
use crate::learned::{NETWORK, Network, read_network};
use crate::lookahead::{Lookahead, LookaheadParams};
use crate::oracle::Oracle;
use crate::params::{NoParams, WordEnum as _};
use crate::policy::{Learned, LearnedParams};
use crate::random::RandomParams;
use crate::rollout::Rollout;
pub use entry::RosterEntry;
pub use spec::{AgentSpec, SpecError};

/// The agents that specs can name.
///
/// ```
/// let roster = cambio_agents::roster();
/// let names: Vec<&str> = roster.entries().iter().map(|entry| entry.name()).collect();
/// assert_eq!(names[..3], ["random", "greedy", "heuristic"]);
/// ```
#[derive(Clone, Debug)]
pub struct Roster {
    entries: Vec<RosterEntry>,
    /// The folder in which relative paths of specs start; empty for the working directory.
    folder: Arc<Path>,
}

/// A roster with the agents of this crate.
pub fn roster() -> Roster {
    let heuristic = |params: &HeuristicParams| Heuristic::new(params);
    let mut entries = vec![
        RosterEntry::new("random", "Chooses uniformly among the legal decisions.", RandomParams::agent).fast(),
        RosterEntry::new(
            "greedy",
            "Remembers every card it saw, keeps and snaps cards to lower its expected sum, and calls at a threshold.",
            Greedy::new,
        )
        .fast(),
        RosterEntry::new(
            "heuristic",
            "The memory heuristic: keeps, takes, snaps, swaps and calls by expected points, and can forget cards.",
            heuristic,
        )
        .fast(),
        RosterEntry::new(
            "rollout",
            "Searches one ply: samples worlds and plays them out with a blueprint policy in every seat.",
            Rollout::new,
        ),
        RosterEntry::new(
            "ismcts",
            "Information set Monte Carlo tree search. The other seats follow a blueprint policy; the textbook forms \
             with a single observer or multiple observers are options.",
            Ismcts::new,
        ),
        RosterEntry::with_files(
            "external",
            "Runs a program in any language over standard input and output; see PROTOCOL.md.",
            COMMAND,
            external,
        )
        .external(),
        RosterEntry::with_files(
            "learned",
            "A network trained by self-play: takes the decision with the highest estimated value. Without a file it uses \
             the bundled network for the deck. See `cambio learn`.",
            NETWORK,
            learned,
        ),
        RosterEntry::with_files(
            "lookahead",
            "The learned player with a search: plays out its best candidates in worlds that fit the other seats' play.",
            NETWORK,
            lookahead,
        ),
        RosterEntry::new(
            "oracle",
            "Sees every card, including the order of the stock: an upper bound for analyses, not a player.",
            Oracle::new,
        )
        .seeing_all(),
    ];
    for &preset in Preset::ALL.iter().filter(|preset| **preset != Preset::Heuristic) {
        let about = format!("A heuristic. {}", preset.about());
        entries.push(RosterEntry::with_defaults(preset.word(), about, preset.params(), heuristic).fast());
    }
    Roster { entries, folder: Path::new("").into() }
}

/// The network in the file that a spec names; `None` if the spec names no file.
fn network(path: &str, folder: &Path) -> Option<Network> {
    (!path.is_empty()).then(|| read_network(folder.join(path)).expect("the network was read when the spec was parsed"))
}

fn learned(path: &str, folder: &Path, params: &LearnedParams) -> Learned {
    network(path, folder).map_or_else(Learned::shipped, Learned::new).with_params(params)
}

fn lookahead(path: &str, folder: &Path, params: &LookaheadParams) -> Lookahead {
    network(path, folder).map_or_else(|| Lookahead::shipped(params), |own| Lookahead::new(own, params))
}

fn external(command: &str, folder: &Path, params: &ExternalParams) -> External {
    External::new(command, params).expect("the command was checked when the spec was parsed").in_folder(folder)
}

impl Roster {
    /// Adds an agent without parameters, in place of any agent with the same name.
    ///
    /// ```
    /// use cambio_agents::roster;
    /// use cambio_core::testing::RandomAgent;
    ///
    /// let roster = roster().with("mine", "My first bot.", || RandomAgent::default());
    /// assert!(roster.parse("mine").is_ok());
    /// ```
    #[must_use]
    pub fn with<A: Agent + 'static>(
        self,
        name: &str,
        about: &str,
        make: impl Fn() -> A + Send + Sync + 'static,
    ) -> Roster {
        self.with_entry(RosterEntry::new(name, about, move |_: &NoParams| make()))
    }

    /// Adds an agent, in place of any agent with the same name.
    #[must_use]
    pub fn with_entry(mut self, entry: RosterEntry) -> Roster {
        self.entries.retain(|other| other.name() != entry.name());
        self.entries.push(entry);
        self
    }

    /// The roster for specs whose relative paths start in `folder`, not in the working directory. Bots run in this folder.
    #[must_use]
    pub fn in_folder(&self, folder: &Path) -> Roster {
        Roster { folder: folder.strip_prefix(".").unwrap_or(folder).into(), ..self.clone() }
    }

    /// The agents.
    pub fn entries(&self) -> &[RosterEntry] {
        &self.entries
    }

    /// Parses a spec: a name and parameters in parentheses, such as `greedy(call_at=7)`. An agent's text comes first,
    /// in double quotes, with `\"` for a quote and `\\` for a backslash: `external("bot --fast", deadline_ms=50)`. A name
    /// for results and an equals sign may come before the spec: `mine = greedy(call_at=7)`.
    ///
    /// # Errors
    /// If a name for results is not valid, no agent has that name, the agent has no such parameter, a value is out of its range, or a text is missing,
    /// unexpected or invalid. The error describes the valid values.
    ///
    /// # Examples
    /// ```
    /// let roster = cambio_agents::roster();
    /// assert_eq!(roster.parse("greedy( call_at = 07 )").unwrap().to_string(), "greedy(call_at=7)");
    /// assert_eq!(
    ///     roster.parse("greedy(call=7)").unwrap_err().to_string(),
    ///     "agent `greedy` has no parameter `call`; it has call_at",
    /// );
    /// ```
    pub fn parse(&self, spec: &str) -> Result<AgentSpec, SpecError> {
        let spec = spec.trim();
        if let Some((name, _)) = spec.split('(').next().and_then(|head| head.rsplit_once('=')) {
            return self.parse(&spec[name.len() + 1..])?.named(name.trim());
        }
        let (name, list) = match spec.split_once('(') {
            None => (spec, ""),
            Some((name, rest)) => {
                let list = rest.strip_suffix(')').ok_or_else(|| SpecError::Form { spec: spec.to_owned() })?;
                (name.trim(), list)
            }
        };
        let Some(entry) = self.entries.iter().find(|entry| entry.name() == name) else {
            let known = self.entries.iter().map(RosterEntry::name).collect::<Vec<_>>().join(", ");
            return Err(SpecError::Agent { name: name.to_owned(), known });
        };
        AgentSpec::read(entry, list, spec, &self.folder)
    }

    /// Parses the spec of an agent that sees no hidden cards.
    ///
    /// # Errors
    /// The errors of [`Roster::parse`], and if the agent sees hidden cards.
    pub fn player(&self, spec: &str) -> Result<AgentSpec, SpecError> {
        let agent = self.parse(spec)?;
        if agent.sees_all() { Err(SpecError::SeesAll { agent: agent.to_string() }) } else { Ok(agent) }
    }
}

#[cfg(test)]
mod tests;
