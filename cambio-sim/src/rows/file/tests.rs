use super::*;
use crate::rows::{MatchRow, RowWriter};

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
