use super::*;

#[test]
fn counts_are_written_for_people() {
    assert_eq!([grouped(7), grouped(999), grouped(1000), grouped(48_000_000)], ["7", "999", "1,000", "48,000,000"]);
    assert_eq!([count(1, "match"), count(2, "match"), count(1200, "deal")], ["1 match", "2 matches", "1,200 deals"]);
    assert_eq!(short("greedy(call_at=9)", 9), "greedy(c…");
}
