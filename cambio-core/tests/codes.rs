//! Pins the codes of decisions, events and phases by value. Strategy files, records and tensors contain them, so they
//! must never change.

use std::collections::BTreeSet;

use cambio_core::engine::{CardSource, EndReason, Setup, SnapOutcome};
use cambio_core::record::{Fingerprint, Fingerprinter};
use cambio_core::{Action, Card, Event, Observer as _, Phase, Rules, Seat, SeatSet, Sighting, Spot, State};

fn spot(text: &str) -> Spot {
    text.parse().unwrap()
}

fn card(kind: usize) -> Card {
    Card::new(kind).unwrap()
}

/// One decision per verb, with its code and its number in fingerprints.
fn actions() -> [(Action, u64, u64); 16] {
    [
        (Action::Draw, 0x1_000_000_000_000, 0),
        (Action::Take, 0x2_000_000_000_000, 1),
        (Action::Call, 0x3_000_000_000_000, 2),
        (Action::End, 0x4_000_000_000_000, 3),
        (Action::Drop, 0x5_000_000_000_000, 4),
        (Action::Skip, 0x6_000_000_000_000, 5),
        (Action::Pass, 0x7_000_000_000_000, 6),
        (Action::Peek(spot("a1")), 0x8_001_000_000_000, 7),
        (Action::Keep(spot("b1")), 0x9_011_000_000_000, 8),
        (Action::Look(spot("c4")), 0xa_024_000_000_000, 9),
        (Action::Swap(spot("a2"), spot("b3")), 0xb_002_013_000_000, 15),
        (Action::Show(spot("b4")), 0xc_014_000_000_000, 10),
        (Action::Snap(spot("h16")), 0xd_080_000_000_000, 11),
        (Action::Touch(spot("a3")), 0xe_003_000_000_000, 12),
        (Action::Give(spot("a5")), 0xf_005_000_000_000, 13),
        (Action::Cheat(spot("a16")), 0x10_010_000_000_000, 14),
    ]
}

/// Sightings of all kinds, with and without a face, with every verdict and every reason, and their codes.
fn sightings() -> Vec<(Sighting, u64)> {
    let (seat, at) = (Seat::B, spot("b2"));
    let snapped = |verdict| Event::Snapped { seat, spot: at, card: card(4), verdict };
    let extra: SeatSet = [Seat::A, Seat::C].into_iter().collect();
    vec![
        (Event::Dealt { starter: Seat::A, extra: SeatSet::EMPTY }, 0x1_000_000_000_000),
        (Event::Dealt { starter: seat, extra }, 0x1_001_005_000_000),
        (Event::Peeked { seat, spot: at, face: None }, 0x2_001_012_000_000),
        (Event::Peeked { seat, spot: at, face: Some(card(0)) }, 0x2_001_012_001_000),
        (Event::Flipped { card: card(2) }, 0x3_003_000_000_000),
        (Event::TurnBegan { seat }, 0x4_001_000_000_000),
        (Event::Drew { seat, face: None }, 0x5_001_000_000_000),
        (Event::Drew { seat, face: Some(card(3)) }, 0x5_001_004_000_000),
        (Event::Took { seat, card: card(9) }, 0x6_001_00a_000_000),
        (Event::Dropped { seat, card: card(1) }, 0x7_001_002_000_000),
        (Event::Kept { seat, spot: at, replaced: card(6) }, 0x8_001_012_007_000),
        (Event::Looked { seat, spot: at, face: None }, 0x9_001_012_000_000),
        (Event::Looked { seat, spot: at, face: Some(card(5)) }, 0x9_001_012_006_000),
        (Event::Swapped { seat, one: at, other: spot("c1") }, 0xa_001_012_021_000),
        (Event::Shown { spot: at, card: card(7) }, 0xb_012_008_000_000),
        (Event::Skipped { seat }, 0xc_001_000_000_000),
        (Event::Touched { seat, spot: at }, 0xd_001_012_000_000),
        (snapped(SnapOutcome::Right), 0xe_001_012_005_001),
        (snapped(SnapOutcome::Wrong), 0xe_001_012_005_002),
        (snapped(SnapOutcome::Late), 0xe_001_012_005_003),
        (Event::Aborted { seat }, 0xf_001_000_000_000),
        (Event::Penalised { seat, spot: at }, 0x10_001_012_000_000),
        (Event::PenaltyWaived { seat }, 0x11_001_000_000_000),
        (Event::Gave { seat, from: at, to: spot("a1") }, 0x12_001_012_001_000),
        (Event::Called { seat }, 0x13_001_000_000_000),
        (Event::BecameSafe { seat }, 0x14_001_000_000_000),
        (Event::Reshuffled { cards: 42 }, 0x15_02a_000_000_000),
        (Event::Ended { reason: EndReason::Call }, 0x16_001_000_000_000),
        (Event::Ended { reason: EndReason::EmptyHand }, 0x16_002_000_000_000),
        (Event::Ended { reason: EndReason::TurnLimit }, 0x16_003_000_000_000),
        (Event::Ended { reason: EndReason::StockOut }, 0x16_004_000_000_000),
        (Event::TurnedUp { spot: at, card: card(8) }, 0x17_012_009_000_000),
    ]
}

#[test]
fn decisions_have_these_codes() {
    for (action, code, _) in actions() {
        assert_eq!(action.code(), code, "{action}: {:#x}", action.code());
    }
    let swapped = Action::Swap(spot("b3"), spot("a2"));
    assert_eq!(swapped.code(), 0xb_002_013_000_000, "the order of the spots of a swap does not matter");
}

#[test]
fn sightings_have_these_codes() {
    for (sighting, code) in sightings() {
        assert_eq!(sighting.code(), code, "{sighting:?}: {:#x}", sighting.code());
    }
}

#[test]
fn phases_have_these_codes() {
    let phases = [
        Phase::Peek,
        Phase::Start,
        Phase::Held(CardSource::Stock),
        Phase::Window,
        Phase::Gift,
        Phase::Chain,
        Phase::Power,
        Phase::Show,
        Phase::Close,
        Phase::Over,
    ];
    assert_eq!(phases.map(Phase::code), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(Phase::Held(CardSource::Pile(card(5))).code(), 2);
}

#[test]
fn every_decision_and_sighting_has_a_code_of_its_own() {
    let spots = || Seat::ALL.into_iter().flat_map(|seat| (1..=16).filter_map(move |slot| Spot::new(seat, slot)));
    let mut codes = BTreeSet::new();
    let mut count = 0;
    let mut take = |code: u64| {
        count += 1;
        assert!(codes.insert(code), "{code:#x} is used twice");
    };
    for (action, ..) in actions() {
        match action {
            Action::Swap(..) => {
                for one in spots() {
                    spots().filter(|&other| other > one).for_each(|other| take(Action::Swap(one, other).code()));
                }
            }
            Action::Look(_) => spots().for_each(|at| take(Action::Look(at).code())),
            Action::Snap(_) => spots().for_each(|at| take(Action::Snap(at).code())),
            other => take(other.code()),
        }
    }
    assert_eq!(count, 13 + 2 * 128 + 128 * 127 / 2);
    let different: BTreeSet<u64> = sightings().iter().map(|(sighting, _)| sighting.code()).collect();
    assert_eq!(different.len(), sightings().len());
}

#[test]
fn public_events_are_what_a_spectator_perceives() {
    let (seat, at, face) = (Seat::B, spot("b2"), card(5));
    let seen =
        [Event::Peeked { seat, spot: at, face }, Event::Drew { seat, face }, Event::Looked { seat, spot: at, face }];
    for event in seen {
        assert_eq!(event.private(), Some((seat, face)));
        assert_eq!(event.public(), event.seen_from(Seat::A));
        assert_ne!(event.public().code(), event.seen_from(seat).code());
    }
    let shown = Event::Shown { spot: at, card: face };
    assert_eq!(shown.private(), None);
    assert_eq!(shown.public(), shown.seen_from(seat));
}

/// Mixes a word into a fingerprint: the finalizer of `SplitMix64` over the rotated value.
fn add(value: u64, word: u64) -> u64 {
    let mut mixed = value.rotate_left(23) ^ word;
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

#[test]
fn fingerprints_have_numbers_of_their_own_for_verbs() {
    let rules = Rules::preset("classic").unwrap();
    let mut dice =
        cambio_core::engine::Dice(cambio_core::rng::Key::new(1, 0).stream(cambio_core::rng::Purpose::Race, 0));
    let state = State::deal(&Setup::new(&rules, 2), rules.deck(), &mut dice, &mut ()).unwrap();
    for (action, _, verb) in actions() {
        let mut fingerprinter = Fingerprinter::default();
        fingerprinter.decides(&state, Seat::B, action);
        let [one, other] = action.spots().map(|at| at.map_or(0, Spot::index) as u64);
        let word = 2 << 32 | 1 << 24 | verb << 16 | one << 8 | other;
        assert_eq!(fingerprinter.of_round().value(), add(Fingerprint::default().value(), word), "{action}");
    }
}
