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
