//! A search that is warm allocates nothing in its iterations: counted by the allocator itself.

#[path = "../../cambio-core/tests/counting/mod.rs"]
mod counting;

use cambio_agents::{Ismcts, Rollout, roster};
use cambio_core::rng::Bounded as _;
use cambio_core::rng::{Key, Purpose};
use cambio_core::{Agent, Briefing, Dice, Event, Rules, Seat, Setup, State};
use counting::allocations;

/// Lets a search decide at each of its questions in a round of heuristics, often; gives how often it had a choice.
///
/// Its first decisions may make room for trees of about that size; the last has to find it.
fn decide_often(search: &mut dyn Agent, rules: &Rules, seats: usize, grown: &mut usize) -> usize {
    let deal = 1;
    let key = Key::new(41, deal);
    let heuristic = roster().parse("heuristic").unwrap();
    let mut players: Vec<_> = (0..seats).map(|_| heuristic.make()).collect();
    let streams = Seat::ALL.map(|seat| key.agent(seat));
    let briefing = |seat: Seat| Briefing { rules, seats, seat, stream: &streams[seat.index()] };
    players.iter_mut().zip(Seat::ALL).for_each(|(player, seat)| player.begin(&briefing(seat)));
    search.begin(&briefing(Seat::A));
    let mut deck = rules.deck().to_vec();
    key.stream(Purpose::Deck, 0).shuffle(&mut deck);
    let mut dice = Dice(key.stream(Purpose::Race, 0));
    let mut heard: Vec<Event<_>> = Vec::new();
    let setup = Setup::new(rules, seats);
    let mut state = State::deal(&setup, &deck, &mut dice, &mut |e: &Event<_>| heard.push(*e)).unwrap();
    let mut asked = 0;
    loop {
        for event in heard.drain(..) {
            search.notice(&event.seen_from(Seat::A));
            players.iter_mut().zip(Seat::ALL).for_each(|(player, seat)| player.notice(&event.seen_from(seat)));
        }
        let Some(seat) = state.actor() else { break };
        let view = state.observe(seat);
        if seat == Seat::A {
            for _ in 0..8 {
                search.decide(&view);
            }
            let before = allocations();
            search.decide(&view);
            let made = allocations() - before;
            // A tree a little larger than any before it may still make room, once for nodes and once for edges.
            assert!(made <= 2, "{made}: {} {seats} seats, deal {deal}, {}", rules.name(), view.choices());
            *grown += usize::from(made > 0);
            asked += usize::from(view.choices().len() > 1);
        }
        let action = players[seat.index()].decide(&view);
        state.apply(action, &mut dice, &mut |e: &Event<_>| heard.push(*e)).unwrap();
    }
    asked
}

#[test]
fn a_warm_search_allocates_nothing() {
    let (mut asked, mut grown) = (0, 0);
    for preset in ["classic", "original", "faessler"] {
        let rules = Rules::preset(preset).unwrap();
        for seats in [2, 4] {
            for spec in ["rollout(n=40)", "rollout(n=40,knows=all)"] {
                let mut search = Rollout::new(roster().parse(spec).unwrap().params().unwrap());
                asked += decide_often(&mut search, &rules, seats, &mut grown);
            }
            for mode in ["so", "mo", "policy"] {
                let spec = format!("ismcts(iterations=200,expand=3,mode={mode})");
                let mut search = Ismcts::new(roster().parse(&spec).unwrap().params().unwrap());
                asked += decide_often(&mut search, &rules, seats, &mut grown);
            }
        }
    }
    assert!(asked > 100 && grown * 20 < asked, "{grown} of {asked} decisions allocated");
    // The counter counts.
    let before = allocations();
    drop(std::hint::black_box(vec![1u8]));
    assert_eq!(allocations() - before, 1);
}
