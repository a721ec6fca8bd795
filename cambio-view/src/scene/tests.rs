use cambio_core::rng::Key;
use cambio_core::{Event, Playing};

use super::*;

#[test]
fn scenes_show_the_faces_that_a_seat_may_see() {
    let playing = Playing::new(&Rules::preset("classic").unwrap(), 2, Key::new(42, 0)).unwrap();
    let faces = |scene: &Scene| scene.layouts.iter().flatten().filter(|lying| lying.1.is_some()).count();
    let mut seen = Scene::seen(&playing.state().observe(Seat::A), 1, playing.totals(), true);
    let forgotten = Scene::seen(&playing.state().observe(Seat::A), 1, playing.totals(), false);
    let whole = Scene::of_state(playing.state(), 1, playing.totals());
    assert_eq!([&seen, &forgotten, &whole].map(faces), [2, 0, 8]);
    let b1 = "b1".parse().unwrap();
    seen.turn_up(b1, playing.state().face(b1).unwrap());
    assert_eq!(faces(&seen), 3);
}

#[test]
fn a_swap_moves_two_cards() {
    let swap: Event<Card> = Event::Swapped { seat: Seat::A, one: "a1".parse().unwrap(), other: "b2".parse().unwrap() };
    assert_eq!(CardMove::of(&swap.motion()).len(), 2);
}
