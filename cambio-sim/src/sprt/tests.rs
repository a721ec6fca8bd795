use super::*;

/// With an odd number of seats, a deal has two lineups. They share their cards, so they must count as one deal.
#[test]
fn a_deal_counts_once_however_many_lineups_it_has() {
    let executor = Executor::new(2).unwrap();
    for (seats, matches, pairs) in [(2, 2, 2), (3, 6, 12), (4, 4, 16), (5, 10, 60)] {
        let setting = PlaySetting { seats, seed: 4.into(), ..PlaySetting::default() };
        let question = SprtQuestion {
            elo_0: 0.0,
            elo_1: 1.0,
            scale: EloScale::Normalized,
            alpha: 1e-9,
            beta: 1e-9,
            most_deals: 10,
        };
        let ask = |agents| question.ask(&setting, &cambio_agents::roster(), &executor, agents, |_, _| ()).unwrap();
        let answer = ask(["greedy", "random"]);
        assert_eq!((answer.deals, answer.matches), (10, 10 * matches), "{seats} seats");
        assert_eq!((answer.scores.clusters, answer.scores.results()), (10, 10 * pairs));
        assert_eq!(answer.counts.len(), 2 * pairs as usize + 1);
        let mean = |answer: &SprtResult| answer.scores.interval(2.0, Support::Share).unwrap().mean;
        let (own, other) = (mean(&answer), mean(&ask(["random", "greedy"])));
        assert!(own > 0.6 && (own + other - 1.0).abs() < 1e-12, "{own}");
    }
}
