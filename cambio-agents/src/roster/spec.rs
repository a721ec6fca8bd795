//! Parses and writes spec strings: an agent and its parameters.

use std::any::Any;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use cambio_core::rng::Key;
use cambio_core::text::{did_you_mean, excerpt};
use cambio_core::{Agent, AgentError, Deal, Players, Rules, Seat};

use super::entry::RosterEntry;
use crate::guarded::Guarded;
use crate::params::{Param, ParamError, ParamValue, Params, Range};

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
    pub(super) fn read(
        entry: &RosterEntry,
        list: &str,
        spec: &str,
        folder: &Arc<Path>,
    ) -> Result<AgentSpec, SpecError> {
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
    pub(super) fn named(self, name: &str) -> Result<AgentSpec, SpecError> {
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
    /// let agent = cambio_agents::roster().parse("learned")?;
    /// assert!(agent.try_begin(&Rules::preset("classic")?, 2).is_ok());
    /// assert!(agent.try_begin(&Rules::preset("mini-m1")?, 2).is_err());
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

    /// Whether decisions of the agent take about a microsecond, as [declared](RosterEntry::fast).
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
