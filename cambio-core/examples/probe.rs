use cambio_core::rng::*;
use cambio_core::*;
use std::time::Instant;
fn main() {
    for (p, seats) in [("classic", 2), ("classic", 4), ("classic", 8), ("original", 2), ("faessler", 2)] {
        let rules = Rules::preset(p).unwrap();
        let mut rng = Key { seed: 1, deal: 0 }.stream(Purpose::Deck, 0);
        let mut deck = rules.deck().to_vec();
        let t = Instant::now();
        let mut n = 0u64;
        let mut rounds = 0u64;
        while n < 20_000_000 {
            rng.shuffle(&mut deck);
            let mut dice = Dice(&mut rng);
            let mut s = State::deal(&Setup::new(&rules, seats), &deck, &mut dice, &mut ()).unwrap();
            while !s.is_over() {
                let c = s.choices();
                let a = c.nth(dice.0.below(c.len() as u32) as usize).unwrap();
                s.apply(a, &mut dice, &mut ()).unwrap();
                n += 1;
            }
            rounds += 1;
        }
        let e = t.elapsed().as_secs_f64();
        println!(
            "{p} {seats}: {:.1} M/s, {:.1} dec/round, size {}",
            n as f64 / e / 1e6,
            n as f64 / rounds as f64,
            std::mem::size_of::<State>()
        );
    }
}
