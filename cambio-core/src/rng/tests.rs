use super::*;

#[test]
fn streams_are_pinned_by_value() {
    let key = Key::new(42, 7).with_agents(42);
    let mut deck = key.stream(Purpose::Deck, 0);
    let mut order: Vec<u8> = (0..10).collect();
    deck.shuffle(&mut order);
    let mut agent = key.agent(Seat::C);
    let draws: Vec<u32> = (0..6).map(|_| agent.below(100)).collect();
    assert_eq!((order, draws), (vec![9, 4, 0, 7, 3, 5, 1, 2, 6, 8], vec![80, 98, 98, 9, 35, 8]));
}

#[test]
fn a_stream_equals_the_one_of_rand_chacha() {
    let (mut ours, mut theirs) = (Stream::from_seed([7; 32]), rand_chacha::ChaCha8Rng::from_seed([7; 32]));
    for round in 0..100 {
        assert_eq!(ours.next_u32(), theirs.next_u32());
        assert_eq!(ours.next_u64(), theirs.next_u64());
        let (mut one, mut other) = (vec![0; round], vec![0; round]);
        ours.fill_bytes(&mut one);
        theirs.fill_bytes(&mut other);
        assert_eq!(one, other);
    }
}

#[test]
fn a_stream_restarts_only_within_its_first_batch() {
    let mut stream = Stream::from_seed([7; 32]);
    assert!(stream.rewind());
    let first: Vec<u32> = (0..BATCH).map(|_| stream.next_u32()).collect();
    assert!(stream.rewind());
    assert_eq!((0..BATCH).map(|_| stream.next_u32()).collect::<Vec<_>>(), first);
    stream.next_u32();
    assert!(!stream.rewind());
    assert!(!stream.clone().rewind());
}

#[test]
fn streams_of_other_keys_differ() {
    let base = Key::new(1, 2);
    let mut seen = Vec::new();
    for (seed, deal) in [(1, 2), (2, 1), (1, 3)] {
        let key = Key::new(seed, deal).with_agents(seed);
        seen.push(key.stream(Purpose::Deck, 0));
        seen.push(key.stream(Purpose::Deck, 1));
        seen.push(key.stream(Purpose::Race, 0));
        seen.push(key.agent(Seat::A));
        seen.push(key.agent(Seat::B));
    }
    let mut firsts: Vec<u64> = seen.iter_mut().map(Rng::next_u64).collect();
    firsts.sort_unstable();
    firsts.dedup();
    assert_eq!(firsts.len(), 15);
    assert_eq!(base.agent(Seat::A), base.agent(Seat::A));
}

#[test]
fn numbers_below_a_bound_are_equally_likely() {
    let mut stream = Key::new(3, 0).agent(Seat::A);
    let mut counts = [0f64; 7];
    for _ in 0..70_000 {
        counts[stream.below(7) as usize] += 1.0;
    }
    let chi_square: f64 = counts.iter().map(|n| (n - 10_000.0).powi(2) / 10_000.0).sum();
    assert!(chi_square < 22.46, "chi-square {chi_square} with 6 degrees of freedom, 99.9 % limit 22.46");
}

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
fn invalid_seeds_are_refused() {
    for text in ["", "-1", "1.0", "18446744073709551616", "0xff", &"g".repeat(64), &"a".repeat(63)] {
        assert!(text.parse::<Seed>().is_err(), "{text}");
    }
}
