//! Agents by name, and their parameters, each declared once.

use std::fmt;
use std::sync::Arc;

use cambio_core::{Agent, Scribe};

use crate::{Character, External, Forgetting, Greedy, Heuristic, Ismcts, Manner, Oracle, Random, Rollout};

/// A parameter of an agent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Param {
    /// What a spec calls it.
    pub name: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// Its value where a spec does not say; `None` where the parameter then is off.
    pub default: Option<f64>,
    /// What it may be.
    pub range: Range,
}

/// The values that a parameter may have, bounds included.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Range {
    /// Whole numbers.
    Whole(i32, i32),
    /// Any numbers.
    Real(f64, f64),
    /// One of these words; the value is its place among them.
    Words(&'static [&'static str]),
}

impl Range {
    fn read(self, text: &str) -> Option<f64> {
        match self {
            Range::Whole(from, to) => text.parse().ok().filter(|n| (from..=to).contains(n)).map(f64::from),
            Range::Real(from, to) => text.parse().ok().filter(|n| (from..=to).contains(n)),
            Range::Words(words) => words.iter().position(|word| *word == text).map(|place| place as f64),
        }
    }

    /// A value as specs write it.
    pub fn show(self, value: f64) -> String {
        match self {
            Range::Words(words) => words.get(value as usize).map_or_else(|| value.to_string(), |&word| word.to_owned()),
            Range::Whole(..) | Range::Real(..) => value.to_string(),
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Range::Whole(from, to) => write!(f, "a whole number from {from} to {to}"),
            Range::Real(from, to) => write!(f, "a number from {from} to {to}"),
            Range::Words(words) => write!(f, "one of {}", words.join(", ")),
        }
    }
}

/// A text in quotes that an agent takes before its parameters: `external("python3 bot.py")`.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    /// What help and errors call it.
    pub name: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// Says what is wrong with a text, if anything is, as in "it has no words".
    pub check: fn(&str) -> Result<(), String>,
    /// The files that a text names, such as the script of a bot.
    pub files: fn(&str) -> Vec<String>,
}

/// The values of an agent's parameters, and its text.
#[derive(Clone, PartialEq, Debug)]
pub struct Params {
    text: Option<String>,
    declared: &'static [Param],
    given: Vec<Option<f64>>,
}

impl Params {
    /// The parameter's value, given or default; `None` where it is off.
    ///
    /// # Panics
    /// If the agent declares no such parameter.
    pub fn get(&self, name: &str) -> Option<f64> {
        let place = self.declared.iter().position(|param| param.name == name);
        let place = place.unwrap_or_else(|| panic!("the agent declares no parameter `{name}`"));
        self.given[place].or(self.declared[place].default)
    }

    /// The value of a parameter that has a default.
    ///
    /// # Panics
    /// If the agent declares no such parameter, or one without a default.
    pub fn value(&self, name: &str) -> f64 {
        self.get(name).unwrap_or_else(|| panic!("parameter `{name}` has no default"))
    }

    /// The agent's text.
    ///
    /// # Panics
    /// If the agent takes none.
    pub fn text(&self) -> &str {
        self.text.as_deref().expect("the agent takes a text")
    }
}

type Make = dyn Fn(&Params) -> Box<dyn Agent> + Send + Sync;

/// A scribe that may move to another thread with its agent.
pub type SendScribe = dyn Scribe + Send;

type MakeSeeing = dyn Fn(&Params) -> (Box<dyn Agent>, Box<SendScribe>) + Send + Sync;

/// How an agent is made.
#[derive(Clone)]
enum Maker {
    Player(Arc<Make>),
    /// With the scribe through which it sees every card.
    Analyst(Arc<MakeSeeing>),
}

/// An agent of the roster.
#[derive(Clone)]
pub struct Entry {
    /// What a spec calls it.
    pub name: String,
    /// What it does, in a sentence.
    pub about: String,
    /// Its parameters.
    pub params: &'static [Param],
    /// The text that it takes before them, if it takes one.
    pub text: Option<Text>,
    make: Maker,
}

impl Entry {
    /// An agent with parameters.
    pub fn new(
        name: impl Into<String>,
        about: impl Into<String>,
        params: &'static [Param],
        make: impl Fn(&Params) -> Box<dyn Agent> + Send + Sync + 'static,
    ) -> Entry {
        Entry { name: name.into(), about: about.into(), params, text: None, make: Maker::Player(Arc::new(make)) }
    }

    /// An analyst that sees every card, and the scribe through which it does. It is no player: experiments name it only
    /// where they say that they are analyses.
    pub fn analyst(
        name: impl Into<String>,
        about: impl Into<String>,
        params: &'static [Param],
        make: impl Fn(&Params) -> (Box<dyn Agent>, Box<SendScribe>) + Send + Sync + 'static,
    ) -> Entry {
        Entry { name: name.into(), about: about.into(), params, text: None, make: Maker::Analyst(Arc::new(make)) }
    }

    /// Whether the agent sees every card.
    pub fn sees_all(&self) -> bool {
        matches!(self.make, Maker::Analyst(_))
    }

    /// The agent, taking a text in quotes before its parameters; a spec then has to give one.
    #[must_use]
    pub fn with_text(self, text: Text) -> Entry {
        Entry { text: Some(text), ..self }
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("name", &self.name).field("params", &self.params).finish_non_exhaustive()
    }
}

/// The agents that specs can name.
#[derive(Clone, Debug)]
pub struct Roster {
    entries: Vec<Entry>,
}

/// The agents of this crate.
pub fn roster() -> Roster {
    let heuristic = |params: &Params| -> Box<dyn Agent> {
        Box::new(Heuristic::new(Manner::from_params(params), Forgetting::from_params(params)))
    };
    let mut entries = vec![
        Entry::new("random", "Chooses among the legal decisions, each equally likely.", Random::PARAMS, |params| {
            Box::new(Random::new(params.get("pass")))
        }),
        Entry::new(
            "greedy",
            "Remembers what it saw, keeps and snaps what lowers its expected sum, calls at a threshold.",
            Greedy::PARAMS,
            |params| Box::new(Greedy::new(params.value("call_at"))),
        ),
        Entry::new(
            "heuristic",
            "The memory heuristic: keeps, takes, snaps, swaps and calls by expected points, and may forget.",
            Manner::PARAMS,
            heuristic,
        ),
    ];
    entries.push(Entry::new(
        "rollout",
        "Searches one ply: samples worlds and plays them out with the heuristic in every seat.",
        Rollout::PARAMS,
        |params| Box::new(Rollout::from_params(params)),
    ));
    entries.push(Entry::new(
        "ismcts",
        "Information set Monte Carlo tree search: the others follow the blueprint, or the textbook's single or multiple \
         observer.",
        Ismcts::PARAMS,
        |params| Box::new(Ismcts::from_params(params)),
    ));
    entries.push(External::entry());
    entries.push(Entry::analyst(
        "oracle",
        "Sees every card, the stock's order included: a ceiling for analyses, and no player.",
        Oracle::PARAMS,
        |params| {
            let (oracle, eye) = Oracle::from_params(params);
            (Box::new(oracle), Box::new(eye))
        },
    ));
    for character in Character::all() {
        let about = format!("A heuristic. {}", character.about);
        entries.push(Entry::new(character.name, about, &character.params, heuristic));
    }
    Roster { entries }
}

impl Roster {
    /// The roster with one more agent, without parameters. It replaces one of the same name.
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
        self.with_entry(Entry::new(name, about, &[], move |_| Box::new(make())))
    }

    /// The roster with one more agent. It replaces one of the same name.
    #[must_use]
    pub fn with_entry(mut self, entry: Entry) -> Roster {
        self.entries.retain(|other| other.name != entry.name);
        self.entries.push(entry);
        self
    }

    /// The agents.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Reads a spec: a name, and parameters in parentheses: `greedy(call_at=7)`. An agent that takes a text has it
    /// first, in double quotes, with `\"` for a quote and `\\` for a backslash: `external("bot --fast", deadline_ms=50)`.
    ///
    /// # Errors
    /// If no agent has that name, the agent has no such parameter, a value is out of its range, or a text is missing,
    /// unwanted or no good. The sentence says what is allowed.
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
        let form = || SpecError::Form { spec: spec.to_owned() };
        let (text, list) = match (&entry.text, list.trim_start().strip_prefix('"')) {
            (None, None) => (None, list),
            (None, Some(_)) => return Err(SpecError::Unwanted { agent: name.to_owned(), known: names(entry) }),
            (Some(declared), None) => {
                return Err(SpecError::Missing { agent: name.to_owned(), text: declared.name });
            }
            (Some(declared), Some(quoted)) => {
                let (text, rest) = unquote(quoted).ok_or_else(form)?;
                let rest = rest.trim_start();
                let rest = if rest.is_empty() { rest } else { rest.strip_prefix(',').ok_or_else(form)? };
                let checked = if text.contains(char::is_control) {
                    Err("it has a control character".to_owned())
                } else {
                    (declared.check)(&text)
                };
                checked.map_err(|what| SpecError::Text { agent: name.to_owned(), text: declared.name, what })?;
                (Some(text), rest)
            }
        };
        let mut given = vec![None; entry.params.len()];
        for part in list.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (param, value) = part.split_once('=').ok_or_else(form)?;
            let (param, value) = (param.trim(), value.trim());
            let Some(place) = entry.params.iter().position(|declared| declared.name == param) else {
                return Err(SpecError::Param { agent: name.to_owned(), param: param.to_owned(), known: names(entry) });
            };
            let declared = entry.params[place];
            if given[place].is_some() {
                return Err(SpecError::Twice { agent: name.to_owned(), param: param.to_owned() });
            }
            given[place] = Some(declared.range.read(value).ok_or_else(|| SpecError::Value {
                agent: name.to_owned(),
                param: param.to_owned(),
                value: value.to_owned(),
                range: declared.range,
            })?);
        }
        Ok(AgentSpec { params: Params { text, declared: entry.params, given }, entry: entry.clone() })
    }
}

/// Reads a text up to its closing quote, and gives what follows; `None` if none closes it.
fn unquote(quoted: &str) -> Option<(String, &str)> {
    let mut text = String::new();
    let mut chars = quoted.char_indices();
    while let Some((place, char)) = chars.next() {
        match char {
            '"' => return Some((text, &quoted[place + 1..])),
            '\\' => text.push(chars.next().map(|(_, char)| char).filter(|char| matches!(char, '"' | '\\'))?),
            char => text.push(char),
        }
    }
    None
}

fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn names(entry: &Entry) -> String {
    if entry.params.is_empty() {
        return "none".to_owned();
    }
    entry.params.iter().map(|param| param.name).collect::<Vec<_>>().join(", ")
}

/// An agent and its parameters. Its text form is the spec, parameters in the order in which they are declared, those
/// alone that were given.
#[derive(Clone, Debug)]
pub struct AgentSpec {
    entry: Entry,
    params: Params,
}

impl AgentSpec {
    /// Whether this is the same agent with the same values, given or default.
    pub fn is(&self, other: &AgentSpec) -> bool {
        let values = |spec: &AgentSpec| -> Vec<Option<f64>> {
            spec.params.declared.iter().map(|param| spec.params.get(param.name)).collect()
        };
        self.entry.name == other.entry.name && self.params.text == other.params.text && values(self) == values(other)
    }

    /// A new agent of this spec. One that sees every card is blind then, and in trouble at its first decision.
    pub fn make(&self) -> Box<dyn Agent> {
        self.make_with_eye().0
    }

    /// A new agent of this spec, and for one that sees every card the scribe that has to watch its matches.
    pub fn make_with_eye(&self) -> (Box<dyn Agent>, Option<Box<SendScribe>>) {
        match &self.entry.make {
            Maker::Player(make) => (make(&self.params), None),
            Maker::Analyst(make) => {
                let (agent, eye) = make(&self.params);
                (agent, Some(eye))
            }
        }
    }

    /// The files on which the agent depends: those that its text names.
    pub fn files(&self) -> Vec<String> {
        let text = self.entry.text.zip(self.params.text.as_deref());
        text.map_or_else(Vec::new, |(declared, text)| (declared.files)(text))
    }

    /// The values of the agent's parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Whether the agent sees every card, and so may be named only in an analysis.
    pub fn sees_all(&self) -> bool {
        self.entry.sees_all()
    }

    /// Whether the same seed gives the same play: not where the agent has a budget of time.
    pub fn is_reproducible(&self) -> bool {
        let is_timed = |(param, given): (&Param, &Option<f64>)| param.name == "time_ms" && given.is_some();
        !self.params.declared.iter().zip(&self.params.given).any(is_timed)
    }

    /// Whether nothing but this program decides for the agent: not where it takes a text, which names what else does.
    pub fn is_self_contained(&self) -> bool {
        self.params.text.is_none()
    }
}

impl fmt::Display for AgentSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given = self.params.declared.iter().zip(&self.params.given);
        let given =
            given.filter_map(|(param, value)| value.map(|value| format!("{}={}", param.name, param.range.show(value))));
        let list: Vec<String> = self.params.text.as_deref().map(quote).into_iter().chain(given).collect();
        if list.is_empty() {
            f.write_str(&self.entry.name)
        } else {
            write!(f, "{}({})", self.entry.name, list.join(","))
        }
    }
}

/// Why a spec is refused.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum SpecError {
    /// It has not the form of a spec.
    #[error("`{spec}` is no agent spec; a spec is a name and parameters in parentheses, such as greedy(call_at=7)")]
    Form {
        /// The spec.
        spec: String,
    },
    /// The agent takes a text, and there is none.
    #[error("agent `{agent}` needs its {text} first, in double quotes, such as {agent}(\"python3 bot.py\")")]
    Missing {
        /// The agent.
        agent: String,
        /// What the text is.
        text: &'static str,
    },
    /// The agent takes no text, and there is one.
    #[error("agent `{agent}` takes no text in quotes; it has {known}")]
    Unwanted {
        /// The agent.
        agent: String,
        /// The parameters that it has.
        known: String,
    },
    /// The text is no good.
    #[error("agent `{agent}`: the {text} is no good: {what}")]
    Text {
        /// The agent.
        agent: String,
        /// What the text is.
        text: &'static str,
        /// What is wrong with it.
        what: String,
    },
    /// No agent has that name.
    #[error("there is no agent `{name}`; the agents are {known}")]
    Agent {
        /// The name.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// The agent has no such parameter.
    #[error("agent `{agent}` has no parameter `{param}`; it has {known}")]
    Param {
        /// The agent.
        agent: String,
        /// The parameter.
        param: String,
        /// The parameters that it has.
        known: String,
    },
    /// A parameter is given twice.
    #[error("agent `{agent}`: parameter `{param}` is given twice; once is allowed")]
    Twice {
        /// The agent.
        agent: String,
        /// The parameter.
        param: String,
    },
    /// A value is out of its range.
    #[error("agent `{agent}`: parameter `{param}` is `{value}`; allowed is {range}")]
    Value {
        /// The agent.
        agent: String,
        /// The parameter.
        param: String,
        /// The value.
        value: String,
        /// What is allowed.
        range: Range,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_is_written_as_it_is_read() {
        let roster = roster();
        for spec in [
            "random",
            "random(pass=0.9)",
            "greedy",
            "greedy(call_at=-3)",
            r#"external("python3 bot.py")"#,
            r#"external("bot --name \"a, b)\" 'c\\d' x=1",deadline_ms=50,start_ms=7)"#,
        ] {
            assert_eq!(roster.parse(spec).unwrap().to_string(), spec);
        }
    }

    #[test]
    fn a_bad_spec_gets_a_sentence_that_says_what_is_allowed() {
        let roster = roster();
        for (spec, sentence) in [
            ("gready", "there is no agent `gready`; the agents are random, greedy, heuristic, "),
            ("random(pass=1.5)", "agent `random`: parameter `pass` is `1.5`; allowed is a number from 0 to 1"),
            ("random(pass=NaN)", "agent `random`: parameter `pass` is `NaN`; allowed is a number from 0 to 1"),
            ("greedy(call_at=2.5)", "allowed is a whole number from -20 to 100"),
            ("greedy(call_at=1,call_at=2)", "agent `greedy`: parameter `call_at` is given twice; once is allowed"),
            ("greedy(call_at=1", "`greedy(call_at=1` is no agent spec"),
            ("greedy(5)", "`greedy(5)` is no agent spec"),
            (r#"greedy("5")"#, "agent `greedy` takes no text in quotes; it has call_at"),
            ("external", r#"agent `external` needs its command first, in double quotes, such as external("python3 b"#),
            ("external(bot)", "agent `external` needs its command first, in double quotes"),
            (r#"external(start_ms=5,"bot")"#, "agent `external` needs its command first, in double quotes"),
            (r#"external("bot)"#, "is no agent spec"),
            (r#"external("bot" deadline_ms=5)"#, "is no agent spec"),
            (r#"external("bot \n")"#, "is no agent spec"),
            ("external(\"bot\tx\")", "agent `external`: the command is no good: it has a control character"),
            (r#"external("  ")"#, "agent `external`: the command is no good: it has no words"),
            (r#"external("bot 'x")"#, "agent `external`: the command is no good: a quote in it is not closed"),
            (r#"external("bot",deadline_ms=0)"#, "parameter `deadline_ms` is `0`; allowed is a whole number from 1 to"),
            ("", "there is no agent ``"),
        ] {
            let error = roster.parse(spec).unwrap_err().to_string();
            assert!(error.contains(sentence), "{spec}: {error}");
        }
    }
}
