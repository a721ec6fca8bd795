//! Recipes: the configuration of training runs.

use std::collections::BTreeMap;

use cambio_agents::{AgentSpec, NetworkInputs, NetworkMetadata, Roster};
use cambio_core::Rules;
use cambio_core::text::read_toml;
use serde::{Deserialize, Serialize};

/// The configuration of a training run, as in a TOML file.
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
    /// Trains a general network, which plays under all rules: matches are also played under the presets and under this many
    /// rule systems that are drawn at random.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub systems: Option<u64>,
    /// The number of seats, or several numbers through which matches cycle: one network for several tables.
    #[serde(deserialize_with = "cambio_exec::one_or_many")]
    pub seats: Vec<usize>,
    /// The seed of the whole run.
    pub seed: u64,
    /// The number of matches.
    pub matches: u64,
    /// The number of matches that are played with the same weights.
    pub generation: u64,
    /// The opponents of the network and their relative shares of the matches: `self`, `past` for the network as it was
    /// at one of the last evaluations, or an agent spec.
    pub rivals: BTreeMap<String, f64>,
    /// The file of the starting network, relative to the current folder, or [`Recipe::SHIPPED`].
    pub from: Option<String>,
    /// `["general"]` for the inputs of a general network, under one rule system, or `["witnesses"]` for the inputs of the
    /// bundled network for two seats of `classic`; by default the inputs of the starting network, or all inputs for one deck.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Vec<String>>,
    /// What the network learns.
    #[serde(skip_serializing_if = "Method::is_value")]
    pub method: Method,
    /// How matches are played.
    pub play: Play,
    /// How a policy is trained.
    #[serde(skip_serializing_if = "PolicyTraining::is_default")]
    pub policy: PolicyTraining,
    /// How the network is trained.
    pub training: Training,
    /// How the network is evaluated during training.
    pub evaluation: Evaluation,
    /// Whether the best of the evaluated networks is evaluated again at the end, on fresh deals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bound>,
}

impl Default for Recipe {
    fn default() -> Recipe {
        Recipe {
            rules: "classic".to_owned(),
            systems: None,
            seats: vec![2],
            seed: 1,
            matches: 1_000_000,
            generation: 128,
            rivals: BTreeMap::from([("self".to_owned(), 1.0)]),
            from: None,
            inputs: None,
            method: Method::Value,
            play: Play::default(),
            policy: PolicyTraining::default(),
            training: Training::default(),
            evaluation: Evaluation::default(),
            bound: None,
        }
    }
}

/// How matches are played.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Play {
    /// λ: the weight of the later return in a training target. The network's own value has the weight 1 − λ.
    pub lambda: f32,
    /// The discount of a return for each later decision.
    pub discount: f32,
    /// The share of the rounds in which one decision is exploratory.
    pub explore_rounds: f32,
    /// The probability that the next decision of such a round is the exploratory one.
    pub explore: f32,
    /// The softmax temperature T; 0 takes the best decision. Decisions have probabilities proportional to exp(l / T),
    /// where l is the logit of the estimated win share, and the network learns the values of this policy. Where pure
    /// play can be exploited, the result is mixed play near a logit equilibrium (`McKelvey` and Palfrey 1998). Such a
    /// network plays as `learned("FILE",temperature=T)`.
    pub temperature: f32,
    /// The temperature at the end of training. It is reached by a constant factor per match; `None` keeps the temperature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_temperature: Option<f32>,
    /// After this many turns exploration also tries calls.
    pub force_call_after: Option<usize>,
    /// The rules' `turn_limit` while training. A low limit saves time at the start, when networks rarely call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_limit: Option<u16>,
    /// The cost in points of an extra card that is carried over to the next round of a match.
    pub extra_card: f32,
    /// The value in points of an extra peek that is carried over to the next round of a match.
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
            final_temperature: None,
            force_call_after: None,
            turn_limit: None,
            extra_card: 0.0,
            extra_peek: 0.0,
        }
    }
}

impl Play {
    pub(crate) fn temperature_after(&self, share: f32) -> f32 {
        let Some(last) = self.final_temperature else { return self.temperature };
        by_constant_factor(self.temperature, last, share)
    }
}

/// What a network learns.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// The win share that follows each decision: the network takes the decision with the highest value.
    #[default]
    Value,
    /// The probability of each decision, by proximal policy optimization (Schulman et al. 2017) with an entropy bonus:
    /// the network draws its decisions.
    Policy,
}

impl Method {
    fn is_value(&self) -> bool {
        *self == Method::Value
    }
}

/// How a policy is trained.
///
/// In games of hidden information, self-play by policy gradient approaches an equilibrium if an entropy bonus, in units
/// of the payoff, falls slowly (Sokota et al. 2023; Rudolph et al. 2025). The critic sees every card in training; the
/// policy does not.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PolicyTraining {
    /// λ of the advantages: 0 trusts the critic, 1 the results of the rounds.
    pub lambda: f32,
    /// The change of a probability, as a ratio, from which a decision is not reinforced further.
    pub clip: f32,
    /// The value of one nat of entropy at the beginning, in win shares.
    pub entropy: f32,
    /// The value of one nat of entropy at the end. It is reached by a constant factor per match.
    pub final_entropy: f32,
}

impl Default for PolicyTraining {
    fn default() -> PolicyTraining {
        PolicyTraining { lambda: 0.95, clip: 0.2, entropy: 0.075, final_entropy: 0.005 }
    }
}

impl PolicyTraining {
    fn is_default(&self) -> bool {
        *self == PolicyTraining::default()
    }

    pub(crate) fn entropy_after(&self, share: f32) -> f32 {
        by_constant_factor(self.entropy, self.final_entropy, share)
    }
}

/// How the network is trained.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Training {
    /// The number of samples per gradient step.
    pub batch: usize,
    /// The learning rate for the first three tenths of the run.
    pub rate: f32,
    /// The learning rate at the end, after a cosine decay.
    pub final_rate: f32,
}

impl Default for Training {
    fn default() -> Training {
        Training { batch: 512, rate: 1e-3, final_rate: 3e-5 }
    }
}

/// How the network is evaluated during training.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Evaluation {
    /// The opponents. In each match, one of them plays in all seats except the network's.
    pub against: Vec<String>,
    /// The number of deals, each played in all seats.
    pub deals: u64,
    /// The number of evaluations, evenly spaced. The last one is at the end; it takes place even if the number is 0.
    pub times: u64,
    /// The seed of the deals, which differ from the training deals.
    pub seed: u64,
}

impl Default for Evaluation {
    fn default() -> Evaluation {
        Evaluation { against: Vec::new(), deals: 2000, times: 10, seed: 1 << 40 }
    }
}

/// The evaluation at the end, which gives a lower bound on the exploitability of the evaluation's agents. The network
/// with the best evaluation, which may be the starting network, plays deals that were used neither for training nor for
/// the selection.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Bound {
    /// The number of deals, each played in all seats.
    pub deals: u64,
    /// The seed of these deals, different from the seeds of the recipe and of the evaluation.
    pub seed: u64,
}

impl Default for Bound {
    fn default() -> Bound {
        Bound { deals: 20_000, seed: 1 << 41 }
    }
}

/// The number after a share of the way from `first` to `last`, if it changes by the same factor at each step.
fn by_constant_factor(first: f32, last: f32, share: f32) -> f32 {
    first * libm::powf(last / first, share)
}

/// The name of the inputs of a general network.
const GENERAL: &str = "general";

/// The name of the inputs of [`NetworkInputs::early`].
const EARLY: &str = "witnesses";

/// An opponent of the network.
#[derive(Clone, Debug)]
pub(crate) enum Rival {
    /// The network itself.
    Itself,
    /// The network as it was at one of the last evaluations; before the first evaluation, the current network.
    Past,
    /// Any agent.
    Agent(Box<AgentSpec>),
}

impl std::fmt::Display for Rival {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Rival::Itself => f.write_str("self"),
            Rival::Past => f.write_str("past"),
            Rival::Agent(spec) => spec.fmt(f),
        }
    }
}

/// Why a recipe was rejected.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message explains the fields")]
pub enum RecipeError {
    /// The file is not a recipe.
    #[error("{0}")]
    Form(String),
    /// A field has an invalid value.
    #[error("`{field}` must be {allowed}, found {found}")]
    Field { field: &'static str, found: String, allowed: String },
}

impl RecipeError {
    pub(crate) fn field(field: &'static str, found: impl Into<String>, allowed: impl Into<String>) -> RecipeError {
        RecipeError::Field { field, found: found.into(), allowed: allowed.into() }
    }

    /// The error with the value as the file has it, because a recipe stores rounded numbers.
    fn quoting(self, text: &str) -> RecipeError {
        let RecipeError::Field { field, found, allowed } = self else { return self };
        let file: Option<toml::Value> = toml::from_str(text).ok();
        let shown = |value: toml::Value| value.as_float().map_or(value.to_string(), |float| format!("{float:?}"));
        let written = field.split('.').fold(file, |value, name| value?.get(name).cloned()).map(shown);
        RecipeError::Field { field, found: written.unwrap_or(found), allowed }
    }
}

impl Recipe {
    /// Reads a recipe.
    ///
    /// # Errors
    /// If the text is not TOML, has an unknown field, or a field has an invalid value.
    pub fn from_toml(text: &str) -> Result<Recipe, RecipeError> {
        let recipe: Recipe = read_toml(text).map_err(RecipeError::Form)?;
        recipe.check().map_err(|error| error.quoting(text))?;
        Ok(recipe)
    }

    /// The value of `from` that selects the bundled network, see [`Network::shipped`](cambio_agents::Network::shipped).
    pub const SHIPPED: &str = "shipped";

    /// The recipe for a responder: a network that trains only against one agent in all other seats.
    ///
    /// ```
    /// use cambio_learn::Recipe;
    ///
    /// let recipe = Recipe::exploiting("sharp", "classic", 2);
    /// assert_eq!(recipe.rivals.keys().collect::<Vec<_>>(), ["sharp"]);
    /// assert!(recipe.bound.unwrap().deals > recipe.evaluation.deals);
    /// ```
    pub fn exploiting(agent: &str, rules: &str, seats: usize) -> Recipe {
        Recipe {
            rules: rules.to_owned(),
            seats: vec![seats],
            rivals: BTreeMap::from([(agent.to_owned(), 1.0)]),
            evaluation: Evaluation { against: vec![agent.to_owned()], ..Evaluation::default() },
            bound: Some(Bound::default()),
            ..Recipe::default()
        }
        .lasting(1_000_000)
    }

    /// The same recipe with a starting network, with the `play` settings and generation size of that network's recipe,
    /// and with a fifth of that recipe's matches.
    ///
    /// ```
    /// use cambio_agents::Network;
    /// use cambio_core::Rules;
    /// use cambio_learn::Recipe;
    ///
    /// let file = Network::shipped_file(&Rules::preset("classic")?, 2).unwrap();
    /// let (_, facts) = Network::from_bytes(file)?;
    /// let recipe = Recipe::exploiting("sharp", "classic", 2).going_on_from(Recipe::SHIPPED, &facts);
    /// assert_eq!(recipe.matches, 2_000_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn going_on_from(self, from: &str, facts: &NetworkMetadata) -> Recipe {
        let from = Some(from.to_owned());
        // The file may have been written by another program than `cambio learn`.
        match serde_json::from_value::<Recipe>(facts.made["recipe"].clone()) {
            Ok(was) => {
                Recipe { from, generation: was.generation, play: was.play, ..self }.lasting((was.matches / 5).max(1))
            }
            Err(_) => Recipe { from, ..self },
        }
    }

    /// The same recipe with this many matches, and with numbers of evaluation deals that are in proportion to them.
    #[must_use]
    pub fn lasting(mut self, matches: u64) -> Recipe {
        self.matches = matches;
        self.evaluation.deals = (matches / 200).clamp(200, 10_000);
        if let Some(bound) = &mut self.bound {
            bound.deals = (matches / 40).clamp(1000, 50_000);
        }
        self
    }

    /// Whether this is `own`, the recipe of a folder. The inputs may be missing here.
    pub(crate) fn is_of(&self, own: &Recipe) -> bool {
        let mut recipe = self.clone();
        recipe.inputs = recipe.inputs.or_else(|| own.inputs.clone());
        recipe == *own
    }

    /// The recipe as TOML, with every field.
    ///
    /// # Panics
    /// Does not panic: every recipe can be written as TOML.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("every recipe can be written as TOML")
    }

    /// Checks every field.
    pub(crate) fn check(&self) -> Result<(), RecipeError> {
        let refuse = |field, found: String, allowed: &str| Err(RecipeError::field(field, found, allowed));
        let check = |field, found: f64, from: f64, to: f64| {
            if (from..=to).contains(&found) {
                return Ok(());
            }
            refuse(field, found.to_string(), &format!("a number from {from} to {to}"))
        };
        if self.seats.is_empty() {
            return refuse("seats", "an empty list".to_owned(), "a number from 2 to 8, or a list of them");
        }
        for &seats in &self.seats {
            check("seats", seats as f64, 2.0, 8.0)?;
        }
        if let Some(systems) = self.systems {
            check("systems", systems as f64, 0.0, 1e5)?;
            if self.inputs.is_some() {
                return refuse("systems", systems.to_string(), "absent with `inputs`");
            }
        }
        check("matches", self.matches as f64, 1.0, 1e12)?;
        check("generation", self.generation as f64, 1.0, 1e6)?;
        check("play.lambda", self.play.lambda.into(), 0.0, 1.0)?;
        check("play.discount", self.play.discount.into(), 0.5, 1.0)?;
        check("play.explore_rounds", self.play.explore_rounds.into(), 0.0, 1.0)?;
        check("play.explore", self.play.explore.into(), 0.0, 1.0)?;
        check("play.temperature", self.play.temperature.into(), 0.0, 10.0)?;
        if let Some(last) = self.play.final_temperature {
            check("play.final_temperature", last.into(), 0.001, 10.0)?;
            check("play.temperature", self.play.temperature.into(), 0.001, 10.0)?;
        }
        if let Some(turns) = self.play.turn_limit {
            check("play.turn_limit", turns.into(), 1.0, 10_000.0)?;
        }
        check("play.extra_card", self.play.extra_card.into(), 0.0, 100.0)?;
        check("play.extra_peek", self.play.extra_peek.into(), 0.0, 100.0)?;
        if self.method.is_value() && !self.policy.is_default() {
            return refuse("policy", format!("{:?}", self.policy), "absent unless `method = \"policy\"`");
        }
        check("policy.lambda", self.policy.lambda.into(), 0.0, 1.0)?;
        check("policy.clip", self.policy.clip.into(), 0.01, 1.0)?;
        check("policy.entropy", self.policy.entropy.into(), 1e-6, 10.0)?;
        check("policy.final_entropy", self.policy.final_entropy.into(), 1e-6, 10.0)?;
        check("training.batch", self.training.batch as f64, 1.0, 1e6)?;
        check("training.rate", self.training.rate.into(), 0.0, 1.0)?;
        check("training.final_rate", self.training.final_rate.into(), 0.0, 1.0)?;
        check("evaluation.deals", self.evaluation.deals as f64, 2.0, 1e9)?;
        check("evaluation.times", self.evaluation.times as f64, 0.0, 1e6)?;
        if let Some(Bound { deals, seed }) = self.bound {
            check("bound.deals", deals as f64, 2.0, 1e9)?;
            if seed == self.seed || seed == self.evaluation.seed {
                let allowed = "different from `seed` and `evaluation.seed`, so that the deals are fresh";
                return refuse("bound.seed", seed.to_string(), allowed);
            }
            if self.evaluation.against.is_empty() {
                return refuse("evaluation.against", "an empty list".to_owned(), "the agents for the lower bound");
            }
        }
        let shares = self.rivals.values();
        if self.rivals.is_empty()
            || shares.clone().any(|share| !(0.0..=1e9).contains(share))
            || shares.sum::<f64>() <= 0.0
        {
            let allowed = "`self`, `past` or agent specs with shares of at least 0, and at least one share above 0";
            return refuse("rivals", format!("{:?}", self.rivals), allowed);
        }
        Ok(())
    }

    /// The inputs of the network, which the recipe then names. `from` are the inputs of the starting network.
    pub(crate) fn network_inputs(
        &mut self,
        rules: &Rules,
        from: Option<&NetworkInputs>,
    ) -> Result<NetworkInputs, RecipeError> {
        let refuse = |names: &[String], allowed: String| RecipeError::field("inputs", format!("{names:?}"), allowed);
        let from = from.map(|from| from.under(rules));
        let inputs = match (self.inputs.as_deref(), &from) {
            _ if self.systems.is_some() => NetworkInputs::general(rules),
            (Some([name]), _) if name == GENERAL => NetworkInputs::general(rules),
            (Some([name]), _) if name == EARLY => NetworkInputs::early(rules),
            (Some(names), _) => return Err(refuse(names, format!("[\"{GENERAL}\"], [\"{EARLY}\"] or absent"))),
            (None, Some(from)) if from.are_general() || from.are_early() => from.clone(),
            (None, _) => NetworkInputs::new(rules),
        };
        if from.is_some_and(|from| from.count() != inputs.count()) {
            return Err(RecipeError::field(
                "from",
                "a network with other inputs",
                "a network with the inputs of the recipe",
            ));
        }
        if self.systems.is_none() {
            let name = if inputs.are_general() { Some(GENERAL) } else { inputs.are_early().then_some(EARLY) };
            self.inputs = name.map(|name| vec![name.to_owned()]);
        }
        Ok(inputs)
    }

    /// The opponents of a recipe, parsed by a roster.
    pub(crate) fn rivals(&self, rules: &Rules, roster: &Roster) -> Result<Vec<(Rival, f64)>, RecipeError> {
        self.rivals
            .iter()
            .filter(|(_, share)| **share > 0.0)
            .map(|(spec, &share)| match spec.as_str() {
                "self" => Ok((Rival::Itself, share)),
                "past" => Ok((Rival::Past, share)),
                spec => Ok((Rival::Agent(self.agent(rules, roster, "rivals", spec)?.into()), share)),
            })
            .collect()
    }

    /// The agents of the evaluation.
    pub(crate) fn judges(&self, rules: &Rules, roster: &Roster) -> Result<Vec<AgentSpec>, RecipeError> {
        let judge = |spec: &String| self.agent(rules, roster, "evaluation.against", spec);
        self.evaluation.against.iter().map(judge).collect()
    }

    /// Parses an agent, which must be reproducible and able to play under these rules with each number of seats.
    fn agent(&self, rules: &Rules, roster: &Roster, field: &'static str, spec: &str) -> Result<AgentSpec, RecipeError> {
        let refuse = |what: String| RecipeError::Form(format!("`{field}`: {what}"));
        let agent = roster.parse(spec).map_err(|error| refuse(error.to_string()))?;
        if agent.sees_all() {
            return Err(refuse(format!("`{agent}` sees hidden cards; choose an agent that plays by its observations")));
        }
        if agent.is_external() {
            return Err(refuse(format!(
                "`{agent}` is a bot, which may not be reproducible; choose an agent of this program"
            )));
        }
        if !agent.is_reproducible() {
            return Err(refuse(format!("`{agent}` decides by the clock; choose an agent without a time budget")));
        }
        for &seats in &self.seats {
            agent.try_begin(rules, seats).map_err(|error| refuse(format!("`{agent}` cannot play here: {error}")))?;
        }
        Ok(agent)
    }

    /// Whether past networks are opponents.
    pub(crate) fn has_past(&self) -> bool {
        self.rivals.get("past").is_some_and(|&share| share > 0.0)
    }

    /// Checks that the rules allow the numbers of seats.
    pub(crate) fn covers(&self, rules: &Rules) -> Result<(), RecipeError> {
        let covers = |&seats: &usize| rules.covers(seats).map_err(|error| RecipeError::Form(error.to_string()));
        self.seats.iter().try_for_each(covers)
    }
}

#[cfg(test)]
mod tests;
