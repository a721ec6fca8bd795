use super::super::{Ranking, fit};
use super::*;
use crate::resampling::stream;

/// A table of these players, whose strengths are at most 0.8 apart. All games on one deal have the same random luck.
fn play(rng: &mut impl Rng, deals: u64, players: &[usize], shared: &[f64]) -> Rankings {
    let mut rankings = Rankings::default();
    for deal in 0..deals {
        for _ in 0..2 {
            // Gumbel noise gives Plackett–Luce rankings.
            let mut order: Vec<(f64, usize)> = players
                .iter()
                .map(|&player| {
                    (
                        strength(player) + shared[deal as usize] * (player as f64 - 1.0)
                            - libm::log(-libm::log(rng.uniform())),
                        player,
                    )
                })
                .collect();
            order.sort_by(|one, other| other.0.total_cmp(&one.0));
            rankings.add(Ranking::new(order.iter().enumerate().map(|(rank, &(_, player))| (player, rank + 1))));
        }
        rankings.end_cluster_of(deal);
    }
    rankings
}

fn strength(player: usize) -> f64 {
    0.4 * (1.0 - player as f64)
}

#[test]
fn one_table_by_itself_has_the_ratings_that_it_has_and_two_of_the_same_deals_are_no_surer() {
    let mut rng = stream(1, 40);
    let table = play(&mut rng, 60, &[0, 1, 2], &[0.0; 60]);
    let alone = fit(&table, 3, None, PositionEffects::Ignored).unwrap();
    let one = pool(&[&table], 3, None, &mut rng).unwrap();
    let twice = pool(&[&table, &table], 3, None, &mut rng).unwrap();
    for player in 0..3 {
        for pooled in [&one, &twice] {
            assert!((pooled.strengths.strengths[player] - alone.strengths[player]).abs() < 1e-9);
            let (found, expected) = (pooled.strengths.covariance[(player, player)], alone.covariance[(player, player)]);
            assert!((found - expected).abs() < 1e-9 * expected, "{found} {expected}");
            // The percentiles of 1000 resamples agree with Student's t.
            let (low, high) = pooled.intervals.as_ref().unwrap()[player];
            let t = t_quantile(0.975, 59.0) * expected.sqrt();
            assert!(((high - low) / (2.0 * t) - 1.0).abs() < 0.15, "{low} {high} {t}");
        }
    }
    assert_eq!((twice.strengths.clusters, Rankings::pooled(&[&table, &table]).games()), (60, 240));
}

#[test]
fn pooled_intervals_hold_where_tables_share_their_deals() {
    let runs = crate::amount(200, 2000);
    for deals in [12, 60] {
        let (mut held, mut all) = (0, 0);
        for run in 0..runs {
            let mut rng = stream(run, 41);
            let shared: Vec<f64> = (0..deals).map(|_| 0.3 * rng.normal()).collect();
            let tables = [&[0, 1, 2][..], &[0, 1], &[1, 2]].map(|players| play(&mut rng, deals, players, &shared));
            let found = pool(&[&tables[0], &tables[1], &tables[2]], 3, None, &mut rng).unwrap();
            if found.strengths.fit == Fit::Likelihood {
                for (player, (low, high)) in found.intervals.unwrap().into_iter().enumerate() {
                    held += u32::from(low <= strength(player) && strength(player) <= high);
                    all += 1;
                }
            }
        }
        let share = f64::from(held) / f64::from(all);
        // The luck of a deal shrinks strengths a little, by about a hundredth.
        let error = (0.05 * 0.95 / runs as f64).sqrt();
        assert!((share - 0.95).abs() < 0.02 + 3.0 * error, "{deals} deals: {share}");
    }
}

#[test]
fn who_never_lost_at_any_table_is_rated_with_a_prior_and_a_table_elsewhere_makes_that_unnecessary() {
    let win = |winner: usize, loser: usize| {
        let mut rankings = Rankings::default();
        for deal in 0..20 {
            rankings.add(Ranking::new([(winner, 1), (loser, 2)]));
            rankings.end_cluster_of(deal);
        }
        rankings
    };
    let (first, second, back) = (win(0, 1), win(1, 2), win(2, 0));
    let apart = pool(&[&first, &second], 3, None, &mut stream(1, 42)).unwrap();
    assert_eq!(apart.strengths.fit, Fit::Regularised);
    let (low, high) = apart.intervals.unwrap()[0];
    assert!(high - low > 0.5, "nothing varies, but the interval is wide: {low} {high}");
    let around = pool(&[&first, &second, &back], 3, None, &mut stream(1, 42)).unwrap();
    assert_eq!(around.strengths.fit, Fit::Likelihood);
    assert!(around.strengths.strengths.iter().all(|strength| strength.abs() < 1e-9));
}
