//! Tests of records: a replay reproduces the record, and finds every alteration.
//!
//! With `CAMBIO_FULL=1`, each test alters records of complete matches, for every preset and number of seats.

use crate::play::{Game, Manner, amount, games, odd_games};
use cambio_core::encode::ActionSpace;
use cambio_core::engine::RaceOrder;
use cambio_core::record::{Fingerprinter, InvalidRecord, RoundRecord};
use cambio_core::rng::{Bounded as _, Key, Stream};
use cambio_core::{Action, Card, Observer, Record, Recorder, Rules, RulesSpec, Seat, Standing, State, replay};
use serde_json::{Value, json};

fn record(game: &Game) -> Record {
    let mut recorder = Recorder::new(&game.rules);
    let result = game.play(&mut recorder);
    recorder.finish(game.key, 0, &vec!["random"; game.seats], &result)
}

/// The error that a replay returns.
#[track_caller]
fn flaw(record: &Record) -> InvalidRecord {
    replay(record, &mut ()).expect_err("a record with a flaw was accepted")
}

/// A record of only the first round.
fn first_round(record: &Record) -> Record {
    let mut short = record.clone();
    short.rounds.truncate(1);
    short.fields.remove("totals");
    short.fields.remove("ranks");
    short
}

/// Games with different presets, seats and manners, each with the record of its first round or of the whole match.
fn sample(seed: u64) -> Vec<(Game, Record)> {
    let tables: Vec<(&str, usize)> = vec![("original", 3), ("faessler", 4), ("classic", 2), ("classic", 5)];
    let some = tables.into_iter().map(|(preset, seats)| Game {
        rules: Rules::preset(preset).unwrap(),
        seats,
        key: Key::new(seed, 0),
        manner: Manner::Moderate,
    });
    let short = some.map(|game| {
        let record = first_round(&record(&game));
        (game, record)
    });
    let whole = games(seed, amount(0, 1)).map(|game| {
        let record = record(&game);
        (game, record)
    });
    short.chain(whole).collect()
}

// A record replays to itself.

fn replays_to_itself(game: &Game) {
    let (mut recorder, mut played) = (Recorder::new(&game.rules), Fingerprinter::default());
    let result = game.play(&mut (&mut recorder, &mut played));
    let record = recorder.finish(game.key, 0, &vec!["random"; game.seats], &result);
    let line = record.to_json();
    assert!(!line.contains('\n'));
    assert_eq!(Record::read(&line).unwrap().to_json(), line);
    assert_eq!(Record::read(&line).unwrap(), record);
    let mut replayed = Fingerprinter::default();
    assert_eq!(replay(&record, &mut replayed).unwrap(), record);
    assert_eq!(replayed.of_match(), played.of_match());
}

#[test]
fn a_record_replays_to_the_same_record() {
    games(201, amount(2, 20)).for_each(|game| replays_to_itself(&game));
}

#[test]
fn records_with_whole_rule_tables_replay() {
    let played = odd_games(202, amount(150, 2000)).inspect(replays_to_itself).count();
    assert!(played > 50);
    // The full table of a preset is equivalent to its name.
    for game in games(203, 1) {
        let mut record = record(&game);
        record.fields.insert("rules".to_owned(), game.rules.spec().to_table());
        assert_eq!(replay(&record, &mut ()).unwrap(), record);
    }
}

#[test]
fn a_record_without_results_is_filled_in() {
    for game in games(204, 1) {
        let whole = record(&game);
        let mut bare = whole.clone();
        for name in ["seed", "deal", "rotation", "agents", "totals", "ranks"] {
            bare.fields.remove(name);
        }
        assert_eq!(bare.fields.keys().collect::<Vec<_>>(), ["format", "rules", "seats"]);
        for round in &mut bare.rounds {
            round.starter = None;
            round.fields.clear();
        }
        let filled = replay(&Record::read(&bare.to_json()).unwrap(), &mut ()).unwrap();
        for name in ["totals", "ranks"] {
            assert_eq!(filled.fields[name], whole.fields[name]);
        }
        for (filled, whole) in filled.rounds.iter().zip(&whole.rounds) {
            let mut whole = whole.clone();
            whole.fields.remove("x-fingerprint");
            whole.fields.remove("x-trace");
            assert_eq!(*filled, whole);
        }
        // A filled record replays to itself. Results that are null are filled in like missing ones.
        assert_eq!(replay(&filled, &mut ()).unwrap(), filled);
        let mut null = filled.clone();
        null.fields.insert("totals".to_owned(), Value::Null);
        null.rounds[0].fields.insert("points".to_owned(), Value::Null);
        assert_eq!(replay(&null, &mut ()).unwrap(), filled);
    }
}

// Every alteration is found.

/// The legal choices at each decision of each round, and the numbers of races and reshuffles before the decision.
#[derive(Default)]
struct Legal {
    rounds: Vec<Vec<Moment>>,
    races: usize,
    reshuffles: usize,
}

struct Moment {
    seat: Seat,
    legal: Vec<String>,
    illegal: Action,
    races: usize,
    reshuffles: usize,
}

impl Observer for Legal {
    fn round_begins(&mut self, _: &Standing<'_>, _: &[Card]) {
        self.rounds.push(Vec::new());
        (self.races, self.reshuffles) = (0, 0);
    }

    fn decides(&mut self, state: &State, seat: Seat, _: Action) {
        let choices = state.choices();
        let space = ActionSpace::new(state.table().rules(), state.table().seats());
        let round = self.rounds.last_mut().unwrap();
        // The search starts at a different index each time, so that the illegal decisions differ.
        let start = round.len() * 37;
        let illegal = (0..space.action_count())
            .map(|step| space.from_index((start + step) % space.action_count(), seat).unwrap())
            .find(|&action| !choices.contains(action))
            .unwrap();
        let legal = choices.iter().map(|action| format!("{seat} {action}")).collect();
        round.push(Moment { seat, legal, illegal, races: self.races, reshuffles: self.reshuffles });
    }

    fn race(&mut self, _: &RaceOrder) {
        self.races += 1;
    }

    fn reshuffle(&mut self, _: &[Card]) {
        self.reshuffles += 1;
    }
}

fn legal(record: &Record) -> Legal {
    let mut legal = Legal::default();
    replay(record, &mut legal).unwrap();
    legal
}

/// Changes one round of a record.
fn with(record: &Record, round: usize, change: impl FnOnce(&mut RoundRecord)) -> Record {
    let mut altered = record.clone();
    change(&mut altered.rounds[round]);
    altered
}

/// Asserts that the error is in this round, at or after this decision (both counted from 0).
#[track_caller]
fn assert_found(altered: &Record, round: usize, decision: usize) -> InvalidRecord {
    let flaw = flaw(altered);
    assert_eq!(flaw.round, Some(round + 1), "{flaw}");
    assert!(flaw.decision.is_none_or(|number| number > decision), "decision {decision} of {flaw}");
    flaw
}

#[track_caller]
fn assert_illegal(altered: &Record, round: usize, decision: usize, text: &str, legal: &[String]) {
    let flaw = flaw(altered);
    assert_eq!((flaw.round, flaw.decision), (Some(round + 1), Some(decision + 1)), "{flaw}");
    assert_eq!(flaw.what, format!("illegal decision `{text}`; legal: {}", legal.join(", ")));
}

fn alter_decisions(record: &Record, stream: &mut Stream) -> usize {
    let mut altered = 0;
    for (round, moments) in legal(record).rounds.iter().enumerate() {
        for (number, moment) in moments.iter().enumerate() {
            let given = &record.rounds[round].decisions[number];
            let others: Vec<&String> = moment.legal.iter().filter(|&text| text != given).collect();
            if !others.is_empty() {
                let other = others[stream.below(others.len() as u32) as usize];
                let changed = with(record, round, |round| round.decisions[number].clone_from(other));
                let flaw = assert_found(&changed, round, number);
                assert_eq!(flaw.decision, Some(number + 1), "{flaw}");
                let told = format!("`{other}`; legal: {}", moment.legal.join(", "));
                // The other decision may need a chance outcome that does not match the record.
                let is_chance = flaw.what.contains("an order of the seats ") || flaw.what.contains("`: reshuffle ");
                assert!(flaw.what.ends_with(&told) || is_chance, "{flaw}");
            }
            let text = format!("{} {}", moment.seat, moment.illegal);
            let changed = with(record, round, |round| round.decisions[number].clone_from(&text));
            assert_illegal(&changed, round, number, &text, &moment.legal);
            // The recorded decision, but by another seat.
            let next = moment.seat.next(record.fields["seats"].as_u64().unwrap() as usize);
            let text = format!("{next}{}", &given[1..]);
            let changed = with(record, round, |round| round.decisions[number].clone_from(&text));
            assert_illegal(&changed, round, number, &text, &moment.legal);
            // If the removed decision is the last one of the round, the error is at the decision before it.
            let changed = with(record, round, |round| drop(round.decisions.remove(number)));
            assert_found(&changed, round, number.saturating_sub(1));
            let changed = with(record, round, |round| round.decisions.insert(number, given.clone()));
            assert_found(&changed, round, number);
            altered += 5;
        }
        let text = "a draw".to_owned();
        let changed = with(record, round, |round| round.decisions.push(text.clone()));
        let flaw = assert_found(&changed, round, moments.len());
        assert_eq!(flaw.decision, Some(moments.len() + 1));
        assert_eq!(flaw.what, "illegal decision `a draw`; legal: nothing, the round is over");
    }
    altered
}

#[test]
fn every_altered_decision_is_found() {
    let mut stream = Key::new(205, 0).agent(Seat::A);
    let altered: usize = sample(205).iter().map(|(_, record)| alter_decisions(record, &mut stream)).sum();
    assert!(altered > 1000, "{altered}");
}

/// Alters each list of races or reshuffles: swaps, replaces or removes entries, removes the list, adds a list.
fn alter_lists(record: &Record, list: impl Fn(&mut RoundRecord) -> &mut Vec<Vec<String>>, other: &str) -> usize {
    let mut altered = 0;
    for round in 0..record.rounds.len() {
        let change = |change: &dyn Fn(&mut Vec<Vec<String>>)| with(record, round, |round| change(list(round)));
        let lists = list(&mut record.rounds[round].clone()).clone();
        for (number, entries) in lists.iter().enumerate() {
            for place in 0..entries.len() {
                if let Some(next) = (place + 1..entries.len()).find(|&next| entries[next] != entries[place]) {
                    assert_found(&change(&|lists| lists[number].swap(place, next)), round, 0);
                }
                for wrong in [other, "z", "", "ä"] {
                    let changed = change(&|lists| wrong.clone_into(&mut lists[number][place]));
                    if entries[place] != wrong {
                        let flaw = assert_found(&changed, round, 0);
                        assert!(
                            flaw.decision.is_some() && flaw.what.contains(&format!(" {} must be ", number + 1)),
                            "{flaw}"
                        );
                    }
                }
                assert_found(&change(&|lists| drop(lists[number].remove(place))), round, 0);
                altered += 1;
            }
            let flaw = assert_found(&change(&|lists| drop(lists.remove(number))), round, 0);
            assert!(flaw.decision.is_some(), "{flaw}");
            assert_found(&change(&|lists| lists[number].push(other.to_owned())), round, 0);
            assert_found(&change(&|lists| lists[number].clear()), round, 0);
            assert_found(&change(&|lists| lists.truncate(number)), round, 0);
        }
        for extra in [vec![], vec![other.to_owned()]] {
            let flaw = assert_found(&change(&|lists| lists.push(extra.clone())), round, 0);
            assert!(flaw.what.contains("1 ") && flaw.what.contains("left over"), "{flaw}");
        }
    }
    altered
}

#[test]
fn every_altered_race_is_found() {
    let records = sample(206);
    let altered: usize = records.iter().map(|(_, record)| alter_lists(record, |round| &mut round.races, "h")).sum();
    assert!(altered > 10, "{altered}");
}

#[test]
fn every_altered_reshuffle_is_found() {
    let rules = Rules::preset("classic").unwrap();
    let long: Vec<Record> = (0..amount(12, 60))
        .map(|deal| Game { rules, seats: 4, key: Key::new(207, deal), manner: Manner::Patient })
        .map(|game| record(&game))
        .filter(|record| (1..=2).contains(&record.rounds[0].reshuffles.len()))
        .take(amount(2, 20) as usize)
        .collect();
    let altered: usize = long.iter().map(|record| alter_lists(record, |round| &mut round.reshuffles, "5h")).sum();
    assert!(altered > 30, "{altered}");
}

#[test]
fn every_altered_card_of_a_deck_is_found() {
    for (game, record) in sample(208) {
        let other = game.rules.label(game.rules.deck()[0]);
        for (number, round) in record.rounds.iter().enumerate() {
            let deck = &round.deck;
            for place in 0..deck.len() {
                if let Some(next) = (place + 1..deck.len()).find(|&next| deck[next] != deck[place]) {
                    assert_found(&with(&record, number, |round| round.deck.swap(place, next)), number, 0);
                }
                for wrong in [other, "Zz", ""].into_iter().filter(|&wrong| wrong != deck[place]) {
                    let changed = with(&record, number, |round| wrong.clone_into(&mut round.deck[place]));
                    let flaw = assert_found(&changed, number, 0);
                    assert!(flaw.what.starts_with("impossible deck: "), "{flaw}");
                }
            }
            for changed in [
                with(&record, number, |round| drop(round.deck.pop())),
                with(&record, number, |round| round.deck.push(other.to_owned())),
                with(&record, number, |round| round.deck.clear()),
            ] {
                let flaw = assert_found(&changed, number, 0);
                assert!(flaw.what.starts_with("impossible deck: "), "{flaw}");
            }
        }
    }
}

/// Wrong values: values near the given one, and values of other types.
fn wrong_values(value: &Value) -> Vec<Value> {
    let mut wrong = vec![json!(true), json!("draw"), json!({}), json!(-1), json!(0.25)];
    match value {
        Value::Array(list) => {
            wrong.push(json!([]));
            let mut more = list.clone();
            more.push(json!(0));
            wrong.push(Value::Array(more));
            for place in 0..list.len() {
                let mut fewer = list.clone();
                fewer.remove(place);
                wrong.push(Value::Array(fewer));
                let others = match &list[place] {
                    Value::Number(number) => vec![
                        json!(number.as_f64().unwrap() + 1.0),
                        json!(number.as_f64().unwrap() - 0.001),
                        json!(number.as_i64().unwrap_or(7) - 1),
                        json!("x"),
                        Value::Null,
                    ],
                    _ => vec![json!("h"), json!(0)],
                };
                for other in others {
                    let mut changed = list.clone();
                    changed[place] = other;
                    wrong.push(Value::Array(changed));
                }
            }
        }
        _ => wrong.push(json!("turn_limit")),
    }
    wrong.retain(|wrong| wrong != value);
    wrong
}

#[test]
fn every_altered_result_is_found_and_named() {
    let mut altered = 0;
    for game in games(209, 1) {
        let record = record(&game);
        for name in ["totals", "ranks"] {
            for wrong in wrong_values(&record.fields[name]) {
                let mut changed = record.clone();
                changed.fields.insert(name.to_owned(), wrong);
                let flaw = flaw(&changed);
                assert!(flaw.what.starts_with(&format!("{name} must be ")), "{flaw}");
                altered += 1;
            }
        }
        let number = record.rounds.len() - 1;
        for name in ["ended", "callers", "points", "scores", "x-fingerprint"] {
            for wrong in wrong_values(&record.rounds[number].fields[name]) {
                let changed = with(&record, number, |round| drop(round.fields.insert(name.to_owned(), wrong)));
                let flaw = assert_found(&changed, number, 0);
                assert!(flaw.what.starts_with(&format!("{name} must be ")), "{flaw}");
                altered += 1;
            }
        }
        for wrong in ["i", "A", "ab", ""] {
            let changed = with(&record, 0, |round| round.starter = Some(wrong.to_owned()));
            assert!(assert_found(&changed, 0, 0).what.starts_with("starter must be "));
        }
        for number in 1..record.rounds.len() {
            let given = record.rounds[number].starter.clone().unwrap();
            let next = Seat::from_letter(given.chars().next().unwrap()).unwrap().next(game.seats);
            let changed = with(&record, number, |round| round.starter = Some(next.to_string()));
            let flaw = assert_found(&changed, number, 0);
            assert_eq!(flaw.what, format!("starter must be \"{given}\", found \"{next}\""));
        }
    }
    assert!(altered > 1000, "{altered}");
}

// Records that stop early, and left-over chance outcomes.

#[test]
fn a_record_that_stops_early_is_replayed_as_far_as_it_goes() {
    for (_, whole) in sample(210) {
        let moments = legal(&whole);
        for (number, moments) in moments.rounds.iter().enumerate() {
            for (decisions, moment) in moments.iter().enumerate() {
                let mut short = whole.clone();
                short.rounds.truncate(number + 1);
                short.fields.remove("totals");
                short.fields.remove("ranks");
                let round = &mut short.rounds[number];
                round.decisions.truncate(decisions);
                let (races, reshuffles) = (round.races.len(), round.reshuffles.len());
                round.races.truncate(moment.races);
                round.reshuffles.truncate(moment.reshuffles);
                let results = std::mem::take(&mut round.fields);
                assert_eq!(replay(&short, &mut ()).unwrap(), short);
                // Results are not allowed yet, and no chance outcome may be left over.
                if decisions % 7 == 0 {
                    for name in ["ended", "callers", "points", "scores"] {
                        let changed = with(&short, number, |round| {
                            drop(round.fields.insert(name.to_owned(), results[name].clone()));
                        });
                        let flaw = assert_found(&changed, number, 0);
                        assert!(
                            flaw.what.starts_with(&format!("{name} is given, but the round has not ended")),
                            "{flaw}"
                        );
                        assert_eq!(flaw.decision, (decisions > 0).then_some(decisions));
                    }
                    let changed = with(&short, number, |round| round.races.clone_from(&whole.rounds[number].races));
                    assert_eq!(replay(&changed, &mut ()).is_err(), races > moment.races);
                    let changed =
                        with(&short, number, |round| round.reshuffles.clone_from(&whole.rounds[number].reshuffles));
                    assert_eq!(replay(&changed, &mut ()).is_err(), reshuffles > moment.reshuffles);
                    let mut changed = short.clone();
                    changed.rounds.push(whole.rounds[number].clone());
                    let flaw = flaw(&changed);
                    assert_eq!(flaw.round, Some(number + 2));
                    assert_eq!(flaw.what, "unexpected round: the previous round has not ended");
                }
            }
        }
    }
}

#[test]
fn a_record_has_at_most_the_rounds_of_its_match() {
    for game in games(211, 1) {
        let whole = record(&game);
        for rounds in 0..whole.rounds.len() {
            let mut short = whole.clone();
            short.rounds.truncate(rounds);
            // Totals are checked against the rounds so far.
            if rounds > 0 && whole.fields["totals"] != json!(vec![0; game.seats]) {
                assert!(flaw(&short).what.starts_with("totals must be "));
            }
            short.fields.remove("totals");
            short.fields.remove("ranks");
            assert_eq!(replay(&short, &mut ()).unwrap(), short);
        }
        let mut long = whole.clone();
        long.rounds.extend(whole.rounds.last().cloned());
        let flaw = flaw(&long);
        assert_eq!((flaw.round, flaw.decision), (Some(long.rounds.len()), None));
        assert_eq!(flaw.what, "unexpected round: the match is over");
    }
}

// Records of other programs.

#[test]
fn the_spots_of_a_swap_may_come_in_either_order() {
    let mut swaps = 0;
    for game in games(213, 2) {
        let record = record(&game);
        let mut turned = record.clone();
        for decision in turned.rounds.iter_mut().flat_map(|round| &mut round.decisions) {
            let words: Vec<&str> = decision.split(' ').collect();
            if let [seat, "swap", one, other] = words[..] {
                *decision = format!("{seat} swap {other} {one}");
                swaps += 1;
            }
        }
        let mut print = Fingerprinter::default();
        replay(&turned, &mut print).unwrap();
        let mut straight = Fingerprinter::default();
        replay(&record, &mut straight).unwrap();
        assert_eq!(print.of_match(), straight.of_match());
    }
    assert!(swaps > 50, "{swaps}");
}

#[test]
fn other_programs_order_of_fields_and_unknown_fields_are_kept() {
    let (_, record) = &sample(214)[0];
    let mut fields: Vec<String> = record.fields.iter().map(|(name, value)| format!("{name:?}: {value}")).collect();
    fields.reverse();
    fields.insert(1, r#""note": {"by": ["ann", 1.5, null]}"#.to_owned());
    let round: Value = serde_json::from_str(&record.to_json()).unwrap();
    let mut round: Vec<String> =
        round["rounds"][0].as_object().unwrap().iter().map(|(name, value)| format!("{name:?} : {value}")).collect();
    round.reverse();
    round.push(r#""comment": "läuft""#.to_owned());
    let line = format!("{{ \"rounds\": [ {{ {} }} ], {} }}", round.join(" ,"), fields.join(", "));
    let read = Record::read(&line).unwrap();
    let filled = replay(&read, &mut ()).unwrap();
    assert_eq!(filled.fields["note"], json!({"by": ["ann", 1.5, null]}));
    assert_eq!(filled.rounds[0].fields["comment"], "läuft");
    assert_eq!(Record::read(&filled.to_json()).unwrap().to_json(), filled.to_json());
    assert_eq!(Record::read(&filled.to_json()).unwrap(), filled);
    let mut without = filled.clone();
    without.fields.remove("note");
    without.rounds[0].fields.remove("comment");
    assert_eq!(without, *record);
}

#[test]
fn shares_are_read_as_decimals_and_as_texts() {
    // All cards have the same points, so a caller fails and the three other seats share the win.
    let table = json!({
        "base": "classic", "jokers": 0, "hand": 1, "peek": "slots 1",
        "deck": [{"label": "1", "rank": "1", "points": 1, "copies": 9}, {"label": "i", "rank": "2", "points": 1, "copies": 9}],
    });
    let rules = RulesSpec::from_json(&table).unwrap().validate().unwrap();
    let record = (0..50)
        .map(|deal| Game { rules, seats: 4, key: Key::new(215, deal), manner: Manner::Moderate })
        .map(|game| record(&game))
        .find(|record| record.fields["totals"].to_string().contains("0.3333333333333333"))
        .expect("one of 50 deals has a call without an empty layout");
    for (text, accepted) in [("0.3333333333", true), ("0.333333", true), ("0.33333", false), ("1/3", false)] {
        let line = record.to_json().replace("0.3333333333333333", &format!("{text:?}"));
        assert_eq!(replay(&Record::read(&line).unwrap(), &mut ()).is_ok(), accepted, "{text}");
    }
}

#[test]
fn errors_in_a_record_name_the_allowed_values() {
    let (_, record) = &sample(216)[2];
    let line = record.to_json();
    for cut in 0..line.len() {
        if line.is_char_boundary(cut) {
            let flaw = Record::read(&line[..cut]).unwrap_err();
            assert!(flaw.what.starts_with("not JSON"), "{flaw}");
        }
    }
    for (line, what) in [
        ("", "not JSON"),
        ("a draw", "not JSON"),
        ("[]", "not a record: invalid type: sequence, expected "),
        ("7", "not a record: invalid type: integer `7`, expected "),
        ("{}", "`format` must be \"cambio-record/1\", found nothing"),
        (r#"{"format":"cambio-record/2"}"#, "`format` must be \"cambio-record/1\", found \"cambio-record/2\""),
        (r#"{"format":"cambio-record/1","rounds":7}"#, "not a record: invalid type: integer `7`, expected a sequence"),
        (
            r#"{"format":"cambio-record/1","rounds":[7]}"#,
            "not a record: invalid type: integer `7`, expected struct RoundRecord",
        ),
        (
            r#"{"format":"cambio-record/1","rounds":[{"deck":[7]}]}"#,
            "not a record: invalid type: integer `7`, expected a string",
        ),
        (
            r#"{"format":"cambio-record/1","rounds":[{"deck":"7h"}]}"#,
            "not a record: invalid type: string \"7h\", expected a sequence",
        ),
        (
            r#"{"format":"cambio-record/1","rounds":[{"races":["ab"]}]}"#,
            "not a record: invalid type: string \"ab\", expected a sequence",
        ),
        (
            r#"{"format":"cambio-record/1","rounds":[{"starter":1}]}"#,
            "not a record: invalid type: integer `1`, expected a string",
        ),
    ] {
        let flaw = Record::read(line).unwrap_err();
        assert!(flaw.what.starts_with(what), "{flaw}");
    }
    let wrong = Record::read(r#"{"format":"cambio-record/1","rounds":[{},{"decisions":["a draw",7]}]}"#).unwrap_err();
    assert_eq!(wrong.to_string(), "not a record: invalid type: integer `7`, expected a string at column 65");
    for (fields, what) in [
        (json!({}), "`rules` is missing"),
        (json!({"rules": "chess"}), "there is no preset `chess`; the presets are original"),
        (json!({"rules": "classic"}), "`seats` must be a whole number from 2 to 8, found nothing"),
        (json!({"rules": "classic", "seats": 9}), "`seats` must be a whole number from 2 to 8, found 9"),
        (json!({"rules": "classic", "seats": 2.5}), "`seats` must be a whole number from 2 to 8, found 2.5"),
        (json!({"rules": {"base": "classic", "hand": 8, "max_slots": 12}, "seats": 8}), "the deck of `custom` has 54"),
    ] {
        let mut line = fields;
        line["format"] = json!("cambio-record/1");
        let flaw = flaw(&Record::read(&line.to_string()).unwrap());
        assert!(flaw.what.starts_with(what), "{flaw}");
    }
}

#[test]
fn rules_by_which_a_total_could_overflow_are_refused() {
    let table = |rounds: u32| {
        json!({
            "base": "original", "hand": 8, "max_slots": 16, "match_end": "rounds(10000)", "round_limit": rounds,
            "deck": [{"label": "100", "rank": "100", "points": 100, "copies": 128}],
        })
    };
    let rules = |rounds| RulesSpec::from_json(&table(rounds)).unwrap().validate();
    let error = rules(10_000).unwrap_err().to_string();
    assert_eq!(
        error,
        "field `round_limit` must be at most 1592 because a round can add 1605 points to a total, found 10000"
    );
    // A match up to the limit can be played: here every round adds about 800 points to each total.
    let rules = rules(1592).unwrap();
    let result = crate::play::play(&rules, 8, Key::new(217, 0), Manner::Moderate, &mut ());
    assert_eq!(result.rounds, 1592);
    assert!(result.totals.iter().any(|total| total.units() > i32::MAX / 4), "{:?}", result.totals);
}
