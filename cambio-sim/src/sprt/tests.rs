use super::*;
use crate::study::TableOptions;

/// With an odd number of seats, a deal has two lineups. They share their cards, so they must count as one deal.
#[test]
fn a_deal_counts_once_however_many_lineups_it_has() {
    let executor = Executor::new(2).unwrap();
    for (seats, matches, pairs) in [(2, 2, 2), (3, 6, 12), (4, 4, 16), (5, 10, 60)] {
        let table = TableOptions { seats: Some(seats), seed: Some(4.into()), ..TableOptions::default() };
        let setting = SettingOptions { table, ..SettingOptions::default() };
        let ask = |[agent, other]: [&str; 2]| {
            let (agent, other, setting) = (agent.to_owned(), other.to_owned(), setting.clone());
            let hypotheses = SprtOptions { elo1: 1.0, alpha: 1e-9, beta: 1e-9, ..SprtOptions::default() };
            let options = SprtOptions { agent, other, setting, deals: 10, ..hypotheses };
            options.run(&cambio_agents::roster(), &mut StudyDriver::new(&executor, &mut |_| ())).unwrap()
        };
        let answer = ask(["greedy", "random"]);
        assert_eq!((answer.deals, answer.matches), (10, 10 * matches), "{seats} seats");
        assert_eq!((answer.scores.clusters, answer.scores.results()), (10, 10 * pairs));
        assert_eq!(answer.counts.len(), 2 * pairs as usize + 1);
        let mean = |answer: &SprtResult| answer.scores.interval(2.0, Support::Share).unwrap().mean;
        let (own, other) = (mean(&answer), mean(&ask(["random", "greedy"])));
        assert!(own > 0.6 && (own + other - 1.0).abs() < 1e-12, "{own}");
    }
}
