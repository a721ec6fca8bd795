//! An agent that cheats with information beyond its observations, and the check that finds it.

use cambio_agents::roster;
use cambio_core::rng::{Key, Seed};
use cambio_core::testing::{CheckScope, RandomAgent, check_agent};
use cambio_core::{
    Action, Agent, AgentError, Briefing, Card, MatchSetup, Notice, Observation, Rules, Seat, Sighting, Spot, play_match,
};

fn effort(matches: u64) -> CheckScope {
    CheckScope { presets: vec!["classic"], seats: vec![2], matches, ..CheckScope::default() }
}

/// An agent's stream is the same under every seed, so it cannot be used to check a guess of the seed.
#[test]
fn streams_do_not_reveal_the_seed() {
    for (deal, seat) in (0..100).flat_map(|deal| Seat::ALL.map(|seat| (deal, seat))) {
        let stream = Key::new(0, deal).agent(seat);
        assert!((1..50).all(|seed| Key::new(seed, deal).agent(seat) == stream));
    }
    let secret = Key::new(Seed::Key([7; 32]), 3);
    assert_eq!(secret.agent(Seat::A), Key::new(0, 3).agent(Seat::A));
    assert_ne!(secret.agent(Seat::A), secret.with_agents(secret.seed).agent(Seat::A));
}

/// Remembers the cards on the table at the end of each match, and calls if it sees one of them in the same spot again.
#[derive(Default)]
struct Rememberer {
    agent: Option<Box<dyn Agent>>,
    /// The spots and cards at the end of earlier matches.
    known: Vec<(Spot, Card)>,
    seen: Vec<(Spot, Card)>,
}

impl Agent for Rememberer {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        let mut agent = roster().parse("greedy").unwrap().make();
        agent.begin(briefing)?;
        self.agent = Some(agent);
        self.seen.clear();
        Ok(())
    }

    fn notice(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Event(&Sighting::TurnedUp { spot, card }) => {
                // The cards of other seats may be its own in the next match.
                self.known.push((spot, card));
            }
            Notice::Event(&Sighting::Peeked { spot, face: Some(card), .. }) => self.seen.push((spot, card)),
            _ => {}
        }
        self.agent.as_mut().expect("a match has begun").notice(notice);
    }

    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        let is_known = self.seen.iter().any(|seen| self.known.contains(seen));
        let choices = view.choices();
        if is_known && choices.contains(Action::Call) {
            return Ok(Action::Call);
        }
        self.agent.as_mut().expect("a match has begun").decide(view)
    }
}

#[test]
fn an_agent_that_remembers_deals_is_found() {
    let failing = check_agent(Rememberer::default, &effort(12)).unwrap_err();
    assert!(failing.kind.to_string().contains("remembers"), "{failing}");
}

#[test]
fn an_honest_agent_conforms() {
    check_agent(RandomAgent::default, &effort(12)).unwrap();
    let match_setup = MatchSetup { rules: Rules::preset("classic").unwrap(), seats: 2, key: Key::new(0, 0) };
    let mut agents = [RandomAgent::default(), RandomAgent::default()];
    assert!(play_match(&match_setup, &mut agents, &mut ()).is_ok());
}
