use super::*;

const ITSELF: &str = r#"{"version":"0.1.0","agent":"greedy(call_at=?)","ranges":["3..4"],"rules":"faessler","seats":3,"field":"self","payoff":"win","seed":"7","command":"cambio tune","deals":30,"symmetric_equilibria":[],"nash":null,"values":["3","4"]}"#;
const FIELD: &str = r#"{"version":"0.1.0","agent":"greedy(call_at=?)","ranges":["3..4"],"rules":"classic","seats":2,"field":["greedy"],"payoff":"points","seed":"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff","method":"cma","command":"cambio tune","blocks":60,"best":"greedy(call_at=3)","best_value":"3","estimate":-0.1,"validation":{"deals":30,"winner":0.5,"incumbent":"greedy","incumbent_mean":0.5,"difference":0.0,"low":null,"high":null}}"#;

#[test]
fn tuning_results_round_trip() {
    let same = FIELD.replace(
        r#""deals":30,"winner":0.5,"incumbent":"greedy","incumbent_mean":0.5,"difference":0.0,"low":null,"high":null"#,
        r#""deals":0,"incumbent":"greedy""#,
    );
    let nash = ITSELF.replace(r#""nash":null"#, r#""nash":[0.25,0.75]"#);
    for text in [ITSELF, FIELD, &same, &nash] {
        let result: TuningResult = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&result).unwrap(), text);
    }
    assert!(same.contains(r#"{"deals":0,"incumbent":"greedy"}"#) && nash.contains("0.75"));
}

#[test]
fn invalid_tuning_results_are_refused_with_the_reason() {
    let of_outcome = "did not match any variant of untagged enum TuningOutcome";
    for (text, old, new, sentence) in [
        (ITSELF, r#""deals":30,"#, "", of_outcome),
        (FIELD, r#""blocks":60,"#, "", of_outcome),
        (FIELD, r#""winner":0.5,"#, "", of_outcome),
        (FIELD, r#"["greedy"]"#, "7", "invalid type: integer `7`, expected a string"),
        (FIELD, r#""cma""#, r#""luck""#, "unknown variant `luck`, expected one of `sweep`, `race`, `cma`"),
        (FIELD, r#""agent":"greedy(call_at=?)","#, "", "missing field `agent`"),
    ] {
        assert!(text.contains(old), "{old}");
        let error = serde_json::from_str::<TuningResult>(&text.replace(old, new)).unwrap_err().to_string();
        assert!(error.contains(sentence), "{error}");
    }
}
