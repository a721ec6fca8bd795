//! Requests to play a match of agents, and to compare it with a published result.

use cambio_agents::AgentSpec;
use cambio_core::record::Fingerprinter;
use cambio_core::rng::{Key, Seed};
use cambio_core::rules::MAX_SEATS;
use cambio_core::{Agent, Deal, Observer, Players, Record, Referee, Seat};
use serde::{Deserialize, Serialize};

use crate::catalogue::{Catalogue, RequestError};
use crate::requests::seed;
use crate::session::SessionError;

/// The request to play a match of agents.
///
/// ```
/// use cambio_view::{Catalogue, MatchRequest, replay_in_json};
///
/// let catalogue = Catalogue::of_browser(cambio_agents::roster());
/// let request: MatchRequest = serde_json::from_str(r#"{ "rules": "classic", "agents": ["greedy", "sharp"], "seed": "7" }"#)?;
/// let record = request.play(&catalogue, || unreachable!("the request has a seed"), &|| true)?;
/// assert_eq!(catalogue.record(&record.to_json())?, record);
/// assert!(replay_in_json(&record, None)?.starts_with(r#"{"replay":{"title":"greedy against sharp""#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct MatchRequest {
    /// The name of a preset, or the text of a rule file.
    rules: String,
    /// The specs of the agents, seat a first.
    agents: Vec<String>,
    #[serde(default)]
    one_round: bool,
    #[serde(default)]
    seed: Option<String>,
    /// The seed of the agents' random streams, if it is not the default.
    #[serde(default)]
    agent_seed: Option<String>,
    /// The number of the deal: 0 if it is missing.
    #[serde(default)]
    deal: u64,
}

/// A match that was played: the referee, and the specs of the agents.
type PlayedMatch<W> = (Referee<Box<dyn Agent>, W>, Vec<AgentSpec>);

impl MatchRequest {
    /// Plays the match, with `fresh` as the seed if the request has none. Stops between two decisions when `goes_on` returns false.
    ///
    /// # Errors
    /// If a field is not valid, an agent fails, or the match is stopped.
    ///
    /// # Panics
    /// If an agent panics.
    pub fn play(
        &self,
        catalogue: &Catalogue,
        fresh: impl FnOnce() -> String,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Record, RequestError> {
        let (referee, agents) = self.observed(catalogue, fresh, goes_on, ())?;
        let names: Vec<String> = agents.iter().map(ToString::to_string).collect();
        Ok(referee.playing().save(&names.iter().map(String::as_str).collect::<Vec<_>>()))
    }

    /// Plays the match with an observer.
    fn observed<W: Observer>(
        &self,
        catalogue: &Catalogue,
        fresh: impl FnOnce() -> String,
        goes_on: &dyn Fn() -> bool,
        observer: W,
    ) -> Result<PlayedMatch<W>, RequestError> {
        let seats = self.agents.len();
        if !(2..=MAX_SEATS).contains(&seats) {
            return Err(RequestError::invalid(format!("there must be 2 to {MAX_SEATS} agents, found {seats}")));
        }
        let rules = catalogue.rules(&self.rules)?;
        let rules = if self.one_round { rules.of_one_round() } else { rules };
        rules.covers(seats).map_err(RequestError::invalid)?;
        let agents = self.agents.iter().map(|spec| catalogue.agent(spec)).collect::<Result<Vec<_>, _>>()?;
        let cards = self.seed.clone().filter(|seed| !seed.is_empty()).unwrap_or_else(fresh);
        let streams = self.agent_seed.as_deref().map_or(Ok(Seed::AGENTS), seed)?;
        let key = Key { seed: seed(&cards)?, agents: streams, deal: self.deal };
        let players = Players::all(agents.iter().map(AgentSpec::make));
        let mut referee = Referee::new(Deal::new(&rules, key), players, observer).map_err(RequestError::invalid)?;
        while !referee.playing().is_over() {
            if !goes_on() {
                return Err(SessionError("the match was stopped".to_owned()).into());
            }
            referee.step().map_err(RequestError::invalid)?;
        }
        Ok((referee, agents))
    }
}

/// The request to play a match of a run again and to compare it with its published row.
///
/// ```
/// use cambio_view::{Catalogue, CheckRequest};
///
/// let catalogue = Catalogue::of_browser(cambio_agents::roster());
/// let key = r#"{ "rules": "classic", "agents": ["greedy", "sharp"], "seed": "42", "deal": 3 }"#;
/// let check = |row: &str| {
///     let request: CheckRequest = serde_json::from_str(&format!(r#"{{ "match": {key}, {row} }}"#)).unwrap();
///     request.check(&catalogue, &|| true).unwrap()
/// };
/// let found = check(r#""winners": "ab", "fingerprint": """#);
/// assert!(!found.agrees);
/// let row = format!(r#""winners": "{}", "fingerprint": "{}""#, found.found_winners, found.found_fingerprint);
/// assert!(check(&row).agrees);
/// ```
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct CheckRequest {
    #[serde(rename = "match")]
    played: MatchRequest,
    /// The letters of the seats of rank 1, as in the column `winners` of `matches.csv`.
    winners: String,
    /// The fingerprint of play, as in the column `fingerprint` of `matches.csv`.
    fingerprint: String,
}

/// The answer to a [`CheckRequest`].
#[derive(Serialize, Clone, PartialEq, Eq, Debug)]
pub struct CheckAnswer {
    /// Whether the match has the published winners and fingerprint.
    pub agrees: bool,
    /// The winners of the match that was played now.
    pub found_winners: String,
    /// The fingerprint of the match that was played now.
    pub found_fingerprint: String,
}

impl CheckRequest {
    /// Plays the match and compares it. Stops between two decisions when `goes_on` returns false.
    ///
    /// # Errors
    /// If a field is not valid, the match has no seed, an agent fails, or the match is stopped.
    ///
    /// # Panics
    /// If an agent panics.
    pub fn check(&self, catalogue: &Catalogue, goes_on: &dyn Fn() -> bool) -> Result<CheckAnswer, RequestError> {
        // An empty seed is refused, because a match with a fresh seed cannot be compared.
        let (referee, _) = self.played.observed(catalogue, String::new, goes_on, Fingerprinter::default())?;
        let result = referee.playing().result().expect("the match is over");
        let first = Seat::ALL.into_iter().zip(&result.ranks).filter(|(_, rank)| **rank == 1);
        let found_winners: String = first.map(|(seat, _)| seat.letter()).collect();
        let found_fingerprint = referee.observer().of_match().to_string();
        let agrees = (&found_winners, &found_fingerprint) == (&self.winners, &self.fingerprint);
        Ok(CheckAnswer { agrees, found_winners, found_fingerprint })
    }
}
