//! Agents decide with the probabilities that they state.

use cambio_agents::{Learned, Network};
use cambio_core::rng::Key;
use cambio_core::testing::RandomAgent;
use cambio_core::{Action, Agent, AgentError, Briefing, MatchSetup, Notice, Observation, Phase, Rules, play_match};

/// Counts how often an agent passes in a window and takes the first of its choices elsewhere, and adds up how often it
/// should.
struct Counted<A> {
    agent: A,
    decisions: u32,
    taken: f64,
    expected: f64,
    variance: f64,
}

impl<A> Counted<A> {
    fn new(agent: A) -> Counted<A> {
        Counted { agent, decisions: 0, taken: 0.0, expected: 0.0, variance: 0.0 }
    }
}

impl<A: Agent> Agent for Counted<A> {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        self.agent.begin(briefing)
    }

    fn notice(&mut self, notice: Notice<'_>) {
        self.agent.notice(notice);
    }

    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        let probabilities = self.agent.probabilities(view)?.expect("the agent knows its probabilities");
        let decided = self.agent.decide(view)?;
        assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-9 && probabilities.len() == view.choices().len());
        let place = view.choices().iter().position(|choice| choice == decided).unwrap();
        assert!(probabilities[place] > 0.0, "{decided}");
        // A pass is the decision whose probability `random(pass=0.9)` changes.
        let counted = match view.table().phase() {
            Phase::Window => view.choices().iter().position(|choice| choice == Action::Pass).unwrap(),
            _ => 0,
        };
        self.decisions += 1;
        self.taken += f64::from(u8::from(place == counted));
        self.expected += probabilities[counted];
        self.variance += probabilities[counted] * (1.0 - probabilities[counted]);
        Ok(decided)
    }
}

/// Plays matches between two copies of an agent, and compares the decisions with the stated probabilities.
fn decides_as_it_states<A: Agent>(make: impl Fn() -> A) {
    let rules = Rules::preset("classic").unwrap();
    let mut agents = [Counted::new(make()), Counted::new(make())];
    for deal in 0..40 {
        let match_setup = MatchSetup { rules, seats: 2, key: Key::new(11, deal) };
        play_match(&match_setup, &mut agents, &mut ()).unwrap();
    }
    let sum = |of: fn(&Counted<A>) -> f64| agents.iter().map(of).sum::<f64>();
    let (decisions, error) = (sum(|agent| agent.decisions.into()), sum(|agent| agent.variance).sqrt());
    assert!(decisions > 400.0 && error > 5.0, "{decisions} decisions, {error}");
    let difference = sum(|agent| agent.taken - agent.expected);
    assert!(difference.abs() < 3.5 * error, "{difference}, standard error {error}");
}

fn network() -> Network {
    crate::learned::network(&Rules::preset("classic").unwrap())
}

#[test]
fn policies_decide_with_their_stated_probabilities() {
    let policy = Network::from_bytes(&network().into_policy().to_bytes(&serde_json::Value::Null)).unwrap().0;
    assert!(policy.is_policy() && !network().is_policy());
    decides_as_it_states(|| Learned::new(policy.clone()));
}

#[test]
fn a_network_of_values_states_the_probabilities_0_and_1() {
    let rules = Rules::preset("classic").unwrap();
    let mut agents = [Counted::new(Learned::new(network())), Counted::new(Learned::new(network()))];
    let match_setup = MatchSetup { rules, seats: 2, key: Key::new(11, 0) };
    play_match(&match_setup, &mut agents, &mut ()).unwrap();
    assert!(agents[0].decisions > 3 && agents[0].variance == 0.0);
    assert!((agents[0].taken - agents[0].expected).abs() < 1e-9);
}

#[test]
fn random_agents_decide_with_their_stated_probabilities() {
    for pass in [None, Some(0.9), Some(0.3)] {
        decides_as_it_states(|| pass.map_or_else(RandomAgent::default, RandomAgent::passing));
    }
}
