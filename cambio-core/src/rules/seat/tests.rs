use super::*;

#[test]
fn the_spot_with_a_number_is_the_one_that_the_iterator_gives() {
    let mut bits = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834_u128;
    for _ in 0..1000 {
        bits = bits.wrapping_mul(0xda94_2042_e4dd_58b5).rotate_left(41) ^ 0x1234_5678;
        let set = SpotSet(bits);
        for seat in Seat::ALL {
            assert!((0..set.len()).map(|n| set.nth_from(seat, n)).eq(set.iter_from(seat).map(Some)));
            assert_eq!(set.nth_from(seat, 0), set.first_from(seat));
            assert_eq!(set.nth_from(seat, set.len()), None);
        }
    }
    assert_eq!(SpotSet(u128::MAX).nth_from(Seat::A, 127), Some(Spot(127)));
    assert_eq!(SpotSet::EMPTY.nth_from(Seat::C, 0), None);
}

#[test]
fn sets_are_walked_in_playing_order_from_a_seat_on() {
    for seats in 2..=MAX_SEATS {
        for from in Seat::ALL[..seats].iter().copied() {
            let order: Vec<Seat> = from.round(seats).collect();
            assert_eq!(SeatSet::first(seats).iter_from(from).collect::<Vec<_>>(), order);
            let spots = SpotSet::of_seats(SeatSet::first(seats)).intersection(SpotSet(ROWS[4]));
            let numbers = order.iter().flat_map(|&seat| (1..=4).map(move |number| Spot::new(seat, number)));
            assert!(spots.iter_from(from).map(Some).eq(numbers));
        }
    }
}
