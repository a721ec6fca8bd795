//! Two agents that cheat with information beyond their observations, and the checks that find them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cambio_agents::{Greedy, GreedyParams};
use cambio_core::rng::{Key, Seed};
use cambio_core::testing::{CheckScope, NonconformanceKind, RandomAgent, check_agent};
use cambio_core::{
    Action, Agent, AgentError, Briefing, Card, Deal, MatchSetup, Notice, Observation, Rules, Seat, Sighting, Spot,
    play_match,
};

fn effort(matches: u64) -> CheckScope {
    CheckScope { presets: vec!["classic"], seats: vec![2], matches, ..CheckScope::default() }
}

/// Guesses the seed and the deal: the first pair that deals the cards that this agent saw into their spots. Then the
/// agent knows the dealt layouts, and calls when its own layout is the lowest.
struct SeedFinder {
    seeds: u64,
    deals: u64,
    agent: Greedy,
    briefing: Option<(Rules, usize, Seat)>,
    /// The deck, once it is found.
    deck: Option<Vec<Card>>,
    seen: Vec<(Spot, Card)>,
    found: Arc<AtomicUsize>,
}

impl SeedFinder {
    fn new(found: &Arc<AtomicUsize>) -> SeedFinder {
        let agent = Greedy::new(&GreedyParams::default());
        let (seeds, deals) = (2, 400);
        SeedFinder { seeds, deals, agent, briefing: None, deck: None, seen: Vec::new(), found: Arc::clone(found) }
    }

    /// The card that was dealt into a spot.
    fn dealt(deck: &[Card], seats: usize, starter: Seat, spot: Spot) -> Card {
        deck[(spot.number() - 1) * seats + spot.seat().distance_from(starter, seats)]
    }

    fn search(&mut self, starter: Seat) {
        let (rules, seats, _) = self.briefing.expect("a match begins with a briefing");
        let keys = (0..self.seeds).flat_map(|seed| (0..self.deals).map(move |deal| Key::new(seed, deal)));
        let fits =
            |deck: &[Card]| self.seen.iter().all(|&(spot, card)| SeedFinder::dealt(deck, seats, starter, spot) == card);
        self.deck = keys.map(|key| Deal::new(&rules, key).deck(0).to_vec()).find(|deck| fits(deck));
        self.found.fetch_add(usize::from(self.deck.is_some()), Ordering::Relaxed);
    }
}

impl Agent for SeedFinder {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        self.briefing = Some((*briefing.rules, briefing.seats, briefing.seat));
        self.seen.clear();
        self.deck = None;
        self.agent.begin(briefing)
    }

    fn notice(&mut self, notice: Notice<'_>) {
        if let Notice::Event(&Sighting::Peeked { spot, face: Some(card), .. }) = notice {
            self.seen.push((spot, card));
        }
        self.agent.notice(notice);
    }

    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        if self.deck.is_none() && self.seen.len() == 2 && view.table().turns() <= 2 {
            self.search(view.table().starter());
        }
        let (choices, starter) = (view.choices(), view.table().starter());
        let (rules, seats, seat) = self.briefing.expect("a match begins with a briefing");
        if let Some(deck) = &self.deck {
            // The sum of a layout as it was dealt, which is correct if the layout has not changed.
            let sum = |seat: Seat| {
                let dealt = (1..=4).filter_map(|number| Spot::new(seat, number));
                dealt.map(|spot| rules.points(SeedFinder::dealt(deck, seats, starter, spot))).sum::<i32>()
            };
            let lowest_other = Seat::ALL[..seats].iter().filter(|&&other| other != seat).map(|&other| sum(other)).min();
            if choices.contains(Action::Call) && Some(sum(seat)) < lowest_other {
                return Ok(Action::Call);
            }
            // The agent's own unseen cards are as dealt. The agent replaces its highest card, seen or unseen.
            let own = view.table().layout(seat);
            let points = |spot: Spot| {
                let card = view.face(spot).unwrap_or_else(|| SeedFinder::dealt(deck, seats, starter, spot));
                rules.points(card)
            };
            if let Some(held) = view.held()
                && let Some(worst) =
                    own.iter_from(seat).filter(|spot| spot.number() <= 4).max_by_key(|&spot| points(spot))
                && choices.contains(Action::Keep(worst))
                && points(worst) > rules.points(held)
            {
                return Ok(Action::Keep(worst));
            }
        }
        self.agent.decide(view)
    }
}

#[test]
fn an_agent_that_guesses_the_seed_is_found() {
    let found = Arc::new(AtomicUsize::new(0));
    let failing = check_agent(|| SeedFinder::new(&found), &effort(12)).unwrap_err();
    assert!(matches!(failing.kind, NonconformanceKind::Foreseeing { matches: 300, .. }), "{failing}");
    assert!(found.load(Ordering::Relaxed) >= 300, "it found the decks of seed 0");
    assert!(failing.to_string().contains("it guesses the seed"), "{failing}");
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
    agent: Option<Greedy>,
    /// The spots and cards at the end of earlier matches.
    known: Vec<(Spot, Card)>,
    seen: Vec<(Spot, Card)>,
}

impl Agent for Rememberer {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        let mut agent = Greedy::new(&GreedyParams::default());
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
    assert!(
        matches!(failing.kind, NonconformanceKind::Remembering { .. } | NonconformanceKind::Stateful { .. }),
        "{failing}"
    );
}

#[test]
fn an_honest_agent_conforms() {
    check_agent(RandomAgent::default, &effort(12)).unwrap();
    let match_setup = MatchSetup { rules: Rules::preset("classic").unwrap(), seats: 2, key: Key::new(0, 0) };
    let mut agents = [RandomAgent::default(), RandomAgent::default()];
    assert!(play_match(&match_setup, &mut agents, &mut ()).is_ok());
}
