use super::*;

/// Reference: mpmath 1.3 with forty digits.
#[test]
fn chi_square_agrees_with_mpmath() {
    for (at, freedom, expected) in [
        (0.01, 1.0, 0.079_655_674_554_057_96),
        (3.84, 1.0, 0.949_956_478_751_294_9),
        (1.0, 3.0, 0.198_748_043_098_799_2),
        (12.0, 3.0, 0.992_616_839_494_640_2),
        (40.0, 60.0, 0.021_818_217_525_557_392),
        (90.0, 60.0, 0.992_662_800_702_203_5),
        (f64::INFINITY, 2.0, 1.0),
        (1e-3, 8.0, 2.603_125_216_982_890_5e-15),
    ] {
        assert!((chi_square_cdf(at, freedom) / expected - 1.0).abs() < 1e-13, "{at}, {freedom}");
    }
}

#[test]
fn the_expansion_of_t_goes_on_where_the_iteration_ends() {
    let (before, after) = (t_quantile(0.999, 1e5), t_quantile(0.999, 1e5 + 1e-6));
    assert!((before / after - 1.0).abs() < 1e-10, "{before} {after}");
}
