use rand::Rng;

use super::super::{Fit, Ranking, fit};
use super::*;
use crate::resampling::{ResampleRng as _, stream};

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
fn pooling_equal_deals_adds_no_certainty() {
    let mut rng = stream(1, 40);
    let table = play(&mut rng, 60, &[0, 1, 2], &[0.0; 60]);
    let alone = fit(&table, 3, None, PositionEffects::Ignored).unwrap();
    let one = pool(&[&table], 3, None).unwrap();
    let twice = pool(&[&table, &table], 3, None).unwrap();
    for player in 0..3 {
        for pooled in [&one, &twice] {
            assert!((pooled.strengths[player] - alone.strengths[player]).abs() < 1e-9);
            let half = |strengths: &Strengths| strengths.interval(player).half_width().unwrap();
            // The term H/D of two equal tables is half as large.
            assert!(half(pooled) <= half(&alone) + 1e-9 && half(pooled) > 0.98 * half(&alone));
        }
    }
    assert_eq!((twice.clusters, Rankings::pooled(&[&table, &table]).games()), (60, 240));
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
            let found = pool(&[&tables[0], &tables[1], &tables[2]], 3, None).unwrap();
            if found.fit == Fit::Likelihood {
                for player in 0..3 {
                    held += u32::from(found.interval(player).p(strength(player)).unwrap() >= 0.05);
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
fn pooled_ratings_of_unbeaten_players_have_a_prior() {
    let win = |winner: usize, loser: usize| {
        let mut rankings = Rankings::default();
        for deal in 0..20 {
            rankings.add(Ranking::new([(winner, 1), (loser, 2)]));
            rankings.end_cluster_of(deal);
        }
        rankings
    };
    let (first, second, back) = (win(0, 1), win(1, 2), win(2, 0));
    let apart = pool(&[&first, &second], 3, None).unwrap();
    assert_eq!(apart.fit, Fit::Regularised);
    assert!(apart.interval(0).half_width().unwrap() > 0.25, "nothing varies, but the interval is wide");
    let around = pool(&[&first, &second, &back], 3, None).unwrap();
    assert_eq!(around.fit, Fit::Likelihood);
    assert!(around.strengths.iter().all(|strength| strength.abs() < 1e-9));
}
