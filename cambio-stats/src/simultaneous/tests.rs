use super::*;
use crate::distributions::t_p_value;
use crate::resampling::stream;

/// Reference: `statsmodels.stats.multitest.multipletests(method="holm")`.
#[test]
fn holm_multiplies_and_keeps_the_order() {
    let corrected = holm(&[0.01, 0.04, 0.03, 0.5]);
    for (found, expected) in corrected.iter().zip([0.04, 0.09, 0.09, 0.5]) {
        assert!((found - expected).abs() < 1e-12);
    }
}

#[test]
fn simultaneous_quantiles_are_those_of_tables() {
    let factor = |size: usize, contrasts| {
        SimultaneousIntervals::new(&Matrix::identity(size, size), contrasts, &mut stream(1, 1)).unwrap().factor(1e9)
    };
    let one =
        SimultaneousIntervals::new(&Matrix::from_element(1, 1, 4.0), Contrasts::Single, &mut stream(1, 1)).unwrap();
    assert!((one.factor(10.0) - 2.228_139).abs() < 1e-6 && (one.p(0.03) - 0.03).abs() < 1e-9);
    // Šidák: the normal quantile at 0.95^(1/5).
    assert!((factor(5, Contrasts::Single) - 2.569).abs() < 0.01);
    // Tukey's studentized range over √2, for 3 and 8 groups; Dunnett's two-sided 5 % point for 4 groups and a control.
    assert!((factor(3, Contrasts::Pairs) - 3.314_5 / 2.0_f64.sqrt()).abs() < 0.01);
    assert!((factor(8, Contrasts::Pairs) - 4.286 / 2.0_f64.sqrt()).abs() < 0.01);
    assert!((factor(5, Contrasts::Against(2)) - 2.442).abs() < 0.01);
}

/// Regression test: formerly the factor came from 10,000 draws of the statistic and could be below the t quantile.
#[test]
fn no_interval_is_narrower_than_alone_whatever_is_drawn() {
    for seed in 0..40 {
        // Two agents with a constant sum: all comparisons are the same comparison.
        let pair = Matrix::from_row_slice(2, 2, &[1.0, -1.0, -1.0, 1.0]);
        for contrasts in [Contrasts::Single, Contrasts::Pairs] {
            let together = SimultaneousIntervals::new(&pair, contrasts, &mut stream(seed, 3)).unwrap();
            for freedom in [4.0, 11.0, 79.0, 1e6] {
                let (found, alone) = (together.factor(freedom), t_quantile(0.975, freedom));
                assert!(found >= alone && found < alone * 1.001, "{seed}: {found}, alone {alone}");
            }
        }
    }
}

#[test]
fn intervals_agree_with_corrected_p_values() {
    let covariance = Matrix::from_fn(4, 4, |i, j| if i == j { 1.0 + i as f64 } else { 0.3 });
    let together = SimultaneousIntervals::new(&covariance, Contrasts::Pairs, &mut stream(1, 4)).unwrap();
    for freedom in [5.0, 30.0] {
        let factor = together.factor(freedom);
        for (times, is_told) in [(0.999, false), (1.001, true)] {
            assert_eq!(together.p(t_p_value(factor * times, freedom)) < 0.05, is_told);
        }
    }
}
