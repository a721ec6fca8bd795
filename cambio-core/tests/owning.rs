//! Engine types have no lifetime parameters, so applications can own them; equal rules are stored once.

use cambio_core::engine::Setup;
use cambio_core::rng::Key;
use cambio_core::{Deal, Knowledge, Match, MatchSetup, Playing, Recorder, Rules, RulesSpec, State, Table};

/// A game that an application owns.
struct Session {
    rules: Rules,
    playing: Playing,
}

fn first_choices(session: &mut Session, decisions: usize) {
    for _ in 0..decisions {
        let Some(turn) = session.playing.turn() else { return };
        let action = turn.view.choices().nth(0).unwrap();
        session.playing.act(action).unwrap();
    }
}

#[test]
fn a_game_goes_on_in_another_thread_after_its_maker_is_gone() {
    let begin = || {
        let rules = RulesSpec::from_toml("base = 'classic'\nhand = 5").unwrap().validate().unwrap();
        Session { rules, playing: Playing::new(&rules, 3, Key::new(5, 2)).unwrap() }
    };
    let mut here = begin();
    first_choices(&mut here, usize::MAX);
    let mut there = begin();
    first_choices(&mut there, 20);
    let there = std::thread::spawn(move || {
        first_choices(&mut there, usize::MAX);
        there
    });
    let there = there.join().unwrap();
    assert_eq!(there.rules, *there.playing.rules());
    assert_eq!(there.playing.result().unwrap(), here.playing.result().unwrap());
}

/// Does not compile if one of these types borrows.
const _: () = {
    const fn owned<T: Clone + Send + Sync + 'static>() {}
    const fn moved<T: Send + 'static>() {}
    owned::<Rules>();
    owned::<Setup>();
    owned::<Table>();
    owned::<State>();
    owned::<Match>();
    owned::<Deal>();
    owned::<MatchSetup>();
    owned::<Playing>();
    owned::<Knowledge>();
    moved::<Recorder>();
};

#[test]
fn equal_rules_are_stored_once() {
    let spec = |hand: u8| RulesSpec::from_toml(&format!("base = 'original'\nname = 'house'\nhand = {hand}")).unwrap();
    let read: Vec<Rules> = std::thread::scope(|scope| {
        let readers: Vec<_> = (0..8).map(|_| scope.spawn(|| spec(5).validate().unwrap())).collect();
        readers.into_iter().map(|reader| reader.join().unwrap()).collect()
    });
    assert!(read.iter().all(|rules| std::ptr::eq(rules.spec(), read[0].spec())));
    assert_eq!(read[0].spec(), &spec(5));
    let table = RulesSpec::from_json(&read[0].spec().to_table()).unwrap().validate().unwrap();
    assert_eq!(table, read[0], "a table that was written and read back is the same system");
    let [other, renamed] = [spec(6), RulesSpec { name: "other house".to_owned(), ..spec(5) }].map(RulesSpec::validate);
    assert_ne!(other.unwrap(), read[0]);
    assert_ne!(renamed.unwrap(), read[0], "the name is part of the rules, because results and records contain it");
}

#[test]
fn refused_rules_are_refused_again() {
    let spec = || RulesSpec::from_toml("base = 'classic'\nhand = 6\nmax_slots = 5").unwrap();
    let refused = spec().validate().unwrap_err();
    assert_eq!(spec().validate().unwrap_err(), refused);
}
