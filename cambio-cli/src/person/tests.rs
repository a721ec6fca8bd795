use cambio_core::engine::{Dice, Setup};
use cambio_core::rng::{Bounded as _, Key, Purpose};
use cambio_core::rules::PRESETS;
use cambio_core::{Deal, Seat, State};
use cambio_view::SessionConfig;

use super::*;

#[test]
fn every_decision_is_understood_by_its_words() {
    let mut offered = 0;
    for (preset, seats) in PRESETS.into_iter().zip([2, 4, 3, 2, 2, 2]) {
        let rules = Rules::preset(preset).unwrap();
        let stream = Key::new(8, 0).stream(Purpose::Agent, 0);
        let mut chance = Dice(stream.clone());
        let setup = Setup::new(&rules, seats);
        let mut picks = Dice(stream);
        for _ in 0..20 {
            let mut deck = rules.deck().to_vec();
            picks.0.shuffle(&mut deck);
            let mut state = State::deal(&setup, &deck, &mut chance, &mut ()).unwrap();
            while state.actor().is_some() {
                let choices: Vec<String> = state.choices().iter().map(|action| action.to_string()).collect();
                for action in &choices {
                    assert_eq!(understand(action, &choices), Ok(action.as_str()), "{}", offer(&choices));
                    offered += 1;
                }
                let picked = &choices[picks.0.below(choices.len() as u32) as usize];
                state.apply(picked.parse().unwrap(), &mut chance, &mut ()).unwrap();
            }
        }
    }
    assert!(offered > 10_000, "{offered}");
}

#[test]
fn unambiguous_short_answers_are_accepted() {
    let read = |list: &str| list.split(", ").map(str::to_owned).collect::<Vec<String>>();
    let held = read("drop, keep a1, keep a2, keep a10");
    assert_eq!(understand("d", &held), Ok("drop"));
    assert_eq!(understand("discard", &held), Ok("drop"));
    assert_eq!(understand("peek a2", &read("skip, look a1, look a2")), Ok("look a2"));
    assert_eq!(understand("a1", &held), Ok("keep a1"));
    assert_eq!(understand("k a10", &held), Ok("keep a10"));
    assert_eq!(
        understand("k", &held),
        Err("`k` is not possible; choose one of: drop, keep a1 a2 a10 (? for help)".to_owned())
    );
    assert_eq!(understand("", &held), Err("choose one of: drop, keep a1 a2 a10 (? for help)".to_owned()));
    let power = read("skip, swap a1 b1, swap a1 b2, swap b1 b2");
    assert_eq!(understand("b1 a1", &power), Ok("swap a1 b1"));
    assert_eq!(understand("sw b2 a1", &power), Ok("swap a1 b2"));
    assert_eq!(understand("s", &power), Ok("skip"));
    assert_eq!(offer(&power), "skip, swap two of a1 b1 b2");
    let window = read("pass, snap a1, touch a1");
    assert_eq!(understand("", &window), Ok("pass"));
    assert_eq!(understand("a1", &window), Err("`a1` could mean snap a1, touch a1".to_owned()));
    assert_eq!(understand("", &read("draw")), Ok("draw"));
}

/// Plays a match in seat a against an agent. Returns the output and the ending.
fn played(input: &'static str, notes: bool) -> (String, SessionEnd) {
    let deal = Deal::new(&Rules::preset("classic").unwrap(), Key::new(5, 0));
    let opponents = vec![cambio_agents::roster().parse("random(pass=1)").unwrap()];
    let person = Seat::A;
    let config = SessionConfig { notes, ..SessionConfig::alone(deal, person, opponents) };
    let mut out = Vec::new();
    let ending = Person::new(input.as_bytes(), &mut out, CancelToken::new()).play(Session::new(config));
    (String::from_utf8(out).unwrap(), ending)
}

#[test]
fn a_person_sees_only_the_sightings_of_its_seat() {
    let (printed, ending) = played("\nk a1\n\n\ncall\n", true);
    assert!(matches!(ending, SessionEnd::Over(_)), "{printed}");
    let before_the_end = printed.split("the round ends: ").next().unwrap();
    for expected in [
        "a peeks at a3: Ks",
        "b peeks at b3\n",
        "a1  a2  a3=Ks  a4=2c",
        "a draws 7d",
        "a keeps it in a1 and discards Kd",
        "Kd was discarded; a3 matches. Snap or pass: pass, snap a1 a2 a3 a4 b1 b2 b3 b4",
        "b draws a card\n",
        "a3 would match: press Enter again to pass, or type snap a3",
    ] {
        assert!(before_the_end.contains(expected), "{expected} in:\n{printed}");
    }
    // The opponent's cards are shown only at the end.
    assert!(
        !before_the_end.contains("b1=") && !before_the_end.contains("b1:") && printed.contains("    b1: "),
        "{printed}"
    );
    assert!(printed.starts_with("Goal: end the round with the fewest points."), "{printed}");
    assert!(printed.contains("\n  a called, but was not lowest: "), "{printed}");
    assert!(printed.ends_with("  b wins the round\n\nthe match is over\n"), "{printed}");
    let (printed, _) = played("\nk a1\n\ncall\n", false);
    assert!(
        !printed.contains("a3=") && !printed.contains(" matches. ") && printed.contains("  a1  a2  a3  a4 "),
        "{printed}"
    );
}

#[test]
fn invalid_input_is_asked_again() {
    let mut out = Vec::new();
    let mut person = Person::new(&b"\xe9\n  Draw \n"[..], &mut out, CancelToken::new());
    assert_eq!(person.read().as_deref(), Some("\u{fffd}"));
    assert_eq!((person.read().as_deref(), person.read()), (Some("draw"), None));
    assert_eq!(person.left.as_deref(), Some("you left the match"));
}

#[test]
fn leaving_ends_the_match() {
    for input in ["draw\n", "draw\nquit\ndrop\n"] {
        let (printed, ending) = played(input, true);
        assert!(matches!(&ending, SessionEnd::Left(why) if why == "you left the match"), "{printed}");
    }
}
