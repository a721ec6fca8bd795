//! Non-interference: in two worlds that a seat cannot distinguish, the page of that seat receives the same bytes.
//!
//! A match is played with random decisions and stopped when the person has to decide. The second world exchanges cards
//! of the deck that the seat has not seen, and changes the secret declarations of other seats in an open window. Both
//! worlds are played at a desk, with agents that follow the script. Only what the page keeps to open its table again is not compared,
//! because it contains the seed. `CAMBIO_FULL=1` plays ten thousand pairs.

use std::sync::Arc;

use cambio_agents::roster;
use cambio_core::rng::{Bounded as _, Key, Stream};
use cambio_core::rules::PRESETS;
use cambio_core::{
    Action, Agent, AgentError, Briefing, Card, Deal, Observation, Phase, Playing, Rules, Seat, Sighting,
};
use serde_json::Value;

use crate::reaction::ReactionTimes;
use crate::{Catalogue, Desk, Session, SessionConfig};

/// An agent that takes the decisions of its seat from a script.
struct Scripted {
    script: Arc<Vec<(Seat, Action)>>,
    seat: Seat,
    at: usize,
}

impl Agent for Scripted {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        (self.seat, self.at) = (briefing.seat, 0);
        Ok(())
    }

    fn decide(&mut self, _: &Observation<'_>) -> Result<Action, AgentError> {
        let own = self.script.iter().filter(|(seat, _)| *seat == self.seat);
        self.at += 1;
        Ok(own.map(|(_, action)| *action).nth(self.at - 1).expect("the script has an answer to every request"))
    }
}

/// A match that stops at a decision of the person.
#[derive(Clone)]
struct World {
    deal: Deal,
    seats: usize,
    person: Seat,
    script: Vec<(Seat, Action)>,
    /// The median of the agents' reaction times if speed decides races; the person sends no time.
    reaction: Option<u32>,
}

/// Carries out a decision; with `reaction`, speed decides the race.
fn act(playing: &mut Playing, action: Action, person: Seat, reaction: Option<u32>) {
    let (round, race) = (playing.rounds(), playing.races());
    if let Some(median) = reaction {
        let times = ReactionTimes::draw(playing.key(), round, race, median).with(person, None);
        playing.set_race_order(round, race, times.order());
    }
    playing.act(action).unwrap();
}

/// A random decision that mostly passes and rarely calls, so that the match continues.
fn choose(view: &Observation<'_>, stream: &mut Stream) -> Action {
    let choices = view.choices();
    if choices.contains(Action::Pass) && stream.chance(4, 5) {
        return Action::Pass;
    }
    loop {
        let action = choices.nth(stream.below(choices.len() as u32) as usize).unwrap();
        if action != Action::Call || stream.chance(1, 8) || choices.len() == 1 {
            return action;
        }
    }
}

impl World {
    /// A random match up to a decision of the person; `None` if the match ended before such a decision.
    fn play(key: Key, stream: &mut Stream) -> Option<World> {
        let rules = Rules::preset(PRESETS[stream.below(6) as usize]).unwrap();
        let seats = 2 + stream.below(3) as usize;
        let deal = Deal::new(&rules, key);
        let person = Seat::ALL[stream.below(seats as u32) as usize];
        let mut playing = Playing::observed(deal.clone(), seats, &mut ()).unwrap();
        let mut script = Vec::new();
        let least = stream.below(60) as usize;
        let reaction = stream.chance(1, 2).then_some(900);
        loop {
            let turn = playing.turn()?;
            if script.len() >= least && turn.seat == person {
                return Some(World { deal, seats, person, script, reaction });
            }
            let action = choose(&turn.view, stream);
            script.push((turn.seat, action));
            act(&mut playing, action, person, reaction);
        }
    }

    /// The match after the script, and all sightings of the person; `None` if the script does not fit this world.
    fn perceived(&self) -> Option<(Playing, Vec<Sighting>)> {
        let mut playing = Playing::observed(self.deal.clone(), self.seats, &mut ()).unwrap();
        let mut sightings: Vec<Sighting> = playing.sightings(self.person).collect();
        for &(seat, action) in &self.script {
            let turn = playing.turn().filter(|turn| turn.seat == seat && turn.view.allows(action));
            turn?;
            act(&mut playing, action, self.person, self.reaction);
            sightings.extend(playing.sightings(self.person));
        }
        Some((playing, sightings))
    }

    /// Another world with the same sightings, so that the person cannot distinguish the two worlds. Returns a clone of
    /// this world if no other is found.
    fn forged(&self, stream: &mut Stream) -> World {
        let (playing, sightings) = self.perceived().unwrap();
        let round = playing.rounds();
        let is_same = |other: &World| {
            other
                .perceived()
                .is_some_and(|(forged, told)| told == sightings && forged.state().actor() == playing.state().actor())
        };
        let mut world = self.clone();
        for _ in 0..24 {
            let mut other = world.clone();
            let mut deck = other.deal.deck(round).to_vec();
            // At least one of the two cards is from the hands or the first draws, because these cards matter most.
            let near = (self.seats * 6).min(deck.len());
            let (one, two) = (stream.below(near as u32) as usize, stream.below(deck.len() as u32) as usize);
            deck.swap(one, two);
            other.deal.set_deck(round, &deck).unwrap();
            if is_same(&other) {
                world = other;
            }
        }
        // Change the declarations of other seats in the open window.
        if playing.state().table().phase() == Phase::Window {
            for place in (0..world.script.len()).rev().take_while(|&place| self.script[place].0 != self.person) {
                let mut other = world.clone();
                let targets = playing.state().table().snap_targets(self.script[place].0);
                let spot = targets.nth_from(Seat::A, stream.below(targets.len().max(1) as u32) as usize);
                other.script[place].1 = spot.map_or(Action::Pass, Action::Snap);
                if is_same(&other) {
                    world = other;
                }
            }
        }
        world
    }

    fn faces(&self) -> Vec<Option<Card>> {
        let (playing, _) = self.perceived().unwrap();
        let state = playing.state();
        state
            .table()
            .occupied()
            .iter_from(Seat::A)
            .map(|spot| state.face(spot))
            .chain(state.stock().map(Some))
            .collect()
    }

    /// Plays the match at a desk, and returns every byte that the person's page received, except for what it keeps.
    fn played(&self, notes: bool) -> String {
        let script = Arc::new(self.script.clone());
        let mut own = self.script.iter().filter(|(seat, _)| *seat == self.person).map(|(_, action)| *action);
        let own_script = Arc::clone(&script);
        let roster = roster().with("scripted", "Follows a script.", move || Scripted {
            script: Arc::clone(&own_script),
            seat: Seat::A,
            at: 0,
        });
        let opponents = vec![roster.parse("scripted").unwrap(); self.seats - 1];
        let config = SessionConfig::alone(self.deal.clone(), self.person, opponents);
        let config = SessionConfig { notes, practice: true, reaction: self.reaction, ..config };
        let mut desk = Desk::new(Arc::new(Catalogue::of_server(roster, Vec::new())), 1);
        desk.open_session(1, Session::new(config));
        let mut sent = String::new();
        let mut ask = |desk: &mut Desk, path: &str, body: Option<String>| {
            while let Some(work) = desk.work() {
                (work.task)(&|| true);
            }
            let answer = desk.answer(path, body.as_deref()).expect("there is news");
            let mut told: Value = serde_json::from_str(&answer.body).unwrap();
            // The rest of the answer is compared as it was sent.
            let text = match told.get_mut("kept").map(Value::take) {
                Some(kept) => answer.body.replace(&kept["saved"].to_string(), "kept"),
                None => answer.body,
            };
            sent = format!("{sent}{} {text}\n", answer.status);
            (answer.status, told)
        };
        let mut path = "api/tables/1/events".to_owned();
        loop {
            let (_, told) = ask(&mut desk, &path, None);
            let step = if told["hello"].is_object() {
                &told["hello"]["step"]
            } else {
                &told["steps"][told["steps"].as_array().unwrap().len() - 1]
            };
            let at = step["n"].as_u64().unwrap();
            path = format!("api/tables/1/events?from={}", at + 1);
            let (what, body) = if step["end"].is_object() {
                ("next", format!(r#"{{"at":{at}}}"#))
            } else {
                assert!(step["ask"].is_object(), "the person is asked: {step}");
                let Some(action) = own.next() else { break };
                ("act", format!(r#"{{"at":{at},"action":"{action}"}}"#))
            };
            let (status, told) = ask(&mut desk, &format!("api/tables/1/{what}"), Some(body));
            assert_eq!(status, 200, "{told}");
        }
        // Rejections, hints and a reloaded page must not reveal hidden cards either.
        for (what, body) in [
            ("act", Some(r#"{"at":0,"action":"keep h9"}"#)),
            ("hint", Some(r#"{"agent":"heuristic"}"#)),
            ("record", None),
            ("replay", None),
            ("events", None),
        ] {
            ask(&mut desk, &format!("api/tables/1/{what}"), body.map(str::to_owned));
        }
        sent
    }
}

/// Plays pairs of worlds that a seat cannot distinguish, and compares what the page of the seat receives.
#[test]
fn worlds_that_a_seat_cannot_distinguish_give_the_same_bytes() {
    let is_full = std::env::var_os("CAMBIO_FULL").is_some_and(|value| value == "1");
    let pairs = if is_full { 10_000 } else { 60 };
    let (mut compared, mut differ, mut bytes) = (0, 0, 0);
    for deal in 0.. {
        let key = Key::new(41, deal);
        let mut stream = key.agent(Seat::H);
        let Some(world) = World::play(key, &mut stream) else { continue };
        let forged = world.forged(&mut stream);
        let notes = stream.chance(1, 2);
        let sent = [&world, &forged].map(|world| world.played(notes));
        assert!(sent[0] == sent[1], "deal {deal}:\n{}\n\n{}", sent[0], sent[1]);
        assert!(sent[0].contains("the match is in progress"), "{}", sent[0]);
        differ += u64::from(world.faces() != forged.faces());
        bytes += sent[0].len();
        compared += 1;
        if compared == pairs {
            break;
        }
    }
    // Check that the worlds differ and that enough bytes were compared.
    assert!(differ * 10 > compared * 9, "only {differ} of {compared} pairs differ in a hidden card");
    assert!(bytes as u64 > compared * 2_000, "{bytes} bytes");
}

#[test]
fn bytes_differ_if_the_seat_can_distinguish_the_worlds() {
    // Shows that the comparison can fail: if a card differs that the seat has seen, the bytes differ.
    let (mut told, mut tried) = (0, 0);
    for deal in 0..30 {
        let key = Key::new(43, deal);
        let mut stream = key.agent(Seat::H);
        let Some(world) = World::play(key, &mut stream) else { continue };
        let (playing, sightings) = world.perceived().unwrap();
        let mut other = world.clone();
        let mut deck = other.deal.deck(playing.rounds()).to_vec();
        deck.rotate_left(1);
        other.deal.set_deck(playing.rounds(), &deck).unwrap();
        let Some((playing, seen)) = other.perceived() else { continue };
        let is_asked = playing.turn().is_some_and(|turn| turn.seat == other.person);
        if seen == sightings || !is_asked {
            continue;
        }
        tried += 1;
        told += u64::from(world.played(true) != other.played(true));
    }
    assert!(tried > 0 && told == tried, "{told} of {tried}");
}
