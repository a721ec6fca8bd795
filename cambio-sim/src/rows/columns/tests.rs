use super::*;
use crate::rows::MatchRow;

fn text<'a>(value: &impl Columns<'a>) -> String {
    let mut row = RowWriter::over(Vec::new());
    value.write(&mut row);
    String::from_utf8(row.into_bytes().0).unwrap().trim_end_matches(',').to_owned()
}

#[test]
fn floats_are_written_as_rust_prints_them() {
    let mut numbers = vec![0.0, -0.0, 1.0 / 3.0, 1.0 / 7.0, f64::from(i32::MIN) / 840.0, f64::from(i32::MAX) / 840.0];
    // Totals are multiples of 1/840; the denominators of ranks are at most 14, of margins at most 8.
    for number in -20_000..20_000 {
        numbers.extend([840, 14, 8, 7, 6, 5, 3].map(|unit| f64::from(number) / f64::from(unit)));
    }
    for (factor, unit) in [(123_457.0, 840.0), (1e11 + 1.0, 8.0), (-1e12 - 1.0, 7.0)] {
        numbers.extend((1..1000).map(|number| f64::from(number) * factor / unit));
    }
    for number in numbers {
        assert_eq!(text(&number), format!("{number:?}"));
    }
}

#[test]
fn whole_numbers_are_written_as_rust_prints_them() {
    for number in (0..2000).chain([255, 256, u64::from(u32::MAX), u64::MAX]) {
        assert_eq!(text(&number), number.to_string());
        let print = Fingerprint::from_value(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        assert_eq!(text(&print), print.to_string());
    }
    assert_eq!(text(&-7_i64), "-7");
}

#[test]
fn scores_are_read_as_they_were_written() {
    for units in (-5000..5000).chain([i32::MIN, i32::MAX, i32::MAX - 839]) {
        let written = Score::from_units(units);
        assert_eq!(text(&ArrayVec::from_iter([written])), written.to_string());
        assert_eq!(score(&written.to_string()), Some(written));
    }
    for wrong in ["", "1.0", "0.33", "+1", "1e0", "NaN", "inf", "9999999999"] {
        assert_eq!(score(wrong), None, "{wrong}");
    }
}

#[test]
fn texts_of_any_kind_are_read_as_they_were_written() {
    let lineups = ["a | b", "a(b=1,c=2) | d", "\"\"", "external(\"x, \"\"y\"\"\")\n | é", "\r", ""];
    let long = lineups.map(|lineup| lineup.repeat(2000));
    for lineup in long.iter().map(String::as_str).chain(lineups) {
        let (begin, texts) = (["classic", "2", lineup, "7"], ["classic", lineup]);
        let quoted = lineup.replace('"', "\"\"");
        let text = format!("classic,2,\"{quoted}\",7,1,1,9,40,ab,0123456789abcdef,false,true\n");
        let rows: Vec<MatchRow<'_>> = RowReader::new(text.as_bytes()).unwrap().read(&begin, &texts).unwrap();
        assert_eq!(rows[0].key.lineup, lineup);
        let mut writer = RowWriter::over(vec![b'x'; 10_000]);
        (0..3).for_each(|_| writer.write(&rows[0]));
        let (bytes, count) = writer.into_bytes();
        let mut reader = RowReader::new(&bytes).unwrap();
        assert_eq!((count, reader.read(&begin, &texts)), (3, Ok(vec![rows[0].clone(); 3])));
        assert!(reader.next().is_none());
    }
}

#[test]
fn a_row_that_is_cut_or_too_long_is_refused() {
    let row = "classic,2,a | b,0,1,1,9,40,ab,0123456789abcdef,false,true\n";
    let read = |text: &str| {
        let rows =
            RowReader::new(text.as_bytes()).unwrap().read::<MatchRow<'_>>(&["classic", "2"], &["classic", "a | b"]);
        rows.map(|rows| rows.len())
    };
    assert_eq!(read(&row.repeat(2)), Ok(2));
    assert_eq!(read(&format!("{row}original,2,x\n")), Ok(1), "stops at rows with another key");
    for (from, to, field) in [
        (",true", "", "reproducible"),
        (",true", ",true,", "end of the row"),
        ("a | b", "a | c", "lineup"),
        (",9,", ",-9,", "turns"),
        (",ab,", ",ai,", "winners"),
        ("0123", "123", "fingerprint"),
    ] {
        assert_eq!(read(&row.replace(from, to)), Err(format!("a row has an invalid or missing `{field}`")));
    }
    assert!(RowReader::new(b"\xff,2\n").is_err());
}
