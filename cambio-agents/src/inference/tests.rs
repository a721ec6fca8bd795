use cambio_core::engine::{Dice, Setup};
use cambio_core::rng::{Bounded as _, Key as RngKey, Purpose};
use cambio_core::{Event, Rules, Seat};

use super::*;
use crate::learned::{FloatNetwork, Network, NetworkInputs};
use crate::policy::NetworkPolicy;

/// If all seats play as assumed, their decisions are on average more likely in the true world than in a sampled one.
#[test]
fn decisions_are_evidence_about_cards() {
    let rules = Rules::preset("classic").unwrap();
    let inputs = NetworkInputs::new(&rules);
    let mut floats = FloatNetwork::zero(inputs.count());
    let mut stream = RngKey::new(7, 0).stream(Purpose::Agent, 0);
    let mut next = |scale: f32| (stream.below(2001) as f32 / 1000.0 - 1.0) * scale;
    floats.rows.iter_mut().for_each(|weight| *weight = next(0.5));
    floats.second.iter_mut().for_each(|weight| *weight = next(0.5));
    floats.last.iter_mut().for_each(|weight| *weight = next(0.5));
    let network = Network::new(&inputs, &floats);
    let mut policy = NetworkPolicy::new(network);
    let (mut gain, mut told) = (0.0, 0);
    for deal in 0..60 {
        let key = RngKey::new(7, deal);
        let mut deck = rules.deck().to_vec();
        key.stream(Purpose::Deck, 0).shuffle(&mut deck);
        let mut dice = Dice(key.stream(Purpose::Race, 0));
        let mut knowledge = Knowledge::new(&rules, 2, Seat::B);
        let stream = key.agent(Seat::B);
        let briefing = Briefing { rules: &rules, seats: 2, seat: Seat::B, stream: &stream };
        let mut log = Inference::<NetworkPolicy>::new(&briefing, policy.begin(&rules, 2).unwrap());
        let mut hear = |event: &Event<Card>| {
            knowledge.notice(&event.seen_from(Seat::B));
            log.notice(&event.seen_from(Seat::B));
        };
        let mut state = State::deal(&Setup::new(&rules, 2), &deck, &mut dice, &mut hear).unwrap();
        while let Some(seat) = state.actor().filter(|_| state.table().turns() < 40) {
            if seat == Seat::B {
                let view = state.observe(seat);
                let unknown: Vec<Spot> = view.table().occupied().without(view.known()).iter_from(view.seat()).collect();
                let mut faces = log.faces.clone();
                let mut fill = |world: &State| {
                    for &spot in &unknown {
                        faces[usize::from(log.numbers.at(Some(spot)))] = world.face(spot);
                    }
                    faces.clone()
                };
                let truth = fill(&state);
                let worlds: Vec<_> = (0..20_u32)
                    .map(|number| fill(&knowledge.sample(&view, &mut SplitMix::new(deal, number))))
                    .collect();
                for mut evidence in log.evidence(&unknown, 3, false) {
                    let mut of = |faces: &[Option<Card>]| evidence.likelihoods(&mut policy, 0.01, faces)[0];
                    let mean = worlds.iter().map(|faces| of(faces)).sum::<f64>() / worlds.len() as f64;
                    gain += libm::log(of(&truth) / mean);
                    told += 1;
                }
            } else {
                log.spectate(state.table());
            }
            let action = policy.decide(&state.view(seat), &log.past);
            let mut hear = |event: &Event<Card>| {
                knowledge.notice(&event.seen_from(Seat::B));
                log.notice(&event.seen_from(Seat::B));
            };
            state.apply(action, &mut dice, &mut hear).unwrap();
        }
    }
    let gain = gain / f64::from(told);
    println!("{told} decisions, {gain} nats each");
    assert!(told > 500 && gain > 0.05, "{told} decisions, {gain} nats each");
}

#[test]
fn places_are_drawn_in_proportion_to_their_shares() {
    let drawn: Vec<usize> = resample(&[1.0, 0.0, 3.0, 4.0], 8).collect();
    assert_eq!(drawn, [0, 2, 2, 2, 3, 3, 3, 3]);
    assert_eq!(resample(&[0.5], 3).collect::<Vec<_>>(), [0, 0, 0]);
}
