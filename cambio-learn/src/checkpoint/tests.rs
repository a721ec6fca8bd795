use cambio_agents::roster;

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
