use super::*;

#[test]
fn specs_round_trip() {
    let roster = roster();
    for spec in [
        "random",
        "random(pass=0.9)",
        "greedy",
        "greedy(call_at=-3)",
        "learned",
        "learned(level=3)",
        r#"external("python3 bot.py")"#,
        r#"external("bot --name \"a, b)\" 'c\\d' x=1",deadline_ms=50,start_ms=7)"#,
    ] {
        assert_eq!(roster.parse(spec).unwrap().to_string(), spec);
    }
}

#[test]
fn errors_in_a_spec_name_the_allowed_values() {
    let roster = roster();
    for (spec, sentence) in [
        ("gready", "there is no agent `gready`; did you mean `greedy`? the agents are random, greedy, heuristic, "),
        ("random(pass=1.5)", "agent `random`: parameter `pass` must be a number from 0 to 1, found `1.5`"),
        ("random(pass=NaN)", "agent `random`: parameter `pass` must be a number from 0 to 1, found `NaN`"),
        ("greedy(call_at=2.5)", "must be a whole number from -20 to 100, found `2.5`"),
        ("greedy(call_at=1,call_at=2)", "parameter `call_at` must be given at most once, found it twice"),
        ("greedy(call_at=1", "`greedy(call_at=1` is not an agent spec"),
        ("greedy(5)", "`greedy(5)` is not an agent spec"),
        (r#"greedy("5")"#, "agent `greedy` takes no text in quotes; it has call_at, "),
        (r#"learned("no such file")"#, "agent `learned`: cannot use the network: `no such file` cannot be read"),
        ("learned(level=11)", "agent `learned`: parameter `level` must be a whole number from 1 to 10, found `11`"),
        ("external", r#"agent `external` needs its command first, in double quotes, such as external("python3 b"#),
        ("external(bot)", "agent `external` needs its command first, in double quotes"),
        (r#"external(start_ms=5,"bot")"#, "agent `external` needs its command first, in double quotes"),
        (r#"external("bot)"#, "is not an agent spec"),
        (r#"external("bot" deadline_ms=5)"#, "is not an agent spec"),
        (r#"external("bot \n")"#, "is not an agent spec"),
        ("external(\"bot\tx\")", "agent `external`: cannot use the command: it contains a control character"),
        (r#"external("  ")"#, "agent `external`: cannot use the command: it is empty"),
        (r#"external("bot 'x")"#, "agent `external`: cannot use the command: it has an unclosed quote"),
        (r#"external("bot",deadline_ms=0)"#, "parameter `deadline_ms` must be a whole number from 1 to "),
        ("", "there is no agent ``"),
    ] {
        let error = roster.parse(spec).unwrap_err().to_string();
        assert!(error.contains(sentence), "{spec}: {error}");
    }
}

#[test]
fn every_default_can_be_given_and_is_then_the_same_agent() {
    let roster = roster();
    let mut given = 0;
    for entry in roster.entries().iter().filter(|entry| entry.text.is_none()) {
        let plain = roster.parse(&entry.name).unwrap();
        for param in entry.params() {
            let Some(default) = param.default else { continue };
            let spec = format!("{}({}={default})", entry.name, param.name);
            let parsed = roster.parse(&spec).unwrap();
            assert_eq!(parsed.to_string(), spec);
            assert!(parsed.is(&plain), "{spec}");
            given += 1;
        }
    }
    assert!(given > 150, "{given}");
}

#[test]
fn a_blueprint_is_any_preset_or_a_network() {
    let roster = roster();
    let presets: Vec<&str> = Preset::ALL.iter().map(|preset| preset.word()).collect();
    let rollout = roster.entries().iter().find(|entry| entry.name == "rollout").unwrap().params();
    let blueprint = rollout.iter().find(|param| param.name == "blueprint").unwrap();
    assert_eq!(blueprint.range.to_string(), format!("one of {}, learned", presets.join(", ")));
    assert!(roster.parse("rollout(blueprint=learned,belief=policy)").is_ok());
    for preset in presets {
        assert!(roster.parse(preset).unwrap().params::<HeuristicParams>().is_some());
        assert!(roster.parse(&format!("rollout(blueprint={preset})")).is_ok());
    }
}

#[test]
fn a_budget_of_time_cannot_be_reproduced() {
    let roster = roster();
    let reproducible = |spec| roster.parse(spec).unwrap().is_reproducible();
    assert!(reproducible("rollout(n=5)") && reproducible("ismcts") && reproducible("heuristic(decay=0.1)"));
    assert!(!reproducible("rollout(time_ms=5)") && !reproducible("ismcts(time_ms=5,mode=so)"));
}

#[test]
fn names_are_unique() {
    let roster = roster();
    let mut names: Vec<&str> = roster.entries().iter().map(|entry| entry.name.as_str()).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
}
