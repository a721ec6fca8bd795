use super::*;

#[test]
fn numbers_are_written_for_people() {
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
}
