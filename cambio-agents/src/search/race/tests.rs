use super::*;

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
