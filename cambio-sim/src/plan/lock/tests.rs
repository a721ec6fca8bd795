use std::path::Path;

use super::*;
use crate::plan::Experiment;

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
