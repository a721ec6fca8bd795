use super::*;

#[test]
fn pages_can_send_a_thousand_rule_systems() {
    let catalogue = Catalogue::of_browser(cambio_agents::roster());
    let record = |limit: usize| {
        let rules = format!(r#"{{"base":"classic","turn_limit":{limit}}}"#);
        catalogue.record(&format!(r#"{{"format":"cambio-record/1","rules":{rules},"seats":2,"rounds":[]}}"#))
    };
    for limit in 1..=500 {
        catalogue.rules(&format!("base = 'classic'\nturn_limit = {limit}")).unwrap();
    }
    for limit in 1..=MAX_RULES {
        record(limit).unwrap();
    }
    let refused = record(MAX_RULES + 1).unwrap_err();
    let what = "the server has already loaded 1000 rule systems; restart it to load more";
    assert_eq!((refused.status, refused.sentence.as_str()), (429, what));
    assert!(catalogue.rules("base = 'faessler'\nturn_limit = 77").is_err());
    record(7).expect("known rules can be used again");
    catalogue
        .record(r#"{"format":"cambio-record/1","rules":"classic","seats":2,"rounds":[]}"#)
        .expect("presets always");
}
