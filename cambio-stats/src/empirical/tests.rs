use super::*;

fn matrix(rows: &[&[f64]]) -> Matrix {
    Matrix::from_fn(rows.len(), rows.len(), |i, j| rows[i][j])
}

fn close(found: &[f64], expected: &[f64], by: f64) {
    assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < by), "{found:?} {expected:?}");
}

#[test]
fn copies_share_the_equilibrium_by_entropy() {
    let game = EmpiricalGame::of_matrix(&matrix(&[&[0.5, 0.0, 1.0], &[1.0, 0.5, 0.0], &[0.0, 1.0, 0.5]]));
    close(&game.nash().unwrap(), &[1.0 / 3.0; 3], 1e-9);
    let uneven = EmpiricalGame::of_matrix(&matrix(&[&[0.5, 0.0, 0.9], &[1.0, 0.5, 0.2], &[0.1, 0.8, 0.5]]));
    // The equilibrium of an antisymmetric game [0, -a, b; a, 0, -c; -b, c, 0] is (c, b, a) / sum.
    let sum = 0.3 + 0.4 + 0.5;
    close(&uneven.nash().unwrap(), &[0.3 / sum, 0.4 / sum, 0.5 / sum], 1e-6);
    // Two copies of scissors divide the share of one.
    let copies = EmpiricalGame::of_matrix(&matrix(&[
        &[0.5, 0.0, 1.0, 1.0],
        &[1.0, 0.5, 0.0, 0.0],
        &[0.0, 1.0, 0.5, 0.5],
        &[0.0, 1.0, 0.5, 0.5],
    ]));
    close(&copies.nash().unwrap(), &[1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0, 1.0 / 6.0], 1e-6);
}

/// Regression test: formerly Newton's method on the shares got stuck at the edge of the simplex. In two of three
/// such games with eight strategies it found no equilibrium, with regrets up to 0.1.
#[test]
fn equilibria_of_two_player_games_have_no_regret() {
    let mut rng = crate::resampling::stream(5, 5);
    for size in [2, 3, 5, 8, 8, 8, 12, 24] {
        for _ in 0..40 {
            let mut payoffs = Matrix::from_fn(size, size, |_, _| 0.5);
            for (i, j) in (0..size).flat_map(|i| (0..i).map(move |j| (i, j))) {
                // Multiples of 1/60, as from thirty deals in two seats, so that many are equal.
                payoffs[(i, j)] = (rng.index(13) as f64 + 24.0) / 60.0;
                payoffs[(j, i)] = 1.0 - payoffs[(i, j)];
            }
            let game = EmpiricalGame::of_matrix(&payoffs);
            let shares = game.nash().unwrap();
            let regret = game.regret(&shares);
            assert!(regret < 1e-6, "{regret}: {shares:?}");
        }
    }
}

#[test]
fn dominated_strategies_have_no_share() {
    let game = EmpiricalGame::of_matrix(&matrix(&[&[0.5, 0.6, 0.7], &[0.4, 0.5, 0.6], &[0.3, 0.4, 0.5]]));
    close(&game.nash().unwrap(), &[1.0, 0.0, 0.0], 1e-6);
    close(&game.replicator(500.0), &[1.0, 0.0, 0.0], 1e-6);
    assert!(game.regret(&[1.0, 0.0, 0.0]).abs() < 1e-12 && game.regret(&[0.0, 0.0, 1.0]) > 0.19);
}

#[test]
fn payoffs_at_three_seats_weigh_compositions() {
    // Strategy 0 gets 0.6 with one rival of the other strategy in the game, and 0.7 with two.
    let profiles: [&[usize]; 2] = [&[0, 0, 1], &[0, 1, 1]];
    let mut sums = GameSums::new(&profiles, 2).unwrap();
    for _ in 0..3 {
        sums.add(0, 0, 2, 120);
        sums.add(0, 1, 1, 30);
        sums.add(1, 0, 1, 70);
        sums.add(1, 1, 2, 80);
        sums.end_cluster();
    }
    let game = sums.game(100.0).unwrap();
    let payoffs = game.payoffs(&[0.5, 0.5]);
    close(&payoffs, &[0.25 * 0.5 + 0.5 * 0.6 + 0.25 * 0.7, 0.25 * 0.3 + 0.5 * 0.4 + 0.25 * 0.5], 1e-12);
    assert_eq!(GameSums::new(&profiles[..1], 2).map(|sums| sums.strategies), None);
    // Strategy 0 is better in every composition.
    close(&game.nash().unwrap(), &[1.0, 0.0], 1e-6);
}

#[test]
fn strategies_that_are_better_when_rare_share() {
    // The only player of a strategy gets 0.7, the others 0.4: in equilibrium both strategies are equally frequent.
    let payoffs = vec![(vec![1, 2], vec![0.7, 0.4]), (vec![2, 1], vec![0.4, 0.7])];
    let game = EmpiricalGame { strategies: 2, players: 3, payoffs };
    close(&game.nash().unwrap(), &[0.5, 0.5], 1e-9);
    // If the first strategy gains more from being alone, with shares p and q: 0.4 q² + 0.2 pq = 0.2 p², so p = 2q.
    let payoffs = vec![(vec![1, 2], vec![0.9, 0.3]), (vec![2, 1], vec![0.4, 0.7])];
    let uneven = EmpiricalGame { strategies: 2, players: 3, payoffs };
    let shares = uneven.nash().unwrap();
    close(&shares, &[2.0 / 3.0, 1.0 / 3.0], 1e-6);
    let by = 1e-6;
    let slopes = uneven.slopes(&shares);
    for other in 0..2 {
        let (mut more, mut less) = (shares.clone(), shares.clone());
        (more[other], less[other]) = (shares[other] + by, shares[other] - by);
        let slope: Vec<f64> = uneven
            .payoffs(&more)
            .iter()
            .zip(uneven.payoffs(&less))
            .map(|(more, less)| (more - less) / by / 2.0)
            .collect();
        close(&[slopes[(0, other)], slopes[(1, other)]], &slope, 1e-8);
    }
}
