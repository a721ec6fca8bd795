use super::*;

#[test]
fn fresh_seeds_differ_and_can_be_read() {
    let (one, other) = (fresh_seed(), fresh_seed());
    assert!(one != other && one.len() == 26, "{one} {other}");
    assert!(read_seed(&one).is_ok());
}
