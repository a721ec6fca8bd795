use cambio_agents::roster;
use serde_json::Value;

use super::*;
use crate::recipe::Method;

#[test]
fn a_checkpoint_of_another_format_is_refused() {
    let (rules, recipe) = (Rules::preset("mini-m1").unwrap(), Recipe { rules: "mini-m1".into(), ..Recipe::default() });
    let mut bytes = Learner::new(recipe.clone(), &rules, &roster(), None).unwrap().save().unwrap();
    bytes[FORMAT.len() - 2] = b'2';
    let error = Learner::resume(recipe, &rules, &roster(), &bytes).unwrap_err().to_string();
    assert!(error.contains("its first line is not the format `cambio checkpoint 1` of this version"), "{error}");
}

/// The hash of these checkpoints is right, but they have four weights too few or too many.
#[test]
fn a_checkpoint_of_a_network_of_another_size_is_refused() {
    let rules = Rules::preset("mini-m1").unwrap();
    for method in [Method::Value, Method::Policy] {
        let recipe = Recipe { rules: "mini-m1".into(), method, ..Recipe::default() };
        let bytes = Learner::new(recipe.clone(), &rules, &roster(), None).unwrap().save().unwrap();
        let start = FORMAT.len() + bytes[FORMAT.len()..].iter().position(|&byte| byte == b'\n').unwrap();
        let header: Value = serde_json::from_slice(&bytes[FORMAT.len()..start]).unwrap();
        let numbers = &bytes[start + 1..bytes.len() - blake3::OUT_LEN];
        for numbers in [&numbers[16..], &[numbers, &[0; 16]].concat()] {
            let mut header = header.clone();
            header["numbers"] = (numbers.len() / 4).into();
            let mut other = [FORMAT.as_bytes(), header.to_string().as_bytes(), b"\n", numbers].concat();
            other.extend_from_slice(blake3::hash(&other).as_bytes());
            let error = Learner::resume(recipe.clone(), &rules, &roster(), &other).unwrap_err().to_string();
            assert!(error.contains("its number of weights does not fit its inputs"), "{error}");
        }
    }
}

/// Every change is included in the hash: another byte, or a piece that is left out.
#[test]
fn changed_checkpoints_with_a_right_hash_do_not_panic() {
    let rules = Rules::preset("mini-m1").unwrap();
    let recipe = Recipe { rules: "mini-m1".into(), ..Recipe::default() };
    let bytes = Learner::new(recipe.clone(), &rules, &roster(), None).unwrap().save().unwrap();
    let body = &bytes[..bytes.len() - blake3::OUT_LEN];
    let header = FORMAT.len() + body[FORMAT.len()..].iter().position(|&byte| byte == b'\n').unwrap();
    let mut state = 5_u64;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    let (mut resumed, mut refused) = (0, 0);
    for change in 0..200 {
        let end = if change % 4 == 3 { body.len() } else { header };
        let place = FORMAT.len() + below(end - FORMAT.len());
        let mut changed = body.to_vec();
        if change % 3 == 0 {
            drop(changed.drain(place..(place + 1 + below(4)).min(body.len())));
        } else {
            // A digit often leaves the header readable.
            changed[place] = if place < header { b'0' + below(10) as u8 } else { below(256) as u8 };
        }
        changed.extend_from_slice(blake3::hash(&changed).as_bytes());
        match Learner::resume(recipe.clone(), &rules, &roster(), &changed) {
            Ok(learner) => {
                assert!(learner.save().is_some());
                resumed += 1;
            }
            Err(_) => refused += 1,
        }
    }
    assert!(resumed > 10 && refused > 10, "{resumed} resumed, {refused} refused");
}
