//! Knobs that contradict each other, and knobs without effect.

use std::collections::BTreeMap;

use cambio_core::rng::Bounded as _;
use cambio_core::rules::{Deck, KNOBS};
use cambio_core::{Recorder, Rules, RulesSpec, Seat};
use serde_json::{Value, json};

use crate::play::{Game, amount, later_values, odd_games, older_values};

#[test]
fn rules_that_turn_the_game_round_are_refused() {
    for (file, sentence) in [
        (
            "base = 'classic'\ncall_failure = 10\nscore = 'points'",
            "field `best` must be \"fewest\" with `score = \"points\"`, found \"most\"",
        ),
        (
            "base = 'original'\nbest = 'most'",
            "field `best` must be \"fewest\" with `score = \"points\"`, found \"most\"",
        ),
        (
            "base = 'original'\nscore = 'share'",
            "field `best` must be \"most\" with `score = \"share\"`, found \"fewest\"",
        ),
        (
            "base = 'mini-m1'\nbest = 'fewest'",
            "field `best` must be \"most\" with `score = \"win_loss\"`, found \"fewest\"",
        ),
        (
            "base = 'original'\ncall_success = 5\ncall_failure = -5",
            "field `call_success` must be better than `call_failure = -5`, because the fewest points win, found 5",
        ),
        (
            "base = 'faessler'\ncall_success = 'times(2)'",
            "field `call_success` must be better than `call_failure = 0`, because the fewest points win, found \"times(2)\"",
        ),
    ] {
        assert_eq!(RulesSpec::from_toml(file).unwrap_err().to_string(), sentence, "{file}");
    }
    // A whole rule file is checked too, but the rules of a record can be read.
    let printed = RulesSpec::preset("classic").unwrap().to_toml().replace("score = \"share\"", "score = \"points\"");
    assert!(RulesSpec::from_toml(&printed).unwrap_err().to_string().starts_with("field `best` must be"));
    let mut table = RulesSpec::preset("classic").unwrap().to_table();
    table["score"] = json!("points");
    assert!(RulesSpec::from_json(&table).and_then(RulesSpec::validate).is_ok());
}

fn notes(base: &str, fields: &str) -> Vec<String> {
    let rules = RulesSpec::from_toml(&format!("base = '{base}'\n{fields}")).unwrap().validate().unwrap();
    rules.notes(&RulesSpec::preset(base).unwrap())
}

#[test]
fn notes_name_probable_mistakes() {
    for (base, fields, note) in [
        (
            "classic",
            "call_failure = 10",
            "`call_failure` has no effect, because rounds do not score points; add `score = \"points\"` and `best = \"fewest\"`",
        ),
        ("classic", "total_reset = '50 -> 25'", "`total_reset` has no effect, because no total can become another"),
        (
            "classic",
            "empty_hand_fines = 'none'",
            "`empty_hand_fines` has no effect, because `empty_hand` is not \"ends_round\"",
        ),
        (
            "original",
            "score = 'share'\nbest = 'most'",
            "with `score = \"share\"`, a match ends at 50 wins, not at 50 points",
        ),
        (
            "original",
            "call_success = 5\ncall_failure = 10",
            "`call_success = 5` rewards the wrong seats, because the fewest points win",
        ),
        ("original", "lowest_bonus = 3", "`lowest_bonus = 3` rewards the wrong seats, because the fewest points win"),
        (
            "original",
            "window = 'none'\ndiscarder_snaps = false",
            "`discarder_snaps` has no effect, because there are no snap windows",
        ),
    ] {
        assert_eq!(notes(base, fields), [note], "{fields}");
    }
    // Inherited values and values with an effect have no note.
    assert_eq!(notes("original", "window = 'none'"), [""; 0]);
    assert_eq!(notes("original", "total_reset = '50 -> 25'\nempty_hand_fines = 'none'"), [""; 0]);
}

/// Values that the other tests of random rules do not use.
fn more_values() -> Vec<(&'static str, Value)> {
    vec![
        ("direction", json!(["clockwise", "counter_clockwise"])),
        ("penalty", json!([0, 1, 2])),
        ("max_slots", json!([6, 7])),
        ("window", json!(["none", "after", "both"])),
        ("first_call", json!([1, 99, 100])),
        ("turn_limit", json!([3, 20])),
        ("round_limit", json!([1, 2, 3, 50])),
        ("match_end", json!(["rounds(1)", "rounds(2)", "rounds(40)", "total(30)", "total(9000)"])),
        ("score", json!(["points", "share", "win_loss"])),
        ("total_reset", json!(["none", "1 -> 0", "7 -> 3", "-9000 -> 5"])),
    ]
}

/// Random rules, many of which have knobs without effect.
fn idle_rules(game: &Game) -> Option<Rules> {
    let mut stream = game.key.agent(Seat::F);
    let mut table = game.rules.spec().to_table();
    for (knob, values) in more_values() {
        if stream.chance(1, 2) {
            table[knob] = values[stream.below(values.as_array().unwrap().len() as u32) as usize].clone();
        }
    }
    if stream.chance(1, 3) {
        table["hand"] = json!(6);
    }
    let mut spec = RulesSpec::from_json(&table).unwrap();
    let mut kinds = spec.deck.kinds().to_vec();
    let powers: [Option<&str>; 5] = [None, None, Some(""), Some("look own"), Some("swap own")];
    if let Some(power) = powers[stream.below(5) as usize] {
        for kind in &mut kinds {
            kind.power = power.parse().unwrap();
        }
    }
    spec.deck = Deck::of(kinds);
    spec.validate().ok().filter(|rules| rules.covers(game.seats).is_ok())
}

/// The decisions and results of a match.
fn course(game: &Game, rules: Rules) -> String {
    let mut recorder = Recorder::new(&rules);
    let result = Game { rules, ..*game }.play(&mut recorder);
    let record = recorder.finish(game.key, 0, &vec!["random"; game.seats], &result);
    let rounds: Vec<_> = record.rounds.iter().map(|round| (&round.decisions, round.fields.get("points"))).collect();
    format!("{rounds:?} {result:?}")
}

#[test]
fn knobs_without_effect_do_not_change_a_match() {
    let values: BTreeMap<&str, Vec<Value>> = older_values()
        .into_iter()
        .chain(later_values())
        .chain(more_values())
        .fold(BTreeMap::new(), |mut all, (knob, values)| {
            all.entry(knob).or_insert_with(Vec::new).extend(values.as_array().unwrap().iter().cloned());
            all
        });
    let mut compared: BTreeMap<&str, u32> = BTreeMap::new();
    for game in odd_games(611, amount(700, 50_000)) {
        let Some(rules) = idle_rules(&game) else { continue };
        let mut stream = game.key.agent(Seat::E);
        let idle = |rules: &Rules, knob: &str| rules.without_effect(knob).is_some();
        let knobs: Vec<&str> = KNOBS.iter().map(|knob| knob.name).filter(|knob| idle(&rules, knob)).collect();
        for _ in 0..2 {
            let Some(knob) = knobs.get(stream.below(knobs.len().max(1) as u32) as usize).copied() else { continue };
            let mut table = rules.spec().to_table();
            let values = &values[knob];
            table[knob] = values[stream.below(values.len() as u32) as usize].clone();
            let Ok(other) = RulesSpec::from_json(&table).and_then(RulesSpec::validate) else { continue };
            if other != rules && idle(&other, knob) {
                assert_eq!(course(&game, other), course(&game, rules), "`{knob}` of {}", rules.spec().to_table());
                *compared.entry(knob).or_default() += 1;
            }
        }
    }
    // The knobs of which the table gives a condition.
    let mut conditional: Vec<&str> = "direction max_slots redrop drop_plain paid_peek power_use replaced_power swap_two_own \
        swap_same_owner match snap_targets snap_known_only discarder_snaps touch gift late penalty chain freeze final_window \
        race race_weights look_at_caller lock_caller caller_snaps others_after_call call callers cap empty_hand \
        empty_hand_fines empty_call stock_empty limit_in_lap round_limit call_success call_failure lowest_bonus caller_tie \
        carry_over match_end total_reset"
        .split_whitespace()
        .collect();
    conditional.sort_unstable();
    assert_eq!(compared.keys().copied().collect::<Vec<_>>(), conditional);
    // The other knobs always have an effect.
    let always = KNOBS.iter().map(|knob| knob.name).filter(|knob| !conditional.contains(knob)).collect::<Vec<_>>();
    assert_eq!(
        always.join(" "),
        "jokers decks hand peek flip first_dealer starter take window first_call turn_limit score best"
    );
}
