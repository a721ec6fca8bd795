use super::*;

#[test]
fn a_temperature_changes_by_the_same_factor_from_match_to_match() {
    let play = Play { temperature: 0.4, final_temperature: Some(0.025), ..Play::default() };
    for (share, temperature) in [(0.0, 0.4), (0.25, 0.2), (0.5, 0.1), (1.0, 0.025)] {
        assert!((play.temperature_after(share) - temperature).abs() < 1e-6, "{share}");
    }
    let steady = Play { temperature: 0.4, ..Play::default() };
    assert!((steady.temperature_after(0.5) - 0.4).abs() < 1e-9);
    // Without a final temperature, the field is not written, so recipes in older network files still match.
    assert!(!Recipe::default().to_toml().contains("final_temperature"));
    let from_nothing = Recipe { play: Play { temperature: 0.0, ..play }, ..Recipe::default() };
    let error = from_nothing.check().unwrap_err().to_string();
    assert_eq!(error, "`play.temperature` must be a number from 0.001 to 10, found 0");
}
