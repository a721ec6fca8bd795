use cambio_core::{rng::Key, testing::RandomAgent, *};
fn main() {
    let n: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    for p in PRESETS {
        let rules = Rules::preset(p).unwrap();
        for seats in [2, 3, 4, 6, 8] {
            for deal in 0..n {
                let pairing = Pairing { rules: &rules, seats, key: Key { seed: 42, deal } };
                let mut agents: Vec<_> = (0..seats).map(|_| RandomAgent::default()).collect();
                let mut rec = Recorder::new(&rules);
                let res = play_match(&pairing, &mut agents, &mut rec).unwrap();
                let names = vec!["random"; seats];
                let r = rec.finish(pairing.key, 0, &names, &res);
                let line = r.to_json();
                let back = Record::read(&line).unwrap();
                match replay(&back, &mut ()) {
                    Ok(f) => assert_eq!(f, r),
                    Err(e) => eprintln!("{p} {seats} {deal}: {e}"),
                }
                println!("{line}");
            }
        }
    }
}
