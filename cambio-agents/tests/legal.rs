//! Every heuristic decides legally, under every preset and under rules with random values for all knobs.

use crate::play::{Game, Manner, amount, games, odd_games};
use cambio_agents::{AgentSpec, Preset, WordEnum as _, roster};
use cambio_core::{Action, Agent, AgentError, Briefing, Notice, Observation, play_match};

/// Plays at random, and checks in each position the decisions that several other agents would take.
struct Advised {
    player: crate::play::Player,
    advisers: Vec<Box<dyn Agent>>,
    asked: usize,
}

impl Advised {
    fn new(manner: Manner, specs: &[AgentSpec]) -> Advised {
        let advisers = specs.iter().map(AgentSpec::make).collect();
        Advised { player: crate::play::Player::new(manner), advisers, asked: 0 }
    }
}

impl Agent for Advised {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        self.player.begin(briefing)?;
        self.advisers.iter_mut().try_for_each(|adviser| adviser.begin(briefing))
    }

    fn notice(&mut self, notice: Notice<'_>) {
        self.advisers.iter_mut().for_each(|adviser| adviser.notice(notice));
    }

    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        let choices = view.choices();
        for adviser in &mut self.advisers {
            let action = adviser.decide(view)?;
            let phase = view.table().phase();
            assert!(choices.contains(action), "{phase:?}: `{action}` of {choices}; {}", view.rules().spec().to_table());
            self.asked += 1;
        }
        self.player.decide(view)
    }
}

/// Plays these games, and returns the number of checked decisions.
fn advise(specs: &[&str], games: impl Iterator<Item = Game>) -> usize {
    let roster = roster();
    let specs: Vec<AgentSpec> = specs.iter().map(|spec| roster.parse(spec).unwrap()).collect();
    let mut asked = 0;
    for Game { rules, seats, key, manner } in games {
        let mut agents: Vec<Advised> = (0..seats).map(|_| Advised::new(manner, &specs)).collect();
        play_match(&cambio_core::MatchSetup { rules, seats, key }, &mut agents, &mut ()).unwrap();
        asked += agents.iter().map(|agent| agent.asked).sum::<usize>();
    }
    asked
}

/// Every preset, one heuristic with all rare behaviours, and some heuristics that forget.
fn heuristics() -> Vec<&'static str> {
    let mut specs: Vec<&str> = Preset::ALL.iter().map(|preset| preset.word()).collect();
    specs.extend([
        "greedy",
        "heuristic(gamble=0.1,disrupt=3,bluff=0.5,foreign_gain=0,take_gain=0,power_worth=0)",
        "heuristic(decay=0.3,confusion=0.3,gamble=0.2,disrupt=1)",
        "heuristic(capacity=1,bluff=1)",
    ]);
    specs
}

#[test]
fn every_heuristic_decides_legally_under_every_preset() {
    let asked = advise(&heuristics(), games(501, amount(1, 20)));
    println!("{asked}");
    assert!(asked > 100_000, "{asked}");
}

#[test]
fn every_heuristic_decides_legally_under_any_rules() {
    let asked = advise(&heuristics(), odd_games(502, amount(150, 3000)));
    println!("{asked}");
    assert!(asked > 100_000, "{asked}");
}

/// Debug assertions check each decision of a playout. The rules are random.
#[test]
fn every_policy_of_playouts_decides_legally_under_any_rules() {
    let searches = [
        "rollout(n=3,blueprint=snapper)",
        "rollout(n=3,blueprint=disruptor)",
        "rollout(n=3)",
        "ismcts(iterations=6,expand=2)",
        "ismcts(iterations=6,mode=mo)",
    ];
    let asked = advise(&searches, odd_games(503, amount(40, 1000)));
    println!("{asked}");
    assert!(asked > 10_000, "{asked}");
}
