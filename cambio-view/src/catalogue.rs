//! The agents, rules and tables that pages may use.

use cambio_agents::{AgentSpec, Param, ParamValue, Roster};
use cambio_core::Rules;
use cambio_core::rules::PRESETS;
use serde::Serialize;

use crate::config::PERSON_NAME;
use crate::scene::{CardValue, KindView};
use crate::session::{Session, SessionError};
use crate::words::rules_in_short;

/// The maximum of a parameter in milliseconds, whose name ends in `_ms`.
const MAX_MS: i64 = 10_000;
/// The maximum of every other whole number, such as the iterations of a search. A decision then takes some ten seconds at most.
const MAX_WHOLE: i64 = 100_000;

/// Why a request is rejected: a status code of HTTP and a sentence.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{sentence}")]
pub struct RequestError {
    /// The status code.
    pub status: u16,
    /// The reason.
    pub sentence: String,
}

impl RequestError {
    /// The request is not valid.
    #[expect(clippy::needless_pass_by_value, reason = "callers pass owned errors")]
    pub fn invalid(what: impl ToString) -> RequestError {
        RequestError { status: 400, sentence: what.to_string() }
    }

    /// The requested thing does not exist.
    pub fn missing(what: impl Into<String>) -> RequestError {
        RequestError { status: 404, sentence: what.into() }
    }
}

impl From<SessionError> for RequestError {
    fn from(error: SessionError) -> RequestError {
        RequestError { status: 409, sentence: error.0 }
    }
}

/// The agents and rules that pages may use.
///
/// ```
/// use cambio_view::Catalogue;
///
/// let catalogue = Catalogue::of_browser(cambio_agents::roster());
/// assert!(catalogue.agent("rollout(n=200)").is_ok());
/// let error = catalogue.agent("rollout(time_ms=50)").unwrap_err();
/// assert!(error.sentence.contains("a time budget, which does not work in a browser"), "{error}");
/// ```
#[derive(Debug)]
pub struct Catalogue {
    roster: Roster,
    /// Whether the program is in a browser, which has no programs, no files and no clock.
    is_browser: bool,
    /// The specs with a quoted text, which start programs or read files, that pages may use.
    allowed: Vec<String>,
}

/// What a page offers for a new table.
#[derive(Serialize, Debug)]
pub(crate) struct TableOptions {
    presets: Vec<PresetOption>,
    agents: Vec<AgentOption>,
}

/// An open table, which the start page lists.
#[derive(Serialize)]
pub(crate) struct TableOption {
    table: u64,
    rules: &'static str,
    names: Vec<String>,
    seat: char,
    round: usize,
    over: bool,
}

impl TableOption {
    /// The entry of a table with this number.
    pub(crate) fn new(table: u64, session: &Session) -> TableOption {
        let (config, step) = (session.config(), session.latest());
        TableOption {
            table,
            rules: config.deal.rules().name(),
            names: config.names(PERSON_NAME),
            seat: config.person.letter(),
            round: step.scene.round,
            over: step.end.as_ref().is_some_and(|end| end.ranks.is_some()),
        }
    }
}

#[derive(Serialize, Debug)]
struct PresetOption {
    name: &'static str,
    in_short: [String; 3],
    kinds: Vec<KindView>,
    worth: Vec<CardValue>,
}

#[derive(Serialize, Debug)]
struct AgentOption {
    spec: String,
    about: String,
    params: String,
}

impl Catalogue {
    /// The catalogue of a server. `allowed` contains the specs with a quoted text that pages may use.
    pub fn of_server(roster: Roster, allowed: Vec<String>) -> Catalogue {
        Catalogue { roster, is_browser: false, allowed }
    }

    /// The catalogue of a page in a browser.
    pub fn of_browser(roster: Roster) -> Catalogue {
        Catalogue { roster, is_browser: true, allowed: Vec::new() }
    }

    /// The agents.
    pub fn roster(&self) -> &Roster {
        &self.roster
    }

    /// Whether the program may lack networks, which a page loads when an agent needs them.
    pub(crate) fn loads_networks(&self) -> bool {
        self.is_browser
    }

    /// Parses the spec of an agent from a page.
    ///
    /// # Errors
    /// If the spec is not valid, or pages may not use this agent.
    pub fn agent(&self, spec: &str) -> Result<AgentSpec, RequestError> {
        let agent = self.stored_agent(spec)?;
        if agent.sees_all() {
            let what = "sees hidden cards and cannot play at a table";
            return Err(RequestError::invalid(format!("agent `{agent}` {what}")));
        }
        Ok(agent)
    }

    /// Like [`Catalogue::agent`], for an agent of a stored run, which may see hidden cards.
    ///
    /// # Errors
    /// As [`Catalogue::agent`].
    pub fn stored_agent(&self, spec: &str) -> Result<AgentSpec, RequestError> {
        // The text and the budget of a spec that is allowed explicitly are not checked.
        let is_allowed = self.allowed.iter().any(|allowed| allowed == spec);
        // Checked before parsing, because parsing can read files.
        if spec.contains('"') && !is_allowed {
            let what = if self.is_browser {
                "starts a program or reads a file, which a page cannot do; use it with `cambio serve --with`"
            } else {
                "is not allowed here; start `cambio serve` with `--with` to allow it"
            };
            return Err(RequestError::invalid(format!("agent `{spec}` {what}")));
        }
        let agent = self.roster.parse(spec).map_err(RequestError::invalid)?;
        if !is_allowed {
            self.check_budget(&agent)?;
        }
        Ok(agent)
    }

    /// Checks the budget of an agent's decision.
    ///
    /// # Errors
    /// If a decision may take longer than pages may ask for, or needs a clock that the program does not have.
    fn check_budget(&self, agent: &AgentSpec) -> Result<(), RequestError> {
        if self.is_browser && !agent.is_reproducible() {
            let what = "has a time budget, which does not work in a browser; give a number of iterations instead";
            return Err(RequestError::invalid(format!("agent `{agent}` {what}")));
        }
        let remedy = if self.is_browser {
            "`cambio serve --with` can allow more"
        } else {
            "start `cambio serve` with `--with` to allow this agent"
        };
        for Param { name, default, .. } in agent.parameters() {
            let most = if name.ends_with("_ms") { MAX_MS } else { MAX_WHOLE };
            if let Some(ParamValue::Whole(found)) = default
                && found > most
            {
                let what = format!("parameter `{name}` must be at most {most} here, found {found}; {remedy}");
                return Err(RequestError::invalid(format!("agent `{agent}`: {what}")));
            }
        }
        Ok(())
    }

    /// What a page offers for a new table.
    pub(crate) fn options(&self) -> TableOptions {
        let preset = |name: &'static str| {
            let rules = Rules::preset(name).expect("the shipped presets are rules");
            let (kinds, worth) = (KindView::all(&rules), CardValue::all(&rules));
            PresetOption { name, in_short: rules_in_short(&rules), kinds, worth }
        };
        let mut agents = Vec::new();
        for entry in self.roster.entries().iter().filter(|entry| !entry.sees_all) {
            let params: Vec<&str> = entry.params().iter().map(|param| param.name).collect();
            // Skips agents whose spec needs a quoted text.
            if self.roster.parse(&entry.name).is_ok() {
                let (spec, about) = (entry.name.clone(), entry.about.clone());
                agents.push(AgentOption { spec, about, params: params.join(", ") });
            }
        }
        for spec in &self.allowed {
            let about = "Allowed with --with.".to_owned();
            agents.push(AgentOption { spec: spec.clone(), about, params: String::new() });
        }
        TableOptions { presets: PRESETS.map(preset).into(), agents }
    }
}
