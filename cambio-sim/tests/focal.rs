//! Focal agents that are also in the field.

use std::path::Path;

use cambio_agents::roster;
use cambio_exec::Executor;
use cambio_sim::{Experiment, Focal, Lineups, LuckChoice, Plan, Runner, play_block};

fn experiment(seats: usize, field: &[&str], mixture: bool) -> Experiment {
    let names = |agents: &[&str]| agents.iter().map(ToString::to_string).collect();
    let lineups = Lineups::Focal(Focal { focal: names(&["greedy", "random"]), field: names(field), mixture });
    Experiment { deals: 30, lineups, ..Experiment::at("classic", seats, &["greedy", "random", "sharp"]) }
}

/// The incumbent of a tuning is often its field, too. Its results as an opponent are not its own results.
#[test]
fn the_mean_of_a_focal_agent_counts_its_own_seats() {
    for (seats, field, mixture) in
        [(2, vec!["random"], false), (4, vec!["random"], false), (2, vec!["random", "sharp"], true)]
    {
        let plan = experiment(seats, &field, mixture).plan(&roster(), Path::new(".")).unwrap();
        assert_eq!(Plan::unlock(&plan.lock()).unwrap().cells[0].focal, plan.cells[0].focal);
        let tables = Runner::new(&Executor::new(1).unwrap()).play(&plan).derived;
        let cell = &plan.cells[0];
        assert_eq!(cell.lineups.len(), 2 * if mixture { field.len() } else { 1 });
        let mean = |agent: usize| {
            let own: Vec<f64> = plan
                .blocks()
                .filter(|block| block.lineup.agents()[0] == agent)
                .flat_map(|block| {
                    let rows = play_block(&plan, &block).unwrap();
                    let focal = |&seat: &usize| cell.seatings[seat / seats][seat % seats] == 0;
                    (0..rows.players.len()).filter(focal).map(|seat| rows.players[seat].rank_points).collect::<Vec<_>>()
                })
                .collect();
            own.iter().sum::<f64>() / own.len() as f64
        };
        let of = |agent: &str| tables.summary.iter().find(|row| row.agent == agent).unwrap();
        let (greedy, random) = (of("greedy"), of("random"));
        assert!((greedy.rank_points.mean - mean(0)).abs() < 1e-12, "{greedy:?}");
        assert!((random.rank_points.mean - mean(1)).abs() < 1e-12, "{random:?}");
        let pair = tables.pairwise.iter().find(|pair| pair.agent == "greedy" && pair.other == "random").unwrap();
        assert!((pair.difference.mean - (mean(0) - mean(1))).abs() < 1e-12, "{pair:?}");
        if !mixture {
            // The other lineups of `greedy` have `random` in the field, so no rank is left without it.
            assert_eq!(greedy.rank_best_without_one, None, "{greedy:?}");
        }
        // Among copies it has the mean of all ranks in every deal.
        assert_eq!(random.rank_points.low == Some(random.rank_points.mean), !mixture, "{random:?}");
    }
}

/// The same with the luck of the cards subtracted.
#[test]
fn the_luck_of_the_field_is_not_subtracted_from_a_focal_agent() {
    let own = Experiment { luck: LuckChoice::On, ..experiment(2, &["random"], false) };
    let alone = Lineups::Listed(vec![vec!["greedy".into(), "random".into()]]);
    let [both, alone] = [own.clone(), Experiment { lineups: alone, ..own }].map(|experiment| {
        let plan = experiment.plan(&roster(), Path::new(".")).unwrap();
        Runner::new(&Executor::new(1).unwrap()).play(&plan).derived.summary
    });
    let adjusted = |rows: &[cambio_sim::SummaryRow]| rows[0].win_share_adjusted.unwrap().mean;
    assert_eq!((&*both[0].agent, &*alone[0].agent), ("greedy", "greedy"));
    // The coefficient of the luck is fitted to all agents, so it differs a little.
    assert!((adjusted(&both) - adjusted(&alone)).abs() < 0.01, "{} and {}", adjusted(&both), adjusted(&alone));
    assert_eq!(both[1].rank_points_adjusted.map(|found| found.mean), Some(0.5));
}
