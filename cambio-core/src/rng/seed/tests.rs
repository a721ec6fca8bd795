use super::*;

#[test]
fn stream_keys_are_pinned_by_value() {
    let seed = Seed::Key(std::array::from_fn(|index| index as u8));
    let begin = |deal, round, purpose, seat| {
        let key = seed.stream_key(deal, round, purpose, seat);
        u32::from_le_bytes([key[0], key[1], key[2], key[3]])
    };
    let found = [begin(0, 0, 1, 0), begin(7, 0, 4, 3), begin(u64::MAX, u32::MAX, 3, 255)];
    // Computed with the block function of RFC 8439, but with a counter of 64 bits and a nonce of 64 bits.
    assert_eq!(found, [0xc324_1118, 0x0fdf_28f8, 0xc9bb_6b6a]);
}

#[test]
fn texts_of_any_length_are_seeds_and_pinned() {
    assert_eq!(read_seed("007"), Ok(Seed::Number(7)));
    assert_ne!(read_seed("a"), read_seed("b"));
    assert_ne!(read_seed(&"a".repeat(64)), read_seed(&"a".repeat(65)));
    let long = read_seed(&"long ".repeat(10_000)).unwrap().to_string();
    assert_eq!(long.len(), 64);
    assert!(read_seed("").is_err());
    // Computed with the Python package blake3.
    assert_eq!(
        read_seed("first spring cup").unwrap().to_string(),
        "229305744451390771080b0eb33a1a8b534afd341a8678f78d94030a21be628c"
    );
}

#[test]
fn what_is_no_seed_is_refused() {
    for text in ["", "-1", "1.0", "18446744073709551616", "0xff", &"g".repeat(64), &"a".repeat(63)] {
        assert_eq!(text.parse::<Seed>(), Err(SeedError), "{text}");
    }
}
