//! Networks as players: they conform at every table, and a damaged file is rejected.

use std::sync::Arc;

use cambio_agents::{
    FloatNetwork, Learned, Lookahead, LookaheadParams, Luck, Network, NetworkError, NetworkInputs, OutcomeModel, roster,
};
use cambio_core::play::MatchError;
use cambio_core::rng::Key;
use cambio_core::rules::{MINI_GAMES, PRESETS};
use cambio_core::testing::{CheckScope, check_agent};
use cambio_core::{Agent, MatchSetup, Rules, RulesSpec, Seat, play_match};

use crate::play::amount;
use crate::play::mutate::mutate;

/// A network with random weights, so that its decisions vary.
pub(crate) fn network(rules: &Rules) -> Network {
    network_with(&NetworkInputs::new(rules))
}

fn network_with(inputs: &NetworkInputs) -> Network {
    let mut floats = FloatNetwork::zero(inputs.count());
    let mut state = 7_u32;
    let mut next = |scale: f32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((state >> 8) as f32 / (1 << 23) as f32 - 1.0) * scale
    };
    floats.rows.iter_mut().for_each(|weight| *weight = next(0.3));
    floats.second.iter_mut().for_each(|weight| *weight = next(0.3));
    floats.last.iter_mut().for_each(|weight| *weight = next(0.5));
    Network::new(inputs, &floats)
}

fn file(rules: &Rules) -> String {
    let path = std::env::temp_dir().join(format!("cambio-learned-{}-{}.net", rules.name(), std::process::id()));
    std::fs::write(&path, network(rules).to_bytes(&serde_json::json!({"by": "a test"}))).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_network_conforms_at_every_table() {
    for name in PRESETS {
        let network = network(&Rules::preset(name).unwrap());
        let effort = CheckScope { presets: vec![name], seats: vec![2, 3, 5, 8], matches: 4, ..CheckScope::default() };
        let checked = check_agent(|| Learned::new(network.clone()), &effort);
        assert!(checked.is_ok(), "{name}: {}", checked.unwrap_err());
    }
}

/// Uses the bundled networks, because the rounds of a random network are long.
#[test]
fn a_lookahead_conforms() {
    let effort = CheckScope {
        presets: vec!["classic"],
        seats: amount(vec![2], vec![2, 4]),
        matches: amount(1, 3),
        ..CheckScope::default()
    };
    for turns in [None, Some(1)] {
        let params = LookaheadParams { worlds: 8, proposals: 16, turns, ..LookaheadParams::default() };
        let checked = check_agent(|| Lookahead::shipped(&params), &effort);
        assert!(checked.is_ok(), "{turns:?}: {}", checked.unwrap_err());
    }
}

#[test]
fn a_file_gives_the_same_player() {
    let rules = Rules::preset("original").unwrap();
    let path = file(&rules);
    let spec = roster().parse(&format!("learned(\"{path}\")")).unwrap();
    assert_eq!(spec.files(), std::slice::from_ref(&path));
    let result = |agents: [Box<dyn Agent>; 2]| {
        let match_setup = MatchSetup { rules, seats: 2, key: Key::new(3, 1) };
        play_match(&match_setup, &mut { agents }, &mut ()).unwrap()
    };
    let greedy = || roster().parse("greedy").unwrap().make();
    assert_eq!(result([spec.make(), greedy()]), result([Box::new(Learned::new(network(&rules))), greedy()]));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_search_that_needs_values_refuses_a_policy() {
    let rules = Rules::preset("classic").unwrap();
    let lookahead = || Lookahead::new(network(&rules).into_policy(), &LookaheadParams::default());
    let match_setup = MatchSetup { rules, seats: 2, key: Key::new(1, 0) };
    let error = play_match(&match_setup, &mut [lookahead(), lookahead()], &mut ()).unwrap_err();
    assert!(error.to_string().contains("gives probabilities and no values"), "{error}");
}

#[test]
fn network_files_keep_early_and_present_inputs() {
    let rules = Rules::preset("original").unwrap();
    let [early, present] = [NetworkInputs::early(&rules), NetworkInputs::new(&rules)].map(|inputs| {
        let (read, _) = Network::from_bytes(&network_with(&inputs).to_bytes(&serde_json::Value::Null)).unwrap();
        assert_eq!((read.inputs().count(), read.inputs().are_early()), (inputs.count(), inputs.are_early()));
        inputs.count()
    });
    assert!(early < present, "{early} {present}");
    let are_early =
        |preset, seats| Network::shipped(&Rules::preset(preset).unwrap(), seats).unwrap().inputs().are_early();
    assert!(are_early("classic", 2) && !are_early("classic", 4) && !are_early("original", 2));
}

#[test]
fn a_network_for_other_rules_cannot_play() {
    let (classic, original) = (Rules::preset("classic").unwrap(), Rules::preset("original").unwrap());
    let mut agents = [Learned::new(network(&original)), Learned::new(network(&original))];
    let match_setup = MatchSetup { rules: classic, seats: 2, key: Key::new(1, 0) };
    let error = play_match(&match_setup, &mut agents, &mut ()).unwrap_err();
    assert!(
        matches!(&error, MatchError::Failed(failure) if failure.error.to_string().contains("`original`")),
        "{error}"
    );
    assert!(matches!(network(&original).fitting(&classic), Err(NetworkError::Rules { .. })));
}

/// Rule files with other decks and knobs than the presets.
fn house_rules() -> Vec<Rules> {
    let files = [
        "name = 'two decks'\nbase = 'classic'\ndecks = 2\njokers = 4\n[points]\nJK = -1",
        "name = 'same points'\nbase = 'classic'\nmatch = 'points'\ncallers = 'several'\nhand = 6\npeek = 'choose 3'\n[points]\n5 = 6",
        "name = 'negative'\nbase = 'classic'\nfirst_call = 3\n[points]\nQ = -5\nK = 25",
    ];
    let rules = |text| RulesSpec::from_toml(text).unwrap().validate().unwrap();
    let mini = MINI_GAMES.iter().map(|name| Rules::preset(name).unwrap());
    files.into_iter().map(rules).chain(mini).collect()
}

#[test]
fn the_general_network_plays_every_rule_file() {
    for rules in house_rules() {
        for seats in (2..=8).filter(|&seats| rules.covers(seats).is_ok()).step_by(amount(3, 1)) {
            let network = Network::shipped(&rules, seats).unwrap();
            assert!(network.inputs().are_general() && network.inputs().rules() == &rules);
            let mut agents: Vec<Learned> = (0..seats).map(|_| Learned::shipped()).collect();
            let match_setup = MatchSetup { rules, seats, key: Key::new(7, seats as u64) };
            let result = play_match(&match_setup, &mut agents, &mut ());
            assert!(result.is_ok(), "{}, {seats} seats: {result:?}", rules.name());
        }
    }
}

#[test]
fn general_networks_have_the_same_inputs_under_all_rules() {
    let classic = NetworkInputs::general(&Rules::preset("classic").unwrap());
    let network = network_with(&classic);
    let (read, facts) = Network::from_bytes(&network.to_bytes(&serde_json::Value::Null)).unwrap();
    assert!(read.inputs().are_general() && &facts.rules == classic.rules());
    assert!(read.floats() == network.floats());
    for rules in house_rules() {
        let other = read.under(&rules).unwrap();
        assert_eq!((other.inputs().rules(), other.inputs().count()), (&rules, classic.count()));
        assert!(other.floats() == network.floats());
    }
}

#[test]
fn a_damaged_file_is_refused() {
    let rules = Rules::preset("mini-m1").unwrap();
    let bytes = network(&rules).to_bytes(&serde_json::Value::Null);
    let (read, facts) = Network::from_bytes(&bytes).unwrap();
    assert_eq!(read.to_bytes(&facts.made), bytes);
    assert_eq!(facts.rules, rules);
    let refused = |bytes: &[u8]| Network::from_bytes(bytes).unwrap_err();
    assert!(matches!(refused(b"\x7fELF what is this"), NetworkError::Format { .. }));
    for end in [0, 5, 17, 18, 40, bytes.len() / 2, bytes.len() - 1] {
        refused(&bytes[..end]);
    }
    let step = bytes.len() / 300;
    for place in (17..bytes.len()).step_by(step) {
        let mut damaged = bytes.clone();
        damaged[place] ^= 4;
        assert!(matches!(refused(&damaged), NetworkError::Damaged { .. }), "byte {place}");
    }
    let error = roster().parse("learned(\"no/such.net\")").unwrap_err().to_string();
    assert!(error.starts_with("agent `learned`: cannot use the network: `no/such.net` cannot be read"), "{error}");
}

#[test]
fn changed_outcome_models_with_a_right_hash_do_not_panic() {
    let rules = Rules::preset("classic").unwrap();
    let file = OutcomeModel::shipped_file(&rules, 2);
    let (body, mut stream) = (&file[..file.len() - blake3::OUT_LEN], Key::new(613, 0).agent(Seat::A));
    let (mut played, mut refused) = (0, 0);
    for change in 0..amount(200, 5_000) {
        // Half of the changes are in the metadata, which come first.
        let (changed, rest) = body.split_at(if change % 2 == 0 { 400 } else { body.len() });
        let changed = [&mutate(changed, body, &mut stream), rest].concat();
        let changed = [&changed[..], blake3::hash(&changed).as_bytes()].concat();
        let Ok((model, _)) = OutcomeModel::from_bytes(&changed) else {
            refused += 1;
            continue;
        };
        let mut luck = Luck::over(Arc::new(model), &rules, 2);
        let mut agents = ["greedy", "sharp"].map(|spec| roster().parse(spec).unwrap().make());
        let match_setup = MatchSetup { rules, seats: 2, key: Key::new(1, 0) };
        assert!(play_match(&match_setup, &mut agents, &mut luck).is_ok());
        assert_eq!(luck.shares().len(), 2);
        played += 1;
    }
    assert!(played > 20 && refused > 20, "{played} played, {refused} refused");
}
