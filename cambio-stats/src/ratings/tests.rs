use super::*;
use crate::resampling::{ResampleRng as _, stream};

fn rankings(games: &[&[(usize, usize)]]) -> Rankings {
    let mut rankings = Rankings::default();
    for game in games {
        rankings.add(Ranking::new(game.iter().copied()));
        rankings.end_cluster();
    }
    rankings
}

#[test]
fn two_players_have_the_odds_of_their_wins() {
    let win: &[(usize, usize)] = &[(0, 1), (1, 2)];
    let loss: &[(usize, usize)] = &[(0, 2), (1, 1)];
    let tie: &[(usize, usize)] = &[(0, 1), (1, 1)];
    let fitted = fit(&rankings(&[win, win, win, loss, tie, tie]), 2, Some(1), PositionEffects::Ignored).unwrap();
    assert!((fitted.strengths[0] - libm::log(5.0 / 3.0)).abs() < 1e-12 && fitted.strengths[1].abs() < 1e-15);
    // With p = 5/8 the scores are 3/8, −5/8 and −2/8, and H is 15/64 per comparison, with two comparisons in a tie.
    let squares = (3.0 * 9.0 + 25.0 + 2.0 * 4.0) / 64.0;
    let hessian = 8.0 * 15.0 / 64.0;
    let variance = (6.0 / 5.0 * squares + hessian / 6.0) / (hessian * hessian);
    assert!((fitted.covariance[(0, 0)] - variance).abs() < 1e-12);
}

/// Regression test: formerly nothing was fitted, and the ratings of all players at the table were dropped.
#[test]
fn unbeaten_players_make_the_fit_regularised() {
    let games = rankings(&[&[(0, 1), (1, 2)], &[(1, 1), (2, 2)], &[(2, 1), (1, 2)]]);
    assert_eq!(games.components(3), [0, 1, 1]);
    let circle = rankings(&[&[(0, 1), (2, 2)], &[(2, 1), (1, 2)], &[(1, 1), (0, 2)]]);
    assert_eq!(circle.components(3), [0, 0, 0]);
    let fitted = fit(&games, 3, None, PositionEffects::Ignored).unwrap();
    assert_eq!(fitted.fit, Fit::Regularised);
    assert!(fitted.strengths[0] > fitted.strengths[1] && (fitted.strengths.iter().sum::<f64>()).abs() < 1e-12);
}

#[test]
fn a_shutout_is_as_far_apart_as_the_prior_and_the_games_allow() {
    let win: &[(usize, usize)] = &[(0, 1), (1, 2)];
    let fitted = fit(&rankings(&[win; 80]), 2, Some(1), PositionEffects::Ignored).unwrap();
    // The slope of the prior and of the likelihood cancel: 80 / (1 + e^Δ) = 2 / (1 + e^(−Δ/2)) − 1.
    let gap = fitted.strengths[0];
    let (games, prior) = (80.0 / (1.0 + libm::exp(gap)), 2.0 / (1.0 + libm::exp(-gap / 2.0)) - 1.0);
    assert!((games - prior).abs() < 1e-9, "{gap}");
    // The curvature of both: the sandwich estimator is degenerate here, because the games do not vary.
    let (lost, half) = (1.0 / (1.0 + libm::exp(gap)), 1.0 / (1.0 + libm::exp(-gap / 2.0)));
    let curvature = 80.0 * lost * (1.0 - lost) + half * (1.0 - half);
    assert!((fitted.covariance[(0, 0)] - 1.0 / curvature).abs() < 1e-9, "{}", fitted.covariance[(0, 0)]);
    let more = fit(&rankings(&[win; 400]), 2, Some(1), PositionEffects::Ignored).unwrap();
    assert!(more.strengths[0] > gap + 1.0);
    assert!(fit(&Rankings::default(), 2, None, PositionEffects::Ignored).is_none());
}

/// Regression test: without the cluster with the variance of the model, the coverage is 86 %.
#[test]
fn strengths_of_losing_players_are_covered() {
    let mut rng = stream(1, 43);
    // Two matches on each deal. The losers share a rank, and player 2 wins one match in one deal of sixteen.
    let add = |rankings: &mut Rankings, luck: usize| {
        for game in 0..2 {
            let winner = if luck == 0 && game == 0 { 2 } else { (luck + game) % 2 };
            rankings.add(Ranking::new((0..3).map(|player| (player, if player == winner { 1 } else { 2 }))));
        }
        rankings.end_cluster();
    };
    let mut all = Rankings::default();
    (0..16).for_each(|luck| add(&mut all, luck));
    let truth = fit(&all, 3, None, PositionEffects::Ignored).unwrap().strengths[2];
    let runs = crate::amount(400, 4000);
    let mut held = 0;
    for _ in 0..runs {
        let mut rankings = Rankings::default();
        (0..30).for_each(|_| add(&mut rankings, rng.index(16)));
        let fitted = fit(&rankings, 3, None, PositionEffects::Ignored).unwrap();
        held += u32::from(fitted.interval(2).p(truth).unwrap() >= 0.05);
    }
    let share = f64::from(held) / f64::from(runs);
    assert!(share > 0.93 - 3.0 * (0.05 * 0.95 / f64::from(runs)).sqrt(), "{share}");
}

#[test]
fn an_advantage_of_the_first_seat_is_found() {
    let mut rankings = Rankings::default();
    for game in 0..400 {
        let (first, second) = if game % 2 == 0 { (0, 1) } else { (1, 0) };
        let first_wins = game % 4 < 2 || game % 3 == 0;
        let ranks = if first_wins { (1, 2) } else { (2, 1) };
        rankings.add(Ranking::new([(first, ranks.0), (second, ranks.1)]));
        rankings.end_cluster();
    }
    let fitted = fit(&rankings, 2, None, PositionEffects::Fitted).unwrap();
    assert!(fitted.positions[0].0 < -0.5 && fitted.positions[0].1.unwrap() < 0.2, "{:?}", fitted.positions);
    assert!((fitted.strengths[0] + fitted.strengths[1]).abs() < 1e-12);
}
