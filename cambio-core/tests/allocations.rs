//! A round, including the deal, allocates no memory. A counting allocator checks this.

#[path = "counting/mod.rs"]
mod counting;

use cambio_core::engine::{RoundChance, Setup};
use cambio_core::play::RoundResult;
use cambio_core::rng::{Bounded as _, Key, Purpose, Stream};
use cambio_core::rules::PRESETS;
use cambio_core::{Action, Card, Event, Knowledge, Observation, Rules, Seat, State};
use counting::allocations;

/// A random decision, drawn without allocating memory. Most windows are passed and calls are rare, so rounds are long.
fn choose(view: &Observation<'_>, stream: &mut Stream) -> Action {
    let choices = view.choices();
    if choices.contains(Action::Pass) && stream.chance(4, 5) {
        return Action::Pass;
    }
    let action = choices.nth(stream.below(choices.len() as u32) as usize).unwrap();
    match action {
        Action::Call if stream.chance(9, 10) => choices.nth(0).unwrap(),
        action => action,
    }
}

#[derive(Default)]
struct Happened {
    decisions: u64,
    reshuffles: usize,
    gifts: u64,
    races: u64,
    worlds: u64,
}

/// Plays a round with all operations of a search at each decision, and counts events.
fn play(rules: &Rules, seats: usize, deck: &[Card], key: Key, happened: &mut Happened) {
    let mut stream = key.agent(Seat::A);
    let mut chance = RoundChance::new(key, 0);
    let mut minds = Seat::ALL.map(|seat| Knowledge::new(rules, seats, seat));
    let (mut gifts, mut snaps) = (0, 0);
    let mut sink = |event: &Event<Card>| {
        for mind in &mut minds[..seats] {
            mind.notice(&event.seen_from(mind.seat()));
        }
        gifts += u64::from(matches!(event, Event::Gave { .. }));
        snaps += u64::from(matches!(event, Event::Snapped { .. }));
    };
    let mut state = State::deal(&Setup::new(rules, seats), deck, &mut chance, &mut sink).unwrap();
    while let Some(seat) = state.actor() {
        let view = state.observe(seat);
        let action = choose(&view, &mut stream);
        let mut sink = |event: &Event<Card>| {
            for mind in &mut minds[..seats] {
                mind.notice(&event.seen_from(mind.seat()));
            }
            gifts += u64::from(matches!(event, Event::Gave { .. }));
            snaps += u64::from(matches!(event, Event::Snapped { .. }));
        };
        let mut copy = state.clone();
        copy.apply(action, &mut chance.clone(), &mut ()).unwrap();
        state.apply(action, &mut chance, &mut sink).unwrap();
        if !state.is_over() {
            for mind in &minds[..seats] {
                let view = state.observe(mind.seat());
                let mut world = mind.sample(&view, &mut stream);
                // A few decisions in the sampled world, whose stock is a pool without an order.
                for _ in 0..6 {
                    if let Some(asked) = world.actor() {
                        let action = choose(&world.observe(asked), &mut stream);
                        world.apply(action, &mut chance.clone(), &mut ()).unwrap();
                    }
                }
                happened.worlds += 1;
            }
        }
        // An illegal decision is rejected without an allocation.
        assert!(state.apply(Action::Swap(SPOT, SPOT), &mut chance, &mut ()).is_err());
        happened.decisions += 1;
    }
    happened.gifts += gifts;
    happened.races += snaps;
    happened.reshuffles += state.table().reshuffles();
    assert!(RoundResult::of(&state).is_some());
}

const SPOT: cambio_core::Spot = match cambio_core::Spot::new(Seat::A, 1) {
    Some(spot) => spot,
    None => panic!("a seat has a first slot"),
};

#[test]
fn a_game_allocates_nothing() {
    let mut happened = Happened::default();
    for preset in PRESETS {
        let rules = Rules::preset(preset).unwrap();
        for seats in 2..=8 {
            let key = Key::new(501, seats as u64);
            let mut deck = rules.deck().to_vec();
            key.stream(Purpose::Deck, 0).shuffle(&mut deck);
            let before = allocations();
            play(&rules, seats, &deck, key, &mut happened);
            assert_eq!(allocations() - before, 0, "{preset}, {seats} seats");
        }
    }
    // Checks that the counter works, and that the rounds had all events that might allocate.
    let before = allocations();
    drop(std::hint::black_box(vec![1u8]));
    assert_eq!(allocations() - before, 1);
    let Happened { decisions, reshuffles, gifts, races, worlds } = happened;
    assert!(
        decisions > 3000 && reshuffles > 5 && gifts > 10 && races > 50 && worlds > 10_000,
        "{decisions} {reshuffles}"
    );
}
