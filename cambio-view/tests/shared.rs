//! Several people at one table: whole matches, snap windows that show nothing early, and people who leave.

use cambio_agents::roster;
use cambio_core::rng::{Bounded as _, Key, Stream};
use cambio_core::rules::PRESETS;
use cambio_core::{Deal, Playing, Record, Rules, Seat, replay};
use cambio_view::{Player, Replay, Session, SessionConfig};
use serde_json::Value;

/// A session of people and `greedy`: a letter of `players` is a person's initial, and `-` is an agent.
fn session(preset: &str, players: &str, deal: u64) -> Session {
    let greedy = roster().parse("greedy").unwrap();
    let config = SessionConfig::alone(Deal::new(&Rules::preset(preset).unwrap(), Key::new(71, deal)), Seat::A, vec![]);
    let player = |letter: char| match letter {
        '-' => Player::Agent(greedy.clone()),
        initial => Player::Person(initial.to_string()),
    };
    Session::new(SessionConfig { players: players.chars().map(player).collect(), ..config })
}

/// Runs agents until only people can go on.
fn think(session: &mut Session) {
    while let Some(job) = session.job() {
        session.finish(job.run());
    }
}

/// Lets a person decide at random if the person is asked. A person mostly passes and rarely calls.
fn decide(session: &mut Session, seat: Seat, stream: &mut Stream) -> bool {
    let step = session.latest(seat);
    let at = step.n;
    if step.end.is_some() {
        return session.go_on(seat, at).is_ok();
    }
    let Some(ask) = &step.ask else { return false };
    let mut pick = || ask.choices[stream.below(ask.choices.len() as u32) as usize].clone();
    let mut choice = pick();
    if ask.window && choice != "pass" {
        choice = pick();
    }
    if choice == "call" {
        choice = pick();
    }
    session.act(seat, at, &choice, None).unwrap();
    true
}

/// Plays until `stop` returns true or the match is over. People are asked in a random order, and some never declare in a window.
fn play(session: &mut Session, stream: &mut Stream, mut stop: impl FnMut(&Session) -> bool) {
    while session.record().is_err() && !stop(session) {
        think(session);
        let people: Vec<Seat> = session.config().people().collect();
        let mut went_on = false;
        for _ in 0..people.len() * 2 {
            let seat = people[stream.below(people.len() as u32) as usize];
            let is_late = session.open_window().is_some() && stream.chance(1, 8);
            went_on |= !is_late && decide(session, seat, stream);
        }
        if let Some(window) = session.open_window() {
            session.close_window(window);
            went_on = true;
        }
        let everyone = people.iter().filter(|_| !went_on).any(|&seat| decide(session, seat, stream));
        think(session);
        assert!(went_on || everyone || session.record().is_ok(), "no person and no agent can go on");
    }
}

/// Everything that the page of a seat received.
fn bytes(session: &Session, seat: Seat) -> Vec<String> {
    let feed = session.feed(seat);
    let from = (0..=feed.last()).find(|&from| feed.since(from).is_some()).unwrap();
    let steps = feed.since(from).unwrap();
    steps.iter().map(ToString::to_string).chain([feed.hello()]).collect()
}

#[test]
fn two_to_four_people_finish_matches_on_all_presets() {
    for preset in PRESETS {
        for (number, players) in ["AB", "A-C", "-BCD"].into_iter().enumerate() {
            let mut session = session(preset, players, number as u64);
            let people: Vec<Seat> = session.config().people().collect();
            play(&mut session, &mut Key::new(5, number as u64).agent(Seat::H), |_| false);
            let record = session.record().unwrap();
            assert_eq!(replay(&record, &mut ()).unwrap(), record, "{preset} {players}");
            for &seat in &people {
                assert!(session.latest(seat).end.as_ref().is_some_and(|end| end.ranks.is_some()), "{preset} {players}");
            }
            let about = &record.fields["x-person"];
            let named: Vec<&str> =
                about["people"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
            assert_eq!(named.concat(), players.replace('-', ""));
            let seated =
                players.chars().map(|letter| if letter == '-' { "greedy".to_owned() } else { letter.to_string() });
            assert_eq!(Replay::of(&record).unwrap().title, seated.collect::<Vec<_>>().join(" against "));
        }
    }
}

#[test]
fn a_window_shows_nothing_before_it_closes() {
    let mut compared = 0;
    for deal in 0..40 {
        let open = || {
            let mut session = session("classic", "AB-C", deal);
            let mut stream = Key::new(6, deal).agent(Seat::H);
            play(&mut session, &mut stream, |session| {
                // After a call, the caller may not snap.
                let is_open = session.open_window().is_some() && session.latest(Seat::A).scene.callers.is_empty();
                is_open && session.actions().len() as u64 > deal
            });
            think(&mut session);
            session
        };
        let (people, first) = ([Seat::A, Seat::B, Seat::D], open());
        let Some(window) = first.open_window() else { continue };
        // All people are asked at the same time, although the engine asks one after the other.
        for seat in people {
            let step = first.latest(seat);
            assert!(step.ask.as_ref().is_some_and(|ask| ask.window), "{seat} is not asked");
            assert_eq!(step.scene.asked, None);
        }
        for choice in [|choices: &[String]| choices[0].clone(), |choices: &[String]| choices.last().unwrap().clone()] {
            let mut other = open();
            for seat in [Seat::A, Seat::D] {
                let step = other.latest(seat);
                let (at, choice) = (step.n, choice(&step.ask.as_ref().unwrap().choices));
                other.act(seat, at, &choice, None).unwrap();
                think(&mut other);
                assert!(other.latest(seat).ask.is_none(), "a person decides once in a window");
                let again = other.act(seat, other.latest(seat).n, "pass", None).unwrap_err();
                assert_eq!(again.0, "it is not your turn to decide");
            }
            assert_eq!(bytes(&first, Seat::B), bytes(&other, Seat::B), "deal {deal}");
            assert_eq!(other.open_window(), Some(window), "the window stays open until its time is up");
            other.close_window(window);
            think(&mut other);
            assert_ne!(other.open_window(), Some(window));
            assert!(other.latest(Seat::B).ask.as_ref().is_none_or(|ask| !ask.window) || other.open_window().is_some());
            compared += 1;
        }
    }
    assert!(compared > 40, "{compared}");
}

#[test]
fn the_next_round_begins_when_all_people_want_to_continue() {
    let mut session = session("original", "ABC", 2);
    play(&mut session, &mut Key::new(7, 0).agent(Seat::H), |session| session.latest(Seat::A).end.is_some());
    let at = session.latest(Seat::A).n;
    for seat in [Seat::C, Seat::A] {
        session.go_on(seat, at.max(session.latest(seat).n)).unwrap();
        assert!(session.latest(Seat::B).end.is_some() && session.job().is_none());
        let refused = session.act(seat, session.latest(seat).n, "draw", None).unwrap_err();
        assert_eq!(refused.0, "it is not your turn to decide");
    }
    session.go_on(Seat::B, session.latest(Seat::B).n).unwrap();
    for seat in [Seat::A, Seat::B, Seat::C] {
        assert!(session.latest(seat).end.is_none());
        assert_eq!(session.latest(seat).scene.round, 2);
    }
}

/// The record of a match that a person leaves.
fn left(deal: u64) -> Record {
    let mut session = session("classic", "AB-", deal);
    let mut stream = Key::new(8, deal).agent(Seat::H);
    play(&mut session, &mut stream, |session| session.actions().len() >= 12);
    session.replace(Seat::B, roster().parse("greedy").unwrap()).unwrap();
    let hello = session.feed(Seat::A).hello();
    assert!(hello.contains(r#""names":["person","greedy","greedy"],"people":["A",null,null]"#), "{hello}");
    let again = session.replace(Seat::B, roster().parse("greedy").unwrap()).unwrap_err();
    assert_eq!(again.0, "no person is in seat b");
    let last = session.replace(Seat::A, roster().parse("greedy").unwrap()).unwrap_err();
    assert_eq!(last.0, "no other person is at the table; end the match instead");
    play(&mut session, &mut stream, |_| false);
    session.record().unwrap()
}

#[test]
fn an_agent_plays_on_for_a_person_who_leaves() {
    for deal in 0..8 {
        let record = left(deal);
        assert_eq!(replay(&record, &mut ()).unwrap(), record);
        assert_eq!(record.fields["agents"], serde_json::json!(["person", "person", "greedy"]));
        let about = serde_json::json!([{ "seat": "a", "name": "A" }, { "seat": "b", "name": "B", "left": true }]);
        assert_eq!(record.fields["x-person"]["people"], about);
        assert!(Playing::restore(&record).unwrap().is_over());
    }
}

#[test]
fn two_people_can_leave_at_the_same_time() {
    let mut session = session("classic", "ABC", 3);
    let greedy = roster().parse("greedy").unwrap();
    session.replace(Seat::A, greedy.clone()).unwrap();
    // The agent for the first person gets ready while the second person leaves.
    let job = session.job().unwrap();
    session.replace(Seat::B, greedy).unwrap();
    session.finish(job.run());
    play(&mut session, &mut Key::new(10, 0).agent(Seat::H), |_| false);
    assert!(session.record().is_ok());
}

/// What a person sees and is asked. Without a question, the page may show an earlier phase of the turn.
fn shown(session: &Session, seat: Seat) -> Option<Value> {
    let step = session.latest(seat);
    step.ask.as_ref().map(|ask| serde_json::json!([ask, step.scene]))
}

#[test]
fn a_resumed_match_goes_on_as_it_was() {
    let (mut resumptions, mut secrets) = (0, 0);
    for (number, players) in ["AB", "A-C", "-BCD"].into_iter().enumerate() {
        for deal in 0..8 {
            let preset = PRESETS[(deal as usize + number) % PRESETS.len()];
            let mut session = session(preset, players, deal);
            let mut stream = Key::new(11, deal).agent(Seat::H);
            while session.record().is_err() {
                let until = session.actions().len() + stream.below(9) as usize;
                play(&mut session, &mut stream, |session| session.actions().len() >= until);
                if session.config().people().count() > 2 && stream.chance(1, 8) {
                    let left = session.config().people().next().unwrap();
                    session.replace(left, roster().parse("greedy").unwrap()).unwrap();
                }
                // In a window, some people have decided in secret.
                let people: Vec<Seat> = session.config().people().collect();
                for &seat in &people {
                    if session.open_window().is_some() && stream.chance(1, 2) {
                        secrets += usize::from(decide(&mut session, seat, &mut stream));
                    }
                }
                let text = serde_json::to_string(&session.save()).unwrap();
                let saved = serde_json::from_str(&text).unwrap();
                let mut resumed = Session::resume(session.config().clone(), &saved).unwrap();
                assert_eq!(resumed.save(), saved, "{preset} {players} {deal}");
                think(&mut session);
                think(&mut resumed);
                // The end of a round is shown again.
                if resumed.latest(people[0]).end.is_none() {
                    assert_eq!((session.save(), session.open_window()), (resumed.save(), resumed.open_window()));
                    for &seat in &people {
                        assert_eq!(shown(&session, seat), shown(&resumed, seat), "{preset} {players} {deal}");
                    }
                }
                session = resumed;
                resumptions += 1;
            }
            let record = session.record().unwrap();
            assert_eq!(replay(&record, &mut ()).unwrap(), record, "{preset} {players}");
            // A match that is over needs no agents.
            let mut over = Session::resume(session.config().clone(), &session.save()).unwrap();
            assert!(over.job().is_none());
            assert_eq!(over.record().unwrap(), record);
        }
    }
    assert!(resumptions > 200 && secrets > 20, "{resumptions} {secrets}");
}

#[test]
fn a_shared_session_is_never_for_practice() {
    let one = session("classic", "AB", 0);
    let config = SessionConfig { practice: true, reaction: Some(500), ..one.config().clone() };
    let mut session = Session::new(config);
    assert!(!session.config().practice && session.config().reaction.is_none());
    let at = session.latest(Seat::A).n;
    assert_eq!(session.take_back(at).unwrap_err().0, "decisions can be taken back only at a practice table");
    assert!(cambio_view::position_for_hint(&session).is_err());
}
