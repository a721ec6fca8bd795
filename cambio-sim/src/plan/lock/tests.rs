use std::path::Path;

use super::*;
use crate::plan::{Experiment, HypothesisSpec};

#[test]
fn a_lock_of_another_version_is_read_and_keeps_its_run_id() {
    let experiment = Experiment { deals: 5, ..Experiment::at("classic", 2, &["random", "greedy"]) };
    let plan = experiment.plan(&cambio_agents::roster(), Path::new(".")).unwrap();
    let (own, other) = (format!("\"{}\"", plan.version), "\"0.0.9\"");
    let text = plan.lock().replacen(&own, other, 1);
    let read = Plan::unlock(&text).unwrap();
    assert_eq!((read.version.as_str(), read.lock()), ("0.0.9", text));
    assert_ne!(read.run_id(), plan.run_id());
    assert!(read.is_same_run(&plan));
    let more = Plan { deals: 6, ..read };
    assert!(!more.is_same_run(&plan));
}

#[test]
fn a_lock_has_the_specs_of_named_agents() {
    let roster = cambio_agents::roster();
    let plan = |agents: [&str; 2]| {
        let experiment = Experiment { deals: 5, ..Experiment::at("classic", 2, &agents) };
        experiment.plan(&roster, Path::new(".")).unwrap()
    };
    let named = plan(["random", "mine=greedy( call_at=7 )"]);
    let text = named.lock();
    assert!(text.contains(r#""agents":["random","mine"],"specs":["random","mine = greedy(call_at=7)"],"#), "{text}");
    let read = Plan::unlock(&text).unwrap();
    assert_eq!((read.lock(), read.run_id()), (text.clone(), named.run_id()));
    assert_eq!(read.with_agents(&roster).unwrap().specs()[1].to_string(), "mine = greedy(call_at=7)");
    assert!(Plan::unlock(&text.replace(r#""specs":["random","#, r#""specs":["#)).is_err());
    assert!(!plan(["random", "greedy(call_at=7)"]).lock().contains("specs"));
}

type Change = fn(&mut HypothesisSpec);

#[test]
fn a_lock_has_the_hypothesis_of_the_experiment() {
    let asked = HypothesisSpec {
        pair: ["greedy".into(), "random".into()],
        table: None,
        margin: 0.1,
        alpha: 0.05,
        deals: Some(3),
    };
    let plain = Experiment { deals: 5, ..Experiment::at("classic", 2, &["random", "greedy"]) };
    let planned = |experiment: &Experiment| {
        experiment.plan(&cambio_agents::roster(), Path::new(".")).map_err(|error| error.to_string())
    };
    let with = |change: Change| {
        let mut hypothesis = asked.clone();
        change(&mut hypothesis);
        planned(&Experiment { hypothesis: Some(hypothesis), ..plain.clone() })
    };
    assert!(!planned(&plain).unwrap().lock().contains("hypothesis"));
    let locked = with(|_| ()).unwrap();
    let text = locked.lock();
    let field = r#""hypothesis":{"pair":[1,0],"table":0,"margin":0.1,"alpha":0.05,"deals":3}"#;
    assert!(text.contains(field), "{text}");
    let read = Plan::unlock(&text).unwrap();
    assert_eq!((read.hypothesis, read.run_id()), (locked.hypothesis, locked.run_id()));
    assert!(Plan::unlock(&text.replace("\"pair\":[1,0]", "\"pair\":[1,2]")).is_err());
    let toml = locked.toml();
    assert_eq!(toml::from_str::<Experiment>(toml).unwrap().hypothesis, Some(asked.clone()), "{toml}");
    let changes: [(Change, &str); 6] = [
        (|asked| asked.pair[1] = "greedy".into(), "`hypothesis.pair` must be two agents that play at classic, 2 seats"),
        (|asked| asked.pair[1] = "sharp".into(), "`hypothesis.pair` must be limited to agents in `agents`"),
        (|asked| asked.table = Some("x".into()), "`hypothesis.table` must be one of classic, 2 seats, found `x`"),
        (|asked| asked.margin = -1.0, "`hypothesis.margin` must be a number, 0 or more, found -1"),
        (|asked| asked.alpha = 0.5, "`hypothesis.alpha` must be a number above 0 and below 0.5, found 0.5"),
        (|asked| asked.deals = Some(6), "`hypothesis.deals` must be a whole number from 1 to the number of deals"),
    ];
    for (change, sentence) in changes {
        let error = with(change).map(|plan| plan.lock()).unwrap_err();
        assert!(error.contains(sentence), "{error}");
    }
}
