//! The advantage of decisions over the decisions of a policy.

use cambio_agents::{AdvantageEstimator, Blueprint, Network, Policy, PolicyAgent, Preset, roster};
use cambio_core::engine::Dice;
use cambio_core::rng::Key;
use cambio_core::{Agent, Card, MatchSetup, Observer, Rules, Seat, Spot, State, play_match};

const PLAYOUTS: u32 = 50;

/// Plays matches with an agent in seat b and a policy in the other seats, and passes the result of each match to `see`.
fn play(preset: &str, spec: &str, over: &Blueprint, deals: u64, mut see: impl FnMut(&AdvantageEstimator<Blueprint>)) {
    let rules = Rules::preset(preset).unwrap();
    for deal in 0..deals {
        let key = Key::new(11, deal);
        let mut advantage =
            AdvantageEstimator::new(over.clone(), &rules, 3, Seat::B, PLAYOUTS, key.agent(Seat::H)).unwrap();
        let others = || Box::new(PolicyAgent::new(over.clone())) as Box<dyn Agent>;
        let mut agents = [others(), roster().parse(spec).unwrap().make(), others()];
        play_match(&MatchSetup { rules, seats: 3, key }, &mut agents, &mut advantage).unwrap();
        see(&advantage);
    }
}

#[test]
fn a_policy_has_no_advantage_over_itself() {
    let over = Blueprint::Network(Box::new(cambio_agents::NetworkPolicy::shipped()));
    let mut decided = 0;
    for (preset, deals) in [("classic", 20), ("original", 3), ("faessler", 3)] {
        play(preset, "learned", &over, deals, |advantage| {
            decided += advantage.decided().len();
            for one in advantage.decided() {
                assert!(!one.differs && one.action == one.instead && one.advantage == 0.0, "{one:?}");
            }
        });
    }
    assert!(decided > 300, "{decided}");
}

#[test]
fn equal_cards_are_one_decision_and_bad_ones_lose() {
    let over = Blueprint::Heuristic(Preset::Sharp.params());
    let (mut differing, mut alike, mut worth) = (0, 0, 0.0);
    play("classic", "random(pass=0.5)", &over, 100, |advantage| {
        for one in advantage.decided() {
            let step = 1.0 / f64::from(PLAYOUTS);
            assert!(one.advantage.abs() <= 1.0 && (one.differs || one.advantage == 0.0), "{one:?}");
            // Shares of a win at three seats are multiples of one sixth.
            let sixths = one.advantage / step * 6.0;
            assert!((sixths - sixths.round()).abs() < 1e-6, "{one:?}");
            differing += u32::from(one.differs);
            alike += u32::from(!one.differs && one.action != one.instead);
            worth += one.advantage;
        }
    });
    assert!(differing > 200 && alike > 5, "{differing} {alike}");
    assert!(worth / 100.0 < -0.1, "{worth}");
}

/// Only cards that no seat has seen are dealt again; the other cards and the legal decisions stay the same.
#[test]
fn redealing_unseen_cards_changes_no_seen_card() {
    #[derive(Default)]
    struct Redeals {
        asked: u64,
        changed: u32,
        stayed: u32,
    }
    impl Observer for Redeals {
        fn asks(&mut self, state: &State, seat: Seat) {
            self.asked += 1;
            let mut dice = Dice(Key::new(3, self.asked).agent(Seat::A));
            let mut other = state.clone();
            other.redeal_unseen(&mut dice);
            let unseen = |state: &State| {
                let hidden = |spot: &Spot| state.table().seen_by(*spot).is_empty();
                let spots: Vec<Spot> = state.table().occupied().iter_from(Seat::A).filter(hidden).collect();
                let lying: Vec<Option<Card>> = spots.iter().map(|&spot| state.face(spot)).collect();
                let mut all: Vec<usize> =
                    state.stock().map(Card::kind).chain(lying.iter().flatten().map(|card| card.kind())).collect();
                all.sort_unstable();
                (lying, all)
            };
            let ((lying, all), (its, again)) = (unseen(state), unseen(&other));
            assert_eq!(all, again, "the same cards are unseen");
            if state.table().reshuffles() > 0 {
                assert_eq!(lying, its, "unseen cards from an earlier stock stay");
                self.stayed += 1;
            } else {
                self.changed += u32::from(lying != its);
            }
            for seat in Seat::ALL.into_iter().take(state.table().seats()) {
                let seen = state.table().seen(seat);
                assert!(seen.iter_from(seat).all(|spot| state.face(spot) == other.face(spot)));
            }
            assert_eq!(state.observe(seat).choices(), other.observe(seat).choices());
        }
    }
    let mut redeals = Redeals::default();
    for (deal, preset) in (0..).zip(["classic", "original", "faessler"].into_iter().cycle().take(12)) {
        let rules = Rules::preset(preset).unwrap();
        let mut agents = [(); 6].map(|()| roster().parse("random(pass=0.6)").unwrap().make());
        play_match(&MatchSetup { rules, seats: 6, key: Key::new(3, deal) }, &mut agents, &mut redeals).unwrap();
    }
    let Redeals { changed, stayed, .. } = redeals;
    assert!(changed > 500 && stayed > 10, "{changed} {stayed}");
}

/// A policy that cannot play under the rules returns an error.
#[test]
fn a_policy_that_cannot_play_is_refused() {
    let rules = Rules::preset("mini-m1").unwrap();
    let other = Network::shipped(&Rules::preset("classic").unwrap(), 2).unwrap();
    let mut network = Blueprint::Network(Box::new(cambio_agents::NetworkPolicy::new(other)));
    assert!(network.begin(&rules, 2).is_err());
    let refused = AdvantageEstimator::new(network, &rules, 2, Seat::A, 1, Key::new(1, 0).agent(Seat::A));
    assert!(refused.is_err());
}
