//! The configuration of a session: the deal, the players and the options.

use cambio_agents::AgentSpec;
use cambio_core::{Deal, Seat};

/// The name of a person in a record.
pub(crate) const PERSON_NAME: &str = "person";

/// The configuration of a session: one person against agents.
///
/// ```
/// use cambio_core::{Deal, Rules, Seat, rng::Key};
/// use cambio_view::SessionConfig;
///
/// let deal = Deal::new(&Rules::preset("classic").unwrap(), Key::new(42, 0));
/// let config = SessionConfig::alone(deal, Seat::B, vec![cambio_agents::roster().parse("greedy").unwrap()]);
/// assert_eq!(config.names("you"), ["greedy", "you"]);
/// ```
#[derive(Clone, Debug)]
pub struct SessionConfig {
    /// The deal. Its rules must allow the number of players.
    pub deal: Deal,
    /// The seat of the person.
    pub person: Seat,
    /// The agents, which take the other seats in order.
    pub opponents: Vec<AgentSpec>,
    /// Whether faces that the person has seen stay visible.
    pub notes: bool,
    /// Whether hints and undo are allowed.
    pub practice: bool,
    /// The median of the agents' reaction times in milliseconds if speed decides races; with `None`, chance decides.
    pub reaction: Option<u32>,
}

impl SessionConfig {
    /// A person in this seat against agents: with notes and without practice, and chance decides races.
    pub fn alone(deal: Deal, person: Seat, opponents: Vec<AgentSpec>) -> SessionConfig {
        SessionConfig { deal, person, opponents, notes: true, practice: false, reaction: None }
    }

    /// The agents of all seats, seat a first; `None` for the person.
    pub(crate) fn agents(&self) -> Vec<Option<&AgentSpec>> {
        let mut agents: Vec<_> = self.opponents.iter().map(Some).collect();
        agents.insert(self.person.index(), None);
        agents
    }

    /// The names of the players, seat a first, with this name for the person.
    pub fn names(&self, person: &str) -> Vec<String> {
        let name = |agent: Option<&AgentSpec>| agent.map_or_else(|| person.to_owned(), ToString::to_string);
        self.agents().into_iter().map(name).collect()
    }
}
