//! Properties that hold in every game, checked in random games of every preset at every number of seats, and in games
//! with random values of the knobs.
//!
//! `CAMBIO_FULL=1` plays many more games.

use crate::play::{
    EventCounts, Game, Manner, Model, RepeatedChance, all_cards, amount, deck_of, games, mini_games, odd_games, play,
};
use cambio_core::encode::ActionSpace;
use cambio_core::engine::{Dice, EndReason, RaceOrder, Setup, Sink, SnapOutcome};
use cambio_core::play::RoundResult;
use cambio_core::rng::{Bounded as _, Key, Stream};
use cambio_core::rules::knob::{Cap, LimitInLap};
use cambio_core::{
    Action, Card, Event, Knowledge, Observer, Phase, Rules, Seat, Sighting, Spot, Standing, State, View as _,
};

/// Checks that a state view and an observation agree. A state view copies nothing and updates its sums incrementally.
fn state_view_agrees(state: &State, seat: Seat) {
    let (view, state_view) = (state.observe(seat), state.view(seat));
    let all = state.table().occupied();
    assert!(state_view.known_cards(all).eq(view.known_cards(all)), "what {seat} knows");
    assert_eq!(state_view.known_points(), view.known_points(), "points that {seat} knows");
    assert_eq!((state_view.known_matches(), state_view.held()), (view.known_matches(), view.held()));
    assert_eq!(state_view.choices(), view.choices());
    assert_eq!(cambio_core::View::targets(&state_view), view.choices().targets());
    assert_eq!(cambio_core::View::swappable(&state_view), view.choices().swappable());
}

/// The knowledge of each seat, updated from its sightings.
struct SeatKnowledge {
    minds: Vec<Knowledge>,
}

impl SeatKnowledge {
    fn new(rules: &Rules, seats: usize) -> SeatKnowledge {
        SeatKnowledge { minds: Seat::ALL[..seats].iter().map(|&seat| Knowledge::new(rules, seats, seat)).collect() }
    }

    fn notice(&mut self, event: Event<Card>) {
        for mind in &mut self.minds {
            mind.notice(&event.seen_from(mind.seat()));
        }
    }
}

// Every card is in exactly one place, and the seats' knowledge is correct.

struct Bookkeeper {
    model: Model,
    minds: SeatKnowledge,
    deck: Vec<Card>,
}

impl Bookkeeper {
    fn check(&self, state: &State) {
        assert_eq!(all_cards(state), self.deck);
        self.model.assert_is(state);
        for mind in &self.minds.minds {
            self.check_mind(mind, state);
        }
    }

    fn check_mind(&self, mind: &Knowledge, state: &State) {
        let (model, seat) = (&self.model, mind.seat());
        let view = state.observe(seat);
        assert_eq!(mind.known(), view.known());
        state_view_agrees(state, seat);
        for other in Seat::ALL {
            assert_eq!(mind.seen(other), state.table().seen(other), "what {other} has seen, for {seat}");
        }
        for (&spot, &piece) in &model.spots {
            let piece = model.pieces[piece];
            let truth = piece.face.unwrap();
            let mut candidates: Vec<Card> = mind.candidates(spot).collect();
            candidates.sort_unstable();
            if piece.seen_by.contains(seat) {
                assert_eq!((mind.face(spot), view.face(spot)), (Some(truth), Some(truth)));
                assert_eq!(candidates, [truth]);
            } else {
                assert_eq!((mind.face(spot), view.face(spot)), (None, None));
                assert_eq!(candidates, model.unseen(seat, piece.epoch), "{spot} for {seat}");
                assert!(candidates.contains(&truth));
            }
        }
        let mut stock = mind.stock_candidates().to_vec();
        stock.sort_unstable();
        assert_eq!(stock, model.unseen(seat, model.epoch), "the stock for {seat}");
        assert!(stock.len() >= state.table().stock_len());
        let held = model.held.map(|piece| model.pieces[piece]);
        let held = held.filter(|piece| piece.seen_by.contains(seat)).map(|piece| piece.face.unwrap());
        assert_eq!(view.held(), held);
        for spot in Seat::ALL.into_iter().flat_map(|seat| (1..=16).map(move |slot| Spot::new(seat, slot).unwrap())) {
            if !model.spots.contains_key(&spot) {
                assert_eq!((mind.candidates(spot).count(), view.face(spot)), (0, None));
            }
        }
    }
}

impl Observer for Bookkeeper {
    fn round_begins(&mut self, standing: &Standing<'_>, deck: &[Card]) {
        self.model.round_begins(standing, deck);
    }

    fn event(&mut self, event: &Event<Card>) {
        self.model.event(event);
        self.minds.notice(*event);
    }

    fn decides(&mut self, state: &State, _: Seat, _: Action) {
        self.check(state);
    }

    fn reshuffle(&mut self, stock: &[Card]) {
        self.model.reshuffle(stock);
    }

    fn round_ends(&mut self, state: &State, _: &RoundResult) {
        assert_eq!(all_cards(state), self.deck);
        // At the end all layouts are turned up.
        for mind in &self.minds.minds {
            assert_eq!(mind.known(), state.table().occupied());
            assert!(mind.known().iter_from(Seat::A).all(|spot| mind.face(spot) == state.face(spot)));
        }
    }
}

fn keep_books(game: &Game) {
    let Game { rules, seats, .. } = game;
    let minds = SeatKnowledge::new(rules, *seats);
    game.play(&mut Bookkeeper { model: Model::default(), minds, deck: deck_of(rules) });
}

#[test]
fn cards_and_knowledge_are_consistent() {
    games(101, amount(1, 12)).for_each(|game| keep_books(&game));
}

#[test]
fn cards_and_knowledge_are_consistent_for_random_rules() {
    let played = odd_games(102, amount(30, 2000)).inspect(keep_books).count();
    assert!(played > 20);
}

// Decisions.

struct Clerk {
    space: ActionSpace,
    stream: Stream,
    mask: Vec<bool>,
    /// One in this many decisions is compared with the whole action space.
    thin: u32,
    refused: u64,
}

impl Observer for Clerk {
    fn decides(&mut self, state: &State, seat: Seat, _: Action) {
        let choices = state.choices();
        let listed: Vec<Action> = choices.iter().collect();
        assert!(!listed.is_empty());
        assert_eq!((listed.len(), choices.is_empty()), (choices.len(), false));
        assert_eq!(choices.nth(listed.len()), None);
        assert_eq!(state.observe(seat).choices(), choices);
        for other in Seat::ALL[..seats_of(state)].iter().filter(|&&other| other != seat) {
            assert!(state.observe(*other).choices().is_empty());
            assert!(listed.iter().all(|&action| !state.observe(*other).allows(action)));
        }
        if !self.stream.chance(1, self.thin) {
            return;
        }
        self.mask.resize(self.space.action_count(), false);
        self.space.mask(&choices, seat, &mut self.mask);
        for (number, &action) in listed.iter().enumerate() {
            assert_eq!(choices.nth(number), Some(action));
            assert_eq!(action.to_string().parse(), Ok(action));
            let mut after = state.clone();
            after.apply(action, &mut Dice(self.stream.clone()), &mut ()).unwrap();
            assert_eq!(all_cards(&after).len(), state.table().rules().deck().len());
        }
        // Every index has its own decision. A decision that is not listed is rejected and changes nothing.
        let before = format!("{state:?}");
        let mut same = state.clone();
        for (index, &legal) in self.mask.iter().enumerate() {
            let action = self.space.from_index(index, seat).unwrap();
            assert_eq!(self.space.to_index(action, seat), Some(index), "{action}");
            assert_eq!(action.to_string().parse(), Ok(action));
            assert_eq!(choices.contains(action), legal, "{action}");
            assert_eq!(state.allows(action), legal, "{action}");
            assert_eq!(state.observe(seat).allows(action), legal, "{action}");
            assert_eq!(listed.contains(&action), legal, "{action}");
            if !legal {
                let error = same.apply(action, &mut Dice(self.stream.clone()), &mut Deaf).unwrap_err();
                assert_eq!((error.action, error.actor, error.legal), (action, Some(seat), choices));
                self.refused += 1;
            }
        }
        assert_eq!(self.space.from_index(self.mask.len(), seat), None);
        assert_eq!(self.mask.iter().filter(|&&legal| legal).count(), listed.len());
        // No card can be swapped with itself. Decisions outside the space are legal only if they are listed.
        assert!(state.table().occupied().iter_from(Seat::A).all(|spot| !choices.contains(Action::Swap(spot, spot))));
        let beyond = Spot::new(seat, 16).unwrap();
        for action in [Action::Swap(beyond, beyond), Action::Keep(beyond), Action::Snap(beyond), Action::Touch(beyond)]
        {
            assert_eq!(state.allows(action), choices.contains(action), "{action}");
            assert!(choices.contains(action) || same.apply(action, &mut Dice(self.stream.clone()), &mut ()).is_err());
        }
        assert_eq!(format!("{same:?}"), before, "a rejected decision changed the state");
    }

    fn round_ends(&mut self, state: &State, _: &RoundResult) {
        let mut over = state.clone();
        let error = over.apply(Action::Draw, &mut Dice(self.stream.clone()), &mut Deaf).unwrap_err();
        assert_eq!((error.actor, error.legal.len()), (None, 0));
        let mut actions = (0..self.space.action_count()).filter_map(|index| self.space.from_index(index, Seat::A));
        assert!(actions.all(|action| !state.allows(action)));
    }
}

fn seats_of(state: &State) -> usize {
    state.table().seats()
}

/// A sink that must not receive an event.
struct Deaf;

impl Sink for Deaf {
    fn event(&mut self, event: &Event<Card>) {
        panic!("a rejected decision caused {event:?}");
    }
}

fn check_choices(game: &Game, thin: u32) -> u64 {
    let space = ActionSpace::new(&game.rules, game.seats);
    let mut clerk = Clerk { space, stream: game.key.agent(Seat::H), mask: Vec::new(), thin, refused: 0 };
    game.play(&mut clerk);
    clerk.refused
}

#[test]
fn only_listed_decisions_apply() {
    let refused: u64 = games(103, amount(1, 20)).map(|game| check_choices(&game, 24)).sum();
    assert!(refused > 100_000);
}

#[test]
fn only_listed_decisions_apply_in_mini_games() {
    let refused: u64 = mini_games(112, amount(20, 200)).map(|game| check_choices(&game, 1)).sum();
    assert!(refused > 10_000, "{refused}");
}

#[test]
fn only_listed_decisions_apply_for_random_rules() {
    let refused: u64 = odd_games(104, amount(100, 1500)).map(|game| check_choices(&game, 24)).sum();
    assert!(refused > 100_000);
}

// Hidden information does not change what a seat perceives.

/// A sighting without its face, and whether that face was new to the seat.
fn blank(sighting: Sighting, known: SpotKnown<'_>) -> (String, bool) {
    let text = |sighting: Sighting| format!("{sighting:?}");
    let filler = Card::new(0).unwrap();
    match sighting {
        Event::Peeked { seat, spot, face: Some(_) } => (text(Event::Peeked { seat, spot, face: None }), true),
        Event::Looked { seat, spot, face: Some(_) } => (text(Event::Looked { seat, spot, face: None }), !known(spot)),
        Event::Drew { seat, face: Some(_) } => (text(Event::Drew { seat, face: None }), true),
        Event::Flipped { .. } => ("flipped".to_owned(), true),
        Event::Kept { seat, spot, .. } if !known(spot) => (text(Event::Kept { seat, spot, replaced: filler }), true),
        Event::Shown { spot, .. } if !known(spot) => (text(Event::Shown { spot, card: filler }), true),
        Event::TurnedUp { spot, .. } => (format!("turned up {spot}"), !known(spot)),
        Event::Snapped { seat, spot, .. } if !known(spot) => {
            (text(Event::Snapped { seat, spot, card: filler, verdict: SnapOutcome::Wrong }), true)
        }
        other => (text(other), false),
    }
}

type SpotKnown<'a> = &'a dyn Fn(Spot) -> bool;

/// The sightings of a seat after a decision, up to and including the first one with a face that is new to the seat.
fn next_sightings(state: &State, action: Action, seat: Seat, stream: &Stream) -> Vec<String> {
    let mut after = state.clone();
    let known = state.observe(seat).known();
    let mut seen = Vec::new();
    let mut told = false;
    let mut sink = |event: &Event<Card>| {
        if !told {
            let (text, tells) = blank(event.seen_from(seat), &|spot| known.contains(spot));
            seen.push(text);
            told = tells;
        }
    };
    after.apply(action, &mut Dice(stream.clone()), &mut sink).unwrap();
    seen
}

struct Spy {
    minds: SeatKnowledge,
    stream: Stream,
    deck: Vec<Card>,
    /// One in this many worlds is played to its end.
    thin: u32,
    finished: u64,
}

impl Spy {
    fn check_world(&mut self, state: &State, world: &State, seat: Seat, action: Action) {
        assert_eq!(world.observe(seat), state.observe(seat));
        assert_eq!(world.table(), state.table());
        assert_eq!(all_cards(world), self.deck);
        if state.actor() == Some(seat) {
            assert_eq!(world.choices(), state.choices());
            // In a sampled world the other seats declare again, so a window may resolve differently. With two knobs,
            // the seat to act and its choices depend on hidden cards.
            let spec = state.table().rules().spec();
            let tells = spec.snap_known_only || matches!(spec.cap, Cap::Feasible(_));
            if state.table().phase() != Phase::Window && !tells {
                let truth = next_sightings(state, action, seat, &self.stream);
                assert_eq!(next_sightings(world, action, seat, &self.stream), truth, "{seat} {action}");
            }
        }
        if self.stream.chance(1, self.thin) {
            Seat::ALL[..seats_of(world)].iter().for_each(|&seat| state_view_agrees(world, seat));
            self.play_out(world.clone());
            self.play_twice(world.clone());
            self.play_limited(world.clone());
        }
    }

    /// [`State::limit_turns`] ends the round after that many more turns, and changes nothing before.
    fn play_limited(&mut self, world: State) {
        let more = self.stream.below(6) as usize;
        let limit = world.table().turns() + more;
        let mut worlds = [world.clone(), world];
        worlds[1].limit_turns(more);
        worlds[1].limit_turns(more + 1);
        let mut dice = [0, 1].map(|_| Dice(self.stream.clone()));
        while !worlds[1].is_over() {
            assert_eq!(worlds[0].table(), worlds[1].table());
            let choices = worlds[1].choices();
            let action = choices.nth(self.stream.below(choices.len() as u32) as usize).unwrap();
            for (world, dice) in worlds.iter_mut().zip(&mut dice) {
                world.apply(action, dice, &mut ()).unwrap();
            }
        }
        // A last lap after a call may go on beyond the limit.
        let table = worlds[1].table();
        let waits = table.rules().spec().limit_in_lap == LimitInLap::Waits;
        assert!(table.turns() <= limit || (waits && !table.callers().is_empty()), "{} and {limit}", table.turns());
        assert!(table == worlds[0].table() || table.ended() == Some(EndReason::TurnLimit));
    }

    /// If seats snap only known matches, [`State::ask_knowing_only`] does not change the round.
    fn play_twice(&mut self, world: State) {
        let mut worlds = [world.clone(), world];
        worlds[1].ask_knowing_only();
        let mut dice = [0, 1].map(|_| Dice(self.stream.clone()));
        for decision in 0.. {
            for (world, dice) in worlds.iter_mut().zip(&mut dice) {
                while let Some(asked) = world.actor()
                    && matches!(world.table().phase(), Phase::Window | Phase::Chain)
                    && world.observe(asked).known_matches().is_empty()
                {
                    world.apply(Action::Pass, dice, &mut ()).unwrap();
                }
            }
            assert_eq!(worlds[0].table(), worlds[1].table());
            let Some(asked) = worlds[0].actor() else { break };
            let view = worlds[0].observe(asked);
            let matching = view.known_matches();
            let action = if matching.is_empty() {
                let manner = if decision < 400 { Manner::Moderate } else { Manner::Uniform };
                manner.choose(&view, &mut self.stream)
            } else {
                matching
                    .nth_from(asked, self.stream.below(matching.len() as u32 + 1) as usize)
                    .map_or(Action::Pass, Action::Snap)
            };
            for (world, dice) in worlds.iter_mut().zip(&mut dice) {
                world.apply(action, dice, &mut ()).unwrap();
            }
        }
        assert_eq!(RoundResult::of(&worlds[0]), RoundResult::of(&worlds[1]));
    }

    fn play_out(&mut self, mut world: State) {
        let mut dice = Dice(self.stream.clone());
        let mut decisions = 0;
        while let Some(asked) = world.actor() {
            // First slow play, so that the stock runs out; then quick play, so that the round ends.
            let manner = if decisions < 400 { Manner::Moderate } else { Manner::Uniform };
            let action = manner.choose(&world.observe(asked), &mut self.stream);
            world.apply(action, &mut dice, &mut ()).unwrap();
            decisions += 1;
        }
        assert_eq!(all_cards(&world), self.deck);
        assert!(RoundResult::of(&world).is_some());
        self.finished += 1;
    }
}

impl Observer for Spy {
    fn event(&mut self, event: &Event<Card>) {
        self.minds.notice(*event);
    }

    fn decides(&mut self, state: &State, _: Seat, action: Action) {
        for index in 0..seats_of(state) {
            let mind = &self.minds.minds[index];
            let world = mind.sample(&state.observe(mind.seat()), &mut self.stream);
            self.check_world(state, &world, Seat::ALL[index], action);
        }
    }
}

fn spy_on(game: &Game) -> u64 {
    let minds = SeatKnowledge::new(&game.rules, game.seats);
    let stream = game.key.agent(Seat::H);
    let mut spy = Spy { minds, stream, deck: deck_of(&game.rules), thin: 200, finished: 0 };
    game.play(&mut spy);
    spy.finished
}

#[test]
fn redealt_worlds_look_the_same_and_can_be_played() {
    let finished: u64 = games(105, amount(1, 12)).map(|game| spy_on(&game)).sum();
    assert!(finished > 200, "{finished}");
}

#[test]
fn redealt_worlds_look_the_same_for_random_rules() {
    let finished: u64 = odd_games(106, amount(60, 2000)).map(|game| spy_on(&game)).sum();
    assert!(finished > 50, "{finished}");
}

/// Replays rounds with other decks that differ only in cards that a seat has not seen.
struct Forger {
    setup: Option<Setup>,
    model: Model,
    sightings: Vec<Vec<Sighting>>,
    decisions: Vec<Action>,
    /// The index of the first declaration in the open window.
    window: usize,
    races: Vec<RaceOrder>,
    stream: Stream,
    forged: u64,
    redeclared: u64,
    after_reshuffle: u64,
}

impl Forger {
    fn new(game: &Game) -> Forger {
        Forger {
            setup: None,
            model: Model::default(),
            sightings: Vec::new(),
            decisions: Vec::new(),
            window: 0,
            races: Vec::new(),
            stream: game.key.agent(Seat::H),
            forged: 0,
            redeclared: 0,
            after_reshuffle: 0,
        }
    }

    /// The deck and the new stocks. In each of them, the cards that `seat` has not seen are shuffled.
    fn forge(&mut self, seat: Seat) -> (Vec<Card>, Vec<Vec<Card>>) {
        let mut stocks = Vec::new();
        for epoch in 0..=self.model.epoch {
            let places: Vec<usize> =
                (0..self.model.pieces.len()).filter(|&place| self.model.pieces[place].epoch == epoch).collect();
            let mut cards: Vec<Card> = places.iter().map(|&place| self.model.pieces[place].face.unwrap()).collect();
            let unseen: Vec<usize> =
                (0..cards.len()).filter(|&number| !self.model.pieces[places[number]].seen_by.contains(seat)).collect();
            let mut others: Vec<Card> = unseen.iter().map(|&number| cards[number]).collect();
            self.stream.shuffle(&mut others);
            unseen.into_iter().zip(others).for_each(|(number, card)| cards[number] = card);
            stocks.push(cards);
        }
        let mut deck = stocks.remove(0);
        deck.reverse();
        (deck, stocks)
    }

    fn check(&mut self, state: &State, seat: Seat, action: Action) {
        let (deck, stocks) = self.forge(seat);
        let mut script = RepeatedChance { races: self.races.clone(), stocks };
        let mut sightings: Vec<Sighting> = Vec::new();
        let mut sink = |event: &Event<Card>| sightings.push(event.seen_from(seat));
        let mut forged = State::deal(&self.setup.unwrap(), &deck, &mut script, &mut sink).unwrap();
        for (number, &action) in self.decisions.iter().enumerate() {
            let mut action = action;
            let pending = state.table().phase() == Phase::Window && number >= self.window;
            // Declarations of other seats in the open window are hidden too, so they are drawn again.
            if pending && forged.actor() != Some(seat) {
                let choices = forged.choices();
                action = choices.nth(self.stream.below(choices.len() as u32) as usize).unwrap();
                self.redeclared += 1;
            }
            forged.apply(action, &mut script, &mut sink).unwrap();
        }
        assert_eq!(sightings, self.sightings[seat.index()]);
        assert_eq!(forged.observe(seat), state.observe(seat));
        assert_eq!(forged.observe(seat).choices(), state.observe(seat).choices());
        if state.actor() == Some(seat) && state.table().phase() != Phase::Window {
            let truth = next_sightings(state, action, seat, &self.stream);
            assert_eq!(next_sightings(&forged, action, seat, &self.stream), truth);
        }
        self.forged += 1;
        self.after_reshuffle += u64::from(self.model.epoch > 0);
    }
}

impl Observer for Forger {
    fn round_begins(&mut self, standing: &Standing<'_>, deck: &[Card]) {
        self.setup = Some(standing.setup);
        self.model.round_begins(standing, deck);
        self.sightings = vec![Vec::new(); standing.setup.seats];
        self.decisions.clear();
        self.races.clear();
    }

    fn event(&mut self, event: &Event<Card>) {
        self.model.event(event);
        for (sightings, seat) in self.sightings.iter_mut().zip(Seat::ALL) {
            sightings.push(event.seen_from(seat));
        }
    }

    fn decides(&mut self, state: &State, _: Seat, action: Action) {
        if state.table().phase() != Phase::Window {
            self.window = self.decisions.len() + 1;
        }
        if self.stream.chance(1, 12) {
            let seat = Seat::ALL[self.stream.below(seats_of(state) as u32) as usize];
            self.check(state, seat, action);
        }
        self.decisions.push(action);
    }

    fn race(&mut self, order: &RaceOrder) {
        self.races.push(*order);
    }

    fn reshuffle(&mut self, stock: &[Card]) {
        self.model.reshuffle(stock);
    }
}

#[test]
fn hidden_changes_are_invisible_to_a_seat() {
    let (mut worlds, mut redeclared, mut after_reshuffle) = (0, 0, 0);
    for game in games(107, amount(1, 12)) {
        let mut forger = Forger::new(&game);
        game.play(&mut forger);
        worlds += forger.forged;
        redeclared += forger.redeclared;
        after_reshuffle += forger.after_reshuffle;
    }
    assert!(worlds > 1000 && redeclared > 1000 && after_reshuffle > 100, "{worlds} {redeclared} {after_reshuffle}");
}

// The kinds of events in the random games.

#[test]
fn the_random_games_have_everything_that_can_happen() {
    let mut tally = EventCounts::default();
    games(101, amount(2, 40)).for_each(|game| drop(game.play(&mut tally)));
    let mute = Rules::preset("original").unwrap();
    play(&mute, 3, Key::new(1, 0), Manner::Mute, &mut tally);
    tally.assert_seen(&[
        "Late foreign snap",
        "Late own snap",
        "Right foreign snap",
        "Right own snap",
        "Wrong foreign snap",
        "Wrong own snap",
        "chain",
        "empty layout",
        "ended by an empty hand",
        "ended by call",
        "ended by the turn limit",
        "fifth card",
        "frozen pile",
        "full layout",
        "gift",
        "gift declined",
        "penalty",
        "penalty waived",
        "power declined",
        "reshuffle",
        "reveal",
        "safe seat",
        "second caller",
        "second window",
        "several callers",
        "step look another",
        "step look any",
        "step look any or swap",
        "step look other",
        "step look own",
        "step reveal",
        "step swap",
        "third peek",
        "touch",
        "void snap",
    ]);
    let mut odd = EventCounts::default();
    odd_games(102, amount(80, 2000)).for_each(|game| drop(game.play(&mut odd)));
    odd.assert_seen(&[
        "aborted",
        "ended by an empty hand",
        "ended by call",
        "ended by the stock",
        "ended by the turn limit",
        "reshuffle",
        "second window",
        "step swap looked",
        "step swap own",
        "void snap",
    ]);
}
