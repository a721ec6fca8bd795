use super::*;
use crate::ratings::Ranking;
use crate::resampling::{ResampleRng as _, stream};

/// Games of all pairs in which a player beats another with the odds of the strengths, plus `extra` log odds for the
/// first pair. The two games of a pair in a cluster share their luck, so they are far from independent.
fn played(strengths: &[f64], extra: f64, clusters: usize, rng: &mut impl rand::Rng) -> Rankings {
    let mut rankings = Rankings::default();
    for _ in 0..clusters {
        for one in 0..strengths.len() {
            for other in one + 1..strengths.len() {
                let gap = strengths[one] - strengths[other] + if (one, other) == (0, 1) { extra } else { 0.0 };
                let (luck, share) = (rng.uniform(), 1.0 / (1.0 + libm::exp(-gap)));
                for luck in [luck, 1.0 - luck] {
                    let ranks = if luck < share { [1, 2] } else { [2, 1] };
                    rankings.add(Ranking::new([(one, ranks[0]), (other, ranks[1])]));
                }
            }
        }
        rankings.end_cluster();
    }
    rankings
}

/// Regression test: formerly the p-value of a pair took the fit as known, and rejected less than its level.
#[test]
fn true_strengths_are_rejected_one_time_in_twenty() {
    let runs = crate::amount(400, 10_000);
    let mut rng = stream(5, 1);
    for (strengths, clusters) in
        [(&[0.0, 0.3, -0.4, 0.8][..], 60), (&[0.0, 0.1, 0.2, 2.5, -1.0, 0.5], 150), (&[0.0, 1.0, -3.0], 400)]
    {
        let (mut rejected, mut of_pairs, mut pairs) = (0, 0, 0);
        for _ in 0..runs {
            let found =
                misfit(&played(strengths, 0.0, clusters, &mut rng), strengths.len(), PositionEffects::Ignored).unwrap();
            rejected += u32::from(found.test.unwrap().p < 0.05);
            pairs += found.residuals.len() as u32;
            let is_rejected = |own: &&Residual| own.interval.p(0.0).unwrap() < 0.05;
            of_pairs += found.residuals.iter().filter(is_rejected).count() as u32;
        }
        // The residuals of one run are correlated, so their share varies like that of independent runs at most.
        let error = (0.05 * 0.95 / f64::from(runs)).sqrt();
        for (what, share) in
            [("test", f64::from(rejected) / f64::from(runs)), ("pair", f64::from(of_pairs) / f64::from(pairs))]
        {
            println!("{what}, {} players, {clusters} clusters: {share:.4}", strengths.len());
            assert!((share - 0.05).abs() < 0.01 + 3.5 * error, "{what}, {} players: {share}", strengths.len());
        }
    }
}

#[test]
fn deviating_pairs_have_their_deviation_as_residual() {
    let rankings = played(&[0.0, 0.4, -0.4, 0.2], 0.5, 3000, &mut stream(5, 2));
    let found = misfit(&rankings, 4, PositionEffects::Ignored).unwrap();
    assert!(found.test.unwrap().p < 1e-6 && found.residuals.len() == 6);
    // Three strengths and six pairs leave three degrees of freedom.
    assert!((found.test.unwrap().freedom.0 - 3.0).abs() < 1e-12);
    let own = found.residual(0, 1).unwrap().interval;
    assert!(own.low().unwrap() < 0.5 && own.high().unwrap() > 0.5 && own.error.unwrap() < 0.05, "{own:?}");
}

#[test]
fn two_players_have_no_residual() {
    let two = misfit(&played(&[0.0, 0.5], 0.0, 200, &mut stream(5, 3)), 2, PositionEffects::Ignored).unwrap();
    assert_eq!((two.residuals.len(), two.test), (0, None));
    // Players 2 and 3 always tie, and have the same results against the others.
    let mut rankings = Rankings::default();
    let mut rng = stream(5, 4);
    for _ in 0..100 {
        let luck: Vec<f64> = (0..3).map(|_| rng.uniform()).collect();
        for (one, other, lucky) in [(0, 1, luck[0]), (0, 2, luck[1]), (0, 3, luck[1]), (1, 2, luck[2]), (1, 3, luck[2])]
        {
            let ranks = if lucky < 0.5 { [1, 2] } else { [2, 1] };
            rankings.add(Ranking::new([(one, ranks[0]), (other, ranks[1])]));
        }
        rankings.add(Ranking::new([(2, 1), (3, 1)]));
        rankings.end_cluster();
    }
    let found = misfit(&rankings, 4, PositionEffects::Ignored).unwrap();
    let test = found.test.unwrap();
    assert!(test.freedom.0 < 3.0 && test.p > 1e-4 && test.p < 1.0, "{test:?}");
}
