use cambio_core::rng::Key;
use cambio_core::{MatchSetup, Observer, RulesSpec, State, play_match};

use super::*;
use crate::roster;

/// Compares the public part of the joint knowledge with the table at every decision.
struct Comparison {
    knowledge: JointKnowledge,
    extra_cards: usize,
}

impl Observer for Comparison {
    fn round_begins(&mut self, standing: &Standing<'_>, _: &[Card]) {
        self.knowledge.round_begins(standing);
    }

    fn event(&mut self, event: &Event<Card>) {
        if let Motion::Dealt { extra, .. } = event.motion() {
            self.extra_cards += extra.len();
        }
        self.knowledge.notice(event);
    }

    fn asks(&mut self, state: &State, _: Seat) {
        let (position, table) = (&self.knowledge.position, state.table());
        assert_eq!(position.occupied, table.occupied());
        assert_eq!(position.stock, table.stock_len() as i32);
        assert_eq!(position.turns, table.turns() as u16);
        assert!(position.turns == 0 || position.turn == table.turn());
        assert_eq!((position.callers, position.top), (table.callers(), table.top()));
    }

    fn round_ends(&mut self, _: &State, result: &RoundResult) {
        self.knowledge.round_ends(result);
    }
}

#[test]
fn the_joint_knowledge_follows_the_table() {
    let penalties = serde_json::json!({ "base": "faessler", "penalty": 2 });
    let penalties = RulesSpec::from_json(&penalties).unwrap().validate().unwrap();
    let presets = ["classic", "original", "faessler"].map(|name| Rules::preset(name).unwrap());
    for rules in presets.into_iter().chain([penalties]) {
        for seats in [2, 4] {
            let mut comparison = Comparison { knowledge: JointKnowledge::new(&rules, seats), extra_cards: 0 };
            for deal in 0..20 {
                let mut agents: Vec<_> = (0..seats).map(|_| roster().parse("greedy").unwrap().make()).collect();
                let setup = MatchSetup { rules, seats, key: Key::new(31, deal) };
                play_match(&setup, &mut agents, &mut comparison).unwrap();
            }
            assert_eq!(comparison.extra_cards > 0, rules.spec().carry_over, "{} at {seats} seats", rules.name());
        }
    }
}
