use super::*;

#[test]
fn ticks_are_round_numbers_inside_the_axis() {
    for (low, high, labels) in [
        (0.0, 1.0, &["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"][..]),
        (-120.0, 130.0, &["−100", "−50", "0", "50", "100"]),
        (0.4812, 0.4931, &["0.485", "0.490"]),
    ] {
        let ticks = Scale { low, high }.ticks();
        assert!(ticks.iter().all(|(at, _)| (LEFT..=RIGHT).contains(at)), "{ticks:?}");
        let found: Vec<&str> = ticks.iter().map(|(_, label)| label.as_str()).collect();
        assert_eq!(found, labels, "{low} to {high}");
    }
}
