//! A player: an agent, and what it offers beyond playing.

use std::fmt;

use cambio_core::{Action, Agent, Observation, Observer};

use crate::explain::Explanation;

/// What an agent may offer beyond [`Agent`].
///
/// Each method is one extension and returns `None` by default, so an agent implements only those that it has:
///
/// ```
/// use cambio_agents::{Extensions, Player};
/// use cambio_core::{Action, Agent, Briefing, Observation};
///
/// /// Takes the first legal decision, and forgets everything.
/// struct First;
///
/// impl Agent for First {
///     fn begin(&mut self, _: &Briefing<'_>) {}
///
///     fn decide(&mut self, view: &Observation<'_>) -> Action {
///         view.choices().nth(0).expect("who is asked has a choice")
///     }
/// }
///
/// impl Extensions for First {
///     fn lapses(&self) -> Option<u32> {
///         Some(54)
///     }
/// }
///
/// assert_eq!(Player::extended(First).lapses(), Some(54));
/// assert_eq!(Player::from(First).lapses(), None, "an agent as such has no extensions");
/// ```
pub trait Extensions: Agent {
    /// How many cards the agent has forgotten or confused since the match began. The runner asks after each match.
    fn lapses(&self) -> Option<u32> {
        None
    }

    /// An observer that shows the agent every card. Whoever plays the agent's matches has to let it watch them.
    ///
    /// An agent that has one is an analyst and no player: only experiments that say they are analyses may name it.
    fn observer(&self) -> Option<Box<dyn Observer + Send>> {
        None
    }

    /// What the agent considered when it was asked last: it saw this view and decided so. `None` if it cannot say.
    ///
    /// An agent keeps what it needs for this anyway, so it costs nothing until somebody asks.
    ///
    /// ```
    /// use cambio_agents::roster;
    /// use cambio_core::{Playing, Rules, Seat, rng::Key};
    ///
    /// let mut playing = Playing::new(&Rules::preset("classic").unwrap(), 2, Key::new(42, 0)).unwrap();
    /// let mut player = roster().parse("learned").unwrap().player();
    /// player.agent().begin(&playing.briefing(Seat::A));
    /// player.agent().round_begins(&playing.standing());
    /// playing.sightings(Seat::A).for_each(|sighting| player.agent().notice(&sighting));
    /// playing.act("draw".parse().unwrap()).unwrap();
    /// playing.sightings(Seat::A).for_each(|sighting| player.agent().notice(&sighting));
    ///
    /// let view = playing.turn().unwrap().view;
    /// let decided = player.agent().decide(&view);
    /// let told = player.explain(&view, decided).unwrap();
    /// let best = told.considered.iter().max_by(|one, other| one.value.total_cmp(&other.value)).unwrap();
    /// assert_eq!(best.action, decided);
    /// ```
    fn explain(&self, view: &Observation<'_>, decided: Action) -> Option<Explanation> {
        let _ = (view, decided);
        None
    }

    /// Whose doing the agent's [trouble](Agent::trouble) is, if not its own. The runner asks when an agent is in trouble.
    fn halt(&self) -> Option<Halt> {
        None
    }
}

/// Why an agent cannot go on without being at fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Halt {
    /// The machine has no more of something: descriptors, processes, memory.
    Machine,
    /// The program was interrupted.
    Interrupted,
}

/// An agent that has no extensions.
struct Plain<A>(A);

impl<A: Agent> Agent for Plain<A> {
    fn begin(&mut self, briefing: &cambio_core::Briefing<'_>) {
        self.0.begin(briefing);
    }

    fn round_begins(&mut self, standing: &cambio_core::Standing<'_>) {
        self.0.round_begins(standing);
    }

    fn notice(&mut self, sighting: &cambio_core::Sighting) {
        self.0.notice(sighting);
    }

    fn spectates(&self) -> bool {
        self.0.spectates()
    }

    fn spectate(&mut self, table: &cambio_core::Table) {
        self.0.spectate(table);
    }

    fn decide(&mut self, view: &cambio_core::Observation<'_>) -> cambio_core::Action {
        self.0.decide(view)
    }

    fn trouble(&mut self) -> Option<String> {
        self.0.trouble()
    }

    fn round_ends(&mut self, result: &cambio_core::RoundResult) {
        self.0.round_ends(result);
    }

    fn match_ends(&mut self, totals: &[cambio_core::Score]) {
        self.0.match_ends(totals);
    }
}

impl<A: Agent> Extensions for Plain<A> {}

/// An agent and its [extensions](Extensions): what a spec makes.
pub struct Player(Box<dyn Extensions>);

impl<A: Agent + 'static> From<A> for Player {
    /// A player without extensions.
    fn from(agent: A) -> Player {
        Player(Box::new(Plain(agent)))
    }
}

impl Player {
    /// A player with the extensions of this agent.
    pub fn extended(agent: impl Extensions + 'static) -> Player {
        Player(Box::new(agent))
    }

    /// The agent.
    #[inline]
    pub fn agent(&mut self) -> &mut dyn Agent {
        &mut *self.0
    }

    /// See [`Agent::spectates`].
    pub fn spectates(&self) -> bool {
        self.0.spectates()
    }

    /// The agent, without its extensions.
    pub fn into_agent(self) -> Box<dyn Agent> {
        self.0
    }

    /// See [`Extensions::lapses`].
    pub fn lapses(&self) -> Option<u32> {
        Extensions::lapses(&*self.0)
    }

    /// See [`Extensions::observer`].
    pub fn observer(&self) -> Option<Box<dyn Observer + Send>> {
        self.0.observer()
    }

    /// See [`Extensions::explain`].
    pub fn explain(&self, view: &Observation<'_>, decided: Action) -> Option<Explanation> {
        self.0.explain(view, decided)
    }

    /// See [`Extensions::halt`].
    pub fn halt(&self) -> Option<Halt> {
        self.0.halt()
    }
}

impl fmt::Debug for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Player").finish_non_exhaustive()
    }
}
