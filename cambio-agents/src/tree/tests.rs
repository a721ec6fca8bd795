//! Regression tests for bugs of published search implementations.

use cambio_core::engine::{Dice, Setup, Sink as _};
use cambio_core::rng::{Key, Purpose, Stream};
use cambio_core::{Card, Event, Knowledge, Phase, Rules};

use super::*;

/// A world in a snap window in which seat a and seat b both know a card that matches, and seat a is asked first.
fn window_world(rules: &Rules) -> (State, Stream) {
    for deal in 0..10_000 {
        let mut stream = Key::new(17, deal).stream(Purpose::Deck, 0);
        let mut dice = Dice(stream.clone());
        let mut state = State::deal_latent(&Setup::new(rules, 2), &mut dice, &mut ()).unwrap();
        state.ask_knowing_only();
        while let Some(actor) = state.actor() {
            let is_first = actor == Seat::A && state.table().turn() == Seat::A;
            if state.table().phase() == Phase::Window && is_first {
                let other = state.table().occupied().iter_from(actor);
                let matching = other.filter(|&spot| {
                    let view = state.view(Seat::B);
                    view.face(spot).is_some_and(|card| view.would_match(spot, card))
                });
                if matching.count() > 0 {
                    return (state, stream);
                }
            }
            let choices = state.choices();
            let number = cambio_core::rng::Bounded::below(&mut stream, choices.len() as u32) as usize;
            state.apply(choices.nth(number).unwrap(), &mut dice, &mut ()).unwrap();
        }
    }
    panic!("no deal has such a window");
}

fn growth(mode: TreeMode) -> TreeSettings {
    TreeSettings { mode, searcher: Seat::A, sees_all: false, exploration: 0.7, expand: 1, prior: 0.0 }
}

#[test]
fn declarations_in_a_window_are_private_information() {
    let rules = Rules::preset("classic").unwrap();
    let (world, stream) = window_world(&rules);
    let snap = world.view(Seat::A).known_matches().first_from(Seat::A).map(Action::Snap).unwrap();
    let key_after = |action| {
        let (mut world, mut histories) = (world.clone(), SeatHistories::at_root(&world, Seat::A, TreeMode::Multiple));
        world.apply(action, &mut Dice(stream.clone()), &mut histories).unwrap();
        assert_eq!((world.actor(), world.table().phase()), (Some(Seat::B), Phase::Window));
        histories.key(TreeMode::Multiple, Seat::B, Seat::A, world.table())
    };
    assert_eq!(key_after(Action::Pass), key_after(snap), "seat b sees nothing before all have declared");
}

/// Two worlds that seat a cannot distinguish, but seat b can, by a card that only seat b has seen.
fn twin_worlds(rules: &Rules) -> (State, State) {
    let mut stream = Key::new(18, 0).stream(Purpose::Deck, 0);
    let mut knowledge = Knowledge::new(rules, 2, Seat::A);
    let mut heard = |event: &Event<Card>| knowledge.notice(&event.seen_from(Seat::A));
    let mut dice = Dice(stream.clone());
    let state = State::deal(&Setup::new(rules, 2), rules.deck(), &mut dice, &mut heard).unwrap();
    let view = state.observe(Seat::A);
    let [one, other] = [(); 2].map(|()| knowledge.sample(&view, &mut stream));
    let seen = state.table().seen(Seat::B);
    assert!(
        seen.iter_from(Seat::B).any(|spot| one.face(spot) != other.face(spot)),
        "the worlds differ in a card that seat b has seen"
    );
    (one, other)
}

#[test]
fn other_seats_information_is_from_the_sampled_world() {
    let rules = Rules::preset("classic").unwrap();
    let (one, other) = twin_worlds(&rules);
    let key = |world: &State, mode, seat| {
        SeatHistories::at_root(world, Seat::A, mode).key(mode, seat, Seat::A, world.table())
    };
    // The keys would be equal if they used the true cards, or one constant for all cards.
    assert_ne!(key(&one, TreeMode::Multiple, Seat::B), key(&other, TreeMode::Multiple, Seat::B));
    // The searcher cannot distinguish the worlds. In a tree with a single observer, no seat can.
    assert_eq!(key(&one, TreeMode::Multiple, Seat::A), key(&other, TreeMode::Multiple, Seat::A));
    assert_eq!(key(&one, TreeMode::Single, Seat::B), key(&other, TreeMode::Single, Seat::B));
}

#[test]
fn private_faces_are_ordered_information_of_one_seat() {
    let (one, other) = (Card::new(3).unwrap(), Card::new(4).unwrap());
    let after = |cards: &[Card]| {
        let mut histories = SeatHistories { public: 0, private: [0; MAX_SEATS] };
        for &face in cards {
            histories.event(&Event::Drew { seat: Seat::B, face });
        }
        histories
    };
    let rules = Rules::preset("classic").unwrap();
    let mut dice = Dice(Key::new(20, 0).stream(Purpose::Deck, 0));
    let world = State::deal_latent(&Setup::new(&rules, 2), &mut dice, &mut ()).unwrap();
    let key = |cards: &[Card], seat| after(cards).key(TreeMode::Multiple, seat, Seat::A, world.table());
    assert_ne!(key(&[one], Seat::B), key(&[other], Seat::B), "the drawer sees its card");
    assert_eq!(key(&[one], Seat::A), key(&[other], Seat::A), "and no other seat sees it");
    assert_ne!(key(&[one, other], Seat::B), key(&[other, one], Seat::B), "the order matters");
    // Chance outcomes add no edges: seat a decides in the same node, whichever card seat b draws.
    let dropped = |card| {
        let mut histories = after(&[one]);
        histories.event(&Event::Dropped { seat: Seat::B, card });
        histories.key(TreeMode::Multiple, Seat::A, Seat::A, world.table())
    };
    assert_ne!(dropped(one), dropped(other), "a card that all see is public");
}

#[test]
fn decisions_are_judged_by_their_availability_count() {
    let rules = Rules::preset("classic").unwrap();
    let mut dice = Dice(Key::new(19, 0).stream(Purpose::Deck, 0));
    let world = State::deal_latent(&Setup::new(&rules, 2), &mut dice, &mut ()).unwrap();
    let growth = growth(TreeMode::Single);
    let mut tree = SearchTree::default();
    tree.plant(Seat::A, [Action::Draw].into_iter(), 100);
    tree.offered = vec![Action::Draw, Action::Call];
    tree.grow(1, Seat::B, false);
    // The start of classic offers only `draw`; `call` was available once before, and had a lower value.
    let first = tree.nodes[1].first as usize;
    for (index, visits, available, mean) in [(first, 900u32, 900, 0.5), (first + 1, 1, 1, 0.4)] {
        let edge = &mut tree.edges[index];
        edge.arm.visits = visits;
        edge.arm.sum = mean * f64::from(visits);
        edge.available = available;
        edge.mean = mean;
        edge.width = 1.0 / f64::from(visits).sqrt();
    }
    tree.nodes[1].visits = 901;
    let chosen = tree.select_available(1, &world, &growth);
    assert_eq!(tree.edges[chosen].arm.action, Action::Draw, "a decision that this world does not offer is not chosen");
    assert_eq!(tree.edges[first].available, 901);
    assert_eq!(tree.edges[first + 1].available, 1, "its availability is unchanged");
    // Another world offers a decision that the node does not have yet.
    tree.offered = vec![Action::Call, Action::Take, Action::Draw];
    tree.place(1);
    assert_eq!(tree.places, [1, 2, 0]);
    let edges = &tree.edges[tree.nodes[1].first as usize..][..usize::from(tree.nodes[1].edges)];
    let found: Vec<_> = edges.iter().map(|edge| (edge.arm.action, edge.available)).collect();
    assert_eq!(found, [(Action::Draw, 901), (Action::Call, 1), (Action::Take, 0)]);
}

#[test]
fn each_seat_that_decided_is_credited_with_its_payoff() {
    let mut tree = SearchTree::default();
    tree.plant(Seat::A, [Action::Draw, Action::Call].into_iter(), 100);
    tree.offered = vec![Action::Draw, Action::Take];
    tree.grow(7, Seat::B, true);
    tree.descend();
    tree.path[0].edge = 1;
    let node = tree.find(7).unwrap();
    let edge = tree.nodes[node as usize].first;
    tree.path.push(PathStep { node, edge });
    let mut values = [0.0; MAX_SEATS];
    (values[0], values[1]) = (0.25, 0.75);
    tree.learn(&values);
    assert_eq!(tree.edges[1].arm.sum.to_bits(), 0.25f64.to_bits(), "the root is seat a's");
    assert_eq!(tree.edges[edge as usize].arm.sum.to_bits(), 0.75f64.to_bits(), "its child is seat b's");
    assert_eq!((tree.nodes[0].visits, tree.nodes[node as usize].visits), (1, 1));
}

#[test]
fn knowledge_of_a_card_follows_it_through_a_swap() {
    let rules = Rules::preset("classic").unwrap();
    let (world, _) = twin_worlds(&rules);
    let mut world = world;
    let mine = world.table().seen(Seat::B).first_from(Seat::B).unwrap();
    let theirs = world.table().layout(Seat::A).first_from(Seat::A).unwrap();
    let card = world.face(mine);
    // A swap by a power: a seat that has seen a card still knows it in its new spot.
    let before = world.table().seen(Seat::B);
    let mut found = false;
    for _ in 0..400 {
        let Some(actor) = world.actor() else { break };
        let choices = world.choices();
        let swap = Action::swap(mine, theirs);
        if choices.contains(swap) && world.table().seen(Seat::B).contains(mine) && world.face(mine) == card {
            world.apply(swap, &mut Dice(cambio_core::rng::SplitMix::new(1, 1_u32)), &mut ()).unwrap();
            assert!(world.table().seen(Seat::B).contains(theirs), "seat b knows where its card went");
            assert_eq!(world.view(Seat::B).face(theirs), card);
            found = true;
            break;
        }
        // Drops drawn cards, so that powers are used and cards stay in place.
        let drops = [Action::Drop, Action::Pass, Action::End, Action::Draw];
        let action = drops.into_iter().find(|&action| choices.contains(action));
        let action = action.or_else(|| choices.iter().find(|action| matches!(action, Action::Look(_))));
        let action =
            action.or_else(|| choices.contains(Action::Skip).then_some(Action::Skip)).or(choices.nth(0)).unwrap();
        world
            .apply(
                action,
                &mut Dice(cambio_core::rng::SplitMix::new(actor as u64, world.table().turns() as u32)),
                &mut (),
            )
            .unwrap();
    }
    assert!(found && !before.is_empty(), "such a swap was legal");
}
