//! One agent of a roster: its name, its parameters and its constructor.

use std::any::Any;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use cambio_core::Agent;

use crate::params::{Param, Params, Text};

/// Makes an agent from its text, the folder in which relative paths of the text start, and its parameters.
pub(super) type Make = dyn Fn(&str, &Path, &dyn Params) -> Box<dyn Agent> + Send + Sync;

/// An agent of a roster.
#[derive(Clone)]
pub struct RosterEntry {
    pub(super) name: String,
    pub(super) about: String,
    pub(super) text: Option<Text>,
    pub(super) sees_all: bool,
    pub(super) is_fast: bool,
    pub(super) is_external: bool,
    /// The default parameters.
    pub(super) params: Arc<dyn Params>,
    pub(super) make: Arc<Make>,
}

impl RosterEntry {
    /// An agent with a name, a description in one sentence, and a function that makes it from its parameters.
    ///
    /// ```
    /// use cambio_agents::{RosterEntry, params, roster};
    /// use cambio_core::{Action, Agent, AgentError, Observation};
    ///
    /// params! {
    ///     /// The parameters of [`Mine`].
    ///     pub struct MineParams {
    ///         /// Which of the legal decisions it takes.
    ///         number: u32 = 0 in 0..=1000,
    ///     }
    /// }
    ///
    /// /// Takes the legal decision with a given number, or the first one.
    /// struct Mine {
    ///     number: usize,
    /// }
    ///
    /// impl Agent for Mine {
    ///     fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
    ///         let choices = view.choices();
    ///         Ok(choices.nth(self.number).or(choices.nth(0)).expect("a seat that decides has a choice"))
    ///     }
    /// }
    ///
    /// let make = |params: &MineParams| Mine { number: params.number as usize };
    /// let roster = roster().with_entry(RosterEntry::new("mine", "Takes a decision by its number.", make));
    /// let spec = roster.parse("mine(number=2)").unwrap();
    /// assert_eq!(spec.parameters()[0].default.unwrap().to_string(), "2");
    /// assert_eq!(
    ///     roster.parse("mine(number=2.5)").unwrap_err().to_string(),
    ///     "agent `mine`: parameter `number` must be a whole number from 0 to 1000, found `2.5`",
    /// );
    /// ```
    pub fn new<P: Params + Default, A: Agent + 'static>(
        name: impl Into<String>,
        about: impl Into<String>,
        make: impl Fn(&P) -> A + Send + Sync + 'static,
    ) -> RosterEntry {
        RosterEntry::with_defaults(name, about, P::default(), make)
    }

    /// Like [`RosterEntry::new`], with other defaults for the parameters.
    pub fn with_defaults<P: Params, A: Agent + 'static>(
        name: impl Into<String>,
        about: impl Into<String>,
        defaults: P,
        make: impl Fn(&P) -> A + Send + Sync + 'static,
    ) -> RosterEntry {
        RosterEntry::of(name.into(), about.into(), None, defaults, move |_, _, params| make(params))
    }

    /// An agent that takes a text in quotes before its parameters.
    pub fn with_text<P: Params + Default, A: Agent + 'static>(
        name: impl Into<String>,
        about: impl Into<String>,
        text: Text,
        make: impl Fn(&str, &P) -> A + Send + Sync + 'static,
    ) -> RosterEntry {
        RosterEntry::with_files(name, about, text, move |text, _, params| make(text, params))
    }

    /// An agent whose text names files. The function also takes the folder in which relative paths start.
    pub fn with_files<P: Params + Default, A: Agent + 'static>(
        name: impl Into<String>,
        about: impl Into<String>,
        text: Text,
        make: impl Fn(&str, &Path, &P) -> A + Send + Sync + 'static,
    ) -> RosterEntry {
        RosterEntry::of(name.into(), about.into(), Some(text), P::default(), make)
    }

    fn of<P: Params, A: Agent + 'static>(
        name: String,
        about: String,
        text: Option<Text>,
        defaults: P,
        make: impl Fn(&str, &Path, &P) -> A + Send + Sync + 'static,
    ) -> RosterEntry {
        let make = move |text: &str, folder: &Path, params: &dyn Params| -> Box<dyn Agent> {
            let params: &dyn Any = params;
            Box::new(make(text, folder, params.downcast_ref().expect("an entry makes agents from its own parameters")))
        };
        let (params, make) = (Arc::new(defaults), Arc::new(make));
        RosterEntry { name, about, text, sees_all: false, is_fast: false, is_external: false, params, make }
    }

    /// Marks the agent as one whose decisions take about a microsecond: with such agents, more deals are cheaper than measuring
    /// the luck of the cards.
    #[must_use]
    pub fn fast(self) -> RosterEntry {
        RosterEntry { is_fast: true, ..self }
    }

    /// Marks the agent as one that runs in another process.
    #[must_use]
    pub fn external(self) -> RosterEntry {
        RosterEntry { is_external: true, ..self }
    }

    /// Marks the agent as one that sees every card, through its [observer](Agent::observer). Such an agent is not a
    /// player: only experiments with `analysis = true` may use it.
    #[must_use]
    pub fn seeing_all(self) -> RosterEntry {
        RosterEntry { sees_all: true, ..self }
    }

    /// The name in specs.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The description, in one sentence.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// The agent's parameters, with their defaults.
    pub fn params(&self) -> Vec<Param> {
        self.params.declared()
    }

    /// The text in quotes that a spec of the agent has before the parameters; `None` if the agent takes no text.
    pub fn text(&self) -> Option<Text> {
        self.text
    }

    /// Whether the agent sees every card.
    pub fn sees_all(&self) -> bool {
        self.sees_all
    }

    /// The names of the agent's parameters, as errors list them.
    pub(super) fn names(&self) -> String {
        let names: Vec<&str> = self.params().iter().map(|param| param.name).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }
}

impl fmt::Debug for RosterEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RosterEntry").field("name", &self.name).field("params", &self.params).finish_non_exhaustive()
    }
}
