use super::*;

#[test]
fn fewer_agents_than_seats_repeat_as_evenly_as_possible() {
    assert_eq!(evenly(3, 2), [[0, 1], [0, 2], [1, 2]]);
    assert_eq!(evenly(3, 4), [[0, 0, 1, 2], [0, 1, 1, 2], [0, 1, 2, 2]]);
    assert_eq!(evenly(2, 4), [[0, 0, 1, 1]]);
    assert_eq!(evenly(1, 2), [[0, 0]]);
}
