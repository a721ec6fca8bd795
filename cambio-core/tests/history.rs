//! The public card history: equal for every seat, symmetric under relabelling, and consistent with the table.

use std::collections::BTreeSet;

use crate::play::{Manner, amount};
use cambio_core::engine::{Dice, Setup};
use cambio_core::rng::{Key, Purpose};
use cambio_core::rules::PRESETS;
use cambio_core::testing::Relabelling;
use cambio_core::view::{CardHistory, Origin};
use cambio_core::{Action, Card, Event, Rules, Seat, SeatSet, Spot, State};

/// The histories of one game, from different views of its events.
struct Listening {
    referee: CardHistory,
    public: CardHistory,
    seats: Vec<CardHistory>,
    moved: CardHistory,
    relabelling: Relabelling,
}

impl Listening {
    fn hear(&mut self, event: &Event<Card>) {
        self.referee.notice(event);
        self.public.notice(&event.public());
        for (seat, history) in Seat::ALL.into_iter().zip(&mut self.seats) {
            history.notice(&event.seen_from(seat));
        }
        self.moved.notice(&self.relabelling.event(event));
    }

    fn check(&self, state: &State) {
        let table = state.table();
        assert_eq!(self.referee, self.public);
        for (seat, history) in Seat::ALL.into_iter().zip(&self.seats) {
            assert_eq!(*history, self.referee);
            assert_eq!(history.seen(seat), table.seen(seat));
        }
        for spot in table.occupied().iter_from(Seat::A) {
            let trace = self.referee.trace(spot);
            assert_eq!(trace, self.moved.trace(self.relabelling.spot(spot)));
            assert!(usize::from(trace.turn) <= table.turns());
            assert!(trace.origin == Origin::Kept || trace.bounds()[0].is_none());
        }
    }
}

/// The decision with two spots exchanged.
fn exchanged(action: Action, one: Spot, other: Spot) -> Action {
    let spot = |spot| match spot {
        spot if spot == one => other,
        spot if spot == other => one,
        spot => spot,
    };
    match action {
        Action::Keep(at) => Action::Keep(spot(at)),
        Action::Look(at) => Action::Look(spot(at)),
        Action::Swap(a, b) => Action::swap(spot(a), spot(b)),
        Action::Show(at) => Action::Show(spot(at)),
        Action::Snap(at) => Action::Snap(spot(at)),
        Action::Touch(at) => Action::Touch(spot(at)),
        Action::Give(at) => Action::Give(spot(at)),
        Action::Cheat(at) => Action::Cheat(spot(at)),
        other => other,
    }
}

/// Checks that exchanging two cards that are alike for a seat does not change its choices. Returns the number of pairs.
fn check_alike(state: &State, history: &CardHistory) -> usize {
    let Some(seat) = state.actor() else { return 0 };
    let view = state.view(seat);
    let choices: BTreeSet<String> = state.choices().iter().map(|action| action.to_string()).collect();
    // Before the first turn, the rules may allow peeks only at some slots.
    if choices.iter().any(|choice| choice.starts_with("peek")) {
        return 0;
    }
    let spots: Vec<Spot> = state.table().occupied().iter_from(seat).collect();
    let mut found = 0;
    for (place, &one) in spots.iter().enumerate() {
        let is_alike = |other: &&Spot| history.are_alike_decisions(&view, Action::Snap(one), Action::Snap(**other));
        for &other in spots[place + 1..].iter().filter(is_alike) {
            let moved = state.choices().iter().map(|action| exchanged(action, one, other).canonical().to_string());
            assert_eq!(moved.collect::<BTreeSet<_>>(), choices, "{one} and {other}");
            found += 1;
        }
    }
    found
}

#[test]
fn histories_do_not_depend_on_seat_or_letters() {
    let mut alike = 0;
    for name in PRESETS {
        let rules = Rules::preset(name).unwrap();
        for deal in 0..amount(60, 3000) {
            let seats = 2 + (deal % 7) as usize;
            let key = Key::new(11, deal);
            let mut dice = Dice(key.stream(Purpose::Deck, 0));
            let mut stream = key.agent(Seat::A);
            let relabelling = Relabelling::new(seats, 1 + (deal % 3) as usize);
            let new = || CardHistory::new(&rules, seats);
            let mut listening =
                Listening { referee: new(), public: new(), seats: vec![new(); seats], moved: new(), relabelling };
            let setup = Setup::new(&rules, seats);
            let mut deck = rules.deck().to_vec();
            cambio_core::rng::Bounded::shuffle(&mut stream, &mut deck);
            let mut state =
                State::deal(&setup, &deck, &mut dice, &mut |event: &Event<Card>| listening.hear(event)).unwrap();
            while let Some(seat) = state.actor() {
                listening.check(&state);
                alike += check_alike(&state, &listening.referee);
                let action = Manner::of(deal).choose(&state.observe(seat), &mut stream);
                state.apply(action, &mut dice, &mut |event: &Event<Card>| listening.hear(event)).unwrap();
            }
        }
    }
    assert!(alike > 1000, "only {alike} pairs of cards were alike");
}

/// The owner's decisions give bounds on the points of a card that the owner knows. The bounds move with the card.
#[test]
fn a_bound_goes_with_the_card() {
    let rules = Rules::preset("classic").unwrap();
    let mut history = CardHistory::new(&rules, 2);
    let spot = |name: &str| name.parse::<Spot>().unwrap();
    let card = |label| rules.card(label).unwrap();
    let seat = Seat::A;
    let mut hear = |event: Event<Card>| {
        history.notice(&event);
        history.clone()
    };
    hear(Event::Dealt { starter: seat, extra: SeatSet::default() });
    hear(Event::Peeked { seat, spot: spot("a1"), face: card("2c") });
    hear(Event::TurnBegan { seat });
    hear(Event::Drew { seat, face: card("4c") });
    let after = hear(Event::Dropped { seat, card: card("4c") });
    assert_eq!(after.trace(spot("a1")).bounds()[2], Some(4));
    assert_eq!(after.trace(spot("a2")).bounds()[2], None, "seat a does not know this card");
    hear(Event::Drew { seat, face: card("3c") });
    let after = hear(Event::Dropped { seat, card: card("3c") });
    assert_eq!(after.trace(spot("a1")).bounds()[2], Some(3));
    hear(Event::Drew { seat, face: card("5c") });
    let after = hear(Event::Kept { seat, spot: spot("a1"), replaced: card("2c") });
    assert_eq!(after.trace(spot("a1")).bounds()[0], Some(2));
    assert_eq!((after.trace(spot("a1")).bounds()[2], after.trace(spot("a1")).origin), (None, Origin::Kept));
    let after = hear(Event::Swapped { seat, one: spot("a1"), other: spot("b3") });
    assert_eq!((after.trace(spot("b3")).bounds()[0], after.trace(spot("b3")).moves), (Some(2), 1));
    assert_eq!(after.trace(spot("a1")).bounds()[0], None);
    assert!(after.seen(Seat::A).contains(spot("b3")) && !after.seen(Seat::A).contains(spot("a1")));
}
