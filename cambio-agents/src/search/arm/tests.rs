use cambio_core::rng::{Key, Purpose};

use super::*;

#[test]
fn decisions_are_drawn_in_proportion_to_their_visits() {
    let arm = |action, visits| Arm { action, visits, sum: f64::from(visits) / 2.0, squares: 0.0 };
    let arms = [arm(Action::Draw, 600), arm(Action::Take, 0), arm(Action::Call, 300), arm(Action::Pass, 100)];
    let mut stream = Key::new(3, 0).stream(Purpose::Race, 0);
    let mut counts = [0; 4];
    for _ in 0..10_000 {
        let chosen = choose(&arms, FinalChoice::Proportional, &mut stream).unwrap();
        counts[arms.iter().position(|arm| arm.action == chosen.action).unwrap()] += 1;
    }
    // Five standard deviations are at most 245.
    for (count, expected) in counts.into_iter().zip([6000_i32, 0, 3000, 1000]) {
        assert!((count - expected).abs() <= if expected == 0 { 0 } else { 245 }, "{counts:?}");
    }
    let before = stream.clone();
    assert_eq!(choose(&arms, FinalChoice::Visits, &mut stream).unwrap().action, Action::Draw);
    assert_eq!(stream, before, "the best arm needs no random bits");
}
