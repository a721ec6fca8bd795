//! Search sees only what its seat may know: worlds that look alike give bit-identical root statistics.

use cambio_agents::{Arm, Heuristic, Manner, Rollout, roster};
use cambio_core::rng::Bounded as _;
use cambio_core::rng::{Key, Purpose};
use cambio_core::{Action, Agent, Briefing, Dice, Event, Knowledge, Rules, Seat, Setup, State};

/// A search for seat a, brought up to some decision of seat a in a round of heuristic players; and the state there.
fn searcher(
    rules: &Rules,
    seats: usize,
    key: Key,
    decisions: usize,
    mut each: impl FnMut(&mut Rollout, &State<'_>, &Knowledge),
) {
    let mut stream = key.stream(Purpose::Deck, 0);
    let mut deck = rules.deck().to_vec();
    stream.shuffle(&mut deck);
    let briefing = |seat| Briefing { rules, seats, seat, stream: key.agent(seat) };
    let mut players: Vec<Heuristic> =
        (0..seats).map(|_| Heuristic::new(Manner::default(), cambio_agents::Forgetting::default())).collect();
    for (player, seat) in players.iter_mut().zip(Seat::ALL) {
        player.begin(&briefing(seat));
    }
    let mut search = Rollout::new(16);
    search.begin(&briefing(Seat::A));
    let mut knowledge = Knowledge::new(rules, seats, Seat::A);
    let mut heard: Vec<Event<_>> = Vec::new();
    let mut dice = Dice(stream);
    let tell =
        |heard: &mut Vec<Event<_>>, search: &mut Rollout, knowledge: &mut Knowledge, players: &mut [Heuristic]| {
            for event in heard.drain(..) {
                search.notice(&event.seen_from(Seat::A));
                knowledge.notice(&event.seen_from(Seat::A));
                for (player, seat) in players.iter_mut().zip(Seat::ALL) {
                    player.notice(&event.seen_from(seat));
                }
            }
        };
    let mut state =
        State::deal(&Setup::new(rules, seats), &deck, &mut dice, &mut |e: &Event<_>| heard.push(*e)).unwrap();
    tell(&mut heard, &mut search, &mut knowledge, &mut players);
    for _ in 0..decisions {
        let Some(seat) = state.actor() else { break };
        if seat == Seat::A {
            each(&mut search, &state, &knowledge);
        }
        let action = players[seat.index()].decide(&state.observe(seat));
        state.apply(action, &mut dice, &mut |e: &Event<_>| heard.push(*e)).unwrap();
        tell(&mut heard, &mut search, &mut knowledge, &mut players);
    }
}

#[test]
fn root_statistics_do_not_depend_on_cards_that_the_seat_cannot_know() {
    let mut compared = 0;
    for preset in ["original", "faessler", "classic"] {
        let rules = Rules::preset(preset).unwrap();
        for deal in 0..12 {
            let key = Key { seed: 31, deal };
            let mut stream = key.stream(Purpose::Race, 9);
            searcher(&rules, 2 + deal as usize % 3, key, 60, |search, state, knowledge| {
                let (mut one, mut other) = (search.clone(), search.clone());
                let world = knowledge.sample(&state.observe(Seat::A), &mut stream);
                let decided: (Action, Action) =
                    (one.decide(&state.observe(Seat::A)), other.decide(&world.observe(Seat::A)));
                assert_eq!(decided.0, decided.1);
                let bits = |arms: &[Arm]| {
                    arms.iter().map(|arm| (arm.action, arm.visits, arm.sum.to_bits())).collect::<Vec<_>>()
                };
                assert_eq!(bits(one.arms()), bits(other.arms()));
                compared += usize::from(one.arms().len() > 1);
            });
        }
    }
    assert!(compared > 300, "{compared}");
}

#[test]
fn rollout_search_beats_its_blueprint() {
    use cambio_core::{Pairing, play_match};
    let rules = Rules::preset("classic").unwrap();
    let roster = roster();
    let deals: u64 = if std::env::var_os("CAMBIO_FULL").is_some() { 1000 } else { 40 };
    let mut won = 0.0;
    for deal in 0..deals {
        for search_first in [true, false] {
            let specs = if search_first { ["rollout(n=200)", "heuristic"] } else { ["heuristic", "rollout(n=200)"] };
            let mut agents = specs.map(|spec| roster.parse(spec).unwrap().make());
            let pairing = Pairing { rules: &rules, seats: 2, key: Key { seed: 77, deal } };
            let result = play_match(&pairing, &mut agents, &mut ()).unwrap();
            let seat = usize::from(!search_first);
            won += if result.ranks == [1, 1] { 0.5 } else { f64::from(u8::from(result.ranks[seat] == 1)) };
        }
    }
    // Fixed deals: the share is one number, well above one half.
    assert!(won > deals as f64, "{won} of {} matches", 2 * deals);
}
