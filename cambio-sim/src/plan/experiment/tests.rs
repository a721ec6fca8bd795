use super::*;

#[test]
fn every_place_sits_in_every_seat_equally_often() {
    for seats in 2..=6 {
        for rotations in [Rotations::Cyclic, Rotations::Williams, Rotations::All] {
            let seatings = rotations.seatings(seats);
            for seat in 0..seats {
                for place in 0..seats {
                    let times = seatings.iter().filter(|seating| seating[seat] == place).count();
                    assert_eq!(times * seats, seatings.len(), "{rotations:?} at {seats} seats");
                }
            }
        }
    }
}

#[test]
fn in_a_williams_design_everybody_follows_everybody_else_equally_often() {
    for seats in 2..=8 {
        let mut after = vec![vec![0; seats]; seats];
        let seatings = Rotations::Williams.seatings(seats);
        for pair in seatings.iter().flat_map(|seating| seating.windows(2)) {
            after[pair[0]][pair[1]] += 1;
        }
        let each = if seats % 2 == 0 { 1 } else { 2 };
        for (one, row) in after.iter().enumerate() {
            for (other, &times) in row.iter().enumerate() {
                assert_eq!(times, if one == other { 0 } else { each }, "{seats} seats");
            }
        }
    }
}
