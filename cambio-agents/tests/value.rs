//! The values of matches are probabilities, and close to the results of played matches.

use cambio_agents::{MatchValues, roster};
use cambio_core::rng::Key;
use cambio_core::{
    Action, Agent, AgentError, Briefing, MatchSetup, Notice, Observation, Rules, Score, Seat, play_match,
};

#[test]
fn chances_add_up_to_one_and_grow_as_the_own_total_falls() {
    for (preset, seats) in [("original", 2), ("faessler", 2), ("original", 4), ("faessler", 3)] {
        let values = MatchValues::of(&Rules::preset(preset).unwrap(), seats);
        let mut before = 2.0;
        for own in (0..50).step_by(7) {
            let mut totals = vec![Score::points(20); seats];
            totals[0] = Score::points(own);
            let chances = values.chances(&totals, Seat::B, 3);
            let all: f64 = chances.iter().sum();
            assert!((all - 1.0).abs() < 0.02, "{preset}, {seats} seats, {own} against 20: {all}");
            assert!(chances[0] < before, "{preset}, {seats} seats, {own} against 20: {}", chances[0]);
            before = chances[0];
        }
        // The match is over: the lowest total has won, and equal totals share the win.
        let over =
            values.chances(&[Score::points(50), Score::points(10), Score::points(10)][..seats.min(3)], Seat::A, 9);
        let share = if seats == 2 { 1.0 } else { 0.5 };
        assert!((over[1] - share).abs() < 1e-12 && over[0] == 0.0, "{over:?}");
    }
}

/// Records the standing of the match before each round.
struct Noting {
    player: Box<dyn Agent>,
    stood: Vec<(usize, Vec<Score>, Seat)>,
}

impl Agent for Noting {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        self.player.begin(briefing)
    }

    fn notice(&mut self, notice: Notice<'_>) {
        if let Notice::RoundBegins(standing) = notice {
            self.stood.push((standing.round, standing.totals.to_vec(), standing.setup.starter));
        }
        self.player.notice(notice);
    }

    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        self.player.decide(view)
    }
}

#[test]
fn chances_are_near_the_results_of_heuristics() {
    for (preset, seats) in [("original", 2), ("original", 3), ("faessler", 4)] {
        let rules = Rules::preset(preset).unwrap();
        let values = MatchValues::of(&rules, seats);
        let heuristic = roster().parse("heuristic").unwrap();
        // For each tenth of the predicted chance: the count, the sum of the predictions, and the sum of the wins.
        let mut told = [(0.0, 0.0, 0.0); 10];
        for deal in 0..300 {
            let note = || Noting { player: heuristic.make(), stood: Vec::new() };
            let mut agents: Vec<Noting> = (0..seats).map(|_| note()).collect();
            let result = play_match(&MatchSetup { rules, seats, key: Key::new(61, deal) }, &mut agents, &mut ());
            let ranks = result.unwrap().ranks;
            let winners = ranks.iter().filter(|&&rank| rank == 1).count() as f64;
            for (round, totals, starter) in &agents[0].stood {
                let chances = values.chances(totals, *starter, *round);
                for (chance, &rank) in chances.iter().zip(&ranks) {
                    let cell = &mut told[(chance * 10.0).min(9.0) as usize];
                    cell.0 += 1.0;
                    cell.1 += chance;
                    cell.2 += if rank == 1 { 1.0 / winners } else { 0.0 };
                }
            }
        }
        for (number, chance, won) in told {
            if number > 200.0 {
                let (chance, won) = (chance / number, won / number);
                assert!((chance - won).abs() < 0.1, "{preset}, {seats} seats: predicted {chance:.2}, won {won:.2}");
            }
        }
    }
}
