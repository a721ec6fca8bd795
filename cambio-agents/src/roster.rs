//! The roster: agents by name.

use std::any::Any;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use cambio_core::rng::Key;
use cambio_core::testing::RandomAgent;
use cambio_core::text::{did_you_mean, excerpt};
use cambio_core::{Agent, AgentError, Deal, Players, Rules, Seat};

use crate::external::{COMMAND, External, ExternalParams};
use crate::greedy::Greedy;
use crate::guarded::Guarded;
use crate::heuristic::{Heuristic, HeuristicParams, Preset};
use crate::ismcts::Ismcts;
use crate::learned::{NETWORK, Network, read_network};
use crate::lookahead::{Lookahead, LookaheadParams};
use crate::oracle::Oracle;
use crate::params;
use crate::params::{NoParams, Param, ParamError, ParamValue, Params, Range, Text, WordEnum as _};
use crate::policy::{Learned, LearnedParams};
use crate::rollout::Rollout;

params! {
    /// The parameters of the agent `random`.
    ///
    /// A window offers one pass and many cards, so uniform play snaps in nearly every window and collects many penalty cards. The games
    /// of `random(pass=0.9)` are longer and closer to human play.
    pub(crate) struct RandomParams {
        /// The probability of passing in a snap window; if not given, every legal decision is equally likely.
        pass: Option<f64> in 0.0..=1.0,
    }
}

impl RandomParams {
    fn agent(&self) -> RandomAgent {
        self.pass.map_or_else(RandomAgent::default, RandomAgent::passing)
    }
}

/// The agents that specs can name.
///
/// ```
/// let roster = cambio_agents::roster();
/// let names: Vec<&str> = roster.entries().iter().map(|entry| entry.name.as_str()).collect();
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
    let fast = |entry| RosterEntry { is_fast: true, ..entry };
    let mut entries = vec![
        fast(RosterEntry::new("random", "Chooses uniformly among the legal decisions.", RandomParams::agent)),
        fast(RosterEntry::new(
            "greedy",
            "Remembers every card it saw, keeps and snaps cards to lower its expected sum, and calls at a threshold.",
            Greedy::new,
        )),
        fast(RosterEntry::new(
            "heuristic",
            "The memory heuristic: keeps, takes, snaps, swaps and calls by expected points, and can forget cards.",
            heuristic,
        )),
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
        RosterEntry {
            is_external: true,
            ..RosterEntry::with_files(
                "external",
                "Runs a program in any language over standard input and output; see PROTOCOL.md.",
                COMMAND,
                external,
            )
        },
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
        RosterEntry {
            sees_all: true,
            ..RosterEntry::new(
                "oracle",
                "Sees every card, including the order of the stock: an upper bound for analyses, not a player.",
                Oracle::new,
            )
        },
    ];
    for &preset in Preset::ALL.iter().filter(|preset| **preset != Preset::Heuristic) {
        let about = format!("A heuristic. {}", preset.about());
        entries.push(fast(RosterEntry::with_defaults(preset.word(), about, preset.params(), heuristic)));
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
        self.entries.retain(|other| other.name != entry.name);
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
    ///     "agent `greedy` has no parameter `call`; it has call_at, call_known, call_known_1, call_known_2, call_known_3",
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
        let Some(entry) = self.entries.iter().find(|entry| entry.name == name) else {
            let known = self.entries.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>().join(", ");
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

/// Makes an agent from its text, the folder in which relative paths of the text start, and its parameters.
type Make = dyn Fn(&str, &Path, &dyn Params) -> Box<dyn Agent> + Send + Sync;

/// An agent of a roster.
#[derive(Clone)]
pub struct RosterEntry {
    /// The name in specs.
    pub name: String,
    /// The description, in one sentence.
    pub about: String,
    /// The text in quotes that a spec of the agent has before the parameters; `None` if the agent takes no text.
    pub text: Option<Text>,
    /// Whether the agent sees every card, through its [observer](Agent::observer). Such an agent is not a player: only
    /// experiments with `analysis = true` may use it.
    pub sees_all: bool,
    /// Whether decisions take about a microsecond: with such agents, more deals are cheaper than measuring the luck of the
    /// cards.
    pub is_fast: bool,
    /// Whether the agent runs in another process.
    pub is_external: bool,
    /// The default parameters.
    params: Arc<dyn Params>,
    make: Arc<Make>,
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

    /// An agent that takes a text in quotes before its parameters. The function also takes the folder in which the relative paths of files
    /// start.
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

    /// The agent's parameters, with their defaults.
    pub fn params(&self) -> Vec<Param> {
        self.params.declared()
    }

    /// The names of the agent's parameters, as errors list them.
    fn names(&self) -> String {
        let names: Vec<&str> = self.params().iter().map(|param| param.name).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }
}

impl fmt::Debug for RosterEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RosterEntry").field("name", &self.name).field("params", &self.params).finish_non_exhaustive()
    }
}

/// The maximum length of an agent's text, such as the command of a bot, in bytes.
const MOST_TEXT: usize = 4096;

/// The maximum length of an agent's name, in bytes.
const MOST_NAME: usize = 40;

/// An agent and its parameters. `Display` writes a spec with the parameters that were given, in the order of their
/// declaration. A spec may begin with a name, as in `mine = greedy(call_at=7)`; results then show the name.
///
/// ```
/// use cambio_agents::roster;
///
/// let spec = roster().parse("rollout(time_ms=50, n=20)").unwrap();
/// assert_eq!(spec.to_string(), "rollout(n=20,time_ms=50)");
/// assert!(!spec.is_reproducible());
///
/// let spec = roster().parse("mine=greedy( call_at=7 )").unwrap();
/// assert_eq!((spec.label().as_str(), spec.to_string().as_str()), ("mine", "mine = greedy(call_at=7)"));
/// ```
#[derive(Clone)]
pub struct AgentSpec {
    /// The name that the spec gives the agent.
    name: Option<String>,
    entry: RosterEntry,
    text: Option<String>,
    /// The folder in which relative paths of the text start; empty for the working directory.
    folder: Arc<Path>,
    /// For each declared parameter whether the spec gives it.
    given: Vec<bool>,
    params: Arc<dyn Params>,
}

impl AgentSpec {
    /// Parses the part of a spec between its parentheses.
    fn read(entry: &RosterEntry, list: &str, spec: &str, folder: &Arc<Path>) -> Result<AgentSpec, SpecError> {
        let form = || SpecError::Form { spec: spec.to_owned() };
        let agent = || entry.name.clone();
        let (text, list) = match (&entry.text, list.trim_start().strip_prefix('"')) {
            (None, None) => (None, list),
            (None, Some(_)) => return Err(SpecError::Unwanted { agent: agent(), known: entry.names() }),
            (Some(declared), None) if !declared.is_needed => (None, list),
            (Some(declared), None) => {
                let (text, example) = (declared.name, declared.example);
                return Err(SpecError::Missing { agent: agent(), text, example });
            }
            (Some(declared), Some(quoted)) => {
                let (text, rest) = unquote(quoted).ok_or_else(form)?;
                let rest = rest.trim_start();
                let rest = if rest.is_empty() { rest } else { rest.strip_prefix(',').ok_or_else(form)? };
                let checked = if text.contains(char::is_control) {
                    Err("it contains a control character".to_owned())
                } else if text.len() > MOST_TEXT {
                    Err(format!("it must have at most {MOST_TEXT} bytes, found {}", text.len()))
                } else {
                    (declared.check)(&text, folder)
                };
                checked.map_err(|what| SpecError::Text { agent: agent(), text: declared.name, what })?;
                (Some(text), rest)
            }
        };
        let names: Vec<&str> = entry.params().iter().map(|param| param.name).collect();
        let mut params = entry.params.boxed();
        let mut given = vec![false; names.len()];
        for part in list.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (param, value) = part.split_once('=').ok_or_else(form)?;
            let (param, value) = (param.trim(), value.trim());
            let Some(index) = names.iter().position(|name| *name == param) else {
                return Err(SpecError::Param { agent: agent(), param: param.to_owned(), known: entry.names() });
            };
            if std::mem::replace(&mut given[index], true) {
                return Err(SpecError::Twice { agent: agent(), param: param.to_owned() });
            }
            params.set(param, value).map_err(|refusal| {
                let (agent, param) = (agent(), param.to_owned());
                match refusal {
                    ParamError::Unknown => SpecError::Param { agent, param, known: entry.names() },
                    ParamError::Range(range) => SpecError::Value { agent, param, value: value.to_owned(), range },
                }
            })?;
        }
        Ok(AgentSpec {
            name: None,
            entry: entry.clone(),
            text,
            folder: Arc::clone(folder),
            given,
            params: params.into(),
        })
    }

    /// The agent with this name.
    fn named(self, name: &str) -> Result<AgentSpec, SpecError> {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if name.is_empty() || name.len() > MOST_NAME || !name.bytes().all(is_allowed) {
            return Err(SpecError::Name { name: name.to_owned() });
        }
        Ok(AgentSpec { name: Some(name.to_owned()), ..self })
    }

    /// The name that the spec gives the agent, if it gives one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// What results show: the name of the agent, or its spec if it has no name.
    pub fn label(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.to_string())
    }

    /// Whether both specs describe the same agent with the same parameter values, given or default. Names do not count.
    pub fn is(&self, other: &AgentSpec) -> bool {
        self.entry.name == other.entry.name
            && self.text == other.text
            && self.params.declared() == other.params.declared()
    }

    /// The spec with the value of every parameter, given or default. Two specs have the same full form if and only if
    /// [`AgentSpec::is`] is true for them.
    ///
    /// ```
    /// let roster = cambio_agents::roster();
    /// assert_eq!(roster.parse("greedy")?.full(), roster.parse("greedy(call_at=5)")?.full());
    /// # Ok::<(), cambio_agents::SpecError>(())
    /// ```
    pub fn full(&self) -> String {
        let value = |value: ParamValue| match value {
            // Writes -0 as 0.
            ParamValue::Real(number) => ParamValue::Real(number + 0.0),
            other => other,
        };
        let show = |param: Param| param.default.map(|default| format!("{}={}", param.name, value(default)));
        let params = self.params.declared().into_iter().filter_map(show);
        let list: Vec<String> = self.text.as_deref().map(quote).into_iter().chain(params).collect();
        format!("{}({})", self.entry.name, list.join(","))
    }

    /// The same agent with the default value of every parameter, without a name. An agent keeps its text.
    ///
    /// ```
    /// let roster = cambio_agents::roster();
    /// assert_eq!(roster.parse("heuristic(call_at=7,decay=0.1)")?.with_defaults().to_string(), "heuristic");
    /// # Ok::<(), cambio_agents::SpecError>(())
    /// ```
    #[must_use]
    pub fn with_defaults(&self) -> AgentSpec {
        let given = vec![false; self.given.len()];
        AgentSpec { name: None, given, params: Arc::clone(&self.entry.params), ..self.clone() }
    }

    /// Makes an agent. An agent with an [observer](Agent::observer) fails at its first decision if the match does not
    /// include the observer.
    pub fn make(&self) -> Box<dyn Agent> {
        (self.entry.make)(self.text.as_deref().unwrap_or_default(), &self.folder, &*self.params)
    }

    /// Begins a match with a new instance of the agent, which is not used again.
    ///
    /// # Errors
    /// If the agent cannot play under these rules with this number of seats.
    ///
    /// ```
    /// use cambio_core::Rules;
    ///
    /// let (roster, rules) = (cambio_agents::roster(), Rules::preset("classic")?);
    /// assert!(roster.parse("learned")?.try_begin(&rules, 2).is_ok());
    /// assert!(roster.parse("external(\"no-such-program\")")?.try_begin(&rules, 2).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_begin(&self, rules: &Rules, seats: usize) -> Result<(), AgentError> {
        let mut players = Players::only(Guarded::new(self.make()), Seat::A, seats);
        players.begin(&mut Deal::new(rules, Key::new(0, 0))).map_err(|failure| failure.error)
    }

    /// Whether the agent runs in another process. Such an agent is started before it gets any rules.
    pub fn is_external(&self) -> bool {
        self.entry.is_external
    }

    /// Whether decisions of the agent take about a microsecond, as [declared](RosterEntry::is_fast).
    pub fn is_fast(&self) -> bool {
        self.entry.is_fast
    }

    /// The parameters, if they are of this type.
    pub fn params<P: Params>(&self) -> Option<&P> {
        let params: &dyn Any = &*self.params;
        params.downcast_ref()
    }

    /// The parameters with their values in this spec, as [`Param::default`].
    ///
    /// ```
    /// let spec = cambio_agents::roster().parse("rollout(n=20)")?;
    /// assert_eq!(spec.parameters()[0].default.unwrap().to_string(), "20");
    /// # Ok::<(), cambio_agents::SpecError>(())
    /// ```
    pub fn parameters(&self) -> Vec<Param> {
        self.params.declared()
    }

    /// The folder in which relative paths of the agent's text start; empty for the working directory.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The files that the agent's text names and that the agent depends on, as written.
    pub fn files(&self) -> Vec<String> {
        let text = self.entry.text.zip(self.text.as_deref());
        text.map_or_else(Vec::new, |(declared, text)| (declared.files)(text, &self.folder))
    }

    /// Whether the agent sees every card. If so, only an analysis may use it.
    pub fn sees_all(&self) -> bool {
        self.entry.sees_all
    }

    /// Whether the same seed gives the same play, as declared by the agent's parameters.
    pub fn is_reproducible(&self) -> bool {
        self.params.is_reproducible()
    }

    /// Whether the agent depends on this program alone. An agent with a text also depends on another program or a file.
    pub fn is_self_contained(&self) -> bool {
        self.text.is_none()
    }
}

impl fmt::Debug for AgentSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AgentSpec").field(&self.to_string()).finish()
    }
}

impl fmt::Display for AgentSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |param: Param| param.default.map(|value| format!("{}={value}", param.name));
        let declared = self.params.declared();
        let given = declared.into_iter().zip(&self.given).filter(|(_, given)| **given);
        let given = given.filter_map(|(param, _)| show(param));
        let list: Vec<String> = self.text.as_deref().map(quote).into_iter().chain(given).collect();
        if let Some(name) = &self.name {
            write!(f, "{name} = ")?;
        }
        if list.is_empty() {
            f.write_str(&self.entry.name)
        } else {
            write!(f, "{}({})", self.entry.name, list.join(","))
        }
    }
}

/// Reads a text up to its closing quote; returns the text and the rest of the input, or `None` if the text is invalid.
fn unquote(quoted: &str) -> Option<(String, &str)> {
    let mut text = String::new();
    let mut chars = quoted.char_indices();
    while let Some((index, char)) = chars.next() {
        match char {
            '"' => return Some((text, &quoted[index + 1..])),
            '\\' => text.push(chars.next().map(|(_, char)| char).filter(|char| matches!(char, '"' | '\\'))?),
            char => text.push(char),
        }
    }
    None
}

fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The error for an invalid spec.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message explains the fields")]
pub enum SpecError {
    /// The text does not have the form of a spec.
    #[error(
        "`{}` is not an agent spec; a spec is a name and parameters in parentheses, such as greedy(call_at=7)",
        excerpt(spec)
    )]
    Form { spec: String },
    /// The name before the equals sign is not valid.
    #[error(
        "the name of an agent must have 1 to {MOST_NAME} of the characters a-z, A-Z, 0-9, `-`, `_` and `.`, found `{}`",
        excerpt(name)
    )]
    Name { name: String },
    /// The agent needs a text, and the spec has none.
    #[error("agent `{agent}` needs its {text} first, in double quotes, such as {agent}(\"{example}\")")]
    Missing { agent: String, text: &'static str, example: &'static str },
    /// The agent takes no text, and the spec has one.
    #[error("agent `{agent}` takes no text in quotes; it has {known}")]
    Unwanted { agent: String, known: String },
    /// The text is invalid.
    #[error("agent `{agent}`: cannot use the {text}: {what}")]
    Text { agent: String, text: &'static str, what: String },
    /// No agent has that name.
    #[error("there is no agent `{}`; {}the agents are {known}", excerpt(name), did_you_mean(name, known.split(", ")))]
    Agent { name: String, known: String },
    /// The agent has no such parameter.
    #[error("agent `{agent}` has no parameter `{}`; {}it has {known}", excerpt(param), did_you_mean(param, known.split(", ")))]
    Param { agent: String, param: String, known: String },
    /// The agent sees hidden cards, and players must not.
    #[error("agent `{agent}` sees hidden cards; choose an agent that does not")]
    SeesAll { agent: String },
    /// A parameter is given twice.
    #[error("agent `{agent}`: parameter `{param}` must be given at most once, found it twice")]
    Twice { agent: String, param: String },
    /// A value is out of its range.
    #[error("agent `{agent}`: parameter `{param}` must be {range}, found `{}`", excerpt(value))]
    Value { agent: String, param: String, value: String, range: Range },
}

#[cfg(test)]
mod tests;
