use super::*;

#[test]
fn numbers_are_written_for_people() {
    assert_eq!([grouped(7), grouped(999), grouped(1000), grouped(48_000_000)], ["7", "999", "1,000", "48,000,000"]);
    assert_eq!([number(-0.0004, 3), number(-0.25, 2), number(1.0, 3)], ["0.000", "−0.25", "1.000"]);
    assert_eq!([signed(0.25, 1), signed(-2.0, 0), signed(0.0004, 3)], ["+0.2", "−2", "0.000"]);
    assert_eq!(plus_minus(0.5, Some((0.375, 0.625)), 2), "0.50 ± 0.12");
    assert_eq!(plus_minus(1.0, Some((0.907, 1.0)), 3), "1.000 (0.907 to 1.000)");
    assert_eq!(plus_minus(0.124, Some((0.1143, 0.1346)), 3), "0.124 ± 0.011");
    assert_eq!(plus_minus(0.057, Some((0.0529, 0.0617)), 3), "0.057 ± 0.005");
    assert_eq!(plus_minus(0.999, Some((0.997, 1.0)), 3), "0.999 (0.997 to 1.000)");
    assert_eq!(plus_minus(0.5, None, 2), "0.50");
    assert_eq!(plus_minus(0.5, Some((0.4997, 0.5002)), 3), "0.500 ± < 0.001");
    assert_eq!(plus_minus(0.5, Some((0.5, 0.5)), 3), "0.500 exact");
    assert_eq!([count(1, "match"), count(2, "match"), count(1200, "deal")], ["1 match", "2 matches", "1,200 deals"]);
    assert_eq!([percent(0.0), percent(0.004), percent(0.31)], ["0 %", "< 1 %", "31 %"]);
}
