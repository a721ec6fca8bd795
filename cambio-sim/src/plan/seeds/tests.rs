use super::*;

#[test]
fn secrets_differ_and_are_not_printed() {
    let (one, other) = (Secret::draw(), Secret::draw());
    assert_ne!(one, other);
    assert_eq!(format!("{one:?}"), "Secret(…)");
    assert_eq!(one.to_string().parse::<Secret>().unwrap(), one);
    let seeds = [one.commitment(), one.cards(), one.agents(), other.cards(), Seed::Key(one.0)];
    for (index, seed) in seeds.iter().enumerate() {
        assert!(!seeds[..index].contains(seed));
    }
}
