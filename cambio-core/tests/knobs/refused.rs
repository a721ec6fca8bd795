//! Rejected rule files and their error messages.

use std::collections::BTreeSet;

use cambio_core::rules::knob::Knob as _;
use cambio_core::rules::{Deck, KNOBS, MINI_GAMES, PRESETS};
use cambio_core::{Rules, RulesError, RulesSpec};
use serde_json::{Value, json};

use crate::play::later_values;

/// The error for a rule file that changes `classic` in these fields.
fn refusal(fields: &str) -> String {
    let read = RulesSpec::from_toml(&format!("base = 'classic'\n{fields}"));
    read.and_then(RulesSpec::validate).map(|_| format!("`{fields}` is allowed")).unwrap_err().to_string()
}

#[test]
fn wrong_knob_values_name_field_value_and_allowed_values() {
    let classic = RulesSpec::preset("classic").unwrap().to_table();
    for knob in KNOBS {
        for wrong in
            [json!("nonsense"), json!(99_999), json!(-99_999), json!(1.5), json!([0]), json!({"a": 1}), json!(null)]
        {
            let mut table = classic.clone();
            table[knob.name] = wrong.clone();
            let error = RulesSpec::from_json(&table).map(|_| format!("{} = {wrong}", knob.name)).unwrap_err();
            let allowed = (knob.allowed)();
            assert_eq!(error.to_string(), format!("field `{}` must be {allowed}, found {wrong}", knob.name));
        }
    }
}

#[test]
fn numbers_beyond_their_bounds_are_refused() {
    for (fields, words) in [
        ("jokers = 5", "a whole number from 0 to 4"),
        ("decks = 0", "a whole number from 1 to 2"),
        ("decks = 3", "a whole number from 1 to 2"),
        ("hand = 0", "a whole number from 1 to 8"),
        ("hand = 9", "a whole number from 1 to 8"),
        ("max_slots = 17", "a whole number from 1 to 16"),
        ("turn_limit = 0", "a whole number from 1 to 10000"),
        ("penalty = -1", "a whole number from 0 to 4"),
        ("penalty = 5", "a whole number from 0 to 4"),
        ("first_call = 0", "a whole number from 1 to 100"),
        ("round_limit = 10001", "a whole number from 1 to 10000"),
        ("call_success = -101", "a whole number from -100 to 100"),
        ("call_failure = 101", "a whole number from -100 to 100"),
        ("call_failure = 'set(101)'", "a whole number from -100 to 100"),
        ("call_failure = 'times(11)'", "with a number from 0 to 10"),
        ("call_failure = 'times(-1)'", "with a number from 0 to 10"),
        ("total_reset = '50'", "two totals such as `50 -> 25`"),
        ("total_reset = '50 -> 10001'", "each from -10000 to 10000"),
        ("cap = 'feasible(1001)'", "a number from -1000 to 1000"),
        ("cap = 'score'", "a number from -1000 to 1000"),
        ("match_end = 'total(0)'", "a number from 1 to 10000"),
        ("match_end = 'rounds(x)'", "a number from 1 to 10000"),
        ("race_weights = [1, 0]", "whole numbers from 1 to 1000"),
        ("race_weights = [1, 1, 1, 1, 1, 1, 1, 1, 1]", "at most eight"),
        ("peek = 'choose 0'", "`choose 2`"),
        ("peek = 'slots'", "`slots 3 4`"),
        ("peek = 'slots 0'", "`slots 3 4`"),
    ] {
        let error = refusal(fields);
        let field = fields.split(' ').next().unwrap();
        assert!(error.starts_with(&format!("field `{field}` must be ")) && error.contains(words), "{error}");
    }
}

#[test]
fn an_error_carries_field_and_values() {
    let refused = |fields: &str| {
        let read = RulesSpec::from_toml(&format!("base = 'classic'\n{fields}"));
        read.and_then(RulesSpec::validate).map(drop).unwrap_err()
    };
    assert!(matches!(
        refused("hand = 9"),
        RulesError::Field { field: "hand", found, allowed } if found == "9" && allowed == "a whole number from 1 to 8"
    ));
    assert!(matches!(
        refused("max_slots = 3"),
        RulesError::Field { field: "max_slots", found, allowed } if found == "3" && allowed.ends_with("which is 4")
    ));
    assert!(matches!(refused("turnlimit = 3"), RulesError::UnknownField { field } if field == "turnlimit"));
    assert!(matches!(refused("peek = 'slots 5'"), RulesError::Field { field: "peek", .. }));
    assert!(matches!(refused("hand = "), RulesError::Toml(_)));
    assert!(matches!(Rules::preset("rummy"), Err(RulesError::Preset { name }) if name == "rummy"));
    let classic = Rules::preset("classic").unwrap();
    assert!(matches!(classic.covers(9), Err(RulesError::Seats { seats: 9 })));
    let kind = r#"deck = [{ label = "A", rank = "A", points = 1, copies = 200 }]"#;
    assert!(matches!(refused(kind), RulesError::KindField { number: 1, field: "copies", found, .. } if found == "200"));
}

#[test]
fn an_unknown_field_is_refused_with_the_nearest_one() {
    assert_eq!(
        refusal("race_weight = [1]"),
        "there is no field `race_weight`; did you mean `race_weights`? `cambio rules classic` prints all fields"
    );
    assert!(refusal("xyz = 1").starts_with("there is no field `xyz`; `cambio rules classic`"));
}

#[test]
fn a_missing_field_is_refused_by_name() {
    let first = KNOBS.iter().filter(|knob| knob.before.is_none()).map(|knob| knob.name);
    for name in first.chain(["deck"]) {
        let mut table = RulesSpec::preset("classic").unwrap().to_table();
        table.as_object_mut().unwrap().remove(name);
        let error = RulesSpec::from_json(&table).unwrap_err().to_string();
        assert!(error.starts_with(&format!("field `{name}` is missing; ")), "{error}");
    }
}

#[test]
fn rule_tables_from_before_a_knob_are_read_as_they_were_meant() {
    let later: Vec<&str> = KNOBS.iter().filter(|knob| knob.before.is_some()).map(|knob| knob.name).collect();
    let optional: Vec<&str> = KNOBS.iter().filter(|knob| knob.is_optional).map(|knob| knob.name).collect();
    let played: BTreeSet<&str> = later_values().into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        optional.iter().copied().collect::<BTreeSet<_>>(),
        played,
        "random rules have values of every optional knob"
    );
    let written: Vec<&str> = later.into_iter().filter(|name| !optional.contains(name)).collect();
    assert_eq!(written, ["others_after_call", "empty_hand_fines", "total_reset"]);
    for preset in PRESETS.into_iter().chain(MINI_GAMES) {
        let spec = RulesSpec::preset(preset).unwrap();
        let mut table = spec.to_table();
        for name in &optional {
            assert_eq!(table.get(name), None, "`{name}` has the value of older rules");
        }
        for &name in &written {
            table.as_object_mut().unwrap().remove(name).expect("this knob is always written");
        }
        let read = RulesSpec::from_json(&table).unwrap();
        assert_eq!(read, spec);
        assert_eq!(read.to_table(), spec.to_table());
    }
    let used = RulesSpec::from_toml("base = 'classic'\npenalty = 2\nfirst_call = 1").unwrap();
    assert_eq!((used.to_table()["penalty"].clone(), used.to_table().get("first_call")), (json!(2), None));
    assert_eq!(RulesSpec::from_json(&used.to_table()).unwrap(), used);
    // A value is written in its usual form, even if it was read in another one.
    let mut table = RulesSpec::preset("classic").unwrap().to_table();
    table["total_reset"] = json!("50->25");
    assert_eq!(RulesSpec::from_json(&table).unwrap().to_table()["total_reset"], "50 -> 25");
}

/// Run ids, records and networks depend on these bytes, and people compare printed rules. The optional knobs follow the
/// part of a printed rule file that is pinned here.
#[test]
fn presets_are_written_with_unchanged_bytes() {
    let hash = |text: &str| {
        text.bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    };
    let line = |name: &str| {
        let spec = RulesSpec::preset(name).unwrap();
        let text = spec.to_toml();
        let older =
            text.split_once("\n# Whether the power of a replaced card applies").map_or(&*text, |(older, _)| older);
        let table = spec.to_table().to_string();
        format!("{name:10}  file {:016x}  table {:016x}\n", hash(older), hash(&table))
    };
    let lines: Vec<String> = PRESETS.into_iter().chain(MINI_GAMES).map(line).collect();
    insta::assert_snapshot!("rules", lines.concat());
}

#[test]
fn the_table_points_changes_the_points_of_labels_and_ranks() {
    let read = |fields: &str| RulesSpec::from_toml(&format!("base = 'classic'\n{fields}")).unwrap();
    let points = |fields: &str| {
        let rules = read(fields).validate().unwrap();
        ["JK", "Ah", "Kh", "Ks", "6h", "6s"].map(|label| rules.points(rules.card(label).unwrap()))
    };
    assert_eq!(points(""), [-1, 0, -2, 10, -3, 6]);
    assert_eq!(points("[points]\nJK = -3"), [-3, 0, -2, 10, -3, 6]);
    assert_eq!(points("points = { A = 1, K = 13, Kh = -1 }"), [-1, 1, -1, 13, -3, 6], "a label precedes its rank");
    assert_eq!(points("points = { Kh = -1, K = 13, A = 1 }"), [-1, 1, -1, 13, -3, 6], "in any order");
    // The other fields of the kinds and the number of jokers do not change.
    let (one, other) = (read("jokers = 3"), read("jokers = 3\n[points]\nJK = -3"));
    let deck = |spec: &RulesSpec| {
        let kinds = spec.clone().validate().unwrap().kinds().iter();
        kinds.map(|kind| (kind.label.clone(), kind.rank.clone(), kind.power, kind.copies)).collect::<Vec<_>>()
    };
    assert_eq!(deck(&one), deck(&other));
    // The rules are written with the whole deck, so that older versions can read them.
    assert_eq!(other.to_table().get("points"), None);
    assert_eq!(RulesSpec::from_json(&other.to_table()).unwrap(), other);
    assert_eq!(RulesSpec::from_toml(&other.to_toml()).unwrap(), other);
    assert_eq!(read("name = 'classic'\n[points]\nJK = -3").validate().unwrap().name(), "classic (changed)");
    assert_eq!(read("name = 'classic'\n[points]\nJK = -1").to_json(), "classic", "these are the points of the preset");
    // A list of kinds can have other points, too.
    let listed = read(&format!("jokers = 0\ndeck = [{ONE}]\n[points]\n1 = 5"));
    assert_eq!(listed.deck.kinds()[0].points, 5);
}

#[test]
fn the_table_powers_changes_the_powers_of_labels_and_ranks() {
    let read = |fields: &str| RulesSpec::from_toml(&format!("base = 'classic'\n{fields}")).unwrap();
    let powers = |spec: &RulesSpec| {
        let rules = spec.clone().validate().unwrap();
        ["JK", "7h", "Jh", "Kh", "Ks"].map(|label| rules.power(rules.card(label).unwrap()).to_string())
    };
    let king = "look any then look another then swap";
    assert_eq!(powers(&read("")), ["", "look own", "swap", king, king]);
    let changed = read("[powers]\nJ = 'swap own'\n7 = ''\nK = 'reveal'\nKh = 'look any then swap'\n");
    assert_eq!(powers(&changed), ["", "", "swap own", "look any then swap", "reveal"], "a label precedes its rank");
    // A lock or a record has the resulting deck, which older versions can read.
    assert_eq!(changed.to_table().get("powers"), None);
    assert_eq!(RulesSpec::from_json(&changed.to_table()).unwrap(), changed);
    assert_eq!(RulesSpec::from_toml(&changed.to_toml()).unwrap(), changed);
    // Points, copies and jokers stay, and both tables can be in one file.
    let both = read("jokers = 3\n[powers]\nJK = 'swap'\n[points]\nJK = -3");
    let joker = both.clone().validate().unwrap().kinds().iter().find(|kind| kind.label == "JK").unwrap().clone();
    assert_eq!((joker.points, joker.copies, joker.power.to_string()), (-3, 3, "swap".to_owned()));
    assert_eq!(
        read("name = 'classic'\n[powers]\nJ = 'swap'").to_json(),
        "classic",
        "these are the powers of the preset"
    );
}

#[test]
fn wrong_points_and_powers_are_refused() {
    for (fields, error) in [
        (
            "powers = { K = 'peek' }",
            "field `powers` must be a table of labels or ranks, each with a power such as `look own` or `look any then \
             swap`, or an empty text for no power, found K = \"peek\"",
        ),
        (
            "powers = { kh = 'swap' }",
            "field `powers` must name labels or ranks of the deck, found `kh`; did you mean `Kh`? `cambio rules` and the \
             name of a preset print its deck",
        ),
        (
            "power = { K = 'swap' }",
            "there is no field `power`; did you mean `powers`? `cambio rules classic` prints all fields",
        ),
        (
            "points = 3",
            "field `points` must be a table of labels or ranks, each with a whole number from -100 to 100, found 3",
        ),
        (
            "points = { JK = 101 }",
            "field `points` must be a table of labels or ranks, each with a whole number from -100 to 100, found JK = 101",
        ),
        (
            "points = { JK = 'low' }",
            "field `points` must be a table of labels or ranks, each with a whole number from -100 to 100, \
             found JK = \"low\"",
        ),
        (
            "points = { Jk = -3 }",
            "field `points` must name labels or ranks of the deck, found `Jk`; did you mean `JK`? `cambio rules` and the \
             name of a preset print its deck",
        ),
        (
            "points = { queen = 12 }",
            "field `points` must name labels or ranks of the deck, found `queen`; `cambio rules` and the name of a preset \
             print its deck",
        ),
    ] {
        assert_eq!(refusal(fields), error);
    }
}

#[test]
fn two_forms_of_one_value_are_the_same_rules() {
    for (one, other) in [
        ("call_failure = 5", "call_failure = 'add(5)'"),
        ("caller_snaps = 'own_and_foreign'", "caller_snaps = 'any'"),
        ("total_reset = '50 -> 25'", "total_reset = '50->25'"),
    ] {
        let table = |field: &str| RulesSpec::from_toml(&format!("base = 'classic'\n{field}")).unwrap().to_table();
        assert_eq!(table(one), table(other));
    }
}

#[test]
fn an_unknown_preset_is_refused_with_the_names_of_the_presets() {
    let names = format!("the presets are {}; the mini games are {}", PRESETS.join(", "), MINI_GAMES.join(", "));
    let due = format!("there is no preset `poker`; {names}");
    assert_eq!(Rules::preset("poker").unwrap_err().to_string(), due);
    assert_eq!(RulesSpec::from_toml("base = 'poker'").unwrap_err().to_string(), due);
    assert_eq!(RulesSpec::from_json(&json!("poker")).unwrap_err().to_string(), due);
    assert!(refusal("deck = 'poker'").starts_with("field `deck` must be a list of kinds or one of the decks "));
    let error = RulesSpec::from_toml("base = 3").unwrap_err().to_string();
    assert!(error.starts_with("field `base` must be a preset's name, found 3; the presets are "), "{error}");
}

#[test]
fn invalid_rule_tables_are_refused() {
    assert!(RulesSpec::from_toml("hand 4").unwrap_err().to_string().starts_with("not TOML: "));
    for value in [Value::Null, json!(3), json!([])] {
        let error = RulesSpec::from_json(&value).unwrap_err().to_string();
        assert_eq!(error, format!("rules must be a preset's name or a table of fields, found {value}"));
    }
    assert_eq!(refusal("name = ''"), "field `name` must be one line of 1 to 64 bytes, found \"\"");
}

#[test]
fn a_deck_that_a_program_made_is_checked_as_one_from_a_file() {
    type Change = fn(&mut Vec<cambio_core::rules::Kind>);
    let changes: [(Change, &str); 7] = [
        (
            |kinds| kinds[3].points = i16::MAX,
            "`points` of kind 4 of the deck must be a whole number from -100 to 100, found 32767",
        ),
        (
            |kinds| kinds[3].points = i16::MIN,
            "`points` of kind 4 of the deck must be a whole number from -100 to 100, found -32768",
        ),
        (
            |kinds| kinds[0].copies = 255,
            "`copies` of kind 1 of the deck must be a whole number from 0 to 128, found 255",
        ),
        (
            |kinds| kinds[1].label = "two words".to_owned(),
            "`label` of kind 2 of the deck must be 1 to 12 ASCII characters without a space, found \"two words\"",
        ),
        (
            |kinds| kinds[1].label = String::new(),
            "`label` of kind 2 of the deck must be 1 to 12 ASCII characters without a space, found \"\"",
        ),
        (|kinds| kinds[2].rank = String::new(), "`rank` of kind 3 of the deck must be a non-empty text, found \"\""),
        (
            |kinds| kinds.extend(vec![kinds[0].clone(); 1000]),
            "the deck must have at most 256 kinds, including those without copies, found 10",
        ),
    ];
    for (change, words) in changes {
        let mut spec = RulesSpec::preset("classic").unwrap();
        let mut kinds = spec.deck.kinds().to_vec();
        change(&mut kinds);
        spec.deck = Deck::of(kinds);
        let error = spec.validate().unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn the_largest_points_of_a_deck_are_played() {
    let mut spec = RulesSpec::preset("classic").unwrap();
    let mut kinds = spec.deck.kinds().to_vec();
    for (place, kind) in kinds.iter_mut().enumerate() {
        kind.points = if place % 2 == 0 { 100 } else { -100 };
    }
    spec.deck = Deck::of(kinds);
    let rules = spec.validate().unwrap();
    assert_eq!(rules.deck_squares(), 10_000 * rules.deck().len() as i32);
}

#[test]
fn many_kinds_are_refused_before_they_are_looked_at() {
    let row = json!({ "label": "1", "rank": "1", "points": 1, "copies": 0 });
    let mut table = RulesSpec::preset("classic").unwrap().to_table();
    table["deck"] = Value::from(vec![row; 200_000]);
    let error = RulesSpec::from_json(&table).unwrap_err().to_string();
    assert_eq!(error, "the deck must have at most 256 kinds, including those without copies, found 200000");
}

#[test]
fn refusals_quote_no_control_character_or_long_text() {
    let long = "x".repeat(1_000_000);
    for foreign in ["\u{1b}[31mred\u{1b}[0m\u{9b}2J\u{202e}", &long] {
        let quoted = Value::from(foreign).to_string().replace('\u{9b}', "\\u009b").replace('\u{202e}', "\\u202e");
        for fields in [
            format!("late = {quoted}"),
            format!("{quoted} = 1"),
            format!("name = {quoted}"),
            format!("deck = {quoted}"),
            format!("deck = [{quoted}]"),
            format!("deck = [{{ {quoted} = 1 }}]"),
            format!("deck = [{{ label = {quoted} }}]"),
            format!("deck = [{{ label = '1', rank = '1', points = 1, copies = 1, power = {quoted} }}]"),
            format!("{quoted} = 1\n{quoted} = 1"),
            format!("late = {long}"),
        ] {
            let error = refusal(&fields);
            let line = &fields[..fields.len().min(40)];
            assert!(error.len() < 600, "{line}: {} bytes", error.len());
            assert!(!error.contains(char::is_control) && !error.contains('\u{202e}'), "{line}: {error:?}");
        }
        let errors = [
            RulesSpec::preset(foreign).unwrap_err().to_string(),
            RulesSpec::from_json(&json!([foreign])).unwrap_err().to_string(),
            RulesSpec::from_json(&json!({ "base": [foreign] })).unwrap_err().to_string(),
            foreign.parse::<cambio_core::rules::Power>().unwrap_err().to_string(),
            foreign.parse::<cambio_core::Action>().unwrap_err().to_string(),
            foreign.parse::<cambio_core::Spot>().unwrap_err().to_string(),
        ];
        for error in errors {
            assert!(error.len() < 600 && !error.contains(char::is_control), "{error:?}");
        }
    }
}

const ONE: &str = "{ label = '1', rank = '1', points = 1, copies = 60 }";

#[test]
fn bad_rows_of_a_deck_are_refused_by_number() {
    for (row, words) in [
        ("3", "kind 2 of the deck: invalid type: integer `3`, expected struct Kind"),
        (
            "{ label = '2', rank = '2', points = 2, copies = 1, color = 'red' }",
            "kind 2 of the deck: unknown field `color`, expected one of `label`, ",
        ),
        ("{ rank = '2', points = 2, copies = 1 }", "kind 2 of the deck: missing field `label`"),
        ("{ label = 'a b', rank = '2', points = 2, copies = 1 }", "`label` of kind 2 of the deck must be 1 to 12"),
        ("{ label = '2', points = 2, copies = 1 }", "kind 2 of the deck: missing field `rank`"),
        (
            "{ label = '2', rank = '2', points = 200, copies = 1 }",
            "`points` of kind 2 of the deck must be a whole number from -100 to 100, found 200",
        ),
        (
            "{ label = '2', rank = '2', points = 2, copies = -1 }",
            "kind 2 of the deck: invalid value: integer `-1`, expected u8",
        ),
        (
            "{ label = '2', rank = '2', points = 2, copies = 1, suit = 3 }",
            "kind 2 of the deck: invalid type: integer `3`, expected a string",
        ),
        (
            "{ label = '2', rank = '2', points = 2, copies = 1, power = 'peep' }",
            "kind 2 of the deck: `peep` is not a power",
        ),
    ] {
        let error = refusal(&format!("jokers = 0\ndeck = [{ONE}, {row}]"));
        assert!(error.starts_with(words), "{error}");
    }
    assert_eq!(refusal("deck = 7"), "field `deck` must be a deck's name or a list of kinds, found 7");
}

#[test]
fn a_deck_of_more_than_128_cards_is_refused() {
    let deck = |copies: u8| {
        format!(
            "jokers = 0\ndeck = [{{ label = '1', rank = '1', points = 1, copies = 100 }}, {{ label = '2', rank = '2', points = 2, copies = {copies} }}]"
        )
    };
    assert_eq!(refusal(&deck(29)), "the deck must have at most 128 cards, found 129");
    let full = RulesSpec::from_toml(&format!("base = 'classic'\ndecks = 2\n{}", deck(28))).unwrap().validate().unwrap();
    assert_eq!(full.deck().len(), 256, "128 cards, and two decks of them");
}

#[test]
fn a_deck_that_does_not_cover_the_deal_is_refused() {
    let deck = |copies: u8, more: &str| {
        let toml = format!(
            "base = 'classic'\njokers = 0\n{more}\ndeck = [{{ label = '1', rank = '1', points = 1, copies = {copies} }}]"
        );
        RulesSpec::from_toml(&toml).unwrap().validate().map_err(|error| error.to_string())
    };
    // Two hands of four and a first draw are nine cards; a flip and fifth cards need more.
    assert_eq!(
        deck(8, "").unwrap_err(),
        "the deck of `custom` has 8 cards, but 2 seats need 9 for the deal and a first draw"
    );
    assert!(deck(9, "").is_ok());
    assert!(deck(9, "flip = 'silent'").unwrap_err().contains("2 seats need 10"));
    assert!(deck(10, "carry_over = true").unwrap_err().contains("2 seats need 11"));
    // `validate` checks the deck for two seats, `covers` for more.
    assert!(deck(9, "").unwrap().covers(3).unwrap_err().to_string().contains("3 seats need 13"));
    assert!(Rules::preset("classic").unwrap().covers(1).unwrap_err().to_string().contains("must have 2 to 8 seats"));
    assert!(Rules::preset("classic").unwrap().covers(9).is_err());
}

#[test]
fn presets_are_read_as_they_are_written() {
    for preset in PRESETS.into_iter().chain(MINI_GAMES) {
        let rules = Rules::preset(preset).unwrap();
        let spec = rules.spec();
        assert_eq!((rules.name(), spec.to_json()), (preset, json!(preset)), "a record names a preset");
        assert_eq!(&RulesSpec::from_json(&spec.to_table()).unwrap(), spec);
        let read = RulesSpec::from_toml(&spec.to_toml()).unwrap();
        assert_eq!((read.knobs(), read.deck.kinds()), (spec.knobs(), spec.deck.kinds()));
        let mut changed = spec.clone();
        changed.turn_limit = cambio_core::rules::knob::WholeNumber::read(&json!(17)).unwrap();
        assert_eq!(changed.to_json()["turn_limit"], 17, "other rules are written in full");
        let again = RulesSpec::from_toml(&changed.to_toml()).unwrap();
        assert_eq!((again.knobs(), again.deck.kinds()), (changed.knobs(), changed.deck.kinds()));
    }
    for preset in PRESETS {
        assert!(!MINI_GAMES.contains(&preset), "`check_agent` plays only the presets");
        assert!((2..=8).all(|seats| Rules::preset(preset).unwrap().covers(seats).is_ok()), "{preset}");
    }
    for jokers in [0, 2, 4] {
        let rules = RulesSpec::from_toml(&format!("base = 'classic'\njokers = {jokers}")).unwrap().validate().unwrap();
        let again = RulesSpec::from_toml(&rules.spec().to_toml()).unwrap().validate().unwrap();
        assert_eq!(again.deck(), rules.deck(), "{jokers}");
    }
}

#[test]
fn the_text_of_changed_rules_names_their_preset() {
    for preset in PRESETS {
        let label = &Rules::preset(preset).unwrap().kinds()[5].label;
        for cards in [String::new(), format!("[points]\n{label} = 33\n[powers]\n{label} = 'swap'")] {
            let file = format!("base = '{preset}'\nname = 'mine a=b'\nturn_limit = 17\n{cards}");
            let rules = RulesSpec::from_toml(&file).unwrap().validate().unwrap();
            let start = format!(r#"{{"base":"{preset}","name":"mine a=b","turn_limit":17"#);
            assert!(rules.text().starts_with(&start), "{}", rules.text());
            let read = RulesSpec::from_json(&serde_json::from_str(rules.text()).unwrap()).unwrap();
            assert_eq!(&read, rules.spec(), "{file}");
        }
        assert_eq!(Rules::preset(preset).unwrap().text(), preset);
    }
}

#[test]
fn knobs_that_do_not_fit_each_other_are_refused() {
    let two = format!("jokers = 0\ndeck = [{ONE}, {ONE}]");
    let no_joker = format!("jokers = 2\ndeck = [{ONE}]");
    for (fields, error) in [
        ("hand = 3\npeek = 'slots 3 4'", "field `peek` must be within `hand`, which is 3, found \"slots 3 4\""),
        ("hand = 2\npeek = 'choose 3'", "field `peek` must be within `hand`, which is 2, found \"choose 3\""),
        ("hand = 8\npeek = 'slots 16'", "field `peek` must be within `hand`, which is 8, found \"slots 16\""),
        ("max_slots = 3", "field `max_slots` must be at least `hand`, which is 4, found 3"),
        (
            "carry_over = true\nmax_slots = 4",
            "field `carry_over` must be false unless `max_slots` is more than `hand`, which is 4",
        ),
        (
            "jokers = 0\ndecks = 2\ndeck = [{ label = 'A', rank = 'A', points = 1, copies = 128 }]",
            "kind `A` must have at most 255 copies in all decks together, found 128 in each of 2 decks",
        ),
        (&two, "two kinds of the deck have the label `1`; labels must be unique"),
        (&no_joker, "field `jokers` must be 0 because the deck has no kind `JK`, found 2"),
    ] {
        assert!(refusal(fields).contains(error), "{}", refusal(fields));
    }
}

#[test]
fn changed_rules_lose_the_name_of_their_preset() {
    use cambio_core::RulesSpec;
    let name = |text: &str| RulesSpec::from_toml(text).unwrap().validate().unwrap().name().to_owned();
    assert_eq!(name("base = 'classic'"), "custom");
    assert_eq!(name("base = 'classic'\nname = 'classic'"), "classic");
    assert_eq!(name("base = 'classic'\nname = 'classic'\nhand = 6"), "classic (changed)");
    assert_eq!(name("base = 'classic'\nname = 'mine'\nhand = 6"), "mine");
}

#[test]
fn joker_counts_beside_a_custom_deck_are_refused() {
    use cambio_core::RulesSpec;
    let printed = RulesSpec::preset("classic").unwrap().to_toml();
    let altered = printed.replace(
        "label = \"JK\", rank = \"JK\", points = -1, copies = 2",
        "label = \"JK\", rank = \"JK\", points = -1, copies = 4",
    );
    assert_ne!(printed, altered);
    let error = RulesSpec::from_toml(&altered).unwrap().validate().unwrap_err();
    assert_eq!(error.to_string(), "field `jokers` must be 4, the copies of kind `JK` in the deck, found 2");
}
