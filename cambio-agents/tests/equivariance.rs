//! No seat is special: an agent that plays the same match with other seat letters makes the same decisions.
//!
//! Two matches are played in parallel. In the second match, all seat letters are rotated, together with the starter,
//! the cards, the streams and the races. Every event and every decision must be the same as in the first match, up to
//! the letters. `CAMBIO_FULL=1` plays every agent at every table with every rotation of the letters.

use cambio_agents::{AgentSpec, FloatNetwork, Network, NetworkInputs, roster};
use cambio_core::engine::RoundChance;
use cambio_core::play::RoundResult;
use cambio_core::rng::{Bounded as _, Key, Purpose};
use cambio_core::rules::PRESETS;
use cambio_core::testing::{CheckScope, NonconformanceKind, Relabelling, check_agent};
use cambio_core::{
    Action, Agent, AgentError, Briefing, Card, Event, Match, Observation, Observer, Phase, Players, Position, Rules,
    Score, Seat, SeatSet, Spot, SpotSet, State, Table,
};

/// One of the two matches.
struct Side {
    relabelling: Relabelling,
    game: Match,
    players: Players<Box<dyn Agent>>,
    eyes: Vec<Option<Box<dyn Observer + Send>>>,
    chance: RoundChance,
}

impl Side {
    fn new(spec: &AgentSpec, rules: &Rules, seats: usize, key: Key, relabelling: Relabelling) -> Side {
        let starter = relabelling.seat(Match::first_starter(rules, seats, key));
        let mut players = Players::all((0..seats).map(|_| spec.make()));
        let eyes = players.agents().iter().flatten().map(Agent::observer).collect();
        for seat in Seat::A.round(seats) {
            // The stream belongs to the seat, not to its letter.
            let (moved, stream) = (relabelling.seat(seat), key.agent(seat));
            players.brief(&Briefing { rules, seats, seat: moved, stream: &stream }).unwrap();
        }
        let chance = RoundChance::new(key, 0);
        Side { relabelling, game: Match::new(rules, seats, starter).unwrap(), players, eyes, chance }
    }

    fn begin_round(&mut self, deck: &[Card], key: Key) -> (State, Vec<Event<Card>>) {
        let standing = self.game.standing();
        self.players.round_begins(&standing, deck);
        self.chance = RoundChance::new(key, self.game.rounds() as u32);
        let mut events = Vec::new();
        let mut sink = |event: &Event<Card>| {
            self.players.event(event);
            events.push(*event);
        };
        let state = State::deal(&self.game.setup(), deck, &mut self.chance, &mut sink).unwrap();
        (state, events)
    }

    fn decide(&mut self, state: &mut State) -> (Seat, Action, Vec<Event<Card>>) {
        let seat = state.actor().unwrap();
        if let Some(eye) = &mut self.eyes[seat.index()] {
            eye.asks(state, seat);
        }
        let action = self.players.ask(&state.observe(seat)).unwrap().unwrap().canonical();
        let mut events = Vec::new();
        let mut sink = |event: &Event<Card>| {
            self.players.event(event);
            events.push(*event);
        };
        state.apply(action, &mut self.chance, &mut sink).unwrap();
        (seat, action, events)
    }

    fn end_round(&mut self, state: &State) -> RoundResult {
        let result = RoundResult::of(state).unwrap();
        self.players.round_ends(state, &result);
        self.game.add(&result);
        result
    }
}

/// Moves the item of each seat with its relabelled seat.
fn turned<T: Clone>(by_seat: &[T], places: usize) -> Vec<T> {
    let mut items = by_seat.to_vec();
    items.rotate_right(places);
    items
}

/// The seats and spots of a table, with all seats relabelled.
fn facts(table: &Table, places: usize) -> (Vec<SeatSet>, Vec<SpotSet>, Vec<Option<Seat>>, Option<Spot>) {
    let moved = Relabelling::new(table.seats(), places);
    let seats = |seats: SeatSet| seats.iter_from(Seat::A).map(|seat| moved.seat(seat)).collect();
    let spots = |spots: SpotSet| spots.iter_from(Seat::A).map(|spot| moved.spot(spot)).collect();
    let seen: Vec<SpotSet> = Seat::A.round(table.seats()).map(|seat| spots(table.seen(seat))).collect();
    let mut seen = turned(&seen, places);
    seen.extend([table.occupied(), table.pointed()].map(spots));
    let named = [Some(table.starter()), Some(table.turn()), table.asked(), table.callers_in_order().next()];
    let named = named.into_iter().map(|seat| seat.map(|seat| moved.seat(seat))).collect();
    ([table.callers(), table.safe()].map(seats).into(), seen, named, table.gap().map(|spot| moved.spot(spot)))
}

/// All other facts of a table: the fields of its position, with the letters of those that name seats or spots relabelled and sorted.
fn other_facts(state: &State, places: usize) -> Vec<String> {
    let moved = Relabelling::new(state.table().seats(), places);
    let seat = |letter: char| moved.seat(Seat::from_letter(letter).unwrap()).to_string();
    let spot = |spot: &str| moved.spot(spot.parse().unwrap()).to_string();
    let view = state.observe(state.actor().unwrap());
    let totals = vec![Score::default(); view.table().seats()];
    let text = Position::exact(&view, &totals, 0).to_string();
    let names = "turns phase held pile opener opening power step flags reshuffles ended";
    let fact = |field: &str| {
        let (name, value) = field.split_once('=')?;
        let mut values: Vec<String> = match name {
            "cards" | "peeks" => value.chars().map(seat).collect(),
            "named" => value.split(',').map(spot).collect(),
            _ if names.split(' ').any(|own| own == name) => vec![value.to_owned()],
            _ => return None,
        };
        values.sort();
        Some(format!("{name}={}", values.join(",")))
    };
    text.split(' ').filter_map(fact).collect()
}

/// Plays up to `rounds` rounds of two matches with different letters; returns the number of decisions.
fn compare(spec: &str, preset: &str, seats: usize, key: Key, places: usize, rounds: usize) -> u64 {
    let at = format!("{spec}, {preset}, {seats} seats, deal {}, letters rotated by {places}", key.deal);
    let (agent, rules) = (roster().parse(spec).unwrap(), Rules::preset(preset).unwrap());
    let moved = Relabelling::new(seats, places);
    let mut sides = [0, places].map(|places| Side::new(&agent, &rules, seats, key, Relabelling::new(seats, places)));
    let same = |events: &[Event<Card>]| events.iter().map(|event| moved.event(event)).collect::<Vec<_>>();
    let mut decisions = 0;
    while !sides[0].game.is_over() && sides[0].game.rounds() < rounds {
        let mut deck = rules.deck().to_vec();
        key.stream(Purpose::Deck, sides[0].game.rounds() as u32).shuffle(&mut deck);
        let [one, other] = &mut sides;
        let ((mut first, heard), (mut second, heard_there)) =
            (one.begin_round(&deck, key), other.begin_round(&deck, key));
        assert_eq!(heard_there, same(&heard), "{at}: the deal");
        while !first.is_over() {
            assert_eq!(facts(second.table(), 0), facts(first.table(), places), "{at}: the table");
            assert_eq!(other_facts(&second, 0), other_facts(&first, places), "{at}: the table");
            let (choices, choices_there) = (first.choices(), second.choices());
            assert!(choices_there.iter().eq(choices.iter().map(|action| moved.action(action))), "{at}: the choices");
            let (seat, action, events) = one.decide(&mut first);
            let (seat_there, action_there, events_there) = other.decide(&mut second);
            assert_eq!(
                (seat_there, action_there),
                (moved.seat(seat), moved.action(action)),
                "{at}: seat {seat} decides `{action}` of {choices}",
            );
            assert_eq!(events_there, same(&events), "{at}: the events after `{action}` of seat {seat}");
            decisions += 1;
        }
        let (result, result_there) = (one.end_round(&first), other.end_round(&second));
        assert_eq!(result_there.points(), turned(result.points(), places), "{at}: the points");
        assert_eq!(result_there.scores(), turned(result.scores(), places), "{at}: the scores");
        let set = |seats: SeatSet| seats.iter_from(Seat::A).map(|seat| moved.seat(seat)).collect::<SeatSet>();
        let marked = [result.callers, result.succeeded, result.winners].map(set);
        assert_eq!([result_there.callers, result_there.succeeded, result_there.winners], marked, "{at}: the seats");
        let named = [Some(result.starter), result.first_caller].map(|seat| seat.map(|seat| moved.seat(seat)));
        assert_eq!([Some(result_there.starter), result_there.first_caller], named, "{at}: the seats");
        assert_eq!((result_there.ended, result_there.turns), (result.ended, result.turns), "{at}: the end");
    }
    assert_eq!(sides[1].game.totals(), turned(sides[0].game.totals(), places), "{at}: the totals");
    assert_eq!(sides[1].relabelling.seat(Seat::A), moved.seat(Seat::A));
    decisions
}

/// Every agent of the roster without a text, with small budgets for searches, and parameters that cover more code.
fn specs() -> Vec<(String, bool)> {
    let entries = roster();
    let named = entries.entries().iter().filter(|entry| entry.text.is_none()).map(|entry| match entry.name.as_str() {
        "rollout" => ("rollout(n=12)".to_owned(), true),
        "ismcts" => ("ismcts(iterations=24,expand=2)".to_owned(), true),
        "oracle" => ("oracle(iterations=12)".to_owned(), true),
        name => (name.to_owned(), false),
    });
    let more = [
        ("random(pass=0.9)", false),
        ("heuristic(decay=0.2,confusion=0.5)", false),
        ("heuristic(capacity=3)", false),
        ("heuristic(threshold=0.7,bluff=0.2,gamble=0.5,disrupt=1)", false),
        ("heuristic(hoard=0)", false),
        ("rollout(n=12,final=proportional,utility=win)", true),
        ("rollout(n=8,epsilon=0.3)", true),
        ("ismcts(iterations=16,mode=so)", true),
        ("ismcts(iterations=16,mode=mo,playout=blueprint)", true),
    ];
    named.chain(more.map(|(spec, searches)| (spec.to_owned(), searches))).collect()
}

#[test]
fn every_agent_makes_the_same_decisions_under_other_letters() {
    let full = crate::play::amount(false, true);
    let mut deal = 0;
    for (spec, searches) in specs() {
        let mut decisions = 0;
        for preset in PRESETS {
            let rules = Rules::preset(preset).unwrap();
            for seats in (2..=8).filter(|&seats| rules.covers(seats).is_ok()) {
                let key = Key::new(1414, deal);
                deal += 1;
                // A full run plays every table; a short run plays some tables with each agent.
                if !full && deal % if searches { 9 } else { 5 } != 0 {
                    continue;
                }
                let moves =
                    if full { 1..seats } else { 1 + deal as usize % (seats - 1)..2 + deal as usize % (seats - 1) };
                for places in moves {
                    decisions += compare(&spec, preset, seats, key, places, if searches { 1 } else { 3 });
                }
            }
        }
        println!("{spec}: {decisions} decisions");
        assert!(decisions > 100, "{spec}: only {decisions} decisions");
    }
}

/// A network sees the relative positions of seats, so letters do not matter.
#[test]
fn a_network_makes_the_same_decisions_under_other_letters() {
    for (deal, preset) in (0..).zip(PRESETS.iter().chain(&PRESETS)) {
        let rules = Rules::preset(preset).unwrap();
        let inputs =
            if deal < PRESETS.len() as u64 { NetworkInputs::new(&rules) } else { NetworkInputs::general(&rules) };
        let mut floats = FloatNetwork::zero(inputs.count());
        let mut stream = Key::new(9, deal).stream(Purpose::Deck, 0);
        for weight in floats.rows.iter_mut().chain(&mut floats.second).chain(&mut floats.last) {
            *weight = stream.below(601) as f32 / 1000.0 - 0.3;
        }
        let path = std::env::temp_dir().join(format!("cambio-letters-{preset}-{}.net", std::process::id()));
        std::fs::write(&path, Network::new(&inputs, &floats).to_bytes(&serde_json::Value::Null)).unwrap();
        let spec = format!("learned(\"{}\")", path.display());
        let decisions: u64 = (2..=8)
            .map(|seats| compare(&spec, preset, seats, Key::new(1415, deal), 1 + deal as usize % (seats - 1), 3))
            .sum();
        assert!(decisions > 100, "{preset}: only {decisions} decisions");
        std::fs::remove_file(path).unwrap();
    }
}

/// The chance to win a match is a sum over seats, which must not depend on the seat with which it begins.
#[test]
fn match_searches_are_equivariant_under_relabelling() {
    assert!(compare("rollout(n=10,utility=match)", "classic", 3, Key::new(1414, 1), 2, 1) > 10);
}

/// Swaps blindly with the seat of the lowest letter, as early versions of this crate's agents did.
struct Partial;

impl Agent for Partial {
    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        let choices = view.choices();
        if view.table().phase() == Phase::Power {
            let own = view.table().layout(view.seat());
            let (mine, others) = (own.first_from(view.seat()), choices.swappable().without(own));
            let swap = mine.zip(others.first_from(Seat::A)).map(|(mine, theirs)| Action::swap(mine, theirs));
            if let Some(swap) = swap.filter(|&swap| choices.contains(swap)) {
                return Ok(swap);
            }
        }
        let idle = [Action::Pass, Action::End, Action::Draw, Action::Drop];
        Ok(idle.into_iter().find(|&action| choices.contains(action)).or(choices.nth(0)).unwrap())
    }
}

#[test]
fn an_agent_that_is_partial_to_a_letter_does_not_conform() {
    let effort = CheckScope { presets: vec!["classic"], seats: vec![3], matches: 4, ..CheckScope::default() };
    let failing = check_agent(|| Partial, &effort).unwrap_err();
    assert!(matches!(failing.kind, NonconformanceKind::Partial { .. }), "{failing}");
    assert_eq!(
        failing.to_string(),
        "classic, 3 seats, deal 0: seat a decides `swap a1 b1`; when all seats are relabelled and it is seat b, it decides \
         `swap a1 b1` instead of `swap b1 c1`: the agent depends on the letters of the seats"
    );
}
