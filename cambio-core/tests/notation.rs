//! Property tests of notation, indices and rule values for arbitrary input.

use cambio_core::encode::ActionSpace;
use cambio_core::rules::PRESETS;
use cambio_core::{Action, Rules, RulesSpec, Score, Seat, Spot};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn spots() -> impl Strategy<Value = Spot> {
    (0..8usize, 1..=16usize).prop_map(|(seat, slot)| Spot::new(Seat::new(seat).unwrap(), slot).unwrap())
}

fn actions() -> impl Strategy<Value = Action> {
    let plain = prop::sample::select(vec![
        Action::Draw,
        Action::Take,
        Action::Call,
        Action::End,
        Action::Drop,
        Action::Skip,
        Action::Pass,
    ]);
    let verbs: Vec<fn(Spot) -> Action> = vec![
        Action::Peek,
        Action::Keep,
        Action::Look,
        Action::Show,
        Action::Snap,
        Action::Touch,
        Action::Give,
        Action::Cheat,
    ];
    prop_oneof![
        plain,
        (prop::sample::select(verbs), spots()).prop_map(|(verb, spot)| verb(spot)),
        (spots(), spots()).prop_map(|(one, other)| Action::Swap(one, other)),
    ]
}

/// The cases are the same in each run; `CAMBIO_FULL=1` runs many more.
fn config() -> ProptestConfig {
    let cases = crate::play::amount(256, 20_000);
    ProptestConfig { cases, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn decisions_round_trip(action in actions()) {
        let text = action.to_string();
        prop_assert_eq!(text.parse::<Action>().unwrap(), action.canonical());
    }

    #[test]
    fn parsed_decisions_print_as_their_notation(text in "[a-z]{3,5}( [a-i][0-9]{1,2}){0,2}") {
        if let Ok(action) = text.parse::<Action>() {
            let mut words: Vec<&str> = text.split(' ').collect();
            let written = action.to_string();
            if words.len() == 3 && written != text {
                words.swap(1, 2);
            }
            prop_assert_eq!(written, words.join(" "));
        }
    }

    #[test]
    fn no_text_makes_the_reader_of_decisions_panic(text in ".{0,24}") {
        let spot = text.parse::<Spot>();
        let action = text.parse::<Action>();
        prop_assert!(spot.is_err() || action.is_err(), "{text} is both a spot and a decision");
    }

    #[test]
    fn an_index_and_its_decision_belong_to_each_other(
        preset in prop::sample::select(PRESETS.to_vec()),
        seats in 2..=8usize,
        actor in 0..8usize,
        action in actions(),
        index in 0..10_000usize,
    ) {
        let space = ActionSpace::new(&Rules::preset(preset).unwrap(), seats);
        let actor = Seat::new(actor % seats).unwrap();
        if let Some(at) = space.to_index(action, actor) {
            prop_assert!(at < space.action_count());
            prop_assert_eq!(space.from_index(at, actor), Some(action.canonical()));
        }
        match space.from_index(index, actor) {
            Some(action) => prop_assert_eq!(space.to_index(action, actor), Some(index)),
            None => prop_assert!(index >= space.action_count()),
        }
    }

    #[test]
    fn scores_round_trip(points in -10_000..10_000i32, winners in 1..=8usize) {
        let score = Score::points(points) + Score::share(winners);
        let value: serde_json::Value = serde_json::from_str(&score.to_string()).unwrap();
        prop_assert!(score.is(&value), "{} is not {}", score, value);
        prop_assert!(!(score + Score::share(8)).is(&value));
    }

    #[test]
    fn no_rule_file_makes_the_reader_panic(
        field in prop::sample::select(cambio_core::rules::KNOBS.iter().map(|knob| knob.name).collect::<Vec<_>>()),
        value in prop_oneof!["-?[0-9]{1,20}", "'[a-z_]{0,9}(\\(-?[0-9]{1,9}\\))?'", "true|false|\\[\\]|\\[1, 'x'\\]|nan"],
    ) {
        match RulesSpec::from_toml(&format!("base = 'classic'\n{field} = {value}\n")).and_then(RulesSpec::validate) {
            Ok(rules) => {
                let again = RulesSpec::from_toml(&rules.spec().to_toml()).unwrap();
                prop_assert_eq!(again.knobs(), rules.spec().knobs());
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}
