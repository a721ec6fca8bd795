//! The bodies of the fuzz targets. A test on stable Rust calls them too.

use cambio_core::encode::{ActionSpace, TensorSpace};
use cambio_core::engine::{OwnedObservation, RoundChance};
use cambio_core::play::RoundResult;
use cambio_core::rng::{Bounded as _, Key, Purpose};
use cambio_core::rules::PRESETS;
use cambio_core::view::RoundHistory;
use cambio_core::{
    Event, Knowledge, Match, Position, Record, Rules, RulesError, RulesSpec, Seat, Sighting, State, View as _, replay,
};

/// The number of lines with each outcome.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Lines {
    /// Lines that are not records.
    pub(crate) unread: u64,
    /// Records with an error.
    pub(crate) refused: u64,
    /// Records without an error.
    pub(crate) accepted: u64,
}

/// Reads bytes as lines of records and replays them. An accepted record must be accepted again after it was filled in.
///
/// # Panics
/// If a filled-in record is rejected, or if reading or replaying panics.
pub(crate) fn records(bytes: &[u8]) -> Lines {
    let mut lines = Lines::default();
    for line in String::from_utf8_lossy(bytes).lines() {
        let record = match Record::read(line) {
            Ok(record) => record,
            Err(flaw) => {
                assert!(!flaw.to_string().is_empty());
                lines.unread += 1;
                continue;
            }
        };
        match replay(&record, &mut ()) {
            Ok(filled) => {
                let again = Record::read(&filled.to_json()).expect("a written record can be read");
                assert_eq!(again.rounds.len(), record.rounds.len());
                assert!(replay(&again, &mut ()).is_ok(), "a filled record is rejected: {}", filled.to_json());
                lines.accepted += 1;
            }
            Err(flaw) => {
                assert!(!flaw.what.is_empty() && flaw.round.is_none_or(|round| round <= record.rounds.len()));
                lines.refused += 1;
            }
        }
    }
    lines
}

/// Plays a match from bytes: the preset, the number of seats, the deal, then one byte per decision. Returns the number
/// of decisions.
///
/// # Panics
/// If the engine panics or violates an invariant.
pub(crate) fn decisions(bytes: &[u8]) -> usize {
    let [preset, seats, deal, bytes @ ..] = bytes else { return 0 };
    let rules = Rules::preset(PRESETS[usize::from(*preset) % PRESETS.len()]).expect("a preset");
    played(&rules, 2 + usize::from(*seats) % 7, *deal, bytes)
}

/// Reads the bytes up to the first zero as a rule file. If the file is valid, checks that the rules are written and
/// read back unchanged, and plays a match with the bytes after the zero as in [`decisions`]. Returns the number of
/// decisions, or the error of the rule file.
///
/// # Panics
/// If the reader or the engine panics or violates an invariant.
pub(crate) fn rules(bytes: &[u8]) -> Result<usize, RulesError> {
    let (text, bytes) = bytes.iter().position(|&byte| byte == 0).map_or((bytes, &[][..]), |end| bytes.split_at(end));
    let read = RulesSpec::from_toml(&String::from_utf8_lossy(text)).inspect(|spec| {
        let again = RulesSpec::from_toml(&spec.to_toml()).expect("a written rule file can be read");
        assert_eq!((again.knobs(), &again.name), (spec.knobs(), &spec.name));
    });
    let rules = read.and_then(RulesSpec::validate).inspect_err(|error| {
        let told = error.to_string();
        assert!(!told.is_empty() && told.len() < 2000 && !told.contains(char::is_control), "{told:?}");
    })?;
    let [_, seats, deal, bytes @ ..] = bytes else { return Ok(0) };
    let seats = 2 + usize::from(*seats) % 7;
    Ok(if rules.covers(seats).is_ok() { played(&rules, seats, *deal, bytes) } else { 0 })
}

/// Reads bytes as an observation: the number of sightings, their codes, and the text of an exact position. Uses every method of what can be
/// read. Returns whether the observation could be read, and whether it agrees with the sightings.
///
/// # Panics
/// If reading or a method panics.
pub(crate) fn observation(bytes: &[u8]) -> (bool, bool) {
    let [sightings, bytes @ ..] = bytes else { return (false, false) };
    let (codes, text) = bytes.split_at((8 * usize::from(*sightings)).min(bytes.len()));
    let codes = codes.as_chunks().0.iter().map(|code| u64::from_le_bytes(*code));
    observed(&codes.filter_map(Sighting::from_code).collect::<Vec<_>>(), text)
}

/// As [`observation`], after the sightings were read.
pub(crate) fn observed(sightings: &[Sighting], text: &[u8]) -> (bool, bool) {
    let Ok(position) = Position::read_exact(&String::from_utf8_lossy(text)) else { return (false, false) };
    let kept = OwnedObservation::from(&position.observation());
    let rules = kept.rules();
    let (view, seats) = (kept.observation(), kept.table().seats());
    let choices = view.choices();
    let space = ActionSpace::new(rules, seats);
    let mut indices = 0;
    space.each(&choices, view.seat(), |index| indices += usize::from(index < space.action_count()));
    assert_eq!((choices.iter().count(), indices), (choices.len(), choices.len()));
    assert!(choices.iter().all(|action| view.allows(action)));
    assert!(view.known_matches().without(view.known()).is_empty());
    for seat in Seat::ALL.into_iter().take(seats) {
        let layout = view.table().layout(seat);
        assert_eq!(kept.known_cards_of(seat, layout).count(), layout.intersection(view.known()).len());
    }
    let Ok(knowledge) = Knowledge::deduced(&view, sightings) else { return (true, false) };
    let world = knowledge.sample(&view, &mut Key::new(1, 0).agent(Seat::A));
    if !world.is_over() {
        assert_eq!(world.observe(view.seat()).choices(), choices);
    }
    let (space, mut history) = (TensorSpace::new(rules, seats), RoundHistory::new(rules, seats));
    for sighting in sightings {
        history.notice(sighting);
    }
    space.write(&view, &history, &mut vec![0_u8; space.len()]);
    (true, true)
}

/// Plays a match with one byte per decision.
fn played(rules: &Rules, seats: usize, deal: u8, bytes: &[u8]) -> usize {
    let key = Key::new(0, u64::from(deal));
    let space = ActionSpace::new(rules, seats);
    let mut game = Match::new(rules, seats, Seat::A).expect("the rules cover the table");
    let mut bytes = bytes.iter().map(|&byte| usize::from(byte));
    let mut stream = key.agent(Seat::A);
    let mut made = 0;
    while !game.is_over() {
        let round = game.rounds() as u32;
        let mut deck = rules.deck().to_vec();
        key.stream(Purpose::Deck, round).shuffle(&mut deck);
        let mut chance = RoundChance::new(key, round);
        let mut mind = Knowledge::new(rules, seats, Seat::B);
        let mut sink = |event: &Event<_>| mind.notice(&event.seen_from(Seat::B));
        let mut state = State::deal(&game.setup(), &deck, &mut chance, &mut sink).expect("the rules' own deck");
        while let Some(seat) = state.actor() {
            let Some(byte) = bytes.next() else { return made };
            let choices = state.choices();
            let mut sink = |event: &Event<_>| mind.notice(&event.seen_from(Seat::B));
            if byte >= 240 {
                // Any decision, legal or not.
                let index = bytes.next().unwrap_or(0) * 256 + byte * 7;
                let action = space.from_index(index % space.action_count(), seat).expect("an index below the count");
                let legal = choices.contains(action);
                assert_eq!(state.apply(action, &mut chance, &mut sink).is_ok(), legal);
            } else {
                let action = choices.nth(byte % choices.len()).expect("a number below the choices");
                state.apply(action, &mut chance, &mut sink).expect("a listed decision is legal");
            }
            made += 1;
            if made % 16 == 0 && !state.is_over() {
                let view = state.observe(Seat::B);
                assert_eq!(mind.sample(&view, &mut stream).observe(Seat::B), view);
            }
        }
        game.add(&RoundResult::of(&state).expect("a round that is over has a result"));
    }
    made
}
