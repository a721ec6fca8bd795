//! Recipes: what is learned, by which means, and for how long.

use std::collections::BTreeMap;

use cambio_agents::{AgentSpec, Roster};
use cambio_core::Rules;
use serde::{Deserialize, Deserializer, Serialize};

/// What to learn, as a TOML file says it.
///
/// ```
/// use cambio_learn::Recipe;
///
/// let recipe = Recipe::from_toml("rules = 'classic'\nseats = 2\nmatches = 1000\n[rivals]\nself = 3\nsharp = 1").unwrap();
/// assert_eq!((recipe.matches, recipe.seats), (1000, vec![2]));
/// let error = Recipe::from_toml("rules = 'classic'\nmaches = 1000").unwrap_err();
/// assert!(error.to_string().contains("maches"));
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Recipe {
    /// A preset, a mini game, or the path of a rule file.
    pub rules: String,
    /// The number of seats, or several numbers, which matches then have in turn: one network for several tables.
    #[serde(deserialize_with = "one_or_many")]
    pub seats: Vec<usize>,
    /// The seed of everything.
    pub seed: u64,
    /// How many matches are played.
    pub matches: u64,
    /// How many matches are played by one state of the network.
    pub generation: u64,
    /// Who plays against the network, and how large a share of the matches: `self`, `past` for the network as it was at one
    /// of the last evaluations, or the spec of an agent.
    pub rivals: BTreeMap<String, f64>,
    /// A network's file to go on from, relative to the current folder.
    pub from: Option<String>,
    /// How matches are played.
    pub play: Play,
    /// How the network is trained.
    pub training: Training,
    /// How it is judged meanwhile.
    pub evaluation: Evaluation,
}

impl Default for Recipe {
    fn default() -> Recipe {
        Recipe {
            rules: "classic".to_owned(),
            seats: vec![2],
            seed: 1,
            matches: 1_000_000,
            generation: 128,
            rivals: BTreeMap::from([("self".to_owned(), 1.0)]),
            from: None,
            play: Play::default(),
            training: Training::default(),
            evaluation: Evaluation::default(),
        }
    }
}

/// How matches are played.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Play {
    /// λ: how much of a target comes from what followed; the rest is the network's own value.
    pub lambda: f32,
    /// What a share that comes one decision later counts.
    pub discount: f32,
    /// The share of the rounds in which one decision is exploratory.
    pub explore_rounds: f32,
    /// The probability that the next decision of such a round is the exploratory one.
    pub explore: f32,
    /// Draws each decision with a probability that is proportional to exp(logit of the win / temperature), and learns what
    /// that is worth; 0 takes the best. Where pure play can be exploited it leads to mixed play near a logit equilibrium
    /// (`McKelvey` and Palfrey 1998), to be played by `learned("FILE",temperature=…)` with the same temperature.
    pub temperature: f32,
    /// After so many turns exploration also tries calls.
    pub force_call_after: Option<usize>,
    /// What a card costs that is carried over to the next round of a match, in points.
    pub extra_card: f32,
    /// What a peek is worth that is carried over, in points.
    pub extra_peek: f32,
}

impl Default for Play {
    fn default() -> Play {
        Play {
            lambda: 0.5,
            discount: 1.0,
            explore_rounds: 0.8,
            explore: 0.15,
            temperature: 0.0,
            force_call_after: None,
            extra_card: 0.0,
            extra_peek: 0.0,
        }
    }
}

/// How the network is trained.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Training {
    /// Samples a step.
    pub batch: usize,
    /// The learning rate for the first three tenths.
    pub rate: f32,
    /// The learning rate at the end; between them it falls by a cosine.
    pub final_rate: f32,
}

impl Default for Training {
    fn default() -> Training {
        Training { batch: 512, rate: 1e-3, final_rate: 3e-5 }
    }
}

/// How the network is judged meanwhile.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Evaluation {
    /// Against whom: in every other seat.
    pub against: Vec<String>,
    /// How many deals, each in all seats.
    pub deals: u64,
    /// How often: this many times, evenly, and at the end.
    pub times: u64,
    /// The seed of the deals, which are not those of learning.
    pub seed: u64,
}

impl Default for Evaluation {
    fn default() -> Evaluation {
        Evaluation { against: Vec::new(), deals: 2000, times: 10, seed: 1 << 40 }
    }
}

/// Whoever sits opposite the network that learns.
#[derive(Clone, Debug)]
pub(crate) enum Rival {
    /// The network itself.
    Itself,
    /// The network as it was at one of the last evaluations; itself before the first.
    Past,
    /// Any agent.
    Agent(Box<AgentSpec>),
}

/// Why a recipe is refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecipeError {
    /// The file is no recipe.
    #[error("{0}")]
    Form(String),
    /// A field is not what it may be.
    #[error("`{field}` is {found}; allowed is {allowed}")]
    Field {
        /// The field.
        field: &'static str,
        /// What the recipe says.
        found: String,
        /// What it may say.
        allowed: String,
    },
}

impl Recipe {
    /// Reads a recipe.
    ///
    /// # Errors
    /// If it is no TOML, has an unknown field, or a field is not what it may be.
    pub fn from_toml(text: &str) -> Result<Recipe, RecipeError> {
        let recipe: Recipe = toml::from_str(text).map_err(|error| RecipeError::Form(error.to_string()))?;
        recipe.check()?;
        Ok(recipe)
    }

    /// The recipe for a network that learns to beat an agent in every other seat.
    ///
    /// ```
    /// use cambio_learn::Recipe;
    ///
    /// let recipe = Recipe::exploiting("sharp", "classic", 2);
    /// assert_eq!(recipe.rivals.keys().collect::<Vec<_>>(), ["sharp"]);
    /// ```
    pub fn exploiting(agent: &str, rules: &str, seats: usize) -> Recipe {
        Recipe {
            rules: rules.to_owned(),
            seats: vec![seats],
            rivals: BTreeMap::from([(agent.to_owned(), 1.0)]),
            evaluation: Evaluation { against: vec![agent.to_owned()], ..Evaluation::default() },
            ..Recipe::default()
        }
    }

    /// The recipe as TOML, with every field.
    ///
    /// # Panics
    /// Never: TOML has whatever a recipe can say.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a recipe has only what TOML has")
    }

    fn check(&self) -> Result<(), RecipeError> {
        let check = |field, found: f64, from: f64, to: f64| {
            if (from..=to).contains(&found) {
                return Ok(());
            }
            let allowed = format!("a number from {from} to {to}");
            Err(RecipeError::Field { field, found: found.to_string(), allowed })
        };
        if self.seats.is_empty() {
            let allowed = "a number from 2 to 8, or a list of them".to_owned();
            return Err(RecipeError::Field { field: "seats", found: "an empty list".to_owned(), allowed });
        }
        for &seats in &self.seats {
            check("seats", seats as f64, 2.0, 8.0)?;
        }
        check("matches", self.matches as f64, 1.0, 1e12)?;
        check("generation", self.generation as f64, 1.0, 1e6)?;
        check("play.lambda", self.play.lambda.into(), 0.0, 1.0)?;
        check("play.discount", self.play.discount.into(), 0.5, 1.0)?;
        check("play.explore_rounds", self.play.explore_rounds.into(), 0.0, 1.0)?;
        check("play.explore", self.play.explore.into(), 0.0, 1.0)?;
        check("play.temperature", self.play.temperature.into(), 0.0, 10.0)?;
        check("play.extra_card", self.play.extra_card.into(), 0.0, 100.0)?;
        check("play.extra_peek", self.play.extra_peek.into(), 0.0, 100.0)?;
        check("training.batch", self.training.batch as f64, 1.0, 1e6)?;
        check("training.rate", self.training.rate.into(), 0.0, 1.0)?;
        check("training.final_rate", self.training.final_rate.into(), 0.0, 1.0)?;
        check("evaluation.deals", self.evaluation.deals as f64, 2.0, 1e9)?;
        check("evaluation.times", self.evaluation.times as f64, 0.0, 1e6)?;
        let shares = self.rivals.values();
        if self.rivals.is_empty()
            || shares.clone().any(|share| !(0.0..=1e9).contains(share))
            || shares.sum::<f64>() <= 0.0
        {
            let found = format!("{:?}", self.rivals);
            let allowed = "`self`, `past` and specs of agents, each with a share that is not negative, and one above 0"
                .to_owned();
            return Err(RecipeError::Field { field: "rivals", found, allowed });
        }
        Ok(())
    }

    /// The agents that a recipe names, as a roster reads them.
    pub(crate) fn rivals(&self, roster: &Roster) -> Result<Vec<(Rival, f64)>, RecipeError> {
        self.rivals
            .iter()
            .filter(|(_, share)| **share > 0.0)
            .map(|(spec, &share)| match spec.as_str() {
                "self" => Ok((Rival::Itself, share)),
                "past" => Ok((Rival::Past, share)),
                spec => Ok((Rival::Agent(agent(roster, "rivals", spec)?.into()), share)),
            })
            .collect()
    }

    /// Against whom it is judged.
    pub(crate) fn judges(&self, roster: &Roster) -> Result<Vec<AgentSpec>, RecipeError> {
        self.evaluation.against.iter().map(|spec| agent(roster, "evaluation.against", spec)).collect()
    }

    /// Whether it plays against what the network was.
    pub(crate) fn has_past(&self) -> bool {
        self.rivals.get("past").is_some_and(|&share| share > 0.0)
    }

    /// Checks that the rules can be played at these tables.
    pub(crate) fn covers(&self, rules: &Rules) -> Result<(), RecipeError> {
        let covers = |&seats: &usize| rules.covers(seats).map_err(|error| RecipeError::Form(error.to_string()));
        self.seats.iter().try_for_each(covers)
    }
}

/// Reads a number, or a list of numbers.
fn one_or_many<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<usize>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "seats are a number, or a list of numbers")]
    enum OneOrMany {
        One(usize),
        Many(Vec<usize>),
    }
    Ok(match OneOrMany::deserialize(from)? {
        OneOrMany::One(seats) => vec![seats],
        OneOrMany::Many(seats) => seats,
    })
}

fn agent(roster: &Roster, field: &'static str, spec: &str) -> Result<AgentSpec, RecipeError> {
    roster.parse(spec).map_err(|error| RecipeError::Form(format!("`{field}`: {error}")))
}
