use super::*;

#[test]
fn reaction_times_have_their_median_and_spread() {
    let draws: Vec<ReactionTimes> = (0..2000).map(|deal| ReactionTimes::draw(Key::new(5, deal), 0, 1, 800)).collect();
    let share = |is_in: &dyn Fn(f64) -> bool| {
        let count = draws.iter().flat_map(|times| times.0).filter(|&time| is_in(f64::from(time))).count();
        count as f64 / (draws.len() * MAX_SEATS) as f64
    };
    let below = share(&|time| time < 800.0);
    let near = share(&|time| (800.0 / SPREAD..800.0 * SPREAD).contains(&time));
    // Four standard errors of a proportion of 16,000 draws are 0.016.
    assert!((below - 0.5).abs() < 0.016, "{below}");
    assert!((near - 0.683).abs() < 0.016, "{near}");
}

#[test]
fn faster_seats_come_first_and_untimed_ones_last() {
    let times = ReactionTimes([900, 400, 700, 500, 1000, 1100, 1200, 1300]);
    let letters = |times: ReactionTimes| times.order().seats().map(Seat::letter).collect::<String>();
    assert_eq!(letters(times), "bdcaefgh");
    assert_eq!(letters(times.with(Seat::A, Some(450))), "badcefgh");
    assert_eq!(letters(times.with(Seat::B, None)), "dcaefghb");
    let (quick, none) = (times.with(Seat::A, Some(3)), times.with(Seat::B, None));
    let race = |seats| RaceOrder::new(seats);
    assert_eq!(
        quick.in_words(race([Seat::A, Seat::B])),
        "fastest: a 0.10 s, then b 0.40 s",
        "no time is below the minimum"
    );
    assert_eq!(none.in_words(race([Seat::C, Seat::B])), "fastest: c 0.70 s, then b (no time)");
}

#[test]
fn a_race_is_the_same_whenever_it_is_drawn_and_no_two_are_alike() {
    let draw = |round, race| ReactionTimes::draw(Key::new(1, 2), round, race, 600);
    assert_eq!(draw(1, 3), draw(1, 3));
    assert_ne!(draw(1, 3), draw(1, 2));
    assert_ne!(draw(1, 3), draw(0, 3));
}
