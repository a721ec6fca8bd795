use super::*;

#[test]
fn no_character_that_a_terminal_obeys_is_shown() {
    for char in (0..=0x2_ffff).filter_map(char::from_u32).filter(|char| char.is_control()) {
        let text = excerpt(&format!("a{char}b")).to_string();
        assert!(text.is_ascii() && !text.contains(char::is_control), "{text:?}");
    }
    assert_eq!(excerpt("\u{202e}gpj.exe").to_string(), r"\u{202e}gpj.exe");
    assert_eq!(excerpt("Größe 5 – «ja»").to_string(), "Größe 5 – «ja»");
}

#[test]
fn a_text_of_just_the_allowed_length_is_not_cut() {
    for (length, end) in [(99, ""), (100, ""), (101, "…")] {
        let text = "ä".repeat(length);
        assert_eq!(excerpt(&text).to_string(), "ä".repeat(length.min(100)) + end);
    }
}

#[test]
fn times_have_two_digits_or_more() {
    let times = [0.0, 4.2e-8, 9.96e-7, 9.94e-6, 1.234e-5, 9.996e-4, 0.0042, 0.12, 1.5, 75.0].map(duration);
    let shown = ["0.00 µs", "0.04 µs", "1.0 µs", "9.9 µs", "12 µs", "1.0 ms", "4.2 ms", "120 ms", "1.5 s", "75 s"];
    assert_eq!(times, shown);
}
