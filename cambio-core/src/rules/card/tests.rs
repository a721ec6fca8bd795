use super::*;

#[test]
fn powers_round_trip() {
    for text in [
        "",
        "look own",
        "look other or swap",
        "look any then look another then swap",
        "look any or swap then look any or swap",
        "reveal",
        "look own or swap own then look another or swap looked",
    ] {
        let power: Power = text.parse().unwrap();
        assert_eq!(power.to_string(), text);
    }
    // `look own or look other` is the same as `look any`.
    let power: Power = "look own or look other".parse().unwrap();
    assert_eq!(power.to_string(), "look any");
}

#[test]
fn a_power_that_is_none_is_refused() {
    for text in
        ["look", "swap then", "reveal or swap", "swap or swap own", "swap then swap then swap then swap then swap"]
    {
        let error = text.parse::<Power>().unwrap_err().to_string();
        assert!(error.starts_with(&format!("`{text}` is not a power")), "{error}");
    }
}
