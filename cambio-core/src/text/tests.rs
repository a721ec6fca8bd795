use std::io::Write as _;

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
fn a_writer_escapes_the_same_characters_as_json_does() {
    let text: String =
        (0..=0xe_ffff).filter_map(char::from_u32).filter(|&char| char < '\u{3000}' || commands(char)).collect();
    let json = serde_json::to_string(&text).unwrap() + "\n";
    let mut out = EscapingWriter::new(Vec::new());
    // Pieces that end inside characters.
    json.as_bytes().chunks(7).for_each(|piece| out.write_all(piece).unwrap());
    out.write_all(b"\xff \xe2\x80").and_then(|()| out.flush()).unwrap();
    let written = String::from_utf8(std::mem::take(&mut out.out)).unwrap();
    let (line, rest) = written.split_once('\n').unwrap();
    assert!(!line.contains(commands));
    assert_eq!(serde_json::from_str::<String>(line).unwrap(), text);
    assert_eq!(rest, "\u{fffd} \u{fffd}");
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
