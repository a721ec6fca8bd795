use super::*;

#[test]
fn strides_visit_every_place_once() {
    for number in [1, 2, 240, 7919, 2 * 7919] {
        let mut places: Vec<usize> = (0..number).map(|index| strided(index, number)).collect();
        places.sort_unstable();
        assert_eq!(places, (0..number).collect::<Vec<_>>());
    }
}
