//! The iterations of a search that has grown its buffers allocate nothing. A counting allocator checks this.

#[path = "../../cambio-core/tests/counting/mod.rs"]
mod counting;

use cambio_agents::{Ismcts, Rollout, roster};
use cambio_core::engine::{Dice, Setup};
use cambio_core::rng::Bounded as _;
use cambio_core::rng::{Key, Purpose};
use cambio_core::{Agent, Briefing, Event, Observer as _, Players, Rules, Seat, State};
use counting::allocations;

/// Repeats each decision of a search several times, in a round of heuristic players; returns the number of real
/// decisions.
///
/// The first repetitions may allocate memory for trees of about that size; the last one must reuse it.
fn decide_often(search: &mut dyn Agent, rules: &Rules, seats: usize, grown: &mut usize) -> usize {
    let deal = 1;
    let key = Key::new(41, deal);
    let heuristic = roster().parse("heuristic").unwrap();
    let mut players = Players::all((0..seats).map(|_| heuristic.make()));
    let mut searching = Players::only(search, Seat::A, seats);
    let streams = Seat::ALL.map(|seat| key.agent(seat));
    let briefing = |seat: Seat| Briefing { rules, seats, seat, stream: &streams[seat.index()] };
    Seat::ALL[..seats].iter().for_each(|&seat| players.brief(&briefing(seat)).unwrap());
    searching.brief(&briefing(Seat::A)).unwrap();
    let mut deck = rules.deck().to_vec();
    key.stream(Purpose::Deck, 0).shuffle(&mut deck);
    let mut dice = Dice(key.stream(Purpose::Race, 0));
    let setup = Setup::new(rules, seats);
    let mut all = (players, searching);
    let mut state = State::deal(&setup, &deck, &mut dice, &mut |e: &Event<_>| all.event(e)).unwrap();
    let mut asked = 0;
    while let Some(seat) = state.actor() {
        let view = state.observe(seat);
        if seat == Seat::A {
            for _ in 0..8 {
                all.1.ask(&view).unwrap().unwrap();
            }
            let before = allocations();
            all.1.ask(&view).unwrap().unwrap();
            let made = allocations() - before;
            // A tree slightly larger than all before it may still allocate, once for nodes and once for edges.
            assert!(made <= 2, "{made}: {} {seats} seats, deal {deal}, {}", rules.name(), view.choices());
            *grown += usize::from(made > 0);
            asked += usize::from(view.choices().len() > 1);
        }
        let action = all.0.ask(&view).unwrap().unwrap();
        state.apply(action, &mut dice, &mut |e: &Event<_>| all.event(e)).unwrap();
    }
    asked
}

#[test]
fn a_warm_search_allocates_nothing() {
    let (mut asked, mut grown) = (0, 0);
    for preset in ["classic", "original", "faessler"] {
        let rules = Rules::preset(preset).unwrap();
        for seats in [2, 4] {
            let mut search = Rollout::new(roster().parse("rollout(n=40)").unwrap().params().unwrap());
            asked += decide_often(&mut search, &rules, seats, &mut grown);
            for mode in ["so", "mo", "policy"] {
                let spec = format!("ismcts(iterations=200,expand=3,mode={mode})");
                let mut search = Ismcts::new(roster().parse(&spec).unwrap().params().unwrap());
                asked += decide_often(&mut search, &rules, seats, &mut grown);
            }
        }
    }
    assert!(asked > 100 && grown * 20 < asked, "{grown} of {asked} decisions allocated");
    // Check that the counter counts allocations.
    let before = allocations();
    drop(std::hint::black_box(vec![1u8]));
    assert_eq!(allocations() - before, 1);
}
