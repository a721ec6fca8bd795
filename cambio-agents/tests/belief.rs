//! Belief: worlds come in proportion to the evidence, and the evidence is worth having.

use cambio_agents::{Belief, Likelihood, roster};
use cambio_core::rng::{Bounded as _, Key, Purpose, Stream};
use cambio_core::{Agent, Briefing, Card, Dice, Event, Phase, Rules, RulesSpec, Seat, Setup, Spot, State};

/// Plays rounds of these agents and shows seat a's belief at each of its decisions at the start of a turn.
fn watch(
    rules: &Rules,
    specs: &[&str],
    rounds: u64,
    likelihood: Likelihood,
    mut each: impl FnMut(&mut Belief, &State<'_>, &mut Stream),
) {
    let roster = roster();
    for deal in 0..rounds {
        let key = Key { seed: 8, deal };
        let mut deck = rules.deck().to_vec();
        key.stream(Purpose::Deck, 0).shuffle(&mut deck);
        let mut stream = key.stream(Purpose::Race, 7);
        let mut agents: Vec<_> = specs.iter().map(|spec| roster.parse(spec).unwrap().make()).collect();
        let seats = agents.len();
        let briefing = |seat| Briefing { rules, seats, seat, stream: key.agent(seat) };
        agents.iter_mut().zip(Seat::ALL).for_each(|(agent, seat)| agent.begin(&briefing(seat)));
        let mut belief = Belief::new(&briefing(Seat::A), likelihood);
        let mut heard: Vec<Event<Card>> = Vec::new();
        let mut dice = Dice(key.stream(Purpose::Race, 0));
        let mut state =
            State::deal(&Setup::new(rules, seats), &deck, &mut dice, &mut |e: &Event<_>| heard.push(*e)).unwrap();
        loop {
            for event in heard.drain(..) {
                belief.notice(&event.seen_from(Seat::A));
                agents.iter_mut().zip(Seat::ALL).for_each(|(agent, seat)| agent.notice(&event.seen_from(seat)));
            }
            let Some(seat) = state.actor() else { break };
            if seat == Seat::A && state.table().phase() == Phase::Start {
                each(&mut belief, &state, &mut stream);
            }
            let action = agents[seat.index()].decide(&state.observe(seat));
            state.apply(action, &mut dice, &mut |e: &Event<_>| heard.push(*e)).unwrap();
        }
    }
}

/// The spots of others whose cards their owners know and seat a does not.
fn hidden(state: &State<'_>) -> Vec<Spot> {
    let table = state.table();
    let spots = table.occupied().without(table.seen(Seat::A)).into_iter();
    spots.filter(|spot| spot.seat() != Seat::A && table.seen(spot.seat()).contains(*spot)).collect()
}

/// The mean log-loss of belief, and of counting alone, over the hidden cards that their owners know.
fn losses(rules: &Rules, specs: &[&str], rounds: u64) -> (f64, f64) {
    const WORLDS: usize = 400;
    let (mut believed, mut counted, mut cards) = (0.0, 0.0, 0.0);
    watch(rules, specs, rounds, Likelihood::default(), |belief, state, stream| {
        let view = state.observe(Seat::A);
        belief.prepare();
        let worlds: Vec<State<'_>> = (0..WORLDS).map(|_| belief.sample(&view, stream)).collect();
        for spot in hidden(state) {
            let truth = state.face(spot).unwrap();
            let candidates: Vec<Card> = belief.knowledge().candidates(spot).collect();
            // Suits that neither match nor count otherwise tell nothing apart.
            let alike = |card: Card| rules.same_rank(card, truth) && rules.points(card) == rules.points(truth);
            let prior = candidates.iter().filter(|&&card| alike(card)).count() as f64 / candidates.len() as f64;
            let hits = worlds.iter().filter(|world| world.face(spot).is_some_and(alike)).count() as f64;
            // One imagined world of the prior, so that no card is ever impossible.
            believed -= ((hits + prior) / (WORLDS as f64 + 1.0)).ln();
            counted -= prior.ln();
            cards += 1.0;
        }
    });
    assert!(cards > 200.0, "{cards}");
    (believed / cards, counted / cards)
}

#[test]
fn belief_tells_more_than_counting_about_players_of_its_kind() {
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

/// Every way to put cards of the pool into these spots, weighed by the evidence; the marginals by spot and kind.
fn marginals(belief: &Belief, spots: &[Spot], kinds: usize) -> Vec<Vec<f64>> {
    let pool = belief.knowledge().stock_candidates();
    let mut marginals = vec![vec![0.0; kinds]; spots.len()];
    let mut chosen = vec![0; spots.len()];
    fn fill(
        belief: &Belief,
        spots: &[Spot],
        pool: &[Card],
        chosen: &mut Vec<usize>,
        depth: usize,
        weight: f64,
        marginals: &mut [Vec<f64>],
    ) {
        if depth == spots.len() {
            for (place, &card) in chosen.iter().enumerate() {
                marginals[place][pool[card].kind()] += weight;
            }
            return;
        }
        for card in 0..pool.len() {
            if !chosen[..depth].contains(&card) {
                chosen[depth] = card;
                let weight = weight * belief.weight(spots[depth], pool[card]);
                fill(belief, spots, pool, chosen, depth + 1, weight, marginals);
            }
        }
    }
    fill(belief, spots, pool, &mut chosen, 0, 1.0, &mut marginals);
    for marginal in &mut marginals {
        let all: f64 = marginal.iter().sum();
        marginal.iter_mut().for_each(|share| *share /= all);
    }
    marginals
}

/// Small decks, so that every world can be counted and the same few cards are wanted in many spots.
fn small() -> Rules {
    let kind = |rank: u8| format!("{{ label = '{rank}', rank = '{rank}', points = {rank}, copies = 2 }}");
    let deck: Vec<String> = (0..7).map(kind).collect();
    let text = format!(
        "base = 'classic'\nname = 'small'\nhand = 3\npeek = 'choose 2'\njokers = 0\nstock_empty = 'end_round'\ndeck = [{}]",
        deck.join(", ")
    );
    RulesSpec::from_toml(&text).unwrap().validate().unwrap()
}

#[test]
fn worlds_come_in_proportion_to_the_evidence() {
    const WORLDS: usize = 60_000;
    let rules = small();
    let (mut compared, mut worst) = (0, 0.0f64);
    watch(&rules, &["heuristic", "never-calls"], 12, Likelihood::default(), |belief, state, stream| {
        let view = state.observe(Seat::A);
        let spots: Vec<Spot> = state.table().occupied().without(view.known()).into_iter().collect();
        let marked = hidden(state).into_iter().filter(|&spot| {
            let weights: Vec<f64> =
                belief.knowledge().stock_candidates().iter().map(|&c| belief.weight(spot, c)).collect();
            weights.iter().any(|&weight| weight != weights[0])
        });
        if marked.count() < 2 || spots.len() > 4 || !state.table().callers().is_empty() {
            return;
        }
        let exact = marginals(belief, &spots, rules.kinds().len());
        belief.prepare();
        let mut counts = vec![vec![0.0; rules.kinds().len()]; spots.len()];
        for _ in 0..WORLDS {
            let world = belief.sample(&view, stream);
            for (place, &spot) in spots.iter().enumerate() {
                counts[place][world.face(spot).unwrap().kind()] += 1.0 / WORLDS as f64;
            }
        }
        for (exact, counted) in exact.iter().zip(&counts) {
            let variation: f64 = exact.iter().zip(counted).map(|(one, other)| (one - other).abs()).sum::<f64>() / 2.0;
            worst = worst.max(variation);
            compared += 1;
        }
    });
    println!("{compared} marginals, total variation at most {worst:.4}");
    assert!(compared > 20 && worst < 0.01, "{compared} marginals, total variation at most {worst:.4}");
}
