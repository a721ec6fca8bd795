use cambio_agents::roster;
use cambio_core::{Deal, Playing, Record, Rules, replay};

use super::*;
use crate::SessionConfig;
use crate::hint::hint;
use crate::session::tests::play_to_the_end;

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

/// Plays a match in seat b against three random players. The person snaps in every window, after `time` milliseconds;
/// with `again`, the person takes some decisions back and repeats them.
fn played(deal: u64, time: Option<u32>, again: bool) -> Record {
    let deal = Deal::new(&Rules::preset("classic").unwrap(), Key::new(8, deal));
    let opponents = vec![roster().parse("random").unwrap(); 3];
    let config =
        SessionConfig { practice: true, reaction: Some(700), ..SessionConfig::alone(deal, Seat::B, opponents) };
    play_to_the_end(config, |session, asked| {
        if again && asked % 5 == 0 && session.take_back(session.latest().n).is_ok() {
            return;
        }
        let step = session.latest();
        let choices = &step.ask.as_ref().expect("the person decides").choices;
        let wanted = ["snap", "drop", "pass", "end"];
        let choice = wanted.iter().find_map(|verb| choices.iter().find(|choice| choice.starts_with(verb)));
        let (at, choice) = (step.n, choice.unwrap_or(&choices[0]).clone());
        session.act(at, &choice, time).unwrap();
    })
}

/// The person's place in each race, and the number of seats in that race.
fn places(record: &Record) -> Vec<(usize, usize)> {
    let races = record.rounds.iter().flat_map(|round| &round.races);
    races.filter_map(|race| race.iter().position(|seat| seat == "b").map(|place| (place, race.len()))).collect()
}

#[test]
fn the_fastest_seat_is_first_and_a_seat_without_a_time_is_last() {
    let races = |time| (0..12).flat_map(move |deal| places(&played(deal, time, false))).collect::<Vec<_>>();
    let (quick, none) = (races(Some(0)), races(None));
    assert!(quick.len() > 10 && none.len() > 10, "{quick:?} {none:?}");
    assert!(quick.iter().all(|&(place, _)| place == 0), "{quick:?}");
    assert!(none.iter().all(|&(place, of)| place + 1 == of), "{none:?}");
    // A person whose time is the agents' median is not always first or last.
    let even = races(Some(700));
    assert!(even.iter().any(|&(place, _)| place == 0) && even.iter().any(|&(place, _)| place > 0), "{even:?}");
}

#[test]
fn undone_decisions_do_not_change_the_races() {
    for deal in 0..6 {
        let (mut once, mut again) = (played(deal, Some(650), false), played(deal, Some(650), true));
        let undone = [&mut once, &mut again].map(|record| record.fields["x-person"]["undone"].take());
        assert!(undone[0] == 0 && undone[1].as_u64() > Some(0), "{undone:?}");
        assert_eq!(once, again);
        assert_eq!(once.fields["x-races"], "laid");
        replay(&once, &mut ()).unwrap();
        assert!(Playing::restore(&once).unwrap().is_over());
    }
}

#[test]
fn a_hint_after_a_race_sees_the_table_as_it_is() {
    let deal = Deal::new(&Rules::preset("classic").unwrap(), Key::new(8, 3));
    let opponents = vec![roster().parse("random").unwrap(); 3];
    let config =
        SessionConfig { practice: true, reaction: Some(700), ..SessionConfig::alone(deal, Seat::B, opponents) };
    let adviser = roster().parse("greedy").unwrap();
    let mut hints = 0;
    let record = play_to_the_end(config, |session, _| {
        let action = hint(session.config(), &session.actions(), &adviser, &|| true).unwrap().action;
        let step = session.latest();
        let choices = &step.ask.as_ref().expect("the person decides").choices;
        assert!(choices.contains(&action), "{action} of {choices:?}");
        hints += 1;
        let snap = choices.iter().find(|choice| choice.starts_with("snap"));
        let (at, choice) = (step.n, snap.cloned().unwrap_or(action));
        session.act(at, &choice, Some(650)).unwrap();
    });
    assert!(hints > 0 && record.rounds.iter().any(|round| !round.races.is_empty()));
}
