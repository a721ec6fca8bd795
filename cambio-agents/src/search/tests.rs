use cambio_core::rng::{Key, Purpose};

use super::*;

#[test]
fn strides_visit_every_place_once() {
    for number in [1, 2, 240, 7919, 2 * 7919] {
        let mut places: Vec<usize> = (0..number).map(|index| strided(index, number)).collect();
        places.sort_unstable();
        assert_eq!(places, (0..number).collect::<Vec<_>>());
    }
}

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

#[test]
fn budgets_of_each_kind_are_halved() {
    let halves = |budget: Budget| {
        let mut countdown = budget.begin();
        let (mut count, mut halves) = (0, Vec::new());
        while let Some(number) = countdown.next() {
            count += 1;
            halves.extend(countdown.is_halfway(number).then_some(number));
        }
        (count, halves)
    };
    assert_eq!(halves(Budget::new(7, TimeParams::default())), (7, vec![3]));
    let timed = Budget::new(7, TimeParams { time_ms: Some(20) });
    assert_eq!(timed.most_iterations(), 40_000);
    // On a busy machine, the clock may skip the second half of the time budget. Then the test retries.
    let whole = (0..100).map(|_| halves(timed)).find(|(_, half)| !half.is_empty());
    let (count, half) = whole.expect("one of a hundred budgets was not interrupted");
    assert!(count > 1000 && half.len() == 1 && half[0] < count, "{count} {half:?}");
}

const SETTINGS: ActionRaceSettings = ActionRaceSettings { errors: 2.0, tie: 0.002, trust: None };

fn race(utilities: impl Fn(usize) -> Vec<f64>, settings: &ActionRaceSettings) -> (Action, Vec<u32>) {
    let decisions = [Action::Draw, Action::Take, Action::Call];
    let mut race = ActionRace::default();
    race.begin(decisions.map(|action| (action, 0.0)));
    for world in 0..1000 {
        let all = utilities(world);
        while let Some(action) = race.next() {
            race.add(all[decisions.iter().position(|&one| one == action).unwrap()]);
        }
        race.end_world(settings);
        if race.is_decided() {
            break;
        }
    }
    race.finish(settings);
    (race.best(), race.arms().map(|arm| arm.visits).collect())
}

#[test]
fn decisions_that_fall_behind_are_dropped() {
    // The worlds differ by much more than the decisions in one world.
    let noise = |world: usize| (world * 7919 % 100) as f64 / 100.0;
    let own = |world: usize| (world * 37 % 10) as f64 / 30.0 - 0.15;
    let (best, visits) =
        race(|world| vec![noise(world), noise(world) + 0.04 + own(world), noise(world) - 0.3], &SETTINGS);
    assert_eq!(best, Action::Take);
    assert!(visits[2] < visits[1] && visits[1] < 200, "{visits:?}");
    // Among equal decisions the first one leads, and the race ends before its budget.
    let (best, visits) = race(|world| vec![noise(world); 3], &SETTINGS);
    assert!(best == Action::Draw && visits[0] < 1000, "{visits:?}");
}

#[test]
fn expected_gains_count_until_the_playouts_are_more_precise() {
    let take_is_best_after = |worlds: usize, scale: f64, trust: Trust| {
        let mut race = ActionRace::default();
        race.begin([(Action::Draw, 0.6), (Action::Take, 0.4)]);
        let settings = ActionRaceSettings { trust: Some(trust), errors: f64::INFINITY, ..SETTINGS };
        for world in 0..worlds {
            race.add(0.5 * scale);
            race.add(if world % 10 < 6 { scale } else { 0.0 });
            race.end_world(&settings);
        }
        race.finish(&settings);
        race.best() == Action::Take
    };
    assert!(!take_is_best_after(2, 1.0, Trust::Fixed(0.05)));
    assert!(take_is_best_after(10_000, 1.0, Trust::Fixed(0.05)));
    // Smaller utilities can be less certain than a fixed error, but not than a relative one.
    assert!(take_is_best_after(2, 0.01, Trust::Fixed(0.5)));
    assert!(!take_is_best_after(2, 0.01, Trust::Relative(0.5)));
}
