//! Arbitrary bytes as records, rule files and decisions never cause a panic.
//!
//! The targets of the `fuzz` crate call the same functions. The archives in `corpus` contain inputs that the fuzzer found.

#[path = "play/bytes.rs"]
mod bytes;

use std::io::Read as _;

use crate::play::mutate::mutate;
use crate::play::{Game, Manner, amount, games, odd_games};
use bytes::{Lines, decisions, observation, observed, records, rules};
use cambio_core::play::RoundLog;
use cambio_core::rng::{Bounded as _, Key, Stream};
use cambio_core::rules::knob::MatchEnd;
use cambio_core::{Deal, Playing, Position, Recorder, Rules, Seat, Sighting};
use serde_json::{Value, json};

/// Short records of three presets, and one record with a full table of rules.
fn lines() -> Vec<String> {
    let presets = ["original", "faessler", "classic"].into_iter().map(|preset| Game {
        rules: Rules::preset(preset).unwrap(),
        seats: 3,
        key: Key::new(601, 0),
        manner: Manner::Moderate,
    });
    let line = |game: Game| {
        let mut recorder = Recorder::new(&game.rules);
        let result = game.play(&mut recorder);
        let mut record = recorder.finish(game.key, 0, &["random"; 3], &result);
        if record.rounds.len() > 1 {
            record.rounds.truncate(1);
            record.fields.remove("totals");
            record.fields.remove("ranks");
        }
        record.to_json()
    };
    presets.chain(odd_games(602, 10).filter(|game| game.seats == 3).take(1)).map(line).collect()
}

#[test]
fn flipped_and_truncated_bytes_of_records_never_panic() {
    let mut stream = Key::new(603, 0).agent(Seat::A);
    let mut found = Lines::default();
    for line in lines() {
        assert_eq!(records(line.as_bytes()), Lines { accepted: 1, ..Lines::default() });
        for _ in 0..amount(500, 50_000) {
            let Lines { unread, refused, accepted } = records(&mutate(line.as_bytes(), line.as_bytes(), &mut stream));
            found.unread += unread;
            found.refused += refused;
            found.accepted += accepted;
        }
    }
    assert!(found.unread > 50 && found.refused > 50 && found.accepted > 5, "{found:?}");
}

/// Values that are not valid in most places.
fn strange(stream: &mut Stream) -> Value {
    let deep = (0..stream.below(200)).fold(json!(1), |inner, _| json!([inner]));
    let values = [
        Value::Null,
        json!(true),
        json!(-1),
        json!(0),
        json!(1),
        json!(2),
        json!(8),
        json!(255),
        json!(10_000),
        json!(i64::MIN),
        json!(u64::MAX),
        json!(1e300),
        json!(-0.0),
        json!(""),
        json!("a"),
        json!("ä𝄞\u{0}\u{202e}"),
        json!("a swap a1"),
        json!("h snap h16"),
        json!("a snap a99999999999999999999"),
        json!("x".repeat(5000)),
        json!("choose 16"),
        json!("slots 1 1 16"),
        json!("rounds(10000)"),
        json!("total(1)"),
        json!("feasible(-1000)"),
        json!("reveal then reveal then swap then look another"),
        json!([]),
        json!({}),
        json!([[["a"], ["b"]]]),
        json!({"base": "original", "deck": [], "hand": 8}),
        deep,
    ];
    values[stream.below(values.len() as u32) as usize].clone()
}

/// A random part of the value.
fn somewhere<'a>(value: &'a mut Value, stream: &mut Stream) -> &'a mut Value {
    let len = match value {
        Value::Array(list) => list.len(),
        Value::Object(fields) => fields.len(),
        _ => 0,
    };
    if len == 0 || stream.chance(1, 6) {
        return value;
    }
    let place = stream.below(len as u32) as usize;
    match value {
        Value::Array(list) => somewhere(&mut list[place], stream),
        Value::Object(fields) => somewhere(fields.values_mut().nth(place).unwrap(), stream),
        other => other,
    }
}

#[test]
fn records_with_strange_values_and_exchanged_fields_never_panic() {
    let mut stream = Key::new(604, 0).agent(Seat::A);
    let mut found = Lines::default();
    for line in lines() {
        let whole: Value = serde_json::from_str(&line).unwrap();
        for _ in 0..amount(400, 50_000) {
            let mut value = whole.clone();
            for _ in 0..=stream.below(2) {
                let other = if stream.chance(1, 3) {
                    somewhere(&mut value.clone(), &mut stream).clone()
                } else {
                    strange(&mut stream)
                };
                *somewhere(&mut value, &mut stream) = other;
            }
            let Lines { unread, refused, accepted } = records(value.to_string().as_bytes());
            found.unread += unread;
            found.refused += refused;
            found.accepted += accepted;
        }
    }
    assert!(found.unread > 50 && found.refused > 50 && found.accepted > 50, "{found:?}");
}

/// Values that are valid for some field of a rule file.
fn plausible(stream: &mut Stream) -> Value {
    let words = [
        "a",
        "JK",
        "x",
        "window",
        "none",
        "before",
        "after",
        "safe",
        "continues",
        "ends_round",
        "own",
        "any",
        "points",
        "rank",
        "share",
        "win_loss",
        "most",
        "fewest",
        "must",
        "may",
        "one",
        "several",
        "abort",
        "weighted",
        "power",
        "unspent_power",
        "choose 1",
        "slots 1",
        "feasible(3)",
        "score(0)",
        "rounds(2)",
        "total(9)",
        "look any",
        "look another then swap or look own then swap",
        "reveal then look other",
        "swap then reveal",
        "look any then swap looked",
        "swap own then look another or swap looked",
        "own",
        "no",
        "set(0)",
        "times(2)",
        "7 -> 3",
        "",
    ];
    match stream.below(4) {
        0 => json!(stream.chance(1, 2)),
        1 => json!(stream.below(14)),
        2 => json!(i64::from(stream.below(201)) - 100),
        _ => json!(words[stream.below(words.len() as u32) as usize]),
    }
}

/// Rules with one changed field, in a record that has only the rules and a deck.
#[test]
fn strange_rules_never_panic() {
    let mut stream = Key::new(605, 0).agent(Seat::A);
    let (mut dealt, mut refused) = (0, 0);
    for game in odd_games(606, amount(150, 10_000)) {
        for _ in 0..8 {
            let mut table = game.rules.spec().to_table();
            let value = if stream.chance(1, 3) { strange(&mut stream) } else { plausible(&mut stream) };
            *somewhere(&mut table, &mut stream) = value;
            let mut line = json!({"format": "cambio-record/1", "rules": table, "seats": game.seats, "rounds": []});
            if records(line.to_string().as_bytes()).accepted == 0 {
                refused += 1;
                continue;
            }
            let rules = cambio_core::RulesSpec::from_json(&table).unwrap().validate().unwrap();
            let mut deck = rules.deck().to_vec();
            stream.shuffle(&mut deck);
            let deck: Vec<&str> = deck.iter().map(|&card| rules.label(card)).collect();
            line["rounds"] = json!([{ "deck": deck }]);
            assert_eq!(records(line.to_string().as_bytes()).accepted, 1, "{line}");
            // Plays a match, to check that accepted rules can be played.
            let ends_soon = matches!(rules.spec().match_end, MatchEnd::Rounds(..=5) | MatchEnd::Total(..=50));
            if ends_soon && rules.spec().turn_limit.count() <= 400 {
                crate::play::play(&rules, game.seats, game.key, game.manner, &mut ());
            }
            dealt += 1;
        }
    }
    assert!(dealt > 50 && refused > 50, "{dealt} {refused}");
}

#[test]
fn the_corpus_of_the_fuzzer_does_not_panic() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let (mut lines, mut made, mut read) = (Lines::default(), 0, 0);
    let each = |target: &str, play: &mut dyn FnMut(&[u8])| {
        let file = std::fs::File::open(corpus.join(target).with_extension("tar")).unwrap();
        for entry in tar::Archive::new(file).entries().unwrap() {
            let mut bytes = Vec::new();
            entry.unwrap().read_to_end(&mut bytes).unwrap();
            play(&bytes);
        }
    };
    each("record", &mut |bytes| {
        let Lines { unread, refused, accepted } = records(bytes);
        lines.unread += unread;
        lines.refused += refused;
        lines.accepted += accepted;
    });
    each("decisions", &mut |bytes| made += decisions(bytes));
    each("rules", &mut |bytes| read += usize::from(rules(bytes).is_ok()));
    // The corpus reaches every outcome.
    assert!(lines.unread > 20 && lines.refused > 20 && lines.accepted > 5, "{lines:?}");
    assert!(made > 2000 && read > 20, "{made} decisions, {read} rule systems");
}

#[test]
fn decisions_from_arbitrary_bytes_never_panic() {
    let mut stream = Key::new(607, 0).agent(Seat::A);
    let mut made = 0;
    for _ in 0..amount(400, 40_000) {
        // Low bytes choose `pass` and `draw` more often.
        let bound = [16, 240, 256][stream.below(3) as usize];
        let mut bytes: Vec<u8> = (0..3).map(|_| stream.below(256) as u8).collect();
        bytes.extend((0..stream.below(2000)).map(|_| stream.below(bound) as u8));
        made += decisions(&bytes);
    }
    assert!(made > 10_000, "{made}");
    assert_eq!(decisions(&[]), 0);
    assert_eq!(decisions(&[5, 0, 0]), 0);
}

/// The sightings of a seat and the text of its exact position, at some moments of a match.
fn moments(game: &Game) -> Vec<(Vec<Sighting>, Vec<u8>)> {
    let (mut stream, mut log, mut found) = (game.key.agent(Seat::H), RoundLog::default(), Vec::new());
    let mut playing = Playing::observed(Deal::new(&game.rules, game.key), game.seats, &mut log).unwrap();
    for number in 0..600 {
        let seat = Seat::ALL[stream.below(game.seats as u32) as usize];
        if number % 7 == 0 || playing.is_over() {
            let position = Position::exact(&playing.state().observe(seat), playing.totals(), playing.rounds());
            found.push((log.sightings(seat).collect(), position.to_string().into_bytes()));
        }
        let Some(turn) = playing.turn() else { break };
        let action = game.manner.choose(&turn.view, &mut stream);
        playing.act_observed(action, &mut log).unwrap();
    }
    found
}

#[test]
fn changed_observations_and_sightings_never_panic() {
    let mut stream = Key::new(608, 0).agent(Seat::A);
    let (mut read, mut agreed, mut made) = (0, 0, 0);
    for game in games(609, 1).chain(odd_games(610, amount(60, 3000))) {
        let moments = moments(&game);
        for (sightings, bytes) in &moments {
            assert_eq!(observed(sightings, bytes), (true, true), "{sightings:?}");
            for _ in 0..amount(8, 100) {
                let (mut sightings, mut bytes) = (sightings.clone(), bytes.clone());
                if stream.chance(1, 2) {
                    let at = stream.below(bytes.len() as u32) as usize;
                    bytes[at] =
                        if stream.chance(1, 2) { stream.below(256) as u8 } else { bytes[at] ^ 1 << stream.below(8) };
                }
                if stream.chance(1, 2) {
                    let other = &moments[stream.below(moments.len() as u32) as usize].0;
                    let at = stream.below(sightings.len() as u32) as usize;
                    match stream.below(4) {
                        0 => drop(sightings.remove(at)),
                        1 => sightings.insert(at, other[stream.below(other.len() as u32) as usize]),
                        2 => sightings.clone_from(other),
                        _ => {
                            let code = sightings[at].code() ^ 1 << stream.below(60);
                            sightings[at] = Sighting::from_code(code).unwrap_or(sightings[at]);
                        }
                    }
                }
                let (is_read, is_right) = observed(&sightings, &bytes);
                (read, agreed, made) = (read + u32::from(is_read), agreed + u32::from(is_right), made + 1);
            }
        }
    }
    assert!(read > made / 3 && agreed > 100 && agreed < read, "{made} {read} {agreed}");
    assert_eq!(observation(&[]), (false, false));
}
