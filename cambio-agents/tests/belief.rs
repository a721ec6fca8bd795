//! Belief: worlds are drawn in proportion to the evidence, and the evidence improves predictions.

use cambio_agents::{Belief, Likelihood, roster};
use cambio_core::engine::{Dice, Setup};
use cambio_core::rng::{Bounded as _, Key, Purpose, Stream};
use cambio_core::{Briefing, Card, Event, Observer as _, Phase, Players, Rules, RulesSpec, Seat, Spot, State};

/// Plays rounds of these agents, and passes seat a's belief to `each` at the start of each of its turns.
fn watch(
    rules: &Rules,
    specs: &[&str],
    rounds: u64,
    likelihood: Likelihood,
    mut each: impl FnMut(&mut Belief, &State, &mut Stream),
) {
    let roster = roster();
    for deal in 0..rounds {
        let key = Key::new(8, deal);
        let mut deck = rules.deck().to_vec();
        key.stream(Purpose::Deck, 0).shuffle(&mut deck);
        let mut stream = key.stream(Purpose::Race, 7);
        let mut players = Players::all(specs.iter().map(|spec| roster.parse(spec).unwrap().make()));
        let seats = players.seats();
        let streams = Seat::ALL.map(|seat| key.agent(seat));
        let briefing = |seat: Seat| Briefing { rules, seats, seat, stream: &streams[seat.index()] };
        Seat::ALL[..seats].iter().for_each(|&seat| players.brief(&briefing(seat)).unwrap());
        let mut belief = Belief::new(&briefing(Seat::A), likelihood);
        let mut dice = Dice(key.stream(Purpose::Race, 0));
        let told = |event: &Event<_>, players: &mut Players<_>, belief: &mut Belief| {
            players.event(event);
            belief.notice(&event.seen_from(Seat::A));
        };
        let mut sink = |event: &Event<_>| told(event, &mut players, &mut belief);
        let mut state = State::deal(&Setup::new(rules, seats), &deck, &mut dice, &mut sink).unwrap();
        while let Some(seat) = state.actor() {
            if seat == Seat::A && state.table().phase() == Phase::Start {
                each(&mut belief, &state, &mut stream);
            }
            let action = players.ask(&state.observe(seat)).unwrap().unwrap();
            state.apply(action, &mut dice, &mut |event: &Event<_>| told(event, &mut players, &mut belief)).unwrap();
        }
    }
}

/// The spots of other seats whose cards their owners know and seat a does not.
fn hidden(state: &State) -> Vec<Spot> {
    let table = state.table();
    let spots = table.occupied().without(table.seen(Seat::A)).iter_from(Seat::A);
    spots.filter(|spot| spot.seat() != Seat::A && table.seen(spot.seat()).contains(*spot)).collect()
}

/// The mean log-loss of belief, and of counting alone, over the hidden cards that their owners know.
fn losses(rules: &Rules, specs: &[&str], rounds: u64) -> (f64, f64) {
    const WORLDS: usize = 400;
    let (mut believed, mut counted, mut cards) = (0.0, 0.0, 0.0);
    watch(rules, specs, rounds, Likelihood::default(), |belief, state, stream| {
        let view = state.observe(Seat::A);
        belief.prepare();
        let worlds: Vec<State> = (0..WORLDS).map(|_| belief.sample(&view, stream)).collect();
        for spot in hidden(state) {
            let truth = state.face(spot).unwrap();
            let candidates: Vec<Card> = belief.knowledge().candidates(spot).collect();
            // Cards that differ only in suit count as the same.
            let alike = |card: Card| rules.same_rank(card, truth) && rules.points(card) == rules.points(truth);
            let prior = candidates.iter().filter(|&&card| alike(card)).count() as f64 / candidates.len() as f64;
            let hits = worlds.iter().filter(|world| world.face(spot).is_some_and(alike)).count() as f64;
            // Adds one pseudo-world with the prior, so that no card has probability 0.
            believed -= libm::log((hits + prior) / (WORLDS as f64 + 1.0));
            counted -= libm::log(prior);
            cards += 1.0;
        }
    });
    assert!(cards > 200.0, "{cards}");
    (believed / cards, counted / cards)
}

#[test]
fn belief_predicts_cards_better_than_counting() {
    let (mut all, mut all_counted) = (0.0, 0.0);
    for preset in ["original", "faessler", "classic"] {
        let rules = Rules::preset(preset).unwrap();
        for seats in [2, 4] {
            let (believed, counted) = losses(&rules, &vec!["heuristic"; seats], 40);
            println!("{preset}, {seats} seats: {believed:.3} against {counted:.3}");
            assert!(believed < 0.92 * counted, "{preset}, {seats} seats: {believed:.3} against {counted:.3}");
            all += believed;
            all_counted += counted;
        }
    }
    assert!(all < 0.9 * all_counted, "{all:.3} against {all_counted:.3}");
}

#[test]
fn belief_does_little_harm_among_strangers() {
    let rules = Rules::preset("classic").unwrap();
    for stranger in ["greedy(call_at=12)", "bold", "disruptor", "snapper", "looker", "heuristic(decay=0.3)"] {
        let (believed, counted) = losses(&rules, &["heuristic", stranger], 60);
        println!("{stranger}: {believed:.3} against {counted:.3}");
        assert!(believed < 1.02 * counted, "{stranger}: {believed:.3} against {counted:.3}");
    }
}

/// Enumerates all ways to put cards of the pool into the remaining spots, and adds the weight of each to the marginals.
fn fill(belief: &Belief, spots: &[Spot], chosen: &mut Vec<usize>, weight: f64, marginals: &mut [Vec<f64>]) {
    let pool = belief.knowledge().stock_candidates();
    let depth = chosen.len();
    if depth == spots.len() {
        for (marginal, &card) in marginals.iter_mut().zip(chosen.iter()) {
            marginal[pool[card].kind()] += weight;
        }
        return;
    }
    for (card, kind) in pool.iter().enumerate() {
        if !chosen.contains(&card) {
            chosen.push(card);
            let weight = weight * belief.weight(spots[depth], *kind);
            fill(belief, spots, chosen, weight, marginals);
            chosen.pop();
        }
    }
}

/// The marginals of the evidence by spot and kind, by brute force.
fn marginals(belief: &Belief, spots: &[Spot], kinds: usize) -> Vec<Vec<f64>> {
    let mut marginals = vec![vec![0.0; kinds]; spots.len()];
    fill(belief, spots, &mut Vec::new(), 1.0, &mut marginals);
    for marginal in &mut marginals {
        let all: f64 = marginal.iter().sum();
        for share in marginal {
            *share /= all;
        }
    }
    marginals
}

/// Small decks, so that all worlds can be enumerated and the evidence favours the same few cards in many spots.
fn small(kinds: u8, hand: usize, peeks: usize) -> Rules {
    let kind = |rank: u8| format!("{{ label = '{rank}', rank = '{rank}', points = {rank}, copies = 2 }}");
    let deck: Vec<String> = (0..kinds).map(kind).collect();
    let text = format!(
        "base = 'classic'\nname = 'small'\nhand = {hand}\npeek = 'choose {peeks}'\njokers = 0\nstock_empty = 'end_round'\ndeck = [{}]",
        deck.join(", ")
    );
    RulesSpec::from_toml(&text).unwrap().validate().unwrap()
}

/// The spots whose evidence distinguishes between cards.
fn marked(belief: &Belief, state: &State) -> Vec<Spot> {
    let pool = belief.knowledge().stock_candidates();
    let says = |spot: &Spot| {
        let weights: Vec<f64> = pool.iter().map(|&card| belief.weight(*spot, card)).collect();
        weights.iter().any(|weight| (weight - weights[0]).abs() > 1e-9)
    };
    hidden(state).into_iter().filter(says).collect()
}

/// Compares sampled worlds with the exact marginals, at decisions at which this many cards have evidence; returns the
/// number of compared marginals and the largest total variation distance.
fn compare(rules: &Rules, specs: &[&str], cards: std::ops::RangeInclusive<usize>, most: usize) -> (usize, f64) {
    const WORLDS: usize = 60_000;
    let (mut compared, mut worst) = (0, 0.0f64);
    watch(rules, specs, 12, Likelihood::default(), |belief, state, stream| {
        let spots = marked(belief, state);
        if !cards.contains(&spots.len()) || !state.table().callers().is_empty() || compared >= most {
            return;
        }
        let view = state.observe(Seat::A);
        let exact = marginals(belief, &spots, rules.kinds().len());
        belief.prepare();
        let mut counts = vec![vec![0.0; rules.kinds().len()]; spots.len()];
        for _ in 0..WORLDS {
            let world = belief.sample(&view, stream);
            for (count, &spot) in counts.iter_mut().zip(&spots) {
                count[world.face(spot).unwrap().kind()] += 1.0 / WORLDS as f64;
            }
        }
        for (exact, counted) in exact.iter().zip(&counts) {
            let variation: f64 = exact.iter().zip(counted).map(|(one, other)| (one - other).abs()).sum::<f64>() / 2.0;
            worst = worst.max(variation);
            compared += 1;
        }
    });
    println!("{compared} marginals, total variation at most {worst:.4}");
    (compared, worst)
}

#[test]
fn worlds_come_in_proportion_to_the_evidence() {
    let (compared, worst) = compare(&small(7, 3, 2), &["heuristic", "never-calls"], 2..=5, 60);
    assert!(compared > 20 && worst < 0.01, "{compared} marginals, total variation at most {worst:.4}");
}

/// For more than five cards, worlds are drawn by approximate sweeps. Eight kinds with two copies are a hard case.
#[test]
fn worlds_come_nearly_in_proportion_to_much_evidence() {
    let (compared, worst) = compare(&small(8, 4, 3), &["heuristic", "never-calls", "never-calls"], 6..=6, 18);
    assert!(compared >= 12 && worst < 0.02, "{compared} marginals, total variation at most {worst:.4}");
}

/// Six kinds with 0 to 2 points, each with its own rank, that match by points.
fn twins(flip: &str) -> Rules {
    let kind = |rank: u8| format!("{{ label = '{rank}', rank = '{rank}', points = {}, copies = 4 }}", rank / 2);
    let deck: Vec<String> = (0..6).map(kind).collect();
    let text = format!(
        "base = 'classic'\nname = 'twins'\njokers = 0\nmatch = 'points'\nflip = '{flip}'\ndeck = [{}]",
        deck.join(", ")
    );
    RulesSpec::from_toml(&text).unwrap().validate().unwrap()
}

#[test]
fn a_pass_is_evidence_against_all_matching_points() {
    let rules = twins("window");
    let mut told = 0;
    watch(&rules, &["heuristic", "heuristic"], 60, Likelihood::default(), |belief, state, _| {
        for spot in hidden(state) {
            let weights: Vec<f64> = (0..6).map(|kind| belief.weight(spot, Card::new(kind).unwrap())).collect();
            for pair in weights.chunks_exact(2) {
                assert!((pair[0] - pair[1]).abs() < 1e-6, "{spot}: {weights:?}");
            }
            told += u32::from(weights.chunks_exact(2).any(|pair| (pair[0] - weights[0]).abs() > 1e-6));
        }
    });
    assert!(told > 100, "{told} cards had evidence");
}

#[test]
fn a_flip_without_a_window_is_no_evidence() {
    let at_first = |flip: &str| {
        let mut told = 0;
        watch(&twins(flip), &["heuristic", "heuristic"], 60, Likelihood::default(), |belief, state, _| {
            if state.table().turns() == 1 {
                told += marked(belief, state).len();
            }
        });
        told
    };
    assert_eq!(at_first("silent"), 0);
    let told = at_first("window");
    assert!(told > 10, "{told} cards had evidence");
}
