use super::*;

#[test]
fn draws_are_pinned_by_value() {
    let mut rng = stream(1, 2);
    assert_eq!([rng.index(1000), rng.index(1000), rng.index(3)], [446, 723, 2]);
    assert_eq!([rng.uniform().to_bits(), rng.normal().to_bits()], [0x3fe2_da73_b3bc_fbcf, 0x3fa1_6c91_a69e_058c]);
}
